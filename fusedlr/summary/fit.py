"""The printed summary of a penalized fit.

Three kinds of tables: the fit as a whole, one line for each task, and coefficients with
at most five tasks side by side. A tie between neighbouring tasks is an equals sign in a
narrow column of its own between the two values, so that it survives every format; a
coefficient of exactly zero is a dot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from statsmodels.iolib.summary import Summary

from .. import checks
from ..spec import short_names, shortened, task_span
from .tables import WIDTH, build, count, fixed, number, overview, rows_and_groups, share, table

if TYPE_CHECKING:
    from ..results import FusedLogitResults

__all__ = ["fit_notes", "fit_tables", "screen", "summarize"]

TASKS_ABREAST = 5
MOST_TASKS = 8  # beyond, a line for each distinct value takes the place of a column for each task
ROWS_ON_A_SCREEN = 12

TITLE = "Fused logistic regression"
ZERO, TIE = ".", "="


def summarize(results: FusedLogitResults, max_rows: int | None = 40, title: str | None = None) -> Summary:
    """Summary of a ``FusedLogitResults``; see ``FusedLogitResults.summary``."""
    return build(fit_tables(results, max_rows, title), fit_notes(results, max_rows))


def fit_tables(results: FusedLogitResults, max_rows: int | None, title: str | None) -> list:
    """The fit as a whole, one line for each task, and the coefficients."""
    rows, tables = _rows_to_show(results, _checked_rows(max_rows))[0], [_overview(results, title), _task_table(results)]
    return [*tables, *([_value_table(results, rows)] if _by_value(results) else _coefficient_tables(results, rows))]


def fit_notes(results: FusedLogitResults, max_rows: int | None) -> list[str]:
    """What a reader of the tables should know."""
    return [*_reading_notes(results), *_rows_to_show(results, max_rows)[1], *_status_notes(results)]


def screen(results: FusedLogitResults) -> Summary:
    """As much of the summary as a screen holds: with many tasks the overview alone."""
    if len(results.model.endog_names) <= TASKS_ABREAST:
        return summarize(results, max_rows=ROWS_ON_A_SCREEN)
    return build([_overview(results)], [*_status_notes(results), "summary() shows every task and its coefficients."])


# ---- the fit as a whole ---------------------------------------------------------------------------------------------

def _overview(results, title=None):
    return overview(_setting(results), _quality(results), TITLE if title is None else checks.text("title", title))


def _setting(results):
    model, coefs = results.model, results.solution.params[1:]
    sizes = np.bincount(results.pattern[results.pattern >= 0])
    return [
        ("Tasks:", f"{len(model.endog_names)} ({_graph_word(model.tasks)})"),
        *results.facts.about,
        *rows_and_groups(results),
        ("Labels observed:", count(results.nobs_per_task.sum())),
        ("Features:", f"{coefs.shape[0]}" + " (standardized)" * model.standardize),
        ("Non-zero coefs:", f"{np.count_nonzero(coefs)} of {coefs.size}"),
        ("Groups of 2+ tasks:", f"{np.count_nonzero(sizes > 1)}"),
        ("Distinct values (df):", f"{results.df}"),
        ("Penalty l1:", _penalty_text(results, "l1")),
        ("Penalty l2:", _penalty_text(results, "l2")),
        ("Penalty fusion:", _penalty_text(results, "fusion")),
    ]


def _quality(results):
    return [
        ("Log-likelihood:", fixed(results.llf)),
        ("LL-null:", fixed(results.llnull)),
        ("Deviance explained:", share(results.prsquared)),
        ("Effective df:", f"{results.df_effective:.2f}"),
        ("AIC:", fixed(results.aic)),
        ("BIC:", fixed(results.bic)),
        ("Objective:", fixed(results.objective)),
        ("Duality gap:", _gap_text(results.gap)),
        ("Status:", results.status.replace("_", " ")),
        ("Solver:", f"{results.method} ({results.iterations} iterations)"),
    ]


def _gap_text(gap):
    """A gap at rounding level is printed as a bound: its digits differ between machines."""
    return f"{gap:.1e}" if gap >= 1e-12 else "below 1e-12"


def _graph_word(tasks):
    if tasks.n_tasks == 1:
        return "single"
    weighted = "weighted " * bool((tasks.weights != 1).any())
    if tasks.is_chain or tasks.is_ring:
        return weighted + ("chain" if tasks.is_chain else "ring")
    return f"{len(tasks.edges)} {weighted}edges"


def _penalty_text(results, name):
    value, model = results.penalties[name], results.model
    if np.ndim(value) == 0 and not hasattr(value, "keys"):
        factored = bool(((model.fusion_factors if name == "fusion" else model.penalty_factors) != 1).any())
        adaptive = model.adaptive and name != "l2"
        return f"{value:g}" + (" x adaptive factors" if adaptive else " x factors" * factored)
    # In the units that penalties see, as a single number is.
    used = getattr(results.penalty_by_row, name)[1:] / (model.scale**2 if name == "l2" else model.scale)
    return f"{used.min():g} to {used.max():g} by feature"


# ---- one line for each task -----------------------------------------------------------------------------------------

def _task_table(results):
    model = results.model
    worded = any(labels not in ((0, 1), (-1, 1), (False, True)) for labels in model.labels)
    const = _by_value(results)
    header = (["Task", "Labels", "Yes", "Share", "Non-zero", "Log-lik.", "Dev. explained"] + ["const"] * const
              + ["Yes is"] * worded)
    counts = np.count_nonzero(results.solution.params[1:], axis=0)
    rows = []
    for k, name in enumerate(short_names(model.endog_names, 30)):
        labels, yes = results.nobs_per_task.iloc[k], results.positives.iloc[k]
        llf, null = results.llf_per_task.iloc[k], results.llnull_per_task.iloc[k]
        rows.append([name, count(labels), count(yes), f"{yes / labels:.3f}", f"{counts[k]}",
                     fixed(llf), share(1 - llf / null if null else np.nan)]
                    + [number(results.solution.params[0, k])] * const + [shortened(model.labels[k][1], 12)] * worded)
    made = table(rows, header, aligns="lrrrrrr" + "r" * const + "l" * worded)
    for row in made[1:] if worded else []:
        row[-1].datatype = 0  # latex escapes the text of the first kind of column only
    return made


def _by_value(results):
    return len(results.model.endog_names) > MOST_TASKS


# ---- coefficients ---------------------------------------------------------------------------------------------------

def _coefficient_tables(results, rows):
    """Tables of at most five tasks, fewer where names are long."""
    names, features = short_names(results.model.endog_names, 14), short_names(results.model.exog_names, 28)
    stubs = [features[row] for row in rows]
    cells = _cells(results, rows)
    marks = _marks(results, rows)
    width = max(9, *map(len, names), *map(len, cells.ravel()))
    abreast = int(np.clip((WIDTH - max(map(len, stubs)) - 2) // (width + 3), 1, TASKS_ABREAST))
    parts = np.array_split(np.arange(len(names)), -(-len(names) // abreast))
    return [_coefficient_table(names, stubs, cells, marks, part, width) for part in parts]


def _value_table(results, rows):
    """A line for each distinct value that is not zero, of the rows of params given but the intercept's."""
    lines, features, tasks = [], short_names(results.model.exog_names, 28), short_names(results.model.endog_names, 20)
    for row in rows[rows > 0]:
        for group in dict.fromkeys(results.pattern[row][results.pattern[row] >= 0].tolist()):
            where = np.flatnonzero(results.pattern[row] == group)
            lines.append([features[row], shortened(task_span(where, tasks), 45), f"{len(where)}",
                          number(results.solution.params[row, where[0]])])
    return table(lines or [["none", "", "", ""]], ["Feature", "Tasks", "", "Coef."], aligns="llrr")


def _coefficient_table(names, stubs, cells, marks, part, width):
    """Values with a narrow column of marks before, between and after them."""
    header, rows = ["", ""], [[stub, mark] for stub, mark in zip(stubs, marks[:, part[0]])]
    for k in part:
        header += [names[k], ""]
        for row, cell, mark in zip(rows, cells[:, k], marks[:, k + 1]):
            row += [cell, mark]
    return table(rows, header, aligns="lc" + "rc" * len(part), colsep=" ", colwidths=[0, 1] + [width, 1] * len(part))


def _cells(results, rows):
    values, pattern = results.solution.params[rows], results.pattern[rows]
    return np.array([[ZERO if group < 0 else number(value) for value, group in zip(line, groups)]
                     for line, groups in zip(values, pattern)], dtype=object)


def _marks(results, rows):
    """Marks before the first task, between tasks, and after the last, shape (rows, t + 1).

    In a chain or ring an equals sign stands between neighbours of one group. Elsewhere
    neighbours need not stand side by side: a letter behind a value names its group.
    """
    tasks, pattern = results.model.tasks, results.pattern[rows]
    t = pattern.shape[1]
    marks = np.full((len(rows), t + 1), "", dtype=object)
    if tasks.is_line or tasks.is_ring:
        marks[:, 1:t][(pattern[:, 1:] == pattern[:, :-1]) & (pattern[:, 1:] >= 0)] = TIE
        if not tasks.is_line:
            round_about = (results.solution.params[rows, 0] == results.solution.params[rows, -1]) & (pattern[:, 0] >= 0)
            marks[round_about, 0] = marks[round_about, t] = TIE
        return marks
    for row, groups in enumerate(pattern):
        shared = [group for group in dict.fromkeys(groups[groups >= 0].tolist()) if (groups == group).sum() > 1]
        for letter, group in zip(_letters(), shared):
            marks[row, 1:][groups == group] = letter
    return marks


def _letters():
    number = 0
    while True:
        yield chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")
        number += 1


def _rows_to_show(results, max_rows):
    """Rows of params to print, and notes on those left out."""
    size = np.abs(results.solution.params[1:]).max(axis=1) * results.model.scale
    if max_rows is None:
        return np.arange(len(size) + 1), []
    order, kept = np.argsort(-size, kind="stable"), np.count_nonzero(size)
    chosen = order[:min(max_rows, kept)]
    if _by_value(results):  # lines are counted, of which a feature may have many
        lines = np.array([len(np.unique(row[row >= 0])) for row in results.pattern[1:][chosen]], dtype=int)
        chosen = chosen[np.cumsum(lines) <= max(max_rows, lines[:1].sum())]
    notes = []
    if kept > len(chosen):
        scale = " (as penalized)" * results.model.standardize
        notes.append(f"Shown are the {len(chosen)} largest{scale} of {kept} features with a non-zero "
                     "coefficient; max_rows=None shows all.")
    zero = int((size == 0).sum())
    if zero:
        notes.append(f"Not shown: {zero} feature{'s are' if zero > 1 else ' is'} zero in every task.")
    return np.append(0, 1 + np.sort(chosen)), notes


def _checked_rows(max_rows):
    return None if max_rows is None else checks.whole("max_rows", max_rows, 0, way_out="None shows all")


# ---- notes ----------------------------------------------------------------------------------------------------------

def _reading_notes(results):
    tasks = results.model.tasks
    ties = f"{TIE} between neighbouring tasks: exactly the same value; {ZERO} is exactly zero."
    if tasks.is_ring and not tasks.is_chain:
        ties = f"{ties[:-1]}; {TIE} at both ends ties the last task to the first."
    elif not tasks.is_line:
        ties = f"Values of a row with the same letter are exactly equal, tied through edges; {ZERO} is exactly zero."
    if _by_value(results):
        ties = "A line for each distinct value: its tasks have exactly the same one; in tasks not listed it is zero."
    fused = "fused but not shrunk" if results.penalty_by_row.fusion[0] > 0 else "neither fused nor shrunk"
    return [
        ties if tasks.n_tasks > 1 else f"{ZERO} is exactly zero.",
        _shrunken(results),
        f"Penalties are added to the sum over rows; intercepts are {fused}."
        + " Penalties act on features divided by their standard deviation." * results.model.standardize,
    ]


def _shrunken(results):
    """What the penalties have done to the coefficients."""
    penalty = results.penalty_by_row
    if penalty.l1.any() or penalty.l2.any():
        return "Coefficients are shrunken: no standard errors, no p-values; see refit() and bootstrap()."
    if penalty.fusion.any() and len(results.model.tasks.edges):
        return ("Coefficients are pulled towards those of neighbouring tasks, not towards zero: no standard errors, no "
                "p-values; see refit() and bootstrap().")
    return "No penalty is in effect: these are maximum-likelihood estimates; refit() has their standard errors."


def _status_notes(results):
    if results.status == "separated":
        return ["SEPARATED: no finite minimiser exists at these penalties; sizes of coefficients are arbitrary. "
                "Use a positive l1 or l2, and drop tasks whose labels are all the same."]
    if results.status == "not_converged":
        return [f"NOT CONVERGED: the duality gap is above the tolerance of {results.tol:.1e}. Raise max_iter or tol."]
    return []
