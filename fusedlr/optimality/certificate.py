"""The certificate of a point: its duality gap, and its violation of the KKT conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from ..objective import gap_unit, gradient, objective
from ..problem import Penalty, Problem
from ..tasks import TaskGraph
from .dual import attempts, dual_point, meet, polish, sum_groups
from .gauge import largest_gauge
from .splits import least_rest, transposed_differences

__all__ = ["Certificate", "certify", "kkt_violation"]


@dataclass(frozen=True)
class Certificate:
    """What is proved about one point.

    Attributes
    ----------
    objective : float
    dual : float
        Value of a feasible dual point: the minimum is not below it.
    gap : float
        ``objective - dual``, an upper bound on how far the objective is above its minimum.
    relative_gap : float
        ``gap`` divided by ``objective.gap_unit``.
    kkt : float
        Largest distance over rows from 0 to the subdifferential.
    kind : str
        "gap" where the dual point is informative, "kkt" where only the trivial one, whose
        value is 0, was found.
    """

    objective: float
    dual: float
    gap: float
    relative_gap: float
    kkt: float
    kind: str


def certify(problem: Problem, params: np.ndarray, penalty: Penalty) -> Certificate:
    """Judge a point: duality gap and violation of the KKT conditions.

    Parameters
    ----------
    problem : problem.Problem
    params : ndarray, shape (1 + d, t)
        Any finite point, intercepts in row 0.
    penalty : objective.Penalty

    Returns
    -------
    Certificate
    """
    penalty = _without_idle_fusion(penalty, problem.tasks)
    linear = problem.linear(params)
    value = objective(problem, params, penalty)
    bounds = (_lower_bound(problem, linear, penalty, groups) for groups in attempts(problem, params, penalty))
    found = [bound for bound in bounds if bound is not None]
    dual = max([0.0, *found])
    return Certificate(objective=value, dual=dual, gap=value - dual,
                       relative_gap=(value - dual) / gap_unit(problem, value),
                       kkt=kkt_violation(params, gradient(problem, params), penalty, problem.tasks),
                       kind="gap" if found else "kkt")


def kkt_violation(params: np.ndarray, gradient: np.ndarray, penalty: Penalty, tasks: TaskGraph) -> float:
    """Violation of the KKT conditions: distance from 0 to the subdifferential.

    ``params`` minimises the objective exactly when, for every row, subgradients of the
    absolute values and of the differences along the edges cancel the smooth gradient. A
    subgradient is fixed where its argument is non-zero and free within its range where it
    is zero. Nothing here knows how ``params`` was computed, so this judges every solver.

    Parameters
    ----------
    params : ndarray, shape (1 + d, t)
    gradient : ndarray, shape (1 + d, t)
        Gradient of the loss alone (``objective.gradient``); the ridge is added here.
    penalty : objective.Penalty
    tasks : TaskGraph

    Returns
    -------
    float
        Largest Euclidean residual over rows; 0 at the minimiser.
    """
    sides = np.sign(tasks.differences(params))
    bound = penalty.fusion[:, None] * tasks.weights
    pinned = (penalty.l2[:, None] * params + penalty.l1[:, None] * np.sign(params)
              + transposed_differences(bound * sides, tasks))
    free_size = np.where(params == 0, penalty.l1[:, None], 0.0)
    rest = least_rest(-gradient - pinned, free_size, np.where(sides == 0, bound, 0.0), tasks)
    return float(np.sqrt(np.square(rest).sum(axis=1).max()))


def _without_idle_fusion(penalty, tasks):
    """The same penalty where a graph has no edges for its fusion to act on."""
    return penalty if len(tasks.edges) else replace(penalty, fusion=np.zeros_like(penalty.fusion))


def _lower_bound(problem, linear, penalty, groups):
    """Value of a feasible dual point near the fitted one, or None where none was found."""
    labels, tasks = problem.labels, problem.tasks
    a = dual_point(labels, polish(problem, linear, groups))
    a = meet(problem, a, sum_groups(penalty, tasks))
    if a is None:
        return None
    slopes = problem.design.gradient(labels.weight * labels.sign * a, labels)
    shrink = max(1.0, largest_gauge(slopes, penalty, tasks))
    a, slopes = a / shrink, slopes / shrink
    ridge = penalty.l2 > 0
    size = np.broadcast_to(penalty.l1[ridge, None], slopes[ridge].shape)
    rest = least_rest(slopes[ridge], size, penalty.fusion[ridge, None] * tasks.weights, tasks)
    entropy = -xlogy(a, a) - xlogy(1.0 - a, 1.0 - a)
    paid = np.square(rest).sum(axis=1) @ (0.5 / penalty.l2[ridge])
    return float(np.sum(labels.weight * (entropy - a * labels.sign * problem.design.shift(labels))) - paid)
