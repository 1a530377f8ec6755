"""Timing and tables that the parts of the benchmark share."""

import time
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from fusedlr.objective import gap_unit, objective

__all__ = ["Part", "cpu_seconds", "interleaved", "markdown", "number", "ratio", "spread", "suboptimality"]


@dataclass
class Part:
    """One part of the benchmark, ready to be printed.

    Attributes
    ----------
    name : str
        Name of its csv file.
    title : str
    table : DataFrame
    notes : list of str
        Sentences that say what was measured.
    """

    name: str
    title: str
    table: pd.DataFrame
    notes: list = field(default_factory=list)

    def __str__(self):
        return "\n".join([f"## {self.title}", "", markdown(self.table), "", *self.notes, ""])


def cpu_seconds(function):
    """CPU seconds of one call, in this process and its R."""
    start = time.process_time()
    function()
    return time.process_time() - start


def interleaved(timed, repeats, budget=60.0):
    """Seconds of several functions, interleaved, so that a ratio is taken within a round.

    Parameters
    ----------
    timed : dict of str to function
        Each does its work and returns its seconds.
    repeats : int
        Rounds, at least one.
    budget : float
        Wall-clock seconds after which no further round begins.

    Returns
    -------
    DataFrame
        One row a round, one column for each name.
    """
    began, rounds = time.monotonic(), []
    while len(rounds) < repeats and (not rounds or time.monotonic() - began < budget):
        rounds.append({name: function() for name, function in timed.items()})
    return pd.DataFrame(rounds)


def spread(name, seconds):
    """Median, least and largest of some numbers, as columns."""
    return {name: float(np.median(seconds)), f"{name} min": float(np.min(seconds)),
            f"{name} max": float(np.max(seconds))}


def ratio(rounds, slow, fast, name="ratio"):
    """Median, least and largest ratio over the rounds, as columns."""
    return spread(name, rounds[slow] / rounds[fast])


def suboptimality(model, penalty, params, best):
    """Relative suboptimality: excess of the objective over the best value known, on the scale of the duality gap."""
    return (objective(model.problem, params, penalty) - best) / gap_unit(model.problem, best)


def number(value):
    """A number with three significant digits; other things as they are."""
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return ""
        if value != 0 and not 1e-3 <= abs(value) < 1e6:
            return f"{value:.1e}"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else str(value)


def markdown(table):
    """A table as text that is also Markdown; a median with its least and largest value in one cell."""
    folded = _folded(table)
    cells = [list(folded.columns)] + [[number(value) for value in row] for row in folded.itertuples(index=False)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|", *lines[1:]])


def _folded(table):
    columns = {}
    for name in table.columns:
        if f"{name} min" in table:
            columns[name] = [_with_spread(*values)
                             for values in zip(table[name], table[f"{name} min"], table[f"{name} max"])]
        elif not name.endswith((" min", " max")):
            columns[name] = list(table[name])
    return pd.DataFrame(columns, dtype=object)


def _with_spread(middle, low, high):
    return "" if np.isnan(middle) else f"{number(middle)} ({number(low)} to {number(high)})"
