"""Claim 2: where the advantage of the fused models is significant."""

import numpy as np

from study.cases import CASES, PAPER
from study.claims.claim import GAIN, NEEDS_BOTH, Claim, Verdict, grade, listed, significance
from study.evidence import ALPHA, SIZES, Evidence
from study.figures import Figure
from study.figures.style import AGREES, YELLOW, interval, name_axes, subplots, title
from study.paired import FUSED, SINGLE_TASK, holm, signed_rank

__all__ = ["CLAIM", "HIGH_SIMILARITY", "MIDDLE"]

HIGH_SIMILARITY = tuple(case for case in PAPER if CASES[case].similar)
#: Sizes at which fusing helps most, as the paper says.
MIDDLE = (100, 200)


def judge(evidence):
    gains = evidence.gains
    gains = gains[(gains["model"] == FUSED[0]) & gains["other"].isin(SINGLE_TASK)
                  & gains["case"].isin(HIGH_SIMILARITY) & gains["size"].isin(MIDDLE)]
    better = (gains["gain"] > 0) & (gains["p_holm"] < ALPHA)
    cells = better.groupby([gains["case"], gains["size"]]).all()
    extra = evidence.over_best.loc[list(HIGH_SIMILARITY)].unstack("size")
    others = [size for size in SIZES if size not in MIDDLE]
    more = extra[list(MIDDLE)].mean(axis=1) - extra[others].mean(axis=1)
    p = dict(zip(HIGH_SIMILARITY, holm([signed_rank(more.loc[case]) for case in HIGH_SIMILARITY])))
    peaked = [case for case in HIGH_SIMILARITY if more.loc[case].mean() > 0 and p[case] < ALPHA]
    complete = cells.all() and len(peaked) == len(HIGH_SIMILARITY)
    numbers = (f"better than every single-task model in {cells.sum()} of {len(cells)} cells at 100 and 200 rows; "
               f"gain significantly larger there than at other sizes in cases {listed(peaked)}. Gain over the best "
               "single-task model (with its paired t) by size: " + "; ".join(
                   f"{case}: " + ", ".join(_with_t(extra.loc[case, size], size) for size in SIZES)
                   for case in HIGH_SIMILARITY))
    signs = ", ".join(f"{case} {more.loc[case].mean():+.4f} (p {p[case]:.2g})" for case in HIGH_SIMILARITY)
    return Verdict(grade(complete, cells.sum() > len(cells) / 2), numbers,
                   f"{significance(gains)}; gain at 100-200 rows minus that at the other sizes: {signs}")


def _with_t(gain, size):
    """Mean of a gain over instances at one size, and its paired t."""
    spread = gain.std(ddof=1) / np.sqrt(len(gain))
    return f"{size}: {gain.mean():.4f} ({gain.mean() / spread if spread > 0 else np.nan:.1f})"


def tabulate(scores):
    """Gain over the best single-task model of the cell in the cases of high similarity."""
    return Evidence(scores).against_best_in(HIGH_SIMILARITY)


def draw(table):
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


CLAIM = Claim(
    number=2,
    paper="The advantage is significant with high similarity (b, d, f, h), particularly with 100 to 200 rows.",
    rule="A cell holds if the fused elastic net is significantly better than each single-task model; a case is peaked "
         "if the gain over the best of them is significantly larger at 100-200 rows than at the other sizes. "
         "Reproduced: all 8 cells and 4 cases; partly: more than half of the cells.",
    judge=judge,
    single_task=True,
    figure=Figure(("scores",), NEEDS_BOTH + " in the cases of high similarity", (
        "Gain of (i) over the best single-task model of each size. Shaded: where the paper says that it is most "
        "significant. " + GAIN), tabulate, draw),
)
