"""Claim 13: the elastic net keeps groups of correlated features."""

import pandas as pd

from study.cases import CASES
from study.claims.claim import AFTERWARDS, Claim, Verdict, Words, p_by_case, told_by_case
from study.claims.claim_07_recovery import CORRELATED
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED, paired_table, wide

__all__ = ["CLAIM"]


def judge(evidence):
    places = evidence.scores.places(CORRELATED)
    shares = [evidence.scores.of("pairs_whole", model)[:, places].mean(axis=2) for model in FUSED]
    more = shares[0] - shares[1]
    p = p_by_case(more)
    held = (more.mean(axis=-1) > 0) & (p < ALPHA)
    return Verdict(held.all(axis=1), held.any(axis=1), lambda: _words(shares, p))


def _words(shares, p):
    told = "; ".join(f"{case} {first.mean():.0%} and {second.mean():.0%}"
                     for case, first, second in zip(CORRELATED, shares[0][0], shares[1][0]))
    return Words(f"pairs kept whole by (i) and (ii): {told}", (
        f"of the pairs of copied features that matter and of which a fit keeps any, it keeps both, by (i) and "
        f"(ii): {told}"), told_by_case(CORRELATED, p))


def tabulate(scores):
    """How much more often (i) keeps both features of a pair than (ii), by correlated case and size."""
    rows = scores[scores["case"].isin([case for case in CASES if CASES[case].correlated])]
    if not set(FUSED) <= set(rows["model"]) or "pairs_whole" not in rows:
        return pd.DataFrame()
    lost = wide(rows, "pairs_whole")
    return paired_table(1 - lost, [FUSED])


def draw(table):
    return matrix(table, "gain", "+.2f", (), "share of pairs kept whole,\n(i) minus (ii)")


CLAIM = Claim(
    number=13,
    paper="The elastic net penalty favors sparse estimates while keeping groups of correlated relevant predictors.",
    rule="Of the pairs of a feature and its noisy copy with a non-zero true coefficient, of which a fit keeps at least "
         "one, the share of which it keeps both (mean over sizes) is significantly larger for (i) than for (ii). "
         "Reproduced: in each of e, f, g, h; partly: in one of them.",
    judge=judge,
    needs="pairs",
    written=AFTERWARDS,
    figure=Figure(("scores",), "both fused models in the correlated cases", (
        "How much more often (i) keeps both features of a correlated pair than (ii). A star: significant (Holm)."),
        tabulate, draw),
)
