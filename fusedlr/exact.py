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

import warnings
from dataclasses import replace

import numpy as np

from .exceptions import ConvergenceWarning, SeparationWarning
from .core import solve_newton
from .objective import Penalty, Solution
from .problem import Problem

__all__ = ["ACCEPTED", "solve_exactly", "warn_status"]

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


def warn_status(solution: Solution, tol: float) -> None:
    """Warn, on behalf of the caller's caller, of a fit that is not optimal."""
    if solution.status == "not_converged":
        warnings.warn(f"stopped after {solution.iterations} iterations at a relative duality gap of "
                      f"{solution.gap:.1e}, above tol = {tol:.1e}; raise max_iter or tol, use larger penalties, "
                      "or standardize=True where features differ much in scale", ConvergenceWarning, stacklevel=3)
    elif solution.status == "separated":
        warnings.warn("some task's labels are separated by its features, or all the same, so that no finite minimiser "
                      "exists at these penalties; its values are large and arbitrary in size; use a positive l2 or l1, "
                      "and drop tasks whose labels are all the same", SeparationWarning, stacklevel=3)
