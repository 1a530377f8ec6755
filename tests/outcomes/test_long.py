"""One label and one task a row: the same model as a table of labels, told row by row."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import FusedLogit, load, plots

pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")

YEARS = [1978, 1982, 1986, 1990]
LISTS = {"l1": [0.5, 1.5, 4.0], "l2": [0.3], "fusion": [0.4, 2.0], "tol": 1e-13}
POINT = {"l1": 1.0, "l2": 0.3, "fusion": 0.8}


def tables(n, seed):
    """Labels of n persons in four years, a fifth of them not observed, and features."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)) * [1.0, 4.0, 1.0], columns=["age", "dose", "noise"])
    Y = pd.DataFrame(X[["age"]].to_numpy() * [0.5, 0.5, 1.5, 1.5] + rng.logistic(size=(n, 4)) > 0, columns=YEARS)
    Y = Y.astype(float).mask(rng.random(Y.shape) < 0.2)
    Y.iloc[:, 0] = Y.iloc[:, 0].fillna(0.0)  # everybody has a label
    return Y, X


def row_by_row(Y, X):
    """Observed labels, one a row, in mixed order of the years, persons in order."""
    stacked = Y.stack().dropna().rename("y").rename_axis(["person", "year"]).reset_index()
    mixed = stacked.sample(frac=1.0, random_state=1).sort_values("person", kind="stable").reset_index(drop=True)
    return mixed.join(X.loc[mixed["person"]].reset_index(drop=True))


Y, X = tables(70, 3)
LONG = row_by_row(Y, X)
NEW_Y, NEW_X = tables(30, 4)
NEW = row_by_row(NEW_Y, NEW_X)
FEATURES = list(X.columns)


@pytest.fixture(scope="module")
def wide():
    return FusedLogit(Y, X)


@pytest.fixture(scope="module")
def long():
    return FusedLogit.from_long(LONG["y"], LONG[FEATURES], LONG["year"], groups=LONG["person"])


def same(found, expected):
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(expected, dtype=float), rtol=1e-6, atol=1e-7)


def test_tasks_are_the_years_in_their_order(long):
    assert long.endog_names == YEARS and long.tasks.is_chain
    assert long.nobs == len(LONG) == Y.notna().to_numpy().sum() and long.n_groups == 70


def test_the_fit_is_that_of_the_wide_table(wide, long):
    one, other = wide.fit(**POINT), long.fit(**POINT)
    same(long.scale, wide.scale)
    same(other.params, one.params)
    for name in ("llf", "llnull", "aic", "bic", "df", "objective"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-8), name
    same(other.nobs_per_task, one.nobs_per_task)


def test_the_grid_is_that_of_the_wide_table(wide, long):
    same(long.fit_grid(**LISTS).params, wide.fit_grid(**LISTS).params)


@pytest.mark.parametrize("metric", ["logloss", "error", "auc"])
def test_cross_validation_is_that_of_the_wide_table(wide, long, metric):
    folds = np.arange(70) % 4
    one = wide.fit_cv(folds=folds, metric=metric, **LISTS)
    other = long.fit_cv(folds=folds[LONG["person"]], metric=metric, **LISTS)
    same(other.table[["mean", "se", "df"]], one.table[["mean", "se", "df"]])
    assert other.chosen == one.chosen


@pytest.mark.parametrize("by", ["aic", "bic"])
def test_criteria_are_those_of_the_wide_table(wide, long, by):
    same(long.fit_cv(by=by, **LISTS).table[by], wide.fit_cv(by=by, **LISTS).table[by])


@pytest.mark.parametrize("cov_type", ["cluster", "nonrobust"])
def test_standard_errors_are_those_of_the_wide_table(wide, long, cov_type):
    one, other = wide.fit(**POINT).refit(cov_type), long.fit(**POINT).refit(cov_type)
    same(other.params, one.params)
    same(other.bse.fillna(0.0), one.bse.fillna(0.0))


@pytest.mark.parametrize("resample", ["bootstrap", "stability"])
def test_resamples_of_persons_are_those_of_rows(wide, long, resample):
    same(*(getattr(model.fit(**POINT), resample)(4, rng=2, progress=False).samples for model in (long, wide)))


def test_held_out_rows_choose_as_those_of_the_wide_table_do(wide, long):
    one = wide.fit_grid(**LISTS).select(NEW_Y, NEW_X)
    for task in (NEW["year"], "year"):
        assert long.fit_grid(**LISTS).select(NEW["y"], NEW[[*FEATURES, "year"]], task=task).penalties == one.penalties


def test_calibration_is_that_of_the_wide_table(wide, long):
    def points(ax):
        return np.concatenate([line.get_xydata() for line in ax.get_lines() if line.get_label() in map(str, YEARS)])

    same(points(plots.calibration(long.fit(**POINT), bins=4)), points(plots.calibration(wide.fit(**POINT), bins=4)))
    held = plots.calibration(long.fit(**POINT), NEW["y"], NEW[FEATURES], task=NEW["year"], bins=4)
    same(points(held), points(plots.calibration(wide.fit(**POINT), NEW_Y, NEW_X, bins=4)))
    plt.close("all")


def test_probabilities_of_each_row_stand_in_the_table_over_all_tasks(long):
    res = long.fit(**POINT)
    table = res.predict(NEW[FEATURES])
    assert table.shape == (len(NEW), 4) and list(table.columns) == YEARS
    column = np.searchsorted(YEARS, NEW["year"])
    for which in ("prob", "linear", "label"):
        each = res.predict(NEW, which=which, task="year")
        assert each.shape == (len(NEW),) and each.index.equals(NEW.index)
        same(each, res.predict(NEW[FEATURES], which=which).to_numpy()[np.arange(len(NEW)), column])
    same(res.predict(NEW[FEATURES], task=1982), table[1982])
    same(res.predict(NEW[FEATURES], task=NEW["year"].to_numpy()), res.predict(NEW, task="year"))
    same(res.fittedvalues, res.predict(task=LONG["year"]))


def test_residuals_have_one_value_a_row(long):
    res = long.fit(**POINT)
    same(res.resid_response, LONG["y"] - res.fittedvalues)
    p, y = res.fittedvalues, LONG["y"]
    same(res.resid_pearson, (y - p) / np.sqrt(p * (1 - p)))
    same(res.resid_deviance, np.sign(y - 0.5) * np.sqrt(-2 * np.log(np.where(y == 1, p, 1 - p))))
    same(long.endog, y)


@pytest.mark.parametrize("remove_data", [False, True])
def test_it_comes_back_from_a_file(long, tmp_path, remove_data):
    res = long.fit(**POINT)
    res.save(tmp_path / "fit", remove_data=remove_data)
    back = load(tmp_path / "fit")
    same(back.predict(NEW, task="year"), res.predict(NEW, task="year"))
    assert str(back.summary()) == str(res.summary()) and back.n_groups == 70
    assert "Groups (person):" in str(back.summary())
    if not remove_data:
        same(back.refit().bse.fillna(0), res.refit().bse.fillna(0))


def test_it_is_fitted_from_a_formula(long):
    res = FusedLogit.from_formula("y ~ age + dose + noise", LONG, task="year", groups="person").fit(**POINT)
    same(res.params, long.fit(**POINT).params)
    assert res.refit().cov_type == "cluster" and res.n_groups == 70
    same(res.predict(NEW, task="year"), long.fit(**POINT).predict(NEW, task="year"))


def test_a_formula_drops_rows_with_their_tasks_and_groups():
    gaps = LONG.assign(dose=LONG["dose"].mask(LONG["person"] == 5))
    found = FusedLogit.from_formula("y ~ age + dose + noise", gaps, task="year", groups="person", missing="drop")
    rest = LONG[LONG["person"] != 5]
    expected = FusedLogit.from_long(rest["y"], rest[FEATURES], rest["year"], groups=rest["person"])
    same(found.fit(**POINT).params, expected.fit(**POINT).params)
    assert found.n_dropped == (LONG["person"] == 5).sum() and found.n_groups == 69
    text = str(found.fit(**POINT).summary())
    assert f"{len(rest)} ({found.n_dropped} dropped)" in text


def test_without_penalties_it_is_a_logit_of_each_task():
    res = FusedLogit.from_long(LONG["y"], LONG[FEATURES], LONG["year"]).fit(0, 0, 0)
    for year, rows in LONG.groupby("year"):
        expected = sm.Logit(rows["y"], sm.add_constant(rows[FEATURES])).fit(disp=False, tol=1e-12).params
        np.testing.assert_allclose(res.params[year], expected, rtol=1e-6, atol=1e-7)


def test_words_need_an_order_and_ordered_categories_have_one(long):
    word = LONG["year"].map({1978: "late", 1982: "even later", 1986: "now", 1990: "then"})
    with pytest.raises(ValueError, match="order is needed, first task first, unless task holds numbers"):
        FusedLogit.from_long(LONG["y"], LONG[FEATURES], word)
    order = ["late", "even later", "now", "then"]
    for task, given in ((word, order), (word.astype(pd.CategoricalDtype([*order, "never"], ordered=True)), None)):
        model = FusedLogit.from_long(LONG["y"], LONG[FEATURES], task, order=given, groups=LONG["person"])
        assert model.endog_names == order
        same(model.fit(**POINT).params, long.fit(**POINT).params)


def test_dates_and_periods_are_put_in_their_order(long):
    dates = pd.to_datetime(LONG["year"].astype(str) + "-07-01")
    for task, name in ((dates, "1978-07-01"), (dates.dt.to_period("Y"), "1978")):
        model = FusedLogit.from_long(LONG["y"], LONG[FEATURES], task, groups=LONG["person"])
        assert model.endog_names[0] == name
        same(model.fit(**POINT).params, long.fit(**POINT).params)


def test_a_graph_may_name_tasks_that_are_numbers(wide):
    edges = [(1978, 1982), (1986, 1990)]
    model = FusedLogit.from_long(LONG["y"], LONG[FEATURES], LONG["year"], tasks=edges, groups=LONG["person"])
    assert model.tasks.edges.tolist() == [[0, 1], [2, 3]]
    same(model.fit(**POINT).params, FusedLogit(Y, X, tasks=edges).fit(**POINT).params)


def test_a_missing_label_is_counted_and_left_out(long):
    more = pd.concat([LONG, LONG.iloc[:3].assign(y=np.nan)], ignore_index=True)
    model = FusedLogit.from_long(more["y"], more[FEATURES], more["year"], groups=more["person"])
    assert model.nobs == len(LONG)
    res = model.fit(**POINT)
    same(res.params, long.fit(**POINT).params)
    text = str(res.summary())
    assert f"{len(LONG)} (3 without label)" in text and "Labels missing:" in text
    assert res.fittedvalues.isna().sum() == res.resid_response.isna().sum() == 3


def test_words_are_labels_too(long):
    model = FusedLogit.from_long(LONG["y"].map({0: "no", 1: "yes"}), LONG[FEATURES], LONG["year"])
    assert model.labels == [("no", "yes")] * 4
    assert set(model.fit(**POINT).predict(task=LONG["year"], which="label")) == {"no", "yes"}


GOOD = {"endog": LONG["y"], "exog": LONG[FEATURES], "task": LONG["year"]}


@pytest.mark.parametrize(("bad", "message"), [
    ({"task": LONG["year"].where(LONG.index > 0, 1977)},
     r"task must give every task two labelled rows or more, found fewer in \[1977\]; merge"),
    ({"task": LONG["year"].where(LONG.index > 0)}, "task must name a task for every row, found 1 missing values; drop"),
    ({"task": LONG["year"].iloc[:5]}, "task must have one value for each of the .* rows of endog, found 5"),
    ({"task": LONG["year"].iloc[::-1]}, "task must have the index of endog.*another order"),
    ({"groups": LONG["person"].where(LONG.index > 1)}, "groups must name a group for every row, found 2 missing"),
    ({"groups": LONG["person"].iloc[::-1]}, "groups must have the index of endog.*another order"),
    ({"groups": LONG["person"].iloc[:7]}, "groups must have the index of endog"),
    ({"groups": LONG["person"].tolist()[:7]}, "groups must have one value for each of .* rows, found 7"),
    ({"order": [1978, 1982, 1986]}, r"order must name every task, found none of \[1990\] in it"),
    ({"order": [*YEARS, 2000]}, r"order names the tasks \[2000\], which no row has; leave them out"),
    ({"order": [*YEARS, 1990]}, "order"),
    ({"endog": LONG["year"]}, "endog must hold 0/1"),
    ({"endog": LONG[["y", "age"]]}, "endog must be one column"),
])
def test_bad_long_data_are_refused(bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        FusedLogit.from_long(**{**GOOD, **bad})


@pytest.mark.parametrize(("arguments", "message"), [
    ({"exog": NEW[FEATURES], "task": 1979}, r"task must hold tasks of the fit, found \[1979\]; there are 1978, 1982"),
    ({"exog": NEW[FEATURES], "task": NEW["year"] + 1}, "task must hold tasks of the fit, found"),
    ({"exog": NEW[FEATURES], "task": NEW["year"].iloc[:4]}, "task must have the index of exog"),
    ({"exog": NEW[FEATURES], "task": [1978]}, "task must have one value for each of the .* rows of exog, found 1"),
    ({"exog": NEW[FEATURES], "task": "month"}, "task='month' must be a task of the fit or name a column of exog"),
    ({"exog": NEW[FEATURES], "cause": 1}, "cause must be left out in a model without several causes"),
])
def test_bad_tasks_of_predictions_are_refused(long, arguments, message):
    with pytest.raises(ValueError, match=message):
        long.fit(**POINT).predict(**arguments)


def test_held_out_rows_of_long_data_need_their_task(long):
    with pytest.raises(ValueError, match="task must be given: the rows of this model have one task each"):
        long.fit_grid(**LISTS).select(NEW["y"], NEW[FEATURES])


@pytest.mark.parametrize(("formula", "more", "message"), [
    ("y + age ~ dose", {"task": "year"}, "formula must have one column of labels on its left side to go with task"),
    ("y ~ dose", {"task": "month"}, "task='month' must name a column of data"),
    ("y ~ dose", {"order": YEARS}, "order goes with task"),
    ("y ~ dose", {"causes": [1, 2]}, "causes goes with breaks"),
    ("y ~ dose", {"task": "year", "breaks": 3}, "task, levels and breaks go with three kinds of outcomes"),
])
def test_bad_formulas_of_long_data_are_refused(formula, more, message):
    with pytest.raises(ValueError, match=message):
        FusedLogit.from_formula(formula, LONG, **more)
