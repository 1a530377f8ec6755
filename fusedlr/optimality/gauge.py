"""The gauge (dual norm) of slopes under lasso and fusion: how much they must shrink to have a split without rest."""

from itertools import product

import numpy as np

from .splits import incidence, least_rest

__all__ = ["largest_gauge"]

_CELLS = 4_000_000  # numbers held at once where subsets of tasks are enumerated
_SUBSET_TASKS = 12  # up to this many tasks all subsets are enumerated; beyond, a linear program


def largest_gauge(slopes, penalty, tasks):
    """Largest gauge over the rows without ridge, or 1 if all are feasible."""
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

    The penalty's unit ball is the convex hull of indicators of such subsets (co-area formula);
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
    """The same by one linear program for each infeasible row."""
    size = np.broadcast_to(l1[:, None], c.shape)
    rest = least_rest(c, size, fusion[:, None] * tasks.weights, tasks)
    hard = np.flatnonzero(rest.any(axis=1))
    return max([1.0, *(_row_gauge(c[i], l1[i], fusion[i] * tasks.weights, tasks) for i in hard)])


def _row_gauge(c, l1, bound, tasks):
    """Least s with c = u + D'v, abs(u) <= s * l1, abs(v) <= s * bound; read off the split itself."""
    from scipy.optimize import linprog  # heavy, and seldom needed

    D, largest = incidence(tasks), np.abs(c).max()
    edges, t = D.shape
    bounds = np.vstack([np.hstack([-D.T, np.full((t, 1), -l1)]), np.hstack([D.T, np.full((t, 1), -l1)]),
                        np.hstack([np.eye(edges), -bound[:, None]]), np.hstack([-np.eye(edges), -bound[:, None]])])
    limits = np.concatenate([-c / largest, c / largest, np.zeros(2 * edges)])
    answer = linprog(np.append(np.zeros(edges), 1.0), A_ub=bounds, b_ub=limits,
                     bounds=[(None, None)] * edges + [(0, None)], method="highs")
    if answer.x is None:
        return np.inf
    v = answer.x[:-1] * largest
    need = [(np.abs(v) / bound).max(initial=0.0)]
    return max(need + ([np.abs(c - v @ D).max() / l1] if l1 > 0 else []))
