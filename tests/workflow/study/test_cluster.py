"""The simulated cluster takes the hours that can be counted by hand."""

import pandas as pd
import pytest

from study.cluster import makespan, recorded, simulate_cluster

HAND_MADE = pd.DataFrame({"rule": ["simulate", "grid", "adaboost"], "seconds": [10.0, 20.0, 30.0]})


def hours(**options):
    table = simulate_cluster(HAND_MADE, start=0.0, queue=0.0, **options)
    return (table["hours"] * 3600).tolist()


def test_one_instance_takes_its_longest_way():
    """Simulate, then the longer of the two that follow, on another core than the shorter."""
    assert makespan([[10.0, 20.0, 30.0]], cores=2) == 40.0
    assert makespan([[10.0, 20.0, 30.0]], cores=1) == 60.0


def test_cores_are_never_idle_while_a_job_waits():
    """Two instances on two cores: simulate both by 10, boost both by 40, fit both by 60."""
    assert makespan([[10.0, 20.0, 30.0]] * 2, cores=2) == 60.0


def test_nodes_share_the_slurm_jobs():
    """Four groups of one instance take 40 s each: 160 s on one node, 80 s on two, 40 s on four and on a hundred."""
    assert hours(instances=4, group=1, nodes=(1, 2, 4, 100)) == pytest.approx([160.0, 80.0, 40.0, 40.0])


def test_every_slurm_job_waits_in_the_queue_once():
    """Two groups of two instances, 60 s and 5 s of waiting each, one after the other."""
    table = simulate_cluster(HAND_MADE, instances=4, group=2, nodes=(1,), start=0.0, queue=5.0)
    assert table["slurm_jobs"].tolist() == [2]
    assert table["hours"][0] * 3600 == pytest.approx(130.0)
    assert table["busy"][0] == pytest.approx(240.0 / 260.0)


def test_each_job_pays_its_start():
    table = simulate_cluster(HAND_MADE, instances=1, group=1, nodes=(1,), start=1.0, queue=0.0)
    assert table["cpu_hours"][0] * 3600 == pytest.approx(63.0)


def test_a_rule_that_was_not_run_takes_no_time():
    """Without AdaBoost an instance is simulated and fitted, and pays two starts."""
    table = simulate_cluster(HAND_MADE[HAND_MADE["rule"] != "adaboost"], instances=1, group=1, nodes=(1,), start=1.0,
                             queue=0.0)
    assert table["hours"][0] * 3600 == pytest.approx(32.0)
    assert table["cpu_hours"][0] * 3600 == pytest.approx(32.0)


def test_a_simulation_that_was_not_timed_only_starts():
    table = simulate_cluster(HAND_MADE[HAND_MADE["rule"] != "simulate"], instances=1, group=1, nodes=(1,), start=1.0,
                             queue=0.0)
    assert table["hours"][0] * 3600 == pytest.approx(32.0)


def test_a_job_is_all_training_sizes_and_a_grid_is_counted_once(make_scores):
    """In the made-up scores a grid takes 1 s for each of 5 sizes, and AdaBoost a thirtieth of a second for each row."""
    durations = recorded(make_scores(instances=2))
    assert durations.groupby("rule").size().to_dict() == {"adaboost": 16, "grid": 16}
    assert durations["seconds"][durations["rule"] == "grid"].tolist() == pytest.approx([5.0] * 16)
    assert durations["seconds"][durations["rule"] == "adaboost"].tolist() == pytest.approx([775 / 30] * 16)


def test_only_models_that_were_run_have_durations(make_scores):
    scores = make_scores(instances=1)
    assert set(recorded(scores[scores["model"] != "adaboost"])["rule"]) == {"grid"}
    assert set(recorded(scores[scores["model"] == "adaboost"])["rule"]) == {"adaboost"}
