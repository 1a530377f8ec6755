"""Open readings are tried on the same instances and summed up in words."""

import pandas as pd

from study import judging
from study.readings import READINGS
from study.sensitivity import summarise
from study.separable import FLOORS


def test_the_tie_break_is_always_reported(scores):
    table = summarise(scores)
    assert table["reading"].tolist() == ["tie-break of the choice"]
    assert "100% (ties: smallest l2)" in table.loc[0, "otherwise"]


def test_other_constants_of_the_separable_rule_are_listed(scores):
    rows = [{"case": "a", "instance": 1, "size": 25, "floor": floor, "status": "separated", "test_error": error}
            for floor, error in zip(FLOORS, (0.1, 0.2, 0.3))]
    table = summarise(scores, separable=pd.DataFrame(rows))
    assert table["otherwise"].tolist()[1:] == [f"0.1000 (constant {FLOORS[0]:g})", f"0.3000 (constant {FLOORS[2]:g})"]
    assert table.loc[1, "ours"].startswith(f"mean test error of (iv) 0.2000 (constant {FLOORS[1]:g})")


def test_small_bags_are_compared_with_the_default_at_the_same_size(scores):
    boosted = pd.DataFrame({"case": ["a"], "instance": [1], "size": [25], "test_error": [0.25]})
    row = summarise(scores, boosted=boosted).iloc[1]
    ours = scores[(scores["case"] == "a") & (scores["instance"] == 1) & (scores["size"] == 25)].set_index("model")
    assert f"(v) {ours.loc['adaboost', 'test_error']:.4f}" in row["ours"]
    assert "(v) 0.2500" in row["otherwise"]


def test_readings_are_told_with_their_gains_and_the_verdicts_that_change(scores, make_readings):
    others = make_readings(scores)
    others.loc[(others["model"] == "elastic_net_by_task") & others["case"].isin(list("bcd")), "test_error"] -= 0.2
    rows = summarise(scores, others, judging.judge_readings(scores, others, resamples=0)).set_index("reading")
    by_task = rows.loc[READINGS["by_task"].label]
    assert "claim 1 reproduced -> not reproduced" in by_task["otherwise"]
    assert "b -0.1" in by_task["otherwise"]
    assert rows.loc[READINGS["off_corner"].label, "otherwise"].endswith("Verdicts that change: none")
    assert rows.iloc[-1]["claims"] == "7"


def test_a_reading_with_runs_of_its_own_is_compared_on_its_own_instances(scores, make_readings):
    others = make_readings(scores)
    drawn = {"noise": scores[scores["case"].isin(["e", "f"]) & (scores["instance"] <= 2)
                             & (scores["model"] != "adaboost")].assign(new_data=True)}
    verdicts = judging.judge_readings(scores, others, drawn=drawn, resamples=0)
    row = summarise(scores, others, verdicts, drawn).set_index("reading").loc[READINGS["noise"].label]
    assert row["instances"] == 16, "two of each case, of which two cases have other data"
    assert row["ours"] in row["otherwise"]


def test_a_preview_is_told_nothing_of_readings(make_scores, make_readings):
    scores = make_scores(instances=2)
    others = make_readings(scores)
    assert len(summarise(scores, others, judging.judge_readings(scores, others, resamples=0))) == 1
