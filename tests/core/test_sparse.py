"""Sparse features: the same numbers as dense ones, whatever is stored how."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array

from fusedlr.matrices import for_core
from fusedlr.problem import Problem
from fusedlr.solver import column_scales, solve_exactly, solve_newton, solve_path
from tests.core.problems import draw_sparse
from tests.wide import Problem as Wide


def sparse(problem):
    return replace(problem, design=replace(problem.design, X=csc_array(problem.design.X)))


def drawn(n=60, d=200, t=3, filled=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < filled)
    X[:, :3] = rng.normal(size=(n, 3)) + [0, 40, -3]  # dense ones among them, one of them far from zero
    chance = 1 / (1 + np.exp(-X[:, [0, 4, 5]].sum(axis=1, keepdims=True)))
    return X, (rng.random((n, t)) < chance).astype(float)


@pytest.mark.parametrize("seed", range(60))
def test_random_problems_have_the_objective_of_dense_ones(seed):
    data, penalty, tasks = draw_sparse(seed)
    problem = Wide.build(data, tasks)
    dense, found = (solve_newton(made, penalty, tol=1e-11) for made in (problem, sparse(problem)))
    settled = dense.status == found.status == "optimal"  # coefficients of separated data go on for ever
    assert found.objective == pytest.approx(dense.objective, rel=1e-9 if settled else 1e-6, abs=1e-9)


@pytest.mark.parametrize("penalty", [(1.0, 0.1, 1.0), (0.5, 0.0, 0.0), (0.0, 0.5, 0.5), (0.2, 0.0, 3.0)])
@pytest.mark.parametrize("gaps", [False, True])
def test_coefficients_zeros_and_ties_are_those_of_dense_features(penalty, gaps):
    X, Y = drawn()
    if gaps:
        Y[np.random.default_rng(1).random(Y.shape) < 0.5] = np.nan
    problem = Problem.wide(X, Y)
    dense, found = (solve_exactly(made, made.penalty(*penalty)) for made in (problem, sparse(problem)))
    assert dense.status == found.status == "optimal"
    np.testing.assert_allclose(found.params, dense.params, atol=2e-7)
    np.testing.assert_array_equal(found.params == 0, dense.params == 0)
    np.testing.assert_array_equal(np.diff(found.params) == 0, np.diff(dense.params) == 0)


def test_one_label_for_each_row():
    X, Y = drawn(n=90)
    Y[np.arange(90)[:, None] % 3 != np.arange(3)] = np.nan
    problem = Problem.wide(X, Y)
    dense, found = (solve_exactly(made, made.penalty(0.5, 0.1, 0.5)) for made in (problem, sparse(problem)))
    np.testing.assert_allclose(found.params, dense.params, atol=2e-7)


def test_a_path_of_many_more_features_than_rows():
    X, Y = drawn(n=50, d=3000, t=1, filled=0.1)
    problem, points = Problem.wide(X, Y), np.array([(l1, 0.01, 0.0) for l1 in (6.0, 4.0, 2.0, 1.0, 0.5)])
    dense, found = (solve_path(made, points, tol=1e-10) for made in (problem, sparse(problem)))
    np.testing.assert_allclose(found.objective, dense.objective, rtol=1e-9)
    np.testing.assert_allclose(found.params, dense.params, atol=1e-4)


def test_separated_data_are_known():
    X, _ = drawn(t=1)
    labels = (X[:, [0]] > 0).astype(float)
    problem = sparse(Problem.wide(X, labels))
    assert solve_newton(problem, problem.penalty(0.0, 0.0, 0.0)).status == "separated"


def test_scales_are_those_of_dense_columns():
    X, _ = drawn()
    X[:, 10], X[:, 11], X[:, 12] = 0.0, 2.5, np.where(np.arange(60) < 50, 0.0, 1e150)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 2.0], size=60)
    X[weights > 0, 13] = 7.0  # constant in the rows that count
    np.testing.assert_allclose(column_scales(csc_array(X), weights), column_scales(X, weights), rtol=1e-12, atol=0)
    assert column_scales(csc_array(X), weights)[[10, 11, 13]].tolist() == [0, 0, 0]


def core_of(X, start, row, value):
    problem = Problem.wide(csc_array(X), np.array([0.0, 1.0, 1.0]))
    broken = replace(problem, design=replace(problem.design, X=problem.design.X.copy()))
    broken.design.X.indptr, broken.design.X.indices, broken.design.X.data = start, row, value
    return solve_newton(broken, broken.penalty(1.0, 1.0, 1.0))


@pytest.mark.parametrize("start, row, value, words", [
    ([0, 2, 1], [0, 1], [1.0, 1.0], "start of X must rise from 0 to 2"),
    ([0, 1, 2], [0, 3], [1.0, 1.0], "rows of X must be from 0 to 2, found 0 to 3"),
    ([0, 2, 2], [1, 1], [1.0, 1.0], "rows of X must rise within every column"),
    ([0, 1, 2], [0, 1], [1.0, np.nan], "X must be finite"),
])
def test_the_core_refuses_what_is_no_sparse_matrix(start, row, value, words):
    with pytest.raises(ValueError, match=words):
        core_of(np.eye(3)[:, :2], np.array(start), np.array(row, dtype=np.int32), np.array(value))


def test_no_entry_at_all():
    X = csc_array((5, 2))
    problem = Problem.wide(X, np.array([0.0, 1, 1, 0, 1]))
    found = solve_newton(problem, problem.penalty(1.0, 0.0, 0.0))
    np.testing.assert_allclose(found.params[:, 0], [np.log(3 / 2), 0, 0], atol=1e-6)
    assert for_core(X)[1].tolist() == [0, 0, 0]
