"""p-values of many splits: how they are made, joined, and what they hold."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import f, norm

from fusedlr import FusedLogit, TaskGraph, load
from fusedlr.inference.multisplit import _false_discovery, quantile_pvalues
from fusedlr.resampling import halves

N, TASKS = 200, 3


def drawn(seed=1, n=N, d=6):
    """``x0`` has the same effect in all tasks, ``x1`` one that grows, others have none."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    linear = 1.2 * X[["x0"]].to_numpy() + X[["x1"]].to_numpy() * [-1.2, 0.0, 1.2]
    return pd.DataFrame(linear + rng.logistic(size=(n, TASKS)) > 0, columns=["low", "mid", "high"]), X


@pytest.fixture(scope="module")
def res():
    return FusedLogit(*drawn()).fit(12.0, 0.0, 6.0)


@pytest.fixture(scope="module")
def found(res):
    return res.multisplit(20, rng=4, progress=False)


@pytest.mark.parametrize("what, width", [("features", 3), ("changes", 2)])
def test_a_split_selects_on_one_half_and_tests_on_the_other(res, what, width):
    """By hand: the fit of a half at half the penalties, statsmodels' sandwich on the other, Hotelling's T-squared."""
    seeds = np.random.SeedSequence(9).spawn(1)[0]
    first, second = (half > 0 for half in halves(res.model.problem.groups, np.random.default_rng(seeds)))
    kept = res.model.with_rows(first).fit(6.0, 0.0, 3.0).nonzero.any(axis=1).to_numpy()
    assert kept[:2].all() and 2 <= kept.sum() < 6
    Y, X = drawn()
    design = np.kron(np.eye(3), sm.add_constant(X.loc[second, kept]).to_numpy())
    glm = sm.GLM(Y[second].to_numpy(dtype=float).T.ravel(), design, family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": np.tile(np.arange(100), 3), "use_correction": False})
    size = kept.sum() + 1
    contrasts = np.zeros((3, 3 * size))
    contrasts[np.arange(3), 2 + size * np.arange(3)] = 1
    contrasts = contrasts if what == "features" else contrasts[1:] - contrasts[:1]
    left = 100 - size
    wald = glm.wald_test(contrasts, scalar=True).statistic * left / 100
    expected = min(f.sf(wald * (left - width + 1) / (left * width), width, left - width + 1) * kept.sum(), 1)
    split = res.multisplit(1, rng=9, what=what, progress=False).splits[0]
    assert split[1] == pytest.approx(expected, rel=1e-4) and (split[~kept] == 1).all()


def test_quantiles_are_joined_as_published():
    """p / g over all g of a fine grid above 0.05, g-quantiles from below, times 1 - log 0.05."""
    pvalues = np.random.default_rng(0).random((20, 3)) ** 6
    grid = np.arange(1001, 20001) / 20000
    quantiles = np.sort(pvalues, axis=0)[np.ceil(grid * 20 - 1e-9).astype(int) - 1]
    expected = np.minimum((quantiles / grid[:, None]).min(axis=0) * (1 - np.log(0.05)), 1)
    np.testing.assert_allclose(quantile_pvalues(pvalues), expected, rtol=1e-9)
    assert quantile_pvalues(np.ones((20, 1))) == 1


@pytest.mark.parametrize("dependence", [0.0, 0.5, 0.95, 1.0])
def test_joined_p_values_keep_their_level_however_splits_depend_on_each_other(dependence):
    """Uniform p-values of 40 splits, 20,000 times: below 5 % in at most 5 % of them, up to three standard errors."""
    rng = np.random.default_rng(5)
    shared, own = rng.normal(size=(1, 20_000)), rng.normal(size=(40, 20_000))
    joined = quantile_pvalues(2 * norm.sf(np.abs(np.sqrt(dependence) * shared + np.sqrt(1 - dependence) * own)))
    assert np.mean(joined <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 20_000)


def test_false_discoveries_keep_their_rate_and_there_are_more_discoveries():
    """Ten true and ten false hypotheses, 30 dependent splits, 1,000 times; against the family-wise error."""
    rng = np.random.default_rng(6)
    centre = np.repeat([3.5, 0.0], 10)
    wrong, found = [], {"fwer": [], "fdr": []}
    for _ in range(1000):
        z = centre + np.sqrt(0.7) * rng.normal(size=20) + np.sqrt(0.3) * rng.normal(size=(30, 20))
        joined = quantile_pvalues(np.minimum(20 * 2 * norm.sf(np.abs(z)), 1.0))
        for error, pvalues in (("fwer", joined), ("fdr", _false_discovery(joined))):
            below = pvalues <= 0.05
            found[error].append(below[:10].sum())
            wrong += [below[10:].sum() / max(below.sum(), 1)] if error == "fdr" else []
    assert np.mean(wrong) <= 0.05 and np.mean(found["fdr"]) > np.mean(found["fwer"]) > 0


def test_true_features_and_changes_are_found_and_others_are_not(res, found):
    assert (found.pvalues <= 0.05).tolist() == [True, True, False, False, False, False]
    changes = res.multisplit(20, what="changes", progress=False).pvalues
    assert changes["x1"] <= 0.05 < changes["x0"]


def test_false_discovery_is_adjusted_by_hand(res, found):
    fdr = res.multisplit(20, error="fdr", rng=4, progress=False)
    np.testing.assert_array_equal(fdr.splits, found.splits)
    joined = found.pvalues.to_numpy()
    first, second = np.sort(joined)[:2]
    harmonic = sum(1 / i for i in range(1, 7))
    assert np.sort(fdr.pvalues)[0] == pytest.approx(min(first, second / 2) * harmonic)
    assert (fdr.pvalues[joined == 1] == 1).all() and (joined == 1).any()


def test_the_first_splits_depend_on_rng_only(res, found):
    np.testing.assert_array_equal(res.multisplit(3, rng=4, n_jobs=2, progress=False).splits, found.splits[:3])


def test_a_weight_of_two_is_the_row_twice():
    """Halves of rows that stand there twice are halves of rows of weight 2: the same streams, the same p-values."""
    Y, X = drawn()
    twice = np.repeat(np.arange(N), 2)
    doubled = FusedLogit(Y.to_numpy()[twice], X.to_numpy()[twice]).fit(24.0, 0.0, 12.0)
    weighted = FusedLogit(Y, X, weights=np.full(N, 2.0)).fit(24.0, 0.0, 12.0)
    np.testing.assert_allclose(weighted.multisplit(3, progress=False).splits,
                               doubled.multisplit(3, progress=False).splits, rtol=1e-5)


def test_terms_of_a_formula_are_tested_as_one():
    Y, X = drawn()
    frame = Y.astype(float).join(X).assign(site=np.resize(["p", "q", "r", "s"], N))
    found = FusedLogit.from_formula("low + mid ~ x0 + C(site)", frame).fit(3.0, 0.0, 3.0).multisplit(5, progress=False)
    assert set(found.pvalues.index) == {"x0", "C(site)"}


def test_tasks_that_no_edge_connects_have_no_changes():
    Y, X = drawn()
    apart = FusedLogit(Y, X, tasks=TaskGraph([], n_tasks=3)).fit(12.0, 0.0, 0.0)
    assert (apart.multisplit(4, what="changes", progress=False).pvalues == 1).all()


def test_more_features_than_rows_are_no_hindrance():
    Y, X = drawn(n=80, d=150)
    found = FusedLogit(Y, X).fit(12.0, 0.0, 6.0).multisplit(10, progress=False)
    assert found.pvalues.idxmin() in ("x0", "x1") and (found.pvalues[2:] > 0.05).all()


def test_the_summary_says_what_a_p_value_bounds_and_comes_back_from_a_file(found, tmp_path):
    text = str(found.summary())
    assert "family-wise error" in text and "Not shown:" in text and found.pvalues.index[0] in text
    assert max(map(len, text.splitlines())) <= 100
    found.save(tmp_path / "splits", remove_data=True)
    back = load(tmp_path / "splits")
    assert str(back) == str(found) and repr(back) == "<MultiSplitResults: 20 splits, features, fwer>"
    pd.testing.assert_series_equal(back.pvalues, found.pvalues)


def test_bad_options_are_refused(res):
    with pytest.raises(ValueError, match="error must be 'fwer' or 'fdr', found 'fwr'"):
        res.multisplit(2, error="fwr")
    with pytest.raises(ValueError, match="what must be 'features' or 'changes'"):
        res.multisplit(2, what="effects")
    with pytest.raises(ValueError, match="n must be .*number of splits"):
        res.multisplit(0)
    few = FusedLogit([0, 1, 0], [[1.0], [2.0], [4.0]]).fit(0.5)
    with pytest.raises(ValueError, match="needs four rows or groups at least, found 3"):
        few.multisplit(2)


@pytest.mark.slow
def test_false_features_are_found_no_more_often_than_they_may_be():
    """More features than rows, forty data sets: any false one in at most a tenth of them at 5 %, true ones in most."""
    false, true = [], []
    for seed in range(40):
        fit = FusedLogit(*drawn(100 + seed, n=120, d=150)).fit(14.0, 0.0, 7.0)
        below = fit.multisplit(30, rng=seed, progress=False).pvalues <= 0.05
        false.append(below[2:].any())
        true.append(below[:2].mean())
    assert np.mean(false) <= 0.1 and np.mean(true) >= 0.5
