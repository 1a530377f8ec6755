"""Frames of every library go by name, as pandas' do; a mask is a mask in every type; the rest gets a way out."""

import datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fusedlr import FusedLogit, outcomes, plots
from fusedlr.frames import plain

RNG = np.random.default_rng(11)
X = pd.DataFrame(RNG.normal(size=(60, 3)) + [0.0, 2.0, -1.0], columns=["age", "dose", "noise"])
Y = pd.DataFrame((X[["age"]].to_numpy() + RNG.logistic(size=(60, 3)) > 0).astype(int), columns=["low", "mid", "high"])
SHUFFLED_X, SHUFFLED_Y = X[["noise", "age", "dose"]], Y[["high", "low", "mid"]]
LEVELS = np.array(["mild", "none", "severe"])[np.digitize(X["age"] + RNG.logistic(size=60), [-1, 1])]
ORDER = ["mild", "none", "severe"]


def polars(frame):
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})


def pyarrow(frame):
    return pytest.importorskip("pyarrow").table({name: frame[name].to_numpy() for name in frame})


def narwhals(frame):
    return pytest.importorskip("narwhals").from_native(polars(frame), eager_only=True)


def dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def xarray(frame):
    return pytest.importorskip("xarray").DataArray(frame.to_numpy(), dims=("row", "column"),
                                                   coords={"column": list(frame.columns)})


def arrow_backed(frame):
    pytest.importorskip("pyarrow")
    return frame.convert_dtypes(dtype_backend="pyarrow") if pd.__version__ >= "2" else pytest.skip("pandas 1.5")


TABLES = [polars, pyarrow, narwhals, dask, xarray, arrow_backed]
COLUMNS = [polars, pyarrow, narwhals, dask]  # those from which a column is taken by its name

every_table = pytest.mark.parametrize("table", TABLES, ids=lambda made: made.__name__)
every_column = pytest.mark.parametrize("table", COLUMNS, ids=lambda made: made.__name__)


def fit(endog=Y, exog=X, **kwargs):
    return FusedLogit(endog, exog, **kwargs).fit(1.0, 0.1, 0.5)


@every_table
def test_names_come_with_any_frame(table):
    pd.testing.assert_frame_equal(fit(table(Y), table(X)).params, fit().params)


@every_table
def test_predictions_go_by_name(table):
    assert_array_equal(fit().predict(table(SHUFFLED_X)), fit().predict(X))


@every_table
def test_held_out_labels_and_weights_go_by_name(table):
    weights = pd.DataFrame(RNG.integers(1, 4, size=(60, 3)), columns=Y.columns)
    expected = fit().score(Y, X, weights)
    pd.testing.assert_frame_equal(fit().score(table(SHUFFLED_Y), table(SHUFFLED_X), table(weights[["mid", "low",
                                                                                                "high"]])), expected)


@every_table
def test_a_frame_of_other_names_is_refused(table):
    with pytest.raises(ValueError, match="exog must have a column for each feature.*missing are .'dose'"):
        fit().predict(table(X.rename(columns={"dose": "Dose"})))
    with pytest.raises(ValueError, match="endog must have the model's tasks.*missing are .'mid'"):
        fit().score(table(Y.rename(columns={"mid": "Mid"})), X)


@pytest.mark.parametrize("table", [lambda frame: frame, *TABLES[:4]])
def test_penalties_are_not_chosen_by_tasks_under_other_names(table):
    grid = FusedLogit(Y, X).fit_grid([0.5, 3.0], [0.1], [0.5])
    with pytest.raises(ValueError, match="endog must have the model's tasks"):
        grid.select(table(SHUFFLED_Y.rename(columns={"low": "lo"})), X)
    with pytest.raises(ValueError, match="endog must have the model's tasks"):
        plots.calibration(fit(), table(SHUFFLED_Y.rename(columns={"low": "lo"})), X)


def test_duplicate_names_are_refused_in_held_out_rows():
    doubled = pd.concat([Y, 1 - Y[["low"]]], axis=1)
    with pytest.raises(ValueError, match="endog must not repeat a name, found .'low'"):
        fit().score(doubled, X)
    with pytest.raises(ValueError, match="exog must not repeat a name, found .'age'"):
        fit().predict(pd.concat([X, X[["age"]]], axis=1))
    with pytest.raises(ValueError, match="weights as a DataFrame must have the tasks"):
        fit(weights=doubled)


def test_a_table_of_pyarrow_may_not_repeat_a_name():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="exog must not repeat a name"):
        FusedLogit(Y, pa.Table.from_arrays([pa.array(X["age"]), pa.array(X["dose"])], names=["a", "a"]))


@every_column
def test_columns_of_any_library_are_weights_offsets_groups_and_tasks(table):
    beside = pd.DataFrame({"weight": RNG.integers(1, 3, 60), "shift": RNG.normal(size=60), "visit": np.arange(60) % 3,
                           "person": np.arange(60) // 2})
    other = table(beside)
    columns = {name: beside[name] for name in beside}, {name: other[name] for name in beside}
    one, two = (FusedLogit.from_long(Y["low"], X, task=column["visit"], weights=column["weight"],
                                     offset=column["shift"], groups=column["person"]).fit(1.0, 0.1, 0.5)
                for column in columns)
    pd.testing.assert_frame_equal(one.params, two.params)
    assert_array_equal(one.predict(X, offset=beside["shift"], task=beside["visit"]),
                       two.predict(table(X), offset=other["shift"], task=other["visit"]))


@every_column
def test_names_of_columns_of_new_rows_are_found_in_any_frame(table):
    rows = X.assign(shift=0.5, visit=np.arange(60) % 3)
    found = FusedLogit.from_long(Y["low"], X, rows["visit"], offset=rows["shift"]).fit(1.0, 0.1, 0.5)
    assert_array_equal(found.predict(table(rows), offset="shift", task="visit"),
                       found.predict(rows, offset="shift", task="visit"))
    pd.testing.assert_frame_equal(found.score(Y["low"], table(rows), offset="shift", task="visit"),
                                  found.score(Y["low"], rows, offset="shift", task="visit"))


@every_column
def test_times_and_scores_of_any_library(table):
    data = pd.DataFrame({"time": RNG.exponential(size=60), "event": np.arange(60) % 2})
    one = FusedLogit.from_survival(data["time"], data["event"], X, [0.5, 5.0]).fit(1.0, 0.1, 0.5)
    two = FusedLogit.from_survival(table(data)["time"], table(data)["event"], table(X), [0.5, 5.0]).fit(1.0, 0.1, 0.5)
    pd.testing.assert_frame_equal(one.params, two.params)
    pd.testing.assert_series_equal(outcomes.survival_scores(two, table(data)["time"], table(data)["event"],
                                                            table(SHUFFLED_X)),
                                   outcomes.survival_scores(one, data["time"], data["event"], X))


@every_column
@pytest.mark.parametrize("formula", ["low + mid + high ~ age + dose", "low + mid ~ age + C(visit)"])
def test_formulas_take_any_frame(table, formula):
    data = Y.join(X).assign(visit=np.arange(60) % 3)
    one, two = (FusedLogit.from_formula(formula, made).fit(1.0, 0.1, 0.5) for made in (data, table(data)))
    pd.testing.assert_frame_equal(one.params, two.params)
    assert_array_equal(one.predict(data), two.predict(table(data[data.columns[::-1]])))


@every_column
def test_rows_without_names_of_their_own_go_with_any_index(table):
    index = [f"row {k}" for k in range(60)]
    found = fit(Y.set_axis(index), table(X))
    assert list(found.predict().index) == index


def test_levels_of_polars_have_an_order():
    pl = pytest.importorskip("polars")
    enum = pl.Series(LEVELS, dtype=pl.Enum(["none", "mild", "severe"]))
    found = FusedLogit.from_ordered(enum, X)
    assert found.outcome.levels == ("none", "mild", "severe")
    data = polars(X).with_columns(enum.alias("level"))
    assert FusedLogit.from_formula("level ~ age", data).outcome.levels == ("none", "mild", "severe")
    with pytest.raises(ValueError, match="levels is needed, lowest first"):
        FusedLogit.from_ordered(enum.cast(pl.Categorical), X)
    with pytest.raises(ValueError, match="levels is needed, lowest first"):
        FusedLogit.from_ordered(enum.cast(pl.String), X)


def test_levels_of_pyarrow_have_an_order_where_it_says_so():
    pa = pytest.importorskip("pyarrow")
    codes = pa.array([["none", "mild", "severe"].index(level) for level in LEVELS], pa.int8())
    ordered = pa.DictionaryArray.from_arrays(codes, ["none", "mild", "severe"], ordered=True)
    assert FusedLogit.from_ordered(ordered, X).outcome.levels == ("none", "mild", "severe")
    with pytest.raises(ValueError, match="levels is needed, lowest first"):
        FusedLogit.from_ordered(pa.DictionaryArray.from_arrays(codes, ["none", "mild", "severe"]), X)


def test_missing_values_of_polars_are_missing():
    pl = pytest.importorskip("polars")
    labels = pl.DataFrame({"a": [True, None] * 30, "b": ["yes", "no", None] * 20, "c": [1, 0, None] * 20})
    labels = labels.with_columns(a=pl.Series([True, None, False] * 20))
    found = FusedLogit(labels, X)
    assert found.endog.notna().sum().tolist() == [40, 40, 40]
    assert found.labels == [(False, True), ("no", "yes"), (0, 1)]
    with pytest.raises(ValueError, match="exog must be finite, found nan or inf in 20 rows, columns 'c'"):
        FusedLogit(Y, labels.select("c"))


def test_decimal_numbers_are_numbers():
    pl = pytest.importorskip("polars")
    exact = polars(X.round(2)).cast(pl.Decimal(10, 2))
    assert_array_equal(FusedLogit(Y, exact).exog, X.round(2))


# ---- what is refused ------------------------------------------------------------------------------------------------


def lazy():
    return polars(X).lazy(), r"use exog.collect\(\)"


def lazy_narwhals():
    return pytest.importorskip("narwhals").from_native(polars(X).lazy()), r"use exog.collect\(\)"


def relation():
    return pytest.importorskip("duckdb").sql("select 1 as age, 2 as dose"), r"use exog.df\(\)"


def dataset():
    return pytest.importorskip("xarray").Dataset({name: ("row", X[name]) for name in X}), r"use exog.to_dataframe\(\)"


def batches():
    return pyarrow(X).to_reader(), r"use exog.read_all\(\)"


def dictionary():
    return dict(X), r"use pandas.DataFrame\(exog\)"


def records():
    return X.to_records(index=False).view(np.ndarray), r"use pandas.DataFrame\(exog\)"


def another_library():
    class Frame:
        columns = ["age"]

    return Frame(), r"use exog.to_pandas\(\)"


@pytest.mark.parametrize("made", [lazy, lazy_narwhals, relation, dataset, batches, dictionary, records,
                                  another_library], ids=lambda made: made.__name__)
def test_what_has_names_but_no_rows_in_order_is_refused_with_the_way_out(made):
    frame, way_out = made()
    with pytest.raises(TypeError, match=f"exog must .*{way_out}"):
        FusedLogit(Y, frame)
    with pytest.raises(TypeError, match=f"exog must .*{way_out}"):
        fit().predict(frame)
    with pytest.raises(TypeError, match=f"endog must .*{way_out.replace('exog', 'endog')}"):
        FusedLogit(frame, X)


@pytest.mark.parametrize("made", [lazy, relation, dictionary, records], ids=lambda made: made.__name__)
def test_formulas_refuse_them_too(made):
    with pytest.raises(TypeError, match="data must .*found"):
        FusedLogit.from_formula("age ~ dose", made()[0])


@every_column
def test_dates_as_features_are_refused_with_the_right_advice(table):
    dates = X.assign(seen=pd.date_range("2020-01-01", periods=60))
    with pytest.raises(TypeError, match=r"exog must hold numbers; columns .'seen'.*\(date - date.min\(\)\).dt.days"):
        FusedLogit(Y, table(dates))


def test_durations_and_dates_of_python_get_advice_too():
    with pytest.raises(TypeError, match="as in duration.dt.days"):
        FusedLogit(Y, X.assign(seen=pd.to_timedelta(np.arange(60), unit="D")))
    with pytest.raises(TypeError, match="date.dt.year"):
        FusedLogit(Y, X.assign(seen=[datetime.date(2020, 1, 1 + k % 28) for k in range(60)]))


@pytest.mark.parametrize("made", [pd.Categorical, pd.CategoricalIndex,
                                  lambda codes: pd.Series(codes, dtype="category")], ids=["array", "index", "series"])
def test_categorical_numbers_are_no_weights(made):
    weights = made(np.arange(60) % 3 + 1)
    with pytest.raises(TypeError, match="weights must hold numbers, found category"):
        fit(weights=weights)


def test_one_row_of_a_frame_says_how_to_hand_it_in():
    with pytest.raises(ValueError, match=r"for a single row frame.iloc\[\[i\]\] or exog.to_frame\(\).T"):
        fit().predict(X.iloc[0])
    assert_allclose(fit().predict(X.iloc[0].to_frame().T), fit().predict(X)[:1])


def test_a_column_may_have_any_name():
    """Also that of an attribute by which other kinds of data are known."""
    names = ["tocsr", "shape", "compute"]
    assert list(fit(exog=X.set_axis(names, axis=1)).coefs.index) == names


# ---- masks ----------------------------------------------------------------------------------------------------------


MASK = np.arange(60) % 3 == 0
MASKS = {
    "numpy": lambda: MASK, "objects": lambda: MASK.astype(object), "a list": MASK.tolist,
    "a tuple": lambda: tuple(MASK), "numpy's own in a list": lambda: list(MASK),
    "a series": lambda: pd.Series(MASK), "a series of objects": lambda: pd.Series(MASK, dtype=object),
    "nullable": lambda: pd.Series(MASK, dtype="boolean"), "a nullable array": lambda: pd.array(MASK, dtype="boolean"),
    "an index": lambda: pd.Index(MASK),
    "Arrow's in pandas": lambda: arrow_backed(pd.DataFrame({"m": MASK}))["m"],
    "polars": lambda: polars(pd.DataFrame({"m": MASK}))["m"],
    "pyarrow": lambda: pyarrow(pd.DataFrame({"m": MASK}))["m"],
}


@pytest.mark.parametrize("kind", MASKS)
def test_a_mask_is_a_mask_whatever_holds_it(kind):
    model = FusedLogit(Y, X)
    assert list(model.with_rows(MASKS[kind]()).index) == list(np.flatnonzero(MASK))
    assert model.with_rows(MASKS[kind]()).fit(1.0, 0.1, 0.5).model.n_rows == MASK.sum()


@pytest.mark.parametrize("kind", MASKS)
def test_folds_may_be_masks(kind):
    mask = MASKS[kind]()
    pairs = [(~MASK, mask), (mask, ~MASK)]
    points = {"l1": [1.0], "l2": [0.1], "fusion": [0.5], "progress": False}
    found = FusedLogit(Y, X).fit_cv(folds=pairs, **points)
    assert_array_equal(found.folds, np.where(MASK, 0, 1))


@pytest.mark.parametrize("values", [[True] + [0] * 59, [True, None] * 30, pd.array([True, None] * 30, dtype="boolean"),
                                    pd.Series([True, None] * 30), np.array([True, 1] * 30, dtype=object)],
                         ids=["numbers", "None", "nullable", "series", "objects"])
def test_a_mask_with_anything_else_in_it_is_refused(values):
    with pytest.raises(ValueError, match="rows must hold True and False alone in a mask"):
        FusedLogit(Y, X).with_rows(values)


def test_a_mask_of_other_rows_is_refused():
    with pytest.raises(ValueError, match="rows must have the index of the model, found the same labels in another"):
        FusedLogit(Y, X).with_rows(pd.Series(MASK)[::-1])
    with pytest.raises(ValueError, match="rows must have one entry for each of 60 rows, found 59"):
        FusedLogit(Y, X).with_rows(MASK[1:])


def test_what_has_no_names_passes_as_it_is():
    for value in (None, 1.5, "age", X, X["age"], X.columns, [1, 2], (1, 2), np.zeros(3), dict, {"a": 1}):
        assert plain("exog", value) is value
