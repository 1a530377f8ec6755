"""(g) Import time and (h) peak memory, each in a process of its own."""

import json
import subprocess
import sys

import pandas as pd

from .measure import Part, spread

__all__ = ["run_import", "run_memory"]

_IMPORT = """
import json, time
marks = [time.process_time()]
import numpy, pandas
marks.append(time.process_time())
import fusedlr
marks.append(time.process_time())
from fusedlr import FusedLogit
marks.append(time.process_time())
FusedLogit([0, 1, 0, 1], [[1.0], [2.0], [3.0], [4.0]]).fit(l1=0.1, l2=0.1, fusion=0.0)
marks.append(time.process_time())
print(json.dumps([after - before for before, after in zip(marks, marks[1:])]))
"""

# Peak resident memory of this program (VmHWM); where the kernel has none, that of the process, which may have been
# inherited from the program that started it.
_MEMORY = """
import json, re, resource, sys
import numpy as np
from fusedlr import FusedLogit
def peak():
    found = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()) if sys.platform == "linux" else None
    return 1024 * (int(found.group(1)) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
n, d, t = json.loads(sys.argv[1])
rng = np.random.default_rng(1)
FusedLogit(rng.integers(0, 2, (20, t)), rng.standard_normal((20, 5))).fit(l1=1.0, l2=0.1, fusion=0.5)
before = peak()
X = rng.standard_normal((n, d))
Y = (X[:, :t] + rng.standard_normal((n, t)) > 0).astype(float)
drawn = peak()
model = FusedLogit(Y, X)
built = peak()
l1 = 0.2 * float(np.abs(X.T @ (Y - Y.mean(axis=0))).max())
fit = model.fit(l1=l1, l2=0.1 * l1, fusion=0.5 * l1)
print(json.dumps({"X": X.nbytes, "before": before, "drawn": drawn, "built": built, "fitted": peak(),
                  "status": fit.status}))
"""


def run_import(quick):
    """CPU seconds of importing the package after numpy and pandas."""
    names = ("numpy and pandas", "fusedlr", "FusedLogit", "the first fit")
    rounds = pd.DataFrame([_output(_IMPORT) for _ in range(2 if quick else 11)], columns=names)
    rows = [{"step": name, **spread("s", rounds[name])} for name in names]
    return Part("g_import", "(g) import time", pd.DataFrame(rows), [
        "CPU seconds in a fresh process, in this order: each row is what it adds to the rows above.",
        "Parts of the package are imported when they are first used; the first fit is of four rows."])


def run_memory(quick):
    """Peak memory of one fit with many features, as a multiple of X."""
    shape = [100, 5_000 if quick else 100_000, 4]
    found = _output(_MEMORY, json.dumps(shape))
    rows = [{"up to": name, "peak MB": found[key] / 1e6, "over the start, MB": (found[key] - found["before"]) / 1e6,
             "as a multiple of X": (found[key] - found["before"]) / found["X"]}
            for name, key in (("X and Y drawn", "drawn"), ("model built", "built"), ("model fitted", "fitted"))]
    return Part("h_memory", f"(h) peak memory of a fit: {shape[0]} rows, {shape[1]:,} features, {shape[2]} tasks",
                pd.DataFrame(rows), [
        f"In a fresh process; X takes {found['X'] / 1e6:.0f} MB and is one of the multiples. The fit ended as "
        f"{found['status']!r}.",
        f"The start, {found['before'] / 1e6:.0f} MB, is Python with numpy, scipy, pandas and the package after one "
        "small fit."])


def _output(source, *arguments):
    done = subprocess.run([sys.executable, "-c", source, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)
