"""Long format: one label and one task for each row (age bands, years, doses, visits, regions)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..frames import index_of, plain

__all__ = ["LongLabels", "task_positions"]


@dataclass(frozen=True)
class LongLabels:
    """Labels and tasks of rows as a user handed them in, checked to belong together.

    Attributes
    ----------
    endog : Series, shape (n,)
        Two labels; missing where a row has none.
    task : Series, shape (n,)
        No value is missing.
    index : pandas.Index or None
    """

    endog: pd.Series
    task: pd.Series
    index: pd.Index | None

    @classmethod
    def read(cls, endog: Any, task: Any) -> LongLabels:
        """Labels and tasks of any of the accepted kinds."""
        label, of_task = _column("endog", endog), read_tasks(task)
        if len(of_task) != len(label):
            raise ValueError(f"task must have one value for each of the {len(label)} rows of endog, found "
                             f"{len(of_task)}")
        index, other = index_of(endog), index_of(task)
        checks.check_index(other, index, "task")
        return cls(label, of_task, other if index is None else index)

    def tasks(self, order: Any = None) -> tuple:
        """Names of the tasks in their order: the user's, that of numbers and dates, or that of ordered categories."""
        seen = pd.unique(self.task)
        if order is not None:
            return _in_order(checks.listed("order", order), set(map(_plain, seen)))
        if isinstance(self.task.dtype, pd.CategoricalDtype) and self.task.cat.ordered:
            return tuple(_plain(level) for level in self.task.cat.categories if level in set(seen))
        if any(isinstance(value, str) for value in seen) and not self.task.attrs.get("dates"):
            raise ValueError(f"order is needed, first task first, unless task holds numbers, dates or an ordered "
                             f"categorical; found {[_plain(value) for value in seen[:4]]}")
        return tuple(sorted(_plain(value) for value in seen))


def read_tasks(task: Any, argument: str = "task") -> pd.Series:
    """A column of tasks; dates and periods as text that sorts as they do."""
    column = _column(argument, task)
    if column.isna().any():
        raise ValueError(f"{argument} must name a task for every row, found {int(column.isna().sum())} missing values; "
                         "drop these rows")
    if isinstance(column.dtype, pd.PeriodDtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = column.astype(str)
        column.attrs["dates"] = True
    return column


def task_positions(task: Any, names: tuple, argument: str = "task") -> np.ndarray:
    """Position of the task of each row, shape (n,), by name."""
    column, place = read_tasks(task, argument), {name: k for k, name in enumerate(names)}
    positions = column.astype(object).map(place)
    unknown = pd.unique(column[positions.isna().to_numpy()])
    if len(unknown):
        shown = ", ".join(map(repr, names[:6])) + ", ..." * (len(names) > 6)
        raise ValueError(f"{argument} must hold tasks of the fit, found {checks.shown(unknown[:3].tolist())}; "
                         f"there are {shown}")
    return positions.to_numpy(dtype=int)


def _column(argument, values):
    """One column of a user, masked values as missing."""
    values = plain(argument, values)
    if isinstance(values, pd.Series):
        return values
    if _depth(values) != 1:
        raise TypeError(f"{argument} must be one column with a value for each row to go with task, found "
                        f"{checks.shown(values)}")
    listed = checks.listed(argument, values)
    return pd.Series(listed if isinstance(values, (list, tuple, range)) or np.ma.isMaskedArray(values) else values)


def _depth(values):
    """Number of dimensions; 2 for ragged lists."""
    ragged = isinstance(values, (list, tuple)) and any(isinstance(value, (list, tuple)) for value in values)
    return 2 if ragged else np.ndim(values)


def _in_order(order, seen):
    checks.refuse_duplicates("order", order)
    absent = [value for value in seen if value not in order]
    if absent:
        raise ValueError(f"order must name every task, found none of {[_plain(value) for value in absent[:4]]} in it")
    unseen = [name for name in order if name not in seen]
    if unseen:
        raise ValueError(f"order names the tasks {unseen[:4]}, which no row has; leave them out")
    return tuple(order)


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value
