"""Claim 11: the fused elastic net and the fused L1 model do not differ significantly."""

import pandas as pd

from study.claims.claim import AFTERWARDS, Claim, Verdict, Words, listed, p_by_case, told_by_case
from study.claims.claim_05_slight_gain_of_l2 import detectable
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED, paired_table, wide

__all__ = ["CLAIM"]


def judge(evidence):
    cases, mean, p = evidence.scores.cases, evidence.l2_gain.mean(axis=-1), p_by_case(evidence.l2_gain)
    count = (p < ALPHA).sum(axis=1)
    return Verdict(count == 0, count < len(cases) / 2, lambda: _words(cases, mean, p))


def _words(cases, mean, p):
    different = p[0] < ALPHA
    sides = {"(i)": different & (mean[0] > 0), "(ii)": different & (mean[0] < 0)}
    return Words(detectable(mean, p), f"significant in {different.sum()} of {len(cases)} cases; " + "; ".join(
        f"{side} better in {listed(case for case, is_so in zip(cases, which) if is_so)}"
        for side, which in sides.items()) + ". With claim 5: a difference that can be told, and a slight one",
        told_by_case(cases, p))


def tabulate(scores):
    """Gain of (i) over (ii) by case and size."""
    has_both = set(FUSED) <= set(scores["model"])
    return paired_table(wide(scores, "test_error"), [FUSED]) if has_both else pd.DataFrame()


def draw(table):
    return matrix(table, "gain", "+.4f", (), "gain of (i) over (ii)")


CLAIM = Claim(
    number=11,
    paper="No significant differences were observed between the fused L1 model and the fused elastic net.",
    rule="Signed-rank test of the difference in test error, mean over sizes, by case. Reproduced: no case is "
         "significant; partly: fewer than half are.",
    judge=judge,
    written=AFTERWARDS,
    figure=Figure(("scores",), "both fused models", (
        "Gain of (i) over (ii) by case and training rows. A star: significant (Holm over these cells; the verdict "
        "looks at means over sizes)."), tabulate, draw),
)
