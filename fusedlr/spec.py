"""What a model knows of its data besides the numbers: names, outcome, formula, units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .checks import check_index
from .frames import index_of, plain
from .inputs import (INTERCEPT, SAVED_FORMULA, Formula, column, new_offset, read_new_exog, read_params, read_penalty,
                     weighted)
from .io import NONE, Array, Nested, Plain, either, named, names, position, saved
from .outcomes import OUTCOMES, LongLabels, Outcome, task_positions
from .problem import Design, Labels

__all__ = ["HeldOut", "Spec", "short_names", "shortened", "task_span"]


class HeldOut(NamedTuple):
    """Held-out rows, laid out as the model's own."""

    design: Design
    labels: Labels
    index: pd.Index | None  # type: ignore[assignment]  # hides tuple.index, which nobody calls


def _index_array(index: pd.Index) -> np.ndarray:
    """Row labels as numbers or dates; as text where they are anything else."""
    values = index.to_numpy()
    return values if values.dtype.kind in "iufbM" else index.map(str).to_numpy().astype("U")


def _index_from(array: np.ndarray) -> pd.Index:
    return pd.Index(array.astype(float) if array.dtype.kind == "f" else array)  # pandas knows no other floats


@dataclass(frozen=True)
class Spec:
    """Names and units of a model; reads new rows by them.

    Attributes
    ----------
    outcome : outcomes.Outcome
        What the tasks are about.
    features : tuple
        Their names.
    formula : inputs.Formula or None
    constant : int or None
        Position of the column of ones in the user's exog, where there was one.
    standardize, has_offset : bool
    n_dropped : int
        Rows left out for missing values.
    drops : bool
        Whether such rows are left out; new ones are predicted as NaN.
    penalty_factors : ndarray, shape (d,)
        What multiplies l1 and l2 of each feature.
    fusion_factors : ndarray, shape (d,)
        What multiplies fusion of each feature.
    index : pandas.Index or None
        Names of the rows.
    """

    outcome: Outcome = saved(Nested(OUTCOMES))
    features: tuple = saved(Plain(named("d", least=1), list, lambda listed: tuple(names(listed))))
    formula: Formula | None = saved(SAVED_FORMULA)
    constant: int | None = saved(Plain(either(NONE, position("1+d"))))
    standardize: bool = saved()
    has_offset: bool = saved()
    n_dropped: int = saved()
    drops: bool = saved()
    penalty_factors: np.ndarray = saved(Array(("d",), least=0))
    fusion_factors: np.ndarray = saved(Array(("d",), least=0))
    index: pd.Index | None = saved(Array(("n",), "iufbMU", optional=True, pack=_index_array, unpack=_index_from))

    @property
    def tasks(self) -> list:
        """Names of the tasks."""
        return list(self.outcome.tasks)

    @property
    def terms(self) -> list:
        """Names of the rows of params: that of the intercept, then those of the features."""
        return [INTERCEPT, *self.features]

    @property
    def rows_of_terms(self) -> dict:
        """Rows of params by term: columns of a term of the formula, else each feature alone."""
        place = {name: row for row, name in enumerate(self.terms) if row}
        if self.formula is None:
            return {name: [row] for name, row in place.items()}
        terms = {name: [place[column] for column in columns if column in place]
                 for name, columns in self.formula.terms.items()}
        return {name: rows for name, rows in terms.items() if rows}

    def frame(self, params: np.ndarray) -> pd.DataFrame:
        """Values of shape (1 + d, t) with their names."""
        return pd.DataFrame(np.asarray(params), self.terms, self.tasks)

    def by_task(self, values: Any) -> pd.Series:
        """Values of shape (t,) with their names."""
        return pd.Series(np.asarray(values), self.tasks)

    def table(self, values: np.ndarray, index: pd.Index | None) -> pd.DataFrame:
        """A table of rows by tasks with its names."""
        return pd.DataFrame(values, index, self.tasks)

    def check_loaded(self) -> None:
        """Refuse a feature of a file that goes by the name of the intercept, or belongs to no term of the formula."""
        if INTERCEPT in self.features:
            raise ValueError(f"spec.features must not hold {INTERCEPT!r}, the name of the intercept")
        if sorted(row for rows in self.rows_of_terms.values() for row in rows) != list(range(1, len(self.terms))):
            raise ValueError("spec.formula.terms must hold every one of spec.features once")

    def take(self, rows: np.ndarray) -> Spec:
        """The same of some of the rows."""
        return replace(self, index=None if self.index is None else self.index[rows])

    def params(self, params: Any) -> np.ndarray:
        """Coefficients of a user, shape (1 + d, t); DataFrames by name."""
        return read_params(params, self.terms, self.tasks)

    def penalties(self, l1: Any, l2: Any, fusion: Any, fuse_intercepts: bool) -> list:
        """Penalties of a user, each as one number or as one for each row of params."""
        given = {"l1": (l1, False), "l2": (l2, False), "fusion": (fusion, fuse_intercepts)}
        return [read_penalty(name, value, self.terms, intercept) for name, (value, intercept) in given.items()]

    def new_rows(self, exog: Any, offset: Any = None, gaps: bool = False) -> tuple[Design, pd.Index | None]:
        """Features of new rows in the model's order with their offsets, and the names of the rows.

        With ``gaps`` they may be missing.
        """
        X, index = self._features(exog, gaps)
        return Design(X, new_offset(offset, exog, X.shape[0], index, self.tasks, self.has_offset)), index

    def positions(self, task: Any, exog: Any, n: int, index: pd.Index | None) -> np.ndarray:
        """Positions of the tasks of n rows, shape (n,), from one for all rows, one a row, or the name of a column."""
        if isinstance(task, str) and task not in self.tasks:
            exog = plain("exog", exog)
            if not isinstance(exog, pd.DataFrame) or task not in exog.columns:
                raise ValueError(f"task={task!r} must be a task of the fit or name a column of exog; tasks are "
                                 f"{self.tasks[:6]}{' ...' * (len(self.tasks) > 6)}")
            task = exog[task]
        if pd.api.types.is_scalar(task):
            return task_positions([task] * n, self.outcome.tasks)
        check_index(index_of(task), index, "task", "exog")
        positions = task_positions(task, self.outcome.tasks)
        if len(positions) != n:
            raise ValueError(f"task must have one value for each of the {n} rows of exog, found {len(positions)}")
        return positions

    def held_out(self, endog: Any, exog: Any, weights: Any = None, offset: Any = None, task: Any = None) -> HeldOut:
        """Held-out rows."""
        design, index = self.new_rows(exog, offset)
        if isinstance(task, str) and isinstance(plain("exog", exog), pd.DataFrame):
            task = column("task", task, exog, "exog")
        if task is None and self.outcome.long and getattr(plain("endog", endog), "ndim", 1) == 1:
            raise ValueError("task must be given: the rows of this model have one task each")
        found = self.outcome.labels(endog if task is None else LongLabels.read(endog, task))
        if found.n_rows != design.n_rows:
            raise ValueError(f"endog must have one row for each of the {design.n_rows} rows of exog, found "
                             f"{found.n_rows}")
        check_index(found.index, index, "exog")
        return HeldOut(design, weighted(found.labels, weights, found.n_rows, index, self.tasks), index)

    def _features(self, exog, gaps):
        trusted = self.formula is not None and self.formula.trusted
        try:
            return read_new_exog(self.formula.design(exog, gaps) if trusted else exog, list(self.features),
                                 self.constant, gaps)
        except (TypeError, ValueError) as error:
            if self.formula is None or trusted:
                raise
            raise type(error)(f"{error}. The model was made by the formula {self.formula.text!r}, which was not "
                              "read from the file: fusedlr.load(path, formula=True) takes its variables") from None


def shortened(name: Any, length: int) -> str:
    """A name cut in the middle, by two dots, where it is longer: names often differ at their ends only."""
    text = str(name)
    if len(text) <= length:
        return text
    tail = (length - 2) // 2
    return text[:length - 2 - tail] + ".." + text[len(text) - tail:]


def short_names(names: Iterable, length: int) -> list[str]:
    """Names of at most some length; without the prefix that long ones share, where they would else look the same."""
    texts = [str(name) for name in names]
    cut = [shortened(text, length) for text in texts]
    if len(set(cut)) == len(set(texts)):
        return cut
    prefix = commonprefix([text for text in texts if len(text) > length])
    common = len(prefix.rstrip("".join(filter(str.isalnum, prefix))))  # whole words only
    rest = [shortened(".." + text[common:], length) if len(text) > length else text for text in texts]
    return rest if len(set(rest)) > len(set(cut)) else cut


def task_span(places: np.ndarray, names: Sequence) -> str:
    """Some of the tasks in words: runs of neighbouring ones as "first ... last"."""
    if len(places) == len(names) > 1:
        return "all tasks"
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return ", ".join(f"{names[run[0]]} ... {names[run[-1]]}" if len(run) > 2 else ", ".join(str(names[k]) for k in run)
                     for run in runs)
