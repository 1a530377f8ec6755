"""Discrete-time survival as a chain of binary tasks, one for each interval: did the event occur in it?"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .. import checks, core
from ..checks import check_index
from ..exceptions import LeftOutWarning
from ..frames import index_of, plain
from ..io import Plain, finite, listed, saved
from ..objective import sigmoid
from ..problem import Labels
from .binary import Binary
from .outcome import Axis, LabelledRows, Outcome

__all__ = ["Survival", "Times", "events_text", "interval_names", "median_times", "person_periods", "read_breaks",
           "split_surv"]


@dataclass(frozen=True)
class Times:
    """Entry, exit and event of each row (left truncation and right censoring).

    Attributes
    ----------
    entry, time : ndarray, shape (n,)
        At risk from entry to time.
    event : ndarray of int, shape (n,)
        0 where the row was censored at ``time``; else the number of the cause of the event, from 1 on.
    index : pandas.Index or None
    """

    entry: np.ndarray
    time: np.ndarray
    event: np.ndarray
    index: pd.Index | None

    @classmethod
    def read(cls, time: Any, event: Any, entry: Any = None, causes: Any = None) -> Times:
        """Times of any of the accepted kinds, checked; codes of the causes of an event where there are several."""
        index = next((found for found in map(index_of, (time, event, entry)) if found is not None), None)
        until, happened = _numbers("time", time, index), _events(event, index, causes)
        since = np.zeros(len(until)) if entry is None else _numbers("entry", entry, index)
        for name, values in {"event": happened, "entry": since}.items():
            if len(values) != len(until):
                raise ValueError(f"{name} must have one value for each of the {len(until)} times, found {len(values)}")
        late = since >= until if entry is not None else np.zeros(len(until), dtype=bool)
        if late.any():
            raise ValueError(f"entry must come before time, found {int(late.sum())} rows in which it does not; "
                             f"the first is row {int(np.argmax(late))}, from {since[late][0]:g} to {until[late][0]:g}")
        return cls(since, until, happened, index)

    @property
    def came(self) -> np.ndarray:
        """Whether an event of any cause occurred, ndarray of bool, shape (n,)."""
        return self.event > 0

    def at_once(self, start: float) -> np.ndarray:
        """Whether the event occurred at ``start``, of rows that entered then, ndarray of bool, (n,)."""
        return self.came & (self.time == start) & (self.entry == start)

    def rows(self, rows: np.ndarray) -> Times:
        """The same of some of the rows, by position or by one bool for each."""
        return Times(self.entry[rows], self.time[rows], self.event[rows], None if self.index is None else
                     self.index[rows])

    def refuse_overlaps(self, code: np.ndarray, word: str) -> None:
        """Refuse rows of one group whose times at risk overlap."""
        order = np.lexsort((self.entry, code))
        same = code[order][1:] == code[order][:-1]
        early = same & (self.entry[order][1:] < self.time[order][:-1])
        if early.any():
            first, second = order[:-1][early][0], order[1:][early][0]
            raise ValueError(f"entry: rows {first} and {second} of one {word} overlap, watched from "
                             f"{self.entry[first]:g} to {self.time[first]:g} and from {self.entry[second]:g} to "
                             f"{self.time[second]:g}; rows of one {word} must follow each other")


def person_periods(times: Times, breaks: tuple, causes: int = 1) -> Labels:
    """Person-period labels: one for each row and interval at risk, cause by cause.

    An event is 1 with weight 1 in its interval, whatever share of it the row was at risk; an
    interval survived is 0, weighted by the share at risk. Intervals are closed on the right; an
    event at the start of the first one, of a row that entered then, is in the first. An event of
    a competing cause is 0 with weight 1.
    """
    numbers = (np.ascontiguousarray(values, dtype=float) for values in (times.entry, times.time))
    return Labels(*core.person_periods(*numbers, np.ascontiguousarray(times.event, dtype=np.intc),
                                       np.array(breaks, dtype=float), causes))


@dataclass(frozen=True)
class Survival(Outcome):
    """Intervals of discrete-time survival.

    Attributes
    ----------
    breaks : tuple of float
        Start of the first interval, then the ends of all; intervals are open on the left and
        closed on the right.
    before, beyond : int
        Events of the fit before the first interval, and after the last.
    """

    kind: ClassVar[str] = "survival"
    predictions: ClassVar[tuple[str, ...]] = ("hazard", "survival", "incidence", "median")
    argument: ClassVar[str] = "time"
    by_group: ClassVar[bool] = True

    breaks: tuple = saved(Plain(listed(finite(0), "1+t", least=2), list, tuple))
    before: int = saved(default=0)
    beyond: int = saved(default=0)

    @classmethod
    def read(cls, times: Times, breaks: Any) -> Survival:
        """The outcome with these breaks; ``labels`` then lays out the times themselves."""
        ends, before, beyond = read_breaks(breaks, times)
        return cls(ends, before, beyond)

    @property
    def tasks(self) -> tuple:
        """Names of the tasks, "(from,to]"."""
        return interval_names(self.breaks)

    @property
    def axis(self) -> Axis:
        """The intervals along time."""
        return Axis(self.tasks, self.breaks)

    def labels(self, endog: Any) -> LabelledRows:
        """Labels from ``Times`` (see ``person_periods``), or from a table of the tasks' own labels."""
        if not isinstance(endog, Times):
            return Binary(self.tasks, self.words).labels(endog)
        return LabelledRows(person_periods(endog, self.breaks), len(endog.time), endog.index)

    def facts(self, labels: Labels, n: int) -> list[tuple[str, str]]:
        """Events inside the intervals, and outside."""
        return [("Events:", events_text(int(labels.yes.sum()), self.before, self.beyond))]

    def curves(self, linear: np.ndarray) -> np.ndarray:
        """Survival at the end of each interval, from linear predictors, shape (n, t)."""
        return np.cumprod(sigmoid(-linear), axis=1)

    def predict(self, linear: pd.DataFrame, which: str) -> pd.DataFrame | pd.Series:
        """Hazards, survival, cumulative incidence (columns: ends of the intervals), or median times."""
        if which == "hazard":
            return pd.DataFrame(sigmoid(linear.to_numpy()), linear.index, linear.columns)
        alive, ends = self.curves(linear.to_numpy()), pd.Index(self.breaks[1:], name="time")
        if which == "median":
            return pd.Series(median_times(alive, np.array(self.breaks)), linear.index, name="median")
        return pd.DataFrame(alive if which == "survival" else 1 - alive, linear.index, ends)


def median_times(alive: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Median survival times from survival at the ends of intervals, shape (n,); NaN where it stays above a half.

    Within an interval the hazard is taken as constant over time, so that survival falls
    geometrically; linearly where it falls to 0.
    """
    below = alive <= 0.5
    k, rows = below.argmax(axis=1), np.arange(len(alive))
    first = np.column_stack([np.ones(len(alive)), alive])[rows, k]
    last = alive[rows, k]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(last > 0, np.log(0.5 / first) / np.log(last / first), (first - 0.5) / (first - last))
    found = breaks[k] + np.clip(share, 0.0, 1.0) * (breaks[k + 1] - breaks[k])
    return np.where(below.any(axis=1), found, np.nan)


def interval_names(breaks: tuple) -> tuple:
    """Names of intervals, "(from,to]", with as many digits as tell breaks apart, four at least."""
    for digits in range(4, 18):
        ends = [f"{value:.{digits}g}" for value in breaks]
        if len(set(ends)) == len(ends):
            break
    return tuple(f"({start},{end}]" for start, end in zip(ends, ends[1:]))


def events_text(inside: int, before: int, beyond: int) -> str:
    """How many events have a label, and how many none."""
    outside = [f"{count} {where}" for count, where in ((before, "before"), (beyond, "beyond")) if count]
    return f"{inside}" + f" ({', '.join(outside)} the breaks)" * bool(outside)


def split_surv(formula: Any) -> Any:
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
    check_index(index_of(values), index, name, "time")
    values = plain(name, values)
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


def _events(event, index, causes=None):
    """0 where a row was censored, else the number of its cause from 1 on."""
    check_index(index_of(event), index, "event", "time")
    event = plain("event", event)
    if causes is not None:
        return _cause_numbers(event, causes)
    try:
        array = checks.array("event", event)
    except TypeError as error:
        raise TypeError(f"{error}; code it as 1 where the event came and 0 elsewhere, as event == 'dead'") from None
    if array.ndim != 1:
        raise ValueError(f"event must be one column of 0 and 1, found shape {array.shape}")
    unknown = [value for value in pd.unique(array).tolist() if value not in (0.0, 1.0)]
    if unknown:
        raise ValueError("event must be 1 (or True) where the event came and 0 where the row was censored, found "
                         f"{unknown[:3]}; code it as event == ..., or say that there are several causes, causes=[1, 2]")
    if not array.any():
        raise ValueError("event must be 1 in some row, found 0 throughout: nothing to model")
    return array.astype(int)


def _cause_numbers(event, causes):
    values = pd.Series(checks.listed("event", event.tolist() if isinstance(event, (np.ndarray, pd.Series)) else event))
    place = {code: number for number, code in enumerate(causes, start=1)}
    numbers = values.map({0: 0, **place})
    unknown = pd.unique(values[numbers.isna()]).tolist()
    if unknown:
        raise ValueError(f"event must be 0 where the row was censored or one of the causes {list(causes)}, found "
                         f"{unknown[:3]}")
    return numbers.to_numpy(dtype=int)


def read_breaks(breaks: Any, times: Times) -> tuple[tuple, int, int]:
    """Ends of the intervals with their start in front, and how many events come before and beyond them."""
    ends = _breaks(breaks, times)
    came = times.time[times.came]
    beyond = int((came > ends[-1]).sum())
    labels = person_periods(Times(times.entry, times.time, times.came.astype(int), None), tuple(ends))
    before = len(came) - beyond - int(labels.yes.sum())
    idle = [name for name, count in zip(interval_names(tuple(ends)), np.diff(labels.start)) if not count]
    if idle:
        raise ValueError(f"breaks leave the intervals {idle[:4]} without a row that was watched; leave them out")
    if before or beyond:
        warnings.warn(f"breaks from {ends[0]:g} to {ends[-1]:g} leave out {before + beyond} of {len(came)} events, "
                      f"{before} before and {beyond} beyond; extend the breaks to keep them", LeftOutWarning,
                      stacklevel=5)
    return tuple(ends.tolist()), before, beyond


def _breaks(breaks, times):
    """Ends of the intervals with their start in front; from a number of them, at quantiles of the times of events."""
    start = times.entry.min()
    if isinstance(breaks, Integral) and not isinstance(breaks, bool):
        count = checks.whole("breaks", breaks, 1, len(times.time),
                             way_out="it is a number of intervals, or the ends of the intervals")
        came = times.time[times.came]
        last = np.quantile(came, (count - 1) / count, method="inverted_cdf") if count > 1 else start
        # If all at risk in the last interval have the event, its hazard is 1: one interval's events stay beyond.
        survived = ~times.came & (times.time > last) | (times.time > came.max())
        places = np.arange(1, count + 1) / (count if survived.any() else count + 1)
        ends = np.unique(np.quantile(came, places, method="inverted_cdf"))
        if ends[-1] <= start:
            raise ValueError(f"breaks={count} finds no interval: all events come at {start:g}, where time begins")
        return np.append(start, ends[ends > start])
    ends = checks.vector("breaks", breaks)
    ends = np.append(0.0, ends) if ends[0] > 0 and start == 0 else ends
    if len(ends) < 2 or (np.diff(ends) <= 0).any():
        raise ValueError(f"breaks must be a number of intervals, or ends of intervals that rise (where all rows enter "
                         f"after 0, with the start of the first interval in front), found {ends.tolist()}")
    return ends
