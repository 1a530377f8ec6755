"""Coefficients of one fit as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import seaborn as sns
from matplotlib import patches
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from .. import checks
from .axes import INK, Per, colour_bar, feature_units, given, grid_axes, inches, label_grid, largest, shown_title

if TYPE_CHECKING:
    from ..results import FusedLogitResults

__all__ = ["coef_map"]


def coef_map(results: FusedLogitResults, features: int = 30, per: Per = "sd", ax: Axes | None = None) -> Axes:
    """Heat map of coefficients, features by tasks: zeros blank, tied neighbours one outlined cell.

    Parameters
    ----------
    results : FusedLogitResults
    features : int
        Most features to show; if there are more, those with the largest coefficients, largest first.
    per : "sd" or "unit"
        Change in log-odds for one standard deviation of the feature, which makes
        features comparable; or for one unit, the number in ``params``.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Notes
    -----
    A tied group whose tasks are not side by side is drawn in parts of the same colour.
    Tasks that are intervals of time (``FusedLogit.from_survival``) are as wide as they are long.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> ax = plots.coef_map(fit)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['age', 'dose', 'noise']
    """
    checks.result("results", results, ("model", "solution", "coefs"), "a fit such as FusedLogit(...).fit gives")
    ax = given(ax)
    units, unit = feature_units(results.model, per)
    values = results.coefs.to_numpy() * units[:, None]
    shown = largest(np.abs(values).max(axis=1), features)
    groups = results.model.tasks.tied(results.solution.params[1:][shown])
    ax = ax or grid_axes(len(shown), results.model.endog_names)
    axis = results.model.outcome.axis
    colour, edges = _signed_colours(values), np.array(axis.ends or range(len(axis.names) + 1), dtype=float)
    room = np.divide(inches(ax), (edges[-1] - edges[0], len(shown)))
    for row, feature in enumerate(shown):
        for first, last in _runs(groups[row]):
            cell = (row, edges[first], edges[last + 1], values[feature, first], colour, room)
            _coef_cell(ax, *cell)
            _cell_numbers(ax, *cell)
    label_grid(ax, [results.model.exog_names[1 + i] for i in shown], results.model.endog_names)
    if axis.ends is not None:
        _time_ticks(ax, edges)
    colour_bar(ax, colour, f"change in log-odds\nper {unit}\n(hatched: negative)")
    ax.set_title(shown_title("Coefficients", values, len(shown)), loc="left")
    return ax


def _signed_colours(values):
    top = np.abs(values).max() or 1.0
    return ScalarMappable(Normalize(-top, top), sns.diverging_palette(265, 35, s=85, l=45, sep=1, as_cmap=True))


def _runs(groups):
    """First and last column of every run of equal groups."""
    ends = np.flatnonzero(np.append(np.diff(groups) != 0, True))
    return zip(np.append(0, ends[:-1] + 1), ends)


def _time_ticks(ax, breaks):
    """Breaks as ticks, as many as have room."""
    span, ticks = breaks[-1] - breaks[0], [breaks[0]]
    for value in breaks[1:]:
        if (value - ticks[-1]) / span * inches(ax)[0] > 0.3:
            ticks.append(value)
    ax.set_xlim(breaks[0], breaks[-1])
    ax.set_xticks(ticks, [f"{value:g}" for value in ticks], rotation=0)
    ax.set_xlabel("time")


def _coef_cell(ax, row, left, right, value, colour, room):
    """One outlined cell over tied columns; negative values are hatched, so that greyscale keeps the sign."""
    if value == 0:
        return
    gap, fill = 0.02 / room[0], colour.to_rgba(value)
    place, size = (left + gap, row + 0.08), {"width": right - left - 2 * gap, "height": 0.84}
    # The hatch is drawn in the edge's colour, so fill and outline are two boxes.
    ax.add_patch(patches.Rectangle(place, **size, facecolor=fill, edgecolor=(1, 1, 1, 0.5), linewidth=0,
                                   hatch="////" if value < 0 else None))
    ax.add_patch(patches.Rectangle(place, **size, fill=False, edgecolor=INK, linewidth=0.9))


def _cell_numbers(ax, row, left, right, value, colour, room):
    """The value in its cell, where the cell is wide enough to hold it."""
    if value == 0 or (right - left) * room[0] < 0.42 or room[1] < 0.15:
        return
    fill, number = colour.to_rgba(value), f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.0e}"
    ax.text((left + right) / 2, row + 0.51, number.replace("-", "\N{MINUS SIGN}"), ha="center", va="center",
            fontsize=8, color=_readable_on(fill), bbox={"facecolor": fill, "edgecolor": "none", "pad": 0.8})


def _readable_on(fill):
    """Black or white, whichever stands out more."""
    red, green, blue = fill[:3]
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
