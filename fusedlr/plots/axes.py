"""Axes, labels, ticks and colours that the figures share."""

from typing import Literal, get_args

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib import ticker
from matplotlib.axes import Axes

from .. import checks
from ..matrices import about_mean
from ..spec import short_names

__all__ = ["FAINT", "INK", "MARKERS", "Per", "colour_bar", "feature_names", "feature_units", "given", "grid_axes",
           "inches", "label_grid", "largest", "mark_line", "nearest", "new_axes", "plain", "short", "shown_title",
           "style", "task_colours", "task_key", "task_names", "zero_log_axis"]

INK = "0.15"
FAINT = "0.6"
MARKERS = "osD^vP"

Per = Literal["sd", "unit"]


def given(ax):
    """The user's axes, checked to be matplotlib's; None where not given."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib's Axes, found {checks.shown(ax)}")
    return ax


def plain(name):
    """A name with dollar signs escaped: matplotlib would read text between two of them as mathtext."""
    return str(name).replace("$", r"\$")


def feature_names(names):
    """Names of features that leave room for what is drawn."""
    return [plain(name) for name in short_names(names, 30)]


def task_names(names):
    """Names of tasks for the narrow columns of a figure and for its legend."""
    return [plain(name) for name in short_names(names, 14)]


def new_axes(width, height):
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def grid_axes(n_rows, columns, cell=(0.55, 0.26)):
    """Axes whose cells have about the same size for any number, wide enough for the names of a few columns."""
    wide = max(cell[0], 0.08 * max(map(len, task_names(columns))) + 0.1) if len(columns) <= 8 else cell[0]
    width = min(max(len(columns) * wide, 2.4), 9.0) + 2.5
    height = min(max(n_rows * cell[1], 2.1), 9.0) + 0.9
    return new_axes(width, height)


def label_grid(ax, row_names, column_names):
    n_rows, n_columns = len(row_names), len(column_names)
    ax.set(xlim=(0, n_columns), ylim=(n_rows, 0))
    columns, rows = task_names(column_names), feature_names(row_names)
    # Thirteen letters an inch; beyond five letters, names of rows will take their room from the columns.
    crowded = sum(map(len, columns)) > 13 * inches(ax)[0] - max([5, *map(len, rows)]) + 5
    ax.set_xticks(np.arange(n_columns) + 0.5, columns, rotation=90 if crowded else 0)
    ax.set_yticks(np.arange(n_rows) + 0.5, rows)
    ax.tick_params(length=0, labelsize=9)
    for position in np.arange(n_rows + 1):
        ax.axhline(position, color="0.9", linewidth=0.6, zorder=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def feature_units(model, per):
    """Unit of each feature, shape (d,), and its name; see ``coef_map``."""
    if checks.word("per", per, get_args(Per)) == "unit":
        return np.ones(len(model.scale)), "unit"
    if model.standardize:
        return model.scale, "standard deviation"
    design = model.with_data().design
    return np.sqrt(about_mean(design.X, np.full(design.n_rows, 1 / design.n_rows))), "standard deviation"


def inches(ax):
    size = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return size.width, size.height


def colour_bar(ax, colour, label, extend="neither"):
    bar = ax.figure.colorbar(colour, ax=ax, extend=extend, fraction=0.05, pad=0.03, aspect=25, shrink=0.9)
    bar.set_label(label, fontsize=9, labelpad=6)
    bar.ax.tick_params(labelsize=8, length=2)
    bar.outline.set_visible(False)


def largest(sizes, limit):
    """Positions of the largest; in their own order if all fit."""
    limit = checks.whole("features", limit, 1)
    if len(sizes) <= limit:
        return np.arange(len(sizes))
    return np.argsort(-sizes, kind="stable")[:limit]


def shown_title(what, values, n_shown, which="largest"):
    total = len(values)
    if n_shown == total:
        return what
    zero = int((values == 0).all(axis=1).sum())
    return f"{what}:\nthe {n_shown} {which} of {total:,} features\n({zero:,} are zero in all tasks)"


def task_colours(n_tasks):
    """Sequential colours in the order of the tasks, dark to light; the lightest is still visible in print."""
    return sns.color_palette("viridis", as_cmap=True)(np.linspace(0.0, 0.82, n_tasks))


def style(k, n_tasks):
    """Marker of a task; none beyond six."""
    return MARKERS[k] if n_tasks <= len(MARKERS) else None


def task_key(ax, tasks, colours, loc="center left", bbox_to_anchor=(1.0, 0.5), title="task"):
    """A legend of the tasks; beyond six, of seven of them in order."""
    n = len(tasks)
    shown = np.arange(n) if n <= len(MARKERS) else np.unique(np.linspace(0, n - 1, 7).round().astype(int))
    names = task_names(tasks)
    handles = [plt.Line2D([], [], color=colours[k], marker=style(k, n), label=names[k], linewidth=2) for k in shown]
    title = title if len(shown) == n else f"{title} ({len(shown)} of {n})"
    ax.legend(handles=handles, title=title, frameon=False, loc=loc, bbox_to_anchor=bbox_to_anchor, fontsize=9)


def zero_log_axis(ax, values):
    """Positions on a log axis with a place for 0, one step to the left of the others."""
    positive = np.sort(values[values > 0])
    ratio = np.median(positive[1:] / positive[:-1]) if len(positive) > 1 else 10.0
    positions = np.where(values > 0, values, (positive[0] if len(positive) else 1.0) / ratio)
    ax.set_xscale("log")
    if (values == 0).any():
        zero = positions[values == 0][0]
        ticks = positive[:: max(1, len(positive) // 6)]
        ax.set_xticks([zero, *ticks], ["0", *(short(tick) for tick in ticks)])
        ax.xaxis.set_minor_locator(ticker.NullLocator())
    return positions


def mark_line(ax, position, label):
    ax.axvline(position, color=FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=0)
    ax.annotate(label, (position, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -3), textcoords="offset points",
                va="top", fontsize=8, color="0.35")


def nearest(name, values, wanted):
    """The value nearest to the one wanted, or the smallest."""
    values = np.unique(values)
    return values[0] if wanted is None else values[np.argmin(np.abs(values - checks.number(name, wanted)))]


def short(value):
    """Two digits, without a power of ten where that is readable."""
    return f"{float(f'{value:.2g}'):g}"
