"""The objective: its value, its derivatives, and what Data and Penalty refuse."""

import math

import numpy as np
import pytest

from fusedlr.objective import (Data, Penalty, gap_unit, gradient, linear_predictor, loss, loss_derivatives, objective,
                               penalty_value)
from fusedlr.tasks import TaskGraph


def problem(seed, n=12, d=3, t=4):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.integers(0, 2, size=(n, t)).astype(float)
    return X, Y, rng.normal(size=(1 + d, t)), rng


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
    X, Y, B, rng = problem(0)
    weights, offset = rng.uniform(0, 2, Y.shape), rng.normal(size=Y.shape)
    l1, l2, fusion = rng.uniform(size=(3, 4))
    l1[0] = l2[0] = 0.0
    edges = [(0, 1, 1.0), (1, 3, 0.5), (0, 3, 2.0)]
    data, tasks = Data.from_arrays(X, Y, weights, offset), TaskGraph(edges, 4)
    value = objective(data, B, Penalty.from_values(l1, l2, fusion, 3), tasks)
    assert value == pytest.approx(by_the_book(X, Y, B, weights, offset, l1, l2, fusion, edges), rel=1e-13)


def test_numbers_spread_over_the_rows_and_spare_the_intercept():
    penalty = Penalty.from_values(2.0, 3.0, 4.0, 3, penalty_factors=[1.0, 0.0, 0.5])
    assert penalty.l1.tolist() == [0.0, 2.0, 0.0, 1.0]
    assert penalty.l2.tolist() == [0.0, 3.0, 0.0, 1.5]
    assert penalty.fusion.tolist() == [4.0, 4.0, 4.0, 4.0]


def test_intercepts_are_fused_and_not_shrunk():
    params = np.array([[5.0, 2.0], [0.0, 0.0]])
    penalty = Penalty.from_values(1.0, 1.0, 0.5, 1)
    assert penalty_value(params, penalty, TaskGraph.chain(2)) == 1.5


@pytest.mark.parametrize("margin", [1000.0, -1000.0, 40.0, -40.0, 0.0])
def test_the_loss_is_exact_for_margins_of_any_size(margin):
    data = Data.from_arrays([[1.0]], [[1.0]], offset=[margin])
    exact = math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)
    first, second = loss_derivatives(data, data.offset)
    assert loss(data, data.offset) == pytest.approx(exact, rel=1e-15, abs=0)
    miss = 1.0 if margin < -700 else math.exp(-margin) / (1 + math.exp(-margin))
    assert first[0, 0] == pytest.approx(-miss, rel=1e-14)
    assert 0 <= second[0, 0] <= 0.25


def test_derivatives_agree_with_finite_differences():
    X, Y, B, rng = problem(1)
    data = Data.from_arrays(X, Y, rng.uniform(0, 2, Y.shape), rng.normal(size=Y.shape))
    linear, step = linear_predictor(data, B), 1e-5
    first, second = loss_derivatives(data, linear)
    for i, k in [(0, 0), (3, 2), (11, 3)]:
        move = np.zeros_like(linear)
        move[i, k] = step
        rise = loss(data, linear + move) - loss(data, linear - move)
        assert first[i, k] == pytest.approx(rise / (2 * step), abs=1e-8)
        slopes = [loss_derivatives(data, linear + side * move)[0][i, k] for side in (1, -1)]
        assert second[i, k] == pytest.approx((slopes[0] - slopes[1]) / (2 * step), abs=1e-8)


def test_the_gradient_agrees_with_finite_differences():
    X, Y, B, _ = problem(2)
    data, step = Data.from_arrays(X, Y), 1e-5
    exact = gradient(data, loss_derivatives(data, linear_predictor(data, B))[0])
    for index in np.ndindex(B.shape):
        move = np.zeros_like(B)
        move[index] = step
        rise = loss(data, linear_predictor(data, B + move)) - loss(data, linear_predictor(data, B - move))
        assert exact[index] == pytest.approx(rise / (2 * step), abs=1e-7)


def test_a_weight_of_two_is_the_row_twice():
    X, Y, B, _ = problem(3)
    doubled = Data.from_arrays(np.vstack([X, X[:5]]), np.vstack([Y, Y[:5]]))
    weighted = Data.from_arrays(X, Y, weights=np.where(np.arange(12) < 5, 2.0, 1.0))
    assert loss(weighted, linear_predictor(weighted, B)) == pytest.approx(loss(doubled, linear_predictor(doubled, B)),
                                                                          rel=1e-14)


def test_a_missing_label_is_a_row_absent_from_that_task():
    X, Y, B, _ = problem(4, t=2)
    Y[:4, 0] = np.nan
    both = Data.from_arrays(X, Y)
    first, second = Data.from_arrays(X[4:], Y[4:, :1]), Data.from_arrays(X, Y[:, 1:])
    apart = loss(first, linear_predictor(first, B[:, :1])) + loss(second, linear_predictor(second, B[:, 1:]))
    assert loss(both, linear_predictor(both, B)) == pytest.approx(apart, rel=1e-14)
    assert not both.weights[:4, 0].any()


def test_swapped_labels_flip_the_signs():
    X, Y, B, _ = problem(5)
    same, swapped = Data.from_arrays(X, Y), Data.from_arrays(X, 1 - Y)
    flipped = loss(swapped, linear_predictor(swapped, -B))
    assert loss(same, linear_predictor(same, B)) == pytest.approx(flipped, rel=1e-14)


def test_one_label_column_is_one_task():
    X, Y, _, _ = problem(6)
    data = Data.from_arrays(X, Y[:, 0], weights=np.arange(12.0))
    assert (data.n_rows, data.n_features, data.n_tasks) == (12, 3, 1)
    assert data.weights[:, 0].tolist() == list(range(12))


def test_the_scale_of_the_gap_has_a_floor():
    data = Data.from_arrays([[1.0], [2.0]], [0.0, 1.0])
    assert gap_unit(data, 5.0) == 5.0
    assert gap_unit(data, 0.0) == pytest.approx(1e-3 * 2 * math.log(2))
