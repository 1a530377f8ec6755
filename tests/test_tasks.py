"""The graph of tasks: what it accepts, what it refuses, and what it computes."""

import numpy as np
import pytest

from fusedlr.tasks import TaskGraph


def test_a_chain_ties_each_task_to_the_next():
    assert TaskGraph.chain(4).edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert TaskGraph.chain(4).is_chain


def test_a_ring_closes_the_chain():
    ring = TaskGraph.ring(4)
    assert {tuple(edge) for edge in ring.edges.tolist()} == {(0, 1), (1, 2), (2, 3), (0, 3)}
    assert not ring.is_chain


def test_a_single_task_is_a_chain_without_edges():
    single = TaskGraph.chain(1)
    assert single.edges.shape == (0, 2)
    assert single.is_chain


def test_weights_default_to_one():
    assert TaskGraph([(0, 1), (1, 2, 0.5)], 3).weights.tolist() == [1.0, 0.5]


def test_tasks_may_be_named():
    graph = TaskGraph([("high", "low", 2.0), ("low", 1)], names=["low", "mid", "high"])
    assert graph.edges.tolist() == [[0, 2], [0, 1]]
    assert graph.n_tasks == 3


def test_differences_run_along_the_edges():
    graph = TaskGraph([(0, 2), (1, 2)], 3)
    params = np.array([[1.0, 2.0, 4.0], [0.0, -1.0, 0.5]])
    assert graph.differences(params).tolist() == [[-3.0, -2.0], [-0.5, -1.5]]


def test_components_are_the_connected_parts():
    assert TaskGraph([(0, 3), (1, 4)], 5).components().tolist() == [0, 1, 2, 0, 1]
    assert TaskGraph([(2, 3), (0, 1), (1, 2)], 4).components().tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("tasks", "edges"), [("chain", 3), ("ring", 4), ([(0, 1), (2, 3, 5.0)], 2)])
def test_build_understands_names_and_edges(tasks, edges):
    assert len(TaskGraph.build(tasks, 4).edges) == edges


def test_build_keeps_a_graph_and_checks_its_size():
    graph = TaskGraph.chain(3)
    assert TaskGraph.build(graph, 3) is graph
    with pytest.raises(ValueError, match="3 tasks, but endog has 4 columns"):
        TaskGraph.build(graph, 4)


def test_edges_and_weights_cannot_be_changed():
    graph = TaskGraph.chain(3)
    with pytest.raises(ValueError, match="read-only"):
        graph.weights[0] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        graph.edges[0, 0] = 2


def test_graphs_compare_by_content():
    assert TaskGraph.chain(3) == TaskGraph([(1, 0), (2, 1)], 3)
    assert TaskGraph.chain(3) != TaskGraph.ring(3)
    assert TaskGraph.chain(3) != TaskGraph([(0, 1), (1, 2, 2.0)], 3)
    assert repr(TaskGraph([(0, 1, 2.0)], 3)) == "TaskGraph(3 tasks; 0-1*2)"


@pytest.mark.parametrize(("edges", "message"), [
    ([(1, 1)], "two different tasks"),
    ([(0, 3)], "no task 3; there are positions 0 to 2"),
    ([(0, -1)], "no task -1"),
    ([(0, 1), (1, 0)], "given twice"),
    *(([(0, 1, weight)], "finite and positive") for weight in (0.0, -1.0, np.nan, np.inf)),
    *(([edge], "an edge is") for edge in ((0,), 7, "ab")),
    ([(True, 2)], "no task True"),
])
def test_bad_edges_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        TaskGraph(edges, 3)


def test_a_weight_must_be_a_number():
    with pytest.raises(TypeError, match="weight of an edge must be a number"):
        TaskGraph([(0, 1, "much")], 2)


@pytest.mark.parametrize("size", [0, -1, 2.5, "3"])
def test_a_number_of_tasks_must_be_positive_and_whole(size):
    with pytest.raises((TypeError, ValueError), match="n_tasks must be (a whole number|from 1 to)"):
        TaskGraph.chain(size)


def test_a_size_or_names_are_needed():
    with pytest.raises(ValueError, match="n_tasks is needed"):
        TaskGraph([(0, 1)])


@pytest.mark.parametrize(("names", "message"), [
    (["a", "a"], "names must differ"), (["a", "b", "c"], "one name for each")])
def test_bad_names_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        TaskGraph([(0, 1)], 2, names=names)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no task 'top'; there are names \['low', 'high'\]"):
        TaskGraph([("low", "top")], names=["low", "high"])


def test_a_ring_needs_three_tasks():
    with pytest.raises(ValueError, match="at least 3 tasks, found n_tasks = 2; use 'chain'"):
        TaskGraph.ring(2)


@pytest.mark.parametrize(("tasks", "error"), [("star", ValueError), (None, TypeError), (3, TypeError)])
def test_build_refuses_what_is_no_graph(tasks, error):
    with pytest.raises(error, match="tasks must be 'chain', 'ring', a TaskGraph or a list of edges"):
        TaskGraph.build(tasks, 3)
