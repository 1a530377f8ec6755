"""The R package on the same core: it builds, passes its tests, stops at Ctrl-C, and is bitwise identical to Python."""

import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit
from tests.builds import ROOT
from tests.r.conftest import run
from tests.r.paths import PATHS, ROUNDED
from tests.r.paths import numbers as path_numbers

FIXTURES = ROOT / "tests" / "fixtures"
PROBLEMS = pd.read_csv(FIXTURES / "problems.csv", dtype=str, keep_default_na=False).set_index("name")

pytestmark = [pytest.mark.r, pytest.mark.slow]

if shutil.which("R") is None:
    pytestmark.append(pytest.mark.skip(reason="R is not installed: run make setup"))


def own_tests(library, folder, **environment):
    """Run the tests that are installed with the package, in an empty folder."""
    shutil.copytree(library / "fusedlr" / "tests", folder / "tests")
    return run(["Rscript", "testthat.R"], folder / "tests", R_LIBS=str(library), **environment)


@pytest.fixture(scope="session")
def fits(library, tmp_path_factory):
    """A folder with the coefficients of every problem in R, written while the package tests itself."""
    folder = tmp_path_factory.mktemp("fits")
    own_tests(library, tmp_path_factory.mktemp("tests"), FUSEDLR_WRITE_FITS=str(folder))
    return folder


def test_the_package_passes_its_own_tests(fits):
    assert {path.name for path in fits.iterdir() if "." not in path.name} == set(PROBLEMS.index)


def test_the_package_passes_its_own_tests_without_testthat(library, tmp_path):
    assert own_tests(library, tmp_path, R_LIBS_SITE=str(tmp_path)).count(": ok") > 40


@pytest.mark.parametrize("name", ["README.md", "docs/r.md"])
def test_pages_for_users_of_r_print_what_they_show(library, name):
    page = (ROOT / name).read_text(encoding="utf-8")
    shown = re.findall(r"```R\n(.*?)```\n\n```text\n(.*?)```", page, flags=re.DOTALL)
    assert shown
    for code, expected in shown:
        out = run(["Rscript", "-e", code], R_LIBS=str(library))
        assert [line.rstrip() for line in out.splitlines()] == expected.splitlines()


def numbers(text):
    return [float(word) for word in text.split()]


def edges(text):
    if "-" not in text:
        return text
    parts = [word.replace("*", "-").split("-") for word in text.split()]
    return [(int(j) - 1, int(k) - 1, *map(float, weight)) for j, k, *weight in parts]


def labels(data, kind):
    if not kind:
        return data.filter(regex=r"^y\d").to_numpy()
    rank, steps = data["level"].to_numpy()[:, None], np.arange(1, data["level"].max())
    above = (rank > steps).astype(float)
    return np.where(rank < steps, np.nan, above) if kind == "sequential" else above


def python_params(problem):
    """Coefficients in the order of R's arrays: features inside, then tasks, then points of the grid."""
    data = pd.read_csv(FIXTURES / f"{problem['data']}.csv")
    weights, offset = (part if part.shape[1] else None for part in (data.filter(regex=r"^w\d"),
                                                                    data.filter(regex=r"^o\d")))
    model = FusedLogit(labels(data, problem["kind"]), data.filter(regex=r"^x\d").to_numpy(),
                       tasks=edges(problem["tasks"]), weights=by_row(weights), offset=by_row(offset),
                       penalty_factors=numbers(problem["factors"]) or None,
                       standardize=problem["standardize"] == "TRUE",
                       fuse_intercepts=problem["fuse_intercepts"] == "TRUE")
    lists = {name: numbers(problem[name]) for name in ("l1", "l2", "fusion")}
    if max(map(len, lists.values())) > 1:
        params = model.fit_grid(**lists, tol=float(problem["tol"])).params
    else:
        params = model.fit(**{name: value for name, (value,) in lists.items()},
                           tol=float(problem["tol"])).params.to_numpy()[None]
    return params.transpose(0, 2, 1).ravel()


def by_row(frame):
    return None if frame is None else frame.to_numpy()[:, 0] if frame.shape[1] == 1 else frame.to_numpy()


@pytest.mark.parametrize("name", PROBLEMS.index)
def test_python_and_r_give_the_same_bytes(fits, name):
    ours, theirs = python_params(PROBLEMS.loc[name]), np.fromfile(fits / name)
    assert ours.shape == theirs.shape
    assert ours.tobytes() == theirs.tobytes(), f"largest difference {np.abs(ours - theirs).max():.1e}"


@pytest.mark.parametrize("name", PATHS.index)
def test_every_public_path_gives_the_same_numbers_in_python_and_r(fits, name):
    for path, ours in path_numbers(PATHS.loc[name]).items():
        ours, theirs = np.asarray(ours, dtype=float), np.fromfile(fits / f"{name}.{path}")
        cumulative = path == "loglik" and PATHS.loc[name, "door"] == "cumulative"  # numpy multiplies its chances
        if path in ROUNDED or cumulative:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=path)
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=path)


LONG_FIT = """
set.seed(1)
x <- matrix(rnorm(4e6), 2000)
y <- matrix(rbinom(2e4, 1, 0.5), 2000)
cat("ready\\n")
tryCatch(repeat fusedlr::fusedlr(x, y, l1 = 0.01, fusion = 0.01, tol = 1e-13),
         interrupt = function(e) cat("stopped\\n"))
b <- coef(fusedlr::fusedlr(x[1:100, 1:3], y[1:100, ], l1 = 1, fusion = 1))
cat(all(is.finite(b)), "\\n")
"""


def test_ctrl_c_stops_a_fit_within_a_second_and_r_goes_on(library):
    child = subprocess.Popen(["Rscript", "-e", LONG_FIT], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "R_LIBS": str(library)})
    with child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert child.stdout.readline() == "stopped\n"
        took = time.monotonic() - start
        assert child.stdout.readline() == "TRUE \n"
    assert child.returncode == 0 and took < 2, took  # a second for the solver, one for a busy machine
