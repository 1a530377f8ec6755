"""Results as users of statsmodels know them: tests of hypotheses, predictions, residuals, files, what is printed."""

import csv
import io
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import fusedlr
from fusedlr import (BootstrapResults, CVResults, FusedLogit, FusedLogitResults, Grid, GridEdgeWarning, RefitResults,
                     StabilityResults, load, optimality, plots, results, solver)
from fusedlr.problem import Problem, Solution
from tests.summary.test_summary import Cells

RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.normal(size=(160, 3)) * [1.0, 1e5, 0.2], columns=["age", "a<b, c", "dose"],
                 index=[f"row {i}" for i in range(160)])
LINEAR = 0.3 + X.to_numpy() @ np.array([[1.0, 0.9, 0.4], [5e-6, 5e-6, 5e-6], [0.0, 0.0, 2.0]])
Y = pd.DataFrame((RNG.random((160, 3)) < 1 / (1 + np.exp(-LINEAR))).astype(float), X.index, ["low", "mid", "high"])
OFFSET = np.linspace(-0.5, 0.5, 160)


@pytest.fixture(scope="module")
def logit():
    """Unpenalized logistic regression of one task, by statsmodels."""
    return sm.Logit(Y["low"], sm.add_constant(X)).fit(disp=0, tol=1e-14, maxiter=100)


@pytest.fixture(scope="module")
def glm():
    return sm.GLM(Y["low"], sm.add_constant(X), family=sm.families.Binomial(), offset=OFFSET).fit(tol=1e-14)


@pytest.fixture(scope="module")
def one():
    """The refit of one task whose features are all selected."""
    return FusedLogit(Y["low"], X).fit(l1=0.01, l2=0.0, fusion=0.0).refit()


@pytest.fixture(scope="module")
def with_offset():
    return FusedLogit(Y["low"], X, offset=OFFSET).fit(l1=0.01, l2=0.0, fusion=0.0).refit()


@pytest.fixture(scope="module")
def fit():
    return FusedLogit(Y, X).fit(l1=2.0, l2=1.0, fusion=4.0)


@pytest.fixture(scope="module")
def everything(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        cv = fit.model.fit_cv(folds=3, l1=[0.5, 2.0, 8.0], l2=[0.0, 1.0], fusion=[0.0, 1.0, 4.0], progress=False)
        criterion = fit.model.fit_cv(by="bic", l1=[0.5, 2.0, 8.0], l2=0.5, fusion=[0.0, 4.0], progress=False)
    return {"results": fit, "refit": fit.refit(), "bootstrap": fit.bootstrap(n=8, progress=False), "cv": cv,
            "stability": fit.stability(n=8, progress=False), "multisplit": fit.multisplit(4, progress=False),
            "criterion": criterion, "grid": cv.grid}


KINDS = ["results", "refit", "bootstrap", "stability", "multisplit", "cv", "criterion", "grid"]
each_kind = pytest.mark.parametrize("kind", KINDS)


# ---- against statsmodels --------------------------------------------------------------------------------------------

def test_the_refit_has_the_statistics_of_a_logit(one, logit):
    for name in ("llf", "llnull", "prsquared", "aic", "bic", "df_model", "df_resid", "nobs"):
        assert getattr(one, name) == pytest.approx(getattr(logit, name), rel=1e-9), name
    np.testing.assert_allclose(one.cov_params(), logit.cov_params(), rtol=1e-6)


def test_residuals_are_those_of_a_logit(one, logit):
    np.testing.assert_allclose(one.resid_response["low"], logit.resid_response, rtol=1e-6)
    np.testing.assert_allclose(one.resid_pearson["low"], logit.resid_pearson, rtol=1e-6)
    np.testing.assert_allclose(one.resid_deviance["low"], logit.resid_dev, rtol=1e-6)


def test_residuals_count_no_weights_and_are_missing_where_labels_are():
    labels = Y.mask(X["age"].to_numpy()[:, None] + [[0.0, 9.0, 9.0]] < -1)
    weights = np.arange(160) % 3 + 1.0
    res = FusedLogit(labels, X, weights=weights).fit(l1=1.0, l2=0.1, fusion=1.0)
    seen = labels["low"].notna().to_numpy()
    frozen = sm.GLM(labels["low"][seen], np.ones(seen.sum()), family=sm.families.Binomial(), freq_weights=weights[seen],
                    offset=res.predict(which="linear")["low"][seen])
    expected = frozen.fit(start_params=[0.0], maxiter=0)
    np.testing.assert_allclose(res.resid_pearson["low"][seen], expected.resid_pearson, rtol=1e-9)
    np.testing.assert_allclose(res.resid_deviance["low"][seen], expected.resid_deviance, rtol=1e-9)
    assert res.resid_pearson["low"].isna().sum() == res.resid_deviance["low"].isna().sum() == (~seen).sum() > 0


def test_residuals_of_hopeless_labels_stay_finite(fit):
    params = np.vstack([np.full(3, 600.0), np.zeros((3, 3))])
    far = FusedLogitResults(fit.model, Solution(params, 0.0, 0.0, "separated", 1, {}), fit.penalties)
    np.testing.assert_allclose(far.resid_deviance["low"], np.where(Y["low"] == 1, 0.0, -np.sqrt(1200.0)), atol=1e-9)
    assert np.isfinite(far.resid_pearson).all(axis=None) and np.isfinite(far.resid_deviance).all(axis=None)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_predictions_have_the_errors_and_intervals_of_a_glm(with_offset, glm, alpha):
    new = X.iloc[:7] * 1.5
    expected = glm.get_prediction(sm.add_constant(new, has_constant="add"), offset=OFFSET[:7]).summary_frame(alpha)
    found = with_offset.get_prediction(new, offset=OFFSET[:7])
    np.testing.assert_allclose(found.summary_frame(alpha)["low"], expected, rtol=1e-6)
    np.testing.assert_allclose(found.conf_int(alpha)["low"], expected.iloc[:, 2:], rtol=1e-6)
    inside = glm.get_prediction(sm.add_constant(X), offset=OFFSET).summary_frame(alpha)
    np.testing.assert_allclose(with_offset.get_prediction().summary_frame(alpha)["low"], inside, rtol=1e-6)


def test_values_that_tasks_share_predict_as_a_glm_of_the_stacked_tasks():
    """Two tasks that share everything but their intercepts."""
    res = FusedLogit(Y[["low", "mid"]], X).fit(l1=0.01, l2=0.0, fusion=1e4)
    assert res.df == 5
    one, none = np.ones(160), np.zeros(160)
    design = np.vstack([np.column_stack([one, none, X]), np.column_stack([none, one, X])])
    stacked = sm.GLM(np.r_[Y["low"], Y["mid"]], design, family=sm.families.Binomial()).fit(tol=1e-14)
    expected = stacked.get_prediction().summary_frame().to_numpy().reshape(2, 160, 4)
    found = res.refit(cov_type="nonrobust").get_prediction().summary_frame()
    np.testing.assert_allclose(found["low"], expected[0], rtol=1e-6)
    np.testing.assert_allclose(found["mid"], expected[1], rtol=1e-6)


CONTRASTS = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, -2.0], [1.0, 0.0, 1e5, 0.0]])


def test_tests_of_hypotheses_are_those_of_a_logit(one, logit):
    value = np.array([0.1, 0.0, -0.3])
    found, expected = one.t_test(CONTRASTS, value), logit.t_test((CONTRASTS, value))
    for name in ("effect", "sd", "tvalue", "pvalue"):
        np.testing.assert_allclose(getattr(found, name), np.ravel(getattr(expected, name)), rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(found.conf_int(), expected.conf_int(), rtol=1e-6)
    whole, wanted = one.wald_test(CONTRASTS, value), logit.wald_test((CONTRASTS, value), use_f=False, scalar=True)
    assert whole.statistic == pytest.approx(wanted.statistic, rel=1e-6)
    assert float(whole.pvalue) == pytest.approx(float(wanted.pvalue), rel=1e-6)


def test_hypotheses_by_name_are_rows_of_the_table(everything):
    refit = everything["refit"]
    table = refit.table()
    np.testing.assert_allclose(refit.t_test().pvalue, table["P>|z|"])
    np.testing.assert_allclose(refit.t_test("age").effect, table.loc["age", "coef"])
    pair = table.index[-1]
    assert refit.t_test([pair, "const"]).effect[0] == table["coef"].iloc[-1]
    for task in ("low", "high"):
        assert refit.t_test(("age", task)).effect == refit.params.loc["age", task]
    rows = np.eye(len(table))[[feature == "age" for feature, _ in table.index]]
    assert refit.wald_test("age").statistic == refit.wald_test(rows).statistic


@pytest.mark.parametrize(("hypotheses", "message"), [
    ("weight", "must name features"),
    (("age", "top"), r"must be one of \['low', 'mid', 'high'\]"),
    (np.ones((2, 3)), "a column for each of the"),
    (np.ones((2, 4)), "of which only 1 are independent"),
])
def test_hypotheses_about_nothing_are_refused(everything, one, hypotheses, message):
    refit = one if "independent" in message else everything["refit"]
    with pytest.raises(ValueError, match=message):
        refit.wald_test(hypotheses)


def test_nothing_is_tested_where_nothing_was_estimated():
    refit = FusedLogit(Y, X, penalty_factors={"dose": 1e6}).fit(l1=1.0, l2=0.0, fusion=1.0).refit()
    with pytest.raises(ValueError, match="nothing was estimated for 'dose'"):
        refit.t_test("dose")


# ---- predictions and offsets ----------------------------------------------------------------------------------------

def test_a_refit_predicts_like_its_own_coefficients(everything):
    refit = everything["refit"]
    linear = refit.intercepts + X.to_numpy() @ refit.coefs
    np.testing.assert_allclose(refit.predict(X, "linear"), linear, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(refit.fittedvalues, 1 / (1 + np.exp(-linear)), rtol=1e-10)


@pytest.mark.parametrize("kind", ["bootstrap", "stability"])
def test_resamples_predict_like_their_fit(everything, kind):
    found = everything[kind]
    pd.testing.assert_frame_equal(found.predict(X, "linear"), found.results.predict(X, "linear"))
    pd.testing.assert_frame_equal(found.params, found.results.params)


@pytest.mark.parametrize("kind", ["cv", "criterion"])
def test_a_choice_predicts_like_the_fit_at_its_penalties(everything, kind):
    found = everything[kind]
    assert dict(found.table.loc[found.chosen, ["l1", "l2", "fusion"]]) == found.penalties
    there = found.grid.results(found.chosen)
    pd.testing.assert_frame_equal(found.predict(X, "linear"), there.predict(X, "linear"))
    pd.testing.assert_frame_equal(found.params, there.params)
    np.testing.assert_allclose(found.predict(X), found.model.fit(**found.penalties).predict(X), rtol=1e-7)


def test_a_model_with_an_offset_asks_for_that_of_new_rows(with_offset):
    with pytest.raises(ValueError, match="offset must be given with new rows"):
        with_offset.predict(X)
    with pytest.raises(ValueError, match="offset must be given with new rows"):
        with_offset.get_prediction(X)
    model = with_offset.model
    with pytest.raises(ValueError, match="offset must be given with new rows"):
        model.fit_grid([1.0, 2.0], [0.0], [0.0], progress=False).select(Y["low"], X)
    named = with_offset.predict(X.assign(exposure=OFFSET), offset="exposure")
    pd.testing.assert_frame_equal(named, with_offset.predict())
    np.testing.assert_allclose(with_offset.predict(X, "linear", offset=2.0), with_offset.predict(X, "linear", 0) + 2.0)
    with pytest.raises(ValueError, match="offset='exposure' must name a column of exog"):
        with_offset.predict(X, offset="exposure")


# ---- files ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("remove_data", [False, True], ids=["with data", "without data"])
@each_kind
def test_every_result_comes_back_from_its_file(everything, kind, remove_data, tmp_path):
    found = everything[kind]
    found.save(tmp_path / "file", remove_data=remove_data)
    back = load(tmp_path / "file")
    assert type(back) is type(found) and repr(back) == repr(found)
    assert back.summary().as_text() == found.summary().as_text()
    if kind != "grid":
        pd.testing.assert_frame_equal(back.predict(X), found.predict(X))
    for name in ("table", "bse", "selection_frequency", "change_frequency"):
        if isinstance(getattr(found, name, None), pd.DataFrame):
            pd.testing.assert_frame_equal(getattr(back, name), getattr(found, name))
    assert back.model.has_data != remove_data


def test_a_loaded_choice_knows_its_folds_and_its_fit(everything, tmp_path):
    cv = everything["cv"]
    cv.save(tmp_path / "file", remove_data=True)
    back = load(tmp_path / "file")
    np.testing.assert_array_equal(back.folds, cv.folds)
    np.testing.assert_array_equal(back.fold_scores, cv.fold_scores)
    pd.testing.assert_frame_equal(back.params, cv.params)
    np.testing.assert_array_equal(back.grid.params, cv.grid.params)


def test_values_without_a_variance_stay_without_in_a_file(tmp_path):
    labels = Y.assign(mid=(X["age"] > 0).astype(float))
    with pytest.warns(UserWarning, match="separated"):
        refit = FusedLogit(labels, X).fit(l1=0.1, l2=0.0, fusion=0.0).refit()
    refit.save(tmp_path / "file")
    back = load(tmp_path / "file")
    pd.testing.assert_frame_equal(back.bse, refit.bse)
    assert back.bse["mid"].isna().all() and back.separated == ["mid"]
    assert np.isnan(back.get_prediction(X).se_mean["mid"]).all() and back.get_prediction(X).se_mean["low"].notna().all()
    assert np.isnan(back.wald_test("age").pvalue)


def test_without_its_data_a_refit_keeps_what_its_summary_shows(fit):
    refit = FusedLogit(Y, X).fit(l1=2.0, l2=1.0, fusion=4.0).refit()
    text = refit.summary().as_text()
    refit.remove_data()
    assert not refit.model.has_data and not refit.selected.model.has_data
    assert refit.summary().as_text() == text


def test_a_formula_that_was_not_read_is_named_when_its_variables_come(tmp_path):
    frame = X.rename(columns={"a<b, c": "income"}).join(Y)
    FusedLogit.from_formula("low + mid ~ np.exp(age) + dose", frame).fit(1.0, 0.1, 1.0).save(tmp_path / "file")
    with pytest.raises(ValueError, match=r"load\(path, formula=True\) takes its variables"):
        load(tmp_path / "file").predict(frame)


# ---- what is printed ------------------------------------------------------------------------------------------------

@each_kind
def test_every_result_shows_itself(everything, kind):
    found = everything[kind]
    assert len(repr(found)) < 160 and "\n" not in repr(found)
    lines = str(found).splitlines()
    assert 10 < len(lines) <= 60 and max(map(len, lines)) <= 100
    assert found._repr_html_() == found.summary().as_html()


@pytest.mark.parametrize("kind", ["results", "refit", "bootstrap"])
def test_names_show_as_they_are_in_html_and_csv(everything, kind):
    summary = everything[kind].summary()
    page = Cells(summary.as_html())
    assert "a<b, c" in page.cells and "b," not in page.tags
    rows = list(csv.reader(io.StringIO(summary.as_csv()), skipinitialspace=True))
    assert any("a<b, c" in [cell.strip() for cell in row] for row in rows)


def test_errors_of_features_with_large_values_are_not_printed_as_zero(everything):
    refit = everything["refit"]
    line = next(line for line in str(refit).splitlines() if line.startswith("a<b, c"))
    error = refit.table().loc["a<b, c", "std err"].iloc[0]
    assert error < 5e-5 and f"{error:.2e}" in line and " 0.0000 " not in line


def test_with_many_tasks_a_result_still_prints_on_a_screen():
    many = pd.DataFrame(np.repeat(Y.to_numpy(), 7, axis=1), X.index, [f"task {k}" for k in range(21)])
    res = FusedLogit(many, X).fit(l1=2.0, l2=1.0, fusion=4.0)
    for found in (res, res.refit(), res.bootstrap(n=3, progress=False), res.stability(n=4, progress=False)):
        assert len(str(found).splitlines()) <= 75
    assert len(str(res).splitlines()) <= 20


def test_the_summary_of_a_choice_marks_what_was_chosen(everything):
    cv = everything["cv"]
    marked = [line.split() for line in str(cv).splitlines() if line.endswith("chosen")]
    assert [int(words[0]) for words in marked] == [cv.chosen]
    assert everything["criterion"].by == "bic" and "BIC" in str(everything["criterion"])


def test_the_classes_are_public():
    assert [cls.kind for cls in (FusedLogitResults, RefitResults, BootstrapResults, StabilityResults, CVResults,
                                     Grid)] == ["results", "refit", "bootstrap", "stability", "cv", "grid"]


# ---- a choice is a fit ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["cv", "criterion"])
def test_a_choice_is_a_fit(everything, kind):
    cv = everything[kind]
    fit = cv.grid.results(cv.chosen)
    assert isinstance(cv, CVResults) and isinstance(cv, FusedLogitResults)
    for name in ("llf", "aic", "bic", "df", "df_effective", "objective", "gap", "status", "nobs", "penalties", "tol"):
        assert getattr(cv, name) == getattr(fit, name), name
    for name in ("params", "coefs", "nonzero", "fused_groups", "fittedvalues", "resid_pearson"):
        pd.testing.assert_frame_equal(getattr(cv, name), getattr(fit, name))
    assert cv.certify().relative_gap <= cv.tol
    pd.testing.assert_frame_equal(cv.effects(), fit.effects())


@pytest.mark.parametrize("kind", ["cv", "criterion"])
def test_a_choice_is_refitted_and_resampled_like_its_fit(everything, kind, tmp_path):
    cv = everything[kind]
    fit = cv.grid.results(cv.chosen)
    pairs = {"refit": (cv.refit(), fit.refit()),
             "bootstrap": (cv.bootstrap(4, progress=False), fit.bootstrap(4, progress=False)),
             "stability": (cv.stability(4, progress=False), fit.stability(4, progress=False))}
    for name, (found, expected) in pairs.items():
        assert type(found) is type(expected)
        assert found.summary().as_text() == expected.summary().as_text()
        found.save(tmp_path / name)
        back = load(tmp_path / name)
        assert type(back) is type(found) and back.summary().as_text() == found.summary().as_text()
    np.testing.assert_array_equal(pairs["bootstrap"][0].samples, pairs["bootstrap"][1].samples)
    np.testing.assert_array_equal(pairs["stability"][0].samples, pairs["stability"][1].samples)


@pytest.mark.parametrize("kind", ["cv", "criterion"])
def test_a_choice_from_a_file_is_a_fit(everything, kind, tmp_path):
    cv = everything[kind]
    cv.save(tmp_path / "file")
    back = load(tmp_path / "file")
    assert type(back) is CVResults and str(back) == str(cv)
    pd.testing.assert_frame_equal(back.params, cv.params)
    pd.testing.assert_frame_equal(back.refit().bse, cv.refit().bse)
    pd.testing.assert_frame_equal(back.predict(X), cv.predict(X))


@pytest.mark.parametrize("kind", ["cv", "criterion"])
def test_a_choice_is_drawn_as_a_fit_and_as_a_choice(everything, kind):
    cv = everything[kind]
    drawn, expected = (sorted(text.get_text() for text in plots.coef_map(found).texts)
                       for found in (cv, cv.grid.results(cv.chosen)))
    assert drawn == expected != []
    assert cv.plot() is not None
    plt.close("all")


# ---- what printing costs --------------------------------------------------------------------------------------------

def test_printing_a_fit_of_a_thousand_tasks_asks_no_referee_and_no_solver(monkeypatch):
    """Nor anything else that looks at the rows more often than once: all else is known from the fit."""
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(40, 2))
    labels = rows[:, [0]] + rng.logistic(size=(40, 1000)) > 0
    res = FusedLogit(labels, rows).fit(l1=1.0, l2=0.5, fusion=5.0, tol=1e-4)
    calls = []

    def refuse(name):
        return lambda *arguments, **options: calls.append(name)

    for module, name in ((results, "certify"), (optimality, "certify"), (solver, "solve_newton"),
                         (solver, "solve_exactly"), (solver.NewtonSolver, "solve"), (results, "refit")):
        monkeypatch.setattr(module, name, refuse(name))
    linear = Problem.linear
    monkeypatch.setattr(Problem, "linear", lambda *arguments: calls.append("linear") or linear(*arguments))
    assert str(res) and repr(res) and res.summary().as_text()
    assert set(calls) <= {"linear"} and len(calls) <= 2


# ---- completion in an editor or notebook ----------------------------------------------------------------------------

def test_completion_offers_what_is_public_and_the_plots():
    assert dir(fusedlr) == sorted([*fusedlr.__all__, "plots"])
    assert all(hasattr(fusedlr, name) for name in dir(fusedlr))


@each_kind
def test_results_offer_nothing_that_only_the_package_asks(everything, kind):
    for thing in (everything[kind], everything[kind].model):
        offered = [name for name in dir(thing) if not name.startswith("_")]
        assert not {"kind", "computed", "check_loaded", "facts", "state", "kept", "with_data"} & set(offered)
        assert {"summary", "save"} <= set(offered) or {"fit_cv", "from_long"} <= set(offered)


def test_html_shows_ties(fit):
    """A tie is an equals sign in a cell of its own between two equal values."""
    tied = fit.model.fit(l1=0.0, l2=0.0, fusion=1e4)
    cells = Cells(tied._repr_html_()).cells
    place = cells.index("age")
    assert cells[place + 3] == cells[place + 5] == "=" and cells[place + 2] == cells[place + 4] == cells[place + 6]
