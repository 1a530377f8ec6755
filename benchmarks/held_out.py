"""Held-out log-loss of the default ``fit_cv`` beside R's ``cv.glmnet`` task by task, on five real data sets.

    python -m benchmarks.held_out          prints the table of docs/choices.md, about five minutes on a free machine

Nested cross-validation, three times five outer folds; both methods are tuned on the training part alone. Differences
are paired by row (mean over the tasks observed there), so the standard error is that of a mean over rows.
"""

import sys
import warnings

import numpy as np
import pandas as pd
import statsmodels.api as sm

from fusedlr import FusedLogit, FusedLogitWarning
from fusedlr.objective import pointwise_loss
from fusedlr.r import session
from fusedlr.r.objects import from_r

REPEATS, FOLDS = 3, 5

_CV_GLMNET = """
function(x, y, x_new, seed) {
    set.seed(seed)
    fit <- suppressWarnings(glmnet::cv.glmnet(x, as.vector(y), family = "binomial", nfolds = 5))
    as.vector(predict(fit, x_new, s = "lambda.min"))
}
"""


def r_data(package, name):
    """A data frame of one of R's packages."""
    import rpy2.robjects as robjects

    session.versions()  # starts R as the package does
    return from_r(robjects.r(f"{package}::{name}"))


def above(values, cuts):
    """One task "above this" for each cut."""
    return pd.DataFrame({f">{cut:g}": np.where(values.isna(), np.nan, values > cut) for cut in cuts},
                        index=values.index)


def died_by(years, event, cuts):
    """One task "dead by this year" for each cut, missing where someone was lost before."""
    return pd.DataFrame({f"year {cut:g}": np.where(years > cut, 0.0, np.where(event, 1.0, np.nan)) for cut in cuts})


def birthwt():
    data = r_data("MASS", "birthwt")
    X = pd.get_dummies(data.drop(columns=["low", "bwt"]).astype({"race": int}), columns=["race"], drop_first=True)
    return above(data["bwt"], [2000, 2500, 3000, 3500]), X.astype(float)


def pbc():
    data = r_data("survival", "pbc").dropna().reset_index(drop=True)
    X = data.drop(columns=["id", "time", "status"]).assign(sex=(data["sex"] == "f").astype(float))
    return died_by(data["time"] / 365.25, data["status"] > 0, [2, 4, 6, 8]), X.astype(float)


def colon():
    data = r_data("survival", "colon")
    data = data[data["etype"] == 2].dropna().reset_index(drop=True)
    X = data.drop(columns=["id", "study", "status", "time", "etype", "rx"])
    X = X.assign(lev=data["rx"] == "Lev", lev5fu=data["rx"] == "Lev+5FU").astype(float)
    return died_by(data["time"] / 365.25, data["status"] == 1, [1, 2, 3, 4, 5]), X.drop(columns=["node4"])


def anes96():
    data = sm.datasets.anes96.load_pandas()
    X = data.exog[["selfLR", "age", "educ", "income"]].assign(popul=data.data["popul"])
    return above(data.endog, range(6)), X


def fair():
    data = sm.datasets.fair.load_pandas()
    return above(data.data["rate_marriage"], [1, 2, 3, 4]), data.exog.drop(columns=["rate_marriage"])


def losses(linear, Y):
    """Mean loss of the observed labels of each row; NaN where there are none."""
    Y = Y.to_numpy(dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(np.where(np.isnan(Y), np.nan, pointwise_loss(np.where(Y > 0, 1.0, -1.0) * linear)), axis=1)


def ours(Y, X, X_new, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)
        found = FusedLogit(Y, X).fit_cv(rng=seed, progress=False)
        return found.predict(X_new, which="linear").to_numpy()


def glmnet(Y, X, X_new, seed):
    columns = []
    for task in Y:
        seen = Y[task].notna().to_numpy()
        columns.append(session.call(_CV_GLMNET, ("glmnet",), x=X.to_numpy()[seen], y=Y[task].to_numpy(float)[seen],
                                    x_new=X_new.to_numpy(), seed=seed))
    return np.column_stack(columns)


def compare(Y, X):
    """Losses of both methods by row, means over repeats."""
    both = np.zeros((2, len(X)))
    for repeat in range(REPEATS):
        fold = np.random.default_rng(repeat).permutation(len(X)) % FOLDS
        for k in range(FOLDS):
            train, held = fold != k, fold == k
            for number, method in enumerate((ours, glmnet)):
                linear = method(Y[train].reset_index(drop=True), X[train].reset_index(drop=True), X[held], seed=repeat)
                both[number, held] += losses(linear, Y[held]) / REPEATS
    return both[:, ~np.isnan(both).any(axis=0)]


def main():
    print("| data | rows | features | tasks | fusedlr | cv.glmnet | difference |")
    print("|---|---|---|---|---|---|---|")
    for make in (birthwt, pbc, colon, anes96, fair):
        Y, X = make()
        mine, theirs = compare(Y, X)
        error = (mine - theirs).std(ddof=1) / np.sqrt(len(mine))
        print(f"| {make.__name__} | {len(X)} | {X.shape[1]} | {Y.shape[1]} | {mine.mean():.4f} | {theirs.mean():.4f} | "
              f"{(mine - theirs).mean():+.4f} ± {error:.4f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
