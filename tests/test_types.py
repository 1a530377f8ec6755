"""Type annotations: everything public has them, and they agree with each other."""

import importlib.util
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_overloads, get_type_hints

import numpy as np
import pytest

import fusedlr
from fusedlr import FusedLogit, FusedLogitResults, StabilityResults, fit
from fusedlr.fit import Fit
from fusedlr.inference import Bound, CovType, ErrorRate, Question, What, resampled
from fusedlr.model import Method, Missing
from fusedlr.outcomes import Direction, Kind
from fusedlr.tuning import By, Rule
from tests.processes import said

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fusedlr"
ROOMS = sorted({path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")} - {"__init__"})
STUDY = ROOT / "workflow/study"
MODULES = [f"fusedlr.{room}" for room in ROOMS if room != "sklearn"]
MODULES += ["fusedlr.sklearn"] * (importlib.util.find_spec("sklearn") is not None)  # optional
MODULES += [".".join(path.relative_to(STUDY.parent).with_suffix("").parts) for path in sorted(STUDY.rglob("[a-z]*.py"))]


def functions(owner):
    """Functions of a module's public names, and the public methods and properties of its classes, by name."""
    for name in getattr(owner, "__all__", None) or dir(owner):
        thing = inspect.getattr_static(owner, name)
        thing = getattr(thing, "fget", None) or getattr(thing, "func", None) or getattr(thing, "__func__", thing)
        if inspect.isclass(thing) and thing.__module__.startswith(("fusedlr", "study")):
            yield from ((f"{name}.{inner}", function) for inner, function in functions(thing))
        elif inspect.isfunction(thing) and thing.__module__.startswith(("fusedlr", "study")):
            if not name.startswith("_") and not hasattr(thing, "__dataclass_fields__"):
                yield name, thing


def unannotated(function):
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    return [name for name in [*names, "return"] if name not in function.__annotations__]


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_is_annotated(module):
    found = {name: unannotated(function) for name, function in functions(importlib.import_module(module))}
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_the_package_says_that_it_is_annotated():
    assert (Path(fusedlr.__file__).parent / "py.typed").is_file()


OURS = {"model", "results", "result", "fit", "fitted", "cv", "grid", "refit", "bootstrap", "stability", "problem",
        "penalty", "labels", "design", "spec", "outcome", "solution"}


@pytest.mark.parametrize("module", MODULES)
def test_what_the_package_made_itself_has_a_type_of_its_own(module):
    """Any is for what users hand in: a model or a result that goes from call to call is said to be one."""
    vague = {name: [argument for argument, kind in function.__annotations__.items()
                    if argument in OURS and kind in ("Any", Any)]
             for name, function in functions(importlib.import_module(module))}
    assert {name: arguments for name, arguments in vague.items() if arguments} == ARBITRARY.get(module, {})


# Names of lines in a figure are a user's; files know no type of the package.
ARBITRARY = {"fusedlr.plots": {"survival_curves": ["labels"]}, "fusedlr.io": {"save": ["result"]}}

WORDS = {
    (FusedLogit.__init__, "missing"): Missing, (FusedLogit.fit, "method"): Method, (FusedLogit.fit_cv, "rule"): Rule,
    (FusedLogit.fit_cv, "by"): By, (FusedLogit.from_ordered, "kind"): Kind,
    (FusedLogit.from_ordered, "direction"): Direction, (FusedLogit.from_formula, "kind"): Kind,
    (FusedLogit.from_formula, "direction"): Direction, (FusedLogitResults.refit, "cov_type"): CovType | None,
    (StabilityResults.threshold, "what"): What | None,
    (FusedLogitResults.stability, "what"): What, (FusedLogitResults.stability, "bound"): Bound,
    (FusedLogitResults.multisplit, "error"): ErrorRate, (FusedLogitResults.multisplit, "what"): Question,
}


@pytest.mark.parametrize(("call", "argument"), WORDS, ids=lambda part: getattr(part, "__qualname__", part))
def test_words_are_named_in_the_annotation(call, argument):
    hint = get_type_hints(call)[argument]
    assert hint == WORDS[call, argument]
    words = next(part for part in (hint, *get_args(hint)) if get_origin(part) is Literal)
    default = inspect.signature(call).parameters[argument].default
    assert default in (None, inspect.Parameter.empty, *get_args(words))


def test_the_type_of_a_prediction_follows_from_which():
    """Every word of every outcome gives what the overloads of ``predict`` say; those of resamples are the same."""
    said = {word: overload.__annotations__["return"] for overload in get_overloads(Fit.predict)
            for word in get_args(get_type_hints(overload, vars(fit)).get("which"))}
    X = np.linspace(-1, 1, 40)[:, None] ** [1, 2]
    time, levels = np.resize([1.0, 2.0, 3.0, 3.0], 40), np.arange(40) % 3
    models = [FusedLogit.from_ordered(levels, X), FusedLogit.from_survival(time, levels > 0, X, breaks=[1, 2, 3]),
              FusedLogit.from_survival(time, levels, X, breaks=[1, 2, 3], causes=[1, 2])]
    words = {word for model in models for word in model.outcome.predictions} | {"prob", "linear", "label"}
    assert words == set(said)
    for model in models:
        res = model.fit(0.1, 0.1, 0.1)
        for word in ("prob", "linear", *model.outcome.predictions):
            assert said[word] == f"pd.{type(res.predict(which=word)).__name__}", word
    again = {word: overload.__annotations__["return"] for overload in get_overloads(StabilityResults.predict)
             for word in get_args(get_type_hints(overload, vars(resampled)).get("which"))}
    assert again == said


@pytest.fixture
def mypy():
    """The type checker, beside this Python or on the PATH."""
    found = shutil.which("mypy", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return found or pytest.skip("mypy is not installed (Debian: mypy)")


MISTYPED = """\
from fusedlr import FusedLogit, FusedLogitResults

def choose(model: FusedLogit, res: FusedLogitResults) -> None:
    model.fit_cv(rule="1se", by="bic").refit("cluster")
    model.fit(1.0, 0.1, 1.0, method="admm")
    res.stability().threshold("effects")
    model.fit_cv(rule="1SEE")
    model.fit_cv(by="cp")
    model.fit(1.0, 0.1, 1.0, method="lbfgs")
    FusedLogit.from_ordered([1, 2], [[1], [2]], kind="cumulativ")
    res.refit(cov_type="robust")
    res.stability().threshold("effect")
    model.fit_cv().results
"""


@pytest.mark.slow
def test_a_type_checker_refuses_words_that_do_not_exist(mypy, tmp_path):
    (tmp_path / "mistyped.py").write_text(MISTYPED)
    command = [mypy, "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", tmp_path / "cache",
               tmp_path / "mistyped.py"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600).stdout
    refused = {int(line.split("mistyped.py:")[1].split(":")[0]) for line in found.splitlines() if ": error:" in line}
    assert refused == set(range(7, 14)), found


STRICT = """\
import pandas as pd
from fusedlr import CVResults, FusedLogit, RefitResults, datasets, load, plots

def whole(Y: pd.DataFrame, X: pd.DataFrame) -> CVResults:
    cv = FusedLogit(Y, X, tasks="ring").fit_cv(rng=1, rule="1se")
    FusedLogit.from_long(Y["week4"], X, task=X["age"]).fit(1.0, 0.1, 1.0).save("fit.npz")
    FusedLogit.from_survival(X["age"], Y["week4"], X, breaks=3).fit_grid([1.0], [0.0], [1.0]).results(0)
    refit: RefitResults = cv.refit(ties=False)
    refit.conf_int(), refit.t_test("age"), cv.change_test(), cv.change_test("age").pvalue
    cv.bootstrap(10).conf_int(), cv.stability(10).stable(), cv.multisplit(10).pvalues
    plots.coef_map(cv), plots.intervals(refit), load("fit.npz").summary()
    return cv

whole(*datasets.weeks())
"""


@pytest.mark.slow
def test_a_program_that_uses_the_package_passes_a_strict_type_checker(mypy, tmp_path):
    (tmp_path / "program.py").write_text(STRICT)
    assert said([mypy, "--strict", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir",
                 tmp_path / "cache", tmp_path / "program.py"], cwd=ROOT)


@pytest.mark.slow
def test_mypy_agrees(mypy):
    assert said([mypy], cwd=ROOT)
