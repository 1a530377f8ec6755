"""Unpenalized fits of separated data, under several constants of the solver's rule for them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fusedlr.solver import FLOOR, NewtonSolver
from study.fitting import build
from study.scores import error_of_margins

__all__ = ["FLOOR", "FLOORS", "separable_errors"]

#: Constants of the separable rule: the solver's own, and a hundred times less and more.
FLOORS = (FLOOR / 100, FLOOR, FLOOR * 100)


def separable_errors(data: Mapping[str, Any], sizes: Sequence[int], tol: float) -> pd.DataFrame:
    """Test error of the unpenalized model by size and by the constant of the rule for separated data."""
    rows = []
    for size in sizes:
        model = build(data["Y_train"][:size], data["X_train"][:size])
        for floor in FLOORS:
            solver = NewtonSolver(model.problem)
            fit = solver.solve(model.penalty_by_row(0.0, 0.0, 0.0), tol=tol, floor=floor)
            margins = fit.params[0] + data["X_test"] @ fit.params[1:]
            rows.append({"size": size, "floor": floor, "status": fit.status,
                         "test_error": error_of_margins(margins, data["Y_test"])})
    return pd.DataFrame(rows)
