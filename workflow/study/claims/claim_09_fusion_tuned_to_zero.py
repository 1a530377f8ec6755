"""Claim 9: where fusing does not help, fusion is tuned to zero."""

from study.claims.claim import AFTERWARDS, Claim, Verdict, Words, significance
from study.claims.claim_03_little_help import LITTLE_HELP
from study.claims.claim_04_near_the_bayes_risk import NEAR_RISK
from study.evidence import ALPHA
from study.figures import Figure
from study.figures.style import matrix
from study.paired import FUSED

__all__ = ["CLAIM"]

CELLS = list(dict.fromkeys([*LITTLE_HELP, *NEAR_RISK]))


def judge(evidence):
    cells = evidence.scores.cells(CELLS)
    gain, p = (values[cells] for values in evidence.against_best())
    idle, worse = ~((gain > 0) & (p < ALPHA)), (gain < 0) & (p < ALPHA)
    zero = (evidence.scores.of("fusion", FUSED[0]) == 0).mean(axis=-1)[cells]
    counted = idle | ~idle.any(axis=1, keepdims=True)  # all of them where fusing helps in each
    share = (zero * counted).sum(axis=1) / counted.sum(axis=1)
    off, usable = share > 0.5, ~worse.any(axis=1)
    return Verdict(off & usable, off | usable, lambda: _words(gain, p, idle, worse, share, zero))


def _words(gain, p, idle, worse, share, zero):
    brief = f"fusion 0 in {share[0]:.0%} of fits; (i) significantly worse in {worse[0].sum()} cells"
    return Words(brief, (
        f"in {idle[0].sum()} of the {idle[0].size} named cells (i) is not significantly better than the best "
        f"single-task model; fusion 0 was chosen in {share[0]:.0%} of the fits there and in {zero[0].mean():.0%} "
        f"of those of all named cells. (i) is significantly worse in {worse[0].sum()} of them"),
        significance(gain, p))


def tabulate(scores):
    """Share of fused elastic nets whose chosen fusion is zero, by case and size."""
    rows = scores[scores["model"] == FUSED[0]]
    return (rows["fusion"] == 0).groupby([rows["case"], rows["size"]]).mean().rename("share").reset_index()


def draw(table):
    return matrix(table, "share", ".0%", CELLS, "share of fits with fusion 0", (0, 1), "Blues")


CLAIM = Claim(
    number=9,
    paper="Where fusing does not help, model (i) can still be used: tuning would set nu to zero by itself.",
    rule="Of the cells of claim 3 and g and h with 400 rows, fusing does not help where (i) is not significantly "
         "better than the best single-task model. Tuned away: fusion 0 was chosen in more than half of the fits there. "
         "Usable: (i) is significantly worse in none of the cells. Reproduced: both; partly: one.",
    single_task=True,
    judge=judge,
    written=AFTERWARDS,
    figure=Figure(("scores",), "the fused elastic net", (
        "Share of fused elastic nets whose tuned fusion is zero. Framed: the cells where, by the paper, it would "
        "be."), tabulate, draw),
)
