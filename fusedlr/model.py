"""Fused elastic-net logistic regression of several yes/no outcomes: the model a user builds and fits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import checks
from .admm import solve_admm
from .building import Built
from .exact import ACCEPTED, solve_exactly
from .exceptions import CollinearWarning, ConvergenceWarning, OneClassWarning, SeparationWarning
from .grid import Grid
from .inputs import (MISSING, alike, check_index, constant, read_endog, read_exog, read_factors, read_offset,
                     read_weights)
from .newton import column_scales, solve_newton
from .objective import Data
from .problem import Problem
from .results import FusedLogitResults
from .tasks import TaskGraph
from .tuning import CVResults, fit_cv

__all__ = ["FusedLogit"]


class FusedLogit(Built):
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
        drop = checks.word("missing", missing, MISSING) == "drop"
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
        self.scale = _scale(X, weights) if self.standardize else np.ones(X.shape[1])
        if self.standardize:
            X /= self.scale  # in place: the model's own copy
        self.problem = Problem.build(Data.from_arrays(X, Y, weights, offset),
                                     _task_graph(tasks, outcomes.names),
                                     read_factors(penalty_factors, self.exog_names[1:]),
                                     checks.flag("fuse_intercepts", fuse_intercepts))
        self.formula = None
        self.outcome = None
        _warn_alike(X, self.exog_names[1:])
        self.left_out_formula = None

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


def _stopping(tol, max_iter):
    """A tolerance, and the limit on steps where the user gave one."""
    tol = checks.tolerance("tol", tol, "it is a relative duality gap such as 1e-6")
    if max_iter is None:
        return tol, {}
    return tol, {"max_iter": checks.whole("max_iter", max_iter, 1, 10**9, way_out="None takes the solver's own limit")}


def _refuse_other_rows(outcomes, design):
    if outcomes.Y.shape[0] != design.n_rows:
        raise ValueError(f"endog must have one row for each of the {design.n_rows} rows of exog, "
                         f"found {outcomes.Y.shape[0]}")
    check_index(outcomes.index, design.index, "exog")


def _kept_rows(kept, *parts):
    """The rows that are kept of everything that there is."""
    return [part if kept is None or part is None else part[kept] for part in parts]


def _task_graph(tasks, names):
    # Names that are numbers are left out: in an edge they could not be told from positions.
    graph = TaskGraph.build(tasks, len(names), names if all(isinstance(name, str) for name in names) else None)
    if graph.names is not None and list(graph.names) != list(names):
        raise ValueError(f"tasks is a TaskGraph of {list(graph.names)}, but the columns of endog are {list(names)}; "
                         "names and their order must be the same")
    return graph


def _scale(X, weights):
    """Standard deviation of each column over the rows that count, shape (d,); 1 where a column does not vary."""
    scale = column_scales(X, weights)
    return np.where(scale > 0, scale, 1.0)


def _warn_alike(X, names):
    idle, pairs = constant(X), alike(X)
    if idle:
        warnings.warn(f"exog: {checks.named(names, np.array(idle))} do not vary, so that their effects cannot be told "
                      "from the intercept; drop them", CollinearWarning, stacklevel=3)
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
