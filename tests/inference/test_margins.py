"""Average predictive differences against statsmodels, and of outcomes that it does not know."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.sparse import csc_array

from fusedlr import FusedLogit

RNG = np.random.default_rng(8)
N = 200
X = pd.DataFrame({"age": RNG.normal(50, 10, N), "smoker": (RNG.random(N) < 0.4).astype(float),
                  "dose": RNG.exponential(size=N)})
LINEAR = 0.05 * (X["age"] - 50) + 0.8 * X["smoker"]
Y = pd.DataFrame((LINEAR.to_numpy()[:, None] + RNG.logistic(size=(N, 2)) > [-0.3, 0.4]).astype(float),
                 columns=["low", "high"])


@pytest.mark.parametrize("weights", [None, np.arange(N) % 3 + 1.0], ids=["rows", "weighted rows"])
def test_margins_of_each_task_are_those_of_statsmodels(weights):
    found = FusedLogit(Y, X, weights=weights).fit(0.0, 0.0, 0.0).refit("nonrobust").get_margeff()
    rows = np.repeat(np.arange(N), 1 if weights is None else weights.astype(int))
    for task in Y:
        logit = sm.Logit(Y[task].to_numpy()[rows], sm.add_constant(X).iloc[rows]).fit(disp=0, tol=1e-12)
        peer = logit.get_margeff(dummy=True)
        np.testing.assert_allclose(found.margeff[task], peer.margeff, rtol=1e-5)
        np.testing.assert_allclose(found.margeff_se[task], peer.margeff_se, rtol=1e-5)
        table = found.summary_frame(0.1).xs(task, level=1)
        np.testing.assert_allclose(table["P>|z|"], peer.pvalues, rtol=1e-4)
        np.testing.assert_allclose(table[["[0.05", "0.95]"]], peer.conf_int(0.1), rtol=1e-4)


def test_a_fit_has_the_margins_of_its_refit_and_only_of_what_it_selected():
    res = FusedLogit(Y, X, penalty_factors={"smoker": 0.0}).fit(18.0, 0.0, 4.0)
    kept = res.nonzero.any(axis=1)
    found = res.get_margeff()
    pd.testing.assert_frame_equal(found.margeff, res.refit().get_margeff().margeff)
    assert found.margeff.index.tolist() == kept.index[kept].tolist() and not kept.all()
    by_hand = (sm.add_constant(X), res.refit().params["low"])
    ends = [1 / (1 + np.exp(-(by_hand[0].assign(smoker=value) @ by_hand[1]))) for value in (0.0, 1.0)]
    assert found.margeff.loc["smoker", "low"] == pytest.approx((ends[1] - ends[0]).mean())
    assert repr(found) == f"<MarginalEffects: {kept.sum()} features; see summary_frame()>" and "dy/dx" in str(found)


def test_the_margin_of_a_task_whose_coefficient_is_zero_has_no_statistic():
    res = FusedLogit(Y, X[["dose"]]).fit(4.0, 0.0, 0.0)
    zero = res.coefs.loc["dose"] == 0
    assert zero.any() and not zero.all()
    table = res.get_margeff().summary_frame().xs("dose")
    assert (table.loc[zero, ["dy/dx", "std err"]] == 0).all(axis=None)
    assert table.loc[zero, ["z", "P>|z|"]].isna().all(axis=None)
    assert table.loc[~zero].notna().all(axis=None)


def test_margins_of_levels_add_up_to_nothing():
    levels = pd.cut(LINEAR + RNG.logistic(size=N), [-99, -0.5, 0.8, 99], labels=False)
    res = FusedLogit.from_ordered(levels, X).fit(0.0, 0.0, 0.0)
    found = res.get_margeff("levels")
    assert found.margeff.shape == (3, 3)
    np.testing.assert_allclose(found.margeff.sum(axis=1), 0.0, atol=1e-9)
    positions = np.arange(3)
    np.testing.assert_allclose(res.get_margeff("rank").margeff["rank"], found.margeff.to_numpy() @ positions, rtol=1e-6)


def test_margins_of_survival_are_differences_of_curves():
    time = np.ceil(4 * RNG.exponential(size=N) * np.exp(-LINEAR)).clip(1, 6)
    event = (time < 6) | (np.arange(N) % 2 > 0)
    res = FusedLogit.from_survival(time, event, X, breaks=[1.0, 2.0, 4.0, 6.0]).fit(0.0, 0.0, 0.0)
    found, refitted = res.get_margeff("survival"), res.refit()
    curves = [refitted.predict(X.assign(smoker=value), which="survival").mean() for value in (0.0, 1.0)]
    np.testing.assert_allclose(found.margeff.loc["smoker"], curves[1] - curves[0], rtol=1e-9)
    assert (found.margeff_se.loc["smoker"].iloc[1:3] > 0).all()


def test_words_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="which must be 'prob', found 'label'"):
        FusedLogit(Y, X).fit(1.0, 0.0, 1.0).get_margeff("label")
    with pytest.raises(ValueError, match="which must be .*'levels'.* found 'level'"):
        FusedLogit.from_ordered(np.arange(N) % 3, X).fit(1.0, 0.0, 1.0).get_margeff("level")


def test_a_fit_without_features_has_no_margins():
    assert FusedLogit(Y, X).fit(1e4, 0.0, 1.0).get_margeff().summary_frame().empty


def test_margins_of_a_median_that_some_rows_do_not_have_are_refused():
    time = np.resize([1.0, 2.0, 3.0, 4.0], N)
    res = FusedLogit.from_survival(time, np.arange(N) % 5 == 0, X, breaks=[2.0, 4.0]).fit(0.0, 0.1, 0.0)
    with pytest.raises(ValueError, match="which='median' has no mean over rows.*use which='survival'"):
        res.get_margeff("median")


def test_margins_of_sparse_features_are_those_of_dense_ones():
    sparse, dense = (FusedLogit(Y, features).fit(0.5, 0.0, 1.0).get_margeff()
                     for features in (csc_array(X), X.to_numpy()))
    np.testing.assert_allclose(sparse.margeff, dense.margeff, rtol=1e-5)
    np.testing.assert_allclose(sparse.margeff_se, dense.margeff_se, rtol=1e-5)
    np.testing.assert_allclose(sparse.scale, dense.scale)
