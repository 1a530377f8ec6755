"""Claim 12: the ridge pays off in larger groups of correlated features."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from scipy import stats

from study.cases import GROUPS
from study.claims.claim import Claim, Verdict, grade
from study.claims.claim_06_low_l2 import VERY_LOW_L2
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import interval, legend, name_axes, subplots
from study.models import as_read
from study.paired import FUSED, holm, interval_of, signed_rank, wide

__all__ = ["CLAIM"]


def judge(evidence):
    groups = evidence.groups
    gain = _gain_by_group_size(groups)
    kinds, copies = list(gain.index.unique("kind")), gain.index.unique("copies")
    fewest, most = copies.min(), copies.max()
    tests = [stats.mannwhitneyu(gain[kind, most], gain[kind, fewest], method="asymptotic").pvalue for kind in kinds]
    p = dict(zip(kinds, holm(tests)))
    mean = gain.groupby(["kind", "copies"]).mean()
    grown = [kind for kind in kinds if mean[kind, most] > mean[kind, fewest] and p[kind] < ALPHA]
    each = gain.groupby(["kind", "copies"]).apply(signed_rank)
    low = groups[groups["model"] == FUSED[0]]
    low = (low["l2"] <= VERY_LOW_L2).groupby(low["case"]).mean()
    numbers = "gain of (i) over (ii) by group size: " + "; ".join(f"{kind}: " + ", ".join(
        f"{copies} features {value:+.4f} (p {each[kind, copies]:.2g}, l2 <= {VERY_LOW_L2:g} in "
        f"{low[f'{kind}{copies}']:.0%})"
        for copies, value in mean[kind].items()) for kind in kinds)
    return Verdict(grade(len(grown) == len(kinds), bool(grown)), numbers, (
        f"groups of {most} against {fewest}, rank-sum test, Holm over {len(kinds)}: "
        + ", ".join(f"{kind} p {p[kind]:.2g}" for kind in kinds)))


def _gain_by_group_size(groups):
    """Gain of (i) over (ii), mean over sizes, by kind of case ("sparse", "dense"), copies and instance."""
    errors = wide(groups, "test_error")
    gain = (errors[FUSED[1]] - errors[FUSED[0]]).groupby(["case", "instance"]).mean()
    kinds = gain.index.get_level_values("case").str.rstrip("0123456789")
    copies = [GROUPS[case].copies for case in gain.index.get_level_values("case")]
    places = [kinds, copies, gain.index.get_level_values("instance")]
    return gain.set_axis(pd.MultiIndex.from_arrays(places, names=["kind", "copies", "instance"])).sort_index()


def tabulate(groups):
    """Gain of (i) over (ii) by non-zeros, group size and training rows, on the whole grid and off its corner."""
    rows = []
    for grid, read in (("whole grid", groups), ("without the corner", as_read(groups, groups, "off_corner"))):
        if set(FUSED) <= set(read["model"]):
            errors = wide(read[read["model"].isin(FUSED)], "test_error")
            for (case, size), cell in errors.groupby(["case", "size"]):
                gain = (cell[FUSED[1]] - cell[FUSED[0]]).to_numpy()
                rows.append({"grid": grid, "nonzeros": GROUPS[case].nonzeros, "copies": GROUPS[case].copies,
                             "size": size, **interval_of(gain)})
    return pd.DataFrame(rows)


def draw(table):
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


CLAIM = Claim(
    number=12,
    paper="The elastic net variant will turn out better if sets of correlated features have more than two members.",
    rule="Experiment with groups of 2, 5 and 10 correlated features of the same joint signal, with 20 and with 60 "
         "non-zero coefficients: the gain of (i) over (ii) is significantly larger with groups of 10 than with groups "
         "of 2. Reproduced: with 20 and with 60; partly: with one of them.",
    judge=judge,
    needs="groups",
    added=True,
    figure=Figure(("groups",), "the experiment on groups, no part of a preview", (
        "Gain of (i) over (ii) by the number of correlated features in a group, whose coefficients always add up to "
        "the same. Hollow: without the fits that use neither l1 nor l2. Bars are 95 % t-intervals over "
        "instances."), tabulate, draw),
)
