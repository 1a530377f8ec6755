"""Claim 10: fusing helps with small but informative data."""

import pandas as pd

from study.claims.claim import GAIN, NEEDS_BOTH, Claim, Verdict, grade
from study.evidence import ALPHA, SIZES, Evidence
from study.figures import Figure
from study.figures.style import AGREES, interval, subplots
from study.paired import holm, interval_of, signed_rank

__all__ = ["CLAIM"]

#: Small but informative training sets, in the words of the paper's discussion, as read here.
INFORMATIVE = (50, 100, 200)


def judge(evidence):
    gain = evidence.over_best.unstack("size")
    more = {end: gain[list(INFORMATIVE)].mean(axis=1) - gain[end] for end in (25, 400)}
    p = dict(zip(more, holm([signed_rank(values) for values in more.values()])))
    held = [end for end in more if more[end].mean() > 0 and p[end] < ALPHA]
    numbers = "mean gain over the best single-task model, all cases: " + ", ".join(
        f"{size} rows {gain[size].mean():+.4f}" for size in SIZES)
    return Verdict(grade(len(held) == 2, bool(held)), numbers, "; ".join(
        f"50-200 rows against {end}: {more[end].mean():+.4f}, p {p[end]:.2g}" for end in more))


def tabulate(scores):
    """Gain over the best single-task model, mean over cases, by size."""
    evidence = Evidence(scores)
    if not evidence.has_single_task:
        return pd.DataFrame()
    return pd.DataFrame([{"size": size, **interval_of(values.to_numpy())}
                         for size, values in evidence.over_best.groupby("size")])


def draw(table):
    figure, axes = subplots(1, 1, (3.8, 2.6))
    ax = axes[0, 0]
    interval(ax, range(len(table)), table, fmt="o-", color=AGREES)
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.set_xticks(range(len(table)), [str(size) for size in table["size"]])
    ax.set(xlabel="training rows", ylabel="gain over the best of (iii)-(v)")
    return figure


CLAIM = Claim(
    number=10,
    paper="Learning performance is enhanced if a small but yet informative amount of data is available.",
    rule="Over all cases, the gain of (i) over the best single-task model is significantly larger with 50 to 200 rows "
         "than with 25 (small, not informative) and than with 400 (informative, not small). Reproduced: both; partly: "
         "one.",
    judge=judge,
    added=True,
    figure=Figure(("scores",), NEEDS_BOTH, (
        "Gain of (i) over the best single-task model, mean over all cases. " + GAIN), tabulate, draw),
)
