"""Observed shares: of yes against predicted probabilities, and of resamples that keep a coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import seaborn as sns
from matplotlib import patches
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from .. import checks
from ..objective import sigmoid
from .axes import (FAINT, INK, MARKERS, colour_bar, given, grid_axes, inches, label_grid, largest, new_axes,
                   shown_title, style, task_colours, task_key)

if TYPE_CHECKING:
    from ..fit import Fit
    from ..inference import BootstrapResults, StabilityResults

__all__ = ["calibration", "selection_frequencies"]


def calibration(results: Fit, endog: Any = None, exog: Any = None, offset: Any = None, weights: Any = None,
                task: Any = None, bins: int = 10, ax: Axes | None = None) -> Axes:
    """Observed share of yes against predicted probability, for each task.

    Predictions of a task are cut into ``bins`` groups of equal number (weights counted; a
    row may be divided between two of them); bars are 95 % Wilson intervals. Beyond six tasks
    the labels of all are pooled, without bars because labels of a row are not independent, and
    each task is a faint line. The axes reach to 1, or, where no point comes near it as with
    hazards of short intervals, a little further than the points.

    Parameters
    ----------
    results : FusedLogitResults
    endog, exog, offset, weights, task : as for ``FusedLogit`` and ``from_long``, optional
        Held-out rows. Where left out, the rows of the fit with their weights: what ``fit_cv``
        gave is judged out of fold, any other fit by the rows that it was fitted to.
    bins : int
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> cv = FusedLogit(Y, X).fit_cv(rng=1)
    >>> ax = plots.calibration(cv)
    """
    checks.result("results", results, ("model", "predict"), "a fit such as FusedLogit(...).fit gives")
    bins, ax, model = checks.whole("bins", bins, 1, 10**4), given(ax), results.model
    if (endog is None) != (exog is None):
        raise ValueError("endog and exog must be given together, found only one of them")
    held = model.with_data() if endog is None else model.held_out(endog, exog, weights, offset, task)
    labels, folds = held.labels, exog is None and getattr(results, "parts", None) is not None
    predicted: Any = (results.fold_probabilities if folds else  # type: ignore[attr-defined]
                      sigmoid(held.design.linear(results.params.to_numpy(), labels)))
    ax = ax or new_axes(5.2, 4.8)
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    limits = _limits(_calibration_lines(ax, predicted, labels, model.endog_names, bins))
    ax.set(xlim=limits, ylim=limits, aspect="equal", xlabel="predicted probability of yes",
           ylabel="observed share of yes")
    rows = "out of fold" if folds else "rows of the fit" if exog is None else "held-out rows"
    ax.set_title(f"Calibration, {rows}", loc="left")
    return ax


def _calibration_lines(ax, predicted, labels, names, bins):
    """Draw a line for each task, or one of all tasks together before faint ones where they are many; the lines."""
    colours, many = task_colours(labels.n_tasks), labels.n_tasks > len(MARKERS)
    lines = [_calibration(predicted[part], labels.yes[part], labels.weight[part], bins) for part in labels.parts]
    for k, (task, line) in enumerate(zip(names, lines)):
        if many:
            ax.plot(*line[:2], color=FAINT, linewidth=0.5, alpha=0.6, label=str(task))
        else:
            _calibration_line(ax, line, colours[k], style(k, len(colours)), task)
    if many:
        mean, share, _ = _calibration(predicted, labels.yes, labels.weight, bins)
        ax.plot(mean, share, color=INK, marker="o", markersize=5, linewidth=1.2, label="all tasks")
        ax.legend(handles=ax.get_lines()[-1:] + ax.get_lines()[1:2],
                  labels=["all tasks", f"each of {len(names)} tasks"], frameon=False, loc="upper left", fontsize=9)
    else:
        task_key(ax, names, colours)
    return lines


def _calibration(predicted, observed, counts, bins):
    """Mean prediction, share of yes and number of labels in groups of equal number, each (bins,)."""
    order = np.argsort(predicted, kind="stable")
    end = np.cumsum(counts[order])
    total = end[-1] if len(end) else 0.0
    ends = np.linspace(0.0, total, min(bins, max(int(total), 1)) + 1)
    start = end - counts[order]
    inside = np.minimum(end, ends[1:, None]) - np.maximum(start, ends[:-1, None])
    inside = np.clip(inside, 0.0, None)
    size = inside.sum(axis=1)
    return inside @ predicted[order] / size, inside @ observed[order] / size, size


def _limits(lines):
    """Ends of both axes: all of 0 to 1, or up to where the points are if these are all below a half."""
    top = max(np.nanmax(points, initial=0.0) for mean, share, _ in lines for points in (mean, share))
    top = 1.0 if top > 0.5 or top == 0.0 else 1.15 * top
    return -0.02 * top, 1.02 * top


def _calibration_line(ax, line, colour, marker, task):
    mean, share, size = line
    ax.plot(mean, share, color=colour, marker=marker, markersize=5, linewidth=1.2, label=str(task))
    low, high = _wilson(share, size)
    ax.vlines(mean, low, high, color=colour, linewidth=0.8, alpha=0.4)


def _wilson(share, n, z=1.96):
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return centre - half, centre + half


def selection_frequencies(bootstrap: BootstrapResults | StabilityResults, features: int = 30,
                          ax: Axes | None = None) -> Axes:
    """How often resamples keep a coefficient, and how often they tie neighbours; of halves likewise.

    The area and darkness of a dot is the share of resamples in which the coefficient is not zero;
    the width of the bar between two neighbouring columns is the share in which both are
    tied and not zero.

    Parameters
    ----------
    bootstrap : BootstrapResults or StabilityResults
    features : int
        Most features to show; if there are more, those selected most often.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> boot = fit.bootstrap(50, rng=1)
    >>> ax = plots.selection_frequencies(boot)
    """
    checks.result("bootstrap", bootstrap, ("results", "samples", "parts"),
                  "what the bootstrap or stability method of a fit gave")
    ax, model = given(ax), bootstrap.results.model
    samples = bootstrap.samples[:, 1:]
    share = (samples != 0).mean(axis=0)
    shown = largest(share.mean(axis=1), features)
    ax = ax or grid_axes(len(shown), model.endog_names, cell=(0.5, 0.34))
    colour = ScalarMappable(Normalize(0.0, 1.0), sns.light_palette("0.1", as_cmap=True))
    for row, feature in enumerate(shown):
        _dots(ax, row, share[feature], colour)
        for j, k in model.tasks.edges:
            if k == j + 1:
                tied = np.mean((samples[:, feature, j] == samples[:, feature, k]) & (samples[:, feature, j] != 0))
                ax.add_patch(patches.Rectangle((j + 0.5, row + 0.5 - 0.3 * tied), 1.0, 0.6 * tied, color="0.72",
                                               linewidth=0, zorder=1))
    label_grid(ax, [model.exog_names[1 + i] for i in shown], model.endog_names)
    colour_bar(ax, colour, f"share of {bootstrap.parts}\n(dot: not zero;\nbar: tied and not zero)")
    what = f"Selected in {len(samples)} {bootstrap.parts}"
    ax.set_title(shown_title(what, share, len(shown), "most often kept"), loc="left")
    return ax


def _dots(ax, row, share, colour):
    """Dots whose area is the share; round whatever the shape of the cell."""
    room = inches(ax)
    cell = min(room[0] / len(share), 0.34)
    seen = share > 0
    ax.scatter(np.flatnonzero(seen) + 0.5, np.full(seen.sum(), row + 0.5), s=share[seen] * (cell * 72 * 0.72) ** 2,
               c=colour.to_rgba(share[seen]), edgecolors=INK, linewidths=0.6, zorder=2)
