"""Columns and offsets of any size and position, statuses that can be confirmed, arguments that are refused."""

import numpy as np
import pytest
from scipy.special import expit

from fusedlr.solver import NewtonSolver, column_scales, solve_newton
from fusedlr.core._core import Core
from tests.wide import Data, gradient, linear_predictor, loss_derivatives
from fusedlr.optimality import certify
from tests.wide import Problem
from fusedlr.tasks import TaskGraph

POINTS = [(0, 0, 0), (0, 0, 0.5), (1.0, 0.1, 0.5), (0.0, 0.1, 0.5)]


def draw(n=150, d=5, t=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random((n, t)) < expit(0.4 * X @ rng.normal(size=(d, t)))).astype(float)


def fit(X, Y, point, offset=None, tasks=None, tol=1e-8, **options):
    problem = Problem.build(Data.from_arrays(X, Y, offset=offset), tasks or TaskGraph.chain(Y.shape[1]), **options)
    penalty = problem.penalty(*point)
    solution = solve_newton(problem, penalty, tol=tol)
    assert solution.status == "optimal"
    assert certify(problem, solution.params, penalty).relative_gap <= 1e-6
    return solution.params


@pytest.mark.parametrize("point", POINTS)
def test_free_intercepts_take_up_the_means_of_the_columns(point):
    X, Y = draw()
    means = np.array([1000.0, -1e5, 30.0, 0.0, 1.0])
    expected, found = (fit(x, Y, point, tol=1e-11, fuse_intercepts=False) for x in (X, X + means))
    np.testing.assert_allclose(found[1:], expected[1:], atol=2e-5)
    np.testing.assert_allclose(found[0] + means @ found[1:], expected[0], atol=2e-5)


@pytest.mark.parametrize("point", POINTS)
def test_columns_far_from_zero_with_fused_intercepts(point):
    X, Y = draw()
    fit(X + 1000.0, Y, point)


@pytest.mark.parametrize("point", POINTS)
def test_columns_of_all_scales(point):
    X, Y = draw(d=9)
    fit(X * 10.0 ** np.linspace(-8, 8, 9), Y, point)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("offset", [30.0, -300.0])
def test_an_offset_only_shifts_the_intercepts(point, offset):
    X, Y = draw()
    expected, found = (fit(X, Y, point, np.full(Y.shape, by), tol=1e-11) for by in (0.0, offset))
    np.testing.assert_allclose(found[1:], expected[1:], atol=2e-5)
    np.testing.assert_allclose(found[0] + offset, expected[0], atol=2e-5)


@pytest.mark.parametrize("point", POINTS)
def test_offsets_that_differ_wildly(point):
    X, Y = draw()
    rng = np.random.default_rng(1)
    fit(X, Y, point, 50.0 * rng.normal(size=Y.shape))
    fit(X, Y, point, np.array([40.0, 0.0, -60.0]) + np.zeros(Y.shape))


@pytest.mark.parametrize("apart", [1e-3, 0.0])
@pytest.mark.parametrize("point", POINTS)
def test_nearly_equal_columns(point, apart):
    X, Y = draw()
    X[:, 1] = X[:, 0] + apart * np.random.default_rng(2).normal(size=len(X))
    fit(X, Y, point)


@pytest.mark.parametrize("apart", [1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("point", POINTS[:2])
def test_a_status_is_never_better_than_the_objective(point, apart):
    """Against columns that span the same space without being nearly collinear, where the optimum is easily found."""
    X, Y = draw()
    noise = np.random.default_rng(2).normal(size=len(X))
    near, apart_columns = X.copy(), X.copy()
    near[:, 1], apart_columns[:, 1] = X[:, 0] + apart * noise, noise
    problems = [Problem.build(Data.from_arrays(x, Y), TaskGraph.chain(3)) for x in (near, apart_columns)]
    found, least = (solve_newton(p, p.penalty(*point), tol=1e-8) for p in problems)
    if point[2] == 0 and found.status == "optimal":
        assert found.objective <= least.objective * (1 + 1e-7)
    assert found.status in ("optimal", "not_converged")


def test_a_solve_that_stalls_is_not_called_converged():
    """No gap can be smaller than rounding, which is large where features are far from zero."""
    X, Y = draw()
    problem = Problem.build(Data.from_arrays(X + 300.0, Y), TaskGraph.chain(3))
    solutions = [solve_newton(problem, problem.penalty(*point), tol=1e-30) for point in POINTS]
    assert all(solution.status == "not_converged" or solution.gap <= 1e-30 for solution in solutions)
    assert any(solution.status == "not_converged" and solution.gap < 1e-6 for solution in solutions)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_an_early_gap_is_how_far_slopes_are_from_those_of_the_ridge(steps):
    """With a ridge alone the gap is a sum of squares, by the equality of Fenchel and Young."""
    X, Y = draw()
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(3))
    solution = solve_newton(problem, problem.penalty(0.0, 0.3, 0.0), tol=1e-13, max_iter=steps)
    linear = linear_predictor(problem.data, solution.params)
    slopes = gradient(problem.data, loss_derivatives(problem.data, linear)[0])[1:]
    expected = np.square(slopes + 0.3 * solution.params[1:]).sum() / (2 * 0.3)
    assert solution.gap * solution.objective == pytest.approx(expected, rel=1e-5, abs=1e-11)


@pytest.mark.parametrize("point", POINTS[1:])
def test_an_early_gap_is_no_larger_than_asked_for(point):
    X, Y = draw()
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(3))
    best = solve_newton(problem, problem.penalty(*point), tol=1e-12).objective
    for tol in 3.0 ** -np.arange(1, 20):
        solution = solve_newton(problem, problem.penalty(*point), tol=tol)
        assert solution.status == "optimal" and solution.gap <= tol
        assert solution.objective - best <= solution.gap * solution.objective * (1 + 1e-9)


GRAPHS = {"chain": [(0, 1), (1, 2), (2, 3)], "ring": [(0, 1), (1, 2), (2, 3), (0, 3)], "star": [(0, 1), (0, 2), (0, 3)],
          "complete": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]}


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_df_counts_groups_that_are_not_zero(edges):
    X, Y = draw(d=12, t=4)
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph(edges, 4))
    params, reports = NewtonSolver(problem).solve_points(np.array([(4.0, 0.1, 0.5), (1.0, 0.1, 1.5)]))
    for fitted, report in zip(params, reports):
        assert (fitted[1:] == 0).any()
        assert report[5] == sum(count_groups(row, edges, zeros=i == 0) for i, row in enumerate(fitted))
        assert report[4] == np.count_nonzero(fitted[1:])


def count_groups(row, edges, zeros):
    """Connected groups of equal values, by depth-first search."""
    neighbours = {k: {j for e in edges for j in e if k in e and j != k and row[j] == row[k]} for k in range(len(row))}
    seen, count = set(), 0
    for k in range(len(row)):
        if k in seen:
            continue
        count += bool(zeros or row[k])
        waiting = [k]
        while waiting:
            seen.add(now := waiting.pop())
            waiting.extend(neighbours[now] - seen)
    return count


def test_scales_are_weighted_standard_deviations_of_rows_that_count():
    X, Y = draw()
    weights = np.random.default_rng(3).choice([0.0, 0.5, 2.0], size=Y.shape)
    X[weights.max(axis=1) == 0] = 1e6
    X[:, 4] = 0.1
    row = weights.max(axis=1)
    expected = np.sqrt(np.average((X - np.average(X, axis=0, weights=row)) ** 2, axis=0, weights=row))
    found = column_scales(X, row)
    np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-12)
    assert column_scales(X[row > 0], row[row > 0])[4] == 0
    np.testing.assert_allclose(column_scales(1e200 * X, row)[:4], 1e200 * expected[:4], rtol=1e-12)


def arrays(n=4, d=3, t=2):
    return [np.ones((n, d)), n * np.arange(t + 1), np.tile(np.arange(n, dtype=np.intc), t), np.ones(n * t, np.int8),
            np.ones(n * t), np.zeros(n * t), np.array([[0, 1]], dtype=np.intc), np.ones(1), True]


@pytest.mark.parametrize("position, value, words", [
    (3, np.ones(7, np.int8), "sign.*shape"), (3, np.zeros(8, np.int8), "signs must be 1 or -1"),
    (4, np.ones(4), "weight.*shape"), (4, -np.ones(8), "weight must not be below 0"),
    (5, np.zeros(2), "offset.*shape"), (5, np.full(8, np.nan), "offset must be finite"),
    (1, np.array([0, 4, 9]), "start must rise from 0 to 8"), (1, np.array([0, 9, 8]), "start must rise"),
    (1, np.array([1, 4, 8]), "start must rise"), (1, np.array([0, 3, 8]), "must rise within every task"),
    (2, np.arange(8, dtype=np.intc), "from 0 to 3, found 0 to 7"), (2, np.arange(-1, 7, dtype=np.intc), "found -1"),
    (2, np.zeros(8, np.intc), "must rise within every task"), (0, np.ones((4, 0)), "X must not be empty"),
    (0, np.full((4, 3), np.inf), "X must be finite"), (6, np.array([[0, 2]], dtype=np.intc), "tasks below 2, found 2"),
    (6, np.array([[-1, 1]], dtype=np.intc), "edges must not be below 0"), (7, np.ones(2), "edge weights.*shape"),
    (6, np.zeros((0, 2), dtype=np.intc), "edge weights.*shape")])
def test_arrays_of_other_shapes_or_values_are_refused(position, value, words):
    given = arrays()
    given[position] = value
    with pytest.raises(ValueError, match=words):
        Core(*given)


@pytest.mark.parametrize("changed, words", [
    ({"start": np.zeros((1, 1))}, "start.*shape"), ({"start": np.full((4, 2), np.nan)}, "start must be finite"),
    ({"factors": np.zeros((3, 3))}, "factors.*shape"),
    ({"factors": np.full((3, 4), -1.0)}, "factors must not be below 0"),
    ({"points": np.zeros((2, 2))}, "points.*shape"), ({"points": np.full((2, 3), np.inf)}, "points must be finite"),
    ({"tolerance": 0.0}, "tol must be positive"), ({"tolerance": np.nan}, "tol must be positive"),
    ({"max_iterations": -1}, "max_iter must not be negative"), ({"floor": 0.0}, "floor must be positive")])
def test_calls_that_would_read_past_an_array_are_refused(changed, words):
    given = {"factors": np.ones((3, 4)), "points": np.ones((2, 3)),
             "tolerance": 1e-6, "max_iterations": 10, "floor": 1e-5}
    with pytest.raises(ValueError, match=words):
        Core(*arrays()).solve_path(**given | changed)


def test_what_a_callback_raises_ends_the_path():
    told = []

    def tell(points):
        told.append(points)
        if points == 2:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        Core(*arrays()).solve_path(np.ones((3, 4)), np.ones((5, 3)), 1e-6, 10, 1e-5, None, tell)
    assert told == [1, 2]


def test_a_point_alone_has_the_status_that_it_has_at_the_head_of_a_path():
    one = Core(*arrays()).solve_path(np.ones((3, 4)), np.ones((1, 3)), 1e-6, 10, 1e-5)
    path = Core(*arrays()).solve_path(np.ones((3, 4)), np.array([[1.0, 1, 1], [0.5, 1, 1]]), 1e-6, 10, 1e-5)
    for first, second in zip(one[:2], path[:2]):
        np.testing.assert_array_equal(first[0], second[0])
