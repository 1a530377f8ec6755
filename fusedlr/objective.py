"""The objective of fused elastic-net logistic regression, stated here and nowhere else.

With ``params`` B of shape (1 + d, t), intercepts in row 0, and linear predictor
eta = offset + [1, X] B, the objective is

    sum over labels of row i and task k    weight * log(1 + exp(-sign * eta_ik))
    + sum_l l1_l * sum_k |B_lk|  +  sum_l l2_l / 2 * sum_k B_lk^2
    + sum_l fusion_l * sum_edges weight_jk * |B_lj - B_lk|

It is a sum over labels, not a mean. The intercept row carries no l1 and no l2, and is fused
where ``fusion[0]`` is positive. In the paper's letters l1, l2 and fusion are lambda1, lambda2
and nu; glmnet's lambda is (l1 + l2) / n. ``problem`` fixes all shapes.
"""

from __future__ import annotations

import numpy as np

from .problem import Labels, Penalty, Problem
from .tasks import TaskGraph

__all__ = ["gap_unit", "gradient", "information", "loss", "loss_derivatives", "objective", "penalty_value",
           "pointwise_curvature", "pointwise_loss", "sigmoid"]


# ---- the logistic loss ----------------------------------------------------------------------------------------------

def pointwise_loss(margin: np.ndarray) -> np.ndarray:
    """Logistic loss log(1 + exp(-margin)), without overflow; the margin is sign times linear predictor."""
    return np.logaddexp(0.0, -margin)


def sigmoid(linear: np.ndarray) -> np.ndarray:
    """Logistic function 1 / (1 + exp(-linear)), the probability of yes, without overflow."""
    small = np.exp(-np.abs(linear))
    return np.where(linear < 0, small, 1.0) / (1.0 + small)


def pointwise_curvature(linear: np.ndarray) -> np.ndarray:
    """Bernoulli variance p (1 - p) with p the sigmoid of the linear predictor, without cancellation."""
    small = np.exp(-np.abs(linear))
    return small / (1.0 + small) ** 2


def loss(labels: Labels, linear: np.ndarray) -> float:
    """Weighted negative log-likelihood at a linear predictor of every label."""
    return float(np.sum(labels.weight * pointwise_loss(labels.sign * linear)))


def loss_derivatives(labels: Labels, linear: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative of the loss in each linear predictor, both (m,)."""
    first = -labels.weight * labels.sign * sigmoid(-labels.sign * linear)
    return first, labels.weight * pointwise_curvature(linear)


# ---- the objective --------------------------------------------------------------------------------------------------

def gradient(problem: Problem, params: np.ndarray) -> np.ndarray:
    """Gradient of the loss in the coefficients, shape (1 + d, t)."""
    first = loss_derivatives(problem.labels, problem.linear(params))[0]
    return problem.design.gradient(first, problem.labels)


def information(problem: Problem, params: np.ndarray) -> np.ndarray:
    """Hessian of the loss in the coefficients of each task, shape (t, 1 + d, 1 + d)."""
    second = loss_derivatives(problem.labels, problem.linear(params))[1]
    design = problem.design.columns(np.arange(1 + problem.n_features))
    parts = [(design[problem.labels.row[part]], second[part]) for part in problem.labels.parts]
    return np.array([columns.T @ (weights[:, None] * columns) for columns, weights in parts])


def penalty_value(params: np.ndarray, penalty: Penalty, tasks: TaskGraph) -> float:
    """Value of the three penalties."""
    size = penalty.l1 @ np.abs(params).sum(axis=1) + 0.5 * penalty.l2 @ np.square(params).sum(axis=1)
    return float(size + penalty.fusion @ (np.abs(tasks.differences(params)) @ tasks.weights))


def objective(problem: Problem, params: np.ndarray, penalty: Penalty) -> float:
    """Value of the objective."""
    return loss(problem.labels, problem.linear(params)) + penalty_value(params, penalty, problem.tasks)


def gap_unit(problem: Problem, value: float) -> float:
    """Denominator of the relative duality gap.

    The objective, but at least a thousandth of the loss at zero coefficients, so that
    a fit whose objective tends to 0 can still be certified.
    """
    return max(value, 1e-3 * loss(problem.labels, problem.design.shift(problem.labels)))
