"""Scores of many fits on rows that they did not see, and the choice among the fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from . import checks
from .objective import pointwise_loss

__all__ = ["METRICS", "PENALTIES", "choose", "one_standard_error", "validation_error", "validation_logloss"]

METRICS = ("error", "logloss")
PENALTIES = ("l1", "l2", "fusion")

# Cells held at once, rows by tasks by points: 64 MB of floats.
_CELLS = 8_000_000

Score = np.ndarray | pd.Series | Callable[[np.ndarray], np.ndarray]


def validation_error(params: Any, Y: Any, X: Any, offset: Any = 0.0, weights: Any = None) -> np.ndarray:
    """Share of wrong labels, for each of many fits of the same tasks.

    A linear predictor above 0 predicts yes, any other no.

    Parameters
    ----------
    params : array_like, shape (g, 1 + d, t)
        Coefficients of g fits, intercepts in row 0.
    Y : array_like, shape (n, t) or (n,)
        0, 1, or NaN where the label is not observed; those are left out.
    X : array_like, shape (n, d)
    offset : float or array_like, shape (n,) or (n, t)
    weights : array_like, shape (n,) or (n, t), optional
        A weight 2 counts an observation twice.

    Returns
    -------
    ndarray, shape (g,)
        NaN throughout if nothing is observed.
    """
    return _mean_score(_wrong, params, Y, X, offset, weights)


def validation_logloss(params: Any, Y: Any, X: Any, offset: Any = 0.0, weights: Any = None) -> np.ndarray:
    """Mean negative log-likelihood of an observed label, for each of many fits of the same tasks.

    Parameters and return value are those of :func:`validation_error`.
    """
    return _mean_score(_minus_log_likelihood, params, Y, X, offset, weights)


def choose(table: pd.DataFrame | Mapping, error: Score, logloss: Score, metric: str = "error") -> int:
    """Position of the best point of a grid.

    The lowest ``metric`` wins. Points that are exactly equal in it are told apart by
    the other score, and points equal in both by their penalties: the larger l1, then
    the larger l2, then the larger fusion, so that of two equally good fits the more
    penalized one is taken.

    Parameters
    ----------
    table : DataFrame or mapping with l1, l2 and fusion of each point
    error, logloss : array_like, shape (g,), or function
        Scores of each point. A function is called with the positions of those points
        whose score is needed and returns theirs.
    metric : "error" or "logloss"

    Returns
    -------
    int
    """
    metric = checks.word("metric", metric, METRICS)
    first, second = (error, logloss) if metric == "error" else (logloss, error)
    keys = np.column_stack([np.asarray(table[name], dtype=float) for name in PENALTIES])
    left = _lowest(first, np.arange(len(keys)))
    if len(left) > 1:
        left = _lowest(second, left)
    return int(max(left, key=lambda i: tuple(keys[i])))


def one_standard_error(table: pd.DataFrame, best: int) -> int:
    """Position of the most penalized point whose mean is within one standard error of the best point's.

    More penalized means never less: only points whose l1, l2 and fusion are each at least
    those of the best point come into question. Among them the one with the fewest
    distinct values (``df``, in the fit on all rows) is taken; of those with the same
    number, the larger l1, then the larger l2, then the larger fusion.

    Parameters
    ----------
    table : DataFrame
        l1, l2, fusion, mean, se and df of each point.
    best : int
        Position of the point with the lowest mean.

    Returns
    -------
    int
    """
    penalties = table[list(PENALTIES)].to_numpy(dtype=float)
    mean, df = table["mean"].to_numpy(), table["df"].to_numpy()
    near = mean <= mean[best] + table["se"].to_numpy()[best]
    more = (penalties >= penalties[best]).all(axis=1)
    return int(max(np.flatnonzero(near & more), key=lambda i: (-df[i], *penalties[i])))


def _lowest(score, positions):
    values = np.asarray(score(positions) if callable(score) else np.asarray(score)[positions], dtype=float)
    if np.isnan(values).all():
        raise ValueError("no point has a score: no label of endog is observed in the held-out rows")
    return positions[values == np.nanmin(values)]


def _mean_score(score, params, Y, X, offset, weights):
    params, X = np.asarray(params, dtype=float), np.asarray(X, dtype=float)
    shape = (X.shape[0], params.shape[2])
    Y, offset = _by_label(Y, shape), _by_label(offset, shape)
    counts = np.where(np.isnan(Y), 0.0, 1.0 if weights is None else _by_label(weights, shape))
    total = counts.sum()
    if total == 0:
        return np.full(len(params), np.nan)
    signs = np.where(Y == 1, 1.0, -1.0)
    size = max(1, _CELLS // (shape[0] * shape[1]))
    sums = [score(_linear_predictors(params[start:start + size], X, offset), signs, counts)
            for start in range(0, len(params), size)]
    return np.concatenate(sums) / total


def _by_label(values, shape):
    array = np.asarray(values, dtype=float)
    return np.broadcast_to(array[:, None] if array.ndim == 1 else array, shape)


def _linear_predictors(params, X, offset):
    """Linear predictors of all fits by one matrix product, shape (n, g, t)."""
    g, rows, t = params.shape
    wide = np.ascontiguousarray(params[:, 1:].transpose(1, 0, 2)).reshape(rows - 1, g * t)
    return (X @ wide).reshape(-1, g, t) + params[:, 0] + offset[:, None]


def _wrong(linear, signs, counts):
    return np.einsum("igt,it->g", (linear > 0) != (signs > 0)[:, None], counts)


def _minus_log_likelihood(linear, signs, counts):
    return np.einsum("igt,it->g", pointwise_loss(signs[:, None] * linear), counts)
