"""A grid of penalties that suits the data, and where it ends.

The ends are the smallest l1 with empty support and the smallest fusion that ties all tasks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .. import matrices
from ..constrained_fit import fit_pattern
from ..objective import gradient, loss_derivatives
from ..problem import Groups, Penalty, Problem
from ..solver import solve_newton

__all__ = ["PenaltyLimits", "default_penalties", "fusion_limit", "l1_limit", "null_params", "penalty_limits"]

# Up to this many tasks all subsets are enumerated; larger graphs other than chain and ring take linear programs.
_ALL_SETS = 12

_TOL = 1e-10

# Replaces an l2 of zero where n is too small for an unpenalized fit, as a share of the mean curvature.
_ALMOST_ZERO = 1e-3


class PenaltyLimits(NamedTuple):
    """Ends of a grid of penalties.

    Attributes
    ----------
    l1 : float
        Smallest l1 at which every coefficient is zero.
    fusion : float
        Smallest fusion at which all tasks are equal, up to intercepts that are not fused.
    """

    l1: float
    fusion: float


def default_penalties(problem: Problem) -> dict[str, np.ndarray]:
    """A grid of penalties that suits the data: 10 of l1, 3 of l2, 9 of fusion.

    l1 falls from the smallest with empty support to a thousandth of it (a
    hundredth where there are not more rows than features). l2 is 0, and 3 % and 30 % of
    the mean curvature of the loss in one coefficient, which shrinks a coefficient of a
    lone feature by about as much. fusion is 0, then rises over three powers of ten to the
    smallest that ties all tasks (intercepts too, where these are fused), at three values of l1.

    Returns
    -------
    dict of ndarray
        l1, l2 and fusion.
    """
    top = l1_limit(problem)
    l1 = top * np.geomspace(1.0, 1e-3 if problem.n_rows > problem.n_features else 1e-2, 10) if top else np.zeros(1)
    l2 = _mean_curvature(problem) * np.array([0.0, 0.03, 0.3])
    tie = max(fusion_limit(problem, value) for value in l1[[0, len(l1) // 2, -1]])
    fusion = np.append(0.0, tie * np.geomspace(1e-3, 1.0, 8)) if tie else np.zeros(1)
    return {"l1": l1, "l2": l2 if l2.any() else np.zeros(1), "fusion": fusion}


def penalty_limits(problem: Problem, l1: Any = 0.0, l2: Any = 0.0, fusion: Any = 0.0) -> PenaltyLimits:
    """Smallest l1 at which every coefficient is zero, and smallest fusion at which all tasks are equal.

    The first is taken at ``fusion``, the second at ``l1`` and ``l2``; see :func:`l1_limit`
    and :func:`fusion_limit`.

    Returns
    -------
    PenaltyLimits
        A named tuple (l1, fusion).
    """
    return PenaltyLimits(l1_limit(problem, fusion), fusion_limit(problem, l1, l2))


def l1_limit(problem: Problem, fusion: Any = 0.0) -> float:
    """Smallest l1 at which every penalized coefficient is zero.

    Intercepts and unpenalized features (penalty factor 0) are fitted first; at the limit the
    gradient of the others meets the KKT conditions at zero. It does not depend on l2. Fusion
    helps to hold coefficients at zero, but it also moves fused intercepts, so the limit can
    fall or rise with fusion.

    Parameters
    ----------
    problem : problem.Problem
    fusion : float or array_like, shape (1 + d,)

    Returns
    -------
    float
        0 if every feature is unpenalized.
    """
    by_row, factors = problem.penalty(0.0, 0.0, fusion).fusion, problem.factors.l1
    held = np.flatnonzero(factors > 0)
    if held.size == 0:
        return 0.0
    problem = _centred(problem)
    slopes = gradient(problem, null_params(problem, fusion))[held]
    return float(np.max(_smallest_l1(slopes, by_row[held], problem.tasks) / factors[held]))


def fusion_limit(problem: Problem, l1: Any = 0.0, l2: Any = 0.0) -> float:
    """Smallest fusion at which all tasks have the same coefficients and, where these are fused, the same intercept.

    In a disconnected graph, equal within each connected component; features of fusion factor 0
    are free. The model with these ties is fitted at l1 and l2 first; the limit is the least bound
    on the dual variable (slope) of any edge such that they cancel the gradient of each task. With
    l1 = l2 = 0 and no more rows than values this model has no unique fit; an l2 of a thousandth
    of the mean curvature of the loss is used instead.

    Parameters
    ----------
    problem : problem.Problem
    l1, l2 : float or array_like, shape (1 + d,)

    Returns
    -------
    float
        0 if no two tasks are neighbours, or nothing is fused.
    """
    if not len(problem.tasks.edges) or not problem.factors.fusion.any():
        return 0.0
    problem, penalty = _centred(problem), problem.penalty(l1, l2, 0.0)
    params = _tied_params(problem, penalty)
    slopes = gradient(problem, params) + penalty.l2[:, None] * params + penalty.l1[:, None] * np.sign(params)
    slack = np.where(params == 0, penalty.l1[:, None], 0.0)
    fused = problem.factors.fusion > 0
    unit = problem.factors.fusion[fused, None]
    return _smallest_fusion(slopes[fused] / unit, slack[fused] / unit, problem.tasks)


def null_params(problem: Problem, fusion: Any = 0.0) -> np.ndarray:
    """The fit of intercepts and unpenalized features, every other coefficient zero.

    Parameters
    ----------
    problem : problem.Problem
    fusion : float or array_like, shape (1 + d,)

    Returns
    -------
    ndarray, shape (1 + d, t)
    """
    free, fusion = problem.factors.l1 == 0, problem.penalty(0.0, 0.0, fusion).fusion
    params = np.zeros((1 + problem.n_features, problem.n_tasks))
    if not fusion[free].any() or not len(problem.tasks.edges):
        pattern = np.full(params.shape, -1)
        pattern[free] = np.arange(pattern[free].size).reshape(-1, problem.n_tasks)
        return fit_pattern(problem, pattern).params
    # A solver needs a column: one of zeros stands in where no feature is free.
    X = problem.design.X[:, free[1:]] if free[1:].any() else np.zeros((problem.n_rows, 1))
    rows, factors = np.flatnonzero(free), Penalty.factors(X.shape[1])
    small = replace(problem, design=replace(problem.design, X=X), scale=np.ones(X.shape[1]), factors=factors)
    params[rows] = _solve(small, factors.times(0.0, 0.0, np.resize(fusion[rows], 1 + X.shape[1])))[:len(rows)]
    return params


def _centred(problem):
    """The same problem with centred features, where intercepts are free to absorb the shift; else itself.

    The limits are the same for both; centring keeps them accurate for features far from zero, which sparse
    ones are not.
    """
    if problem.fuse_intercepts or matrices.is_sparse(problem.design.X):
        return problem
    times = Groups.rows(problem.labels, problem.n_rows).times
    X = problem.design.X - times @ problem.design.X / times.sum()
    return replace(problem, design=replace(problem.design, X=X))


def _mean_curvature(problem):
    """Mean second derivative of the loss in a penalized coefficient at zero, its intercept profiled out.

    In units in which l2 has the factor 1.
    """
    held = np.flatnonzero(problem.factors.l1[1:] > 0)
    if not held.size:
        return 0.0
    problem = _centred(problem)
    labels, unit = problem.labels, problem.scale[held]
    second = loss_derivatives(labels, problem.linear(null_params(problem)))[1]
    means = []
    for labelled in labels.parts:
        # Around the mean: the intercept absorbs the origin of a feature, which must not count as curvature.
        X = matrices.divided(matrices.part(problem.design.X, labels.row[labelled], held), unit)
        means.append(matrices.about_mean(X, second[labelled]))
    return float(np.mean(means))


def _tied_params(problem, penalty):
    """The fit in which every fused row has one value in each connected component of the tasks; other rows are free."""
    fused = problem.factors.fusion > 0
    weight = problem.labels.by_row(problem.labels.weight, problem.n_rows)
    if not penalty.l1.any() and not penalty.l2.any():
        places = np.where(fused[:, None], problem.tasks.components(), np.arange(problem.n_tasks))
        pattern = np.unique(places + problem.n_tasks * np.arange(len(fused))[:, None], return_inverse=True)[1]
        if pattern.max() + 1 < problem.n_rows:
            return fit_pattern(problem, pattern.reshape(places.shape)).params
        squares = weight @ matrices.squares(matrices.divided(problem.design.X, problem.scale))
        almost = _ALMOST_ZERO * np.mean(squares) / 4 / problem.n_tasks
        penalty = replace(penalty, l2=np.append(0.0, almost * problem.scale**2))
    # The slope of an edge is never larger than those of all labels together, so that this fusion ties everything.
    slopes = np.append(weight.sum(), weight @ abs(problem.design.X)) + problem.n_tasks * penalty.l1
    return _solve(problem, replace(penalty, fusion=np.where(fused, 4 * slopes / problem.tasks.weights.min(), 0.0)))


def _solve(problem, penalty):
    return solve_newton(problem, penalty, tol=_TOL).params


def _smallest_l1(slopes, fusion, tasks):
    """For each row, the smallest l1 that with the row's fusion cancels the slopes.

    By the co-area formula it is enough to look at sets of tasks: the slopes of a set
    must not exceed l1 times its size plus fusion times the weight of the edges that leave it.
    """
    if not fusion.any() or not len(tasks.edges):
        return np.abs(slopes).max(axis=1)
    sets = _sets(tasks)
    if sets is None:
        return np.array([_smallest_by_program(row, None, bound, tasks) for row, bound in zip(slopes, fusion)])
    excess = np.abs(slopes @ sets.T) - np.outer(fusion, _cuts(sets, tasks))
    return np.maximum((excess / sets.sum(axis=1)).max(axis=1), 0.0)


def _smallest_fusion(slopes, slack, tasks):
    """The smallest fusion that cancels the slopes of every row, where zeros give ``slack`` to each task."""
    sets = _sets(tasks)
    if sets is None:
        return max((_smallest_by_program(row, free, None, tasks) for row, free in zip(slopes, slack)
                    if (np.abs(row) > free).any()), default=0.0)
    cuts = _cuts(sets, tasks)
    sets, cuts = sets[cuts > 0], cuts[cuts > 0]
    excess = np.abs(slopes @ sets.T) - slack @ sets.T
    return float(max(0.0, (excess / cuts).max()))


def _sets(tasks):
    """Sets of tasks that decide whether slopes can be cancelled, one 0/1 row each; None if there are too many.

    In a chain these are its intervals, in a ring its arcs, elsewhere all sets.
    """
    t = tasks.n_tasks
    if np.isin(np.diff(tasks.edges, axis=1), [1, t - 1]).all():
        first, length = np.divmod(np.arange(t * t), t)
        return ((np.arange(t) - first[:, None]) % t <= length[:, None]).astype(float)
    if t > _ALL_SETS:
        return None
    return (np.arange(1, 2**t)[:, None] >> np.arange(t) & 1).astype(float)


def _cuts(sets, tasks):
    """Weight of the edges that leave each set."""
    return np.abs(tasks.differences(sets)) @ tasks.weights


def _smallest_by_program(slopes, slack, fusion, tasks):
    """The bound on edges (or, where ``fusion`` is given, on tasks) as a linear program.

    Unknown are the slope of each edge, the slope of each task and the bound that is minimised, all in units of the
    largest slope.
    """
    from scipy.optimize import linprog  # heavy, and seldom needed

    n_edges, t = tasks.edges.shape[0], tasks.n_tasks
    flow = np.zeros((t, n_edges))
    flow[tasks.edges[:, 0], np.arange(n_edges)] = 1.0
    flow[tasks.edges[:, 1], np.arange(n_edges)] = -1.0
    balance = np.hstack([flow, np.eye(t), np.zeros((t, 1))])
    limited = np.r_[tasks.weights, np.zeros(t)] if fusion is None else np.r_[np.zeros(n_edges), np.ones(t)]
    unit = max(np.abs(slopes).max(), 1e-300)
    # The program is solved to 1e-7: a smaller margin than that of some tasks together can look infeasible.
    fixed = (np.r_[np.full(n_edges, np.inf), _enough_slack(slopes, slack, tasks) + 1e-6 * unit] if fusion is None
             else np.r_[fusion * tasks.weights, np.full(t, np.inf)])
    rows = np.eye(n_edges + t)[limited > 0]
    caps = -limited[limited > 0][:, None]
    answer = linprog(np.r_[np.zeros(n_edges + t), 1.0],
                     A_ub=np.vstack([np.hstack([rows, caps]), np.hstack([-rows, caps])]),
                     b_ub=np.zeros(2 * len(rows)), A_eq=balance, b_eq=-slopes / unit,
                     bounds=[*((-b / unit, b / unit) for b in fixed), (0, None)], method="highs")
    return answer.fun * unit


def _enough_slack(slopes, slack, tasks):
    """The slack, raised by the residual gradient of the pooled fit (its tolerance) in a connected component."""
    parts = tasks.components()
    mean = (np.bincount(parts, slopes) / np.bincount(parts))[parts]
    return np.maximum(slack, np.abs(mean))
