"""Build the compiled solver, and the text for a package index; everything else is in pyproject.toml."""

import os
import re
import sysconfig
from glob import glob
from multiprocessing.pool import ThreadPool
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = "fusedlr/core/"
GENERATED = FOLDER + "_core.cpp"
OPTIMIZE = os.environ.get("FUSEDLR_OPTIMIZE", "-O3")

# One wheel for Python 3.11 and all that follow, where Cython can make one (and Python has its usual lock).
CYTHON = tuple(map(int, Cython.__version__.split(".")[:2]))
STABLE = CYTHON >= (3, 1) and not sysconfig.get_config_var("Py_GIL_DISABLED")


class BuildSideBySide(build_ext):
    """Compiles the files of an extension at the same time: each takes a good part of a minute."""

    def build_extensions(self):
        if self.compiler.compiler_type == "msvc":
            raise SystemExit("fusedlr's core needs GCC or Clang, whose vectors Visual C++ does not have; on Windows "
                             "use the Windows Subsystem for Linux, or Python and Clang of MSYS2 (CLANG64)")
        compile_in_turn = self.compiler.compile

        def compile_side_by_side(sources, **options):
            with ThreadPool() as pool:
                return sum(pool.map(lambda source: compile_in_turn([source], **options), sources), [])

        self.compiler.compile = compile_side_by_side
        super().build_extensions()


def description():
    """The README without pictures and without links into the repository, which lead nowhere on a package index."""
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"!\[[^]]*\]\((?!https?:)[^)]*\)\n*", "", text)
    return re.sub(r"\[([^]]*)\]\((?!https?:|#)([^)]*)\)", r"\1", text)


core = Extension(
    "fusedlr.core._core",
    sources=[FOLDER + "_core.pyx", *sorted(set(glob(FOLDER + "*.cpp")) - {GENERATED})],
    depends=sorted(glob(FOLDER + "*.hpp") + glob(FOLDER + "*.pxi")),
    language="c++",
    # No -ffast-math: the duality gap relies on infinities, signed zeros and the order of sums as written.
    extra_compile_args=[OPTIMIZE, "-std=gnu++17", "-fno-math-errno", "-fvisibility=hidden", "-g0"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
    py_limited_api=STABLE,
)

setup(
    license="BSD-3-Clause",  # here, because old and new setuptools disagree on its form in pyproject.toml
    long_description=description(),
    long_description_content_type="text/markdown",
    ext_modules=cythonize([core], compiler_directives={"language_level": 3}),
    cmdclass={"build_ext": BuildSideBySide},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
