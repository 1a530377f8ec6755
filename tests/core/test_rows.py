"""Which rows a task has labels in decides where the core keeps them, and nothing that it finds."""

from dataclasses import replace

import numpy as np
import pytest

from fusedlr.problem import Labels, Penalty, Problem
from fusedlr.solver import NewtonSolver, solve_newton, solve_path

N, D, T = 230, 6, 5


def one_label_each(rng):
    return rng.integers(T, size=N)[:, None] == np.arange(T)


def nested(rng):
    return rng.integers(T, size=N)[:, None] >= np.arange(T)


def reversed_nested(rng):
    return nested(rng)[:, ::-1]


def intervals(rng):
    ends = np.sort(rng.integers(T, size=(N, 2)), axis=1)
    return (ends[:, :1] <= np.arange(T)) & (np.arange(T) <= ends[:, 1:])


def some_missing(rng):
    return rng.random((N, T)) < 0.95


def most_missing(rng):
    return rng.random((N, T)) < 0.2


def few_patterns(rng):
    return np.array([[1, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1]], dtype=bool)[rng.integers(3, size=N)]


def rows_without_labels(rng):
    return nested(rng) & (rng.random((N, 1)) < 0.6)


PATTERNS = [one_label_each, nested, reversed_nested, intervals, some_missing, most_missing, few_patterns,
            rows_without_labels]
POINTS = np.array([[l1, l2, fusion] for l1 in (4.0, 0.5, 0.0) for l2 in (1.0, 0.0) for fusion in (3.0, 0.2, 0.0)])


def draw(pattern, seed, offset=True):
    """The same problem with the labels that are there, and with the others too, of weight 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    Y = (rng.random((N, T)) < 1 / (1 + np.exp(-X[:, :2] @ [1.0, -1.0]))[:, None]).astype(float)
    X += 20 * (rng.random(D) < 0.3)
    seen = pattern(rng)
    shift = rng.normal(size=(N, T)) if offset else None
    factors = Penalty.factors(D, fuse_intercepts=bool(seed % 2))
    some = Problem.wide(X, np.where(seen, Y, np.nan), weights=1 + rng.random((N, T)), offset=shift, factors=factors)
    weight = some.labels.table(some.labels.weight, N, empty=0.0)
    whole = Labels.wide(Y)
    return some, replace(some, labels=replace(whole, weight=weight.T.ravel()))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(4))
def test_labels_that_are_not_there_are_labels_of_weight_0(pattern, seed):
    some, whole = draw(pattern, seed)
    found, expected = (NewtonSolver(problem).solve_points(POINTS, tol=1e-11) for problem in (some, whole))
    np.testing.assert_allclose(found[1][:, 0], expected[1][:, 0], rtol=1e-9)
    np.testing.assert_array_equal(found[1][:, 2], expected[1][:, 2])
    easy = (POINTS[:, 1] > 0) | (POINTS[:, 0] > 1)
    np.testing.assert_allclose(found[0][easy], expected[0][easy], rtol=2e-5, atol=2e-5)
    np.testing.assert_array_equal(found[1][easy][:, 4:], expected[1][easy][:, 4:])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_order_of_rows_changes_nothing_but_rounding(pattern):
    problem = draw(pattern, 1)[0]
    turned = problem.take(np.random.default_rng(5).permutation(N))
    found, expected = (solve_path(one, POINTS, 1e-11) for one in (turned, problem))
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-9)
    np.testing.assert_allclose(found.params[POINTS[:, 1] > 0], expected.params[POINTS[:, 1] > 0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_labels_of_weight_0_may_as_well_be_left_out(pattern):
    problem = draw(pattern, 2)[0]
    held = problem.reweighted((np.random.default_rng(6).random(N) < 0.7).astype(float))
    left_out = replace(held, labels=held.labels.some(held.labels.weight > 0))
    for penalty in (problem.penalty(1.0, 0.5, 1.0), problem.penalty(0.0, 0.0, 0.0)):
        np.testing.assert_array_equal(solve_newton(held, penalty).params, solve_newton(left_out, penalty).params)


def test_tasks_without_labels_take_the_coefficients_of_their_neighbours():
    problem = draw(one_label_each, 3, offset=False)[0]
    bare = replace(problem, labels=problem.labels.some(~np.isin(problem.labels.task, (0, 3))))
    solution = solve_newton(bare, bare.penalty(0.2, 0.1, 5.0), tol=1e-10)
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.params[1:, 0], solution.params[1:, 1], atol=1e-4)


@pytest.mark.parametrize("n", [1, 3, 8, 9])
def test_few_rows_with_one_label_each(n):
    rng = np.random.default_rng(n)
    Y = np.where(np.arange(n)[:, None] % 3 == np.arange(3), rng.integers(2, size=(n, 1)), np.nan)
    problem = Problem.wide(rng.normal(size=(n, 2)), Y)
    solution = solve_newton(problem, problem.penalty(0.1, 0.3, 0.2), tol=1e-9)
    assert solution.status in ("optimal", "separated")
    assert np.isfinite(solution.params).all()
