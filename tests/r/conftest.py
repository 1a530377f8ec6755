"""What the tests with a live R share: small data, and R in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


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
