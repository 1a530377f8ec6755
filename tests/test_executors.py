"""Work by other processes and machines: the same numbers, errors as they are, and nothing goes on after Ctrl-C."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from fusedlr import FusedLogit, parallel
from tests.processes import work_of

ROOT = Path(__file__).parents[1]


def model(n=60, d=5):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))
    return FusedLogit(X[:, [0]] + rng.logistic(size=(n, 3)) > 0, X)


CALLS = {
    "cv": lambda found, **how: found.fit_cv(folds=3, l1=[1.0, 2.0, 4.0], l2=[0.1], fusion=[1.0, 3.0], repeats=2,
                                            **how).table.drop(columns="status").to_numpy(),
    "bootstrap": lambda found, **how: found.fit(1.0, 0.1, 1.0).bootstrap(130, rng=3, **how).samples,
    "stability": lambda found, **how: found.fit(1.0, 0.1, 1.0).stability(6, rng=3, **how).samples,
    "multisplit": lambda found, **how: found.fit(1.0, 0.1, 1.0).multisplit(5, rng=3, **how).pvalues.to_numpy(),
}


@pytest.fixture(scope="module", params=["processes", "threads"])
def executor(request):
    made = ThreadPoolExecutor(3) if request.param == "threads" else ProcessPoolExecutor(2, get_context("spawn"))
    with made:
        yield made


@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_executor_gives_the_numbers_of_one_thread(executor, call):
    np.testing.assert_array_equal(call(model(), executor=executor), call(model(), n_jobs=1))


@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
@pytest.mark.parametrize("made", [
    lambda X: FusedLogit.from_ordered(np.arange(60) % 3, X),
    lambda X: FusedLogit.from_long(np.arange(60) // 7 % 2, X, np.arange(60) % 3, groups=np.arange(60) // 2),
    lambda X: FusedLogit.from_survival(1.0 + np.arange(60) % 7, np.arange(60) % 3, X, [3.0, 7.0], causes=[1, 2]),
], ids=["ordered", "long", "causes"])
def test_outcomes_of_all_kinds_travel(executor, made):
    found = made(np.random.default_rng(5).normal(size=(60, 2)))
    metric = "rps" if "rps" in found.metrics else "auc"
    one, other = (found.fit_cv(folds=3, l1=[1.0], l2=[0.1], fusion=[1.0, 3.0], metric=metric, **how).table
                  for how in ({"n_jobs": 1}, {"executor": executor}))
    np.testing.assert_array_equal(one["mean"], other["mean"])


def root(item):
    if item < 0:
        raise ValueError(f"no square root of {item}")
    return np.sqrt(item)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_values_come_in_the_order_of_the_items(executor, count):
    assert parallel.run(root, range(count), executor=executor) == [np.sqrt(item) for item in range(count)]


def test_an_error_in_a_worker_comes_back_as_it_is_and_the_executor_lives_on(executor):
    with pytest.raises(ValueError, match="no square root of -4"):
        parallel.run(root, [1, 4, -4, 9], executor=executor)
    assert parallel.run(root, [9], executor=executor) == [3.0]


def test_a_bar_counts_items(executor, monkeypatch):
    steps = []
    monkeypatch.setattr(parallel, "_counted", lambda values, total, *_: steps.append(total) or list(values))
    assert len(parallel.run(root, range(130), executor=executor)) == 130 and steps == [130]


class Client:
    """Of a cluster, which is no executor itself."""

    def get_executor(self):
        return None


def test_what_is_no_executor_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match=r"executor must be a concurrent.futures.Executor.*use client.get_executor\(\)"):
        model().fit_cv(executor=Client())
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ValueError, match="n_jobs must be left out with an executor"):
            model().fit_cv(executor=pool, n_jobs=2)
        with pytest.raises(ValueError, match="executor must be left out with by='bic'"):
            model().fit_cv(executor=pool, by="bic")


def test_after_an_error_in_one_worker_the_others_stop(tmp_path, monkeypatch):
    """By a file that is there for that moment alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun = threading.Event()

    def work(item):
        if item == "bad":
            assert begun.wait(60)
            raise ValueError("bad item")
        begun.set()
        while not parallel.cancelled():
            time.sleep(0.001)
        raise parallel.Cancelled

    with ThreadPoolExecutor(2) as pool:
        start = time.monotonic()
        with pytest.raises(ValueError, match="bad item"):
            parallel.run(work, ["bad", *["endless"] * 10], executor=pool)
        assert time.monotonic() - start < 60
    assert list(tmp_path.iterdir()) == []


# The other side: a call that takes minutes, until Ctrl-C; what then still goes on; and a small one by the same pool.
CHILD = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tests.processes import work_of
from tests.test_executors import CALLS, model

def tell(*words):
    print(*words, flush=True)

if __name__ == "__main__":
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        CALLS["bootstrap"](model(), executor=pool)
        processes = list(pool._processes)
        res = model(300, 500).fit(1.0, 0.1, 1.0)
        tell("begin", *pool._processes)
        try:
            res.bootstrap(100_000, executor=pool, progress=False)
        except KeyboardInterrupt:
            tell("interrupted")
        before = sum(map(work_of, processes))
        time.sleep(0.5)
        tell("afterwards", sum(map(work_of, processes)) - before)
        tell("next", CALLS["bootstrap"](model(), executor=pool).tobytes().hex())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the work of a process is read from /proc")
@pytest.mark.parametrize("moment", [0.2, 1.3])
def test_ctrl_c_ends_the_work_in_other_processes_and_leaves_none_behind(tmp_path, moment):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, script], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        word, *workers = process.stdout.readline().split()
        assert word == "begin" and len(workers) == 2
        begin = sum(work_of(pid) for pid in workers)
        while sum(work_of(pid) for pid in workers) < begin + moment:
            time.sleep(0.01)
        before = work_of(process), time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        # A second of its own work, or of waiting for workers on an idle machine.
        assert min(work_of(process) - before[0], time.monotonic() - before[1]) < 1.5
        word, worked = process.stdout.readline().split()
        assert word == "afterwards" and float(worked) < 0.2
        expected = CALLS["bootstrap"](model(), n_jobs=1).tobytes().hex()
        assert process.stdout.readline().split() == ["next", expected]
    assert process.returncode == 0 and [path.name for path in tmp_path.iterdir()] == ["child.py"]
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)



# A cluster of three processes, one of which is killed while it works.
DASK = """
import os, signal, sys, threading, time
import distributed
from tests.test_executors import CALLS, model

def kill_one(client, killed):
    numbers = client.run(os.getpid)
    while True:
        busy = [worker for worker, tasks in client.processing().items() if tasks and worker in numbers]
        if busy:
            os.kill(numbers[busy[0]], signal.SIGKILL)
            killed.append(busy[0])
            return
        time.sleep(0.005)

if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None,
                                  host="127.0.0.1") as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        for name, found in (("cv", model(200, 60)), ("bootstrap", model(100, 60))):
            killed = []
            client.wait_for_workers(3)
            thread = threading.Thread(target=kill_one, args=(client, killed))
            thread.start()
            numbers = CALLS[name](found, executor=executor)
            thread.join(60)
            print(name, len(killed), numbers.tobytes().hex(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
@pytest.mark.skipif(importlib.util.find_spec("distributed") is None,
                    reason="dask.distributed, of which a cluster is made, is not installed")
def test_a_cluster_that_loses_a_worker_gives_the_same_numbers(tmp_path):
    script = tmp_path / "cluster.py"
    script.write_text(DASK)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", script]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for line, (name, found) in zip(done.stdout.splitlines(), (("cv", model(200, 60)), ("bootstrap", model(100, 60)))):
        assert line.split() == [name, "1", CALLS[name](found, n_jobs=1).tobytes().hex()]
    assert len(done.stdout.splitlines()) == 2
