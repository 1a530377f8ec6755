"""Fusion of features only: every task keeps an intercept of its own, whatever the fusion."""

import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import FusedLogit, OneClassWarning, SeparationWarning, load
from fusedlr.optimality import certify
from tests.wide import Data

# Grids of a few points, whose ends are chosen often.
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")

TASKS = ["rare", "even", "common"]
FEATURES = ["age", "dose", "noise"]
MUCH = 1e3


@pytest.fixture(scope="module")
def X():
    return pd.DataFrame(np.random.default_rng(1).normal(size=(150, 3)) + 0.5, columns=FEATURES)


@pytest.fixture(scope="module")
def Y(X):
    noise = np.random.default_rng(2).logistic(size=(150, 3))
    Y = pd.DataFrame((X[["age"]].to_numpy() * [1.0, 1.0, 0.4] + noise > [2.5, 0.5, -1.0]).astype(float), columns=TASKS)
    return Y.mask(np.random.default_rng(3).random(Y.shape) < 0.1)


@pytest.fixture(scope="module")
def model(X, Y):
    return FusedLogit(Y, X, fuse_intercepts=False)


def stacked_logit(Y, X):
    """statsmodels' logistic regression of all labels, one dummy for each task."""
    dummies = np.kron(np.eye(3), np.ones((len(X), 1)))
    labels = Y.to_numpy().T.ravel()
    seen = ~np.isnan(labels)
    return sm.Logit(labels[seen], np.hstack([dummies, np.tile(X, (3, 1))])[seen]).fit(disp=0, tol=1e-12)


@pytest.mark.parametrize("method", ["newton", "admm"])
def test_much_fusion_is_one_logit_with_a_dummy_for_each_task(model, X, Y, method):
    res = model.fit(0.0, 0.0, MUCH, method=method, tol=1e-10)
    peer = stacked_logit(Y, X)
    np.testing.assert_allclose(res.intercepts, peer.params[:3], atol=1e-4)
    np.testing.assert_allclose(res.coefs, np.repeat(peer.params[3:, None], 3, axis=1), atol=1e-4)
    assert not np.ptp(res.coefs, axis=1).any()
    assert res.llf == pytest.approx(peer.llf, rel=1e-9)
    assert res.df == len(peer.params)


def test_the_refit_has_the_errors_of_that_logit(model, X, Y):
    again, peer = model.fit(0.0, 0.0, MUCH).refit(cov_type="nonrobust"), stacked_logit(Y, X)
    np.testing.assert_allclose(again.table()["coef"], peer.params, rtol=1e-7)
    np.testing.assert_allclose(again.table()["std err"], peer.bse, rtol=1e-6)


def test_everything_shrunk_to_zero_leaves_the_share_of_yes_in_each_task(model, Y):
    res = model.fit(MUCH, 0.0, MUCH, tol=1e-10)
    assert not res.coefs.any(axis=None)
    np.testing.assert_allclose(res.predict().iloc[0], Y.mean(), rtol=1e-5)


def test_the_fit_is_optimal_for_the_referee(model):
    res = model.fit(2.0, 0.5, 4.0, tol=1e-9)
    penalty = res.penalty_by_row
    assert penalty.fusion.tolist() == [0, *(4 * model.scale)]
    certificate = certify(model.problem, res.solution.params, penalty)
    assert certificate.kind == "gap" and certificate.relative_gap < 1e-9
    assert res.gap < 1e-9 and res.certify() == certificate


@pytest.mark.parametrize("change", ["base rates", "centre"])
def test_base_rates_and_centring_change_the_intercepts_only(model, X, Y, change):
    shift = np.array([3.0, 0.0, -2.0])
    options = {"offset": np.tile(shift, (len(X), 1))} if change == "base rates" else {}
    other = FusedLogit(Y, X - (X.mean() if change == "centre" else 0.0), fuse_intercepts=False, **options)
    one, two = model.fit(2.0, 0.5, 4.0, tol=1e-12), other.fit(2.0, 0.5, 4.0, tol=1e-12)
    np.testing.assert_allclose(two.coefs, one.coefs, atol=1e-5)
    moved = -shift if change == "base rates" else X.mean().to_numpy() @ one.coefs
    np.testing.assert_allclose(two.intercepts, one.intercepts + moved, atol=1e-5)


def test_without_fusion_it_does_not_matter_whether_intercepts_are_fused(model, X, Y):
    fused = FusedLogit(Y, X, fuse_intercepts=True).fit(2.0, 0.5, 0.0, tol=1e-10)
    np.testing.assert_allclose(model.fit(2.0, 0.5, 0.0, tol=1e-10).params, fused.params, atol=1e-5)


def test_a_vector_of_fusion_may_say_so_itself(model, X, Y):
    by_number = model.fit(2.0, 0.5, 4.0)
    for fusion in ([0, 4, 4, 4], pd.Series(4.0, FEATURES), {"const": 0, **dict.fromkeys(FEATURES, 4.0)}):
        assert model.fit(2.0, 0.5, fusion).params.equals(by_number.params)
    assert FusedLogit(Y, X, fuse_intercepts=True).fit(2.0, 0.5, [0, 4, 4, 4]).params.equals(by_number.params)


def test_an_ordered_outcome_keeps_its_thresholds_unless_told_otherwise(X):
    level = np.digitize(X["age"] + np.random.default_rng(4).logistic(size=len(X)), [-1.0, 0.5, 2.0])
    free = FusedLogit.from_ordered(level, X, kind="cumulative")
    fused = FusedLogit.from_ordered(level, X, kind="cumulative", fuse_intercepts=True)
    assert not free.fuse_intercepts and fused.fuse_intercepts
    thresholds = free.fit(1.0, 0.1, MUCH)
    assert (np.diff(thresholds.intercepts) < 0).all() and not np.ptp(thresholds.coefs, axis=1).any()
    assert not np.ptp(fused.fit(1.0, 0.1, MUCH).params, axis=1).any()


def test_a_formula_takes_the_option_too(X, Y, model):
    named = FusedLogit.from_formula("rare + even + common ~ age + dose + noise", Y.join(X), fuse_intercepts=False)
    np.testing.assert_allclose(named.fit(2.0, 0.5, 4.0).params, model.fit(2.0, 0.5, 4.0).params)


# ---- many penalties -------------------------------------------------------------------------------------------------

POINTS = {"l1": [6.0, 1.0], "l2": [0.1], "fusion": [1.0, 30.0]}


def test_a_grid_has_the_fits_of_its_points(model):
    grid = model.fit_grid(**POINTS, tol=1e-10)
    for i in range(len(grid)):
        penalties = grid.table.loc[i, ["l1", "l2", "fusion"]].to_dict()
        np.testing.assert_allclose(grid.params[i], model.fit(**penalties, tol=1e-10).params, atol=1e-4)
        assert grid.results(i).certify().relative_gap < 1e-9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation_scores_fits_with_free_intercepts(model, n_jobs):
    cv = model.fit_cv(**POINTS, folds=3, rng=1, tol=1e-9, n_jobs=n_jobs)
    for fold in range(3):
        res = model.with_rows(cv.folds != fold).fit(6.0, 0.1, 30.0, tol=1e-9)
        held = model.with_rows(cv.folds == fold)
        table = Data.of(held)
        losses = np.logaddexp(0, -table.signs * res.predict(held.exog, which="linear").to_numpy())
        assert cv.fold_scores[fold, 1] == pytest.approx(np.average(losses, weights=table.weights), rel=1e-5)
    assert cv.penalty_by_row.fusion[0] == 0 and cv.certify().relative_gap < 1e-8


def test_the_limits_of_the_model_are_those_of_free_intercepts(model, X, Y):
    limit = model.penalty_limits().fusion
    assert limit < FusedLogit(Y, X, fuse_intercepts=True).penalty_limits().fusion
    assert not np.ptp(model.fit(0, 0, 1.0005 * limit, tol=1e-10).coefs, axis=1).any()
    assert np.ptp(model.fit(0, 0, 0.9995 * limit, tol=1e-10).coefs, axis=1).any()


def test_the_default_grid_ends_at_that_limit(model):
    table = model.fit_cv(by="bic").table
    assert table["df"][table["fusion"].idxmax()] == 3  # no feature at the largest l1, three intercepts


def test_the_bootstrap_leaves_intercepts_free(model):
    found = model.fit(2.0, 0.5, MUCH).bootstrap(4, rng=1)
    assert (found.fusion_frequency.loc["const"] == 0).all()
    assert (found.fusion_frequency.loc[FEATURES] == 1).all(axis=None)
    rows = np.random.default_rng(np.random.SeedSequence(1).spawn(1)[0]).integers(150, size=150)
    again = model.with_rows(rows).fit(2.0, 0.5, MUCH, tol=1e-9)
    np.testing.assert_allclose(found.samples[0], again.params, atol=5e-3)


# ---- what is said and kept ------------------------------------------------------------------------------------------

def test_the_summary_says_what_happens_to_intercepts(model, X, Y):
    fused = FusedLogit(Y, X, fuse_intercepts=True)
    for fit, words in ((model.fit(1, 1, 2), "neither fused nor shrunk"), (fused.fit(1, 1, 2), "fused but not shrunk"),
                       (fused.fit(1, 1, [0, 2, 2, 2]), "neither fused nor shrunk")):
        assert f"intercepts are {words}." in str(fit.summary()).replace("\n    ", " ")


def test_a_file_remembers_that_intercepts_are_free(model, tmp_path):
    res = model.fit(2.0, 0.5, 4.0)
    res.save(tmp_path / "fit")
    back = load(tmp_path / "fit")
    assert back.model.fuse_intercepts is False
    assert back.penalty_by_row.fusion.tolist() == [0, *(4 * model.scale)]
    assert str(back.summary()) == str(res.summary())
    assert back.model.fit(2.0, 0.5, 4.0).params.equals(res.params)


def test_a_file_remembers_that_intercepts_are_fused(X, Y, tmp_path):
    FusedLogit(Y, X, fuse_intercepts=True).fit(2.0, 0.5, 4.0).save(tmp_path / "fit")
    assert load(tmp_path / "fit").model.fuse_intercepts is True


def test_a_task_of_one_class_has_no_finite_intercept_of_its_own(X, Y):
    with pytest.warns((OneClassWarning, SeparationWarning)) as caught:
        res = FusedLogit(Y.assign(even=1), X, fuse_intercepts=False).fit(1, 0.1, 2)
    assert [warning.category for warning in caught] == [OneClassWarning, SeparationWarning]
    assert re.search("'even'.*no finite best value.*fuse_intercepts=True", str(caught[0].message))
    assert res.status == "separated" and np.isfinite(res.params.to_numpy()).all()
