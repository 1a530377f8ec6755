"""Problems on which coordinate descent alone stalls: the answer, the status and the referee must agree all the same."""

import numpy as np
import pytest

from fusedlr.solver import NewtonSolver, solve_newton
from tests.wide import Data, Penalty
from fusedlr.optimality import certify
from tests.wide import Problem
from fusedlr.tasks import TaskGraph
from tests.core.fuzz import broken_promises, understated
from tests.core.problems import draw_far, draw_nasty


@pytest.mark.parametrize("seed", [5883, 6459, 7035, 8571])
def test_far_means_beside_fused_intercepts(seed):
    assert broken_promises(seed) == []


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_no_gap_is_understated_where_fused_intercepts_have_a_long_way_to_go(seed, tol):
    """A hundred thousand standard deviations from zero: the status may be "not_converged", but the gap is a bound."""
    data, penalty, tasks = draw_far(seed, shifts=[1e5])
    assert list(understated(Problem.build(data, tasks), data, penalty, tol)) == []


def test_an_intercept_far_from_its_optimum_is_not_certified():
    """Its slope is next to nothing, and so is that of the coefficient which it has to make room for."""
    rng = np.random.default_rng(1275)
    centred = rng.normal(size=(100, 1))
    Y = (rng.random((100, 4)) < 1 / (1 + np.exp(-0.3 * centred))).astype(float)
    problem = Problem.build(Data.from_arrays(centred + 1e5, Y), TaskGraph.chain(4))
    penalty = Penalty.from_values(0.07, 5e-4, 66.0, 1)
    best = solve_newton(problem, penalty, tol=1e-8)
    for tol in (1e-2, 1e-3, 1e-4, 1e-6):
        rough = solve_newton(problem, penalty, tol=tol)
        assert rough.status == "optimal"
        assert rough.objective - best.objective <= rough.gap * rough.objective


@pytest.mark.parametrize("seed", [4475, 7115, 8699])
def test_nearly_equal_columns_without_l1_and_l2(seed):
    assert broken_promises(seed) == []


@pytest.mark.parametrize("seed", [199, 1735, 2047, 2959, 3487, 4327, 5191, 5479, 7807])
def test_columns_of_very_different_sizes(seed):
    assert broken_promises(seed) == []


@pytest.mark.parametrize("seed", [3274, 7041, 7585])
def test_equal_columns_and_fewer_rows_than_features(seed):
    assert broken_promises(seed) == []


@pytest.mark.parametrize("seed", [5645, 5828])
def test_curvature_in_few_directions_and_a_ridge_that_is_all_there_is_in_the_others(seed):
    """Rounding may leave a model without curvature, or with less than none."""
    assert broken_promises(seed) == []


def draw_nearly_equal_columns(difference):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4))
    X[:, 1] = X[:, 0] + difference * X[:, 1]
    Y = (rng.random((200, 3)) < 0.5).astype(float)
    return Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(3))


@pytest.mark.parametrize("fusion", [0.0, 0.5])
def test_the_referee_confirms_a_fit_of_columns_that_differ_in_the_seventh_digit(fusion):
    problem, penalty = draw_nearly_equal_columns(1e-6), Penalty.from_values(0, 0, fusion, 4)
    solution = solve_newton(problem, penalty, tol=1e-7)
    certificate = certify(problem, solution.params, penalty)
    assert (solution.status, certificate.kind) == ("optimal", "gap")
    assert certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("difference", [1e-2, 1e-4])
def test_a_hundred_pairs_of_nearly_equal_columns_under_next_to_no_penalty(difference):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 110))
    X = np.hstack([X, X + difference * rng.normal(size=X.shape)])
    effects = 0.2 * rng.normal(size=(220, 1)) + 0.1 * rng.normal(size=(220, 4))
    Y = (rng.random((300, 4)) < 1 / (1 + np.exp(-X @ effects))).astype(float)
    problem, penalty = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(4)), Penalty.from_values(0.01, 0, 0.1, 220)
    solution = solve_newton(problem, penalty, tol=1e-9)
    assert solution.status == "optimal"
    assert certify(problem, solution.params, penalty).relative_gap <= 1e-8


@pytest.mark.parametrize("tol", [1e-7, 1e-10, 1e-15])
def test_a_status_of_optimal_means_a_gap_within_tol(tol):
    nasty = [draw_nasty(seed // 4)[1:] for seed in (2959, 4327, 9439)]  # rounding limits the gap of these
    problems = [(Problem.build(data, tasks), penalty) for data, penalty, tasks in nasty]
    hopeless = draw_nearly_equal_columns(1e-8), Penalty.from_values(0, 0, 0.5, 4)
    for problem, penalty in [*problems, hopeless]:
        solution = solve_newton(problem, penalty, tol=tol)
        assert (solution.status == "optimal") == (solution.gap <= tol)
    assert solution.status == "not_converged"


def test_many_rows_in_strips_take_the_same_steps():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 15))
    Y = (rng.random((3000, 3)) < 1 / (1 + np.exp(-X[:, :3]))).astype(float)
    penalty, found = Penalty.from_values(3, 1, 2, 15), []
    for times in (1, 4):  # the same problem; beyond 4,096 rows the curvature is summed up in strips
        data = Data.from_arrays(np.tile(X, (times, 1)), np.tile(Y, (times, 1)), np.full((3000 * times, 3), 1 / times))
        found.append(solve_newton(Problem.build(data, TaskGraph.chain(3)), penalty, tol=1e-12))
    assert found[0].iterations == found[1].iterations
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-12)
    np.testing.assert_allclose(found[0].params, found[1].params, atol=1e-6)  # the root of the gap


def test_features_that_join_many_rows_take_as_many_steps():
    """Features join one penalty after the other, and with them rows of Gram matrices that hardly move otherwise."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 15))
    Y = (rng.random((3000, 3)) < 1 / (1 + np.exp(-0.1 * X[:, :3]))).astype(float)
    points, found = np.array([[l1, 1.0, 2.0] for l1 in (60, 50, 40, 30, 20, 10)]), []
    for times in (1, 4):
        data = Data.from_arrays(np.tile(X, (times, 1)), np.tile(Y, (times, 1)), np.full((3000 * times, 3), 1 / times))
        found.append(NewtonSolver(Problem.build(data, TaskGraph.chain(3))).solve_points(points, 1e-12, 200))
    (params, reports), (same_params, same_reports) = found
    steps, same_steps = (one[:, 3] for one in (reports, same_reports))
    assert (np.diff([np.count_nonzero(one) for one in params]) > 0).sum() >= 3
    np.testing.assert_allclose(steps, same_steps, atol=1)
    np.testing.assert_allclose(params, same_params, atol=1e-6)  # the root of the gap


@pytest.mark.parametrize("seed", [1, 4])
def test_columns_that_single_precision_cannot_tell_apart(seed):
    """Curvature is tried in single precision first; there are too many features for the interior-point fallback."""
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(200, 900)), rng.normal(size=200)
    X[:, 1] = X[:, 0] + 1e-4 * z
    Y = (0.5 * z + X[:, 2] + rng.normal(size=200) > 0)[:, None].astype(float)
    factors = np.append([1e-4, 1e-4], np.ones(898))
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(1))
    penalty = Penalty.from_values(12, 0, 0, 900, factors)
    solution = solve_newton(problem, penalty, tol=1e-9)
    assert solution.status == "optimal"
    assert certify(problem, solution.params, penalty).relative_gap < 1e-8


@pytest.mark.parametrize("n, d", [(200, 20), (400, 40), (600, 80)])
@pytest.mark.parametrize("fusion", [0.5, 2.0, 5.0])
def test_fits_held_by_fusion_alone_take_few_steps(n, d, fusion):
    """Half of their equations are zeros, which must not be mistaken for more; else sweeps have to make up for it."""
    rng = np.random.default_rng(7)
    X, coefs = rng.normal(size=(n, d)), rng.normal(size=(d, 1)) + 0.5 * rng.normal(size=(d, 4))
    Y = (rng.random((n, 4)) < 1 / (1 + np.exp(-X @ coefs / np.sqrt(d)))).astype(float)
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(4))
    assert solve_newton(problem, Penalty.from_values(0, 0, fusion, d), tol=1e-9, max_iter=7).status == "optimal"


@pytest.mark.parametrize("fusion", [0.0, 0.5, 3.0])
def test_correlated_features_take_ten_steps_at_most(fusion):
    """A model whose slopes or curvatures are off costs steps, not digits: the gap is that of the loss itself."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 40)) + rng.normal(size=(200, 1))
    Y = (X[:, :4] + rng.normal(size=(200, 4)) > 0).astype(float)
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(4))
    assert solve_newton(problem, Penalty.from_values(1, 2, fusion, 40), tol=1e-9, max_iter=10).status == "optimal"


@pytest.mark.parametrize("size", [1e-60, 1e-12, 1e30, 1e60])
def test_weights_of_any_size_give_the_same_fit(size):
    """Beyond 1e38 they would overflow in single precision."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 300))
    Y = (X[:, :3] + rng.normal(size=(80, 3)) > 0).astype(float)
    problem, same = (Problem.build(Data.from_arrays(X, Y, np.full((80, 3), weight)), TaskGraph.chain(3))
                     for weight in (1.0, size))
    expected = solve_newton(problem, Penalty.from_values(5, 0.1, 0.5, 300), tol=1e-12)
    penalty = Penalty.from_values(5 * size, 0.1 * size, 0.5 * size, 300)
    found = solve_newton(same, penalty, tol=1e-12)
    assert found.status == "optimal"
    assert certify(same, found.params, penalty).relative_gap < 1e-11
    np.testing.assert_allclose(found.params, expected.params, atol=1e-6)
