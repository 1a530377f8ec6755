"""The objective written once more, for tables of rows by tasks: what tests compare the package's flat labels with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusedlr import problem
from fusedlr.objective import pointwise_curvature, pointwise_loss, sigmoid
from fusedlr.tasks import TaskGraph

__all__ = ["Data", "Penalty", "Problem", "gap_unit", "gradient", "linear_predictor", "loss", "loss_derivatives",
           "objective", "penalty_value"]


@dataclass(frozen=True)
class Data:
    """X (n, d); signs, weights and offset, all (n, t). Where a label is not observed the sign is +1, the weight 0."""

    X: np.ndarray
    signs: np.ndarray
    weights: np.ndarray
    offset: np.ndarray

    @classmethod
    def from_arrays(cls, X, Y, weights=None, offset=None):
        Y = np.asarray(Y, dtype=float)
        Y = Y[:, None] if Y.ndim == 1 else Y
        weights = np.where(np.isnan(Y), 0.0, _per_label(weights, Y.shape, 1.0))
        return cls(np.ascontiguousarray(X, dtype=float), np.where(Y == 0, -1.0, 1.0), weights,
                   _per_label(offset, Y.shape, 0.0))

    @classmethod
    def of(cls, made):
        """The tables of a problem of the package, or of a model's."""
        made = getattr(made, "problem", made)
        labels, n = made.labels, made.n_rows
        offset = 0.0 if made.design.offset is None else made.design.offset
        return cls(made.design.X, labels.table(labels.sign.astype(float), n, 1.0), labels.table(labels.weight, n, 0.0),
                   np.broadcast_to(offset, (n, made.n_tasks)))

    @property
    def labels(self):
        """0, 1 and NaN, shape (n, t)."""
        return np.where(self.weights > 0, self.signs > 0, np.nan)

    @property
    def n_rows(self):
        return self.X.shape[0]

    @property
    def n_features(self):
        return self.X.shape[1]

    @property
    def n_tasks(self):
        return self.signs.shape[1]


class Penalty(problem.Penalty):
    """Penalties of every row of the coefficients."""

    @classmethod
    def from_values(cls, l1, l2, fusion, n_features, penalty_factors=None):
        factors = np.append(0.0, np.ones(n_features) if penalty_factors is None else penalty_factors)
        l1, l2, fusion = (np.broadcast_to(np.asarray(value, dtype=float), 1 + n_features) for value in (l1, l2, fusion))
        return cls(l1 * factors, l2 * factors, np.array(fusion))


class Problem(problem.Problem):
    """Problems of the package from tables, and back."""

    @classmethod
    def build(cls, data: Data, tasks: TaskGraph, penalty_factors=None, fuse_intercepts=True):
        factors = problem.Penalty.factors(data.n_features, penalty_factors, fuse_intercepts=fuse_intercepts)
        return cls.wide(data.X, data.labels, tasks, data.weights, data.offset, factors)

    @property
    def data(self) -> Data:
        return Data.of(self)


def linear_predictor(data, params):
    return data.offset + params[0] + data.X @ params[1:]


def loss(data, linear):
    return float(np.sum(data.weights * pointwise_loss(data.signs * linear)))


def loss_derivatives(data, linear):
    return -data.weights * data.signs * sigmoid(-data.signs * linear), data.weights * pointwise_curvature(linear)


def gradient(data, residual):
    return np.vstack([residual.sum(axis=0), data.X.T @ residual])


def penalty_value(params, penalty, tasks):
    size = penalty.l1 @ np.abs(params).sum(axis=1) + 0.5 * penalty.l2 @ np.square(params).sum(axis=1)
    return float(size + penalty.fusion @ (np.abs(tasks.differences(params)) @ tasks.weights))


def objective(data, params, penalty, tasks):
    return loss(data, linear_predictor(data, params)) + penalty_value(params, penalty, tasks)


def gap_unit(data, value):
    return max(value, 1e-3 * loss(data, data.offset))


def _per_label(values, shape, default):
    array = np.asarray(default if values is None else values, dtype=float)
    return np.array(np.broadcast_to(array[:, None] if array.ndim == 1 else array, shape))
