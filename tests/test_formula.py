"""Formulas: several outcomes, labels of any kind, missing labels, and the same design for new data."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from fusedlr import FusedLogit
from tests.wide import Data

RNG = np.random.default_rng(8)
FRAME = pd.DataFrame({"age": RNG.normal(50, 10, 90), "dose": RNG.uniform(1, 3, 90),
                      "site": RNG.choice(["a", "b", "c"], 90), "year": RNG.choice([2001, 2002], 90)},
                     index=[f"r{i}" for i in range(90)])
for name, shift in (("low", 45), ("mid", 50), ("high", 55)):
    FRAME[name] = (FRAME["age"] + 10 * RNG.logistic(size=90) > shift).astype(int)


def fit(formula, data=FRAME, **options):
    return FusedLogit.from_formula(formula, data, **options).fit(1.0, 0.1, 2.0)


def test_tasks_keep_the_order_of_the_left_side():
    res = fit("mid + high + low ~ age + C(site)")
    assert list(res.params.columns) == ["mid", "high", "low"]
    assert res.params.index[0] == "const"
    assert set(res.params.index[1:]) == {"C(site)[T.b]", "C(site)[T.c]", "age"}


def test_a_formula_is_the_design_by_hand():
    by_hand = FusedLogit(FRAME[["low", "mid"]], pd.DataFrame({
        "site[T.b]": FRAME["site"] == "b", "site[T.c]": FRAME["site"] == "c", "np.log(dose)": np.log(FRAME["dose"])}))
    res = fit("low + mid ~ np.log(dose) + site")
    np.testing.assert_allclose(res.params, by_hand.fit(1.0, 0.1, 2.0).params, atol=1e-12)


def test_without_penalty_it_is_statsmodels_logit():
    res = FusedLogit.from_formula("low ~ dose + C(site)", FRAME).fit(0, 0, 0, tol=1e-12)
    peer = smf.logit("low ~ dose + C(site)", FRAME).fit(disp=0)
    np.testing.assert_allclose(res.params["low"], peer.params, atol=1e-5)
    assert list(res.params.index) == ["const", *peer.params.index[1:]]


def test_names_of_the_caller_are_known():
    def centred(values):
        return values - 50

    assert "centred(age)" in FusedLogit.from_formula("low + mid ~ centred(age)", FRAME).exog_names


def test_a_missing_label_keeps_its_row():
    holes = FRAME.assign(mid=FRAME["mid"].where(FRAME["age"] > 45))
    model = FusedLogit.from_formula("low + mid ~ age", holes)
    assert model.nobs == 90
    np.testing.assert_array_equal(np.isnan(model.endog["mid"]), FRAME["age"] <= 45)


@pytest.mark.parametrize("no, yes", [(False, True), ("healthy", "sick"), (-1, 1)])
def test_labels_of_any_kind_come_back(no, yes):
    words = FRAME.assign(low=[yes if label else no for label in FRAME["low"]])
    res = fit("low + mid ~ age", words)
    assert res.model.labels == [(no, yes), (0, 1)]
    np.testing.assert_allclose(res.params, fit("low + mid ~ age").params)
    assert set(res.predict(which="label")["low"]) <= {no, yes}


def test_a_task_may_be_a_condition():
    res = fit("I(age > 45) + I(age > 50) ~ dose")
    assert list(res.params.columns) == ["I(age > 45)", "I(age > 50)"]


def test_new_data_are_read_as_the_old():
    res = fit("low + mid ~ center(age) + C(year) + site + Q('dose')")
    pd.testing.assert_frame_equal(res.predict(FRAME), res.fittedvalues)
    pd.testing.assert_frame_equal(res.predict(FRAME.iloc[5:9]), res.fittedvalues.iloc[5:9])
    assert res.predict(FRAME[FRAME["site"] == "c"].iloc[:1]).shape == (1, 2)


@pytest.mark.parametrize("change, message", [
    (lambda data: data.assign(site="z"), "exog.*formula.*'z'.*site"),
    (lambda data: data.drop(columns="dose"), "exog.*variables of the formula.*dose"),
    (lambda data: data.assign(dose=np.nan), "exog.*formula.*missing values.*dose.*drop these rows"),
], ids=["unseen level", "missing column", "missing value"])
def test_new_data_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        fit("low ~ dose + site").predict(change(FRAME))


def test_a_missing_feature_is_refused():
    with pytest.raises(ValueError, match=r"data.*formula.*missing values in 'dose'.*dropna"):
        FusedLogit.from_formula("low ~ dose + site", FRAME.assign(dose=FRAME["dose"].where(FRAME["age"] > 45)))


@pytest.mark.parametrize("formula", ["low + mid ~ np.log(dose) + C(site, Treatment('b'))",
                                     "low ~ standardize(age) * year"])
def test_copies_still_read_formulas(formula):
    res = fit(formula)
    for twin in (pickle.loads(pickle.dumps(res)), copy.deepcopy(res)):
        pd.testing.assert_frame_equal(twin.predict(FRAME.iloc[:6]), res.predict(FRAME.iloc[:6]))


def test_a_formula_remembers_levels_not_rows():
    many = pd.concat([FRAME] * 20, ignore_index=True)
    sample = FusedLogit.from_formula("low ~ age + C(site) + C(year)", many).spec.formula.sample
    assert list(sample.columns) == ["age", "site", "year"] and len(sample) <= 5


def test_options_reach_the_model():
    model = FusedLogit.from_formula("low + mid ~ age + site", FRAME, weights=FRAME["dose"], standardize=True,
                                    penalty_factors={"age": 0})
    np.testing.assert_array_equal(Data.of(model).weights[:, 1], FRAME["dose"])
    assert model.penalty_factors.tolist() == [1, 1, 0]
    with pytest.raises(TypeError, match="wieghts"):
        FusedLogit.from_formula("low ~ age", FRAME, wieghts=1)


def test_without_intercept_a_factor_keeps_all_levels():
    res = fit("low + mid ~ 0 + site")
    assert list(res.params.index) == ["const", "site[a]", "site[b]", "site[c]"]
    assert sm.add_constant(res.model.exog, has_constant="add").shape == (90, 4)


@pytest.mark.parametrize(("formula", "message"), [
    ("low|mid ~ age", "'low . mid' on the left side is one task"),
    ("C(low) ~ age", r"'C\(low\)' on the left side must be the column itself"),
    ("low + mid ~ blood pressure", r"write a column whose name is no word of Python as Q\('blood pressure'\)"),
])
def test_formulas_that_say_something_else_are_refused(formula, message):
    data = pd.DataFrame({"low": [0, 1] * 10, "mid": [0, 1, 1, 0] * 5, "age": np.arange(20.0),
                         "blood pressure": np.arange(20.0) ** 2})
    with pytest.raises(ValueError, match=message):
        FusedLogit.from_formula(formula, data)
    assert FusedLogit.from_formula("I((low == 1) | (mid == 1)) ~ Q('blood pressure')", data).exog.shape == (20, 1)
