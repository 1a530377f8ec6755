"""Fused hazards and Cox models on held-out women.

``python -m benchmarks.rotterdam`` prints the table: R's ``survival::rotterdam`` by nested cross-validation, five outer
folds; everything is tuned on the other four.
"""

import warnings

import numpy as np
import pandas as pd
from rpy2.robjects import r

from fusedlr import FusedLogit, FusedLogitWarning
from fusedlr.outcomes import curve_scores, survival_scores
from fusedlr.r import from_r, to_r

# coxph must be told which effects change and in which shape: here those to which cox.zph objects, by log time.
COX = """function(d, changing) {
    fit <- function(terms, ...) survival::coxph(reformulate(terms, quote(survival::Surv(month, died))), d, ...)
    x <- setdiff(names(d), c("month", "died"))
    found <- fit(x)
    late <- x[survival::cox.zph(found, "identity")$table[x, "p"] < 0.05]
    if (changing) found <- fit(c(x, sprintf("tt(%s)", late)), tt = function(x, t, ...) x * log(t))
    data.frame(term = names(coef(found)), coef = coef(found))}"""


def data():
    """Years, deaths and features of the women."""
    women = from_r("survival::rotterdam")
    features = pd.DataFrame({
        "age": women["age"] / 10, "meno": women["meno"], "medium": women["size"] == "20-50",
        "large": women["size"] == ">50", "grade": women["grade"] == 3, "nodes": np.log1p(women["nodes"]),
        "pgr": np.log1p(women["pgr"]), "er": np.log1p(women["er"]), "hormon": women["hormon"], "chemo": women["chemo"]})
    return women["dtime"] / 365.25, women["death"], features.astype(float)


def cox_curves(monthly, train, changing):
    """Survival of all women at the end of each year, by a Cox model of some of them and Breslow's baseline hazard.

    R gives no curves of a model with ``tt()``.
    """
    features = monthly.drop(columns=["month", "died"])
    coefs = from_r(r(COX)(to_r(monthly[train]), changing)).set_index("term")["coef"]
    late = coefs.reindex([f"tt({name})" for name in features]).fillna(0).to_numpy()
    hazard, alive = 0, {}
    for month in range(1, 145):
        odds = np.exp(features @ (coefs[list(features)].to_numpy() + late * np.log(month)))
        deaths = (train & (monthly["month"] == month) & (monthly["died"] == 1)).sum()
        hazard = hazard + odds * deaths / odds[train & (monthly["month"] >= month)].sum()
        alive[month / 12] = np.exp(-hazard)
    return pd.DataFrame(alive)[list(range(1, 13))]


def scores_of_a_fold(model, monthly, years, died, out):
    """One row for each kind of fit, scored in the rows ``out``."""
    part, features = model.with_rows(~out), model.exog
    fits = {"fused": part.fit_cv(rng=1, progress=False),
            "separate, l1 and l2": part.fit_cv(rng=1, fusion=0, l2=[0, 3, 10, 30, 100], progress=False),
            "all years tied": part.fit(0, 0, 1e6), "separate": part.fit(0, 0, 0)}
    curves = {"coxph": cox_curves(monthly, ~out, False), "coxph with tt()": cox_curves(monthly, ~out, True)}
    ours = {name: survival_scores(fit, years[out], died[out], features[out]) for name, fit in fits.items()}
    cox = {name: curve_scores(curve[out], years[out], died[out]) for name, curve in curves.items()}
    return [{"fit": name, **found} for name, found in {**ours, **cox}.items()]


def main():
    years, died, features = data()
    monthly = features.assign(month=np.ceil(12 * years), died=died)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)  # deaths after the twelfth year; years without penalty
        model = FusedLogit.from_survival(years, died, features, breaks=range(1, 13))
        fold = np.random.default_rng(1).permutation(len(years)) % 5
        rows = [{"fold": k, **row} for k in range(5)
                for row in scores_of_a_fold(model, monthly, years, died, fold == k)]
    scores = pd.DataFrame(rows)
    means = scores.groupby("fit", sort=False)[["loglike", "brier", "concordance"]].mean()
    loss = scores.pivot(index="fold", columns="fit", values="loglike")
    behind = loss.rsub(loss["fused"], axis=0)
    print(means.assign(behind=behind.mean(), se=behind.sem()).round(4).to_string())


if __name__ == "__main__":
    main()
