"""The fit that is reported: solved as far as rounding allows.

A grid may be content with a relative duality gap of 1e-6, where the fourth digit of a
coefficient, and now and then a zero or a tie, is not yet that of the optimum. What is
printed should be the optimum's. So a fit that is reported (a single fit without a
``tol`` of the user's own, a point taken from a grid or a cross-validation, a resample
of the bootstrap) goes on until the gap is at the level of rounding, 1e-15, or no step
lowers it any more. Near the optimum a step more or less squares the error, so this
costs a few steps. The fit counts as optimal if its gap is at most 1e-8.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .newton import solve_newton
from .objective import Penalty, Solution
from .problem import Problem

__all__ = ["ACCEPTED", "solve_exactly"]

_AIM = 1e-15
ACCEPTED = 1e-8


def solve_exactly(problem: Problem, penalty: Penalty, max_iter: int = 200, start: np.ndarray | None = None) -> Solution:
    """The minimiser of the objective to the last digits that rounding allows.

    Parameters
    ----------
    problem : problem.Problem
    penalty : objective.Penalty
    max_iter : int
    start : ndarray, shape (1 + d, t), optional
    """
    solution = solve_newton(problem, penalty, _AIM, max_iter, start)
    good = solution.status == "not_converged" and solution.gap <= ACCEPTED
    return replace(solution, status="optimal") if good else solution
