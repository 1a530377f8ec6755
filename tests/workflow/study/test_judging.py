"""A verdict says when it is not judged, and is called open where it depends on the instances drawn."""

import numpy as np
import pandas as pd
import pytest

from study import judging
from study.cases import CASES
from study.claims import CLAIMS
from study.evidence import Evidence

from .bending import bent, by_rule, worse


def test_few_instances_are_not_judged_but_have_numbers(make_scores, make_groups, timing):
    table = judging.judge(make_scores(instances=2), timing, make_groups(instances=2)).set_index("claim")
    judged = table["by_rule"].drop([8, 14])
    assert (judged == "not judged: 2 instances of a case, 10 needed").all()
    assert table["stability"].isna().all()
    assert (table["numbers"].drop(14).str.len() > 0).all()


def test_missing_cases_sizes_or_models_are_named(scores):
    assert by_rule(scores[scores["case"] != "e"], 1) == "not judged: no case e"
    assert by_rule(scores[scores["size"] != 100], 1) == "not judged: no size 100"
    assert by_rule(scores[scores["model"] != "unpenalized"], 1) == "not judged: no model unpenalized"
    assert by_rule(scores, 8).startswith("not judged: no timing")
    assert by_rule(scores, 12) == "not judged: the experiment is no part of this run"
    assert by_rule(scores.drop(columns="pairs_whole"), 13) == "not judged: the scores have no column pairs_whole"
    assert by_rule(scores, 14) == "not judged: no timing of ADMM"


def test_without_adaboost_the_others_are_compared_and_it_is_said(scores):
    table = judging.judge(scores[scores["model"] != "adaboost"], resamples=0).set_index("claim")
    assert table.loc[1, "by_rule"] == "reproduced"
    assert table.loc[1, "numbers"].endswith("(without AdaBoost)")


def test_a_clear_verdict_is_stable_and_a_toss_is_open(scores):
    """Of four cases with the same gain but for luck, which two lead is a matter of the instances drawn."""
    only = [claim for claim in CLAIMS if claim.number in (1, 5)]
    other = (scores["model"] == "fused_l1") & (scores["case"] == "a")
    also = (scores["model"] == "fused_l1") & (scores["case"] == "c")
    toss = bent(bent(scores, other, test_error=worse(0.001)), also, test_error=worse(0.001))
    table = judging.judge(toss, resamples=300, claims=only).set_index("claim")
    assert table.loc[1, ["stability", "verdict"]].tolist() == [1.0, "reproduced"]
    assert table.loc[5, "stability"] < 0.8
    assert table.loc[5, "verdict"] == "open"


@pytest.mark.parametrize(("share", "verdict"), [
    (0.78, "open"), (0.79, "undecided"), (0.81, "undecided"), (0.812, "reproduced"), (1.0, "reproduced")])
def test_a_verdict_is_open_below_eighty_percent_and_undecided_near_it(scores, monkeypatch, share, verdict):
    """At 5,000 resamples, two standard errors of 0.8 are 0.0113."""
    monkeypatch.setattr(judging, "stability", lambda *_: {1: share})
    only = [claim for claim in CLAIMS if claim.number == 1]
    row = judging.judge(scores, claims=only).iloc[0]
    assert row["verdict"] == verdict
    assert row["standard_error"] == pytest.approx(np.sqrt(share * (1 - share) / 5000))


def test_many_resamples_at_once_are_judged_as_each_alone(scores, groups):
    evidence = Evidence(scores, None, groups)
    drawn = evidence.resampled(np.random.default_rng(1), 3)
    for i in range(3):
        alone = Evidence(*(table_of(cube, i) for cube in (drawn.scores,)), None, table_of(drawn.groups, i))
        for claim in CLAIMS:
            if not claim.of_time:
                assert claim.judge(alone).grades.tolist() == claim.judge(drawn).grades[[i]].tolist(), claim.number


def table_of(cube, i):
    """The scores of one resample as a table, its instances renumbered."""
    rows = []
    for place, case in enumerate(cube.cases):
        for number, draw in enumerate(cube.draws[i, place], start=1):
            found = cube.scores[(cube.scores["case"] == case) & (cube.scores["instance"] == cube.instances[draw])]
            rows.append(found.assign(instance=number))
    return pd.concat(rows, ignore_index=True)


def test_resamples_draw_whole_instances_within_their_case(scores):
    cube = Evidence(scores.assign(ties=100 * scores["case"].map(ord) + scores["instance"])).scores
    drawn = cube.resampled(np.random.default_rng(1), 1)["ties"]
    assert drawn.shape == (1, 8, 5, 5, 20)
    assert (drawn == drawn[:, :, :1, :1]).all(), "sizes and models of an instance stay together"
    assert (drawn // 100 == np.array([ord(case) for case in cube.cases])[None, :, None, None, None]).all()
    assert 8 * 8 < len(np.unique(drawn)) < 8 * 17


def test_other_readings_are_judged_on_their_own_scores(scores, make_readings, groups):
    others = make_readings(scores)
    tuned = others["model"] == "elastic_net_by_task"
    others.loc[tuned & others["case"].isin(list("bcd")), "test_error"] -= 0.2
    table = judging.judge_readings(scores, others, None, groups, resamples=0)
    table = table.set_index(["reading", "claim"])["by_rule"]
    assert table["by_task", 1] == "not reproduced"
    assert table["off_corner", 1] == "reproduced"
    assert table["distances_by_task"].index.tolist() == [7]
    whole = judging.judge(scores, None, groups, resamples=0).set_index("claim")["by_rule"]
    assert (table["shared"] == whole).all()
    assert (table["off_corner"] == whole.drop([8, 14])).all()


def test_both_main_readings_stand_side_by_side(scores, make_readings, groups):
    others = make_readings(scores)
    others.loc[others["model"] == "elastic_net_by_task", "test_error"] -= 0.2
    table = judging.side_by_side(judging.judge_readings(scores, others, None, groups, resamples=0)).set_index("claim")
    assert table.loc[1, ["shared_verdict", "by_task_verdict"]].tolist() == ["reproduced", "not reproduced"]
    assert table.loc[1, "shared_brief"] != table.loc[1, "by_task_brief"]
    assert table.columns[:3].tolist() == ["paper", "rule", "written"]


@pytest.mark.parametrize(("name", "boosted"), [("ring", True), ("noise", False)])
def test_runs_under_another_reading_take_the_place_of_their_rows(scores, make_readings, name, boosted):
    """AdaBoost knows nothing of a ring, but was not run on other data."""
    cases = list("efgh") if name == "noise" else list(CASES)
    drawn = scores[scores["case"].isin(cases) & (scores["instance"] <= 12) & (scores["model"] != "adaboost")]
    bad = drawn["model"].isin(["fused_elastic_net", "fused_l1"]) & drawn["case"].isin(["f", "h"])
    drawn = bent(drawn, bad, test_error=worse(0.3)).assign(new_data=not boosted)
    read = judging.replaced(scores, drawn)
    assert len(read) == 12 * 8 * 5 * (5 if boosted else 4)
    table = judging.judge_readings(scores, make_readings(scores), drawn={name: drawn}, resamples=0)
    rows = table[table["reading"] == name].set_index("claim")
    assert rows.loc[1, "by_rule"] == "partly"
    assert rows.loc[1, "numbers"].endswith("(without AdaBoost)") != boosted
    assert set(rows.index) == set(range(1, 14)) - {8, 12}
