"""What every outcome says of itself: how it is laid out as yes/no tasks, and what the tasks say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from ..metrics import Metric, loglike, null_loglike
from ..problem import Labels
from ..tasks import TaskGraph

__all__ = ["Axis", "LabelledRows", "Outcome"]


class LabelledRows(NamedTuple):
    """Labels of the tasks, the number of rows that they belong to, and the names of these rows, where they have any."""

    labels: Labels
    n_rows: int
    index: pd.Index | None  # type: ignore[assignment]  # hides tuple.index, which nobody calls


class Axis(NamedTuple):
    """Where the tasks stand in figures and tables: their names, and where they end if they are intervals.

    ``ends`` has the start of the first interval in front.
    """

    names: Sequence
    ends: tuple[float, ...] | None = None


class Outcome:
    """One outcome as tasks; plain yes/no tasks are the simplest one.

    A new outcome is a frozen dataclass of plain values below this class, and a line in
    ``OUTCOMES``. It must say its ``tasks`` and lay out its ``labels``; all else has a default,
    which is that of tasks that have nothing to do with each other but their order.
    """

    kind: ClassVar[str]
    #: Words of ``predict(which=...)`` beyond "prob", "linear" and "label".
    predictions: ClassVar[tuple[str, ...]] = ()
    #: What the user calls what ``labels`` lays out.
    argument: ClassVar[str] = "endog"
    #: Whether each row has one task only.
    long = False
    #: Whether ``nobs`` counts groups, where there are any: a person may have several consecutive rows.
    by_group: ClassVar[bool] = False
    #: Names of the causes of an event, where there are several; ``predict`` takes one of them then.
    causes: tuple = ()

    @property
    def tasks(self) -> tuple:
        """Names of the tasks."""
        raise NotImplementedError

    def labels(self, endog: Any) -> LabelledRows:
        """Labels of the tasks, of the rows of a fit and of held-out rows alike."""
        raise NotImplementedError

    @property
    def words(self) -> tuple[tuple, ...]:
        """The user's own words for (no, yes) in each task."""
        return ((0, 1),) * len(self.tasks)

    def graph(self) -> TaskGraph:
        """Which tasks are neighbours where the user says no more than "chain"."""
        return TaskGraph.chain(len(self.tasks), self.tasks)

    def predict(self, linear: pd.DataFrame, which: str) -> pd.DataFrame | pd.Series:
        """One of ``predictions`` from linear predictors of every task, DataFrame (n, t)."""
        raise ValueError(f"which={which!r} is not known")

    def loglike(self, labels: Labels, linear: np.ndarray) -> float:
        """Log-likelihood of the outcome, weights counted, from a linear predictor of every label."""
        return float(loglike(labels, linear)[-1])

    def null_loglike(self, labels: Labels, offset: np.ndarray) -> float:
        """Largest log-likelihood with an intercept in each task and the offset of every label only."""
        return float(null_loglike(labels, offset)[-1])

    def by_label(self, labels: Labels, values: np.ndarray, n: int, index: pd.Index | None) -> pd.DataFrame | pd.Series:
        """Values of the labels of n rows with their names: a table of rows by tasks, NaN where there is no label."""
        return pd.DataFrame(labels.table(values, n), index, list(self.tasks))

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Scores of the outcome as a whole that penalties may be chosen by."""
        return {}

    @property
    def axis(self) -> Axis:
        """Where the tasks stand in figures and tables."""
        return Axis(self.tasks)

    def facts(self, labels: Labels, n: int) -> list[tuple[str, str]]:
        """Lines of the summary that say what the outcome is, from labels of n rows, each a word and a text."""
        return []
