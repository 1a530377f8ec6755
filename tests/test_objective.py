"""The objective: its value and its derivatives, term by term and by finite differences."""

import math

import numpy as np
import pytest

from fusedlr.metrics import linear_predictor, loglike, null_loglike
from fusedlr.objective import (gap_unit, gradient, information, loss, loss_derivatives,
                               objective, penalty_value)
from fusedlr.problem import Penalty, Problem
from fusedlr.tasks import TaskGraph
from tests import wide


def arrays(seed, n=12, d=3, t=4):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.integers(0, 2, size=(n, t)).astype(float)
    return X, Y, rng.normal(size=(1 + d, t)), rng


def loss_at(problem, params):
    return loss(problem.labels, problem.linear(params))


def by_the_book(X, Y, B, weights, offset, l1, l2, fusion, edges):
    """The objective term by term, in plain numbers, for moderate margins."""
    total = 0.0
    for i, k in np.ndindex(Y.shape):
        eta = offset[i, k] + B[0, k] + sum(X[i, m] * B[1 + m, k] for m in range(X.shape[1]))
        total += weights[i, k] * math.log(1 + math.exp(-eta if Y[i, k] == 1 else eta))
    for m, k in np.ndindex(B.shape):
        total += (l1[m] * abs(B[m, k]) + l2[m] / 2 * B[m, k] ** 2) if m else 0.0
    return total + sum(fusion[m] * w * abs(B[m, j] - B[m, k]) for m in range(len(B)) for j, k, w in edges)


def test_the_objective_is_the_stated_sum():
    X, Y, B, rng = arrays(0)
    weights, offset = rng.uniform(0, 2, Y.shape), rng.normal(size=Y.shape)
    l1, l2, fusion = rng.uniform(size=(3, 4))
    l1[0] = l2[0] = 0.0
    edges = [(0, 1, 1.0), (1, 3, 0.5), (0, 3, 2.0)]
    expected = by_the_book(X, Y, B, weights, offset, l1, l2, fusion, edges)
    tasks, penalty = TaskGraph(edges, 4), Penalty(l1, l2, fusion)
    assert objective(Problem.wide(X, Y, tasks, weights, offset), B, penalty) == pytest.approx(expected, rel=1e-13)
    table = wide.Data.from_arrays(X, Y, weights, offset)
    assert wide.objective(table, B, penalty, tasks) == pytest.approx(expected, rel=1e-13)


def test_numbers_spread_over_the_rows_and_spare_the_intercept():
    penalty = Penalty.factors(3, penalty_factors=[1.0, 0.0, 0.5]).times(2.0, 3.0, 4.0)
    assert penalty.l1.tolist() == [0.0, 2.0, 0.0, 1.0]
    assert penalty.l2.tolist() == [0.0, 3.0, 0.0, 1.5]
    assert penalty.fusion.tolist() == [4.0, 4.0, 4.0, 4.0]


def test_free_intercepts_are_spared_by_fusion_too():
    penalty = Penalty.factors(2, fuse_intercepts=False).times(2.0, 3.0, np.array([1.0, 4.0, 5.0]))
    assert penalty.fusion.tolist() == [0.0, 4.0, 5.0]
    assert not Problem.wide([[0.0], [1.0]], [0, 1], factors=Penalty.factors(1, fuse_intercepts=False)).fuse_intercepts


def test_factors_of_a_scale_are_the_penalties_of_divided_features():
    X, Y, B, rng = arrays(7)
    scale = np.array([0.1, 3.0, 20.0])
    given = Problem.wide(X, Y, factors=Penalty.factors(3, [1.0, 0.0, 2.0], scale))
    divided = Problem.wide(X / scale, Y, factors=Penalty.factors(3, [1.0, 0.0, 2.0]))
    stretched = B * np.append(1.0, scale)[:, None]
    assert objective(given, B, given.penalty(2.0, 0.7, 1.5)) == pytest.approx(
        objective(divided, stretched, divided.penalty(2.0, 0.7, 1.5)), rel=1e-13)


def test_intercepts_are_fused_and_not_shrunk():
    params = np.array([[5.0, 2.0], [0.0, 0.0]])
    penalty = Penalty.factors(1).times(1.0, 1.0, 0.5)
    assert penalty_value(params, penalty, TaskGraph.chain(2)) == 1.5


@pytest.mark.parametrize("margin", [1000.0, -1000.0, 40.0, -40.0, 0.0])
def test_the_loss_is_exact_for_margins_of_any_size(margin):
    problem = Problem.wide([[1.0]], [[1.0]], offset=[margin])
    shift = problem.design.shift(problem.labels)
    exact = math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)
    first, second = loss_derivatives(problem.labels, shift)
    assert loss(problem.labels, shift) == pytest.approx(exact, rel=1e-15, abs=0)
    miss = 1.0 if margin < -700 else math.exp(-margin) / (1 + math.exp(-margin))
    assert first[0] == pytest.approx(-miss, rel=1e-14)
    assert 0 <= second[0] <= 0.25


def test_derivatives_agree_with_finite_differences():
    X, Y, B, rng = arrays(1)
    problem = Problem.wide(X, Y, None, rng.uniform(0, 2, Y.shape), rng.normal(size=Y.shape))
    labels, linear, step = problem.labels, problem.linear(B), 1e-5
    first, second = loss_derivatives(labels, linear)
    for i in (0, 27, 47):
        move = np.zeros_like(linear)
        move[i] = step
        rise = loss(labels, linear + move) - loss(labels, linear - move)
        assert first[i] == pytest.approx(rise / (2 * step), abs=1e-8)
        slopes = [loss_derivatives(labels, linear + side * move)[0][i] for side in (1, -1)]
        assert second[i] == pytest.approx((slopes[0] - slopes[1]) / (2 * step), abs=1e-8)


def test_the_gradient_and_the_information_agree_with_finite_differences():
    X, Y, B, rng = arrays(2)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    problem, step = Problem.wide(X, Y, None, rng.uniform(0.5, 2, Y.shape), rng.normal(size=Y.shape)), 1e-5
    slopes, curvature = gradient(problem, B), information(problem, B)
    for row, task in np.ndindex(B.shape):
        move = np.zeros_like(B)
        move[row, task] = step
        rise = loss_at(problem, B + move) - loss_at(problem, B - move)
        assert slopes[row, task] == pytest.approx(rise / (2 * step), abs=1e-7)
        bend = (gradient(problem, B + move) - gradient(problem, B - move)) / (2 * step)
        np.testing.assert_allclose(curvature[task, row], bend[:, task], atol=1e-7)
        assert not np.delete(bend, task, axis=1).any()


def test_log_likelihoods_are_those_of_the_tasks():
    X, Y, B, rng = arrays(8)
    Y[0, 1] = np.nan
    problem = Problem.wide(X, Y, None, rng.uniform(0.5, 2, Y.shape), rng.normal(size=Y.shape))
    labels = problem.labels
    linear = linear_predictor(problem.design, labels, B)
    np.testing.assert_allclose(linear, problem.linear(B), rtol=1e-13, atol=1e-13)
    *by_task, total = loglike(labels, linear)
    assert total == pytest.approx(-loss_at(problem, B), rel=1e-14) and total == sum(by_task)
    assert by_task[1] == pytest.approx(-loss(labels.some(labels.task == 1), linear[labels.task == 1]), rel=1e-14)
    shift = problem.design.shift(labels)
    best = null_loglike(labels, shift)
    for k in range(4):
        own = labels.task == k
        values = [loss(labels.some(own), shift[own] + a) for a in np.linspace(-5, 5, 20001)]
        assert -min(values) <= best[k] + 1e-12 and best[k] == pytest.approx(-min(values), rel=1e-6)


def test_a_weight_of_two_is_the_row_twice():
    X, Y, B, _ = arrays(3)
    doubled = Problem.wide(np.vstack([X, X[:5]]), np.vstack([Y, Y[:5]]))
    weighted = Problem.wide(X, Y, weights=np.where(np.arange(12) < 5, 2.0, 1.0))
    assert loss_at(weighted, B) == pytest.approx(loss_at(doubled, B), rel=1e-14)


def test_a_missing_label_is_a_row_absent_from_that_task():
    X, Y, B, _ = arrays(4, t=2)
    Y[:4, 0] = np.nan
    both = Problem.wide(X, Y)
    first, second = Problem.wide(X[4:], Y[4:, :1]), Problem.wide(X, Y[:, 1:])
    apart = loss_at(first, B[:, :1]) + loss_at(second, B[:, 1:])
    assert loss_at(both, B) == pytest.approx(apart, rel=1e-14)
    assert both.labels.row[both.labels.task == 0].min() == 4


def test_swapped_labels_flip_the_signs():
    X, Y, B, _ = arrays(5)
    assert loss_at(Problem.wide(X, Y), B) == pytest.approx(loss_at(Problem.wide(X, 1 - Y), -B), rel=1e-14)


def test_one_label_column_is_one_task():
    X, Y, _, _ = arrays(6)
    problem = Problem.wide(X, Y[:, 0], weights=np.arange(12.0))
    assert (problem.n_rows, problem.n_features, problem.n_tasks) == (12, 3, 1)
    assert problem.labels.table(problem.labels.weight, 12, empty=0.0)[:, 0].tolist() == list(range(12))


def test_the_scale_of_the_gap_has_a_floor():
    problem = Problem.wide([[1.0], [2.0]], [0.0, 1.0])
    assert gap_unit(problem, 5.0) == 5.0
    assert gap_unit(problem, 0.0) == pytest.approx(1e-3 * 2 * math.log(2))
