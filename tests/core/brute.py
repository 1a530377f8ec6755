"""The proximal operator of a block by enumeration: every order of the tasks' values, with every place for zero."""

from functools import cache
from itertools import product

import numpy as np

__all__ = ["block_value", "brute_prox"]


def brute_prox(tasks, h, q, l1, fusion):
    """Minimiser of one block and its value, by trying all patterns.

    On a pattern (which tasks share a value, the order of these values, which of them are
    negative, zero, positive) the objective is one quadratic with a plain minimiser. The
    minimiser of the block is that of its own pattern, so the best of all of them is it.
    """
    level, sign = _patterns(tasks.n_tasks)
    nu = fusion * tasks.weights
    j, k = tasks.edges.T
    order = np.sign(level[:, j] - level[:, k]) * nu
    pull = q - l1 * sign
    for e in range(len(nu)):
        pull[:, j[e]] -= order[:, e]
        pull[:, k[e]] += order[:, e]
    same = level[:, :, None] == level[:, None, :]
    b = np.where(sign == 0, 0.0, (same @ pull[:, :, None])[:, :, 0] / (same @ h))
    values = block_value(tasks, h, q, l1, fusion, b)
    best = values.argmin()
    return b[best], values[best]


def block_value(tasks, h, q, l1, fusion, b):
    """Value of the block at each row of ``b``."""
    spread = np.abs(b[..., tasks.edges[:, 0]] - b[..., tasks.edges[:, 1]]) @ (fusion * tasks.weights)
    return (0.5 * h * b**2 - q * b + l1 * np.abs(b)).sum(axis=-1) + spread


@cache
def _patterns(n_tasks):
    """Levels of the tasks and their signs, one row for each pattern."""
    orders = {tuple(np.unique(levels, return_inverse=True)[1]) for levels in product(range(n_tasks), repeat=n_tasks)}
    rows = [(levels, np.sign(np.array(levels) - zero)) for levels in sorted(orders)
            for zero in np.arange(-0.5, max(levels) + 1, 0.5)]
    return np.array([levels for levels, _ in rows]), np.array([sign for _, sign in rows])
