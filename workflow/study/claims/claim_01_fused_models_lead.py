"""Claim 1: where the fused models beat the single-task models."""

from study.cases import PAPER
from study.claims.claim import NEEDS_BOTH, Claim, Verdict, Words, listed, significance
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED, SINGLE_TASK, compare

__all__ = ["CLAIM"]

#: Cases in which the fused models lead, as the paper says.
FUSED_LEAD = ("b", "c", "d", "f", "h")


def judge(evidence):
    gain, p = evidence.gains(*FUSED)
    leads, clear = (gain > 0).all(axis=-1), ((gain > 0) & (p < ALPHA)).all(axis=-1)
    majority = leads.mean(axis=2) > 0.5
    named = evidence.scores.places(FUSED_LEAD)
    held = majority[:, named]

    def words():
        excluded = [case for case in PAPER if case not in FUSED_LEAD]
        others = evidence.scores.places(excluded)
        count, n = leads[0, named].sum(), leads[0, named].size
        brief = f"both fused models lead in {count} of {n} cells, significantly in {clear[0, named].sum()}"
        return Words(brief, (
            f"{brief} (case, size); in the majority of sizes in cases {_of(FUSED_LEAD, held[0])}. As a check, in the "
            f"cases that the paper leaves out they lead in {leads[0, others].sum()} of {leads[0, others].size} cells, "
            f"in the majority of sizes in cases {_of(excluded, majority[0, others])}"),
            significance(gain[:, named], p[:, named]))

    return Verdict(held.all(axis=1), held.sum(axis=1) >= 3, words)


def _of(cases, which):
    return listed(case for case, is_so in zip(cases, which) if is_so)


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
