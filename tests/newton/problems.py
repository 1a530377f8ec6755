"""Random whole problems of every kind the solver must take, drawn from a seed."""

import numpy as np
from scipy.special import expit

from fusedlr.objective import Data, Penalty
from fusedlr.tasks import TaskGraph

__all__ = ["draw_graph", "draw_problem"]


def draw_graph(rng, n_tasks):
    """A chain, ring, star, tree, complete or random graph, often with weights."""
    kind = rng.choice(["chain", "ring", "star", "tree", "complete", "random", "none"])
    if kind == "ring" and n_tasks < 3:
        kind = "chain"
    pairs = {
        "chain": [(k, k + 1) for k in range(n_tasks - 1)],
        "ring": [(k, (k + 1) % n_tasks) for k in range(n_tasks)],
        "star": [(0, k) for k in range(1, n_tasks)],
        "tree": [(int(rng.integers(k)), k) for k in range(1, n_tasks)],
        "complete": [(j, k) for j in range(n_tasks) for k in range(j + 1, n_tasks)],
        "random": [(j, k) for j in range(n_tasks) for k in range(j + 1, n_tasks) if rng.random() < 0.5],
        "none": [],
    }[kind]
    weights = rng.choice([1.0, 0.3, 4.0], size=len(pairs)) if rng.random() < 0.5 else np.ones(len(pairs))
    return TaskGraph([(j, k, w) for (j, k), w in zip(pairs, weights)], n_tasks)


def draw_problem(seed):
    """Data, penalty and graph of a random problem: odd sizes, odd columns, odd labels, odd penalties."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 5, 20, 60])), int(rng.choice([1, 2, 5, 20, 50]))
    t = int(rng.choice([1, 2, 3, 4, 5, 7, 12, 30], p=[0.15, 0.15, 0.15, 0.2, 0.15, 0.1, 0.06, 0.04]))
    X = _draw_columns(rng, n, d)
    chance = expit(X @ rng.normal(size=(d, 1)) + 0.5 * X @ rng.normal(size=(d, t)))
    Y = (rng.random((n, t)) < chance).astype(float)
    if rng.random() < 0.3:
        Y[rng.random((n, t)) < 0.3] = np.nan
        Y[0] = 1.0
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=(n, t)) if rng.random() < 0.2 else None
    if weights is not None:
        weights[0] = 1.0
    offset = rng.normal(size=(n, t)) if rng.random() < 0.2 else None
    return Data.from_arrays(X, Y, weights, offset), _draw_penalty(rng, d), draw_graph(rng, t)


def _draw_columns(rng, n, d):
    X = rng.normal(size=(n, d))
    if rng.random() < 0.2:
        X *= 10.0 ** rng.uniform(-3, 3, size=d)
    if d > 1 and rng.random() < 0.2:
        X[:, 1] = X[:, 0]
    if rng.random() < 0.15:
        X[:, -1] = rng.choice([0.0, 1.0])
    return X


def _draw_penalty(rng, d):
    l1, l2, fusion = (float(rng.choice(values)) for values in ([0, 0.1, 1, 5], [0, 0.05, 1], [0, 0.05, 1, 8]))
    factors = rng.choice([0.0, 1.0, 2.0], size=d, p=[0.1, 0.6, 0.3]) if rng.random() < 0.2 else None
    if rng.random() < 0.15:
        fusion = fusion * rng.choice([0.0, 1.0, 2.0], size=1 + d)
    return Penalty.from_values(l1, l2, fusion, d, factors)
