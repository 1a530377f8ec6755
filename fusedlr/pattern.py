"""Unpenalized fits in which some coefficients are zero and some share one value.

A pattern is an integer array of shape (1 + d, t): the number of the free value that
stands in each place of ``params``, or -1 for a zero. Places with the same number share
their value, so p numbers 0 ... p - 1 describe a logistic regression with p parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from . import objective
from .objective import Data
from .tasks import TaskGraph

__all__ = ["PatternFit", "clustered_cov", "fit_pattern", "information", "pattern_of"]

# Added to the curvature of values that have no finite best, so that numbers come back.
RIDGE = 1e-2

_STEP = 1e-9
_MAX_ITER = 60


@dataclass(frozen=True)
class PatternFit:
    """The most likely values of a pattern.

    Attributes
    ----------
    pattern : ndarray, shape (1 + d, t)
    values : ndarray, shape (p,)
    cov : ndarray, shape (p, p)
        Inverse of the observed information; NaN for values that the data do not pin down.
    llf : float
    unbounded : ndarray of bool, shape (p,)
        Values that have no finite best, or are estimated together with one that has none.
        They are held back by a ridge of ``RIDGE``.
    collinear : ndarray of bool, shape (p,)
        Values that can be exchanged for each other without changing the likelihood.
    """

    pattern: np.ndarray
    values: np.ndarray
    cov: np.ndarray
    llf: float
    unbounded: np.ndarray
    collinear: np.ndarray

    @property
    def params(self) -> np.ndarray:
        """Coefficients, shape (1 + d, t)."""
        return _in_places(self.pattern, self.values)


def pattern_of(params: np.ndarray, tasks: TaskGraph) -> np.ndarray:
    """Zeros and ties of fitted coefficients.

    Returns
    -------
    ndarray of int, shape (1 + d, t)
        The number of the distinct value in each place of ``params``, counted from 0
        through the rows; -1 for a coefficient that is zero. An intercept that happens
        to be zero is a value like any other, because intercepts are not shrunk.
    """
    keys = tasks.tied(params) + params.shape[1] * np.arange(params.shape[0])[:, None]
    chosen = params != 0
    chosen[0] = True
    pattern = np.full(params.shape, -1)
    pattern[chosen] = np.unique(keys[chosen], return_inverse=True)[1]
    return pattern


def fit_pattern(data: Data, pattern: np.ndarray) -> PatternFit:
    """Maximise the likelihood over the values of a pattern, by Newton's method.

    Where the data are separated the likelihood keeps rising along some direction: the
    linear predictors still move by about 1 in each step when the likelihood has long
    stopped to change. Those values, and all that are estimated together with them, are
    flagged and fitted again with a small ridge.
    """
    nothing = np.zeros(pattern.max() + 1)
    values, moving, curvature = _newton(data, pattern, nothing)
    unbounded = _touched(curvature, moving)
    if unbounded.any():
        values, _, curvature = _newton(data, pattern, np.where(unbounded, RIDGE, 0.0))
    cov, collinear = _inverse(curvature)
    vague = unbounded | collinear
    cov[vague] = cov[:, vague] = np.nan
    llf = -objective.loss(data, objective.linear_predictor(data, _in_places(pattern, values)))
    return PatternFit(pattern, values, cov, llf, unbounded, collinear & ~unbounded)


def information(data: Data, pattern: np.ndarray, params: np.ndarray) -> np.ndarray:
    """Observed information in the values of a pattern at coefficients that have it, shape (p, p)."""
    places = np.unique(pattern[pattern >= 0], return_index=True)[1]
    values = params[pattern >= 0][places]
    return _derivatives(data, pattern, values, np.zeros(len(values)))[1]


def clustered_cov(data: Data, fit: PatternFit) -> np.ndarray:
    """Covariance of the values when labels of the same row depend on each other in any way (a sandwich), shape (p, p).

    Rows are taken as independent. A weight counts its row as often, by the largest weight
    of the row's tasks; no correction for the number of rows is made.
    """
    first = objective.loss_derivatives(data, objective.linear_predictor(data, fit.params))[0]
    scores = np.zeros((data.n_rows, len(fit.values)))
    for k in range(data.n_tasks):
        rows = np.flatnonzero(fit.pattern[:, k] >= 0)
        scores[:, fit.pattern[rows, k]] += first[:, k, None] * _columns(data, rows)
    times = data.row_weights
    scores = scores[times > 0] / np.sqrt(times[times > 0])[:, None]
    bread = np.nan_to_num(fit.cov)
    return np.where(np.isnan(fit.cov), np.nan, bread @ (scores.T @ scores) @ bread)


def _in_places(pattern, values):
    return np.where(pattern >= 0, np.append(values, 0.0)[pattern], 0.0)


def _newton(data, pattern, ridge):
    """Values, which of them still move, and the curvature (information) there."""
    values = np.zeros(len(ridge))
    largest = _largest(data, pattern, len(ridge))
    for _ in range(_MAX_ITER):
        slope, curvature = _derivatives(data, pattern, values, ridge)
        step = _newton_step(slope, curvature)
        step *= min(1.0, 5.0 / max(np.max(np.abs(step) * largest), 1e-300))
        values = _descend(data, pattern, values, step, ridge)
        if np.max(np.abs(step) * largest) < _STEP:
            break
    return values, np.abs(step) * largest > 1e-3, _derivatives(data, pattern, values, ridge)[1]


def _newton_step(slope, curvature):
    """The shortest Newton step, in units that make every curvature 1: a task fitted perfectly keeps its direction."""
    size = _unit(curvature)
    return np.linalg.lstsq(curvature / np.outer(size, size), -slope / size, rcond=1e-12)[0] / size


def _unit(curvature):
    size = np.sqrt(np.diag(curvature))
    return np.where(size > 0, size, 1.0)


def _descend(data, pattern, values, step, ridge):
    """Go along ``step``, halved until the penalized loss no longer rises."""
    def height(point):
        linear = objective.linear_predictor(data, _in_places(pattern, point))
        return objective.loss(data, linear) + 0.5 * ridge @ point**2

    start = height(values)
    for _ in range(30):
        if height(values + step) <= start * (1 + 1e-14):
            return values + step
        step = step / 2
    return values


def _derivatives(data, pattern, values, ridge):
    """Gradient and second derivative of the loss in the values; tasks share no observation."""
    first, second = objective.loss_derivatives(data, objective.linear_predictor(data, _in_places(pattern, values)))
    full = objective.gradient(data, first)
    slope = np.bincount(pattern[pattern >= 0], full[pattern >= 0], len(values)) + ridge * values
    curvature = np.diag(ridge)
    for k in range(data.n_tasks):
        rows = np.flatnonzero(pattern[:, k] >= 0)
        design = _columns(data, rows)
        numbers = pattern[rows, k]
        curvature[np.ix_(numbers, numbers)] += design.T @ (second[:, k, None] * design)
    return slope, curvature


def _columns(data, rows):
    """Columns of [1, X] by their row in params."""
    design = np.ones((data.n_rows, len(rows)))
    design[:, rows > 0] = data.X[:, rows[rows > 0] - 1]
    return design


def _largest(data, pattern, p):
    """Largest absolute entry of the column that belongs to each value."""
    sizes = np.r_[1.0, np.abs(data.X).max(axis=0)]
    largest = np.zeros(p)
    np.maximum.at(largest, pattern[pattern >= 0], np.broadcast_to(sizes[:, None], pattern.shape)[pattern >= 0])
    return largest


def _touched(curvature, moving):
    """Values linked to a moving one through the information matrix."""
    component = connected_components(curvature != 0)[1]
    return np.isin(component, component[moving])


def _inverse(curvature):
    """Inverse on the part that is pinned down, and the values outside it."""
    size = _unit(curvature)
    roots, vectors = np.linalg.eigh(curvature / np.outer(size, size))
    flat = roots <= 1e-10 * max(roots.max(), 1.0)
    loose = (np.abs(vectors[:, flat]) > 1e-5).any(axis=1)
    inverse = (vectors[:, ~flat] / roots[~flat]) @ vectors[:, ~flat].T
    return inverse / np.outer(size, size), loose
