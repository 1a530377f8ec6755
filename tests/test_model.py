"""The model a user builds: labels and designs of every accepted kind, names, penalties, agreement with statsmodels."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import ConvergenceWarning, FusedLogit, OneClassWarning, SeparationWarning, TaskGraph
from tests.wide import Data

TASKS = ["low", "mid", "high"]
FEATURES = ["age", "dose", "weight", "noise"]


@pytest.fixture(scope="module")
def X():
    return pd.DataFrame(np.random.default_rng(1).normal(size=(80, 4)), columns=FEATURES)


@pytest.fixture(scope="module")
def Y(X):
    noise = np.random.default_rng(2).logistic(size=(80, 3))
    return pd.DataFrame((X[["age"]].to_numpy() + noise > [-0.5, 0.0, 0.5]).astype(float), columns=TASKS)


def fit(Y, X, l1=1.0, l2=0.1, fusion=2.0, tol=1e-9, **kwargs):
    return FusedLogit(Y, X, **kwargs).fit(l1, l2, fusion, tol=tol)


def worded(Y, no, yes):
    return pd.DataFrame([[yes if label else no for label in row] for row in Y.to_numpy()], Y.index, Y.columns)


# ---- kinds of labels ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("recode", [
    lambda Y: Y.astype(int),
    lambda Y: Y.astype(bool),
    lambda Y: 2 * Y - 1,
    lambda Y: Y.astype("Int64"),
    lambda Y: Y.astype(bool).astype("boolean"),
    lambda Y: worded(Y, "no", "yes"),
    lambda Y: worded(Y, "zero", "more").astype(pd.CategoricalDtype(["zero", "more"])),
    lambda Y: Y.astype(object).to_numpy(),
    lambda Y: Y.to_numpy().tolist(),
], ids=["int", "bool", "-1/1", "Int64", "boolean", "words", "categories", "object array", "lists"])
def test_every_kind_of_label_is_understood(X, Y, recode):
    model = FusedLogit(recode(Y), X.to_numpy())
    np.testing.assert_array_equal(model.endog, Y)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA], ids=str)
@pytest.mark.parametrize("words", [("no", "yes"), (0, 1), (False, True)], ids=str)
def test_a_missing_label_of_any_kind_is_not_observed(X, Y, missing, words):
    labels = worded(Y, *words).astype(object)
    labels.iloc[3, 1] = missing
    model = FusedLogit(labels, X)
    assert Data.of(model).weights[3].tolist() == [1, 0, 1]
    assert np.isnan(model.endog.iloc[3, 1])
    assert model.labels == [words] * 3


def test_a_nan_among_words_in_a_list_is_not_a_word(X):
    model = FusedLogit([["no", np.nan], *[["yes", "no"], ["no", "yes"]] * 20], X.iloc[:41].to_numpy())
    assert Data.of(model).weights[0].tolist() == [1, 0]


def test_a_word_in_one_task_is_read_by_the_words_of_the_others(X, Y):
    words = worded(Y, "absent", "present")
    words["low"] = "absent"
    model = FusedLogit(words, X)
    assert model.labels[0] == ("absent", "present")
    assert (model.endog["low"] == 0).all()


def test_one_column_is_one_task(X, Y):
    res = fit(Y["low"], X)
    assert list(res.params.columns) == ["low"]
    np.testing.assert_array_equal(res.params, fit(Y["low"].to_numpy(), X.to_numpy()).params)


# ---- names and constants --------------------------------------------------------------------------------------------

def test_names_in_are_names_out(X, Y):
    res = fit(Y, X)
    assert list(res.params.index) == ["const", *FEATURES]
    assert list(res.params.columns) == TASKS
    assert list(FusedLogit(Y.to_numpy(), X.to_numpy()).exog_names) == ["const", "x1", "x2", "x3", "x4"]
    assert list(FusedLogit(Y.to_numpy(), X.to_numpy()).endog_names) == ["y1", "y2", "y3"]


@pytest.mark.parametrize("prepend", [True, False])
def test_a_column_of_ones_is_the_intercept(X, Y, prepend):
    res, with_ones = fit(Y, X), fit(Y, sm.add_constant(X, prepend=prepend))
    assert with_ones.params.equals(res.params)
    assert fit(Y, X.assign(Intercept=1.0)).params.equals(res.params)


def test_the_intercept_has_one_name_whatever_the_door(X, Y):
    levels, frame = pd.Series(np.arange(80) % 3), X.join(Y)
    times = {"time": pd.Series(1.0 + np.arange(80) % 3), "event": pd.Series(np.arange(80) // 3 % 2)}
    visit = pd.Series(np.arange(80) % 2, name="visit")
    doors = {
        "a frame": FusedLogit(Y, X),
        "an array": FusedLogit(Y.to_numpy(), X.to_numpy()),
        "ones called const": FusedLogit(Y, sm.add_constant(X)),
        "ones called Intercept": FusedLogit(Y, X.assign(Intercept=1.0)),
        "ones in an array": FusedLogit(Y, np.insert(X.to_numpy(), 2, 1.0, axis=1)),
        "a formula": FusedLogit.from_formula("low + mid ~ age", frame),
        "a formula without intercept": FusedLogit.from_formula("low + mid ~ 0 + age", frame),
        "levels": FusedLogit.from_ordered(levels, X),
        "a formula of levels": FusedLogit.from_formula("level ~ age", X.assign(level=levels), levels=[0, 1, 2]),
        "times": FusedLogit.from_survival(**times, exog=X, breaks=[1.0, 3.0]),
        "a formula of times": FusedLogit.from_formula("Surv(time, event) ~ age", X.assign(**times), breaks=[1.0, 3.0]),
        "one task a row": FusedLogit.from_long(Y["low"], X, visit),
        "a formula of one task a row": FusedLogit.from_formula("low ~ age", frame.assign(visit=visit), task="visit"),
    }
    assert {door: model.exog_names[0] for door, model in doors.items()} == dict.fromkeys(doors, "const")
    fits = {door: model.fit(1.0, 0.1, 1.0) for door, model in doors.items()}
    assert {door: res.params.index[0] for door, res in fits.items()} == dict.fromkeys(doors, "const")
    assert {door: res.refit().params.index[0] for door, res in fits.items()} == dict.fromkeys(doors, "const")


def test_the_users_data_are_left_alone(X, Y):
    before = X.copy(), Y.copy()
    fit(Y, X, standardize=True)
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_frame_equal(Y, before[1])


def test_tasks_are_found_by_name(X, Y):
    model = FusedLogit(Y, X, tasks=[("low", "high", 2.0)])
    assert model.tasks == TaskGraph([(0, 2, 2.0)], names=TASKS)


# ---- agreement ------------------------------------------------------------------------------------------------------

def test_without_penalty_each_task_is_statsmodels_logit(X, Y):
    res = fit(Y, X, l1=0, l2=0, fusion=0, tol=1e-12)
    peers = [sm.Logit(Y[task], sm.add_constant(X)).fit(disp=0) for task in TASKS]
    np.testing.assert_allclose(res.params, np.column_stack([peer.params for peer in peers]), atol=1e-5)
    np.testing.assert_allclose(res.llf, sum(peer.llf for peer in peers), rtol=1e-10)
    np.testing.assert_allclose(res.llnull, sum(peer.llnull for peer in peers), rtol=1e-8)
    alone = [fit(Y[[task]], X, l1=0, l2=0, fusion=0, tol=1e-12) for task in TASKS]
    np.testing.assert_allclose([one.aic for one in alone], [peer.aic for peer in peers], rtol=1e-10)
    np.testing.assert_allclose([one.bic for one in alone], [peer.bic for peer in peers], rtol=1e-10)
    assert res.df_model == sum(peer.df_model for peer in peers)
    assert res.df_resid == sum(peer.df_resid for peer in peers)


def test_offset_and_weights_are_those_of_statsmodels_glm(X, Y):
    rng = np.random.default_rng(3)
    weights, offset = rng.integers(1, 4, size=80), rng.normal(size=80)
    res = fit(Y["mid"], X, l1=0, l2=0, fusion=0, tol=1e-12, weights=weights, offset=offset)
    peer = sm.GLM(Y["mid"], sm.add_constant(X), sm.families.Binomial(), offset=offset, freq_weights=weights).fit()
    np.testing.assert_allclose(res.params["mid"], peer.params, atol=1e-5)
    np.testing.assert_allclose(res.llf, peer.llf, rtol=1e-9)
    np.testing.assert_allclose(res.llnull, peer.llnull, rtol=1e-6)
    assert res.df_resid == peer.df_resid


def test_a_weight_of_two_is_the_row_twice(X, Y):
    twice = np.r_[np.arange(80), np.arange(30)]
    doubled = fit(Y.iloc[twice].reset_index(drop=True), X.iloc[twice].reset_index(drop=True))
    weighted = fit(Y, X, weights=np.r_[np.full(30, 2.0), np.ones(50)])
    np.testing.assert_allclose(weighted.params, doubled.params, atol=1e-4)
    for name in ("llf", "llnull", "df_resid", "aic", "bic"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(doubled, name), rtol=1e-6, err_msg=name)


def test_standardize_is_scaling_by_hand(X, Y):
    spread = np.array([1.0, 10.0, 0.1, 3.0])
    inside = fit(Y, X * spread, standardize=True)
    outside = fit(Y, X / X.std(ddof=0))
    np.testing.assert_allclose(inside.coefs * (spread * X.std(ddof=0).to_numpy())[:, None], outside.coefs, atol=1e-4)
    np.testing.assert_array_equal(inside.params.to_numpy() == 0, outside.params.to_numpy() == 0)
    np.testing.assert_allclose(inside.predict(X * spread), inside.fittedvalues)


def test_a_label_that_is_missing_is_a_label_of_weight_zero(X, Y):
    weights = np.ones((80, 3))
    weights[:20, 1] = 0
    missing = fit(Y.where(weights > 0), X)
    np.testing.assert_array_equal(missing.params, fit(Y, X, weights=weights).params)
    assert missing.nobs_per_task.tolist() == [80, 60, 80]
    assert missing.nobs == 80


# ---- penalties ------------------------------------------------------------------------------------------------------

def test_penalties_go_by_number_by_vector_and_by_name(X, Y):
    model = FusedLogit(Y, X, fuse_intercepts=True)
    number = model.penalty_by_row(1.0, 0.5, 2.0)
    vector = model.penalty_by_row([0, 1, 1, 1, 1], [0, 0.5, 0.5, 0.5, 0.5], [2.0] * 5)
    named = model.penalty_by_row(pd.Series(1.0, FEATURES[::-1]), pd.Series(0.5, FEATURES),
                          pd.Series(2.0, ["const", *FEATURES]))
    for name in ("l1", "l2", "fusion"):
        np.testing.assert_array_equal(getattr(vector, name), getattr(number, name))
        np.testing.assert_array_equal(getattr(named, name), getattr(number, name))


def test_penalty_factors_go_by_name(X, Y):
    model = FusedLogit(Y, X, penalty_factors=pd.Series({"dose": 0.0, "noise": 3.0}))
    assert model.penalty_factors.tolist() == [1, 0, 1, 3]
    penalty = model.penalty_by_row(2.0, 1.0, 5.0)
    np.testing.assert_allclose(penalty.l1[1:] / model.scale, [2, 0, 2, 6])
    np.testing.assert_allclose(penalty.l2[1:] / model.scale**2, [1, 0, 1, 3])
    np.testing.assert_allclose(penalty.fusion[1:] / model.scale, 5)
    assert (penalty.l1[0], penalty.l2[0], penalty.fusion[0]) == (0, 0, 0)
    plain = FusedLogit(Y, X, penalty_factors=pd.Series({"dose": 0.0, "noise": 3.0}), standardize=False)
    assert plain.penalty_by_row(2.0, 1.0, 5.0).l1.tolist() == [0, 2, 0, 2, 6]


@pytest.mark.parametrize("options", [{"weights": 2.0}, {"offset": 0.3}], ids=str)
def test_weights_and_offsets_go_by_task_name(X, Y, options):
    (name, value), = options.items()
    frame = pd.DataFrame(0.1, Y.index, TASKS).assign(high=value)
    one, other = FusedLogit(Y, X, **{name: frame}), FusedLogit(Y, X, **{name: frame[TASKS[::-1]]})
    np.testing.assert_array_equal(getattr(Data.of(one), name), getattr(Data.of(other), name))


def test_both_solvers_find_the_same_fit(X, Y):
    model = FusedLogit(Y, X)
    newton, admm = model.fit(1, 0.5, 2, tol=1e-9), model.fit(1, 0.5, 2, method="admm", tol=1e-9)
    np.testing.assert_allclose(newton.params, admm.params, atol=1e-4)
    assert newton.method == "newton" and admm.method == "admm"


# ---- other models ---------------------------------------------------------------------------------------------------

def test_ordered_levels_become_tasks(X):
    levels = pd.Series(np.resize(["mild", "none", "severe", None], 80), X.index)
    model = FusedLogit.from_ordered(levels, X, levels=["none", "mild", "severe"])
    assert model.endog_names == [">none", ">mild"]
    np.testing.assert_array_equal(model.endog.iloc[:4], [[1, 0], [0, np.nan], [1, 1], [np.nan, np.nan]])
    assert model.nobs == 60
    ordered = levels.astype(pd.CategoricalDtype(["none", "mild", "severe"], ordered=True))
    assert FusedLogit.from_ordered(ordered, X).endog.equals(model.endog)
    for features in (X, X.set_axis(range(5, 85), axis=0), X.to_numpy()):
        assert FusedLogit.from_ordered(np.arange(80) % 4, features).endog_names == [">0", ">1", ">2"]


def test_some_rows_make_the_same_model(X, Y):
    model = FusedLogit(Y, X, standardize=True, offset=np.linspace(0, 1, 80))
    rows = np.array([5, 5, 17, 3])
    part = model.with_rows(rows)
    whole, some = Data.of(model), Data.of(part)
    for name in ("X", "signs", "weights", "offset"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[rows])
    assert list(part.index) == rows.tolist() and part.exog_names == model.exog_names
    np.testing.assert_array_equal(part.scale, model.scale)
    assert model.with_rows(np.arange(80) < 10).problem.n_rows == 10


def test_models_can_be_pickled_and_copied(X, Y):
    model = FusedLogit(Y, X)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin.fit(1, 0.1, 2).params.equals(model.fit(1, 0.1, 2).params)


def test_a_model_holds_its_design_once(X, Y):
    wide = pd.DataFrame(np.random.default_rng(4).normal(size=(80, 500)))
    assert len(pickle.dumps(FusedLogit(Y, wide))) < 1.2 * wide.to_numpy().nbytes


# ---- warnings -------------------------------------------------------------------------------------------------------

def test_stopping_early_is_said(X, Y):
    with pytest.warns(ConvergenceWarning, match=r"tol = 1.0e-12.*max_iter") as caught:
        res = FusedLogit(Y, X).fit(0.1, 0, 0.1, tol=1e-12, max_iter=1)
    assert not res.converged and res.status == "not_converged"
    assert caught[0].filename == __file__


def test_separated_data_are_said(X):
    with pytest.warns(SeparationWarning, match="separated"):
        res = FusedLogit((X[["age", "dose"]] > 0).to_numpy(), X).fit(0, 0, 0)
    assert res.status == "separated" and np.isfinite(res.params.to_numpy()).all()


@pytest.mark.filterwarnings("ignore::fusedlr.exceptions.SeparationWarning")  # it comes too, and pytest 8 hands it on
def test_a_task_of_one_class_is_named(X, Y):
    with pytest.warns(OneClassWarning, match="'mid'.*1"):
        res = FusedLogit(Y.assign(mid=1), X).fit(1, 0.1, 2)
    assert np.isfinite(res.params.to_numpy()).all()


# ---- held-out rows --------------------------------------------------------------------------------------------------

def test_held_out_rows_are_read_in_the_models_coding(X, Y):
    model = FusedLogit(worded(Y, "no", "yes"), X, standardize=True)
    others = pd.DataFrame({"high": ["yes", None], "low": ["yes", "yes"], "mid": ["no", "yes"]})
    held = model.held_out(others, X.iloc[:2, ::-1])
    np.testing.assert_array_equal(held.design.X, X.iloc[:2])
    np.testing.assert_array_equal(held.labels.table(held.labels.yes, 2), [[1, 0, 1], [1, 1, np.nan]])


def test_held_out_labels_must_be_those_of_the_fit(X, Y):
    model = FusedLogit(worded(Y, "no", "yes"), X)
    with pytest.raises(ValueError, match="endog.*'no' and 'yes'.*'low'.*'maybe'"):
        model.held_out(worded(Y, "no", "maybe"), X)
    with pytest.raises(ValueError, match="endog.*'low', 'mid', 'high'"):
        model.held_out(Y[["low"]], X)
    with pytest.raises(ValueError, match="exog.*index of endog"):
        model.held_out(worded(Y, "no", "yes"), X.iloc[::-1])


def test_arrays_of_the_caller_stay_as_they_were_and_are_not_shared():
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(12, 3)), rng.integers(0, 2, (12, 4)).astype(float)
    Y[0, 0] = np.nan
    given = [X, Y, rng.uniform(0.5, 1.0, size=Y.shape), rng.normal(size=Y.shape), np.array([1.0, 2.0, 0.5])]
    copies = [array.copy() for array in given]
    model = FusedLogit(Y, X, weights=given[2], offset=given[3], penalty_factors=given[4], standardize=True)
    for array, kept in zip(given, copies):
        np.testing.assert_array_equal(array, kept)
    held = FusedLogit(Y, X, weights=given[2], offset=given[3], penalty_factors=given[4], standardize=False).problem
    arrays = (held.design.X, held.design.offset, held.labels.sign, held.labels.weight, held.factors.l1, held.factors.l2,
              model.problem.design.X, model.problem.design.offset, model.penalty_factors)
    for array in arrays:
        assert not any(np.shares_memory(array, mine) for mine in given)


def test_a_result_does_not_follow_what_happens_to_the_penalties_it_was_given():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 3))
    l1 = np.array([0.0, 1.0, 1.0, 1.0])
    res = FusedLogit((X[:, :2] > rng.normal(size=(40, 2))).astype(float), X).fit(l1, 0.1, 1.0)
    before, l1[1:] = res.certify(), 100.0
    after = res.certify()
    assert (after.objective, after.relative_gap) == (before.objective, before.relative_gap)
    assert after.objective == pytest.approx(res.objective, rel=1e-12)


# ---- penalties that are left out ------------------------------------------------------------------------------------

@pytest.mark.parametrize("given, absent", [({}, "l1 and fusion"), ({"l1": 1.0}, "fusion"), ({"fusion": 1.0}, "l1"),
                                           ({"l2": 1.0}, "l1 and fusion")], ids=str)
def test_a_fit_without_penalties_says_who_chooses_them(X, Y, given, absent):
    with pytest.raises(TypeError, match=rf"^{absent} must be given, 0 for no such penalty; fit_cv\(\) chooses"):
        FusedLogit(Y, X).fit(**given)


def test_l2_is_zero_where_left_out(X, Y):
    model = FusedLogit(Y, X)
    short, long = model.fit(l1=1.0, fusion=2.0), model.fit(l1=1.0, l2=0.0, fusion=2.0)
    pd.testing.assert_frame_equal(short.params, long.params)
    assert short.penalties == long.penalties == {"l1": 1.0, "l2": 0.0, "fusion": 2.0}
    assert not short.penalty_by_row.l2.any()


def test_one_task_has_nothing_to_fuse(X, Y):
    model = FusedLogit(Y["low"], X)
    assert model.fit(l1=1.0).penalties == {"l1": 1.0, "l2": 0.0, "fusion": 0.0}
    with pytest.raises(TypeError, match=r"l1 must be given.*fit_cv\(\)"):
        model.fit()
