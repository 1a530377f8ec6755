"""The paper's claims, each with the rule that decides it, and how firmly its verdict stands.

Claims 1 to 8 and their rules were written down before the study was first run; the others were added after it, when
the paper was read once more sentence by sentence, and say so. Nothing but its rule decides a verdict. Comparisons are
paired over the instances of a case, as :mod:`study.paired` says.

A verdict that depends on the luck of twenty instances is no verdict: the instances of each case are drawn again with
replacement many times, and where less than 80 % of these draws give the same verdict it is called open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from study import verdicts
from study.models import READINGS, as_read
from study.paired import FUSED, SINGLE_TASK
from study.cases import PAPER
from study.verdicts import SIZES, Evidence

__all__ = ["CLAIMS", "Claim", "judge", "judge_readings", "stability"]

#: Fewer instances of each case than this, and no claim is judged.
MIN_INSTANCES = 10
#: Verdicts that come back in a smaller share of the resamples are called open.
STABLE = 0.8
RESAMPLES = 200
OPEN, NOT_JUDGED = "open", "not judged"


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    number : int
    paper : str
        What the paper says.
    rule : str
        The rule in words.
    judge : function
        From the evidence to verdict, numbers and test.
    needs : {"scores", "timing", "groups"}
        The evidence that it takes.
    added : bool
        Whether the rule was added after the study had been run.
    """

    number: int
    paper: str
    rule: str
    judge: Callable
    needs: str = "scores"
    added: bool = False


CLAIMS = [
    Claim(1, "Fused models beat the three single-task models in cases b, c, d, f and h.",
          "A case holds if, in more than half of the sizes, both fused models have a lower mean test error than each "
          "single-task model. Reproduced: all 5 cases; partly: at least 3.", verdicts.fused_models_lead),
    Claim(2, "The advantage is significant with high similarity (b, d, f, h), particularly with 100 to 200 rows.",
          "A cell holds if the fused elastic net is significantly better than each single-task model; a case is peaked "
          "if the gain over the best of them is significantly larger at 100-200 rows than at the other sizes. "
          "Reproduced: all 8 cells and 4 cases; partly: more than half of the cells.", verdicts.peak_in_the_middle),
    Claim(3, "Fusing helps less or not at all in a, e and g, and in b, c and f with at most 50 rows.",
          "A cell agrees if the gain over the best single-task model is not significant, or is less than half of the "
          "mean gain in b, d, f, h at 100 and 200 rows. Reproduced: 90 % of the 21 cells; partly: half.",
          verdicts.little_help),
    Claim(4, "Single-task models come near the Bayes risk in g and h with 400 rows, so that fusing helps little.",
          f"In g and in h: the best single-task model is within {verdicts.NEAR_BAYES:g} of the Bayes risk, and the "
          f"gain at 400 rows is at most half of the largest gain with fewer rows. Reproduced: all 4 conditions; "
          f"partly: 2 or 3.",
          verdicts.near_the_bayes_risk),
    Claim(5, "The fused elastic net is only slightly better than the fused L1 model, mainly in b and f.",
          f"Slight: the mean gain is not negative over all and at most {verdicts.SLIGHT_GAIN:g} in absolute value in "
          f"every case. Mainly: b and f have the two largest gains. Reproduced: both; partly: one.",
          verdicts.slight_gain_of_l2),
    Claim(6, "For the majority of instances the tuned lambda2 is very low or zero.",
          f"More than half of the chosen l2 are at most {verdicts.VERY_LOW_L2:g}. Reproduced: whichever way ties of "
          f"the validation error are broken; partly: for some ways.", verdicts.low_l2),
    Claim(7, "Parameter recovery: (i) and (ii) nearly overlap in the sparse correlated cases; the elastic net is "
          "farther from the true zeros, particularly in f and g with at least 200 rows and h with at least 100.",
          f"Overlap: medians of (i) and (ii) differ by at most {verdicts.OVERLAP:g} interquartile ranges in 80 % of "
          f"the comparisons (g, h; every size; both distances). Farther: significantly so in each of the 7 named "
          f"cells. Reproduced: both; partly: overlap, or more than half of the cells.", verdicts.recovery),
    Claim(8, "Newton's method in the space of the rows removes the cost that grows with the cube of the features.",
          "From 1000 to 5000 features, the time of a step grows at least as d^2 in d-space and at most as d^1.5 in "
          "n-space, and n-space is at least 10 times faster at 5000. Reproduced: all; partly: n-space is faster at "
          "5000.",
          verdicts.growth_with_features, needs="timing"),
    Claim(9, "Where fusing does not help, tuning would set nu to zero by itself.",
          "In the cells of claim 3 and in g and h with 400 rows: reproduced if fusion 0 was chosen in more than half "
          "of all fits of (i); partly if in more than half of those of some "
          "case.", verdicts.fusion_tuned_to_zero, added=True),
    Claim(10, "Learning performance is enhanced if a small but yet informative amount of data is available.",
          "Over all cases, the gain of (i) over the best single-task model is significantly larger with 50 to 200 rows "
          "than with 25 (small, not informative) and than with 400 (informative, not small). Reproduced: both; partly: "
          "one.",
          verdicts.small_but_informative, added=True),
    Claim(11, "No significant differences were observed between the fused L1 model and the fused elastic net.",
          "Signed-rank test of the difference in test error, mean over sizes, by case. Reproduced: no case is "
          "significant; partly: fewer than half are.", verdicts.no_difference_of_l2, added=True),
    Claim(12, "The elastic net variant will turn out better if sets of correlated features have more than two members.",
          "Experiment with groups of 2, 5 and 10 correlated features of the same joint signal, with 20 and with 60 "
          "non-zero coefficients: the gain of (i) over (ii) is significantly larger with groups of 10 than with groups "
          "of 2. Reproduced: with 20 and with 60; partly: with one of them.", verdicts.larger_groups, needs="groups",
          added=True),
]


def judge(scores: pd.DataFrame, timing: pd.DataFrame | None = None, groups: Any | None = None,
          resamples: int = RESAMPLES, seed: int = 1, claims: Any = None) -> pd.DataFrame:
    """Table of the claims: what the paper says, our numbers, the tests and the verdicts.

    Parameters
    ----------
    scores : DataFrame
        ``scores.csv`` of the study.
    timing : DataFrame, optional
        Seconds of one chi-update, for claim 8.
    groups : DataFrame, optional
        Scores of the experiment on larger groups, for claim 12.
    resamples, seed : int
        Of the bootstrap behind ``stability``; none are drawn for 0.
    claims : list of Claim, optional
        All of ``CLAIMS`` if not given.

    Returns
    -------
    DataFrame
        One row a claim; ``by_rule`` is what its rule says, ``verdict`` the same or "open".
    """
    evidence, claims = Evidence(scores, timing, groups), claims or CLAIMS
    rows = [{"claim": claim.number, "paper": claim.paper, "rule": claim.rule,
             "written": "afterwards" if claim.added else "before the run",
             **dict(zip(("by_rule", "numbers", "test"), _applied(claim, evidence)))} for claim in claims]
    table = pd.DataFrame(rows)
    shares = stability(scores, groups, dict(zip(claims, table["by_rule"])), resamples, seed)
    table["stability"] = table["claim"].map(shares).astype(float)
    table["verdict"] = [OPEN if share < STABLE else verdict
                        for share, verdict in zip(table["stability"], table["by_rule"])]
    return table[["claim", "paper", "rule", "written", "numbers", "test", "by_rule", "stability", "verdict"]]


def judge_readings(scores: pd.DataFrame, others: Any, groups: Any | None = None, resamples: int = RESAMPLES,
                   seed: int = 1) -> pd.DataFrame:
    """Verdicts under other readings of the paper than the one that the study takes.

    Parameters
    ----------
    scores, others : DataFrame
        ``scores.csv`` and ``readings.csv`` of the study.
    groups : DataFrame, optional
        Scores of the experiment on larger groups, those of the readings' models included.
    resamples, seed : int

    Returns
    -------
    DataFrame
        ``judge``'s rows of every claim that the ``reading`` may change.
    """
    tables = []
    for name in READINGS:
        read_groups = None if groups is None else as_read(groups, groups, name)
        about_scores = [claim for claim in CLAIMS if claim.needs != "timing"]
        read = judge(as_read(scores, others, name), None, read_groups, resamples, seed, about_scores)
        tables.append(read.assign(reading=name))
    about_distances = [claim for claim in CLAIMS if claim.judge is verdicts.recovery]
    by_task = scores.assign(**{f"distance_{kind}": scores[f"distance_{kind}_by_task"] for kind in ("zero", "nonzero")})
    tables.append(judge(by_task, None, None, resamples, seed, about_distances).assign(reading="distances_by_task"))
    columns = ["reading", "claim", "numbers", "test", "by_rule", "stability", "verdict"]
    return pd.concat(tables, ignore_index=True)[columns]


def stability(scores: pd.DataFrame, groups: Any, by_rule: Any, resamples: int = RESAMPLES, seed: int = 1) -> dict:
    """Share of resamples of the instances of each case in which a claim's verdict comes out the same.

    Parameters
    ----------
    scores, groups : DataFrame
        As for :func:`judge`.
    by_rule : dict of Claim to str
        Verdicts; those not judged are left out.
    resamples, seed : int

    Returns
    -------
    dict of int to float
    """
    judged = [claim for claim, verdict in by_rule.items() if claim.needs != "timing"
              and not verdict.startswith(NOT_JUDGED)]
    if not judged or not resamples:
        return {}
    rng = np.random.default_rng(seed)
    draws, group_draws = _resampler(scores), None if groups is None or groups.empty else _resampler(groups)
    same = {claim.number: 0 for claim in judged}
    for _ in range(resamples):
        evidence = Evidence(draws(rng), None, group_draws(rng) if group_draws else None)
        for claim in judged:
            same[claim.number] += claim.judge(evidence)[0] == by_rule[claim]
    return {number: count / resamples for number, count in same.items()}


def _resampler(scores):
    """Function that draws the instances of each case again with replacement, numbered anew."""
    rows = {}
    for (case, _), positions in scores.groupby(["case", "instance"]).indices.items():
        rows.setdefault(case, []).append(positions)

    def draw(rng):
        chosen = [instances[i] for instances in rows.values() for i in rng.integers(0, len(instances), len(instances))]
        numbers = [number for instances in rows.values() for number in range(1, len(instances) + 1)]
        table = scores.take(np.concatenate(chosen))
        return table.assign(instance=np.repeat(numbers, [len(positions) for positions in chosen]))

    return draw


def _applied(claim, evidence):
    lacking = {"scores": _scores_lack, "timing": _timing_lacks, "groups": _groups_lack}[claim.needs](evidence)
    if lacking:
        return f"{NOT_JUDGED}: {lacking}", "", ""
    verdict, numbers, test = claim.judge(evidence)
    about = evidence.groups if claim.needs == "groups" else evidence.scores
    instances = int(about.groupby("case")["instance"].nunique().min())
    if claim.needs != "timing" and instances < MIN_INSTANCES:
        verdict = f"{NOT_JUDGED}: {instances} instances of a case, {MIN_INSTANCES} needed"
    if "adaboost" not in set(evidence.scores["model"]) and claim.number <= 4:
        numbers += " (without AdaBoost)"
    return verdict, numbers, test


def _scores_lack(evidence):
    """What the scores lack for any claim to be judged, in words, or an empty string."""
    needed = [model for model in (*FUSED, *SINGLE_TASK) if model != "adaboost"]
    for column, wanted in (("case", PAPER), ("size", SIZES), ("model", needed)):
        absent = [str(value) for value in wanted if value not in set(evidence.scores[column])]
        if absent:
            return f"no {column} {', '.join(absent)}"
    return ""


def _timing_lacks(evidence):
    timed = evidence.timing is not None and {500, 1000, 5000} <= set(evidence.timing["features"])
    return "" if timed else "no timing at 500, 1000 and 5000 features"


def _groups_lack(evidence):
    return "the experiment is no part of this run" if evidence.groups is None or evidence.groups.empty else ""
