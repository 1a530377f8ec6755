"""Claim 5: the fused elastic net is only slightly better than the fused L1 model."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from study.cases import CASES
from study.claims.claim import Claim, Verdict, Words, p_by_case, told_by_case
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import AGREES, YELLOW, interval, legend, subplots
from study.models import as_read
from study.paired import FUSED, interval_of, wide

__all__ = ["CLAIM", "detectable"]

SLIGHT_GAIN = 0.01


def judge(evidence):
    cases, mean, p = evidence.scores.cases, evidence.l2_gain.mean(axis=-1), p_by_case(evidence.l2_gain)
    slight = (np.abs(mean) <= SLIGHT_GAIN).all(axis=1) & (mean.mean(axis=1) >= 0)
    two_largest = np.sort(np.argsort(mean, axis=1)[:, -2:], axis=1)
    led = (two_largest == np.sort(evidence.scores.places("bf"))).all(axis=1)

    def words():
        return Words(detectable(mean, p), "mean gain of (i) over (ii): " + ", ".join(
            f"{case} {value:+.4f}" for case, value in zip(cases, mean[0])), told_by_case(cases, p))

    return Verdict(slight & led, slight | led, words)


def detectable(mean: np.ndarray, p: np.ndarray) -> str:
    """In how many cases the gain of (i) over (ii) is significant, and how large it is at most, in words."""
    return (f"(i) over (ii) significant in {(p[0] < ALPHA).sum()} of {p.shape[1]} cases, "
            f"by at most {np.abs(mean[0]).max():.4f}")


def tabulate(scores, readings):
    """Gain of (i) over (ii) by case, mean over sizes, on the whole grid and off its corner."""
    rows = []
    for grid, read in (("whole grid", scores), ("without the corner", as_read(scores, readings, "off_corner"))):
        if set(FUSED) <= set(read["model"]):
            errors = wide(read, "test_error")
            gain = (errors[FUSED[1]] - errors[FUSED[0]]).groupby(["case", "instance"]).mean()
            rows += [{"grid": grid, "case": case, **interval_of(values.to_numpy())}
                     for case, values in gain.groupby("case")]
    return pd.DataFrame(rows)


def draw(table):
    cases = list(table["case"].unique())
    figure, axes = subplots(1, 1, (max(0.75 * len(cases) + 1, 4), 2.6), top=0.3)
    ax = axes[0, 0]
    ax.axhspan(-SLIGHT_GAIN, SLIGHT_GAIN, color=YELLOW, alpha=0.2, linewidth=0)
    ax.axhline(0, color="0.4", linewidth=0.8)
    looks = {"whole grid": {"color": AGREES, "markerfacecolor": AGREES},
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


CLAIM = Claim(
    number=5,
    paper="The fused elastic net is only slightly better than the fused L1 model, mainly in b and f.",
    rule=f"Slight: the mean gain is not negative over all and at most {SLIGHT_GAIN:g} in absolute value in every case. "
         f"Mainly: b and f have the two largest gains. Reproduced: both; partly: one.",
    judge=judge,
    figure=Figure(("scores", "readings"), "both fused models", (
        "Gain of (i) over (ii), mean over sizes; shaded: what the rule calls slight. Hollow: without the fits that use "
        "neither l1 nor l2. Bars are 95 % t-intervals over instances."), tabulate, draw),
)
