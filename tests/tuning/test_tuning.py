"""Scores on held-out rows, limits of the penalties, cross-validation."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, Grid, SeparationWarning, metrics
from fusedlr.problem import Design, Labels
from fusedlr.resampling import fold_shares
from fusedlr.tasks import TaskGraph
from fusedlr.tuning import default_penalties, fusion_limit, l1_limit, penalty_limits
from tests.wide import Data, Problem

# Grids of a few points, whose ends are chosen often.
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")


@pytest.fixture
def held_out():
    rng = np.random.default_rng(3)
    params = rng.normal(size=(7, 6, 4))
    X = rng.normal(size=(30, 5))
    Y = (rng.random((30, 4)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return params, Y, X, rng.normal(size=(30, 4))


def score(metric, params, Y, X, offset=None, weights=None):
    """What a metric says of a table of labels."""
    return metric(params, Design(np.asarray(X), offset), Labels.wide(Y, weights))


def scores_one_by_one(params, Y, X, offset):
    error, logloss = [], []
    for point in params:
        linear = offset + point[0] + X @ point[1:]
        seen = ~np.isnan(Y)
        probability = 1 / (1 + np.exp(-linear))
        error.append(np.mean((linear > 0)[seen] != Y[seen]))
        logloss.append(-np.mean(np.log(np.where(Y == 1, probability, 1 - probability)[seen])))
    return np.array(error), np.array(logloss)


@pytest.mark.parametrize("points", [1, 3, 100])
def test_scores_of_many_fits_equal_those_computed_one_by_one(held_out, points, monkeypatch):
    monkeypatch.setattr(metrics.core, "points_at_once", lambda *_: points)
    error, logloss = scores_one_by_one(*held_out)
    params, Y, X, offset = held_out
    np.testing.assert_allclose(score(metrics.error, params, Y, X, offset), error, rtol=1e-14)
    np.testing.assert_allclose(score(metrics.logloss, params, Y, X, offset), logloss, rtol=1e-12)


def test_a_weight_of_two_scores_like_the_row_twice(held_out):
    params, Y, X, _ = held_out
    weights = np.where(np.arange(30) < 10, 2.0, 1.0)
    twice = np.r_[np.arange(30), np.arange(10)]
    for metric in (metrics.error, metrics.logloss):
        np.testing.assert_allclose(score(metric, params, Y, X, weights=weights),
                                   score(metric, params, Y[twice], X[twice]), rtol=1e-12)


def test_a_linear_predictor_of_zero_predicts_no():
    params = np.zeros((1, 2, 1))
    assert score(metrics.error, params, [0.0, 0.0, 1.0], np.ones((3, 1)))[0] == pytest.approx(1 / 3)


def test_huge_margins_score_finite():
    params = np.full((1, 2, 1), 1e4)
    assert score(metrics.logloss, params, [0.0], np.ones((1, 1)))[0] == 2e4


def test_nothing_observed_scores_nan_and_cannot_be_chosen_from():
    error = score(metrics.error, np.zeros((2, 2, 1)), [np.nan], np.ones((1, 1)))
    assert np.isnan(error).all()
    with pytest.raises(ValueError, match="no point has a score"):
        metrics.choose({"l1": [0, 1], "l2": [0, 0], "fusion": [0, 0]}, error, error)


TABLE = {"l1": [1, 1, 2, 2], "l2": [0, 3, 0, 0], "fusion": [9, 0, 1, 2]}


@pytest.mark.parametrize(("cost", "tie_breaker", "best"), [
    ([0.1, 0.2, 0.3, 0.4], [4, 3, 2, 1], 0),
    ([0.1, 0.1, 0.3, 0.4], [4, 3, 2, 1], 1),
    ([1, 1, 2, 3], [0.2, 0.1, 0.3, 0.4], 1),
    ([0.1, 0.1, 0.1, 0.1], [1, 1, 1, 1], 3),
    ([0.1, 0.1, 0.2, 0.2], [1, 1, 1, 1], 1),
    ([np.nan, 0.5, 0.5, 0.6], [0, 1, 1, 1], 2),
    ([0.1, 0.1, 0.1, 0.1], [0.3, 0.3, 0.3, 0.3 + 1e-12], 3),
    ([0.1, 0.1, 0.1, 0.1], [0.3, 0.3, 0.3, 0.3 + 1e-8], 2),
    ([0.1, 0.1 + 1e-12, 0.2, 0.2], [1, 1, 1, 1], 1),
])
def test_the_lowest_cost_wins_then_the_tie_breaker_then_the_larger_penalties(cost, tie_breaker, best):
    assert metrics.choose(TABLE, cost, tie_breaker) == best


def test_a_log_loss_function_is_asked_for_the_tied_points_only():
    asked = []

    def logloss(positions):
        asked.append(positions.tolist())
        return np.array([5.0, 4.0])

    assert metrics.choose(TABLE, [0.2, 0.1, 0.3, 0.1], logloss) == 3
    assert asked == [[1, 3]]


def pairs_in_order(linear, yes, counts):
    """AUC by its definition: share of concordant pairs of a yes and a no, ties half."""
    order = np.sign(linear[yes][:, None] - linear[~yes]) / 2 + 0.5
    weight = counts[yes][:, None] * counts[~yes]
    return (order * weight).sum() / weight.sum()


def test_auc_is_the_share_of_pairs_in_the_right_order(held_out):
    params, Y, X, offset = held_out
    X = np.round(X)  # so that some linear predictors are equal
    params, weights = np.round(params), np.arange(Y.size).reshape(Y.shape) % 5
    expected = []
    for point in params:
        linear = point[0] + X @ point[1:]
        seen = ~np.isnan(Y)
        expected.append(np.mean([pairs_in_order(linear[seen[:, k], k], Y[seen[:, k], k] == 1, weights[seen[:, k], k])
                                 for k in range(Y.shape[1])]))
    np.testing.assert_allclose(score(metrics.auc, params, Y, X, weights=weights), expected, rtol=1e-12)


def test_auc_leaves_out_tasks_with_one_label():
    params, X = np.ones((1, 2, 2)), np.arange(4.0)[:, None]
    both, one = [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, np.nan, 1.0]
    assert score(metrics.auc, params, np.column_stack([both, one]), X)[0] == 0.75
    assert np.isnan(score(metrics.auc, params, np.column_stack([one, one]), X)).all()


def test_cross_validation_by_auc_takes_the_largest(model):
    grid = {"l1": [0.5, 2.0, 1e4], "l2": 0.1, "fusion": [0.0, 1.0]}
    found = FusedLogit(model.endog, model.exog).fit_cv(folds=4, metric="AUC", rule="1se", progress=False, **grid)
    table = found.table
    assert table["auc"].iloc[found.best] == table["mean"].max() > 0.5
    assert table["auc"].iloc[found.one_se] >= table["mean"].max() - table["se_difference"].iloc[found.one_se]
    by_fold = found.fold_scores - found.fold_scores[:, [found.best]]
    weights = [model.problem.labels.some(part[model.problem.labels.row] > 0).size for part in found.parts]
    spread = (by_fold - np.average(by_fold, axis=0, weights=weights)) ** 2
    np.testing.assert_allclose(table["se_difference"], np.sqrt(np.average(spread, axis=0, weights=weights) / 3))
    null = table[table["l1"] == 1e4]
    np.testing.assert_allclose(null["auc"], 0.5)  # every row of a fold has the same prediction


def test_cross_validation_by_auc_needs_both_labels_in_some_fold():
    Y = np.tile([0.0, 1.0], 6)
    model = FusedLogit(Y, np.arange(12.0)[:, None] % 5)
    with pytest.raises(ValueError, match="metric='auc' needs a fold in which some task has both labels"):
        model.fit_cv(folds=Y, metric="auc", l1=1.0, l2=1.0, fusion=0.0, progress=False)


def test_the_metric_of_select_is_that_of_cross_validation():
    default = {function: inspect.signature(function).parameters["metric"].default
               for function in (Grid.select, FusedLogit.fit_cv)}
    assert set(default.values()) == {"logloss"}


# ---- limits ---------------------------------------------------------------------------------------------------------

GRAPHS = {
    "chain": TaskGraph.chain(4),
    "ring": TaskGraph.ring(4),
    "star": TaskGraph([(0, 1, 2.0), (0, 2), (0, 3, 0.5)], 4),
    "two parts": TaskGraph([(0, 1), (2, 3)], 4),
    "with a cycle": TaskGraph([(0, 1), (1, 2), (0, 2, 3.0), (2, 3)], 4),
}
FACTORS = {"plain": None, "factors": np.array([1.0, 2.0, 0.5, 0.0, 1.0])}

each_graph = pytest.mark.parametrize("tasks", GRAPHS.values(), ids=GRAPHS)
each_factor = pytest.mark.parametrize("factors", FACTORS.values(), ids=FACTORS)
fused_or_free = pytest.mark.parametrize("fuse_intercepts", [True, False], ids=["fused intercepts", "free intercepts"])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(120, 5)) + 0.5
    Y = (rng.random((120, 4)) < 1 / (1 + np.exp(0.5 - X[:, :1] * [1.0, 1.0, 0.5, 0.0]))).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Data.from_arrays(X, Y, rng.integers(1, 3, size=120).astype(float), rng.normal(size=120) * 0.3)


def solve(data, tasks, l1, l2, fusion, factors, fuse_intercepts=True):
    from fusedlr.solver import solve_newton

    problem = Problem.build(data, tasks, factors, fuse_intercepts)
    return solve_newton(problem, problem.penalty(l1, l2, fusion), tol=1e-10, max_iter=1000).params


@each_graph
@each_factor
@pytest.mark.parametrize(("fusion", "fuse_intercepts"), [(0.0, True), (1.5, True), (1.5, False)])
def test_at_the_l1_limit_every_coefficient_is_zero_and_just_below_one_is_not(data, tasks, factors, fusion,
                                                                             fuse_intercepts):
    limit = l1_limit(Problem.build(data, tasks, factors, fuse_intercepts), fusion)
    held = slice(1, None) if factors is None else 1 + np.flatnonzero(factors)
    assert not solve(data, tasks, 1.0005 * limit, 0.3, fusion, factors, fuse_intercepts)[held].any()
    assert solve(data, tasks, 0.9995 * limit, 0.3, fusion, factors, fuse_intercepts)[held].any()


@each_graph
@each_factor
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 2.0), (8.0, 1.0)])
@fused_or_free
def test_at_the_fusion_limit_all_tasks_are_equal_and_just_below_they_are_not(data, tasks, factors, l1, l2,
                                                                             fuse_intercepts):
    limit = fusion_limit(Problem.build(data, tasks, factors, fuse_intercepts), l1, l2)
    rows = slice(0 if fuse_intercepts else 1, None)
    above, below = (solve(data, tasks, l1, l2, share * limit, factors, fuse_intercepts) for share in (1.0005, 0.9995))
    assert not tasks.differences(above[rows]).any()
    assert tasks.differences(below[rows]).any()
    assert fuse_intercepts or tasks.differences(above[:1]).all()


@fused_or_free
def test_a_large_tree_gets_its_limit(fuse_intercepts):
    rng = np.random.default_rng(3)
    tasks = TaskGraph([(k, (k - 1) // 2) for k in range(1, 15)], 15)
    X = rng.normal(size=(60, 5))
    data = Data.from_arrays(X, (X[:, :1] + rng.normal(size=(60, 15)) > 0).astype(float))
    limit = fusion_limit(Problem.build(data, tasks, None, fuse_intercepts), l1=2.0)
    rows = slice(0 if fuse_intercepts else 1, None)
    assert not np.ptp(solve(data, tasks, 2.0, 0.0, 1.0005 * limit, None, fuse_intercepts)[rows], axis=1).any()
    assert np.ptp(solve(data, tasks, 2.0, 0.0, 0.9995 * limit, None, fuse_intercepts)[rows], axis=1).any()


def test_without_edges_or_without_penalized_features_the_limits_are_zero(data):
    assert fusion_limit(Problem.build(data, TaskGraph([], 4))) == 0.0
    assert l1_limit(Problem.build(data, TaskGraph.chain(4), np.zeros(5))) == 0.0


@fused_or_free
def test_both_limits_come_as_a_named_pair(data, fuse_intercepts):
    problem = Problem.build(data, GRAPHS["chain"], None, fuse_intercepts)
    pair = penalty_limits(problem, l2=1.0, fusion=2.0)
    assert pair.l1 == l1_limit(problem, fusion=2.0)
    assert pair.fusion == fusion_limit(problem, l2=1.0)


@fused_or_free
def test_where_rows_are_few_the_fusion_limit_is_finite(fuse_intercepts):
    rng = np.random.default_rng(5)
    data = Data.from_arrays(rng.normal(size=(12, 30)), rng.integers(0, 2, size=(12, 3)))
    assert 0 < fusion_limit(Problem.build(data, TaskGraph.chain(3), None, fuse_intercepts)) < 1e3


@fused_or_free
def test_the_default_grid_runs_from_nothing_selected_and_to_all_tied(data, fuse_intercepts):
    grid = default_penalties(Problem.build(data, GRAPHS["chain"], None, fuse_intercepts))
    assert [len(grid[name]) for name in ("l1", "l2", "fusion")] == [10, 3, 9]
    assert not solve(data, GRAPHS["chain"], 1.0005 * grid["l1"][0], 0.0, 0.0, None)[1:].any()
    assert solve(data, GRAPHS["chain"], grid["l1"][-1], 0.0, 0.0, None)[1:].all()
    for l1 in grid["l1"][[0, 5, 9]]:
        tied = solve(data, GRAPHS["chain"], l1, 0.0, 1.0005 * grid["fusion"][-1], None, fuse_intercepts)
        assert not np.ptp(tied[0 if fuse_intercepts else 1:], axis=1).any()


# ---- cross-validation -----------------------------------------------------------------------------------------------

POINTS = {"l1": [12.0, 3.0, 0.5], "l2": [0.1, 1.0], "fusion": [0.0, 1.0, 10.0]}


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 6)) * [1, 2, 1, 1, 1, 5]
    Y = (rng.random((90, 3)) < 1 / (1 + np.exp(-X[:, :1] - 0.5))).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return FusedLogit(Y, X, standardize=True, offset=rng.normal(size=90) * 0.2)


@pytest.fixture(scope="module")
def cv(model):
    return model.fit_cv(**POINTS, folds=4, rng=7, tol=1e-8)


def test_folds_spread_every_combination_of_labels_evenly(model):
    folds = fold_shares(model.problem.labels, model.problem.groups, 4, rng=1).argmax(axis=0)
    pattern = np.nan_to_num(model.endog.to_numpy(), nan=2.0) @ [1, 3, 9]
    for same in np.unique(pattern):
        assert np.ptp(np.bincount(folds[pattern == same], minlength=4)) <= 1
    assert np.ptp(np.bincount(folds)) <= 1


def test_folds_follow_from_rng_alone(model):
    def folds(rng):
        return fold_shares(model.problem.labels, model.problem.groups, 5, rng)

    np.testing.assert_array_equal(folds(3), folds(3))
    np.testing.assert_array_equal(folds(3), folds(np.random.default_rng(3)))
    assert (folds(3) != folds(4)).any()


def test_means_and_standard_errors_are_those_of_fits_without_each_fold(model, cv):
    point = 9
    penalties = cv.table.loc[point, ["l1", "l2", "fusion"]].to_dict()
    scores, weights = [], []
    for fold in range(4):
        res = model.with_rows(cv.folds != fold).fit(**penalties, tol=1e-8)
        held = model.with_rows(cv.folds == fold)
        data = Data.of(held)
        linear = res.predict(held.exog, which="linear", offset=data.offset[:, 0])
        losses = np.logaddexp(0, -data.signs * linear)
        weights.append(data.weights.sum())
        scores.append((np.asarray(losses) * data.weights).sum() / weights[-1])
    mean = np.average(scores, weights=weights)
    se = np.sqrt(np.average((scores - mean) ** 2, weights=weights) / 3)
    assert cv.table["mean"][point] == pytest.approx(mean, rel=1e-5)
    assert cv.table["se"][point] == pytest.approx(se, rel=1e-3)
    np.testing.assert_allclose(cv.fold_scores[:, point], scores, rtol=1e-4)


def test_the_lowest_mean_is_chosen_and_fitted_on_all_rows(model, cv):
    assert cv.best == cv.table["mean"].argmin() == cv.chosen
    again = model.fit(**cv.penalties, tol=1e-8)
    np.testing.assert_allclose(cv.params, again.params, atol=1e-3)
    assert cv.nobs == model.nobs


def test_one_standard_error_goes_to_the_more_penalized_side(model, cv):
    one = model.fit_cv(**POINTS, folds=4, rng=7, tol=1e-8, rule="1se")
    best, chosen = cv.table.iloc[cv.best], one.table.iloc[one.chosen]
    assert one.chosen == cv.one_se
    assert all(one.penalties[name] >= cv.penalties[name] for name in POINTS)
    assert chosen["df"] < best["df"]
    assert best["mean"] < chosen["mean"] <= best["mean"] + chosen["se_difference"]


def held_out_losses(model, folds, penalties):
    """Log-loss of every label by the fit without its fold, 0 where there is no label, shape (n, t)."""
    losses, data = np.zeros((len(folds), len(model.endog_names))), Data.of(model)
    for fold in np.unique(folds):
        fit = model.with_rows(folds != fold).fit(**penalties, tol=1e-10)
        held = folds == fold
        linear = fit.predict(model.exog[held], which="linear", offset=data.offset[held, 0]).to_numpy()
        losses[held] = data.weights[held] * np.logaddexp(0, -data.signs[held] * linear)
    return losses


def test_the_error_of_a_difference_is_paired_by_rows(model, cv):
    best, point = (cv.table.loc[i, list(POINTS)].to_dict() for i in (cv.best, 9))
    rows = (held_out_losses(model, cv.folds, point) - held_out_losses(model, cv.folds, best)).sum(axis=1)
    weight = Data.of(model).weights.sum(axis=1)
    mean = rows.sum() / weight.sum()
    error = np.sqrt(90 / 89 * ((rows - mean * weight) ** 2).sum()) / weight.sum()
    assert cv.best != 9
    assert cv.table["mean"][9] - cv.table["mean"][cv.best] == pytest.approx(mean, rel=1e-4)
    assert cv.table["se_difference"][9] == pytest.approx(error, rel=1e-4)
    assert cv.table["se_difference"][cv.best] == 0


@pytest.mark.parametrize("points", [1, 20])
def test_the_errors_do_not_depend_on_how_many_points_are_held_at_once(model, cv, points, monkeypatch):
    monkeypatch.setattr("fusedlr.tuning.fold_scores.points_at_once", lambda *_: points)
    again = model.fit_cv(**POINTS, folds=4, rng=7, tol=1e-8)
    np.testing.assert_array_equal(again.table["se_difference"], cv.table["se_difference"])


def test_rows_twice_in_one_group_are_as_sure_as_the_rows_and_rows_twice_are_surer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    Y = (X[:, :1] + rng.logistic(size=(80, 2)) > 0).astype(float)
    folds, twice = np.arange(80) % 4, np.repeat(np.arange(80), 2)
    grid = {"l1": [1.0, 4.0], "l2": [0.0, 2.0], "fusion": [0.5, 3.0]}
    double = {name: [2 * value for value in values] for name, values in grid.items()}
    once = FusedLogit(Y, X).fit_cv(folds, tol=1e-13, **grid).table["se_difference"]
    heavy, grouped, apart = (FusedLogit(labels, features, **options).fit_cv(fold, tol=1e-13, **double)
                             .table["se_difference"] for labels, features, fold, options in (
                                 (Y, X, folds, {"weights": np.full(80, 2.0)}),
                                 (Y[twice], X[twice], folds[twice], {"groups": twice}),
                                 (Y[twice], X[twice], folds[twice], {})))
    np.testing.assert_allclose(grouped, once, rtol=1e-5)
    np.testing.assert_allclose(heavy, apart, rtol=1e-5)
    np.testing.assert_allclose(apart, once * np.sqrt(160 / 159 * 79 / 80 / 2), rtol=1e-5)


def test_one_standard_error_keeps_a_small_change_that_the_rows_are_sure_of():
    """Folds differ more than the fits do: their spread is no measure of the loss that a tie costs."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6000, 1))
    Y = (rng.random((6000, 2)) < 1 / (1 + np.exp(-X * [0.5, 0.75]))).astype(float)
    cv = FusedLogit(Y, X).fit_cv(l1=[0.0, 1.0], l2=0.0, fusion=[0.0, 5.0, 400.0], rule="1se")
    tied = cv.table[cv.table["fusion"] == 400.0].iloc[0]
    loss = tied["mean"] - cv.table["mean"].min()
    assert tied["se_difference"] < loss < cv.table["se"].iloc[cv.best]
    assert cv.params.iloc[1].nunique() == 2


def test_repeats_draw_folds_anew_and_scores_are_means_over_them(model, cv):
    three = model.fit_cv(**POINTS, folds=4, rng=7, tol=1e-8, repeats=3)
    assert three.parts.shape == (12, 90) and three.n_folds == 4
    np.testing.assert_array_equal(three.parts[:4], cv.parts)
    assert (three.parts[4:8] != cv.parts).any()
    np.testing.assert_array_equal(three.parts.sum(axis=0), 3.0)
    others = [model.fit_cv(**POINTS, folds=three.parts[k:k + 4].argmax(axis=0), tol=1e-8).table for k in (0, 4, 8)]
    np.testing.assert_allclose(three.table["mean"], np.mean([table["mean"] for table in others], axis=0), rtol=1e-9)
    np.testing.assert_allclose(three.table["se"]**2, np.mean([table["se"]**2 for table in others], axis=0), rtol=1e-9)
    assert "4 folds x 3" in repr(three) and "4 folds x 3" in three.summary().as_text()


def table_of(rows):
    return pd.DataFrame(rows, columns=["l1", "l2", "fusion", "mean", "se_difference", "df"])


@pytest.mark.parametrize(("rows", "best", "expected"), [
    ([(1, 0, 0, 0.50, 0.1, 9), (2, 0, 0, 0.59, 0.1, 5), (3, 0, 0, 0.61, 0.1, 1)], 0, 1),
    ([(1, 0, 0, 0.55, 0.1, 9), (2, 0, 0, 0.50, 0.1, 5)], 1, 1),
    ([(1, 0, 9, 0.55, 0.1, 1), (2, 0, 0, 0.50, 0.1, 5)], 1, 1),
    ([(1, 0, 0, 0.50, 0.9, 9), (2, 0, 0, 0.51, 0.0, 5)], 0, 0),
    ([(1, 0, 0, 0.50, 0.0, 9), (2, 0, 0, 0.51, 0.02, 5)], 0, 1),
    ([(1, 0, 0, 0.50, 0.1, 5), (1, 0, 2, 0.55, 0.1, 5), (1, 1, 0, 0.55, 0.1, 5)], 0, 2),
], ids=["largest within", "never less penalized", "never less in one of the three", "not the best point's own error",
        "the error of the difference",
        "ties go to the larger l2 before the larger fusion"])
def test_the_one_standard_error_rule(rows, best, expected):
    assert metrics.one_standard_error(table_of(rows), best) == expected


def test_criteria_are_those_of_the_fits_on_all_rows(model, cv):
    for by in ("aic", "bic"):
        found = model.fit_cv(**POINTS, by=by)
        for point in (0, 8, 17):
            assert found.table[by][point] == pytest.approx(getattr(found.grid.results(point), by), rel=1e-4)
        assert found.best == found.table[by].argmin()
        assert found.folds is None and found.one_se is None


def test_the_numbers_do_not_depend_on_the_number_of_jobs(model, cv):
    two = model.fit_cv(**POINTS, folds=4, rng=7, tol=1e-8, n_jobs=2)
    pd.testing.assert_frame_equal(two.table, cv.table, check_exact=True)


def test_given_folds_are_used_as_they_are(model):
    folds = np.where(np.arange(90) % 3 == 0, "north", "south")
    found = model.fit_cv(l1=[1.0, 5.0], l2=0.1, fusion=1.0, folds=folds)
    assert found.fold_scores.shape == (2, 2)
    assert (found.folds == (folds == "south")).all()


@pytest.mark.filterwarnings("ignore::fusedlr.OneClassWarning")
def test_a_fold_that_takes_all_labels_of_one_class_or_of_a_task_breaks_nothing():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(40, 3)), (rng.random((40, 3)) < 0.5).astype(float)
    folds = np.arange(40) % 4
    Y[:, 1] = folds == 0
    Y[folds != 1, 2] = np.nan
    found = FusedLogit(Y, X).fit_cv(folds=folds)
    assert np.isfinite(found.table[["mean", "se", "logloss", "error"]]).all(axis=None)


def test_the_choice_survives_pickling(cv):
    again = pickle.loads(pickle.dumps(cv))
    pd.testing.assert_frame_equal(again.table, cv.table)
    pd.testing.assert_frame_equal(again.params, cv.params)


def test_no_penalties_are_needed(model):
    found = model.fit_cv(rule="1se", metric="error", rng=1)
    assert len(found.table) == 270
    assert found.converged
    assert "rule 1se" in repr(found)


def test_a_chosen_fit_without_finite_minimiser_is_announced():
    X = np.random.default_rng(1).normal(size=(40, 2))
    model = FusedLogit((X[:, 0] > 0).astype(float), X)
    with pytest.warns(SeparationWarning, match=r"the chosen fit \(l1=0, l2=0, fusion=0\) has no finite minimiser"):
        model.fit_cv(l1=[0.0, 20.0], l2=0.0, fusion=0.0, folds=4)


def test_a_fit_without_finite_minimiser_names_the_tasks_that_are_separated():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    Y = pd.DataFrame({"free": X[:, 0] + rng.logistic(size=40) > 0, "parted": X[:, 0] > 0,
                      "also": X[:, 0] + rng.logistic(size=40) > 0, "again": X[:, 1] > 0.3})
    with pytest.warns(SeparationWarning, match="the labels of tasks 'parted', 'again' are separated"):
        FusedLogit(Y, X).fit(0, 0, 0)
    with pytest.warns(SeparationWarning, match="has no finite minimiser: the labels of task 'parted' are separated"):
        FusedLogit(Y.iloc[:, :3], X).fit_cv(l1=[0.0], l2=0.0, fusion=0.0, folds=4)


def test_one_task_needs_no_fusion():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 4))
    found = FusedLogit((X[:, 0] + rng.normal(size=60) > 0).astype(float), X).fit_cv()
    assert found.table["fusion"].unique().tolist() == [0.0]


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"by": "auc"}, ValueError, "by must be 'cv', 'aic', 'bic' or 'ebic', found 'auc'"),
    ({"rule": "2se"}, ValueError, "rule must be 'min' or '1se'"),
    ({"metric": "brier"}, ValueError, "metric must be 'logloss', 'error' or 'auc'"),
    ({"by": "bic", "rule": "1se"}, ValueError, "rule='1se' needs standard errors"),
    ({"folds": 1}, ValueError, "folds must be from 2 to 90, found 1"),
    ({"folds": 91}, ValueError, "folds must be from 2 to 90, found 91"),
    ({"folds": [0, 1]}, ValueError, "one fold for each of 90 rows"),
    ({"folds": np.zeros(90)}, ValueError, "at least 2 folds"),
    ({"folds": np.r_[np.nan, np.zeros(89)]}, ValueError, "found missing values"),
    ({"repeats": 0}, ValueError, "repeats must be from 1 to 1000, found 0"),
    ({"folds": np.arange(90) % 3, "repeats": 2}, ValueError, "repeats=2 draws folds anew, and these were given"),
    ({"l1": []}, ValueError, "l1 must hold at least one number"),
    ({"l2": -1}, ValueError, "l2 must be .* not negative"),
    ({"fusion": "much"}, TypeError, "fusion must hold numbers, found 'much'"),
    ({"fusion": np.inf}, ValueError, "fusion must be finite"),
    ({"l1": 1, "fold": 5}, TypeError, "fold"),
    ({"l1": 1.0, "l2": 1.0, "fusion": 1.0, "n_jobs": 0}, ValueError, "n_jobs must be"),
])
def test_bad_options_are_refused(model, options, error, message):
    with pytest.raises(error, match=message):
        model.fit_cv(**options)
