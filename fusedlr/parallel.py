"""The same function over many items, in one thread or in several, with a progress bar.

Threads are enough, because the solver releases the GIL. They share the data, start at
once, need nothing of the calling script, and end with the process.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from . import checks

__all__ = ["Cancelled", "cancelled", "progress_bar", "run"]

# A bar appears only when the work takes longer than this.
_DELAY_SECONDS = 2.0

_MOST_JOBS = 4096

_this_thread = threading.local()


class Cancelled(RuntimeError):
    """Raised by the solver in a worker thread that was cancelled."""


def run(function: Callable[[Any], Any], items: Iterable, n_jobs: int | None = None, progress: bool = True,
        description: str | None = None) -> list:
    """Values of ``function`` at each item, in the order of the items.

    Every item is computed on its own, so the values do not depend on ``n_jobs``. An
    error in a worker is raised here as it was raised there. After an error or Ctrl-C the
    solver stops in every worker within a fraction of a second.

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

    Returns
    -------
    list
    """
    items, progress = list(items), checks.flag("progress", progress)
    workers = min(_checked_jobs(n_jobs), max(1, len(items)))
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


def _checked_jobs(n_jobs):
    if n_jobs is None or (isinstance(n_jobs, int) and n_jobs == -1):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return checks.whole("n_jobs", n_jobs, 1, _MOST_JOBS, "it is a number of threads; None takes one for each core")


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
