"""Fused elastic-net logistic regression of several yes/no outcomes: the model a user builds and fits."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd

from . import checks, storage
from .admm import solve_admm
from .exact import ACCEPTED, solve_exactly
from .exceptions import CollinearWarning, ConvergenceWarning, OneClassWarning, SeparationWarning
from .formula import Formula, calling_environment
from .grid import Grid
from .inputs import (alike, check_index, column, constant, new_offset, read_endog, read_exog, read_factors,
                     read_held_out, read_new_exog, read_offset, read_params, read_penalty, read_weights)
from .likelihood import information, loglike, score
from .limits import PenaltyLimits, penalty_limits
from .newton import solve_newton
from .objective import Data, Penalty, linear_predictor
from .outcomes import Ordered, Survival, Times, from_state, split_surv
from .problem import Problem
from .results import FusedLogitResults
from .scoring import METRICS, Metric
from .tasks import TaskGraph
from .tuning import CVResults, fit_cv

__all__ = ["FusedLogit"]


class FusedLogit:
    """Logistic regression of several tasks at once, whose neighbours are pulled together.

    Minimises, over intercepts and coefficients of all tasks, the negative
    log-likelihood plus ``l1`` times the absolute coefficients, ``l2 / 2`` times
    their squares and ``fusion`` times the absolute differences between neighbouring
    tasks. Coefficients come out exactly zero, and exactly equal between neighbours.
    The model adds its own intercepts, which are never shrunk, and fused only where asked for.

    Parameters
    ----------
    endog : array_like, shape (n, t) or (n,)
        One column of labels for each task: 0/1, -1/1, booleans, two words (the
        later in the alphabet is yes) or two categories (the second is yes). NaN or
        None where a label is not observed; such a label is left out, its row is not.
    exog : array_like, shape (n, d)
        Features, shared by all tasks. A column of ones is recognised as the intercept.
    tasks : "chain", "ring", TaskGraph, or sequence of edges
        Which tasks are neighbours. In a chain each column of ``endog`` is tied to
        the next, in a ring the last also to the first. Edges are ``(task, task)`` or
        ``(task, task, weight)``, tasks by name or by position.
    weights : array_like, shape (n,) or (n, t), optional
        A weight of 2 is the row twice; 0 leaves the label out.
    offset : array_like, shape (n,) or (n, t), optional
        Added to the linear predictor.
    penalty_factors : array_like, shape (d,), or Series by feature name, optional
        Multiplies ``l1`` and ``l2`` of a feature; 0 leaves it unpenalized. Features
        that a Series leaves out have the factor 1. ``fusion`` is not touched.
    standardize : bool
        Divide each feature by its standard deviation (divisor: the sum of the weights of
        the rows that count) before penalties act, so that a penalty means the same for
        every feature whatever its unit; results come back on the original scale. With
        False penalties act on features as they are.
    fuse_intercepts : bool
        Whether ``fusion`` acts on the intercepts too. With False, effects do not depend on
        where a feature has its zero, and tasks may differ in how common yes is; with True
        features come to imitate such differences. The paper's objective is
        ``standardize=False, fuse_intercepts=True``.
    missing : "none", "drop" or "raise"
        What to do with rows in which a feature is missing: "drop" leaves them out (their
        number is ``n_dropped``), the others refuse them, as in statsmodels. Labels may be
        missing whatever this is.

    Attributes
    ----------
    endog_names, exog_names : list
        Names of the tasks; name of the intercept, then names of the features.
    nobs : int
        Rows with at least one observed label.
    n_dropped : int
        Rows left out by ``missing="drop"``.
    labels : list of (no, yes)
        The user's own labels of each task.
    tasks : TaskGraph
    scale : ndarray, shape (d,)
    outcome : outcomes.Ordered, outcomes.Survival or None
        What the tasks are about, where they are steps of one outcome.

    Notes
    -----
    Penalties are added to a sum over rows, not to a mean: in glmnet's words
    ``l1 + l2`` is ``n * lambda`` and ``l1 / (l1 + l2)`` is ``alpha``. In the paper's
    letters ``l1``, ``l2`` and ``fusion`` are lambda1, lambda2 and nu.

    Examples
    --------
    >>> import numpy as np
    >>> from fusedlr import FusedLogit
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(60, 3))
    >>> Y = X[:, [0]] + rng.normal(size=(60, 4)) > 0
    >>> res = FusedLogit(Y, X).fit(l1=1.0, l2=0.1, fusion=2.0)
    >>> res.params.shape
    (4, 4)
    """

    def __init__(self, endog: Any, exog: Any, tasks: Any = "chain", weights: Any = None, offset: Any = None,
                 penalty_factors: Any = None, standardize: bool = True, fuse_intercepts: bool = False,
                 missing: str = "none") -> None:
        drop = checks.word("missing", missing, ("none", "drop", "raise")) == "drop"
        outcomes, design = read_endog(endog), read_exog(exog, drop)
        _refuse_other_rows(outcomes, design)
        self.endog_names, self.labels = outcomes.names, outcomes.labels
        self.exog_names, self.constant = design.names, design.constant
        index = design.index if outcomes.index is None else outcomes.index
        self.standardize = checks.flag("standardize", standardize)
        Y = outcomes.Y if design.kept is None else np.where(design.kept[:, None], outcomes.Y, np.nan)
        weights = read_weights(weights, Y, index, outcomes.names)
        offset = read_offset(offset, Y.shape, index, outcomes.names)
        self.has_offset, self.n_dropped = offset is not None, design.n_rows - len(design.X)
        X = design.X
        Y, weights, offset, self.index = _kept_rows(design.kept, Y, weights, offset, index)
        self.scale = _scale(X, weights.max(axis=1)) if self.standardize else np.ones(X.shape[1])
        if self.standardize:
            X /= self.scale  # in place: the model's own copy
        self.problem = Problem.build(Data.from_arrays(X, Y, weights, offset),
                                     _task_graph(tasks, outcomes.names),
                                     read_factors(penalty_factors, self.exog_names[1:]),
                                     checks.flag("fuse_intercepts", fuse_intercepts))
        self.formula: Formula | None = None
        self.outcome: Ordered | Survival | None = None
        _warn_alike(X, self.exog_names[1:])
        self.left_out_formula: str | None = None

    # ---- other ways to build a model --------------------------------------------------------------------------------

    @classmethod
    def from_formula(cls, formula: str, data: pd.DataFrame, **kwargs: Any) -> FusedLogit:
        """A model from a formula with the tasks on the left: ``"low + mid + high ~ age + C(site)"``.

        Parameters
        ----------
        formula : str
            In patsy's language. The tasks are fused in the order in which they are
            written. Each may be any of the kinds of labels ``FusedLogit`` takes.
        data : pandas.DataFrame
        **kwargs
            The other arguments of ``FusedLogit``; ``weights`` and ``offset`` may be names of
            columns of ``data``.

        Notes
        -----
        A missing label leaves out this label, not the row as in statsmodels. A missing
        value on the right side is an error unless ``missing="drop"``. The intercept is
        always there; ``0 +`` only makes a first factor keep all of its levels, which
        suits penalized fits.
        """
        parsed, kwargs = _parse(formula, data, kwargs)
        model = cls(parsed.endog, parsed.exog, **kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def from_ordered(cls, endog: Any, exog: Any, levels: Any = None, kind: str = "sequential",
                     direction: str = "forward", **kwargs: Any) -> FusedLogit:
        """A model of one ordered outcome: one task for each step from a level to the next, in a chain.

        Parameters
        ----------
        endog : array_like or Series, shape (n,)
            Numbers, an ordered categorical, or any values named in ``levels``. Where
            missing, no task has a label.
        exog : array_like, shape (n, d)
        levels : sequence, optional
            The levels, lowest first; needed unless ``endog`` carries an order itself.
        kind : "sequential" or "cumulative"
            Sequential: each task asks "beyond this level, given that it was reached?", and a
            row that ended below has no label in it. The likelihood of the tasks is that of
            the levels, whose probabilities are never negative. Cumulative: each task asks
            "above this level?" of every row, as the proportional-odds model does; its
            probabilities can cross, and are then put in order with a ``CrossingWarning``.
        direction : "forward" or "backward"
            Of a sequential outcome: whether rows climb from the lowest level, or come down
            from the highest ("at this level, given that no higher one was?"). Yes is the
            higher side in both, so that coefficients have the same sign.
        **kwargs
            The other arguments of ``FusedLogit``.

        Notes
        -----
        With levels low < mid < high the tasks are ``>low`` and ``>mid``; backward, ``>=mid``
        and ``>=high``. With a large ``fusion`` all tasks share every coefficient but the
        intercept: the continuation-ratio model, or (cumulative) the structure of
        proportional odds; ``fusion`` decides how far to go there. ``predict`` takes
        ``which="levels"``, ``"level"`` and ``"rank"`` too, ``fit_cv`` takes ``metric="rps"``.
        """
        return cls._of(Ordered.read(endog, levels, kind, direction), endog, exog, kwargs)

    @classmethod
    def from_ordered_formula(cls, formula: str, data: pd.DataFrame, levels: Any = None, kind: str = "sequential",
                             direction: str = "forward", **kwargs: Any) -> FusedLogit:
        """A model of one ordered outcome from a formula: ``"severity ~ age + C(site)"``.

        The outcome stands on the left; the other arguments are those of ``from_ordered``.
        """
        parsed, kwargs = _parse(formula, data, kwargs)
        if parsed.endog.shape[1] != 1:
            raise ValueError(f"formula must have one ordered outcome on its left side, found "
                             f"{list(parsed.endog.columns)}; use from_formula for several tasks")
        endog = parsed.endog.iloc[:, 0]
        model = cls._of(Ordered.read(endog, levels, kind, direction), endog, parsed.exog, kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def from_survival(cls, time: Any, event: Any, exog: Any, breaks: Any, entry: Any = None,
                      **kwargs: Any) -> FusedLogit:
        """A model of the time to an event: one task for each interval, "did the event come in it?", in a chain.

        Parameters
        ----------
        time : array_like, shape (n,)
            When the event came, or the row was last seen without it.
        event : array_like of bool or 0/1, shape (n,)
            Whether the event came; 0 where the row was censored.
        exog : array_like, shape (n, d)
            Features as they were at the start: none may change over time.
        breaks : int or sequence of float
            Ends of the intervals (0 is put in front), such as ``range(1, 13)`` for twelve
            years; or how many intervals, with about as many events each.
        entry : array_like, shape (n,), optional
            From when on a row was watched (left truncation); 0 where left out.
        **kwargs
            The other arguments of ``FusedLogit``. With ``fuse_intercepts=False``, the default,
            the baseline hazard is free in every interval; with True it is fused too.

        Notes
        -----
        The coefficients are log odds ratios of the discrete hazard. An interval holds its
        right end. A label is 1 where the event came in the interval, 0 where it was
        survived, and missing where the row was not watched all along: it entered later,
        ended before, or entered or was censored inside the interval. The likelihood is exact
        for rows censored at breaks. With a large ``fusion`` effects are constant over
        time, as in the proportional-odds hazard model; ``fusion`` decides how far to go
        there. ``predict`` takes ``which="hazard"``, ``"survival"``, ``"incidence"`` and
        ``"median"`` too.
        """
        times = Times.read(time, event, entry)
        return cls._of(Survival.read(times, breaks), times, exog, kwargs)

    @classmethod
    def from_survival_formula(cls, formula: str, data: pd.DataFrame, breaks: Any, **kwargs: Any) -> FusedLogit:
        """A model of the time to an event from a formula: ``"Surv(time, event) ~ age + C(site)"``.

        On the left stand ``Surv(time, event)``, ``Surv(entry, time, event)``, or two or three
        columns as ``time + event``. The other arguments are those of ``from_survival``.
        """
        parsed, kwargs = _parse(split_surv(formula), data, kwargs)
        columns = [parsed.endog.iloc[:, k] for k in range(parsed.endog.shape[1])]
        if len(columns) not in (2, 3):
            raise ValueError("formula must have a time and an event on its left side, as in Surv(time, event), found "
                             f"{list(parsed.endog.columns)}")
        times = Times.read(*columns[-2:], *columns[:-2])
        model = cls._of(Survival.read(times, breaks), times, parsed.exog, kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def _of(cls, outcome: Any, endog: Any, exog: Any, kwargs: dict) -> FusedLogit:
        """A model of the tasks of an outcome; without pandas in it, ``endog`` has the row labels of ``exog``."""
        labels = outcome.labels(endog)
        named = isinstance(endog, pd.Series) or isinstance(endog, Times) and endog.index is not None
        if not named and isinstance(exog, pd.DataFrame) and len(exog) == len(labels):
            labels.index = exog.index
        model = cls(labels, exog, **kwargs)
        model.outcome = outcome
        return model

    def with_rows(self, rows: Any) -> FusedLogit:
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

    def without_data(self) -> FusedLogit:
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
        """Coefficients on the solver's scale."""
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

    def penalty(self, l1: Any, l2: Any, fusion: Any) -> Penalty:
        """Penalties of every row of params, from numbers, vectors (intercept first) or Series by feature name."""
        given = {"l1": (l1, False), "l2": (l2, False), "fusion": (fusion, self.fuse_intercepts)}
        return self.problem.penalty(*(read_penalty(name, value, self.exog_names, intercept)
                                      for name, (value, intercept) in given.items()))

    def penalty_limits(self) -> PenaltyLimits:
        """Smallest l1 at which every coefficient is zero, and smallest fusion at which all tasks are equal."""
        return penalty_limits(self.problem)

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def fit(self, l1: Any, l2: Any, fusion: Any, method: str = "newton", tol: float | None = None,
            max_iter: int | None = None) -> FusedLogitResults:
        """Fit at one set of penalties.

        Parameters
        ----------
        l1, l2, fusion : float, array_like of shape (1 + d,), or Series by feature name
            Not negative. In a vector the intercept comes first; its l1 and l2 are 0, and so
            is its fusion where ``fuse_intercepts=False``.
        method : "newton" or "admm"
            The fast solver, or the paper's own algorithm (chains and rings only).
        tol : float, optional
            Relative duality gap at which to stop. Where left out, the fit is solved as far
            as rounding allows, so that its printed digits, its zeros and its ties are
            those of the optimum, and counts as optimal at 1e-8 (``"admm"``: stops at 1e-6).
        max_iter : int, optional
            The solver's own limit where left out.

        Returns
        -------
        FusedLogitResults

        Warns
        -----
        ConvergenceWarning
            The gap did not reach ``tol``.
        SeparationWarning
            Without penalty no finite minimiser exists.
        OneClassWarning
            All observed labels of a task are the same.
        """
        method = checks.word("method", method, ("newton", "admm"))
        exactly = tol is None and method == "newton"
        wanted, limit = _stopping(1e-6 if tol is None else tol, max_iter)
        penalty = self.penalty(l1, l2, fusion)
        _warn_one_class(self)
        if exactly:
            wanted, solution = ACCEPTED, solve_exactly(self.problem, penalty, **limit)
        else:
            solve: Any = solve_newton if method == "newton" else solve_admm
            solution = solve(self.problem, penalty, tol=wanted, **limit)
        _warn_status(solution, wanted)
        return FusedLogitResults(self, solution, {"l1": l1, "l2": l2, "fusion": fusion}, method, wanted)

    def fit_grid(self, l1: Any, l2: Any, fusion: Any, tol: float = 1e-6, max_iter: int | None = None,
                 progress: bool = True) -> Grid:
        """Fit at every combination of the penalties given, each from where the last one ended.

        Parameters
        ----------
        l1, l2, fusion : sequence of float
        tol : float
            Relative duality gap of every point; ``results(i)`` solves its point exactly.
        max_iter : int, optional
        progress : bool
            Show a bar after two seconds, in a terminal or a notebook, where tqdm is installed.

        Returns
        -------
        Grid
        """
        tol, limit = _stopping(tol, max_iter)
        _warn_one_class(self)
        return Grid(self, l1, l2, fusion, tol=tol, progress=progress, **limit)

    def fit_cv(self, folds: Any = 5, rule: str = "min", metric: str = "logloss", seed: int = 0, l1: Any = None,
               l2: Any = None, fusion: Any = None, by: str = "cv", tol: float = 1e-6, n_jobs: int | None = None,
               progress: bool = True) -> CVResults:
        """Choose the penalties by cross-validation or an information criterion, and fit there.

        Parameters
        ----------
        folds : int or array_like, shape (n,)
            Number of folds, or the fold of each row.
        rule : "min" or "1se"
            The best point, or the most penalized one within a standard error of it.
        metric : "logloss", "error" or "auc"
            Mean negative log-likelihood, share of wrong labels, or area under the ROC curve.
        seed : int
            Draws the folds.
        l1, l2, fusion : float or sequence of float, optional
            The grid; chosen to suit the data where left out.
        by : "cv", "aic" or "bic"
            Cross-validation, or an information criterion of the fits on all rows.
        tol : float
            Relative duality gap of every fit.
        n_jobs : int, optional
            Number of threads, one for each core where left out; the numbers do not depend on it.
        progress : bool
            Show a bar after two seconds, in a terminal or a notebook, where tqdm is installed.

        Returns
        -------
        CVResults
        """
        _warn_one_class(self)
        return fit_cv(self, folds, rule, metric, seed, l1, l2, fusion, by, tol, n_jobs, progress)

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
    def from_state(cls, page: dict, arrays: dict, formula: bool = False) -> FusedLogit:
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


def _stopping(tol, max_iter):
    """A tolerance, and the limit on steps where the user gave one."""
    tol = checks.tolerance("tol", tol, "it is a relative duality gap such as 1e-6")
    if max_iter is None:
        return tol, {}
    return tol, {"max_iter": checks.whole("max_iter", max_iter, 1, 10**9, way_out="None takes the solver's own limit")}


def _index_array(index):
    """Row labels as numbers or dates; as text where they are anything else."""
    values = index.to_numpy()
    return values if values.dtype.kind in "iufbM" else index.map(str).to_numpy().astype("U")


def _stored_data(arrays, n_features, n_tasks):
    if "X" not in arrays:
        return Data(np.zeros((0, n_features)), *np.zeros((3, 0, n_tasks)))
    return Data(arrays["X"], arrays["signs"].astype(float), arrays["weights"], arrays["offset"])


def _refuse_other_rows(outcomes, design):
    if outcomes.Y.shape[0] != design.n_rows:
        raise ValueError(f"endog must have one row for each of the {design.n_rows} rows of exog, "
                         f"found {outcomes.Y.shape[0]}")
    check_index(outcomes.index, design.index, "exog")


def _kept_rows(kept, *parts):
    """The rows that are kept of everything that there is."""
    return [part if kept is None or part is None else part[kept] for part in parts]


def _parse(formula, data, options):
    """A formula evaluated on data, with the names that its caller's caller sees, and the other arguments of the model.

    Weights and offset may be names of columns.
    """
    drop = options.get("missing") == "drop"
    parsed = Formula(formula, data, calling_environment(depth=3), drop)
    named = {name: column(name, options[name], data, "data") for name in ("weights", "offset")
             if isinstance(options.get(name), str)}
    return parsed, {**options, **named}


def _task_graph(tasks, names):
    # Names that are numbers are left out: in an edge they could not be told from positions.
    graph = TaskGraph.build(tasks, len(names), names if all(isinstance(name, str) for name in names) else None)
    if graph.names is not None and list(graph.names) != list(names):
        raise ValueError(f"tasks is a TaskGraph of {list(graph.names)}, but the columns of endog are {list(names)}; "
                         "names and their order must be the same")
    return graph


def _scale(X, weights):
    """Standard deviation of each column over the rows that count, shape (d,); 1 where a column does not vary."""
    scale = np.empty(X.shape[1])
    for j, column in enumerate(X.T):
        mean = weights @ column / weights.sum()
        scale[j] = np.sqrt(weights @ (column - mean) ** 2 / weights.sum())
    # A constant column has the rounding error of its mean, not 0.
    return np.where(scale > 1e-13 * np.maximum(X.max(axis=0), -X.min(axis=0)), scale, 1.0)


def _warn_alike(X, names):
    idle, pairs = constant(X), alike(X)
    if idle:
        warnings.warn(f"exog: {checks.named(names, np.array(idle))} do not vary, so that only the intercept can speak "
                      "for "
                      "them; drop them", CollinearWarning, stacklevel=3)
    if pairs:
        shown = ", ".join(f"{names[j]!r} and {names[k]!r}" for j, k in pairs[:3]) + ", ..." * (len(pairs) > 3)
        warnings.warn(f"exog: {shown} say the same but for unit and zero, so that their effects cannot be told apart; "
                      "drop one of them", CollinearWarning, stacklevel=3)


def _warn_one_class(model):
    data = model.data
    seen_yes = ((data.signs > 0) & (data.weights > 0)).any(axis=0)
    seen_no = ((data.signs < 0) & (data.weights > 0)).any(axis=0)
    advice = ("only its neighbours tell it anything; drop the task, or raise fusion" if model.fuse_intercepts else
              "its intercept has no finite best value; drop the task, or fuse intercepts (fuse_intercepts=True)")
    for name, labels, yes, no in zip(model.endog_names, model.labels, seen_yes, seen_no):
        if not (yes and no):
            warnings.warn(f"task {name!r}: every observed label is {labels[int(yes)]!r}; {advice}", OneClassWarning,
                          stacklevel=3)


def _warn_status(solution, tol):
    if solution.status == "not_converged":
        warnings.warn(f"stopped after {solution.iterations} iterations at a relative duality gap of "
                      f"{solution.gap:.1e}, asked was tol = {tol:.1e}; raise max_iter or tol, use larger penalties, "
                      "or standardize=True where features differ much in scale", ConvergenceWarning, stacklevel=3)
    elif solution.status == "separated":
        warnings.warn("some task's labels are separated by its features, or all the same, so that no finite minimiser "
                      "exists at these penalties; its values are large and arbitrary in size; use a positive l2 or l1, "
                      "and drop tasks whose labels are all the same", SeparationWarning, stacklevel=3)
