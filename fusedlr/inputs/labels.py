"""Labels of every accepted kind, turned into 0, 1 and NaN."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..exceptions import OneClassWarning
from ..frames import index_of, plain
from ..problem import Labels
from .yes import Pair, pair_of_words, read_yes, warn_unlike

__all__ = ["read_endog", "read_held_out", "warn_one_class"]


def read_endog(endog: Any, yes: Any = None, stacklevel: int = 5) -> dict:
    """The pair of labels (no, yes) of each task by its name, from labels of any of the accepted kinds.

    Parameters
    ----------
    endog : array_like or DataFrame
    yes : label, sequence of labels, or mapping by task, optional
        Which label is yes; read off the labels where left out.
    stacklevel : int
        Of the warning that yes may mean opposite things in two tasks.
    """
    frame, _ = _endog_frame(endog)
    if 0 in frame.shape:
        raise ValueError(f"endog must have rows and columns, found shape {frame.shape}")
    names = list(frame.columns)
    checks.refuse_duplicates("endog", names)
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    shared = _shared_words(columns)
    said = dict(zip(names, read_yes(yes, names)))
    found = {name: _pair(column, name, shared) if said[name] is None else _said_pair(column, name, said[name])
             for column, name in zip(columns, names)}
    _refuse_unobserved(columns, names)
    warn_unlike({name: pair for name, pair in found.items() if said[name] is None}, stacklevel)
    return {name: (pair.no, pair.yes) for name, pair in found.items()}


def read_held_out(endog: Any, names: list, words: Sequence) -> tuple[np.ndarray, pd.Index | None]:
    """Labels in a known coding, ndarray (n, t) of 0, 1 and NaN, and the names of the rows.

    Unlike in ``read_endog`` a task may have labels of one kind, or none.
    """
    frame, index = _endog_frame(endog)
    if isinstance(plain("endog", endog), pd.DataFrame):
        frame = _tasks_of(frame, names)
    elif frame.shape[1] != len(names):
        raise ValueError(f"endog must have the model's tasks {names} as columns, found {list(frame.columns)}")
    columns = [frame.iloc[:, k] for k in range(len(names))]
    return np.column_stack([_codes(column, name, pair) for column, name, pair in zip(columns, names, words)]), index


def _tasks_of(frame, names):
    """The columns of a frame that are the model's tasks, by name."""
    checks.refuse_duplicates("endog", [name for name in frame.columns if name in names])
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(f"endog must have the model's tasks {names} as columns, found {list(frame.columns)[:8]}; "
                         f"missing are {absent[:4]}; rename, or hand in an array with the tasks in their order")
    return frame[names]


def warn_one_class(labels: Labels, names: Sequence, words: Sequence, fuse_intercepts: bool) -> None:
    """Warn, on behalf of the caller's caller, of tasks whose observed labels are all the same."""
    seen_yes, seen_no = (labels.sums(labels.weight * side) > 0 for side in (labels.yes, ~labels.yes))
    advice = ("only its neighbours tell it anything; drop the task, or raise fusion" if fuse_intercepts else
              "its intercept has no finite best value; drop the task, or fuse intercepts (fuse_intercepts=True)")
    for name, pair, yes, no in zip(names, words, seen_yes, seen_no):
        if not (yes and no):
            warnings.warn(f"task {name!r}: every observed label is {pair[int(yes)]!r}; {advice}", OneClassWarning,
                          stacklevel=3)


def _endog_frame(endog):
    if endog is None:
        raise TypeError("endog must be an array or a DataFrame of labels, found None")
    index, endog = index_of(endog), plain("endog", endog)
    if isinstance(endog, Mapping):
        raise TypeError(f"endog must have rows and columns, found {checks.shown(endog)}; use pandas.DataFrame(endog)")
    if isinstance(endog, pd.DataFrame):
        return endog, index
    if isinstance(endog, pd.Series):
        return endog.to_frame("y" if endog.name is None else endog.name), index
    if isinstance(endog, pd.Categorical):
        return pd.DataFrame({"y": endog}), None
    array = _label_array(endog)
    names = ["y"] if array.shape[1] == 1 else [f"y{k + 1}" for k in range(array.shape[1])]
    return pd.DataFrame(array, columns=names), None


def _label_array(endog):
    if np.ma.isMaskedArray(endog):
        endog = np.ma.filled(endog.astype(object), np.nan)
    if not isinstance(endog, np.ndarray):
        try:
            # Through object, because numpy would turn a NaN among strings into the word "nan".
            endog = np.array(endog, dtype=object)
        except ValueError as error:
            raise ValueError(f"endog must be rectangular, with one label for each row and task: {error}") from None
    if endog.dtype == object and any(isinstance(value, (list, tuple, np.ndarray)) for value in endog.ravel()):
        raise ValueError("endog must be rectangular, with one label for each row and task; found rows of different "
                         "lengths; use NaN or None where a label is not observed")
    if endog.dtype.kind in "mM":  # pandas has no dates without a unit
        raise TypeError("endog must hold two labels for each task, found dates or durations; compare them with one to "
                        "make a yes/no label")
    array = endog[:, None] if endog.ndim == 1 else endog
    if array.ndim != 2:
        raise ValueError(f"endog must be one column, or rows by tasks, found {endog.ndim} dimensions")
    return array


def _pair(column, task, shared):
    """The labels (no, yes) of one task."""
    _refuse_strange_types(column, task)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _category_pair(column, task)
    return _label_pair(column[column.notna()].tolist(), task, shared)


def _codes(column, task, pair):
    """Codes 0, 1 and NaN of a task whose labels (no, yes) are known."""
    missing = column.isna().to_numpy()
    unknown = [value for value in column[~missing].unique().tolist() if value not in pair]
    if unknown:
        raise ValueError(f"endog must hold the labels of the fit, {pair[0]!r} and {pair[1]!r} in task {task!r}; "
                         f"found {unknown[:3]}")
    codes = np.full(len(column), np.nan)
    codes[~missing] = np.asarray(column[~missing] == pair[1], dtype=bool)
    return codes


def _refuse_strange_types(column, task):
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        raise TypeError(f"endog must hold two labels for each task; task {task!r} holds dates; compare them with a "
                        "date to make a yes/no label")
    if pd.api.types.is_complex_dtype(column.dtype):
        raise TypeError(f"endog must hold two labels for each task; task {task!r} holds complex numbers; "
                        "use 0/1, -1/1, bool, or two words")


def _label_pair(values, task, shared):
    """The labels (no, yes) of plain values: numbers, booleans or words."""
    found = set(values)
    if all(isinstance(value, (bool, np.bool_)) for value in found) and found:
        return Pair(False, True, True)
    if all(isinstance(value, Number) and not isinstance(value, complex) for value in found):
        return _number_pair(found, task)
    if all(isinstance(value, str) for value in found):
        return _word_pair(sorted(found), task, shared)
    kinds = sorted({type(value).__name__ for value in found})
    raise TypeError(f"endog must hold numbers, booleans or words; task {task!r} holds {' and '.join(kinds)}")


def _number_pair(found, task):
    for pair in ((0, 1), (-1, 1)):
        if found <= set(pair):
            return Pair(*pair, True)
    examples = ", ".join(f"{value:g}" if isinstance(value, float) else checks.shown(value)
                         for value in sorted(found)[:4])
    raise ValueError(f"endog must hold 0/1 or -1/1 (NaN where not observed); task {task!r} holds "
                     f"{examples}; recode it, say which of two is yes (yes=...), "
                     "or see FusedLogit.from_ordered for an outcome with ordered levels")


def _word_pair(words, task, shared):
    if len(words) == 1 and shared is not None:
        words = shared
    if len(words) != 2:
        way_out = ("see FusedLogit.from_ordered for an outcome with ordered levels" if len(words) > 2 else
                   "use a categorical with both levels, or yes=..., so that yes and no can be told apart")
        raise ValueError(f"endog must hold two labels for each task; task {task!r} holds {words[:4]}; {way_out}")
    return pair_of_words(words)


def _said_pair(column, task, yes):
    """The labels of one task whose yes the user named; the other may be any one label."""
    _refuse_strange_types(column, task)
    seen = _levels(column) if isinstance(column.dtype, pd.CategoricalDtype) else column.dropna().unique().tolist()
    others = [label for label in seen if label != yes]
    if len(others) != 1:
        raise ValueError(f"yes must be one of two labels of task {task!r}, found yes={checks.shown(yes)} and the "
                         f"labels {checks.shown(seen[:4])}")
    return Pair(_python(others[0]), _python(yes), True)


def _category_pair(column, task):
    """The two categories in their order, unless that is the alphabet's, which pandas takes where nobody gave one."""
    levels = _levels(column)
    if len(levels) != 2:
        raise ValueError(f"endog must hold two labels for each task; task {task!r} has the levels {levels[:4]}; "
                         "see FusedLogit.from_ordered for an outcome with ordered levels")
    if not column.cat.ordered and all(isinstance(level, str) for level in levels) and levels == sorted(levels):
        return pair_of_words(levels)
    return Pair(*map(_python, levels), True)


def _levels(column):
    """The categories of a column; of more than two, those that occur."""
    levels = list(column.cat.categories)
    if len(levels) == 2:
        return levels
    seen = set(column.dropna())
    return [level for level in levels if level in seen]


def _python(label):
    return label.item() if isinstance(label, np.generic) else label


def _shared_words(columns):
    """The two words of all tasks together, if they are two: they tell yes from no where a task has only one."""
    words = set()
    for column in columns:
        if not isinstance(column.dtype, pd.CategoricalDtype):
            words.update(value for value in column.dropna().tolist() if isinstance(value, str))
    return sorted(words) if len(words) == 2 else None


def _refuse_unobserved(columns, names):
    empty = [name for name, column in zip(names, columns) if column.isna().all()]
    if len(empty) == len(names):
        raise ValueError("endog has no observed label: every value is missing")
    if empty:
        raise ValueError(f"endog must have an observed label in every task; all are missing in {empty}; "
                         "drop these tasks")
