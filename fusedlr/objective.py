"""The objective of fused elastic-net logistic regression, stated here and nowhere else.

With ``params`` B of shape (1 + d, t), intercepts in row 0, and linear predictor
eta = offset + [1, X] B, the objective is

    sum_ik weights_ik * log(1 + exp(-signs_ik * eta_ik))
    + sum_l l1_l * sum_k |B_lk|  +  sum_l l2_l / 2 * sum_k B_lk^2
    + sum_l fusion_l * sum_edges weight_jk * |B_lj - B_lk|

It is a sum over rows and tasks, not a mean. The intercept row carries no l1 and no
l2, but it is fused, unless a model leaves its intercepts free (``fusion[0]`` is 0). In
the paper's letters l1, l2 and fusion are lambda1, lambda2 and nu; glmnet's lambda is
(l1 + l2) / n.

Shapes, everywhere in this package: n rows, d features, t tasks; X is (n, d) without
a column of ones; anything per observation and task is (n, t); anything per
coefficient is (1 + d, t).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .tasks import TaskGraph

__all__ = ["Data", "Penalty", "Solution", "gap_unit", "gradient", "linear_predictor", "loss", "loss_derivatives",
           "objective",
           "penalty_value", "pointwise_curvature", "pointwise_loss", "sigmoid"]


@dataclass(frozen=True)
class Data:
    """Design, labels, weights and offsets of one problem, checked and complete.

    Attributes
    ----------
    X : ndarray, shape (n, d)
    signs : ndarray, shape (n, t)
        +1 for yes, -1 for no. Where a label is not observed the sign is +1 and the
        weight 0, so nothing depends on it.
    weights, offset : ndarray, shape (n, t)
    """

    X: np.ndarray
    signs: np.ndarray
    weights: np.ndarray
    offset: np.ndarray

    @classmethod
    def from_arrays(cls, X: Any, Y: Any, weights: Any = None, offset: Any = None) -> Data:
        """Complete arrays that were checked before (``inputs`` checks what users hand in).

        Parameters
        ----------
        X : array_like, shape (n, d)
            Kept as it is where it is an array of floats in C order.
        Y : array_like, shape (n, t) or (n,)
            0, 1, or NaN where the label is not observed.
        weights, offset : array_like, shape (n,) or (n, t), optional
        """
        Y = np.asarray(Y, dtype=float)
        Y = Y[:, None] if Y.ndim == 1 else Y
        weights = np.where(np.isnan(Y), 0.0, _per_observation(weights, Y.shape, 1.0))
        return cls(np.ascontiguousarray(X, dtype=float), np.where(Y == 0, -1.0, 1.0), weights,
                   _per_observation(offset, Y.shape, 0.0))

    def rows(self, rows: np.ndarray) -> Data:
        """Some of the rows, in the order given; a row may come more than once."""
        return Data(self.X[rows], self.signs[rows], self.weights[rows], self.offset[rows])

    @property
    def row_weights(self) -> np.ndarray:
        """How often each row counts, by the largest weight of its tasks, shape (n,); rows are the independent units."""
        return self.weights.max(axis=1)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def n_tasks(self) -> int:
        return self.signs.shape[1]


@dataclass(frozen=True)
class Penalty:
    """Penalties of every row of the coefficient matrix, intercept row first.

    Attributes
    ----------
    l1, l2, fusion : ndarray, shape (1 + d,)
        ``l1[0]`` and ``l2[0]`` are 0.
    """

    l1: np.ndarray
    l2: np.ndarray
    fusion: np.ndarray

    @classmethod
    def from_values(cls, l1: Any, l2: Any, fusion: Any, n_features: int, penalty_factors: Any = None) -> Penalty:
        """Spread numbers or vectors over the rows.

        Parameters
        ----------
        l1, l2, fusion : float or array_like, shape (1 + d,)
        n_features : int
        penalty_factors : array_like, shape (d,), optional
            Multiplies l1 and l2 of a feature; fusion is not touched.
        """
        factors = np.append(0.0, np.ones(n_features) if penalty_factors is None else penalty_factors)
        l1, l2, fusion = (_per_row(value, n_features) for value in (l1, l2, fusion))
        return cls(l1 * factors, l2 * factors, fusion)


@dataclass(frozen=True)
class Solution:
    """What a solver hands back.

    Attributes
    ----------
    params : ndarray, shape (1 + d, t)
    objective : float
    gap : float
        Relative duality gap that the solver computed itself; ``optimality.certify`` is the referee.
    status : str
        "optimal", "separated" or "not_converged".
    iterations : int
    history : dict of str to ndarray
        Residuals by iteration, where the solver keeps them.
    """

    params: np.ndarray
    objective: float
    gap: float
    status: str
    iterations: int
    history: dict


def linear_predictor(data: Data, params: np.ndarray) -> np.ndarray:
    """Offset plus intercept plus features times coefficients, shape (n, t)."""
    return data.offset + params[0] + data.X @ params[1:]


def pointwise_loss(margin: np.ndarray) -> np.ndarray:
    """log(1 + exp(-margin)) of margins of any size and shape; the margin is sign times linear predictor."""
    return np.logaddexp(0.0, -margin)


def sigmoid(linear: np.ndarray) -> np.ndarray:
    """Probability of yes at linear predictors of any size and shape, 1 / (1 + exp(-linear))."""
    small = np.exp(-np.abs(linear))
    return np.where(linear < 0, small, 1.0) / (1.0 + small)


def loss(data: Data, linear: np.ndarray) -> float:
    """Weighted negative log-likelihood at a linear predictor."""
    return float(np.sum(data.weights * pointwise_loss(data.signs * linear)))


def pointwise_curvature(linear: np.ndarray) -> np.ndarray:
    """p (1 - p) with p the sigmoid of linear predictors of any size and shape, without cancellation."""
    small = np.exp(-np.abs(linear))
    return small / (1.0 + small) ** 2


def loss_derivatives(data: Data, linear: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative of the loss in each linear predictor, both (n, t)."""
    return -data.weights * data.signs * sigmoid(-data.signs * linear), data.weights * pointwise_curvature(linear)


def gradient(data: Data, residual: np.ndarray) -> np.ndarray:
    """Gradient of the loss in the coefficients, shape (1 + d, t), from its first derivative."""
    return np.vstack([residual.sum(axis=0), data.X.T @ residual])


def penalty_value(params: np.ndarray, penalty: Penalty, tasks: TaskGraph) -> float:
    """Value of the three penalties."""
    size = penalty.l1 @ np.abs(params).sum(axis=1) + 0.5 * penalty.l2 @ np.square(params).sum(axis=1)
    return float(size + penalty.fusion @ (np.abs(tasks.differences(params)) @ tasks.weights))


def objective(data: Data, params: np.ndarray, penalty: Penalty, tasks: TaskGraph) -> float:
    """Value of the objective."""
    return loss(data, linear_predictor(data, params)) + penalty_value(params, penalty, tasks)


def gap_unit(data: Data, value: float) -> float:
    """What an absolute duality gap is divided by to make it relative.

    The objective itself; but at least a thousandth of the loss of all-zero
    coefficients, so that a fit whose objective tends to 0 can still be certified.
    """
    return max(value, 1e-3 * loss(data, data.offset))


def _per_observation(values, shape, default):
    array = np.asarray(default if values is None else values, dtype=float)
    return np.array(np.broadcast_to(array[:, None] if array.ndim == 1 else array, shape))


def _per_row(value, n_features):
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), 1 + n_features))
