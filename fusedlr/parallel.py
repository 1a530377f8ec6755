"""The same function over many items, in one thread or in several, with a progress bar.

On one machine threads are enough, because the solver releases the GIL. They share the data, start
at once, need nothing of the calling script, and end with the process. Other processes and machines
work through an executor of the user's, to which function and items are pickled.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, wait
from contextlib import contextmanager
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any

from . import checks

__all__ = ["Cancelled", "cancelled", "checked_jobs", "progress_bar", "run"]

# A bar appears only when the work takes longer than this.
_DELAY_SECONDS = 2.0

_MOST_JOBS = 4096

# An executor gets the work in at most so many pieces, because each carries the data.
_MOST_PIECES = 64

# How long a call that failed or was interrupted waits for workers of an executor to stop, in seconds.
_PATIENCE = 1.0

_this_thread = threading.local()


class Cancelled(RuntimeError):
    """Raised by the solver in a worker that was cancelled."""


def run(function: Callable[[Any], Any], items: Iterable, n_jobs: int | None = None, progress: bool = True,
        description: str | None = None, executor: Executor | None = None) -> list:
    """Values of ``function`` at each item, in the order of the items.

    Every item is computed on its own, so the values do not depend on ``n_jobs`` or ``executor``.
    An error in a worker is raised here as it was raised there. After an error or Ctrl-C the solver
    stops in every worker on this machine within a fraction of a second; what an executor has begun
    on other machines is finished there, and what it has not begun is cancelled.

    Parameters
    ----------
    function : callable
    items : sequence
    n_jobs : int, optional
        Number of threads: one for each core that this process may use where left out or -1.
    progress : bool
        Show a bar after two seconds, in a terminal (on stderr) or a notebook, where tqdm is installed.
    description : str, optional
        Stands in front of the bar.
    executor : concurrent.futures.Executor, optional
        Does the work instead of threads.

    Returns
    -------
    list
    """
    items, progress = list(items), checks.flag("progress", progress)
    if executor is not None:
        return _by_executor(_checked_executor(executor, n_jobs), function, items, progress, description)
    workers = min(checked_jobs(n_jobs), max(1, len(items)))
    if workers == 1:
        return _counted(map(function, items), len(items), progress, description)
    left: SimpleQueue = SimpleQueue()
    for pair in enumerate(items):
        left.put(pair)
    done: SimpleQueue = SimpleQueue()
    unwanted = threading.Event()
    threads = [threading.Thread(target=_work, args=(function, left, done, unwanted), name="fusedlr")
               for _ in range(workers)]
    try:
        for thread in threads:
            thread.start()
        return _counted(_in_order(done, len(items)), len(items), progress, description)
    finally:
        unwanted.set()  # whatever was begun when Ctrl-C came, in the middle of starting a thread too
        for thread in threads:
            if thread.is_alive():
                thread.join()


def _by_executor(executor, function, items, progress, description):
    """Values of the function by an executor, in a few pieces."""
    stop = os.path.join(tempfile.gettempdir(), f"fusedlr-{secrets.token_hex(8)}")
    step = -(-len(items) // _MOST_PIECES) or 1
    futures = []
    try:
        for first in range(0, len(items), step):
            futures.append(executor.submit(_work_on_piece, function, items[first:first + step], stop))
        values = chain.from_iterable(future.result() for future in futures)
        return _counted(values, len(items), progress, description)
    except BaseException:
        _stop(futures, stop)
        raise


def _work_on_piece(function, items, stop):
    """In a worker of an executor: values of the function, unless the file ``stop`` appears, which cancels it."""
    before, _this_thread.unwanted = getattr(_this_thread, "unwanted", None), _File(stop)
    try:
        return [_unless_cancelled(function, item) for item in items]
    finally:
        _this_thread.unwanted = before


def _unless_cancelled(function, item):
    """The solver asks some 20 times a second; a shorter fit would not notice."""
    if cancelled():
        raise Cancelled
    return function(item)


class _File:
    """An event that is set while a file exists; other machines, which do not see the file, go on."""

    def __init__(self, path):
        self.path = path

    def is_set(self):
        return os.path.exists(self.path)


def _stop(futures, stop):
    """Cancel what was not begun, tell the others, and give them a moment."""
    begun = [future for future in futures if not future.cancel()]
    if all(future.done() for future in begun):
        return
    with open(stop, "x"):
        pass
    try:
        wait(begun, _PATIENCE)
    finally:
        os.unlink(stop)


def cancelled() -> bool:
    """Whether this thread was cancelled; the solver polls this."""
    unwanted = getattr(_this_thread, "unwanted", None)
    return unwanted is not None and unwanted.is_set()


@contextmanager
def progress_bar(total: int, progress: bool = True, description: str | None = None) -> Iterator[Callable | None]:
    """A function to call after each of ``total`` steps: it moves a bar in a terminal or a notebook.

    None instead of a function where no bar is wanted, none can be seen, or tqdm is not installed.
    """
    if not progress or not (_in_terminal() or _in_notebook()):
        yield None
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without ipywidgets shows the bar as text
            from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=total, desc=description, delay=_DELAY_SECONDS, leave=False) as bar:
        yield lambda *_: bar.update()


def _counted(values, total, progress, description):
    """A list of ``values``, each counted on a bar as it comes."""
    found = []
    with progress_bar(total, progress, description) as step:
        for value in values:
            found.append(value)
            if step is not None:
                step()
    return found


def _in_terminal():
    return bool(sys.stderr) and sys.stderr.isatty()


def _in_notebook():
    """Whether a notebook's kernel runs this; only then has IPython been imported and has a kernel's settings."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def checked_jobs(n_jobs: Any) -> int:
    """A number of threads; one for each core where none is given."""
    if n_jobs is None or (isinstance(n_jobs, int) and n_jobs == -1):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return checks.whole("n_jobs", n_jobs, 1, _MOST_JOBS, "it is a number of threads; None takes one for each core")


def _checked_executor(executor, n_jobs):
    if not isinstance(executor, Executor):
        way_out = "; use client.get_executor()" if hasattr(executor, "get_executor") else ""
        raise TypeError(f"executor must be a concurrent.futures.Executor, found {checks.shown(executor)}{way_out}")
    if n_jobs is not None:
        raise ValueError("n_jobs must be left out with an executor, which has its own workers, found "
                         f"{checks.shown(n_jobs)}")
    return executor


def _work(function, left, done, unwanted):
    """Worker loop: take (position, item) until none is left or wanted; put back positions, values and errors."""
    _this_thread.unwanted = unwanted
    while not unwanted.is_set():
        try:
            place, item = left.get_nowait()
        except Empty:
            return
        try:
            done.put((place, function(item), None))
        except BaseException as error:
            done.put((place, None, error))


def _in_order(done, count):
    """Values in order of position, as soon as they are there; a worker's error is raised at its position."""
    early = {}
    for place in range(count):
        while place not in early:
            found, value, error = done.get()
            early[found] = value, error
        value, error = early.pop(place)
        if error is not None:
            raise error
        yield value
