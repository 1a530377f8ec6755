"""The same function over many items, in this process or in several, with a progress bar."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from . import checks

__all__ = ["progress_bar", "run"]

# A bar appears only when the work takes longer than this.
_DELAY_SECONDS = 2.0

_MOST_JOBS = 4096


def run(function: Callable[[Any], Any], items: Iterable, n_jobs: int = 1, progress: bool = True,
        description: str | None = None) -> list:
    """Values of ``function`` at each item, in the order of the items.

    Every item is computed on its own, so the values do not depend on ``n_jobs``. An
    error in a worker is raised here as it was raised there. Workers end when this call ends,
    however it does: by an error, by Ctrl-C, or with the whole process.

    Parameters
    ----------
    function : callable
        Sent to each worker once: what all items share (data, say) belongs in it, by
        ``functools.partial`` for instance. With several processes it must be picklable.
    items : sequence
    n_jobs : int
        Number of processes; 1 stays in this one, -1 takes one for each available core.
        Processes are started afresh (not forked), so a script that asks for more than
        one needs the usual ``if __name__ == "__main__":``. A daemonic process (a worker
        of ``multiprocessing.Pool``, say) may have no children, and does all by itself.
    progress : bool
        Show a bar on stderr if tqdm is installed, stderr is a terminal and the work
        takes more than two seconds.
    description : str, optional
        Stands in front of the bar.

    Returns
    -------
    list
    """
    items, progress = list(items), checks.flag("progress", progress)
    workers = min(_checked_jobs(n_jobs), max(1, len(items)))
    if workers == 1 or multiprocessing.current_process().daemon:
        return list(progress_bar(map(function, items), len(items), progress, description))
    try:
        with _pool(workers, function) as pool:
            return list(progress_bar(pool.map(_call, items), len(items), progress, description))
    except BrokenProcessPool as error:
        raise RuntimeError(
            f"a worker process ended before its work was done (n_jobs={n_jobs}): it was killed, or ran out of memory, "
            "or this script has no 'if __name__ == \"__main__\":' around its own calls; n_jobs=1 needs none of this"
        ) from error


@contextmanager
def _pool(workers: int, function: Callable[[Any], Any]) -> Iterator[ProcessPoolExecutor]:
    """Workers that hold one end of a pipe and end when the other is closed, here or by the end of this process."""
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _prepare_worker, (function, theirs))
    try:
        yield pool
        pool.shutdown(wait=True)
    finally:
        ours.close()
        pool.shutdown(wait=True, cancel_futures=True)
        theirs.close()


def progress_bar(values: Iterable, total: int, progress: bool = True, description: str | None = None) -> Iterable:
    """``values``, with a bar on a terminal where tqdm is installed; ``values`` itself elsewhere."""
    if not progress or not sys.stderr or not sys.stderr.isatty():
        return values
    try:
        from tqdm import tqdm
    except ImportError:
        return values
    return tqdm(values, total=total, desc=description, delay=_DELAY_SECONDS, leave=False)


def _checked_jobs(n_jobs):
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or not (0 < n_jobs <= _MOST_JOBS or n_jobs == -1):
        raise ValueError("n_jobs must be a positive whole number, or -1 for all cores, found "
                         f"{checks.shown(n_jobs)}")
    if n_jobs > 0:
        return int(n_jobs)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare_worker(function, parent):
    """Keep the function for all items; end with the parent, and quietly at Ctrl-C, which a terminal sends to all."""
    global _function
    _function = function
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent):
    """Wait until the other end of the pipe is closed, then end at once, whatever is being computed."""
    multiprocessing.connection.wait([parent])
    os._exit(1)


def _call(item):
    return _function(item)
