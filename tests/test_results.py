"""What a fit found: coefficients and their ties, fit statistics, predictions, copies."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from fusedlr import FusedLogit, FusedLogitResults, TaskGraph
from fusedlr.constrained_fit import pattern_of
from fusedlr.problem import Solution
from tests.wide import Data, objective

FEATURES = ["age", "dose", "noise"]
TASKS = ["low", "mid", "high", "top"]
RNG = np.random.default_rng(5)
X = pd.DataFrame(RNG.normal(size=(90, 3)), [f"row{i}" for i in range(90)], FEATURES)
Y = pd.DataFrame(np.where(X[["age"]].to_numpy() + RNG.logistic(size=(90, 4)) > 0, "yes", "no"), X.index, TASKS)


@pytest.fixture(scope="module")
def model():
    return FusedLogit(Y, X)


@pytest.fixture
def res(model):
    return model.fit(2.0, 0.1, 3.0)


def handmade(params, tasks="chain"):
    """A result with coefficients of our choice."""
    solution = Solution(np.array(params, dtype=float), 0.0, 0.0, "optimal", 1, {})
    return FusedLogitResults(FusedLogit(Y, X, tasks=tasks, standardize=False, fuse_intercepts=True), solution,
                             {"l1": 1.0, "l2": 0.1, "fusion": 1.0})


TIED = [[0.0, 0.0, 1.0, 0.0], [2.0, 2.0, 2.0, 1.0], [0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0]]


def test_blocks_are_the_distinct_values(model):
    blocks = handmade(TIED).fused_groups
    assert blocks["feature"].tolist() == ["const", "const", "const", "age", "age", "dose"]
    assert blocks["tasks"].tolist() == [("low", "mid"), ("high",), ("top",), ("low", "mid", "high"), ("top",),
                                        ("high", "top")]
    assert blocks["value"].tolist() == [0.0, 1.0, 0.0, 2.0, 1.0, 3.0]
    assert blocks["size"].tolist() == [2, 1, 1, 3, 1, 2]


def test_degrees_of_freedom_count_distinct_values():
    chain, ring, free = (handmade(TIED, tasks) for tasks in ("chain", "ring", []))
    assert (chain.df, chain.df_model) == (6, 3)
    assert (ring.df, ring.df_model) == (5, 3)
    assert (free.df, free.df_model) == (4 + 4 + 2, 4 + 2)
    assert len(chain.fused_groups) == chain.df


def test_equal_values_are_tied_only_through_edges():
    params = np.array([[1.0, 2.0, 1.0, 2.0]])
    assert TaskGraph.chain(4).tied(params).tolist() == [[0, 1, 2, 3]]
    assert TaskGraph([(0, 2), (1, 3)], 4).tied(params).tolist() == [[0, 1, 0, 1]]
    ones = np.ones((2, 5))
    assert TaskGraph([(3, 4), (2, 3), (0, 4), (1, 2)], 5).tied(ones).tolist() == [[0] * 5] * 2


def test_patterns_count_through_the_rows():
    expected = [[0, 0, 1, 2], [3, 3, 3, 4], [-1, -1, 5, 5], [-1, -1, -1, -1]]
    assert pattern_of(np.array(TIED), TaskGraph.chain(4)).tolist() == expected


def test_equal_values_of_tasks_that_are_no_neighbours_are_not_tied():
    params = np.array([[1.0, 2.0, 1.0], [0.0, 3.0, 3.0], [4.0, 0.0, 4.0]])
    chain = [[0, 1, 2], [-1, 3, 3], [4, -1, 5]]
    ring = [[0, 1, 0], [-1, 2, 2], [3, -1, 3]]
    assert pattern_of(params, TaskGraph.chain(3)).tolist() == chain
    assert pattern_of(params, TaskGraph.ring(3)).tolist() == ring


def test_an_intercept_of_zero_is_estimated():
    assert pattern_of(np.zeros((2, 2)), TaskGraph.chain(2)).tolist() == [[0, 0], [-1, -1]]


def test_the_long_table_says_who_shares_a_value():
    frame = handmade(TIED).summary_frame().set_index(["feature", "task"])
    assert frame.loc[("age", "mid"), "fused_with"] == ("low", "high")
    assert frame.loc[("dose", "low"), "fused_with"] == () and frame.loc[("dose", "low"), "zero"]
    assert not frame.loc[("const", "low"), "zero"]
    assert len(frame) == 16
    awkward = FusedLogit(Y.set_axis(["feature", "task", "value", "zero"], axis=1), X).fit(2.0, 0.1, 3.0)
    assert awkward.summary_frame().shape == (16, 5)


def test_objective_gap_and_penalties_belong_together(model, res):
    value = objective(Data.of(model), res.solution.params, res.penalty_by_row, model.tasks)
    assert res.objective == pytest.approx(value, rel=1e-9)
    assert 0 <= res.gap <= res.tol and res.converged and res.status == "optimal"
    assert res.certify().relative_gap <= res.tol


def test_statistics_are_sums_over_tasks(res):
    labels = (Y == "yes").to_numpy()
    prob = res.fittedvalues.to_numpy()
    assert res.llf == pytest.approx(np.log(np.where(labels, prob, 1 - prob)).sum())
    share = labels.mean(axis=0)
    assert res.llnull == pytest.approx(90 * (share * np.log(share) + (1 - share) * np.log(1 - share)).sum())
    assert res.deviance == -2 * res.llf
    assert res.prsquared == pytest.approx(1 - res.llf / res.llnull)
    assert res.aic == pytest.approx(res.deviance + 2 * res.df_effective)
    assert res.bic == pytest.approx(res.deviance + np.log(90) * res.df_effective)
    assert res.positives.tolist() == labels.sum(axis=0).tolist()


def test_the_pieces_are_views_of_params(res):
    np.testing.assert_array_equal(res.intercepts, res.params.loc["const"])
    np.testing.assert_array_equal(res.coefs, res.params.loc[FEATURES])
    np.testing.assert_array_equal(res.nonzero, res.coefs != 0)
    assert list(res.nonzero.index) == FEATURES


# ---- predictions ----------------------------------------------------------------------------------------------------

def test_predictions_follow_from_params(res):
    linear = res.predict(X, which="linear")
    np.testing.assert_allclose(linear, res.intercepts + X.to_numpy() @ res.coefs)
    pd.testing.assert_frame_equal(res.predict(X), expit(linear))
    pd.testing.assert_frame_equal(res.predict(), res.predict(X))
    labels = res.predict(X, which="label")
    assert labels.equals(pd.DataFrame(np.where(linear > 0, "yes", "no"), X.index, TASKS))


def test_columns_are_found_by_name_and_rows_keep_theirs(res):
    shuffled = X[FEATURES[::-1]].assign(stranger="text")
    pd.testing.assert_frame_equal(res.predict(shuffled.iloc[:5]), res.predict(X.iloc[:5]))
    np.testing.assert_array_equal(res.predict(X.to_numpy()), res.predict(X))


@pytest.mark.parametrize("kind", [int, bool])
def test_predicted_labels_are_of_the_users_kind(kind):
    res = FusedLogit((Y == "yes").astype(kind), X).fit(2, 0.1, 3)
    predicted = res.predict(which="label")
    assert all(np.issubdtype(dtype, kind) or dtype == kind for dtype in predicted.dtypes)


def test_an_array_with_its_constant_predicts_with_or_without_it():
    with_ones = np.insert(X.to_numpy(), 1, 1.0, axis=1)
    res = FusedLogit((Y == "yes").to_numpy(), with_ones).fit(2, 0.1, 3)
    pd.testing.assert_frame_equal(res.predict(with_ones), res.predict(X.to_numpy()))
    with pytest.raises(ValueError, match="column of ones at position 1"):
        res.predict(X.to_numpy()[:, [0, 1, 2, 2]])


def test_offsets_shift_the_linear_predictor():
    offset = np.linspace(-1, 1, 90)
    res = FusedLogit(Y, X, offset=offset).fit(2, 0.1, 3)
    shifted = res.predict(X, which="linear", offset=pd.Series(offset, X.index))
    np.testing.assert_allclose(shifted.sub(offset, axis=0), res.predict(X, which="linear", offset=0))
    pd.testing.assert_frame_equal(shifted, res.predict(which="linear"))


def test_residuals_are_missing_where_labels_are():
    holes = Y.astype(object)
    holes.iloc[:7, 2] = None
    res = FusedLogit(holes, X).fit(2, 0.1, 3)
    assert res.resid_response["high"].isna().sum() == 7
    assert res.resid_response.notna().to_numpy().sum() == 4 * 90 - 7
    assert res.fittedvalues.notna().all(axis=None)


# ---- copies ---------------------------------------------------------------------------------------------------------

def test_results_can_be_pickled_and_copied(res):
    for twin in (pickle.loads(pickle.dumps(res)), copy.deepcopy(res)):
        assert twin.params.equals(res.params)
        assert str(twin.summary()) == str(res.summary())


def test_data_can_be_let_go():
    wide = X.join(pd.DataFrame(np.random.default_rng(6).normal(size=(90, 400)), X.index).add_prefix("gene"))
    model = FusedLogit(Y, wide)
    res = model.fit(5.0, 0.1, 3.0)
    before, text, size = res.predict(wide), str(res.summary()), len(pickle.dumps(res))
    res.remove_data()
    assert len(pickle.dumps(res)) < size / 4
    assert str(res.summary()) == text and res.predict(wide).equals(before)
    assert model.problem.n_rows == 90
    with pytest.raises(ValueError, match="data of this model were removed"):
        res.predict()


def test_results_say_in_short_what_they_are(res):
    assert repr(res).startswith("<FusedLogitResults: l1=2, l2=0.1, fusion=3; ")
