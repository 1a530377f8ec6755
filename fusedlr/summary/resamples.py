"""Printed summaries of a bootstrap and of halves of the rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from statsmodels.iolib.summary import Summary

from .. import checks
from .tables import build, number, overview, rows_and_groups, shortened, table

if TYPE_CHECKING:
    from ..inference import BootstrapResults, StabilityResults

__all__ = ["summarize_bootstrap", "summarize_stability"]

WHAT: tuple[Any, ...] = ("effects", "changes")
NOTES = ("Percentile intervals of the penalized estimate, which is pulled towards zero and towards its neighbours: no "
         "test of a hypothesis.",
         "selected: share of resamples in which the coefficient is not zero.")
STABLE_NOTES = ("found: share of halves in which the coefficient is not zero, or the two tasks differ. coef: in the "
                "fit on all rows.",
                "With the shares needed, the false effects to expect number {0:g} at most, and so do the false "
                "changes, if none of these is found more often than the average one; neighbouring ties are not "
                "exchangeable, and next to a true change this may fail.")


def summarize_bootstrap(found: BootstrapResults, alpha: float = 0.05, max_rows: int | None = 40) -> Summary:
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


def summarize_stability(found: StabilityResults, errors: float = 1.0, max_rows: int | None = 40) -> Summary:
    """Summary of a ``StabilityResults``: effects and changes that are found often enough, with their shares."""
    shares = {what: found.threshold(what, errors) for what in WHAT}
    averages = {what: found.average(what) for what in shares}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said in a note
        stable = {"effects": found.stable_effects(errors), "changes": found.stable_changes(errors)}
    shown = {what: _most_frequent(rows, max_rows) for what, rows in stable.items()}
    left = [*_setting(found), *((f"{what.capitalize()} in a half:", f"{q:.1f} of {p}")
                                for what, (q, p) in averages.items())]
    right = [*_run(found), *((f"Share needed, {what}:", f"{share:.2f}" if share <= 1 else "-")
                             for what, share in shares.items())]
    tables = [overview(left, right, "Effects and changes in halves of the rows"), _effects(shown["effects"]),
              _changes(shown["changes"])]
    notes = [note for what in shares for note in _notes(what, shares[what], averages[what], errors,
                                                        len(stable[what]), len(shown[what]))]
    return build(tables, [STABLE_NOTES[0], STABLE_NOTES[1].format(errors), *notes])


def _effects(rows):
    cells = [[shortened(row.feature, 24), shortened(row.task, 20), "", number(row.coef), f"{row.frequency:.2f}"]
             for row in rows.itertuples()]
    return table(cells or [["none", "", "", "", ""]], ["stable effects", "task", "", "coef", "found"], aligns="lllrr")


def _changes(rows):
    cells = [[shortened(row.feature, 24), shortened(row.task, 20), shortened(row.neighbour, 20), "",
              f"{row.frequency:.2f}"] for row in rows.itertuples()]
    return table(cells or [["none", "", "", "", ""]], ["stable changes", "between", "and", "", "found"],
                 aligns="lllrr")


def _most_frequent(rows, max_rows):
    """The rows found most often, in their own order."""
    limit = len(rows) if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all of them")
    return rows.iloc[np.sort(np.argsort(-rows["frequency"].to_numpy(), kind="stable")[:limit])]


def _notes(what, share, average, errors, stable, shown):
    if share > 1:
        yield (f"{average[0]:.1f} {what} in a half are too many to bound the false ones by {errors:g}, which needs at "
               f"most {np.sqrt(errors * average[1]):.1f}: fit with larger penalties, or allow more errors.")
    if shown < stable:
        yield f"Shown are the {shown} {what} found most often, of {stable} stable ones; max_rows=None shows all."


def _setting(found):
    results = found.results
    return [("Tasks:", f"{len(results.model.endog_names)}"), *rows_and_groups(results),
            ("Distinct values (df):", f"{results.df}")]


def _run(found):
    return [(f"{found.parts.capitalize()}:", f"{len(found.samples)}"), ("Not optimal:", f"{found.n_failed}"),
            ("Random numbers (rng):", "-" if found.seed is None else f"{found.seed}")]


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
