"""Coefficients with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from .. import checks
from .axes import (FAINT, INK, MARKERS, Per, feature_names, feature_units, given, largest, new_axes, style,
                   task_colours, task_key)

if TYPE_CHECKING:
    from ..inference import BootstrapResults, RefitResults

__all__ = ["intervals"]


def intervals(result: RefitResults | BootstrapResults, alpha: float = 0.05, features: int = 12, per: Per = "sd",
              ax: Axes | None = None) -> Axes:
    """Coefficients with their intervals, features from top to bottom and the tasks of each one below the other.

    Parameters
    ----------
    result : RefitResults or BootstrapResults
    alpha : float
        The intervals are those of ``conf_int(alpha)``.
    features : int
        Most features to show; if there are more, those with the largest coefficients.
    per : "sd" or "unit"
        As for ``coef_map``.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Notes
    -----
    Coefficients that are zero with certainty, because they were set to zero, are left out. Tasks
    that share one estimated value share one interval: a line joins their marks.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> refit = fit.refit()
    >>> ax = plots.intervals(refit)
    """
    checks.result("result", result, ("model", "params", "conf_int"), "what refit() or bootstrap() gave")
    ax, model = given(ax), result.model
    units, unit = feature_units(model, per)
    t = len(model.endog_names)
    values = result.params.to_numpy()[1:] * units[:, None]
    ends = result.conf_int(alpha).to_numpy()[1:].reshape(len(values), t, 2) * units[:, None, None]
    kept = np.flatnonzero((values != 0).any(axis=1))
    shown = kept[largest(np.abs(values[kept]).max(axis=1), features)] if len(kept) else kept
    ax = ax or new_axes(6.8, min(0.8 + len(shown) * max(0.3, 0.13 * min(t, 8)), 10.0))
    _bars(ax, values[shown], ends[shown], _values_of(result, values)[shown])
    ax.axvline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set(yticks=np.arange(len(shown)), yticklabels=feature_names(model.exog_names[1 + j] for j in shown),
           ylim=(len(shown) - 0.5, -0.5), xlabel=f"change in log-odds per {unit}")
    ax.tick_params(axis="y", length=0)
    sns.despine(ax=ax, left=True)
    if t > 1:
        task_key(ax, model.endog_names, task_colours(t))
    hidden = f" ({len(shown)} largest of {len(kept)} features)" if len(kept) > len(shown) else ""
    ax.set_title(f"{100 * (1 - alpha):g} % intervals{hidden}", loc="left")
    return ax


def _values_of(result, values):
    """Which estimated value stands in each place, shape (d, t): of a refit its own, else one in each."""
    pattern = getattr(result, "pattern", None)
    return np.arange(values.size).reshape(values.shape) if pattern is None else pattern[1:]


def _bars(ax, values, ends, which):
    """A mark for each task and a bar for each estimated value; shades hold the tasks of a feature together."""
    t = values.shape[1]
    colours, shifts = task_colours(t), (np.arange(t) - (t - 1) / 2) * 0.8 / t
    for row in range(len(values)):
        if row % 2:
            ax.axhspan(row - 0.5, row + 0.5, color="0.96", zorder=-1, linewidth=0)
        shown = np.flatnonzero((values[row] != 0) | (np.ptp(ends[row], axis=1) > 0))
        for value in dict.fromkeys(which[row, shown].tolist()):
            tied = shown[which[row, shown] == value]
            colour = colours[tied[0]] if len(tied) == 1 else INK
            ax.plot(ends[row, tied[0]], [row + shifts[tied].mean()] * 2, color=colour, linewidth=1.4,
                    solid_capstyle="butt", zorder=1)
            ax.plot(values[row, tied], row + shifts[tied], color=colour, linewidth=0.8, zorder=1)
            for k in tied:
                ax.plot(values[row, k], row + shifts[k], color=colours[k], markersize=5 if t <= len(MARKERS) else 3,
                        marker=style(k, t) or "o", linestyle="none", zorder=2)
