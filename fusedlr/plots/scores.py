"""Scores of several models over the splits of a comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from .axes import INK, given, new_axes, plain

__all__ = ["score_boxes"]


def score_boxes(scores: pd.DataFrame, metric: str = "error", ax: Axes | None = None) -> Axes:
    """Boxes of a held-out score over splits: training sizes side by side, the models within each.

    Parameters
    ----------
    scores : DataFrame
        ``scores`` of a ``Comparison``.
    metric : "error" or "logloss"
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
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
    ax.set(xlabel="training rows", ylabel={"error": "held-out error", "logloss": "held-out log-loss"}[metric])
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax
