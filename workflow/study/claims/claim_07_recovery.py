"""Claim 7: how well the true coefficients are recovered."""

import numpy as np
import pandas as pd

from study.cases import CASES, PAPER
from study.claims.claim import Claim, Verdict, exceptions, grade, significance
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED, compare_distances, wide

__all__ = ["CLAIM"]

#: Cells (case, size) where the elastic net is farther from the true zeros, as the paper says.
FARTHER_FROM_ZERO = [("f", 200), ("f", 400), ("g", 200), ("g", 400), ("h", 100), ("h", 200), ("h", 400)]
#: Medians closer than this share of the interquartile range nearly overlap.
OVERLAP = 0.5
OVERLAPPING_SHARE = 0.8


def judge(evidence):
    near = overlaps(evidence.scores)
    rows = compare_distances(evidence.scores).set_index(["case", "size"])
    significant = (rows["gain"] > 0) & (rows["p_holm"] < ALPHA)
    farther, unnamed = significant.loc[FARTHER_FROM_ZERO], significant.drop(FARTHER_FROM_ZERO)
    overlap = near.mean() >= OVERLAPPING_SHARE
    numbers = (f"(i) and (ii) nearly overlap in {near.sum()} of {len(near)} comparisons of g and h; elastic net "
               f"farther from the true zeros in {farther.sum()} of {len(farther)} named cells; {exceptions(farther)}. "
               f"Of the {significant.sum()} significant cells {unnamed.sum()} are not among those that the paper names")
    return Verdict(grade(overlap and farther.all(), overlap or farther.mean() > 0.5), numbers, significance(rows))


def overlaps(scores):
    """Whether (i) and (ii) nearly overlap, by sparse correlated case, size and kind of distance."""
    rows = scores[scores["case"].isin([case for case in PAPER if CASES[case].correlated and CASES[case].sparse])]
    found = {}
    for kind in ("distance_zero", "distance_nonzero"):
        for key, cell in wide(rows, kind).groupby(["case", "size"]):
            low, middle, high = np.quantile(cell[FUSED[1]], [0.25, 0.5, 0.75])
            apart = abs(cell[FUSED[0]].median() - middle)
            found[(*key, kind)] = apart <= OVERLAP * (high - low)
    return pd.Series(found)


def tabulate(scores):
    """How much farther the elastic net is from the true zeros than (i), in thousandths, by correlated case and size."""
    if not {FUSED[0], "elastic_net"} <= set(scores["model"]):
        return pd.DataFrame()
    rows = compare_distances(scores)
    return rows.assign(thousandths=1000 * rows["gain"])


def draw(table):
    label = "distance over true zeros,\n(iii) minus (i), in 1/1000"
    return matrix(table, "thousandths", "+.2f", FARTHER_FROM_ZERO, label)


CLAIM = Claim(
    number=7,
    paper="Parameter recovery: (i) and (ii) nearly overlap in the sparse correlated cases; the elastic net is farther "
          "from the true zeros, particularly in f and g with at least 200 rows and h with at least 100.",
    rule=f"Overlap: medians of (i) and (ii) differ by at most {OVERLAP:g} interquartile ranges in 80 % of the "
         f"comparisons (g, h; every size; both distances). Farther: significantly so in each of the 7 named cells. "
         f"Reproduced: both; partly: overlap, or more than half of the cells.",
    judge=judge,
    needs="distances",
    figure=Figure(("scores",), "the fused elastic net and the elastic net in the correlated cases", (
        "How much farther from the true zeros the elastic net is than (i). Framed: the cells that the paper names. A "
        "star: significant (Holm)."), tabulate, draw),
)
