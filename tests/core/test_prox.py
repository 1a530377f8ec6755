"""The proximal operator of one block against brute force, on every kind of graph."""

from itertools import combinations

import numpy as np
import pytest

from fusedlr.solver import block_gauge, block_prox
from tests.wide import Penalty
from fusedlr.optimality import kkt_violation
from fusedlr.tasks import TaskGraph
from tests.core.brute import block_value, brute_prox
from tests.core.problems import draw_graph


def agrees(tasks, h, q, l1, fusion, start=None):
    b = block_prox(tasks, h, q, l1, fusion, start)
    expected, value = brute_prox(tasks, h, q, l1, fusion)
    excess = block_value(tasks, h, q, l1, fusion, b) - value
    size = np.sum(q**2 / h) + abs(value)
    distance = np.sqrt(np.sum(h * (b - expected) ** 2))
    return excess <= 1e-12 * size and distance <= 1e-6 * np.sqrt(size) + 1e-300


def draw_block(rng, n_tasks):
    h = 10.0 ** rng.uniform(-6, 6, n_tasks) if rng.random() < 0.3 else rng.choice([1.0, 0.5, 2.0], n_tasks)
    q = rng.normal(size=n_tasks) * np.sqrt(h) * 2
    if rng.random() < 0.5:
        q = np.round(q)  # makes ties and boundary cases likely
    l1, fusion = (float(rng.choice([0, 0.1, 0.5, 1, 3])) for _ in range(2))
    return h, q, l1, fusion


def draw_chain(rng, n_tasks):
    weights = rng.choice([1.0, 1e-12, 0.2, 5.0], n_tasks - 1)
    return TaskGraph([(k, k + 1, w) for k, w in enumerate(weights)], n_tasks)


@pytest.mark.parametrize("n_tasks", [1, 2, 3, 4, 5])
def test_random_blocks_on_random_graphs(n_tasks):
    rng = np.random.default_rng(n_tasks)
    for _ in range(300):
        tasks = draw_graph(rng, n_tasks)
        block = draw_block(rng, n_tasks)
        assert agrees(tasks, *block), (tasks, block)


@pytest.mark.parametrize("n_tasks", [2, 3, 4, 5])
def test_random_blocks_on_chains(n_tasks):
    rng = np.random.default_rng(10 + n_tasks)
    for _ in range(200):
        tasks = draw_chain(rng, n_tasks)
        block = draw_block(rng, n_tasks)
        assert agrees(tasks, *block), (tasks, block)


@pytest.mark.slow
@pytest.mark.parametrize("n_tasks", [2, 3, 4, 5])
def test_the_pattern_at_the_start_never_changes_the_minimiser(n_tasks):
    rng = np.random.default_rng(30 + n_tasks)
    for _ in range(200):
        tasks = draw_chain(rng, n_tasks)
        block = draw_block(rng, n_tasks)
        right = brute_prox(tasks, *block)[0]
        for start in (right, 2 * right, -right, np.round(rng.normal(size=n_tasks)), np.ones(n_tasks)):
            assert agrees(tasks, *block, start), (tasks, block, start)


@pytest.mark.parametrize("n_tasks", [2, 3, 4])
def test_a_pattern_is_kept_only_where_it_is_that_of_the_minimiser(n_tasks):
    """A start of all zeros has no pattern to keep; any other must lead to the same."""
    rng = np.random.default_rng(40 + n_tasks)
    for _ in range(300):
        tasks, block = draw_chain(rng, n_tasks), draw_block(rng, n_tasks)
        expected = block_prox(tasks, *block)
        size = np.sqrt(np.sum(block[1] ** 2 / block[0])) + 1e-300
        for start in (np.round(rng.normal(size=n_tasks)), np.ones(n_tasks), expected):
            distance = block_prox(tasks, *block, start) - expected
            assert np.sqrt(np.sum(block[0] * distance**2)) <= 1e-7 * size, (tasks, block, start)


@pytest.mark.parametrize("n_tasks", [3, 4])
def test_every_graph(n_tasks):
    rng = np.random.default_rng(20 + n_tasks)
    pairs = list(combinations(range(n_tasks), 2))
    for chosen in range(2 ** len(pairs)):
        tasks = TaskGraph([pair for e, pair in enumerate(pairs) if chosen >> e & 1], n_tasks)
        for _ in range(3):
            block = draw_block(rng, n_tasks)
            assert agrees(tasks, *block), (tasks, block)


# ---------------------------------------------------------------- trees and single cycles


KINDS = ["path", "tree", "star", "forest", "ring", "tree with a cycle", "rings", "isolated"]


def draw_simple_graph(rng, n_tasks, kind):
    """A graph whose connected groups are trees or have one cycle, its tasks in any order, often with weights."""
    back = {"path": 1, "star": n_tasks}.get(kind, int(rng.choice([2, n_tasks])))
    pairs = [(0 if kind == "star" else int(rng.integers(max(0, k - back), k)), k) for k in range(1, n_tasks)]
    if kind in ("forest", "isolated"):
        pairs = [pair for pair in pairs if rng.random() < (0.7 if kind == "forest" else 0.2)]
    if kind == "tree with a cycle":
        pairs.append(tuple(rng.choice(sorted(set(combinations(range(n_tasks), 2)) - set(pairs)))))
    if kind == "ring":
        pairs = [(k, (k + 1) % n_tasks) for k in range(n_tasks)]
    if kind == "rings":
        half = n_tasks // 2
        pairs = [(k, (k + 1) % half) for k in range(half)] + [(half + k, half + (k + 1) % 3) for k in range(3)]
    weights = rng.choice([1.0, 0.3, 4.0, 1e-12], size=len(pairs)) if rng.random() < 0.5 else np.ones(len(pairs))
    place = rng.permutation(n_tasks)
    return TaskGraph([(place[j], place[k], w) for (j, k), w in zip(pairs, weights)], n_tasks)


def draw_hard_block(rng, n_tasks):
    h, q, l1, fusion = draw_block(rng, n_tasks)
    if rng.random() < 0.1:
        fusion = 1e6
    if rng.random() < 0.2:
        q = rng.choice([-2, -1, 0, 1, 2], n_tasks) * max(l1, 0.5)  # at limits and ties all over
    return h, q, l1, fusion


def for_cuts(tasks):
    """The same graph with all other edges, next to weightless: it has too many cycles for anything but cuts."""
    given = {tuple(edge) for edge in tasks.edges.tolist()}
    idle = [(j, k, 1e-300) for j, k in combinations(range(tasks.n_tasks), 2) if (j, k) not in given]
    return TaskGraph([(j, k, w) for (j, k), w in zip(tasks.edges, tasks.weights)] + idle, tasks.n_tasks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[:-2])
def test_small_trees_and_cycles_against_brute_force(kind):
    rng = np.random.default_rng(30)
    for _ in range(200):
        n_tasks = int(rng.integers(4, 6))
        tasks, block = draw_simple_graph(rng, n_tasks, kind), draw_hard_block(rng, n_tasks)
        assert agrees(tasks, *block), (tasks, block)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_trees_and_cycles_against_cuts(kind):
    rng = np.random.default_rng(31)
    for _ in range(400):
        n_tasks = int(rng.integers(6, 20))
        tasks, block = draw_simple_graph(rng, n_tasks, kind), draw_hard_block(rng, n_tasks)
        found, expected = block_prox(tasks, *block), block_prox(for_cuts(tasks), *block)
        h, q = block[:2]
        size = np.sum(q**2 / h) + 1e-300
        assert block_value(tasks, *block, found) - block_value(tasks, *block, expected) <= 1e-12 * size, (tasks, block)
        assert np.sum(h * (found - expected) ** 2) <= 1e-12 * size, (tasks, block)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_and_cycles_meet_the_optimality_conditions(kind):
    rng = np.random.default_rng(32)
    for _ in range(40):
        n_tasks = int(rng.integers(6, 40))
        tasks = draw_simple_graph(rng, n_tasks, kind)
        h, q = rng.uniform(0.5, 2, n_tasks), rng.normal(size=n_tasks) * 2
        l1, fusion = (float(rng.choice([0, 0.1, 0.5, 1, 3])) for _ in range(2))
        b = block_prox(tasks, h, q, l1, fusion)
        row = Penalty(*(np.array([value]) for value in (l1, 0.0, fusion)))
        assert kkt_violation(b[None], (h * b - q)[None], row, tasks) <= 1e-6, (tasks, h, q, l1, fusion)


@pytest.mark.parametrize("kind", KINDS)
def test_tied_neighbours_are_exactly_equal_and_zeros_exactly_zero(kind):
    """Numbers drawn at random are not equal, nor zero, by chance: what is close to it is so by the penalty."""
    rng = np.random.default_rng(33)
    for _ in range(200):
        n_tasks = int(rng.integers(6, 13))
        tasks = draw_simple_graph(rng, n_tasks, kind)
        q, l1, fusion = rng.normal(size=n_tasks) * 3, float(rng.choice([0, 1])), float(rng.choice([0.75, 2]))
        b = block_prox(tasks, rng.uniform(0.5, 2, n_tasks), q, l1, fusion)
        for size in (np.abs(tasks.differences(b[None])), np.abs(b)):
            assert ((size == 0) | (size > 1e-9)).all(), (tasks, q, l1, fusion)


@pytest.mark.parametrize("ratio, tolerance", [(1e6, 1e-14), (1e12, 1e-12), (1e17, 1e-6)])
def test_curvatures_of_any_ratio(ratio, tolerance):
    """Beyond 1e16 the curvature of the one is lost in that of the other, so much can not be asked there."""
    rng = np.random.default_rng(34)
    for _ in range(1000):
        n_tasks = int(rng.integers(6, 13))
        tasks = draw_simple_graph(rng, n_tasks, str(rng.choice(KINDS)))
        h = ratio ** rng.uniform(-0.7, 0.3, n_tasks)
        q = rng.normal(size=n_tasks) * np.sqrt(h) * 2
        block = h, q, float(rng.choice([0, 0.1, 1])), float(rng.choice([0.1, 1, 30]))
        excess = np.diff([block_value(tasks, *block, block_prox(graph, *block)) for graph in (for_cuts(tasks), tasks)])
        assert excess <= tolerance * np.sum(block[1] ** 2 / h), (tasks, block)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gauge_of_trees_and_cycles_is_that_of_cuts(kind):
    rng = np.random.default_rng(35)
    for _ in range(200):
        n_tasks = int(rng.integers(6, 16))
        tasks = draw_simple_graph(rng, n_tasks, kind)
        q, l1, fusion = rng.normal(size=n_tasks), float(rng.choice([0.1, 1])), float(rng.choice([0.1, 1, 30]))
        if rng.random() < 0.3:
            q = np.round(q)
        found, expected = (block_gauge(graph, q, l1, fusion) for graph in (tasks, for_cuts(tasks)))
        assert found == pytest.approx(expected, rel=1e-12), (tasks, q, l1, fusion)
        for lowest in (0.7 * found, 1.3 * found):
            assert block_gauge(tasks, q, l1, fusion, lowest) == pytest.approx(max(lowest, found), rel=1e-12)


def test_the_gauge_of_a_chain_is_that_of_cuts():
    rng = np.random.default_rng(38)
    for _ in range(200):
        tasks = draw_chain(rng, int(rng.integers(4, 9)))
        q, l1, fusion = rng.normal(size=tasks.n_tasks), float(rng.choice([0.1, 1])), float(rng.choice([0.1, 1, 30]))
        expected = block_gauge(for_cuts(tasks), q, l1, fusion)
        assert block_gauge(tasks, q, l1, fusion) == pytest.approx(expected, rel=1e-12), (tasks, q, l1, fusion)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gauge_is_where_a_block_becomes_zero(kind):
    rng = np.random.default_rng(36)
    for _ in range(100):
        n_tasks = int(rng.integers(6, 16))
        tasks = draw_simple_graph(rng, n_tasks, kind)
        h, q = rng.uniform(0.5, 2, n_tasks), rng.normal(size=n_tasks)
        s = block_gauge(tasks, q, 0.5, 1.0)
        assert (block_prox(tasks, h, q, 0.5 * s * (1 + 1e-9), s * (1 + 1e-9)) == 0).all()
        assert (block_prox(tasks, h, q, 0.5 * s * (1 - 1e-9), s * (1 - 1e-9)) != 0).any()


def test_the_gauge_of_a_free_row_is_the_largest_over_sets_of_tasks():
    """Without l1 the slopes of each connected component must sum to zero."""
    rng = np.random.default_rng(37)
    for kind in KINDS[:-1] * 10:
        tasks = draw_simple_graph(rng, 8, kind)
        groups = tasks.components()
        q = rng.normal(size=8)
        q -= (np.bincount(groups, q) / np.bincount(groups))[groups]
        sides = (np.arange(256)[:, None] >> np.arange(8)) & 1
        room = np.abs(tasks.differences(sides)) @ tasks.weights
        expected = np.max(np.abs(sides @ q)[room > 1e-20] / room[room > 1e-20], initial=0.0)
        assert block_gauge(tasks, q, 0.0, 1.0) == pytest.approx(expected, rel=1e-9)


def test_long_chains_agree_with_trees_and_cuts():
    rng = np.random.default_rng(3)
    for _ in range(100):
        n_tasks = int(rng.integers(6, 40))
        chain = TaskGraph.chain(n_tasks)
        # The same edges in another order are a tree like any other.
        tree = TaskGraph([tuple(edge) for edge in chain.edges[::-1]], n_tasks)
        block = draw_block(rng, n_tasks)
        size = np.sqrt(np.sum(block[1] ** 2 / block[0])) + 1e-300
        for other in (tree, for_cuts(chain)):
            distance = block_prox(chain, *block) - block_prox(other, *block)
            assert np.sqrt(np.sum(block[0] * distance**2)) <= 1e-7 * size


def test_ties_and_zeros_are_exact():
    b = block_prox(TaskGraph.chain(4), np.ones(4), np.array([3.0, 3.4, 0.1, -0.2]), 0.5, 1.0)
    assert b[0] == b[1] != 0
    assert b[2] == b[3] == 0
    ring = block_prox(TaskGraph.ring(4), np.ones(4), np.array([3.0, 3.4, 2.9, 3.1]), 0.5, 10.0)
    assert len(set(ring)) == 1
