"""Verdicts on the paper's claims, and their stability under the bootstrap.

A verdict should not depend on the luck of twenty instances. The instances of each case are resampled with replacement
many times; where less than 80 % of these resamples give the same verdict, it is called open.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from study.cases import PAPER
from study.claims import CLAIMS
from study.claims.claim import Claim, Verdict
from study.evidence import SIZES, Evidence
from study.files import lacking
from study.models import READINGS, as_read
from study.paired import FUSED, SINGLE_TASK

__all__ = ["MIN_INSTANCES", "NOT_JUDGED", "RESAMPLES", "STABLE", "judge", "judge_readings", "stability"]

#: Fewer instances of each case than this, and no claim is judged.
MIN_INSTANCES = 10
#: Verdicts that come back in a smaller share of the resamples are called open.
STABLE = 0.8
RESAMPLES = 200
OPEN, NOT_JUDGED = "open", "not judged"


def judge(scores: pd.DataFrame, timing: pd.DataFrame | None = None, groups: pd.DataFrame | None = None,
          resamples: int = RESAMPLES, seed: int = 1, claims: Sequence[Claim] = CLAIMS) -> pd.DataFrame:
    """One row a claim: what the paper says, our numbers, the test and the verdict.

    ``by_rule`` is what the rule says, ``verdict`` the same or "open". ``timing`` (seconds of one chi-update) is for
    claim 8, ``groups`` (scores of the experiment on larger groups) for claim 12. ``stability`` is empty for 0
    resamples.
    """
    evidence = Evidence(scores, timing, groups)
    table = pd.DataFrame([{"claim": claim.number, "paper": claim.paper, "rule": claim.rule,
                           "written": "afterwards" if claim.added else "before the run",
                           **_verdict(claim, evidence)._asdict()} for claim in claims])
    shares = stability(scores, groups, dict(zip(claims, table["by_rule"])), resamples, seed)
    table["stability"] = table["claim"].map(shares).astype(float)
    table["verdict"] = [OPEN if share < STABLE else verdict
                        for share, verdict in zip(table["stability"], table["by_rule"])]
    return table[["claim", "paper", "rule", "written", "numbers", "test", "by_rule", "stability", "verdict"]]


def judge_readings(scores: pd.DataFrame, others: pd.DataFrame, groups: pd.DataFrame | None = None,
                   resamples: int = RESAMPLES, seed: int = 1) -> pd.DataFrame:
    """Rows of :func:`judge` of every claim that another ``reading`` of the paper may change.

    ``others`` are the scores of the readings' models; ``groups`` holds those of both kinds.
    """
    tables = []
    for name in READINGS:
        read_groups = None if groups is None else as_read(groups, groups, name)
        about_scores = [claim for claim in CLAIMS if claim.needs != "timing"]
        read = judge(as_read(scores, others, name), None, read_groups, resamples, seed, about_scores)
        tables.append(read.assign(reading=name))
    about_distances = [claim for claim in CLAIMS if claim.needs == "distances"]
    by_task = scores.assign(**{f"distance_{kind}": scores[f"distance_{kind}_by_task"] for kind in ("zero", "nonzero")})
    tables.append(judge(by_task, None, None, resamples, seed, about_distances).assign(reading="distances_by_task"))
    columns = ["reading", "claim", "numbers", "test", "by_rule", "stability", "verdict"]
    return pd.concat(tables, ignore_index=True)[columns]


def stability(scores: pd.DataFrame, groups: pd.DataFrame | None, by_rule: Mapping[Claim, str],
              resamples: int = RESAMPLES, seed: int = 1) -> dict[int, float]:
    """Share of resamples of the instances of each case in which a claim's verdict is the same, by number.

    Claims that are not judged are left out.
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
            same[claim.number] += claim.judge(evidence).by_rule == by_rule[claim]
    return {number: count / resamples for number, count in same.items()}


def _resampler(scores):
    """Bootstrap function: draws the instances of each case with replacement and renumbers them."""
    rows = {}
    for (case, _), positions in scores.groupby(["case", "instance"]).indices.items():
        rows.setdefault(case, []).append(positions)

    def draw(rng):
        chosen = [instances[i] for instances in rows.values() for i in rng.integers(0, len(instances), len(instances))]
        numbers = [number for instances in rows.values() for number in range(1, len(instances) + 1)]
        table = scores.take(np.concatenate(chosen))
        return table.assign(instance=np.repeat(numbers, [len(positions) for positions in chosen]))

    return draw


def _verdict(claim, evidence):
    """What the rule says, or why it says nothing."""
    missing = {"timing": _missing_timing, "groups": _missing_groups}.get(claim.needs, _missing_scores)(evidence)
    if missing:
        return Verdict(f"{NOT_JUDGED}: {missing}", "", "")
    verdict = claim.judge(evidence)
    if claim.needs != "timing":
        about = evidence.groups if claim.needs == "groups" else evidence.scores
        instances = int(about.groupby("case")["instance"].nunique().min())
        if instances < MIN_INSTANCES:
            verdict = verdict._replace(by_rule=f"{NOT_JUDGED}: {instances} instances of a case, {MIN_INSTANCES} needed")
    if claim.single_task and "adaboost" not in set(evidence.scores["model"]):
        verdict = verdict._replace(numbers=verdict.numbers + " (without AdaBoost)")
    return verdict


def _missing_scores(evidence):
    """What the scores lack for any claim to be judged, in words, or an empty string."""
    models = [model for model in (*FUSED, *SINGLE_TASK) if model != "adaboost"]
    absent = {}
    for column, value in lacking(evidence.scores, {"case": PAPER, "size": SIZES, "model": models}):
        absent.setdefault(column, []).append(str(value))
    return next((f"no {column} {', '.join(values)}" for column, values in absent.items()), "")


def _missing_timing(evidence):
    timed = evidence.timing is not None and {500, 1000, 5000} <= set(evidence.timing["features"])
    return "" if timed else "no timing at 500, 1000 and 5000 features"


def _missing_groups(evidence):
    return "the experiment is no part of this run" if evidence.groups is None or evidence.groups.empty else ""
