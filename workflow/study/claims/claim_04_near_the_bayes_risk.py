"""Claim 4: where single-task models come near the Bayes risk."""

import pandas as pd
from matplotlib.lines import Line2D

from study.claims.claim import NEEDS_BOTH, Claim, Verdict, grade, significance
from study.evidence import Evidence
from study.figures import Figure
from study.figures.style import AGREES, DIFFERS, YELLOW, legend, name_axes, plain_logarithms, subplots, title
from study.paired import FUSED

__all__ = ["CLAIM", "NEAR_RISK"]

#: Cells (case, size) where single-task models come near the Bayes risk, as the paper says.
NEAR_RISK = [("g", 400), ("h", 400)]
NEAR_BAYES = 0.02


def judge(evidence):
    risk = evidence.scores.groupby(["case", "size"])["bayes_risk"].mean()
    means, gain = evidence.errors.groupby(["case", "size"]).mean(), evidence.mean_over_best
    excess = {cell: means.loc[cell, evidence.best[cell]] - risk[cell] for cell in NEAR_RISK}
    fewer = {case: gain.loc[case].drop(size).max() for case, size in NEAR_RISK}
    faded = [bool(gain.loc[case, size] <= fewer[case] / 2) for case, size in NEAR_RISK]
    held = sum(value <= NEAR_BAYES for value in excess.values()) + sum(faded)
    numbers = "; ".join(
        f"{case}: best single-task model {excess[case, size]:.4f} above the Bayes risk "
        f"({excess[case, size] / risk[case, size]:.0%} of it), gain of fusion {gain.loc[case, size]:.4f} at {size} "
        f"rows, at most {fewer[case]:.4f} with fewer"
        for case, size in NEAR_RISK)
    return Verdict(grade(held == 2 * len(NEAR_RISK), held >= 2), numbers,
                   significance(evidence.against_best.loc[NEAR_RISK]))


def tabulate(scores):
    """Mean test errors of (i) and of the best single-task model and the Bayes risk, in cases g and h."""
    evidence = Evidence(scores[scores["case"].isin([case for case, _ in NEAR_RISK])])
    if not evidence.has_single_task:
        return pd.DataFrame()
    means = evidence.errors.groupby(["case", "size"]).mean()
    best = pd.Series({key: means.loc[key, model] for key, model in evidence.best.items()}).rename_axis(["case", "size"])
    risk = evidence.scores.groupby(["case", "size"])["bayes_risk"].mean()
    return pd.DataFrame({"fused_elastic_net": means[FUSED[0]], "best_single_task": best, "bayes_risk": risk,
                         "which": evidence.best}).reset_index()


def draw(table):
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
        plain_logarithms(ax.yaxis)
    name_axes(figure, "training rows", "mean test error")
    legend(figure, [], [Line2D([], [], color=color, label=label, marker=form.strip("-")) for color, form,
                        label in looks.values()])
    return figure


CLAIM = Claim(
    number=4,
    paper="Single-task models come near the Bayes risk in g and h with 400 rows, so that fusing helps little.",
    rule=f"In g and in h: the best single-task model is within {NEAR_BAYES:g} of the Bayes risk, and the gain at 400 "
         f"rows is at most half of the largest gain with fewer rows. Reproduced: all 4 conditions; partly: 2 or 3.",
    judge=judge,
    single_task=True,
    figure=Figure(("scores",), NEEDS_BOTH + " in cases g and h", (
        "Mean test error of the best single-task model and of (i), and the Bayes risk, on a logarithmic scale."),
        tabulate, draw),
)
