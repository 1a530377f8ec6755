"""One figure of what was measured, read back from the csv files."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter

__all__ = ["draw_all"]


def draw_all(results):
    """Draw every part that left a csv file, one panel each, to speed.png and speed.pdf."""
    panels = [(draw, path) for name, draw in PANELS.items() if (path := Path(results) / f"{name}.csv").exists()]
    if not panels:
        return
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.4 * rows), squeeze=False, layout="constrained")
    for ax, (draw, path) in zip(axes.flat, panels):
        draw(ax, pd.read_csv(path))
    for ax in axes.flat[len(panels):]:
        ax.set_axis_off()
    for suffix in ("png", "pdf"):
        figure.savefig(Path(results) / f"speed.{suffix}", dpi=150,
                       metadata={} if suffix == "png" else {"CreationDate": None})
    plt.close(figure)


def _plain_ticks(axis):
    """Numbers as one writes them, at 1, 2 and 5 times the powers of ten where the axis is short."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _line(ax, table, x, y, label=None):
    """A line of medians with bars from the least to the largest value, on logarithmic axes."""
    bars = [table[y] - table[f"{y} min"], table[f"{y} max"] - table[y]]
    ax.errorbar(table[x], table[y], yerr=bars, marker="o", markersize=4, capsize=2, label=label)
    ax.set(xscale="log", yscale="log", xlabel=x)
    if x != "size":
        ax.set_xticks(table[x], [f"{value:,}" for value in table[x]])
        ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    _plain_ticks(ax.yaxis)
    if label:
        ax.legend(frameon=False, fontsize=8)


def _grid(ax, table):
    _line(ax, table, "rows", "s")
    ax.set(title=f"grid of {table['points'].iloc[0]} points", ylabel="CPU seconds")


def _glmnet(ax, table):
    _line(ax, table, "rows", "glmnet s", "glmnet")
    _line(ax, table, "rows", "ours s", "fusedlr")
    ax.set(title="without fusion, equal accuracy", ylabel="CPU seconds")


def _step(ax, table):
    _line(ax, table, "features", "d-space s", "d-space")
    _line(ax, table, "features", "n-space s", "n-space")
    ax.set(title="one Newton step of the chi-update", ylabel="CPU seconds")


def _growth(ax, table):
    for axis, part in table.groupby("axis", sort=False):
        slope = part["exponent"].dropna().iloc[0]
        _line(ax, part, "size", "fit s", f"{axis} (exponent {slope:.2f})")
    ax.set(title="one cold fit", ylabel="CPU seconds")


def _ada(ax, table):
    _line(ax, table, "rows", "plain s", "ada, plain call")
    _line(ax, table, "rows", "ours s", "fusedlr.r.ada")
    ax.set(title="AdaBoost, same margins", ylabel="CPU seconds")


def _fused(ax, table):
    shown = table.dropna(subset=["ratio"]).iloc[::-1]
    names = [f"{other}, {problem}\n{point}"
             for other, problem, point in zip(shown["other"], shown["problem"], shown["l1, l2, fusion"])]
    bars = [shown["ratio"] - shown["ratio min"], shown["ratio max"] - shown["ratio"]]
    ax.errorbar(shown["ratio"], range(len(shown)), xerr=bars, fmt="o", markersize=4, capsize=2, color="tab:gray")
    ax.set_yticks(range(len(shown)), names, fontsize=5)
    ax.set(title="fused fits: times slower than ours", xscale="log", xlabel="ratio of CPU seconds")
    _plain_ticks(ax.xaxis)
    ax.grid(axis="x", which="both", alpha=0.3)


PANELS = {"a_grid": _grid, "b_glmnet": _glmnet, "c_fused": _fused, "d_newton_step": _step, "e_growth": _growth,
          "f_ada": _ada}
