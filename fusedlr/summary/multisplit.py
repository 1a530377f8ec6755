"""The printed summary of multi-split p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from statsmodels.iolib.summary import Summary

from .. import checks
from ..spec import short_names
from .tables import build, overview, adaptive_factors, rows_and_groups, table

if TYPE_CHECKING:
    from ..inference import MultiSplitResults

__all__ = ["summarize_multisplit"]

TITLES = {"features": "Features with an effect in some task, by many splits",
          "changes": "Features whose effects differ between tasks, by many splits"}
RATES = {"fwer": "P: a bound on the chance that any of the terms up to this one is false (family-wise error).",
         "fdr": "P: a bound on the expected share of false terms among those up to this one (false discovery rate)."}
NOTE = ("One half of the rows selected, the other one tested without ties (Meinshausen, Meier and Buhlmann 2009): not "
        "conditional on selection, if half of the rows select all that has an effect.")


def summarize_multisplit(found: MultiSplitResults, alpha: float = 0.05, max_rows: int | None = 40) -> Summary:
    """Summary of a ``MultiSplitResults``: terms by rising p-value."""
    level, pvalues = checks.tolerance("alpha", alpha), found.pvalues
    limit = len(pvalues) if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all")
    order = pvalues.argsort(kind="stable")
    below = [k for k in order if pvalues.iloc[k] < 1]
    often, names = found.selection_frequency, short_names(pvalues.index, 40)
    cells = [[names[k], f"{often.iloc[k]:.2f}", f"{pvalues.iloc[k]:.4g}"] for k in below[:limit]]
    left = [("Tasks:", f"{len(found.model.endog_names)}"), *rows_and_groups(found.results),
            ("Terms:", f"{len(pvalues)}"), *adaptive_factors(found.results, "splits")]
    right = [("Splits:", f"{len(found.splits)}"), ("Error rate:", found.error),
             (f"Terms with P <= {level:g}:", f"{int((pvalues <= level).sum())}"),
             ("Random numbers (rng):", "-" if found.seed is None else f"{found.seed}")]
    notes = [RATES[found.error], NOTE, "tested: share of splits in which the term was selected and tested below 1."]
    hidden = len(pvalues) - len(cells)
    notes += [f"Not shown: {hidden} terms, {len(pvalues) - len(below)} of them with P = 1."] * (hidden > 0)
    return build([overview(left, right, TITLES[found.what]),
                  table(cells or [["none", "", ""]], ["", "tested", "P"], aligns="lrr")], notes)
