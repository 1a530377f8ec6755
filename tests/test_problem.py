"""Flat labels, the design and groups of rows, against tables of rows by tasks."""

import numpy as np
import pytest

from fusedlr.objective import gradient, loss_derivatives
from fusedlr import FusedLogit
from fusedlr.problem import Design, Groups, Labels, Problem
from fusedlr.tasks import TaskGraph
from tests import wide

N, D, T = 15, 4, 3


def arrays(seed, missing):
    """Features, labels of which a share is missing, weights of which some are 0, and offsets."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, size=(N, T)).astype(float)
    Y[rng.random(Y.shape) < missing] = np.nan
    return rng.normal(size=(N, D)), Y, rng.choice([0.0, 0.5, 2.0], size=Y.shape, p=[0.1, 0.5, 0.4]), rng


def labels_of(seed=1, missing=0.3):
    return Labels.wide(*arrays(seed, missing)[1:3])


def entries(labels):
    """Every label as (task, row, sign, weight)."""
    return list(zip(labels.task.tolist(), labels.row.tolist(), labels.sign.tolist(), labels.weight.tolist()))


# ---- labels ---------------------------------------------------------------------------------------------------------

def test_labels_of_a_table_are_those_observed_with_a_weight_task_by_task():
    _, Y, weights, _ = arrays(1, 0.3)
    expected = [(k, i, 1 if Y[i, k] == 1 else -1, weights[i, k]) for k in range(T) for i in range(N)
                if not np.isnan(Y[i, k]) and weights[i, k] > 0]
    labels = Labels.wide(Y, weights)
    assert entries(labels) == expected
    assert (labels.n_tasks, labels.size, labels.sign.dtype) == (T, len(expected), np.int8)
    assert np.diff(labels.start).tolist() == [sum(task == k for task, *_ in expected) for k in range(T)]
    assert labels.yes.tolist() == [sign == 1 for _, _, sign, _ in expected]


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 5.0)])
def test_weights_of_rows_are_those_of_all_their_labels(weights):
    labels = Labels.wide([[0, 1], [1, np.nan], [np.nan, np.nan], [1, 0]], weights)
    assert [entry[:3] for entry in entries(labels)] == [(0, 0, -1), (0, 1, 1), (0, 3, 1), (1, 0, 1), (1, 3, -1)]
    assert labels.weight.tolist() == ([1.0] * 5 if weights is None else [1.0, 2.0, 4.0, 1.0, 4.0])


def test_a_task_without_labels_is_a_task():
    labels = Labels.wide([[np.nan, 1], [np.nan, 0]])
    assert labels.n_tasks == 2 and labels.start.tolist() == [0, 0, 2]
    assert labels.sums(labels.weight).tolist() == [0.0, 2.0]


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9])
def test_a_table_and_sums_over_tasks_and_rows_hold_every_value_once(missing):
    labels = labels_of(2, missing)
    values = np.random.default_rng(3).normal(size=labels.size)
    table = labels.table(values, N, empty=0.0)
    assert table.shape == (N, T) and np.count_nonzero(table) == labels.size
    np.testing.assert_array_equal(table[labels.row, labels.task], values)
    np.testing.assert_allclose(labels.sums(values), table.sum(axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(labels.by_row(values, N), table.sum(axis=1), rtol=1e-13, atol=1e-15)
    assert np.isnan(labels.table(values, N)).sum() == N * T - labels.size


def test_a_table_of_all_labels_is_that_of_the_user():
    Y = np.random.default_rng(4).integers(0, 2, size=(N, T)).astype(float)
    labels = Labels.wide(Y)
    np.testing.assert_array_equal(labels.table(labels.yes, N), Y)
    np.testing.assert_array_equal(labels.sums(np.ones((labels.size, 2))), np.full((T, 2), N))


def test_times_multiplies_the_weights_of_a_row_and_leaves_no_label_out():
    labels, by_row = labels_of(), np.random.default_rng(5).choice([0.0, 1.0, 3.0], size=N)
    assert entries(labels.times(by_row)) == [(k, i, sign, w * by_row[i]) for k, i, sign, w in entries(labels)]


def test_some_of_the_labels_stay_in_their_tasks():
    labels = labels_of()
    which = np.random.default_rng(6).random(labels.size) < 0.4
    which[labels.task == 1] = False
    kept = labels.some(which)
    assert entries(kept) == [entry for entry, here in zip(entries(labels), which) if here]
    assert kept.n_tasks == T and kept.start[2] == kept.start[1]
    assert entries(labels.some(np.ones(labels.size, dtype=bool))) == entries(labels)
    assert labels.some(np.zeros(labels.size, dtype=bool)).start.tolist() == [0] * (T + 1)


@pytest.mark.parametrize("rows", [[3, 3, 0, 14, 3, 7], range(N), range(N)[::-1], [5], []],
                         ids=["repeated", "all", "reversed", "one", "none"])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9])
def test_rows_taken_are_those_of_the_table_in_the_order_given(rows, missing):
    _, Y, weights, _ = arrays(7, missing)
    rows = np.array(rows, dtype=int)
    taken = Labels.wide(Y, weights).take(rows, N)
    assert entries(taken) == entries(Labels.wide(Y[rows], weights[rows]))
    assert taken.n_tasks == T
    taken.check_loaded()


@pytest.mark.parametrize("start, row, words", [
    ([0, 2, 1, 3], [0, 1, 2], "start must rise from 0 to 3"), ([1, 2, 2, 3], [0, 1, 2], "start must rise from 0 to 3"),
    ([0, 1, 2, 2], [0, 1, 2], "start must rise from 0 to 3"), ([0, 2, 2, 3], [1, 1, 2], "must rise within every task"),
    ([0, 0, 3, 3], [2, 1, 0], "must rise within every task")])
def test_labels_of_a_file_that_are_not_in_order_are_refused(start, row, words):
    with pytest.raises(ValueError, match=words):
        Labels(np.array(start), np.array(row), np.ones(3, dtype=np.int8), np.ones(3)).check_loaded()


# ---- the design -----------------------------------------------------------------------------------------------------

OFFSETS = {"none": lambda rng: None, "by row": lambda rng: rng.normal(size=N),
           "by task": lambda rng: rng.normal(size=(N, T))}


@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.8], ids=["full", "mostly full", "mostly empty"])
def test_linear_predictors_and_slopes_are_those_of_tables(missing, offset):
    X, Y, weights, rng = arrays(8, missing)
    weights, offset, params = weights + 0.1, offset(rng), rng.normal(size=(1 + D, T))
    problem, data = Problem.wide(X, Y, None, weights, offset), wide.Data.from_arrays(X, Y, weights, offset)
    labels, seen = problem.labels, ~np.isnan(Y)
    assert (2 * labels.size >= N * T) == (missing < 0.5)
    table = wide.linear_predictor(data, params)
    np.testing.assert_allclose(problem.linear(params), table.T[seen.T], rtol=1e-13)
    np.testing.assert_allclose(problem.design.table(params), table, rtol=1e-13)
    np.testing.assert_array_equal(problem.design.shift(labels), data.offset.T[seen.T])
    slopes = wide.gradient(data, wide.loss_derivatives(data, table)[0])
    np.testing.assert_allclose(gradient(problem, params), slopes, rtol=1e-12, atol=1e-14)
    for flat, full in zip(loss_derivatives(labels, problem.linear(params)), wide.loss_derivatives(data, table)):
        np.testing.assert_allclose(labels.table(flat, N, empty=0.0), full, rtol=1e-12)


def test_few_and_many_labels_of_the_same_rows_are_summed_alike():
    """The mostly empty path beside the mostly full one, whose other labels weigh nothing."""
    X, Y, _, rng = arrays(9, 0.0)
    design, params, few = Design(X), rng.normal(size=(1 + D, T)), rng.random((N, T)) < 0.3
    all_labels, some = Labels.wide(Y), Labels.wide(np.where(few, Y, np.nan))
    everywhere = design.linear(params, all_labels)
    np.testing.assert_allclose(design.linear(params, some), everywhere[few.T.ravel()], rtol=1e-13)
    values = rng.normal(size=some.size)
    spread = some.table(values, N, empty=0.0).T.ravel()
    np.testing.assert_allclose(design.gradient(values, some), design.gradient(spread, all_labels), rtol=1e-12,
                               atol=1e-14)


def test_columns_are_those_of_ones_and_features():
    X = arrays(10, 0.0)[0]
    full = np.column_stack([np.ones(N), X])
    which, rows = np.array([3, 0, 1]), np.array([2, 2, 9])
    np.testing.assert_array_equal(Design(X).columns(which), full[:, which])
    np.testing.assert_array_equal(Design(X).columns(which, np.arange(N)), full[:, which])
    np.testing.assert_array_equal(Design(X).columns(which, rows), full[np.ix_(rows, which)])
    assert Design(X).columns(np.zeros(0, dtype=int), rows).shape == (3, 0)


# ---- groups and the whole problem -----------------------------------------------------------------------------------

def test_rows_are_groups_that_count_by_the_largest_weight_of_their_labels():
    _, Y, weights, _ = arrays(11, 0.4)
    groups = Groups.rows(Labels.wide(Y, weights), N)
    np.testing.assert_array_equal(groups.times, np.where(np.isnan(Y), 0.0, weights).max(axis=1))
    assert groups.code.tolist() == list(range(N)) and groups.size == groups.times.sum()


def test_sums_of_groups_add_up_the_rows_of_each():
    values = np.random.default_rng(12).normal(size=6)
    groups = Groups(np.array([2, 0, 2, 2, 0, 3]), np.ones(5), "person")
    expected = [values[1] + values[4], 0 * values[0], values[0] + values[2] + values[3], values[5], 0 * values[0]]
    np.testing.assert_allclose(groups.sums(values), expected, rtol=1e-14)


def test_a_row_taken_twice_is_two_rows_or_twice_in_its_group():
    rows, labels = np.array([1, 1, 3]), Labels.wide([0.0, 1.0, 1.0])
    alone = Groups(np.arange(4), np.array([1.0, 2.0, 3.0, 4.0])).take(rows, labels)
    assert alone.code.tolist() == [0, 1, 2] and alone.times.tolist() == [2.0, 2.0, 4.0]
    people = Groups(np.array([0, 0, 1, 1]), np.ones(2), "person").take(rows, labels)
    assert people.code.tolist() == [0, 0, 1] and people.times.tolist() == [1.0, 1.0] and people.word == "person"


def test_groups_without_a_row_or_a_label_do_not_count():
    people = Groups(np.array([0, 0, 1, 2]), np.ones(3), "person")
    assert people.take(np.array([2, 3]), Labels.wide([1.0, 0.0])).times.tolist() == [0.0, 1.0, 1.0]
    assert people.take(np.array([2, 3]), Labels.wide([1.0, np.nan])).size == 1


def test_rows_of_a_group_share_its_weight():
    """The first group has three labels in two rows, the second one; a row by itself counts by its weight."""
    labels = Labels.wide([[1.0, 0.0], [1.0, np.nan], [np.nan, 0.0]])
    people = Groups(np.array([0, 0, 1]), np.ones(2), "person")
    np.testing.assert_allclose(people.shares(labels), [2 / 3, 1 / 3, 1.0])
    assert Groups(np.arange(3), np.array([1.0, 3.0, 0.0])).shares(labels).tolist() == [1.0, 3.0, 0.0]


def test_rows_of_a_problem_are_taken_from_all_its_parts():
    X, Y, weights, rng = arrays(13, 0.3)
    offset, rows = rng.normal(size=(N, T)), rng.integers(N, size=20)
    taken = Problem.wide(X, Y, TaskGraph.ring(T), weights, offset).take(rows)
    again = Problem.wide(X[rows], Y[rows], TaskGraph.ring(T), weights[rows], offset[rows])
    params = rng.normal(size=(1 + D, T))
    assert entries(taken.labels) == entries(again.labels)
    np.testing.assert_array_equal(taken.linear(params), again.linear(params))
    np.testing.assert_array_equal(taken.groups.times, again.groups.times)
    assert taken.n_rows == 20 and taken.tasks.is_ring


def test_a_reweighted_problem_has_the_gradient_of_rows_taken_as_often():
    X, Y, _, rng = arrays(14, 0.3)
    problem, params, rows = Problem.wide(X, Y), rng.normal(size=(1 + D, T)), rng.integers(N, size=N)
    times = np.bincount(rows, minlength=N).astype(float)
    np.testing.assert_allclose(gradient(problem.reweighted(times), params), gradient(problem.take(rows), params),
                               rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n_tasks", [2, 4])
def test_a_graph_of_other_tasks_is_refused(n_tasks):
    with pytest.raises(ValueError, match=f"TaskGraph of {n_tasks} tasks, but endog has 3 columns"):
        Problem.wide(*arrays(15, 0.0)[:2], TaskGraph.chain(n_tasks))


def test_a_weight_of_zero_leaves_the_label_out_wherever_labels_are_counted():
    rng = np.random.default_rng(3)
    X, Y, weights = rng.normal(size=(30, 2)), rng.integers(0, 2, (30, 2)), np.ones((30, 2))
    weights[:4], weights[5, 0] = 0.0, 0.0
    model = FusedLogit(Y, X, weights=weights)
    assert model.nobs == 26 and model.problem.labels.size == 51
    assert model.endog.isna().to_numpy().tolist() == (weights == 0).tolist()
