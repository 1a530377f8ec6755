"""What the figures share: type, panels, legends, intervals and tables of coloured cells."""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from study.cases import CASES
from study.models import MODELS

__all__ = ["AGREES", "DIFFERS", "YELLOW", "interval", "legend", "matrix", "models_of", "name_axes", "panels",
           "plain_logarithms", "style", "subplots", "title"]

#: The Bayes risk, and where the paper says that something is so.
YELLOW = "#F0C400"
#: Numbers that agree with the paper and that do not, and fused and single-task models.
AGREES, DIFFERS = MODELS["fused_elastic_net"].color, MODELS["elastic_net"].color
SIGNIFICANT = 0.05


def style() -> Any:
    """Print-sized type on white, with fonts that a PDF can embed."""
    return {**sns.axes_style("whitegrid"), "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8,
            "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 8, "pdf.fonttype": 42,
            "grid.linewidth": 0.4, "axes.linewidth": 0.6}


def models_of(table: pd.DataFrame, column: str = "model") -> list[str]:
    """Models of the study that a table holds, in the order of legends."""
    return [model for model in MODELS if model in set(table[column])]


def title(case: str) -> str:
    """Letter of a case and what kind it is, on two lines."""
    settings = CASES[case]
    return f"{case}) {settings.title}\n{settings.nonzeros} non-zeros, {settings.matches} matching"


def panels(cases: Iterable[str], columns: int, height: float) -> tuple:
    """A figure with one panel for each case."""
    names = sorted(cases)
    columns = min(columns, len(names))
    rows = -(-len(names) // columns)
    size = (max(2.6 * columns, 5), height * rows)
    figure, axes = subplots(rows, columns, size, {"hspace": 0.3, "wspace": 0.05}, sharey=True)
    for ax in axes.flat[len(names):]:
        ax.set_visible(False)
    return figure, dict(zip(names, axes.flat))


def subplots(rows: int, columns: int, size: tuple[float, float], spacing: dict | None = None, top: float = 0.6,
             **sharing: Any) -> tuple:
    """Panels with margins of fixed width, in inches, for the names of the axes, titles and legend."""
    width, height = size
    margins = {"left": 0.6 / width, "right": 1 - 0.1 / width, "bottom": 0.5 / height, "top": 1 - top / height}
    return plt.subplots(rows, columns, figsize=size, squeeze=False, gridspec_kw={**margins, **(spacing or {})},
                        **sharing)


def name_axes(figure: Any, x: str, y: str) -> None:
    """Name the axes of all panels once, outside of them; margins are cut to what is drawn when the figure is saved."""
    width, height = figure.get_size_inches()
    figure.supxlabel(x, fontsize=8, y=0.08 / height)
    figure.supylabel(y, fontsize=8, x=0.08 / width)


def legend(figure: Any, models: Iterable[str], extra: Iterable = (), markers: bool = False, made_by: Any = ()) -> None:
    """Names of models, with what made them where ``made_by`` tells, and other handles, above the panels."""
    look = {"linestyle": "none", "markersize": 5} if markers else {"linewidth": 5}
    handles = [Line2D([], [], color=model.color, marker=model.marker if markers else None, **look,
                      label=f"{model.label} ({made_by[model.name]})" if model.name in made_by else model.label)
               for model in (MODELS[name] for name in models)]
    width, height = figure.get_size_inches()
    figure.legend(handles=[*handles, *extra], loc="lower center", bbox_to_anchor=(0.5, 1 - 0.25 / height),
                  ncols=max(2, min(6, int(width // 1.4))), frameon=False)


def interval(ax: Any, x: Any, rows: pd.DataFrame, **look: Any) -> None:
    """Mean gains with their 95 % intervals, which a single instance does not have."""
    spread = np.nan_to_num([rows["gain"] - rows["low"], rows["high"] - rows["gain"]])
    ax.errorbar(x, rows["gain"], yerr=spread, **{"markersize": 4, "linewidth": 1.2, **look})


def plain_logarithms(axis: Any) -> None:
    """Plain numbers on a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=[1, 2, 3, 5]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def matrix(table: pd.DataFrame, value: str, form: str, outlined: Sequence = (), label: str = "",
           limits: tuple[float, float] | None = None, colors: str = "RdBu") -> Any:
    """Coloured cells, cases by sizes, with a number in each, a star where ``p_holm`` is small, and frames around some.

    ``form`` is how the numbers of the column ``value`` are written, ``outlined`` a list of (case, size). Colours go as
    far as the values on either side of zero, unless ``limits`` are given.
    """
    cells = table.pivot(index="case", columns="size", values=value)
    largest = float(np.nanmax(np.abs(cells.to_numpy()))) or 1.0
    low, high = limits or (-largest, largest)
    figure, axes = subplots(1, 1, (1.0 * len(cells.columns) + 1.6, 0.3 * len(cells) + 1.2))
    ax = axes[0, 0]
    shown = ax.pcolormesh(cells.to_numpy(), cmap=colors, vmin=low, vmax=high, edgecolor="white", linewidth=1)
    for row in table.to_dict("records"):
        i, j = cells.index.get_loc(row["case"]), cells.columns.get_loc(row["size"])
        star = "*" if row.get("p_holm", 1.0) < SIGNIFICANT else ""
        dark = np.dot(shown.to_rgba(row[value])[:3], (0.3, 0.6, 0.1)) < 0.5
        ax.text(j + 0.5, i + 0.5, format(row[value], form) + star, ha="center", va="center",
                color="white" if dark else "0.1")
        if (row["case"], row["size"]) in outlined:
            ax.add_patch(Rectangle((j + 0.04, i + 0.06), 0.92, 0.88, fill=False, edgecolor="0.1", linewidth=1.2))
    ax.set_xticks(np.arange(len(cells.columns)) + 0.5, [str(size) for size in cells.columns])
    ax.set_yticks(np.arange(len(cells)) + 0.5, [f"{case}  {CASES[case].title}" for case in cells.index])
    ax.set(xlabel="training rows", ylim=(len(cells), 0))
    ax.grid(False)
    figure.colorbar(shown, ax=ax, pad=0.02, label=label)
    return figure
