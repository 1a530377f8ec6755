"""R's ada through rpy2 gives the margins of R's ada by itself, rpart alone the same, and edges defined answers."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fusedlr.r import RMissingError, engines, session
from fusedlr.r.ada import ONE_CLASS_MARGIN, available, boost
from study.simulate import simulate

from .conftest import ROOT, simulated

pytestmark = pytest.mark.r


def plain_margins(folder, problems):
    """Margins of the plain call, made by Rscript, for (X, y, X_new, seeds) in turn."""
    folders = []
    for number, (X, y, X_new, seeds) in enumerate(problems):
        place = folder / str(number)
        place.mkdir()
        parts = {"size": np.array([X.shape[0], *seeds], dtype=float), "X": X, "y": y, "X_new": X_new}
        for name, values in parts.items():
            values.ravel(order="F").tofile(place / name)
        folders.append(place)
    script = Path(__file__).with_name("plain_ada.R")
    paths = os.pathsep.join([os.environ.get("FUSEDLR_RLIB", ""), str(ROOT / ".rlib")])
    subprocess.run([shutil.which("Rscript"), "--vanilla", str(script), *map(str, folders)], check=True, timeout=600,
                   env={**os.environ, "R_LIBS": paths}, capture_output=True)
    return [np.fromfile(place / "margins") for place in folders]


def check_identity(folder, sizes, n_features):
    problems, ours = [], []
    for size in sizes:
        X, Y, X_new = simulated(size, n_features, n_tasks=1, seed=size)
        result = boost(X, Y, X_new, seed=size, by="ada")
        problems.append((X, Y[:, 0], X_new, result.settings["seeds"][0]))
        ours.append(result.margins[:, 0])
    for mine, plain in zip(ours, plain_margins(folder, problems)):
        np.testing.assert_array_equal(mine, plain)


@pytest.mark.ada
def test_margins_are_bit_identical_to_the_plain_call_in_an_r_of_its_own(tmp_path):
    check_identity(tmp_path, [25, 50, 100, 200], n_features=30)


@pytest.mark.ada
@pytest.mark.slow
def test_margins_are_bit_identical_at_the_study_s_largest_size(tmp_path):
    check_identity(tmp_path, [400], n_features=100)


@pytest.mark.ada
def test_margins_are_bit_identical_for_a_single_feature(tmp_path):
    check_identity(tmp_path, [60], n_features=1)


def assert_rpart_is_ada(X, y, X_new, **arguments):
    """Margins of both, which must agree to the last bit and its sign; warnings are errors on both sides."""
    ada, rpart = (boost(X, y, X_new, seed=7, by=by, **arguments).margins for by in ("ada", "rpart"))
    assert rpart.tobytes() == ada.tobytes()
    return rpart


def dataset(source):
    """The columns of a data set that comes with R, the label last: features and label."""
    table = session.call(f"function() data.matrix(na.omit({source}))", packages=["rpart"])
    return table[:, :-1], table[:, -1]


@pytest.mark.ada
@pytest.mark.parametrize("case", ["a", "d", "h"])
@pytest.mark.parametrize("size", [25, 50, 100, 200, 400])
def test_rpart_alone_is_bit_identical_to_ada_on_the_study_s_data(case, size):
    data = simulate(case, 1, 1)
    margins = assert_rpart_is_ada(data["X_train"][:size], data["Y_train"][:size, 0], data["X_test"])
    assert (np.ptp(margins, axis=0) > 0).all() == (size > 25)


@pytest.mark.ada
@pytest.mark.parametrize("source", [
    "transform(datasets::airquality, high = Ozone > 40)[-1]",
    "datasets::mtcars[c(2:8, 10:11, 9)]",
    "datasets::infert[c('age', 'parity', 'induced', 'spontaneous', 'case')]",
    "transform(datasets::iris[51:150, 1:4], virginica = seq_len(100) > 50)",
    "transform(rpart::kyphosis, present = Kyphosis == 'present')[-1]",
])
def test_rpart_alone_is_bit_identical_to_ada_on_real_data_with_ties(source):
    X, y = dataset(source)
    assert len(np.unique(X[:, 0])) < len(X)
    assert_rpart_is_ada(X, y, X[::-1])
    margins = assert_rpart_is_ada(np.column_stack([np.ones(len(X)), X]), y, np.column_stack([np.zeros(len(X)), X]),
                                  iterations=50, control={"minsplit": 4})
    assert np.ptp(margins) > 0


@pytest.mark.ada
@pytest.mark.parametrize("bag_frac", [0, 0.3, 0.5, 0.9, 1])
@pytest.mark.parametrize("members", [1, 2, 3])
def test_rpart_alone_is_bit_identical_to_ada_for_a_rare_class(members, bag_frac):
    """R draws the only member of a class, row k, from rows 1 to k, so that a bag may hold one class only."""
    X, _, X_new = simulated(60, n_features=3, n_tasks=1)
    for first in (0, 30):
        y = np.isin(np.arange(60), first + np.arange(members))
        margins = assert_rpart_is_ada(X, np.column_stack([y, ~y]), X_new, iterations=40, bag_frac=bag_frac,
                                      control={"minsplit": 2})
        assert np.isfinite(margins).all()


@pytest.mark.ada
@pytest.mark.parametrize("n_rows", [3, 4, 5, 8])
def test_rpart_alone_is_bit_identical_to_ada_for_all_labels_of_few_rows(n_rows):
    codes = np.arange(1, min(2**n_rows - 1, 40))
    Y = (codes >> np.arange(n_rows)[:, None] & 1).astype(float)
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 2))
    for bag_frac in (0, 0.3, 0.5, 1):
        margins = assert_rpart_is_ada(X, Y, X[:1], iterations=10, bag_frac=bag_frac)
        assert margins.shape == (1, len(codes))


@pytest.mark.ada
@pytest.mark.parametrize("nu", [0, 0.1, 1])
@pytest.mark.parametrize("control", [
    {"xval": 10, "maxcompete": 4, "maxsurrogate": 5},
    {"maxdepth": 1, "cp": -1, "minsplit": 0},
    {"minbucket": 0, "cp": 0, "usesurrogate": 0, "surrogatestyle": 1},
    {"cp": 1},
])
def test_rpart_alone_is_bit_identical_to_ada_under_other_settings(control, nu):
    X, Y, X_new = simulated(80, n_features=4, n_tasks=1)
    for features in (slice(None), slice(1)):
        for rows in (np.arange(80), np.arange(80) // 2):  # each row once, and twice
            assert_rpart_is_ada(X[rows, features], Y[rows], X_new[:, features], iterations=60, nu=nu, control=control)


@pytest.mark.ada
def test_rpart_alone_is_bit_identical_to_ada_where_trees_make_hardly_an_error():
    """Weighted errors from exactly 0, over those lost in rounding 1 - error, to some that are merely small."""
    y = np.array([1.0, 1, 1, 0])
    for nu in [*np.linspace(0.5, 8, 16), *np.linspace(30, 40, 41)]:
        assert_rpart_is_ada(np.ones((4, 1)), y, [[1.0]], iterations=2, nu=nu, bag_frac=1)
    X = np.linspace(-1, 1, 60)[:, None]
    assert_rpart_is_ada(X, X[:, 0] > 0, X)


def test_ada_is_taken_where_it_is_installed_else_rpart(monkeypatch):
    X, Y, X_new = simulated(60)
    assert available() == ("ada" if session.has_package("ada") else "rpart")
    assert boost(X, Y, X_new, seed=1, iterations=5).settings["by"] == available()
    monkeypatch.setitem(engines.PACKAGES, "ada", ("rpart", "nonesuch"))
    assert available() == "rpart"
    result = boost(X, Y, X_new, seed=1, iterations=5)
    assert (result.settings["by"], result.settings["source"]) == ("rpart", None)
    np.testing.assert_array_equal(result.margins, boost(X, Y, X_new, seed=1, iterations=5, by="rpart").margins)
    with pytest.raises(RMissingError, match="'nonesuch' is not installed"):
        boost(X, Y, X_new, seed=1, iterations=5, by="ada")


def test_without_rpart_there_is_no_boosting(monkeypatch):
    for by in engines.PACKAGES:
        monkeypatch.setitem(engines.PACKAGES, by, ("nonesuch",))
    assert available() is None
    with pytest.raises(RMissingError, match="'nonesuch' is not installed"):
        boost(*simulated(60), seed=1)


@pytest.mark.ada
@pytest.mark.parametrize("noted, expected", [
    (None, None),
    ("package,version,sha256\n", None),
    ("package,version,sha256\nada,0.1,ab12\nother,{version},ab12\n", None),
    ("package,version,sha256\nother,1.0,cd34\nada,{version},ab12\n", "ab12"),
])
def test_settings_tell_what_set_up_noted_of_the_loaded_ada(noted, expected, in_new_process, tmp_path):
    place = session.call("function() getNamespaceInfo('ada', 'path')", packages=["ada"])[0]
    version = session.versions("ada")["ada"]
    shutil.copytree(place, tmp_path / "mine/ada")
    if noted:
        (tmp_path / "mine/sources.csv").write_text(noted.format(version=version), encoding="utf-8")
    code, out, err = in_new_process(
        "import json, numpy; from fusedlr.r import boost; X = numpy.arange(9.0)[:, None]\n"
        "print(json.dumps(boost(X, X[:, 0] > 3, X, seed=1, iterations=1).settings))",
        FUSEDLR_RLIB=str(tmp_path / "mine"))
    assert code == 0, err
    assert json.loads(out)["source"] == (expected and {"version": version, "sha256": expected})


@pytest.mark.ada
def test_our_arguments_are_the_defaults_of_the_packages_except_for_iterations():
    X, Y, X_new = simulated(30, n_tasks=1)
    settings = boost(X, Y, X_new, seed=1).settings
    defaults = session.call("""function() {
        f <- formals(utils::getS3method("ada", "default", envir = asNamespace("ada")))
        list(loss = eval(f$loss)[1], type = eval(f$type)[1], nu = eval(f$nu), bag.frac = eval(f$bag.frac),
             model.coef = eval(f$model.coef), bag.shift = eval(f$bag.shift), max.iter = eval(f$max.iter),
             delta = eval(f$delta), verbose = eval(f$verbose))
    }""", packages=["ada"])
    assert {name: value[0] for name, value in defaults.items()} | {"iter": 200} == settings["arguments"]
    control = session.call("function() rpart::rpart.control()")
    printing_only = {"xval": 0, "maxcompete": 0, "maxsurrogate": 0}
    assert {name: value[0] for name, value in control.items()} | printing_only == settings["control"]


@pytest.mark.parametrize("by, packages", [pytest.param("ada", {"ada", "rpart"}, marks=pytest.mark.ada),
                                          ("rpart", {"rpart"})])
def test_settings_tell_versions_seeds_and_random_numbers_and_go_into_json(by, packages):
    X, Y, X_new = simulated(30)
    settings = boost(X, Y, X_new, seed=3, iterations=5, by=by).settings
    assert settings["by"] == by
    assert set(settings["versions"]) == {"R", "rpy2", *packages}
    assert settings["rng"] == ["Mersenne-Twister", "Inversion", "Rejection"]
    assert len(settings["seeds"]) == 2 and all(0 <= s < 2**31 for pair in settings["seeds"] for s in pair)
    assert settings["arguments"]["iter"] == 5
    assert json.loads(json.dumps(settings)) == settings


def test_the_same_seed_gives_the_same_margins_whatever_ran_before():
    X, Y, X_new = simulated(60)
    first = boost(X, Y, X_new, seed=11, iterations=20).margins
    session.call("function() { RNGkind('Wichmann-Hill'); set.seed(1); runif(3) }")
    boost(X, Y, X_new, seed=12, iterations=5)
    np.testing.assert_array_equal(boost(X, Y, X_new, seed=11, iterations=20).margins, first)
    session.call("function() RNGkind('default', 'default', 'default')")


def test_a_seed_sequence_and_its_number_agree_and_are_left_untouched():
    X, Y, X_new = simulated(60)
    sequence = np.random.SeedSequence(11)
    margins = boost(X, Y, X_new, seed=sequence, iterations=20).margins
    np.testing.assert_array_equal(margins, boost(X, Y, X_new, seed=11, iterations=20).margins)
    assert sequence.n_children_spawned == 0
    child = np.random.SeedSequence(11).spawn(1)[0]
    assert not np.array_equal(margins, boost(X, Y, X_new, seed=child, iterations=20).margins)


def test_random_numbers_of_the_user_s_r_are_left_as_they_were():
    X, Y, X_new = simulated(40)
    draw = "function() { set.seed(5); runif(1) }"
    session.call(draw)
    expected = session.call("function() runif(2)")
    session.call(draw)
    boost(X, Y, X_new, seed=1, iterations=5)
    np.testing.assert_array_equal(session.call("function() runif(2)"), expected)


def test_an_old_kind_of_random_numbers_comes_back_without_a_warning():
    X, Y, X_new = simulated(40)
    session.call("function() suppressWarnings(RNGkind(sample.kind = 'Rounding'))")
    boost(X, Y, X_new, seed=1, iterations=5)
    assert session.call("function() RNGkind()")[2] == "Rounding"
    session.call("function() RNGkind('default', 'default', 'default')")


def test_columns_of_new_rows_are_found_by_name():
    X, Y, X_new = simulated(60, n_features=4)
    names = list("abcd")
    frame, new = pd.DataFrame(X, columns=names), pd.DataFrame(X_new, columns=names)
    new = new.assign(other=1.0)[["d", "b", "other", "a", "c"]]
    np.testing.assert_array_equal(boost(frame, Y, new, seed=3, iterations=10).margins,
                                  boost(X, Y, X_new, seed=3, iterations=10).margins)
    with pytest.raises(ValueError, match=r"X_new must have the columns of X, missing are .'c'."):
        boost(frame, Y, new.drop(columns="c"), seed=3)


def test_whole_numbers_of_r_are_whole_numbers():
    X, Y, X_new = simulated(60)
    np.testing.assert_array_equal(boost(X, Y, X_new, seed=3.0, iterations=10.0, control={"maxdepth": 2.0}).margins,
                                  boost(X, Y, X_new, seed=3, iterations=10, control={"maxdepth": 2}).margins)


def test_a_task_does_not_depend_on_the_tasks_beside_it():
    X, Y, X_new = simulated(60)
    alone = boost(X, Y[:, 0], X_new, seed=2, iterations=20).margins
    assert alone.shape == (200, 1)
    np.testing.assert_array_equal(alone[:, 0], boost(X, Y, X_new, seed=2, iterations=20).margins[:, 0])


def test_rows_without_a_label_are_left_out_for_that_task():
    X, Y, X_new = simulated(80)
    holed = Y.copy()
    holed[60:, 0] = np.nan
    result = boost(X, holed, X_new, seed=4, iterations=20).margins
    np.testing.assert_array_equal(result[:, 0], boost(X[:60], Y[:60], X_new, seed=4, iterations=20).margins[:, 0])
    np.testing.assert_array_equal(result[:, 1], boost(X, Y, X_new, seed=4, iterations=20).margins[:, 1])


def test_one_class_gives_a_constant_margin_with_its_sign():
    X, Y, X_new = simulated(30, n_tasks=3)
    Y[:, 0], Y[:, 2] = 1, np.where(np.arange(30) < 5, np.nan, 0)
    result = boost(X, Y, X_new, seed=4, iterations=5)
    assert (result.margins[:, 0] == ONE_CLASS_MARGIN).all()
    assert (result.margins[:, 2] == -ONE_CLASS_MARGIN).all()
    assert result.settings["one_class"] == [0, 2]


@pytest.mark.parametrize("n_rows", [3, 4, 10, 25])
def test_too_few_rows_to_split_give_a_constant_margin(n_rows):
    X, Y, X_new = simulated(n_rows, n_tasks=1)
    Y[:, 0] = 0
    Y[0] = 1
    margins = boost(X, Y, X_new, seed=4, iterations=30).margins
    assert np.isfinite(margins).all() and np.ptp(margins) == 0


def test_smaller_trees_split_where_the_default_does_not():
    X, Y, X_new = simulated(25, n_tasks=1)
    result = boost(X, Y, X_new, seed=4, iterations=30, control={"minsplit": 6})
    assert np.ptp(result.margins) > 0
    assert result.settings["control"]["minbucket"] == 2


@pytest.mark.parametrize("change, word", [
    ({"X": [[1.0], [np.nan]]}, "X must be finite"),
    ({"X": "a"}, "X must hold numbers"),
    ({"X": [["a"], ["b"]]}, "X must hold numbers"),
    ({"X": np.ma.masked_greater([[1.0], [2.0]], 1)}, "X must not be masked"),
    ({"Y": [[0.0], [2.0]]}, "Y must hold 0, 1 or nan"),
    ({"Y": [["a"], ["b"]]}, "Y must hold numbers"),
    ({"Y": [[np.nan], [np.nan]]}, "observed label"),
    ({"Y": [[0.0], [1.0], [1.0]]}, "one row for each of the 2 rows"),
    ({}, "bags of at least 2 rows"),
    ({"X_new": [[1.0, 2.0]]}, "X_new must have the 1 columns"),
    ({"X_new": None}, "X_new must hold numbers"),
    ({"seed": -1}, "seed must be"),
    ({"seed": "a"}, "seed must be"),
    ({"iterations": 0}, "iterations must be"),
    ({"iterations": 2.5}, "iterations must be"),
    ({"nu": "a"}, "nu must be"),
    ({"nu": np.inf}, "nu must be finite"),
    ({"bag_frac": 2}, "bag_frac must lie"),
    ({"bag_frac": None}, "bag_frac must be"),
    ({"by": "gbm"}, "by must be 'ada' or 'rpart', found 'gbm'"),
    ({"by": 1}, "by must be 'ada' or 'rpart', found 1"),
    ({"control": 5}, "control must be a dict"),
    ({"control": {"cpp": 1}}, "rpart.control, found .'cpp'."),
    ({"control": {"cp": np.nan}}, "control..cp.. must be finite"),
    ({"control": {"cp": "a"}}, "control..cp.. must be a number"),
    ({"control": {"minbucket": -1}}, "control..minbucket.. must be from 0"),
    ({"control": {"maxdepth": 31}}, "control..maxdepth.. must be from 1 to 30"),
    ({"control": {"xval": 2**40}}, "control..xval.. must be from"),
    ({"control": {"usesurrogate": [1]}}, "control..usesurrogate.. must be a whole number"),
])
def test_bad_input_is_told_in_words(change, word):
    good = {"X": [[1.0], [2.0]], "Y": [[0.0], [1.0]], "X_new": [[1.0]], "seed": 1}
    with pytest.raises((TypeError, ValueError), match=word):
        boost(**{**good, **change})


@pytest.mark.parametrize("control", [
    {"maxcompete": 1000, "maxsurrogate": 1000, "xval": 1000},
    {"minsplit": 0, "minbucket": 0, "cp": -1, "maxdepth": 1},
    {"minsplit": 10**6},
])
def test_the_ends_of_what_is_allowed_do_not_crash_r(control):
    X, Y, X_new = simulated(40, n_features=3)
    assert np.isfinite(boost(X, Y, X_new, seed=1, iterations=3, control=control).margins).all()
