"""The referee against routes that share nothing with it: enumeration, constrained programming, known minimisers."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from fusedlr import objective as package
from fusedlr.optimality import certify, kkt_violation
from fusedlr.optimality.dual import meet, sum_groups
from fusedlr.optimality.gauge import largest_gauge
from fusedlr.optimality.splits import least_rest
from fusedlr.tasks import TaskGraph
from tests.wide import Data, Penalty, Problem, gradient, linear_predictor, loss, loss_derivatives, objective


def graph(name, t, rng=None):
    """A graph of each kind; with ``rng`` its edges are weighted."""
    pairs = {"chain": [(k, k + 1) for k in range(t - 1)], "ring": [(k, (k + 1) % t) for k in range(t)],
             "star": [(t - 1, k) for k in range(t - 1)], "complete": list(combinations(range(t), 2)),
             "parts": [(k, k + 2) for k in range(t - 2)]}[name]
    return TaskGraph([(j, k, rng.uniform(0.2, 3.0) if rng else 1.0) for j, k in pairs], t)


GRAPHS = ["chain", "ring", "star", "complete", "parts"]
PENALTIES = [(0.5, 0.3, 0.4), (0.5, 0.0, 0.4), (0.0, 0.5, 1.0), (0.0, 0.0, 0.5), (1.0, 0.0, 0.0), (0.0, 0.2, 0.0),
             (0.0, 0.0, 0.0), (0.2, 0.0, 50.0), (30.0, 0.0, 1.0)]


def problem(seed, n=30, d=2, t=3, plain=False):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.integers(0, 2, size=(n, t)).astype(float)
    if plain:
        return Data.from_arrays(X, Y), rng
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Data.from_arrays(X, Y, rng.uniform(0.2, 2.0, Y.shape), 0.3 * rng.normal(size=Y.shape)), rng


def programmed_minimum(data, penalty, tasks):
    """Minimiser of the smooth problem with one bound for each absolute value, by sequential quadratic programming."""
    shape = (1 + data.n_features, data.n_tasks)
    cells, m = shape[0] * shape[1], len(tasks.edges)
    D = np.zeros((m, shape[1]))
    D[np.arange(m), tasks.edges[:, 0]], D[np.arange(m), tasks.edges[:, 1]] = 1.0, -1.0
    arguments = np.vstack([np.eye(cells), np.kron(np.eye(shape[0]), D)])
    price = np.concatenate([np.repeat(penalty.l1, shape[1]), np.outer(penalty.fusion, tasks.weights).ravel()])
    # One bound for each term of the penalty, its price included: then all are of one size, which the method needs.
    terms = (arguments * price[:, None])[price > 0]

    def value(z):
        B = z[:cells].reshape(shape)
        return loss(data, linear_predictor(data, B)) + 0.5 * penalty.l2 @ (B**2).sum(axis=1) + z[cells:].sum()

    def slope(z):
        B = z[:cells].reshape(shape)
        smooth = gradient(data, loss_derivatives(data, linear_predictor(data, B))[0]) + penalty.l2[:, None] * B
        return np.concatenate([smooth.ravel(), np.ones(len(terms))])

    eye = np.eye(len(terms))
    bound = LinearConstraint(np.vstack([np.hstack([-terms, eye]), np.hstack([terms, eye])]), 0.0, np.inf)
    answer = minimize(value, np.zeros(cells + len(terms)), jac=slope, method="SLSQP",
                      constraints=[bound] if len(terms) else (), options={"maxiter": 1000, "ftol": 1e-14})
    return answer.x[:cells].reshape(shape)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("strength", PENALTIES)
def test_the_gap_bounds_the_distance_to_an_independent_minimum(name, strength):
    data, rng = problem(len(name))
    tasks, penalty = graph(name, 3, rng), Penalty.from_values(*strength, 2)
    best = programmed_minimum(data, penalty, tasks)
    minimum, judged = objective(data, best, penalty, tasks), Problem.build(data, tasks)
    at_best = certify(judged, best, penalty)
    floor = 1e-3 * package.loss(judged.labels, judged.design.shift(judged.labels))
    assert at_best.kind == "gap"
    assert at_best.relative_gap < 1e-6
    for spread in (1e-4, 1e-2, 0.3, 3.0):
        point = best + spread * rng.normal(size=best.shape)
        proof = certify(judged, point, penalty)
        assert proof.objective == package.objective(judged, point, penalty)
        assert proof.objective == pytest.approx(objective(data, point, penalty, tasks), rel=1e-14)
        assert proof.dual <= minimum * (1 + 1e-12)
        assert proof.gap == proof.objective - proof.dual
        assert proof.relative_gap == proof.gap / max(proof.objective, floor)
        assert proof.gap >= proof.objective - minimum - 1e-12 * minimum


@pytest.mark.parametrize("seed", range(40))
def test_no_point_has_a_negative_gap(seed):
    rng = np.random.default_rng(1000 + seed)
    n, d, t = rng.integers(1, 25), rng.integers(1, 8), rng.integers(1, 7)
    data, _ = problem(seed, n, d, t)
    tasks = graph(rng.choice(GRAPHS), t, rng) if t > 2 else TaskGraph.chain(t)
    l1, l2, fusion = rng.uniform(0, 2, size=(3, 1 + d)) * (rng.random((3, 1 + d)) < 0.6)
    l1[0] = l2[0] = 0.0
    penalty = Penalty.from_values(l1, l2, fusion, d)
    points = [np.zeros((1 + d, t))] + [scale * rng.normal(size=(1 + d, t)) for scale in (0.01, 1.0, 100.0)]
    proofs = [certify(Problem.build(data, tasks), point, penalty) for point in points]
    assert max(proof.dual for proof in proofs) <= min(proof.objective for proof in proofs) * (1 + 1e-12)
    assert all(np.isfinite([proof.gap, proof.relative_gap, proof.kkt]).all() for proof in proofs)


@pytest.mark.parametrize("strength", PENALTIES[:6])
def test_the_gap_closes_as_a_point_approaches_the_minimum(strength):
    data, rng = problem(7)
    tasks, penalty = graph("ring", 3, rng), Penalty.from_values(*strength, 2)
    best = programmed_minimum(data, penalty, tasks)
    away = rng.normal(size=best.shape)
    gaps = [certify(Problem.build(data, tasks), best + 10.0**-k * away, penalty).relative_gap for k in range(1, 6)]
    assert all(later < earlier for earlier, later in zip(gaps, gaps[1:]))
    assert gaps[-1] < 1e-3


def proximal_gradient(data, penalty, steps):
    """A slow solver for fusion 0: proximal gradient steps of fixed length."""
    B = np.zeros((1 + data.n_features, data.n_tasks))
    design = np.column_stack([np.ones(data.n_rows), data.X])
    length = 4.0 / (np.linalg.norm(design, 2) ** 2 * data.weights.max() + 4.0 * penalty.l2.max())
    for _ in range(steps):
        slope = gradient(data, loss_derivatives(data, linear_predictor(data, B))[0]) + penalty.l2[:, None] * B
        B = B - length * slope
        B = np.sign(B) * np.maximum(np.abs(B) - length * penalty.l1[:, None], 0.0)
    return B


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_gap_and_violation_vanish_along_a_converging_solver(l2):
    data, _ = problem(3, n=40, d=4)
    penalty, tasks = Penalty.from_values(1.0, l2, 0.0, 4), TaskGraph.chain(3)
    proofs = [certify(Problem.build(data, tasks), proximal_gradient(data, penalty, steps), penalty)
              for steps in (5, 50, 500, 3000)]
    assert proofs[-1].relative_gap < 1e-12
    assert proofs[-1].kkt < 1e-7
    for earlier, later in zip(proofs, proofs[1:]):
        assert later.relative_gap < max(earlier.relative_gap, 1e-12)


def test_zero_is_certified_where_the_penalty_is_large():
    data, rng = problem(11, plain=True)
    Y = np.tile([[0.0], [1.0]], (15, 3))
    balanced = Data.from_arrays(data.X, Y)
    proof = certify(Problem.build(balanced, TaskGraph.chain(3)), np.zeros((3, 3)),
                    Penalty.from_values(1000.0, 0.0, 1.0, 2))
    assert proof.relative_gap == pytest.approx(0.0, abs=1e-14)
    assert proof.kkt == 0.0


def test_separated_data_without_penalty_are_told_by_kind():
    X = np.arange(-4.5, 5.0)[:, None]
    data = Data.from_arrays(X, np.repeat((X > 0).astype(float), 2, axis=1))
    proof = certify(Problem.build(data, TaskGraph.chain(2)), np.array([[0.0, 0.0], [1.0, 1.0]]),
                    Penalty.from_values(0.0, 0.0, 0.5, 1))
    assert proof.kind == "kkt"
    assert proof.dual == 0.0
    assert proof.gap == proof.objective


def test_a_task_with_one_class_leaves_the_others_certified():
    data, _ = problem(5, n=40, d=2, t=2, plain=True)
    signs = data.signs.copy()
    signs[:, 1] = 1.0
    data = Data(data.X, signs, data.weights, data.offset)
    penalty, tasks = Penalty.from_values(1.0, 0.0, 0.0, 2), TaskGraph.chain(2)
    best = proximal_gradient(data, penalty, 3000)
    best[0, 1] = 40.0
    best[1:, 1] = 0.0
    proof = certify(Problem.build(data, tasks), best, penalty)
    assert proof.kind == "gap"
    assert proof.relative_gap < 1e-12


@pytest.mark.parametrize("offset", [1000.0, -1000.0])
def test_huge_margins_give_finite_numbers(offset):
    data, rng = problem(6)
    data = Data(data.X, data.signs, data.weights, data.offset + offset)
    proof = certify(Problem.build(data, graph("ring", 3)), rng.normal(size=(3, 3)),
                    Penalty.from_values(1.0, 0.1, 1.0, 2))
    assert np.isfinite([proof.objective, proof.dual, proof.gap, proof.kkt]).all()
    assert proof.gap >= 0


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-3, 0.1])
def test_slopes_without_penalty_balance_to_the_last_digit(size):
    """A miss is multiplied by the minimiser's intercept, which is large where the dual point is small."""
    data, rng = problem(9)
    penalty, tasks = Penalty.from_values(1.0, 0.0, 1.0, 2, [0.0, 1.0]), TaskGraph.chain(3)
    judged = Problem.build(data, tasks)
    a = size * rng.uniform(0.5, 1.5, data.signs.shape)[judged.labels.row, judged.labels.task]
    a = meet(judged, a, sum_groups(penalty, tasks))
    assert a is not None and a.min() >= 0 and a.max() <= 1
    terms = data.weights * data.signs * judged.labels.table(a, data.n_rows, 0.0)
    assert abs(terms.sum()) <= 1e-14 * np.abs(terms).sum()
    assert abs((data.X[:, :1] * terms).sum()) <= 1e-14 * np.abs(data.X[:, :1] * terms).sum()


@cache
def weak_orders(size):
    """All ways to rank ``size`` things, ties allowed."""
    ranks = product(range(size), repeat=size)
    return np.array([rank for rank in ranks if set(rank) == set(range(max(rank) + 1))])


def enumerated_prox(c, l1, fusion, tasks):
    """Minimiser of ||p - c||^2 / 2 + l1 |p| + fusion TV(p) by row, trying every order of the tasks and of zero."""
    t, best, least = c.shape[1], c.copy(), np.full(len(c), np.inf)
    for order in weak_orders(t + 1):
        rank, zero = order[:t], order[t]
        edge_sides = tasks.weights * np.sign(rank[tasks.edges[:, 0]] - rank[tasks.edges[:, 1]])
        sides = np.zeros(t)
        np.add.at(sides, tasks.edges[:, 0], edge_sides)
        np.subtract.at(sides, tasks.edges[:, 1], edge_sides)
        same = (rank[:, None] == rank) / (rank[:, None] == rank).sum(axis=1)
        p = np.where(rank == zero, 0.0, (c - np.outer(l1, np.sign(rank - zero)) - np.outer(fusion, sides)) @ same)
        value = (0.5 * np.sum((p - c) ** 2, axis=1) + l1 * np.abs(p).sum(axis=1)
                 + fusion * (np.abs(tasks.differences(p)) @ tasks.weights))
        better = value < least
        best[better], least[better] = p[better], value[better]
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("t", [3, 4, 5])
def test_the_best_split_agrees_with_trying_every_pattern(name, t):
    rng = np.random.default_rng(t)
    tasks, blocks = graph(name, t, rng), 150
    c = rng.normal(size=(blocks, t)) * rng.choice([0.5, 3.0], size=(blocks, 1))
    c[::3] = np.round(c[::3])
    l1 = rng.uniform(0, 1.5, blocks) * (rng.random(blocks) < 0.7)
    fusion = rng.choice([0.1, 1.0, 100.0], blocks) * rng.uniform(0, 2.0, blocks) * (rng.random(blocks) < 0.8)
    rest = least_rest(c, np.broadcast_to(l1[:, None], c.shape), fusion[:, None] * tasks.weights, tasks)
    exact = enumerated_prox(c, l1, fusion, tasks)
    # the square is what enters the dual; the rest itself is then right to half as many digits
    scale = np.square(c).sum(axis=1).max()
    np.testing.assert_allclose(np.square(rest).sum(axis=1), np.square(exact).sum(axis=1), rtol=1e-10,
                               atol=1e-13 * scale)
    np.testing.assert_allclose(rest, exact, atol=1e-5)


@pytest.mark.parametrize("name", GRAPHS)
def test_splits_of_many_tasks_close_their_own_gap(name):
    """The best split is a saddle point: the rest pays exactly for the multipliers."""
    rng = np.random.default_rng(64)
    t = 64 if name != "complete" else 16
    tasks = graph(name, t, rng)
    c, l1, fusion = rng.normal(size=(30, t)).cumsum(axis=1), 0.3, rng.uniform(0, 5, size=(30, 1))
    rest = least_rest(c, np.full_like(c, l1), fusion * tasks.weights, tasks)
    used = l1 * np.abs(rest).sum(axis=1) + (fusion * tasks.weights * np.abs(tasks.differences(rest))).sum(axis=1)
    whole = np.square(c).sum(axis=1)
    np.testing.assert_allclose(((c - rest) * rest).sum(axis=1), used, rtol=1e-9, atol=1e-10 * whole.max())
    assert (np.square(rest).sum(axis=1) <= whole).all()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("t", [3, 5, 14])
def test_slopes_fit_after_division_by_the_gauge_and_not_before(name, t):
    rng = np.random.default_rng(t)
    tasks = graph(name, t, rng)
    for _ in range(4):
        c, l1, fusion = 20 * rng.normal(size=(1, t)), rng.uniform(0.2, 1.0, 1), rng.uniform(0.1, 2.0, 1)
        gauge = largest_gauge(c, Penalty(l1, np.zeros(1), fusion), tasks)
        left = [least_rest(c / (gauge * shift), np.full_like(c, l1[0]), fusion[0] * tasks.weights[None], tasks)
                for shift in (1 + 1e-6, 1 - 1e-4)]
        assert gauge > 1
        assert np.abs(left[0]).max() < 1e-7
        assert np.abs(left[1]).max() > 1e-6


def test_the_violation_is_the_distance_to_the_subdifferential():
    penalty, tasks = Penalty(np.array([0.0, 2.0]), np.array([0.0, 0.5]), np.array([1.0, 1.0])), TaskGraph.chain(2)
    params = np.array([[1.0, 1.0], [3.0, 0.0]])
    slopes = np.array([[4.0, -2.0], [-4.0, 6.0]])
    # row 0: tied, so v in [-1, 1] moves (4, -2) to (4 + v, -2 - v): best (3, -1)
    # row 1: -4 + 1.5 + 2 + 1 = 0.5 is pinned; 6 - 1 + [-2, 2] leaves 3
    intercept = Penalty(np.zeros(1), np.zeros(1), np.ones(1))
    assert kkt_violation(params[:1], slopes[:1], intercept, tasks) == pytest.approx(10**0.5)
    assert kkt_violation(params, slopes, penalty, tasks) == pytest.approx(10**0.5)
    assert kkt_violation(params[1:], slopes[1:], Penalty(penalty.l1[1:], penalty.l2[1:], penalty.fusion[1:]),
                         tasks) == pytest.approx((0.5**2 + 3**2) ** 0.5)


def test_many_features_are_judged_in_little_memory_and_time():
    rng = np.random.default_rng(8)
    d, t = 20_000, 4
    data = Data.from_arrays(rng.normal(size=(20, d)), rng.integers(0, 2, size=(20, t)))
    params = np.zeros((1 + d, t))
    params[1:20] = rng.normal(size=(19, 1))
    proof = certify(Problem.build(data, TaskGraph.ring(t)), params, Penalty.from_values(5.0, 0.0, 1.0, d))
    assert 0 <= proof.relative_gap <= 1
