"""The fast solver against limits, invariances and the referee; nothing here compares with its own earlier output."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import linprog

from fusedlr.admm import solve_admm
from fusedlr.core import cpu
from fusedlr.solver import FLOOR, NewtonSolver, solve_newton
from tests.wide import Data, Penalty, gradient, linear_predictor, loss_derivatives, objective
from fusedlr.optimality import certify
from tests.wide import Problem
from fusedlr.tasks import TaskGraph
from tests.core.fuzz import broken_promises

TOL = 1e-10


@pytest.fixture(scope="module")
def data():
    return draw(1, n=80, d=12, t=4)


def draw(seed, n, d, t, **extra):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = rng.normal(size=(d, 1)) + 0.4 * rng.normal(size=(d, t))
    Y = (rng.random((n, t)) < 1 / (1 + np.exp(-X @ truth))).astype(float)
    return Data.from_arrays(X, Y, **extra)


def labels(data):
    return np.where(data.weights > 0, (data.signs + 1) / 2, np.nan)


def fit(data, tasks, l1=0.0, l2=0.0, fusion=0.0, factors=None, tol=TOL):
    penalty = Penalty.from_values(l1, l2, fusion, data.n_features, factors)
    solution = solve_newton(Problem.build(data, tasks), penalty, tol=tol)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(objective(data, solution.params, penalty, tasks), rel=1e-11)
    assert -1e-12 <= certify(Problem.build(data, tasks), solution.params, penalty).relative_gap <= 10 * tol
    return solution.params


@pytest.mark.parametrize("seed", [*range(300), 7643])  # the last: nearly equal columns that the signs want to differ
def test_random_problems_keep_every_promise(seed):
    assert broken_promises(seed) == []


@pytest.mark.parametrize("graph", [TaskGraph.chain(4), TaskGraph.ring(4)], ids=["chain", "ring"])
@pytest.mark.parametrize("penalties", [(0.5, 0.0, 0.0), (0.5, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)], ids=str)
def test_no_gap_is_smaller_than_the_distance_to_the_optimum(data, graph, penalties):
    problem, penalty = Problem.build(data, graph), Penalty.from_values(*penalties, data.n_features)
    best = solve_newton(problem, penalty, tol=1e-14).objective
    seen = []
    for steps in range(1, 12):
        solution = solve_newton(problem, penalty, tol=1e-9, max_iter=steps)
        assert solution.gap * solution.objective >= solution.objective - best - 1e-12 * best
        seen.append(solution.gap)
    assert seen[0] > 1e-6 and seen[-1] <= 1e-9


@pytest.mark.parametrize("graph", [TaskGraph.chain(4), TaskGraph.ring(4), TaskGraph([(0, k) for k in (1, 2, 3)], 4),
                                   TaskGraph([(0, 1, 2.0), (2, 3, 0.5)], 4),
                                   TaskGraph([(j, k) for j in range(4) for k in range(j)], 4)], ids=str)
@pytest.mark.parametrize("penalties", [(1.0, 0.0, 0.5), (0.3, 0.2, 2.0), (0.0, 0.1, 1.0), (2.0, 0.0, 0.0)])
def test_every_graph_is_certified_by_the_referee(data, graph, penalties):
    fit(data, graph, *penalties)


@pytest.mark.parametrize("graph", [TaskGraph([(0, 1), (0, 2), (2, 3), (2, 4), (4, 5)], 6), TaskGraph.ring(6),
                                   TaskGraph([(0, 1), (1, 2), (0, 2, 0.5), (3, 4)], 6)], ids=["tree", "ring", "parts"])
@pytest.mark.parametrize("penalties", [(1.0, 0.0, 0.5), (0.3, 0.2, 2.0), (0.0, 0.1, 1.0)])
def test_trees_and_rings_have_the_objective_that_cuts_find(graph, penalties):
    """The other edges, next to weightless, change nothing but that only cuts can take the graph."""
    data, penalty = draw(2, n=60, d=10, t=6), Penalty.from_values(*penalties, 10)
    given = {tuple(edge) for edge in graph.edges.tolist()}
    idle = [(j, k, 1e-300) for k in range(6) for j in range(k) if (j, k) not in given]
    for_cuts = TaskGraph([(j, k, w) for (j, k), w in zip(graph.edges, graph.weights)] + idle, 6)
    found, expected = (solve_newton(Problem.build(data, tasks), penalty, tol=TOL) for tasks in (graph, for_cuts))
    assert found.status == expected.status == "optimal"
    assert found.objective == pytest.approx(expected.objective, rel=2 * TOL)


@pytest.mark.parametrize("graph", [TaskGraph.chain(4), TaskGraph.ring(4)], ids=["chain", "ring"])
def test_newton_and_admm_find_the_same_point(data, graph):
    penalty = Penalty.from_values(1.0, 0.3, 0.7, 12)
    fast, slow = (solve(Problem.build(data, graph), penalty, tol=1e-9).params for solve in (solve_newton, solve_admm))
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-4)


def test_no_fusion_equals_separate_fits(data):
    joint = fit(data, TaskGraph.chain(4), l1=1.0, l2=0.1, tol=1e-13)
    for k in range(4):
        one = Data.from_arrays(data.X, labels(data)[:, k])
        alone = fit(one, TaskGraph.chain(1), l1=1.0, l2=0.1, tol=1e-13)
        np.testing.assert_allclose(joint[:, [k]], alone, rtol=0, atol=1e-5)


def test_large_fusion_equals_a_pooled_fit(data):
    joint = fit(data, TaskGraph.chain(4), l1=1.0, l2=0.1, fusion=1e4, tol=1e-13)
    assert (joint == joint[:, [0]]).all()
    pooled = Data.from_arrays(np.tile(data.X, (4, 1)), labels(data).T.ravel())
    alone = fit(pooled, TaskGraph.chain(1), l1=4.0, l2=0.4, tol=1e-13)
    np.testing.assert_allclose(joint[:, :1], alone, rtol=0, atol=1e-5)


def test_l1_at_its_largest_useful_value_leaves_nothing(data):
    null = fit(data, TaskGraph.chain(4), l1=1e6)
    assert (null[1:] == 0).all()
    slopes = gradient(data, loss_derivatives(data, linear_predictor(data, null))[0])
    largest = np.abs(slopes[1:]).max()
    assert (fit(data, TaskGraph.chain(4), l1=largest * 1.0001)[1:] == 0).all()
    assert (fit(data, TaskGraph.chain(4), l1=largest * 0.999)[1:] != 0).any()


def test_a_weight_of_two_is_a_doubled_row(data):
    weights = np.ones((80, 4))
    weights[:10] = 2
    heavy = Data.from_arrays(data.X, labels(data), weights)
    rows = np.r_[np.arange(80), np.arange(10)]
    doubled = Data.from_arrays(data.X[rows], labels(data)[rows])
    penalties = dict(l1=0.5, l2=0.2, fusion=0.5)
    expected, found = (fit(part, TaskGraph.chain(4), **penalties) for part in (doubled, heavy))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_a_missing_label_is_a_row_absent_from_that_task(data):
    Y = labels(data)
    Y[:30, 2] = np.nan
    some = fit(Data.from_arrays(data.X, Y), TaskGraph.chain(4), l1=0.5, l2=0.2)
    rest = fit(Data.from_arrays(data.X[30:], Y[30:, 2]), TaskGraph.chain(1), l1=0.5, l2=0.2)
    np.testing.assert_allclose(some[:, [2]], rest, rtol=0, atol=1e-5)


def test_reversed_tasks_permuted_features_and_swapped_labels_change_nothing_else(data):
    penalties = dict(l1=0.5, l2=0.2, fusion=0.8)
    plain = fit(data, TaskGraph.chain(4), **penalties)
    turned = Data.from_arrays(data.X[:, ::-1], 1 - labels(data)[:, ::-1])
    other = fit(turned, TaskGraph.chain(4), **penalties)
    back = -np.vstack([other[:1], other[:0:-1]])[:, ::-1]
    np.testing.assert_allclose(plain, back, rtol=0, atol=1e-5)


def test_an_offset_is_added_to_the_linear_predictor(data):
    shift = 0.7 * data.X[:, :1] + np.zeros((1, 4))
    moved = Data.from_arrays(data.X, labels(data), offset=shift)
    factors = np.r_[0.0, np.ones(11)]
    penalties = dict(l1=0.5, l2=0.2, fusion=0.0, factors=factors, tol=1e-11)
    plain, with_offset = fit(data, TaskGraph.chain(4), **penalties), fit(moved, TaskGraph.chain(4), **penalties)
    with_offset[1] += 0.7
    np.testing.assert_allclose(plain, with_offset, rtol=0, atol=1e-5)


def test_one_task_without_penalty_is_statsmodels_logit(data):
    y = labels(data)[:, 0]
    expected = sm.Logit(y, sm.add_constant(data.X)).fit(disp=False, tol=1e-12)
    found = fit(Data.from_arrays(data.X, y), TaskGraph.chain(1), tol=1e-14)
    np.testing.assert_allclose(found[:, 0], expected.params, rtol=0, atol=1e-7)


def test_penalties_of_single_rows_act_on_them_alone(data):
    l1 = np.r_[0.0, np.full(12, 0.5)]
    l1[3] = 1e5
    found = fit(data, TaskGraph.chain(4), l1=l1, l2=0.1, fusion=np.r_[np.zeros(7), np.full(6, 1e4)])
    assert (found[3] == 0).all()
    assert (found[7:] == found[7:, [0]]).all()
    assert len(np.unique(found[0])) == 4


@pytest.mark.parametrize("l1, l2", [(0.5, 0.0), (0.0, 0.5)])
def test_more_features_than_a_gram_matrix_holds(l1, l2):
    """With a ridge alone all 2,500 coefficients are in the support, so the solver sweeps by rows."""
    wide = draw(5, n=30, d=2500, t=3)
    fit(wide, TaskGraph.chain(3), l1=l1, l2=l2, fusion=0.3, tol=1e-7)


def test_the_start_does_not_matter(data):
    penalty = Penalty.from_values(0.5, 0.1, 0.5, 12)
    solver = NewtonSolver(Problem.build(data, TaskGraph.chain(4)))
    start = np.random.default_rng(0).normal(size=(13, 4))
    first = solver.solve(penalty, tol=TOL, start=start).params
    again = solver.solve(penalty, tol=TOL, start=np.zeros((13, 4))).params
    np.testing.assert_allclose(first, again, rtol=0, atol=1e-5)


def test_margins_of_a_thousand_do_no_harm(data):
    far = Data.from_arrays(1000 * data.X, labels(data))
    fit(far, TaskGraph.chain(4), l1=1.0, l2=0.1, fusion=1.0, tol=1e-6)


def test_the_callers_arrays_are_left_alone(data):
    copies = [a.copy() for a in (data.X, data.signs, data.weights, data.offset)]
    fit(data, TaskGraph.chain(4), l1=0.5, fusion=0.5)
    for before, after in zip(copies, (data.X, data.signs, data.weights, data.offset)):
        np.testing.assert_array_equal(before, after)


def test_too_few_steps_are_admitted(data):
    problem = Problem.build(data, TaskGraph.chain(4))
    solution = solve_newton(problem, problem.penalty(0.1, 0.0, 0.1), tol=1e-12, max_iter=1)
    assert solution.status == "not_converged"
    assert solution.gap > 1e-12


def test_the_instruction_set_has_a_name():
    assert cpu() in ("base", "avx2", "avx512")


# ---------------------------------------------------------------- the separable rule


def separated(n=30, d=60, t=3):
    return draw(7, n, d, t)


@pytest.mark.parametrize("fusion", [0.0, 0.5])
def test_separated_data_are_called_separated(fusion):
    data = separated()
    penalty = Penalty.from_values(0, 0, fusion, data.n_features)
    solution = solve_newton(Problem.build(data, TaskGraph.chain(3)), penalty)
    assert solution.status == "separated"
    assert np.isfinite(solution.params).all()
    assert solution.objective == pytest.approx(objective(data, solution.params, penalty, TaskGraph.chain(3)))


def test_predictions_hardly_depend_on_the_constant_of_the_rule():
    """Ten times more or less of it turns fewer than one prediction in fifty."""
    data, fresh = separated(), np.random.default_rng(8).normal(size=(2000, 60))
    penalty = Penalty.from_values(0, 0, 0, 60)
    problem = Problem.build(data, TaskGraph.chain(3))
    labels = [fresh @ (found := solve_newton(problem, penalty, floor=floor).params)[1:] + found[0] > 0
              for floor in (FLOOR, 10 * FLOOR, FLOOR / 10)]
    assert (labels[0] != labels[1]).mean() < 0.02
    assert (labels[0] != labels[2]).mean() < 0.02


def test_the_ridge_of_the_rule_is_far_below_the_smallest_penalty_of_the_study():
    """It is FLOOR times a quarter of a column's sum of squares; the study has 400 rows of unit variance at most."""
    assert FLOOR * 400 / 4 <= 0.05 / 50


def test_data_that_are_not_separated_are_fitted_without_any_ridge():
    data = draw(9, n=200, d=5, t=3)
    penalty = Penalty.from_values(0, 0, 0.4, 5)
    solution = solve_newton(Problem.build(data, TaskGraph.chain(3)), penalty, tol=1e-9)
    assert solution.status == "optimal"
    assert certify(Problem.build(data, TaskGraph.chain(3)), solution.params, penalty).relative_gap <= 1e-8


def is_separated(X, Y):
    """Whether some direction of recession exists that all tasks share: a linear program."""
    Z, signs = np.column_stack([np.ones(len(X)), X]), 2 * Y - 1
    agree = (signs == signs[:, :1]).all(axis=1)
    gains, level = signs[agree, :1] * Z[agree], Z[~agree]
    found = linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), A_eq=level, b_eq=np.zeros(len(level)),
                    bounds=(-1, 1), method="highs")
    return -found.fun > 1e-7


@pytest.mark.parametrize("seed", range(60))
def test_fused_tasks_are_called_separated_where_a_linear_program_says_so(seed):
    rng = np.random.default_rng(seed)
    n, d, t = rng.integers((20, 2, 2), (150, 30, 5))
    X = rng.normal(size=(n, d))
    truth = rng.choice([1, 3, 10]) * rng.normal(size=(d, 1)) + rng.choice([0.1, 1, 3]) * rng.normal(size=(d, t))
    Y = (X @ truth + rng.choice([0, 1]) * rng.logistic(size=(n, t)) > 0).astype(float)
    fusion = rng.choice([0.01, 0.05, 0.5, 5.0])
    problem = Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(t))
    solution = solve_newton(problem, problem.penalty(0, 0, fusion))
    assert solution.status == ("separated" if is_separated(X, Y) else "optimal")


def test_quasi_separated_data_are_called_separated():
    """One feature separates the yes labels from some of the no labels and is 0 for the others."""
    x = np.r_[np.ones(10), np.zeros(20)]
    y = np.r_[np.ones(10), np.tile([0.0, 1.0], 10)]
    problem = Problem.build(Data.from_arrays(x[:, None], y), TaskGraph.chain(1))
    solution = solve_newton(problem, problem.penalty(0, 0, 0))
    assert solution.status == "separated"
    assert np.isfinite(solution.params).all()


@pytest.mark.parametrize("l1, fusion", [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (0.0, 0.5)])
def test_a_task_with_one_class_stays_finite(l1, fusion):
    data = draw(11, n=40, d=3, t=3)
    Y = labels(data)
    Y[:, 1] = 1.0
    problem = Problem.build(Data.from_arrays(data.X, Y), TaskGraph.chain(3))
    solution = solve_newton(problem, problem.penalty(l1, 0, fusion))
    assert np.isfinite(solution.params).all()
    assert solution.status in ("optimal", "separated")
    assert (solution.params[0, 1] + data.X @ solution.params[1:, 1] > 0).mean() > 0.9


def test_a_task_without_labels_follows_its_neighbours():
    data = draw(12, n=40, d=3, t=3)
    Y = labels(data)
    Y[:, 2] = np.nan
    found = fit(Data.from_arrays(data.X, Y), TaskGraph.chain(3), l1=0.5, l2=0.1, fusion=1.0)
    alone = fit(Data.from_arrays(data.X, Y), TaskGraph.chain(3), l1=0.5, l2=0.1)
    assert (alone[1:, 2] == 0).all()
    assert np.isfinite(found).all()


@pytest.mark.parametrize("graph", [TaskGraph.chain(5), TaskGraph.ring(5), TaskGraph([(0, k) for k in range(1, 5)], 5)],
                         ids=["chain", "ring", "star"])
@pytest.mark.parametrize("empty", range(5))
def test_a_task_without_labels_beside_columns_of_a_hundred_thousand(graph, empty):
    """The curvature of the one is lost in that of the others when they are added."""
    data = draw(13, n=40, d=6, t=5)
    Y = labels(data)
    Y[:, empty] = np.nan
    fit(Data.from_arrays(1e5 * data.X, Y), graph, l1=1.0, fusion=1.0, tol=1e-6)


@pytest.mark.parametrize("seed", [87, 166, 243])
def test_a_chain_with_a_task_without_labels_and_large_columns_converges(seed):
    rng = np.random.default_rng(seed)
    t = int(rng.integers(2, 6))
    X = rng.normal(size=(40, 6)) * 10.0 ** rng.uniform(2, 5)
    Y = (rng.random((40, t)) < 0.5).astype(float)
    Y[:, rng.integers(t)] = np.nan
    l1, fusion = rng.choice([0, 0.1, 1.0]), rng.choice([0.1, 1.0, 8.0])
    fit(Data.from_arrays(X, Y), TaskGraph.chain(t), l1=l1, fusion=fusion, tol=1e-6)
