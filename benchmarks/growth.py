"""(e) How one cold fit grows with features, tasks and rows."""

import numpy as np
import pandas as pd

from .measure import Part, cpu_seconds, interleaved, spread
from .problems import random_model, shares_of_limit, without_warnings

__all__ = ["exponent", "run"]

#: Rows, features, tasks of the smallest problem on each axis, and the values that one of them takes.
AXES = {
    "features": ({"n_rows": 100, "n_tasks": 4}, "n_features", (100, 300, 1000, 3000, 10_000, 30_000, 100_000)),
    "tasks": ({"n_rows": 100, "n_features": 100}, "n_tasks", (2, 4, 8, 16, 32, 64)),
    "rows": ({"n_features": 100, "n_tasks": 4}, "n_rows", (100, 300, 1000, 3000, 10_000, 20_000)),
}


def run(quick):
    """CPU seconds along each axis, with the exponent of growth."""
    rows = [row for axis in AXES for row in _along(axis, quick)]
    return Part("e_growth", "(e) growth of one cold fit: 100 rows, 100 features, 4 tasks, one of them varied",
                pd.DataFrame(rows), [
        "CPU seconds of model.fit(...) at tol 1e-6; l1 is a fifth of what makes all coefficients zero, l2 = l1/10, "
        "fusion = l1/2.",
        "The exponent is the slope of log seconds on log size over the whole axis; upper: over its last three sizes."])


def exponent(sizes, seconds):
    """Slope of log seconds on log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _along(axis, quick):
    fixed, varied, values = AXES[axis]
    values = values[:3] if quick else values
    rows = [_row(axis, {**fixed, varied: value}, value, 2 if quick else 7) for value in values]
    seconds = [row["fit s"] for row in rows]
    for row in rows:
        row.update({"exponent": float("nan"), "upper": float("nan")})
    rows[-1].update({"exponent": exponent(values, seconds), "upper": exponent(values[-3:], seconds[-3:])})
    return rows


def _row(axis, shape, value, repeats):
    model = random_model(**shape)
    penalties, fits = shares_of_limit(model), []
    rounds = interleaved({"fit s": lambda: cpu_seconds(
        lambda: fits.append(without_warnings(model.fit, **penalties)))}, repeats, budget=20)
    fit = fits[-1]
    return {"axis": axis, "size": value, **spread("fit s", rounds["fit s"]), "iterations": fit.iterations,
            "non-zeros": int((fit.params.to_numpy()[1:] != 0).sum()), "status": fit.status}
