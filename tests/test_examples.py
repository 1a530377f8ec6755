"""Everything public that can be called has an example in its docstring, which runs and prints what it shows."""

import contextlib
import doctest
import importlib
import inspect
import io
from importlib.util import find_spec

import pytest

from fusedlr.outcomes import curve_scores, ordered_scores, out_of_fold_scores, survival_scores
from tests.docs.walk import words_and_numbers

ROOMS = ["fusedlr", "fusedlr.datasets", "fusedlr.plots", "fusedlr.r"]
ROOMS += ["fusedlr.sklearn"] * (find_spec("sklearn") is not None)  # optional
SCORES = (curve_scores, ordered_scores, out_of_fold_scores, survival_scores)
OF_FILES = "check_loaded"  # asked by io alone


def methods(cls):
    """Public methods of a class, with those that it has from classes above it in this package."""
    for name in dir(cls):
        thing = inspect.getattr_static(cls, name)
        thing = getattr(thing, "__func__", thing)
        if inspect.isfunction(thing) and thing.__module__.startswith("fusedlr") and name[0] != "_" and name != OF_FILES:
            yield thing


def public_callables():
    """Functions, classes and methods by their full name, each once; warnings and errors are not called."""
    found = {f"{thing.__module__}.{thing.__qualname__}": thing for thing in SCORES}
    for room in map(importlib.import_module, ROOMS):
        for thing in (getattr(room, name) for name in room.__all__ if name != "__version__"):
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                found.update((f"{inner.__module__}.{inner.__qualname__}", inner) for inner in methods(thing))
            if inspect.isfunction(thing) or inspect.isclass(thing) and not issubclass(thing, Exception):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return dict(sorted(found.items()))


CALLABLES = public_callables()


def test_everything_public_that_can_be_called_has_an_example():
    assert len(CALLABLES) > 90
    assert [name for name, thing in CALLABLES.items() if ">>> " not in (thing.__doc__ or "")] == []


class Checker(doctest.OutputChecker):
    """Words as they are shown, numbers to the digits that are shown, at least two."""

    def check_output(self, want, got, flags):
        (words, numbers), (expected, shown) = words_and_numbers(got), words_and_numbers(want)
        return words == expected and bool((abs(numbers - shown) <= 0.011 + 1e-3 * abs(shown)).all())


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.r] * name.startswith("fusedlr.r."))
                                  for name in CALLABLES])
def test_an_example_prints_what_it_shows(name):
    pytest.importorskip("matplotlib").use("Agg")
    thing = CALLABLES[name]
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {thing.__name__: thing}, name, None, None)
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        failed = doctest.DocTestRunner(Checker(), verbose=False).run(example, out=report.write).failed
    importlib.import_module("matplotlib.pyplot").close("all")
    assert failed == 0, report.getvalue()
