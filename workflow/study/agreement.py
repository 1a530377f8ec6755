"""How closely fits without fusion agree with R's glmnet, which solves the same problem there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fusedlr.core import solve_newton
from fusedlr.optimality import certify
from fusedlr.r import glmnet
from study.fitting import build

__all__ = ["COLUMNS", "PENALTIES", "SIZES", "TOL", "compare_fits"]

SIZES = (50, 400)
#: l1 and l2 of the compared fits: lasso, elastic net, ridge.
PENALTIES = ((1.0, 0.0), (0.4, 0.1), (4.0, 2.0), (0.0, 1.0))
#: Relative duality gap of our fits, as small as rounding lets every one of them be.
TOL = 1e-13

COLUMNS = ["case", "size", "l1", "l2", "max_coef_difference", "objective_difference", "gap"]


def compare_fits(data: Mapping[str, Any]) -> Any:
    """Differences to glmnet for several sizes and penalties of one instance.

    Parameters
    ----------
    data : dict of str to ndarray
        An instance, as :func:`study.simulate.simulate` returns it.
    """
    rows = []
    for size in SIZES:
        problem = build(data["Y_train"][:size], data["X_train"][:size])
        for l1, l2 in PENALTIES:
            penalty = problem.penalty(l1, l2, 0.0)
            fit = solve_newton(problem, penalty, tol=TOL)
            found = glmnet.agreement(problem.data, penalty, fit.params)
            rows.append({"size": size, "l1": l1, "l2": l2, **found,
                         "gap": certify(problem, fit.params, penalty).relative_gap})
    return pd.DataFrame(rows)
