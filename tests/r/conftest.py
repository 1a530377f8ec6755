"""What the tests with a live R share: the reason to skip, small data, and R in a process of its own."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from fusedlr.r import session

ROOT = Path(__file__).resolve().parents[2]


def missing_part():
    """What is missing for a live R, in words, or None."""
    if find_spec("rpy2") is None:
        return "rpy2 is not installed: run make setup"
    if shutil.which("R") is None:
        return "R is not installed: run make setup"
    for package in ("ada", "rpart", "glmnet"):
        if not session.has_package(package):
            return f"R's package {package!r} is not installed: run make setup"
    return None


@pytest.fixture(scope="session")
def _missing_part():
    return missing_part()


@pytest.fixture(autouse=True)
def _needs_r(request, _missing_part):
    if request.node.get_closest_marker("r") and _missing_part:
        pytest.skip(_missing_part)


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
