"""Hypotheses about estimated values, as users write them, turned into a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import checks

__all__ = ["read_hypotheses"]


def read_hypotheses(hypotheses: Any, value: Any, groups: pd.DataFrame, model: Any,
                    pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrix (q, p) and right side (q,) of hypotheses; see ``RefitResults.t_test``.

    Parameters
    ----------
    hypotheses, value : what the user gave
    groups : DataFrame, p rows
        Feature and tasks of each estimated value.
    model : FusedLogit
    pattern : ndarray of int, shape (1 + d, t)
    """
    if hypotheses is None:
        contrasts = np.eye(len(groups))
    elif _is_matrix(hypotheses):
        contrasts = np.atleast_2d(checks.finite("hypotheses", checks.array("hypotheses", hypotheses)))
    else:
        listed = hypotheses if isinstance(hypotheses, list) and hypotheses else [hypotheses]
        contrasts = np.eye(len(groups))[[k for one in listed for k in _values(one, groups, model, pattern)]]
    if contrasts.ndim != 2 or contrasts.shape[1] != len(groups):
        raise ValueError(f"hypotheses must have a column for each of the {len(groups)} values of table(), found shape "
                         f"{contrasts.shape}")
    return contrasts, _right_side(value, len(contrasts))


def _is_matrix(hypotheses):
    if isinstance(hypotheses, list) and hypotheses:
        return isinstance(hypotheses[0], (list, float, np.ndarray))
    return isinstance(hypotheses, (np.ndarray, pd.DataFrame))


def _right_side(value, q):
    wanted = checks.finite("value", checks.array("value", value))
    if wanted.shape not in ((), (q,)):
        raise ValueError(f"value must be a number or {q} numbers, one for each hypothesis, found shape {wanted.shape}")
    return np.broadcast_to(wanted, (q,))


def _values(named, groups, model, pattern):
    """Positions of the values that a feature, or a feature and a task, stands for."""
    features = list(model.exog_names)
    if _is_one_of(named, features):
        found = np.flatnonzero([feature == named for feature in groups["feature"]]).tolist()
    else:
        feature, tasks = _pair(named, features)
        same = [feature == other and tasks == label for other, label in zip(groups["feature"], groups["tasks"])]
        found = np.flatnonzero(same).tolist() or _in_task(feature, tasks, features, model, pattern)
    if not found:
        raise ValueError(f"hypotheses: nothing was estimated for {named!r}, which the penalized fit set to zero; see "
                         "table() for the values that there are")
    return found


def _is_one_of(name, names):
    """Whether a name is in a list; anything at all may be asked about."""
    try:
        return name in dict.fromkeys(names)
    except TypeError:
        return False


def _pair(named, features):
    if isinstance(named, tuple) and len(named) == 2 and _is_one_of(named[0], features):
        return named
    raise ValueError("hypotheses must name features, or pairs of feature and task, or be a matrix, found "
                     f"{checks.shown(named)}; features are {features[:5]}{' ...' if len(features) > 5 else ''}")


def _in_task(feature, task, features, model, pattern):
    tasks = list(model.endog_names)
    if not _is_one_of(task, tasks):
        raise ValueError(f"hypotheses: the task of {(feature, task)!r} must be one of {tasks}, or tasks as table() "
                         "writes them")
    value = pattern[features.index(feature), tasks.index(task)]
    return [int(value)] if value >= 0 else []
