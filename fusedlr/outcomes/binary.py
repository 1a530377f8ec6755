"""Plain yes/no tasks: nothing is known of them but their names, their order and their two labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..inputs import read_endog, read_held_out
from ..io import LABEL, Plain, listed, named, names, row, saved
from ..problem import Labels
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
    """

    kind: ClassVar[str] = "binary"

    names: tuple = saved(Plain(named("t", least=1), list, lambda listed: tuple(names(listed))))
    pairs: tuple = saved(Plain(listed(row(LABEL, LABEL), "t"), list, lambda listed: tuple(map(tuple, listed))))

    @property
    def tasks(self) -> tuple:
        """Names of the tasks."""
        return self.names

    @property
    def words(self) -> tuple[tuple, ...]:
        """The user's own words for (no, yes) in each task."""
        return self.pairs

    @classmethod
    def read(cls, endog: Any) -> Binary:
        """The tasks that the columns of a table are."""
        found = read_endog(endog)
        return cls(tuple(found), tuple(found.values()))

    def labels(self, endog: Any) -> LabelledRows:
        """Labels of a table with a column for each task; frames by name."""
        Y, index = read_held_out(endog, list(self.tasks), self.words)
        return LabelledRows(Labels.wide(Y), len(Y), index)
