"""Many items in one or several threads."""

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, FusedLogitWarning, parallel


def square_root(shared, item):
    if item < 0:
        raise ValueError(f"no square root of {item}")
    return shared + np.sqrt(item)


@pytest.mark.parametrize("n_jobs", [1, 2, None, -1])
def test_values_come_in_the_order_of_the_items(n_jobs):
    values = parallel.run(functools.partial(square_root, 1.0), range(7), n_jobs=n_jobs)
    assert values == [1.0 + np.sqrt(i) for i in range(7)]


def test_values_that_are_ready_early_wait_for_their_turn_in_the_order():
    last_is_done = threading.Event()

    def work(item):
        if item == 0:
            assert last_is_done.wait(60)
        if item == 4:
            last_is_done.set()
        return item

    assert parallel.run(work, range(5), n_jobs=2) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_worker_comes_back_as_it_is(n_jobs):
    with pytest.raises(ValueError, match="no square root of -4"):
        parallel.run(functools.partial(square_root, 0.0), [1, 4, -4, 9], n_jobs=n_jobs)


def test_no_items_give_an_empty_list():
    assert parallel.run(square_root, [], n_jobs=4) == []


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "2", True, 10**9])
def test_a_senseless_number_of_jobs_is_refused(n_jobs):
    with pytest.raises((TypeError, ValueError), match="n_jobs must be"):
        parallel.run(square_root, [1], n_jobs=n_jobs)


def test_all_cores_are_those_this_process_may_use():
    assert parallel.checked_jobs(-1) == parallel.checked_jobs(None) == len(os.sched_getaffinity(0))


def test_no_bar_away_from_a_terminal(capsys):
    parallel.run(functools.partial(square_root, 0.0), [1, 4], progress=True)
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("tqdm")
    written = []
    monkeypatch.setattr(parallel, "_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "write", written.append)
    assert parallel.run(functools.partial(square_root, 0.0), [1, 4], n_jobs=1, description="folds") == [1.0, 2.0]
    assert "folds" in "".join(written)


@pytest.mark.parametrize("fitted", [
    lambda model: model.fit_grid([1.0, 2.0], [0.0], [0.0, 1.0]),
    lambda model: model.fit_cv(folds=3, l1=[1.0, 2.0], l2=[0.0], fusion=[1.0], n_jobs=2),
    lambda model: model.fit(l1=1.0, l2=0.0, fusion=1.0).bootstrap(3, n_jobs=1),
], ids=["grid", "cv", "bootstrap"])
def test_a_bar_has_come_to_its_end_when_it_is_closed(monkeypatch, fitted):
    """A notebook paints one red that has not."""
    tqdm = pytest.importorskip("tqdm").tqdm
    bars = []

    class Bar(tqdm):
        def close(self):
            bars.append((self.n, self.total))
            super().close()

    monkeypatch.setattr(pytest.importorskip("tqdm.auto"), "tqdm", Bar)
    monkeypatch.setattr(parallel, "_in_notebook", lambda: True)
    rng = np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)
        fitted(FusedLogit(rng.integers(0, 2, (40, 2)), rng.normal(size=(40, 3))))
    assert bars and all(done == total > 0 for done, total in bars)


LONG = """
import numpy as np
import sys
from fusedlr import FusedLogit
rng = np.random.default_rng(1)
model = FusedLogit(rng.integers(0, 2, (300, 6)), rng.normal(size=(300, 400)))
print("ready", flush=True)
model.fit_cv(n_jobs=2, tol=1e-12)
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.3, 1.1, 2.3])
def test_ctrl_c_ends_a_cross_validation_soon(wait):
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors


def test_after_an_error_in_one_worker_the_others_stop_and_the_next_call_works():
    rng = np.random.default_rng(1)
    model = FusedLogit(rng.integers(0, 2, (200, 4)), rng.normal(size=(200, 300)))

    def work(item):
        if item == "bad":
            raise ValueError("bad item")
        return model.fit_grid([0.01, 0.02, 0.05, 0.1], [0.0], [0.0, 0.01, 0.1], tol=1e-13)

    start = time.process_time()
    with pytest.raises(ValueError, match="bad item"):
        parallel.run(work, ["bad", "good", "good", "good"], n_jobs=2)
    stopped = time.process_time() - start
    start = time.process_time()
    assert len(parallel.run(work, ["good"], n_jobs=2)) == 1
    assert stopped < 2 * (time.process_time() - start)


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=lambda end: end.name)
def test_a_process_that_is_killed_leaves_no_other_behind(end):
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(end)
    process.communicate(timeout=30)
    assert process.returncode == -end
    with pytest.raises(ProcessLookupError, match="No such process"):  # its group is empty
        os.killpg(process.pid, 0)


def bootstrapped(queue=None):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    res = FusedLogit(X[:, [0]] + rng.logistic(size=(60, 3)) > 0, X).fit(1.0, 0.1, 1.0)
    samples = res.bootstrap(6, rng=1, n_jobs=2, progress=False).samples
    return samples if queue is None else queue.put(samples)


def test_several_jobs_work_inside_a_daemonic_process():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=bootstrapped, args=(queue,), daemon=True)
    process.start()
    np.testing.assert_array_equal(queue.get(timeout=60), bootstrapped())
    process.join(20)


# ---- the user's own threads -----------------------------------------------------------------------------------------

def in_threads(calls):
    """What each call returns, all of them started at the same moment in threads of their own."""
    gate = threading.Barrier(len(calls))

    def work(call):
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(work, call) for call in calls]]


def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 5))
    return X[:, [0]] + rng.logistic(size=(80, 4)) > 0, X


USES = {
    "fit": lambda model, k: model.fit(1.0 + k, 0.1, 2.0).params,
    "grid": lambda model, k: model.fit_grid([1.0, 2.0 + k], [0.1], [0.5, 1.0]).table,
    "cv": lambda model, k: model.fit_cv(folds=3, rng=k, l1=[1.0, 2.0], l2=[0.1], fusion=[1.0], n_jobs=2).table,
    "refit": lambda model, k: model.fit(1.0 + k, 0.1, 2.0).refit().bse,
    "bootstrap": lambda model, k: model.fit(1.0, 0.1, 2.0).bootstrap(4, rng=k, n_jobs=2, progress=False).bse,
}


@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
@pytest.mark.parametrize("same", [True, False], ids=["one model", "eight models"])
@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_eight_threads_give_the_serial_numbers(use, same):
    models = [FusedLogit(*data(0 if same else k)) for k in range(1 if same else 8)] * (8 if same else 1)
    serial = [use(model, k) for k, model in enumerate(models)]
    together = in_threads([functools.partial(use, model, k) for k, model in enumerate(models)])
    for one, other in zip(serial, together):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
