"""Printed summaries of the bootstrap and of stability selection."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from statsmodels.iolib.summary import Summary

from .. import checks
from ..spec import short_names
from .tables import build, number, overview, adaptive_factors, rows_and_groups, table

if TYPE_CHECKING:
    from ..inference import BootstrapResults, StabilityResults

__all__ = ["summarize_bootstrap", "summarize_stability"]

MOST_TASKS = 8
NOTES = ("Percentile intervals of the penalized estimate, which is pulled towards zero and towards its neighbours: no "
         "test of a hypothesis.",
         "selected: share of resamples in which the coefficient is not zero.")
FOUND = {"features": "found: share of halves in which the feature is not zero in some task.",
         "effects": "found: share of halves in which the coefficient is not zero. coef: in the fit on all rows.",
         "changes": "found: share of halves in which the two tasks differ."}
BOUNDED = ("With the share needed, the false {what} to expect number {errors:g} at most (Shah and Samworth 2013), if "
           "none of them is found more often than the average one{more}. {fails}.")
UNIMODAL = " and the number of pairs that both find it is unimodal"
FAILS = {"features": "A feature that is correlated with a true one may fail this",
         "effects": "A coefficient that is tied to a true one may fail this",
         "changes": "Next to a true change this may fail"}
HEADERS = {"features": ["stable features", "found"], "effects": ["stable effects", "task", "coef", "found"],
           "changes": ["stable changes", "between", "and", "found"]}


def summarize_bootstrap(found: BootstrapResults, alpha: float = 0.05, max_rows: int | None = 40) -> Summary:
    """Summary of a ``BootstrapResults``: a line for each feature and task that the fit or a resample keeps."""
    model = found.results.model
    rows, notes = _rows_to_show(found, max_rows)
    ends, params, errors = found.conf_int(alpha), found.params, found.bse
    kept = (found.samples != 0).mean(axis=0)
    header = ["", "task", "coef", "std dev", f"[{alpha / 2:.4g}", f"{1 - alpha / 2:.4g}]", "selected"]
    features, tasks = short_names(model.exog_names, 24), short_names(model.endog_names, 20)
    cells = [[features[row], task, number(params.iloc[row, k]),
              number(errors.iloc[row, k]), *map(number, ends.iloc[row, 2 * k:2 * k + 2]), f"{kept[row, k]:.2f}"]
             for row in rows for k, task in enumerate(tasks)]
    tables = [overview(_setting(found), _run(found), "Bootstrap of a penalized fit"),
              table(cells, header, aligns="ll" + "r" * 5)]
    return build(tables, [*NOTES, *notes])


def summarize_stability(found: StabilityResults, errors: float = 1.0, max_rows: int | None = 40) -> Summary:
    """Summary of a ``StabilityResults``: the stable set with its selection frequencies."""
    what: Any = found.what
    share, (average, candidates) = found.threshold(what, errors), found.average(what)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said in a note
        stable = found.stable(what, errors)
    shown = _most_frequent(stable, max_rows)
    left = [*_setting(found), (f"{what.capitalize()} in a half:", f"{average:.1f} of {candidates}"),
            ("Penalties in halves:", _penalties(found))]
    right = [*_run(found), ("Share of halves needed:", f"{share:.2f}" if share <= 1 else "-"), ("Bound:", found.bound)]
    notes = [FOUND[what], _bounded(found, errors), *_notes(what, share, average, errors, len(stable), len(shown))]
    return build([overview(left, right, f"{what.capitalize()} in halves of the rows"), _stable(what, shown)], notes)


def _penalties(found):
    if found.multiple == 1:
        return "as in the fit"
    return f"{'fusion' if found.what == 'changes' else 'l1'} times {found.multiple:.3g}"


def _bounded(found, errors):
    return BOUNDED.format(what=found.what, errors=errors, more=UNIMODAL * (found.bound == "unimodal"),
                          fails=FAILS[found.what])


def _stable(what, rows):
    """A line for each feature, effect or change."""
    header = HEADERS[what]
    names = [short_names(rows[name], 24) for name in ("feature", "task", "neighbour") if name in rows]
    coefs = [rows["coef"].map(number)] if what == "effects" else []
    cells = [list(cells) for cells in zip(*names, *coefs, rows["frequency"].map("{:.2f}".format))]
    aligns = {"features": "lr", "effects": "llrr", "changes": "lllr"}[what]
    return table(cells or [["none"] + [""] * (len(header) - 1)], header, aligns=aligns)


def _most_frequent(rows, max_rows):
    """The rows found most often, in their own order."""
    limit = len(rows) if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all of them")
    return rows.iloc[np.sort(np.argsort(-rows["frequency"].to_numpy(), kind="stable")[:limit])]


def _notes(what, share, average, errors, stable, shown):
    if share > 1:
        yield (f"{average:.1f} {what} in a half are too many to bound the false ones by {errors:g}: fit with larger "
               "penalties, or allow more errors.")
    if shown < stable:
        yield f"Shown are the {shown} {what} found most often, of {stable} stable ones; max_rows=None shows all."


def _setting(found):
    results = found.results
    return [("Tasks:", f"{len(results.model.endog_names)}"), *rows_and_groups(results),
            ("Distinct values (df):", f"{results.df}"), *adaptive_factors(results, found.parts)]


def _run(found):
    return [(f"{found.parts.capitalize()}:", f"{len(found.samples)}"), ("Not optimal:", f"{found.n_failed}"),
            ("Random numbers (rng):", "-" if found.seed is None else f"{found.seed}")]


def _rows_to_show(found, max_rows):
    """Rows of params to print: the intercept and the features selected most often."""
    often = (found.samples[:, 1:] != 0).mean(axis=(0, 2))
    ever = int(np.count_nonzero(often))
    limit = len(often) if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all features")
    if max_rows is not None and found.samples.shape[2] > MOST_TASKS:
        limit = max(1, 2 * limit // found.samples.shape[2])  # each feature has a line a task
    chosen = np.argsort(-often, kind="stable")[:min(limit, ever)]
    notes = []
    if ever > len(chosen):
        notes.append(f"Shown are the {len(chosen)} features that are selected most often, of {ever} that ever are; "
                     "max_rows=None shows all.")
    if ever < len(often):
        notes.append(f"Not shown: {len(often) - ever} features that no resample selects.")
    return np.append(0, 1 + np.sort(chosen)), notes
