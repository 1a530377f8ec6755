"""How closely fits without fusion agree with R's glmnet, which solves the same problem there."""

import warnings
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fusedlr import FusedLogitWarning
from fusedlr.r import glmnet
from study.fitting import build

__all__ = ["COLUMNS", "PENALTIES", "SIZES", "TOL", "compare_fits"]

SIZES = (50, 400)
#: l1 and l2 of the compared fits: lasso, elastic net, ridge.
PENALTIES = ((1.0, 0.0), (0.4, 0.1), (4.0, 2.0), (0.0, 1.0))
#: Relative duality gap of our fits, close to rounding error; not all of them reach it.
TOL = 1e-13

COLUMNS = ["case", "size", "l1", "l2", "max_coef_difference", "objective_difference", "gap"]


def compare_fits(data: Mapping[str, Any]) -> pd.DataFrame:
    """Differences to glmnet for several sizes and penalties of one instance (:func:`study.simulate.simulate`)."""
    rows = []
    for size in SIZES:
        model = build(data["Y_train"][:size], data["X_train"][:size])
        for l1, l2 in PENALTIES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FusedLogitWarning)  # the gap is a column of the table
                fit = model.fit(l1, l2, 0.0, tol=TOL)
            found = glmnet.agreement(model.problem, fit.penalty_by_row, fit.solution.params)
            rows.append({"size": size, "l1": l1, "l2": l2, **found, "gap": fit.gap})
    return pd.DataFrame(rows)
