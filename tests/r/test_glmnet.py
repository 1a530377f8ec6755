"""glmnet and glm through rpy2 solve our problem in the special cases where theirs is the same."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit
from fusedlr.optimality import certify
from fusedlr.problem import Problem
from fusedlr.r import RWarning, glmnet, session
from fusedlr.tasks import TaskGraph
from tests.wide import Penalty

pytestmark = pytest.mark.r

REFERENCE = Path(__file__).parents[1] / "reference"
CHAIN = TaskGraph.chain(3)
CORNERS = {"elastic_net": glmnet.elastic_net, "pooled_shared": glmnet.pooled, "pooled_free": glmnet.pooled,
           "fused_only": glmnet.fused_only, "unpenalized": glmnet.elastic_net}


def reference_problem(tasks=CHAIN):
    table = pd.read_csv(REFERENCE / "glmnet_data.csv", comment="#")
    return Problem.wide(table.filter(like="x"), table.filter(like="y"), tasks)


def weighted_problem(tasks):
    """A problem with weights, offsets and missing labels."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 6))
    Y = (rng.random((100, 3)) < 1 / (1 + np.exp(-0.3 - X @ rng.normal(size=(6, 3)) * 0.7))).astype(float)
    Y[rng.random((100, 3)) < 0.1] = np.nan
    return Problem.wide(X, Y, tasks, rng.uniform(0.5, 2, size=(100, 3)), 0.3 * rng.normal(size=(100, 3)))


def test_coefficients_are_those_of_the_script_in_an_r_of_its_own():
    problem = reference_problem()
    table = pd.read_csv(REFERENCE / "glmnet_coefs.csv", comment="#")
    for key, rows in table.groupby(["comparison", "l1", "l2", "fusion", "fusion_const"], sort=False):
        corner, l1, l2, fusion, fusion_const = key
        penalty = Penalty.from_values(l1, l2, np.append(fusion_const, np.full(6, fusion)), 6)
        np.testing.assert_allclose(CORNERS[corner](problem, penalty), rows[["y1", "y2", "y3"]], rtol=0, atol=1e-9)


FACTORS = [0.5, 1, 2, 0, 1, 1.5]
WEIGHTED_CHAIN = TaskGraph([(0, 1, 2.0), (1, 2, 0.5)], 3)


@pytest.mark.parametrize("fit, penalty, tasks", [
    (glmnet.elastic_net, Penalty.from_values(2, 0.7, 0, 6, FACTORS), CHAIN),
    (glmnet.pooled, Penalty.from_values(2, 0.7, 1e3, 6, FACTORS), CHAIN),
    (glmnet.pooled, Penalty.from_values(2, 0.7, [0, *[1e3] * 6], 6, FACTORS), CHAIN),
    (glmnet.fused_only, Penalty.from_values(0, 0, [1, 1, 2, 3, 0.5, 1, 1], 6), WEIGHTED_CHAIN),
    (glmnet.elastic_net, Penalty.from_values(0, 0, 0, 6), CHAIN),
], ids=["elastic net", "pooled", "pooled with free intercepts", "fused only", "unpenalized"])
def test_weights_offsets_missing_labels_and_factors_mean_the_same_to_r(fit, penalty, tasks):
    problem = weighted_problem(tasks)
    assert certify(problem, fit(problem, penalty), penalty).kkt < 1e-7


def test_agreement_tells_the_distance_to_r():
    problem, penalty = reference_problem(), Penalty.from_values(1, 0.5, 0, 6)
    exact = glmnet.elastic_net(problem, penalty)
    assert glmnet.agreement(problem, penalty, exact) == {"max_coef_difference": 0.0, "objective_difference": 0.0}
    moved = glmnet.agreement(problem, penalty, exact + 0.01)
    assert moved["max_coef_difference"] == pytest.approx(0.01) and moved["objective_difference"] > 0


def test_separated_data_warn_in_r_s_words():
    X = np.arange(10.0)[:, None] - 4.5
    with pytest.warns(RWarning, match="fitted probabilities numerically 0 or 1|algorithm did not converge"):
        glmnet.unpenalized(Problem.wide(X, X[:, 0] > 0))


def test_settings_of_glmnet_are_left_as_they_were():
    settings = "function() glmnet::glmnet.control()"
    before = session.call(settings)
    glmnet.elastic_net(reference_problem(), Penalty.from_values(1, 0.5, 0, 6))
    assert session.call(settings) == before


@pytest.mark.parametrize("fit, values, word", [
    (glmnet.elastic_net, (1, 1, 1), "fusion must be 0"),
    (glmnet.pooled, (0, 0, 1), "must not both be 0"),
    (glmnet.fused_only, (1, 0, 1), "l1 and l2 must be 0"),
    (glmnet.elastic_net, ([0, 1, 1, 1, 1, 1, 1], [0, 1, 2, 1, 1, 1, 1], 0), "same proportion"),
])
def test_a_penalty_that_glmnet_cannot_express_is_refused(fit, values, word):
    with pytest.raises(ValueError, match=word):
        fit(reference_problem(), Penalty.from_values(*values, 6))


@pytest.mark.parametrize("fit", [glmnet.elastic_net, glmnet.pooled, glmnet.fused_only])
def test_a_penalty_of_other_features_is_refused(fit):
    with pytest.raises(ValueError, match="penalty must have 7 rows.*found 6"):
        fit(reference_problem(), Penalty.from_values(1, 0.5, 0, 5))


@pytest.mark.parametrize("n_tasks", [2, 4])
def test_a_chain_of_other_tasks_is_refused(n_tasks):
    with pytest.raises(ValueError, match=f"TaskGraph of {n_tasks} tasks, but endog has 3 columns"):
        glmnet.fused_only(reference_problem(TaskGraph.chain(n_tasks)), Penalty.from_values(0, 0, 1, 6))


@pytest.mark.parametrize("shape", [(7, 1), (1, 3), (6, 3), (3, 7), (7,)])
def test_params_that_would_be_stretched_to_the_shape_of_the_data_are_refused(shape):
    with pytest.raises(ValueError, match=r"params must have shape \(7, 3\), intercepts first, found \("):
        glmnet.agreement(reference_problem(), Penalty.from_values(1, 0.5, 0, 6), np.zeros(shape))


def test_params_with_names_that_the_data_do_not_have_are_refused():
    """Perhaps in another order, they would be compared place by place."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(80, 3)) * [1, 10, 100], columns=["age", "dose", "bmi"])
    model = FusedLogit(pd.DataFrame(rng.random((80, 2)) < 0.5, columns=["low", "high"]), X)
    result = model.fit(l1=1.0, l2=0.5, fusion=0.0)
    for params in (result.params, result.params[["high", "low"]]):
        with pytest.raises(TypeError, match="result.solution.params with model.problem"):
            glmnet.agreement(model.problem, result.penalty_by_row, params)
    agreed = glmnet.agreement(model.problem, result.penalty_by_row, result.solution.params)
    assert agreed["max_coef_difference"] < 1e-6


@pytest.mark.parametrize("fit, fusion", [(glmnet.elastic_net, 0), (glmnet.pooled, 1e5)])
def test_standardized_features_mean_the_same_to_r(fit, fusion):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3)) * [0.1, 1, 10]
    model = FusedLogit(rng.random((80, 2)) < 0.5, X, penalty_factors=[1, 0.5, 2])
    penalty = model.penalty_by_row(1.0, 0.5, fusion)
    assert certify(model.problem, fit(model.problem, penalty), penalty).relative_gap < 1e-12


@pytest.mark.parametrize("seed, l1, l2", [(0, 1, 0.5), (1, 0.2, 0), (2, 3, 1), (3, 0.05, 0.01), (4, 1, 0), (5, 0, 1)])
def test_coefficients_come_within_three_times_the_root_of_tol_and_exact_fits_within_1e_6(seed, l1, l2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 5) if seed % 2 else (150, 30))
    linear = X[:, :1] - X[:, 1:2] * rng.normal(size=3)
    model = FusedLogit((rng.random(linear.shape) < 1 / (1 + np.exp(-linear))).astype(float), X, standardize=False)
    theirs = glmnet.elastic_net(model.problem, Penalty.from_values(l1, l2, 0, X.shape[1]))
    for tol, near in [(1e-6, 3e-3), (1e-8, 3e-4), (1e-10, 3e-5), (None, 1e-6)]:
        ours = model.fit(l1=l1, l2=l2, fusion=0, tol=tol).solution.params
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=near)
