"""Numbers beside the data: weights, offsets, penalties and their factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..checks import by_name, check_index
from ..frames import index_of, plain
from ..problem import LARGEST, Labels

__all__ = ["column", "new_offset", "read_factors", "read_groups", "read_offset", "read_params", "read_penalty",
           "refuse_empty", "refuse_extreme", "row_weights", "weighted"]

# Beyond these numbers sums of products of floats say nothing any more.
SMALLEST, LARGEST_RATIO, LARGEST_OFFSET = 1e-100, 1e12, 1e8


def weighted(labels: Labels, weights: Any, n: int, index: pd.Index | None, tasks: list) -> Labels:
    """Labels with a user's weights, of n rows or of rows and tasks, multiplied in; a weight 0 leaves a label out."""
    if weights is None:
        return labels
    array = _by_label("weights", weights, (n, len(tasks)), index, tasks)
    if (array < 0).any():
        raise ValueError(f"weights must not be negative, found {array.min():g}")
    least, most = refuse_extreme("weights", array)
    if most > LARGEST_RATIO * least:
        raise ValueError(f"weights must not differ by more than a factor of {LARGEST_RATIO:g} where not 0, found "
                         f"{least:g} and {most:g}; beside the largest the smallest would count for nothing")
    given = array[labels.row, labels.task if array.shape[1] > 1 else 0]
    return replace(labels, weight=labels.weight * given).some(given > 0)


def refuse_empty(labels: Labels, tasks: list) -> None:
    """Refuse tasks that weights, or rows that were dropped, leave without a label."""
    counts = np.diff(labels.start)
    if not counts.any():
        raise ValueError("weights are all zero, or no label of endog is observed: nothing to fit")
    empty = [name for name, count in zip(tasks, counts) if not count]
    if empty:
        raise ValueError(f"weights must leave an observed label in every task; all are zero in {empty}; "
                         "drop these tasks")


def row_weights(weights: Any, n_rows: int, index: pd.Index | None, reference: str) -> np.ndarray:
    """How often each row counts in a score, shape (n,), not negative; 1 where left out."""
    if weights is None:
        return np.ones(n_rows)
    check_index(index_of(weights), index, "weights", reference)
    array = checks.array("weights", weights)
    if array.shape != (n_rows,):
        raise ValueError(f"weights must have one value for each of {n_rows} rows, found shape {array.shape}")
    return _not_negative("weights", array)


def read_groups(groups: Any, n: int, index: pd.Index | None) -> tuple[np.ndarray, str] | None:
    """Number of the group of each row, shape (n,), and what a group is called; None where there are none."""
    if groups is None:
        return None
    check_index(index_of(groups), index, "groups")
    groups = plain("groups", groups)
    values = pd.Series(checks.listed("groups", groups))
    if len(values) != n:
        raise ValueError(f"groups must have one value for each of {n} rows, found {len(values)}")
    if values.isna().any():
        raise ValueError(f"groups must name a group for every row, found {int(values.isna().sum())} missing values; "
                         "drop these rows, or give each a group of its own")
    name = getattr(groups, "name", None)
    return pd.factorize(values)[0], name if isinstance(name, str) and name != "row" else "group"


def read_offset(offset: Any, n: int, index: pd.Index | None, tasks: list) -> np.ndarray | None:
    """Offsets of every row, or of every row and task, shape (n, 1) or (n, t); None where there are none."""
    return None if offset is None else _small("offset", _by_label("offset", offset, (n, len(tasks)), index, tasks))


def new_offset(offset: Any, exog: Any, n: int, index: pd.Index | None, tasks: list,
               needed: bool) -> np.ndarray | None:
    """Offsets of new rows, shape (n, 1) or (n, t); None where there are none.

    Parameters
    ----------
    offset : None, float, array_like, or name of a column of exog
    exog : what the new rows came in
    n : int
    index : pandas.Index or None
        Labels of the new rows.
    tasks : list
    needed : bool
        Whether the model was fitted with an offset; then None is refused.
    """
    if offset is None and needed:
        raise ValueError("offset must be given with new rows, because the model was fitted with one; offset=0 leaves "
                         "it out of the predictions")
    if isinstance(offset, str):
        offset = column("offset", offset, exog, "exog")
    if isinstance(offset, Real) and not isinstance(offset, bool):
        return np.full((n, 1), _small("offset", checks.finite("offset", checks.array("offset", [offset])))[0])
    return read_offset(offset, n, index, tasks)


def column(argument: str, name: str, frame: Any, where: str) -> pd.Series:
    """The column of a frame that an argument names."""
    frame = plain(where, frame)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{argument}={name!r} names a column, so {where} must be a DataFrame, found "
                        f"{type(frame).__name__}")
    if name not in frame.columns:
        raise ValueError(f"{argument}={name!r} must name a column of {where}; there are "
                         f"{list(frame.columns)[:8]}{' ...' if frame.shape[1] > 8 else ''}")
    return frame[name]


def read_factors(factors: Any, features: list, argument: str = "penalty_factors") -> np.ndarray:
    """Factors of the features, shape (d,); features that a Series leaves out have the factor 1."""
    if factors is None:
        return np.ones(len(features))
    if isinstance(factors, (pd.Series, Mapping)):
        given = by_name(argument, factors, features)
        factors = [given.get(name, 1.0) for name in features]
    array = checks.array(argument, factors)
    if array.shape != (len(features),):
        raise ValueError(f"{argument} must hold one number for each of {len(features)} features, "
                         f"found shape {array.shape}")
    return _not_negative(argument, array)


def read_penalty(argument: str, value: Any, names: list, intercept: bool) -> float | np.ndarray:
    """A penalty as one number, or as one number for each row of params, intercept first.

    Parameters
    ----------
    argument : str
    value : float, array_like of shape (1 + d,), or Series or dict by name
        Names that are left out are an error; only a penalty that does not act on the
        intercept may leave it out, and has 0 there.
    names : list
        Name of the intercept, then names of the features.
    intercept : bool
        Whether the penalty acts on the intercept.
    """
    if value is None:
        raise TypeError(f"{argument} must be a number, a vector or a Series, found None; use 0 for no penalty")
    if isinstance(value, (pd.Series, Mapping)):
        value = _in_order(argument, value, names, intercept)
    if isinstance(value, np.ndarray) and value.ndim == 0 and not np.ma.isMaskedArray(value):
        value = value.item()
    if not hasattr(value, "__len__"):
        number = checks.number(argument, value)
        refuse_extreme(argument, np.array([number]))
        return number
    array = checks.array(argument, value)
    if array.shape != (len(names),):
        raise ValueError(f"{argument} must be a number or {len(names)} numbers (const first), "
                         f"found shape {array.shape}")
    if array[0] != 0 and not intercept:
        raise ValueError(_on_the_intercept(argument, array[0]))
    refuse_extreme(argument, _not_negative(argument, array))
    return array


def read_params(params: Any, features: list, tasks: list) -> np.ndarray:
    """Coefficients of every feature (intercept first) and task, shape (1 + d, t); DataFrames by name."""
    params = plain("params", params)
    if isinstance(params, pd.DataFrame):
        if set(params.index) != set(features) or set(params.columns) != set(tasks):
            raise ValueError(f"params as a DataFrame must have the rows {features[:4]} ... and the columns {tasks[:4]} "
                             f"..., found {list(params.index)[:4]} ... and {list(params.columns)[:4]} ...")
        params = params.loc[features, tasks]
    array = checks.finite("params", checks.array("params", params))
    if array.shape == (len(features),) and len(tasks) == 1:
        array = array[:, None]
    if array.shape != (len(features), len(tasks)):
        raise ValueError(f"params must have shape {(len(features), len(tasks))}, intercepts first, found {array.shape}")
    return array


def _on_the_intercept(argument: str, value: float) -> str:
    if argument == "fusion":
        return (f"fusion of const (the first number) must be 0 in a model with fuse_intercepts=False, found {value:g}; "
                "build the model with fuse_intercepts=True to fuse intercepts too")
    return f"{argument} of const (the first number) must be 0: intercepts are not shrunk, found {value:g}"


def _in_order(argument: str, values: pd.Series | Mapping, names: list, intercept: bool) -> list:
    given = by_name(argument, values, names)
    if not intercept:
        given.setdefault(names[0], 0.0)
    absent = [name for name in names if name not in given]
    if absent:
        raise ValueError(f"{argument} by name must name every feature{' and the intercept' * intercept}; "
                         f"missing are {absent[:4]}")
    return [given[name] for name in names]


def _by_label(argument: str, values: Any, shape: tuple, index: pd.Index | None, tasks: list) -> np.ndarray:
    """Numbers for every row, or every row and task, in the order of rows and tasks, shape (n, 1) or (n, t)."""
    check_index(index_of(values), index, argument)
    values = plain(argument, values)
    if isinstance(values, pd.DataFrame):
        if len(values.columns) != len(tasks) or set(values.columns) != set(tasks):
            raise ValueError(f"{argument} as a DataFrame must have the tasks {tasks} as columns, found "
                             f"{list(values.columns)}")
        values = values[tasks]
    array = checks.finite(argument, checks.array(argument, values))
    if array.shape not in (shape[:1], shape):
        raise ValueError(f"{argument} must have shape {shape[:1]} or {shape}, found {array.shape}")
    return array[:, None] if array.ndim == 1 else array


def refuse_extreme(argument: str, array: np.ndarray) -> tuple[float, float]:
    """The least and the largest number that is not 0, both 1 where there is none; refused where floats lose them."""
    used = array[array > 0]
    least, most = (float(used.min()), float(used.max())) if used.size else (1.0, 1.0)
    if not SMALLEST <= least <= most <= LARGEST:
        raise ValueError(f"{argument} must lie between {SMALLEST:g} and {LARGEST:g} where not 0, found "
                         f"{least if least < SMALLEST else most:g}")
    return least, most


def _small(argument: str, array: np.ndarray) -> np.ndarray:
    """Numbers that an intercept can still be told from."""
    worst = np.abs(array).max(initial=0.0)
    if worst > LARGEST_OFFSET:
        raise ValueError(f"{argument} must lie between -{LARGEST_OFFSET:g} and {LARGEST_OFFSET:g}, found {worst:g}: "
                         "beside it no coefficient can be seen")
    return array


def _not_negative(argument: str, array: np.ndarray) -> np.ndarray:
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        raise ValueError(f"{argument} must be finite and not negative, found {array[bad][0]:g}")
    return array
