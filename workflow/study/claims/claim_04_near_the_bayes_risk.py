"""Claim 4: where single-task models come near the Bayes risk."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from study.claims.claim import NEEDS_BOTH, Claim, Verdict, Words, significance
from study.evidence import best_single_task
from study.figures import Figure
from study.figures.style import AGREES, DIFFERS, YELLOW, legend, name_axes, plain_logarithms, subplots, title
from study.paired import FUSED, SINGLE_TASK, wide

__all__ = ["CLAIM", "NEAR_RISK"]

#: Cells (case, size) where single-task models come near the Bayes risk, as the paper says.
NEAR_RISK = [("g", 400), ("h", 400)]
NEAR_BAYES = 0.02


def judge(evidence):
    cells = evidence.scores.cells(NEAR_RISK)
    risk = evidence.scores.of("bayes_risk", FUSED[0]).mean(axis=-1)[cells]
    least = np.take_along_axis(evidence.means, evidence.best[..., None], axis=-1)[..., 0]
    excess, gain = least[cells] - risk, evidence.against_best()[0]
    fewer = gain[:, :, :-1].max(axis=2)[:, cells[1]]
    late = gain[cells]
    held = (excess <= NEAR_BAYES).sum(axis=1) + (late <= fewer / 2).sum(axis=1)

    def words():
        rows = list(zip(NEAR_RISK, excess[0], risk[0], late[0], fewer[0]))
        brief = "best single-task model above the Bayes risk by " + ", ".join(
            f"{over / bayes:.0%} of it in {case}" for (case, _), over, bayes, *_ in rows)
        return Words(brief, "; ".join(
            f"{case}: best single-task model {over:.4f} above the Bayes risk ({over / bayes:.0%} of it), gain of "
            f"fusion {gained:.4f} at {size} rows, at most {most:.4f} with fewer"
            for (case, size), over, bayes, gained, most in rows),
            significance(*(values[cells] for values in evidence.against_best())))

    return Verdict(held == 2 * len(NEAR_RISK), held >= 2, words)


def tabulate(scores):
    """Mean test errors of (i) and of the best single-task model and the Bayes risk, in cases g and h."""
    scores = scores[scores["case"].isin([case for case, _ in NEAR_RISK])]
    if FUSED[0] not in set(scores["model"]) or not set(SINGLE_TASK) & set(scores["model"]):
        return pd.DataFrame()
    means, which = wide(scores, "test_error").groupby(["case", "size"]).mean(), best_single_task(scores)
    best = pd.Series({key: means.loc[key, model] for key, model in which.items()}).rename_axis(["case", "size"])
    risk = scores.groupby(["case", "size"])["bayes_risk"].mean()
    return pd.DataFrame({"fused_elastic_net": means[FUSED[0]], "best_single_task": best, "bayes_risk": risk,
                         "which": which}).reset_index()


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
