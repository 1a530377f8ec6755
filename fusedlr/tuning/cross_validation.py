"""Choice of penalties from the data themselves: cross-validation, and information criteria."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from .. import checks
from ..base import Model
from ..constrained_fit import effective_df, log_choose
from ..exceptions import ConvergenceWarning, FusedLogitWarning, SeparationWarning
from ..io import NONE, SHARE, TEXT, Array, Nested, Plain, either, listed, position, registered, saved, word
from ..metrics import PENALTIES, choose, one_standard_error
from ..parallel import run
from ..resampling import split_weights, stratified_folds
from ..results import FusedLogitResults
from ..solver import Path, solve_path
from .default_grid import default_penalties
from .grid import Grid, fit_grid, warn_edge

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["By", "CVResults", "Rule", "fit_cv"]

Rule = Literal["min", "1se"]
By = Literal["cv", "aic", "bic", "ebic"]


def fit_cv(model: Model, folds: Any = 5, rule: Rule = "min", metric: str = "logloss", rng: Any = 0, l1: Any = None,
           l2: Any = None, fusion: Any = None, by: By = "cv", tol: float = 1e-6, n_jobs: int | None = None,
           progress: bool = True) -> CVResults:
    """Choose the penalties of a model from its own data, and fit it there; arguments as for ``FusedLogit.fit_cv``."""
    by, rule = checks.word("by", by, get_args(By)), checks.word("rule", rule, get_args(Rule))
    metric = checks.word("metric", metric, model.metrics)
    if by != "cv" and rule == "1se":
        raise ValueError(f"rule='1se' needs standard errors, and by={by!r} has none; use by='cv' or rule='min'")
    tol, rng = checks.tolerance("tol", tol), checks.rng(rng)
    lists = _penalty_lists(model, {"l1": l1, "l2": l2, "fusion": fusion})
    if by == "cv":
        parts = _parts(model, folds, rng)
        grid, scores = _grid_and_scores(model, lists, parts, metric, tol, n_jobs, progress)
    else:
        grid, scores = fit_grid(model, **lists, tol=tol, progress=progress, n_jobs=n_jobs), None
    found = _cv_results(grid, scores, rule, metric, by)
    _warn_chosen(found)
    return found


@registered("cv")
@dataclass(eq=False, repr=False, kw_only=True)
class CVResults(FusedLogitResults):
    """The fit at the penalties that were chosen, and the scores of every point of the grid that it was chosen from.

    Attributes
    ----------
    path : solver.Path
        The fits on all rows.
    columns : list of str
        Names of the scores.
    scores : ndarray, shape (g, number of columns)
    best : int
        Row of ``table`` with the best mean (or lowest criterion).
    one_se : int or None
        Row chosen by the one-standard-error rule.
    parts : ndarray, shape (number of folds, n), or None
        Share of each row that is held out in each fold: 1 in one of them, unless its weight was
        split as so many equal rows would be.
    fold_scores : ndarray, shape (number of folds, g), or None
        The metric in each fold.
    rule, metric, by : str
    grid_tol : float
        Relative duality gap that every point of the grid was solved to.
    """

    path: Path = saved(Nested(Path))
    columns: list = saved(Plain(listed(TEXT, "columns")))
    scores: np.ndarray = saved(Array(("g", "columns")))
    best: int = saved(Plain(position("g")))
    one_se: int | None = saved(Plain(either(NONE, position("g"))))
    parts: np.ndarray | None = saved(Array(("parts", "rows of the fit"), least=0, optional=True))
    fold_scores: np.ndarray | None = saved(Array(("folds", "g"), optional=True))
    rule: str = saved(Plain(word(*get_args(Rule))))
    metric: str = saved()
    by: str = saved(Plain(word(*get_args(By))))
    grid_tol: float = saved(Plain(SHARE))

    @property
    def folds(self) -> np.ndarray | None:
        """Fold of each row, the one that holds most of it, ndarray of int (n,); None by a criterion."""
        return None if self.parts is None else self.parts.argmax(axis=0)

    @property
    def grid(self) -> Grid:
        """The fits on all rows, Grid."""
        return Grid(self.model, self.path, self.grid_tol)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each point.

        l1, l2, fusion, the ``mean`` and standard error ``se`` of the metric over folds (by
        cross-validation; each fold counts by the weight of its labels), the means ``logloss`` and
        ``error`` (and the metric's, if it is another), or by a criterion ``df_effective``, ``aic``
        and ``bic``; then ``df``, ``nonzeros`` and ``status`` of the fit on all rows.
        """
        grid = self.grid.table
        return pd.DataFrame({**{name: grid[name] for name in PENALTIES}, **dict(zip(self.columns, self.scores.T)),
                             **{name: grid[name] for name in ("df", "nonzeros", "status")}})

    @property
    def chosen(self) -> int:
        """Row that ``rule`` chose."""
        return _chosen(self.best, self.one_se, self.rule)

    def summary(self, max_rows: int | None = 40, title: str | None = None) -> Summary:
        """A statsmodels ``Summary``: the fit, then the best points and which of them was taken.

        Parameters
        ----------
        max_rows, title : as for ``FusedLogitResults.summary``
        """
        from ..summary import summarize_cv

        return summarize_cv(self, max_rows, title)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores over l1 and fusion; see ``plots.cv_surface``, and ``plots.coef_map`` for the fit."""
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
        needed = ["mean", "se"] if self.by == "cv" else ["aic", "bic", "ebic"]
        if len(set(self.columns)) < len(self.columns) or not set(needed) <= set(self.columns):
            raise ValueError(f"columns must hold {', '.join(needed)}, and no name twice, found {self.columns}")
        if self.metric not in self.model.metrics:
            raise ValueError(f"metric must be one of {', '.join(self.model.metrics)}, found {self.metric!r}")

    def __repr__(self) -> str:
        point = ", ".join(f"{name}={value:.4g}" for name, value in self.penalties.items())
        how = self.by if self.parts is None else f"{len(self.parts)} folds, {self.metric}, rule {self.rule}"
        return f"<CVResults: {len(self.table)} points by {how}; chosen {point}>"


@dataclass(frozen=True)
class _FoldScores:
    """Share of each row in each fold, weight of each fold, and scores by metric, each (number of folds, g)."""

    parts: np.ndarray
    weights: np.ndarray
    scores: dict[str, np.ndarray]

    def of(self, metric):
        """Scores and weights of the folds that have any: one without observed labels (for AUC, pairs) says nothing."""
        seen = ~np.isnan(self.scores[metric]).all(axis=1)
        if not seen.any():
            raise ValueError(f"metric={metric!r} needs a fold in which some task has both labels, found none; use "
                             "fewer folds, or metric='logloss'")
        return self.scores[metric][seen], self.weights[seen]

    def mean(self, metric):
        scores, weights = self.of(metric)
        return np.average(scores, axis=0, weights=weights)

    def standard_error(self, metric):
        scores, weights = self.of(metric)
        spread = np.average((scores - self.mean(metric)) ** 2, axis=0, weights=weights)
        return np.sqrt(spread / max(len(weights) - 1, 1))

    def columns(self, metric):
        """Mean and standard error of the metric over folds, and the means of all metrics that were asked for."""
        return {"mean": self.mean(metric), "se": self.standard_error(metric),
                **{name: self.mean(name) for name in self.scores}}


def _grid_and_scores(model, lists, parts, metric, tol, n_jobs, progress):
    """The grid on all rows and the scores of the folds, side by side."""
    points = np.array(list(product(*lists.values())))
    metrics = {name: model.metrics[name].score for name in ("logloss", "error", metric)}
    whole = partial(fit_grid, model, **lists, tol=tol)
    score = partial(_score_fold, model.problem, points, list(metrics.values()), tol)
    # The grid, which has the most rows, goes first.
    work = [whole, *(partial(score, part) for part in parts)]
    grid, *folds = run(_call, work, n_jobs, progress, "folds")
    weights, scores = zip(*folds)
    return grid, _FoldScores(parts, np.array(weights), dict(zip(metrics, map(np.array, zip(*scores)))))


def _call(work):
    return work()


def _score_fold(problem, points, metrics, tol, part):
    """Total weight of one fold, and its scores by the fits on all else, one (g,) for each metric."""
    params = solve_path(problem.reweighted(1.0 - part), points, tol).params
    held = problem.labels.some(part[problem.labels.row] > 0).times(part)
    return held.weight.sum(), [score(params, problem.design, held) for score in metrics]


def _cv_results(grid, scores, rule, metric, by):
    model, one_se = grid.model, None
    columns = _criteria(model.problem, model.outcome, grid) if scores is None else scores.columns(metric)
    table = pd.DataFrame({**grid.table[[*PENALTIES, "df"]], **columns})
    if scores is None:
        best = choose(table, table[by], np.zeros(len(table)))
    else:
        judge = model.metrics[metric]
        best = choose(table, judge.cost(table[metric]), model.metrics[judge.tie_breaker].cost(table[judge.tie_breaker]))
        one_se = one_standard_error(table, best, judge)
    fit = grid.results(_chosen(best, one_se, rule))
    parts, fold_scores = (None, None) if scores is None else (scores.parts, scores.of(metric)[0])
    return CVResults(model=model, solution=fit.solution, penalties=fit.penalties, method=fit.method, tol=fit.tol,
                     path=grid.path, columns=list(columns), scores=table[list(columns)].to_numpy(), best=best,
                     one_se=one_se, parts=parts, fold_scores=fold_scores, rule=rule, metric=metric, by=by,
                     grid_tol=grid.tol)


def _chosen(best, one_se, rule):
    return best if one_se is None or rule != "1se" else one_se


def _criteria(problem, outcome, grid):
    """Effective df, AIC, BIC and extended BIC of the fit at every point."""
    df = np.array([effective_df(problem, params, problem.penalty(*point))
                   for params, point in zip(grid.params, grid.path.points)])
    deviance = np.array([-2 * outcome.loglike(problem.labels, problem.linear(params)) for params in grid.params])
    bic = deviance + np.log(problem.groups.size) * df
    kept = np.array([params[1:].any(axis=1).sum() for params in grid.params])
    return {"df_effective": df, "aic": deviance + 2 * df, "bic": bic,
            "ebic": bic + 2 * log_choose(problem.n_features, kept)}


def _warn_chosen(found):
    """Say so if the chosen fit is not what it should be; the others may be in corners that no one wants."""
    status = found.table["status"].iloc[found.chosen]
    point = ", ".join(f"{name}={value:.4g}" for name, value in found.penalties.items())
    warn_edge(found.grid, found.chosen, stacklevel=5)
    if status == "separated":
        warnings.warn(f"the chosen fit ({point}) has no finite minimiser: some task's labels are separated by its "
                      "features, or all the same; leave l1 = l2 = 0 out of the grid, and drop tasks whose labels are "
                      "all the same", SeparationWarning, stacklevel=4)
    elif status != "optimal":
        warnings.warn(f"the chosen fit ({point}) stopped before its duality gap reached tol; fit it again with a "
                      "larger max_iter, or raise tol", ConvergenceWarning, stacklevel=4)


def _parts(model, folds, rng):
    """Share of each row in each fold, shape (number of folds, n)."""
    problem = model.with_data()
    if isinstance(folds, Real) and not isinstance(folds, bool):
        unit = problem.groups.word
        number = checks.whole("folds", folds, 2, model.n_groups if unit != "row" else problem.n_rows,
                              f"it is a number of folds, at most one for each {unit}")
        split = split_weights(problem.labels, problem.groups, number, rng)
        if split is not None:
            return split
        _warn_heavy(model, number)
        fold = stratified_folds(problem.labels, problem.groups, number, rng)
    else:
        fold = _fold_of_rows(model, problem, folds)
    return (fold == np.arange(fold.max() + 1)[:, None]).astype(float)


def _warn_heavy(model, folds):
    """Warn of a row that holds so much of a task that the fit without it is another one."""
    labels, whole = model.problem.labels, model.problem.groups.are_whole
    total = labels.sums(labels.weight)
    share = max(float(labels.weight[part].max() / sum_) for part, sum_ in zip(labels.parts, total) if sum_ > 0)
    if share > 1 / folds and (not whole or labels.weight.max() > 1):
        warnings.warn(f"one row holds {share:.0%} of the weight of a task, and weights are not split over folds unless "
                      "they are whole numbers and there are no groups: the fold with that row is scored by a fit "
                      "without it; give such data as rows", FusedLogitWarning, stacklevel=5)


def _fold_of_rows(model, problem, folds):
    """Fold of each row, shape (n,), as a user gave it."""
    if hasattr(folds, "split") and not isinstance(folds, (str, bytes)):
        folds = folds.split(np.zeros((problem.n_rows, 1)), _stratum(problem), problem.groups.by_row)
    if isinstance(folds, Iterator) or _are_pairs(folds):
        return _fold_of_pairs(problem, folds)
    checks.check_index(folds.index if isinstance(folds, (pd.Series, pd.DataFrame)) else None, model.index, "folds")
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
                             "in both parts of a pair")
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
        raise ValueError(f"folds must put observed labels into at least 2 folds, found {names[weights > 0].tolist()}")


def _penalty_lists(model, given):
    """Each penalty as a list; those not given from the default grid."""
    missing = [name for name in PENALTIES if given[name] is None]
    standard = default_penalties(model.with_data()) if missing else {}
    return {name: standard[name] if name in missing else checks.vector(name, given[name]) for name in PENALTIES}
