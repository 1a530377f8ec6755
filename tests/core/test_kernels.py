"""The builds of the core for wider vectors give the same answers, whichever one the CPU would choose."""

import numpy as np
import pytest

from fusedlr.core import cpu
from fusedlr.solver import NewtonSolver, solve_exactly
from tests.wide import Data, Penalty, Problem
from fusedlr.tasks import TaskGraph
from tests.core.problems import draw_problem

KERNELS = ("base", "avx2", "avx512")


@pytest.fixture
def kernels(monkeypatch):
    """Calls a function once for each build that this CPU can run; the results."""

    def call(function):
        found = {}
        for name in KERNELS:
            monkeypatch.setenv("FUSEDLR_KERNEL", name)
            try:
                assert cpu() == name
            except ValueError:
                continue
            found[name] = function()
        return found

    return call


def pattern(params, tasks):
    return (params == 0).tolist(), (tasks.differences(params) == 0).tolist()


def test_the_base_build_runs_everywhere_and_the_widest_is_chosen(kernels, monkeypatch):
    names = list(kernels(cpu))
    monkeypatch.delenv("FUSEDLR_KERNEL")
    assert names[0] == "base" and cpu() == names[-1]


@pytest.mark.parametrize("name", ["sse", "AVX2", "base "])
def test_an_unknown_kernel_is_refused(name, monkeypatch):
    monkeypatch.setenv("FUSEDLR_KERNEL", name)
    with pytest.raises(ValueError, match=f"FUSEDLR_KERNEL must name one of the builds .*base; found {name}$"):
        cpu()


@pytest.mark.parametrize("seed", range(60))
def test_every_build_finds_the_same_coefficients_zeros_and_ties(seed, kernels):
    data, penalty, tasks = draw_problem(seed)
    ridge = Penalty(penalty.l1, penalty.l2 + 1, penalty.fusion)  # so that there is one minimiser
    found = kernels(lambda: solve_exactly(Problem.build(data, tasks), ridge))
    first = found.pop("base")
    for solution in found.values():
        np.testing.assert_allclose(solution.params, first.params, rtol=1e-8, atol=1e-8)
        assert solution.objective == pytest.approx(first.objective, rel=1e-12)
        assert pattern(solution.params, tasks) == pattern(first.params, tasks)


def test_every_build_finds_the_same_grid(kernels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    effects = rng.normal(size=(40, 1)) * (rng.random((40, 1)) < 0.3) + 0.2 * rng.normal(size=(40, 4))
    Y = (rng.random((60, 4)) < 1 / (1 + np.exp(-X @ effects))).astype(float)
    tasks = TaskGraph.chain(4)
    problem = Problem.build(Data.from_arrays(X, Y), tasks)
    points = np.array([(l1, l2, fusion) for l1 in (4, 1, 0.2) for l2 in (1.0, 0.1) for fusion in (4, 0.5, 0)])
    found = kernels(lambda: NewtonSolver(problem).solve_points(points, tol=1e-12)[0])
    first = found.pop("base")
    for params in found.values():
        np.testing.assert_allclose(params, first, rtol=1e-8, atol=1e-8)
        assert [pattern(each, tasks) for each in params] == [pattern(each, tasks) for each in first]
