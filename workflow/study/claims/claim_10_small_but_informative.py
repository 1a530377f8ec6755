"""Claim 10: fusing helps with small but informative data."""

import numpy as np
import pandas as pd

from study.claims.claim import AFTERWARDS, GAIN, NEEDS_BOTH, Claim, Verdict, Words
from study.evidence import ALPHA, SIZES, best_single_task
from study.figures import Figure
from study.figures.style import AGREES, interval, subplots
from study.paired import FUSED, SINGLE_TASK, holm, interval_of, signed_rank, wide

__all__ = ["CLAIM"]

#: Small but informative training sets, in the words of the paper's discussion, as read here.
INFORMATIVE = (50, 100, 200)


def judge(evidence):
    gain = evidence.over_best()
    middle = gain[:, :, [SIZES.index(size) for size in INFORMATIVE]].mean(axis=2)
    ends = (25, 400)
    more = np.stack([(middle - gain[:, :, SIZES.index(end)]).reshape(len(gain), -1) for end in ends], axis=1)
    p = holm(signed_rank(more))
    held = ((more.mean(axis=-1) > 0) & (p < ALPHA)).sum(axis=1)
    return Verdict(held == 2, held >= 1, lambda: _words(gain, ends, more, p))


def _words(gain, ends, more, p):
    means = gain[0].mean(axis=(0, 2))
    told = [f"50-200 rows against {end}: {value.mean():+.4f}, p {chance:.2g}"
            for end, value, chance in zip(ends, more[0], p[0])]
    return Words("gain at " + "; ".join(told), "mean gain over the best single-task model, all cases: " + ", ".join(
        f"{size} rows {value:+.4f}" for size, value in zip(SIZES, means)), "; ".join(told))


def tabulate(scores):
    """Gain over the best single-task model, mean over cases, by size."""
    if FUSED[0] not in set(scores["model"]) or not set(SINGLE_TASK) & set(scores["model"]):
        return pd.DataFrame()
    best = best_single_task(scores)
    gain = pd.concat([cell[best[key]] - cell[FUSED[0]]
                      for key, cell in wide(scores, "test_error").groupby(["case", "size"])])
    return pd.DataFrame([{"size": size, **interval_of(values.to_numpy())} for size, values in gain.groupby("size")])


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
    written=AFTERWARDS,
    figure=Figure(("scores",), NEEDS_BOTH, (
        "Gain of (i) over the best single-task model, mean over all cases. " + GAIN), tabulate, draw),
)
