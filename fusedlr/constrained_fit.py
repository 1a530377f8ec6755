"""Maximum likelihood with support and ties fixed: some coefficients are zero, some share one value.

A pattern is an integer array of shape (1 + d, t): the number of the free value that
stands in each place of ``params``, or -1 for a zero. Places with the same number share
their value, so p numbers 0 ... p - 1 describe a logistic regression with p parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from .io import Array, saved
from .matrices import absolute_largest
from .objective import loss, loss_derivatives
from .problem import Penalty, Problem
from .tasks import TaskGraph

__all__ = ["RIDGE", "PatternFit", "clustered_cov", "effective_df", "fit_pattern", "information", "log_choose",
           "pattern_of", "values_in_places", "without_ties"]

# Ridge on values without a finite maximum likelihood estimate, on the scale of the penalties.
RIDGE = 1e-2

_STEP = 1e-9
_MAX_ITER = 60
_CELLS = 4_000_000  # of the table of groups by values that is held at a time


@dataclass(frozen=True)
class PatternFit:
    """Maximum likelihood estimates of the values of a pattern.

    Attributes
    ----------
    pattern : ndarray, shape (1 + d, t)
    values : ndarray, shape (p,)
    cov : ndarray, shape (p, p)
        Inverse of the observed information; NaN for values that are not identified.
    unbounded : ndarray of bool, shape (p,)
        Values without a finite maximum likelihood estimate (complete or quasi-complete
        separation), or linked to one. A ridge of ``RIDGE`` keeps them finite.
    collinear : ndarray of bool, shape (p,)
        Values that are not identified because their columns are linearly dependent.
    """

    pattern: np.ndarray = saved(Array(("1+d", "t"), "i", least=-1, below="p"))
    values: np.ndarray = saved(Array(("p",)))
    cov: np.ndarray = saved(Array(("p", "p"), gaps=True))
    unbounded: np.ndarray = saved(Array(("p",), "b"))
    collinear: np.ndarray = saved(Array(("p",), "b"))

    @property
    def params(self) -> np.ndarray:
        """Coefficients, shape (1 + d, t)."""
        return values_in_places(self.pattern, self.values)

    def check_loaded(self) -> None:
        """Refuse a pattern of a file that does not use every value."""
        if not np.array_equal(np.unique(self.pattern[self.pattern >= 0]), np.arange(len(self.values))):
            raise ValueError(f"fit.pattern must hold every number below {len(self.values)}")


def pattern_of(params: np.ndarray, tasks: TaskGraph) -> np.ndarray:
    """Support and ties of fitted coefficients.

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


def without_ties(pattern: np.ndarray) -> np.ndarray:
    """The pattern in which a row that has any value has one of its own in every task, shape (1 + d, t)."""
    kept = (pattern >= 0).any(axis=1)
    released = np.full(pattern.shape, -1)
    released[kept] = np.arange(kept.sum() * pattern.shape[1]).reshape(-1, pattern.shape[1])
    return released


def fit_pattern(problem: Problem, pattern: np.ndarray) -> PatternFit:
    """Maximum likelihood over the values of a pattern, by Newton's method.

    Under complete or quasi-complete separation the likelihood keeps rising along some
    direction: linear predictors still move by about 1 in each step when the likelihood
    has converged. Those values, and all that are linked to them through the information
    matrix, are flagged and fitted again with a small ridge.
    """
    nothing = np.zeros(pattern.max() + 1)
    values, moving, curvature = _newton(problem, pattern, nothing)
    unbounded = _touched(curvature, moving)
    if unbounded.any():
        ridge = RIDGE * _by_value(problem.scale, pattern)**2
        values, _, curvature = _newton(problem, pattern, np.where(unbounded, ridge, 0.0))
    cov, collinear = _inverse(curvature)
    vague = unbounded | collinear
    cov[vague] = cov[:, vague] = np.nan
    return PatternFit(pattern, values, cov, unbounded, collinear & ~unbounded)


def information(problem: Problem, pattern: np.ndarray, params: np.ndarray) -> np.ndarray:
    """Observed information in the values of a pattern at coefficients that have it, shape (p, p)."""
    return _curvature(problem, pattern, loss_derivatives(problem.labels, problem.linear(params))[1])


def effective_df(problem: Problem, params: np.ndarray, penalty: Penalty) -> float:
    """Effective degrees of freedom, given support and ties.

    Given support and ties, each distinct value counts as one (the
    degrees of freedom of lasso and fused lasso). The ridge shrinks these values: with H
    the information in them and R the ridge on them, they count as the trace of
    (H + R)^-1 H, which is less. Intercepts are counted.

    Where a sampling unit has several, possibly dependent labels, a value that they share costs
    more than one degree of freedom. Takeuchi's criterion (1976) takes the trace of (H + R)^-1 J,
    with J the sum over units of the outer products of their scores; it is used where it is larger.
    A nearly saturated fit has scores near zero, and J then understates the dependence.
    """
    pattern = pattern_of(params, problem.tasks)
    there = pattern >= 0
    ridge = np.bincount(pattern[there], np.broadcast_to(penalty.l2[:, None], pattern.shape)[there])
    alone = problem.one_label_each
    if alone and not ridge.any():
        return float(len(ridge))
    first, second = loss_derivatives(problem.labels, problem.linear(params))
    H = _curvature(problem, pattern, second)
    unit = _unit(H + np.diag(ridge))  # features may differ by many orders of magnitude
    whiten = _whitening((H + np.diag(ridge)) / np.outer(unit, unit))
    taken = np.diag(np.sqrt(ridge) / unit)[ridge > 0]
    independent = len(ridge) - float(np.sum(whiten(taken)**2))
    if alone:
        return independent
    dependent = sum(float(np.sum(whiten(scores / unit)**2)) for scores in _scores(problem, pattern, first))
    return max(independent, dependent)


def clustered_cov(problem: Problem, fit: PatternFit) -> np.ndarray:
    """Cluster-robust covariance of the values (sandwich estimator), clusters are the groups, shape (p, p).

    A group of weight 2 is two equal groups. No small-sample correction for the number of groups.
    """
    bread = np.nan_to_num(fit.cov)
    first = loss_derivatives(problem.labels, problem.linear(fit.params))[0]
    return np.where(np.isnan(fit.cov), np.nan, bread @ _meat(problem, fit.pattern, first) @ bread)


def _meat(problem, pattern, first):
    """Meat of the sandwich: sum over the sampling units of outer products of their scores, (p, p)."""
    return sum(scores.T @ scores for scores in _scores(problem, pattern, first))


def _scores(problem, pattern, first):
    """Scores of the sampling units, each over the root of how often it counts, in blocks of shape (units, p)."""
    times, block = problem.groups.times, max(_CELLS // (pattern.max() + 1), 1)
    for start in range(0, len(times), block):
        some = times[start:start + block]
        scores = _group_scores(problem, pattern, first, start, len(some))[some > 0]
        yield scores / np.sqrt(some[some > 0])[:, None]


def _whitening(matrix):
    """A function of rows z that gives rows w with w'w = z' A^-1 z, A this matrix (its pseudo-inverse if singular)."""
    try:
        factor = cholesky(matrix, lower=True)
        if factor.diagonal().min() > 1e-6:
            return lambda rows: solve_triangular(factor, rows.T, lower=True).T
    except LinAlgError:
        pass
    roots, vectors = np.linalg.eigh(matrix)
    kept = roots > 1e-14 * len(roots) * roots.max()
    return lambda rows: rows @ (vectors[:, kept] / np.sqrt(roots[kept]))


def _group_scores(problem, pattern, first, start, count):
    """Scores of ``count`` groups from ``start`` on, in the values of a pattern, (count, p)."""
    place = problem.groups.of(problem.labels) - start
    inside = (place >= 0) & (place < count)
    labels, first, place = problem.labels.some(inside), first[inside], place[inside]
    scores = np.zeros((count, pattern.max() + 1))
    for k, part in enumerate(labels.parts):
        rows, numbers = _in_task(pattern, k)
        labelled = labels.row[part]
        gather = csr_array((first[part], (place[part], np.arange(len(labelled)))), shape=(count, len(labelled)))
        scores[:, numbers] += gather @ problem.design.columns(rows, labelled)
    return scores


def log_choose(d: int, k: Any) -> Any:
    """Logarithm of the number of ways to choose k of d features, k a number or an array."""
    return gammaln(d + 1) - gammaln(np.add(k, 1)) - gammaln(d - np.asarray(k) + 1)


def values_in_places(pattern: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients of the values of a pattern, shape (1 + d, t)."""
    return np.where(pattern >= 0, np.append(values, 0.0)[pattern], 0.0)


def _in_task(pattern, k):
    """Rows of params that are not zero in a task, and the numbers of their values."""
    rows = np.flatnonzero(pattern[:, k] >= 0)
    return rows, pattern[rows, k]


def _newton(problem, pattern, ridge):
    """Values, which of them still move, and the curvature (information) there."""
    values = np.zeros(len(ridge))
    largest = _largest(problem, pattern)
    for _ in range(_MAX_ITER):
        slope, curvature = _derivatives(problem, pattern, values, ridge)
        step = _newton_step(slope, curvature)
        step *= min(1.0, 5.0 / max(np.max(np.abs(step) * largest), 1e-300))
        values = _descend(problem, pattern, values, step, ridge)
        if np.max(np.abs(step) * largest) < _STEP:
            break
    return values, np.abs(step) * largest > 1e-3, _derivatives(problem, pattern, values, ridge)[1]


def _newton_step(slope, curvature):
    """The minimum-norm Newton step, scaled to unit curvature: a separated task keeps its direction."""
    size = _unit(curvature)
    return np.linalg.lstsq(curvature / np.outer(size, size), -slope / size, rcond=1e-12)[0] / size


def _unit(curvature):
    size = np.sqrt(np.diag(curvature))
    return np.where(size > 0, size, 1.0)


def _descend(problem, pattern, values, step, ridge):
    """Backtracking: halve ``step`` until the penalized loss no longer rises."""
    def height(point):
        return loss(problem.labels, problem.linear(values_in_places(pattern, point))) + 0.5 * ridge @ point**2

    start = height(values)
    for _ in range(30):
        if height(values + step) <= start * (1 + 1e-14):
            return values + step
        step = step / 2
    return values


def _derivatives(problem, pattern, values, ridge):
    """Gradient and second derivative of the loss in the values; tasks share no label."""
    labels = problem.labels
    first, second = loss_derivatives(labels, problem.linear(values_in_places(pattern, values)))
    full = problem.design.gradient(first, labels)
    slope = np.bincount(pattern[pattern >= 0], full[pattern >= 0], len(values)) + ridge * values
    return slope, _curvature(problem, pattern, second) + np.diag(ridge)


def _curvature(problem, pattern, second):
    """Second derivative of the loss in the values, from that in the linear predictor of every label, (p, p)."""
    labels, curvature = problem.labels, np.zeros((pattern.max() + 1,) * 2)
    for k, part in enumerate(labels.parts):
        rows, numbers = _in_task(pattern, k)
        design = problem.design.columns(rows, labels.row[part])
        curvature[np.ix_(numbers, numbers)] += design.T @ (second[part, None] * design)
    return curvature


def _largest(problem, pattern):
    """Largest absolute entry of the column that belongs to each value."""
    return _by_value(absolute_largest(problem.design.X), pattern)


def _by_value(by_feature, pattern):
    """A number of its feature for each value of a pattern, 1 for those of the intercepts."""
    rows = np.broadcast_to(np.arange(len(pattern))[:, None], pattern.shape)[pattern >= 0]
    first = np.unique(pattern[pattern >= 0], return_index=True)[1]
    return np.append(1.0, by_feature)[rows[first]]


def _touched(curvature, moving):
    """Values linked to a moving one through the information matrix."""
    component = connected_components(curvature != 0)[1]
    return np.isin(component, component[moving])


def _inverse(curvature):
    """Inverse on the identified part, and the values outside it."""
    size = _unit(curvature)
    roots, vectors = np.linalg.eigh(curvature / np.outer(size, size))
    flat = roots <= 1e-10 * max(roots.max(), 1.0)
    loose = (np.abs(vectors[:, flat]) > 1e-5).any(axis=1)
    inverse = (vectors[:, ~flat] / roots[~flat]) @ vectors[:, ~flat].T
    return inverse / np.outer(size, size), loose
