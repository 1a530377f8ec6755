"""The rules by which the paper's claims are judged: each takes the evidence and returns verdict, numbers and test.

"Single-task" models are the elastic net, the unpenalized fit and AdaBoost. The gain
of a fused model is the test error of a single-task model minus its own, so that a
positive gain speaks for fusion; "over the best single-task model" means the one with
the least mean test error at that case and size.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from study.cases import CASES, GROUPS, PAPER
from study.models import L2
from study.paired import FUSED, SINGLE_TASK, compare, compare_distances, holm, signed_rank, wide

__all__ = ["Evidence", "NOT", "PARTLY", "REPRODUCED", "tie_breaks"]

REPRODUCED, PARTLY, NOT = "reproduced", "partly", "not reproduced"

ALPHA = 0.05
SIZES = (25, 50, 100, 200, 400)
#: Sizes at which claim 2 says that fusing helps most.
MIDDLE = (100, 200)
#: Small but informative training sets, in the words of the paper's discussion, as read here.
INFORMATIVE = (50, 100, 200)

HIGH_SIMILARITY = tuple(name for name in PAPER if CASES[name].similar)
#: Cases in which claim 1 says that the fused models lead.
FUSED_LEAD = ("b", "c", "d", "f", "h")
#: Cells (case, size) where claim 3 says that fusing helps less or not at all.
LITTLE_HELP = [(case, size) for case in "aeg" for size in SIZES] + [(case, size) for case in "bcf" for size in (25, 50)]
#: Cells where claim 4 says that single-task models come near the Bayes risk.
NEAR_RISK = [("g", 400), ("h", 400)]
#: Cells where claim 7 says that the elastic net is farther from the true zeros.
FARTHER_FROM_ZERO = [("f", 200), ("f", 400), ("g", 200), ("g", 400), ("h", 100), ("h", 200), ("h", 400)]

NEAR_BAYES = 0.02
SLIGHT_GAIN = 0.01
VERY_LOW_L2 = 0.1
#: Medians closer than this share of the interquartile range nearly overlap.
OVERLAP = 0.5
OVERLAPPING_SHARE = 0.8
AGREEING_SHARE = 0.9


class Evidence:
    """Scores and what several rules read off them, each computed once.

    Parameters
    ----------
    scores : DataFrame
        ``scores.csv`` of the study; only the paper's models and cases count.
    timing : DataFrame, optional
        Seconds of one chi-update: columns ``features``, ``space`` ("features" or "rows") and ``seconds``.
    groups : DataFrame, optional
        Scores of the experiment on larger groups.
    """

    def __init__(self, scores: pd.DataFrame, timing: Any = None, groups: Any = None) -> None:
        self.scores = scores[scores["model"].isin([*FUSED, *SINGLE_TASK]) & scores["case"].isin(PAPER)]
        self.timing, self.groups = timing, groups

    @cached_property
    def errors(self) -> Any:
        """Test errors, a column for each model, by case, size and instance."""
        return wide(self.scores, "test_error")

    @cached_property
    def gains(self) -> Any:
        """All paired comparisons of test error."""
        return compare(self.scores)

    @cached_property
    def best(self) -> Any:
        """The single-task model with the least mean test error, by case and size."""
        means = self.errors[[model for model in SINGLE_TASK if model in self.errors]].groupby(["case", "size"]).mean()
        return means.idxmin(axis=1)

    @cached_property
    def over_best(self) -> Any:
        """Gain of the fused elastic net over the best single-task model of the cell, by case, size and instance."""
        return pd.concat([(cell[self.best[key]] - cell[FUSED[0]])
                          for key, cell in self.errors.groupby(["case", "size"])])

    @cached_property
    def mean_over_best(self) -> Any:
        """Its means over instances, cases by sizes."""
        return self.over_best.groupby(["case", "size"]).mean().unstack("size")

    @cached_property
    def against_best(self) -> Any:
        """Comparisons of the fused elastic net with the best single-task model, by case and size."""
        best = self.best.rename("other").reset_index()
        rows = self.gains[self.gains["model"] == FUSED[0]].merge(best, on=["case", "size", "other"])
        return rows.set_index(["case", "size"])

    @cached_property
    def l2_gain(self) -> Any:
        """Gain of the fused elastic net over the fused L1 model, mean over sizes, by case and instance."""
        return (self.errors[FUSED[1]] - self.errors[FUSED[0]]).groupby(["case", "instance"]).mean()


def grade(wholly: bool, partly: bool) -> Any:
    """The verdict of a rule with two conditions, the second of them weaker."""
    return REPRODUCED if wholly else PARTLY if partly else NOT


def tie_breaks(scores: pd.DataFrame) -> Any:
    """Share of fused elastic nets with a very low l2, by how ties of the validation error are broken."""
    rows = scores[scores["model"] == FUSED[0]]
    return {
        "log-loss, then larger penalties": float((rows["l2"] <= VERY_LOW_L2).mean()),
        "smallest l2": float((rows["l2_smallest_tied"] <= VERY_LOW_L2).mean()),
        "largest l2": float((rows["l2_largest_tied"] <= VERY_LOW_L2).mean()),
    }


def fused_models_lead(evidence: Evidence) -> Any:
    gains = evidence.gains[evidence.gains["other"].isin(SINGLE_TASK)]
    wins = gains.groupby(["case", "size"])["gain"].min() > 0
    led = wins.groupby("case").mean() > 0.5
    held, excluded = [case for case in FUSED_LEAD if led[case]], [case for case in PAPER if case not in FUSED_LEAD]
    named, others = wins.loc[list(FUSED_LEAD)], wins.loc[excluded]
    numbers = (f"both fused models lead in {named.sum()} of {len(named)} cells (case, size); in the majority of sizes "
               f"in cases {_listed(held)}. As a check, in the cases that the paper leaves out they lead in "
               f"{others.sum()} of {len(others)} cells, in the majority of sizes in cases "
               f"{_listed(case for case in excluded if led[case])}")
    return (grade(len(held) == len(FUSED_LEAD), len(held) >= 3), numbers,
            _significance(gains[gains["case"].isin(FUSED_LEAD)]))


def peak_in_the_middle(evidence: Evidence) -> Any:
    gains = evidence.gains
    gains = gains[(gains["model"] == FUSED[0]) & gains["other"].isin(SINGLE_TASK)
                  & gains["case"].isin(HIGH_SIMILARITY) & gains["size"].isin(MIDDLE)]
    better = (gains["gain"] > 0) & (gains["p_holm"] < ALPHA)
    cells = better.groupby([gains["case"], gains["size"]]).all()
    extra = evidence.over_best.loc[list(HIGH_SIMILARITY)].unstack("size")
    others = [size for size in SIZES if size not in MIDDLE]
    more = extra[list(MIDDLE)].mean(axis=1) - extra[others].mean(axis=1)
    p = dict(zip(HIGH_SIMILARITY, holm([signed_rank(more.loc[case]) for case in HIGH_SIMILARITY])))
    peaked = [case for case in HIGH_SIMILARITY if more.loc[case].mean() > 0 and p[case] < ALPHA]
    complete = cells.all() and len(peaked) == len(HIGH_SIMILARITY)
    numbers = (f"better than every single-task model in {cells.sum()} of {len(cells)} cells at 100 and 200 rows; "
               f"gain significantly larger there than at other sizes in cases {_listed(peaked)}. Gain over the best "
               "single-task model (with its paired t) by size: " + "; ".join(
                   f"{case}: " + ", ".join(_with_t(extra.loc[case, size], size) for size in SIZES)
                   for case in HIGH_SIMILARITY))
    signs = ", ".join(f"{case} {more.loc[case].mean():+.4f} (p {p[case]:.2g})" for case in HIGH_SIMILARITY)
    return (grade(complete, cells.sum() > len(cells) / 2), numbers,
            f"{_significance(gains)}; gain at 100-200 rows minus that at the other sizes: {signs}")


def little_help(evidence: Evidence) -> Any:
    gain = evidence.mean_over_best
    reference = gain.loc[list(HIGH_SIMILARITY), list(MIDDLE)].to_numpy().mean()
    gains = evidence.against_best.loc[LITTLE_HELP]
    helps = (gains["gain"] > 0) & (gains["p_holm"] < ALPHA)
    agrees = ~helps | (gains["gain"] < reference / 2)
    share = agrees.mean()
    least, rest = gain.loc["c", [25, 50]], gain.loc["c", [100, 200, 400]]
    numbers = (f"{agrees.sum()} of {len(agrees)} cells agree; mean gain there {gains['gain'].mean():.4f}, "
               f"against {reference:.4f} in b, d, f, h at 100 and 200 rows; {_exceptions(agrees)}. Within c the gain "
               f"by size is "
               + ", ".join(f"{size}: {value:+.4f}" for size, value in gain.loc["c"].items())
               + (": largest where the paper says least" if least.max() > rest.max() else ""))
    return grade(share >= AGREEING_SHARE, share >= 0.5), numbers, _significance(gains)


def near_the_bayes_risk(evidence: Evidence) -> Any:
    risk = evidence.scores.groupby(["case", "size"])["bayes_risk"].mean()
    means, gain = evidence.errors.groupby(["case", "size"]).mean(), evidence.mean_over_best
    excess = {cell: means.loc[cell, evidence.best[cell]] - risk[cell] for cell in NEAR_RISK}
    fewer = {case: gain.loc[case].drop(size).max() for case, size in NEAR_RISK}
    faded = [bool(gain.loc[case, size] <= fewer[case] / 2) for case, size in NEAR_RISK]
    held = sum(value <= NEAR_BAYES for value in excess.values()) + sum(faded)
    numbers = "; ".join(
        f"{case}: best single-task model {excess[case, size]:.4f} above the Bayes risk "
        f"({excess[case, size] / risk[case, size]:.0%} of it), gain of fusion {gain.loc[case, size]:.4f} at {size} "
        f"rows, at most {fewer[case]:.4f} with fewer"
        for case, size in NEAR_RISK)
    return grade(held == 2 * len(NEAR_RISK), held >= 2), numbers, _significance(evidence.against_best.loc[NEAR_RISK])


def slight_gain_of_l2(evidence: Evidence) -> Any:
    mean = evidence.l2_gain.groupby("case").mean()
    slight = bool((mean.abs() <= SLIGHT_GAIN).all() and mean.mean() >= 0)
    led = set(mean.nlargest(2).index) == {"b", "f"}
    numbers = "mean gain of (i) over (ii): " + ", ".join(f"{case} {value:+.4f}" for case, value in mean.items())
    return grade(slight and led, slight or led), numbers, _by_case(_p_by_case(evidence.l2_gain))


def low_l2(evidence: Evidence) -> Any:
    shares = tie_breaks(evidence.scores)
    majority = [share > 0.5 for share in shares.values()]
    rows = evidence.scores[evidence.scores["model"] == FUSED[0]]
    usual = rows.groupby(["case", "instance"])["l2"].median() <= VERY_LOW_L2
    p = stats.binomtest(int(usual.sum()), len(usual)).pvalue
    gain = evidence.l2_gain.groupby("case")
    cost = gain.mean() / (gain.std(ddof=1) / np.sqrt(gain.size()))
    low = (rows["l2"] <= VERY_LOW_L2).groupby(rows["case"]).mean()
    numbers = (f"share of fits with l2 <= {VERY_LOW_L2:g}: " + ", ".join(
        f"{share:.0%} (ties: {name})" for name, share in shares.items())
        + "; cumulative: " + ", ".join(f"{(rows['l2'] <= value).mean():.0%} <= {value:g}" for value in L2)
        + f"; l2 <= {VERY_LOW_L2:g} by case: " + ", ".join(f"{case} {share:.0%}" for case, share in low.items())
        + ". Doing without l2 costs, in standard errors: " + ", ".join(f"{case} {value:.1f}"
                                                                       for case, value in cost.items()))
    return grade(all(majority), any(majority)), numbers, (
        f"median l2 over sizes is that low in {usual.sum()} of {len(usual)} instances, sign test p {p:.2g}")


def recovery(evidence: Evidence) -> Any:
    near = _overlaps(evidence.scores)
    rows = compare_distances(evidence.scores).set_index(["case", "size"])
    significant = (rows["gain"] > 0) & (rows["p_holm"] < ALPHA)
    farther, unnamed = significant.loc[FARTHER_FROM_ZERO], significant.drop(FARTHER_FROM_ZERO)
    overlap = near.mean() >= OVERLAPPING_SHARE
    numbers = (f"(i) and (ii) nearly overlap in {near.sum()} of {len(near)} comparisons of g and h; elastic net "
               f"farther from the true zeros in {farther.sum()} of {len(farther)} named cells; {_exceptions(farther)}. "
               f"Of the {significant.sum()} significant cells {unnamed.sum()} are not among those that the paper names")
    return grade(overlap and farther.all(), overlap or farther.mean() > 0.5), numbers, _significance(rows)


def growth_with_features(evidence: Evidence) -> Any:
    timing = evidence.timing
    seconds = timing.groupby(["space", "features"])["seconds"].median().unstack("features")
    growth = np.log(seconds[5000] / seconds[1000]) / np.log(5)
    ratio = seconds.loc["features"] / seconds.loc["rows"]
    removed = growth["rows"] <= 1.5 and growth["features"] >= 2 and ratio[5000] >= 10
    numbers = "one chi-update: " + "; ".join(
        f"d = {d}: {seconds.loc['features', d]:.3g} s in d-space, {seconds.loc['rows', d]:.3g} s in n-space"
        for d in (500, 1000, 5000))
    numbers += f"; growth from 1000 to 5000 as d^{growth['features']:.1f} and d^{growth['rows']:.1f}"
    counts = timing[timing["space"] == "rows"].groupby("features").size()
    timed = ", ".join(f"{count} at d = {d}" for d, count in counts.items())
    return grade(removed, ratio[5000] > 1), numbers, f"medians of repeated measurements ({timed}); no test"


def fusion_tuned_to_zero(evidence: Evidence) -> Any:
    rows = evidence.scores[evidence.scores["model"] == FUSED[0]].set_index(["case", "size"])
    cells = [*LITTLE_HELP, *(cell for cell in NEAR_RISK if cell not in LITTLE_HELP)]
    zero = rows.loc[rows.index.isin(cells), "fusion"] == 0
    by_case = zero.groupby("case").mean()
    numbers = (f"fusion 0 was chosen in {zero.mean():.0%} of the {len(zero)} fits of these cells; by case "
               + ", ".join(f"{case} {share:.0%}" for case, share in by_case.items()))
    p = stats.binomtest(int(zero.sum()), len(zero)).pvalue
    return grade(zero.mean() > 0.5, (by_case > 0.5).any()), numbers, f"sign test against one half, p {p:.2g}"


def small_but_informative(evidence: Evidence) -> Any:
    gain = evidence.over_best.unstack("size")
    more = {end: gain[list(INFORMATIVE)].mean(axis=1) - gain[end] for end in (25, 400)}
    p = dict(zip(more, holm([signed_rank(values) for values in more.values()])))
    held = [end for end in more if more[end].mean() > 0 and p[end] < ALPHA]
    numbers = "mean gain over the best single-task model, all cases: " + ", ".join(
        f"{size} rows {gain[size].mean():+.4f}" for size in SIZES)
    return grade(len(held) == 2, bool(held)), numbers, "; ".join(
        f"50-200 rows against {end}: {more[end].mean():+.4f}, p {p[end]:.2g}" for end in more)


def no_difference_of_l2(evidence: Evidence) -> Any:
    mean, p = evidence.l2_gain.groupby("case").mean(), _p_by_case(evidence.l2_gain)
    different = [case for case in mean.index if p[case] < ALPHA]
    sides = {"(i)": [case for case in different if mean[case] > 0],
             "(ii)": [case for case in different if mean[case] < 0]}
    numbers = f"significant in {len(different)} of {len(mean)} cases; " + "; ".join(
        f"{side} better in {_listed(cases)}" for side, cases in sides.items())
    return grade(not different, len(different) < len(mean) / 2), numbers, _by_case(p)


def gain_by_group_size(groups: Any) -> Any:
    """Gain of (i) over (ii), mean over sizes, by kind of case ("sparse", "dense"), copies and instance."""
    errors = wide(groups, "test_error")
    gain = (errors[FUSED[1]] - errors[FUSED[0]]).groupby(["case", "instance"]).mean()
    kinds = gain.index.get_level_values("case").str.rstrip("0123456789")
    copies = [GROUPS[case].copies for case in gain.index.get_level_values("case")]
    places = [kinds, copies, gain.index.get_level_values("instance")]
    return gain.set_axis(pd.MultiIndex.from_arrays(places, names=["kind", "copies", "instance"])).sort_index()


def larger_groups(evidence: Evidence) -> Any:
    gain = gain_by_group_size(evidence.groups)
    kinds, fewest, most = list(gain.index.unique("kind")), *np.array(gain.index.unique("copies"))[[0, -1]]
    tests = [stats.mannwhitneyu(gain[kind, most], gain[kind, fewest], method="asymptotic").pvalue for kind in kinds]
    p = dict(zip(kinds, holm(tests)))
    mean = gain.groupby(["kind", "copies"]).mean()
    grown = [kind for kind in kinds if mean[kind, most] > mean[kind, fewest] and p[kind] < ALPHA]
    each = gain.groupby(["kind", "copies"]).apply(signed_rank)
    low = evidence.groups[evidence.groups["model"] == FUSED[0]]
    low = (low["l2"] <= VERY_LOW_L2).groupby(low["case"]).mean()
    numbers = "gain of (i) over (ii) by group size: " + "; ".join(f"{kind}: " + ", ".join(
        f"{copies} features {value:+.4f} (p {each[kind, copies]:.2g}, l2 <= {VERY_LOW_L2:g} in "
        f"{low[f'{kind}{copies}']:.0%})"
        for copies, value in mean[kind].items()) for kind in kinds)
    return grade(len(grown) == len(kinds), bool(grown)), numbers, (
        f"groups of {most} against {fewest}, rank-sum test, Holm over {len(kinds)}: "
        + ", ".join(f"{kind} p {p[kind]:.2g}" for kind in kinds))


def _overlaps(scores):
    """Whether (i) and (ii) nearly overlap, by sparse correlated case, size and kind of distance."""
    rows = scores[scores["case"].isin([name for name in PAPER if CASES[name].correlated and CASES[name].sparse])]
    found = {}
    for kind in ("distance_zero", "distance_nonzero"):
        for key, cell in wide(rows, kind).groupby(["case", "size"]):
            low, middle, high = np.quantile(cell[FUSED[1]], [0.25, 0.5, 0.75])
            apart = abs(cell[FUSED[0]].median() - middle)
            found[(*key, kind)] = apart <= OVERLAP * (high - low)
    return pd.Series(found)


def _p_by_case(gain):
    """Signed-rank test over the instances of each case, corrected by Holm's method over the cases."""
    cases = gain.index.unique("case")
    return pd.Series(holm([signed_rank(gain.loc[case]) for case in cases]), cases)


def _by_case(p):
    return f"signed-rank by case, Holm over {len(p)}: " + ", ".join(f"{case} {value:.2g}" for case, value in p.items())


def _with_t(gain, size):
    """Mean of a gain over instances at one size, and its paired t."""
    spread = gain.std(ddof=1) / np.sqrt(len(gain))
    return f"{size}: {gain.mean():.4f} ({gain.mean() / spread if spread > 0 else np.nan:.1f})"


def _significance(table):
    for_fusion = ((table["gain"] > 0) & (table["p_holm"] < ALPHA)).sum()
    against = ((table["gain"] < 0) & (table["p_holm"] < ALPHA)).sum()
    return (f"of {len(table)} comparisons {for_fusion} significantly for fusion, "
            f"{against} significantly against (Holm)")


def _exceptions(agrees):
    cells = [f"{case}{size}" for (case, size), fine in agrees.items() if not fine]
    return f"exceptions: {', '.join(cells)}" if cells else "no exceptions"


def _listed(names):
    return ", ".join(names) or "none"
