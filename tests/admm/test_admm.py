"""The paper's ADMM: its updates one by one, its answers before the referee, its limits."""

import numpy as np
import pytest

from fusedlr.admm import solve_admm
from fusedlr.admm.chi_update import InFeatures, InRows
from fusedlr.admm.levels import Admm
from fusedlr.admm.residuals import History
from fusedlr.admm.zeta_update import SecondLevel
from fusedlr.optimality import certify, kkt_violation
from fusedlr.problem import Labels
from fusedlr.solver import solve_newton
from fusedlr.tasks import TaskGraph
from tests.wide import Data, Penalty, Problem, gap_unit, objective


def arrays(seed, n=40, d=6, t=4):
    """Features and labels whose tasks share most, not all, of their coefficients."""
    rng = np.random.default_rng(seed)
    X, B = rng.normal(size=(n, d)), np.zeros((d, t))
    B[: d // 2] = rng.choice([-2.0, 2.0], size=(d // 2, 1))
    B[0, t // 2:] *= -1
    return X, (rng.random((n, t)) < 1 / (1 + np.exp(-X @ B))).astype(float), rng


def tasks_of(name, t, weights=None):
    plain = TaskGraph.build(name, t)
    return plain if weights is None else TaskGraph([(j, k, w) for (j, k), w in zip(plain.edges, weights)], t)


PENALTIES = [(1.0, 0.1, 0.5), (1.0, 0.0, 1.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.0), (0.0, 0.0, 0.5),
             (0.0, 0.0, 0.0), (0.2, 0.0, 20.0)]


@pytest.mark.parametrize("name", ["chain", "ring"])
@pytest.mark.parametrize("strength", PENALTIES)
def test_answers_are_certified_by_the_referee(name, strength):
    X, Y, _ = arrays(1, n=100)
    data, tasks, penalty = Data.from_arrays(X, Y), tasks_of(name, 4), Penalty.from_values(*strength, 6)
    answer = solve_admm(Problem.build(data, tasks), penalty, tol=1e-7)
    proof = certify(Problem.build(data, tasks), answer.params, penalty)
    assert answer.status == "optimal"
    assert answer.gap <= 1e-7
    assert proof.relative_gap <= 1e-7
    assert proof.objective == answer.objective


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain", "ring"])
@pytest.mark.parametrize("seed", range(4))
def test_weights_offsets_missing_labels_and_penalties_by_row_are_certified(name, seed):
    X, Y, rng = arrays(seed, n=60, d=5)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    data = Data.from_arrays(X * 10.0 ** np.arange(-2, 3), Y, rng.uniform(0, 2, Y.shape), rng.normal(size=Y.shape))
    l1, l2, fusion = rng.uniform(0, 1, size=(3, 6)) * (rng.random((3, 6)) < 0.7)
    penalty = Penalty.from_values(np.r_[0, l1[1:]], np.r_[0, l2[1:]], fusion, 5, [1.0, 0.0, 1.0, 2.0, 1.0])
    tasks = tasks_of(name, 4, rng.uniform(0.3, 2.0, 4))
    answer = solve_admm(Problem.build(data, tasks), penalty, tol=1e-6)
    assert answer.status == "optimal"
    assert certify(Problem.build(data, tasks), answer.params, penalty).relative_gap <= 1e-6


def test_a_tolerance_of_1e_9_is_reached():
    X, Y, _ = arrays(2, n=60)
    data, tasks, penalty = Data.from_arrays(X, Y), TaskGraph.chain(4), Penalty.from_values(0.5, 0.0, 0.7, 6)
    answer = solve_admm(Problem.build(data, tasks), penalty, tol=1e-9)
    assert answer.status == "optimal"
    assert certify(Problem.build(data, tasks), answer.params, penalty).relative_gap <= 1e-9


def awkward(kind, seed):
    """Unpenalized rows that some task's labelled rows do not span."""
    X, Y, rng = arrays(seed, n=60, d=4)
    if kind == "a task without labels":
        Y[:, seed % 4] = np.nan
    if kind == "two tasks without labels":
        Y[:, [1, 2 + seed % 2]] = np.nan
    if kind == "a level absent in one task":
        X[:, 0], Y[:20, 1] = np.arange(60) < 20, np.nan
    if kind == "a feature that is always zero":
        X[:, 1] = 0.0
    if kind == "twice the same feature":
        X[:, 1] = -3 * X[:, 0]
    return Data.from_arrays(X, Y, rng.uniform(0.5, 2, Y.shape), rng.normal(size=Y.shape)), rng


@pytest.mark.slow
@pytest.mark.parametrize("fuse_intercepts", [True, False])
@pytest.mark.parametrize("kind", ["ordinary", "a task without labels", "two tasks without labels",
                                  "a level absent in one task", "a feature that is always zero",
                                  "twice the same feature"])
@pytest.mark.parametrize("seed", range(2))
def test_the_lower_bound_holds_at_every_point(kind, seed, fuse_intercepts):
    data, rng = awkward(kind, seed)
    tasks = tasks_of(["chain", "ring"][seed % 2], 4, rng.uniform(0.3, 2.0, 4))
    problem = Problem.build(data, tasks, [0.0, 0.0, 1.0, 1.0], fuse_intercepts)
    penalty = problem.penalty(0.5, [0, 0, 0, 0.4, 0], 0.6)
    least = min(solve_newton(problem, penalty, tol=1e-12).objective, *(
        objective(data, size * rng.normal(size=(5, 4)), penalty, tasks) for size in 10.0 ** rng.uniform(-3, 3, 200)))
    admm, bounds = Admm(problem, penalty, InFeatures), []
    for _ in range(20):
        admm.step(1e-4)
        proof = admm.certificate()
        bounds.append(proof.value - proof.gap * gap_unit(data, proof.value))
    assert max(bounds) <= least * (1 + 1e-12)
    assert max(bounds) > 0.9 * least


@pytest.mark.parametrize(("n", "d"), [(8, 20), (30, 5), (6, 6)])
def test_both_spaces_give_the_same_chi(n, d):
    X, Y, rng = arrays(3, n, d, 2)
    X[1] = X[0]  # X X' has no inverse: the paper's h would not have one either
    data = Data.from_arrays(X, Y, rng.uniform(0.1, 2, Y.shape), rng.normal(size=Y.shape))
    lambda2, rho = np.r_[0, rng.uniform(0, 1, d)], rng.uniform(0.1, 3, 1 + d)
    Omega, start = rng.normal(size=1 + d), rng.normal(size=1 + d)
    design = np.column_stack([np.ones(n), X])
    labels = Labels.wide(Y[:, 1], data.weights[:, 1])
    chi = [space(design, labels, data.offset[:, 1], lambda2).minimise(start, Omega, rho)
           for space in (InFeatures, InRows)]
    np.testing.assert_allclose(chi[0], chi[1], atol=1e-10)
    p = 1 / (1 + np.exp(data.signs[:, 1] * (data.offset[:, 1] + design @ chi[0])))
    slope = -design.T @ (data.weights[:, 1] * data.signs[:, 1] * p) + lambda2 * chi[0] + rho * (chi[0] - Omega)
    assert np.abs(slope).max() < 1e-9


@pytest.mark.parametrize("n", [10, 60])
def test_both_spaces_give_the_same_fit(n):
    X, Y, _ = arrays(4, n, 12)
    data, tasks, penalty = Data.from_arrays(X, Y), TaskGraph.ring(4), Penalty.from_values(0.3, 0.2, 0.5, 12)
    fits = [solve_admm(Problem.build(data, tasks), penalty, tol=1e-8, space=space)
            for space in ("features", "rows", "auto")]
    np.testing.assert_allclose(fits[0].params, fits[1].params, atol=1e-9)
    np.testing.assert_array_equal(fits[2].params, fits[1 if n < 13 else 0].params)


@pytest.mark.parametrize("name", ["chain", "ring"])
def test_the_second_level_solves_the_zeta_update(name):
    rng = np.random.default_rng(5)
    tasks = tasks_of(name, 5, rng.uniform(0.5, 2, 5))
    penalty = Penalty(np.r_[0, rng.uniform(0, 1, 9)], np.zeros(10), rng.uniform(0, 1, 10))
    Omega, rho, second = 2 * rng.normal(size=(10, 5)), rng.uniform(0.5, 3, 10), SecondLevel(penalty, tasks)
    for _ in range(10):
        second.minimise(Omega.T, rho, 1e-12, History())
    zeta = second.pattern()
    assert (zeta == 0).any() and (tasks.differences(zeta) == 0).any()
    assert kkt_violation(zeta, rho[:, None] * (zeta - Omega), penalty, tasks) < 1e-9


def test_zeros_and_ties_are_exact_and_stable():
    X, Y, _ = arrays(6, n=60)
    data, tasks, penalty = Data.from_arrays(X, Y), TaskGraph.chain(4), Penalty.from_values(2.0, 0.1, 1.0, 6)
    loose, tight = (solve_admm(Problem.build(data, tasks), penalty, tol=tol).params for tol in (1e-7, 1e-10))
    np.testing.assert_array_equal(tight == 0, np.abs(tight) < 1e-6)
    np.testing.assert_array_equal(tasks.differences(tight) == 0, np.abs(tasks.differences(tight)) < 1e-6)
    np.testing.assert_array_equal(loose == 0, tight == 0)
    assert (tight == 0).any() and (tight != 0).any() and (tasks.differences(tight[0][None]) == 0).any()


def test_the_step_to_the_pattern_does_not_cost_objective():
    X, Y, _ = arrays(7)
    data, tasks, penalty = Data.from_arrays(X, Y), TaskGraph.ring(4), Penalty.from_values(0.7, 0.1, 0.6, 6)
    admm = Admm(Problem.build(data, tasks), penalty, InFeatures)
    answer = admm.run(1e-8, 5000)
    assert answer.objective <= objective(data, admm.zeta, penalty, tasks) * (1 + 1e-8)


def test_no_fusion_equals_separate_fits():
    X, Y, _ = arrays(8)
    penalty = Penalty.from_values(0.5, 0.2, 0.0, 6)
    together = solve_admm(Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(4)), penalty, tol=1e-12)
    for k in range(4):
        alone = solve_admm(Problem.build(Data.from_arrays(X, Y[:, k]), TaskGraph.chain(1)), penalty, tol=1e-12)
        np.testing.assert_allclose(together.params[:, k], alone.params[:, 0], atol=1e-5)


def test_large_fusion_equals_one_pooled_fit():
    X, Y, _ = arrays(9)
    fused = solve_admm(Problem.build(Data.from_arrays(X, Y), TaskGraph.ring(4)), Penalty.from_values(0.5, 0.2, 1e3, 6),
                       tol=1e-10)
    pooled = solve_admm(Problem.build(Data.from_arrays(np.tile(X, (4, 1)), Y.T.ravel()), TaskGraph.chain(1)),
                        Penalty.from_values(2.0, 0.8, 0.0, 6), tol=1e-10)
    assert (np.ptp(fused.params, axis=1) == 0).all()
    np.testing.assert_allclose(fused.params[:, 0], pooled.params[:, 0], atol=1e-4)


def test_reversed_tasks_give_the_reversed_fit():
    X, Y, _ = arrays(10)
    penalty, tasks = Penalty.from_values(0.5, 0.2, 0.4, 6), TaskGraph.chain(4)
    there, back = (solve_admm(Problem.build(Data.from_arrays(X, labels), tasks), penalty, tol=1e-11)
                   for labels in (Y, Y[:, ::-1]))
    np.testing.assert_allclose(there.params, back.params[:, ::-1], atol=1e-5)


def test_residuals_of_both_levels_are_kept():
    X, Y, _ = arrays(11)
    answer = solve_admm(Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(4)),
                        Penalty.from_values(0.5, 0.2, 0.4, 6))
    history = answer.history
    assert set(history) == {"primal", "dual", "rho", "second_primal", "second_dual", "second_of"}
    assert all(len(history[name]) == answer.iterations for name in ("primal", "dual", "rho"))
    assert sorted(set(history["second_of"])) == list(range(answer.iterations))
    assert history["primal"][-1] < 1e-2 * history["primal"][0]
    assert all(np.isfinite(values).all() for values in history.values())


def test_the_limit_on_iterations_is_kept_and_told():
    X, Y, _ = arrays(12)
    data, penalty, tasks = Data.from_arrays(X, Y), Penalty.from_values(0.5, 0.0, 0.4, 6), TaskGraph.chain(4)
    answer = solve_admm(Problem.build(data, tasks), penalty, tol=1e-12, max_iter=3)
    assert (answer.status, answer.iterations) == ("not_converged", 3)
    assert answer.gap > 1e-12
    assert np.isfinite(answer.params).all()


@pytest.mark.parametrize("fusion", [0.0, 0.5])
def test_separated_data_without_penalty_stop_and_say_so(fusion):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(30, 3))
    Y = np.repeat((X[:, :1] > 0).astype(float), 3, axis=1)
    penalty = Penalty.from_values(0.0, 0.0, fusion, 3)
    answer = solve_admm(Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(3)), penalty, max_iter=200)
    assert answer.status == "separated"
    assert np.isfinite(answer.params).all() and np.isfinite(answer.objective)


def test_a_task_with_one_class_is_told_unless_fusion_holds_it():
    X, Y, _ = arrays(14)
    Y[:, 1] = 1.0
    data = Data.from_arrays(X, Y)
    alone = solve_admm(Problem.build(data, TaskGraph.chain(4)), Penalty.from_values(1.0, 0.0, 0.0, 6), max_iter=200)
    held = solve_admm(Problem.build(data, TaskGraph.chain(4)), Penalty.from_values(1.0, 0.0, 1.0, 6))
    assert alone.status == "separated"
    assert held.status == "optimal"
    assert np.isfinite(alone.params).all()


def test_a_task_without_labels_follows_its_neighbours():
    X, Y, _ = arrays(15)
    Y[:, 3] = np.nan
    data, tasks, penalty = Data.from_arrays(X, Y), TaskGraph.chain(4), Penalty.from_values(0.0, 0.0, 0.5, 6)
    answer = solve_admm(Problem.build(data, tasks), penalty, tol=1e-8)
    np.testing.assert_array_equal(answer.params[:, 3], answer.params[:, 2])


@pytest.mark.parametrize(("n", "d", "t"), [(1, 3, 2), (30, 1, 1), (20, 4, 30)])
def test_small_and_long_shapes_are_solved(n, d, t):
    X, Y, _ = arrays(16, n, d, t)
    data, tasks, penalty = Data.from_arrays(X, Y), TaskGraph.chain(t), Penalty.from_values(0.3, 0.1, 0.5, d)
    answer = solve_admm(Problem.build(data, tasks), penalty)
    assert np.isfinite(answer.params).all()
    assert certify(Problem.build(data, tasks), answer.params, penalty).relative_gap <= 1e-6


def test_other_graphs_and_spaces_are_refused():
    X, Y, _ = arrays(17)
    data, penalty = Data.from_arrays(X, Y), Penalty.from_values(1.0, 0.0, 1.0, 6)
    with pytest.raises(ValueError, match="'admm' takes a chain or a ring of tasks, found .*; use method 'newton'"):
        solve_admm(Problem.build(data, TaskGraph([(0, 1), (0, 2), (0, 3)], 4)), penalty)
    with pytest.raises(ValueError, match="space must be 'auto', 'features' or 'rows', found 'columns'"):
        solve_admm(Problem.build(data, TaskGraph.chain(4)), penalty, space="columns")
