"""Refits by maximum likelihood, and the bootstrap."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import FusedLogit, FusedLogitResults, FusedLogitWarning, SeparationWarning
from fusedlr.inference import bootstrap, refit
from fusedlr.problem import Groups, Labels, Solution
from fusedlr.resampling import draw


def simulated(n=150, d=4, t=3, seed=5):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)) * [1.0, 5.0, 0.2, 1.0][:d], columns=list("abcd")[:d])
    linear = 0.3 + X.to_numpy()[:, [0]] * [1.0, 0.8, 0.6][:t]
    Y = pd.DataFrame((rng.random((n, t)) < 1 / (1 + np.exp(-linear))).astype(float), columns=["low", "mid", "high"][:t])
    return Y, X, rng


def as_if_fitted(model, params):
    """A result whose penalized coefficients are given: only their zeros and ties matter to a refit."""
    return FusedLogitResults(model, Solution(np.array(params, dtype=float), 0.0, 0.0, "optimal", 1, {}),
                             {"l1": 1.0, "l2": 0.0, "fusion": 1.0})


def all_different(model):
    shape = (1 + model.problem.n_features, model.problem.n_tasks)
    return as_if_fitted(model, np.arange(1, np.prod(shape) + 1).reshape(shape))


def test_without_zeros_and_ties_the_refit_is_a_logit_of_each_task():
    Y, X, _ = simulated()
    found = refit(all_different(FusedLogit(Y, X)), cov_type="nonrobust")
    llf = 0.0
    for task in Y:
        logit = sm.Logit(Y[task], sm.add_constant(X)).fit(disp=0, tol=1e-12)
        np.testing.assert_allclose(found.params[task], logit.params, rtol=1e-8)
        np.testing.assert_allclose(found.bse[task], logit.bse, rtol=1e-7)
        np.testing.assert_allclose(found.zvalues[task], logit.tvalues, rtol=1e-7)
        np.testing.assert_allclose(found.pvalues[task], logit.pvalues, rtol=1e-6)
        np.testing.assert_allclose(found.conf_int(0.1)[task], logit.conf_int(0.1), rtol=1e-6)
        llf += logit.llf
    assert found.llf == pytest.approx(llf, rel=1e-10)
    assert found.converged and found.separated == []


def tied_problem():
    """Data with offsets, weights and missing labels; a pattern; and its design over stacked tasks."""
    Y, X, rng = simulated()
    Y = Y.mask(rng.random(Y.shape) < 0.15)
    weights = rng.integers(1, 4, size=Y.shape[0]).astype(float)
    offset = rng.normal(size=Y.shape) * 0.4
    params = [[1, 1, 2], [3, 3, 3], [4, 0, 5], [0, 0, 0], [6, 6, 0]]
    groups = [(0, [0, 1]), (0, [2]), (1, [0, 1, 2]), (2, [0]), (2, [2]), (4, [0, 1])]
    design = sm.add_constant(X).to_numpy()
    columns = [np.concatenate([design[:, row] * (k in tasks) for k in range(3)]) for row, tasks in groups]
    return Y, X, weights, offset, params, np.column_stack(columns)


def stacked(Y, Z, weights, offset, **options):
    y = Y.to_numpy().T.ravel()
    seen = ~np.isnan(y)
    model = sm.GLM(y[seen], Z[seen], family=sm.families.Binomial(), offset=offset.T.ravel()[seen],
                   freq_weights=None if weights is None else np.tile(weights, 3)[seen])
    if "cov_type" in options:
        options = {**options, "cov_kwds": {"groups": np.tile(np.arange(len(Y)), 3)[seen], "use_correction": False}}
    return model.fit(tol=1e-14, **options)


@pytest.mark.parametrize("standardize", [False, True])
def test_with_zeros_and_ties_the_refit_is_a_glm_of_the_stacked_tasks(standardize):
    Y, X, weights, offset, params, Z = tied_problem()
    model = FusedLogit(Y, X, weights=weights, offset=offset, standardize=standardize)
    found, glm = refit(as_if_fitted(model, params), cov_type="nonrobust"), stacked(Y, Z, weights, offset)
    table = found.table()
    np.testing.assert_allclose(table["coef"], glm.params, rtol=1e-8)
    np.testing.assert_allclose(table["std err"], glm.bse, rtol=1e-7)
    np.testing.assert_allclose(found.cov_params(), glm.cov_params(), rtol=1e-6, atol=1e-12)
    assert found.llf == pytest.approx(glm.llf, rel=1e-10)
    assert found.df == 6 and found.df_model == 4
    assert table.index.tolist()[:3] == [("const", "low, mid"), ("const", "high"), ("a", "all tasks")]


def test_zeros_and_ties_of_the_penalized_fit_are_kept():
    Y, X, weights, offset, params, _ = tied_problem()
    found = refit(as_if_fitted(FusedLogit(Y, X, weights=weights, offset=offset), params))
    values = found.params.to_numpy()
    assert (values[1:] == 0).tolist() == (np.array(params)[1:] == 0).tolist()
    assert values[1, 0] == values[1, 1] == values[1, 2]
    assert found.bse.isna().to_numpy().tolist() == (np.array(params) == 0).tolist()


def test_clustered_errors_are_those_of_a_glm_clustered_by_row():
    Y, X, _, offset, params, Z = tied_problem()
    found = refit(as_if_fitted(FusedLogit(Y, X, offset=offset), params), cov_type="cluster")
    glm = stacked(Y, Z, None, offset, cov_type="cluster")
    np.testing.assert_allclose(found.table()["std err"], glm.bse, rtol=1e-6)


def test_clustered_errors_count_a_weight_of_two_as_the_row_twice():
    Y, X, _ = simulated()
    weights, twice = np.where(np.arange(150) < 50, 2.0, 1.0), np.r_[np.arange(150), np.arange(50)]
    params = [[1, 1, 2], [3, 3, 3], [4, 0, 5], [0, 0, 0], [6, 6, 0]]
    weighted = refit(as_if_fitted(FusedLogit(Y, X, weights=weights), params), cov_type="cluster")
    doubled = refit(as_if_fitted(FusedLogit(Y.iloc[twice].reset_index(drop=True), X.iloc[twice].reset_index(drop=True)),
                                 params), cov_type="cluster")
    np.testing.assert_allclose(weighted.bse, doubled.bse, rtol=1e-9)


def test_shared_values_of_dependent_tasks_need_clustered_errors():
    Y, X, _ = simulated(t=1)
    model = FusedLogit(np.repeat(Y.to_numpy(), 3, axis=1), X)
    tied = as_if_fitted(model, np.repeat(np.arange(1.0, 6.0)[:, None], 3, axis=1))
    alone = refit(all_different(FusedLogit(Y, X)), cov_type="cluster").bse.to_numpy()[:, 0]
    np.testing.assert_allclose(refit(tied, cov_type="cluster").bse.to_numpy()[:, 0], alone, rtol=1e-8)
    naive = refit(all_different(FusedLogit(Y, X)), cov_type="nonrobust").bse.to_numpy()[:, 0]
    np.testing.assert_allclose(refit(tied, cov_type="nonrobust").bse.to_numpy()[:, 0], naive / np.sqrt(3), rtol=1e-8)


@pytest.mark.parametrize("kind", ["one class", "separated"])
def test_a_separated_task_is_named_and_the_others_keep_their_errors(kind):
    Y, X, _ = simulated()
    Y["mid"] = 1.0 if kind == "one class" else (X["a"] > 0).astype(float)
    results = all_different(FusedLogit(Y, X))
    with pytest.warns(SeparationWarning, match=r"tasks \['mid'\] are separated"):
        found = refit(results, cov_type="nonrobust")
    assert found.separated == ["mid"] and not found.converged
    assert np.isfinite(found.params).to_numpy().all()
    assert found.bse["mid"].isna().all() and found.bse[["low", "high"]].notna().all(axis=None)
    assert "are separated" in found.summary().as_text()
    np.testing.assert_allclose(found.bse["low"], sm.Logit(Y["low"], sm.add_constant(X)).fit(disp=0).bse, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::fusedlr.exceptions.CollinearWarning")  # it comes too, and pytest 8 hands it on
def test_collinear_features_are_named():
    Y, X, _ = simulated()
    X["d"] = 2 * X["b"]
    with pytest.warns(FusedLogitWarning, match=r"\['b', 'd'\] are collinear"):
        found = refit(all_different(FusedLogit(Y, X)))
    assert found.bse.loc[["b", "d"]].isna().all(axis=None) and found.bse.loc[["const", "a", "c"]].notna().all(axis=None)


def test_without_penalty_the_same_pattern_is_at_least_as_likely(fitted):
    again = refit(fitted)
    assert again.llf > fitted.llf
    assert again.df == fitted.df and again.df_model == fitted.df_model


def test_refits_and_resamples_survive_pickling(fitted):
    for found in (refit(fitted), bootstrap(fitted, n=2)):
        again = pickle.loads(pickle.dumps(found))
        pd.testing.assert_frame_equal(again.bse, found.bse)


def test_the_summary_says_what_it_is_conditional_on_and_fits_100_columns():
    Y, X, weights, offset, params, _ = tied_problem()
    found = refit(as_if_fitted(FusedLogit(Y, X, weights=weights, offset=offset), params))
    text = found.summary().as_text()
    assert "conditional on selection" in text and "too short" in text
    assert max(map(len, text.splitlines())) <= 100
    assert found.summary().as_text() == text
    assert found.summary().as_html() and found.summary().as_latex() and found.summary().as_csv()


def test_unknown_options_are_refused():
    Y, X, _ = simulated()
    results = all_different(FusedLogit(Y, X))
    with pytest.raises(ValueError, match="cov_type must be"):
        refit(results, cov_type="HC3")
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        refit(results).conf_int(alpha=5)
    for n in (0, 1, 2.5, True):
        with pytest.raises((TypeError, ValueError), match="n must be .*number of resamples"):
            bootstrap(results, n=n)


@pytest.fixture(scope="module")
def fitted():
    Y, X, _ = simulated()
    return FusedLogit(Y, X, standardize=True).fit(l1=6.0, l2=0.5, fusion=3.0)


def test_each_resample_is_the_fit_of_the_rows_drawn(fitted):
    found = bootstrap(fitted, n=3, rng=11)
    for sample, seeds in zip(found.samples, np.random.SeedSequence(11).spawn(3)):
        rows = np.random.default_rng(seeds).integers(150, size=150)
        again = fitted.model.with_rows(rows).fit(l1=6.0, l2=0.5, fusion=3.0, tol=1e-10)
        np.testing.assert_allclose(sample, again.params, atol=5e-3)


def test_the_bootstrap_does_not_depend_on_the_number_of_jobs_or_resamples(fitted):
    one, two = bootstrap(fitted, n=6, rng=2), bootstrap(fitted, n=6, rng=2, n_jobs=2)
    np.testing.assert_array_equal(one.samples, two.samples)
    np.testing.assert_array_equal(bootstrap(fitted, n=4, rng=2).samples, one.samples[:4])
    assert not np.array_equal(bootstrap(fitted, n=4, rng=3).samples, one.samples[:4])


def test_frequencies_and_intervals_are_counted_over_resamples(fitted):
    found = bootstrap(fitted, n=20, rng=4)
    assert found.selection_frequency.loc["a"].tolist() == [np.mean(found.samples[:, 1, k] != 0) for k in range(3)]
    same = np.mean(found.samples[:, 2, 1] == found.samples[:, 2, 2])
    assert found.fusion_frequency.loc["b", ("mid", "high")] == same
    interval = found.conf_int(alpha=0.2)
    np.testing.assert_allclose(interval["high"].loc["const"], np.quantile(found.samples[:, 0, 2], [0.1, 0.9]))
    assert found.n_failed == 0 and found.bse.shape == (5, 3)


def test_resamples_that_lose_a_class_are_counted_not_hidden():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    Y = np.zeros((12, 2))
    Y[:6, 0] = Y[0, 1] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)
        results = FusedLogit(Y, X).fit(l1=0.5, l2=0.5, fusion=0.0)
    found = bootstrap(results, n=30, rng=1)
    assert np.isfinite(found.samples).all()
    assert 0 < found.n_failed < 30


def test_rows_of_half_a_weight_are_all_drawn_half_as_often():
    """Rows share a place in the queue by chance; none of them is passed over for good."""
    weights = np.tile([0.5, 0.5, 1.0, 0.25, 0.75, 0.0], 10)
    groups = Groups.rows(Labels.wide(np.ones(60), weights), 60)
    times = sum(draw(groups, np.random.default_rng(seed)) * weights for seed in range(2000)) / 2000
    # A count of 30 draws with a share of w/30 has variance below w: four errors of the mean of 2000.
    np.testing.assert_array_less(np.abs(times - weights), 4 * np.sqrt(np.maximum(weights, 1e-9) / 2000))
    assert not times[weights == 0].any()


def test_a_group_for_each_row_squares_the_weights_in_the_sandwich():
    """Probability weights: H^-1 (sum of w^2 times outer products of scores) H^-1, one task, no zeros."""
    Y, X, rng = simulated()
    weights = rng.random(150) + 0.2
    model = FusedLogit(Y[["mid"]], X, weights=weights, groups=np.arange(150))
    found = all_different(model).refit()
    design, y = sm.add_constant(X).to_numpy(), Y["mid"].to_numpy()
    p = 1 / (1 + np.exp(-design @ found.params["mid"].to_numpy()))
    bread = np.linalg.inv(design.T @ (design * (weights * p * (1 - p))[:, None]))
    scores = design * (weights * (y - p))[:, None]
    np.testing.assert_allclose(found.cov_params(), bread @ (scores.T @ scores) @ bread, rtol=1e-7)
    assert found.cov_type == "cluster"
