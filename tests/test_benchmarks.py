"""Measurements are compared round by round and shown with their spread."""

import numpy as np
import pandas as pd

from benchmarks.measure import interleaved, markdown, ratio, spread


def test_ratios_are_taken_within_a_round():
    numbers = {"slow": iter([4.0, 30.0, 8.0]), "fast": iter([2.0, 10.0, 1.0])}
    rounds = interleaved({name: values.__next__ for name, values in numbers.items()}, repeats=3)
    assert ratio(rounds, "slow", "fast") == {"ratio": 3.0, "ratio min": 2.0, "ratio max": 8.0}


def test_tables_show_the_spread_beside_the_median():
    table = pd.DataFrame([{"rows": 1000, **spread("s", np.array([0.5, 0.25, 1.0]))},
                          {"rows": 5, **spread("s", [np.nan])}])
    assert markdown(table).splitlines()[2:] == ["| 1,000 | 0.5 (0.25 to 1) |", "|     5 |                 |"]
