"""Figures of the study, each drawn from a tidy table that is kept beside it."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from fusedlr.study.contents import FIGURES
from fusedlr.study.files import replacing, write_table
from fusedlr.study.models import FUSION, L1, L2, MODELS, linear
from fusedlr.study.paired import compare
from fusedlr.study.simulate import CASES

__all__ = ["differences_figure", "differences_table", "distances_figure", "distances_table", "errors_figure",
           "errors_table", "penalties_figure", "penalties_table", "save"]

YELLOW = "#F0C400"


def errors_table(scores):
    """Test error and Bayes risk behind every box."""
    return scores[["case", "size", "model", "instance", "test_error", "bayes_risk"]]


def errors_figure(table):
    """Boxes of test error by training size and model, a panel for each case, the median Bayes risk in yellow."""
    models = _models(table)
    figure, panels = _panels(table["case"].unique(), columns=4, height=2.9)
    for case, ax in panels.items():
        rows = table[table["case"] == case]
        _boxes(ax, rows, models)
        ax.axhline(rows.drop_duplicates("instance")["bayes_risk"].median(), color=YELLOW, linewidth=2, zorder=0.5)
        ax.set(title=_title(case), ylim=(0, 0.6))
    _name_axes(figure, "training rows", "test error")
    absent = [Line2D([], [], linestyle="none", label=f"{model.label}: not run") for model in MODELS.values()
              if model.role and model.name not in models]
    _legend(figure, models, extra=[*absent, Line2D([], [], color=YELLOW, linewidth=2, label="median Bayes risk")])
    return figure


def distances_table(scores):
    """Distances from the truth of every linear fit in the correlated cases."""
    correlated = [case for case in scores["case"].unique() if CASES[case].correlated]
    rows = scores[scores["model"].isin(linear()) & scores["case"].isin(correlated)]
    return rows[["case", "size", "model", "instance", "distance_zero", "distance_nonzero"]]


def distances_figure(table):
    """Distance over the true zeros against distance over the true non-zeros, by case and size."""
    models, cases, sizes = _models(table), list(table["case"].unique()), sorted(table["size"].unique())
    figure, axes = _subplots(len(cases), len(sizes), (2.0 * len(sizes) + 0.6, 1.8 * len(cases) + 0.8),
                             {"hspace": 0.25, "wspace": 0.06}, sharex=True, sharey="row")
    for (row, case), (column, size) in ((a, b) for a in enumerate(cases) for b in enumerate(sizes)):
        ax = axes[row, column]
        cell = table[(table["case"] == case) & (table["size"] == size)]
        for model in reversed(models):
            points = cell[cell["model"] == model]
            ax.scatter(points["distance_zero"], points["distance_nonzero"], s=14, color=MODELS[model].color,
                       marker=MODELS[model].marker, alpha=0.75, linewidth=0)
        ax.set_title(f"{case}, {size} rows")
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=[1, 1.5, 2, 3, 5, 7]))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_locator(NullLocator())
    # Unpenalized fits lie far out, and a sparse fit can be exactly zero: logarithmic beyond 0.001, linear below.
    axes[0, 0].set_xscale("symlog", linthresh=0.001, linscale=0.5)
    axes[0, 0].set_xlim(0, None)
    axes[0, 0].set_xticks([0, 0.001, 0.01, 0.1], ["0", ".001", ".01", ".1"])
    axes[0, 0].xaxis.set_minor_locator(NullLocator())
    _name_axes(figure, "distance over true zeros, by their count", "distance over true non-zeros, by their count")
    _legend(figure, models, markers=True)
    return figure


def differences_table(scores):
    """Mean paired differences to the fused elastic net, their intervals and corrected p-values."""
    table = compare(scores)
    return table[table["model"] == "fused_elastic_net"].drop(columns="model")


def differences_figure(table):
    """Test error of each model minus that of the fused elastic net, with 95 % intervals over instances."""
    models = _models(table, "other")
    sizes = sorted(table["size"].unique())
    figure, panels = _panels(table["case"].unique(), columns=4, height=2.7)
    for case, ax in panels.items():
        ax.axhline(0, color="0.4", linewidth=0.8)
        for shift, model in zip(np.linspace(-0.24, 0.24, len(models)), models):
            rows = table[(table["case"] == case) & (table["other"] == model)].sort_values("size")
            at = np.searchsorted(sizes, rows["size"]) + shift
            spread = np.nan_to_num([rows["gain"] - rows["low"], rows["high"] - rows["gain"]])
            ax.errorbar(at, rows["gain"], yerr=spread, fmt=MODELS[model].marker, color=MODELS[model].color, markersize=4,
                        linewidth=1.2)
        ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        # Near zero the scale is linear, so that one percentage point and thirty can both be read.
        ax.set_yscale("symlog", linthresh=0.02, linscale=1.2)
        ax.set_ylim(-0.03, 0.5)
        ax.set_yticks([-0.02, 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4], ["-.02", "0", ".01", ".02", ".05", ".1", ".2", ".4"])
        ax.minorticks_off()
        ax.set(title=_title(case))
    _name_axes(figure, "training rows", "test error minus that of (i)")
    _legend(figure, models, markers=True)
    return figure


def penalties_table(scores):
    """How often each value of each penalty of the fused elastic net was chosen, by case and size."""
    rows = scores[scores["model"] == "fused_elastic_net"]
    long = rows.melt(id_vars=["case", "size", "instance"], value_vars=["l1", "l2", "fusion"], var_name="penalty")
    return long.groupby(["penalty", "case", "size", "value"]).size().rename("fits").reset_index()


def penalties_figure(table):
    """Share of fused elastic nets by chosen penalty: values in rows, training sizes in columns, a panel a case."""
    cases, sizes = list(table["case"].unique()), sorted(table["size"].unique())
    values = {"l1": L1, "l2": L2, "fusion": FUSION}
    spacing = {"height_ratios": [len(grid) for grid in values.values()], "hspace": 0.06, "wspace": 0.08}
    figure, axes = _subplots(3, len(cases), (1.15 * len(cases) + 1.6, 7), spacing, sharex=True)
    for (row, (penalty, grid)), (column, case) in ((a, b) for a in enumerate(values.items()) for b in enumerate(cases)):
        ax = axes[row, column]
        cell = table[(table["penalty"] == penalty) & (table["case"] == case)]
        counts = cell.pivot(index="value", columns="size", values="fits").reindex(index=grid, columns=sizes).fillna(0)
        ax.pcolormesh(counts / counts.sum().replace(0, 1), vmin=0, vmax=1, cmap="Blues", edgecolor="0.85", linewidth=0.3)
        ax.set_xticks(np.arange(len(sizes)) + 0.5, [str(size) for size in sizes], rotation=90)
        ax.set_yticks(np.arange(len(grid)) + 0.5, [f"{value:g}" for value in grid] if column == 0 else [""] * len(grid))
        ax.set(ylabel=penalty if column == 0 else "", title=case if row == 0 else "")
        ax.grid(False)
    _name_axes(figure, "training rows", "")
    scale = plt.cm.ScalarMappable(plt.Normalize(0, 1), "Blues")
    figure.colorbar(scale, ax=axes, shrink=0.5, pad=0.02, label="share of instances")
    return figure


def save(name, scores, stem):
    """Draw one figure without a screen and write it as pdf and png, and its table as csv, beside each other.

    Parameters
    ----------
    name : str
    scores : DataFrame
        ``scores.csv`` of the study.
    stem : str
        Path without suffix.
    """
    tabulate, draw = globals()[f"{name}_table"], globals()[f"{name}_figure"]
    table = tabulate(scores)
    with plt.rc_context(_style()):
        figure = draw(table) if len(table) else _nothing_to_draw(name)
        FigureCanvasAgg(figure)
        box = figure.get_tightbbox(figure.canvas.get_renderer()).padded(0.05)
        for suffix, extra in (("pdf", {"CreationDate": None, "ModDate": None}), ("png", {"Software": None})):
            with replacing(f"{stem}.{suffix}") as temporary:
                figure.savefig(temporary, format=suffix, metadata=extra, dpi=200, bbox_inches=box)
        plt.close(figure)
    write_table(f"{stem}.csv", table)


def _nothing_to_draw(name):
    """A sentence in the place of a figure that a run of few cases or models has no numbers for."""
    figure = plt.figure(figsize=(5, 0.6))
    figure.text(0.5, 0.5, f"Nothing to show in this run: the figure takes {FIGURES[name]}.", ha="center", va="center")
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


def _style():
    """Print-sized type on white, with fonts that a PDF can embed."""
    return {**sns.axes_style("whitegrid"), "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7,
            "ytick.labelsize": 7, "legend.fontsize": 8, "pdf.fonttype": 42,
            "grid.linewidth": 0.4, "axes.linewidth": 0.6}


def _models(table, column="model"):
    return [model for model in MODELS if model in set(table[column])]


def _panels(cases, columns, height):
    """A figure with one panel for each case."""
    cases = sorted(cases)
    columns = min(columns, len(cases))
    rows = -(-len(cases) // columns)
    size = (max(2.6 * columns, 5), height * rows)
    figure, axes = _subplots(rows, columns, size, {"hspace": 0.25, "wspace": 0.05}, sharey=True)
    for ax in axes.flat[len(cases):]:
        ax.set_visible(False)
    return figure, dict(zip(cases, axes.flat))


def _subplots(rows, columns, size, spacing, **sharing):
    """Panels with margins of fixed width, in inches, for the names of the axes and the legend."""
    width, height = size
    margins = {"left": 0.6 / width, "right": 1 - 0.1 / width, "bottom": 0.5 / height, "top": 1 - 0.5 / height}
    return plt.subplots(rows, columns, figsize=size, squeeze=False, gridspec_kw={**margins, **spacing}, **sharing)


def _title(case):
    settings = CASES[case]
    kind = "correlated" if settings.correlated else "independent"
    return f"{case}) {kind} [{settings.nonzeros}, {settings.matches}]"


def _name_axes(figure, x, y):
    """Name the axes of all panels once, outside of them; margins are cut to what is drawn when the figure is saved."""
    width, height = figure.get_size_inches()
    figure.supxlabel(x, fontsize=8, y=0.08 / height)
    figure.supylabel(y, fontsize=8, x=0.08 / width)


def _legend(figure, models, extra=(), markers=False):
    style = {"linestyle": "none", "markersize": 5} if markers else {"linewidth": 5}
    handles = [Line2D([], [], color=model.color, label=model.label, marker=model.marker if markers else None, **style)
               for model in (MODELS[name] for name in models)]
    top = 1 - 0.3 / figure.get_size_inches()[1]
    figure.legend(handles=[*handles, *extra], loc="lower center", bbox_to_anchor=(0.5, top), ncols=6, frameon=False)

