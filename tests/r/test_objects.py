"""R's data frames come to pandas and fits go to R, factors and missing values included."""

import signal

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit
from fusedlr.r import RError, from_r, session, to_r

pytestmark = pytest.mark.r

PATIENTS = """function() data.frame(
    age = c(30, 41, NA, 22), visits = c(1L, NA, 3L, 4L), children = 4:1,
    site = factor(c("south", "north", NA, "south"), levels = c("south", "north", "east")),
    grade = factor(c("low", "high", "low", NA), levels = c("low", "high"), ordered = TRUE),
    word = c("x", NA, "é", "y"), smokes = c(TRUE, NA, FALSE, TRUE), alive = c(TRUE, FALSE, FALSE, TRUE),
    day = as.Date(c("2020-01-02", NA, "2021-03-04", "2022-01-01")), dose = I(matrix(c(1:7, NA) + 0.5, 4)),
    row.names = c("p", "q", "r", "s"))"""

OUTCOMES = """function() {
    set.seed(2)
    x <- rnorm(80)
    frame <- data.frame(x, age = rnorm(80), site = factor(sample(c("north", "south"), 80, TRUE)))
    for (cut in 1:3) frame[[paste0("above", cut)]] <- factor(ifelse(x + rnorm(80) > cut - 2, "yes", "no"))
    frame$above2[c(3, 7)] <- NA
    frame
}"""


@pytest.fixture
def patients():
    return from_r(session.call_raw(PATIENTS))


@pytest.fixture
def results():
    frame = from_r(session.call_raw(OUTCOMES))
    return FusedLogit(frame[["above1", "above2", "above3"]], frame[["x", "age"]]).fit(l1=0.5, l2=0.1, fusion=1.0)


def test_numbers_come_with_na_as_nan(patients):
    np.testing.assert_array_equal(patients["age"], [30, 41, np.nan, 22])
    np.testing.assert_array_equal(patients["visits"], [1, np.nan, 3, 4])
    assert patients["children"].tolist() == [4, 3, 2, 1] and patients["children"].dtype.kind == "i"


def test_factors_come_as_categories_with_their_levels_in_order(patients):
    site, grade = patients["site"], patients["grade"]
    assert list(site.cat.categories) == ["south", "north", "east"] and not site.cat.ordered
    assert site.isna().tolist() == [False, False, True, False]
    assert site.dropna().tolist() == ["south", "north", "south"]
    assert list(grade.cat.categories) == ["low", "high"] and grade.cat.ordered


def test_strings_logicals_dates_and_matrix_columns_come(patients):
    assert patients["word"].isna().tolist() == [False, True, False, False] and patients["word"].iloc[2] == "é"
    np.testing.assert_array_equal(patients["smokes"], [1, np.nan, 0, 1])
    assert patients["alive"].tolist() == [True, False, False, True]
    assert patients["day"].iloc[2] == pd.Timestamp("2021-03-04") and pd.isna(patients["day"].iloc[1])
    np.testing.assert_array_equal(patients["dose.2"], [5.5, 6.5, 7.5, np.nan])


def test_row_names_become_the_index_unless_they_count(patients):
    assert patients.index.tolist() == ["p", "q", "r", "s"]
    assert isinstance(from_r("airquality").index, pd.RangeIndex)


def test_a_name_that_r_can_see_is_enough():
    frame = from_r("airquality")
    assert frame.shape == (153, 6) and frame["Ozone"].isna().sum() == 37
    with pytest.raises(RError, match="object 'nonesuch' not found"):
        from_r("nonesuch")
    with pytest.raises(RError, match="'nonesuch' is not an exported object"):
        from_r("survival::nonesuch")



def test_what_is_no_data_frame_is_refused_in_words():
    with pytest.raises(RError, match="a data.frame, matrix, table or ts is needed, found an object of class numeric"):
        from_r(session.call_raw("function() 1"))
    with pytest.raises(RError, match="column of class complex"):
        from_r(session.call_raw("function() data.frame(x = 1i)"))


def test_two_level_factors_with_na_are_outcomes_as_they_are(results):
    assert results.model.endog_names == ["above1", "above2", "above3"]
    assert results.nobs_per_task.tolist() == [80, 78, 80]
    assert set(results.predict(which="label")["above2"]) <= {"no", "yes"}


def test_a_frame_from_r_serves_a_formula():
    frame = from_r(session.call_raw(OUTCOMES))
    model = FusedLogit.from_formula("above1 + above3 ~ x + C(site)", frame)
    assert model.exog_names[0] == "const" and len(model.exog_names) == 3


def test_a_frame_goes_to_r_and_comes_back(patients):
    columns = ["age", "children", "site", "grade", "word", "alive"]
    back = from_r(to_r(patients[columns]))
    pd.testing.assert_frame_equal(back, patients[columns])
    assert session.call("function(x) sum(is.na(x))", x=to_r(patients[["age", "site", "word"]])).tolist() == [3]


def test_the_kind_of_a_number_survives_the_way_to_r():
    frame = pd.DataFrame({"yes": [True, False], "whole": [1, 2], "big": [1, 2**40], "part": [0.5, 1],
                          "gap": pd.array([1, None], dtype="Int64")})
    kinds = session.call("function(x) vapply(x, typeof, '')", x=to_r(frame))
    assert kinds == ["logical", "integer", "double", "double", "double"]
    assert session.call("function(x) is.na(x$gap) & !is.nan(x$gap)", x=to_r(frame)).tolist() == [False, True]


def test_a_fit_goes_to_r_as_a_list_that_str_shows(results):
    listing = "\n".join(session.call("function(x) capture.output(str(x))", x=to_r(results)))
    for line in ("List of 5", "$ coefficients:'data.frame':\t3 obs. of  3 variables", "..$ above1: num",
                 "$ tasks       :'data.frame'", "..$ positives: num", "..$ from  : chr", "$ penalties   :'data.frame'",
                 '..$ status    : chr "optimal"', "..$ converged : logi TRUE", "..$ objective : num"):
        assert line in listing, listing


def test_a_fit_in_r_has_the_numbers_of_the_fit(results):
    fit = to_r(results)
    coefs = session.call("function(x) as.matrix(x$coefficients)", x=fit)
    np.testing.assert_array_equal(coefs, results.params)
    names = session.call("function(x) dimnames(x$coefficients)", x=fit)
    assert names == [["const", "x", "age"], ["above1", "above2", "above3"]]
    assert session.call("function(x) x$fit$llf", x=fit)[0] == results.llf
    assert session.call("function(x) x$edges$to", x=fit) == ["above2", "above3"]
    np.testing.assert_array_equal(session.call("function(x) x$penalties$l1", x=fit),
                                  [0, *(0.5 * results.model.scale)])


def test_sending_to_r_leaves_the_handler_of_ctrl_c(results):
    to_r(results)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_frame_without_rows_or_columns_comes():
    empty = from_r(session.call_raw("function() airquality[0, ]"))
    assert empty.shape == (0, 6) and list(empty.columns)[0] == "Ozone"
    kinds = from_r(session.call_raw("""function() {
        data.frame(a = character(), f = factor(), l = logical(), d = as.Date(character()))
    }"""))
    assert kinds.shape == (0, 4)
    assert from_r(session.call_raw("function() data.frame(row.names = 1:3)")).shape == (3, 0)


def test_na_as_a_level_is_missing():
    frame = from_r(session.call_raw("function() data.frame(f = addNA(factor(c('a', NA, 'b'))))"))
    assert frame["f"].isna().tolist() == [False, True, False] and list(frame["f"].cat.categories) == ["a", "b"]


def test_columns_with_words_beside_their_numbers_are_refused():
    with pytest.raises(RError, match="haven_labelled has words beside its numbers; choose by haven::as_factor"):
        from_r(session.call_raw("""function() {
            labelled <- structure(c(1, 2), labels = c(a = 1), class = "haven_labelled")
            structure(list(f = labelled), class = "data.frame", row.names = 1:2)
        }"""))


def test_dates_go_to_r_and_come_back_in_utc():
    naive = pd.Series(pd.to_datetime(["2020-01-01 12:00", None, "1969-07-20 20:17"]))
    aware = naive.dt.tz_localize("UTC").dt.tz_convert("Europe/Vienna")
    frame = to_r(pd.DataFrame({"naive": naive, "aware": aware}))
    assert session.call("function(x) format(x$naive)", x=frame) == ["2020-01-01 12:00:00", None, "1969-07-20 20:17:00"]
    back = from_r(frame).astype("datetime64[ns]")  # pandas 3 counts in other units
    pd.testing.assert_series_equal(back["naive"], naive.astype("datetime64[ns]"), check_names=False)
    pd.testing.assert_series_equal(back["aware"], naive.astype("datetime64[ns]"), check_names=False)


@pytest.mark.parametrize("frame, word", [
    (pd.DataFrame({"a": [1, 2]}, index=["x", "x"]), "results: row names of R must differ, found 'x' twice"),
    (pd.DataFrame({"a": pd.to_timedelta([1, 2], "s")}), "results: column 'a' of type timedelta64"),
    (pd.DataFrame({"a": [1j]}), "results: column 'a' of type complex128"),
    (5, "results must be a fit, Grid, CVResults"),
    (None, "results must be a fit"),
])
def test_what_cannot_go_to_r_is_refused_by_name(frame, word):
    with pytest.raises((TypeError, ValueError), match=word):
        to_r(frame)


@pytest.mark.parametrize("data_frame", [5, None, pd.DataFrame({"a": [1]})])
def test_what_cannot_come_from_r_is_refused_by_name(data_frame):
    with pytest.raises(TypeError, match="data_frame must be a data.frame, matrix, table or ts of rpy2 or the name"):
        from_r(data_frame)


@pytest.mark.filterwarnings("ignore::fusedlr.exceptions.GridEdgeWarning")
def test_a_grid_and_a_choice_of_penalties_go_to_r(results):
    model = results.model
    grid = model.fit_grid(l1=[2.0, 1.0], l2=[0.1], fusion=[0.0, 1.0])
    there = to_r(grid)
    back = session.call("function(x) list(x$coefficients[2, 'x', 'above3'], x$table$fusion, dim(x$coefficients))",
                        x=there)
    assert back[0][0] == grid.params[1, 1, 2] and back[1].tolist() == [0, 1, 0, 1] and back[2].tolist() == [4, 3, 3]
    cv = model.fit_cv(folds=3, l1=[2.0, 1.0], l2=[0.1], fusion=[0.0, 1.0], progress=False)
    back = session.call("function(x) list(x$chosen, x$table$mean, as.matrix(x$fit$coefficients))", x=to_r(cv))
    assert back[0][0] == cv.chosen + 1
    np.testing.assert_array_equal(back[1], cv.table["mean"])
    np.testing.assert_array_equal(back[2], cv.params)


def test_a_refit_and_a_bootstrap_go_to_r(results):
    refitted = results.refit()
    back = session.call("function(x) list(x$table$coef, as.matrix(x$coefficients), x$fit$llf)", x=to_r(refitted))
    np.testing.assert_array_equal(back[0], refitted.table()["coef"])
    np.testing.assert_array_equal(back[1], refitted.params)
    assert back[2][0] == refitted.llf
    boot = results.bootstrap(n=4, rng=1, progress=False)
    back = session.call("""function(x) {
        list(dim(x$samples), x$samples[2, "age", 1], as.matrix(x$tied), as.matrix(x$errors))
    }""", x=to_r(boot))
    assert back[0].tolist() == [4, 3, 3] and back[1][0] == boot.samples[1, 2, 0]
    np.testing.assert_array_equal(back[2], boot.fusion_frequency)
    np.testing.assert_array_equal(back[3], boot.bse)


def test_matrices_tables_and_time_series_come_as_frames():
    matrix = from_r("state.x77")
    assert matrix.loc["Alaska", "Area"] == 566432 and matrix.shape == (50, 8)
    assert from_r(session.call_raw("function() matrix(1:4, 2)")).columns.tolist() == ["V1", "V2"]
    table = from_r("Titanic")
    assert table.columns.tolist() == ["Class", "Sex", "Age", "Survived", "Freq"] and table["Freq"].sum() == 2201
    assert table["Class"].cat.categories.tolist() == ["1st", "2nd", "3rd", "Crew"]
    series = from_r("AirPassengers")
    assert series.columns.tolist() == ["time", "value"] and series["time"].iloc[1] == pytest.approx(1949 + 1 / 12)
    several = from_r("EuStockMarkets")
    assert several.columns.tolist() == ["time", "DAX", "SMI", "CAC", "FTSE"] and len(several) == 1860


def test_a_table_from_r_is_fitted_by_its_counts():
    table = from_r("Titanic")
    model = FusedLogit.from_long(table["Survived"], (table[["Sex"]] == "Female").astype(float), table["Class"],
                                 order=["1st", "2nd", "3rd", "Crew"], weights=table["Freq"])
    fit = model.fit(l1=0.1, fusion=0.1)
    assert (fit.coefs > 1).all().all() and fit.nobs_per_task.sum() == 2201


def test_stability_selections_go_to_r(results):
    found = to_r(results.stability(n=20, progress=False))
    assert list(found.names) == ["stable", "threshold", "multiple", "selected", "changed", "samples"]
    assert tuple(found.rx2("samples").dim) == (20, 3, 3)
