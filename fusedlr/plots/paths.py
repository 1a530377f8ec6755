"""Coefficient paths along a grid: of one feature over fusion, and of all features over l1."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from .. import checks
from .axes import (FAINT, MARKERS, Per, feature_names, feature_units, given, largest, mark_line, nearest, new_axes,
                   style, task_colours, task_key, zero_log_axis)

if TYPE_CHECKING:
    from ..tuning import CVResults, Grid

__all__ = ["coef_paths", "feature_path"]

PENALTIES = ("l1", "l2", "fusion")


def feature_path(grid: Grid | CVResults, feature: Any, l1: float | None = None, l2: float | None = None,
                 ax: Axes | None = None) -> Axes:
    """Coefficient path of one feature in all tasks over fusion; over l1 where the grid has one fusion only.

    Parameters
    ----------
    grid : Grid or CVResults
    feature : str
        A name, also that of the intercept.
    l1, l2 : float, optional
        Which points of the grid to show, those nearest to these values. Where left out:
        the chosen ones of a CVResults, the smallest of a Grid.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
    >>> ax = plots.feature_path(cv, "dose")
    """
    ax, (grid, chosen) = given(ax), _grid_and_choice(grid)
    over = "fusion" if grid.table["fusion"].nunique() > 1 else "l1"
    rows, held = _slice(grid.table, over, {"l1": l1, "l2": l2}, chosen)
    names = list(grid.model.exog_names)
    if not isinstance(feature, Hashable) or feature not in dict.fromkeys(names):
        raise ValueError(f"feature must be one of exog_names, found {checks.shown(feature)}; there are {names[:5]} ...")
    ax = ax or new_axes(6.4, 4.0)
    values = _penalties_of(grid, rows, over)
    positions = zero_log_axis(ax, values)
    _task_lines(ax, positions, grid.path.tables[rows][:, names.index(feature)], grid.model.endog_names)
    _mark(ax, positions, values, over, chosen)
    ax.set(ylabel="coefficient")
    ax.set_title(f"{feature_names([feature])[0]} as {over} grows ({held})", loc="left")
    return ax


def coef_paths(grid: Grid | CVResults, l2: float | None = None, fusion: float | None = None, features: int = 8,
               per: Per = "sd", ax: Axes | None = None) -> Axes:
    """Regularization path: coefficients of all features in all tasks as l1 falls, at one l2 and one fusion.

    Parameters
    ----------
    grid : Grid or CVResults
    l2, fusion : float, optional
        Which points of the grid to show, those nearest to these values. Where left out:
        the chosen ones of a CVResults, the smallest of a Grid.
    features : int
        How many features have a colour and a name: those that are largest anywhere on the
        path. The others are thin and grey.
    per : "sd" or "unit"
        As for ``coef_map``.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Notes
    -----
    A feature has one line for each task, all of one colour; the marker at the right end is
    that of the task.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
    >>> ax = plots.coef_paths(cv)
    """
    ax, (grid, chosen) = given(ax), _grid_and_choice(grid)
    rows, held = _slice(grid.table, "l1", {"l2": l2, "fusion": fusion}, chosen)
    units, unit = feature_units(grid.model, per)
    lines = grid.path.tables[rows][:, 1:] * units[:, None]
    named = largest(np.abs(lines).max(axis=(0, 2)), features)
    ax = ax or new_axes(7.4, 4.4)
    values = _penalties_of(grid, rows, "l1")
    positions = zero_log_axis(ax, values)
    ax.invert_xaxis()
    for feature in np.setdiff1d(np.arange(lines.shape[1]), named):
        ax.plot(positions, lines[:, feature], color="0.8", linewidth=0.7, zorder=1)
    _named_lines(ax, positions, lines, named, grid.model)
    _mark(ax, positions, values, "l1", chosen)
    ax.set(ylabel=f"change in log-odds per {unit}")
    ax.set_title(f"Coefficients as l1 falls ({held})", loc="left")
    return ax


def _grid_and_choice(grid):
    """The grid itself, and the penalties that were chosen on it, if any."""
    checks.result("grid", grid, ("model", "table"), "what fit_grid or fit_cv gave")
    return getattr(grid, "grid", grid), getattr(grid, "penalties", None)


def _slice(table, over, wanted, chosen):
    """Rows of a grid in order of one penalty, the others held fixed, and a text that says at which values."""
    rows, held = np.ones(len(table), dtype=bool), []
    for name in (name for name in PENALTIES if name != over):
        value = wanted.get(name)
        value = nearest(name, table[name], chosen[name] if value is None and chosen else value)
        rows &= (table[name] == value).to_numpy()
        held.append(f"{name} = {value:.3g}")
    rows = np.flatnonzero(rows)
    return rows[np.argsort(table[over].to_numpy()[rows], kind="stable")], ", ".join(held)


def _penalties_of(grid, rows, over):
    return grid.table[over].to_numpy(dtype=float)[rows]


def _mark(ax, positions, values, over, chosen):
    """Zero, the chosen point, and the name of the penalty."""
    if chosen is not None:
        mark_line(ax, positions[np.argmin(np.abs(values - chosen[over]))], "chosen")
    ax.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set(xlabel=over)


def _task_lines(ax, positions, lines, tasks):
    """One line for each task; wider ones below, so that tied tasks show as one striped line."""
    colours = task_colours(len(tasks))
    few = len(tasks) <= len(MARKERS)
    for k in range(len(tasks)):
        width = 1.4 + 1.1 * (len(tasks) - 1 - k) if few else 1.3
        ax.plot(positions, lines[:, k], color=colours[k], linewidth=width, marker=style(k, len(tasks)),
                markersize=4 + width / 2, solid_capstyle="round")
    sns.despine(ax=ax)
    if len(tasks) > 1:
        task_key(ax, tasks, colours)


def _named_lines(ax, positions, lines, named, model):
    """Coloured lines of some features, with their names beside the ends."""
    colours, t = sns.color_palette("colorblind", len(named)), lines.shape[2]
    for colour, feature in zip(colours, named):
        ax.plot(positions, lines[:, feature], color=colour, linewidth=1.5, zorder=2)
        for k in range(t):
            ax.plot(positions[0], lines[0, feature, k], marker=style(k, t), color=colour, markersize=5, zorder=3)
    sns.despine(ax=ax)
    _names_at_ends(ax, lines[0].mean(axis=1)[named], feature_names(model.exog_names[1 + j] for j in named), colours)
    if 1 < t <= len(MARKERS):
        task_key(ax, model.endog_names, ["0.4"] * t, loc="upper left", bbox_to_anchor=(0.0, 1.0))


def _names_at_ends(ax, heights, names, colours):
    """Names to the right of the axes, each as near to its height as the others allow."""
    low, high = ax.get_ylim()
    places, below = (heights - low) / (high - low), -0.06
    for number in np.argsort(heights):
        places[number] = below = max(places[number], below + 0.06)
    for place, name, colour in zip(places - max(0.0, below - 1.0), names, colours):
        ax.annotate(name, (1.0, place), xycoords="axes fraction", xytext=(6, 0), textcoords="offset points",
                    va="center", fontsize=9, color=colour)
