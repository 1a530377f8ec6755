"""Adaptive penalties: factors of l1 and fusion by row of the coefficients, from a first fit (Zou 2006).

A lasso strong enough to drop noise also shrinks large effects. Adaptive factors divide the l1 of
a feature by the size of its coefficients in a first fit, and its fusion by the size of their
differences: small effects are dropped, and constant ones tied, while large ones are left alone.
By row, not by coefficient: a mean over tasks is less noisy than its parts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .problem import Problem
from .solver import column_scales, solve_newton

__all__ = ["adapted"]

_RIDGE = 0.3    # l2 of the first fit, as a share of the mean curvature of the loss
_LEAST = 1e-3   # smallest size that counts, as a share of the mean size: factors stay below a thousand
_TOL = 1e-10


def adapted(problem: Problem) -> Problem:
    """The same problem with adaptive factors from its own rows; itself where factors are not adaptive.

    The first fit is a ridge regression of each task alone. Whoever changes the weights of the
    rows (folds, resamples, halves) adapts anew, so that no held-out row takes part in a choice.
    """
    first = problem.base_factors
    if first is None or not problem.labels.size:
        return problem
    params = solve_newton(problem, first.times(0.0, _ridge(problem), 0.0), tol=_TOL).params
    sizes = np.abs(params[1:]).mean(axis=1) * problem.scale
    steps = np.abs(problem.tasks.differences(params[1:])).sum(axis=1) * problem.scale
    return replace(problem, factors=replace(first, l1=first.l1 * _factors(sizes, first.l1),
                                            fusion=first.fusion * _factors(steps, first.fusion)))


def _ridge(problem: Problem) -> float:
    """l2 of the first fit; the curvature is that of a feature of mean variance, at the share of yes of each task."""
    labels = problem.labels
    weight = labels.sums(labels.weight)
    yes = labels.sums(labels.weight * labels.yes) / np.maximum(weight, np.finfo(float).tiny)
    spread = column_scales(problem.design.X, labels.row_weights(problem.n_rows)) / problem.scale
    # A task without both labels has no curvature of its own.
    return _RIDGE * float(np.mean(weight * np.maximum(yes * (1 - yes), 1e-3)) * max(np.mean(spread**2), 1e-12))


def _factors(sizes: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Mean size over size of each row, 1 for the intercept and where all sizes are zero, shape (1 + d,)."""
    penalized = sizes[before[1:] > 0]
    mean = penalized.mean() if penalized.any() else 0.0
    return np.append(1.0, mean / np.maximum(sizes, _LEAST * mean) if mean else np.ones(len(sizes)))
