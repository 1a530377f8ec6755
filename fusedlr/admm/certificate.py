"""When the ADMM may stop: a duality gap from its own multipliers, and signs that there is no minimiser."""

from dataclasses import dataclass

import numpy as np

from ..objective import gap_unit, gradient, linear_predictor, loss_derivatives, objective
from .zeta_update import soft, sum_at_tasks

__all__ = ["Certificate", "certificate", "margins_grow", "recedes"]


@dataclass(frozen=True)
class Certificate:
    """A fit, its objective, its relative duality gap and its margins."""

    params: np.ndarray
    value: float
    gap: float
    margins: np.ndarray


def certificate(data, penalty, tasks, params, pull):
    """Judge a fit by the multipliers of the second level, a split of the penalty's slopes.

    With v = ``pull`` on the edges, the slopes C = [1, X]'r of a dual point r are
    bounded row by row: what v and lambda1 cannot carry is paid for by the ridge; a row
    without ridge scales r down; a row without either needs equality, for which r is
    moved within its weights.
    """
    linear = linear_predictor(data, params)
    value = objective(data, params, penalty, tasks)
    carried = sum_at_tasks(tasks, pull).T
    dual = max(_dual_value(data, penalty, carried, params, linear), 0.0)
    return Certificate(params, value, (value - dual) / gap_unit(data, value), data.signs * linear)


def _dual_value(data, penalty, carried, params, linear):
    """Lower bound on the minimum, -inf where the rows without penalty cannot be met."""
    a, missed = _meet_free_rows(data, penalty, carried, linear)
    if a.min() < 0 or a.max() > 1:
        return -np.inf
    slopes = gradient(data, data.weights * data.signs * a)
    lasso = (penalty.l2 == 0) & (penalty.l1 > 0)
    excess = np.abs(slopes - carried)[lasso] / penalty.l1[lasso, None]
    a = a / max(1.0, excess.max(initial=0.0))
    entropy = -_xlogx(a) - _xlogx(1.0 - a)
    ridge = penalty.l2 > 0
    rest = soft(gradient(data, data.weights * data.signs * a)[ridge] - carried[ridge], penalty.l1[ridge, None])
    # Where free rows are met but for ``missed``, weak duality at any B loses at most sum(missed * |B|). The bound below
    # therefore holds against every B with |B| <= 10 (1 + |params|) and is no proof beyond; it decides when to stop, and
    # the referee's gap, which needs no such limit, is what a result reports.
    paid = np.sum(rest**2, axis=1) @ (0.5 / penalty.l2[ridge]) + 10.0 * np.sum(missed * (1.0 + np.abs(params)))
    return float(np.sum(data.weights * (entropy - a * data.signs * data.offset)) - paid)


def _meet_free_rows(data, penalty, carried, linear):
    """Dual point near the fitted one whose slopes equal ``carried`` in rows without penalty.

    Also by how much they still differ, shape (1 + d, t): rounding, but in a task without
    labels, whose slopes are 0, it is the residual of the second level.
    """
    free = np.flatnonzero((penalty.l1 == 0) & (penalty.l2 == 0))
    columns = np.column_stack([np.ones(data.n_rows), data.X[:, free[1:] - 1]])
    residual, curvature = loss_derivatives(data, linear)
    r, missed = -residual, np.zeros_like(carried)
    for j in range(data.n_tasks):
        weighted = columns * curvature[:, [j]]
        normal = columns.T @ weighted
        for _ in range(2):
            miss = columns.T @ r[:, j] - carried[free, j]
            r[:, j] -= weighted @ np.linalg.lstsq(normal, miss, rcond=None)[0]
        missed[free, j] = np.abs(columns.T @ r[:, j] - carried[free, j])
    return np.divide(r, data.weights * data.signs, out=np.zeros_like(r), where=data.weights > 0), missed


def _xlogx(a):
    return a * np.log(np.where(a > 0, a, 1.0))


def recedes(data, penalty, params):
    """Whether the fit itself proves that there is no minimiser.

    It does where its penalty-free part, rows without lasso and ridge and the same in
    all tasks where fused, misclassifies nothing: moving along it lowers the loss
    for ever and costs no penalty.
    """
    free = ((penalty.l1 == 0) & (penalty.l2 == 0))[:, None]
    fused = (penalty.fusion > 0)[:, None]
    alone = np.where(free & ~fused, params, 0.0)
    common = np.where(free & fused, params.mean(axis=1, keepdims=True), alone)
    one_task, all_tasks = (np.where(data.weights > 0, data.signs * (b[0] + data.X @ b[1:]), 0.0)
                           for b in (alone, common))
    return bool(((one_task >= 0).all(axis=0) & (one_task > 0).any(axis=0)).any()
                or ((all_tasks >= 0).all() and (all_tasks > 0).any()))


def margins_grow(data, penalty, before, now):
    """Whether nothing is penalised but differences, and some task's margins are positive and still growing."""
    if before is None or penalty.l1.any() or penalty.l2.any():
        return False
    before, now = (np.where(data.weights > 0, m, np.inf).min(axis=0) for m in (before, now))
    return bool(((now > 0) & (now > before) & np.isfinite(now)).any())
