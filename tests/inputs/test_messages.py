"""Messages show numbers and words as a user types them, not as numpy 2 prints its own: 4, not np.int64(4)."""

import re

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, TaskGraph

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = RNG.integers(0, 2, size=(30, 2))


def numbers(*values):
    """numpy's own numbers in a tuple."""
    return tuple(np.array(values))


REST = {"l2": 0.1, "fusion": 0.5}
# A call, and how its message shows the value at fault.
CALLS = {
    "edge to itself": (lambda: TaskGraph([numbers(1, 1)], 3), "found (1, 1)"),
    "edge to nowhere": (lambda: TaskGraph([numbers(0, 7)], 3), "no task 7;"),
    "edge of four": (lambda: TaskGraph([numbers(0, 1, 2, 3)], 3), "found (0, 1, 2, 3)"),
    "weight": (lambda: TaskGraph([numbers(0, 1, -2)], 3), "found (0, 1, -2)"),
    "names": (lambda: TaskGraph([], names=np.array(["a", "a"])), "found ['a', 'a']"),
    "names of tasks": (lambda: TaskGraph([("a", "c")], names=np.array(["a", "b"])), "names ['a', 'b']"),
    "labels": (lambda: FusedLogit(Y + np.int64(4), X), "holds 4, 5;"),
    "words": (lambda: FusedLogit(np.array([["a", "b", "c"]] * 10).reshape(30, 1), X), "holds ['a', 'b', 'c']"),
    "levels": (lambda: FusedLogit(pd.Series(pd.Categorical(np.arange(30) % 3)), X), "levels [0, 1, 2]"),
    "labels of the fit": (lambda: FusedLogit(Y, X).fit_grid(l1=[1.0], l2=[0.1], fusion=[0.5]).select(Y + 4, X),
                          "the labels of the fit, 0 and 1 in task 'y1'; found [5, 4]"),
    "names of columns": (lambda: FusedLogit(Y, pd.DataFrame(X, columns=np.array([4, 4]))), "found ['4']"),
    "penalty by name": (lambda: FusedLogit(Y, pd.DataFrame(X, columns=np.array([4, 5]))).fit(
        l1=pd.Series({np.int64(6): 1.0}), **REST), "found [6]; it has ['const', 4, 5]"),
    "penalty": (lambda: FusedLogit(Y, X).fit(l1=np.float64(-1.0), **REST), "finite and not negative, found -1"),
    "weights": (lambda: FusedLogit(Y, X, weights=np.array([-1.0] * 30)), "found -1"),
}


@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS)
def test_a_message_names_values_plainly(call, words):
    with pytest.raises(ValueError, match=re.escape(words)) as refusal:
        call()
    assert "np." not in str(refusal.value) and "numpy" not in str(refusal.value)
