"""A problem with the names of its user: everything about a model but how it is built and fitted."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from . import checks
from .adaptive import adapted
from .io import Nested, saved
from .matrices import frame
from .metrics import METRICS, Metric
from .objective import gradient, information
from .outcomes import Outcome
from .problem import Penalty, Problem
from .spec import HeldOut, Spec
from .tasks import TaskGraph

__all__ = ["INNER", "Model"]

# What one part of the package asks another; completion does not offer it to users.
INNER = frozenset({"check_loaded", "computed", "facts", "kind", "with_data"})


@dataclass(eq=False, repr=False)
class Model:
    """What ``FusedLogit`` knows about its data: rows, names, labels, likelihood, penalties."""

    spec: Spec = saved(Nested(Spec))
    problem: Problem = saved(Nested(Problem))

    def with_rows(self, rows: Any) -> Self:
        """The same model on some of the rows, in the order given; a row may come more than once.

        Names, labels and ``scale`` are kept, so that coefficients stay comparable.

        Parameters
        ----------
        rows : array_like of int, or of bool with one entry for each row

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> model = FusedLogit(Y, X)
        >>> model.with_rows(X["age"] > 0)
        <FusedLogit: 4 tasks, 3 features, 209 rows>
        """
        rows = checks.rows("rows", rows, self.problem.n_rows, self.index)
        model = copy.copy(self)
        model.spec, model.problem = self.spec.take(rows), adapted(self.problem.take(rows))
        return model

    def without_data(self) -> Self:
        """The same model without its data: names, labels and scale, enough to predict.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> FusedLogit(Y, X).without_data()
        <FusedLogit: 4 tasks, 3 features, data removed>
        """
        return self.with_rows(np.zeros(0, dtype=int))

    def with_data(self) -> Problem:
        """The problem, whose rows must still be there.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> FusedLogit(Y, X).with_data().n_rows
        400
        """
        if not self.has_data:
            raise ValueError("the data of this model were removed (remove_data, or a file saved without them); "
                             "build the model again from the data for this")
        return self.problem

    def check_loaded(self) -> None:
        """Refuse a problem of a file that is not about the tasks and offsets of its names."""
        names, graph = self.spec.tasks, self.problem.tasks
        if self.problem.n_tasks != len(names):
            raise ValueError(f"spec.outcome must have {self.problem.n_tasks} tasks, found {checks.shown(names)}")
        if graph.n_tasks != len(names) or (graph.names is not None and list(graph.names) != names):
            raise ValueError(f"problem.tasks must be of the tasks {checks.shown(names)}, found {checks.shown(graph)}")
        if self.outcome.long and np.bincount(self.problem.labels.row).max(initial=0) > 1:
            raise ValueError("spec.outcome.long must be False where rows have several labels, found True")
        if self.spec.has_offset != (self.problem.design.offset is not None):
            raise ValueError(f"problem.design.offset must {'' if self.spec.has_offset else 'not '}be there, as "
                             "spec.has_offset says")

    # ---- what the model is about ------------------------------------------------------------------------------------

    @property
    def has_data(self) -> bool:
        """Whether the rows are still there; see ``FusedLogitResults.remove_data``."""
        return self.problem.n_rows > 0

    @property
    def endog_names(self) -> list:
        """Names of the tasks."""
        return self.spec.tasks

    @property
    def exog_names(self) -> list:
        """Name of the intercept, then names of the features."""
        return self.spec.terms

    @property
    def outcome(self) -> Outcome:
        """What the tasks are about."""
        return self.spec.outcome

    @property
    def labels(self) -> list:
        """The user's own labels (no, yes) of each task."""
        return list(self.outcome.words)

    @property
    def tasks(self) -> TaskGraph:
        """Which tasks are neighbours."""
        return self.problem.tasks

    @property
    def scale(self) -> np.ndarray:
        """Standard deviation of each feature where penalties act on standardized features, else 1, shape (d,)."""
        return self.problem.scale

    @property
    def standardize(self) -> bool:
        """Whether penalties act on features divided by their standard deviation."""
        return self.spec.standardize

    @property
    def penalty_factors(self) -> np.ndarray:
        """What multiplies l1 and l2 of each feature, shape (d,)."""
        return self.spec.penalty_factors

    @property
    def fusion_factors(self) -> np.ndarray:
        """What multiplies fusion of each feature, shape (d,)."""
        return self.spec.fusion_factors

    @property
    def fuse_intercepts(self) -> bool:
        """Whether fusion acts on the intercepts too."""
        return self.problem.fuse_intercepts

    @property
    def adaptive(self) -> bool:
        """Whether a first fit decides how much l1 and fusion act on each feature."""
        return self.problem.is_adaptive

    @property
    def n_dropped(self) -> int:
        """Rows left out by ``missing="drop"``."""
        return self.spec.n_dropped

    @property
    def index(self) -> pd.Index | None:
        """Names of the rows."""
        return self.spec.index

    @property
    def nobs(self) -> int:
        """Rows with at least one observed label; groups of such rows in a survival model with groups."""
        return self.n_groups if self.outcome.by_group else self.n_rows

    @property
    def n_rows(self) -> int:
        """Rows with at least one observed label."""
        return len(np.unique(self.with_data().labels.row))

    @property
    def n_groups(self) -> int:
        """Groups (clusters) with an observed label; rows where no groups were given."""
        return int((self.with_data().groups.counted).sum())

    @property
    def endog(self) -> pd.DataFrame | pd.Series:
        """Labels as 0, 1 and NaN where not observed, DataFrame (n, t); Series (n,) where each row has one task."""
        labels = self.with_data().labels
        return self.outcome.by_label(labels, labels.yes.astype(float), self.problem.n_rows, self.index)

    @property
    def exog(self) -> pd.DataFrame:
        """Features, DataFrame (n, d)."""
        return frame(self.with_data().design.X, self.index, list(self.spec.features))

    @property
    def metrics(self) -> dict[str, Metric]:
        """What ``fit_cv`` and ``Grid.select`` can compare, by name: scores of the tasks, and of their outcome."""
        return {**METRICS, **self.outcome.metrics}

    # ---- likelihood and penalties -----------------------------------------------------------------------------------

    def loglike(self, params: Any) -> float:
        """Log-likelihood of all tasks (of the outcome, where its tasks overlap); penalties are not counted.

        Parameters
        ----------
        params : DataFrame or array_like, shape (1 + d, t)
            As ``results.params``. DataFrames are read by name.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> round(fit.model.loglike(fit.params), 2) == round(fit.llf, 2)
        True
        """
        problem = self.with_data()
        return self.outcome.loglike(problem.labels, problem.linear(self.spec.params(params)))

    def score(self, params: Any) -> pd.DataFrame:
        """Score, the gradient of the tasks' log-likelihood at ``params`` (see ``loglike``), DataFrame (1 + d, t).

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> model = FusedLogit(Y, X)
        >>> fit = model.fit(l1=0, l2=0, fusion=0)
        >>> bool((model.score(fit.params).abs() < 1e-6).all(axis=None))
        True
        """
        return self.spec.frame(-gradient(self.with_data(), self.spec.params(params)))

    def hessian(self, params: Any) -> np.ndarray:
        """Hessian of the tasks' log-likelihood at ``params`` (see ``loglike``), ndarray (t, 1 + d, 1 + d).

        Block-diagonal, one block for each task: tasks share no coefficient.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.model.hessian(fit.params).shape
        (4, 4, 4)
        """
        return -self.information(params)

    def information(self, params: Any) -> np.ndarray:
        """Fisher information of every task at ``params`` (see ``loglike``), ndarray (t, 1 + d, 1 + d).

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.model.information(fit.params).shape
        (4, 4, 4)
        """
        return information(self.with_data(), self.spec.params(params))

    def penalty_by_row(self, l1: Any, l2: Any, fusion: Any) -> Penalty:
        """Penalties of every row of params, from numbers, vectors (intercept first) or Series by feature name.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> FusedLogit(Y, X, standardize=False).penalty_by_row(l1=5, l2=0, fusion=10).l1
        array([0., 5., 5., 5.])
        """
        return self.problem.penalty(*self.spec.penalties(l1, l2, fusion, self.fuse_intercepts))

    def held_out(self, endog: Any, exog: Any, weights: Any = None, offset: Any = None, task: Any = None) -> HeldOut:
        """Held-out rows, laid out as the model's own.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> held = FusedLogit(Y, X).held_out(Y.tail(100), X.tail(100))
        >>> type(held).__name__
        'HeldOut'
        """
        return self.spec.held_out(endog, exog, weights, offset, task)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - INNER)

    def __repr__(self) -> str:
        rows = f"{self.problem.n_rows} rows" if self.has_data else "data removed"
        rows += f" ({self.n_dropped} dropped)" * bool(self.n_dropped)
        return f"<FusedLogit: {len(self.endog_names)} tasks, {len(self.exog_names) - 1} features, {rows}>"
