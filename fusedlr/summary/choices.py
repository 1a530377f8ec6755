"""Printed summaries of grids and of the choice of penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from statsmodels.iolib.summary import Summary

from ..metrics import PENALTIES
from .fit import fit_notes, fit_tables
from .tables import build, overview, adaptive_factors, rows_and_groups, table

if TYPE_CHECKING:
    from ..tuning import CVResults, Grid

__all__ = ["summarize_choice", "summarize_cv", "summarize_grid"]

POINTS = 8
EQUAL_DIGITS = 3  # of coefficients, which a grid solves to about four
HEADERS = {"se_difference": "se diff."}


def summarize_grid(grid: Grid) -> Summary:
    """Summary of a ``Grid``: what was fitted, and the least and the most penalized points."""
    rows = _spread(len(grid), POINTS)
    tables = [overview(_about(grid), _outcome(grid), "Fits on a grid of penalties"),
              _point_table(grid.table.iloc[rows], [], [""] * len(rows))]
    return build(tables, [f"Shown are {len(rows)} of {len(grid)} points; the attribute table holds all of them.",
                          "results(i) is the fit at point i; select(endog, exog) takes the best for held-out rows."])


def summarize_choice(cv: CVResults) -> Summary:
    """Summary of the choice of a ``CVResults``: the best points, and which one was chosen."""
    return build(_choice_tables(cv, "Choice of penalties"), [*_choice_notes(cv), "summary() shows the chosen fit too."])


def summarize_cv(cv: CVResults, max_rows: int | None = 40, title: str | None = None) -> Summary:
    """Summary of a ``CVResults``: the fit that was chosen, then the choice."""
    return build([*fit_tables(cv, max_rows, title), *_choice_tables(cv)],
                 [*fit_notes(cv, max_rows), *_choice_notes(cv)])


def _choice_tables(cv, title=""):
    # Below other tables there is no title: statsmodels would print it in place of the rule between them.
    score = "mean" if cv.by == "cv" else cv.by
    cost = cv.model.metrics[cv.metric].cost(cv.table[score]) if cv.by == "cv" else cv.table[score].to_numpy()
    rows = sorted(_distinct(cv, [cv.chosen, cv.best, *np.argsort(cost, kind="stable")])[:POINTS + 1],
                  key=lambda row: cost[row])
    extra = ["mean", "se", "se_difference"] if cv.by == "cv" else [cv.by]
    about = [*rows_and_groups(cv), *_about(cv.grid), *(adaptive_factors(cv, "folds") if cv.by == "cv" else [])]
    return [overview(about, _choice(cv), title),
            _point_table(cv.table.iloc[rows], extra, [_mark(cv, row) for row in rows])]


def _distinct(cv, rows):
    """The first of the points that have one and the same fit; of those that were chosen, all."""
    kept, seen = [], set()
    for row in dict.fromkeys(rows):
        table = cv.path[row]
        fit = tuple(table[table != 0].round(EQUAL_DIGITS)), tuple(np.flatnonzero(table))
        if fit not in seen or row in (cv.chosen, cv.best):
            kept.append(row)
        seen.add(fit)
        if len(kept) > POINTS + 1:
            break
    return kept


def _about(grid):
    sizes = " x ".join(str(grid.table[name].nunique()) for name in PENALTIES)
    return [
        ("Tasks:", f"{len(grid.model.endog_names)}"),
        ("Features:", f"{len(grid.model.exog_names) - 1}"),
        ("Points:", f"{len(grid)}"),
        ("l1 x l2 x fusion:", sizes),
    ]


def _outcome(grid):
    counts, gaps = grid.table["status"].value_counts(), grid.table["gap"]
    return [
        ("Optimal:", f"{counts.get('optimal', 0)}"),
        ("Separated:", f"{counts.get('separated', 0)}"),
        ("Not converged:", f"{counts.get('not_converged', 0)}"),
        ("Tolerance (largest gap):", f"{grid.tol:.0e} ({gaps.max():.0e})"),
    ]


def _choice(cv):
    how = f"{cv.n_folds} folds{f' x {cv.repeats}' * (cv.repeats > 1)}, {cv.metric}" if cv.by == "cv" else cv.by.upper()
    return [("Compared by:", how), ("Rule:", cv.rule),
            *((f"Chosen {name}:", f"{cv.penalties[name]:.4g}") for name in PENALTIES)]


def _point_table(points, extra, marks):
    columns = [*PENALTIES, *extra, "df", "nonzeros", "status"]
    rows = [[str(label), *(_cell(name, point[name]) for name in columns), mark]
            for (label, point), mark in zip(points.iterrows(), marks)]
    header = ["Point", *(HEADERS.get(name, name) for name in columns), ""]
    return table(rows, header, aligns="r" + "r" * (len(columns) - 1) + "ll")


def _cell(name, value):
    if name == "status":
        return value.replace("_", " ")
    if name in ("mean", "se", "se_difference"):
        return f"{value:.4f}"
    return f"{value}" if name in ("df", "nonzeros") else f"{value:.4g}"


def _mark(cv, row):
    """What is special about a row of the table."""
    special = {"best": cv.best, "1-SE": cv.one_se, "chosen": cv.chosen}
    return ", ".join(word for word, where in special.items() if row == where)


def _choice_notes(cv):
    notes = ["df and nonzeros are those of the fit on all rows; of points with one and the same fit the best is shown."]
    if cv.by == "cv":
        better = "larger" if cv.model.metrics[cv.metric].larger_is_better else "smaller"
        judge, unit = cv.model.metrics[cv.metric], cv.model.problem.groups.word
        by = unit if judge.is_mean else "fold"
        notes.insert(0, f"mean: {judge.words}, {better} is better; se: its standard error by its spread over folds; "
                        f"se diff.: the standard error of the difference to the best point, paired by {by}. Rule 1se "
                        "takes the simplest of the more penalized points that are worse by no more than that.")
    return notes


def _spread(total, shown):
    """Positions spread evenly over all points, first and last among them."""
    return np.unique(np.linspace(0, total - 1, min(shown, total)).round().astype(int))
