"""Verdicts follow from the rules: data in which a claim is true, and data bent so that it is not."""

import numpy as np
import pandas as pd
import pytest

from fusedlr.study import claims


def verdict(scores, number, timing=None):
    return claims.judge(scores, timing).set_index("claim").loc[number, "verdict"]


def bent(scores, where, **columns):
    scores = scores.copy()
    for name, change in columns.items():
        scores.loc[where, name] = change(scores.loc[where, name])
    return scores


def test_every_claim_is_reproduced_where_it_is_true(scores, timing):
    table = claims.judge(scores, timing)
    assert table["claim"].tolist() == list(range(1, 9))
    assert set(table["verdict"]) == {"reproduced"}
    assert (table["numbers"].str.len() > 0).all()


def test_claim_1_fails_where_a_single_task_model_leads(scores):
    lead = (scores["model"] == "elastic_net") & scores["case"].isin(["b", "c", "d"])
    assert verdict(bent(scores, lead, test_error=lambda error: error - 0.2), 1) == "not reproduced"
    lead &= scores["case"] == "b"
    assert verdict(bent(scores, lead, test_error=lambda error: error - 0.2), 1) == "partly"


def test_claim_2_needs_significance(scores):
    noise = np.random.default_rng(2).normal(0, 1, len(scores))
    noisy = scores.assign(test_error=scores["test_error"] + noise)
    assert verdict(noisy, 2) == "not reproduced"


def test_claim_2_is_partly_true_where_the_gain_does_not_peak(scores):
    other = scores["size"].isin([25, 50, 400]) & scores["model"].isin(claims.SINGLE_TASK)
    assert verdict(bent(scores, other, test_error=lambda error: error + 0.1), 2) == "partly"


def test_claim_3_fails_where_fusing_helps_everywhere(scores):
    single = scores["model"].isin(claims.SINGLE_TASK)
    assert verdict(bent(scores, single, test_error=lambda error: error + 0.2), 3) == "not reproduced"


def test_claim_4_fails_far_from_the_bayes_risk(scores):
    late = scores["case"].isin(["g", "h"]) & (scores["size"] == 400) & scores["model"].isin(claims.SINGLE_TASK)
    assert verdict(bent(scores, late, test_error=lambda error: error + 0.2), 4) == "not reproduced"


def test_claim_5_is_partly_true_where_other_cases_gain_most(scores):
    other = (scores["model"] == "fused_l1") & (scores["case"] == "a")
    assert verdict(bent(scores, other, test_error=lambda error: error + 0.005), 5) == "partly"
    everywhere = scores["model"] == "fused_l1"
    much = bent(bent(scores, other, test_error=lambda error: error + 0.05), everywhere, test_error=lambda e: e + 0.05)
    assert verdict(much, 5) == "not reproduced"


def test_claim_6_hangs_on_the_tie_break(scores):
    fused = scores["model"] == "fused_elastic_net"
    assert verdict(bent(scores, fused, l2_largest_tied=lambda l2: l2 + 1), 6) == "partly"
    all_large = bent(scores, fused, l2=lambda x: x + 1, l2_largest_tied=lambda x: x + 1, l2_smallest_tied=lambda x: x + 1)
    assert verdict(all_large, 6) == "not reproduced"


def test_claim_7_has_two_parts(scores):
    fused = (scores["model"] == "fused_l1") & scores["case"].isin(["g", "h"])
    apart = bent(scores, fused, distance_zero=lambda x: x + 1, distance_nonzero=lambda x: x + 1)
    assert verdict(apart, 7) == "partly"
    closer = scores["model"] == "elastic_net"
    assert verdict(bent(apart, closer, distance_zero=lambda x: x - 1), 7) == "not reproduced"


def test_claim_8_compares_growth(scores, timing):
    same = timing.assign(seconds=np.where(timing["space"] == "rows", 2.0, 1.0) * timing["features"] ** 3)
    assert verdict(scores, 8, same) == "not reproduced"
    assert verdict(scores, 8, same.assign(seconds=1 / same["seconds"])) == "partly"


def test_few_instances_are_not_judged_but_have_numbers(make_scores, timing):
    table = claims.judge(make_scores(instances=2), timing).set_index("claim")
    assert (table.loc[:7, "verdict"] == "not judged: 2 instances of a case, 10 needed").all()
    assert (table["numbers"].str.len() > 0).all()


def test_missing_cases_sizes_or_models_are_named(scores):
    assert verdict(scores[scores["case"] != "e"], 1) == "not judged: no case e"
    assert verdict(scores[scores["size"] != 100], 1) == "not judged: no size 100"
    assert verdict(scores[scores["model"] != "unpenalized"], 1) == "not judged: no model unpenalized"
    assert claims.judge(scores).set_index("claim").loc[8, "verdict"].startswith("not judged: no timing")


def test_without_adaboost_the_others_are_compared_and_it_is_said(scores):
    table = claims.judge(scores[scores["model"] != "adaboost"]).set_index("claim")
    assert table.loc[1, "verdict"] == "reproduced"
    assert table.loc[1, "numbers"].endswith("(without AdaBoost)")


def test_best_single_task_model_has_the_least_mean_error(scores):
    best = claims.best_single_task(scores)
    assert isinstance(best, pd.Series)
    assert set(best) == {"elastic_net"}
