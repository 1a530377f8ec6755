"""Scores bent so that a claim is no longer true, and what its rule then says."""

from study import judging
from study.claims import CLAIMS


def by_rule(scores, number, timing=None, groups=None, admm=None):
    only = [claim for claim in CLAIMS if claim.number == number]
    return judging.judge(scores, timing, groups, admm, resamples=0, claims=only)["by_rule"][0]


def bent(scores, where, **columns):
    scores = scores.copy()
    for name, change in columns.items():
        scores.loc[where, name] = change(scores.loc[where, name])
    return scores


def worse(by):
    return lambda error: error + by
