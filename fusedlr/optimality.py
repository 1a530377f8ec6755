"""The referee: how far a point can be from the minimum, whoever computed it.

Weak duality gives a proof that needs no trust in a solver. For every a in [0, 1],
with slopes C = [1, X]'(weights * signs * a) and H the binary entropy,

    D(a) = sum weights * (H(a) - a * signs * offset) - sum_l Omega*_l(C_l)

is at most the minimum of the objective, so objective - D(a) bounds the suboptimality of
any point. Omega*_l, the conjugate of the penalty of row l, depends on what the row
carries. A *split* of c is c = u + D'v + rest with abs(u) <= l1 on the tasks and
abs(v) <= fusion * weight on the edges, D taking differences along the edges.

- l2 > 0: the least ||rest||^2 / (2 l2) over all splits. Any split gives a value that is
  too large, never too small, so an inexact split weakens the proof but cannot break it.
- l2 = 0: 0 if c has a split without rest, else infinite. The least s such that c / s has
  one is the *gauge* of c; dividing a by the largest gauge makes every row fit.
- l1 = l2 = 0 (the intercept, features with penalty factor 0): besides, the slopes of each
  connected group of tasks must sum to 0. a is moved, within its weights, until they do.

a = 0 is always feasible and gives D = 0. Where nothing better is found, typically because
the data are separated and rows are free of penalty, the gap says little and the
distance to the optimality conditions is what certifies: ``Certificate.kind`` tells.

This module imports no solver.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import xlogy

from .objective import gap_scale, gradient, linear_predictor, loss, loss_derivatives, objective, sigmoid

__all__ = ["Certificate", "certify", "kkt_violation"]

_CELLS = 4_000_000  # numbers held at once where subsets of tasks are tried
_SUBSET_TASKS = 12  # up to this many tasks every subset is tried; beyond, a linear program
_PATTERN_GROUPS = 600  # largest linear system for a tighter dual point
_SPLIT_STEPS = 4000
_POLISH_STEPS = 25


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
        ``gap`` divided by ``objective.gap_scale``.
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


def certify(problem, params, penalty):
    """Judge a point: duality gap and distance to the optimality conditions.

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
    data, tasks = problem.data, problem.tasks
    penalty = _without_idle_fusion(penalty, tasks)
    linear = linear_predictor(data, params)
    slopes = gradient(data, loss_derivatives(data, linear)[0])
    value = objective(data, params, penalty, tasks)
    bounds = (_lower_bound(data, linear, penalty, tasks, groups) for groups in _attempts(params, penalty, tasks))
    found = [bound for bound in bounds if bound is not None]
    dual = max([0.0, *found])
    return Certificate(objective=value, dual=dual, gap=value - dual,
                       relative_gap=(value - dual) / gap_scale(data, value),
                       kkt=kkt_violation(params, slopes, penalty, tasks), kind="gap" if found else "kkt")


def kkt_violation(params, gradient, penalty, tasks):
    """Distance from a point to satisfying the optimality conditions.

    ``params`` minimises the objective exactly when, for every row, slopes of the absolute
    values and of the differences along the edges cancel the smooth gradient. A slope is
    pinned where its argument is non-zero and free within its range where it is zero.
    Nothing here knows how ``params`` was computed, so this judges every solver.

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
    pinned = penalty.l2[:, None] * params + penalty.l1[:, None] * np.sign(params) + _spread(bound * sides, tasks)
    free_size = np.where(params == 0, penalty.l1[:, None], 0.0)
    rest = _least_rest(-gradient - pinned, free_size, np.where(sides == 0, bound, 0.0), tasks)
    return float(np.sqrt(np.square(rest).sum(axis=1).max()))


def _without_idle_fusion(penalty, tasks):
    """The same penalty where a graph has no edges for its fusion to act on."""
    return penalty if len(tasks.edges) else replace(penalty, fusion=np.zeros_like(penalty.fusion))


def _lower_bound(data, linear, penalty, tasks, groups):
    """Value of a feasible dual point near the fitted one, or None where none was found."""
    a = _miss(data, _polish(data, linear, groups))
    a = _meet(data, a, _sum_groups(penalty, tasks))
    if a is None:
        return None
    slopes = gradient(data, data.weights * data.signs * a)
    shrink = max(1.0, _largest_gauge(slopes, penalty, tasks))
    a, slopes = a / shrink, slopes / shrink
    ridge = penalty.l2 > 0
    size = np.broadcast_to(penalty.l1[ridge, None], slopes[ridge].shape)
    rest = _least_rest(slopes[ridge], size, penalty.fusion[ridge, None] * tasks.weights, tasks)
    entropy = -xlogy(a, a) - xlogy(1.0 - a, 1.0 - a)
    paid = np.square(rest).sum(axis=1) @ (0.5 / penalty.l2[ridge])
    return float(np.sum(data.weights * (entropy - a * data.signs * data.offset)) - paid)


def _miss(data, linear):
    """Probability of the other label: the dual point that belongs to a linear predictor."""
    return sigmoid(-data.signs * linear)


# Equalities that a dual point should meet.


@dataclass(frozen=True)
class _Groups:
    """Equalities on slopes: for each, the sum over some tasks of one row has a target.

    Attributes
    ----------
    row : ndarray, shape (g,)
    member : ndarray of bool, shape (g, t)
    target : ndarray, shape (g,)
    """

    row: np.ndarray
    member: np.ndarray
    target: np.ndarray

    def columns(self, data):
        """Column of the design that belongs to each equality, shape (n, g)."""
        columns = data.X[:, np.maximum(self.row, 1) - 1]
        columns[:, self.row == 0] = 1.0
        return columns

    def miss(self, data, columns, a):
        """By how much the sums of slopes exceed their targets, shape (g,)."""
        slopes = columns.T @ (data.weights * data.signs * a)
        return np.where(self.member, slopes, 0.0).sum(axis=1) - self.target

    def load(self, data, columns, a):
        """Sum of the sizes of what ``miss`` adds up, the measure of its rounding error, shape (g,)."""
        return np.where(self.member, np.abs(columns).T @ (data.weights * a), 0.0).sum(axis=1)

    def normal_matrix(self, columns, curvature):
        """Inner products of the equalities in the metric of the curvature, shape (g, g)."""
        matrix = np.zeros((len(self.row), len(self.row)))
        for k in range(self.member.shape[1]):
            mine = np.flatnonzero(self.member[:, k])
            part = columns[:, mine]
            matrix[np.ix_(mine, mine)] += part.T @ (part * curvature[:, [k]])
        return matrix

    def combine(self, columns, z):
        """The equalities' columns times ``z``, in each task where they apply, shape (n, t)."""
        return columns @ np.where(self.member, z[:, None], 0.0)


def _attempts(params, penalty, tasks):
    """Equalities to aim at: what the point's own pattern implies, and the indispensable ones alone.

    The first gives a gap of second order in the error of a nearly optimal point; the
    second is the safer choice far from the minimum.
    """
    needed = _sum_groups(penalty, tasks)
    pattern = _pattern_groups(params, penalty, tasks)
    return [pattern, needed] if len(pattern.row) <= _PATTERN_GROUPS else [needed]


def _sum_groups(penalty, tasks):
    """Rows without lasso and ridge: slopes of tasks that hang together sum to 0."""
    free = np.flatnonzero((penalty.l1 == 0) & (penalty.l2 == 0))
    joint = tasks.components()
    label = np.where(penalty.fusion[free, None] > 0, joint, np.arange(tasks.n_tasks))
    row, member = _split_labels(free, label)
    return _Groups(row, member, np.zeros(len(row)))


def _pattern_groups(params, penalty, tasks):
    """Tied groups in rows without ridge that are non-zero or free: their slopes at a minimiser."""
    rows = np.flatnonzero((penalty.l2 == 0) & ((penalty.l1 == 0) | params.any(axis=1)))
    values, fused = params[rows], penalty.fusion[rows, None] > 0
    row, member = _split_labels(rows, tasks.groups((tasks.differences(values) == 0) & fused))
    slopes = (penalty.l1[:, None] * np.sign(params)
              + _spread(penalty.fusion[:, None] * tasks.weights * np.sign(tasks.differences(params)), tasks))
    keep = (penalty.l1[row] == 0) | (params[row, member.argmax(axis=1)] != 0)
    row, member = row[keep], member[keep]
    return _Groups(row, member, np.where(member, slopes[row], 0.0).sum(axis=1))


def _split_labels(rows, label):
    """One (row, members) pair for each label of each row."""
    member = label[:, None, :] == np.arange(label.shape[1])[None, :, None]
    used = member.any(axis=2)
    return np.repeat(rows, used.sum(axis=1)), member[used]


def _polish(data, linear, groups):
    """Move the linear predictor along the equalities' columns until its dual point meets them.

    Newton's method on a convex function, stopped where it no longer gets anywhere: what
    comes back is a good place to start from, and nothing is promised.
    """
    if not len(groups.row):
        return linear
    columns = groups.columns(data)
    for _ in range(_POLISH_STEPS):
        miss = groups.miss(data, columns, _miss(data, linear))
        if np.abs(miss).max() <= 1e-13 * data.weights.sum():
            break
        step = _solve(groups.normal_matrix(columns, loss_derivatives(data, linear)[1]), miss)
        length = _step_length(data, linear, groups.combine(columns, step), groups.target @ step, miss @ step)
        if length == 0:
            break
        linear = linear + length * groups.combine(columns, step)
    return linear


def _step_length(data, linear, change, tilt, promise):
    """Largest power of a half that lowers the loss plus its linear term; 0 if none down to 1e-6."""
    start, length = loss(data, linear), 1.0
    while length > 1e-6:
        if loss(data, linear + length * change) + length * tilt <= start - 1e-4 * length * promise + 1e-14 * start:
            return length
        length *= 0.5
    return 0.0


def _meet(data, a, groups):
    """The nearest dual point, in the metric of the curvature, that meets the equalities.

    A move is proportional to a (1 - a), so that a small one stays between 0 and 1; None where
    it does not, where the equalities contradict each other, and where only a = 0 is left.
    """
    a = np.where(data.weights > 0, a, 0.0)
    if not len(groups.row):
        return a
    columns = groups.columns(data)
    a = np.where(_forced_to_zero(data, columns, groups), 0.0, a)
    for _ in range(8):
        miss, rounding = groups.miss(data, columns, a), groups.load(data, columns, a)
        if (np.abs(miss) <= 2e-16 * rounding).all():
            break
        step = _solve(groups.normal_matrix(columns, data.weights * a * (1.0 - a)), miss)
        a = a - data.signs * a * (1.0 - a) * groups.combine(columns, step)
        if not (np.isfinite(a).all() and a.min() >= 0 and a.max() <= 1):
            return None
    met = (np.abs(groups.miss(data, columns, a)) <= 1e-14 * groups.load(data, columns, a)).all()
    return a if met and a.any() else None


def _forced_to_zero(data, columns, groups):
    """Where a sum of terms of one sign must be 0, as for the intercept of a task with one class."""
    forced = np.zeros(data.signs.shape, dtype=bool)
    for column, member in zip(columns.T, groups.member):
        terms = np.where(member, column[:, None] * data.weights * data.signs, 0.0)
        if (terms >= 0).all() or (terms <= 0).all():
            forced |= terms != 0
    return forced


def _solve(matrix, right):
    """Solution of a symmetric system up to a ridge of rounding size; the callers iterate.

    Unknowns without any curvature stay 0: no move of theirs would change anything.
    """
    solution = np.zeros_like(right)
    alive = np.flatnonzero(matrix.diagonal() > 1e-200)
    if not len(alive):
        return solution
    scale = np.sqrt(matrix.diagonal()[alive])
    scaled = matrix[np.ix_(alive, alive)] / scale[:, None] / scale + 1e-11 * np.eye(len(alive))
    try:
        solution[alive] = cho_solve(cho_factor(scaled), right[alive] / scale) / scale
    except LinAlgError:
        solution[alive] = np.linalg.lstsq(scaled, right[alive] / scale, rcond=1e-11)[0] / scale
    return solution


# Splits of slopes into what lasso and fusion can carry, and a rest.


def _spread(v, tasks):
    """D'v: what multipliers of the edges add to each task, (rows, edges) to (rows, tasks)."""
    return v @ _incidence(tasks)


def _incidence(tasks):
    """D, shape (edges, tasks): +1 at the first end of an edge, -1 at the second."""
    matrix = np.zeros((len(tasks.edges), tasks.n_tasks))
    matrix[np.arange(len(tasks.edges)), tasks.edges[:, 0]] = 1.0
    matrix[np.arange(len(tasks.edges)), tasks.edges[:, 1]] = -1.0
    return matrix


def _soft(c, size):
    return np.sign(c) * np.maximum(np.abs(c) - size, 0.0)


def _least_rest(c, size, bound, tasks):
    """What no split can carry: c - u - D'v of least norm over abs(u) <= size, abs(v) <= bound.

    Parameters
    ----------
    c, size : ndarray, shape (rows, t)
        ``size`` does not vary among tasks joined by edges of positive bound.
    bound : ndarray, shape (rows, n_edges)

    Returns
    -------
    ndarray, shape (rows, t)
        The rest of an explicit split, so its norm is never below the least one.
    """
    rest = _soft(c, size)
    hard = np.flatnonzero(rest.any(axis=1) & (bound > 0).any(axis=1))
    if len(hard) and tasks.is_chain:
        carried = _chain_carries(c[hard], size[hard], bound[hard])
        rest[hard[carried]] = 0.0
        hard = hard[~carried]
    if len(hard):
        solve = _chain_multipliers if tasks.is_chain else _graph_multipliers
        bound = bound[hard]
        v = np.clip(solve(c[hard], size[hard], bound, tasks), -bound, bound)
        rest[hard] = _soft(c[hard] - _spread(v, tasks), size[hard])
    return rest


def _chain_carries(c, size, bound):
    """Which rows of a chain have a split without rest: an interval of multipliers is left at every edge."""
    low, high, possible = np.zeros(len(c)), np.zeros(len(c)), np.ones(len(c), dtype=bool)
    for k, limit in enumerate([*bound.T, 0.0]):
        low, high = np.maximum(low + c[:, k] - size[:, k], -limit), np.minimum(high + c[:, k] + size[:, k], limit)
        possible &= low <= high
    return possible


def _chain_multipliers(c, size, bound, tasks):
    """Exact multipliers on a chain, by total-variation denoising of every row at once.

    Johnson's dynamic program (2013). Going along the chain, the derivative of the best
    cost so far is piecewise linear and increasing; the next edge clips it to its bound, at
    ``low`` and ``high``. Going back, each value is the next one clipped to that interval.
    The lasso needs no place in it: soft-thresholding afterwards gives the same rest.
    """
    bound = np.minimum(bound, 2.0 * np.abs(c).sum(axis=1, keepdims=True))  # no multiplier is larger
    knots = _Knots(c[:, 0], c.shape[1])
    low, high = np.empty_like(bound), np.empty_like(bound)
    for k in range(bound.shape[1]):
        low[:, k], high[:, k] = knots.clip(bound[:, k])
        knots.add(c[:, k + 1], bound[:, k])
    denoised = np.empty_like(c)
    denoised[:, -1] = knots.root()
    for k in reversed(range(bound.shape[1])):
        denoised[:, k] = np.clip(denoised[:, k + 1], low[:, k], high[:, k])
    return np.cumsum(c - denoised, axis=1)[:, :-1]


class _Knots:
    """An increasing piecewise-linear function for each row, with two open ends.

    Left of the first knot it is ``first[0] * x + first[1]``; passing knot i from the left adds
    ``bend[i]`` to both numbers. ``last`` is the piece right of the last knot.
    """

    def __init__(self, centre, n_tasks):
        rows = len(centre)
        self.rows = np.arange(rows)
        self.place = np.zeros((rows, 2 * n_tasks + 2))
        self.bend = np.zeros((rows, 2 * n_tasks + 2, 2))
        self.left, self.right = np.full(rows, n_tasks + 1), np.full(rows, n_tasks)  # no knot yet
        self.first = np.column_stack([np.ones(rows), -centre])
        self.last = self.first.copy()

    def crossing(self, level):
        """Piece and first knot right of where the function reaches ``level``, from the left."""
        piece, knot = self.first.copy(), self.left.copy()
        going = self.rows
        while len(going):
            going = going[knot[going] <= self.right[going]]
            x = self.place[going, knot[going]]
            going = going[piece[going, 0] * x + piece[going, 1] <= level[going]]
            piece[going] += self.bend[going, knot[going]]
            knot[going] += 1
        return piece, knot

    def crossing_from_right(self, level, stop):
        """Piece and last knot left of where the function reaches ``level``, from the right."""
        piece, knot = self.last.copy(), self.right.copy()
        going = self.rows
        while len(going):
            going = going[knot[going] >= stop[going]]
            x = self.place[going, knot[going]]
            going = going[piece[going, 0] * x + piece[going, 1] >= level[going]]
            piece[going] -= self.bend[going, knot[going]]
            knot[going] -= 1
        return piece, knot

    def clip(self, bound):
        """Clip every function to [-bound, bound]; the two places where it starts and ends."""
        rising, start = self.crossing(-bound)
        falling, end = self.crossing_from_right(bound, start)
        low, high = (-bound - rising[:, 1]) / rising[:, 0], (bound - falling[:, 1]) / falling[:, 0]
        self.left, self.right = start - 1, end + 1
        self.place[self.rows, self.left], self.place[self.rows, self.right] = low, high
        flat = np.zeros_like(bound)
        self.bend[self.rows, self.left] = rising - np.column_stack([flat, -bound])
        self.bend[self.rows, self.right] = np.column_stack([flat, bound]) - falling
        return low, high

    def add(self, centre, bound):
        """Add x - centre, after a clip."""
        one = np.ones_like(centre)
        self.first = np.column_stack([one, -centre - bound])
        self.last = np.column_stack([one, -centre + bound])

    def root(self):
        """Where every function is 0."""
        piece, _ = self.crossing(np.zeros(len(self.rows)))
        return -piece[:, 1] / piece[:, 0]


def _graph_multipliers(c, size, bound, tasks):
    """Multipliers on any graph: accelerated projected gradient with restarts, all rows at once.

    A row leaves when its own small duality gap is at rounding level. A few rows may be
    left at the limit on steps: a looser bound, still a bound.
    """
    D = _incidence(tasks)
    step = 1.0 / np.linalg.eigvalsh(D.T @ D)[-1]
    done = np.zeros_like(bound)
    going = np.arange(len(c))
    v, ahead, momentum = done.copy(), done.copy(), np.ones((len(c), 1))
    for i in range(_SPLIT_STEPS):
        new = np.clip(ahead + step * _soft(c - ahead @ D, size) @ D.T, -bound, bound)
        restart = ((ahead - new) * (new - v)).sum(axis=1, keepdims=True) > 0
        momentum = np.where(restart, 1.0, momentum)
        larger = 0.5 + np.sqrt(0.25 + momentum**2)
        ahead, v, momentum = new + np.where(restart, 0.0, (momentum - 1.0) / larger) * (new - v), new, larger
        if i % 10 == 9 or i == _SPLIT_STEPS - 1:
            done[going] = v
            keep = _split_gap(c, v, size, bound, D) > 1e-14 * np.square(c).sum(axis=1)
            going, c, size, bound, v, ahead, momentum = (x[keep] for x in (going, c, size, bound, v, ahead, momentum))
            if not len(going):
                break
    return done


def _split_gap(c, v, size, bound, D):
    """By how much half the squared rest may exceed its least value, for each row."""
    rest = _soft(c - v @ D, size)
    slope = rest @ D.T
    return (np.abs(slope) * bound - slope * v).sum(axis=1)


# The gauge: by how much slopes must shrink until lasso and fusion carry them.


def _largest_gauge(slopes, penalty, tasks):
    """Largest gauge over the rows without ridge, or 1 if all fit as they are."""
    kinked = (penalty.l2 == 0) & ((penalty.l1 > 0) | (penalty.fusion > 0))
    over = (np.abs(slopes) > penalty.l1[:, None]).any(axis=1)
    alone = np.flatnonzero(kinked & over & (penalty.fusion == 0))
    fused = np.flatnonzero(kinked & over & (penalty.fusion > 0))
    apart = np.abs(slopes[alone]) / penalty.l1[alone, None]
    gauge = _subset_gauge if _few_subsets(tasks) else _program_gauge
    return max(apart.max(initial=1.0), gauge(slopes[fused], penalty.l1[fused], penalty.fusion[fused], tasks))


def _few_subsets(tasks):
    return tasks.n_tasks <= _SUBSET_TASKS or tasks.is_chain or tasks.is_ring


def _subset_gauge(c, l1, fusion, tasks):
    """Largest of abs(sum of c) / (l1 * size + fusion * weight of edges cut) over subsets of tasks.

    The penalty's unit ball is the hull of indicators of such subsets (co-area formula);
    on a chain only of intervals, on a ring of arcs.
    """
    member = _subsets(tasks)
    cut = (member[:, tasks.edges[:, 0]] != member[:, tasks.edges[:, 1]]) @ tasks.weights
    size = member.sum(axis=1)
    largest, chunk = 0.0, max(1, _CELLS // len(member))
    for start in range(0, len(c), chunk):
        part = slice(start, start + chunk)
        room = np.outer(l1[part], size) + np.outer(fusion[part], cut)
        load = np.abs(c[part] @ member.T)
        largest = max(largest, np.divide(load, room, out=np.zeros_like(load), where=room > 0).max())
    return largest


def _subsets(tasks):
    """Indicators of the subsets of tasks that matter, shape (subsets, t)."""
    t = tasks.n_tasks
    if t > 4 and (tasks.is_chain or tasks.is_ring):
        starts = [(j, m) for j, m in product(range(t), range(1, t + 1)) if j + m <= t or not tasks.is_chain]
        position = np.arange(t)
        return np.array([(position - j) % t < m for j, m in starts], dtype=float)
    return np.array(list(product([0.0, 1.0], repeat=t))[1:])


def _program_gauge(c, l1, fusion, tasks):
    """The same by one linear program for each row that does not fit as it is."""
    size = np.broadcast_to(l1[:, None], c.shape)
    rest = _least_rest(c, size, fusion[:, None] * tasks.weights, tasks)
    hard = np.flatnonzero(rest.any(axis=1))
    return max([1.0, *(_row_gauge(c[i], l1[i], fusion[i] * tasks.weights, tasks) for i in hard)])


def _row_gauge(c, l1, bound, tasks):
    """Least s with c = u + D'v, abs(u) <= s * l1, abs(v) <= s * bound; read off the split itself."""
    from scipy.optimize import linprog  # heavy, and seldom needed

    D, scale = _incidence(tasks), np.abs(c).max()
    edges, t = D.shape
    bounds = np.vstack([np.hstack([-D.T, np.full((t, 1), -l1)]), np.hstack([D.T, np.full((t, 1), -l1)]),
                        np.hstack([np.eye(edges), -bound[:, None]]), np.hstack([-np.eye(edges), -bound[:, None]])])
    limits = np.concatenate([-c / scale, c / scale, np.zeros(2 * edges)])
    answer = linprog(np.append(np.zeros(edges), 1.0), A_ub=bounds, b_ub=limits,
                     bounds=[(None, None)] * edges + [(0, None)], method="highs")
    if answer.x is None:
        return np.inf
    v = answer.x[:-1] * scale
    need = [(np.abs(v) / bound).max(initial=0.0)]
    return max(need + ([np.abs(c - v @ D).max() / l1] if l1 > 0 else []))
