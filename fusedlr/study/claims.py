"""The paper's eight claims, each with the rule that decides it.

The rules and their limits were written down before the study was run, and nothing
else decides a verdict. Comparisons are paired over the instances of a case, as
:mod:`fusedlr.study.paired` says.

"Single-task" models are the elastic net, the unpenalized fit and AdaBoost. The gain
of a fused model is the test error of a single-task model minus its own, so that a
positive gain speaks for fusion; "over the best single-task model" means the one with
the least mean test error at that case and size.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from fusedlr.study.paired import FUSED, SINGLE_TASK, compare, compare_distances, holm, signed_rank, wide
from fusedlr.study.simulate import CASES

__all__ = ["CLAIMS", "best_single_task", "judge", "tie_breaks"]

ALPHA = 0.05
#: Fewer instances of each case than this, and no claim is judged.
MIN_INSTANCES = 10

SIZES = (25, 50, 100, 200, 400)

HIGH_SIMILARITY = tuple(name for name, case in CASES.items() if case.similar)
#: Cells (case, size) where claim 3 says that fusing helps less or not at all.
LITTLE_HELP = [(case, size) for case in "aeg" for size in SIZES] + [(case, size) for case in "bcf" for size in (25, 50)]
#: Cells where claim 7 says that the elastic net is farther from the true zeros.
FARTHER_FROM_ZERO = [("f", 200), ("f", 400), ("g", 200), ("g", 400), ("h", 100), ("h", 200), ("h", 400)]

NEAR_BAYES = 0.02
SLIGHT_GAIN = 0.01
VERY_LOW_L2 = 0.1
#: Medians closer than this share of the interquartile range nearly overlap.
OVERLAP = 0.5

REPRODUCED, PARTLY, NOT = "reproduced", "partly", "not reproduced"
NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Claim:
    """One claim: what the paper says, the rule in words, and the function that applies it."""

    number: int
    paper: str
    rule: str
    judge: object


def judge(scores, timing=None):
    """Table of the claims: what the paper says, our numbers, the tests and the verdicts.

    Parameters
    ----------
    scores : DataFrame
        ``scores.csv`` of the study.
    timing : DataFrame, optional
        Seconds of one Newton step: columns ``features``, ``space`` ("features" or
        "rows") and ``seconds``. Claim 8 is not judged without it.
    """
    scores = scores[scores["model"].isin([*FUSED, *SINGLE_TASK])]
    rows, gains = [], compare(scores)
    for claim in CLAIMS:
        verdict, numbers, test = _claim_8(timing) if claim.number == 8 else _applied(claim, scores, gains)
        rows.append({"claim": claim.number, "paper": claim.paper, "rule": claim.rule, "numbers": numbers,
                     "test": test, "verdict": verdict})
    return pd.DataFrame(rows)


def best_single_task(scores):
    """The single-task model with the least mean test error, by case and size."""
    errors = wide(scores, "test_error")
    means = errors[[model for model in SINGLE_TASK if model in errors]].groupby(["case", "size"]).mean()
    return means.idxmin(axis=1)


def tie_breaks(scores):
    """Share of fused elastic nets with a very low l2, by how ties of the validation error are broken."""
    rows = scores[scores["model"] == FUSED[0]]
    return {
        "log-loss, then larger penalties": float((rows["l2"] <= VERY_LOW_L2).mean()),
        "smallest l2": float((rows["l2_smallest_tied"] <= VERY_LOW_L2).mean()),
        "largest l2": float((rows["l2_largest_tied"] <= VERY_LOW_L2).mean()),
    }


def _applied(claim, scores, gains):
    lacking = _lacking(scores)
    if lacking:
        return f"{NOT_JUDGED}: {lacking}", "", ""
    verdict, numbers, test = claim.judge(scores, gains)
    instances = int(scores.groupby("case")["instance"].nunique().min())
    if instances < MIN_INSTANCES:
        verdict = f"{NOT_JUDGED}: {instances} instances of a case, {MIN_INSTANCES} needed"
    if "adaboost" not in set(scores["model"]) and claim.number <= 4:
        numbers += " (without AdaBoost)"
    return verdict, numbers, test


def _lacking(scores):
    """What the scores lack for any claim to be judged, in words, or an empty string."""
    for column, wanted in (("case", CASES), ("size", SIZES), ("model", (*FUSED, *SINGLE_TASK[:2]))):
        absent = [str(value) for value in wanted if value not in set(scores[column])]
        if absent:
            return f"no {column} {', '.join(absent)}"
    return ""


def _claim_1(scores, gains):
    gains = gains[gains["other"].isin(SINGLE_TASK) & gains["case"].isin(list("bcdfh"))]
    wins = gains.groupby(["case", "size"])["gain"].min() > 0
    held = [case for case, won in wins.groupby("case").mean().items() if won > 0.5]
    verdict = REPRODUCED if len(held) == 5 else PARTLY if len(held) >= 3 else NOT
    numbers = (f"both fused models lead in {wins.sum()} of {len(wins)} cells (case, size); "
               f"in the majority of sizes in cases {', '.join(held) or 'none'}")
    return verdict, numbers, _significance(gains)


def _claim_2(scores, gains):
    gains = gains[(gains["model"] == FUSED[0]) & gains["other"].isin(SINGLE_TASK)
                  & gains["case"].isin(HIGH_SIMILARITY) & gains["size"].isin((100, 200))]
    better = (gains["gain"] > 0) & (gains["p_holm"] < ALPHA)
    cells = better.groupby([gains["case"], gains["size"]]).all()
    extra = _gain_over_best(scores).loc[list(HIGH_SIMILARITY)].unstack("size")
    middle = extra[[100, 200]].mean(axis=1) - extra[[25, 50, 400]].mean(axis=1)
    p = holm([signed_rank(middle.loc[case]) for case in HIGH_SIMILARITY])
    peaked = [case for case, value in zip(HIGH_SIMILARITY, p) if middle.loc[case].mean() > 0 and value < ALPHA]
    complete = cells.all() and len(peaked) == len(HIGH_SIMILARITY)
    verdict = REPRODUCED if complete else PARTLY if cells.sum() > len(cells) / 2 else NOT
    numbers = (f"better than every single-task model in {cells.sum()} of {len(cells)} cells at 100 and 200 rows; "
               f"gain larger there than at other sizes in cases {', '.join(peaked) or 'none'}")
    return verdict, numbers, f"{_significance(gains)}; largest p of the gain being larger at 100-200: {p.max():.2g}"


def _claim_3(scores, gains):
    gain = _gain_over_best(scores).groupby(["case", "size"]).mean()
    reference = gain[[(case, size) for case in HIGH_SIMILARITY for size in (100, 200)]].mean()
    gains = _against_best(scores, gains).set_index(["case", "size"]).loc[LITTLE_HELP]
    helps = (gains["gain"] > 0) & (gains["p_holm"] < ALPHA)
    agrees = ~helps | (gains["gain"] < reference / 2)
    share = agrees.mean()
    verdict = REPRODUCED if share >= 0.9 else PARTLY if share >= 0.5 else NOT
    numbers = (f"{agrees.sum()} of {len(agrees)} cells agree; mean gain there {gains['gain'].mean():.4f}, "
               f"against {reference:.4f} in b, d, f, h at 100 and 200 rows; " + _exceptions(agrees))
    return verdict, numbers, _significance(gains)


def _claim_4(scores, gains):
    errors = wide(scores, "test_error")
    risk = scores.groupby(["case", "size"])["bayes_risk"].mean()
    means, best = errors.groupby(["case", "size"]).mean(), best_single_task(scores)
    excess = {case: means.loc[(case, 400), best[(case, 400)]] - risk[(case, 400)] for case in "gh"}
    gain = _gain_over_best(scores)
    mean_gain = gain.groupby(["case", "size"]).mean().unstack("size")
    faded = {case: bool(mean_gain.loc[case, 400] <= mean_gain.loc[case].drop(400).max() / 2) for case in "gh"}
    held = sum(value <= NEAR_BAYES for value in excess.values()) + sum(faded.values())
    verdict = REPRODUCED if held == 4 else PARTLY if held >= 2 else NOT
    numbers = "; ".join(f"{case}: best single-task model {excess[case]:.4f} above the Bayes risk, gain of fusion "
                        f"{mean_gain.loc[case, 400]:.4f} at 400 rows, at most {mean_gain.loc[case].drop(400).max():.4f} "
                        "with fewer" for case in "gh")
    rows = _against_best(scores, gains).set_index(["case", "size"]).loc[[("g", 400), ("h", 400)]]
    return verdict, numbers, _significance(rows)


def _claim_5(scores, _):
    errors = wide(scores, "test_error")
    gain = (errors["fused_l1"] - errors["fused_elastic_net"]).groupby(["case", "instance"]).mean()
    mean = gain.groupby("case").mean()
    p = pd.Series(holm([signed_rank(gain.loc[case]) for case in mean.index]), mean.index)
    slight = bool((mean.abs() <= SLIGHT_GAIN).all() and mean.mean() >= 0)
    led = set(mean.nlargest(2).index) == {"b", "f"}
    verdict = REPRODUCED if slight and led else PARTLY if slight or led else NOT
    numbers = "mean gain of (i) over (ii): " + ", ".join(f"{case} {value:+.4f}" for case, value in mean.items())
    return verdict, numbers, "signed-rank by case, Holm over 8: " + ", ".join(f"{c} {v:.2g}" for c, v in p.items())


def _claim_6(scores, _):
    shares = tie_breaks(scores)
    majority = [share > 0.5 for share in shares.values()]
    verdict = REPRODUCED if all(majority) else PARTLY if any(majority) else NOT
    numbers = f"share of fits with l2 <= {VERY_LOW_L2:g}: " + ", ".join(
        f"{share:.0%} (ties: {name})" for name, share in shares.items())
    rows = scores[scores["model"] == FUSED[0]]
    usual = rows.groupby(["case", "instance"])["l2"].median() <= VERY_LOW_L2
    p = stats.binomtest(int(usual.sum()), len(usual)).pvalue
    return verdict, numbers, f"median l2 over sizes is that low in {usual.sum()} of {len(usual)} instances, sign test p {p:.2g}"


def _claim_7(scores, _):
    near = _overlaps(scores)
    rows = compare_distances(scores).set_index(["case", "size"])
    farther = ((rows["gain"] > 0) & (rows["p_holm"] < ALPHA)).loc[FARTHER_FROM_ZERO]
    overlap = near.mean() >= 0.8
    verdict = REPRODUCED if overlap and farther.all() else PARTLY if overlap or farther.mean() > 0.5 else NOT
    numbers = (f"(i) and (ii) nearly overlap in {near.sum()} of {len(near)} comparisons of g and h; elastic net farther from "
               f"the true zeros in {farther.sum()} of {len(farther)} named cells; " + _exceptions(farther))
    return verdict, numbers, _significance(rows)


def _claim_8(timing):
    if timing is None or not {500, 1000, 5000} <= set(timing["features"]):
        return f"{NOT_JUDGED}: no timing at 500, 1000 and 5000 features", "", ""
    seconds = timing.groupby(["space", "features"])["seconds"].median().unstack("features")
    growth = np.log(seconds[5000] / seconds[1000]) / np.log(5)
    ratio = seconds.loc["features"] / seconds.loc["rows"]
    removed = growth["rows"] <= 1.5 and growth["features"] >= 2 and ratio[5000] >= 10
    verdict = REPRODUCED if removed else PARTLY if ratio[5000] > 1 else NOT
    numbers = "; ".join(f"d = {d}: {seconds.loc['features', d]:.3g} s in d-space, {seconds.loc['rows', d]:.3g} s in n-space"
                        for d in (500, 1000, 5000))
    numbers += f"; growth from 1000 to 5000 as d^{growth['features']:.1f} and d^{growth['rows']:.1f}"
    return verdict, numbers, "medians of repeated measurements; no test"


CLAIMS = [
    Claim(1, "Fused models beat the three single-task models in cases b, c, d, f and h.",
          "A case holds if, in more than half of the sizes, both fused models have a lower mean test error than each "
          "single-task model. Reproduced: all 5 cases; partly: at least 3.", _claim_1),
    Claim(2, "The advantage is significant with high similarity (b, d, f, h), particularly with 100 to 200 rows.",
          "A cell holds if the fused elastic net is significantly better than each single-task model; a case is peaked if "
          "the gain over the best of them is significantly larger at 100-200 rows than at the other sizes. Reproduced: all "
          "8 cells and 4 cases; partly: more than half of the cells.", _claim_2),
    Claim(3, "Fusing helps less or not at all in a, e and g, and in b, c and f with at most 50 rows.",
          "A cell agrees if the gain over the best single-task model is not significant, or is less than half of the mean "
          "gain in b, d, f, h at 100 and 200 rows. Reproduced: 90 % of the 21 cells; partly: half.", _claim_3),
    Claim(4, "Single-task models come near the Bayes risk in g and h with 400 rows, so that fusing helps little.",
          f"In g and in h: the best single-task model is within {NEAR_BAYES:g} of the Bayes risk, and the gain at 400 rows is at "
          "most half of the largest gain with fewer rows. Reproduced: all 4 conditions; partly: 2 or 3.", _claim_4),
    Claim(5, "The fused elastic net is only slightly better than the fused L1 model, mainly in b and f.",
          f"Slight: the mean gain is not negative over all and at most {SLIGHT_GAIN:g} in absolute value in every case. "
          "Mainly: b and f have the two largest gains. Reproduced: both; partly: one.", _claim_5),
    Claim(6, "For the majority of instances the tuned lambda2 is very low or zero.",
          f"More than half of the chosen l2 are at most {VERY_LOW_L2:g}. Reproduced: whichever way ties of the validation error "
          "are broken; partly: for some ways.", _claim_6),
    Claim(7, "Parameter recovery: (i) and (ii) nearly overlap in the sparse correlated cases; the elastic net is farther from "
             "the true zeros, particularly in f and g with at least 200 rows and h with at least 100.",
          f"Overlap: medians of (i) and (ii) differ by at most {OVERLAP:g} interquartile ranges in 80 % of the comparisons (g, h; "
          "every size; both distances). Farther: significantly so in each of the 7 named cells. Reproduced: both; "
          "partly: overlap, or more than half of the cells.", _claim_7),
    Claim(8, "Newton's method in the space of the rows removes the cost that grows with the cube of the features.",
          "From 1000 to 5000 features, the time of a step grows at least as d^2 in d-space and at most as d^1.5 in n-space, "
          "and n-space is at least 10 times faster at 5000. Reproduced: all; partly: n-space is faster at 5000.", None),
]


def _gain_over_best(scores):
    """Gain of the fused elastic net over the best single-task model of the cell, by case, size and instance."""
    errors, best = wide(scores, "test_error"), best_single_task(scores)
    return pd.concat([(cell[best[key]] - cell[FUSED[0]]) for key, cell in errors.groupby(["case", "size"])])


def _against_best(scores, gains):
    """Rows of ``compare`` that hold the fused elastic net against the best single-task model."""
    best = best_single_task(scores).rename("other").reset_index()
    return gains[gains["model"] == FUSED[0]].merge(best, on=["case", "size", "other"])


def _overlaps(scores):
    """Whether (i) and (ii) nearly overlap, by sparse correlated case, size and kind of distance."""
    rows = scores[scores["case"].isin(["g", "h"])]
    found = {}
    for kind in ("distance_zero", "distance_nonzero"):
        for key, cell in wide(rows, kind).groupby(["case", "size"]):
            low, middle, high = np.quantile(cell["fused_l1"], [0.25, 0.5, 0.75])
            apart = abs(cell["fused_elastic_net"].median() - middle)
            found[(*key, kind)] = apart <= OVERLAP * (high - low)
    return pd.Series(found)


def _significance(table):
    for_fusion = ((table["gain"] > 0) & (table["p_holm"] < ALPHA)).sum()
    against = ((table["gain"] < 0) & (table["p_holm"] < ALPHA)).sum()
    return (f"of {len(table)} comparisons {for_fusion} significantly for fusion, "
            f"{against} significantly against (Holm)")


def _exceptions(agrees):
    cells = [f"{case}{size}" for (case, size), fine in agrees.items() if not fine]
    return f"exceptions: {', '.join(cells)}" if cells else "no exceptions"
