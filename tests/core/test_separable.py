"""The separable rule: a verdict with a definition of its own, and an answer that is a minimiser."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fusedlr.solver import NewtonSolver
from tests.wide import Data, Penalty, loss
from fusedlr.optimality import certify
from tests.wide import Problem
from fusedlr.tasks import TaskGraph

TOL = 1e-8


def build(X, Y, **options):
    return Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(Y.shape[1]), **options)


def build_weighted(X, Y, weights):
    return Problem.build(Data.from_arrays(X, Y, weights), TaskGraph.chain(Y.shape[1]))


def draw(seed, n=40, d=8, t=3, strength=3.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = strength * rng.normal(size=(d, 1)) + rng.normal(size=(d, t))
    return X, (X @ truth + rng.choice([0, 1]) * rng.logistic(size=(n, t)) > 0).astype(float)


def solve(problem, l1, l2, fusion, **options):
    solver = NewtonSolver(problem)
    penalty = problem.penalty(l1, l2, fusion)
    return solver, penalty, solver.solve(penalty, tol=TOL, **options)


def gap_with_ridge(problem, penalty, solver, solution):
    ridged = Penalty(penalty.l1, penalty.l2 + solver.ridge, penalty.fusion)
    return certify(problem, solution.params, ridged).relative_gap


def is_separated(X, Y):
    """Whether some direction of recession exists, of each task alone: a linear program."""
    Z = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / X.std(axis=0)])
    for labels in Y.T:
        gains = (2 * labels - 1)[:, None] * Z
        found = linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1), method="highs")
        if -found.fun > 1e-7:
            return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_tasks_without_fusion_are_called_separated_where_a_linear_program_says_so(seed):
    X, Y = draw(seed)
    scales, means = 10.0 ** np.linspace(-4, 4, 8), np.linspace(-300, 300, 8)
    expected = "separated" if is_separated(X, Y) else "optimal"
    for shifted in (X, scales * (X + means)):
        assert solve(build(shifted, Y), 0, 0, 0)[2].status == expected


@pytest.mark.parametrize("seed", [60, 123])
def test_a_verdict_that_takes_labels_up_and_gives_them_up_again_is_that_of_a_linear_program(seed):
    X, Y = draw(seed, strength=0.7)
    assert (solve(build(X, Y), 0, 0, 0)[2].status == "separated") == is_separated(X, Y)


@pytest.mark.parametrize("fusion", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("n, d", [(30, 60), (40, 8)])
def test_the_answer_for_separated_data_is_the_minimiser_with_the_ridge(n, d, fusion):
    X, Y = draw(1, n, d, strength=30.0)
    problem = build(X, (X[:, :1] + np.zeros(3) > 0).astype(float) if d < n else Y)
    solver, penalty, solution = solve(problem, 0, 0, fusion)
    assert solution.status == "separated"
    assert (solver.ridge[1:] > 0).all() and solver.ridge[0] == 0
    assert gap_with_ridge(problem, penalty, solver, solution) <= 10 * TOL


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_the_ridge_is_what_it_is_said_to_be(unit):
    X = draw(2, 30, 4)[0] * unit
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.1 * unit]).astype(float)
    weights = np.random.default_rng(0).choice([0.5, 2.0], size=Y.shape)
    problem = Problem.build(Data.from_arrays(X, Y, weights), TaskGraph.chain(2))
    solver, _, _ = solve(problem, 0, 0, 0, floor=1e-4)
    about_mean = [[w @ (x - np.average(x, weights=w)) ** 2 for w in weights.T] for x in X.T]
    np.testing.assert_allclose(solver.ridge[1:], 1e-4 / 4 * np.max(about_mean, axis=1))


@pytest.mark.parametrize("floor", [1e-5, 1e-2])
def test_the_gap_of_separated_data_is_all_of_the_objective(floor):
    """Without the ridge nothing is known but that the objective is not negative."""
    problem = build(*draw(1, 30, 60, strength=30.0))
    solution = solve(problem, 0, 0, 0.05, floor=floor)[2]
    assert solution.status == "separated"
    unit = max(solution.objective, 1e-3 * loss(problem.data, problem.data.offset))
    assert solution.gap == pytest.approx(solution.objective / unit)


def test_labels_that_do_not_count_do_not_hold_data_together():
    """With them the data would not be separated, neither by features nor by an intercept."""
    X, _ = draw(6, 60, 3)
    Y, weights = (X[:, [0]] > [0, 0.2]).astype(float), np.ones((60, 2))
    weights[:20], Y[:20] = 0.0, 1 - Y[:20]
    solution = solve(build_weighted(X, Y, weights), 0, 0, 0)[2]
    assert solution.status == solve(build(X[20:], Y[20:]), 0, 0, 0)[2].status == "separated"
    assert solve(build(X, Y), 0, 0, 0)[2].status == "optimal"
    Y[20:, 1], Y[:20, 1] = 1.0, 0.0
    solver, _, solution = solve(build_weighted(X, Y, weights), 0.5, 0, 0)
    assert solution.status == "separated" and solver.ridge[0] > 0
    assert solve(build(X, Y), 0.5, 0, 0)[2].status == "optimal"
    # Labels that lost their weight later, as those of a fold, are still there.
    solver, _, solution = solve(build(X, Y).reweighted(weights[:, 0]), 0.5, 0, 0)
    assert solution.status == "separated" and solver.ridge[0] > 0


def test_neither_start_nor_order_changes_the_answer():
    """A function with a ridge r grows by r / 2 times the squared distance: two points of small gap are near."""
    X, Y = draw(3, 30, 40)
    problem = build(X, Y)
    solver, _, solution = solve(problem, 0, 0, 0.3)
    expected, near = solution.params[1:], 2 * np.sqrt(2 * TOL * solution.objective / solver.ridge[1:].min())
    start = np.random.default_rng(1).normal(size=solution.params.shape)
    assert np.linalg.norm(solve(problem, 0, 0, 0.3, start=start)[2].params[1:] - expected) <= near
    for order in (1, -1):
        points = np.array([(0.5, 0, 0.3), (0, 0, 1.0), (0, 0, 0.3), (0, 0, 0)])[::order]
        params, _ = NewtonSolver(problem).solve_points(points, tol=TOL)
        assert np.linalg.norm(params[points.tolist().index([0, 0, 0.3])][1:] - expected) <= near


def test_points_of_a_grid_without_l1_and_l2_are_found_from_their_neighbours():
    """Each is warm-started by extrapolation from the two before it, so that few Newton steps are left."""
    problem = build(*draw(5, 30, 60, 4))
    points = np.array([(0.0, l2, fusion) for fusion in 2.0 ** -np.arange(8) for l2 in (0.2, 0.1, 0.0)])
    params, reports = NewtonSolver(problem).solve_points(points, tol=TOL)
    later = [i for i, point in enumerate(points) if point[1] == 0 and point[2] < 0.3]
    alone = [solve(problem, *points[i]) for i in later]
    for i, (solver, penalty, solution) in zip(later, alone):
        with_ridge = Penalty(penalty.l1, penalty.l2 + solver.ridge, penalty.fusion)
        assert certify(problem, params[i], with_ridge).relative_gap <= 10 * TOL
        assert reports[i, 0] == pytest.approx(solution.objective, rel=1e-4)
    assert reports[later, 3].sum() <= 0.3 * sum(solution.iterations for *_, solution in alone)


def test_one_class_is_separated_by_its_intercept():
    X, Y = draw(4, 60, 3, strength=0.5)
    Y[:, 1] = 1.0
    solver, penalty, solution = solve(build(X, Y), 0.5, 0, 0)
    assert solution.status == "separated"
    assert solver.ridge[0] > 0 and (solver.ridge[1:] == 0).all()
    assert gap_with_ridge(build(X, Y), penalty, solver, solution) <= 10 * TOL


@pytest.mark.slow
@pytest.mark.parametrize("n, d, t", [(1600, 510, 4), (800, 80, 26)])
def test_two_thousand_unpenalized_coefficients_are_fitted(n, d, t):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))
    problem = build(X, (rng.random((n, t)) < 0.5).astype(float))
    _, penalty, solution = solve(problem, 0, 0, 0)
    assert solution.status == "optimal"
    assert certify(problem, solution.params, penalty).relative_gap <= 1e-7
