"""(d) One Newton step of the paper's chi-update in d-space and in n-space (claim 8)."""

import numpy as np
import pandas as pd

from fusedlr.admm.chi_update import InFeatures, InRows
from fusedlr.problem import Problem

from .measure import Part, cpu_seconds, interleaved, ratio, spread

__all__ = ["run"]

N_ROWS = 100
#: Seconds that the paper quotes for inverting a d x d matrix in R.
PAPER = {500: 0.15, 1000: 1.0, 5000: 160.0}


def run(quick):
    """CPU seconds of one step by number of features."""
    rows = [_row(d, 3 if quick else 9) for d in ((500, 1000) if quick else PAPER)]
    return Part("d_newton_step", f"(d) one Newton step of the paper's chi-update, {N_ROWS} rows, one task",
                pd.DataFrame(rows), [
        "CPU seconds of building the Hessian, factorising it and solving for the direction, from zero coefficients: 1 "
        "+ d",
        "equations in d-space, n in n-space. Last column: what the paper quotes for one inversion in R."])


def _row(d, repeats):
    rng = np.random.default_rng([1, d])
    problem = Problem.wide(rng.standard_normal((N_ROWS, d)), rng.integers(0, 2, (N_ROWS, 1)))
    steps = {"d-space s": InFeatures, "n-space s": InRows}
    rounds = interleaved({name: lambda kind=kind: cpu_seconds(_step(problem, kind)) for name, kind in steps.items()},
                         repeats)
    return {"features": d, **spread("d-space s", rounds["d-space s"]), **spread("n-space s", rounds["n-space s"]),
            **ratio(rounds, "d-space s", "n-space s"), "paper, inversion s": PAPER[d]}


def _step(problem, kind):
    """The step as a function without arguments; what no step depends on is done before."""
    rows, labels = 1 + problem.n_features, problem.labels
    ridge = problem.penalty(0.0, 0.1, 0.0).l2
    newton = kind(problem.design.columns(np.arange(rows)), labels, problem.design.shift(labels), ridge)

    def step():
        newton.prepare(np.zeros(rows), np.ones(rows))
        _, slope, curvature, _, _ = newton.expand(newton.start(np.zeros(rows)))
        newton.factorise(curvature)
        newton.direction(slope)

    return step
