"""The objective: its value, its derivatives, and what Data and Penalty refuse."""

import math

import numpy as np
import pytest

from fusedlr.objective import (Data, Penalty, gap_scale, gradient, linear_predictor, loss, loss_derivatives, objective,
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
    assert gap_scale(data, 5.0) == 5.0
    assert gap_scale(data, 0.0) == pytest.approx(1e-3 * 2 * math.log(2))


def test_arrays_of_the_caller_stay_as_they_were():
    X, Y, _, rng = problem(7)
    Y[0, 0] = np.nan
    given = [X, Y, rng.uniform(size=Y.shape), rng.normal(size=Y.shape), np.ones(3), np.array([0.0, 1.0, 2.0, 3.0])]
    copies = [array.copy() for array in given]
    data = Data.from_arrays(*given[:4])
    penalty = Penalty.from_values(given[5], 1.0, 1.0, 3, given[4] * 0.5)
    for array, copy in zip(given, copies):
        np.testing.assert_array_equal(array, copy)
    for array in (data.X, data.signs, data.weights, data.offset, penalty.l1):
        assert not any(np.shares_memory(array, mine) for mine in given)


GOOD_X, GOOD_Y = np.eye(3, 2), np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])


@pytest.mark.parametrize(("change", "error", "message"), [
    ({"X": [["a"]]}, TypeError, "exog must be a matrix of numbers"),
    ({"X": np.ones(3)}, ValueError, "exog must have rows and columns"),
    ({"X": np.ones((3, 0))}, ValueError, "exog must have rows and columns"),
    ({"X": [[1.0, np.nan], [0.0, 1.0], [np.inf, 0.0]]}, ValueError, "exog must be finite, found nan or inf in 2 rows"),
    ({"Y": GOOD_Y[:2]}, ValueError, "endog must have one row for each of the 3 rows"),
    ({"Y": np.empty((3, 0))}, ValueError, "endog must have one row"),
    ({"Y": GOOD_Y * 2}, ValueError, r"endog must hold 0, 1 or nan \(not observed\), found \[2.0\]"),
    ({"Y": GOOD_Y * np.nan}, ValueError, "no label of endog is observed"),
    ({"weights": np.ones(2)}, ValueError, r"weights must have shape \(3,\) or \(3, 2\), found \(2,\)"),
    ({"weights": [1.0, -1.0, 1.0]}, ValueError, "weights must not be negative, found -1"),
    ({"weights": [1.0, np.nan, 1.0]}, ValueError, "weights must be finite"),
    ({"weights": np.zeros(3)}, ValueError, "weights are all zero"),
    ({"weights": "many"}, TypeError, "weights must hold numbers"),
    ({"offset": np.ones((2, 3))}, ValueError, "offset must have shape"),
    ({"offset": [0.0, np.inf, 0.0]}, ValueError, "offset must be finite"),
])
def test_bad_data_is_named(change, error, message):
    with pytest.raises(error, match=message):
        Data.from_arrays(**{"X": GOOD_X, "Y": GOOD_Y, **change})


@pytest.mark.parametrize("name", ["l1", "l2", "fusion"])
@pytest.mark.parametrize(("value", "error", "message"), [
    (-1.0, ValueError, "must be finite and not negative, found -1"),
    (np.nan, ValueError, "must be finite and not negative"),
    (np.inf, ValueError, "must be finite and not negative"),
    ([0.0, 1.0], ValueError, r"a number or 3 numbers \(const first\), found shape \(2,\)"),
    ("strong", TypeError, "must be a number or one number for each row"),
])
def test_bad_penalties_are_named(name, value, error, message):
    with pytest.raises(error, match=f"{name} {message}" if message.startswith("must") else message):
        Penalty.from_values(**{"l1": 1.0, "l2": 1.0, "fusion": 1.0, name: value}, n_features=2)


@pytest.mark.parametrize("name", ["l1", "l2"])
def test_the_intercept_is_never_shrunk(name):
    with pytest.raises(ValueError, match=f"{name} of const .* must be 0"):
        Penalty.from_values(**{"l1": 1.0, "l2": 1.0, "fusion": 1.0, name: [1.0, 1.0, 1.0]}, n_features=2)


@pytest.mark.parametrize(("factors", "error"), [
    ([1.0], ValueError), ([1.0, -1.0], ValueError), ([1.0, np.nan], ValueError), ("no", TypeError)])
def test_bad_penalty_factors_are_named(factors, error):
    with pytest.raises(error, match="penalty_factors must"):
        Penalty.from_values(1.0, 1.0, 1.0, 2, factors)
