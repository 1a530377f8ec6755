"""Claim 1: where the fused models beat the single-task models."""

from study.cases import PAPER
from study.claims.claim import NEEDS_BOTH, Claim, Verdict, grade, listed, significance
from study.figures import Figure
from study.figures.style import matrix
from study.paired import SINGLE_TASK, compare

__all__ = ["CLAIM"]

#: Cases in which the fused models lead, as the paper says.
FUSED_LEAD = ("b", "c", "d", "f", "h")


def judge(evidence):
    gains = evidence.gains[evidence.gains["other"].isin(SINGLE_TASK)]
    wins = gains.groupby(["case", "size"])["gain"].min() > 0
    led = wins.groupby("case").mean() > 0.5
    held, excluded = [case for case in FUSED_LEAD if led[case]], [case for case in PAPER if case not in FUSED_LEAD]
    named, others = wins.loc[list(FUSED_LEAD)], wins.loc[excluded]
    numbers = (f"both fused models lead in {named.sum()} of {len(named)} cells (case, size); in the majority of sizes "
               f"in cases {listed(held)}. As a check, in the cases that the paper leaves out they lead in "
               f"{others.sum()} of {len(others)} cells, in the majority of sizes in cases "
               f"{listed(case for case in excluded if led[case])}")
    return Verdict(grade(len(held) == len(FUSED_LEAD), len(held) >= 3), numbers,
                   significance(gains[gains["case"].isin(FUSED_LEAD)]))


def tabulate(scores):
    """The least gain of a fused model over a single-task model, by case and size."""
    gains = compare(scores)
    gains = gains[gains["other"].isin(SINGLE_TASK)]
    least = gains.loc[gains.groupby(["case", "size"])["gain"].idxmin()] if len(gains) else gains
    return least.drop(columns=["median"])


def draw(table):
    named = [(case, size) for case in FUSED_LEAD for size in table["size"].unique()]
    return matrix(table, "gain", "+.3f", named, "least gain of (i), (ii) over (iii)-(v)")


CLAIM = Claim(
    number=1,
    paper="Fused models beat the three single-task models in cases b, c, d, f and h.",
    rule="A case holds if, in more than half of the sizes, both fused models have a lower mean test error than each "
         "single-task model. Reproduced: all 5 cases; partly: at least 3.",
    judge=judge,
    single_task=True,
    figure=Figure(("scores",), NEEDS_BOTH, (
        "The least of the mean gains of both fused models over the single-task models: blue where both fused models "
        "lead. Framed: the cases that the paper names. A star: significant by itself (Holm)."), tabulate, draw),
)
