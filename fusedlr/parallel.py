"""The same function over many items, in this process or in several, with a progress bar."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from numbers import Integral
from typing import Any

__all__ = ["progress_bar", "run"]

# A bar appears only when the work takes longer than this.
_DELAY_SECONDS = 2.0


def run(function: Callable[[Any], Any], items: Iterable, n_jobs: int = 1, progress: bool = True,
        description: str | None = None) -> list:
    """Values of ``function`` at each item, in the order of the items.

    Every item is computed on its own, so the values do not depend on ``n_jobs``. An
    error in a worker is raised here as it was raised there. Interrupting ends the workers.

    Parameters
    ----------
    function : callable
        Sent to each worker once: what all items share (data, say) belongs in it, by
        ``functools.partial`` for instance. With several processes it must be picklable.
    items : sequence
    n_jobs : int
        Number of processes; 1 stays in this one, -1 takes one for each available core.
        Processes are started afresh (not forked), so a script that asks for more than
        one needs the usual ``if __name__ == "__main__":``.
    progress : bool
        Show a bar on stderr if tqdm is installed, stderr is a terminal and the work
        takes more than two seconds.
    description : str, optional
        Stands in front of the bar.

    Returns
    -------
    list
    """
    items = list(items)
    workers = min(_checked_jobs(n_jobs), max(1, len(items)))
    if workers == 1:
        return list(progress_bar(map(function, items), len(items), progress, description))
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare_worker, (function,))
    try:
        return list(progress_bar(pool.map(_call, items), len(items), progress, description))
    except BrokenProcessPool as error:
        raise RuntimeError(
            f"a worker process ended before its work was done (n_jobs={n_jobs}): it was killed, or ran out of memory, "
            "or this script has no 'if __name__ == \"__main__\":' around its own calls; n_jobs=1 needs none of this"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or (n_jobs < 1 and n_jobs != -1):
        raise ValueError(f"n_jobs must be a positive whole number, or -1 for all cores, found {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare_worker(function):
    """Keep the function for all items; die quietly at Ctrl-C, which a terminal sends to every process."""
    global _function
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _call(item):
    return _function(item)
