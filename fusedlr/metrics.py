"""Held-out scores of many fits, and the choice among the fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd

from . import core
from .matrices import for_core
from .problem import Design, Labels
from .tasks import TaskGraph

__all__ = ["METRICS", "PENALTIES", "Metric", "Params", "area_under_curve", "auc", "choose", "error", "labelled_rows",
           "linear_predictor", "loglike", "logloss", "null_loglike", "one_standard_error", "within_one_error"]

PENALTIES = ("l1", "l2", "fusion")


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
    return _score("error", params, design, labels)


def logloss(params: Params, design: Design, labels: Labels) -> np.ndarray:
    """Mean negative log-likelihood of a label, for each of many fits; see :func:`error`."""
    return _score("logloss", params, design, labels)


def auc(params: Params, design: Design, labels: Labels) -> np.ndarray:
    """Area under the ROC curve, mean over tasks, for each of many fits; see :func:`error`.

    The share of pairs of a yes and a no of one task in which the yes has the larger
    linear predictor; a pair with equal ones counts half. A task in which only one label
    is observed has no pairs and is left out.
    """
    return _score("auc", params, design, labels)


def _score(name, params, design, labels):
    rows = labelled_rows(design, labels)
    step = core.points_at_once(design.n_features, labels.n_tasks)
    parts = (slice(first, first + step) for first in range(0, len(params), step))
    return np.concatenate([rows.score(np.ascontiguousarray(params[part], dtype=float), name) for part in parts])


def labelled_rows(design: Design, labels: Labels, tasks: TaskGraph | None = None) -> core.LabelledRows:
    """Features, labels and, where it is asked for, the graph of the tasks, as the C++ core reads them."""
    offset = None if design.offset is None else design.shift(labels)
    return core.LabelledRows(for_core(design.X), core.FlatLabels(*labels.for_core, offset),
                             *(() if tasks is None else (*tasks.for_core, tasks.is_chain)))


def linear_predictor(design: Design, labels: Labels, params: np.ndarray) -> np.ndarray:
    """Linear predictor of every label by the C++ core, bitwise identical in R, shape (m,)."""
    return labelled_rows(design, labels).linear(np.ascontiguousarray(params, dtype=float))


def loglike(labels: Labels, linear: np.ndarray) -> np.ndarray:
    """Log-likelihood of each task at a linear predictor of every label, then their sum, shape (t + 1,)."""
    return -core.FlatLabels(*labels.for_core).losses(np.ascontiguousarray(linear, dtype=float))


def null_loglike(labels: Labels, offset: np.ndarray) -> np.ndarray:
    """Maximised log-likelihood of the null model (intercept and offset) of each task, then the sum, shape (t + 1,)."""
    return -core.FlatLabels(*labels.for_core, np.ascontiguousarray(offset, dtype=float)).null_losses()


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
    is_mean : bool
        Whether the score is a mean over labels, so that rows (or groups) have a share in it.
    """

    score: Callable[[Any, Design, Labels], np.ndarray]
    larger_is_better: bool
    tie_breaker: str
    words: str
    is_mean: bool = False

    def cost(self, scores: Any) -> np.ndarray:
        """The scores, negated where larger is better, so that the lowest is best."""
        cost = np.ascontiguousarray(scores, dtype=float)
        return -cost if self.larger_is_better else cost


METRICS = {
    "logloss": Metric(logloss, False, "error", "mean log-loss of held-out labels", True),
    "error": Metric(error, False, "logloss", "share of wrong held-out labels", True),
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
    points = np.column_stack([np.asarray(table[name], dtype=float) for name in PENALTIES])
    costs = _at(cost, np.arange(len(points)))
    tied = np.flatnonzero(core.lowest_costs(costs))
    second = np.zeros(len(points))
    if len(tied) > 1:
        second[tied] = _at(tie_breaker, tied)
    best = core.best_point(points, costs, second)
    if best < 0:
        raise ValueError("no point has a score: no label of endog is observed in the held-out rows")
    return best


def _at(score, positions):
    return np.ascontiguousarray(score(positions) if callable(score) else np.asarray(score)[positions], dtype=float)


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
    points = np.ascontiguousarray(table[list(PENALTIES)], dtype=float)
    df = np.ascontiguousarray(table["df"], dtype=np.intc)
    return core.one_standard_error(points, *_cost_and_error(table, metric), df, best)


def within_one_error(table: pd.DataFrame, best: int, metric: Metric) -> np.ndarray:
    """Which points are worse than the best by a standard error of the difference at most, ndarray of bool (g,)."""
    return core.within_one_error(*_cost_and_error(table, metric), best)


def _cost_and_error(table, metric):
    return metric.cost(table["mean"]), np.ascontiguousarray(table["se_difference"], dtype=float)


def area_under_curve(linear: np.ndarray, yes: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """AUC of one task with both labels, and the influence of each label on it (DeLong's components), shape (m,)."""
    place = np.unique(linear, return_inverse=True)[1]
    positives, negatives = np.bincount(place, weight * yes), np.bincount(place, weight * ~yes)
    below, above = np.cumsum(negatives) - negatives / 2, positives.sum() - np.cumsum(positives) + positives / 2
    area = float(positives @ below / (positives.sum() * negatives.sum()))
    share = np.where(yes, below[place] / negatives.sum(), above[place] / positives.sum())
    return area, weight * (share - area) / np.where(yes, positives.sum(), negatives.sum())
