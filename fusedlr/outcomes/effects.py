"""Which effects are the same along the whole chain, which change, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import checks

__all__ = ["effect_table"]


def effect_table(results: Any, bootstrap: Any = None) -> pd.DataFrame:
    """One row for each stretch of tasks over which a feature keeps its coefficient.

    Parameters
    ----------
    results : FusedLogitResults
        Of tasks in a chain.
    bootstrap : BootstrapResults or StabilityResults, optional
        Of the same results, for the last column.

    Returns
    -------
    DataFrame
        Indexed by feature. ``first`` and ``last`` task of the stretch (of times to event: the
        times where it begins and ends, ``start`` and ``end``), ``coef`` on the original scale,
        ``constant``: whether the feature has one stretch only. ``found``: the share of
        resamples in which the coefficient changes where this stretch begins; of a feature's
        first stretch, the share in which it is constant throughout.
    """
    model = checks.result("results", results, ("model", "coefs"), "a fit such as FusedLogit(...).fit gives").model
    coefs, edges = results.coefs, model.tasks.edges
    if [tuple(edge) for edge in edges] != [(k, k + 1) for k in range(coefs.shape[1] - 1)]:
        raise ValueError("results must be of tasks in a chain, found another graph of tasks")
    if bootstrap is not None:
        checks.result("bootstrap", bootstrap, ("params", "samples"), "what results.bootstrap() gave")
        if not bootstrap.params.equals(results.params):
            raise ValueError("bootstrap must be of the same results, found that of a fit with other coefficients")
    changes = None if bootstrap is None else np.diff(bootstrap.samples[:, 1:], axis=2) != 0
    begins, ends = _ends(model)
    rows = [(name, *stretch) for j, name in enumerate(model.exog_names[1:])
            for stretch in _stretches(coefs[j], begins, ends, None if changes is None else changes[:, j])]
    begin, end = ("first", "last") if not hasattr(model.outcome, "breaks") else ("start", "end")
    table = pd.DataFrame(rows, columns=["feature", begin, end, "coef", "constant", "found"]).set_index("feature")
    return table if bootstrap is not None else table.drop(columns="found")


def _ends(model):
    """What to call the beginning and the end of every task."""
    breaks = getattr(model.outcome, "breaks", None)
    return (breaks[:-1], breaks[1:]) if breaks is not None else (model.endog_names, model.endog_names)


def _stretches(values, begins, ends, changes):
    """Beginning, end and value of each stretch of equal values, and how often resamples agree."""
    starts = np.append(0, np.flatnonzero(np.diff(values)) + 1)
    lasts = np.append(starts[1:], len(values)) - 1
    for first, last in zip(starts, lasts):
        if changes is None:
            found = np.nan
        else:
            found = changes[:, first - 1].mean() if first else 1 - changes.any(axis=1).mean()
        yield begins[first], ends[last], values[first], len(starts) == 1, found
