"""Rules that Python and R share, against counts by hand."""

from itertools import product

import numpy as np
import pytest

from fusedlr.core import FlatLabels, SamplingUnits, person_periods, points_at_once, stripes
from fusedlr.problem import Labels

LARGE = 10**6


def grid(*lists):
    return np.array(list(product(*lists)), dtype=float)


def test_successive_points_of_a_grid_are_neighbours():
    points = grid([3, 1, 2], [0, 1], [5, 0, 2])
    (order,) = stripes(points, 1)
    rank = np.column_stack([np.unique(column, return_inverse=True)[1] for column in points.T])[order]
    assert sorted(order.tolist()) == list(range(len(points)))
    assert (np.diff(rank[:, 0]) <= 0).all()
    above = rank[:, 0].min() < rank[:, 0]
    assert (np.abs(np.diff(rank[above], axis=0)).sum(axis=1) == 1).all()


def test_l2_falls_at_the_least_l1():
    points = grid([0.0, 1.0], [0, 1, 2], [0, 1])
    found = points[stripes(points, 1)[0]]
    least = found[found[:, 0] == 0]
    assert all((np.diff(least[least[:, 2] == fusion, 1]) < 0).all() for fusion in (0, 1))


def test_only_large_problems_with_enough_values_have_stripes():
    wide, few = grid([1, 2], [0], range(8)), grid([1, 2], [0, 1, 2], [0, 1])
    assert len(stripes(wide, 1)) == len(stripes(few, LARGE)) == 1
    parts = stripes(wide, LARGE)
    assert [sorted(set(wide[part, 2])) for part in parts] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert all(sorted(set(wide[part, 0])) == [1, 2] for part in parts)


def test_at_least_one_point_is_solved_at_a_time():
    assert points_at_once(10**7, 10) == 1 and points_at_once(99, 4) == 5000


def test_places_on_the_line_of_weights_are_units():
    units = SamplingUnits([0, 1, 2], [2.0, 1.0, 0.0])
    assert units.count() == 3
    found = units.drawn(np.array([0, 1, 1, 2]), np.array([0.0, 0.9, 0.5, 0.0]))
    np.testing.assert_array_equal(found, [1.5, 1.0, 0.0])


def test_a_group_is_drawn_with_all_its_rows():
    units = SamplingUnits([1, 0, 1], [1.0, 1.0])
    np.testing.assert_array_equal(units.drawn(np.array([1, 1]), np.array([0.2, 0.3])), [2.0, 0.0, 2.0])


def test_units_that_share_a_place_are_drawn_by_their_share():
    units = SamplingUnits([0, 1], [0.25, 0.75])
    found = [units.drawn(np.array([0]), np.array([u])) for u in (0.0, 0.24, 0.26, 0.99)]
    assert [int(np.argmax(times)) for times in found] == [0, 0, 1, 1]


def test_rows_are_dealt_in_the_order_of_labels_then_of_uniforms():
    labels = Labels.wide([[1.0], [0.0], [1.0], [0.0]])
    units = SamplingUnits(range(4), np.ones(4))
    found = units.fold_shares(FlatLabels(*labels.for_core), 2, np.array([0.9, 0.8, 0.1, 0.2]))
    np.testing.assert_array_equal(found, [[0, 0, 1, 1], [1, 1, 0, 0]])


def test_whole_weights_are_split_over_folds():
    labels = Labels.wide([[1.0], [0.0]], [4.0, 2.0])
    units = SamplingUnits([0, 1], [4.0, 2.0])
    assert units.split_by_folds() and units.n_fold_uniforms() == 6
    found = units.fold_shares(FlatLabels(*labels.for_core), 2, np.full(6, 0.5))
    np.testing.assert_array_equal(found, np.full((2, 2), 0.5))


def test_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="code must be from 0 to 1"):
        SamplingUnits([0, 2], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"uniforms must have shape \(2,\)"):
        SamplingUnits([0, 1], [1.0, 1.0]).drawn(np.array([0, 1]), np.array([0.5]))


def test_person_periods_count_exposure_and_competing_causes():
    entry, time = np.array([0.0, 0.5, 0.0]), np.array([1.5, 2.0, 0.5])
    start, row, sign, weight = person_periods(entry, time, np.array([0, 2, 1], dtype=np.intc), np.array([0.0, 1, 2]), 2)
    assert start.tolist() == [0, 3, 5, 8, 10] and row.tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 0, 1]
    assert sign.tolist() == [-1, -1, 1, -1, -1, -1, -1, -1, -1, 1]
    assert weight.tolist() == [1, 0.5, 1, 0.5, 1, 1, 0.5, 1, 0.5, 1]


def test_an_event_at_the_very_start_is_in_the_first_interval():
    zero = np.zeros(1)
    start, row, sign, weight = person_periods(zero, zero, np.array([1], dtype=np.intc), np.array([0.0, 1, 2]), 1)
    assert start.tolist() == [0, 1, 1] and (row[0], sign[0], weight[0]) == (0, 1, 1.0)
