"""Verdicts on the paper's claims under each reading of the paper, and their stability under the bootstrap.

A verdict should not depend on the luck of twenty instances. The instances of each case are resampled with replacement
many times, and the stability of a verdict is the share of resamples that give the same one. Below 0.8 it is called
open. The share has a standard error of its own; within two of them of 0.8 it is called undecided.

A resample of 20 instances holds about 13 different ones. Its tests count each copy as an instance of its own and are
thus surer than those of 20 new instances would be: the stability of a verdict that hangs on significance is
overestimated where the study finds it, and underestimated where it does not.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from study.cases import GROUPS, PAPER
from study.claims import CLAIMS
from study.claims.claim import GRADES, Claim
from study.evidence import FEATURES, SIZES, Evidence
from study.files import lacking
from study.models import as_read
from study.paired import FUSED, SINGLE_TASK
from study.readings import EQUALS, READINGS

__all__ = ["COLUMNS", "MIN_INSTANCES", "NOT_JUDGED", "OPEN", "RESAMPLES", "STABLE", "UNDECIDED", "judge",
           "judge_readings", "replaced", "side_by_side", "stability"]

#: Fewer instances of each case than this, and no claim is judged.
MIN_INSTANCES = 10
#: Verdicts that come back in a smaller share of the resamples are called open.
STABLE = 0.8
RESAMPLES = 5000
#: Resamples that are judged at once, which bounds the memory.
AT_ONCE = 250
OPEN, UNDECIDED, NOT_JUDGED = "open", "undecided", "not judged"
COLUMNS = ["reading", "claim", "brief", "numbers", "test", "by_rule", "stability", "standard_error", "verdict"]


def judge(scores: pd.DataFrame, timing: pd.DataFrame | None = None, groups: pd.DataFrame | None = None,
          admm: pd.DataFrame | None = None, resamples: int = RESAMPLES, seed: int = 1,
          claims: Sequence[Claim] = CLAIMS) -> pd.DataFrame:
    """One row a claim: our numbers in brief and in full, the test and the verdict.

    ``by_rule`` is what the rule says, ``verdict`` the same, "open" or "undecided". ``timing`` (seconds of one
    chi-update) is for claim 8, ``groups`` (scores of the experiment on larger groups) for claim 12, ``admm`` for
    claim 14. ``stability`` is empty for 0 resamples.
    """
    evidence = Evidence(scores, timing, groups, admm)
    rows = [_row(claim, evidence) for claim in claims]
    judged = [claim for claim, row in zip(claims, rows) if not claim.of_time
              and not row["by_rule"].startswith(NOT_JUDGED)]
    shares = stability(evidence, judged, resamples, seed)
    for row in rows:
        share = shares.get(row["claim"], np.nan)
        error = np.sqrt(share * (1 - share) / resamples) if resamples else np.nan
        row |= {"stability": share, "standard_error": error, "verdict": _label(row["by_rule"], share, error)}
    return pd.DataFrame(rows, columns=COLUMNS[1:])


def judge_readings(scores: pd.DataFrame, others: pd.DataFrame, timing: pd.DataFrame | None = None,
                   groups: pd.DataFrame | None = None, admm: pd.DataFrame | None = None,
                   drawn: Mapping[str, pd.DataFrame] | None = None, resamples: int = RESAMPLES,
                   seed: int = 1) -> pd.DataFrame:
    """Rows of :func:`judge` for each ``reading`` of the paper, of every claim that it may change.

    ``others`` are the scores of models that take the place of some in other readings of the same fits; ``groups`` holds
    those of both kinds. ``drawn`` holds by reading the scores of runs with data or fits of their own.
    """
    tables = []
    for name, reading in READINGS.items():
        if reading.runs and name not in (drawn or {}):
            continue
        read_groups = None if groups is None else as_read(groups, groups, name)
        read = as_read(scores, others, name)
        claims = [claim for claim in CLAIMS if name in EQUALS or not claim.of_time]
        if reading.runs:
            read, read_groups = replaced(scores, (drawn or {})[name]), None
            claims = [claim for claim in claims if claim.needs != "groups"]
        if name == "distances_by_task":
            claims = [claim for claim in CLAIMS if claim.needs == "distances"]
            kinds = ("distance_zero", "distance_nonzero")
            read = scores.assign(**{kind: scores[f"{kind}_by_task"] for kind in kinds})
        tables.append(judge(read, timing, read_groups, admm, resamples, seed, claims).assign(reading=name))
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def side_by_side(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a claim: what the paper says, the rule, and numbers and verdict of both main readings side by side."""
    table = pd.DataFrame([{"claim": claim.number, "paper": claim.paper, "rule": claim.rule, "written": claim.written}
                          for claim in CLAIMS])
    for name in EQUALS:
        rows = verdicts[verdicts["reading"] == name].set_index("claim")[["brief", "by_rule", "stability", "verdict"]]
        table = table.join(rows.add_prefix(f"{name}_"), on="claim")
    return table


def stability(evidence: Evidence, claims: Sequence[Claim], resamples: int = RESAMPLES,
              seed: int = 1) -> dict[int, float]:
    """Share of resamples of the instances of each case in which a claim's verdict is the same, by number."""
    if not claims or not resamples:
        return {}
    rng, same = np.random.default_rng(seed), {claim.number: 0 for claim in claims}
    ours = {claim.number: claim.judge(evidence).grades[0] for claim in claims}
    for start in range(0, resamples, AT_ONCE):
        drawn = evidence.resampled(rng, min(AT_ONCE, resamples - start))
        for claim in claims:
            same[claim.number] += int((claim.judge(drawn).grades == ours[claim.number]).sum())
    return {number: count / resamples for number, count in same.items()}


def _label(by_rule, share, error):
    if np.isnan(share):
        return by_rule
    return UNDECIDED if abs(share - STABLE) <= 2 * error else OPEN if share < STABLE else by_rule


def replaced(scores: pd.DataFrame, drawn: pd.DataFrame) -> pd.DataFrame:
    """Scores with those of a run under another reading in their place, for the instances and models that it has.

    AdaBoost stays where the reading has the same data, and is left out where it has data of its own.
    """
    scores = scores[scores["instance"].isin(set(drawn["instance"]))]
    models = set(drawn["model"]) | (set() if drawn["new_data"].any() else {"adaboost"})
    scores = scores[scores["model"].isin(models)]
    key = ["case", "instance", "size", "model"]
    kept = scores.merge(drawn[key], on=key, how="left", indicator=True)["_merge"] == "left_only"
    return pd.concat([scores[kept.to_numpy()], drawn.drop(columns="new_data")], ignore_index=True)


def _row(claim: Claim, evidence: Evidence) -> dict[str, Any]:
    """What the rule says, or why it says nothing."""
    missing = MISSING.get(claim.needs, _missing_scores)(evidence)
    if missing:
        return {"claim": claim.number, "by_rule": f"{NOT_JUDGED}: {missing}", "brief": "", "numbers": "", "test": ""}
    verdict = claim.judge(evidence)
    row = {"claim": claim.number, "by_rule": GRADES[verdict.grades[0]], **verdict.words()._asdict()}
    cube: Any = evidence.groups if claim.needs == "groups" else evidence.scores
    if not claim.of_time and len(cube.instances) < MIN_INSTANCES:
        row["by_rule"] = f"{NOT_JUDGED}: {len(cube.instances)} instances of a case, {MIN_INSTANCES} needed"
    if claim.single_task and "adaboost" not in evidence.scores.models:
        row["numbers"] += " (without AdaBoost)"
    return row


def _missing_scores(evidence):
    """What the scores lack for any claim to be judged, in words, or an empty string."""
    models = [model for model in (*FUSED, *SINGLE_TASK) if model != "adaboost"]
    absent: dict[str, list[str]] = {}
    for column, value in lacking(evidence.scores.scores, {"case": PAPER, "size": SIZES, "model": models}):
        absent.setdefault(column, []).append(str(value))
    return next((f"no {column} {', '.join(values)}" for column, values in absent.items()), "")


def _missing_timing(evidence):
    timed = evidence.timing is not None and set(FEATURES) <= set(evidence.timing["features"])
    return "" if timed else "no timing at 500, 1000 and 5000 features"


def _missing_groups(evidence):
    has_all = evidence.groups is not None and set(GROUPS) <= set(evidence.groups.cases)
    return "" if has_all else "the experiment is no part of this run"


def _missing_pairs(evidence):
    absent = "pairs_whole" not in evidence.scores.scores
    return "the scores have no column pairs_whole" if absent else _missing_scores(evidence)


def _missing_admm(evidence):
    return "no timing of ADMM" if evidence.admm is None or evidence.admm.empty else ""


MISSING = {"timing": _missing_timing, "groups": _missing_groups, "pairs": _missing_pairs, "admm": _missing_admm}
