"""The printed summary of an unpenalized refit: a Wald table, and what it is conditional on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from statsmodels.iolib.summary import Summary

from .. import checks
from ..spec import short_names, shortened, task_span
from .tables import build, count, fixed, number, overview, rows_and_groups, share, table

if TYPE_CHECKING:
    from ..inference import RefitResults

__all__ = ["summarize_refit"]

TITLE = "Unpenalized refit, conditional on selection"

ERRORS = {"cluster": "Standard errors allow any dependence between the labels of one {} (cov_type='cluster').",
          "nonrobust": "Standard errors take the labels of one {} as independent; refit(cov_type='cluster') does not."}


SELECTION = {
    "tied": "Conditional on selection: the same data chose which coefficients are zero or equal, so these intervals "
            "are too short and these p-values too small: in simulations 86 to 93 % of nominal 95 % intervals of "
            "changing effects covered, without ties 94 to 95 %. Ask refit(ties=False) about changes.",
    "untied": "Conditional on selection: the same data chose which features are kept. Nothing is tied, so intervals of "
              "effects and changes hold about what they say; p-values of weak features are too small.",
    "unseen": "The selection did not see these rows: intervals and p-values hold if the rows are independent of those "
              "that it saw.",
}


def summarize_refit(refitted: RefitResults, alpha: float = 0.05, title: str | None = None,
                    max_rows: int | None = 40) -> Summary:
    """Summary of a ``RefitResults``, of the first ``max_rows`` values."""
    shown = None if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all values")
    wald = refitted.table(alpha).iloc[:shown]
    header = ["", "tasks", *wald.columns]
    features, tasks = (short_names(names, length) for names, length in ((refitted.model.exog_names, 21),
                                                                        (refitted.model.endog_names, 11)))
    places = (np.nonzero(refitted.pattern == value) for value in range(len(wald)))
    rows = [[features[where[0]], shortened(task_span(columns, tasks), 27), *(_cell(*entry) for entry in row.items())]
            for (where, columns), (_, row) in zip(places, wald.iterrows())]
    tables = [overview(_setting(refitted), _quality(refitted), TITLE if title is None else checks.text("title", title)),
              table(rows, header, aligns="ll" + "r" * len(wald.columns))]
    left = refitted.df - len(rows)
    return build(tables, _notes(refitted) + [f"Not shown: {left} more values; max_rows=None shows all."] * (left > 0))


def _setting(refitted):
    unit = refitted.model.problem.groups.word
    return [
        ("Tasks:", f"{len(refitted.model.endog_names)}"),
        *rows_and_groups(refitted),
        ("Labels observed:", count(refitted.nobs_per_task.sum())),
        ("Estimated values (df):", f"{refitted.df}" + " (ties released)" * (not refitted.ties)),
        ("Covariance:", refitted.cov_type + f" by {unit}" * (refitted.cov_type == "cluster" and unit != "row")),
    ]


def _quality(refitted):
    return [
        ("Log-likelihood:", fixed(refitted.llf)),
        ("LL-null:", fixed(refitted.llnull)),
        ("Deviance explained:", share(refitted.prsquared)),
        ("AIC:", fixed(refitted.aic)),
        ("BIC:", fixed(refitted.bic)),
    ]


def _cell(name, value):
    return number(value) if name not in ("z", "P>|z|") or value != value else fixed(value)


def _notes(refitted):
    notes = [SELECTION["unseen" if refitted.unseen else "tied" if refitted.ties else "untied"]]
    unit = refitted.model.problem.groups.word
    if len(refitted.model.endog_names) > 1 or unit != "row":
        notes.append(ERRORS[refitted.cov_type].format(unit))
    elif refitted.cov_type == "cluster":
        notes.append("Standard errors are those of a sandwich, which needs rows to be independent only.")
    if refitted.separated:
        notes.append(f"Tasks {refitted.separated} are separated: no finite best values, no standard errors.")
    if refitted.fit.collinear.any():
        notes.append("Values without a standard error belong to collinear features.")
    return notes
