"""The exact minimiser of one block against brute force, on every kind of graph."""

from itertools import combinations

import numpy as np
import pytest

from fusedlr.newton import block_prox
from fusedlr.tasks import TaskGraph
from tests.newton.brute import block_value, brute_prox
from tests.newton.problems import draw_graph


def agrees(tasks, h, q, l1, fusion):
    b = block_prox(tasks, h, q, l1, fusion)
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
        weights = rng.choice([1.0, 1e-12, 0.2, 5.0], n_tasks - 1)
        tasks = TaskGraph([(k, k + 1, w) for k, w in enumerate(weights)], n_tasks)
        block = draw_block(rng, n_tasks)
        assert agrees(tasks, *block), (tasks, block)


@pytest.mark.parametrize("n_tasks", [3, 4])
def test_every_graph(n_tasks):
    rng = np.random.default_rng(20 + n_tasks)
    pairs = list(combinations(range(n_tasks), 2))
    for chosen in range(2 ** len(pairs)):
        tasks = TaskGraph([pair for e, pair in enumerate(pairs) if chosen >> e & 1], n_tasks)
        for _ in range(3):
            block = draw_block(rng, n_tasks)
            assert agrees(tasks, *block), (tasks, block)


def test_chains_and_cuts_agree_on_long_chains():
    rng = np.random.default_rng(3)
    for _ in range(100):
        n_tasks = int(rng.integers(6, 40))
        chain = TaskGraph.chain(n_tasks)
        # The same edges in another order are no longer recognised as a chain.
        shuffled = TaskGraph([tuple(edge) for edge in chain.edges[::-1]], n_tasks)
        block = draw_block(rng, n_tasks)
        by_chain, by_cuts = block_prox(chain, *block), block_prox(shuffled, *block)
        size = np.sqrt(np.sum(block[1] ** 2 / block[0])) + 1e-300
        assert np.sqrt(np.sum(block[0] * (by_chain - by_cuts) ** 2)) <= 1e-7 * size


def test_ties_and_zeros_are_exact():
    b = block_prox(TaskGraph.chain(4), np.ones(4), np.array([3.0, 3.4, 0.1, -0.2]), 0.5, 1.0)
    assert b[0] == b[1] != 0
    assert b[2] == b[3] == 0
    ring = block_prox(TaskGraph.ring(4), np.ones(4), np.array([3.0, 3.4, 2.9, 3.1]), 0.5, 10.0)
    assert len(set(ring)) == 1
