"""Claim 2: where the advantage of the fused models is significant."""

import numpy as np

from study.cases import CASES, PAPER
from study.claims.claim import GAIN, NEEDS_BOTH, Claim, Verdict, Words, listed, p_by_case, significance
from study.evidence import ALPHA, SIZES, against_best
from study.figures import Figure
from study.figures.style import AGREES, YELLOW, interval, name_axes, subplots, title
from study.paired import FUSED

__all__ = ["CLAIM", "HIGH_SIMILARITY", "MIDDLE"]

HIGH_SIMILARITY = tuple(case for case in PAPER if CASES[case].similar)
#: Sizes at which fusing helps most, as the paper says.
MIDDLE = (100, 200)


def judge(evidence):
    cube, middle = evidence.scores, [SIZES.index(size) for size in MIDDLE]
    named, others = cube.places(HIGH_SIMILARITY), [i for i in range(len(SIZES)) if i not in middle]
    gain, p = (values[:, named][:, :, middle] for values in evidence.gains(FUSED[0]))
    cells = ((gain > 0) & (p < ALPHA)).all(axis=-1)
    extra = evidence.over_best()[:, named]
    more = extra[:, :, middle].mean(axis=2) - extra[:, :, others].mean(axis=2)
    p_more = p_by_case(more)
    peaked = (more.mean(axis=-1) > 0) & (p_more < ALPHA)

    def words():
        brief = (f"better in {cells[0].sum()} of {cells[0].size} cells at 100 and 200 rows; gain largest there in "
                 f"{listed(case for case, is_so in zip(HIGH_SIMILARITY, peaked[0]) if is_so)}")
        by_size = "; ".join(f"{case}: " + ", ".join(map(_with_t, rows, SIZES))
                            for case, rows in zip(HIGH_SIMILARITY, extra[0]))
        signs = ", ".join(f"{case} {value.mean():+.4f} (p {chance:.2g})"
                          for case, value, chance in zip(HIGH_SIMILARITY, more[0], p_more[0]))
        return Words(brief, f"{brief}, significantly so. Gain over the best single-task model (with its paired t) by "
                     f"size: {by_size}",
                     f"{significance(gain, p)}; gain at 100-200 rows minus that at the other sizes: {signs}")

    count = cells.sum(axis=(1, 2))
    return Verdict((count == cells[0].size) & peaked.all(axis=1), count > cells[0].size / 2, words)


def _with_t(gain, size):
    """Mean of a gain over instances at one size, and its paired t."""
    spread = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0
    return f"{size}: {gain.mean():.4f} ({gain.mean() / spread if spread > 0 else np.nan:.1f})"


def tabulate(scores):
    """Gain over the best single-task model of the cell in the cases of high similarity."""
    return against_best(scores, HIGH_SIMILARITY)


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
