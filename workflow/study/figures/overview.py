"""The study as a whole: errors, paired differences, distances from the truth, chosen penalties."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from study.cases import CASES
from study.figures import Figure
from study.figures.style import (YELLOW, interval, legend, models_of, name_axes, panels, plain_logarithms, subplots,
                                 title)
from study.models import FUSION, L1, L2, MODELS, linear
from study.paired import FUSED, compare

__all__ = ["FIGURES", "differences_figure", "differences_table", "distances_figure", "distances_table",
           "errors_figure", "errors_table", "penalties_figure", "penalties_table"]

#: The outlying model: its distances are printed as text, so that the scale suits the others.
FAR_OUT = "unpenalized"


def errors_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Test error and Bayes risk behind every box, and by what it was made where there is a choice."""
    return scores.reindex(columns=["case", "size", "model", "instance", "test_error", "bayes_risk", "by"])


def errors_figure(table: pd.DataFrame) -> Any:
    """Boxes of test error by training size and model, a panel for each case, the median Bayes risk in yellow.

    The scale is logarithmic: small differences between small errors are as visible as large ones between large errors.
    """
    models = models_of(table)
    figure, axes = panels(table["case"].unique(), columns=4, height=3.2)
    for case, ax in axes.items():
        rows = table[table["case"] == case]
        _boxes(ax, rows, models)
        ax.axhline(rows.drop_duplicates("instance")["bayes_risk"].median(), color=YELLOW, linewidth=2, zorder=0.5)
        ax.set(title=title(case), yscale="log", ylim=(0.8 * min(table["bayes_risk"].min(), table["test_error"].min()),
                                                      0.6))
        plain_logarithms(ax.yaxis)
    name_axes(figure, "training rows", "test error")
    absent = [Line2D([], [], linestyle="none", label=f"{model.label}: not run") for model in MODELS.values()
              if model.role and model.name not in models]
    legend(figure, models, extra=[*absent, Line2D([], [], color=YELLOW, linewidth=2, label="median Bayes risk")],
           made_by=table.dropna(subset=["by"]).groupby("model")["by"].agg(lambda by: " and ".join(sorted(set(by)))))
    return figure


def distances_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Distances from the truth of every linear fit in the correlated cases."""
    correlated = [case for case in scores["case"].unique() if CASES[case].correlated]
    rows = scores[scores["model"].isin(linear()) & scores["case"].isin(correlated)]
    return rows[["case", "size", "model", "instance", "distance_zero", "distance_nonzero"]]


def distances_figure(table: pd.DataFrame) -> Any:
    """Distance over the true zeros against distance over the true non-zeros, by case and size."""
    models, cases, sizes = models_of(table), list(table["case"].unique()), sorted(table["size"].unique())
    shown = [model for model in models if model != FAR_OUT] or models
    figure, axes = subplots(len(cases), len(sizes), (2.1 * len(sizes) + 0.6, 1.9 * len(cases) + 0.8),
                            {"hspace": 0.35, "wspace": 0.3})
    for (row, case), (column, size) in ((a, b) for a in enumerate(cases) for b in enumerate(sizes)):
        _distances(axes[row, column], table[(table["case"] == case) & (table["size"] == size)], shown)
        axes[row, column].set_title(f"{case}, {size} rows")
    name_axes(figure, "distance over true zeros, by their count, in thousandths",
              "distance over true non-zeros, by their count, in thousandths")
    median = Line2D([], [], linestyle="none", marker="o", markersize=8, markerfacecolor="white", markeredgecolor="0.2",
                    label="median")
    legend(figure, shown, [median], markers=True)
    return figure


def _distances(ax, cell, shown):
    """Instances as small points and medians as large ones; the outlying model as text."""
    for model in reversed(shown):
        points = 1000 * cell.loc[cell["model"] == model, ["distance_zero", "distance_nonzero"]]
        look = {"color": MODELS[model].color, "marker": MODELS[model].marker}
        ax.scatter(*points.to_numpy().T, s=9, alpha=0.45, linewidth=0, **look)
        ax.scatter(*points.median(), s=55, edgecolor="0.15", linewidth=0.8, zorder=3, **look)
    far = 1000 * cell.loc[cell["model"] == FAR_OUT, ["distance_zero", "distance_nonzero"]].median()
    if FAR_OUT not in shown and far.notna().all():
        ax.text(0.97, 0.96, f"(iv) {far.iloc[0]:.3g}, {far.iloc[1]:.3g}", transform=ax.transAxes, ha="right", va="top",
                color="0.35", fontsize=6.5)
    ax.margins(0.12)


def differences_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and median paired differences to the fused elastic net, their intervals and corrected p-values."""
    table = compare(scores)
    return table[table["model"] == FUSED[0]].drop(columns="model")


def differences_figure(table: pd.DataFrame) -> Any:
    """Test error of each model minus that of the fused elastic net: means with 95 % intervals, and medians."""
    models = models_of(table, "other")
    sizes = sorted(table["size"].unique())
    figure, axes = panels(table["case"].unique(), columns=4, height=2.9)
    for case, ax in axes.items():
        ax.axhline(0, color="0.4", linewidth=0.8)
        for shift, model in zip(np.linspace(-0.27, 0.27, len(models)), models):
            rows = table[(table["case"] == case) & (table["other"] == model)].sort_values("size")
            at = np.searchsorted(sizes, rows["size"]) + shift
            interval(ax, at, rows, fmt=MODELS[model].marker, color=MODELS[model].color)
            ax.plot(at, rows["median"], "_", color="0.1", markersize=6, markeredgewidth=1.2, zorder=3)
        ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        # A symlog scale, linear near zero, so that one percentage point and thirty can both be read.
        ax.set_yscale("symlog", linthresh=0.02, linscale=1.2)
        ax.set_ylim(-0.03, 0.5)
        ax.set_yticks([-0.02, 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4], ["-.02", "0", ".01", ".02", ".05", ".1", ".2", ".4"])
        ax.minorticks_off()
        ax.set(title=title(case))
    name_axes(figure, "training rows", "test error minus that of (i)")
    median = Line2D([], [], color="0.1", marker="_", linestyle="none", markersize=7, markeredgewidth=1.2,
                    label="median")
    legend(figure, models, [median], markers=True)
    return figure


def penalties_table(scores: pd.DataFrame) -> pd.DataFrame:
    """How often each value of each penalty of the fused elastic net was chosen, by case and size."""
    rows = scores[scores["model"] == FUSED[0]]
    long = rows.melt(id_vars=["case", "size", "instance"], value_vars=["l1", "l2", "fusion"], var_name="penalty")
    return long.groupby(["penalty", "case", "size", "value"]).size().rename("fits").reset_index()


def penalties_figure(table: pd.DataFrame) -> Any:
    """Share of fused elastic nets by chosen penalty: values in rows, training sizes in columns, a panel a case."""
    cases, sizes = list(table["case"].unique()), sorted(table["size"].unique())
    values = {"l1": L1, "l2": L2, "fusion": FUSION}
    spacing = {"height_ratios": [len(grid) for grid in values.values()], "hspace": 0.06, "wspace": 0.08}
    figure, axes = subplots(3, len(cases), (1.15 * len(cases) + 1.6, 7), spacing, sharex=True)
    for (row, (penalty, grid)), (column, case) in ((a, b) for a in enumerate(values.items()) for b in enumerate(cases)):
        ax = axes[row, column]
        cell = table[(table["penalty"] == penalty) & (table["case"] == case)]
        counts = cell.pivot(index="value", columns="size", values="fits").reindex(index=grid, columns=sizes).fillna(0)
        ax.pcolormesh(counts / counts.sum().replace(0, 1), vmin=0, vmax=1, cmap="Blues", edgecolor="0.85",
                      linewidth=0.3)
        ax.set_xticks(np.arange(len(sizes)) + 0.5, [str(size) for size in sizes], rotation=90)
        ax.set_yticks(np.arange(len(grid)) + 0.5, [f"{value:g}" for value in grid] if column == 0 else [""] * len(grid))
        heading = f"{case}\n" + CASES[case].title.replace(", ", "\n") if row == 0 else ""
        ax.set(ylabel=penalty if column == 0 else "", title=heading)
        ax.grid(False)
    name_axes(figure, "training rows", "")
    scale = plt.cm.ScalarMappable(Normalize(0, 1), "Blues")
    figure.colorbar(scale, ax=axes, shrink=0.5, pad=0.02, label="share of instances")
    return figure


def _boxes(ax, rows, models):
    """Boxes of test error: training sizes side by side, and the models within each."""
    sizes, width = sorted(rows["size"].unique()), 0.8 / len(models)
    for place, model in enumerate(models):
        cells = [rows.loc[(rows["size"] == size) & (rows["model"] == model), "test_error"] for size in sizes]
        color, at = MODELS[model].color, np.arange(len(sizes)) + (place - (len(models) - 1) / 2) * width
        # Boxes of few or equal numbers are lines: their edges show their model's colour.
        ax.boxplot(cells, positions=at, widths=0.9 * width, patch_artist=True, manage_ticks=False,
                   boxprops={"facecolor": color, "edgecolor": color, "linewidth": 1.2},
                   medianprops={"color": "0.2", "linewidth": 0.7}, whiskerprops={"color": "0.3", "linewidth": 0.7},
                   capprops={"color": "0.3", "linewidth": 0.7},
                   flierprops={"marker": "d", "markersize": 1.5, "markerfacecolor": "0.3", "markeredgecolor": "0.3"})
    ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])


#: By name.
FIGURES = {
    "errors": Figure(("scores",), "scores", (
        "Test error (share of wrong labels over four tasks and the test rows) by training rows, on a logarithmic "
        "scale; a box holds the instances of a case. Yellow: median over instances of the Bayes risk, the mean of "
        "min(p, 1 - p) under the true coefficients."), errors_table, errors_figure),
    "differences": Figure(("scores",), "the fused elastic net and another model", (
        "Test error of each model minus that of the fused elastic net on the same data: mean over instances with 95 % "
        "t-interval, and median. Above zero, the fused elastic net is better. The scale is linear up to 0.02 and "
        "logarithmic beyond."), differences_table, differences_figure),
    "distances": Figure(("scores",), "linear models in the correlated cases e to h", (
        "Euclidean distance between fitted and true coefficients of the correlated cases, over the true zeros (across) "
        "and over the true non-zeros (up), each divided by their count; intercepts left out. Small points are "
        "instances, large ones their medians; the medians of (iv), which is far out, are written in the corner. Each "
        "panel has its own scales."), distances_table, distances_figure),
    "penalties": Figure(("scores",), "the fused elastic net", (
        "How often each value of the grid was chosen for the fused elastic net, by case and training rows. The paper's "
        "letters for l1, l2 and fusion are lambda1, lambda2 and nu."), penalties_table, penalties_figure),
}
