"""Fused elastic-net logistic regression of several yes/no outcomes: the model a user builds and fits."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd

from . import checks, frames
from .adaptive import adapted
from .admm import solve_admm
from .base import Model
from .inputs import (MISSING, Features, Formula, calling_environment, column, read_exog, read_factors, read_groups,
                     read_offset, refuse_empty, refuse_extreme, warn_collinear, warn_one_class, weighted)
from .io import registered
from .matrices import Matrix
from .outcomes import (Binary, CompetingRisks, Direction, Kind, LabelledRows, LongLabels, Ordered, Outcome, Survival,
                       Times, read_causes, split_surv)
from .problem import Design, Groups, Labels, Penalty, Problem
from .results import FusedLogitResults
from .solver import ACCEPTED, column_scales, solve_exactly, solve_newton, warn_status
from .spec import Spec
from .tasks import TaskGraph
from .tuning import By, CVResults, Grid, PenaltyLimits, Rule, fit_cv, fit_grid, penalty_limits

__all__ = ["FusedLogit"]

Method = Literal["newton", "admm"]
Missing = Literal["none", "drop", "raise"]


@registered("model")
class FusedLogit(Model):
    """Multi-task logistic regression with elastic-net and fused-lasso penalties.

    Minimises, over intercepts and coefficients of all tasks, the negative
    log-likelihood plus ``l1`` times the absolute coefficients, ``l2 / 2`` times
    their squares and ``fusion`` times the absolute differences between neighbouring
    tasks. Coefficients come out exactly zero, and exactly equal between neighbours.
    The model adds its own intercepts, which are never shrunk, and fused only where asked for.

    Parameters
    ----------
    endog : array_like, shape (n, t) or (n,)
        One column of labels for each task: 0/1, -1/1, booleans, two words or two
        categories; ``labels`` says which is yes, ``yes`` decides it. NaN or None where a
        label is not observed; such a label is left out, its row is not.
    exog : array_like, shape (n, d)
        Features, shared by all tasks. A column of ones is recognised as the intercept. A matrix of
        scipy.sparse, or a frame with columns of sparse type, stays sparse; rows beyond memory: ``fusedlr.chunked``.
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
    fusion_factors : array_like, shape (d,), or Series by feature name, optional
        Multiplies ``fusion`` of a feature: 0 leaves its effect free in each task, a large number
        makes it constant, as in partial proportional odds. Series as for ``penalty_factors``.
    adaptive : bool
        Let a first fit, a ridge regression of each task alone, decide how much ``l1`` and
        ``fusion`` act on each feature: less where its coefficients, or their differences between
        tasks, are large there (adaptive lasso, Zou 2006). Folds, resamples and halves make their
        own first fit. Helps with some strong and many absent effects or changes; where all effects
        are small and differ it can be slightly worse.
    standardize : bool
        Penalize each feature divided by its standard deviation (divisor: the sum of the weights
        of the labelled rows, or of the groups), so that a penalty does not depend on units.
        Coefficients are always reported in the original units.
    fuse_intercepts : bool
        Whether ``fusion`` acts on the intercepts too. With False, effects do not depend on the
        origin of a feature, and base rates may differ between tasks; with True, coefficients of
        features make up for such differences. The paper's objective is
        ``standardize=False, fuse_intercepts=True``.
    groups : array_like, shape (n,), optional
        The sampling unit (cluster) of each row: a person, a clinic, a village. Rows of one group
        may be dependent; groups are taken as independent. Standard errors, resamples, halves,
        folds, BIC and the standard deviation of features are then by group, each counted once.
        Without groups every row is its own sampling unit.
    missing : "none", "drop" or "raise"
        What to do with rows in which a feature is missing: "drop" leaves them out (their
        number is ``n_dropped``), the others refuse them, as in statsmodels. Labels may be
        missing whatever this is.
    yes : label, sequence of one label a task, or dict by task, optional
        Which label is yes. Where left out: 1 and True; of two words the one that says so (yes,
        true, case, event, dead, positive, present, ... of no, false, control, none, alive,
        negative, absent, ...), else the later in the alphabet, upper and lower case alike; of
        two categories in an order of the user's the second.

    Attributes
    ----------
    endog_names, exog_names : list
        Names of the tasks; name of the intercept, then names of the features.
    nobs : int
        Rows with at least one observed label; groups of such rows in a survival model.
    n_rows, n_groups : int
        Rows with at least one observed label, and groups of them.
    n_dropped : int
        Rows left out by ``missing="drop"``.
    labels : list of (no, yes)
        The user's own labels of each task.
    tasks : TaskGraph
    scale : ndarray, shape (d,)
        Scale on which each feature is penalized: its standard deviation, or 1.
    outcome : outcomes.Outcome
        What the tasks model: binary tasks, or the steps of one ordered or survival outcome.

    Notes
    -----
    Penalties are added to a sum over rows, not to a mean: in glmnet's words
    ``l1 + l2`` is ``n * lambda`` and ``l1 / (l1 + l2)`` is ``alpha``. In the paper's
    letters ``l1``, ``l2`` and ``fusion`` are lambda1, lambda2 and nu.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> model = FusedLogit(Y, X)
    >>> model
    <FusedLogit: 4 tasks, 3 features, 400 rows>
    >>> model.fit(l1=5, l2=0, fusion=10).coefs.round(2)
           week4  week8  week12  week16
    age     0.92   0.92    0.90    0.90
    dose    0.00   0.00    0.89    0.89
    noise   0.00   0.00    0.00    0.00
    """

    def __init__(self, endog: Any, exog: Any, tasks: Any = "chain", weights: Any = None, offset: Any = None,
                 penalty_factors: Any = None, standardize: bool = True, fuse_intercepts: bool = False,
                 groups: Any = None, missing: Missing = "none", yes: Any = None, fusion_factors: Any = None,
                 adaptive: bool = False) -> None:
        self._build(Binary.read(endog, yes), endog, exog, tasks, weights, offset, penalty_factors, standardize,
                    fuse_intercepts, groups, missing, fusion_factors, adaptive)

    def _build(self, outcome: Outcome, endog: Any, exog: Any, tasks: Any = "chain", weights: Any = None,
               offset: Any = None, penalty_factors: Any = None, standardize: bool = True,
               fuse_intercepts: bool = False, groups: Any = None, missing: Missing = "none", fusion_factors: Any = None,
               adaptive: bool = False, formula: Formula | None = None) -> None:
        """Check and lay out what a user handed in."""
        drops = checks.word("missing", missing, MISSING) == "drop"
        found, features = outcome.labels(endog), read_exog(exog, drops)
        _refuse_other_rows(found, features.n_rows, features.index, outcome.argument)
        names, n = list(outcome.tasks), features.n_rows
        index = features.index if found.index is None else found.index
        labels = weighted(found.labels, weights, n, index, names)
        units = Groups.rows(weighted(found.labels.counted_once(), weights, n, index, names), n)
        shift, given = read_offset(offset, n, index, names), read_groups(groups, n, index)
        if features.kept is not None:
            kept = np.flatnonzero(features.kept)
            labels, index = labels.take(kept, n), None if index is None else index[kept]
            units = units.take(kept, labels)
            shift = None if shift is None else shift[kept]
        refuse_empty(labels, names)
        units = units if given is None else _given_groups(given, labels, features)
        standardize, factors = checks.flag("standardize", standardize), read_factors(penalty_factors, features.names)
        fused = read_factors(fusion_factors, features.names, "fusion_factors")
        scale = _scales(features.X, units.shares(labels)) if standardize else np.ones(features.X.shape[1])
        self.spec = Spec(outcome, tuple(features.names), formula, features.constant, standardize, shift is not None,
                         n - features.X.shape[0], drops, factors, fused, index)
        base = Penalty.factors(len(scale), factors, scale, checks.flag("fuse_intercepts", fuse_intercepts), fused)
        self.problem = adapted(Problem(Design(features.X, shift), labels, _task_graph(tasks, outcome), units, scale,
                                       base, base if checks.flag("adaptive", adaptive) else None))
        warn_collinear(features.X, features.names)

    # ---- other ways to build it --------------------------------------------------------------------------------------

    @classmethod
    def from_outcome(cls, outcome: Outcome, endog: Any, exog: Any, **kwargs: Any) -> Self:
        """A model of the tasks of any outcome.

        Parameters
        ----------
        outcome : outcomes.Outcome
        endog : what the outcome lays out as labels
        exog : array_like, shape (n, d)
        **kwargs
            The other arguments of ``FusedLogit``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> from fusedlr.outcomes import Ordered
        >>> _, X = datasets.weeks()
        >>> level = (X["age"] + X["noise"] > 0).astype(int) + (X["dose"] > 0)
        >>> outcome = Ordered.read(level, None, "cumulative", "forward")
        >>> FusedLogit.from_outcome(outcome, level, X[["age"]]).endog_names
        ['>0', '>1']
        """
        checks.result("outcome", outcome, ("kind", "tasks", "labels", "predict"), "an outcome, as in fusedlr.outcomes")
        model = cls.__new__(cls)
        model._build(outcome, endog, exog, **kwargs)
        return model

    @classmethod
    def from_formula(cls, formula: str, data: pd.DataFrame, task: Any = None, order: Any = None, levels: Any = None,
                     breaks: Any = None, causes: Any = None, kind: Kind = "sequential",
                     direction: Direction = "forward", yes: Any = None, **kwargs: Any) -> Self:
        """A model from a formula with the tasks on the left: ``"low + mid + high ~ age + C(site)"``.

        Parameters
        ----------
        formula : str
            In patsy's language. On the left stand tasks, which are fused in the order in which
            they are written and may each be any of the kinds of labels ``FusedLogit`` takes; or
            one column of labels with a ``task`` for each row (see ``from_long``); or one ordered
            outcome, a column with ``levels`` or an ordered categorical of more than two (see
            ``from_ordered``); or ``Surv(time, event)``, ``Surv(entry, time, event)`` or
            the same columns as ``time + event`` with ``breaks`` (see ``from_survival``).
        data : pandas.DataFrame
        task, order : as for ``from_long``, optional
            ``task`` may be the name of a column of ``data``.
        levels, kind, direction : as for ``from_ordered``, optional
        breaks, causes : as for ``from_survival``, optional
        yes : as for ``FusedLogit``, optional
        **kwargs
            The other arguments of ``FusedLogit``; ``weights``, ``offset`` and ``groups`` may be
            names of columns of ``data``.

        Notes
        -----
        A formula is code: every part of it is evaluated as Python and may call whatever is
        in sight, as in patsy and statsmodels. Take none from those whose code you would not run.

        A missing label leaves out this label, not the row as in statsmodels. A missing
        value on the right side is an error unless ``missing="drop"``. The intercept is
        always there; ``0 +`` only makes a first factor keep all of its levels, which
        suits penalized fits.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit.from_formula("week4 + week8 + week12 ~ age + dose", X.join(Y)).fit(l1=5, l2=0, fusion=10)
        >>> fit.coefs.round(2)
              week4  week8  week12
        age    0.92   0.92    0.89
        dose   0.00   0.00    0.89
        """
        plain = split_surv(formula)
        if plain is not formula and breaks is None:
            raise ValueError("breaks is needed with Surv(...): a number of intervals, or their ends")
        drop = checks.word("missing", kwargs.get("missing", "none"), MISSING) == "drop"
        data = frames.plain("data", data)
        parsed = Formula(plain, data, calling_environment(depth=2), drop)
        given = {**kwargs, "task": task}
        named = {name: column(name, given[name], data, "data") for name in ("weights", "offset", "groups", "task")
                 if isinstance(given.get(name), str)}
        task, given = named.pop("task", task), {**kwargs, **named}
        outcome, endog = _left_side(parsed.endog, task, order, levels, breaks, causes, given.get("groups"), kind,
                                    direction, yes)
        return cls.from_outcome(outcome, endog, parsed.exog, formula=parsed.without_data(), **given)

    @classmethod
    def from_long(cls, endog: Any, exog: Any, task: Any, order: Any = None, yes: Any = None, **kwargs: Any) -> Self:
        """A model of rows that have one label and one task each: age bands, years, doses, visits, regions.

        Parameters
        ----------
        endog : array_like, shape (n,)
            One column of labels, of any of the kinds that ``FusedLogit`` takes; the two labels
            are the same in all tasks.
        exog : array_like, shape (n, d)
        task : array_like, shape (n,)
            The task of each row. Numbers and dates are put in their order, ordered categories
            in theirs.
        order : sequence, optional
            Names of the tasks, first to last; needed where ``task`` holds words.
        yes : label, optional
            As for ``FusedLogit``, the same in all tasks.
        **kwargs
            The other arguments of ``FusedLogit``: ``tasks`` may be a graph over the names of the
            tasks; ``groups`` says which rows belong to one person.

        Notes
        -----
        A varying-coefficient logistic regression: coefficients are piecewise constant over tasks.
        ``predict(X, task=...)`` gives one probability for each row, without ``task`` a table over
        all tasks.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> long = Y.stack().reset_index(name="yes")
        >>> long.columns = ["person", "week", "yes"]
        >>> rows = X.loc[long["person"]].reset_index(drop=True)
        >>> model = FusedLogit.from_long(long["yes"], rows, task=long["week"], order=list(Y), groups=long["person"])
        >>> model
        <FusedLogit: 4 tasks, 3 features, 1600 rows>
        >>> model.fit(l1=5, l2=0, fusion=10).coefs.round(2)
               week4  week8  week12  week16
        age     0.92   0.92    0.90    0.90
        dose    0.00   0.00    0.89    0.89
        noise   0.00   0.00    0.00    0.00
        """
        rows = LongLabels.read(endog, task)
        return cls.from_outcome(Binary.read_long(rows, order, yes), rows, exog, **kwargs)

    @classmethod
    def from_ordered(cls, endog: Any, exog: Any, levels: Any = None, kind: Kind = "sequential",
                     direction: Direction = "forward", **kwargs: Any) -> Self:
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
            Sequential (continuation ratio): each task asks "beyond this level, given that it was
            reached?", of the rows that reached it. The likelihoods of the tasks multiply to that
            of the levels, and level probabilities are never negative. Cumulative: each task asks
            "above this level?" of every row, as in the proportional-odds model; fitted cumulative
            probabilities can cross, and are then sorted with a ``CrossingWarning``.
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

        Examples
        --------
        >>> import numpy as np
        >>> from fusedlr import FusedLogit, datasets
        >>> _, X = datasets.weeks()
        >>> level = np.digitize(X["age"] + X["dose"] * (X["age"] > 0) + X["noise"], [-1, 0, 1])
        >>> fit = FusedLogit.from_ordered(level, X[["age", "dose"]]).fit(l1=1, l2=0, fusion=10)
        >>> fit.coefs.round(2)
                >0    >1    >2
        age   1.22  1.22  1.22
        dose  0.52  0.66  0.66
        >>> fit.predict(X.head(2), which="levels").round(2)
              0     1     2     3
        0  0.13  0.22  0.30  0.36
        1  0.51  0.34  0.13  0.02
        """
        return cls.from_outcome(Ordered.read(endog, levels, kind, direction), endog, exog, **kwargs)

    @classmethod
    def from_survival(cls, time: Any, event: Any, exog: Any, breaks: Any, entry: Any = None, causes: Any = None,
                      **kwargs: Any) -> Self:
        """A discrete-time survival model: a chain of intervals, each a task, "did the event occur in it?".

        Parameters
        ----------
        time : array_like, shape (n,)
            Time of the event, or of censoring.
        event : array_like of bool or 0/1, shape (n,)
            Whether the event occurred; 0 where the row was censored. With ``causes``, the code of
            the cause. With recurrent events, a person has a row for each spell between them.
        exog : array_like, shape (n, d)
            Features during the row's follow-up. With time-varying features a person has several
            consecutive rows, each with its ``entry``, and ``groups`` identifies the person.
        breaks : int or sequence of float
            Ends of the intervals, such as ``range(1, 13)`` for twelve years; or how many
            intervals, with about as many events each. The first begins at 0; where all rows
            enter later, at the first of the breaks given, or, by number, at the first entry.
        entry : array_like, shape (n,), optional
            Start of follow-up (left truncation, delayed entry); 0 where left out.
        causes : sequence, or dict of names, optional
            Codes in ``event`` of competing risks, as ``[1, 2]`` or
            ``{1: "progression", 2: "death"}``: a chain of intervals for each cause.
        **kwargs
            The other arguments of ``FusedLogit``. With ``fuse_intercepts=False``, the default,
            the baseline hazard is free in every interval; with True it is fused too.

        Notes
        -----
        The coefficients are log odds ratios of the discrete hazard. The data are laid out as
        person-periods: a row has a label in every interval in which it was at risk. An event is 1
        with weight 1; intervals are closed on the right. An interval survived is 0, weighted by the
        share of it at risk. Events outside the breaks are left out; a ``LeftOutWarning`` counts them.

        This is the discrete-time likelihood where rows enter and leave at breaks, and an
        approximation with entry or censoring inside an interval: hazards are biased slightly
        downwards. Measured at constant rates: by 0.5 % where a quarter of the rows is censored in an
        interval and the hazard in it is 0.2, by 1.1 % where half are censored, by 2.2 % where the
        hazard is 0.4 too; the same where so many enter late. Leaving such rows out instead makes
        cumulative incidence 3 to 11 % too large. A person whose row is split inside the interval of
        the event adds the part before the split: with all persons split in its middle a hazard of
        0.2 is 4.5 % too small. All of this shrinks with the length of the intervals. Splitting a row
        elsewhere changes nothing, if ``groups`` identifies the person.

        Competing risks: the cause-specific hazard is the probability of an event of this cause in an
        interval given no event of any cause before; an event of another cause is 0 with weight 1.
        Cumulative incidence is the Aalen-Johansen estimator: the sum of the cause's hazards times
        event-free survival. Where fitted hazards of all causes sum to more than 1 they are divided
        by their sum, with a ``CrossingWarning``. Coding other causes as censored (event 0) gives 1
        minus survival in a world without them, which overestimates the cumulative incidence.

        With a large ``fusion`` effects are constant over time, as in the proportional-odds hazard
        model; ``fusion`` decides how far to go there. ``predict`` takes ``which="hazard"``,
        ``"survival"``, ``"incidence"`` and ``"median"`` too, the first and third with ``cause=``.
        Scores: ``outcomes.out_of_fold_scores`` and ``survival_scores``.

        Examples
        --------
        >>> import numpy as np
        >>> from fusedlr import FusedLogit, datasets
        >>> _, X = datasets.weeks()
        >>> time = np.random.default_rng(1).exponential(np.exp(-X["age"]))
        >>> event = time < 2
        >>> model = FusedLogit.from_survival(np.minimum(time, 2), event, X, breaks=[0.5, 1, 1.5, 2])
        >>> fit = model.fit(l1=5, l2=0, fusion=20)
        >>> fit.effects().round(2)
                 start  end  coef  constant
        feature
        age        0.0  2.0  0.91      True
        dose       0.0  2.0  0.05      True
        noise      0.0  2.0  0.00      True
        >>> fit.predict(X.head(2), which="survival").round(2)
        time   0.5   1.0   1.5   2.0
        0     0.47  0.24  0.13  0.06
        1     0.80  0.66  0.55  0.45
        """
        outcome, times = _survival(time, event, entry, breaks, causes, kwargs.get("groups"))
        return cls.from_outcome(outcome, times, exog, **kwargs)

    def penalty_limits(self) -> PenaltyLimits:
        """Smallest l1 at which every coefficient is zero, and smallest fusion at which all tasks are equal.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> limits = FusedLogit(Y, X).penalty_limits()
        >>> round(limits.l1, 1), round(limits.fusion, 1)
        (88.9, 79.3)
        """
        return penalty_limits(self.with_data())

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def fit(self, l1: Any = None, l2: Any = 0.0, fusion: Any = None, method: Method = "newton",
            tol: float | None = None, max_iter: int | None = None) -> FusedLogitResults:
        """Fit at one set of penalties.

        Parameters
        ----------
        l1, l2, fusion : float, array_like of shape (1 + d,), or Series by feature name
            Not negative. In a vector the intercept comes first; its l1 and l2 are 0, and so
            is its fusion where ``fuse_intercepts=False``. ``fit_cv`` chooses them from the data.
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

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit
        <FusedLogitResults: l1=5, l2=0, fusion=10; 7 distinct values, optimal>
        >>> fit.params.round(2)
               week4  week8  week12  week16
        const   0.00  -0.05    0.01   -0.02
        age     0.92   0.92    0.90    0.90
        dose    0.00   0.00    0.89    0.89
        noise   0.00   0.00    0.00    0.00
        """
        method = checks.word("method", method, get_args(Method))
        exactly = tol is None and method == "newton"
        wanted, limit = _stopping(1e-6 if tol is None else tol, max_iter)
        fusion = 0.0 if fusion is None and len(self.endog_names) == 1 else fusion
        if l1 is None or fusion is None:
            absent = " and ".join(name for name, value in {"l1": l1, "fusion": fusion}.items() if value is None)
            raise TypeError(f"{absent} must be given, 0 for no such penalty; fit_cv() chooses penalties from the data")
        penalty, problem = self.penalty_by_row(l1, l2, fusion), self.with_data()
        self._warn_one_class()
        if exactly:
            wanted, solution = ACCEPTED, solve_exactly(problem, penalty, **limit)
        else:
            solve: Any = solve_newton if method == "newton" else solve_admm
            solution = solve(problem, penalty, tol=wanted, **limit)
        warn_status(solution, wanted, problem, self.endog_names)
        return FusedLogitResults(self, solution, {"l1": l1, "l2": l2, "fusion": fusion}, method, wanted)

    def fit_grid(self, l1: Any, l2: Any, fusion: Any, tol: float = 1e-6, max_iter: int | None = None,
                 n_jobs: int | None = None, progress: bool = True) -> Grid:
        """Fit at every combination of the penalties given, with warm starts.

        Parameters
        ----------
        l1, l2, fusion : sequence of float
        tol : float
            Relative duality gap of every point; ``results(i)`` solves its point exactly.
        max_iter : int, optional
        n_jobs, progress : as for ``fit_cv``; a small problem uses one thread

        Returns
        -------
        Grid

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> grid = FusedLogit(Y, X).fit_grid(l1=[2, 8], l2=[0], fusion=[1, 10])
        >>> grid.table[["l1", "fusion", "nonzeros", "df"]]
            l1  fusion  nonzeros  df
        0  2.0     1.0         9  13
        1  2.0    10.0        10   8
        2  8.0     1.0         6  10
        3  8.0    10.0         6   7
        """
        tol, limit = _stopping(tol, max_iter)
        self._warn_one_class()
        return fit_grid(self, l1, l2, fusion, tol=tol, progress=progress, n_jobs=n_jobs, **limit)

    def fit_cv(self, folds: Any = 5, rule: Rule = "min", metric: str = "logloss", rng: Any = 0, l1: Any = None,
               l2: Any = None, fusion: Any = None, by: By = "cv", tol: float = 1e-6, n_jobs: int | None = None,
               progress: bool = True, repeats: int = 1, executor: Executor | None = None) -> CVResults:
        """Choose the penalties by cross-validation or an information criterion, and fit there.

        Parameters
        ----------
        folds : int, array_like of shape (n,), splitter, or iterable of (train, test)
            Number of folds, stratified by the labels of all tasks, no group split; or the fold of
            each row; or a scikit-learn splitter or its (train, test) pairs, each row held out once.
        rule : "min" or "1se"
            The point with the best mean over folds, or the most penalized one within one standard
            error of it, the standard error of the paired difference by rows (or groups). "1se" gives
            simpler fits; it drops and ties small effects and changes first.
        metric : "logloss", "error" or "auc"
            The held-out score: mean negative log-likelihood, misclassification rate, or area under
            the ROC curve (mean over tasks); "rps" of an ordered outcome.
        rng : int, SeedSequence, Generator or None
            Draws the folds; the same number gives the same folds, None other ones each time.
        l1, l2, fusion : float or sequence of float, optional
            The grid; chosen to suit the data where left out (see ``tuning.default_penalties``).
        by : "cv", "aic", "bic" or "ebic"
            Cross-validation, or an information criterion of the fits on all rows, without folds.
        tol : float
            Relative duality gap of every fit.
        n_jobs : int, optional
            Number of threads, one for each core where left out; the numbers do not depend on it.
        progress : bool
            Show a bar after two seconds, in a terminal or a notebook, where tqdm is installed.
        repeats : int
            How often to draw folds; scores are means over all repeats.
        executor : concurrent.futures.Executor, optional
            Does the work instead of threads: other processes, MPI, or the executor of a Dask client.
            The numbers are the same. Needs ``by="cv"`` and no ``n_jobs``.

        Returns
        -------
        CVResults

        Notes
        -----
        Equal scores are resolved as in ``Grid.select``. A fold in which
        a task has lost one of its labels, or all, is fitted and scored like any other.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
        >>> cv
        <CVResults: 270 points by 5 folds, logloss, rule min; chosen l1=1.915, l2=0, fusion=4.108>
        >>> cv.coefs.round(2)
               week4  week8  week12  week16
        age     1.03   1.03    0.94    0.94
        dose   -0.00  -0.00    1.00    1.00
        noise   0.01   0.01    0.01    0.01
        """
        self._warn_one_class()
        return fit_cv(self, folds, rule, metric, rng, l1, l2, fusion, by, tol, n_jobs, progress, repeats,
                      executor)

    def _warn_one_class(self) -> None:
        warn_one_class(self.with_data().labels, self.endog_names, self.labels, self.fuse_intercepts)


def _stopping(tol, max_iter):
    """A tolerance, and the limit on steps where the user gave one."""
    tol = checks.tolerance("tol", tol, "it is a relative duality gap such as 1e-6")
    if max_iter is None:
        return tol, {}
    return tol, {"max_iter": checks.whole("max_iter", max_iter, 1, 10**9, way_out="None takes the solver's own limit")}


def _survival(time: Any, event: Any, entry: Any, breaks: Any, causes: Any, groups: Any) -> tuple[Outcome, Times]:
    """The survival outcome, of one cause or competing risks, and the times."""
    named = None if causes is None else read_causes(causes)
    times = Times.read(time, event, entry, named)
    given = read_groups(groups, len(times.time), times.index)
    if given is not None:
        times.refuse_overlaps(*given)
    if named is None:
        return Survival.read(times, breaks), times
    return CompetingRisks.read(times, breaks, named), times


def _left_side(endog: pd.DataFrame, task: Any, order: Any, levels: Any, breaks: Any, causes: Any, groups: Any,
               kind: Kind, direction: Direction, yes: Any) -> tuple[Outcome, Any]:
    """The outcome that the left side of a formula means, and what it lays out as labels."""
    columns = [endog.iloc[:, k] for k in range(endog.shape[1])]
    checks.word("kind", kind, get_args(Kind)), checks.word("direction", direction, get_args(Direction))
    ordered = levels is not None or (len(columns) == 1 and _is_ordered(columns[0]))
    if sum(given is not None for given in (task, levels, breaks)) > 1:
        raise ValueError("task, levels and breaks go with three kinds of outcomes (rows of one task each, ordered "
                         "levels, times to an event), found more than one of them")
    for name, given, needed, there in (("order", order, "task", task), ("causes", causes, "breaks", breaks)):
        if given is not None and there is None:
            raise ValueError(f"{name} goes with {needed}, found {checks.shown(given)} without it")
    if task is not None:
        if len(columns) != 1:
            raise ValueError(f"formula must have one column of labels on its left side to go with task, found "
                             f"{list(endog.columns)}")
        rows = LongLabels.read(columns[0], task)
        return Binary.read_long(rows, order, yes), rows
    if yes is not None and (breaks is not None or ordered):
        raise ValueError("yes goes with yes/no labels, found it with levels or breaks, where yes is the higher level "
                         "or the event")
    if breaks is not None:
        if len(columns) not in (2, 3):
            raise ValueError("formula must have a time and an event on its left side to go with breaks, as in "
                             f"Surv(time, event), found {list(endog.columns)}")
        entry = columns[0] if len(columns) == 3 else None
        return _survival(columns[-2], columns[-1], entry, breaks, causes, groups)
    if not ordered:
        return Binary.read(endog, yes, stacklevel=6), endog
    if len(columns) != 1:
        raise ValueError(f"formula must have one ordered outcome on its left side to go with levels, found "
                         f"{list(endog.columns)}")
    return Ordered.read(columns[0], levels, kind, direction), columns[0]


def _is_ordered(values: pd.Series) -> bool:
    """Whether a column can mean nothing but one ordered outcome."""
    return isinstance(values.dtype, pd.CategoricalDtype) and values.cat.ordered and len(values.cat.categories) > 2


def _refuse_other_rows(found: LabelledRows, n_rows: int, index: pd.Index | None, name: str) -> None:
    """Refuse labels and features that are not of the same rows."""
    if found.n_rows != n_rows:
        raise ValueError(f"{name} must have one row for each of the {n_rows} rows of exog, found {found.n_rows}")
    checks.check_index(found.index, index, "exog", name)


def _task_graph(tasks: Any, outcome: Outcome) -> TaskGraph:
    """The graph that a user means by ``tasks``."""
    if isinstance(tasks, str) and tasks == "chain":
        return outcome.graph()
    names = list(outcome.tasks)
    graph = TaskGraph.build(tasks, len(names), names)
    if graph.names is not None and list(graph.names) != names:
        raise ValueError(f"tasks is a TaskGraph of {list(graph.names)}, but the columns of endog are {names}; "
                         "names and their order must be the same")
    refuse_extreme("tasks (edges): weights of edges", graph.weights)
    return graph


def _given_groups(given: tuple[np.ndarray, str], labels: Labels, features: Features) -> Groups:
    """The user's groups of the rows that are kept."""
    code, word = given
    return Groups.given(code if features.kept is None else code[features.kept], word, labels)


def _scales(X: Matrix, times: np.ndarray) -> np.ndarray:
    """Weighted standard deviation of each column; 1 where it is constant, shape (d,)."""
    found = column_scales(X, times)
    return np.where(found > 0, found, 1.0)
