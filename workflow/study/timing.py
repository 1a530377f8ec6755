"""Time of the paper's algorithm: its chi-update in d-space and in n-space (claim 8), and whole fits (claim 14)."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fusedlr.admm import solve_admm
from fusedlr.problem import Problem
from fusedlr.solver import NewtonSolver
from study.fitting import build

__all__ = ["COLUMNS", "time_admm", "time_chi_updates"]

#: l1, l2 and fusion of whole fits, and the relative duality gap at which both solvers stop.
PENALTIES = ((0.4, 0.1, 0.2), (1.0, 0.1, 1.0), (0.4, 0.0, 1.0), (2.0, 0.4, 4.0))
GAP = 1e-6
COLUMNS = ["case", "l1", "l2", "fusion", "admm", "newton", "iterations", "status"]

N_ROWS = 100
#: Repetitions by features; the largest takes long and varies little.
REPEATS = {500: 5, 1000: 5, 5000: 3}


def time_chi_updates(features: Sequence[int], seed: int = 1) -> pd.DataFrame:
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
    return pd.DataFrame(rows, columns=["features", "space", "repeat", "seconds"])


def _problem(d, rng):
    X = rng.standard_normal((N_ROWS, d))
    return Problem.wide(X, rng.integers(0, 2, (N_ROWS, 1)))


def _seconds(problem, space):
    penalty = problem.penalty(1.0, 0.1, 0.0)
    start = time.process_time()
    solve_admm(problem, penalty, max_iter=1, space=space)
    return time.process_time() - start


def time_admm(data: Mapping[str, Any]) -> pd.DataFrame:
    """CPU seconds of the paper's ADMM and of Newton's method to the same relative duality gap, on 100 rows."""
    problem, rows = build(data["Y_train"][:N_ROWS], data["X_train"][:N_ROWS]).problem, []
    for l1, l2, fusion in PENALTIES:
        penalty = problem.penalty(l1, l2, fusion)
        start = time.process_time()
        admm = solve_admm(problem, penalty, tol=GAP)
        middle = time.process_time()
        NewtonSolver(problem).solve(penalty, tol=GAP)
        rows.append({"l1": l1, "l2": l2, "fusion": fusion, "admm": middle - start,
                     "newton": time.process_time() - middle, "iterations": admm.iterations, "status": admm.status})
    return pd.DataFrame(rows)
