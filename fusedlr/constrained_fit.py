"""Maximum likelihood with support and ties fixed: some coefficients are zero, some share one value.

A pattern is an integer array of shape (1 + d, t): the number of the free value that
stands in each place of ``params``, or -1 for a zero. Places with the same number share
their value, so p numbers 0 ... p - 1 describe a logistic regression with p parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from . import core
from .core import RIDGE
from .io import Array, saved
from .metrics import labelled_rows
from .problem import Penalty, Problem
from .resampling import sampling_units
from .tasks import TaskGraph

__all__ = ["RIDGE", "PatternFit", "clustered_cov", "effective_df", "fit_pattern", "log_choose", "pattern_of",
           "values_in_places", "without_ties"]


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
    return core.pattern_of(np.ascontiguousarray(params, dtype=float), tasks.for_core[0]).astype(int)


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
    numbers = np.ascontiguousarray(pattern, dtype=np.intc)
    scale = np.ascontiguousarray(problem.scale, dtype=float)
    return PatternFit(pattern, *labelled_rows(problem.design, problem.labels).fit_pattern(numbers, scale))


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
    params, l2 = (np.ascontiguousarray(values, dtype=float) for values in (params, penalty.l2))
    rows = labelled_rows(problem.design, problem.labels, problem.tasks)
    return rows.effective_df(sampling_units(problem.groups), params, l2)


def clustered_cov(problem: Problem, fit: PatternFit) -> np.ndarray:
    """Cluster-robust covariance of the values (sandwich estimator), clusters are the groups, shape (p, p).

    A group of weight 2 is two equal groups. No small-sample correction for the number of groups.
    """
    rows, numbers = labelled_rows(problem.design, problem.labels), np.ascontiguousarray(fit.pattern, dtype=np.intc)
    return rows.clustered_covariance(sampling_units(problem.groups), numbers, fit.values, fit.cov)


def log_choose(d: int, k: Any) -> Any:
    """Logarithm of the number of ways to choose k of d features, k a number or an array."""
    return gammaln(d + 1) - gammaln(np.add(k, 1)) - gammaln(d - np.asarray(k) + 1)


def values_in_places(pattern: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients of the values of a pattern, shape (1 + d, t)."""
    return np.where(pattern >= 0, np.append(values, 0.0)[pattern], 0.0)
