"""Many penalties on one data set, each fit started from the best solution so far."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import checks
from .exact import ACCEPTED, solve_exactly
from .exceptions import GridEdgeWarning
from .inputs import held_out_weights, new_offset
from .core import STATUS, NewtonSolver
from .parallel import progress_bar, run
from .problem import Problem
from .reporting import Result
from .results import FusedLogitResults
from .scoring import PENALTIES, choose

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["Grid", "fit_points"]

COLUMNS = ("objective", "gap", "status", "iterations", "nonzeros", "df")
SHOWN = ("objective", "gap", "status", "nonzeros", "df", "iterations")

# Columns of the table that are kept together in a file, by type.
STORED = {"penalties": PENALTIES, "fits": ("objective", "gap"), "counts": ("nonzeros", "df", "iterations")}

_STRIPES = 4
_LARGE = 500_000  # features times labels; below, a grid takes a second or so


def fit_points(problem: Problem, points: Any, tol: float = 1e-6, max_iter: int = 200,
               callback: Callable[[int], None] | None = None,
               n_jobs: int | None = 1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Fit at each of many penalties.

    The grid of a large problem is solved in stripes of neighbouring values of fusion (or
    l2), one after the other or side by side; which stripes does not depend on ``n_jobs``.

    Parameters
    ----------
    problem : problem.Problem
    points : array_like, shape (g, 3)
        l1, l2 and fusion of each point. Solved in an order of the solver's own.
    tol, max_iter : as for a single fit
    callback : callable, optional
        Called with the number of points done, after each.
    n_jobs : int, optional
        Number of threads, each with its own copy of the features; one for each core where None.

    Returns
    -------
    params : ndarray, shape (g, 1 + d, t)
        Memory: 8 g (1 + d) t bytes.
    diagnostics : dict of str to ndarray, shape (g,)
        objective, gap (relative, as the solver computed it), status, iterations,
        nonzeros (coefficients that are not zero) and df (distinct non-zero values of
        tied neighbours, counting the intercepts too).
    """
    points = np.asarray(points, dtype=float)
    order, count = _solving_order(points), callback and _Count(callback)
    stripes = [order[part] for part in _stripes(problem, points[order])]
    parts = run(lambda stripe: NewtonSolver(problem).solve_points(points[stripe], tol, max_iter, count),
                stripes, n_jobs, progress=False)
    params, reports = (np.concatenate(arrays) if len(arrays) > 1 else arrays[0] for arrays in zip(*parts))
    back = np.argsort(np.concatenate(stripes))
    diagnostics = dict(zip(COLUMNS, reports[back].T))
    diagnostics["status"] = np.array(STATUS, dtype=object)[diagnostics["status"].astype(int)]
    for name in ("iterations", "nonzeros", "df"):
        diagnostics[name] = diagnostics[name].astype(int)
    return params[back], diagnostics


class Grid(Result):
    """Fits of one model at every combination of the penalties given.

    Made by ``FusedLogit.fit_grid``. Points come in the order of
    ``itertools.product(l1, l2, fusion)``.

    Attributes
    ----------
    model : FusedLogit
    table : DataFrame
        One row a point: l1, l2, fusion, objective, gap (relative, by the solver's own
        account), status, nonzeros, df, iterations.
    params : ndarray, shape (g, 1 + d, t)
        On the original scale, intercepts in row 0. All of them are kept: 8 g (1 + d) t
        bytes, 3 MB for 924 points, 100 features and 4 tasks.
    tol : float
    """

    kind = "grid"

    def __init__(self, model: Any, l1: Any, l2: Any, fusion: Any, tol: float = 1e-6, max_iter: int = 200,
                 progress: bool = True, n_jobs: int | None = 1) -> None:
        lists = [_distinct(name, values) for name, values in zip(PENALTIES, (l1, l2, fusion))]
        points = np.array(list(product(*lists)))
        with progress_bar(len(points), checks.flag("progress", progress), "points") as step:
            params, found = fit_points(model.problem, points, tol, max_iter, step, n_jobs)
        self.model, self.tol = model, tol
        self.params = params
        if (model.scale != 1).any():
            self.params[:, 1:] /= model.scale[:, None]
        self.table = pd.DataFrame({**dict(zip(PENALTIES, points.T)), **{name: found[name] for name in SHOWN}})

    @property
    def intercepts(self) -> np.ndarray:
        """Intercepts of every point, shape (g, t)."""
        return self.params[:, 0]

    @property
    def coefs(self) -> np.ndarray:
        """Coefficients of every point on the original scale, shape (g, d, t)."""
        return self.params[:, 1:]

    def __len__(self) -> int:
        return len(self.table)

    def results(self, i: int) -> FusedLogitResults:
        """The fit at point ``i``, solved exactly from where the grid left it: what ``model.fit`` gives there."""
        i = checks.whole("i", i, -len(self), len(self) - 1, "it is a row of table")
        penalties = {name: float(self.table[name].iloc[i]) for name in PENALTIES}
        start = self.params[i] * np.append(1.0, self.model.scale)[:, None]
        solution = solve_exactly(self.model.problem, self.model.problem.penalty(**penalties), start=start)
        return FusedLogitResults(self.model, solution, penalties, "newton", ACCEPTED)

    def select(self, endog: Any, exog: Any, metric: str = "logloss", offset: Any = None,
               weights: Any = None) -> FusedLogitResults:
        """The point that predicts held-out rows best.

        Parameters
        ----------
        endog, exog : as for ``FusedLogit``
            Held-out rows, with the model's labels and features.
        metric : "logloss", "error" or "auc"
            Mean negative log-likelihood or share of wrong labels over all observed labels
            of all tasks, or area under the ROC curve, mean over tasks; of an ordered outcome
            also "rps", the mean ranked probability score. Points that are equal in it
            are told apart by log-loss (in log-loss: by error), then by the larger penalties
            (l1 first, then l2, then fusion).
        offset, weights : as for ``FusedLogit``, optional

        Returns
        -------
        FusedLogitResults
        """
        metrics = self.model.metrics
        wanted = metrics[checks.word("metric", metric, metrics)]
        X, Y, index = self.model.held_out(endog, exog)
        shift = new_offset(offset, exog, Y.shape, index, self.model.endog_names, self.model.has_offset)
        counts = held_out_weights(weights, Y, index, self.model.endog_names)

        def cost(kind):
            return lambda where: kind.cost(kind.score(self.params[where], Y, X, shift, counts))

        best = choose(self.table, cost(wanted), cost(metrics[wanted.tie_breaker]))
        warn_edge(self, best)
        return self.results(best)

    def summary(self) -> Summary:
        """A statsmodels ``Summary``: what was fitted, and some of the points."""
        from .summary import summarize_grid

        return summarize_grid(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients of all features as l1 falls; see ``plots.coef_paths``."""
        from .plots import coef_paths

        return coef_paths(self, ax=ax)

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        page, arrays = self.model.state(remove_data)
        page["grid"] = {"tol": self.tol, "status": self.table["status"].tolist()}
        columns = {f"grid_{name}": self.table[list(names)].to_numpy() for name, names in STORED.items()}
        return page, {**arrays, "grid_params": self.params, **columns}

    @classmethod
    def from_state(cls, model: Any, page: dict, arrays: dict) -> Grid:
        """A grid from what ``state`` gave, for a model that was made from the same."""
        grid = cls.__new__(cls)
        grid.model, grid.tol, grid.params = model, page["grid"]["tol"], arrays["grid_params"]
        columns = {name: arrays[f"grid_{part}"][:, k] for part, names in STORED.items() for k, name in enumerate(names)}
        columns["status"] = np.array(page["grid"]["status"], dtype=object)
        grid.table = pd.DataFrame({name: columns[name] for name in (*PENALTIES, *SHOWN)})
        return grid

    def __repr__(self):
        counts = ", ".join(f"{count} {status}" for status, count in self.table["status"].value_counts().items())
        return f"<Grid: {len(self)} points, {counts}>"


def warn_edge(grid: Grid, chosen: int, stacklevel: int = 3) -> None:
    """Warn where a chosen point lies at an end of the grid beyond which the fit would go on to change."""
    ends = [f"the {end} {name} ({grid.table[name].iloc[chosen]:.4g})" for name in PENALTIES
            for end in [_end(grid.table[name].to_numpy(), chosen)] if end and _goes_on(grid, chosen, name, end)]
    if ends:
        warnings.warn(f"the chosen point lies at an end of the grid, {' and '.join(ends)}: a better one may lie "
                      "beyond; give a longer list of that penalty", GridEdgeWarning, stacklevel=stacklevel)


def _end(values, chosen):
    """Which end of a list of at least two penalties was chosen, if any; nothing lies beyond 0."""
    if values[chosen] == values.max() > values.min():
        return "largest"
    return "least" if values[chosen] == values.min() > 0 and values.max() > values.min() else None


def _goes_on(grid, chosen, name, end):
    """Whether the fit would go on to change beyond that end.

    A larger penalty changes nothing where all is zero, or tied; a smaller one next to
    nothing where it holds no coefficient at zero, or tied, and is small already.
    """
    problem, params = grid.model.problem, grid.params[chosen]
    differences = problem.tasks.differences(params)[problem.fusion_factors > 0]
    subject = differences if name == "fusion" else params[problem.factors > 0]
    values = grid.table[name]
    return bool(subject.any() if end == "largest" else (subject == 0).any() or values.min() > 1e-2 * values.max())


def _solving_order(points):
    """From strong l1 to weak, and to and fro in the others, so that neighbours follow each other.

    At the weakest l1 always from strong l2 to weak: where that is none at all, the solutions at
    larger l2 show the way.
    """
    rank = [np.unique(column, return_inverse=True)[1] for column in points.T]
    outer = rank[0].max() - rank[0]
    middle = np.where(outer % 2 == 0, rank[2].max() - rank[2], rank[2])
    falling = ((outer * (rank[2].max() + 1) + middle) % 2 == 0) | (outer == outer.max())
    inner = np.where(falling, rank[1].max() - rank[1], rank[1])
    return np.lexsort((inner, middle, outer))


def _stripes(problem, points):
    """Positions of the points that are solved one from the other; all of them unless the problem is large.

    A stripe has every l1 and some neighbouring values of fusion, or of l2 if that has more. Four
    of them take about the time of one (0.98 to 1.04 of it for 1,000 to 3,000 rows).
    """
    rank = max((np.unique(points[:, axis], return_inverse=True)[1] for axis in (2, 1)), key=lambda rank: rank.max())
    values = rank.max() + 1
    if values < _STRIPES or problem.data.X.size * problem.tasks.n_tasks < _LARGE:
        return [np.arange(len(points))]
    stripe = rank * _STRIPES // values
    return [np.flatnonzero(stripe == i) for i in range(_STRIPES)]


class _Count:
    """Counts points as they are done in any thread, and tells the callback."""

    def __init__(self, callback):
        self.callback, self.done, self.lock = callback, 0, threading.Lock()

    def __call__(self, _):
        with self.lock:
            self.done += 1
            self.callback(self.done)


def _distinct(name, values):
    array = checks.vector(name, values)
    if len(np.unique(array)) < array.size:
        raise ValueError(f"{name} must not repeat a value in a grid, found {array.tolist()}")
    return array
