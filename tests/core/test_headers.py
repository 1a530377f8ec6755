"""Every header of the core can be opened, and compiled, alone."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "fusedlr/core"
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
NAMES = sorted(path.name for path in CORE.glob("*.hpp"))


@pytest.mark.parametrize("name", NAMES)
def test_a_header_compiles_alone(name):
    if not shutil.which(COMPILER[0]):
        pytest.skip(f"{COMPILER[0]} is not installed")
    strict = ["-std=gnu++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    command = [*COMPILER, *strict, "-I", str(CORE), "-x", "c++", "-"]
    done = subprocess.run(command, input=f'#include "{name}"\n', capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"core.hpp", "standard.hpp"}))
def test_a_header_keeps_to_the_namespace_of_its_instruction_set(name):
    lines = (CORE / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("namespace")] == ["namespace fusedlr::FUSEDLR_ISA {"]


def test_the_standard_library_is_included_before_any_wider_instruction_set():
    """What comes after is compiled for it, and inline functions of the standard library are shared by all builds."""
    used = {line for path in CORE.glob("*.hpp") for line in path.read_text(encoding="utf-8").splitlines()
            if line.startswith("#include <")} - {"#include <immintrin.h>"}
    assert used <= set((CORE / "standard.hpp").read_text(encoding="utf-8").splitlines())
    for path in CORE.glob("core_*.cpp"):
        text = path.read_text(encoding="utf-8")
        includes = [line for line in text.splitlines() if line.startswith("#include")]
        assert includes[0] == '#include "standard.hpp"'
        assert ("FUSEDLR_FMA" in text) == ("#include <immintrin.h>" in text.partition("#pragma GCC target")[0])
