"""One grid of fits for each training set, and the choice of one of its points for each linear model of the table."""

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fusedlr import FusedLogit, Grid, OneClassWarning
from fusedlr.metrics import choose, logloss
from fusedlr.problem import Design, Labels
from fusedlr.solver import solve_exactly
from study.models import FUSION, L1, L2, fitted, points, slices
from study.readings import SHARED

__all__ = ["SizeFit", "build", "fit_size"]

#: Margins below this multiple of the root of the gap may have the other sign at the optimum. The largest error of a
#: coefficient that was seen is twice that root.
CLOSE = 30
#: Weight of each row that nails a task to zero: heavy, and light enough not to drown the gap.
NAIL = 1e4


@dataclass(frozen=True)
class SizeFit:
    """The linear models at one training size."""

    # One row a model: penalties, validation error, gap, status, and how many points shared the least validation error,
    # with the smallest and largest l2 among them. Penalties and ties are empty where tasks chose different points.
    choices: pd.DataFrame
    params: np.ndarray  # (models, 101, 4): coefficients of each model, intercepts first, features by tasks
    chosen: np.ndarray  # (models, 4): position in points() of each model and task
    validation_error: np.ndarray  # (924, 4): of every point and task, in the order of points()
    seconds: float  # CPU time of the grid and of choosing


def build(Y: np.ndarray, X: np.ndarray, reading: str = SHARED) -> FusedLogit:
    """The paper's model: a chain of tasks, features as they are, intercepts fused like all else.

    Read otherwise, the chain is closed to a ring, or a fifth task, nailed to zero, follows the last one.
    """
    weights = None
    if reading == "last_column":
        Y, X, weights = _nailed(Y, X)
    return FusedLogit(Y, X, tasks="ring" if reading == "ring" else "chain", weights=weights, standardize=False,
                      fuse_intercepts=True)


def _nailed(Y, X):
    """Labels, features and weights with one more task that has rows of its own: a yes and a no for each coefficient.

    They hold its coefficients at zero, up to fusion / 5000, so that fusion shrinks the task before it towards zero.
    """
    n, d = X.shape
    own = np.tile(np.eye(d + 1, d, -1), (2, 1))
    labels = np.full((n + len(own), Y.shape[1] + 1), np.nan)
    labels[:n, :-1] = Y
    labels[n:, -1] = np.repeat([0.0, 1.0], d + 1)
    return labels, np.vstack([X, own]), np.where(np.arange(len(labels)) < n, 1.0, NAIL)


def fit_size(data: Mapping[str, Any], size: int, tol: float, reading: str = SHARED) -> SizeFit:
    """Fit the grid on the first rows of an instance and choose a point for each linear model.

    The point with the least 0/1 error over the validation rows of all four tasks is taken; ties are broken by
    validation log-loss, then by the larger penalties. All four tasks use the same penalties, unless the model tunes
    each alone. Fits stop at a relative duality gap of ``tol``; those that leave a validation label undecided, and those
    that are chosen, are solved to rounding error, so that labels do not depend on the solver's warm starts.

    A task with one class of training labels is fitted like any other: fusion ties its coefficients to its
    neighbours', and without fusion its intercept has no finite optimum (status "separated").
    """
    start = time.process_time()
    squared = reading == "squared_l2"
    grid = _grid(build(data["Y_train"][:size], data["X_train"][:size], reading), tol, squared)
    params, table = grid.params, grid.table.assign(l2=points()[:, 1])
    wrong = _wrong_labels(grid, params, data["Y_validation"], data["X_validation"], CLOSE * np.sqrt(tol))
    choices, chosen = zip(*(_fit(model, table, params, wrong, data) for model in fitted().values()))
    _solve_exactly(grid, params, np.unique(chosen))
    kept = [params[points_of_tasks, :, np.arange(wrong.shape[1])].T for points_of_tasks in chosen]
    return SizeFit(pd.DataFrame(choices), np.stack(kept), np.stack(chosen), wrong / len(data["Y_validation"]),
                   time.process_time() - start)


def _grid(model, tol, squared):
    """Fits of all points; with the ridge read as squared, its factor is the square of the grid's l2."""
    ridge = [value**2 for value in L2] if squared else L2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)  # the scores count such tasks
        return model.fit_grid(L1, ridge, FUSION, tol=tol, n_jobs=1, progress=False)


def _solve_exactly(grid: Grid, params: np.ndarray, which: Iterable[int]) -> None:
    """Solve some points of the grid to rounding error, warm-started from their fits, and put them into params."""
    problem = grid.model.problem
    for i in which:
        params[i] = solve_exactly(problem, problem.penalty(*grid.path.points[i]), start=params[i]).params


def _fit(model, table, params, wrong, data):
    """One model: its row of the choices, and the points that its tasks have chosen."""
    allowed, everything = slices()[model.name], np.arange(wrong.shape[1])
    held_out = data["Y_validation"], data["X_validation"]
    if model.by_task:
        chosen = np.array([_choose(table, params, wrong, allowed, held_out, [task]) for task in everything])
    else:
        chosen = np.full(len(everything), _choose(table, params, wrong, allowed, held_out, everything))
    error = wrong[chosen, everything].sum() / held_out[0].size
    choice = {"model": model.name, **_penalties(table, chosen), "validation_error": error,
              **_certificate(table, chosen), **_ties(table, wrong.sum(axis=1), allowed, chosen)}
    return choice, chosen


def _wrong_labels(grid, params, Y, X, close):
    """Number of wrong labels of each fit and task, shape (g, t); fits with undecided labels are solved exactly."""
    tasks = Y.shape[1]
    margins = _margins(params[:, :, :tasks], X)
    undecided = np.flatnonzero((np.abs(margins) < close).any(axis=(0, 2)))
    _solve_exactly(grid, params, undecided)
    margins[:, undecided] = _margins(params[undecided, :, :tasks], X)
    return np.count_nonzero((margins > 0) != (Y == 1)[:, None], axis=0)


def _margins(params, X):
    """Linear predictors of each row, fit and task, shape (n, g, t)."""
    g, rows, t = params.shape
    return (X @ params[:, 1:].transpose(1, 0, 2).reshape(rows - 1, g * t)).reshape(-1, g, t) + params[:, 0]


def _choose(table, params, wrong, allowed, held_out, tasks):
    """The allowed point that some tasks choose together."""
    Y, X = held_out
    return allowed[choose(table.iloc[allowed], wrong[np.ix_(allowed, tasks)].sum(axis=1), lambda tied: (
        logloss(params[allowed[tied]][:, :, tasks], Design(X), Labels.wide(Y[:, tasks]))))]


def _penalties(table, chosen):
    """The penalties of all tasks, or nothing where these differ."""
    same = (chosen == chosen[0]).all()
    return {name: table[name].iloc[chosen[0]] if same else np.nan for name in ("l1", "l2", "fusion")}


def _certificate(table, chosen):
    """The largest gap, and the status that says most: of several, any but optimal."""
    states = table["status"].iloc[chosen]
    return {"gap": table["gap"].iloc[chosen].max(), "status": min(states, key=lambda status: status == "optimal")}


def _ties(table, wrong, allowed, chosen):
    """How many points shared the least error, and the range of their l2; nothing where tasks choose alone."""
    if (chosen != chosen[0]).any():
        return {"ties": np.nan, "l2_smallest_tied": np.nan, "l2_largest_tied": np.nan}
    tied_l2 = table["l2"].to_numpy()[allowed[wrong[allowed] == wrong[chosen[0]]]]
    return {"ties": len(tied_l2), "l2_smallest_tied": tied_l2.min(), "l2_largest_tied": tied_l2.max()}
