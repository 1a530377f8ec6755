"""The house rules, read off the source: who may import whom, which words live where, how long a function may be."""

import ast
import os
import re
import shutil
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.processes import said

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fusedlr"
MODULES = sorted(PACKAGE.rglob("*.py"))
STUDY = sorted((ROOT / "workflow/study").rglob("*.py"))
FOLDERS = ("fusedlr", "tests", "workflow", "benchmarks", "docs", "paper", "R-package", ".github", ".ci")
TEXTS = {".py", ".pyx", ".cpp", ".hpp", ".smk", ".R", ".md", ".toml", ".yaml", ".yml", ".cff", ".sh", ".tex", ""}

# Rooms from the ground up. A room may import the floors below, and neighbours on its own floor as long as no
# circle forms.
FLOORS = (
    {"checks", "core", "datasets", "exceptions", "frames", "io", "matrices", "memory", "parallel", "tasks", "version"},
    {"objective", "problem"},
    {"adaptive", "admm", "constrained_fit", "inputs", "metrics", "optimality", "outcomes", "resampling", "scores",
     "solver"},
    {"base", "fit", "spec"},
    {"inference", "plots", "summary"},
    {"results"},
    {"tuning"},
    {"model"},
    {"chunked", "compare", "r", "sklearn"},
)


# Packages that must not be needed by `import fusedlr` have one home each; the study has none in the library.
HOMES = {"rpy2": "r", "matplotlib": "plots", "seaborn": "plots", "sklearn": "sklearn",
         "snakemake": None, "study": None}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=name_of(path))


def room_of(path):
    """The part of the package that a file belongs to: a module or a folder directly under fusedlr."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def for_types_only(tree):
    """Imports that only a type checker follows."""
    return {inner for node in ast.walk(tree) if isinstance(node, ast.If)
            and getattr(node.test, "id", None) == "TYPE_CHECKING" for inner in ast.walk(node)}


def imports(path):
    """Lines and full names of all that a file imports when it runs, wherever in the file the import stands."""
    here, tree = path.relative_to(ROOT).parent.parts, tree_of(path)
    skipped = for_types_only(tree)
    for node in (node for node in ast.walk(tree) if node not in skipped):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else ()
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def homes():
    """The room that each public name of the package comes from."""
    return {name.split(".")[-1]: name.split(".")[1] for _, name in imports(PACKAGE / "__init__.py")}


def rooms_of(path, names):
    """Rooms other than its own that a file reaches by the names it imports, their own or public ones."""
    known, public = {room_of(module) for module in MODULES}, homes()
    inner = [name.split(".")[1] for name in names if name.startswith("fusedlr.")]
    return {name if name in known else public.get(name) for name in inner} - {room_of(path), None}


def rooms_imported(path):
    return rooms_of(path, [name for _, name in imports(path)])


def python_files():
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def texts():
    inside = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    files = [path for path in [*sorted(ROOT.iterdir()), *inside] if path.is_file() and path.suffix in TEXTS]
    return [path for path in files if path.name != "_core.cpp" and not path.name.startswith(".git")]


def test_every_room_has_its_floor():
    rooms = {room_of(path) for path in MODULES} - {"__init__"}
    assert rooms <= set().union(*FLOORS), "give the new module a place in FLOORS"


def test_contributors_find_every_module_named():
    text = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = sorted({room_of(path) for path in MODULES} - {"__init__"})
    assert [room for room in rooms if f"`{room}.py`" not in text and f"`{room}/`" not in text] == []


def test_imports_point_down():
    level = {room: i for i, floor in enumerate(FLOORS) for room in floor}
    assert [f"{name_of(path)}:{line} imports {name}" for path in MODULES if room_of(path) != "__init__"
            for line, name in imports(path) for room in rooms_of(path, [name])
            if level[room] > level[room_of(path)]] == []


def circle(below):
    """Rooms that import each other in a circle, if there are any."""
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_imports_make_no_circle():
    below = {}
    for path in MODULES:
        below.setdefault(room_of(path), set()).update(rooms_imported(path))
    assert circle(below) == []


def test_referee_knows_no_solver_and_no_solver_knows_the_referee():
    for path in MODULES:
        if room_of(path) == "optimality":
            assert rooms_imported(path) <= {"objective", "problem", "tasks"}, name_of(path)
        if room_of(path) in ("core", "admm", "solver", "tuning"):
            assert "optimality" not in rooms_imported(path), name_of(path)


# Who may look into which of the types that carry the package; everybody else asks their methods.
INSIDE = {
    ("groups", "code"): {"problem", "resampling"},
    ("groups", "times"): {"problem", "resampling", "constrained_fit"},
    ("outcome", "kind"): {"outcomes"},
    ("outcome", "breaks"): {"outcomes"},
    ("outcome", "levels"): {"outcomes"},
}


def looks_inside(path):
    """Lines on which a file reads a field that others must not read."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute):
            holder = getattr(node.value, "attr", None) or getattr(node.value, "id", None)
            if room_of(path) not in INSIDE.get((holder, node.attr), {room_of(path)}):
                yield f"{name_of(path)}:{node.lineno} reads {holder}.{node.attr}"


def test_only_their_keepers_look_inside_the_types():
    assert [line for path in MODULES for line in looks_inside(path)] == []


def about_outcomes(call):
    """Whether a call asks an outcome what it is, instead of asking it to do something."""
    words = {getattr(node, "attr", None) or getattr(node, "id", None) for node in ast.walk(call)}
    return name_called(call) in ("isinstance", "hasattr", "getattr") and words & {"outcome", "outcomes", "Ordered",
                                                                                  "Survival", "Binary",
                                                                                  "CompetingRisks"}


def test_nobody_but_outcomes_asks_what_an_outcome_is():
    outside = [path for path in MODULES if room_of(path) != "outcomes"]
    asked = [f"{name_of(path)}:{call.lineno}" for path in outside for call in calls_in(tree_of(path))
             if about_outcomes(call)]
    compared = [f"{name_of(path)}:{node.lineno}" for path in outside for node in ast.walk(tree_of(path))
                if isinstance(node, ast.Compare)
                and "outcome" in (getattr(node.left, "attr", ""), getattr(node.left, "id", ""))]
    assert asked + compared == []


def test_heavy_packages_stay_in_their_homes():
    assert [f"{name_of(path)}:{line} imports {name}" for path in MODULES for line, name in imports(path)
            if HOMES.get(name.split(".")[0], room_of(path)) != room_of(path)] == []


def test_the_study_needs_no_snakemake_and_reaches_r_through_the_library():
    found = {name.split(".")[0] for path in STUDY for _, name in imports(path)}
    assert not found & {"rpy2", "snakemake"}


def test_letters_of_the_paper_stay_in_admm():
    letters = {"chi", "zeta", "xi", "gamma"}
    assert [f"{name_of(path)}:{node.lineno}" for path in [*MODULES, *STUDY] if not path.is_relative_to(PACKAGE / "admm")
            for node in ast.walk(tree_of(path))
            if letters & {getattr(node, kind, None) for kind in ("id", "arg", "name")}] == []


def test_library_does_not_print():
    assert [f"{name_of(path)}:{call.lineno}" for path in [*MODULES, *STUDY] for call in calls_in(tree_of(path))
            if getattr(call.func, "id", None) == "print"] == []


def test_every_expected_error_is_told_from_others_by_its_words():
    assert [f"{name_of(path)}:{call.lineno}" for path in sorted((ROOT / "tests").rglob("*.py"))
            for call in calls_in(tree_of(path)) if name_called(call) == "raises"
            and "match" not in {word.arg for word in call.keywords}] == []


def calls_in(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def name_called(call):
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "")


def functions_of(path):
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def calls_of(function):
    """Names of all that a function calls, without what stands before a dot."""
    return {name_called(call) for call in calls_in(function)}


def asserts(function):
    calls = calls_of(function)
    return (any(isinstance(node, ast.Assert) for node in ast.walk(function)) or bool({"raises", "warns"} & calls)
            or any(name.startswith("assert_") for name in calls))


def test_every_test_asserts_something():
    """By itself, or by a function beside it or imported from another file of tests."""
    files = sorted((ROOT / "tests").rglob("*.py"))
    helpers = {(path.stem, node.name) for path in files for node in functions_of(path) if asserts(node)}
    for path in files:
        origins = {name.split(".")[-1]: name.split(".")[-2] for _, name in imports(path) if "." in name}
        silent = [node.name for node in functions_of(path) if node.name.startswith("test_") and not asserts(node)
                  and not any((origins.get(name, path.stem), name) in helpers for name in calls_of(node))]
        assert silent == [], name_of(path)


def lines_of(function):
    docstring = ast.get_docstring(function, clean=False)
    return function.end_lineno - function.lineno + 1 - (docstring.count("\n") + 1 if docstring else 0)


def test_functions_fit_on_a_screen():
    functions = [
        (lines_of(node), f"{name_of(path)}:{node.lineno} {node.name}")
        for path in python_files()
        for node in functions_of(path)
    ]
    assert [(lines, where) for lines, where in functions if lines > 45] == []
    package = sorted(lines for lines, where in functions if where.startswith(("fusedlr/", "workflow/study/")))
    assert package[int(0.9 * len(package))] <= 12


def test_a_file_holds_one_idea(record_property):
    """Long files are told (``pytest --junit-xml``), for somebody to judge whether they hold two; none is forbidden."""
    code = [path for path in texts() if path.suffix in (".py", ".pyx", ".hpp", ".cpp", ".smk", ".R")]
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in code}
    assert lengths
    record_property("files of more than 450 lines", {name: n for name, n in lengths.items() if n > 450})


def test_lines_fit_in_120_columns():
    code = [path for path in texts() if path.suffix in (".py", ".pyx", ".hpp", ".cpp", ".smk", ".R")]
    assert [f"{name_of(path)}:{number}" for path in code
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
            if len(line) > 120] == []


@pytest.mark.parametrize(("what", "pattern"), [
    ("path of one machine", r"(?<![\w.$}])/(home|root|tmp|work|Users)/[\w.]"),
    ("unfinished mark", r"\b(TO[D]O|FIX[M]E|X[X]X)\b"),
    ("mark of a merge", r"^(<{7}|>{7}) "),
])
def test_no_text_holds(what, pattern):
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:100]}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(pattern, line)
    ]
    assert found == [], what


def test_ruff_finds_nothing():
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if not ruff:
        pytest.skip("ruff is not installed (pip install --group dev)")
    assert "All checks passed" in said([ruff, "check", "--no-cache", "."], cwd=ROOT)
