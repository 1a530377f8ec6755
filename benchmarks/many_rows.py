"""(j) Time and memory of one fit with many rows, each in a process of its own."""

import json
import subprocess
import sys
import threading

import numpy as np
import pandas as pd

from .growth import exponent
from .measure import Part, cpu_seconds
from .problems import random_model, shares_of_limit, without_warnings

__all__ = ["run"]

#: Rows, features, tasks; the first three show the growth with the rows.
SHAPES = [(100_000, 100, 4), (300_000, 100, 4), (1_000_000, 100, 4), (100_000, 1_000, 8)]
QUICK = [(2_000, 20, 4), (6_000, 20, 4), (20_000, 20, 4)]


def run(quick):
    """CPU seconds, passes over X and memory of one fit."""
    rows = [_in_own_process(shape) for shape in (QUICK if quick else SHAPES)]
    growth = exponent([row["rows"] for row in rows[:3]], [row["fit s"] for row in rows[:3]])
    return Part("j_many_rows", "(j) one fit with many rows", pd.DataFrame(rows), [
        "CPU seconds in one thread of model.fit(l1, l2, fusion): l1 is a tenth of what makes all coefficients zero, "
        "l2 = l1/10, fusion = l1/2, solved as far as rounding allows.",
        "A pass is the mean time of X @ B and X' @ R by the BLAS at hand. Memory is what the fit takes beyond the "
        "model, at its peak, divided by the size of X: one copy of X by columns, and some ten numbers for each label.",
        f"Time grows as n^{growth:.2f} over the first three."])


def _in_own_process(shape):
    done = subprocess.run([sys.executable, "-m", "benchmarks.many_rows", json.dumps(shape)], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(n_rows, n_features, n_tasks):
    """One row of the table."""
    model = random_model(n_rows, n_features, n_tasks)
    penalties, X, fits = shares_of_limit(model, 0.1), model.problem.design.X, []
    one_pass = _seconds_of_a_pass(X, n_tasks)
    with _Watch() as watch:
        seconds = cpu_seconds(lambda: fits.append(without_warnings(model.fit, **penalties)))
    fit = fits[0]
    return {"rows": n_rows, "features": n_features, "tasks": n_tasks, "fit s": seconds,
            "passes": seconds / one_pass, "steps": fit.iterations,
            "non-zeros": int((fit.params.to_numpy()[1:] != 0).sum()), "memory, multiple of X": watch.most / X.nbytes,
            "status": fit.status, "gap": fit.gap}


def _seconds_of_a_pass(X, n_tasks):
    B, R = np.ones((X.shape[1], n_tasks)), np.ones((X.shape[0], n_tasks))
    return min(cpu_seconds(lambda: (X @ B, X.T @ R)) for _ in range(3)) / 2


class _Watch:
    """Largest growth of the resident memory while it is entered."""

    def __enter__(self):
        self.start, self.most, self.over = _resident(), 0, threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()

    def _look(self):
        while not self.over.wait(0.01):
            self.most = max(self.most, _resident() - self.start)


def _resident():
    """Bytes of this process in memory, where the kernel tells."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    except OSError:
        return float("nan")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(*json.loads(sys.argv[1]))) + "\n")
