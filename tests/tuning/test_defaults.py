"""The defaults on which a user relies without reading: scales, zeros, weights, digits, degrees of freedom."""

import warnings
from math import comb

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import CollinearWarning, FusedLogit, GridEdgeWarning
from fusedlr.constrained_fit import effective_df
from fusedlr.tuning import default_penalties
from tests.dependent import drawn

FEATURES = ["age", "weight", "smoker", "year"]
TOL = {"rtol": 1e-7, "atol": 1e-9}


def draw(n=160, t=3, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(50, 10, n), "weight": rng.normal(60000, 9000, n),
                      "smoker": (rng.random(n) < 0.3).astype(float), "year": rng.integers(1990, 2020, n).astype(float)})
    eta = 0.08 * (X["age"] - 50) + 1e-4 * (X["weight"] - 60000) + 0.8 * X["smoker"]
    chance = 1 / (1 + np.exp(-(eta.to_numpy()[:, None] + np.linspace(-1, 1, t))))
    return X, pd.DataFrame(rng.random((n, t)) < chance, columns=[f"y{k}" for k in range(t)])


@pytest.fixture(scope="module")
def anes96():
    data = sm.datasets.anes96.load_pandas()
    X = data.exog[["logpopul", "selfLR", "age", "educ", "income"]]
    return X, pd.DataFrame({f">{k}": (data.endog > k).astype(float) for k in range(6)})


# ---- location and scale ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize(("shift", "unit"), [(1000.0, 1.0), (0.0, 1e-3), (-7.0, 40.0)])
def test_location_and_scale_of_a_feature_change_nothing_but_the_intercepts(feature, shift, unit):
    X, Y = draw()
    other = X.assign(**{feature: shift + unit * X[feature]})
    one, two = (FusedLogit(Y, design).fit(2.0, 1.0, 1.5) for design in (X, other))
    np.testing.assert_allclose(two.params.loc[feature] * unit, one.params.loc[feature], **TOL)
    rest = [name for name in FEATURES if name != feature]
    np.testing.assert_allclose(two.params.loc[rest], one.params.loc[rest], **TOL)
    np.testing.assert_allclose(two.fittedvalues, one.fittedvalues, rtol=1e-6)
    np.testing.assert_array_equal(two.pattern, one.pattern)


def test_the_default_grid_does_not_depend_on_location_and_scale():
    X, Y = draw()
    grids = [default_penalties(FusedLogit(Y, design).problem) for design in (X, 300.0 + 0.01 * X)]
    for name in ("l1", "l2", "fusion"):
        np.testing.assert_allclose(grids[1][name], grids[0][name], rtol=1e-6)


def test_the_default_ridge_shrinks_a_lone_feature_by_three_and_thirty_percent():
    rng = np.random.default_rng(3)
    x = rng.normal(2000.0, 5.0, size=4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-0.05 * (x - 2000)))
    model = FusedLogit(y, x[:, None])
    _, *some = default_penalties(model.problem)["l2"]
    free, *held = (model.fit(0.0, l2, 0.0).coefs.iloc[0, 0] for l2 in (0.0, *some))
    np.testing.assert_allclose(1 - np.array(held) / free, [0.03, 0.23], atol=0.02)


def test_standardizing_counts_weights_and_leaves_out_rows_that_do_not_count():
    X, Y = draw()
    weights = np.random.default_rng(2).integers(1, 4, len(X))
    heavy = FusedLogit(Y, X, weights=weights).fit(2.0, 1.0, 1.5)
    repeated = FusedLogit(Y.to_numpy().repeat(weights, axis=0), X.to_numpy().repeat(weights, axis=0)).fit(2.0, 1.0, 1.5)
    np.testing.assert_allclose(heavy.params, repeated.params, **TOL)
    odd = pd.concat([X, X.iloc[:1].assign(weight=1e8)], ignore_index=True)
    labels = pd.concat([Y, Y.iloc[:1]], ignore_index=True)
    plain = FusedLogit(Y, X).fit(2.0, 1.0, 1.5).params
    np.testing.assert_allclose(FusedLogit(labels, odd, weights=np.r_[np.ones(len(X)), 0]).fit(2, 1, 1.5).params, plain,
                               **TOL)
    labels = labels.astype(float)
    labels.iloc[-1] = np.nan
    np.testing.assert_allclose(FusedLogit(labels, odd).fit(2, 1, 1.5).params, plain, **TOL)


def test_a_constant_feature_is_not_blown_up_by_the_rounding_of_its_mean():
    X, Y = draw()
    with pytest.warns(CollinearWarning, match="'dose' are constant"):
        model = FusedLogit(Y, X.assign(dose=0.1))
    assert model.scale[-1] == 1.0


# ---- what is chosen -------------------------------------------------------------------------------------------------

def test_a_choice_at_an_end_of_the_grid_is_said():
    X, Y = draw()
    model = FusedLogit(Y, X)
    with pytest.warns(GridEdgeWarning, match=r"the least l1 \(20\)"):
        model.fit_cv(l1=[20.0, 40.0], l2=[0.0], fusion=[0.0])
    with pytest.warns(GridEdgeWarning, match=r"the largest l2 \(0.01\)"):
        model.fit_cv(l1=[0.0], l2=[0.0, 0.01], fusion=[0.0], folds=4)
    with pytest.warns(GridEdgeWarning, match="the least l1"):
        model.fit_grid([20.0, 40.0], [0.0], [0.0]).select(Y, X)


def test_a_choice_at_an_end_comes_with_a_longer_list_to_paste():
    X, Y = draw()
    model = FusedLogit(Y, X)
    with pytest.warns(GridEdgeWarning, match=r"a longer list: l1=\[2.5, 5, 10, 20, 40, 80\]"):
        model.fit_cv(l1=[80.0, 20.0, 40.0], l2=[0.0], fusion=[0.0])
    with pytest.warns(GridEdgeWarning, match=r"a longer list: l2=\[0, 0.01, 0.03, 0.09, 0.27\]"):
        model.fit_cv(l1=[0.0], l2=[0.0, 0.01], fusion=[0.0], folds=4)


def test_the_ends_of_the_default_grid_are_announced_only_where_they_bind():
    """A ridge of 30 % is the largest by default: where no feature matters it is often best, by nothing to speak of."""
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(8):
        X = rng.normal(size=(60, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = FusedLogit(0.6 * X[:, 0] + rng.logistic(size=60) > 0, X).fit_cv()
        ends += found.penalties["l2"] == found.table["l2"].max()
    assert ends > 0
    X = rng.normal(size=(200, 150))  # as many weak effects as take a large ridge
    with pytest.warns(GridEdgeWarning, match=r"the largest l2 .* a longer list: l2="):
        FusedLogit(X.mean(axis=1) * 6 + rng.logistic(size=200) > 0, X).fit_cv(l1=0.0)


def test_a_choice_beyond_which_nothing_changes_is_not_called_an_end():
    X, Y = draw()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = FusedLogit(Y, X).fit_cv(l1=[1000.0, 2000.0], l2=[0.0, 1.0], fusion=[0.0, 1.0])
        assert found.penalties["l1"] == 2000.0 and found.df_model == 0
        FusedLogit(Y, X).fit_cv(l1=[1.0], l2=[1.0], fusion=[1.0])


def test_folds_of_another_order_are_refused():
    X, Y = draw(n=60)
    folds = pd.Series(np.arange(60) % 3, index=X.index)
    lists = {"l1": [1.0], "l2": [1.0], "fusion": [1.0]}
    assert FusedLogit(Y, X).fit_cv(folds=folds, **lists).folds.tolist() == folds.tolist()
    with pytest.raises(ValueError, match="folds must have the index of endog.*another order"):
        FusedLogit(Y, X).fit_cv(folds=folds.sample(frac=1, random_state=1), **lists)


# ---- digits ---------------------------------------------------------------------------------------------------------

def test_without_penalties_the_fit_is_statsmodels_logit(anes96):
    X, Y = anes96
    res = FusedLogit(Y, X).fit(0.0, 0.0, 0.0)
    for task in Y:
        logit = sm.Logit(Y[task], sm.add_constant(X)).fit(disp=0, tol=1e-12)
        np.testing.assert_allclose(res.params[task], logit.params, rtol=1e-7, atol=1e-9)


def test_a_point_taken_from_a_rough_grid_has_the_digits_and_the_pattern_of_the_optimum(anes96):
    X, Y = anes96
    model = FusedLogit(Y, X)
    grid = model.fit_grid([0.5, 6.0, 20.0], [0.0, 5.0], [0.1, 3.0, 30.0], tol=1e-4)
    for i, row in grid.table.iterrows():
        taken = grid.results(i)
        assert taken.status == "optimal" and taken.gap <= 1e-9
        if i % 5 == 0:
            exact = model.fit(row["l1"], row["l2"], row["fusion"])
            assert exact.certify().relative_gap <= 1e-13
            np.testing.assert_allclose(taken.params, exact.params, rtol=1e-6, atol=1e-8)
            np.testing.assert_array_equal(taken.pattern, exact.pattern)


# ---- degrees of freedom ---------------------------------------------------------------------------------------------

def test_effective_degrees_of_freedom_of_a_ridge_are_its_trace(anes96):
    X, Y = anes96
    res = FusedLogit(Y.iloc[:, :1], X, standardize=False).fit(0.0, 50.0, 0.0)
    design, p = sm.add_constant(X).to_numpy(), res.fittedvalues.to_numpy()[:, 0]
    H = design.T @ (design * (p * (1 - p))[:, None])
    trace = np.trace(np.linalg.solve(H + np.diag([0.0, *[50.0] * 5]), H))
    assert res.df_effective == pytest.approx(trace, rel=1e-8)
    assert res.df_effective < res.df == 6
    assert res.aic == pytest.approx(res.deviance + 2 * trace, rel=1e-10)


def stacked(X, res):
    """Design of three tasks with intercepts of their own and tied effects, residuals and curvatures; rows in front."""
    design = np.column_stack([np.kron(np.eye(3), np.ones((len(X), 1))), np.tile(X.to_numpy(), (3, 1))])
    p = res.fittedvalues.to_numpy().T.ravel()
    return design, res.model.endog.to_numpy().T.ravel() - p, p * (1 - p)


def test_labels_of_a_row_count_by_their_scores(anes96):
    """Takeuchi's trace of (H + R)^-1 J; a ridge on a tied value is that of its three places."""
    X, Y = anes96
    model = FusedLogit(Y.iloc[:, :3], X, standardize=False)
    res = model.fit(0.0, 50.0, 1e6)
    design, residual, curvature = stacked(X, res)
    H = design.T @ (design * curvature[:, None])
    scores = (design * residual[:, None]).reshape(3, len(X), -1).sum(axis=0)
    R = np.diag([0.0] * 3 + [150.0] * 5)
    assert res.df_effective == pytest.approx(np.trace(np.linalg.solve(H + R, scores.T @ scores)), rel=1e-8)
    without = effective_df(model.problem, res.solution.params, model.penalty_by_row(0.0, 0.0, 1e6))
    assert without == pytest.approx(np.trace(np.linalg.solve(H, scores.T @ scores)), rel=1e-8)
    assert 8 < without and res.df == 8


def test_labels_that_are_copies_count_as_often_as_they_are_there(anes96):
    """Three equal tasks, tied: three times the degrees of freedom of one, as is the log-likelihood."""
    X, Y = anes96
    one = FusedLogit(Y.iloc[:, :1], X, groups=np.arange(len(X)))
    params = one.fit(0.0, 0.0).solution.params
    nothing = one.penalty_by_row(0.0, 0.0, 0.0)
    three = FusedLogit(np.repeat(Y.iloc[:, :1].to_numpy(), 3, axis=1), X, fuse_intercepts=True)
    assert effective_df(one.problem, params, nothing) == 6
    design, p = sm.add_constant(X).to_numpy(), 1 / (1 + np.exp(-(params[0, 0] + X.to_numpy() @ params[1:, 0])))
    scores, H = design * (Y.iloc[:, 0].to_numpy() - p)[:, None], design.T @ (design * (p * (1 - p))[:, None])
    expected = 3 * np.trace(np.linalg.solve(H, scores.T @ scores))
    found = effective_df(three.problem, np.repeat(params, 3, axis=1), nothing)
    assert found == pytest.approx(expected, rel=1e-8) and 15 < found < 21


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_the_extended_criterion_counts_the_ways_to_choose_features():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 9))
    Y = X[:, [0]] + rng.logistic(size=(80, 2)) > 0
    res = FusedLogit(Y, X).fit(10.0, 0.0, 5.0)
    kept = int(res.nonzero.any(axis=1).sum())
    assert 0 < kept < 9 and res.ebic == pytest.approx(res.bic + 2 * np.log(comb(9, kept)))
    found = FusedLogit(Y, X).fit_cv(by="ebic", l1=[0.1, 10.0, 100.0], l2=[0.0], fusion=[5.0], tol=1e-10,
                                    progress=False)
    assert found.ebic == pytest.approx(found.table["ebic"].min(), rel=1e-6) and found.by == "ebic"


@pytest.mark.slow
def test_effective_degrees_of_freedom_are_the_covariance_of_fit_and_labels():
    """Efron (1986): the sum of cov(linear predictor, label), over draws of labels of dependence 0.9."""
    X, fits, labels, df, count = drawn(0, 200, 6)[1], [], [], [], []
    for seed in range(150):
        Y = drawn(seed, 200, 6, 0.9, X)[0]
        res = FusedLogit(Y, X).fit(4.0, 0.0, 30.0)
        fits.append(res.predict(which="linear").to_numpy())
        labels.append(Y)
        df.append(res.df_effective)
        count.append(res.df)
    parts = ((np.array(fits) - np.mean(fits, axis=0)) * np.array(labels)).sum(axis=(1, 2))
    error = parts.std() * np.sqrt(150) / 149
    assert abs(parts.sum() / 149 - np.mean(df)) < 2 * error
    assert parts.sum() / 149 - np.mean(count) > 2 * error


def test_a_fit_that_comes_close_to_every_label_has_no_fewer_degrees_of_freedom():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    res = FusedLogit(X[:, [0]] + rng.logistic(size=(40, 3)) > 0, X).fit(0.05, 0.0, 0.01)
    assert res.llf > -2 and res.df_effective == res.df


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_with_many_features_the_extended_criterion_keeps_fewer_false_ones():
    false = {"bic": [], "ebic": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 200))
        Y = 1.2 * X[:, [0]] - 1.2 * X[:, [1]] + rng.logistic(size=(100, 3)) > 0
        for by, found in false.items():
            fit = FusedLogit(Y, X).fit_cv(by=by, l2=[0.0], progress=False)
            found.append(fit.nonzero.to_numpy()[2:].any(axis=1).sum())
    assert np.mean(false["ebic"]) < 1 < np.mean(false["bic"]), false


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_criteria_of_a_table_are_those_of_the_fits(anes96):
    X, Y = anes96
    found = FusedLogit(Y, X).fit_cv(by="bic", l1=[1.0, 10.0], l2=[1.0, 30.0], fusion=[0.0, 5.0], tol=1e-10)
    for i in (0, 3, 7):
        res = found.grid.results(i)
        assert found.table["bic"][i] == pytest.approx(res.bic, rel=1e-6)
        assert found.table["df_effective"][i] == pytest.approx(res.df_effective, rel=1e-4)


# ---- copies of features ---------------------------------------------------------------------------------------------

def test_features_that_say_the_same_are_named():
    X, Y = draw()
    with pytest.warns(CollinearWarning, match="'age' and 'months' are affine copies of each other"):
        FusedLogit(Y, X.assign(months=600 - 12 * X["age"]))


def test_nearly_equal_features_are_left_alone():
    X, Y = draw()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FusedLogit(Y, X.assign(other=X["age"] + 1e-3 * np.random.default_rng(99).normal(size=len(X))))
    assert caught == []


# ---- uncertainty ----------------------------------------------------------------------------------------------------

def test_a_weight_is_a_number_of_rows_in_the_bootstrap():
    X, Y = draw(n=60)
    twice = np.repeat(np.arange(60), 2)
    heavy = FusedLogit(Y, X, weights=np.full(60, 2.0)).fit(2, 1, 1).bootstrap(n=30, rng=1)
    doubled = FusedLogit(Y.iloc[twice].reset_index(drop=True), X.iloc[twice].reset_index(drop=True)).fit(2, 1, 1)
    np.testing.assert_allclose(heavy.samples, doubled.bootstrap(n=30, rng=1).samples, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_default_standard_errors_of_tied_thresholds_cover():
    """Seven ordered levels, all thresholds tied, no selection: 95 % intervals cover the effect in about 95 %."""
    hits, naive = [], []
    for seed in range(150):
        rng = np.random.default_rng([7, seed])
        x = rng.normal(size=(200, 1))
        level = np.digitize(0.7 * x[:, 0] + rng.logistic(size=200), [-2, -1.2, -0.5, 0.2, 0.9, 1.8])
        Y = (level[:, None] > np.arange(6)).astype(float)
        res = FusedLogit(Y, x).fit(0.0, 0.0, 1e4)
        for found, cov_type in ((hits, None), (naive, "nonrobust")):
            low, high = res.refit(cov_type=cov_type).conf_int().iloc[1, :2]
            found.append(low <= 0.7 <= high)
    assert 0.90 <= np.mean(hits) <= 0.985
    assert np.mean(naive) < 0.85


# ---- the default grid by hand ---------------------------------------------------------------------------------------

@pytest.mark.parametrize(("features", "depth"), [(29, 1e-3), (30, 1e-2), (31, 1e-2)])
def test_l1_goes_less_deep_unless_there_are_more_rows_than_features(features, depth):
    rng = np.random.default_rng(3)
    l1 = default_penalties(FusedLogit(rng.integers(0, 2, (30, 2)), rng.normal(size=(30, features))).problem)["l1"]
    assert l1[-1] / l1[0] == pytest.approx(depth, rel=1e-12)


def test_curvature_is_taken_around_the_mean_of_each_tasks_rows():
    """Two tasks, each observed in half of the rows, whose features lie far apart."""
    rng = np.random.default_rng(4)
    x = np.append(rng.normal(0, 1, 40), rng.normal(50, 2, 60))
    Y = np.full((100, 2), np.nan)
    Y[:40, 0], Y[40:, 1] = np.arange(40) % 4 == 0, np.arange(60) % 3 == 0
    l2 = default_penalties(FusedLogit(Y, x[:, None], standardize=False).problem)["l2"]
    by_task = [np.var(x[:40]) * 40 * 0.25 * 0.75, np.var(x[40:]) * 60 / 3 * 2 / 3]
    np.testing.assert_allclose(l2, np.mean(by_task) * np.array([0.0, 0.03, 0.3]), rtol=1e-6)
