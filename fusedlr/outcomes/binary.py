"""Plain yes/no tasks: nothing is known of them but their names, their order and their two labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..inputs import read_endog, read_held_out
from ..io import LABEL, Plain, listed, named, names, row, saved
from ..problem import Labels
from .long import LongLabels, task_positions
from .outcome import LabelledRows, Outcome

__all__ = ["Binary"]


@dataclass(frozen=True)
class Binary(Outcome):
    """Tasks with two labels each.

    Attributes
    ----------
    names : tuple
    pairs : tuple of (no, yes)
        The user's own labels.
    long : bool
        Whether each row has one task only.
    """

    kind: ClassVar[str] = "binary"

    names: tuple = saved(Plain(named("t", least=1), list, lambda listed: tuple(names(listed))))
    pairs: tuple = saved(Plain(listed(row(LABEL, LABEL), "t"), list, lambda listed: tuple(map(tuple, listed))))
    long: bool = saved(default=False)

    @property
    def tasks(self) -> tuple:
        """Names of the tasks."""
        return self.names

    @property
    def words(self) -> tuple[tuple, ...]:
        """The user's own words for (no, yes) in each task."""
        return self.pairs

    @classmethod
    def read(cls, endog: Any, yes: Any = None, stacklevel: int = 5) -> Binary:
        """The tasks that the columns of a table are; arguments as for ``inputs.read_endog``."""
        found = read_endog(endog, yes, stacklevel)
        return cls(tuple(found), tuple(found.values()))

    @classmethod
    def read_long(cls, rows: LongLabels, order: Any = None, yes: Any = None) -> Binary:
        """The tasks of rows that have one each; all of them have the same two labels, of which ``yes`` may say one."""
        names = rows.tasks(order)
        pair, = read_endog(rows.endog, yes).values()
        outcome = cls(names, (pair,) * len(names), long=True)
        counts = np.diff(outcome.labels(rows).labels.start)
        few = [name for name, count in zip(names, counts) if count < 2]
        if few:
            raise ValueError(f"task must give every task two labelled rows or more, found fewer in {few[:4]}; merge "
                             "them with a neighbour, or leave these rows out")
        return outcome

    def labels(self, endog: Any) -> LabelledRows:
        """Labels of a table with a column for each task, frames by name; or of rows that have one task each."""
        if isinstance(endog, LongLabels):
            Y, _ = read_held_out(endog.endog.rename("y"), ["y"], self.pairs[:1])
            position = task_positions(endog.task, self.names)
            return LabelledRows(Labels.long(Y[:, 0], position, len(self.names)), len(Y), endog.index)
        Y, index = read_held_out(endog, list(self.tasks), self.words)
        return LabelledRows(Labels.wide(Y), len(Y), index)

    def facts(self, labels: Labels, n: int) -> list[tuple[str, str]]:
        """How many labels are missing, or have the weight 0, where any are."""
        missing = n * (1 if self.long else len(self.names)) - labels.size
        return [("Labels missing:", f"{missing}")] * (missing > 0)

    def by_label(self, labels: Labels, values: np.ndarray, n: int, index: pd.Index | None) -> pd.DataFrame | pd.Series:
        """Values of the labels with their names: a table, or one value a row where each row has one task."""
        if not self.long:
            return super().by_label(labels, values, n, index)
        by_row = np.full(n, np.nan)
        by_row[labels.row] = values
        return pd.Series(by_row, index)
