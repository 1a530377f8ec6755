"""Scores of several models over the splits of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from .. import checks
from .axes import INK, given, new_axes, plain

if TYPE_CHECKING:
    from ..compare import Comparison

__all__ = ["score_boxes"]

LABELS = {"error": "held-out error", "logloss": "held-out log-loss"}


def score_boxes(found: Comparison, metric: str = "error", ax: Axes | None = None) -> Axes:
    """Boxes of a held-out score over splits: training sizes side by side, the models within each.

    Parameters
    ----------
    found : Comparison
        What ``compare`` gave.
    metric : "error" or "logloss"
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import compare, datasets, plots
    >>> found = compare(*datasets.weeks(), models=["unpenalized"], splits=3, progress=False)
    >>> plots.score_boxes(found, "logloss").get_ylabel()
    'held-out log-loss'
    """
    scores = checks.result("found", found, ("scores", "differences"), "what compare gave").scores
    metric = checks.word("metric", metric, LABELS)
    sizes, models = sorted(scores["size"].unique()), list(dict.fromkeys(scores["model"]))
    width = 0.8 / len(models)
    ax = given(ax) or new_axes(1.6 + 0.45 * len(sizes) * len(models), 3.4)
    for place, (model, color) in enumerate(zip(models, sns.color_palette("colorblind", len(models)))):
        cells = [scores.loc[(scores["size"] == size) & (scores["model"] == model), metric] for size in sizes]
        at = np.arange(len(sizes)) + (place - (len(models) - 1) / 2) * width
        boxes = ax.boxplot(cells, positions=at, widths=0.85 * width, patch_artist=True, manage_ticks=False,
                           boxprops={"facecolor": color, "edgecolor": INK}, medianprops={"color": INK},
                           flierprops={"marker": ".", "markersize": 4, "markeredgecolor": INK})
        boxes["boxes"][0].set_label(plain(model))
    ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    ax.set(xlabel="training rows", ylabel=LABELS[metric])
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax
