"""When the ADMM may stop: a duality gap from its own multipliers, and signs that there is no minimiser."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

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
    """Judge a fit by a lower bound on the objective, from the multipliers of the second level.

    For a between 0 and 1, margins m = signs * linear predictor and H the binary entropy,
    log(1 + exp(-m)) >= H(a) - a m. For v = ``pull`` within nu * weight on every edge, the
    fusion of B is at least <D'v, B>, where D takes differences along the edges. Summed up,
    with C = [1, X]'(weights * signs * a), every B has

        objective(B) >= sum weights * (H(a) - a * signs * offset)
                        + sum (lambda1 abs(B) + lambda2 / 2 B^2 - (C - D'v) B).

    The last sum, minimised over B number by number, is -S(C - D'v, lambda1)^2 / (2 lambda2)
    with ridge, S being ``soft``. Without ridge it is 0 where abs(C - D'v) <= lambda1, to which
    a and v are scaled down together, and where neither lasso nor ridge acts it asks
    for C = D'v, to which v and then a are moved.
    """
    linear = linear_predictor(data, params)
    value = objective(data, params, penalty, tasks)
    dual = max(_dual_value(data, penalty, tasks, pull, linear), 0.0)
    return Certificate(params, value, (value - dual) / gap_unit(data, value), data.signs * linear)


def _dual_value(data, penalty, tasks, pull, linear):
    """Lower bound on the minimum, -inf where rows without lasso and ridge cannot be met."""
    free = np.flatnonzero((penalty.l1 == 0) & (penalty.l2 == 0))
    columns = np.column_stack([np.ones(data.n_rows), data.X[:, free[1:] - 1]])
    moved = pull.copy()
    moved[:, free] = _consistent(data, tasks, columns, pull[:, free], penalty.fusion[free])
    carried = sum_at_tasks(tasks, moved).T
    a = _meet(data, columns, carried[free], np.abs(pull[:, free]).sum(axis=0), linear)
    if a is None:
        return -np.inf
    slopes = gradient(data, data.weights * data.signs * a)
    lasso = (penalty.l2 == 0) & (penalty.l1 > 0)
    excess = np.abs(slopes - carried)[lasso] / penalty.l1[lasso, None]
    a = a / max(1.0, excess.max(initial=0.0))
    entropy = -_xlogx(a) - _xlogx(1.0 - a)
    ridge = penalty.l2 > 0
    rest = soft(gradient(data, data.weights * data.signs * a)[ridge] - carried[ridge], penalty.l1[ridge, None])
    paid = np.sum(rest**2, axis=1) @ (0.5 / penalty.l2[ridge])
    return float(np.sum(data.weights * (entropy - a * data.signs * data.offset)) - paid)


def _consistent(data, tasks, columns, pull, fusion):
    """The multipliers moved and scaled down, so that slopes equal to D'v exist in every task; (edges, f) both.

    Slopes of a task are combinations of its labelled rows. Where these do not span all free
    columns, as in a task without labels, D'v must vanish on the directions they leave out.
    """
    bound = tasks.weights[:, None] * fusion
    left_out = [null_space(np.linalg.qr(columns * used[:, None], mode="r")).T for used in data.weights.T > 0]
    if not bound.any() or not sum(map(len, left_out)):
        return pull
    ends = sum_at_tasks(tasks, np.eye(len(tasks.edges)))
    equalities = np.vstack([np.kron(end, rows * (fusion > 0)) for end, rows in zip(ends, left_out)])
    moved = pull - np.linalg.lstsq(equalities, equalities @ pull.ravel(), rcond=None)[0].reshape(pull.shape)
    moved[bound == 0] = 0.0
    return moved / max(1.0, np.max(np.abs(moved)[bound > 0] / bound[bound > 0]))


def _meet(data, columns, target, load, linear):
    """Dual point near the fitted one whose slopes along ``columns`` equal ``target``, None where none was found.

    Equal up to rounding: within 1e-14 of the sizes added up on both sides (``load`` for the
    target), as the referee asks.
    """
    largest = np.abs(columns).max(axis=0)
    largest[largest == 0] = 1.0
    columns, target, load = columns / largest, target / largest[:, None], (load / largest)[:, None]
    residual, curvature = loss_derivatives(data, linear)
    r = -residual
    for j in range(data.n_tasks):
        weighted = columns * curvature[:, [j]]
        normal = columns.T @ weighted
        for _ in range(2):
            miss = columns.T @ r[:, j] - target[:, j]
            r[:, j] -= weighted @ np.linalg.lstsq(normal, miss, rcond=None)[0]
    a = np.divide(r, data.weights * data.signs, out=np.zeros_like(r), where=data.weights > 0)
    met = np.abs(columns.T @ r - target) <= 1e-14 * (np.abs(columns).T @ np.abs(r) + load)
    return a if met.all() and a.min() >= 0 and a.max() <= 1 else None


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
