"""Log-likelihood by task, of a fit and of intercepts alone."""

from __future__ import annotations

import numpy as np

from .objective import Data, gradient, linear_predictor, loss_derivatives, pointwise_loss, sigmoid

__all__ = ["information", "loglike", "null_loglike", "score"]


def loglike(data: Data, params: np.ndarray) -> np.ndarray:
    """Log-likelihood of each task at coefficients of shape (1 + d, t), shape (t,)."""
    return -(data.weights * pointwise_loss(data.signs * linear_predictor(data, params))).sum(axis=0)


def score(data: Data, params: np.ndarray) -> np.ndarray:
    """First derivative of the log-likelihood in the coefficients, shape (1 + d, t)."""
    return -gradient(data, loss_derivatives(data, linear_predictor(data, params))[0])


def information(data: Data, params: np.ndarray) -> np.ndarray:
    """Minus the second derivative of the log-likelihood in the coefficients of each task, shape (t, 1 + d, 1 + d)."""
    curvature = loss_derivatives(data, linear_predictor(data, params))[1]
    design = np.column_stack([np.ones(data.n_rows), data.X])
    return np.array([design.T @ (weights[:, None] * design) for weights in curvature.T])


def null_loglike(data: Data) -> np.ndarray:
    """Largest log-likelihood of each task with an intercept and the offset only, shape (t,)."""
    return np.array([_null_loglike(data.signs[:, k], data.weights[:, k], data.offset[:, k])
                     for k in range(data.n_tasks)])


def _null_loglike(signs, weights, offset):
    share = weights @ (signs > 0) / weights.sum()
    if share in (0.0, 1.0):
        return 0.0
    middle = np.log(share) - np.log1p(-share)
    intercept = _null_intercept(signs, weights, offset, middle) if offset.any() else middle
    return -float(weights @ pointwise_loss(signs * (offset + intercept)))


def _null_intercept(signs, weights, offset, middle):
    """Root of the score; at either end every probability is on one side of the share of yes."""
    from scipy.optimize import brentq

    def score(intercept):
        return weights @ ((signs > 0) - sigmoid(offset + intercept))

    low, high = middle - offset.max(), middle - offset.min()
    return low if low == high else brentq(score, low - 1e-9, high + 1e-9, xtol=1e-12)
