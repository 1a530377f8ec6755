"""Claim 12: the ridge pays off in larger groups of correlated features."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from scipy import stats

from study.cases import GROUPS
from study.claims.claim import AFTERWARDS, Claim, Verdict, Words
from study.claims.claim_06_low_l2 import VERY_LOW_L2
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import interval, legend, name_axes, subplots
from study.models import as_read
from study.paired import FUSED, holm, interval_of, signed_rank, wide

__all__ = ["CLAIM"]


def judge(evidence):
    gains = {case: _gain(evidence.groups, case) for case in GROUPS}
    kinds = {kind: [case for case in GROUPS if GROUPS[case].groups == kind]
             for kind in sorted({case.groups for case in GROUPS.values()})}
    ends = [(gains[cases[-1]], gains[cases[0]]) for cases in kinds.values()]
    p = holm(np.stack([stats.mannwhitneyu(most, fewest, axis=-1, method="asymptotic").pvalue
                       for most, fewest in ends], axis=1))
    grown = np.stack([most.mean(axis=-1) > fewest.mean(axis=-1) for most, fewest in ends], axis=1) & (p < ALPHA)

    def words():
        brief = "; ".join(f"{kind} groups: " + " / ".join(f"{gains[case][0].mean():+.4f}" for case in cases)
                          for kind, cases in kinds.items())
        return Words(f"gain with 2 / 5 / 10 features, {brief}", "gain of (i) over (ii) by group size: " + "; ".join(
            f"{kind} groups: " + ", ".join(_told(evidence.groups, case, gains[case]) for case in cases)
            for kind, cases in kinds.items()),
            f"groups of 10 against 2, rank-sum test, Holm over {len(kinds)}: "
            + ", ".join(f"{kind} groups p {chance:.2g}" for kind, chance in zip(kinds, p[0])))

    return Verdict(grown.all(axis=1), grown.any(axis=1), words)


def _gain(cube, case):
    """Gain of (i) over (ii), mean over sizes, (resamples, instances)."""
    second, first = (cube.of("test_error", model)[:, cube.cases.index(case)] for model in FUSED[::-1])
    return (second - first).mean(axis=1)


def _told(cube, case, gain):
    low = (cube.of("l2", FUSED[0])[0, cube.cases.index(case)] <= VERY_LOW_L2).mean()
    risk = cube.of("bayes_risk", FUSED[0])[0, cube.cases.index(case)].mean()
    return (f"{GROUPS[case].copies} features {gain[0].mean():+.4f} (p {signed_rank(gain[0]):.2g}, l2 <= "
            f"{VERY_LOW_L2:g} in {low:.0%}, Bayes risk {risk:.3f})")


def tabulate(groups):
    """Gain of (i) over (ii) by number of groups, group size and training rows, on the whole grid and off its corner."""
    rows, groups = [], groups[groups["case"].isin(GROUPS)]
    for grid, read in (("whole grid", groups), ("without the corner", as_read(groups, groups, "off_corner"))):
        if set(FUSED) <= set(read["model"]):
            errors = wide(read[read["model"].isin(FUSED)], "test_error")
            for (case, size), cell in errors.groupby(["case", "size"]):
                gain = (cell[FUSED[1]] - cell[FUSED[0]]).to_numpy()
                rows.append({"grid": grid, "groups": GROUPS[case].groups, "copies": GROUPS[case].copies,
                             "size": size, **interval_of(gain)})
    return pd.DataFrame(rows)


def draw(table):
    kinds, sizes = sorted(table["groups"].unique()), sorted(table["size"].unique())
    copies = sorted(table["copies"].unique())
    figure, axes = subplots(1, len(kinds), (3.3 * len(kinds), 2.8), {"wspace": 0.08}, sharey=True)
    colors = dict(zip(sizes, ["#56B4E9", "#0072B2", "#CC79A7", "#D55E00"]))
    for ax, kind in zip(axes.flat, kinds):
        ax.axhline(0, color="0.4", linewidth=0.8)
        for shift, size in zip(np.linspace(-0.2, 0.2, len(sizes)), sizes):
            for beside, (grid, face) in zip((-0.04, 0.04), (("whole grid", colors[size]),
                                                            ("without the corner", "white"))):
                rows = table[(table["groups"] == kind) & (table["size"] == size)
                             & (table["grid"] == grid)].sort_values("copies")
                at = [copies.index(value) + shift + beside for value in rows["copies"]]
                interval(ax, at, rows, fmt="o-" if face != "white" else "o:", color=colors[size], markerfacecolor=face)
        ax.set_xticks(range(len(copies)), [str(value) for value in copies])
        ax.set_title(f"{kind} groups that matter")
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
    rule="Experiment with groups of 2, 5 and 10 correlated features of the same joint signal, with 4 and with 8 groups "
         "that matter, so that neither their number nor the Bayes risk changes with their size: the gain of (i) over "
         "(ii) is significantly larger with groups of 10 than with groups of 2. Reproduced: with 4 and with 8; partly: "
         "with one of them.",
    judge=judge,
    needs="groups",
    written=AFTERWARDS,
    figure=Figure(("groups",), "the experiment on groups, no part of a preview", (
        "Gain of (i) over (ii) by the number of correlated features in a group, whose coefficients always add up to "
        "the same. Hollow: without the fits that use neither l1 nor l2. Bars are 95 % t-intervals over "
        "instances."), tabulate, draw),
)
