"""The scale on paper gives the hours that can be counted by hand."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.measure import interleaved, markdown, ratio, spread
from benchmarks.scale import makespan, read_durations, simulate_cluster

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


def test_durations_are_read_from_what_the_study_writes(tmp_path):
    for rule, seconds in (("grid", [1.0, 2.0]), ("adaboost", [4.0, 8.0])):
        place = tmp_path / rule / "a"
        place.mkdir(parents=True)
        pd.DataFrame({"size": [25, 50], "seconds": seconds}).to_csv(place / "1.seconds.csv", index=False)
    table = read_durations(tmp_path)
    assert dict(zip(table["rule"], table["seconds"])) == {"grid": 3.0, "adaboost": 12.0}
    with pytest.raises(ValueError, match="run make study first"):
        read_durations(tmp_path / "grid" / "b")


def test_ratios_are_taken_within_a_round():
    numbers = {"slow": iter([4.0, 30.0, 8.0]), "fast": iter([2.0, 10.0, 1.0])}
    rounds = interleaved({name: values.__next__ for name, values in numbers.items()}, repeats=3)
    assert ratio(rounds, "slow", "fast") == {"ratio": 3.0, "ratio min": 2.0, "ratio max": 8.0}


def test_tables_show_the_spread_beside_the_median():
    table = pd.DataFrame([{"rows": 1000, **spread("s", np.array([0.5, 0.25, 1.0]))}, {"rows": 5, **spread("s", [np.nan])}])
    assert markdown(table).splitlines()[2:] == ["| 1,000 | 0.5 (0.25 to 1) |", "|     5 |                 |"]
