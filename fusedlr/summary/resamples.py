"""The printed summary of a bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
from statsmodels.iolib.summary import Summary

from .. import checks
from .tables import build, number, overview, shortened, table

__all__ = ["summarize_bootstrap"]

NOTES = ("Percentile intervals of the penalized estimate, which is pulled towards zero and towards its neighbours: no "
         "test of a hypothesis.",
         "selected: share of resamples in which the coefficient is not zero.")


def summarize_bootstrap(found: Any, alpha: float = 0.05, max_rows: int | None = 40) -> Summary:
    """Summary of a ``BootstrapResults``: a line for each feature and task that the fit or a resample keeps."""
    model = found.results.model
    rows, notes = _rows_to_show(found, max_rows)
    ends, params, errors = found.conf_int(alpha), found.params, found.bse
    kept = (found.samples != 0).mean(axis=0)
    header = ["", "task", "coef", "std dev", f"[{alpha / 2:.4g}", f"{1 - alpha / 2:.4g}]", "selected"]
    cells = [[shortened(model.exog_names[row], 24), shortened(task, 20), number(params.iloc[row, k]),
              number(errors.iloc[row, k]), *map(number, ends.iloc[row, 2 * k:2 * k + 2]), f"{kept[row, k]:.2f}"]
             for row in rows for k, task in enumerate(model.endog_names)]
    tables = [overview(_setting(found), _run(found), "Bootstrap of a penalized fit"),
              table(cells, header, aligns="ll" + "r" * 5)]
    return build(tables, [*NOTES, *notes])


def _setting(found):
    results = found.results
    return [("Tasks:", f"{len(results.model.endog_names)}"), ("Rows:", f"{results.nobs}"),
            ("Distinct values (df):", f"{results.df}")]


def _run(found):
    return [("Resamples:", f"{len(found.samples)}"), ("Not optimal:", f"{found.n_failed}"), ("Seed:", f"{found.seed}")]


def _rows_to_show(found, max_rows):
    """Rows of params to print: the intercept and features that are ever selected, most often selected first to stay."""
    often = (found.samples[:, 1:] != 0).mean(axis=(0, 2))
    ever = int(np.count_nonzero(often))
    limit = len(often) if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all features")
    chosen = np.argsort(-often, kind="stable")[:min(limit, ever)]
    notes = []
    if ever > len(chosen):
        notes.append(f"Shown are the {len(chosen)} features that are selected most often, of {ever} that ever are; "
                     "max_rows=None shows all.")
    if ever < len(often):
        notes.append(f"Not shown: {len(often) - ever} features that no resample selects.")
    return np.append(0, 1 + np.sort(chosen)), notes
