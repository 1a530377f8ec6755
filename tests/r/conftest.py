"""What the tests with a live R share: small data, and R in a process of its own."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.builds import ROOT, contents, kept
from tests.processes import said


@pytest.fixture
def in_new_process(tmp_path):
    """Run Python source in a process of its own, in an empty folder; gives what it printed."""

    def run(source, timeout=120, **environment):
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "FUSEDLR_RLIB": str(ROOT / ".rlib"), "PYTHONPATH": path, **environment}
        done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, env=env, timeout=timeout,
                              capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


def simulated(n_rows, n_features=20, n_tasks=2, n_new=200, seed=1):
    """Labels from a logistic model: X, Y, X_new."""
    rng = np.random.default_rng(seed)
    coefs = rng.choice([-2.0, 0.0, 2.0], size=(n_features, n_tasks))
    X, X_new = rng.normal(size=(n_rows, n_features)), rng.normal(size=(n_new, n_features))
    return X, (rng.random((n_rows, n_tasks)) < 1 / (1 + np.exp(-X @ coefs))).astype(float), X_new


def install(folder):
    """The package in a library of R; without what a debugger would want, which is a quarter of the compiler's work."""
    (folder / "library").mkdir()
    (folder / "Makevars").write_text("CXX17FLAGS += -g0\n")
    run([ROOT / "R-package" / "make-tarball", folder, "--no-build-vignettes"])
    tarball, = folder.glob("fusedlr_*.tar.gz")
    run(["R", "CMD", "INSTALL", "--no-docs", "--install-tests", "-l", folder / "library", tarball],
        R_MAKEVARS_USER=str(folder / "Makevars"), MAKEFLAGS=f"-j{os.cpu_count()}")


@pytest.fixture(scope="session")
def library():
    """A library of R with the package in it: the compiler takes minutes."""
    sources = contents(ROOT, "R-package/**/*", "fusedlr/core/core*.cpp", "fusedlr/core/*.hpp", "fusedlr/version.py")
    sources += contents(ROOT / "tests" / "fixtures", "*.csv")
    return kept("r-package", [sources, said(["R", "--version"])], install) / "library"


def run(command, cwd=None, **environment):
    return said(command, cwd=cwd, env={**os.environ, **environment})


@pytest.fixture(scope="session")
def run_r():
    return run
