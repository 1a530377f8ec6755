"""Scores of cross-validation or of a criterion over the penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from .. import checks
from ..metrics import within_one_error
from .axes import FAINT, INK, colour_bar, given, grid_axes, mark_line, nearest, new_axes, short, zero_log_axis

if TYPE_CHECKING:
    from ..tuning import CVResults

__all__ = ["cv_surface"]


def cv_surface(cv: CVResults, l2: float | None = None, ax: Axes | None = None) -> Axes:
    """Scores over l1 and fusion, with the best and the one-standard-error point marked.

    Points that are worse than the best by at most a standard error of the difference are
    outlined. If only one of the
    penalties varies (l2 aside), the scores are drawn as a line with standard errors.

    Parameters
    ----------
    cv : CVResults
    l2 : float, optional
        Show points with the nearest l2; where left out, the best l2 for each l1 and fusion.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
    >>> ax = plots.cv_surface(cv)
    """
    checks.result("cv", cv, ("by", "table", "best"), "what fit_cv gave")
    ax, score = given(ax), "mean" if cv.by == "cv" else cv.by
    table = cv.table if l2 is None else cv.table[cv.table["l2"] == nearest("l2", cv.table["l2"], l2)]
    if table["l1"].nunique() == 1 or table["fusion"].nunique() == 1:
        return _cv_line(cv, table, score, l2, ax)
    surface = _best(cv, table, ["l1", "fusion"], score).pivot(index="l1", columns="fusion", values=score)
    ax = ax or grid_axes(surface.shape[0], [short(value) for value in surface], cell=(0.62, 0.34))
    colour = _score_colours(cv, surface.to_numpy())
    ax.pcolormesh(np.arange(surface.shape[1] + 1), np.arange(surface.shape[0] + 1), surface.to_numpy(),
                  cmap=colour.cmap, norm=colour.norm, edgecolor="white", linewidth=0.5)
    if score == "mean":
        near = within_one_error(cv.table, cv.best, cv.model.metrics[cv.metric])
        shown = _best(cv, table, ["l1", "fusion"], score).assign(near=lambda best: near[best.index])
        _outline(ax, shown.pivot(index="l1", columns="fusion", values="near").to_numpy(dtype=bool))
    _mark_points(ax, cv, surface)
    _penalty_ticks(ax, surface)
    colour_bar(ax, colour, _score_name(cv), _extend(surface.to_numpy(), colour.norm))
    ax.set_title(_cv_title(cv, l2), loc="left")
    return ax


def _larger_is_better(cv):
    return cv.by == "cv" and cv.model.metrics[cv.metric].larger_is_better


def _best(cv, table, names, score):
    """Of the points that are equal in the penalties named, the one with the best score."""
    groups = table.groupby(names)[score]
    return table.loc[groups.idxmax() if _larger_is_better(cv) else groups.idxmin()]


def _score_colours(cv, surface):
    """Light is good. Colours end four standard errors from the best, so that bad corners do not hide the rest."""
    low, high = np.nanmin(surface), np.nanmax(surface)
    room = 4 * cv.table["se"].iloc[cv.best] if cv.by == "cv" else np.inf
    if _larger_is_better(cv):
        low = min(max(low, high - room), high - 1e-12)
        return ScalarMappable(Normalize(low, high), sns.color_palette("crest_r", as_cmap=True))
    high = max(min(high, low + room), low + 1e-12)
    return ScalarMappable(Normalize(low, high), sns.color_palette("crest", as_cmap=True))


def _extend(surface, norm):
    return "max" if surface.max() > norm.vmax else "min" if surface.min() < norm.vmin else "neither"


def _outline(ax, inside):
    """A line around the cells that are inside."""
    padded = np.pad(inside, 1)
    for row, column in zip(*np.nonzero(inside)):
        for shift, ends in (((-1, 0), ((0, 0), (1, 0))), ((1, 0), ((0, 1), (1, 1))),
                            ((0, -1), ((0, 0), (0, 1))), ((0, 1), ((1, 0), (1, 1)))):
            if not padded[row + 1 + shift[0], column + 1 + shift[1]]:
                (x0, y0), (x1, y1) = ends
                ax.plot([column + x0, column + x1], [row + y0, row + y1], color="black", linewidth=1.6, clip_on=False)


def _marks(cv):
    """Label, row of the table and marker of the points worth marking."""
    marks = [("best" if _larger_is_better(cv) else "lowest", cv.best, "o")]
    return marks if cv.one_se is None else [*marks, ("1-SE", cv.one_se, "D")]


def _mark_points(ax, cv, surface):
    for label, row, marker in _marks(cv):
        point = cv.table.iloc[row]
        if point["l1"] in surface.index and point["fusion"] in surface.columns:
            ax.plot(surface.columns.get_loc(point["fusion"]) + 0.5, surface.index.get_loc(point["l1"]) + 0.5, marker,
                    color="white", markeredgecolor="black", markersize=9 if marker == "o" else 7, clip_on=False,
                    linestyle="none", label=_point_label(label, point), zorder=5)
    ax.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.2), frameon=False, fontsize=9, ncol=1)


def _point_label(label, point):
    penalties = ", ".join(f"{name} = {point[name]:.3g}" for name in ("l1", "l2", "fusion"))
    return f"{label}: {penalties}, df = {point['df']:g}"


def _penalty_ticks(ax, surface):
    ax.set_xticks(np.arange(surface.shape[1]) + 0.5, [short(value) for value in surface.columns])
    ax.set_yticks(np.arange(surface.shape[0]) + 0.5, [short(value) for value in surface.index])
    ax.tick_params(length=0, labelsize=9)
    ax.set(xlabel="fusion", ylabel="l1")


def _score_name(cv):
    return cv.model.metrics[cv.metric].words if cv.by == "cv" else cv.by.upper()


def _cv_title(cv, l2, others="l2"):
    """What is shown, and which of the penalties that are not on an axis."""
    shown = f"best {others} for each point" if l2 is None else f"l2 = {nearest('l2', cv.table['l2'], l2):.3g}"
    return f"{'Cross-validation' if cv.by == 'cv' else cv.by.upper()}" + f", {shown}" * bool(others or l2 is not None)


def _cv_line(cv, table, score, l2, ax):
    """Scores along the one penalty that varies, with standard errors."""
    name = next((name for name in ("l1", "fusion", "l2") if table[name].nunique() > 1), "l1")
    best = _best(cv, table, name, score).sort_values(name)
    others = " and ".join(other for other in ("l1", "l2", "fusion") if other != name and table[other].nunique() > 1)
    ax = ax or new_axes(6.4, 4.0)
    positions = zero_log_axis(ax, best[name].to_numpy(dtype=float))
    errors = best["se"].to_numpy() if score == "mean" else None
    ax.errorbar(positions, best[score].to_numpy(), yerr=errors, color=INK, ecolor=FAINT, marker="o",
                markersize=4, capsize=2)
    values = best[name].to_numpy(dtype=float)
    for label, row, _ in _marks(cv):
        mark_line(ax, positions[np.argmin(np.abs(values - cv.table[name].iloc[row]))], label)
    sns.despine(ax=ax)
    ax.set(xlabel=name, ylabel=_score_name(cv))
    ax.set_title(_cv_title(cv, l2, others), loc="left")
    return ax
