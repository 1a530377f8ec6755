"""The same models in Python and R say the same: fits, refits, tests, choices and predictions, without ``tol``."""

import shutil
import warnings

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit
from fusedlr.core import SamplingUnits
from fusedlr.inference.stability import share_needed
from tests.builds import ROOT

pytestmark = [pytest.mark.r, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

if shutil.which("R") is None:
    pytestmark.append(pytest.mark.skip(reason="R is not installed: run make setup"))

AT = {"l1": 1.0, "l2": 0.25, "fusion": 1.5}
GRID = {"l1": [16, 8, 4, 2, 1, 0.5], "l2": [0, 1], "fusion": [0, 0.5, 2, 8]}


def data(n=120, seed=5):
    """Multiples of 1/64, which every reader of decimal numbers reads alike."""
    rng = np.random.default_rng(seed)
    steps = lambda values: np.round(64 * values) / 64  # noqa: E731
    X = steps(rng.normal(size=(n, 4)))
    chance = 1 / (1 + np.exp(-X[:, [0]] - X[:, [1]] * [0.0, 1.0, 1.5]))
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(1, 5)])
    frame[["y1", "y2", "y3"]] = (rng.random((n, 3)) < chance).astype(float)
    frame.loc[:5, "y2"] = np.nan
    frame["w"], frame["o"] = rng.integers(0, 4, n), steps(rng.normal(size=n) / 4)
    frame["year"], frame["person"] = 2001 + np.arange(n) % 4, np.arange(n) // 4
    frame["level"] = 1 + rng.binomial(3, chance[:, 1])
    frame["person2"], frame["start"] = np.arange(n) // 2, np.where(np.arange(n) % 2, 1.5, 0.0)
    frame["stop"] = np.where(np.arange(n) % 2, 1.5 + steps(rng.exponential(2, n)) + 1 / 64, 1.5)
    frame["cause"] = np.where(np.arange(n) % 2, rng.integers(0, 3, n), 0)
    frame["fold"] = np.arange(n) % 3
    frame["u"], frame["v"] = steps(rng.random(n) * 0.98), steps(rng.random(n) * 0.98)
    return frame


@pytest.fixture(scope="session")
def frame():
    return data()


@pytest.fixture(scope="session")
def told(library, frame, tmp_path_factory, run_r):
    """What R says of every model, by name: arrays of numbers."""
    folder = tmp_path_factory.mktemp("parity")
    (folder / "numbers").mkdir()
    frame.to_csv(folder / "data.csv", index=False)
    run_r(["Rscript", ROOT / "tests" / "r" / "parity.R", folder / "data.csv", folder / "numbers"], R_LIBS=str(library))
    return {path.name: np.fromfile(path) for path in (folder / "numbers").iterdir()}


def models(d):
    """The models of parity.R in Python."""
    X, Y, times = d[["x1", "x2", "x3", "x4"]], d[["y1", "y2", "y3"]], d[["x1", "x2"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "wide": FusedLogit(Y, X), "weighted": FusedLogit(Y, X, weights=d["w"], offset=d["o"]),
            "long": FusedLogit.from_long(d["y1"], X, d["year"]),
            "grouped": FusedLogit.from_formula("y1 ~ x1 + x2 + x3 + x4", d, task="year", groups="person"),
            "ring": FusedLogit(Y, X, tasks="ring"), "sequential": FusedLogit.from_ordered(d["level"], X),
            "backward": FusedLogit.from_ordered(d["level"], X, direction="backward"),
            "cumulative": FusedLogit.from_ordered(d["level"], X, kind="cumulative"),
            "risks": FusedLogit.from_survival(d["stop"], d["cause"], times, [1, 2, 4], entry=d["start"], causes=[1, 2],
                                              groups=d["person2"]),
            "survival": FusedLogit.from_survival(d["stop"], d["cause"] > 0, times, 3)}


@pytest.fixture(scope="session")
def python(frame):
    return models(frame)


def flat(table):
    """Numbers in the order of R's arrays: rows inside."""
    return np.asarray(table, dtype=float).ravel(order="F")


def close(ours, theirs, tolerance):
    assert ours.shape == theirs.shape
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    size = np.maximum(np.abs(ours), 1.0)
    worst = np.nanmax(np.abs(ours - theirs) / size, initial=0.0)
    assert worst <= tolerance, f"largest difference {worst:.1e}"


@pytest.mark.parametrize("name", ["wide", "weighted", "long", "grouped", "ring", "sequential", "backward", "risks",
                                  "survival"])
def test_fits_say_the_same(told, python, name):
    res = python[name].fit(**AT)
    assert flat(res.params).tobytes() == told[f"{name}.params"].tobytes()
    close(flat(res.fittedvalues), told[f"{name}.fitted"], 1e-12)
    for kind in ("resid_response", "resid_pearson", "resid_deviance"):
        close(flat(getattr(res, kind)), told[f"{name}.{kind}"], 1e-11)
    for kind in ("llf", "df_effective", "aic", "nobs"):
        close(flat(getattr(res, kind)), told[f"{name}.{kind}"], 0)
    for kind in ("bic", "df_resid"):
        close(flat(getattr(res, kind)), told[f"{name}.{kind}"], 1e-14)


@pytest.mark.parametrize("name", ["wide", "weighted", "long", "grouped", "ring", "sequential", "backward", "risks",
                                  "survival"])
def test_refits_and_tests_say_the_same(told, python, name):
    res = python[name].fit(**AT)
    for word, refitted in {"refit": res.refit(), "untied": res.refit(ties=False)}.items():
        close(flat(refitted.fit.values), told[f"{name}.{word}_values"], 0)
        close(flat(refitted.fit.cov.T), told[f"{name}.{word}_cov"], 0)
        close(flat(refitted.llf), told[f"{name}.{word}_llf"], 0)
        close(flat(refitted.table()["P>|z|"]), told[f"{name}.{word}_p"], 1e-12)
    close(flat(res.refit(cov_type="nonrobust").fit.cov.T), told[f"{name}.nonrobust_cov"], 0)
    close(flat(res.change_test()), told[f"{name}.change"], 1e-10)
    close(flat(res.differences()), told[f"{name}.differences"], 1e-12)


@pytest.mark.parametrize("name, which", [("backward", "levels"), ("backward", "rank"), ("cumulative", "levels"),
                                         *((model, which) for model in ("risks", "survival")
                                           for which in ("hazard", "survival", "incidence", "median"))])
def test_predictions_say_the_same(told, python, name, which):
    close(flat(python[name].fit(**AT).predict(which=which)), told[f"{name}.{which}"], 1e-12)


def test_the_incidence_of_a_cause_in_new_rows_is_the_same(told, python, frame):
    found = python["risks"].fit(**AT).predict(frame[["x1", "x2"]][:5], which="incidence", cause=2)
    close(flat(found), told["risks.incidence_2"], 1e-12)
    close(flat(python["survival"].outcome.breaks), told["survival.breaks"], 0)
    close(flat(python["cumulative"].fit(**AT).llf), told["cumulative.llf"], 1e-12)


@pytest.mark.parametrize("name, folds", [("wide", "fold"), ("weighted", "fold"), ("grouped", "person")])
def test_cross_validations_choose_the_same(told, frame, name, folds):
    X, Y = frame[["x1", "x2", "x3", "x4"]], frame[["y1", "y2", "y3"]]
    model = {"wide": lambda: FusedLogit(Y, X), "weighted": lambda: FusedLogit(Y, X, weights=frame["w"]),
             "grouped": lambda: FusedLogit.from_long(frame["y1"], X, frame["year"], groups=frame["person"])}[name]()
    cv = model.fit_cv(folds=frame[folds] if folds == "fold" else frame[folds] % 4, **GRID)
    close(flat(cv.table[["l1", "l2", "fusion"]]), told[f"cv_{name}.points"], 0)
    for column in ("mean", "se", "se_difference"):
        close(flat(cv.table[column]), told[f"cv_{name}.{column}"], 0)
    assert told[f"cv_{name}.chosen"].tolist() == [cv.best, cv.one_se]
    assert flat(cv.params).tobytes() == told[f"cv_{name}.min"].tobytes()
    assert flat(cv.grid.results(cv.one_se).params).tobytes() == told[f"cv_{name}.1se"].tobytes()


def test_areas_under_the_curve_choose_the_same(told, frame):
    model = FusedLogit(frame[["y1", "y2", "y3"]], frame[["x1", "x2", "x3", "x4"]])
    cv = model.fit_cv(folds=frame["fold"], metric="auc", **GRID)
    assert told["auc.chosen"].tolist() == [cv.best, cv.one_se]
    close(flat(cv.table["mean"]), told["auc.mean"], 0)
    close(flat(cv.table["se_difference"]), told["auc.se_difference"], 0)


def test_criteria_choose_the_same(told, frame):
    cv = FusedLogit(frame[["y1", "y2", "y3"]], frame[["x1", "x2", "x3", "x4"]]).fit_cv(by="ebic", **GRID)
    for column in ("df_effective", "aic", "bic", "ebic"):
        close(flat(cv.table[column]), told[f"criteria.{column}"], 1e-14)
    assert told["criteria.chosen"].tolist() == [cv.best]


def test_draws_of_given_uniform_numbers_are_the_same(told, python, frame):
    groups = FusedLogit.from_long(frame["y1"], frame[["x1"]], frame["year"], groups=frame["person"]).problem.groups
    count = len(groups.times)
    places = np.floor(frame["u"][:count].to_numpy() * count).astype(np.int64)
    drawn = SamplingUnits(groups.code, groups.times).drawn(places, frame["v"][:count].to_numpy())
    assert drawn.tobytes() == told["resampling.drawn"].tobytes()
    for q in range(1, 7):
        for bound in ("none", "unimodal"):
            close(flat(share_needed(q, 12, 1.0, 60, bound)), told[f"share.{q}.{bound}"], 1e-15)
