"""Scores of a fitted model: test error, and distance from the true coefficients."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from study.models import MODELS

__all__ = ["COLUMNS", "bayes_risk", "distances", "distances_by_task", "error_of_margins", "pairs_whole",
           "score_instance"]

COLUMNS = ["case", "instance", "size", "model", "test_error", "bayes_risk", "distance_zero", "distance_nonzero",
           "l1", "l2", "fusion", "validation_error", "gap", "status", "seconds", "ties", "l2_smallest_tied",
           "l2_largest_tied", "one_class_tasks", "distance_zero_by_task", "distance_nonzero_by_task", "by",
           "pairs_whole"]


def error_of_margins(margins: np.ndarray, Y: np.ndarray) -> float:
    """Misclassification rate over all rows and tasks; a margin above 0 predicts yes."""
    return float(np.mean((margins > 0) != (Y == 1)))


def bayes_risk(coefs: np.ndarray, X: np.ndarray) -> float:
    """Bayes risk on these rows: least expected error of any classifier, under the true coefficients (1 + d, t)."""
    chance = expit(coefs[0] + X @ coefs[1:])
    return float(np.minimum(chance, 1 - chance).mean())


def distances(params: np.ndarray, coefs: np.ndarray) -> tuple[float, ...]:
    """Euclidean distance over the true zeros and over the non-zeros, each by their count, intercepts left out."""
    apart, zero = params[1:] - coefs[1:], coefs[1:] == 0
    return tuple(float(np.linalg.norm(apart[where]) / np.count_nonzero(where)) for where in (zero, ~zero))


def distances_by_task(params: np.ndarray, coefs: np.ndarray) -> tuple[float, ...]:
    """The same distances of each task alone, averaged over the tasks."""
    each = np.array([distances(params[:, [task]], coefs[:, [task]]) for task in range(coefs.shape[1])])
    return tuple(float(value) for value in each.mean(axis=0))


def pairs_whole(params: np.ndarray, coefs: np.ndarray) -> float:
    """Of the pairs of a feature and its counterpart in the second half of which a fit keeps any, the share kept whole.

    Pairs whose true coefficients are both not zero count; nan where there are none, or none is kept.
    """
    half = (len(coefs) - 1) // 2
    true, kept = ((values[1:1 + half] != 0, values[1 + half:] != 0) for values in (coefs, params))
    counts = true[0] & true[1]
    any_kept, both = (kept[0] | kept[1]) & counts, kept[0] & kept[1] & counts
    return float(both.sum() / any_kept.sum()) if any_kept.any() else np.nan


def score_instance(data: Mapping[str, Any], fits: Mapping[str, Any],
                   margins: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Score every model of one instance: one row a size and model.

    ``fits`` holds ``choices`` (a row for each size and model), ``params`` (sizes, models, 101, 4) in their order, and
    ``seconds`` by size. ``margins`` holds for each foreign model ``margins`` (sizes, rows, 4) on the test rows,
    ``sizes``, ``seconds`` by size, and by what they were made (``by``) where there is a choice.
    """
    foreign = [_margin_rows(data, model, found) for model, found in (margins or {}).items()]
    rows = pd.concat([_linear_rows(data, fits), *foreign], ignore_index=True)
    rows["bayes_risk"] = bayes_risk(data["coefs"], data["X_test"])
    rows["one_class_tasks"] = [_one_class_tasks(data["Y_train"][:size]) for size in rows["size"]]
    return rows.sort_values("size", kind="stable", ignore_index=True)


def _linear_rows(data, fits):
    rows = fits["choices"].copy()
    params = fits["params"].reshape(len(rows), *fits["params"].shape[2:])
    rows["test_error"] = [error_of_margins(fit[0] + data["X_test"] @ fit[1:], data["Y_test"]) for fit in params]
    rows["distance_zero"], rows["distance_nonzero"] = zip(*(distances(fit, data["coefs"]) for fit in params))
    by_task = [distances_by_task(fit, data["coefs"]) for fit in params]
    rows["distance_zero_by_task"], rows["distance_nonzero_by_task"] = zip(*by_task)
    rows["pairs_whole"] = [pairs_whole(fit, data["coefs"]) for fit in params]
    rows["seconds"] = rows["size"].map(fits["seconds"])
    return rows


def _margin_rows(data, model, found):
    return pd.DataFrame({
        "size": found["sizes"], "model": model, "status": MODELS[model].status,
        "test_error": [error_of_margins(margins, data["Y_test"]) for margins in found["margins"]],
        "seconds": [found["seconds"][size] for size in found["sizes"]], "by": found.get("by", ""),
    })


def _one_class_tasks(Y):
    return int((Y == Y[0]).all(axis=0).sum())
