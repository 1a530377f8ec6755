"""The table of both languages' features in docs/r.md names what there is, and all of it."""

import inspect
import re
import shutil
from functools import reduce
from importlib import import_module

import pytest

import fusedlr
from tests.builds import ROOT
from tests.processes import said

pytestmark = pytest.mark.r

if shutil.which("Rscript") is None:
    pytestmark = [pytestmark, pytest.mark.skip(reason="R is not installed: run make setup")]

# Functions of the R package with their arguments, read from the source: nothing need be compiled.
ARGUMENTS = """
here <- new.env()
for (file in list.files("R", full.names = TRUE)) sys.source(file, here)
for (name in ls(here)) if (is.function(here[[name]])) cat(name, names(formals(here[[name]])), "\\n")
"""
# Members of the classes that are no features: how files are read, and views of a model without its data.
INSIDE = {"check_loaded", "with_data", "without_data"}
CLASSES = ("FusedLogit", "FusedLogitResults", "CVResults", "Grid", "RefitResults", "BootstrapResults",
           "StabilityResults")


def rows():
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    table = page.split("### Both languages, side by side")[1].split("###")[0]
    cells = [line.strip().strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    assert len(cells) > 40 and {len(row) for row in cells} == {3}
    return cells


def named(cell):
    """Names in backticks with their arguments: ``f(a=, b =)`` is ("f", ["a", "b"])."""
    found = re.findall(r"`([\w.]+)(?:\(([^`]*)\))?`", cell)
    return [(name, re.findall(r"([\w.]+) ?=(?:,|$)", arguments or "")) for name, arguments in found]


def python_object(name):
    first, *rest = name.split(".")
    home = getattr(fusedlr, first) if first in fusedlr.__all__ else import_module(f"fusedlr.{first}")
    return reduce(getattr, rest, home)


@pytest.fixture(scope="module")
def r_functions():
    lines = said(["Rscript", "-e", ARGUMENTS], cwd=ROOT / "R-package").splitlines()
    return {words[0]: set(words[1:]) for words in map(str.split, lines)}


def of_r(name, functions):
    """Arguments of a function of R and of its methods; None where there is no such function."""
    methods = [found for found in functions if found == name or re.fullmatch(rf"{re.escape(name)}\.(default|formula|"
                                                                            r"(\w+\.)?fusedlr)", found)]
    return set().union(*(functions[found] for found in methods)) if methods else None


def test_everything_in_the_table_is_there(r_functions):
    for _, python, r in rows():
        for name, arguments in named(python):
            known = inspect.signature(python_object(name)).parameters
            assert set(arguments) <= set(known), (name, arguments)
        for name, arguments in named(r):
            known = of_r(name, r_functions)
            assert known is not None or not arguments or name == "factor", name
            assert set(arguments) <= (known or set()), (name, arguments)


def test_everything_of_python_is_in_the_table():
    told = {name: set() for _, python, _ in rows() for name, _ in named(python)}
    for _, python, _ in rows():
        for name, arguments in named(python):
            told[name] |= set(arguments)
    members = {name.split(".")[-1] for name in told}
    for kind in CLASSES:
        public = {name for name, value in inspect.getmembers(getattr(fusedlr, kind))
                  if not name.startswith("_") and callable(value)}
        assert public - INSIDE <= members, kind
    assert set(inspect.signature(fusedlr.FusedLogit).parameters) <= told["FusedLogit"]
    fitting = told["FusedLogit.fit"] | told["FusedLogit.fit_cv"]
    for method in (fusedlr.FusedLogit.fit, fusedlr.FusedLogit.fit_cv):
        assert set(inspect.signature(method).parameters) - {"self"} <= fitting


def test_everything_of_r_is_in_the_table(r_functions):
    told = {}
    for _, _, r in rows():
        for name, arguments in named(r):
            told.setdefault(name, set()).update(arguments)
    namespace = (ROOT / "R-package" / "NAMESPACE").read_text(encoding="ascii")
    exported = re.search(r"export\(([^)]*)\)", namespace)[1].replace("\n", " ").split(",")
    assert {name.strip() for name in exported} <= set(told)
    assert r_functions["fusedlr.default"] | r_functions["fusedlr.formula"] <= told["fusedlr"] | {"..."}
    assert r_functions["cv.fusedlr.default"] <= told["cv.fusedlr"] | told["fusedlr"] | {"..."}
