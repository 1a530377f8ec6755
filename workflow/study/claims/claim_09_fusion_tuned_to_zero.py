"""Claim 9: where fusing does not help, fusion is tuned to zero."""

from scipy import stats

from study.claims.claim import Claim, Verdict, grade
from study.claims.claim_03_little_help import LITTLE_HELP
from study.claims.claim_04_near_the_bayes_risk import NEAR_RISK
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED

__all__ = ["CLAIM"]

CELLS = [*LITTLE_HELP, *NEAR_RISK]


def judge(evidence):
    rows = evidence.scores[evidence.scores["model"] == FUSED[0]].set_index(["case", "size"])
    zero = rows.loc[rows.index.isin(CELLS), "fusion"] == 0
    by_case = zero.groupby("case").mean()
    numbers = (f"fusion 0 was chosen in {zero.mean():.0%} of the {len(zero)} fits of these cells; by case "
               + ", ".join(f"{case} {share:.0%}" for case, share in by_case.items()))
    p = stats.binomtest(int(zero.sum()), len(zero)).pvalue
    return Verdict(grade(zero.mean() > 0.5, (by_case > 0.5).any()), numbers, f"sign test against one half, p {p:.2g}")


def tabulate(scores):
    """Share of fused elastic nets whose chosen fusion is zero, by case and size."""
    rows = scores[scores["model"] == FUSED[0]]
    return (rows["fusion"] == 0).groupby([rows["case"], rows["size"]]).mean().rename("share").reset_index()


def draw(table):
    return matrix(table, "share", ".0%", CELLS, "share of fits with fusion 0", (0, 1), "Blues")


CLAIM = Claim(
    number=9,
    paper="Where fusing does not help, tuning would set nu to zero by itself.",
    rule="In the cells of claim 3 and in g and h with 400 rows: reproduced if fusion 0 was chosen in more than half "
         "of all fits of (i); partly if in more than half of those of some case.",
    judge=judge,
    added=True,
    figure=Figure(("scores",), "the fused elastic net", (
        "Share of fused elastic nets whose tuned fusion is zero. Framed: the cells where, by the paper, it would "
        "be."), tabulate, draw),
)
