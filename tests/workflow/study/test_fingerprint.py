"""The name of the code changes with the code that counts and with nothing else."""

import shutil
from pathlib import Path

import pytest

from study.fingerprint import code_of, fingerprint, sources

ROOT = Path(__file__).parents[3]
PACKAGES = ("fusedlr", "workflow/study")
SCRIPTS = sorted((ROOT / "workflow/scripts").glob("*.py"))
#: Scripts that know the rule for separated data.
UNPENALIZED = {"provenance", "sensitivity", "separable"}
#: Scripts that compare models on a table of the user's own.
OWN = {"own_report", "own_split"}
CODE = '"""About."""\n\ndef f(x):\n    """Doubles."""\n    return 2 * x\n'


@pytest.fixture
def project(tmp_path):
    """A copy of the sources of both packages."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return tmp_path


def fingerprints(project):
    return {script.stem: fingerprint(script, *map(project.joinpath, PACKAGES)) for script in SCRIPTS}


def changed(project, module, old, new):
    """Scripts whose fingerprint changes when a line of a module does."""
    before = fingerprints(project)
    text = (project / module).read_text(encoding="utf-8")
    assert old in text
    (project / module).write_text(text.replace(old, new, 1), encoding="utf-8")
    return {script for script, name in fingerprints(project).items() if name != before[script]}


def reached(script):
    found = sources(ROOT / "workflow/scripts" / script, *map(ROOT.joinpath, PACKAGES))
    return {path.relative_to(ROOT).as_posix() for path in found}


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
    assert {"workflow/study/simulate.py", "workflow/study/files.py"} <= reached("simulate.py")
    assert {"fusedlr/core/_core.pyx", "fusedlr/core/solver.hpp", "fusedlr/objective.py"} <= reached("grid.py")
    assert "fusedlr/r/session.py" in reached("adaboost.py")
    without_fits = reached("simulate.py") | reached("adaboost.py") | reached("claims.py")
    assert "fusedlr/optimality/certificate.py" not in without_fits


def test_the_table_of_models_does_not_reach_the_solver():
    for script in ("claims.py", "evaluate.py", "figure.py", "report.py"):
        assert not {path for path in reached(script) if "newton" in path}, script


@pytest.mark.parametrize(("module", "old", "new", "scripts"), [
    ("workflow/study/scores.py", "margins > 0", "margins >= 0",
     {"collect", "collect_otherwise", "evaluate", *UNPENALIZED}),
    ("workflow/study/simulate.py", "N_TASKS = 4", "N_TASKS = 5", {"simulate", "adaboost", "report"}),
    ("workflow/study/cases.py", "N_FEATURES = 100", "N_FEATURES = 90",
     {"simulate", "adaboost", "claims", "compare", "figure", "report", "sensitivity", "verdicts"}),
    ("fusedlr/r/ada.py", "def boost(X: ", "def boost(x: ", {"adaboost", *OWN}),
    ("fusedlr/plots/axes.py", "import numpy as np", "import numpy",
     {"admm", "agreement", "grid", "newton_step", *OWN, *UNPENALIZED}),
    ("workflow/study/report.py", "TITLE = ", "TITLE = 1 and ", {"report"}),
])
def test_a_changed_line_changes_just_the_scripts_that_depend_on_it(project, module, old, new, scripts):
    assert changed(project, module, old, new) == scripts


def test_a_line_of_the_core_changes_all_that_fits(project):
    assert changed(project, "fusedlr/core/solver.hpp", "\n", "\n\n") >= {"grid", "separable", "agreement"}
