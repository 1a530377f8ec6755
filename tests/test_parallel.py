"""Many items in one or several processes."""

import functools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from fusedlr import parallel


def square_root(shared, item):
    if item < 0:
        raise ValueError(f"no square root of {item}")
    return shared + np.sqrt(item)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_values_come_in_the_order_of_the_items(n_jobs):
    values = parallel.run(functools.partial(square_root, 1.0), range(7), n_jobs=n_jobs)
    assert values == [1.0 + np.sqrt(i) for i in range(7)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_worker_comes_back_as_it_is(n_jobs):
    with pytest.raises(ValueError, match="no square root of -4"):
        parallel.run(functools.partial(square_root, 0.0), [1, 4, -4, 9], n_jobs=n_jobs)


def test_a_killed_worker_is_reported_with_the_way_out():
    with pytest.raises(RuntimeError, match="n_jobs=1 needs none of this"):
        parallel.run(os._exit, [3, 3], n_jobs=2)


def test_no_items_give_an_empty_list():
    assert parallel.run(square_root, [], n_jobs=4) == []


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "2", True, None])
def test_a_senseless_number_of_jobs_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a positive whole number"):
        parallel.run(square_root, [1], n_jobs=n_jobs)


def test_all_cores_are_those_this_process_may_use():
    assert parallel._checked_jobs(-1) == len(os.sched_getaffinity(0))


def test_no_bar_away_from_a_terminal(capsys):
    parallel.run(functools.partial(square_root, 0.0), [1, 4], progress=True)
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("tqdm")
    written = []
    monkeypatch.setattr(parallel, "_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "write", written.append)
    assert parallel.run(functools.partial(square_root, 0.0), [1, 4], description="folds") == [1.0, 2.0]
    assert "folds" in "".join(written)


SLEEPER = """
import pathlib, sys, time
from fusedlr import parallel

def nap(path):
    pathlib.Path(path).touch()
    time.sleep(60)

if __name__ == "__main__":
    parallel.run(nap, sys.argv[1:], n_jobs=2)
"""


def test_ctrl_c_ends_parent_and_workers_at_once(tmp_path):
    script, beds = tmp_path / "sleeper.py", [tmp_path / "one", tmp_path / "two"]
    script.write_text(SLEEPER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, script, *beds], start_new_session=True, stderr=subprocess.PIPE,
                               text=True, env=environment)
    assert wait_until(lambda: all(bed.exists() for bed in beds))
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert wait_until(lambda: not group_lives(process.pid))


def group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()
