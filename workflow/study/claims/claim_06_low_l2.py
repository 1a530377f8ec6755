"""Claim 6: the tuned l2 is mostly very low."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from scipy import stats

from study.cases import CASES
from study.claims.claim import Claim, Verdict, grade
from study.figures import Figure
from study.figures.style import subplots
from study.models import L2
from study.paired import FUSED

__all__ = ["CLAIM", "VERY_LOW_L2", "tie_breaks"]

VERY_LOW_L2 = 0.1
#: Colours of Okabe and Ito for correlated and for similar cases; sparse cases are drawn with dashes.
COLORS = {(False, False): "#0072B2", (False, True): "#D55E00", (True, False): "#56B4E9", (True, True): "#CC79A7"}


def tie_breaks(scores: pd.DataFrame) -> dict[str, float]:
    """Share of fused elastic nets with a very low l2, by how ties of the validation error are broken."""
    rows = scores[scores["model"] == FUSED[0]]
    columns = {"log-loss, then larger penalties": "l2", "smallest l2": "l2_smallest_tied",
               "largest l2": "l2_largest_tied"}
    return {name: float((rows[column] <= VERY_LOW_L2).mean()) for name, column in columns.items()}


def judge(evidence):
    shares = tie_breaks(evidence.scores)
    majority = [share > 0.5 for share in shares.values()]
    rows = evidence.scores[evidence.scores["model"] == FUSED[0]]
    usual = rows.groupby(["case", "instance"])["l2"].median() <= VERY_LOW_L2
    p = stats.binomtest(int(usual.sum()), len(usual)).pvalue
    gain = evidence.l2_gain.groupby("case")
    cost = gain.mean() / (gain.std(ddof=1) / np.sqrt(gain.size()))
    low = (rows["l2"] <= VERY_LOW_L2).groupby(rows["case"]).mean()
    numbers = (f"share of fits with l2 <= {VERY_LOW_L2:g}: " + ", ".join(
        f"{share:.0%} (ties: {name})" for name, share in shares.items())
        + "; cumulative: " + ", ".join(f"{(rows['l2'] <= value).mean():.0%} <= {value:g}" for value in L2)
        + f"; l2 <= {VERY_LOW_L2:g} by case: " + ", ".join(f"{case} {share:.0%}" for case, share in low.items())
        + ". Doing without l2 costs, in standard errors: " + ", ".join(f"{case} {value:.1f}"
                                                                       for case, value in cost.items()))
    return Verdict(grade(all(majority), any(majority)), numbers,
                   f"median l2 over sizes is that low in {usual.sum()} of {len(usual)} instances, sign test p {p:.2g}")


def tabulate(scores):
    """Cumulative share of chosen l2, by case."""
    rows = scores[scores["model"] == FUSED[0]]
    return pd.DataFrame([{"case": case, "l2": value, "share": (cell["l2"] <= value).mean()}
                         for case, cell in rows.groupby("case") for value in L2])


def draw(table):
    figure, axes = subplots(1, 1, (5.2, 3.0))
    ax = axes[0, 0]
    handles = []
    for name, rows in table.groupby("case"):
        case = CASES[name]
        look = {"color": COLORS[case.correlated, case.similar], "linestyle": "--" if case.sparse else "-"}
        ax.plot(range(len(rows)), rows["share"], marker=".", **look)
        handles.append(Line2D([], [], label=f"{name} {case.title}", **look))
    ax.axhline(0.5, color="0.3", linewidth=0.8)
    ax.axvline(L2.index(VERY_LOW_L2), color="0.3", linewidth=0.8)
    ax.set_xticks(range(len(L2)), [f"{value:g}" for value in L2])
    ax.set(xlabel="l2", ylabel="share of fits with at most this l2", ylim=(0, 1.02))
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


CLAIM = Claim(
    number=6,
    paper="For the majority of instances the tuned lambda2 is very low or zero.",
    rule=f"More than half of the chosen l2 are at most {VERY_LOW_L2:g}. Reproduced: whichever way ties of the "
         f"validation error are broken; partly: for some ways.",
    judge=judge,
    figure=Figure(("scores",), "the fused elastic net", (
        "Share of the fused elastic nets of a case whose chosen l2 is at most the value below. The lines at 0.1 and "
        "one half are the rule's. Dashed: sparse cases."), tabulate, draw),
)
