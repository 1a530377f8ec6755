"""Scores on held-out rows, limits of the penalties, cross-validation."""

import numpy as np
import pytest

from fusedlr import tuning


@pytest.fixture
def held_out():
    rng = np.random.default_rng(3)
    params = rng.normal(size=(7, 6, 4))
    X = rng.normal(size=(30, 5))
    Y = (rng.random((30, 4)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return params, Y, X, rng.normal(size=(30, 4))


def scores_one_by_one(params, Y, X, offset):
    error, logloss = [], []
    for point in params:
        linear = offset + point[0] + X @ point[1:]
        seen = ~np.isnan(Y)
        probability = 1 / (1 + np.exp(-linear))
        error.append(np.mean((linear > 0)[seen] != Y[seen]))
        logloss.append(-np.mean(np.log(np.where(Y == 1, probability, 1 - probability)[seen])))
    return np.array(error), np.array(logloss)


@pytest.mark.parametrize("cells", [1, 300, 10**7])
def test_scores_of_many_fits_equal_those_computed_one_by_one(held_out, cells, monkeypatch):
    monkeypatch.setattr(tuning, "_CELLS", cells)
    error, logloss = scores_one_by_one(*held_out)
    params, Y, X, offset = held_out
    np.testing.assert_allclose(tuning.validation_error(params, Y, X, offset), error, rtol=1e-14)
    np.testing.assert_allclose(tuning.validation_logloss(params, Y, X, offset), logloss, rtol=1e-12)


def test_a_weight_of_two_scores_like_the_row_twice(held_out):
    params, Y, X, _ = held_out
    weights = np.where(np.arange(30) < 10, 2.0, 1.0)
    twice = np.r_[np.arange(30), np.arange(10)]
    for score in (tuning.validation_error, tuning.validation_logloss):
        np.testing.assert_allclose(score(params, Y, X, weights=weights), score(params, Y[twice], X[twice]), rtol=1e-12)


def test_a_linear_predictor_of_zero_predicts_no():
    params = np.zeros((1, 2, 1))
    assert tuning.validation_error(params, [0.0, 0.0, 1.0], np.ones((3, 1)))[0] == pytest.approx(1 / 3)


def test_huge_margins_score_finite():
    params = np.full((1, 2, 1), 1e4)
    assert tuning.validation_logloss(params, [0.0], np.ones((1, 1)))[0] == 2e4


def test_nothing_observed_scores_nan_and_cannot_be_chosen_from():
    error = tuning.validation_error(np.zeros((2, 2, 1)), [np.nan], np.ones((1, 1)))
    assert np.isnan(error).all()
    with pytest.raises(ValueError, match="no point has a score"):
        tuning.choose({"l1": [0, 1], "l2": [0, 0], "fusion": [0, 0]}, error, error)


TABLE = {"l1": [1, 1, 2, 2], "l2": [0, 3, 0, 0], "fusion": [9, 0, 1, 2]}


@pytest.mark.parametrize(("error", "logloss", "metric", "best"), [
    ([0.1, 0.2, 0.3, 0.4], [4, 3, 2, 1], "error", 0),
    ([0.1, 0.2, 0.3, 0.4], [4, 3, 2, 1], "logloss", 3),
    ([0.1, 0.1, 0.3, 0.4], [4, 3, 2, 1], "error", 1),
    ([0.2, 0.1, 0.3, 0.4], [1, 1, 2, 3], "logloss", 1),
    ([0.1, 0.1, 0.1, 0.1], [1, 1, 1, 1], "error", 3),
    ([0.1, 0.1, 0.2, 0.2], [1, 1, 1, 1], "error", 1),
    ([np.nan, 0.5, 0.5, 0.6], [0, 1, 1, 1], "error", 2),
])
def test_the_lowest_score_wins_then_the_other_score_then_the_larger_penalties(error, logloss, metric, best):
    assert tuning.choose(TABLE, error, logloss, metric) == best


def test_a_log_loss_function_is_asked_for_the_tied_points_only():
    asked = []

    def logloss(positions):
        asked.append(positions.tolist())
        return np.array([5.0, 4.0])

    assert tuning.choose(TABLE, [0.2, 0.1, 0.3, 0.1], logloss) == 3
    assert asked == [[1, 3]]


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="metric must be 'error' or 'logloss', found 'auc'"):
        tuning.choose(TABLE, [0] * 4, [0] * 4, metric="auc")
