"""Held-out scores of ordered outcomes, beside OrderedModel of statsmodels and R's ordinalNet.

``python -m benchmarks.ordered`` prints the table: anes96 of statsmodels by nested cross-validation, five outer folds.
ordinalNet is left out where R does not have it.
"""

import os
import shutil
import subprocess
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from fusedlr import CrossingWarning, FusedLogit
from fusedlr.outcomes.ordered import ranked_probability

FEATURES = ["logpopul", "TVnews", "selfLR", "ClinLR", "DoleLR", "age", "educ", "income"]
SCRIPT = Path(__file__).with_name("ordered.R")


def fused(**how):
    """A method: probabilities of the levels by a fused model, tuned by ``fit_cv``."""
    def shares(y, X, new):
        found = FusedLogit.from_ordered(y, X, **how).fit_cv(rng=1, progress=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CrossingWarning)
            return found.predict(new, which="levels").to_numpy()

    return timed(shares)


def timed(shares):
    def run(y, X, new):
        start = time.process_time()
        return shares(y, X, new), time.process_time() - start

    return run


def by_ordered_model(y, X, new):
    return OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=False).predict(new).to_numpy()


def by_ordinal_net(y, X, new):
    with tempfile.TemporaryDirectory() as folder:
        X.assign(level=y)[["level", *X]].to_csv(Path(folder, "train.csv"), index=False)
        new.assign(level=0)[["level", *X]].to_csv(Path(folder, "test.csv"), index=False)
        subprocess.run(["Rscript", SCRIPT, folder], check=True, capture_output=True)
        return pd.read_csv(Path(folder, "shares.csv")).to_numpy(), float(Path(folder, "seconds.txt").read_text())


def methods():
    found = {"fused, forward": fused(), "fused, backward": fused(direction="backward"),
             "fused, cumulative": fused(kind="cumulative"), "OrderedModel": timed(by_ordered_model)}
    probe = ["Rscript", "-e", "library(ordinalNet)"]
    if shutil.which("Rscript") and subprocess.run(probe, capture_output=True).returncode == 0:
        found["ordinalNet, semi-parallel"] = by_ordinal_net
    return found


def scores(shares, rank):
    return -np.log(shares[np.arange(len(rank)), rank]).mean(), ranked_probability(shares, rank).mean()


def main():
    """One line for each method: mean scores over folds and CPU seconds, log-loss and seconds beside the default's."""
    survey = sm.datasets.anes96.load_pandas().data
    y, X = survey["PID"].astype(int), survey[FEATURES]
    fold = np.random.default_rng(1).permutation(len(y)) % 5
    rows = []
    for k, (name, method) in product(range(5), methods().items()):  # in turn, so that all meet the same machine
        shares, seconds = method(y[fold != k], X[fold != k], X[fold == k])
        rows.append((name, k, *scores(shares, y[fold == k].to_numpy()), seconds))
    table = pd.DataFrame(rows, columns=["method", "fold", "logloss", "rps", "seconds"])
    loss = table.pivot(index="fold", columns="method", values="logloss")
    excess = loss.sub(loss["fused, forward"], axis=0)
    means = table.groupby("method", sort=False)[["logloss", "rps", "seconds"]].mean()
    means["excess"], means["se"] = excess.mean(), excess.sem()
    means["times"] = means["seconds"] / means["seconds"]["fused, forward"]
    return means[["logloss", "excess", "se", "rps", "seconds", "times"]]


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print(main().round({"logloss": 3, "excess": 3, "se": 3, "rps": 3, "seconds": 2, "times": 1}).to_string())
