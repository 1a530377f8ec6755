"""Claim 11: the fused elastic net and the fused L1 model do not differ significantly."""

import pandas as pd

from study.claims.claim import Claim, Verdict, grade, listed, p_by_case, told_by_case
from study.evidence import ALPHA, Evidence
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED, paired_table

__all__ = ["CLAIM"]


def judge(evidence):
    mean, p = evidence.l2_gain.groupby("case").mean(), p_by_case(evidence.l2_gain)
    different = [case for case in mean.index if p[case] < ALPHA]
    sides = {"(i)": [case for case in different if mean[case] > 0],
             "(ii)": [case for case in different if mean[case] < 0]}
    numbers = f"significant in {len(different)} of {len(mean)} cases; " + "; ".join(
        f"{side} better in {listed(cases)}" for side, cases in sides.items())
    return Verdict(grade(not different, len(different) < len(mean) / 2), numbers, told_by_case(p))


def tabulate(scores):
    """Gain of (i) over (ii) by case and size."""
    evidence = Evidence(scores)
    return paired_table(evidence.errors, [FUSED]) if evidence.has_both_fused else pd.DataFrame()


def draw(table):
    return matrix(table, "gain", "+.4f", (), "gain of (i) over (ii)")


CLAIM = Claim(
    number=11,
    paper="No significant differences were observed between the fused L1 model and the fused elastic net.",
    rule="Signed-rank test of the difference in test error, mean over sizes, by case. Reproduced: no case is "
         "significant; partly: fewer than half are.",
    judge=judge,
    added=True,
    figure=Figure(("scores",), "both fused models", (
        "Gain of (i) over (ii) by case and training rows. A star: significant (Holm over these cells; the verdict "
        "looks at means over sizes)."), tabulate, draw),
)
