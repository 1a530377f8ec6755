"""Competing risks in discrete time: a chain of intervals for each cause."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .. import checks
from ..exceptions import CrossingWarning
from ..io import LABEL, Plain, finite, listed, saved
from ..objective import sigmoid
from ..problem import Labels
from ..tasks import TaskGraph
from .binary import Binary
from .outcome import LabelledRows, Outcome
from .survival import Times, events_text, interval_names, median_times, person_periods, read_breaks

__all__ = ["CompetingRisks", "read_causes"]


def read_causes(causes: Any) -> dict:
    """Names of the causes by their code in ``event``, from a list of codes or a dict of names."""
    named = dict(causes) if isinstance(causes, Mapping) else {code: code for code in checks.listed("causes", causes)}
    if len(named) < 2 or len(set(map(str, named.values()))) < len(named) or 0 in named:
        raise ValueError(f"causes must list two codes of event or more, none of them 0 and no name twice, found "
                         f"{checks.shown(causes)}; without causes there is one event")
    return named


@dataclass(frozen=True)
class CompetingRisks(Outcome):
    """Intervals of discrete time with several causes of an event.

    Attributes
    ----------
    breaks : tuple of float
        As in ``Survival``.
    causes : tuple
        Names of the causes.
    before, beyond : int
        Events of the fit, of any cause, before the first interval and after the last.
    codes : tuple
        What stands for each cause in ``event``; its name where left out.
    """

    kind: ClassVar[str] = "competing risks"
    predictions: ClassVar[tuple[str, ...]] = ("hazard", "survival", "incidence", "median")
    argument: ClassVar[str] = "time"
    by_group: ClassVar[bool] = True

    breaks: tuple = saved(Plain(listed(finite(0), "ends", least=2), list, tuple))
    causes: tuple = saved(Plain(listed(LABEL, "causes", least=2), list, tuple))
    before: int = saved(default=0)
    beyond: int = saved(default=0)
    codes: tuple = saved(Plain(listed(LABEL), list, tuple), default=())

    @classmethod
    def read(cls, times: Times, breaks: Any, causes: Mapping) -> CompetingRisks:
        """The outcome with these breaks and names of causes by code; ``labels`` then lays out the times themselves."""
        unseen = [code for number, code in enumerate(causes, start=1) if not (times.event == number).any()]
        if unseen:
            raise ValueError(f"event never is {unseen[0]!r}; leave this cause out of causes")
        ends, before, beyond = read_breaks(breaks, times)
        return cls(ends, tuple(causes.values()), before, beyond, tuple(causes))

    def check_loaded(self) -> None:
        """Refuse codes of a file that are not of its causes."""
        if self.codes and len(set(self.codes)) != len(self.causes):
            raise ValueError(f"codes must be different ones of {len(self.causes)} causes, found {list(self.codes)}")

    @property
    def tasks(self) -> tuple:
        """Names of the tasks, "cause (from,to]", cause by cause."""
        return tuple(f"{cause} {name}" for cause in self.causes for name in interval_names(self.breaks))

    def graph(self) -> TaskGraph:
        """A chain of intervals for each cause; causes are not fused with each other."""
        intervals = len(self.breaks) - 1
        edges = [(self.tasks[k], self.tasks[k + 1]) for k in range(len(self.tasks) - 1) if (k + 1) % intervals]
        return TaskGraph(edges, names=self.tasks)

    def labels(self, endog: Any) -> LabelledRows:
        """Labels from ``Times`` (see ``person_periods``), or from a table of the tasks' own labels."""
        if not isinstance(endog, Times):
            return Binary(self.tasks, self.words).labels(endog)
        return LabelledRows(person_periods(endog, self.breaks, len(self.causes)), len(endog.time), endog.index)

    def facts(self, labels: Labels, n: int) -> list[tuple[str, str]]:
        """Events of each cause inside the intervals, and all events outside."""
        inside = labels.sums(labels.yes).reshape(len(self.causes), -1).sum(axis=1)
        lines = [(f"Events, {cause}:", f"{count}") for cause, count in zip(self.causes, inside)]
        return [*lines, ("Events, all:", events_text(int(inside.sum()), self.before, self.beyond))]

    def predict(self, linear: pd.DataFrame, which: str, cause: Any = None) -> pd.DataFrame | pd.Series:
        """Cause-specific hazards, event-free survival, cumulative incidence by cause, or median time to any event.

        Cumulative incidence is the Aalen-Johansen estimator: the sum over intervals of event-free
        survival up to the interval times the cause-specific hazard in it. Fitted hazards that sum
        to more than 1 in an interval are divided by their sum, with a warning.
        """
        if cause is not None and which not in ("hazard", "incidence"):
            raise ValueError(f"cause goes with which='hazard' and 'incidence', found {which!r}, which is about any "
                             "event")
        hazards = self._hazards(linear.to_numpy())
        alive = np.cumprod(1.0 - hazards.sum(axis=1), axis=1)
        if which == "median":
            return pd.Series(median_times(alive, np.array(self.breaks)), linear.index, name="median")
        ends = pd.Index(self.breaks[1:], name="time")
        if which == "survival":
            return pd.DataFrame(alive, linear.index, ends)
        reached = np.column_stack([np.ones(len(alive)), alive[:, :-1]])[:, None]
        values = hazards if which == "hazard" else np.cumsum(reached * hazards, axis=2)
        if cause is not None:
            return pd.DataFrame(values[:, self.causes.index(cause)], linear.index, ends)
        columns = pd.MultiIndex.from_product([list(map(str, self.causes)), ends], names=["cause", "time"])
        return pd.DataFrame(values.reshape(len(values), -1), linear.index, columns)

    def _hazards(self, linear):
        """Cause-specific hazards by row, cause and interval, with sums over causes at most 1."""
        hazards = sigmoid(linear).reshape(len(linear), len(self.causes), -1)
        total = hazards.sum(axis=1, keepdims=True)
        beyond = int((total > 1).any(axis=(1, 2)).sum())
        if beyond:
            warnings.warn(f"hazards of the causes add up to more than 1 in {beyond} of {len(linear)} rows, which no "
                          "outcome can do; they were divided by their sum there; shorter intervals bring them down",
                          CrossingWarning, stacklevel=5)
        return hazards / np.maximum(total, 1.0)
