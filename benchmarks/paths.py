"""(k) Lasso paths of one task, against glmnet and, where they can be imported, adelie, skglm and scikit-learn."""

import importlib.util
import warnings

import numpy as np
import pandas as pd

from fusedlr import FusedLogit
from fusedlr.objective import objective
from fusedlr.r import session
from fusedlr.solver import solve_path

from .measure import Part, cpu_seconds, interleaved, ratio, spread, suboptimality
from .problems import penalty_at

__all__ = ["run"]

#: Rows, features, points of the path.
CASES = ((200, 100, 100), (1000, 50, 100), (100, 2000, 100), (5000, 200, 50), (1000, 5000, 50), (2000, 20_000, 50))
SMALL = 200_000  # entries of X up to which scikit-learn, whose saga needs many passes, takes part

_GLMNET = """
function(x, y, lambda) {
    old <- glmnet::glmnet.control()
    on.exit(do.call(glmnet::glmnet.control, old))
    glmnet::glmnet.control(fdev = 0, devmax = 1)
    start <- proc.time()[["user.self"]]
    fit <- glmnet::glmnet(x, as.vector(y), "binomial", lambda = as.vector(lambda), standardize = FALSE, thresh = 1e-10)
    list(seconds = proc.time()[["user.self"]] - start, coefs = rbind(fit$a0, as.matrix(fit$beta)))
}
"""


def run(quick):
    """CPU seconds and suboptimality of each solver, at every size."""
    cases, repeats = (CASES[:1], 1) if quick else (CASES, 5)
    peers = {name: solve for name, solve in PEERS.items() if _is_there(name)}
    rows = [_row(case, peers, repeats) for case in cases]
    return Part("k_paths", "(k) lasso paths of one task, free intercept: the largest l1 with empty support down to a "
                "twentieth of it", pd.DataFrame(rows), [
        "CPU seconds of a whole path from arrays in memory, one thread, medians; subopt.: largest relative excess over",
        "the least objective known (ours at 1e-10). Ours: solve_path, tol 1e-6, every gap proved; glmnet: thresh",
        "1e-10; adelie: tol 1e-6; skglm: tol 1e-5; scikit-learn: saga, tol 1e-5, small sizes only. Solvers that cannot",
        "be imported are left out."])


def _is_there(name):
    return session.has_package(name) if name == "glmnet" else importlib.util.find_spec(name) is not None


def draw(n_rows, n_features, n_points):
    """Features by column, labels and penalties of a problem in which up to thirty features matter."""
    rng = np.random.default_rng([n_rows, n_features])
    X = np.asfortranarray(rng.normal(size=(n_rows, n_features)))
    relevant = 10 if n_features <= 2000 else 30
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-X[:, :relevant] @ rng.normal(size=relevant)))).astype(float)
    return X, y, np.abs(X.T @ (y - y.mean())).max() * np.geomspace(1, 0.05, n_points)


def _row(case, peers, repeats):
    X, y, l1 = draw(*case)
    model = FusedLogit(y, X, standardize=False)
    points = np.column_stack([l1, 0 * l1, 0 * l1])
    best = [objective(model.problem, fit, penalty_at(model, point))
            for fit, point in zip(solve_path(model.problem, points, tol=1e-10).params, points)]
    worst = {}

    def timed(name, solve):
        seconds, params = solve(X, y, l1)
        worst[name] = max(suboptimality(model, penalty_at(model, point), fit[:, None], value)
                          for point, fit, value in zip(points, params, best))
        return seconds

    def ours(*_):
        kept = []
        seconds = cpu_seconds(lambda: kept.append(solve_path(model.problem, points, tol=1e-6)))
        return seconds, kept[0].params[:, :, 0]

    solvers = {"ours": ours, **{name: solve for name, solve in peers.items() if name != "sklearn" or X.size <= SMALL}}
    rounds = interleaved({name: lambda name=name, solve=solve: timed(name, solve) for name, solve in solvers.items()},
                         repeats)
    row = {"rows": case[0], "features": case[1], "points": case[2]}
    for name in ("ours", *peers):
        row.update(spread(f"{name} s", rounds.get(name, [np.nan])))
        row[f"{name} subopt."] = worst.get(name, np.nan)
        if name in rounds and name != "ours":
            row.update(ratio(rounds, name, "ours", f"{name} / ours"))
    return row


# ---------------------------------------------------------------- the others: CPU seconds, (points, 1 + d) coefficients


def _glmnet(X, y, l1):
    found = session.call(_GLMNET, packages=["glmnet"], x=X, y=y, **{"lambda": l1 / len(y)})
    return max(float(found["seconds"][0]), 1e-3), found["coefs"].reshape(1 + X.shape[1], len(l1), order="F").T


def _adelie(X, y, l1):
    import adelie

    kept = []
    seconds = cpu_seconds(lambda: kept.append(adelie.grpnet(
        X=X, glm=adelie.glm.binomial(y=y), lmda_path=l1 / len(y), min_ratio=1e-9, early_exit=False, progress_bar=False,
        tol=1e-6, irls_tol=1e-7, n_threads=1, adev_tol=1.0, ddev_tol=0.0)))
    return seconds, np.column_stack([kept[0].intercepts, kept[0].betas.toarray()])


def _skglm(X, y, l1):
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(tol=1e-5, warm_start=True, max_iter=100)
    return _one_by_one(model, X, y, [{"alpha": value / len(y)} for value in l1])


def _sklearn(X, y, l1):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(l1_ratio=1.0, penalty="elasticnet", solver="saga", tol=1e-5, max_iter=10_000,
                               warm_start=True, random_state=0)
    return _one_by_one(model, X, y, [{"C": 1 / value} for value in l1])


def _one_by_one(model, X, y, settings):
    """A path by an estimator of scikit-learn's kind, each fit from the one before."""
    params = []

    def solve():
        for setting in settings:
            model.set_params(**setting).fit(X, y)
            params.append(np.append(model.intercept_, model.coef_))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cpu_seconds(solve), np.array(params)


PEERS = {"glmnet": _glmnet, "adelie": _adelie, "skglm": _skglm, "sklearn": _sklearn}
