"""Our solvers reach the coefficients that R's glmnet and glm found; no R is needed here.

``make_glmnet.R`` drew the data and made the numbers.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fusedlr.admm import solve_admm
from fusedlr.optimality import certify
from fusedlr.solver import solve_newton
from fusedlr.tasks import TaskGraph
from tests.wide import Data, Penalty, Problem, objective

FOLDER = Path(__file__).parent
CHAIN = TaskGraph.chain(3)


def references():
    table = pd.read_csv(FOLDER / "glmnet_coefs.csv", comment="#")
    keys = ["comparison", "l1", "l2", "fusion", "fusion_const"]
    return [pytest.param(*key[1:], rows[["y1", "y2", "y3"]].to_numpy(), id="-".join(map(str, key)))
            for key, rows in table.groupby(keys, sort=False)]


each_reference = pytest.mark.parametrize("l1, l2, fusion, fusion_const, expected", references())


@pytest.fixture(scope="module")
def data():
    table = pd.read_csv(FOLDER / "glmnet_data.csv", comment="#")
    return Data.from_arrays(table.filter(like="x"), table.filter(like="y"))


def penalty_of(l1, l2, fusion, fusion_const):
    return Penalty.from_values(l1, l2, np.append(fusion_const, np.full(6, fusion)), 6)


def gap_wanted(l1, l2, fusion):
    """The gap is quadratic in the error of the coefficients where the objective is smooth, linear at a kink."""
    return 1e-15 if l1 + fusion == 0 else 1e-14


@each_reference
def test_newton_reaches_the_coefficients_of_r(data, l1, l2, fusion, fusion_const, expected):
    solution = solve_newton(Problem.build(data, CHAIN), penalty_of(l1, l2, fusion, fusion_const),
                            tol=gap_wanted(l1, l2, fusion))
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.params, expected, rtol=0, atol=1e-7)


@each_reference
def test_newton_has_the_zeros_and_ties_of_r(data, l1, l2, fusion, fusion_const, expected):
    solution = solve_newton(Problem.build(data, CHAIN), penalty_of(l1, l2, fusion, fusion_const),
                            tol=gap_wanted(l1, l2, fusion))
    np.testing.assert_array_equal(solution.params == 0, expected == 0)
    np.testing.assert_array_equal(CHAIN.differences(solution.params) == 0, np.abs(CHAIN.differences(expected)) < 1e-12)


@each_reference
def test_admm_reaches_the_coefficients_of_r(data, l1, l2, fusion, fusion_const, expected):
    solution = solve_admm(Problem.build(data, CHAIN), penalty_of(l1, l2, fusion, fusion_const), tol=1e-10)
    np.testing.assert_allclose(solution.params, expected, rtol=0, atol=1e-5)


@each_reference
def test_the_referee_approves_of_r(data, l1, l2, fusion, fusion_const, expected):
    certificate = certify(Problem.build(data, CHAIN), expected, penalty_of(l1, l2, fusion, fusion_const))
    assert certificate.kkt < 1e-8


@each_reference
def test_no_point_nearby_is_better_than_r(data, l1, l2, fusion, fusion_const, expected):
    rng = np.random.default_rng(1)
    penalty = penalty_of(l1, l2, fusion, fusion_const)
    best = objective(data, expected, penalty, CHAIN)
    for size in (1e-1, 1e-3, 1e-4):
        assert objective(data, expected + size * rng.normal(size=expected.shape), penalty, CHAIN) > best
