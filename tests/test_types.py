"""Type annotations: everything public has them, and they agree with each other."""

import importlib
import inspect
import shutil
from pathlib import Path

import pytest

import fusedlr
from tests.processes import said

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fusedlr"
ROOMS = sorted({path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")} - {"__init__"})
STUDY = ROOT / "workflow/study"
MODULES = [f"fusedlr.{room}" for room in ROOMS]
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


@pytest.mark.slow
def test_mypy_agrees():
    if not shutil.which("mypy"):
        pytest.skip("mypy is not installed (Debian: mypy)")
    assert said(["mypy"], cwd=ROOT)
