"""Time to an event as a chain of yes/no tasks, one for each interval: did the event come in it?"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .. import checks
from ..checks import check_index
from ..io import Plain, finite, listed, saved
from ..objective import sigmoid
from ..problem import Labels
from .binary import Binary
from .outcome import Axis, LabelledRows, Outcome

__all__ = ["Survival", "Times", "split_surv"]


@dataclass(frozen=True)
class Times:
    """When rows were watched, and how it ended.

    Attributes
    ----------
    entry, time : ndarray, shape (n,)
        Watched from entry to time.
    event : ndarray of bool, shape (n,)
        Whether the event came at ``time``; else the row was censored then.
    index : pandas.Index or None
    """

    entry: np.ndarray
    time: np.ndarray
    event: np.ndarray
    index: pd.Index | None

    @classmethod
    def read(cls, time: Any, event: Any, entry: Any = None) -> Times:
        """Times of any of the accepted kinds, checked."""
        index = next((given.index for given in (time, event, entry) if isinstance(given, pd.Series)), None)
        until, happened = _numbers("time", time, index), _events(event, index)
        since = np.zeros(len(until)) if entry is None else _numbers("entry", entry, index)
        for name, values in {"event": happened, "entry": since}.items():
            if len(values) != len(until):
                raise ValueError(f"{name} must have one value for each of the {len(until)} times, found {len(values)}")
        late = since >= until if entry is not None else np.zeros(len(until), dtype=bool)
        if late.any():
            raise ValueError(f"entry must come before time, found {int(late.sum())} rows in which it does not; "
                             f"the first is row {int(np.argmax(late))}, from {since[late][0]:g} to {until[late][0]:g}")
        return cls(since, until, happened, index)

    def rows(self, rows: np.ndarray) -> Times:
        """The same of some of the rows, by position or by one bool for each."""
        return Times(self.entry[rows], self.time[rows], self.event[rows], None if self.index is None else
                     self.index[rows])


@dataclass(frozen=True)
class Survival(Outcome):
    """Intervals in which an event can come.

    Attributes
    ----------
    breaks : tuple of float
        Ends of the intervals, with the start of the first one in front; each interval
        holds its right end, not its left.
    """

    kind: ClassVar[str] = "survival"
    predictions: ClassVar[tuple[str, ...]] = ("hazard", "survival", "incidence", "median")

    breaks: tuple = saved(Plain(listed(finite(0), "1+t", least=2), list, tuple))

    @classmethod
    def read(cls, times: Times, breaks: Any) -> Survival:
        """The outcome with these breaks; ``labels`` then lays out the times themselves."""
        outcome = cls(tuple(_breaks(breaks, times).tolist()))
        labels = outcome.labels(times).labels
        empty = [name for name, count in zip(outcome.tasks, labels.sums(labels.yes)) if not count]
        if empty:
            late = " (rows that entered inside an interval do not count in it)" * bool(times.entry.any())
            raise ValueError(f"breaks leave the intervals {empty[:4]} without an event{late}, whose hazard would be 0; "
                             "merge them with a neighbour, or give a number of intervals with as many events each")
        return outcome

    @property
    def tasks(self) -> tuple:
        """Names of the tasks, "(from,to]"."""
        return tuple(f"({start:.4g},{end:.4g}]" for start, end in zip(self.breaks, self.breaks[1:]))

    @property
    def axis(self) -> Axis:
        """The intervals along time."""
        return Axis(self.tasks, self.breaks)

    def labels(self, endog: Any) -> LabelledRows:
        """Labels from ``Times``, or from a table of the tasks' own labels.

        1 where the event came in the interval, 0 where it was survived. A row counts in an
        interval if it was watched from its start, and until its end or until the event: one
        that entered or was censored inside it has no label there.
        """
        if not isinstance(endog, Times):
            return Binary(self.tasks, self.words).labels(endog)
        start, end = np.array(self.breaks[:-1]), np.array(self.breaks[1:])
        time, event = endog.time[:, None], endog.event[:, None]
        at_risk = (endog.entry[:, None] <= start) & (time > start)
        came = event & (time <= end)
        labels = np.where(at_risk & came, 1.0, np.where(at_risk & (time >= end), 0.0, np.nan))
        return LabelledRows(Labels.wide(labels), len(time), endog.index)

    def facts(self, labels: Labels) -> list[tuple[str, str]]:
        """How many events there are in the intervals."""
        return [("Events:", f"{(labels.weight * labels.yes).sum():g}")]

    def curves(self, linear: np.ndarray) -> np.ndarray:
        """Probability to be without the event at the end of each interval, from linear predictors, shape (n, t)."""
        return np.cumprod(sigmoid(-linear), axis=1)

    def predict(self, linear: pd.DataFrame, which: str) -> pd.DataFrame | pd.Series:
        """Hazards, survival, cumulative incidence (columns: ends of the intervals), or median times."""
        if which == "hazard":
            return pd.DataFrame(sigmoid(linear.to_numpy()), linear.index, linear.columns)
        alive, ends = self.curves(linear.to_numpy()), pd.Index(self.breaks[1:], name="time")
        if which == "median":
            below = alive <= 0.5
            found = np.where(below.any(axis=1), ends.to_numpy()[below.argmax(axis=1)], np.nan)
            return pd.Series(found, linear.index, name="median")
        return pd.DataFrame(alive if which == "survival" else 1 - alive, linear.index, ends)


def split_surv(formula: str) -> str:
    """The formula with ``Surv(time, event)`` on its left side written as a sum of columns; any other as it is.

    ``Surv(entry, time, event)`` is read as in R.
    """
    left, tilde, right = formula.partition("~") if isinstance(formula, str) else (formula, "", "")
    if not tilde or not left.strip().startswith("Surv"):
        return formula
    try:
        call = ast.parse(left.strip(), mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) not in (2, 3):
        raise ValueError("formula must begin with Surv(time, event), Surv(entry, time, event) or two columns "
                         f"'time + event', found {left.strip()!r}")
    return " + ".join(f"I({ast.unparse(argument)})" for argument in call.args) + " ~" + right


def _numbers(name, values, index):
    if isinstance(values, pd.Series):
        check_index(values.index, index, name, "time")
    if getattr(getattr(values, "dtype", None), "kind", "") in ("M", "m"):
        raise TypeError(f"{name} must hold numbers of days, years or the like, found {values.dtype}; use "
                        "(end - start).dt.days")
    array = checks.array(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one column of numbers, found shape {array.shape}")
    missing = int((~np.isfinite(array)).sum())
    if missing:
        raise ValueError(f"{name} must be finite, found {missing} missing or infinite; drop these rows, and censor "
                         "rows without an event when they were last seen")
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, found {array.min():g}")
    return array


def _events(event, index):
    if isinstance(event, pd.Series):
        check_index(event.index, index, "event", "time")
    try:
        array = checks.array("event", event)
    except TypeError as error:
        raise TypeError(f"{error}; code it as 1 where the event came and 0 elsewhere, as event == 'dead'") from None
    if array.ndim != 1:
        raise ValueError(f"event must be one column of 0 and 1, found shape {array.shape}")
    unknown = [value for value in pd.unique(array).tolist() if value not in (0.0, 1.0)]
    if unknown:
        raise ValueError("event must be 1 (or True) where the event came and 0 where the row was censored, found "
                         f"{unknown[:3]}; code it as event == ...")
    if not array.any():
        raise ValueError("event must be 1 in some row, found 0 throughout: nothing to model")
    return array == 1


def _breaks(breaks, times):
    """Ends of the intervals with their start in front; from a number of them, at quantiles of the times of events."""
    start = times.entry.min()
    if isinstance(breaks, Integral) and not isinstance(breaks, bool):
        count = checks.whole("breaks", breaks, 1, len(times.time),
                             way_out="it is a number of intervals, or the ends of the intervals")
        # As many events after the last interval as in each: one up to the last event could have no survivors.
        places = np.arange(1, count + 1) / (count + 1)
        ends = np.unique(np.quantile(times.time[times.event], places, method="inverted_cdf"))
        return np.append(start, ends)
    ends = checks.vector("breaks", breaks)
    ends = np.append(0.0, ends) if ends[0] > 0 and start == 0 else ends
    if len(ends) < 2 or (np.diff(ends) <= 0).any():
        raise ValueError(f"breaks must be a number of intervals, or ends of intervals that rise (where all rows enter "
                         f"after 0, with the start of the first interval in front), found {ends.tolist()}")
    return ends
