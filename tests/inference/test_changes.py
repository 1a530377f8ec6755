"""Refits without ties and on other rows; is an effect the same in all tasks?"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, f

from fusedlr import FusedLogit, TaskGraph, load

N = 240
TASKS = ["low", "mid", "high"]


def drawn(seed=3, n=N):
    """Dependent tasks: ``a`` grows from task to task, ``b`` is the same in all, ``c`` and ``d`` do nothing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    linear = X[["a"]].to_numpy() * [0.2, 1.0, 1.8] + X[["b"]].to_numpy()
    shared = rng.logistic(size=(n, 1))
    Y = linear + np.where(rng.random((n, 3)) < 0.5, shared, rng.logistic(size=(n, 3))) > 0
    return pd.DataFrame(Y.astype(float), columns=TASKS), X


Y, X = drawn()


@pytest.fixture(scope="module")
def res():
    return FusedLogit(Y, X).fit(14.0, 0.0, 8.0)


def stacked(features):
    """A logistic regression of all tasks at once with errors by row, coefficients task by task."""
    design = np.kron(np.eye(3), sm.add_constant(X[features]).to_numpy())
    rows = np.tile(np.arange(N), 3)
    return sm.GLM(Y.to_numpy().T.ravel(), design, family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": rows, "use_correction": False})


def test_without_ties_a_selected_feature_is_free_in_every_task_and_others_stay_zero(res):
    untied, kept = res.refit(ties=False), res.nonzero.any(axis=1)
    assert kept.tolist() == [True, True, False, False]
    assert (res.params.loc["b"].nunique(), untied.params.loc["b"].nunique()) == (1, 3)
    assert (untied.params.loc[["c", "d"]] == 0).all(axis=None) and untied.df == 9
    glm = stacked(["a", "b"])
    np.testing.assert_allclose(untied.params.loc[["const", "a", "b"]].T.to_numpy().ravel(), glm.params, rtol=1e-7)
    np.testing.assert_allclose(untied.bse.loc[["const", "a", "b"]].T.to_numpy().ravel(), glm.bse, rtol=1e-6)


def test_the_change_test_is_a_wald_test_of_equal_coefficients(res):
    glm = stacked(["a", "b"])
    table = res.change_test()
    for name, place in (("a", 1), ("b", 2)):
        contrasts = np.zeros((2, 9))
        contrasts[[0, 1], place], contrasts[0, place + 3], contrasts[1, place + 6] = -1, 1, 1
        wald = float(glm.wald_test(contrasts, scalar=True).statistic)
        found, left = res.change_test(name), N - 3  # an intercept and two slopes in each task
        corrected = f.sf(wald * left / N * (left - 1) / (2 * left), 2, left - 1)  # Hotelling's T-squared
        assert (found.df, found.statistic, found.pvalue) == (2, pytest.approx(wald, rel=1e-6),
                                                             pytest.approx(corrected, rel=1e-5))
        assert res.refit("nonrobust").change_test(name).pvalue == pytest.approx(
            chi2.sf(res.refit("nonrobust").change_test(name).statistic, 2))
        assert table.loc[name].tolist() == [found.statistic, 2, found.pvalue]
    assert table.loc["a", "pvalue"] < 1e-4 and table.loc["b", "pvalue"] > 0.01
    assert table.loc[["c", "d"], "pvalue"].isna().all() and (table.loc[["c", "d"], "df"] == 0).all()
    assert str(found).startswith("b: the same effect in all tasks? Wald") and "on 2 df" in str(found)


def test_a_fit_its_refit_and_its_untied_refit_give_the_same_test(res):
    for refitted in (res.refit(), res.refit(ties=False)):
        pd.testing.assert_frame_equal(refitted.change_test(), res.change_test())
        pd.testing.assert_frame_equal(refitted.differences("a"), res.differences("a"))


def test_differences_are_those_of_neighbours_with_errors_from_the_joint_covariance(res):
    untied, table = res.refit(ties=False), res.differences(alpha=0.1)
    cov = untied.cov_params().loc["a", "a"].to_numpy()
    coef = untied.params.loc["a"]
    row = table.loc[("a", "mid", "high")]
    assert row["coef"] == pytest.approx(coef["high"] - coef["mid"])
    assert row["std err"] == pytest.approx(np.sqrt(cov[2, 2] + cov[1, 1] - 2 * cov[1, 2]))
    assert row["0.95]"] - row["[0.05"] == pytest.approx(2 * 1.6448536 * row["std err"])
    assert table.index.tolist() == [(name, *edge) for name in "ab" for edge in (("low", "mid"), ("mid", "high"))]
    pd.testing.assert_frame_equal(res.differences("b", alpha=0.1), table.loc[["b"]])


def test_columns_of_a_factor_are_tested_at_once():
    frame = Y.join(X).assign(site=np.resize(["p", "q", "r", "s"], N))
    res = FusedLogit.from_formula("low + mid + high ~ a + C(site)", frame).fit(0.0, 0.0, 0.0)
    table = res.change_test()
    assert table["df"].to_dict() == {"C(site)": 6, "a": 2}
    assert res.change_test("C(site)").pvalue == table.loc["C(site)", "pvalue"]
    untied = res.refit(ties=False)
    rows = [row for row, name in enumerate(res.model.exog_names) if name.startswith("C(site)")]
    numbers = untied.pattern[rows]
    contrasts = np.zeros((6, untied.df))
    contrasts[np.arange(6), numbers[:, 1:].ravel()] = 1
    contrasts[np.arange(6), np.repeat(numbers[:, 0], 2)] = -1
    assert untied.wald_test(contrasts).statistic == pytest.approx(table.loc["C(site)", "statistic"])
    assert res.change_test("C(site)[T.q]").df == 2
    assert len(res.differences("C(site)")) == 6


def test_tasks_that_no_edge_connects_are_not_compared():
    pair = FusedLogit(Y, X, tasks=TaskGraph([("low", "high")], names=TASKS)).fit(0.0, 0.0, 0.0)
    ring = FusedLogit(Y, X, tasks="ring").fit(0.0, 0.0, 0.0)
    chain = FusedLogit(Y, X).fit(0.0, 0.0, 0.0)
    row = pair.differences("a").loc[("a", "low", "high")]
    assert pair.change_test("a").df == 1 and pair.change_test("a").statistic == pytest.approx(row["z"] ** 2)
    assert ring.change_test("a").statistic == pytest.approx(chain.change_test("a").statistic)
    assert len(ring.differences("a")) == 3 and len(chain.differences("a")) == 2


def test_the_test_of_groups_is_by_groups():
    groups = np.repeat(np.arange(N // 4), 4)
    by_group = FusedLogit(Y, X, groups=groups).fit(0.0, 0.0, 0.0).change_test("a")
    design, rows = np.kron(np.eye(3), sm.add_constant(X).to_numpy()), np.tile(groups, 3)
    glm = sm.GLM(Y.to_numpy().T.ravel(), design, family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": rows, "use_correction": False})
    contrasts = np.zeros((2, 15))
    contrasts[:, 1], contrasts[0, 6], contrasts[1, 11] = -1, 1, 1
    wald, left = float(glm.wald_test(contrasts, scalar=True).statistic), 59  # of 60 groups
    assert by_group.statistic == pytest.approx(wald, rel=1e-6)
    cr1 = 60 / 59 * (N - 1) / (N - 5)
    assert by_group.pvalue == pytest.approx(f.sf(wald / cr1 * (left - 1) / (2 * left), 2, left - 1), rel=1e-5)


def test_a_factor_is_released_whole_so_its_reference_level_does_not_matter():
    """With one level selected, the test is that of all of them, whichever level is the reference."""
    rng = np.random.default_rng(6)
    site = np.resize(list("pqrs"), N)
    frame = pd.DataFrame(1.2 * (site == "q")[:, None] + rng.logistic(size=(N, 3)) > 0, columns=TASKS).astype(float)
    frame["site"] = site
    res = FusedLogit.from_formula("low + mid + high ~ C(site)", frame).fit(8.0, 0.0, 2.0)
    assert res.nonzero.any(axis=1).sum() == 1
    untied = res.refit(ties=False)
    assert untied.df == 3 * 4 and (untied.pattern >= 0).all()
    other = FusedLogit.from_formula("low + mid + high ~ C(site, Treatment('s'))", frame).fit(0.0, 0.0, 0.0)
    assert res.change_test("C(site)").df == 6
    assert res.change_test("C(site)").statistic == pytest.approx(other.change_test().iloc[0]["statistic"], rel=1e-6)
    assert len(res.differences("C(site)")) == 6


def test_one_task_and_features_that_were_not_selected_have_nothing_to_compare(res):
    alone = FusedLogit(Y[["mid"]], X).fit(0.0, 0.0)
    with pytest.raises(ValueError, match="'a' has nothing to compare"):
        alone.change_test("a")
    assert (alone.change_test()["df"] == 0).all() and alone.differences().empty
    with pytest.raises(ValueError, match="'c' has nothing to compare: the penalized fit set it to zero"):
        res.change_test("c")
    with pytest.raises(ValueError, match="nothing was estimated for 'c'"):
        res.differences("c")
    for wrong in ("age", ["a"], 3.5):
        with pytest.raises(ValueError, match="term must be one of"):
            res.change_test(wrong)


def test_fewer_groups_than_differences_leave_no_test():
    frame = Y.join(X).assign(site=np.resize(["p", "q", "r", "s"], N))
    model = FusedLogit.from_formula("low + mid + high ~ C(site)", frame, groups=np.resize([0, 1, 2, 3, 4], N))
    found = model.fit(0.0, 0.0, 0.0).change_test("C(site)")
    assert found.df == 6 and np.isnan(found.statistic) and np.isnan(found.pvalue)


# ---- other rows -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("ties", [True, False])
def test_a_refit_on_other_rows_keeps_the_pattern_and_fits_these_rows(res, ties):
    mask = np.arange(N) % 3 > 0
    found, positions = res.refit(ties=ties, rows=mask), res.refit(ties=ties, rows=np.flatnonzero(mask))
    assert found.model.nobs == found.nobs == mask.sum() and found.ties is ties
    np.testing.assert_array_equal(found.pattern, res.refit(ties=ties).pattern)
    pd.testing.assert_frame_equal(found.table(), positions.table())
    expected = res.refit(ties=ties, rows=FusedLogit(Y[mask], X[mask]))
    np.testing.assert_allclose(found.table(), expected.table(), rtol=1e-6)
    assert (found.unseen, expected.unseen) == (False, True)
    assert found.selected.llf == res.llf and res.model.nobs == N


def test_half_selects_and_the_other_half_tests():
    model, half = FusedLogit(Y, X), np.arange(N) % 2 == 0
    first = model.with_rows(half).fit(7.0, 0.0, 4.0)
    found = first.refit(ties=False, rows=model.with_rows(~half))
    kept = first.nonzero.any(axis=1)
    logit = sm.Logit(Y["high"][~half], sm.add_constant(X.loc[~half, kept.to_numpy()])).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(found.params.loc[logit.params.index, "high"], logit.params, rtol=1e-7)
    text = str(found.summary())
    assert "did not see these rows" in text and "too short" not in text


def test_other_rows_must_be_of_the_same_tasks_and_features_and_have_labels(res):
    with pytest.raises(ValueError, match="rows must be a model of the same tasks and features"):
        res.refit(rows=FusedLogit(Y, X[["a", "b"]]))
    with pytest.raises(ValueError, match="rows must have observed labels, found none"):
        FusedLogit(Y.where(X[["a"] * 3].to_numpy() > X["a"].min()), X).fit(1.0, 0.0, 1.0).refit(
            rows=[X["a"].argmin()])
    with pytest.raises(ValueError, match="rows must have one entry for each of 240 rows"):
        res.refit(rows=[True, False])


@pytest.mark.parametrize("remove_data", [False, True])
def test_untied_refits_and_those_of_other_rows_come_back_from_a_file(res, tmp_path, remove_data):
    found = res.refit(ties=False, rows=np.arange(200))
    found.save(tmp_path / "refit", remove_data=remove_data)
    back = load(tmp_path / "refit")
    pd.testing.assert_frame_equal(back.table(), found.table())
    assert str(back.summary()) == str(found.summary()) and back.selected.llf == res.llf
    pd.testing.assert_frame_equal(back.change_test(), found.change_test())


def test_groups_that_have_no_row_left_do_not_count():
    model = FusedLogit(Y, X, groups=np.repeat(np.arange(N // 4), 4)).with_rows(np.arange(40))
    assert model.problem.groups.size == model.n_groups == 10
