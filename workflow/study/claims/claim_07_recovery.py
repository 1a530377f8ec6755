"""Claim 7: how well the true coefficients are recovered."""

import numpy as np
import pandas as pd

from study.cases import CASES, PAPER
from study.claims.claim import Claim, Verdict, Words, exceptions, significance
from study.evidence import ALPHA, SIZES
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED, compare_distances, holm, signed_rank

__all__ = ["CLAIM"]

CORRELATED = [case for case in PAPER if CASES[case].correlated]
#: Cells (case, size) where the elastic net is farther from the true zeros, as the paper says.
FARTHER_FROM_ZERO = [("f", 200), ("f", 400), ("g", 200), ("g", 400), ("h", 100), ("h", 200), ("h", 400)]
#: Medians closer than this share of the interquartile range nearly overlap.
OVERLAP = 0.5
OVERLAPPING_SHARE = 0.8


def judge(evidence):
    near = overlaps(evidence.scores)
    gain, p = _farther(evidence.scores)
    clear = (gain > 0) & (p < ALPHA)
    named = [(CORRELATED.index(case), SIZES.index(size)) for case, size in FARTHER_FROM_ZERO]
    farther = np.stack([clear[:, case, size] for case, size in named], axis=1)
    overlap = near.mean(axis=(1, 2, 3)) >= OVERLAPPING_SHARE
    return Verdict(overlap & farther.all(axis=1), overlap | (farther.mean(axis=1) > 0.5),
                   lambda: _words(near, farther, clear, gain, p))


def _words(near, farther, clear, gain, p):
    brief = (f"overlap in {near[0].sum()} of {near[0].size} comparisons; elastic net farther in "
             f"{farther[0].sum()} of {farther[0].size} cells")
    return Words(brief, (
        f"(i) and (ii) nearly overlap in {near[0].sum()} of {near[0].size} comparisons of g and h; elastic net "
        f"farther from the true zeros in {farther[0].sum()} of {farther[0].size} named cells; "
        f"{exceptions(FARTHER_FROM_ZERO, farther[0])}. Of the {clear[0].sum()} significant cells "
        f"{clear[0].sum() - farther[0].sum()} are not among those that the paper names"), significance(gain, p))


def overlaps(cube):
    """Whether (i) and (ii) nearly overlap, (resamples, kinds of distance, sparse correlated cases, sizes)."""
    sparse, found = cube.places(case for case in CORRELATED if CASES[case].sparse), []
    for kind in ("distance_zero", "distance_nonzero"):
        first, second = (cube.of(kind, model)[:, sparse] for model in FUSED)
        low, middle, high = np.quantile(second, [0.25, 0.5, 0.75], axis=-1)
        found.append(np.abs(np.median(first, axis=-1) - middle) <= OVERLAP * (high - low))
    return np.stack(found, axis=1)


def _farther(cube):
    """How much farther from the true zeros the elastic net is than (i), mean and corrected p-value."""
    correlated = cube.places(CORRELATED)
    apart = (cube.of("distance_zero", "elastic_net") - cube.of("distance_zero", FUSED[0]))[:, correlated]
    p = signed_rank(apart)
    return apart.mean(axis=-1), holm(p.reshape(len(p), -1)).reshape(p.shape)


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
