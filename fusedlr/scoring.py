"""Scores of many fits on rows that they did not see, and the choice among the fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from .objective import pointwise_loss

__all__ = ["METRICS", "Metric", "PENALTIES", "choose", "one_standard_error", "validation_auc", "validation_error",
           "validation_logloss"]

PENALTIES = ("l1", "l2", "fusion")
EQUAL = 1e-9  # of a score: what differs by less is the same

# Cells held at once, rows by tasks by points: 64 MB of floats.
_CELLS = 8_000_000

Score: TypeAlias = np.ndarray | pd.Series | Callable[[np.ndarray], np.ndarray]


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


def validation_auc(params: Any, Y: Any, X: Any, offset: Any = 0.0, weights: Any = None) -> np.ndarray:
    """Area under the ROC curve, mean over tasks, for each of many fits of the same tasks.

    The share of pairs of a yes and a no of one task in which the yes has the larger
    linear predictor; a pair with equal ones counts half. A task in which only one label
    is observed has no pairs and is left out.

    Parameters and return value are those of :func:`validation_error`.
    """
    params, X, Y, offset, counts = _held_out(params, Y, X, offset, weights)
    pairs = [k for k in range(Y.shape[1]) if (counts[Y[:, k] == 1, k]).any() and (counts[Y[:, k] == 0, k]).any()]
    if not pairs:
        return np.full(len(params), np.nan)
    return np.mean([[_auc(offset[:, k] + X @ point[1:, k], Y[:, k] == 1, counts[:, k]) for point in params]
                    for k in pairs], axis=0)


@dataclass(frozen=True)
class Metric:
    """A way to score fits on rows that they did not see.

    Attributes
    ----------
    score : function
        Like :func:`validation_error`.
    larger_is_better : bool
    tie_breaker : str
        Name of the metric that tells points apart which are equal in this one.
    words : str
        What it is, for figures and summaries.
    """

    score: Callable
    larger_is_better: bool
    tie_breaker: str
    words: str

    def cost(self, scores: Any) -> np.ndarray:
        """The scores, turned round where larger is better, so that the lowest is best."""
        return -np.asarray(scores, dtype=float) if self.larger_is_better else np.asarray(scores, dtype=float)


METRICS = {
    "logloss": Metric(validation_logloss, False, "error", "mean log-loss of held-out labels"),
    "error": Metric(validation_error, False, "logloss", "share of wrong held-out labels"),
    "auc": Metric(validation_auc, True, "logloss", "mean AUC of held-out labels"),
}


def choose(table: pd.DataFrame | Mapping, cost: Score, tie_breaker: Score) -> int:
    """Position of the best point of a grid.

    The lowest cost wins. Points that are equal in it are told apart by the tie-breaker,
    and points equal in both by their penalties: the larger l1, then the larger l2, then
    the larger fusion, so that of two equally good fits the more penalized one is taken.
    Equal means to nine digits: two points may have one and the same fit, whose scores
    differ by what the solver left open.

    Parameters
    ----------
    table : DataFrame or mapping with l1, l2 and fusion of each point
    cost, tie_breaker : array_like, shape (g,), or function
        Of each point; the lowest is best (see :meth:`Metric.cost`). A function is called
        with the positions of those points that are asked about and returns theirs.

    Returns
    -------
    int
    """
    keys = np.column_stack([np.asarray(table[name], dtype=float) for name in PENALTIES])
    left = _lowest(cost, np.arange(len(keys)))
    if len(left) > 1:
        left = _lowest(tie_breaker, left)
    return int(max(left, key=lambda i: tuple(keys[i])))


def one_standard_error(table: pd.DataFrame, best: int, metric: Metric = METRICS["logloss"]) -> int:
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
        Position of the point with the best mean.
    metric : Metric
        Knows whether a larger mean is better.

    Returns
    -------
    int
    """
    penalties = table[list(PENALTIES)].to_numpy(dtype=float)
    cost, df = metric.cost(table["mean"]), table["df"].to_numpy()
    near = cost <= cost[best] + table["se"].to_numpy()[best]
    more = (penalties >= penalties[best]).all(axis=1)
    return int(max(np.flatnonzero(near & more), key=lambda i: (-df[i], *penalties[i])))


def _lowest(score, positions):
    values = np.asarray(score(positions) if callable(score) else np.asarray(score)[positions], dtype=float)
    if np.isnan(values).all():
        raise ValueError("no point has a score: no label of endog is observed in the held-out rows")
    least = np.nanmin(values)
    return positions[values <= least + EQUAL * abs(least)]


def _mean_score(score, params, Y, X, offset, weights):
    params, X, Y, offset, counts = _held_out(params, Y, X, offset, weights)
    total = counts.sum()
    if total == 0:
        return np.full(len(params), np.nan)
    signs = np.where(Y == 1, 1.0, -1.0)
    size = max(1, _CELLS // Y.size)
    sums = [score(_linear_predictors(params[start:start + size], X, offset), signs, counts)
            for start in range(0, len(params), size)]
    return np.concatenate(sums) / total


def _held_out(params, Y, X, offset, weights):
    """All as arrays; labels, offsets and weights of shape (n, t), weights 0 where a label is not observed."""
    params, X = np.asarray(params, dtype=float), np.asarray(X, dtype=float)
    shape = (X.shape[0], params.shape[2])
    Y, offset = _by_label(Y, shape), _by_label(offset, shape)
    return params, X, Y, offset, np.where(np.isnan(Y), 0.0, 1.0 if weights is None else _by_label(weights, shape))


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


def _auc(linear, yes, counts):
    """Share of pairs in the right order, of one task with both labels."""
    place = np.unique(linear, return_inverse=True)[1]
    positives, negatives = np.bincount(place, counts * yes), np.bincount(place, counts * ~yes)
    below = np.cumsum(negatives) - negatives / 2
    return positives @ below / (positives.sum() * negatives.sum())
