"""(c) Single fused fits against the paper's ADMM and against R's smurf and penalized, at equal accuracy."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from .measure import Part, cpu_seconds, interleaved, ratio, spread, suboptimality
from .problems import random_model, study_model, without_warnings

__all__ = ["run"]

HERE = Path(__file__).parent
TOL = 1e-6
PENALTIES = ((0.2, 0.05, 0.2), (1.0, 0.1, 0.5), (4.0, 1.0, 2.0))
#: Values of the packages' own epsilon, from loose to tight.
LADDER = tuple(10.0**-power for power in range(5, 13))
LIMIT = 40  # CPU seconds of one fit by an R package

NOTES = [
    "ours s and other s: CPU seconds of one cold fit, model.fit(..., tol=1e-6) and the other; subopt.: excess of the "
    "objective",
    "over the least value known (our fit at a gap of 1e-12), divided by that value. admm: model.fit(..., "
    "method='admm', tol=1e-6)",
    "on the first rows of an instance of the study. smurf and penalized have no ridge beside the fusion and cannot "
    "fuse intercepts,",
    "so for them l2 = 0 and the fusion of the intercepts is 0, for us too. The tasks are stacked into one logistic "
    "regression of n t",
    "rows with columns x_l * 1(task = k), intercepts left free. penalized: fusedl = group of each feature, lambda1 = "
    "l1, lambda2 =",
    "fusion. smurf: 'flasso' without reference category, lambda = fusion / (n t), lambda1 = l1 / fusion, penalty "
    "weights 1, a sparse",
    "design. Each has the largest epsilon of 1e-5, 1e-6, ..., 1e-12 that is accurate enough; R's own clock for user "
    "CPU seconds.",
    f"Where a package needs more than {LIMIT} CPU seconds for one fit, that is all the table says, and larger "
    "problems are not tried.",
]


def run(quick):
    """Ratios of CPU seconds, each within one round."""
    repeats = 1 if quick else 5
    rows = [_against_admm(*problem, repeats) for problem in _admm_problems(quick)]
    shapes = ((60, 5, 3),) if quick else ((60, 5, 3), (50, 20, 4), (100, 100, 4))
    packages, missing = _packages()
    rows += [row for name in packages for row in _against_package(name, shapes, repeats)]
    return Part("c_fused", "(c) single fused fits at equal accuracy, relative suboptimality at most 1e-6",
                pd.DataFrame(rows), NOTES + missing)


# ---- the paper's ADMM

def _admm_problems(quick):
    """Training rows and penalties."""
    return [(25, PENALTIES[2])] if quick else [(size, point) for size in (50, 100, 200) for point in PENALTIES]


def _against_admm(size, point, repeats):
    model = study_model(size)
    fit = partial(_fit, model, model.penalty_by_row(*point), point)
    return _row("admm", f"n={size}, d=100, t=4", point, fit, lambda: fit(method="admm"), repeats, "tol=1e-6")


def _fit(model, penalty, point, method="newton"):
    """CPU seconds and suboptimality of one fit."""
    kept = []
    seconds = cpu_seconds(lambda: kept.append(without_warnings(model.fit, *point, method=method, tol=TOL)))
    best = without_warnings(model.fit, *point, tol=1e-12).objective
    return seconds, suboptimality(model, penalty, kept[0].params.to_numpy(), best)


# ---- R's packages

def _packages():
    """Names of the packages that R can load, and a sentence for each of the others."""
    found, missing = [], []
    for name in ("smurf", "penalized"):
        there = shutil.which("Rscript") and _rscript("-e", f"library({name})").returncode == 0
        (found if there else missing).append(name)
    return found, [f"R's package {name} is not installed and was left out." for name in missing]


def _rscript(*arguments):
    environment = {**os.environ, "R_LIBS": str(HERE.parent / ".rlib")}
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (LIMIT, LIMIT))  # the kernel ends what goes beyond
    return subprocess.run(["Rscript", "--vanilla", *map(str, arguments)], env=environment, preexec_fn=limit,
                          capture_output=True, text=True, check=False)


def _against_package(name, shapes, repeats):
    """Rows for problems of growing size, up to the first that the package does not solve in time."""
    for shape in shapes:
        row = _package_row(name, shape, repeats)
        yield row
        if np.isnan(row["ratio"]):
            return


def _package_row(name, shape, repeats):
    model = random_model(*shape)
    l1, fusion = 1.0, 0.5
    point = (l1, 0.0, np.append(0.0, np.full(shape[1], fusion)))
    ours = partial(_fit, model, model.penalty_by_row(*point), point)
    best = without_warnings(model.fit, *point, tol=1e-12).objective
    with tempfile.TemporaryDirectory() as folder:
        _write_problem(folder, model, l1, fusion)
        theirs = partial(_package_fit, name, folder, model, model.penalty_by_row(*point), best)
        epsilon = _epsilon(theirs)
        problem = "n={}, d={}, t={}".format(*shape)
        if epsilon is None:
            return _without_answer(name, problem, (l1, 0.0, fusion), ours, repeats)
        return _row(name, problem, (l1, 0.0, fusion), ours, partial(theirs, epsilon), min(repeats, 3),
                    f"epsilon={epsilon:g}")


def _write_problem(folder, model, l1, fusion):
    problem = model.problem
    parts = {"size": np.array([problem.n_rows, problem.n_features, problem.n_tasks]), "X": problem.design.X,
             "Y": model.endog.to_numpy(), "penalties": np.array([l1, fusion])}
    for name, values in parts.items():
        values.astype(float).ravel(order="F").tofile(Path(folder) / name)


def _package_fit(name, folder, model, penalty, best, epsilon):
    """User CPU seconds by R's clock and suboptimality of the fit; None where it takes too long."""
    done = _rscript(HERE / "fused_peers.R", folder, name, epsilon)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    if done.returncode:
        raise RuntimeError(f"R's package {name} failed: {done.stderr.strip()[-500:]}")
    seconds, *params = np.fromfile(Path(folder) / "found")
    shape = (1 + model.problem.n_features, model.problem.n_tasks)
    return max(seconds, 1e-3), suboptimality(model, penalty, np.reshape(params, shape, order="F"), best)


def _epsilon(theirs):
    """The first rung of the ladder that is accurate enough; None where none is within the time limit."""
    for epsilon in LADDER:
        found = theirs(epsilon)
        if found is None:
            return None
        if found[1] <= TOL:
            return epsilon
    return None


# ---- rows of the table

def _row(other, problem, point, ours, theirs, repeats, setting):
    far = {}

    def timed(name, fit):
        seconds, far[name] = fit()
        return seconds

    rounds = interleaved({"ours": lambda: timed("ours", ours), "other": lambda: timed("other", theirs)}, repeats)
    return {**_head(other, problem, point), **spread("ours s", rounds["ours"]), **spread("other s", rounds["other"]),
            **ratio(rounds, "other", "ours"), "ours subopt.": far["ours"], "other subopt.": far["other"],
            "setting": setting}


def _without_answer(other, problem, point, ours, repeats):
    rounds = interleaved({"ours": lambda: ours()[0]}, repeats)
    nothing = dict.fromkeys(("other s", "other s min", "other s max", "ratio", "ratio min", "ratio max"), float("nan"))
    return {**_head(other, problem, point), **spread("ours s", rounds["ours"]), **nothing, "ours subopt.": ours()[1],
            "other subopt.": float("nan"), "setting": f"not accurate within {LIMIT} CPU s"}


def _head(other, problem, point):
    return {"other": other, "problem": problem, "l1, l2, fusion": ", ".join(f"{value:g}" for value in point)}
