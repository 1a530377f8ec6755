"""(i) Peak memory of building a model, by tracemalloc."""

import tracemalloc

import numpy as np
import pandas as pd

from fusedlr import FusedLogit

from .measure import Part

__all__ = ["peak", "run"]

SHAPES = [(1_000, 2_000), (20_000, 200), (100, 100_000)]


def run(quick):
    """Memory beyond the user's own data, as a multiple of X, at its peak and after a model was built."""
    rows = [{"rows": n, "features": d, "exog": kind, "peak, multiple of X": most, "kept, multiple of X": kept}
            for n, d in ([(100, 500)] if quick else SHAPES) for kind in ("array", "frame")
            for most, kept in [peak(n, d, kind)]]
    return Part("i_building", "(i) memory that building a model takes, 4 tasks", pd.DataFrame(rows), [
        "Memory allocated by FusedLogit(endog, exog) beyond endog and exog themselves, divided by the size of X.",
        "The model keeps one copy of X; the goal is a peak of at most 1.3."])


def peak(n, d, kind="array", t=4):
    """Largest memory while a model is built and memory that it keeps, as multiples of X."""
    X = np.random.default_rng(1).standard_normal((n, d))
    Y = (X[:, :t] > 0).astype(float)
    exog = X if kind == "array" else pd.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
    tracemalloc.start()
    try:
        model = FusedLogit(Y, exog)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del model
    return most / X.nbytes, kept / X.nbytes
