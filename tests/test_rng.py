"""Sources of randomness: ``rng`` is a number, a Generator, a SeedSequence or None, in every call that draws."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit

RNG = np.random.default_rng(12)
X = RNG.normal(size=(60, 3))
Y = pd.DataFrame(X[:, [0]] + RNG.logistic(size=(60, 3)) > 0, columns=["low", "mid", "high"])
MODEL = FusedLogit(Y, X)
FIT = MODEL.fit(1.0, 0.1, 1.0)

CALLS = {
    "fit_cv": lambda rng: MODEL.fit_cv(folds=4, l1=[0.5, 1.0, 2.0], l2=[0.1], fusion=[1.0], rng=rng, n_jobs=1).folds,
    "bootstrap": lambda rng: FIT.bootstrap(4, rng=rng, n_jobs=1, progress=False).samples,
    "stability": lambda rng: FIT.stability(4, rng=rng, n_jobs=1, progress=False).samples,
}
KINDS = {"int": int, "numpy's int": np.int64, "Generator": np.random.default_rng,
         "SeedSequence": np.random.SeedSequence}
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@each_call
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_fresh_one_draws_the_same_and_another_one_something_else(call, kind):
    np.testing.assert_array_equal(call(kind(3)), call(kind(3)))
    assert (call(kind(3)) != call(kind(4))).any()


@each_call
def test_kinds_of_the_same_seed_draw_the_same(call):
    for kind in KINDS.values():
        np.testing.assert_array_equal(call(kind(3)), call(3))


@each_call
def test_none_draws_anew(call):
    assert (call(None) != call(None)).any()


@each_call
def test_a_generator_that_was_used_draws_anew(call):
    generator = np.random.default_rng(3)
    assert (call(generator) != call(generator)).any()


@each_call
def test_the_global_generator_is_left_alone(call):
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    call(3)
    call(None)
    assert np.random.random() == expected


@each_call
@pytest.mark.parametrize("rng", [-1, 0.5, "3", True, np.random.RandomState(3), [1, 2]],
                         ids=["negative", "half", "text", "true", "legacy", "list"])
def test_anything_else_is_refused(call, rng):
    with pytest.raises((TypeError, ValueError), match="rng must be"):
        call(rng)


@pytest.mark.parametrize("draw", [FIT.bootstrap, partial(FIT.stability, errors=None)], ids=["bootstrap", "stability"])
def test_more_of_the_same_begins_with_the_same(draw):
    few, many = (draw(n, rng=np.random.SeedSequence(8), n_jobs=1, progress=False).samples for n in (4, 8))
    np.testing.assert_array_equal(many[:4], few)


@pytest.mark.parametrize("draw", [FIT.bootstrap, FIT.stability], ids=["bootstrap", "stability"])
def test_a_number_is_remembered_and_a_generator_is_not(draw):
    assert draw(4, rng=7, progress=False).seed == 7
    assert draw(4, rng=np.random.default_rng(7), progress=False).seed is None
