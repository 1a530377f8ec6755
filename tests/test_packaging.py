"""What is installed, what importing it costs and brings, and what a source distribution holds."""

import ast
import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tarfile
import time
import tomllib
import zipfile
from importlib.metadata import metadata, version
from pathlib import Path

import pytest
import yaml

import fusedlr
from tests.builds import ROOT, contents, kept
from tests.processes import said

CC = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC"))
STRICT = "-Wall -Wextra"
CORE = sorted((ROOT / "fusedlr/core").glob("core*.cpp"))
NOT_NEEDED = ("matplotlib", "seaborn", "rpy2", "snakemake", "statsmodels", "tqdm", "patsy")


def python(code, folder=ROOT):
    return said([sys.executable, "-c", code], cwd=folder)


def test_version_is_that_of_the_installed_package():
    assert re.fullmatch(r"\d+\.\d+\.\d+", fusedlr.__version__)
    assert version("fusedlr") == fusedlr.__version__


def test_all_who_name_the_version_name_the_same():
    assert f"version: {fusedlr.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    for name in ("codemeta.json", ".zenodo.json"):
        assert json.loads((ROOT / name).read_text())["version"] == fusedlr.__version__


def test_changes_and_citation_agree_on_what_is_released():
    """The newest version stands first, with its date or as unreleased; a released one is dated in the citation."""
    number, when = re.search(r"^## ([\d.]+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).groups()
    released = re.search(r"^date-released: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert (number, when) == (fusedlr.__version__, released[1] if released else "unreleased")


def test_import_needs_no_heavy_package():
    loaded = python("import sys, fusedlr; print(*sorted(sys.modules))").split()
    assert not set(NOT_NEEDED) & set(loaded)


def test_fitting_needs_no_plots_and_no_r():
    code = """
import sys
import numpy as np
from fusedlr import FusedLogit
rng = np.random.default_rng(1)
FusedLogit(rng.integers(0, 2, (30, 2)), rng.normal(size=(30, 3))).fit(l1=1.0, l2=0.1, fusion=0.5).params
print(*sorted(sys.modules))
"""
    assert not {"matplotlib", "seaborn", "rpy2", "snakemake"} & set(python(code).split())


def test_import_takes_less_than_half_a_second_over_numpy_and_pandas():
    code = """
import time
import numpy, pandas
start = time.process_time()
import fusedlr
from fusedlr import FusedLogit, Grid, TaskGraph
print(time.process_time() - start)
"""
    assert float(python(code)) < 0.5


def test_public_names_can_be_imported():
    for name in set(fusedlr.__all__) - {"__version__"}:
        assert getattr(fusedlr, name).__module__.startswith("fusedlr.")


def test_plots_are_reached_without_an_import_of_their_own_and_matplotlib_waits_for_them():
    shown = python("import fusedlr, sys\nprint(any(m.split('.')[0] in ('matplotlib', 'rpy2') for m in sys.modules))\n"
                   "print(fusedlr.plots.coef_map.__name__)")
    assert shown.split() == ["False", "coef_map"]


def test_without_matplotlib_the_error_says_what_to_install():
    shown = python("import sys\nsys.modules['matplotlib'] = None\nimport fusedlr\n"
                   "try:\n    fusedlr.plots\nexcept ImportError as error:\n    print(error)")
    assert "matplotlib" in shown
    assert "pip install fusedlr[plots]" in shown


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(fusedlr, "nothing_of_this_name")


def backend(call, folder):
    """What the build backend prints last when it is called in a folder: the name of the file that it made."""
    return python(f"import setuptools.build_meta as backend; print(backend.{call})", folder).split()[-1]


@pytest.fixture(scope="module")
def sdist_file(tmp_path_factory):
    """A source distribution made from a copy of the tree."""
    copy = tmp_path_factory.mktemp("sdist") / "fusedlr"
    unwanted = shutil.ignore_patterns(".*", "build", "dist", "results", "logs", "*.so", "_core.cpp", "*.egg-info",
                                      "__pycache__")
    shutil.copytree(ROOT, copy, ignore=unwanted)
    return copy / "dist" / backend("build_sdist('dist')", copy)


@pytest.fixture(scope="module")
def sdist(sdist_file):
    """Names of the files in the source distribution."""
    with tarfile.open(sdist_file) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.mark.slow
def test_source_distribution_holds_all_that_a_build_needs(sdist):
    newton = {path.name for path in (ROOT / "fusedlr/core").iterdir() if path.suffix in (".pyx", ".cpp", ".hpp")}
    assert {f"fusedlr/core/{name}" for name in newton - {"_core.cpp"}} <= sdist
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "setup.py"} <= sdist


@pytest.mark.slow
def test_source_distribution_holds_every_module(sdist):
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "fusedlr").rglob("*.py")}
    assert modules <= sdist


@pytest.mark.slow
def test_source_distribution_holds_no_build_product_and_no_half_of_the_tests(sdist):
    assert not [name for name in sdist if name.endswith((".so", ".pyc", "_core.cpp"))]
    assert not [name for name in sdist if name.startswith("tests")]


@pytest.fixture(scope="module")
def compiled(sdist_file, tmp_path_factory):
    """The source distribution unpacked, and a folder with its core compiled and all that the compiler said."""
    source = tmp_path_factory.mktemp("unpacked") / sdist_file.name.removesuffix(".tar.gz")
    said(["tar", "-xzf", sdist_file, "-C", source.parent])

    def build(folder):
        command = shlex.join([sys.executable, "setup.py", "build_ext", "--build-lib", str(folder / "lib")])
        strict = {**os.environ, "CFLAGS": STRICT, "CXXFLAGS": STRICT, "LC_ALL": "C"}
        (folder / "said").write_text(said(["sh", "-c", f"{command} 2>&1"], cwd=source, env=strict))

    parts = contents(source, "setup.py", "pyproject.toml", "fusedlr/core/*"), sys.version, said([*CC, "--version"])
    return source, kept("core", parts, build)


@pytest.mark.slow
def test_a_wheel_made_from_the_source_distribution_fits_a_model(compiled, tmp_path):
    """Without the tree at hand: the wheel holds all that it needs, and nothing of the tree is found by accident."""
    source = shutil.copytree(compiled[0], tmp_path / "source")
    shutil.copytree(compiled[1] / "lib", source / "lib")
    for library in (source / "lib").rglob("*.so"):
        os.utime(library, (time.time() + 3600,) * 2)  # newer than what Cython writes: not compiled again
    with open(source / "setup.cfg", "a") as settings:
        settings.write("[build]\nbuild_lib = lib\n")
    with zipfile.ZipFile(source / "dist" / backend("build_wheel('dist')", source)) as wheel:
        wheel.extractall(tmp_path / "installed")
        assert {name.split("/")[0].partition("-")[0] for name in wheel.namelist()} == {"fusedlr"}
        assert not [name for name in wheel.namelist() if "study" in name or "tests" in name]
        inside = {Path(name).suffix for name in wheel.namelist() if name.startswith("fusedlr/")}
        assert inside == {".py", ".so", ".typed"}  # no sources of the core
    shutil.rmtree(source)
    found = said([sys.executable, ROOT / "tests/try_wheel.py", tmp_path / "installed"], cwd=tmp_path)
    assert Path(found.strip()).is_relative_to(tmp_path / "installed")


def declared():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]


def test_every_python_that_is_promised_is_tested():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    tested = set(workflow["jobs"]["newest"]["strategy"]["matrix"]["python"])
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(declared()["classifiers"]))
    assert tested == set(promised)
    assert declared()["requires-python"] == ">=" + min(promised, key=lambda name: int(name.partition(".")[2]))


def imported_by(folder):
    """Packages outside the standard library that the files of a folder import, wherever in the file."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / folder).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0]
    ours = {"fusedlr", "study", "tests", "benchmarks", "conftest"}
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names - ours


def declared_for(*extras):
    """Names of the packages that come with some extras, as they are imported."""
    lists = {"": declared()["dependencies"], **declared()["optional-dependencies"]}
    wanted = [entry for extra in ("", *extras) for entry in lists[extra]]
    inner = [match[1] for entry in wanted if (match := re.match(r"fusedlr\[(\w+)\]", entry))]
    names = {re.match(r"\w+", entry)[0] for entry in wanted} - {"fusedlr"}
    imported = {"pyyaml": "yaml", "scikit": "sklearn"}
    return {imported.get(name, name) for name in names} | (declared_for(*inner) if inner else set())


def test_the_lock_holds_what_is_declared_with_hashes_and_without_a_host():
    text = (ROOT / "workflow/requirements.lock").read_text(encoding="utf-8")
    locked = {name: (version, hashes.count("--hash=sha256:")) for name, version, hashes in re.findall(
        r"^([\w.-]+)==([\w.]+) \\\n((?:    --hash=.*\n)+)", text, re.MULTILINE)}
    lists = {"": declared()["dependencies"], **declared()["optional-dependencies"]}
    names = ("", "study", "plots", "cluster", "sklearn", "test")
    wanted = [re.match(r"([\w-]+)(?:>=([\d.]+))?", entry) for name in names for entry in lists[name]
              if not entry.startswith("fusedlr")]
    assert {entry[1] for entry in wanted} | {"rpy2", "setuptools", "cython", "wheel"} <= set(locked)
    assert [entry[0] for entry in wanted if numbers(locked[entry[1]][0]) < numbers(entry[2])] == []
    assert min(count for _, count in locked.values()) >= 1 and "://" not in text


def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


@pytest.mark.parametrize(("folder", "extras"), [
    ("fusedlr", ("plots", "r", "sklearn")), ("workflow", ("study", "r")), ("tests", ("test", "r")),
])
def test_every_package_that_is_imported_is_declared(folder, extras):
    built_with = {"Cython", "setuptools"}
    assert imported_by(folder) - built_with <= declared_for(*extras)


def test_the_text_for_a_package_index_has_no_link_into_the_repository():
    text = metadata("fusedlr").get_payload() or metadata("fusedlr")["Description"]
    assert "## An example" in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []


@pytest.mark.slow
def test_the_core_compiles_without_warnings(compiled):
    """By the compiler of this Python, though the core knows none; the other warnings are about what Cython wrote."""
    assert not [name for name, text in contents(ROOT / "fusedlr/core", "*.hpp", "core*.cpp") if b"Python.h" in text]
    text = (compiled[1] / "said").read_text()
    assert all(re.search(rf"^.*{STRICT}.*{path.name}", text, re.MULTILINE) for path in CORE)
    assert re.findall(r"^fusedlr/core/(?!_core\.cpp).*warning.*", text, re.MULTILINE) == []


OTHERS = [*(name for name in ("g++", "clang++") if shutil.which(name) and ("clang" in name) != ("clang" in CC[0])),
          "aarch64-linux-gnu-g++", "x86_64-w64-mingw32-g++"]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", OTHERS)
def test_the_core_compiles_without_warnings_elsewhere(compiler):
    """By the compilers of other machines, without Python at hand."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed (Debian: g++-aarch64-linux-gnu, g++-mingw-w64-x86-64)")

    command = [compiler, "-std=gnu++17", "-O0", *STRICT.split(), "-Werror", "-c", *CORE]
    parts = contents(ROOT / "fusedlr/core", "*.hpp", "core*.cpp"), said([compiler, "--version"])
    objects = kept(compiler, parts, lambda folder: said(command, cwd=folder)).glob("*.o")
    assert len(list(objects)) == len(CORE) > 0
