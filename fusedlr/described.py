"""A problem with the names and labels of its user: everything about a model but how it is built and fitted."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import pandas as pd

from . import checks, storage
from .formula import Formula
from .inputs import check_index, new_offset, read_held_out, read_new_exog, read_params, read_penalty
from .likelihood import information, loglike, score
from .limits import PenaltyLimits, penalty_limits
from .objective import Data, Penalty, linear_predictor
from .outcomes import Ordered, Survival, from_state
from .problem import Problem
from .scoring import METRICS, Metric
from .tasks import TaskGraph

__all__ = ["Described"]


class Described:
    """What ``FusedLogit`` knows about its data: rows, names, labels, likelihood, penalties, and its state in a file."""

    endog_names: list
    exog_names: list
    labels: list
    constant: int | None
    index: pd.Index | None
    scale: np.ndarray
    standardize: bool
    has_offset: bool
    n_dropped: int
    problem: Problem
    formula: Formula | None
    left_out_formula: str | None
    outcome: Ordered | Survival | None

    def with_rows(self, rows: Any) -> Self:
        """The same model on some of the rows, in the order given; a row may come more than once.

        Names, labels and ``scale`` are kept, so that coefficients stay comparable.

        Parameters
        ----------
        rows : array_like of int, or of bool with one entry for each row
        """
        rows = checks.rows("rows", rows, self.problem.data.n_rows)
        model = copy.copy(self)
        model.problem = self.problem.rows(rows)
        model.index = None if self.index is None else self.index[rows]
        return model

    def without_data(self) -> Self:
        """The same model without its data: names, labels and scale, enough to predict."""
        return self.with_rows(np.zeros(0, dtype=int))

    # ---- what the model is about ------------------------------------------------------------------------------------

    @property
    def data(self) -> Data:
        """What the solvers see, ``objective.Data``; features divided by ``scale``."""
        if not self.has_data:
            raise ValueError("the data of this model were removed (remove_data, or a file saved without them); "
                             "build the model again from the data for this")
        return self.problem.data

    @property
    def has_data(self) -> bool:
        """Whether the rows are still there; see ``FusedLogitResults.remove_data``."""
        return self.problem.data.n_rows > 0

    @property
    def tasks(self) -> TaskGraph:
        """Which tasks are neighbours."""
        return self.problem.tasks

    @property
    def penalty_factors(self) -> np.ndarray:
        """What multiplies l1 and l2 of each feature, shape (d,)."""
        return self.problem.penalty_factors

    @property
    def fuse_intercepts(self) -> bool:
        """Whether fusion acts on the intercepts too."""
        return self.problem.fuse_intercepts

    @property
    def nobs(self) -> int:
        """Rows with at least one observed label."""
        return int((self.data.weights > 0).any(axis=1).sum())

    @property
    def endog(self) -> pd.DataFrame:
        """Labels as 0, 1 and NaN where not observed, DataFrame (n, t)."""
        labels = np.where(self.data.weights > 0, self.data.signs > 0, np.nan)
        return pd.DataFrame(labels, self.index, self.endog_names)

    @property
    def exog(self) -> pd.DataFrame:
        """Features on the original scale, DataFrame (n, d); made anew at every call, so that X is held once only."""
        return pd.DataFrame(self.data.X * self.scale, self.index, self.exog_names[1:])

    def loglike(self, params: Any) -> float:
        """Log-likelihood of all tasks (of the outcome, where its tasks overlap); penalties are not counted.

        Parameters
        ----------
        params : DataFrame or array_like, shape (1 + d, t)
            On the original scale, as ``results.params``. DataFrames are read by name.
        """
        solved = self._solved(params)
        if isinstance(self.outcome, Ordered) and not self.outcome.exact:
            return self.outcome.loglike(self.data, linear_predictor(self.data, solved))
        return float(loglike(self.data, solved).sum())

    def score(self, params: Any) -> pd.DataFrame:
        """First derivative of the tasks' log-likelihood at ``params`` (see ``loglike``), DataFrame (1 + d, t)."""
        slope = score(self.data, self._solved(params)) * self._row_scale
        return pd.DataFrame(slope, self.exog_names, self.endog_names)

    def hessian(self, params: Any) -> np.ndarray:
        """Second derivative of the tasks' log-likelihood at ``params`` (see ``loglike``), ndarray (t, 1 + d, 1 + d).

        A matrix for each task: between tasks, which share no coefficient, it is zero.
        """
        return -self.information(params)

    def information(self, params: Any) -> np.ndarray:
        """Fisher's information of every task at ``params`` (see ``loglike``), ndarray (t, 1 + d, 1 + d)."""
        return information(self.data, self._solved(params)) * (self._row_scale * self._row_scale.T)

    @property
    def _row_scale(self) -> np.ndarray:
        return np.append(1.0, self.scale)[:, None]

    def _solved(self, params: Any) -> np.ndarray:
        """Coefficients of the features divided by ``scale``, as the solver has them."""
        return read_params(params, self.exog_names, self.endog_names) * self._row_scale

    @property
    def metrics(self) -> dict[str, Metric]:
        """What ``fit_cv`` and ``Grid.select`` can compare, by name: scores of the tasks, and of their outcome."""
        return METRICS if self.outcome is None else {**METRICS, **self.outcome.metrics}

    def design(self, exog: Any) -> tuple[np.ndarray, pd.Index | None]:
        """Features of new rows on the original scale and in the model's order, (X, index); see ``predict``."""
        if self.formula is not None:
            exog = self.formula.design(exog)
        try:
            return read_new_exog(exog, self.exog_names[1:], self.constant)
        except (TypeError, ValueError) as error:
            if self.left_out_formula is None:
                raise
            raise type(error)(f"{error}. The model was made by the formula {self.left_out_formula!r}, which was not "
                              "read from the file: fusedlr.load(path, formula=True) takes its variables") from None

    def new_rows(self, exog: Any, offset: Any = None) -> tuple[np.ndarray, np.ndarray, pd.Index | None]:
        """Features of new rows as from ``design``, their offsets (n, t), and row labels; see ``predict``."""
        X, index = self.design(exog)
        shape = (len(X), len(self.endog_names))
        return X, new_offset(offset, exog, shape, index, self.endog_names, self.has_offset), index

    def held_out(self, endog: Any, exog: Any) -> tuple[np.ndarray, np.ndarray, pd.Index | None]:
        """Other rows as the model sees its own: features on the original scale, labels 0, 1 and NaN, row labels."""
        X, index = self.design(exog)
        if isinstance(self.outcome, Ordered) and np.ndim(endog) == 1:
            endog = self.outcome.labels(endog)
        Y = read_held_out(endog, self.endog_names, self.labels)
        if len(Y) != len(X):
            raise ValueError(f"endog must have one row for each of the {len(X)} rows of exog, found {len(Y)}")
        check_index(endog.index if isinstance(endog, (pd.DataFrame, pd.Series)) else None, index, "exog")
        return X, Y, index

    def penalty_by_row(self, l1: Any, l2: Any, fusion: Any) -> Penalty:
        """Penalties of every row of params, from numbers, vectors (intercept first) or Series by feature name."""
        given = {"l1": (l1, False), "l2": (l2, False), "fusion": (fusion, self.fuse_intercepts)}
        return self.problem.penalty(*(read_penalty(name, value, self.exog_names, intercept)
                                      for name, (value, intercept) in given.items()))

    def penalty_limits(self) -> PenaltyLimits:
        """Smallest l1 at which every coefficient is zero, and smallest fusion at which all tasks are equal."""
        return penalty_limits(self.problem.centred())

    # ---- keeping it -------------------------------------------------------------------------------------------------

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything the model is, as plain values and as arrays by name; ``from_state`` takes them back."""
        page = {"endog_names": self.endog_names, "exog_names": self.exog_names, "labels": self.labels,
                "task_names": self.tasks.names, "constant": self.constant, "standardize": self.standardize,
                "fuse_intercepts": self.fuse_intercepts, "has_offset": self.has_offset,
                "n_dropped": self.n_dropped,
                "formula": None if self.formula is None else self.formula.state(),
                "outcome": None if self.outcome is None else self.outcome.state()}
        arrays = {"scale": self.scale, "edges": self.tasks.edges, "edge_weights": self.tasks.weights,
                  "penalty_factors": self.penalty_factors}
        if self.has_data and not remove_data:
            data = self.data
            arrays.update(X=data.X, signs=data.signs.astype(np.int8), weights=data.weights, offset=data.offset)
            arrays.update({} if self.index is None else {"index": _index_array(self.index)})
        return page, arrays

    @classmethod
    def from_state(cls, page: dict, arrays: dict, formula: bool = False) -> Self:
        """A model from what ``state`` gave; its formula, which is code, only where asked for."""
        model = cls.__new__(cls)
        model.endog_names, model.exog_names = storage.names(page["endog_names"]), storage.names(page["exog_names"])
        model.labels = [tuple(pair) for pair in page["labels"]]
        model.constant, model.standardize, model.scale = page["constant"], page["standardize"], arrays["scale"]
        model.formula = Formula.from_state(page["formula"]) if formula and page["formula"] else None
        model.outcome = from_state(page.get("outcome"))
        model.left_out_formula = page["formula"]["text"] if page["formula"] and not formula else None
        model.index = pd.Index(arrays["index"]) if "index" in arrays else None
        edges = [(int(j), int(k), weight) for (j, k), weight in zip(arrays["edges"], arrays["edge_weights"])]
        model.problem = Problem.build(_stored_data(arrays, len(model.exog_names) - 1, len(model.endog_names)),
                                      TaskGraph(edges, len(model.endog_names), page["task_names"]),
                                      arrays.get("penalty_factors"), page.get("fuse_intercepts") is not False)
        # Files that say nothing about it are older than the question.
        model.n_dropped = page.get("n_dropped") or 0
        model.has_offset = bool(page.get("has_offset") or model.problem.data.offset.any())
        return model

    def __repr__(self) -> str:
        rows = f"{self.problem.data.n_rows} rows" if self.has_data else "data removed"
        rows += f" ({self.n_dropped} dropped)" * bool(self.n_dropped)
        return f"<FusedLogit: {len(self.endog_names)} tasks, {len(self.exog_names) - 1} features, {rows}>"


def _index_array(index):
    """Row labels as numbers or dates; as text where they are anything else."""
    values = index.to_numpy()
    return values if values.dtype.kind in "iufbM" else index.map(str).to_numpy().astype("U")


def _stored_data(arrays, n_features, n_tasks):
    if "X" not in arrays:
        return Data(np.zeros((0, n_features)), *np.zeros((3, 0, n_tasks)))
    return Data(arrays["X"], arrays["signs"].astype(float), arrays["weights"], arrays["offset"])
