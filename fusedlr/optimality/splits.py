"""Splits of slopes into subgradients of lasso and fusion, and a rest."""

import numpy as np

__all__ = ["incidence", "least_rest", "transposed_differences"]

_SPLIT_STEPS = 4000


def transposed_differences(v, tasks):
    """D'v: what multipliers of the edges add to each task, (rows, edges) to (rows, tasks)."""
    return v @ incidence(tasks)


def incidence(tasks):
    """D, shape (edges, tasks): +1 at the first end of an edge, -1 at the second."""
    matrix = np.zeros((len(tasks.edges), tasks.n_tasks))
    matrix[np.arange(len(tasks.edges)), tasks.edges[:, 0]] = 1.0
    matrix[np.arange(len(tasks.edges)), tasks.edges[:, 1]] = -1.0
    return matrix


def _soft(c, size):
    return np.sign(c) * np.maximum(np.abs(c) - size, 0.0)


def least_rest(c, size, bound, tasks):
    """The rest c - u - D'v of least norm over abs(u) <= size, abs(v) <= bound.

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
        rest[hard] = _soft(c[hard] - transposed_differences(v, tasks), size[hard])
    return rest


def _chain_carries(c, size, bound):
    """Which rows of a chain have a split without rest: the interval of feasible multipliers is never empty."""
    low, high, possible = np.zeros(len(c)), np.zeros(len(c)), np.ones(len(c), dtype=bool)
    for k, limit in enumerate([*bound.T, 0.0]):
        low, high = np.maximum(low + c[:, k] - size[:, k], -limit), np.minimum(high + c[:, k] + size[:, k], limit)
        possible &= low <= high
    return possible


def _chain_multipliers(c, size, bound, tasks):
    """Exact multipliers on a chain, by total-variation denoising of every row at once.

    The dynamic program of Johnson (2013). Forward, the message (derivative of the best
    cost so far) is piecewise linear and increasing; the next edge clips it to its bound, at
    ``low`` and ``high``. Backward, each value is the next one clipped to that interval.
    The lasso is left out: soft-thresholding afterwards gives the same rest.
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

    A row leaves when its own duality gap is at rounding level. Rows that reach the limit
    on steps give a looser bound, still a bound.
    """
    D = incidence(tasks)
    step = 1.0 / np.linalg.eigvalsh(D.T @ D)[-1]
    done = np.zeros_like(bound)
    going = np.arange(len(c))
    # The gradient is taken at ``point``: v moved on by its momentum.
    v, point, momentum = done.copy(), done.copy(), np.ones((len(c), 1))
    for i in range(_SPLIT_STEPS):
        new = np.clip(point + step * _soft(c - point @ D, size) @ D.T, -bound, bound)
        restart = ((point - new) * (new - v)).sum(axis=1, keepdims=True) > 0
        momentum = np.where(restart, 1.0, momentum)
        larger = 0.5 + np.sqrt(0.25 + momentum**2)
        point, v, momentum = new + np.where(restart, 0.0, (momentum - 1.0) / larger) * (new - v), new, larger
        if i % 10 == 9 or i == _SPLIT_STEPS - 1:
            done[going] = v
            keep = _split_gap(c, v, size, bound, D) > 1e-14 * np.square(c).sum(axis=1)
            going, c, size, bound, v, point, momentum = (x[keep] for x in (going, c, size, bound, v, point, momentum))
            if not len(going):
                break
    return done


def _split_gap(c, v, size, bound, D):
    """Duality gap of half the squared rest, for each row."""
    rest = _soft(c - v @ D, size)
    slope = rest @ D.T
    return (np.abs(slope) * bound - slope * v).sum(axis=1)
