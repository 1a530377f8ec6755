"""Building a model takes its own copy of the features and little more."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.building import peak
from fusedlr import checks


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize(("n", "d"), [(1_000, 500), (100, 20_000), pytest.param(100, 100_000, marks=pytest.mark.slow)])
def test_building_a_model_takes_at_most_one_and_a_third_of_the_features(n, d, kind):
    assert max(peak(n, d, kind)) <= 1.3


@pytest.mark.parametrize("d", [1, 2, 15, 16, 17, 40])
def test_frames_are_read_whole_whatever_their_number_of_columns(d):
    X = np.random.default_rng(d).normal(size=(7, d))
    np.testing.assert_array_equal(checks.array("exog", pd.DataFrame(X)), X)


def test_frames_of_several_kinds_of_numbers_are_read_as_floats():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": [True, False], "d": pd.array([3, None], dtype="Int64")})
    np.testing.assert_array_equal(checks.array("exog", frame), [[1.0, 0.5, 1.0, 3.0], [2.0, np.nan, 0.0, np.nan]])
