"""One grid of fits for each training set, and the choice of a point of it for each linear model of the table."""

import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusedlr.exceptions import FusedLogitWarning
from fusedlr.model import FusedLogit
from fusedlr.study.models import FUSION, L1, L2, slices
from fusedlr.scoring import choose, validation_error, validation_logloss

__all__ = ["SizeFit", "build", "fit_size"]


@dataclass(frozen=True)
class SizeFit:
    """The linear models at one training size.

    Attributes
    ----------
    choices : DataFrame
        One row a model: penalties, validation error, gap, status, and how many points
        shared the least validation error, with the smallest and largest l2 among them.
    params : ndarray, shape (models, 101, 4)
        Coefficients of each model, intercepts first, features by tasks.
    validation_error : ndarray, shape (924,)
        Of every point, in the order of ``points()``.
    seconds : float
        CPU time of the grid and of choosing.
    """

    choices: pd.DataFrame
    params: np.ndarray
    validation_error: np.ndarray
    seconds: float


def build(Y, X):
    """The paper's problem: features as they are, intercepts fused with their neighbours like all else.

    Parameters
    ----------
    Y : ndarray, shape (n, 4)
    X : ndarray, shape (n, 100)
    """
    with warnings.catch_warnings():
        # A task of one class is fitted like any other here; the scores count such tasks.
        warnings.simplefilter("ignore", FusedLogitWarning)
        return FusedLogit(Y, X, standardize=False, fuse_intercepts=True)


def fit_size(data, size, tol):
    """Fit the grid on the first rows of an instance and choose a point for each linear model.

    The point with the least 0/1 error over the validation rows of all four tasks is
    taken; points that share it are told apart by validation log-loss, then the larger
    penalties win. All four tasks use the same penalties.

    A task whose training labels are all alike is fitted like any other: fusion ties
    its coefficients to its neighbours', and without fusion its intercept has no finite
    optimum, which the status of the fit says.

    Parameters
    ----------
    data : dict of str to ndarray
        An instance, as :func:`fusedlr.study.simulate.simulate` returns it.
    size : int
        Training rows.
    tol : float
        Relative duality gap at which a fit stops.
    """
    start = time.process_time()
    with warnings.catch_warnings():
        # Every warning of a fit is in its status, which is kept.
        warnings.simplefilter("ignore", FusedLogitWarning)
        grid = build(data["Y_train"][:size], data["X_train"][:size]).fit_grid(L1, L2, FUSION, tol=tol)
    params, held_out = grid.params, (data["Y_validation"], data["X_validation"])
    error = validation_error(params, *held_out)
    chosen = {model: _choose(grid.table, error, params, held_out, allowed) for model, allowed in slices().items()}
    choices = pd.DataFrame([_choice(model, chosen[model], grid.table, error) for model in chosen])
    return SizeFit(choices, params[list(chosen.values())], error, time.process_time() - start)


def _choose(table, error, params, held_out, allowed):
    best = choose(table.iloc[allowed], error[allowed], lambda tied: validation_logloss(params[allowed[tied]], *held_out))
    return allowed[best]


def _choice(model, point, table, error):
    row = table.iloc[point]
    allowed = slices()[model]
    tied_l2 = table["l2"].to_numpy()[allowed[error[allowed] == error[point]]]
    return {
        "model": model, "l1": row["l1"], "l2": row["l2"], "fusion": row["fusion"], "validation_error": error[point],
        "gap": row["gap"], "status": row["status"], "ties": len(tied_l2),
        "l2_smallest_tied": tied_l2.min(), "l2_largest_tied": tied_l2.max(),
    }
