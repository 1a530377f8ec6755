"""(b) The points without fusion, against R's glmnet at equal accuracy."""

import numpy as np
import pandas as pd

from fusedlr.objective import objective
from fusedlr.r import session
from fusedlr.solver import solve_path

from .measure import Part, cpu_seconds, interleaved, ratio, spread, suboptimality
from .problems import SIZES, elastic_net_points, penalty_at, study_model

__all__ = ["run"]

TOL = 1e-6
LADDER = tuple(10.0**-power for power in range(4, 16))
KINDS = ("Newton", "modified.Newton")

# One path for each task and each alpha, over just the lambdas that are needed, the largest first.
_PATHS = """
function(x, y, l1, l2, thresh, kind) {
    old <- glmnet::glmnet.control()
    on.exit(do.call(glmnet::glmnet.control, old))
    glmnet::glmnet.control(fdev = 0, devmax = 1)
    total <- as.vector(l1 + l2)
    alpha <- signif(as.vector(l1) / total, 12)
    found <- array(0, c(1 + ncol(x), ncol(y), length(total)))
    start <- proc.time()[["user.self"]]
    for (task in seq_len(ncol(y))) for (a in unique(alpha)) {
        here <- which(alpha == a)
        here <- here[order(-total[here])]
        fit <- glmnet::glmnet(x, y[, task], "binomial", alpha = a, lambda = total[here] / nrow(x), standardize = FALSE,
                              thresh = thresh, maxit = 1e7, type.logistic = kind)
        if (length(fit$lambda) < length(here)) stop("glmnet ended a path early")
        found[, task, here] <- rbind(fit$a0, as.matrix(fit$beta))
    }
    list(seconds = proc.time()[["user.self"]] - start, coefs = matrix(found, ncol = length(total)))
}
"""


def run(quick):
    """CPU seconds and suboptimality of both."""
    sizes, repeats = (SIZES[:1], 1) if quick else (SIZES, 5)
    points = elastic_net_points()[::7] if quick else elastic_net_points()
    rows = [_row(study_model(size), points, repeats) for size in sizes]
    versions = session.versions("glmnet")
    return Part("b_glmnet",
                f"(b) without fusion, against glmnet {versions['glmnet']}: 100 features, 4 tasks, {len(points)} points",
                pd.DataFrame(rows), [
        "Both fit all four tasks at all points to a relative suboptimality of at most 1e-6 at every point (excess of "
        "the",
        "objective over the least value known, from fits at a gap of 1e-12, divided by that value). glmnet: alpha = "
        "l1/(l1+l2),",
        "lambda = (l1+l2)/n, one path for each task and alpha over just the lambdas needed, standardize = FALSE; the "
        "largest",
        "thresh of 1e-4, 1e-5, ..., 1e-15 and the faster of its two kinds of Newton's method that are accurate enough;",
        "user CPU seconds by R's proc.time around the calls. Ours: one call of solve_path, tol 1e-6, CPU seconds."])


def _row(model, points, repeats):
    best = _least_objectives(model, points)
    choice = _setting(model, points, best)
    worst = {}

    def ours():
        kept = []
        seconds = cpu_seconds(lambda: kept.append(solve_path(model.problem, points, tol=TOL).params))
        worst["ours"] = _worst(model, points, kept[0], best)
        return seconds

    def theirs():
        seconds, params = _glmnet(model, points, choice["thresh"], choice["kind"])
        worst["glmnet"] = _worst(model, points, params, best)
        return seconds

    rounds = interleaved({"ours": ours, "glmnet": theirs}, repeats)
    return {"rows": model.nobs, **spread("ours s", rounds["ours"]), **spread("glmnet s", rounds["glmnet"]),
            **ratio(rounds, "glmnet", "ours"), "ours subopt.": worst["ours"], "glmnet subopt.": worst["glmnet"],
            "thresh": choice["thresh"], "kind": choice["kind"]}


def _least_objectives(model, points):
    params = solve_path(model.problem, points, tol=1e-12).params
    return np.array([objective(model.problem, fit, penalty_at(model, point)) for fit, point in zip(params, points)])


def _setting(model, points, best):
    """The fastest setting of glmnet that is accurate enough; its most accurate one where none is."""
    tried = []
    for kind in KINDS:
        for thresh in LADDER:
            seconds, params = _glmnet(model, points, thresh, kind)
            worst = _worst(model, points, params, best)
            tried.append({"kind": kind, "thresh": thresh, "seconds": seconds, "worst": worst})
            if worst <= TOL:
                break
    enough = [setting for setting in tried if setting["worst"] <= TOL]
    return min(enough, key=lambda s: s["seconds"]) if enough else min(tried, key=lambda s: s["worst"])


def _glmnet(model, points, thresh, kind):
    """User CPU seconds inside R, and coefficients (points, 1 + d, t)."""
    problem = model.problem
    found = session.call(_PATHS, packages=["glmnet"], x=problem.design.X, y=model.endog.to_numpy(), l1=points[:, 0],
                         l2=points[:, 1], thresh=thresh, kind=kind)
    shape = (1 + problem.n_features, problem.n_tasks, len(points))
    return max(float(found["seconds"][0]), 1e-3), np.moveaxis(found["coefs"].reshape(shape, order="F"), 2, 0)


def _worst(model, points, params, best):
    return max(suboptimality(model, penalty_at(model, point), fit, value)
               for point, fit, value in zip(points, params, best))
