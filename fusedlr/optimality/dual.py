"""Feasible dual points near a fitted one: equality constraints on slopes, and Newton steps to meet them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky

from ..objective import loss, loss_derivatives, sigmoid
from ..problem import Design
from .splits import transposed_differences

__all__ = ["Groups", "attempts", "dual_point", "meet", "pattern_groups", "polish", "sum_groups"]

_PATTERN_GROUPS = 3000  # largest linear system for a tighter dual point: a few seconds
_POLISH_STEPS = 25
_ITS_OWN = 1e-6  # least share of a column's squared norm outside the span of others, for it to count as independent


def dual_point(labels, linear):
    """Probability of the other label: the dual point that belongs to a linear predictor, shape (m,)."""
    return sigmoid(-labels.sign * linear)


@dataclass(frozen=True)
class Groups:
    """Equality constraints on slopes: for each, the sum over some tasks of one row has a target.

    Attributes
    ----------
    row : ndarray, shape (g,)
    member : ndarray of bool, shape (g, t)
    target : ndarray, shape (g,)
    ridge : ndarray, shape (g,)
        Derivative of the target in the group's coefficients.
    """

    row: np.ndarray
    member: np.ndarray
    target: np.ndarray
    ridge: np.ndarray

    def columns(self, problem):
        """A design with the column of each constraint."""
        return Design(problem.design.columns(self.row))

    def miss(self, labels, columns, a):
        """Residuals of the constraints: sums of slopes minus targets, shape (g,)."""
        return self._sums(columns.gradient(labels.weight * labels.sign * a, labels)) - self.target

    def load(self, labels, columns, a):
        """Sum of the absolute terms of ``miss``, the scale of its rounding error, shape (g,)."""
        return self._sums(Design(np.abs(columns.X)).gradient(labels.weight * a, labels))

    def _sums(self, slopes):
        return np.where(self.member, slopes[1:], 0.0).sum(axis=1)

    def normal_matrix(self, labels, columns, curvature):
        """Gram matrix of the constraints in the metric of the curvature, shape (g, g)."""
        matrix = np.zeros((len(self.row), len(self.row)))
        for k, part in enumerate(labels.parts):
            mine = np.flatnonzero(self.member[:, k])
            design = columns.X[np.ix_(labels.row[part], mine)]
            matrix[np.ix_(mine, mine)] += design.T @ (design * curvature[part, None])
        return matrix

    def take(self, which):
        """Some of the constraints."""
        return Groups(self.row[which], self.member[which], self.target[which], self.ridge[which])

    def combine(self, labels, columns, z):
        """The constraints' columns times ``z``, in each task where they apply, shape (m,)."""
        inside = np.where(self.member, z[:, None], 0.0)
        return columns.linear(np.vstack([np.zeros(labels.n_tasks), inside]), labels)


def attempts(problem, params, penalty):
    """Constraints to try: those that support and ties of the point imply, and the indispensable ones alone.

    The first give a gap of second order in the error of a nearly optimal point; the second
    are safer far from the minimum. Of nearly collinear columns whose slopes should differ, only
    those with larger coefficients are tried.
    """
    needed = sum_groups(penalty, problem.tasks)
    for with_ridge in (True, False):
        pattern = pattern_groups(params, penalty, problem.tasks, with_ridge)
        if len(pattern.row) <= _PATTERN_GROUPS:
            leading = _leading(problem, params, pattern)
            return [pattern, needed] if len(leading.row) == len(pattern.row) else [pattern, leading, needed]
    return [needed]


def _leading(problem, params, groups):
    """The constraints without those nearly collinear with others of larger coefficients."""
    size = np.abs(params[groups.row, groups.member.argmax(axis=1)])
    order = np.argsort(-size, kind="stable")
    labels = problem.labels
    matrix = groups.normal_matrix(labels, groups.columns(problem), labels.weight)[np.ix_(order, order)]
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-200))
    factor = cholesky(matrix / scale[:, None] / scale + 1e-3 * _ITS_OWN * np.eye(len(order)), lower=True)
    return groups.take(np.sort(order[np.square(factor.diagonal()) > _ITS_OWN]))


def sum_groups(penalty, tasks):
    """Constraints of rows without lasso and ridge: slopes of connected tasks sum to 0."""
    free = np.flatnonzero((penalty.l1 == 0) & (penalty.l2 == 0))
    joint = tasks.components()
    label = np.where(penalty.fusion[free, None] > 0, joint, np.arange(tasks.n_tasks))
    row, member = _split_labels(free, label)
    return Groups(row, member, np.zeros(len(row)), np.zeros(len(row)))


def pattern_groups(params, penalty, tasks, with_ridge=True):
    """Tied groups of non-zero or unpenalized rows (with a ridge if wanted), and their slopes by the KKT conditions."""
    free = (penalty.l1 == 0) & (penalty.l2 == 0)
    rows = np.flatnonzero(free | params.any(axis=1) & (with_ridge | (penalty.l2 == 0)))
    values, fused = params[rows], penalty.fusion[rows, None] > 0
    row, member = _split_labels(rows, tasks.groups((tasks.differences(values) == 0) & fused))
    pull = penalty.fusion[:, None] * tasks.weights * np.sign(tasks.differences(params))
    slopes = penalty.l2[:, None] * params + penalty.l1[:, None] * np.sign(params) + transposed_differences(pull, tasks)
    keep = (penalty.l1[row] == 0) | (params[row, member.argmax(axis=1)] != 0)
    row, member = row[keep], member[keep]
    return Groups(row, member, np.where(member, slopes[row], 0.0).sum(axis=1), penalty.l2[row] * member.sum(axis=1))


def _split_labels(rows, label):
    """One (row, members) pair for each label of each row."""
    member = label[:, None, :] == np.arange(label.shape[1])[None, :, None]
    used = member.any(axis=2)
    return np.repeat(rows, used.sum(axis=1)), member[used]


def polish(problem, linear, groups):
    """Move the linear predictor along the constraints' columns until its dual point meets them.

    Newton's method on a convex function, stopped where it makes no progress: the result
    is a starting point for ``meet``, without any guarantee.
    """
    if not len(groups.row):
        return linear
    labels, columns, moved = problem.labels, groups.columns(problem), np.zeros(len(groups.row))
    for _ in range(_POLISH_STEPS):
        miss = groups.miss(labels, columns, dual_point(labels, linear)) - groups.ridge * moved
        if np.abs(miss).max() <= 1e-13 * labels.weight.sum():
            break
        curvature = loss_derivatives(labels, linear)[1]
        step = _solve(groups.normal_matrix(labels, columns, curvature) + np.diag(groups.ridge), miss)
        if np.abs(step).max() > 1e100:  # hardly any curvature is left
            break
        tilt = (groups.target + groups.ridge * moved) @ step, 0.5 * groups.ridge @ np.square(step)
        change = groups.combine(labels, columns, step)
        length = _step_length(labels, linear, change, tilt, miss @ step)
        if length == 0:
            break
        linear, moved = linear + length * change, moved + length * step
    return linear


def _step_length(labels, linear, change, tilt, promise):
    """Backtracking line search on the loss plus a linear and a square term; 0 if no step down to 1e-6 lowers it."""
    start, length = loss(labels, linear), 1.0
    while length > 1e-6:
        added = length * tilt[0] + length * length * tilt[1]
        if loss(labels, linear + length * change) + added <= start - 1e-4 * length * promise + 1e-14 * start:
            return length
        length *= 0.5
    return 0.0


def meet(problem, a, groups):
    """Projection of a dual point onto the constraints, in the metric of the curvature.

    A move is proportional to a (1 - a), so that a small one stays between 0 and 1; None where
    it does not, where the constraints are inconsistent, and where only a = 0 is left.
    """
    labels = problem.labels
    a = np.where(labels.weight > 0, a, 0.0)
    if not len(groups.row):
        return a
    columns = groups.columns(problem)
    a = np.where(_forced_to_zero(labels, columns, groups), 0.0, a)
    for _ in range(8):
        miss, rounding = groups.miss(labels, columns, a), groups.load(labels, columns, a)
        if (np.abs(miss) <= 2e-16 * rounding).all():
            break
        step = _solve(groups.normal_matrix(labels, columns, labels.weight * a * (1.0 - a)), miss)
        a = a - labels.sign * a * (1.0 - a) * groups.combine(labels, columns, step)
        if not (np.isfinite(a).all() and a.min() >= 0 and a.max() <= 1):
            return None
    met = (np.abs(groups.miss(labels, columns, a)) <= 1e-14 * groups.load(labels, columns, a)).all()
    return a if met and a.any() else None


def _forced_to_zero(labels, columns, groups):
    """Where a sum of terms of one sign must be 0, as for the intercept of a task with one class, shape (m,)."""
    forced = np.zeros(labels.size, dtype=bool)
    for column, member in zip(columns.X.T, groups.member):
        terms = np.where(member[labels.task], column[labels.row] * labels.weight * labels.sign, 0.0)
        if (terms >= 0).all() or (terms <= 0).all():
            forced |= terms != 0
    return forced


def _solve(matrix, right):
    """Solution of a symmetric system with a ridge of rounding size; the callers iterate.

    Unknowns without curvature stay 0: moving them would change nothing.
    """
    solution = np.zeros_like(right)
    alive = np.flatnonzero(matrix.diagonal() > 1e-200)
    if not len(alive):
        return solution
    scale = np.sqrt(matrix.diagonal()[alive])
    scaled, right = matrix[np.ix_(alive, alive)] / scale[:, None] / scale, right[alive] / scale
    for ridge in (1e-15, 1e-13):
        try:
            solution[alive] = cho_solve(cho_factor(scaled + ridge * np.eye(len(alive))), right) / scale
            return solution
        except LinAlgError:
            continue
    solution[alive] = np.linalg.lstsq(scaled, right, rcond=1e-11)[0] / scale
    return solution
