"""Fused elastic-net logistic regression of several yes/no outcomes: the model a user builds and fits."""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd

from .exceptions import ConvergenceWarning, OneClassWarning, SeparationWarning
from .inputs import (aligned, check_index, check_max_iter, check_tol, factors_by_name, penalty_by_name, read_endog,
                     read_exog, read_held_out, read_new_exog, read_ordered)
from .objective import Data, Penalty
from .results import FusedLogitResults
from .tasks import TaskGraph

__all__ = ["FusedLogit"]


class FusedLogit:
    """Logistic regression of several tasks at once, whose neighbours are pulled together.

    Minimises, over intercepts and coefficients of all tasks, the negative
    log-likelihood plus ``l1`` times the absolute coefficients, ``l2 / 2`` times
    their squares and ``fusion`` times the absolute differences between neighbouring
    tasks. Coefficients come out exactly zero, and exactly equal between neighbours.
    The model adds its own intercepts, which are fused (unless told otherwise) but never shrunk.

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
        Divide each feature by its standard deviation (divisor n) before penalties
        act; results come back on the original scale. Features are not centred:
        that would move their effect into the intercepts, which are fused too.
    fuse_intercepts : bool
        Whether ``fusion`` acts on the intercepts too, as in the paper. With False it
        acts on features only. Choose False where tasks differ in how common yes is for
        reasons that are no news, as with thresholds of one ordered outcome: tied
        intercepts would force other coefficients to imitate the base rates.

    Attributes
    ----------
    endog_names, exog_names : list
        Names of the tasks; name of the intercept, then names of the features.
    nobs : int
        Rows with at least one observed label.
    labels : list of (no, yes)
        The user's own labels of each task.
    tasks : TaskGraph
    scale : ndarray, shape (d,)

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

    def __init__(self, endog, exog, tasks="chain", weights=None, offset=None, penalty_factors=None, standardize=False,
                 fuse_intercepts=True):
        outcomes, design = read_endog(endog), read_exog(exog)
        _refuse_other_rows(outcomes, design)
        self.endog_names, self.labels = outcomes.names, outcomes.labels
        self.exog_names, self.constant = design.names, design.constant
        self.index = design.index if outcomes.index is None else outcomes.index
        self.tasks = _task_graph(tasks, outcomes.names)
        self.standardize = _checked_flag("standardize", standardize)
        self.fuse_intercepts = _checked_flag("fuse_intercepts", fuse_intercepts)
        self.scale = _scale(design.X) if standardize else np.ones(design.X.shape[1])
        self._data = Data.from_arrays(design.X / self.scale if standardize else design.X, outcomes.Y,
                                      aligned("weights", weights, self.index, outcomes.names),
                                      aligned("offset", offset, self.index, outcomes.names))
        _refuse_weightless(self._data, outcomes.names)
        self.penalty_factors = self._read_factors(penalty_factors)
        self.formula = None

    # ---- other ways to build a model --------------------------------------------------------------------------------

    @classmethod
    def from_formula(cls, formula, data, **kwargs):
        """A model from a formula with the tasks on the left: ``"low + mid + high ~ age + C(site)"``.

        Parameters
        ----------
        formula : str
            In patsy's language. The tasks are fused in the order in which they are
            written. Each may be any of the kinds of labels ``FusedLogit`` takes.
        data : pandas.DataFrame
        **kwargs
            The other arguments of ``FusedLogit``.

        Notes
        -----
        A missing label leaves out this label, not the row as in statsmodels. A missing
        value on the right side is an error: drop such rows first. The intercept is
        always there; ``0 +`` only makes a first factor keep all of its levels, which
        suits penalized fits.
        """
        from .formula import Formula, calling_environment

        parsed = Formula(formula, data, calling_environment(depth=2))
        model = cls(parsed.endog, parsed.exog, **kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def from_ordered(cls, endog, exog, levels=None, fuse_intercepts=False, **kwargs):
        """A model of one ordered outcome: one task "above this level" for each level but the last, in a chain.

        Parameters
        ----------
        endog : array_like or Series, shape (n,)
            Numbers, an ordered categorical, or any values named in ``levels``. Where
            missing, no task has a label.
        exog : array_like, shape (n, d)
        levels : sequence, optional
            The levels, lowest first; needed unless ``endog`` carries an order itself.
        fuse_intercepts : bool
            False unless told otherwise, other than in ``FusedLogit``: fewer rows are above
            a higher level by construction, so there is nothing to learn from pulling the
            intercepts together. Tied intercepts would make features imitate the thresholds.
        **kwargs
            The other arguments of ``FusedLogit``.

        Notes
        -----
        With levels low < mid < high the tasks are ``>low`` (mid or high) and ``>mid``
        (high). With a large ``fusion`` all tasks share every coefficient but the
        intercept, which is the proportional-odds model's structure; ``fusion`` decides
        how far to go there.
        """
        outcome = read_ordered(endog, levels)
        if not isinstance(endog, pd.Series) and isinstance(exog, pd.DataFrame) and len(exog) == len(outcome):
            outcome.index = exog.index
        return cls(outcome, exog, fuse_intercepts=fuse_intercepts, **kwargs)

    def with_rows(self, rows):
        """The same model on some of the rows, in the order given; a row may come more than once.

        Names, labels and ``scale`` are kept, so that coefficients stay comparable.

        Parameters
        ----------
        rows : array_like of int, or of bool with one entry for each row
        """
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        model, data = copy.copy(self), self.data
        model._data = Data(data.X[rows], data.signs[rows], data.weights[rows], data.offset[rows])
        model.index = None if self.index is None else self.index[rows]
        return model

    def without_data(self):
        """The same model without its data: names, labels and scale, enough to predict."""
        model = copy.copy(self)
        model._data = model.index = None
        return model

    # ---- what the model is about ------------------------------------------------------------------------------------

    @property
    def data(self):
        """What the solvers see, ``objective.Data``; features divided by ``scale``."""
        if self._data is None:
            raise ValueError("the data of this model were removed (remove_data, or a file saved without them); "
                             "build the model again from the data for this")
        return self._data

    @property
    def nobs(self):
        """Rows with at least one observed label."""
        return int((self.data.weights > 0).any(axis=1).sum())

    @property
    def endog(self):
        """Labels as 0, 1 and NaN where not observed, DataFrame (n, t)."""
        labels = np.where(self.data.weights > 0, self.data.signs > 0, np.nan)
        return pd.DataFrame(labels, self.index, self.endog_names)

    @property
    def exog(self):
        """Features on the original scale, DataFrame (n, d); made anew at every call, so that X is held once only."""
        return pd.DataFrame(self.data.X * self.scale, self.index, self.exog_names[1:])

    def design(self, exog):
        """Features of new rows on the original scale and in the model's order, (X, index); see ``predict``."""
        if self.formula is not None:
            exog = self.formula.design(exog)
        return read_new_exog(exog, self.exog_names[1:], self.constant)

    def held_out(self, endog, exog):
        """Other rows as the model sees its own: features on the original scale (m, d), labels 0, 1 and NaN (m, t)."""
        X, index = self.design(exog)
        Y = read_held_out(endog, self.endog_names, self.labels)
        if len(Y) != len(X):
            raise ValueError(f"endog must have one row for each of the {len(X)} rows of exog, found {len(Y)}")
        check_index(endog.index if isinstance(endog, (pd.DataFrame, pd.Series)) else None, index, "exog")
        return X, Y

    def penalty(self, l1, l2, fusion):
        """Penalties of every row of params, from numbers, vectors (intercept first) or Series by feature name."""
        values = [penalty_by_name(name, value, self.exog_names, needs_intercept)
                  for name, value, needs_intercept in (("l1", l1, False), ("l2", l2, False),
                                                       ("fusion", fusion, self.fuse_intercepts))]
        penalty = Penalty.from_values(*values, len(self.exog_names) - 1, self.penalty_factors)
        return penalty if self.fuse_intercepts else _with_free_intercepts(penalty, by_row=np.ndim(values[2]) > 0)

    def penalty_limits(self):
        """Penalties beyond which nothing changes; see ``tuning.penalty_limits``."""
        from .tuning import penalty_limits

        return penalty_limits(self.data, self.tasks, self.penalty_factors, fuse_intercepts=self.fuse_intercepts)

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def fit(self, l1, l2, fusion, method="newton", tol=1e-6, max_iter=None):
        """Fit at one set of penalties.

        Parameters
        ----------
        l1, l2, fusion : float, array_like of shape (1 + d,), or Series by feature name
            Not negative. In a vector the intercept comes first; its l1 and l2 are 0, and so
            is its fusion where ``fuse_intercepts=False``.
        method : "newton" or "admm"
            The fast solver, or the paper's own algorithm (chains and rings only).
        tol : float
            Relative duality gap to reach.
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
        solve = _solver(method)
        check_tol(tol)
        check_max_iter(max_iter)
        penalty = self.penalty(l1, l2, fusion)
        _warn_one_class(self)
        limit = {} if max_iter is None else {"max_iter": int(max_iter)}
        solution = solve(self.data, penalty, self.tasks, tol=tol, **limit)
        _warn_status(solution, tol)
        return FusedLogitResults(self, solution, {"l1": l1, "l2": l2, "fusion": fusion}, method, tol)

    def fit_grid(self, l1, l2, fusion, tol=1e-6, max_iter=None, progress=False):
        """Fit at every combination of the penalties given, each from where the last one ended.

        Parameters
        ----------
        l1, l2, fusion : sequence of float
        tol, max_iter : as for ``fit``
        progress : bool
            Show a progress bar, where tqdm is installed and a terminal is watching.

        Returns
        -------
        Grid
        """
        from .grid import Grid

        check_tol(tol)
        check_max_iter(max_iter)
        _warn_one_class(self)
        return Grid(self, l1, l2, fusion, tol=tol, max_iter=max_iter, progress=progress)

    def fit_cv(self, folds=5, rule="min", metric="logloss", seed=0, **options):
        """Choose the penalties by cross-validation or an information criterion, and fit there.

        Parameters
        ----------
        folds : int or array_like, shape (n,)
            Number of folds, or the fold of each row.
        rule : "min" or "1se"
            The best point, or the most penalized one within a standard error of it.
        metric : "logloss" or "error"
        seed : int
            Draws the folds.
        **options
            ``l1``, ``l2`` and ``fusion`` (lists; chosen for you where left out), ``by``
            ("cv", "aic" or "bic"), ``tol``, ``n_jobs`` and ``progress``; see ``tuning.fit_cv``.

        Returns
        -------
        CVResults
        """
        from .tuning import fit_cv

        return fit_cv(self, folds=folds, rule=rule, metric=metric, seed=seed, **options)

    def _read_factors(self, factors):
        if factors is None:
            return None
        features = self.exog_names[1:]
        # Borrow the check that every fit would make, so that a mistake shows at once.
        Penalty.from_values(0, 0, 0, len(features), factors_by_name(factors, features))
        return np.array(factors_by_name(factors, features), dtype=float)

    def __repr__(self):
        rows = "data removed" if self._data is None else f"{self._data.n_rows} rows"
        return f"<FusedLogit: {len(self.endog_names)} tasks, {len(self.exog_names) - 1} features, {rows}>"


def _solver(method):
    if method == "newton":
        from .newton import solve_newton

        return solve_newton
    if method == "admm":
        from .admm import solve_admm

        return solve_admm
    raise ValueError(f"method must be 'newton' or 'admm', found {method!r}")


def _refuse_other_rows(outcomes, design):
    if outcomes.Y.shape[0] != design.X.shape[0]:
        raise ValueError(f"endog must have one row for each of the {design.X.shape[0]} rows of exog, "
                         f"found {outcomes.Y.shape[0]}")
    check_index(outcomes.index, design.index, "exog")


def _refuse_weightless(data, names):
    empty = [name for name, column in zip(names, data.weights.T) if not column.any()]
    if empty:
        raise ValueError(f"weights must leave an observed label in every task; all are zero in {empty}; "
                         "drop these tasks")


def _task_graph(tasks, names):
    # Names that are numbers are left out: in an edge they could not be told from positions.
    graph = TaskGraph.build(tasks, len(names), names if all(isinstance(name, str) for name in names) else None)
    if graph.names is not None and list(graph.names) != list(names):
        raise ValueError(f"tasks is a TaskGraph of {list(graph.names)}, but the columns of endog are {list(names)}; "
                         "names and their order must be the same")
    return graph


def _checked_flag(name, flag):
    if not isinstance(flag, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, found {flag!r}")
    return bool(flag)


def _with_free_intercepts(penalty, by_row):
    """The same penalties without fusion of the intercepts; a vector (``by_row``) must say so itself."""
    if by_row and penalty.fusion[0] != 0:
        raise ValueError(f"fusion of const (the first number) must be 0 in a model with fuse_intercepts=False, found "
                         f"{penalty.fusion[0]:g}; build the model with fuse_intercepts=True to fuse intercepts too")
    return replace(penalty, fusion=np.append(0.0, penalty.fusion[1:]))


def _scale(X):
    """Standard deviation of each column; 1 where a column does not vary."""
    spread = X.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


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
