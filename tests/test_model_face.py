"""The model as users of statsmodels know it: likelihood, derivatives, missing rows, columns by name, progress."""

import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import approx_fprime

from fusedlr import FusedLogit, FusedLogitResults, load, parallel, tuning

RNG = np.random.default_rng(8)
X = pd.DataFrame(RNG.normal(size=(90, 3)) * [1.0, 50.0, 0.1], columns=["age", "income", "dose"])
Y = pd.DataFrame((X[["age"]].to_numpy() + RNG.logistic(size=(90, 2)) > 0).astype(float), columns=["low", "high"])
WEIGHTS = RNG.integers(1, 4, size=90).astype(float)
OFFSET = RNG.normal(size=90) * 0.3
PARAMS = pd.DataFrame([[0.2, -0.1], [0.8, 0.5], [0.01, -0.02], [2.0, 0.0]], ["const", *X.columns], Y.columns)


@pytest.mark.parametrize("standardize", [False, True])
def test_likelihood_and_derivatives_are_those_of_statsmodels(standardize):
    model = FusedLogit(Y, X, weights=WEIGHTS, offset=OFFSET, standardize=standardize)
    score, hessian, information = model.score(PARAMS), model.hessian(PARAMS), model.information(PARAMS)
    loglike = 0.0
    for k, task in enumerate(Y):
        glm = sm.GLM(Y[task], sm.add_constant(X), family=sm.families.Binomial(), offset=OFFSET, freq_weights=WEIGHTS)
        loglike += glm.loglike(PARAMS[task].to_numpy())
        np.testing.assert_allclose(score[task], glm.score(PARAMS[task].to_numpy()), rtol=1e-9)
        np.testing.assert_allclose(hessian[k], glm.hessian(PARAMS[task].to_numpy()), rtol=1e-9)
        np.testing.assert_allclose(information[k], -hessian[k])
    assert model.loglike(PARAMS) == pytest.approx(loglike, rel=1e-12)


def test_one_task_takes_the_params_of_a_logit():
    logit = sm.Logit(Y["low"], sm.add_constant(X))
    model, at = FusedLogit(Y["low"], X), PARAMS["low"].to_numpy()
    assert model.loglike(at) == pytest.approx(logit.loglike(at), rel=1e-12)
    np.testing.assert_allclose(model.score(at)["low"], logit.score(at), rtol=1e-9)
    np.testing.assert_allclose(model.information(at)[0], -logit.hessian(at), rtol=1e-9)


def test_the_score_is_the_slope_of_the_log_likelihood():
    model = FusedLogit(Y, X)
    slope = approx_fprime(PARAMS.to_numpy().ravel(), lambda values: model.loglike(values.reshape(4, 2)), 1e-7)
    np.testing.assert_allclose(model.score(PARAMS).to_numpy().ravel(), slope, rtol=1e-3, atol=1e-2)


def test_at_the_fit_the_log_likelihood_is_that_of_the_results():
    res = FusedLogit(Y, X).fit(1.0, 0.1, 1.0)
    assert res.model.loglike(res.params) == pytest.approx(res.llf, rel=1e-12)
    assert res.model.loglike(res.params.loc[::-1, ::-1]) == pytest.approx(res.llf, rel=1e-12)


@pytest.mark.parametrize("params", [np.zeros((3, 2)), np.zeros(4), PARAMS.rename(columns={"low": "lowest"}),
                                    PARAMS * np.nan])
def test_params_of_another_model_are_refused(params):
    with pytest.raises(ValueError, match="params"):
        FusedLogit(Y, X).loglike(params)


# ---- rows in which a feature is missing -----------------------------------------------------------------------------

HOLES = X.mask((np.arange(270).reshape(90, 3) % 31) == 7)
COMPLETE = HOLES.notna().all(axis=1).to_numpy()


def same_fit(found, expected):
    pd.testing.assert_frame_equal(found.params, expected.params)
    pd.testing.assert_frame_equal(found.fittedvalues, expected.fittedvalues)


def test_rows_with_a_missing_feature_are_dropped_where_asked_for():
    options = {"weights": pd.Series(WEIGHTS), "offset": pd.Series(OFFSET)}
    model = FusedLogit(Y, HOLES, missing="drop", **options)
    assert model.n_dropped == (~COMPLETE).sum() > 3 and f"({model.n_dropped} dropped)" in repr(model)
    kept = FusedLogit(Y[COMPLETE], HOLES[COMPLETE], **{name: value[COMPLETE] for name, value in options.items()})
    same_fit(model.fit(1.0, 0.1, 1.0), kept.fit(1.0, 0.1, 1.0))
    assert f"({model.n_dropped} dropped)" in model.fit(1.0, 0.1, 1.0).summary().as_text()
    assert model.index.equals(Y.index[COMPLETE]) and kept.n_dropped == 0


def test_arrays_lose_the_same_rows():
    model = FusedLogit(Y.to_numpy(), HOLES.to_numpy(), weights=WEIGHTS, missing="drop")
    kept = FusedLogit(Y.to_numpy()[COMPLETE], HOLES.to_numpy()[COMPLETE], weights=WEIGHTS[COMPLETE])
    same_fit(model.fit(1.0, 0.1, 1.0), kept.fit(1.0, 0.1, 1.0))


@pytest.mark.parametrize("missing", ["none", "raise"])
def test_elsewhere_they_are_refused(missing):
    with pytest.raises(ValueError, match="exog must be finite"):
        FusedLogit(Y, HOLES, missing=missing)
    with pytest.raises(ValueError, match="missing must be 'none', 'drop' or 'raise'"):
        FusedLogit(Y, X, missing="impute")


def test_infinities_are_refused_and_something_must_be_left():
    with pytest.raises(ValueError, match="exog must be finite"):
        FusedLogit(Y, X.replace(X.iloc[0, 0], np.inf), missing="drop")
    with pytest.raises(ValueError, match="exog must have a row without missing values"):
        FusedLogit(Y, X.assign(age=np.nan), missing="drop")


def test_a_formula_drops_rows_with_anything_missing_on_its_right_side():
    frame = Y.join(HOLES).assign(site=pd.Series(np.resize(["a", "b", None, "b"], 90), dtype=object))
    frame.index = [f"row {i}" for i in range(90)]
    seen = COMPLETE & frame["site"].notna().to_numpy()
    formula = "low + high ~ age + np.abs(income) + dose + C(site)"
    model = FusedLogit.from_formula(formula, frame, missing="Drop", weights=WEIGHTS)
    kept = FusedLogit.from_formula(formula, frame[seen], weights=WEIGHTS[seen])
    same_fit(model.fit(1.0, 0.1, 1.0), kept.fit(1.0, 0.1, 1.0))
    assert model.n_dropped == (~seen).sum()
    with pytest.raises(ValueError, match="missing values"):
        FusedLogit.from_formula(formula, frame)
    new = frame[seen].iloc[:4]
    pd.testing.assert_frame_equal(model.fit(1.0, 0.1, 1.0).predict(new), model.fit(1.0, 0.1, 1.0).fittedvalues.iloc[:4])


def test_where_a_feature_is_missing_nan_is_predicted(tmp_path):
    """As statsmodels does; also where its coefficient is zero, and by a fit that had no such row."""
    FusedLogit(Y, X, missing="drop").fit(1e6, 0.1, 1.0).save(tmp_path / "file")
    for res in (FusedLogit(Y, HOLES, missing="drop").fit(1.0, 0.1, 1.0), load(tmp_path / "file")):
        for which in ("prob", "linear", "label"):
            found, expected = res.predict(HOLES, which), res.predict(HOLES[COMPLETE], which)
            assert found[~COMPLETE].isna().all(axis=None) and found.index.equals(HOLES.index)
            pd.testing.assert_frame_equal(found[COMPLETE].astype(expected.dtypes), expected)
        assert res.refit().predict(HOLES.to_numpy())[~COMPLETE].isna().all(axis=None) or not res.model.has_data
        with pytest.raises(ValueError, match="exog must be finite"):
            res.predict(HOLES.fillna(np.inf))
        with pytest.raises(ValueError, match="exog must be finite"):
            res.score(Y, HOLES)


@pytest.mark.parametrize("which", ["levels", "level", "rank"])
def test_of_an_ordered_outcome_too(which):
    res = FusedLogit.from_ordered(np.arange(90) % 3, HOLES, missing="drop").fit(1.0, 0.1, 1.0)
    found, expected = res.predict(HOLES, which), res.predict(HOLES[COMPLETE], which)
    assert np.asarray(found[~COMPLETE].isna()).all()
    np.testing.assert_array_equal(np.asarray(found[COMPLETE]), np.asarray(expected))


def test_of_long_data_and_of_formulas_too():
    task, formula = np.arange(90) % 2, "low + high ~ age + np.abs(income) + dose"
    long = FusedLogit.from_long(Y["low"], HOLES, task, missing="drop").fit(1.0, 0.1, 1.0)
    wide = FusedLogit.from_formula(formula, Y.join(HOLES), missing="drop").fit(1.0, 0.1, 1.0)
    for which in ("prob", "linear", "label"):
        assert long.predict(HOLES, which, task=task).isna().tolist() == (~COMPLETE).tolist()
        assert wide.predict(HOLES, which).isna().all(axis=1).tolist() == (~COMPLETE).tolist()


def test_how_many_rows_were_dropped_comes_back_from_a_file(tmp_path):
    FusedLogit(Y, HOLES, missing="drop").fit(1.0, 0.1, 1.0).save(tmp_path / "file")
    assert load(tmp_path / "file").model.n_dropped == (~COMPLETE).sum()


# ---- columns by name ------------------------------------------------------------------------------------------------

def test_weights_and_offset_of_a_formula_may_be_columns():
    frame = Y.join(X).assign(times=WEIGHTS, exposure=OFFSET)
    named = FusedLogit.from_formula("low + high ~ age + dose", frame, weights="times", offset="exposure")
    given = FusedLogit.from_formula("low + high ~ age + dose", frame, weights=WEIGHTS, offset=OFFSET)
    found = named.fit(1.0, 0.1, 1.0)
    same_fit(found, given.fit(1.0, 0.1, 1.0))
    pd.testing.assert_frame_equal(found.predict(frame, offset="exposure"), found.fittedvalues)
    with pytest.raises(ValueError, match="weights='count' must name a column of data"):
        FusedLogit.from_formula("low ~ age", frame, weights="count")


def test_a_formula_still_sees_the_names_around_its_call():
    double = 2.0
    model = FusedLogit.from_formula("low + high ~ I(age * double)", Y.join(X))
    np.testing.assert_allclose(model.exog.iloc[:, 0], double * X["age"])


# ---- progress -------------------------------------------------------------------------------------------------------

def test_progress_is_on_everywhere():
    calls = (FusedLogit.fit_grid, FusedLogit.fit_cv, FusedLogitResults.bootstrap, FusedLogitResults.stability,
             tuning.fit_grid, tuning.fit_cv)
    assert {inspect.signature(call).parameters["progress"].default for call in calls} == {True}


@pytest.mark.parametrize(("config", "shown"), [({"IPKernelApp": {}}, True), ({}, False)], ids=["notebook", "ipython"])
def test_a_notebook_shows_a_bar_without_a_terminal(monkeypatch, config, shown):
    pytest.importorskip("tqdm")
    shell = SimpleNamespace(config=config)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with parallel.progress_bar(2) as step:
        assert (step is not None) == shown
