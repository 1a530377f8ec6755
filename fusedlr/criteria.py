"""Degrees of freedom and information criteria of a penalized fit."""

from __future__ import annotations

import numpy as np

from .objective import Penalty
from .pattern import information, pattern_of
from .problem import Problem

__all__ = ["aic", "bic", "effective_df"]


def effective_df(problem: Problem, params: np.ndarray, penalty: Penalty) -> float:
    """Effective number of values fitted, given the zeros and ties that were found.

    l1 and fusion choose zeros and ties, after which each distinct value counts as one (the
    degrees of freedom of lasso and fused lasso). The ridge shrinks these values: with H
    the information in them and R the ridge on them, they count as the trace of
    (H + R)^-1 H, which is less. Intercepts are counted.

    Parameters
    ----------
    problem : problem.Problem
    params : ndarray, shape (1 + d, t)
    penalty : objective.Penalty
    """
    pattern = pattern_of(params, problem.tasks)
    there = pattern >= 0
    ridge = np.bincount(pattern[there], np.broadcast_to(penalty.l2[:, None], pattern.shape)[there])
    if not ridge.any():
        return float(len(ridge))
    H = information(problem.data, pattern, params)
    return float(np.trace(np.linalg.pinv(H + np.diag(ridge), hermitian=True) @ H))


def aic(llf: float, df: float) -> float:
    """Akaike's criterion, -2 llf + 2 df."""
    return -2 * llf + 2 * df


def bic(llf: float, df: float, rows: float) -> float:
    """Schwarz's criterion, -2 llf + log(rows) df: rows, because the tasks of one row are not independent."""
    return -2 * llf + float(np.log(rows)) * df
