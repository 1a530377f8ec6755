"""Build the compiled solver; everything else about the package is in pyproject.toml."""

from glob import glob
from multiprocessing.pool import ThreadPool

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = "fusedlr/newton/"
GENERATED = FOLDER + "_newton.cpp"


class BuildSideBySide(build_ext):
    """Compiles the files of an extension at the same time: each takes a good part of a minute."""

    def build_extensions(self):
        compile_in_turn = self.compiler.compile

        def compile_side_by_side(sources, **options):
            with ThreadPool() as pool:
                return sum(pool.map(lambda source: compile_in_turn([source], **options), sources), [])

        self.compiler.compile = compile_side_by_side
        super().build_extensions()


newton = Extension(
    "fusedlr.newton._newton",
    sources=[FOLDER + "_newton.pyx", *sorted(set(glob(FOLDER + "*.cpp")) - {GENERATED})],
    depends=sorted(glob(FOLDER + "*.hpp")),
    language="c++",
    # No -ffast-math: the duality gap relies on infinities, signed zeros and the order of sums as written.
    extra_compile_args=["-O3", "-std=gnu++17", "-fno-math-errno", "-fvisibility=hidden", "-g0"],
)

setup(
    license="BSD-3-Clause",  # here, because old and new setuptools disagree on its form in pyproject.toml
    ext_modules=cythonize([newton], compiler_directives={"language_level": 3}),
    cmdclass={"build_ext": BuildSideBySide},
)
