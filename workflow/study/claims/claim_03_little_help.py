"""Claim 3: where fusing helps little."""

import numpy as np
from matplotlib.lines import Line2D

from study.cases import PAPER
from study.claims.claim import GAIN, NEEDS_BOTH, Claim, Verdict, exceptions, grade, significance
from study.claims.claim_02_peak_in_the_middle import HIGH_SIMILARITY, MIDDLE
from study.evidence import ALPHA, SIZES, Evidence
from study.figures import Figure
from study.figures.style import AGREES, DIFFERS, interval, legend, name_axes, subplots

__all__ = ["CLAIM", "LITTLE_HELP"]

#: Cells (case, size) where fusing helps less or not at all, as the paper says.
LITTLE_HELP = [(case, size) for case in "aeg" for size in SIZES] + [(case, size) for case in "bcf" for size in (25, 50)]
AGREEING_SHARE = 0.9


def judge(evidence):
    gain = evidence.mean_over_best
    reference = gain.loc[list(HIGH_SIMILARITY), list(MIDDLE)].to_numpy().mean()
    gains = evidence.against_best.loc[LITTLE_HELP]
    agrees = _agrees(gains, reference / 2)
    share = agrees.mean()
    least, rest = gain.loc["c", [25, 50]], gain.loc["c", [100, 200, 400]]
    numbers = (f"{agrees.sum()} of {len(agrees)} cells agree; mean gain there {gains['gain'].mean():.4f}, "
               f"against {reference:.4f} in b, d, f, h at 100 and 200 rows; {exceptions(agrees)}. Within c the gain "
               f"by size is "
               + ", ".join(f"{size}: {value:+.4f}" for size, value in gain.loc["c"].items())
               + (": largest where the paper says least" if least.max() > rest.max() else ""))
    return Verdict(grade(share >= AGREEING_SHARE, share >= 0.5), numbers, significance(gains))


def _agrees(cells, half):
    """Whether the gain of a cell is not significant, or below half of the reference gain."""
    helps = (cells["gain"] > 0) & (cells["p_holm"] < ALPHA)
    return ~helps | (cells["gain"] < half)


def tabulate(scores):
    """Gains in the cells where the paper says that fusing helps little, and half of the reference gain."""
    cells = Evidence(scores).against_best_in(PAPER)
    high = cells[cells["case"].isin(HIGH_SIMILARITY) & cells["size"].isin(MIDDLE)]
    named = np.array([key in LITTLE_HELP for key in zip(cells["case"], cells["size"])], dtype=bool)
    cells = cells[named].assign(half_of_reference=high["gain"].mean() / 2)
    return cells.assign(agrees=_agrees(cells, cells["half_of_reference"]))


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
         "mean gain in b, d, f, h at 100 and 200 rows. Reproduced: 90 % of the 21 cells; partly: half.",
    judge=judge,
    single_task=True,
    figure=Figure(("scores",), NEEDS_BOTH + " in the cells that the claim names", (
        "Gain of (i) over the best single-task model in the cells where the paper says that fusing helps less or not "
        "at all. " + GAIN), tabulate, draw),
)
