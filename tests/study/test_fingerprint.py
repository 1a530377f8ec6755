"""The name of the code changes with the code that counts and with nothing else."""

import shutil
from pathlib import Path

import pytest

from fusedlr.study.fingerprint import LEFT_OUT, code_of, fingerprint, sources

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "workflow/scripts").glob("*.py"))
CODE = '"""About."""\n\ndef f(x):\n    """Doubles."""\n    return 2 * x\n'


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources."""
    return shutil.copytree(ROOT / "fusedlr", tmp_path / "fusedlr", ignore=shutil.ignore_patterns("*.so", "__pycache__"))


def changed(package, module, old, new):
    """Scripts whose fingerprint changes when a line of a module does."""
    before = {script.stem: fingerprint(script, package) for script in SCRIPTS}
    text = (package / module).read_text(encoding="utf-8")
    assert old in text
    (package / module).write_text(text.replace(old, new, 1), encoding="utf-8")
    return {script.stem for script in SCRIPTS if fingerprint(script, package) != before[script.stem]}


def reached(script):
    return {path.relative_to(ROOT).as_posix() for path in sources(ROOT / "workflow/scripts" / script, ROOT / "fusedlr")}


@pytest.mark.parametrize("other", [
    CODE.replace("About", "On"), CODE.replace("Doubles", "Twice\n\n    and more"), CODE + "# a comment\n",
    CODE.replace("2 * x", "2 * x  # twice"), CODE.replace("def", "\n\ndef"), CODE.replace("Doubles", "Größe: ×2")])
def test_comments_docstrings_and_blank_lines_do_not_count(other):
    assert code_of(other) == code_of(CODE)


@pytest.mark.parametrize("other", [
    CODE.replace("2 * x", "3 * x"), CODE + "y = 1\n", CODE.replace("f(x)", "g(x)"), CODE + 'y = "# no comment"\n'])
def test_code_counts(other):
    assert code_of(other) != code_of(CODE)


def test_what_is_left_of_a_file_is_its_own_text():
    """No Python writes the code anew: it would write it otherwise than the next one."""
    text = '"""A."""\nx = f"{1 + 1!r:>4}"  # why\n\n\nclass B:\n    "C."\n    y = \'"\'; z = (1,\n         2)\n'
    assert code_of(text) == 'x = f"{1 + 1!r:>4}"\nclass B:\n    y = \'"\'; z = (1,\n         2)'


def test_a_script_reaches_what_it_imports_by_any_way():
    assert {"fusedlr/study/simulate.py", "fusedlr/study/files.py"} <= reached("simulate.py")
    assert {"fusedlr/core/_core.pyx", "fusedlr/core/solver.hpp", "fusedlr/objective.py"} <= reached("grid.py")
    assert "fusedlr/r/session.py" in reached("adaboost.py")
    without_fits = reached("simulate.py") | reached("adaboost.py") | reached("claims.py")
    assert "fusedlr/optimality/certificate.py" not in without_fits


def test_the_table_of_models_does_not_reach_the_solver():
    for script in ("claims.py", "evaluate.py", "figure.py", "report.py"):
        assert not {path for path in reached(script) if "newton" in path}, script


def test_modules_that_change_no_number_are_left_out_and_exist():
    for name in LEFT_OUT:
        modules = [f"fusedlr/{name}.py", *(f"fusedlr/{name}/{path.name}"
                                           for path in (ROOT / "fusedlr" / name).glob("*.py"))]
        assert any((ROOT / module).is_file() for module in modules), name
        assert all(not reached(script.name) & set(modules) for script in SCRIPTS)


@pytest.mark.parametrize(("module", "old", "new", "scripts"), [
    ("study/scores.py", "margins > 0", "margins >= 0", {"collect", "evaluate", "sensitivity", "separable"}),
    ("study/simulate.py", "N_TASKS = 4", "N_TASKS = 5",
     {"simulate", "adaboost", "claims", "compare", "figure", "report", "sensitivity", "separable"}),
    ("r/ada.py", "def boost(X: ", "def boost(x: ", {"adaboost"}),
    ("plots/axes.py", "import numpy as np", "import numpy", set()),
    ("study/report.py", "TITLE = ", "TITLE = 1 and ", {"report"}),
])
def test_a_changed_line_changes_just_the_scripts_that_depend_on_it(package, module, old, new, scripts):
    assert changed(package, module, old, new) == scripts


def test_a_line_of_the_core_changes_all_that_fits(package):
    assert changed(package, "core/solver.hpp", "\n", "\n\n") >= {"grid", "separable", "agreement"}
