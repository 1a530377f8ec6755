"""Scores of probabilities with their standard errors, against statsmodels and hand computations."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import FusedLogit

pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
RNG = np.random.default_rng(3)
X = RNG.normal(size=(150, 3))
Y = (X[:, :1] + RNG.logistic(size=(150, 2)) > 0).astype(float)
Y[RNG.random(Y.shape) < 0.1] = np.nan
GRID = {"l1": [0.5, 3.0], "l2": 0.2, "fusion": [0.5, 2.0]}


@pytest.fixture(scope="module")
def cv():
    return FusedLogit(Y, X).fit_cv(4, rng=1, **GRID)


def test_out_of_fold_probabilities_are_those_of_fits_without_the_fold(cv):
    found = cv.out_of_fold()
    for fold in range(4):
        held = cv.folds == fold
        fit = cv.model.with_rows(~held).fit(**cv.penalties)
        np.testing.assert_allclose(found[held], fit.predict(X[held]), rtol=1e-6)


def test_out_of_fold_probabilities_are_means_over_repeats():
    model = FusedLogit(Y, X)
    twice = model.fit_cv(3, rng=1, repeats=2, **GRID)
    only = dict(twice.penalties)
    each = [model.fit_cv(twice.parts[k:k + 3].argmax(axis=0), **only).out_of_fold() for k in (0, 3)]
    np.testing.assert_allclose(twice.out_of_fold(), np.mean(each, axis=0), rtol=1e-6)


def test_rows_of_one_task_each_have_one_probability():
    task = np.arange(150) % 2
    model = FusedLogit.from_long(Y[:, 0], X, task)
    cv = model.fit_cv(3, rng=1, **GRID)
    found = cv.out_of_fold()
    held = cv.folds == 1
    fit = model.with_rows(~held).fit(**cv.penalties)
    seen = ~np.isnan(Y[held, 0])
    np.testing.assert_allclose(found[held][seen], fit.predict(X[held], task=task[held])[seen], rtol=1e-6)
    assert cv.scores().index.tolist() == [0, 1, "all"]


def test_log_loss_and_brier_score_are_means_with_their_usual_errors(cv):
    fit = cv.model.fit(1.0, 0.1, 0.5)
    new = RNG.normal(size=(80, 3))
    labels = (RNG.random((80, 2)) < 0.4).astype(float)
    found, chance = fit.score(labels, new), fit.predict(new).to_numpy()
    losses = -np.log(np.where(labels == 1, chance, 1 - chance))
    brier = (chance - labels) ** 2
    for name, values in {"logloss": losses, "brier": brier}.items():
        np.testing.assert_allclose(found[name].iloc[:2], values.mean(axis=0))
        np.testing.assert_allclose(found[f"{name}_se"].iloc[:2], values.std(axis=0, ddof=1) / np.sqrt(80))
        assert found.loc["all", name] == pytest.approx(values.mean())
        assert found.loc["all", f"{name}_se"] == pytest.approx(values.mean(axis=1).std(ddof=1) / np.sqrt(80))


def test_auc_and_its_error_are_delongs(cv):
    linear = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.8])
    yes = np.array([0, 0, 1, 1, 0, 1])
    model = FusedLogit(np.tile([0, 1], 10), np.arange(20.0)[:, None] % 3, standardize=False)
    fit = model.fit(0.0, 0.1)
    unit = float(fit.params.iloc[1, 0])
    found = fit.score(yes, (linear / unit)[:, None])
    kernel = (linear[yes == 1][:, None] > linear[yes == 0]) + 0.5 * (linear[yes == 1][:, None] == linear[yes == 0])
    # DeLong's variance, sums of squares divided by m^2 and n^2, and n / (n - 1) for all rows
    spread = sum(((kernel.mean(axis=axis) - kernel.mean()) ** 2).sum() / kernel.shape[1 - axis] ** 2 for axis in (0, 1))
    assert found["auc"].iloc[0] == pytest.approx(kernel.mean())
    assert found["auc_se"].iloc[0] == pytest.approx(np.sqrt(spread * 6 / 5))


def test_calibration_is_a_logistic_regression_on_the_linear_predictor(cv):
    found = cv.scores()
    chance, labels = cv.out_of_fold().to_numpy(), cv.model.endog.to_numpy()
    for k in range(2):
        seen = ~np.isnan(labels[:, k])
        eta = np.log(chance[seen, k] / (1 - chance[seen, k]))
        slope = sm.Logit(labels[seen, k], sm.add_constant(eta)).fit(disp=0, cov_type="HC0", tol=1e-12)
        shift = sm.GLM(labels[seen, k], np.ones(seen.sum()), sm.families.Binomial(), offset=eta).fit(cov_type="HC0")
        assert found["slope"].iloc[k] == pytest.approx(slope.params[1], rel=1e-6)
        assert found["intercept"].iloc[k] == pytest.approx(shift.params[0], rel=1e-6, abs=1e-8)
        # rows without a label of this task count as rows: n is 150 less those with no label at all
        n = cv.model.problem.groups.size
        assert found["slope_se"].iloc[k] == pytest.approx(slope.bse[1] * np.sqrt(n / (n - 1)), rel=1e-5)
        assert found["intercept_se"].iloc[k] == pytest.approx(shift.bse[0] * np.sqrt(n / (n - 1)), rel=1e-5)


def test_rows_twice_in_one_group_score_like_the_rows_and_a_weight_is_a_number_of_rows(cv):
    twice, labels = np.repeat(np.arange(150), 2), pd.DataFrame(Y)
    once = cv.score(Y, X)
    grouped = cv.score(labels.to_numpy()[twice], X[twice], groups=twice)
    np.testing.assert_allclose(grouped.drop(columns="labels"), once.drop(columns="labels"), rtol=1e-9, atol=1e-14)
    heavy, apart = cv.score(Y, X, weights=np.full(150, 2.0)), cv.score(Y[twice], X[twice])
    np.testing.assert_allclose(heavy, apart, rtol=1e-9, atol=1e-14)


def test_a_task_with_one_label_has_no_auc_and_no_calibration(cv):
    labels = np.column_stack([np.ones(150), Y[:, 1]])
    found = cv.score(labels, X)
    assert found[["auc", "auc_se", "slope", "intercept_se"]].iloc[0].isna().all()
    assert np.isfinite(found["logloss"]).all() and found.loc["all", "auc"] == found["auc"].iloc[1]


def test_a_criterion_has_no_folds():
    with pytest.raises(ValueError, match="folds are needed for this, and by='bic' has none"):
        FusedLogit(Y, X).fit_cv(by="bic", **GRID).scores()


def test_calibration_plots_of_a_cross_validation_are_out_of_fold(cv):
    plt = pytest.importorskip("matplotlib.pyplot")
    from fusedlr import plots

    ax = plots.calibration(cv, bins=1)
    seen = ~np.isnan(Y[:, 0])
    assert ax.lines[1].get_xdata()[0] == pytest.approx(cv.out_of_fold().to_numpy()[seen, 0].mean())
    assert "out of fold" in ax.get_title(loc="left")
    plt.close("all")
