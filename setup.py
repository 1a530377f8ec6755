"""Build the compiled solver; everything else about the package is in pyproject.toml."""

from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = "fusedlr/newton/"
GENERATED = FOLDER + "_newton.cpp"

newton = Extension(
    "fusedlr.newton._newton",
    sources=[FOLDER + "_newton.pyx", *sorted(set(glob(FOLDER + "*.cpp")) - {GENERATED})],
    depends=sorted(glob(FOLDER + "*.hpp")),
    language="c++",
    # No -ffast-math: the duality gap relies on infinities, signed zeros and the order of sums as written.
    extra_compile_args=["-O3", "-std=gnu++17", "-fno-math-errno", "-g0"],
)

setup(
    license="BSD-3-Clause",  # here, because old and new setuptools disagree on its form in pyproject.toml
    ext_modules=cythonize([newton], compiler_directives={"language_level": 3}),
)
