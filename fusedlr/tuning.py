"""Choice of penalties: scores on held-out rows, where a grid should start and end, cross-validation."""

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import product
from numbers import Integral

import numpy as np
import pandas as pd

from .exceptions import ConvergenceWarning, SeparationWarning
from .limits import fusion_limit, l1_limit, null_params, penalty_limits
from .objective import Data, linear_predictor, loss_derivatives
from .parallel import run

__all__ = ["CVResults", "choose", "default_penalties", "fit_cv", "one_standard_error", "penalty_limits",
           "stratified_folds", "validation_error", "validation_logloss"]

METRICS = ("error", "logloss")
PENALTIES = ("l1", "l2", "fusion")

# Cells of one block of linear predictors, rows by tasks by points: 64 MB of floats.
_CELLS = 8_000_000


def validation_error(params, Y, X, offset=0.0, weights=None):
    """Share of wrong labels, for each of many fits of the same tasks.

    A linear predictor above 0 predicts yes, any other no.

    Parameters
    ----------
    params : array_like, shape (g, 1 + d, t)
        Coefficients of g fits, intercepts in row 0.
    Y : array_like, shape (n, t) or (n,)
        0, 1, or NaN where the label is not observed; those are left out.
    X : array_like, shape (n, d)
    offset : float or array_like, shape (n,) or (n, t)
    weights : array_like, shape (n,) or (n, t), optional
        A weight 2 counts an observation twice.

    Returns
    -------
    ndarray, shape (g,)
        NaN throughout if nothing is observed.
    """
    return _mean_score(_wrong, params, Y, X, offset, weights)


def validation_logloss(params, Y, X, offset=0.0, weights=None):
    """Mean negative log-likelihood of an observed label, for each of many fits of the same tasks.

    Parameters and return value are those of :func:`validation_error`.
    """
    return _mean_score(_minus_log_likelihood, params, Y, X, offset, weights)


def choose(table, error, logloss, metric="error"):
    """Position of the best point of a grid.

    The lowest ``metric`` wins. Points that are exactly equal in it are told apart by
    the other score, and points equal in both by their penalties: the larger l1, then
    the larger l2, then the larger fusion, so that of two equally good fits the more
    penalized one is taken.

    Parameters
    ----------
    table : DataFrame or mapping with l1, l2 and fusion of each point
    error, logloss : array_like, shape (g,), or function
        Scores of each point. A function is called with the positions of those points
        whose score is needed and returns theirs.
    metric : "error" or "logloss"

    Returns
    -------
    int
    """
    _check_word("metric", metric, METRICS)
    first, second = (error, logloss) if metric == "error" else (logloss, error)
    keys = np.column_stack([np.asarray(table[name], dtype=float) for name in PENALTIES])
    left = _lowest(first, np.arange(len(keys)))
    if len(left) > 1:
        left = _lowest(second, left)
    return int(max(left, key=lambda i: tuple(keys[i])))


def stratified_folds(data, folds, seed):
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


def default_penalties(data, tasks, penalty_factors=None, fuse_intercepts=True):
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
    factors = np.ones(data.n_features) if penalty_factors is None else np.asarray(penalty_factors, dtype=float)
    top = l1_limit(data, tasks, factors)
    l1 = top * np.geomspace(1.0, 1e-3 if data.n_rows > data.n_features else 1e-2, 10) if top else np.zeros(1)
    l2 = _mean_curvature(data, tasks, factors) * np.array([0.0, 0.03, 0.3])
    some = l1[[0, len(l1) // 2, -1]]
    tie = max(fusion_limit(data, tasks, factors, value, fuse_intercepts=fuse_intercepts) for value in some)
    fusion = np.append(0.0, tie * np.geomspace(1e-3, 1.0, 8)) if tie else np.zeros(1)
    return {"l1": l1, "l2": l2 if l2.any() else np.zeros(1), "fusion": fusion}


def fit_cv(model, folds=5, rule="min", metric="logloss", seed=0, l1=None, l2=None, fusion=None, by="cv", tol=1e-6,
           n_jobs=1, progress=True):
    """Choose the penalties of a model from its own data, and fit it there.

    Parameters
    ----------
    model : FusedLogit
    folds : int or array_like, shape (n,)
        Number of folds, drawn by :func:`stratified_folds`; or the fold of each row.
    rule : "min" or "1se"
        Take the point with the lowest mean, or the most penalized point whose mean is
        within one standard error of the lowest; see :func:`one_standard_error`.
    metric : "logloss" or "error"
        What is compared: mean negative log-likelihood or share of wrong labels of the
        rows left out.
    seed : int
        Draws the folds; the same seed gives the same folds.
    l1, l2, fusion : float or sequence of float, optional
        The grid; where left out, those of :func:`default_penalties`.
    by : "cv", "aic" or "bic"
        Cross-validation, or an information criterion of the fits on all rows, which
        needs no folds.
    tol : float
        Relative duality gap of every fit.
    n_jobs : int
        Number of processes, one fold at a time each; the numbers do not depend on it.
    progress : bool
        Show a bar on a terminal.

    Returns
    -------
    CVResults

    Notes
    -----
    Points with exactly equal scores are told apart as in :func:`choose`. A fold in which
    a task has lost one of its labels, or all, is fitted and scored like any other.
    """
    _check_word("by", by, ("cv", "aic", "bic"))
    _check_word("rule", rule, ("min", "1se"))
    _check_word("metric", metric, METRICS)
    if by != "cv" and rule == "1se":
        raise ValueError(f"rule='1se' needs standard errors, and by={by!r} has none; use by='cv' or rule='min'")
    lists = _penalty_lists(model, {"l1": l1, "l2": l2, "fusion": fusion})
    scores = None
    if by == "cv":
        labels = _fold_labels(model.data, folds, seed)
        scores = _FoldScores.compute(model, lists, labels, tol, n_jobs, progress)
    grid = model.fit_grid(**lists, tol=tol, progress=progress)
    found = _cv_results(model, grid, scores, rule, metric, by)
    _warn_chosen(found)
    return found


def one_standard_error(table, best):
    """Position of the most penalized point whose mean is within one standard error of the best point's.

    More penalized means never less: only points whose l1, l2 and fusion are each at least
    those of the best point come into question. Among them the one with the fewest
    distinct values (``df``, in the fit on all rows) is taken; of those with the same
    number, the larger l1, then the larger l2, then the larger fusion.

    Parameters
    ----------
    table : DataFrame
        l1, l2, fusion, mean, se and df of each point.
    best : int
        Position of the point with the lowest mean.

    Returns
    -------
    int
    """
    penalties = table[list(PENALTIES)].to_numpy(dtype=float)
    mean, df = table["mean"].to_numpy(), table["df"].to_numpy()
    near = mean <= mean[best] + table["se"].to_numpy()[best]
    more = (penalties >= penalties[best]).all(axis=1)
    return int(max(np.flatnonzero(near & more), key=lambda i: (-df[i], *penalties[i])))


@dataclass(frozen=True)
class CVResults:
    """Scores of every point of a grid, and the fit that was chosen.

    Attributes
    ----------
    model : FusedLogit
    grid : Grid
        The fits on all rows.
    table : DataFrame
        One row for each point: l1, l2, fusion, the ``mean`` and standard error ``se`` of
        the metric over folds (by cross-validation; each fold counts by the weight of its
        labels), the means ``logloss`` and ``error``, then ``df``, ``nonzeros``, ``status``,
        ``aic`` and ``bic`` of the fit on all rows.
    best : int
        Row with the lowest mean (or criterion).
    one_se : int or None
        Row chosen by the one-standard-error rule.
    folds : ndarray of int or None
        Fold of each row.
    fold_scores : ndarray, shape (number of folds, g), or None
        The metric in each fold.
    rule, metric, by : str
    """

    model: object
    grid: object
    table: pd.DataFrame
    best: int
    one_se: object
    folds: object
    fold_scores: object
    rule: str
    metric: str
    by: str

    @property
    def chosen(self):
        """Row that ``rule`` chose."""
        return self.one_se if self.rule == "1se" else self.best

    @property
    def penalties(self):
        """l1, l2 and fusion that were chosen, dict."""
        return {name: float(self.table[name].iloc[self.chosen]) for name in PENALTIES}

    @property
    def results(self):
        """The chosen fit on all rows, FusedLogitResults."""
        return self.grid.results(self.chosen)

    def plot(self, ax=None):
        """Draw the scores over l1 and fusion; see ``plots.cv_surface``."""
        from .plots import cv_surface

        return cv_surface(self, ax=ax)

    def __repr__(self):
        point = ", ".join(f"{name}={value:.4g}" for name, value in self.penalties.items())
        how = f"{len(np.unique(self.folds))} folds, {self.metric}, rule {self.rule}" if self.by == "cv" else self.by
        return f"<CVResults: {len(self.table)} points by {how}; chosen {point}>"


@dataclass(frozen=True)
class _FoldScores:
    """Both metrics in every fold, each of shape (number of folds, g)."""

    labels: np.ndarray
    weights: np.ndarray
    error: np.ndarray
    logloss: np.ndarray

    @classmethod
    def compute(cls, model, lists, labels, tol, n_jobs, progress):
        from .grid import fit_points

        points = np.array(list(product(*lists.values())))
        fit = partial(fit_points, tasks=model.tasks, points=points, penalty_factors=model.penalty_factors, tol=tol,
                      fuse_intercepts=model.fuse_intercepts)
        names = np.unique(labels)
        work = partial(_score_fold, fit, model.data, labels)
        weights, error, logloss = zip(*run(work, names, n_jobs, progress, "folds"))
        # A fold without observed labels says nothing.
        seen = np.array(weights) > 0
        return cls(labels, np.array(weights)[seen], np.array(error)[seen], np.array(logloss)[seen])

    def mean(self, metric):
        return np.average(getattr(self, metric), axis=0, weights=self.weights)

    def standard_error(self, metric):
        spread = np.average((getattr(self, metric) - self.mean(metric)) ** 2, axis=0, weights=self.weights)
        return np.sqrt(spread / max(len(self.weights) - 1, 1))


def _score_fold(fit, data, labels, fold):
    """Total weight, error and log-loss of one fold by the fits on all others."""
    train, held = _rows(data, labels != fold), _rows(data, labels == fold)
    params = fit(train)[0]
    held_out = (params, held.signs > 0, held.X, held.offset, held.weights)
    return held.weights.sum(), validation_error(*held_out), validation_logloss(*held_out)


def _rows(data, rows):
    return Data(data.X[rows], data.signs[rows], data.weights[rows], data.offset[rows])


def _cv_results(model, grid, scores, rule, metric, by):
    table = _table(model, grid, scores, metric)
    if by == "cv":
        best = choose(table, table["error"], table["logloss"], metric)
        return CVResults(model, grid, table, best, one_standard_error(table, best), scores.labels,
                         getattr(scores, metric), rule, metric, by)
    best = choose(table, table[by], np.zeros(len(table)))
    return CVResults(model, grid, table, best, None, None, None, rule, metric, by)


def _warn_chosen(found):
    """Say so if the chosen fit is not what it should be; the others may be in corners that no one wants."""
    status = found.table["status"].iloc[found.chosen]
    point = ", ".join(f"{name}={value:.4g}" for name, value in found.penalties.items())
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
        table["logloss"], table["error"] = scores.mean("logloss"), scores.mean("error")
    for name in ("df", "nonzeros", "status"):
        table[name] = grid.table[name]
    deviance = 2 * _loss_of_all(model, grid.params)
    table["aic"] = deviance + 2 * table["df"]
    # As in results: the rows are the independent units, each counted by its largest weight.
    table["bic"] = deviance + np.log(model.data.weights.max(axis=1).sum()) * table["df"]
    return table


def _loss_of_all(model, params):
    data = model.data
    mean = validation_logloss(params, data.signs > 0, data.X * model.scale, data.offset, data.weights)
    return mean * data.weights.sum()


def _fold_labels(data, folds, seed):
    if not isinstance(folds, Integral) or isinstance(folds, bool):
        return _given_folds(data, folds)
    if not 2 <= folds <= data.n_rows:
        raise ValueError(f"folds must be from 2 to the number of rows ({data.n_rows}), found {folds}")
    return stratified_folds(data, folds, seed)


def _given_folds(data, folds):
    labels = np.asarray(folds)
    if labels.shape != (data.n_rows,):
        raise ValueError(f"folds must be a number or one fold for each of {data.n_rows} rows, found {folds!r}")
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
    standard = {}
    if missing:
        standard = default_penalties(model.data, model.tasks, model.penalty_factors, model.fuse_intercepts)
    return {name: standard[name] if name in missing else _as_list(name, given[name]) for name in PENALTIES}


def _as_list(name, values):
    try:
        array = np.atleast_1d(np.array(values, dtype=float))
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or a list of numbers, found {values!r}") from None
    if array.ndim != 1 or array.size == 0 or not (array >= 0).all() or np.isinf(array).any():
        raise ValueError(f"{name} must be a number or a list of numbers, finite and not negative, found {values!r}")
    return array


def _mean_curvature(data, tasks, factors):
    """Second derivative of the loss in one penalized coefficient at zero, mean over features and tasks."""
    params = null_params(data, tasks, factors, np.zeros(1 + data.n_features))
    second = loss_derivatives(data, linear_predictor(data, params))[1]
    held = data.X[:, factors > 0]
    return float(np.mean((held**2).T @ second)) if held.size else 0.0


def _check_word(name, word, known):
    if word not in known:
        words = " or ".join([", ".join(map(repr, known[:-1])), repr(known[-1])])
        raise ValueError(f"{name} must be {words}, found {word!r}")


def _lowest(score, positions):
    values = np.asarray(score(positions) if callable(score) else np.asarray(score)[positions], dtype=float)
    if np.isnan(values).all():
        raise ValueError("no point has a score: no label of endog is observed in the held-out rows")
    return positions[values == np.nanmin(values)]


def _mean_score(score, params, Y, X, offset, weights):
    params, X = np.asarray(params, dtype=float), np.asarray(X, dtype=float)
    shape = (X.shape[0], params.shape[2])
    Y, offset = _spread(Y, shape), _spread(offset, shape)
    counts = np.where(np.isnan(Y), 0.0, 1.0 if weights is None else _spread(weights, shape))
    total = counts.sum()
    if total == 0:
        return np.full(len(params), np.nan)
    signs = np.where(Y == 1, 1.0, -1.0)
    size = max(1, _CELLS // (shape[0] * shape[1]))
    sums = [score(_linear_predictors(params[start:start + size], X, offset), signs, counts)
            for start in range(0, len(params), size)]
    return np.concatenate(sums) / total


def _spread(values, shape):
    array = np.asarray(values, dtype=float)
    return np.broadcast_to(array[:, None] if array.ndim == 1 else array, shape)


def _linear_predictors(params, X, offset):
    """Linear predictors of all fits by one matrix product, shape (n, g, t)."""
    g, rows, t = params.shape
    wide = np.ascontiguousarray(params[:, 1:].transpose(1, 0, 2)).reshape(rows - 1, g * t)
    return (X @ wide).reshape(-1, g, t) + params[:, 0] + offset[:, None]


def _wrong(linear, signs, counts):
    return np.einsum("igt,it->g", (linear > 0) != (signs > 0)[:, None], counts)


def _minus_log_likelihood(linear, signs, counts):
    return np.einsum("igt,it->g", np.logaddexp(0.0, -signs[:, None] * linear), counts)
