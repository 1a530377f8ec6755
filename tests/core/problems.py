"""Random whole problems of every kind the solver must take, drawn from a seed."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from tests.wide import Data, Penalty, Problem
from fusedlr.tasks import TaskGraph

__all__ = ["draw_far", "draw_graph", "draw_nasty", "draw_path", "draw_problem", "draw_sparse"]


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


def draw_sparse(seed):
    """The same problem with columns of which a few, some or most entries are zero."""
    data, penalty, tasks = draw_problem(seed)
    rng = np.random.default_rng([40, seed])
    filled = rng.choice([0.02, 0.1, 0.3, 1.0], size=data.n_features, p=[0.3, 0.4, 0.2, 0.1])
    return replace(data, X=data.X * (rng.random(data.X.shape) < filled)), penalty, tasks


NASTY = ("far means", "scales", "near duplicates", "large offsets", "many unknowns", "many edges")


def draw_nasty(seed):
    """Name, data, penalty and graph of a problem that is ill-conditioned, badly placed or large in one way."""
    rng = np.random.default_rng([20, seed])
    kind = NASTY[seed % len(NASTY)]
    n, d, t = (int(rng.choice(sizes)) for sizes in ([40, 150], [3, 12], [1, 3, 5]))
    if kind == "many unknowns":
        n, d, t = 900, int(rng.choice([60, 110])), int(rng.choice([4, 8]))
    if kind == "many edges":
        t = int(rng.choice([6, 10]))
    X = rng.normal(size=(n, d))
    chance = expit(0.5 * X @ rng.normal(size=(d, t)) / np.sqrt(d))
    Y = (rng.random((n, t)) < chance).astype(float)
    offset = rng.choice([-1.0, 1.0]) * rng.choice([20.0, 40.0, 100.0]) if kind == "large offsets" else 0.0
    penalty = _draw_penalty(rng, d)
    tasks = draw_graph(rng, t)
    if kind == "many edges":
        tasks = TaskGraph([(j, k) for j in range(t) for k in range(j + 1, t) if (j + k) % 3], t)
    return kind, Data.from_arrays(_made_nasty(rng, X, kind), Y, None, np.full((n, t), offset)), penalty, tasks


def draw_far(seed, shifts=(2.0, 7.0, 50.0, 1e3)):
    """Data, penalty and graph of a problem with fused intercepts and columns far from zero, so far from their mean.

    Intercepts then have to go a long way, and a small slope of theirs is a large distance to the optimum.
    """
    rng = np.random.default_rng([30, seed])
    n, d, t = (int(rng.choice(sizes)) for sizes in ([30, 100, 300], [1, 3, 10], [1, 2, 4]))
    centred = rng.normal(size=(n, d))
    effects = rng.normal(size=(d, 1)) * (rng.random((d, 1)) < 0.5) * rng.choice([0.5, 2.0])
    Y = (rng.random((n, t)) < expit(centred @ effects + rng.normal() * rng.choice([0.0, 2.0]))).astype(float)
    X = centred + rng.choice(shifts) * rng.choice([-1.0, 1.0], size=d)
    l1 = 10.0 ** rng.uniform(-3, 1) * (rng.random() < 0.5)
    penalty = Penalty.from_values(l1, 10.0 ** rng.uniform(-5, 2), 10.0 ** rng.uniform(-2, 2), d)
    return Data.from_arrays(X, Y), penalty, draw_graph(rng, t)


def draw_path(seed, features=(320, 500)):
    """A problem with many more features than rows and a path of penalties, array (g, 3), in the order of solving.

    Most features are never looked at closely there: what is said about them rests on bounds.
    """
    rng = np.random.default_rng([40, seed])
    n, d, t = int(rng.choice([12, 30, 50])), int(rng.choice(features)), int(rng.choice([1, 1, 2, 4]))
    X = rng.normal(size=(n, d))
    kind = rng.choice(["plain", "correlated", "shifted", "far", "scales", "counts"])
    if kind == "correlated":
        X = 0.3 * X + rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 4)) @ rng.normal(size=(4, d))
    if kind in ("shifted", "far"):
        X += rng.choice([0.0, 3.0 if kind == "shifted" else 60.0], size=d)
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, size=d)
    if kind == "counts":
        X = np.floor(np.exp(rng.normal(-1.0, 1.0, size=(n, d))))
    effects = rng.normal(size=(d, 1)) * (rng.random((d, 1)) < 5 / d) + 0.5 * rng.normal(size=(d, t)) * (
        rng.random((d, 1)) < 5 / d)
    Y = (rng.random((n, t)) < expit((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9) @ effects)).astype(float)
    Y[:2] = [[0.0], [1.0]]
    if rng.random() < 0.3:
        Y[2:][rng.random((n - 2, t)) < 0.4] = np.nan
    weights = rng.choice([0.3, 1.0, 5.0], size=(n, t)) if rng.random() < 0.3 else None
    offset = rng.normal(size=(n, t)) if rng.random() < 0.2 else None
    factors = rng.choice([0.5, 1.0, 2.0], size=d) if rng.random() < 0.3 else None
    data, fuse_intercepts = Data.from_arrays(X, Y, weights, offset), bool(rng.random() < 0.5)
    problem = Problem.build(data, draw_graph(rng, t), factors, fuse_intercepts)
    largest = np.abs(X.T @ (np.nan_to_num(Y, nan=0.5) - 0.5)).max()
    l1 = largest * np.geomspace(rng.choice([1.0, 0.3]), rng.choice([0.3, 0.1, 0.02]), int(rng.choice([2, 4, 7])))
    l2, fusion = rng.choice([0.0, 0.0, 0.02, 1.0]) * largest, rng.choice([0.0, 0.1, 1.0]) * largest
    points = np.array([(a, b, c) for a in l1 for c in (fusion, 0.5 * fusion)[:1 + (rng.random() < 0.3)]
                       for b in (l2, 0.1 * l2)[:1 + (rng.random() < 0.2)]])
    return problem, points


def _made_nasty(rng, X, kind):
    if kind == "far means":
        return X + rng.choice([0.0, 100.0, 1000.0], size=X.shape[1])
    if kind == "scales":
        return X * 10.0 ** rng.uniform(-8, 8, size=X.shape[1])
    if kind == "near duplicates":
        X[:, 1] = X[:, 0] + 10.0 ** -rng.integers(2, 6) * X[:, 1]
    return X


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
