"""Choice of penalties from the data themselves: a grid that suits them, cross-validation, information criteria."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import checks, criteria
from .exceptions import ConvergenceWarning, SeparationWarning
from .grid import Grid, fit_points, warn_edge
from .inputs import check_index
from .limits import fusion_limit, l1_limit, null_params
from .objective import Data, linear_predictor, loss_derivatives
from .parallel import run
from .problem import Problem
from .reporting import Result
from .results import FusedLogitResults
from .scoring import PENALTIES, choose, one_standard_error

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["CVResults", "default_penalties", "fit_cv", "stratified_folds"]


def stratified_folds(data: Data, folds: int, seed: int) -> np.ndarray:
    """Fold of each row, such that every combination of labels is spread as evenly as it can be.

    Rows are sorted by their labels (not observed is a label of its own), in random order
    where these are the same, and dealt out in turn: the numbers of rows with the same
    labels differ by at most 1 between folds, and so do the numbers of all rows.

    Parameters
    ----------
    data : objective.Data
    folds : int
    seed : int

    Returns
    -------
    ndarray of int, shape (n,)
    """
    labels = np.where(data.weights > 0, data.signs, 0.0)
    shuffle = np.random.default_rng(seed).random(data.n_rows)
    order = np.lexsort([shuffle, *labels.T[::-1]])
    fold = np.empty(data.n_rows, dtype=int)
    fold[order] = np.arange(data.n_rows) % folds
    return fold


def default_penalties(problem: Problem) -> dict[str, np.ndarray]:
    """A grid of penalties that suits the data: 10 of l1, 3 of l2, 9 of fusion.

    l1 falls from the smallest that leaves no coefficient to a thousandth of it (a
    hundredth where there are not more rows than features). l2 is 0, and 3 % and 30 % of
    the mean curvature of the loss in one coefficient, which shrinks a coefficient of a
    lone feature by about as much. fusion is 0, then rises over three powers of ten to the
    smallest that ties all tasks (intercepts too, where these are fused), at three values of l1.

    Returns
    -------
    dict of ndarray
        l1, l2 and fusion.
    """
    problem = problem.centred()
    data, top = problem.data, l1_limit(problem)
    l1 = top * np.geomspace(1.0, 1e-3 if data.n_rows > data.n_features else 1e-2, 10) if top else np.zeros(1)
    l2 = _mean_curvature(problem) * np.array([0.0, 0.03, 0.3])
    tie = max(fusion_limit(problem, value) for value in l1[[0, len(l1) // 2, -1]])
    fusion = np.append(0.0, tie * np.geomspace(1e-3, 1.0, 8)) if tie else np.zeros(1)
    return {"l1": l1, "l2": l2 if l2.any() else np.zeros(1), "fusion": fusion}


def fit_cv(model: Any, folds: Any = 5, rule: str = "min", metric: str = "logloss", seed: int = 0, l1: Any = None,
           l2: Any = None, fusion: Any = None, by: str = "cv", tol: float = 1e-6, n_jobs: int | None = None,
           progress: bool = True) -> CVResults:
    """Choose the penalties of a model from its own data, and fit it there; arguments as for ``FusedLogit.fit_cv``."""
    by = checks.word("by", by, ("cv", "aic", "bic"))
    rule = checks.word("rule", rule, ("min", "1se"))
    metric = checks.word("metric", metric, model.metrics)
    if by != "cv" and rule == "1se":
        raise ValueError(f"rule='1se' needs standard errors, and by={by!r} has none; use by='cv' or rule='min'")
    tol, seed = checks.tolerance("tol", tol), checks.whole("seed", seed, 0)
    lists = _penalty_lists(model, {"l1": l1, "l2": l2, "fusion": fusion})
    if by == "cv":
        labels = _fold_labels(model, folds, seed)
        grid, scores = _grid_and_scores(model, lists, labels, metric, tol, n_jobs, progress)
    else:
        grid, scores = Grid(model, **lists, tol=tol, progress=progress, n_jobs=n_jobs), None
    found = _cv_results(model, grid, scores, rule, metric, by)
    _warn_chosen(found)
    return found


@dataclass(frozen=True)
class CVResults(Result):
    """Scores of every point of a grid, and the fit that was chosen.

    Attributes
    ----------
    model : FusedLogit
    grid : Grid
        The fits on all rows.
    table : DataFrame
        One row for each point: l1, l2, fusion, the ``mean`` and standard error ``se`` of
        the metric over folds (by cross-validation; each fold counts by the weight of its
        labels), the means ``logloss`` and ``error`` (and ``auc``, if that is the metric), then
        ``df``, ``nonzeros`` and ``status`` of the fit on all rows; by a criterion also
        ``df_effective``, ``aic`` and ``bic``.
    best : int
        Row with the best mean (or lowest criterion).
    one_se : int or None
        Row chosen by the one-standard-error rule.
    folds : ndarray of int or None
        Fold of each row.
    fold_scores : ndarray, shape (number of folds, g), or None
        The metric in each fold.
    rule, metric, by : str
    """

    kind = "cv"

    model: Any
    grid: Grid
    table: pd.DataFrame
    best: int
    one_se: int | None
    folds: np.ndarray | None
    fold_scores: np.ndarray | None
    rule: str
    metric: str
    by: str

    @property
    def chosen(self) -> int:
        """Row that ``rule`` chose."""
        return self.best if self.one_se is None or self.rule != "1se" else self.one_se

    @property
    def penalties(self) -> dict[str, float]:
        """l1, l2 and fusion that were chosen, dict."""
        return {name: float(self.table[name].iloc[self.chosen]) for name in PENALTIES}

    @cached_property
    def results(self) -> FusedLogitResults:
        """The chosen fit on all rows, FusedLogitResults."""
        return self.grid.results(self.chosen)

    @property
    def params(self) -> pd.DataFrame:
        """Coefficients of the chosen fit, DataFrame (1 + d, t)."""
        return self.results.params

    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None) -> pd.DataFrame | pd.Series:
        """Predictions of the chosen fit; see ``FusedLogitResults.predict``."""
        return self.results.predict(exog, which, offset)

    def summary(self) -> Summary:
        """A statsmodels ``Summary`` of the choice: the best points, and the one that was taken."""
        from .summary import summarize_cv

        return summarize_cv(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores over l1 and fusion; see ``plots.cv_surface``."""
        from .plots import cv_surface

        return cv_surface(self, ax=ax)

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        page, arrays = self.results.state(remove_data)
        grid_page, grid_arrays = self.grid.state(remove_data)
        scores = self.table[[name for name in self.table if name not in self.grid.table]]  # the rest is the grid's
        page.update(grid_page, cv={"best": self.best, "one_se": self.one_se, "rule": self.rule, "metric": self.metric,
                                   "by": self.by, "columns": list(self.table)})
        folds = {} if self.folds is None else {"folds": self.folds, "fold_scores": self.fold_scores}
        return page, {**arrays, **grid_arrays, "cv_scores": scores.to_numpy(dtype=float), **folds}

    @classmethod
    def from_state(cls, results: FusedLogitResults, page: dict, arrays: dict) -> CVResults:
        """A choice from what ``state`` gave, and the fit that was chosen, made from the same."""
        grid, kept = Grid.from_state(results.model, page, arrays), page["cv"]
        needed = ["l1", "l2", "fusion", *(("mean", "se") if kept["by"] == "cv" else ("aic", "bic"))]
        if sorted({*kept["columns"], *needed}) != sorted(kept["columns"]):
            raise ValueError(f"cv.columns must hold {', '.join(needed)}, and no name twice, found {kept['columns']}")
        names = [name for name in kept["columns"] if name not in grid.table]
        table = grid.table.join(pd.DataFrame(arrays["cv_scores"], columns=names))[kept["columns"]]
        found = cls(results.model, grid, table, kept["best"], kept["one_se"], arrays.get("folds"),
                    arrays.get("fold_scores"), kept["rule"], kept["metric"], kept["by"])
        found.__dict__["results"] = results  # the fit itself, which could not be found again without the data
        return found

    def __repr__(self):
        point = ", ".join(f"{name}={value:.4g}" for name, value in self.penalties.items())
        how = f"{len(np.unique(self.folds))} folds, {self.metric}, rule {self.rule}" if self.by == "cv" else self.by
        return f"<CVResults: {len(self.table)} points by {how}; chosen {point}>"


@dataclass(frozen=True)
class _FoldScores:
    """Fold of each row, weight of each fold, and scores by metric, each of shape (number of folds, g)."""

    labels: np.ndarray
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


def _grid_and_scores(model, lists, labels, metric, tol, n_jobs, progress):
    """The grid on all rows and the scores of the folds, side by side."""
    points = np.array(list(product(*lists.values())))
    metrics = {name: model.metrics[name].score for name in ("logloss", "error", metric)}
    whole = partial(Grid, model, **lists, tol=tol)
    score = partial(_score_fold, model.problem, points, labels, list(metrics.values()), tol)
    # The grid, which has the most rows, goes first.
    work = [whole, *(partial(score, fold) for fold in np.unique(labels))]
    grid, *folds = run(_call, work, n_jobs, progress, "folds")
    weights, scores = zip(*folds)
    return grid, _FoldScores(labels, np.array(weights), dict(zip(metrics, map(np.array, zip(*scores)))))


def _call(work):
    return work()


def _score_fold(problem, points, labels, metrics, tol, fold):
    """Total weight of one fold, and its scores by the fits on all others, one (g,) for each metric."""
    params, held = fit_points(problem.rows(labels != fold), points, tol)[0], problem.data.rows(labels == fold)
    # A label that is not observed has the weight 0.
    held_out = (params, held.signs > 0, held.X, held.offset, held.weights)
    return held.weights.sum(), [score(*held_out) for score in metrics]


def _cv_results(model, grid, scores, rule, metric, by):
    table = _table(model, grid, scores, metric)
    if by == "cv":
        judge = model.metrics[metric]
        best = choose(table, judge.cost(table[metric]), model.metrics[judge.tie_breaker].cost(table[judge.tie_breaker]))
        return CVResults(model, grid, table, best, one_standard_error(table, best, judge), scores.labels,
                         scores.of(metric)[0], rule, metric, by)
    _add_criteria(table, model, grid)
    best = choose(table, table[by], np.zeros(len(table)))
    return CVResults(model, grid, table, best, None, None, None, rule, metric, by)


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


def _table(model, grid, scores, metric):
    table = grid.table[list(PENALTIES)].copy()
    if scores is not None:
        table["mean"], table["se"] = scores.mean(metric), scores.standard_error(metric)
        table = table.assign(**{name: scores.mean(name) for name in scores.scores})
    for name in ("df", "nonzeros", "status"):
        table[name] = grid.table[name]
    return table


def _add_criteria(table, model, grid):
    """Effective df, AIC and BIC of the fit at every point, beside its penalties."""
    problem, unit = model.problem, np.append(1.0, model.scale)[:, None]
    points = [(params * unit, problem.penalty(*point)) for params, point
              in zip(grid.params, table[list(PENALTIES)].to_numpy())]
    table["df_effective"] = [criteria.effective_df(problem, *point) for point in points]
    llf = np.array([model.loglike(params) for params in grid.params])
    table["aic"] = criteria.aic(llf, table["df_effective"])
    table["bic"] = criteria.bic(llf, table["df_effective"], problem.data.row_weights.sum())


def _fold_labels(model, folds, seed):
    data = model.data
    if not isinstance(folds, Real) or isinstance(folds, bool):
        check_index(folds.index if isinstance(folds, (pd.Series, pd.DataFrame)) else None, model.index, "folds")
        return _given_folds(data, folds)
    number = checks.whole("folds", folds, 2, data.n_rows, "it is a number of folds, at most one for each row")
    return stratified_folds(data, number, checks.whole("seed", seed, 0))


def _given_folds(data, folds):
    labels = np.asarray(checks.listed("folds", folds))
    if labels.shape != (data.n_rows,):
        raise ValueError(f"folds must be a number or one fold for each of {data.n_rows} rows, found "
                         f"{checks.shown(folds)}")
    if pd.isna(labels).any():
        raise ValueError("folds must name a fold for every row, found missing values")
    names, labels = np.unique(labels, return_inverse=True)
    weights = np.bincount(labels, data.weights.sum(axis=1))
    if np.count_nonzero(weights) < 2:
        raise ValueError(f"folds must put observed labels into at least 2 folds, found {names[weights > 0].tolist()}")
    return labels


def _penalty_lists(model, given):
    """Each penalty as a list; those not given from the default grid."""
    missing = [name for name in PENALTIES if given[name] is None]
    standard = default_penalties(model.problem) if missing else {}
    return {name: standard[name] if name in missing else checks.vector(name, given[name]) for name in PENALTIES}


def _mean_curvature(problem):
    """Second derivative of the loss in one penalized coefficient at zero, its intercept fitted along, mean over all."""
    data = problem.data
    second = loss_derivatives(data, linear_predictor(data, null_params(problem)))[1]
    held = data.X[:, problem.penalty_factors > 0]
    if not held.size:
        return 0.0
    # Around the mean: the intercept takes up where a feature has its zero, which must not count as curvature.
    weight = np.maximum(second.sum(axis=0), np.finfo(float).tiny)
    centres = held.T @ second / weight
    return float(np.mean([((held - centre) ** 2).T @ column for centre, column in zip(centres.T, second.T)]))
