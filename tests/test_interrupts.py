"""Ctrl-C at any moment of a call: it ends soon with KeyboardInterrupt, nothing goes on, and the next call is right.

Each call runs in a process of its own, which is interrupted again and again. Moments are drawn once and for all, and
counted in seconds of the process's own work, so that a busy machine changes nothing.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.processes import work_of

ROOT = Path(__file__).parents[1]

# What the other side runs: the call until Ctrl-C, what then still goes on, and the same call on less.
CHILD = """
import sys, threading, time
import numpy as np
from fusedlr import FusedLogit
from tests.test_interrupts import CALLS, model, tell

call, rounds = CALLS[sys.argv[1]], int(sys.argv[2])
whole, small = model(300, 500), model(40, 3)
for _ in range(rounds):
    tell("begin")
    try:
        call(whole, 10_000)
        tell("finished")
    except KeyboardInterrupt:
        tell("interrupted", time.process_time())
    threads, before = threading.active_count(), time.process_time()
    time.sleep(0.3)
    tell("afterwards", threads, time.process_time() - before)
    tell("next", call(small, 4).tobytes().hex())
"""


def tell(*words):
    print(*words, flush=True)


def model(n, d):
    from fusedlr import FusedLogit

    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))
    return FusedLogit(X[:, [0]] + rng.logistic(size=(n, 4)) > 0, X)


def fit(found, size):
    """Ten thousand fits take minutes; each begins far from its end."""
    return np.array([found.fit(0.01 / (1 + k), 0.0, 0.01).coefs for k in range(size // 4)])


def grid(found, size):
    """Four fusions, which a large problem solves side by side."""
    return found.fit_grid(np.geomspace(1.0, 0.001, size), [0.0], [0.1, 0.2, 0.3, 0.4], tol=1e-12, n_jobs=2,
                          progress=False).params


def cv(found, size):
    return found.fit_cv(folds=4, l1=np.geomspace(1.0, 0.001, size), l2=[0.0], fusion=[0.1], tol=1e-12, n_jobs=2,
                        progress=False).table["mean"].to_numpy()


def bootstrap(found, size):
    return found.fit(1.0, 0.1, 1.0).bootstrap(size, n_jobs=2, progress=False).samples


def stability(found, size):
    return found.fit(1.0, 0.1, 1.0).stability(size, n_jobs=2, progress=False).samples


CALLS = {"fit": fit, "grid": grid, "cv": cv, "bootstrap": bootstrap, "stability": stability}
MOMENTS = {name: np.random.default_rng(k).uniform(0.0, 1.5, 5) for k, name in enumerate(CALLS)}


def told(process, word):
    """The rest of the next line of a process, which must begin with a word."""
    line = process.stdout.readline().split()
    assert line and line[0] == word, (line, process.stderr.read() if not line else "")
    return line[1:]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the work of a process is read from /proc")
@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_at_any_moment_ends_a_call_and_spoils_nothing(name):
    expected = CALLS[name](model(40, 3), 4).tobytes().hex()
    command = [sys.executable, "-W", "ignore", "-c", CHILD, name, str(len(MOMENTS[name]))]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for moment in MOMENTS[name]:
            told(process, "begin")
            begin = work_of(process)
            while work_of(process) < begin + moment:
                time.sleep(0.005)
            before = work_of(process)
            process.send_signal(signal.SIGINT)
            assert float(told(process, "interrupted")[0]) - before < 1.0, moment
            threads, still = told(process, "afterwards")
            assert threads == "1" and float(still) < 0.1
            assert told(process, "next") == [expected]
