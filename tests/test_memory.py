"""Building a model takes its own copy of the features and little more; long data are never a table of rows by tasks."""

import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.building import peak
from fusedlr import FusedLogit, FusedLogitResults, checks
from fusedlr.problem import Solution


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize(("n", "d"), [(1_000, 500), (100, 20_000), pytest.param(100, 100_000, marks=pytest.mark.slow)])
def test_building_a_model_takes_at_most_one_and_a_third_of_the_features(n, d, kind):
    assert max(peak(n, d, kind)) <= 1.3


def most_memory(call):
    """Bytes that a call needs at its peak."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_long_data_are_never_a_table_of_rows_by_tasks():
    """20,000 rows of 400 tasks: a table would have 64 MB."""
    rng, n, t = np.random.default_rng(1), 20_000, 400
    X, task, y = rng.normal(size=(n, 3)), np.arange(n) % t, rng.integers(0, 2, n)
    groups = np.arange(n) // 4

    def build():
        return FusedLogit.from_long(y, X, task, groups=groups)

    model = build()
    params = np.outer([0.1, 0.2, 0.0, 0.3], np.ones(t))
    res = FusedLogitResults(model, Solution(params, 0.0, 0.0, "optimal", 1, {}), {"l1": 1.0, "l2": 0.0, "fusion": 1.0})
    calls = {"build": build, "predict": lambda: res.predict(X, task=task), "fittedvalues": lambda: res.fittedvalues,
             "residuals": lambda: res.resid_deviance, "likelihood": lambda: res.llf,
             "held out": lambda: model.held_out(y, X, task=task), "rows": lambda: model.with_rows(np.arange(n // 2)),
             "refit": lambda: res.refit()}
    assert {name: size for name, call in calls.items() if (size := most_memory(call)) > n * t * 4} == {}


@pytest.mark.parametrize("d", [1, 2, 15, 16, 17, 40])
def test_frames_are_read_whole_whatever_their_number_of_columns(d):
    X = np.random.default_rng(d).normal(size=(7, d))
    np.testing.assert_array_equal(checks.array("exog", pd.DataFrame(X)), X)


def test_frames_of_several_kinds_of_numbers_are_read_as_floats():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": [True, False], "d": pd.array([3, None], dtype="Int64")})
    np.testing.assert_array_equal(checks.array("exog", frame), [[1.0, 0.5, 1.0, 3.0], [2.0, np.nan, 0.0, np.nan]])


# Forked once for each limit, before any product was taken: linear algebra gets its workspace at the first one.
LITTLE = """
import os, resource, signal, sys, warnings
import numpy as np
from fusedlr import FusedLogit

warnings.simplefilter("ignore")
X = np.random.default_rng(1).standard_normal((3_000, 1_000))
Y = (X[:, :3] > 0) ^ (np.arange(3_000) % 5 == 0)[:, None]
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

def work(limit):
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        FusedLogit(Y, X).fit(300.0, 1.0, 1.0)
        return "fitted"
    except MemoryError as error:
        return str(error)

for more in range(16_000_000, 416_000_000, 16_000_000):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, work(size + more).encode())
        os._exit(0)
    os.close(writing)
    status = os.waitpid(child, 0)[1]
    print(more, status, os.read(reading, 1_000).decode(), sep="\\t")
    os.close(reading)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of a process is read from /proc")
def test_with_little_memory_a_call_says_what_it_needs_and_never_dies_or_waits():
    done = subprocess.run([sys.executable, "-c", LITTLE], capture_output=True, text=True, timeout=600)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) == 25 and {status for _, status, _ in rows} == {"0"}, (done.stdout, done.stderr)
    words = [word for _, _, word in rows]
    said = [word for word in words if word != "fitted"]
    assert words[0] != "fitted" and words[-1] == "fitted"  # in between others may reserve some
    assert all(re.match("(exog of 3000 rows and 1000 columns|a fit of 3000 rows, 1000 features and 3 tasks) takes "
                        r"\d+ MB of memory, which this process cannot have", word) for word in said), said
