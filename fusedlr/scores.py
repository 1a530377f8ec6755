"""Scores of probabilities by task: log-loss, Brier score, AUC, calibration, each with its standard error.

Standard errors come from influence functions summed within sampling units: rows, or groups.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .metrics import area_under_curve
from .objective import pointwise_loss, sigmoid
from .problem import Groups, Labels

__all__ = ["score_table"]

_STEPS = 50


def score_table(labels: Labels, linear: np.ndarray, groups: Groups, tasks: list) -> pd.DataFrame:
    """Scores of linear predictors.

    Parameters
    ----------
    labels : Labels
    linear : ndarray, shape (m,)
        Linear predictor of each label, from a fit that did not see it.
    groups : Groups
    tasks : list

    Returns
    -------
    DataFrame
        A row for each task, then "all" where there are several. ``labels`` (their weight),
        ``logloss``, ``brier``, ``auc`` (of all: the mean over tasks), ``intercept`` (calibration in the
        large: what to add to the linear predictor; 0 is best) and ``slope`` (of a logistic regression
        on the linear predictor; 1 is best, less where predictions are too extreme), each with its
        standard error (``logloss_se``, ...).
    """
    parts = [*labels.parts]
    rows = [_scores(labels, linear, groups, [part]) for part in parts]
    names = list(tasks)
    if len(parts) > 1:
        rows.append(_scores(labels, linear, groups, parts))
        names.append("all")
    return pd.DataFrame(rows, names)


def _scores(labels, linear, groups, parts):
    """Scores of the labels of some tasks together, AUC their mean."""
    inside = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    rows, sign, weight, eta = labels.row[inside], labels.sign[inside], labels.weight[inside], linear[inside]
    total, chance = weight.sum(), sigmoid(eta)
    found = {"labels": total}
    estimates = {"logloss": _mean(pointwise_loss(sign * eta), weight), "brier": _mean((chance - (sign > 0))**2, weight),
                 "auc": _auc(labels, linear, parts),
                 "intercept": _calibration(np.ones((len(eta), 1)), eta, sign, weight),
                 "slope": _calibration(np.column_stack([eta, np.ones(len(eta))]), 0.0, sign, weight)}
    for name, (value, influence) in estimates.items():
        by_row = np.bincount(rows, influence, groups.n_rows)
        found[name] = value
        found[f"{name}_se"] = float(groups.standard_error(by_row)) if np.isfinite(value) else np.nan
    return found


def _mean(values, weight):
    """A weighted mean, and the influence of each label on it."""
    mean = np.average(values, weights=weight) if weight.sum() > 0 else np.nan
    return mean, weight * (values - mean) / max(weight.sum(), 1e-300)


def _auc(labels, linear, parts):
    """Mean AUC of the tasks that have both labels, and the influence of each label on it."""
    found = []
    for part in parts:
        yes, weight = labels.yes[part], labels.weight[part]
        both = weight[yes].any() and weight[~yes].any()
        found.append(area_under_curve(linear[part], yes, weight) if both else (np.nan, np.zeros(len(weight))))
    values = np.array([value for value, _ in found])
    seen = max(np.count_nonzero(~np.isnan(values)), 1)
    mean = np.nanmean(values) if not np.isnan(values).all() else np.nan
    return mean, np.concatenate([influence for _, influence in found]) / seen


def _calibration(columns, offset, sign, weight):
    """First coefficient of a logistic regression of labels on columns, and the influence of each label on it."""
    yes, values = sign > 0, np.zeros(columns.shape[1])
    if not (weight[yes].any() and weight[~yes].any()):
        return np.nan, np.zeros(len(sign))
    for _ in range(_STEPS):
        chance = sigmoid(columns @ values + offset)
        slope = columns.T @ (weight * (yes - chance))
        curvature = (columns * (weight * chance * (1 - chance))[:, None]).T @ columns
        if not np.isfinite(curvature).all() or np.linalg.cond(curvature) > 1e12:
            return np.nan, np.zeros(len(sign))
        step = np.linalg.solve(curvature, slope)
        values = values + step
        if np.abs(step).max() < 1e-10:
            influence = np.linalg.solve(curvature, (columns * (weight * (yes - chance))[:, None]).T)[0]
            return float(values[0]), influence
    return np.nan, np.zeros(len(sign))
