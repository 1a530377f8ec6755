"""Tables of all summaries, as parts of a statsmodels ``Summary``: text, html, latex and csv.

Every text shows as it is in every format: ``a<b`` in html, commas in csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import Cell, SimpleTable

from ..spec import shortened

if TYPE_CHECKING:
    from ..fit import Fit

__all__ = ["VALUES_ON_A_SCREEN", "WIDTH", "build", "count", "fixed", "number", "overview", "adaptive_factors",
           "rows_and_groups", "share", "table"]

WIDTH = 100
VALUES_ON_A_SCREEN = 24
OVERVIEW = "lrlr"


def build(tables: list, notes: list[str]) -> Summary:
    """A summary of tables, the first of which is an overview, all equally wide, with numbered notes below."""
    width = _same_width(tables)
    summary = Summary()
    summary.tables = tables
    summary.add_extra_txt(_numbered(notes, width))
    return summary


def overview(left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]], title: str) -> SimpleTable:
    """Facts as pairs of name and value, in two columns."""
    rows = [[*first, *second] for first, second in zip_longest(left, right, fillvalue=("", ""))]
    return table(rows, None, aligns=OVERVIEW, title=title)


def rows_and_groups(fit: Fit) -> list[tuple[str, str]]:
    """Numbers of rows, of unused rows, and of groups where there are any."""
    facts, groups = fit.facts, fit.model.problem.groups
    unused = {"without label": facts.unlabelled, "dropped": fit.model.n_dropped}
    said = ", ".join(f"{count} {why}" for why, count in unused.items() if count)
    rows = [("Rows:", f"{facts.rows}" + f" ({said})" * bool(said))]
    return rows if groups.are_rows else [*rows, (f"Groups ({shortened(groups.word, 14)}):", f"{facts.groups}")]


def adaptive_factors(fit: Fit, parts: str) -> list[tuple[str, str]]:
    """That every part of the rows had adaptive factors of its own, where it had."""
    return [("Adaptive factors:", f"made by all {parts}")] if fit.model.adaptive else []


def table(rows: list, header: list | None, aligns: str, title: str = "", colsep: str = "  ",
          colwidths: list | None = None) -> SimpleTable:
    """A table of texts; ``aligns`` has a letter l, r or c for each column."""
    text = {"data_fmts": ["%s"], "table_dec_above": "=", "table_dec_below": "=", "header_dec_below": "-",
            "colsep": colsep, "colwidths": colwidths}
    made = _Table(rows, headers=header, title=title, celltype=_Cell, txt_fmt=text,
                  html_fmt={"data_fmts": [_HTML[align] for align in aligns]})
    made.aligns = aligns
    return made


def count(value: float) -> str:
    """A sum of weights: a whole number where they are whole."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def number(value: float) -> str:
    """Four decimals, or an exponent where they would hide the value; a dash where there is none."""
    if np.isnan(value):
        return "-"
    value += 0.0  # turns -0.0 into 0.0
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.2e}"


def share(value: float) -> str:
    """Three decimals; nothing where there is no number."""
    return "" if np.isnan(value) else fixed(value)


def fixed(value: float, digits: int = 3) -> str:
    """A number of decimals, without the sign of a number that they show as zero."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def _numbered(notes, width):
    lines = ["Notes:"]
    for position, note in enumerate(notes, start=1):
        lines += wrap(f"[{position}] {note}", max(width, 72), subsequent_indent="    ")
    return lines


class _Table(SimpleTable):
    """A table that knows how its columns stand, whichever table it is printed with."""

    aligns = ""


class _Cell(Cell):
    """A cell whose text shows as it is in every format, and which stands as its column does, header or not."""

    def alignment(self, output_format, **fmt_dict):
        column = next(number for number, cell in enumerate(self.row) if cell is self)
        return self.row.table.aligns[column]

    def format(self, width, output_format="txt", **fmt_dict):
        text, data = super().format(width, output_format, **fmt_dict), str(self.data)
        if output_format == "html":
            return text.replace(data, escape(data), 1) if data != escape(data) else text
        if output_format == "latex":
            return text.replace("<", "$<$")
        return _quoted(data).ljust(width) if fmt_dict.get("fmt") == "csv" and set(data) & set(',"\n') else text


def _quoted(text):
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


_HTML = {letter: f'<td style="text-align: {side}; padding: 0 0.4em">%s</td>'
         for letter, side in (("l", "left"), ("r", "right"), ("c", "center"))}


def _same_width(tables):
    """Widen every table to the widest: an overview in its values, the others behind their first column."""
    widths = [list(table.get_colwidths("txt")) for table in tables]
    seps = [len(table.output_formats["txt"]["colsep"]) for table in tables]
    total = max(sum(columns) + sep * (len(columns) - 1) for columns, sep in zip(widths, seps))
    for table, columns, sep in zip(tables, widths, seps):
        spare = total - sum(columns) - sep * (len(columns) - 1)
        if table.aligns == OVERVIEW:
            columns[1] += spare // 2
            columns[3] += spare - spare // 2
        else:
            columns[0] += spare
        table.output_formats["txt"]["colwidths"] = columns
    return total
