"""Growth of the cost of the paper's chi-update with the features, in d-space and in n-space (claim 8)."""

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fusedlr.admm import solve_admm
from fusedlr.problem import Problem

__all__ = ["FEATURES", "time_chi_updates"]

FEATURES = (500, 1000, 5000)
N_ROWS = 100
#: Repetitions by features; the largest takes long and varies little.
REPEATS = {500: 5, 1000: 5, 5000: 3}


def time_chi_updates(features: Sequence[int] = FEATURES, seed: int = 1) -> pd.DataFrame:
    """CPU seconds of one first-level iteration of ADMM on one task with 100 rows.

    Nearly all of it is the chi-update: Newton's method, whose steps solve a system of 1 + d equations in d-space and of
    n in n-space. Both start from zero and do the same steps.
    """
    rows = []
    for d in features:
        problem = _problem(d, np.random.default_rng([seed, d]))
        for space in ("features", "rows"):
            rows += [{"features": d, "space": space, "repeat": repeat, "seconds": _seconds(problem, space)}
                     for repeat in range(1, REPEATS[d] + 1)]
    return pd.DataFrame(rows)


def _problem(d, rng):
    X = rng.standard_normal((N_ROWS, d))
    return Problem.wide(X, rng.integers(0, 2, (N_ROWS, 1)))


def _seconds(problem, space):
    penalty = problem.penalty(1.0, 0.1, 0.0)
    start = time.process_time()
    solve_admm(problem, penalty, max_iter=1, space=space)
    return time.process_time() - start
