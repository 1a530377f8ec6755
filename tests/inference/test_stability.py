"""Stability selection by complementary pairs: frequencies, and the bound on false selections."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from fusedlr import FusedLogit, FusedLogitWarning
from fusedlr.inference.stability import share_needed
from fusedlr.problem import Groups, Labels
from fusedlr.resampling import halves as split


def drawn(rng, n=300, d=10, t=5):
    """One feature with the same effect everywhere, one that sets in at the third task, and noise."""
    X = rng.normal(size=(n, d))
    effects = np.zeros((d, t))
    effects[0], effects[1, 2:] = 1.0, 1.5
    Y = X @ effects + rng.logistic(size=(n, t)) > 0
    return pd.DataFrame(Y, columns=[f"y{k}" for k in range(t)]), pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])


@pytest.fixture(scope="module")
def res():
    return FusedLogit(*drawn(np.random.default_rng(1))).fit(15.0, 0.0, 15.0)


@pytest.fixture(scope="module")
def halves(res):
    return res.stability(20, rng=3, errors=None, bound="none", progress=False)


def test_each_half_is_a_fit_of_half_the_rows_at_half_the_penalties(res, halves):
    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(10)[0])
    order = rng.permutation(300)
    for half, rows in enumerate((order[:150], order[150:])):
        expected = res.model.with_rows(rows).fit(7.5, 0.0, 7.5)
        np.testing.assert_allclose(halves.samples[half], expected.params, atol=1e-6)
        assert np.array_equal(halves.samples[half] == 0, expected.params == 0)


def test_the_first_pairs_depend_on_rng_only(res, halves):
    again = res.stability(4, rng=3, errors=None, n_jobs=2, progress=False)
    np.testing.assert_array_equal(again.samples, halves.samples[:4])
    assert not np.array_equal(res.stability(2, rng=4, progress=False).samples, halves.samples[:2])


def test_frequencies_count_halves(halves):
    coefs = halves.samples[:, 1:]
    np.testing.assert_allclose(halves.selection_frequency, (coefs != 0).mean(axis=0))
    np.testing.assert_allclose(halves.change_frequency, (np.diff(coefs) != 0).mean(axis=0))
    np.testing.assert_allclose(halves.fusion_frequency + halves.change_frequency, 1.0)


@pytest.mark.parametrize("what", ["effects", "changes"])
def test_the_threshold_solves_the_bound(halves, what):
    coefs = halves.samples[:, 1:]
    found = coefs != 0 if what == "effects" else np.diff(coefs) != 0
    q, p = found.sum(axis=(1, 2)).mean(), found[0].size
    share = halves.threshold(what, errors=2.5)
    assert q**2 / ((2 * share - 1) * p) == pytest.approx(2.5)


def test_true_effects_and_changes_are_stable(halves):
    effects, changes = halves.stable("effects", errors=4), halves.stable("changes", errors=1)
    assert {("x0", f"y{k}") for k in range(5)} <= set(zip(effects["feature"], effects["task"]))
    assert (changes[["feature", "task", "neighbour"]].to_numpy() == ["x1", "y1", "y2"]).all(axis=1).any()
    assert (changes["frequency"] >= halves.threshold("changes")).all()
    np.testing.assert_array_equal(
        effects["coef"], [halves.results.params.loc[f, t] for f, t in zip(effects["feature"], effects["task"])])


def test_too_many_findings_cannot_be_bounded(res):
    loose = res.model.fit(0.01, 0.0, 0.01).stability(4, errors=None, progress=False)
    with pytest.warns(FusedLogitWarning, match=r"on average .* of 50 effects are found in a half.*larger penalties"):
        assert loose.stable("effects").empty


def test_unpenalized_features_are_no_candidates(res):
    model = FusedLogit(res.model.endog, res.model.exog, penalty_factors=[0.0] + [1.0] * 9)
    found = model.fit(15.0, 0.0, 15.0).stability(10, errors=None, bound="none", progress=False)
    assert "x0" not in set(found.stable("effects", errors=10)["feature"])
    assert (found.selection_frequency.loc["x0"] == 1).all()


def test_an_odd_number_of_halves_is_refused(res):
    with pytest.raises(ValueError, match="n must be even.*found 5; use 6"):
        res.stability(5)


@pytest.mark.parametrize("what", ["features", "effects", "changes"])
def test_the_summary_shows_what_is_stable_and_why_the_rest_is_not(res, what):
    halves = res.stability(20, rng=3, what=what, errors=None, bound="none", progress=False)
    text = str(halves.summary(errors=4))
    assert f"{halves.average()[0]:.1f} of {halves.average()[1]}" in text and "as in the fit" in text
    assert f"{halves.threshold(errors=4):.2f}" in text
    stable, rows = halves.stable(errors=4), [line.split() for line in text.splitlines()]
    assert len(stable) and "too many" not in text
    for row in stable.itertuples():
        middle = {"features": [], "effects": [row.task, f"{row.coef:.4f}"] if what == "effects" else [],
                  "changes": [row.task, row.neighbour] if what == "changes" else []}[what]
        assert [row.feature, *middle, f"{row.frequency:.2f}"] in rows
    assert "too many to bound the false ones by 0.01" in str(halves.summary(errors=0.01))
    assert f"Shown are the 1 {what} found most often" in str(halves.summary(errors=4, max_rows=1))
    with pytest.raises(ValueError, match="errors must be positive"):
        halves.summary(errors=0)


# ---- the unimodal bound, and the search ------------------------------------------------------------------------------

def unimodal(share, found, candidates, pairs):
    """Shah and Samworth (2013), equation (8), as printed."""
    factor = (1 / (2 * (2 * share - 1 - 1 / (2 * pairs))) if share <= 0.75
              else 4 * (1 - share + 1 / (2 * pairs)) / (1 + 1 / pairs))
    return factor * found**2 / candidates


@pytest.mark.parametrize("found, candidates, errors", [(3.0, 50, 1.0), (10.0, 200, 1.0), (4.0, 12, 2.0),
                                                       (2.0, 40, 0.2)])
def test_the_unimodal_bound_holds_at_the_share_needed_and_not_below(found, candidates, errors):
    share = share_needed(found, candidates, errors, 100)
    assert unimodal(share, found, candidates, 50) <= errors
    below, chance = share - 0.01, found / candidates
    assert (unimodal(below, found, candidates, 50) > errors
            or below <= min(0.5 + chance**2, 0.5 + 1 / 100 + 0.75 * chance**2))
    assert share <= share_needed(found, candidates, errors, 100, "none") + 0.01


def largest_tail(pairs, at_least, mean):
    """Largest probability of ``at_least`` or more over unimodal laws on 0 ... pairs of a mean, by linear programs."""
    values, tails = np.arange(pairs + 1), []
    for mode in values:
        rises = np.where(values[:-1] < mode, 1.0, -1.0)[:, None] * (np.eye(pairs, pairs + 1)
                                                                     - np.eye(pairs, pairs + 1, 1))
        law = linprog(-(values >= at_least).astype(float), A_ub=np.vstack([rises, values]),
                      b_ub=np.append(np.zeros(pairs), mean), A_eq=np.ones((1, pairs + 1)), b_eq=[1.0])
        tails.append(-law.fun if law.status == 0 else 0.0)
    return max(tails)


@pytest.mark.parametrize("chance", [0.05, 0.2, 0.35, 0.5])
def test_the_unimodal_bound_is_the_sharpest_there_is(chance):
    """Found in a share s of the halves means that both halves of at least 2 s - 1 of the pairs find it, each pair with
    a probability of at most chance^2, because the halves of a pair are independent."""
    pairs = 8
    for halves in range(pairs + 2, 2 * pairs + 1):
        share = halves / (2 * pairs)
        if share > min(0.5 + chance**2, 0.5 + 1 / (2 * pairs) + 0.75 * chance**2):
            tail = largest_tail(pairs, halves - pairs, chance**2 * pairs)
            assert unimodal(share, chance, 1, pairs) == pytest.approx(tail, rel=1e-6)


def test_shares_by_hand():
    """Of 200, 10 are found: q^2 / p is 1/2, and 1 / (2 (2 s - 1.01)) = 2 gives s = 0.63; 1 / (2 s - 1) = 2, 0.75."""
    assert share_needed(10.0, 200, 1.0, 100) == pytest.approx(0.63)
    assert share_needed(10.0, 200, 1.0, 100, "none") == pytest.approx(0.75)


def test_however_many_errors_may_be_made_the_bound_begins_at_a_share():
    """With a chance of 0.3 and 100 halves at 0.5 + 0.01 + 0.75 0.3^2 = 0.5775, or at 0.5 + 0.3^2 = 0.59."""
    assert share_needed(30.0, 100, 1e6, 100) == pytest.approx(0.58)
    assert share_needed(10.0, 100, 1e6, 100) == pytest.approx(0.52)  # 0.5 + 0.1^2 = 0.51 is not above itself


def test_where_most_candidates_are_found_no_share_is_enough():
    assert share_needed(8.0, 12, 5.0, 100) == np.inf
    assert share_needed(6.0, 12, 5.0, 100) < 1


@pytest.mark.parametrize("what", ["features", "effects", "changes"])
def test_the_penalty_is_raised_until_the_bound_can_hold(what):
    fit = FusedLogit(*drawn(np.random.default_rng(1))).fit(0.5, 0.0, 0.5)
    found = fit.stability(20, what=what, errors=1.0, progress=False)
    assert found.threshold() <= 0.95 and found.multiple > 1
    name, word = ("fusion", "fusion times") if what == "changes" else ("l1", "l1 times")
    assert f"{word} {found.multiple:.3g}" in str(found)
    raised = fit.model.fit(**{**fit.penalties, name: 0.5 * found.multiple})
    again = raised.stability(20, what=what, progress=False)
    np.testing.assert_allclose(again.samples, found.samples, atol=1e-8)
    first = found.stable()["feature"].tolist()
    assert "x1" in first and (what == "changes" or "x0" in first)


def test_penalties_at_which_the_bound_holds_are_kept(res):
    assert res.stability(20, errors=20.0, bound="none", progress=False).multiple == 1


def test_columns_of_a_factor_are_one_candidate():
    Y, X = drawn(np.random.default_rng(2))
    frame = Y.join(X).assign(site=np.resize(["p", "q", "r", "s"], 300))
    found = FusedLogit.from_formula("y0 + y1 ~ x0 + C(site)", frame).fit(2.0, 0.0, 2.0).stability(4, errors=None)
    assert found.average()[1] == 2 and set(found.feature_frequency.index) == {"x0", "C(site)"}
    rows = [j for j, name in enumerate(found.model.exog_names) if name.startswith("C(site)")]
    assert found.feature_frequency["C(site)"] == (found.samples[:, rows] != 0).any(axis=(1, 2)).mean()


@pytest.mark.slow
def test_false_changes_stay_within_the_bound():
    """Thirty data sets; a change anywhere but at the one true place is false."""
    false = []
    for seed in range(30):
        fit = FusedLogit(*drawn(np.random.default_rng(100 + seed))).fit(10.0, 0.0, 12.0)
        found = fit.stability(40, rng=seed, errors=None, bound="none", progress=False).stable("changes", errors=1.0)
        true = (found[["feature", "task", "neighbour"]].to_numpy() == ["x1", "y1", "y2"]).all(axis=1)
        assert true.any()
        false.append(len(found) - true.sum())
    assert np.mean(false) <= 1.0


def test_a_weight_is_a_number_of_rows_in_halves(res):
    """Weights 2 part like rows twice: a row may be in both halves, and 300 of 600 rows are in each."""
    twice = FusedLogit(res.model.endog, res.model.exog, weights=np.full(300, 2.0)).problem.groups
    for seed in range(20):
        first, second = (2 * half for half in split(twice, np.random.default_rng(seed)))
        assert first.sum() == second.sum() == 300
        np.testing.assert_array_equal(first + second, 2.0)
        assert (first == 1).any() and (first == 2).any()


def test_rows_of_half_a_weight_are_all_in_halves_at_times():
    weights = np.full(20, 0.5)
    groups = Groups.rows(Labels.wide(np.ones(20), weights), 20)
    times = sum(sum(split(groups, np.random.default_rng(seed))) * weights for seed in range(2000)) / 2000
    np.testing.assert_allclose(times, 0.5, atol=4 * 0.5 / np.sqrt(2000))


def test_weights_of_less_than_two_rows_have_no_halves(res):
    model = FusedLogit(res.model.endog, res.model.exog, weights=np.full(300, 1 / 300))
    with pytest.raises(ValueError, match="weights must stand for two rows or more.*found a sum of 1;"):
        model.fit(0.1, 0.0, 0.1).stability(4)
