"""A job of the study that boosts trees, ended from outside in the middle of its work."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from study.files import write_arrays
from tests.processes import work_of

from .conftest import ROOT

pytestmark = pytest.mark.r


@pytest.fixture
def job(tmp_path):
    """The script of the rule at work in R, its temporary folders in ``tmp_path``."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(400, 100)), rng.integers(0, 2, size=(400, 4)).astype(float)
    write_arrays(tmp_path / "data.npz", {"X_train": X, "Y_train": Y, "X_test": X},
                 {"case": "a", "instance": 1, "seed": 1})
    command = [sys.executable, ROOT / "workflow/scripts/adaboost.py", "a", "1", "data.npz", "margins.npz",
               "seconds.csv", "--seed", "1", "--sizes", "25", "400"]
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": f"{ROOT}:{ROOT / 'workflow'}",
           "FUSEDLR_RLIB": str(ROOT / ".rlib")}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("size 25")
        begin = work_of(process)
        while work_of(process) < begin + 1.0:  # 400 rows take several
            time.sleep(0.01)
        yield process
        process.kill()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the work of a process is read from /proc")
def test_sigterm_ends_a_job_soon_and_removes_the_temporary_folder_of_r(job, tmp_path):
    assert len(list(tmp_path.glob("Rtmp*"))) == 1
    before = work_of(job)
    job.send_signal(signal.SIGTERM)
    while os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        time.sleep(0.01)
    assert work_of(job) - before < 1.0
    assert job.wait() == -signal.SIGTERM
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npz"]
