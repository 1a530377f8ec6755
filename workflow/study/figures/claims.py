"""One figure for each claim, which shows the numbers that its rule looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from study.cases import CASES, GROUPS
from study.figures.overview import _plain_logarithms
from study.figures.style import YELLOW, interval, legend, matrix, name_axes, subplots, title
from study.models import L2, MODELS, as_read
from study.paired import FUSED, SINGLE_TASK, compare, compare_distances, interval_of, paired_table, wide
from study.verdicts import (FARTHER_FROM_ZERO, FUSED_LEAD, HIGH_SIMILARITY, LITTLE_HELP, MIDDLE, NEAR_RISK,
                                    SLIGHT_GAIN, VERY_LOW_L2, Evidence)

__all__ = [f"claim{number}_{part}" for number in range(1, 13) for part in ("figure", "table")]

AGREES, DIFFERS = MODELS["fused_elastic_net"].color, MODELS["elastic_net"].color
#: Colours of Okabe and Ito for correlated and for similar cases; sparse cases are drawn with dashes.
CASE_COLORS = {(False, False): "#0072B2", (False, True): "#D55E00", (True, False): "#56B4E9", (True, True): "#CC79A7"}


def _both_fused(scores):
    return set(FUSED) <= set(scores["model"])


def _has_single_task(scores):
    return FUSED[0] in set(scores["model"]) and bool(set(SINGLE_TASK) & set(scores["model"]))


def claim1_table(scores: pd.DataFrame) -> Any:
    """The least gain of a fused model over a single-task model, by case and size."""
    gains = compare(scores)
    gains = gains[gains["other"].isin(SINGLE_TASK)]
    least = gains.loc[gains.groupby(["case", "size"])["gain"].idxmin()] if len(gains) else gains
    return least.drop(columns=["median"])


def claim1_figure(table: pd.DataFrame) -> Any:
    named = [(case, size) for case in FUSED_LEAD for size in table["size"].unique()]
    return matrix(table, "gain", "+.3f", named, "least gain of (i), (ii) over (iii)-(v)")


def claim2_table(scores: pd.DataFrame) -> Any:
    """Gain over the best single-task model of the cell in the cases of high similarity."""
    return _over_best(scores, HIGH_SIMILARITY)


def claim2_figure(table: pd.DataFrame) -> Any:
    cases, sizes = list(table["case"].unique()), sorted(table["size"].unique())
    figure, axes = subplots(1, len(cases), (max(2.1 * len(cases), 4), 2.5), {"wspace": 0.08}, sharey=True)
    for ax, case in zip(axes.flat, cases):
        rows = table[table["case"] == case].sort_values("size")
        middle = [sizes.index(size) for size in MIDDLE if size in sizes]
        if middle:
            ax.axvspan(min(middle) - 0.4, max(middle) + 0.4, color=YELLOW, alpha=0.25, linewidth=0)
        interval(ax, [sizes.index(size) for size in rows["size"]], rows, fmt="o-", color=AGREES)
        ax.axhline(0, color="0.4", linewidth=0.8)
        ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        ax.set_title(title(case))
    name_axes(figure, "training rows", "gain over the best of (iii)-(v)")
    return figure


def claim3_table(scores: pd.DataFrame) -> Any:
    """Gains in the cells where the paper says that fusing helps little, and the half of the reference gain."""
    cells = _over_best(scores, CASES)
    high = cells[cells["case"].isin(HIGH_SIMILARITY) & cells["size"].isin(MIDDLE)]
    named = np.array([key in LITTLE_HELP for key in zip(cells["case"], cells["size"])], dtype=bool)
    cells = cells[named].assign(half_of_reference=high["gain"].mean() / 2)
    helps = (cells["gain"] > 0) & (cells["p_holm"] < 0.05)
    return cells.assign(agrees=~helps | (cells["gain"] < cells["half_of_reference"]))


def claim3_figure(table: pd.DataFrame) -> Any:
    figure, axes = subplots(1, 1, (max(0.33 * len(table) + 1, 4), 2.6), top=0.3)
    ax = axes[0, 0]
    for agrees, color in ((True, AGREES), (False, DIFFERS)):
        rows = table[table["agrees"] == agrees]
        interval(ax, np.flatnonzero(table["agrees"] == agrees), rows, fmt="o", color=color)
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.axhline(table["half_of_reference"].iloc[0], color="0.2", linewidth=1, linestyle="--")
    ax.set_xticks(range(len(table)), [f"{case}\n{size}" for case, size in zip(table["case"], table["size"])])
    ax.grid(False, axis="x")
    name_axes(figure, "case and training rows", "gain over the best of (iii)-(v)")
    dots = [Line2D([], [], color=color, marker="o", linestyle="none", label=label)
            for label, color in (("agrees", AGREES), ("differs", DIFFERS))]
    legend(figure, [], [*dots, Line2D([], [], color="0.2", linestyle="--", label="half of the gain in b, d, f, h at "
                                      "100-200")])
    return figure


def claim4_table(scores: pd.DataFrame) -> Any:
    """Mean test errors of (i) and of the best single-task model and the Bayes risk, in cases g and h."""
    rows = scores[scores["case"].isin([case for case, _ in NEAR_RISK])]
    if rows.empty or not _has_single_task(rows):
        return pd.DataFrame()
    evidence = Evidence(rows)
    means = evidence.errors.groupby(["case", "size"]).mean()
    best = pd.Series({key: means.loc[key, model] for key, model in evidence.best.items()}).rename_axis(["case", "size"])
    risk = rows.groupby(["case", "size"])["bayes_risk"].mean()
    return pd.DataFrame({"fused_elastic_net": means[FUSED[0]], "best_single_task": best, "bayes_risk": risk,
                         "which": evidence.best}).reset_index()


def claim4_figure(table: pd.DataFrame) -> Any:
    cases = list(table["case"].unique())
    figure, axes = subplots(1, len(cases), (3.2 * len(cases), 2.8), {"wspace": 0.08}, sharey=True)
    looks = {"best_single_task": (DIFFERS, "^-", "best single-task model"),
             "fused_elastic_net": (AGREES, "o-", "(i) fused elastic net"),
             "bayes_risk": (YELLOW, "-", "Bayes risk")}
    for ax, case in zip(axes.flat, cases):
        rows = table[table["case"] == case].sort_values("size")
        for column, (color, form, _) in looks.items():
            ax.plot(range(len(rows)), rows[column], form, color=color, markersize=4)
        ax.set(title=title(case), yscale="log")
        ax.set_xticks(range(len(rows)), [str(size) for size in rows["size"]])
        _plain_logarithms(ax.yaxis)
    name_axes(figure, "training rows", "mean test error")
    legend(figure, [], [Line2D([], [], color=color, label=label, marker=form.strip("-")) for color, form,
                        label in looks.values()])
    return figure


def claim5_table(scores: pd.DataFrame, readings: pd.DataFrame) -> Any:
    """Gain of (i) over (ii) by case, mean over sizes, on the whole grid and off its corner."""
    tables = []
    for grid, read in (("whole grid", scores), ("without the corner", as_read(scores, readings, "off_corner"))):
        if _both_fused(read):
            gain = Evidence(read).l2_gain
            tables += [{"grid": grid, "case": case, **interval_of(values.to_numpy())}
                       for case, values in gain.groupby("case")]
    return pd.DataFrame(tables)


def claim5_figure(table: pd.DataFrame) -> Any:
    cases = list(table["case"].unique())
    figure, axes = subplots(1, 1, (max(0.75 * len(cases) + 1, 4), 2.6), top=0.3)
    ax = axes[0, 0]
    ax.axhspan(-SLIGHT_GAIN, SLIGHT_GAIN, color=YELLOW, alpha=0.2, linewidth=0)
    ax.axhline(0, color="0.4", linewidth=0.8)
    looks: dict[str, dict[str, Any]] = {"whole grid": {"color": AGREES, "markerfacecolor": AGREES},
                                        "without the corner": {"color": AGREES, "markerfacecolor": "white"}}
    for shift, (grid, look) in zip((-0.12, 0.12), looks.items()):
        rows = table[table["grid"] == grid]
        interval(ax, [cases.index(case) + shift for case in rows["case"]], rows, fmt="o", **look)
    ax.set_xticks(range(len(cases)), [f"{case}\n" + CASES[case].title.replace(", ", "\n") for case in cases])
    ax.grid(False, axis="x")
    ax.set_ylabel("gain of (i) over (ii)")
    legend(figure, [], [Line2D([], [], marker="o", linestyle="none", label=grid, **look)
                        for grid, look in looks.items()])
    return figure


def claim6_table(scores: pd.DataFrame) -> Any:
    """Cumulative share of chosen l2, by case."""
    rows = scores[scores["model"] == FUSED[0]]
    return pd.DataFrame([{"case": case, "l2": value, "share": (cell["l2"] <= value).mean()}
                         for case, cell in rows.groupby("case") for value in L2])


def claim6_figure(table: pd.DataFrame) -> Any:
    figure, axes = subplots(1, 1, (5.2, 3.0))
    ax = axes[0, 0]
    handles = []
    for case, rows in table.groupby("case"):
        kind = CASES[case]
        look: dict[str, Any] = {"color": CASE_COLORS[kind.correlated, kind.similar],
                                "linestyle": "--" if kind.sparse else "-"}
        ax.plot(range(len(rows)), rows["share"], marker=".", **look)
        handles.append(Line2D([], [], label=f"{case} {CASES[case].title}", **look))
    ax.axhline(0.5, color="0.3", linewidth=0.8)
    ax.axvline(L2.index(VERY_LOW_L2), color="0.3", linewidth=0.8)
    ax.set_xticks(range(len(L2)), [f"{value:g}" for value in L2])
    ax.set(xlabel="l2", ylabel="share of fits with at most this l2", ylim=(0, 1.02))
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def claim7_table(scores: pd.DataFrame) -> Any:
    """How much farther the elastic net is from the true zeros than (i), in thousandths, by correlated case and size."""
    if not {FUSED[0], "elastic_net"} <= set(scores["model"]):
        return pd.DataFrame()
    rows = compare_distances(scores)
    return rows.assign(thousandths=1000 * rows["gain"])


def claim7_figure(table: pd.DataFrame) -> Any:
    return matrix(table, "thousandths", "+.2f", FARTHER_FROM_ZERO, "distance over true zeros,\n(iii) minus (i), in "
                  "1/1000")


def claim8_table(timing: pd.DataFrame) -> Any:
    """Seconds of one chi-update: median, smallest and largest, by features and space."""
    return timing.groupby(["space", "features"])["seconds"].agg(["median", "min", "max", "size"]).reset_index()


def claim8_figure(table: pd.DataFrame) -> Any:
    figure, axes = subplots(1, 1, (4.4, 2.8))
    ax = axes[0, 0]
    for space, color, label in (("features", DIFFERS, "in d-space"), ("rows", AGREES, "in n-space")):
        rows = table[table["space"] == space]
        ax.plot(rows["features"], rows["median"], "o-", color=color, label=label)
        ax.vlines(rows["features"], rows["min"], rows["max"], color=color)
    ax.set(xscale="log", yscale="log", xlabel="features d", ylabel="seconds of one chi-update")
    ax.set_xticks(table["features"].unique(), [str(d) for d in table["features"].unique()])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.legend(frameon=False)
    return figure


def claim9_table(scores: pd.DataFrame) -> Any:
    """Share of fused elastic nets whose chosen fusion is zero, by case and size."""
    rows = scores[scores["model"] == FUSED[0]]
    return (rows["fusion"] == 0).groupby([rows["case"], rows["size"]]).mean().rename("share").reset_index()


def claim9_figure(table: pd.DataFrame) -> Any:
    return matrix(table, "share", ".0%", [*LITTLE_HELP, *NEAR_RISK], "share of fits with fusion 0", (0, 1), "Blues")


def claim10_table(scores: pd.DataFrame) -> Any:
    """Gain over the best single-task model, mean over cases, by size."""
    if not _has_single_task(scores):
        return pd.DataFrame()
    gain = Evidence(scores).over_best
    return pd.DataFrame([{"size": size, **interval_of(values.to_numpy())} for size, values in gain.groupby("size")])


def claim10_figure(table: pd.DataFrame) -> Any:
    figure, axes = subplots(1, 1, (3.8, 2.6))
    ax = axes[0, 0]
    interval(ax, range(len(table)), table, fmt="o-", color=AGREES)
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.set_xticks(range(len(table)), [str(size) for size in table["size"]])
    ax.set(xlabel="training rows", ylabel="gain over the best of (iii)-(v)")
    return figure


def claim11_table(scores: pd.DataFrame) -> Any:
    """Gain of (i) over (ii) by case and size."""
    return paired_table(wide(scores, "test_error"), [FUSED]) if _both_fused(scores) else pd.DataFrame()


def claim11_figure(table: pd.DataFrame) -> Any:
    return matrix(table, "gain", "+.4f", (), "gain of (i) over (ii)")


def claim12_table(groups: Any) -> Any:
    """Gain of (i) over (ii) by non-zeros, group size and training rows, on the whole grid and off its corner."""
    rows = []
    for grid, read in (("whole grid", groups), ("without the corner", as_read(groups, groups, "off_corner"))):
        if _both_fused(read):
            errors = wide(read[read["model"].isin(FUSED)], "test_error")
            for (case, size), cell in errors.groupby(["case", "size"]):
                settings = GROUPS[case]
                gain = (cell[FUSED[1]] - cell[FUSED[0]]).to_numpy()
                rows.append({"grid": grid, "nonzeros": settings.nonzeros, "copies": settings.copies, "size": size,
                             **interval_of(gain)})
    return pd.DataFrame(rows)


def claim12_figure(table: pd.DataFrame) -> Any:
    kinds, sizes = sorted(table["nonzeros"].unique()), sorted(table["size"].unique())
    copies = sorted(table["copies"].unique())
    figure, axes = subplots(1, len(kinds), (3.3 * len(kinds), 2.8), {"wspace": 0.08}, sharey=True)
    colors = dict(zip(sizes, ["#56B4E9", "#0072B2", "#CC79A7", "#D55E00"]))
    for ax, kind in zip(axes.flat, kinds):
        ax.axhline(0, color="0.4", linewidth=0.8)
        for shift, size in zip(np.linspace(-0.2, 0.2, len(sizes)), sizes):
            for beside, (grid, face) in zip((-0.04, 0.04), (("whole grid", colors[size]),
                                                            ("without the corner", "white"))):
                rows = table[(table["nonzeros"] == kind) & (table["size"] == size)
                             & (table["grid"] == grid)].sort_values("copies")
                at = [copies.index(value) + shift + beside for value in rows["copies"]]
                interval(ax, at, rows, fmt="o-" if face != "white" else "o:", color=colors[size], markerfacecolor=face)
        ax.set_xticks(range(len(copies)), [str(value) for value in copies])
        ax.set_title(f"{kind} non-zero coefficients")
    name_axes(figure, "features in a group", "gain of (i) over (ii)")
    grids = [Line2D([], [], color="0.3", marker="o", linestyle="-", label="whole grid"),
             Line2D([], [], color="0.3", marker="o", linestyle=":", markerfacecolor="white",
                    label="without the corner")]
    legend(figure, [], [*(Line2D([], [], color=colors[size], marker="o", label=f"{size} rows") for size in sizes),
                        *grids])
    return figure


def _over_best(scores, cases):
    """Comparisons of the fused elastic net with the best single-task model of each cell, of some cases."""
    rows = scores[scores["case"].isin(list(cases))]
    if rows.empty or not _has_single_task(rows):
        return pd.DataFrame(columns=["case", "size", "gain", "p_holm"])
    # The correction is over all comparisons of the study, as for the verdicts.
    table = Evidence(scores).against_best.reset_index()
    return table[table["case"].isin(list(cases))]
