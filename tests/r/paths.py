"""The problems of ``tests/fixtures/paths.csv`` through every public path of Python, in the order of R's arrays."""

import warnings

import numpy as np
import pandas as pd

from fusedlr import FusedLogit
from fusedlr.resampling import sampling_units
from fusedlr.solver import solve_exactly
from tests.builds import ROOT

FIXTURES = ROOT / "tests" / "fixtures"
PATHS = pd.read_csv(FIXTURES / "paths.csv", dtype=str).set_index("name")

# What numpy or R computes from the core's numbers agrees to rounding; all else is bitwise identical.
ROUNDED = ("criteria", "residuals", "by")


def read(path):
    """The model and the data of a path."""
    data = pd.read_csv(FIXTURES / f"{path['data']}.csv")
    X, Y = (data.filter(regex=rf"^{letter}\d").to_numpy() for letter in "xy")
    options = {"tasks": path["tasks"], "standardize": path["standardize"] == "TRUE",
               "fuse_intercepts": path["fuse_intercepts"] == "TRUE",
               "weights": data.get("w1"), "groups": data.get("group")}
    options = {name: value.to_numpy() if isinstance(value, pd.Series) else value for name, value in options.items()}
    if path["door"] == "wide":
        return FusedLogit(Y, X, **options), data
    if path["door"] == "long":
        return FusedLogit.from_long(data["y"].to_numpy(), X, data["task"].to_numpy(), **options), data
    if path["door"] == "survival":
        time, event, entry = (data[name].to_numpy() for name in ("time", "event", "entry"))
        return FusedLogit.from_survival(time, event, X, [0, 1, 2, 3, 5], entry=entry, **options), data
    return FusedLogit.from_ordered(data["level"].to_numpy(), X, kind=path["door"], **options), data


def resampled(fit, data):
    """Fits on a resample and on two halves, drawn with given numbers."""
    problem = fit.model.problem
    units = sampling_units(problem.groups)
    number = units.count()
    first, second = (np.resize(data[name].to_numpy(), number) for name in ("u1", "u2"))
    places, half = np.argsort(first, kind="stable"), number // 2
    times = [units.drawn(np.floor(first * number).astype(np.int64), second)]
    times += [2 * units.drawn(places[part].astype(np.int64), second[part])
              for part in (slice(0, half), slice(half, 2 * half))]
    return [solve_exactly(problem.reweighted(each), fit.penalty_by_row, start=fit.solution.params).params.T
            for each in times]


def flat(values):
    """A table or a series in the order of R: rows inside columns."""
    return np.asarray(values, dtype=float).T.ravel()


def numbers(path):
    """All that R writes of a path, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, data = read(path)
        fit = model.fit(**{name: float(path[name]) for name in ("l1", "l2", "fusion")})
        cv = model.fit_cv(folds=data["fold"].to_numpy(), progress=False)
        by = model.fit_cv(by="ebic", l1=[0.5, 2], l2=[0, 0.5], fusion=[0, 1], progress=False)
        refits = [fit.refit(cov_type, ties).fit for ties in (True, False) for cov_type in ("nonrobust", "cluster")]
    means = cv.table[["mean", "se", "se_difference"]]
    return {"fit": flat(fit.params), "loglik": [fit.llf], "df": [fit.df_effective], "criteria": [fit.aic, fit.bic],
            "residuals": np.concatenate([flat(each) for each in (fit.resid_response, fit.resid_pearson,
                                                                 fit.resid_deviance)]),
            "refit": np.concatenate([np.append(each.values, each.cov) for each in refits]),
            "grid": flat(cv.table[["l1", "l2", "fusion"]]), "cv": 2 * flat(means),
            "chosen": [cv.best + 1, cv.one_se + 1], "best": flat(cv.params),
            "by": flat(by.table[["df_effective", "aic", "bic", "ebic"]]),
            "resamples": np.concatenate([each.ravel() for each in resampled(fit, data)])}
