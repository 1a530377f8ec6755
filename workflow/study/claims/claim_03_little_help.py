"""Claim 3: where fusing helps little."""

import numpy as np
from matplotlib.lines import Line2D

from study.claims.claim import CHANGED, GAIN, NEEDS_BOTH, Claim, Verdict, Words, exceptions, significance
from study.claims.claim_02_peak_in_the_middle import HIGH_SIMILARITY, MIDDLE
from study.evidence import ALPHA, SIZES, against_best
from study.figures import Figure
from study.figures.style import AGREES, DIFFERS, interval, legend, name_axes, subplots
from study.paired import FUSED

__all__ = ["CLAIM", "LITTLE_HELP"]

#: Cells (case, size) where fusing helps less or not at all, as the paper says.
LITTLE_HELP = [(case, size) for case in "aeg" for size in SIZES] + [(case, size) for case in "bcf" for size in (25, 50)]
AGREEING_SHARE = 0.9


def judge(evidence):
    found = {model: _cells(evidence, model) for model in FUSED}
    least = np.min([agrees.mean(axis=1) for *_, agrees in found.values()], axis=0)

    def words():
        told = []
        for label, (gain, _, half, agrees) in zip(("(i)", "(ii)"), found.values()):
            told.append(f"{label}: {agrees[0].sum()} of {agrees[0].size} cells agree; mean gain there "
                        f"{gain[0].mean():.4f}, against {2 * half[0]:.4f} in b, d, f, h at 100 and 200 rows; "
                        f"{exceptions(LITTLE_HELP, agrees[0])}")
        within = evidence.against_best()[0][0, evidence.scores.cases.index("c")]
        late = ": largest where the paper says least" if within[:2].max() > within[2:].max() else ""
        by_size = ", ".join(f"{size}: {value:+.4f}" for size, value in zip(SIZES, within))
        brief = ", ".join(f"{label} in {agrees[0].sum()} of {agrees[0].size} cells"
                          for label, (*_, agrees) in zip(("(i)", "(ii)"), found.values()))
        return Words(brief, f"{'. '.join(told)}. Within c the gain of (i) by size is {by_size}{late}",
                     f"(i): {significance(*found[FUSED[0]][:2])}")

    return Verdict(least >= AGREEING_SHARE, least >= 0.5, words)


def _cells(evidence, model):
    """Gains of a fused model in the named cells, p-values, half of the reference gain, and whether they agree."""
    gain, p = evidence.against_best(model)
    named = evidence.scores.cells(LITTLE_HELP)
    reference = evidence.scores.cells((case, size) for case in HIGH_SIMILARITY for size in MIDDLE)
    half = gain[reference].mean(axis=1) / 2
    gain, p = gain[named], p[named]
    return gain, p, half, ~((gain > 0) & (p < ALPHA)) | (gain < half[:, None])


def tabulate(scores):
    """Gains in the cells where the paper says that fusing helps little, and half of the reference gain."""
    cells = against_best(scores)
    high = cells[cells["case"].isin(HIGH_SIMILARITY) & cells["size"].isin(MIDDLE)]
    named = np.array([key in LITTLE_HELP for key in zip(cells["case"], cells["size"])], dtype=bool)
    cells = cells[named].assign(half_of_reference=high["gain"].mean() / 2)
    helps = (cells["gain"] > 0) & (cells["p_holm"] < ALPHA)
    return cells.assign(agrees=~helps | (cells["gain"] < cells["half_of_reference"]))


def draw(table):
    figure, axes = subplots(1, 1, (max(0.33 * len(table) + 1, 4), 2.6), top=0.3)
    ax = axes[0, 0]
    for agrees, color in ((True, AGREES), (False, DIFFERS)):
        rows = table[table["agrees"] == agrees]
        interval(ax, np.flatnonzero(table["agrees"] == agrees), rows, fmt="o", color=color)
    ax.axhline(0, color="0.4", linewidth=0.8)
    ax.axhline(table["half_of_reference"].iloc[0], color="0.2", linewidth=1, linestyle="--")
    ax.set_xticks(range(len(table)), [f"{case}\n{size}" for case, size in zip(table["case"], table["size"])])
    ax.grid(False, axis="x")
    name_axes(figure, "case and training rows", "gain over the best of (iii)-(v)")
    dots = [Line2D([], [], color=color, marker="o", linestyle="none", label=label)
            for label, color in (("agrees", AGREES), ("differs", DIFFERS))]
    legend(figure, [], [*dots, Line2D([], [], color="0.2", linestyle="--", label="half of the gain in b, d, f, h at "
                                      "100-200")])
    return figure


CLAIM = Claim(
    number=3,
    paper="Fusing helps less or not at all in a, e and g, and in b, c and f with at most 50 rows.",
    rule="A cell agrees if the gain over the best single-task model is not significant, or is less than half of the "
         "mean gain in b, d, f, h at 100 and 200 rows. Reproduced: 90 % of the 21 cells for both fused models (at "
         "first for (i) alone); partly: half.",
    judge=judge,
    written=CHANGED,
    single_task=True,
    figure=Figure(("scores",), NEEDS_BOTH + " in the cells that the claim names", (
        "Gain of (i) over the best single-task model in the cells where the paper says that fusing helps less or not "
        "at all. " + GAIN), tabulate, draw),
)
