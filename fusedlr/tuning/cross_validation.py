"""Tuning of the penalties by cross-validation or information criteria."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from .. import checks
from ..adaptive import adapted
from ..base import Model
from ..constrained_fit import effective_df, log_choose
from ..exceptions import ConvergenceWarning, FusedLogitWarning, SeparationWarning
from ..frames import index_of
from ..io import NONE, SHARE, TEXT, Array, Nested, Plain, either, listed, position, registered, saved, word
from ..metrics import PENALTIES, choose, linear_predictor, one_standard_error
from ..objective import sigmoid
from ..parallel import run
from ..resampling import fold_shares, splits_weights
from ..results import FusedLogitResults
from ..scores import score_table
from ..solver import Path, separated_tasks, solve_exactly, solve_path
from .default_grid import default_penalties
from .fold_scores import FoldScores
from .grid import Grid, distinct, fit_grid, warn_edge

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["By", "CVResults", "Rule", "fit_cv"]

Rule = Literal["min", "1se"]
By = Literal["cv", "aic", "bic", "ebic"]


def fit_cv(model: Model, folds: Any = 5, rule: Rule = "min", metric: str = "logloss", rng: Any = 0, l1: Any = None,
           l2: Any = None, fusion: Any = None, by: By = "cv", tol: float = 1e-6, n_jobs: int | None = None,
           progress: bool = True, repeats: int = 1, executor: Executor | None = None) -> CVResults:
    """Choose the penalties and fit there; arguments as for ``FusedLogit.fit_cv``."""
    by, rule = checks.word("by", by, get_args(By)), checks.word("rule", rule, get_args(Rule))
    metric = checks.word("metric", metric, model.metrics)
    if by != "cv" and rule == "1se":
        raise ValueError(f"rule='1se' needs standard errors, and by={by!r} has none; use by='cv' or rule='min'")
    if by != "cv" and executor is not None:
        raise ValueError(f"executor must be left out with by={by!r}, which has no folds to hand over")
    tol, rng = checks.tolerance("tol", tol), checks.rng(rng)
    lists = _penalty_lists(model, {"l1": l1, "l2": l2, "fusion": fusion})
    if by == "cv":
        parts = _parts(model, folds, repeats, rng)
        grid, scores = _grid_and_scores(model, lists, parts, repeats, metric, tol, n_jobs, progress, executor)
    else:
        grid, scores = fit_grid(model, **lists, tol=tol, progress=progress, n_jobs=n_jobs), None
    found = _cv_results(grid, scores, rule, metric, by)
    _warn_chosen(found, [name for name, value in {"l1": l1, "l2": l2, "fusion": fusion}.items() if value is not None])
    return found


@registered("cv")
@dataclass(eq=False, repr=False, kw_only=True)
class CVResults(FusedLogitResults):
    """The fit at the chosen penalties, and the scores of every point of the grid.

    Attributes
    ----------
    path : solver.Path
        The fits on all rows.
    columns : list of str
        Names of the scores.
    point_scores : ndarray, shape (g, number of columns)
    best : int
        Row of ``table`` with the best mean (or lowest criterion).
    one_se : int or None
        Row chosen by the one-standard-error rule.
    parts : ndarray, shape (repeats times number of folds, n), or None
        Share of each row that is held out in each fold: 1 in one fold, unless its frequency weight
        was split over folds.
    repeats : int
        How often folds were drawn.
    fold_scores : ndarray, shape (repeats times number of folds, g), or None
        The metric in each fold.
    rule, metric, by : str
    grid_tol : float
        Relative duality gap that every point of the grid was solved to.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
    >>> cv
    <CVResults: 270 points by 5 folds, logloss, rule min; chosen l1=1.915, l2=0, fusion=4.108>
    >>> cv.table.shape, cv.chosen
    ((270, 11), 140)
    """

    path: Path = saved(Nested(Path))
    columns: list = saved(Plain(listed(TEXT, "columns")))
    point_scores: np.ndarray = saved(Array(("g", "columns")))
    best: int = saved(Plain(position("g")))
    one_se: int | None = saved(Plain(either(NONE, position("g"))))
    parts: np.ndarray | None = saved(Array(("parts", "rows of the fit"), least=0, optional=True))
    repeats: int = saved()
    fold_scores: np.ndarray | None = saved(Array(("folds", "g"), optional=True))
    rule: str = saved(Plain(word(*get_args(Rule))))
    metric: str = saved()
    by: str = saved(Plain(word(*get_args(By))))
    grid_tol: float = saved(Plain(SHARE))

    @property
    def folds(self) -> np.ndarray | None:
        """Fold of each row (of the first repeat, the one that holds most of it), ndarray of int (n,); or None."""
        return None if self.parts is None else self.parts[:self.n_folds].argmax(axis=0)

    @property
    def n_folds(self) -> int:
        """Number of folds; 0 by a criterion."""
        return 0 if self.parts is None else len(self.parts) // self.repeats

    @property
    def grid(self) -> Grid:
        """The fits on all rows, Grid."""
        return Grid(self.model, self.path, self.grid_tol)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each point.

        l1, l2, fusion; by cross-validation the ``mean`` of the metric over folds (weighted by
        their labels), ``se``, its standard error from the spread over folds, ``se_difference``, the
        standard error of the paired difference to the best point by rows (or groups), used by
        rule "1se", and the means ``logloss`` and ``error`` (and of another metric); or by a criterion
        ``df_effective``, ``aic`` and ``bic``; then ``df``, ``nonzeros`` and ``status`` of the fit on all rows.
        """
        grid = self.grid.table
        return pd.DataFrame({**{name: grid[name] for name in PENALTIES}, **dict(zip(self.columns, self.point_scores.T)),
                             **{name: grid[name] for name in ("df", "nonzeros", "status")}})

    @property
    def chosen(self) -> int:
        """Row that ``rule`` chose."""
        return _chosen(self.best, self.one_se, self.rule)

    @cached_property
    def fold_params(self) -> list[np.ndarray]:
        """Fits at the chosen penalties on all but one fold, ndarray (1 + d, t) for each of ``parts``."""
        problem = self.model.with_data()
        if self.parts is None:
            raise ValueError(f"folds are needed for this, and by={self.by!r} has none; use by='cv'")
        kept = (adapted(problem.reweighted(1.0 - part)) for part in self.parts)
        return [solve_exactly(part, part.penalty(**self.penalties), start=self.solution.params).params for part in kept]

    @property
    def fold_probabilities(self) -> np.ndarray:
        """Probability of yes of each label by the fits without its row, ndarray (m,); see ``out_of_fold``."""
        problem = self.model.with_data()
        return self._held_out(lambda share, params: share[problem.labels.row] * sigmoid(problem.linear(params)))

    def out_of_fold(self) -> pd.DataFrame | pd.Series:
        """Probabilities of yes in the rows of the fit, each by the fit at the chosen penalties without its fold.

        Means over repeats. The same folds chose the penalties, so scores of these probabilities
        are slightly optimistic.

        Returns
        -------
        DataFrame, shape (n, t)
            A Series, shape (n,), where each row has one task.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
        >>> cv.out_of_fold().head(2).round(2)
           week4  week8  week12  week16
        0   0.58   0.57    0.75    0.75
        1   0.23   0.22    0.43    0.43
        """
        if self.model.outcome.long:
            return self._by_label(self.fold_probabilities)
        design = self.model.with_data().design
        table = self._held_out(lambda share, params: share[:, None] * sigmoid(design.table(params)))
        return self.model.spec.table(table, self.model.index)

    def _held_out(self, predict: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Mean over repeats of what the fits predict, from the share of each row in a fold and the fit without it."""
        total: Any = 0.0
        for part, params in zip([] if self.parts is None else self.parts, self.fold_params):
            total = total + predict(part, params)
        return total / self.repeats

    def scores(self) -> pd.DataFrame:
        """Scores of the out-of-fold probabilities by task, with standard errors by rows or groups.

        Returns
        -------
        DataFrame
            See ``scores.score_table``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
        >>> cv.scores()[["logloss", "auc"]].round(2)
                logloss   auc
        week4      0.59  0.74
        week8      0.59  0.76
        week12     0.55  0.79
        week16     0.55  0.79
        all        0.57  0.77
        """
        chance, problem = np.clip(self.fold_probabilities, 1e-15, 1 - 1e-15), self.model.problem
        return score_table(problem.labels, np.log(chance / (1 - chance)), problem.groups, self.model.endog_names)

    def summary(self, max_rows: int | None = 40, title: str | None = None) -> Summary:
        """A statsmodels ``Summary``: the fit, then the best points and which of them was taken.

        Parameters
        ----------
        max_rows, title : as for ``FusedLogitResults.summary``

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
        >>> print(str(cv.summary()).splitlines()[0].strip())
        Fused logistic regression
        """
        from ..summary import summarize_cv

        return summarize_cv(self, max_rows, title)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores over l1 and fusion; see ``plots.cv_surface``, and ``plots.coef_map`` for the fit.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
        >>> ax = cv.plot()
        """
        from ..plots import cv_surface

        return cv_surface(self, ax=ax)

    def __str__(self) -> str:
        from ..summary import summarize_choice

        return summarize_choice(self).as_text()

    def check_loaded(self) -> None:
        """Refuse scores and penalties of a file that the choice could not have been made from, or have led to."""
        super().check_loaded()
        point = dict(zip(PENALTIES, self.path.points[self.chosen].tolist()))
        if self.penalties != point:
            raise ValueError(f"penalties must be those of the chosen point, {point}, found {self.penalties}")
        if (self.by == "cv") != (self.folds is not None) or (self.folds is None) != (self.fold_scores is None):
            raise ValueError(f"folds and fold_scores must be there by cross-validation only, found by {self.by!r}")
        needed = ["mean", "se", "se_difference"] if self.by == "cv" else ["aic", "bic", "ebic"]
        if len(set(self.columns)) < len(self.columns) or not set(needed) <= set(self.columns):
            raise ValueError(f"columns must hold {', '.join(needed)}, and no name twice, found {self.columns}")
        if self.repeats < 1 or (self.parts is not None and len(self.parts) % self.repeats):
            raise ValueError(f"repeats must divide the number of parts, found {self.repeats}")
        if self.metric not in self.model.metrics:
            raise ValueError(f"metric must be one of {', '.join(self.model.metrics)}, found {self.metric!r}")

    def __repr__(self) -> str:
        point = ", ".join(f"{name}={value:.4g}" for name, value in self.penalties.items())
        how = self.by if self.parts is None else f"{folds_text(self)}, {self.metric}, rule {self.rule}"
        return f"<CVResults: {len(self.table)} points by {how}; chosen {point}>"


def _grid_and_scores(model, lists, parts, repeats, metric, tol, n_jobs, progress, executor):
    """The grid on all rows and the scores of the folds, side by side."""
    points = np.array(list(product(*lists.values())))
    metrics = {name: model.metrics[name].score for name in ("logloss", "error", metric)}
    whole = partial(solve_path, model.problem, points, tol)
    score = partial(_score_fold, model.problem, points, list(metrics.values()), tol)
    # The grid, which has the most rows, goes first.
    work = [whole, *(partial(score, part) for part in parts)]
    path, *folds = run(_call, work, n_jobs, progress, "folds", executor)
    tables, weights, scores = zip(*folds)
    held = FoldScores(model.problem, parts, repeats, list(tables), np.array(weights),
                      dict(zip(metrics, map(np.array, zip(*scores)))))
    return Grid(model, path, tol), held


def _call(work):
    return work()


def _score_fold(problem, points, metrics, tol, part):
    """Fits on all but one fold, total weight of the fold, and its scores by these fits, one (g,) for each metric."""
    tables = solve_path(adapted(problem.reweighted(1.0 - part)), points, tol).tables
    held = problem.labels.some(part[problem.labels.row] > 0).times(part)
    return tables, held.weight.sum(), [score(tables, problem.design, held) for score in metrics]


def _cv_results(grid, scores, rule, metric, by):
    model, one_se, table = grid.model, None, grid.table[[*PENALTIES, "df"]]
    if scores is None:
        columns = _criteria(model.problem, model.outcome, grid)
        best = choose(table, columns[by], np.zeros(len(table)))
    else:
        columns, best = _scored(scores, table, metric, model.metrics)
        one_se = one_standard_error(table.assign(**columns), best, model.metrics[metric])
    fit = grid.results(_chosen(best, one_se, rule))
    parts, fold_scores = (None, None) if scores is None else (scores.parts, scores.of(metric))
    return CVResults(model=model, solution=fit.solution, penalties=fit.penalties, method=fit.method, tol=fit.tol,
                     path=grid.path, columns=list(columns), point_scores=np.column_stack(list(columns.values())),
                     best=best, one_se=one_se, parts=parts, repeats=1 if scores is None else scores.repeats,
                     fold_scores=fold_scores, rule=rule, metric=metric, by=by, grid_tol=grid.tol)


def _scored(scores, table, metric, metrics):
    """Columns of the table by cross-validation, and the best point."""
    judge, means = metrics[metric], {name: scores.mean(name) for name in scores.scores}
    best = choose(table, judge.cost(means[metric]), metrics[judge.tie_breaker].cost(means[judge.tie_breaker]))
    return {"mean": means[metric], "se": scores.standard_error(metric),
            "se_difference": scores.paired_error(metric, judge, best), **means}, best


def _chosen(best, one_se, rule):
    return best if one_se is None or rule != "1se" else one_se


def _criteria(problem, outcome, grid):
    """Effective df, AIC, BIC and extended BIC of the fit at every point."""
    df = np.array([effective_df(problem, params, problem.penalty(*point))
                   for params, point in zip(grid.path.tables, grid.path.points)])
    deviance = np.array([-2 * outcome.loglike(problem.labels, linear_predictor(problem.design, problem.labels, params))
                         for params in grid.path.tables])
    bic = deviance + np.log(problem.groups.size) * df
    kept = np.array([params[1:].any(axis=1).sum() for params in grid.path.tables])
    return {"df_effective": df, "aic": deviance + 2 * df, "bic": bic,
            "ebic": bic + 2 * log_choose(problem.n_features, kept)}


def _binding(found, name):
    """Whether the next value inside the grid is worse than a chosen end by more than two standard errors."""
    table, chosen = found.table, found.chosen
    others = [other for other in PENALTIES if other != name]
    line = table[(table[others] == table[others].iloc[chosen]).all(axis=1)].sort_values(name)
    place = line.index.get_loc(chosen)
    if len(line) == 1 or place not in (0, len(line) - 1):
        return False
    inside = line.index[1 if place == 0 else -2]
    if found.by != "cv":
        return bool(table[found.by][inside] - table[found.by][chosen] > 2.0)
    cost = found.model.metrics[found.metric].cost(table["mean"])
    return bool(cost[inside] - cost[chosen] > 2 * table["se_difference"][inside])


def _warn_chosen(found, given):
    """Warn of problems at the chosen point only; other points of the grid may be extreme."""
    status = found.table["status"].iloc[found.chosen]
    point = ", ".join(f"{name}={value:.4g}" for name, value in found.penalties.items())
    ends = [name for name in PENALTIES if name in given or _binding(found, name)]  # a default list ends where it should
    warn_edge(found.grid, found.chosen, ends, stacklevel=5)
    if status == "separated":
        model = found.model
        tasks = separated_tasks(model.problem, found.solution.params, model.endog_names)
        warnings.warn(f"the chosen fit ({point}) has no finite minimiser: the labels of {tasks} are separated by the "
                      "features, or all the same; leave l1 = l2 = 0 out of the grid, and drop tasks whose labels are "
                      "all the same", SeparationWarning, stacklevel=4)
    elif status != "optimal":
        warnings.warn(f"the chosen fit ({point}) stopped before its duality gap reached tol; fit it again with a "
                      "larger max_iter, or raise tol", ConvergenceWarning, stacklevel=4)


def folds_text(cv: CVResults) -> str:
    """How many folds there are, and how often they were drawn."""
    return f"{cv.n_folds} folds" + f" x {cv.repeats}" * (cv.repeats > 1)


def _parts(model, folds, repeats, rng):
    """Share of each row in each fold, shape (repeats times number of folds, n)."""
    repeats = checks.whole("repeats", repeats, 1, 1000)
    drawn = isinstance(folds, Real) and not isinstance(folds, bool)
    if repeats > 1 and not drawn:
        raise ValueError(f"repeats={repeats} draws folds anew, and these were given; use a number of folds")
    rng = np.random.default_rng(rng)
    return np.concatenate([_parts_once(model, folds, drawn, rng) for _ in range(repeats)])


def _parts_once(model, folds, drawn, rng):
    """Share of each row in each fold, shape (number of folds, n)."""
    problem = model.with_data()
    if drawn:
        unit = problem.groups.word
        number = checks.whole("folds", folds, 2, model.n_groups if unit != "row" else problem.n_rows,
                              f"it is a number of folds, at most one for each {unit}")
        if not splits_weights(problem.groups):
            _warn_heavy(model, number)
        return fold_shares(problem.labels, problem.groups, number, rng)
    fold = _fold_of_rows(model, problem, folds)
    return (fold == np.arange(fold.max() + 1)[:, None]).astype(float)


def _warn_heavy(model, folds):
    """Warn of a row with more of a task's weight than a fold should hold."""
    labels, whole = model.problem.labels, model.problem.groups.are_whole
    total = labels.sums(labels.weight)
    share = max(float(labels.weight[part].max() / sum_) for part, sum_ in zip(labels.parts, total) if sum_ > 0)
    if share > 1 / folds and (not whole or labels.weight.max() > 1):
        warnings.warn(f"one row holds {share:.0%} of the weight of a task, and weights are not split over folds unless "
                      "they are whole numbers and there are no groups: the fold with that row is scored by a fit "
                      "without it; give such data as rows", FusedLogitWarning, stacklevel=8)


def _fold_of_rows(model, problem, folds):
    """Fold of each row, shape (n,), as a user gave it."""
    if hasattr(folds, "split") and not isinstance(folds, (str, bytes)):
        folds = folds.split(np.zeros((problem.n_rows, 1)), _stratum(problem), problem.groups.by_row)
    if isinstance(folds, Iterator) or _are_pairs(folds):
        return _fold_of_pairs(problem, folds)
    checks.check_index(index_of(folds), model.index, "folds")
    return _given_folds(problem, folds)


def _stratum(problem):
    """One label for each row, for splitters that want one: its share of yes, in four steps."""
    labels, n = problem.labels, problem.n_rows
    total = np.maximum(labels.by_row(labels.weight, n), 1e-300)
    return np.ceil(3 * labels.by_row(labels.weight * labels.yes, n) / total).astype(int)


def _are_pairs(folds):
    """Whether folds are pairs of the rows to fit and the rows to score."""
    return isinstance(folds, (list, tuple)) and all(isinstance(pair, (list, tuple)) and len(pair) == 2
                                                    and all(np.ndim(part) == 1 for part in pair) for pair in folds)


def _fold_of_pairs(problem, pairs):
    """Fold of each row from pairs of training and test rows, whose test parts make up all rows."""
    fold = np.full(problem.n_rows, -1)
    for number, (train, test) in enumerate(pairs):
        test = checks.rows("folds", test, problem.n_rows)
        if (fold[test] >= 0).any() or np.isin(test, checks.rows("folds", train, problem.n_rows)).any():
            raise ValueError("folds must score each row once, by a fit without it, found a row in two test parts or "
                             "in both parts of a pair; repeats= draws folds again")
        fold[test] = number
    if (fold < 0).any():
        raise ValueError(f"folds must score every row, found {int((fold < 0).sum())} rows in no test part")
    _refuse_lone(problem, fold, np.arange(fold.max() + 1))
    return fold


def _given_folds(problem, folds):
    fold = np.asarray(checks.listed("folds", folds))
    if fold.shape != (problem.n_rows,):
        raise ValueError(f"folds must be a number or one fold for each of {problem.n_rows} rows, found "
                         f"{checks.shown(folds)}")
    if pd.isna(fold).any():
        raise ValueError("folds must name a fold for every row, found missing values")
    names, fold = np.unique(fold, return_inverse=True)
    _refuse_lone(problem, fold, names)
    return fold


def _refuse_lone(problem, fold, names):
    weights = np.bincount(fold, problem.labels.by_row(problem.labels.weight, problem.n_rows))
    if np.count_nonzero(weights) < 2:
        raise ValueError(f"folds must put observed labels into at least 2 folds, "
                         f"found {checks.shown(names[weights > 0].tolist())}")


def _penalty_lists(model, given):
    """Each penalty as a list; those not given from the default grid."""
    missing = [name for name in PENALTIES if given[name] is None]
    standard = default_penalties(model.with_data()) if missing else {}
    return {name: standard[name] if name in missing else distinct(name, given[name]) for name in PENALTIES}
