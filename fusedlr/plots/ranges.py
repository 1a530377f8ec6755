"""Coefficients and average marginal effects with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from .. import checks
from .axes import (FAINT, INK, MARKERS, Per, feature_names, feature_units, given, largest, new_axes, style,
                   task_colours, task_key)

if TYPE_CHECKING:
    from ..inference import BootstrapResults, MarginalEffects, RefitResults

__all__ = ["intervals", "margins"]

WORDS = {"prob": "probability", "levels": "probability of a level", "rank": "rank", "median": "median time"}
KEYS = {"levels": "level", "survival": "until", "incidence": "cause, until", "hazard": "interval"}


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
    model = result.model
    units, unit = feature_units(model, per)
    values = result.params.to_numpy()[1:] * units[:, None]
    ends = result.conf_int(alpha).to_numpy()[1:].reshape(*values.shape, 2) * units[:, None, None]
    kept = np.flatnonzero((values != 0).any(axis=1))
    ax = _draw(given(ax), [model.exog_names[1 + j] for j in kept], model.endog_names, values[kept], ends[kept],
               _values_of(result, values)[kept], features)
    ax.set_xlabel(f"change in log-odds per {unit}")
    return _titled(ax, alpha, len(kept))


def margins(found: MarginalEffects, alpha: float = 0.05, features: int = 12, per: Per = "sd",
            ax: Axes | None = None) -> Axes:
    """Average marginal effects with their intervals, features from top to bottom, tasks, levels or times below.

    Parameters
    ----------
    found : MarginalEffects
        What ``get_margeff`` gave.
    alpha : float
        The intervals are those of ``summary_frame(alpha)``.
    features : int
        Most features to show; if there are more, those with the largest effects.
    per : "sd" or "unit"
        For one standard deviation of the feature, which makes features comparable, or for one unit,
        the number in ``margeff``. That of a 0/1 feature is the change from 0 to 1 in both.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> ax = plots.margins(FusedLogit(Y, X).fit(l1=5, l2=0.5, fusion=10).get_margeff())
    >>> ax.get_xlabel()
    'average change in probability per standard deviation'
    """
    checks.result("found", found, ("margeff", "summary_frame", "which"), "what get_margeff() gave")
    units = np.ones(len(found.margeff)) if checks.word("per", per, get_args(Per)) == "unit" else found.scale
    table = found.summary_frame(alpha).to_numpy()[:, [0, -2, -1]].reshape(*found.margeff.shape, 3)
    table = table * units[:, None, None]
    values, columns = table[..., 0], [", ".join(map(str, np.atleast_1d(name))) for name in found.margeff.columns]
    ax = _draw(given(ax), list(found.margeff.index), columns, values, table[..., 1:],
               np.arange(values.size).reshape(values.shape), features, KEYS.get(found.which, "task"))
    unit = "unit" if per == "unit" else "standard deviation"
    ax.set_xlabel(f"average change in {WORDS.get(found.which, found.which)} per {unit}")
    return _titled(ax, alpha, len(values))


def _draw(ax, names, columns, values, ends, which, features, key="task"):
    """Marks and bars of the largest features, with their names and those of the columns."""
    shown = largest(np.abs(values).max(axis=1), features) if len(values) else np.arange(0)
    t = len(columns)
    ax = ax or new_axes(6.8, min(0.8 + len(shown) * max(0.3, 0.13 * min(t, 8)), 10.0))
    _bars(ax, values[shown], ends[shown], which[shown])
    ax.axvline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set(yticks=np.arange(len(shown)), yticklabels=feature_names(names[j] for j in shown),
           ylim=(len(shown) - 0.5, -0.5))
    ax.tick_params(axis="y", length=0)
    sns.despine(ax=ax, left=True)
    if t > 1:
        task_key(ax, columns, task_colours(t), title=key)
    return ax


def _titled(ax, alpha, n_features):
    shown = len(ax.get_yticks())
    hidden = f" ({shown} largest of {n_features} features)" if n_features > shown else ""
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
