"""Held-out scores of many fits, and the choice among the fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd

from .objective import pointwise_loss
from .problem import Design, Labels

__all__ = ["METRICS", "PENALTIES", "Metric", "Params", "area_under_curve", "auc", "choose", "error",
           "label_sums", "logloss", "one_standard_error", "within_one_error"]

PENALTIES = ("l1", "l2", "fusion")
EQUAL = 1e-9  # scores that differ by less, relatively, are tied

# Cells held at once, rows by points, and a quarter of that of coefficients by points: 64 MB and 16 MB of floats.
_CELLS = 8_000_000


class Params(Protocol):
    """Coefficients of g fits, intercepts in row 0: ndarray (g, 1 + d, t), or what gives slices of one."""

    def __len__(self) -> int: ...

    def __getitem__(self, which: Any, /) -> np.ndarray: ...


Score: TypeAlias = np.ndarray | pd.Series | Callable[[np.ndarray], np.ndarray]


def error(params: Params, design: Design, labels: Labels) -> np.ndarray:
    """Misclassification rate, for each of many fits of the same tasks.

    A linear predictor above 0 predicts yes, any other no.

    Parameters
    ----------
    params : Params
        Coefficients of g fits, intercepts in row 0.
    design : Design
    labels : Labels

    Returns
    -------
    ndarray, shape (g,)
        NaN throughout if there is no label.
    """
    return _mean(_wrong, params, design, labels)


def logloss(params: Params, design: Design, labels: Labels) -> np.ndarray:
    """Mean negative log-likelihood of a label, for each of many fits; see :func:`error`."""
    return _mean(_log_loss, params, design, labels)


def auc(params: Params, design: Design, labels: Labels) -> np.ndarray:
    """Area under the ROC curve, mean over tasks, for each of many fits; see :func:`error`.

    The share of pairs of a yes and a no of one task in which the yes has the larger
    linear predictor; a pair with equal ones counts half. A task in which only one label
    is observed has no pairs and is left out.
    """
    total, pairs = np.zeros(len(params)), 0
    for points, part, linear in _predictors(params, design, labels):
        yes, weight = labels.yes[part], labels.weight[part]
        if weight[yes].any() and weight[~yes].any():
            total[points] += [_auc(column, yes, weight) for column in linear.T]
            pairs += points.stop - points.start
    return total / (pairs / len(params)) if pairs else np.full(len(params), np.nan)


def _wrong(linear, sign):
    return (linear > 0) != (sign > 0)


def _log_loss(linear, sign):
    return pointwise_loss(sign * linear)


@dataclass(frozen=True)
class Metric:
    """A score of fits on held-out rows.

    Attributes
    ----------
    score : function
        Like :func:`error`.
    larger_is_better : bool
    tie_breaker : str
        Name of the metric that breaks ties of this one.
    words : str
        What it is, for figures and summaries.
    by_label : function, optional
        What one label adds, from its linear predictor and its sign, where the score is the
        mean of that.
    """

    score: Callable[[Any, Design, Labels], np.ndarray]
    larger_is_better: bool
    tie_breaker: str
    words: str
    by_label: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    def cost(self, scores: Any) -> np.ndarray:
        """The scores, negated where larger is better, so that the lowest is best."""
        return -np.asarray(scores, dtype=float) if self.larger_is_better else np.asarray(scores, dtype=float)


METRICS = {
    "logloss": Metric(logloss, False, "error", "mean log-loss of held-out labels", _log_loss),
    "error": Metric(error, False, "logloss", "share of wrong held-out labels", _wrong),
    "auc": Metric(auc, True, "logloss", "mean AUC of held-out labels"),
}


def choose(table: pd.DataFrame | Mapping, cost: Score, tie_breaker: Score) -> int:
    """Position of the best point of a grid.

    The lowest cost wins. Ties are broken by the tie-breaker, then by the penalties: the
    larger l1, then the larger l2, then the larger fusion, so that of two equally good
    fits the more penalized one is taken. Scores are tied if they agree to nine digits:
    two points may have the same fit, up to the tolerance of the solver.

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
    """Position that the one-standard-error rule chooses.

    The standard error is that of the paired difference to the best point, in the same held-out
    labels: what makes a fold hard for all points alike does not count.

    Candidates have a mean within one standard error of the best, and l1, l2 and fusion
    each at least those of the best point. The one with the fewest distinct values
    (``df``, in the fit on all rows) is taken; ties go to the larger l1, then the larger
    l2, then the larger fusion.

    Parameters
    ----------
    table : DataFrame
        l1, l2, fusion, mean, se_difference and df of each point.
    best : int
        Position of the point with the best mean.
    metric : Metric
        Knows whether a larger mean is better.

    Returns
    -------
    int
    """
    penalties = table[list(PENALTIES)].to_numpy(dtype=float)
    df = table["df"].to_numpy()
    near = within_one_error(table, best, metric)
    more = (penalties >= penalties[best]).all(axis=1)
    return int(max(np.flatnonzero(near & more), key=lambda i: (-df[i], *penalties[i])))


def within_one_error(table: pd.DataFrame, best: int, metric: Metric) -> np.ndarray:
    """Which points are worse than the best by a standard error of the difference at most, ndarray of bool (g,)."""
    cost = metric.cost(table["mean"])
    return cost - cost[best] <= table["se_difference"].to_numpy() + EQUAL * abs(cost[best])


def label_sums(by_label: Callable[[np.ndarray, np.ndarray], np.ndarray], params: Params, design: Design,
               labels: Labels) -> np.ndarray:
    """What the labels of each row add up to in each of many fits, weights counted, shape (n, g)."""
    sums = np.zeros((design.n_rows, len(params)))
    for points, part, linear in _predictors(params, design, labels):
        sums[labels.row[part], points] += labels.weight[part, None] * by_label(linear, labels.sign[part, None])
    return sums


def area_under_curve(linear: np.ndarray, yes: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """AUC of one task with both labels, and the influence of each label on it (DeLong's components), shape (m,)."""
    place = np.unique(linear, return_inverse=True)[1]
    positives, negatives = np.bincount(place, weight * yes), np.bincount(place, weight * ~yes)
    below, above = np.cumsum(negatives) - negatives / 2, positives.sum() - np.cumsum(positives) + positives / 2
    area = float(positives @ below / (positives.sum() * negatives.sum()))
    share = np.where(yes, below[place] / negatives.sum(), above[place] / positives.sum())
    return area, weight * (share - area) / np.where(yes, positives.sum(), negatives.sum())


def _lowest(score, positions):
    values = np.asarray(score(positions) if callable(score) else np.asarray(score)[positions], dtype=float)
    if np.isnan(values).all():
        raise ValueError("no point has a score: no label of endog is observed in the held-out rows")
    least = np.nanmin(values)
    return positions[values <= least + EQUAL * abs(least)]


def _mean(kernel, params, design, labels):
    """Weighted mean over all labels of a function of linear predictors and signs, shape (g,)."""
    total = labels.weight.sum()
    if total == 0:
        return np.full(len(params), np.nan)
    sums = np.zeros(len(params))
    for points, part, linear in _predictors(params, design, labels):
        sums[points] += labels.weight[part] @ kernel(linear, labels.sign[part, None])
    return sums / total


def _predictors(params: Params, design: Design, labels: Labels) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Linear predictors in chunks: a slice of points, the labels of one task, and an array (labels, points)."""
    shift = design.shift(labels)
    for points in _some_points(params, design):
        tables = params[points]
        for k, part in enumerate(labels.parts):
            X = design.X if part.stop - part.start == design.n_rows else design.X[labels.row[part]]
            yield points, part, X @ tables[:, 1:, k].T + tables[:, 0, k] + shift[part, None]


def _some_points(params: Params, design: Design) -> Iterator[slice]:
    """As many points at once as there is room for, until all have come."""
    n_tasks = params[:1].shape[2]
    size = max(1, _CELLS // max(design.n_rows, 4 * (1 + design.n_features) * n_tasks))
    return (slice(first, min(first + size, len(params))) for first in range(0, len(params), size))


def _auc(linear, yes, counts):
    """Share of concordant pairs of one task with both labels."""
    place = np.unique(linear, return_inverse=True)[1]
    positives, negatives = np.bincount(place, counts * yes), np.bincount(place, counts * ~yes)
    below = np.cumsum(negatives) - negatives / 2
    return positives @ below / (positives.sum() * negatives.sum())
