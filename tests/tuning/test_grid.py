"""Many penalties at once: the same answers as one by one, the table, the choice among them."""

import numpy as np
import pytest
from scipy.special import expit

from fusedlr import FusedLogit
from fusedlr.optimality import certify
from fusedlr.solver import solve_path
from tests.wide import Data, Penalty, Problem

# Grids of a few points, whose ends are chosen often.
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")

L1, L2, FUSION = [0.0, 0.5, 2.0], [0.0, 0.3], [0.0, 0.5, 4.0]


def draw(n):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 8))
    chance = 1 / (1 + np.exp(-X @ (rng.normal(size=(8, 1)) + 0.3 * rng.normal(size=(8, 4)))))
    return X, (rng.random((n, 4)) < chance).astype(float)


@pytest.fixture(scope="module")
def model():
    X, Y = draw(90)
    return FusedLogit(Y, X, standardize=False, fuse_intercepts=True)


@pytest.fixture(scope="module")
def grid(model):
    return model.fit_grid(L1, L2, FUSION, tol=1e-8)


def test_points_come_in_the_order_of_a_product(grid):
    points = [(a, b, c) for a in L1 for b in L2 for c in FUSION]
    np.testing.assert_array_equal(grid.table[["l1", "l2", "fusion"]].to_numpy(), points)
    assert len(grid) == len(points) == len(grid.coefs) == len(grid.intercepts)


def test_every_point_is_certified_by_the_referee(model, grid):
    assert (grid.table["status"] == "optimal").all()
    for i, row in grid.table.iterrows():
        penalty = model.penalty_by_row(row["l1"], row["l2"], row["fusion"])
        certificate = certify(model.problem, grid.params[i], penalty)
        assert -1e-12 <= certificate.relative_gap <= 1e-7
        assert certificate.objective == pytest.approx(row["objective"], rel=1e-10)
    assert (grid.table["gap"] <= 1e-8).all()


def test_a_point_equals_a_single_fit(model, grid):
    for i in (0, 5, 11, 17):
        row = grid.table.iloc[i]
        alone = model.fit(row["l1"], row["l2"], row["fusion"], tol=1e-8)
        np.testing.assert_allclose(grid.results(i).params, alone.params, rtol=0, atol=2e-3)
        assert grid.results(i).objective == pytest.approx(alone.objective, rel=1e-7)


def test_counts_are_those_of_the_coefficients(grid):
    for i in range(len(grid)):
        coefs, intercepts = grid.coefs[i], grid.intercepts[i]
        starts = np.column_stack([np.ones((9, 1), dtype=bool), np.diff(grid.params[i], axis=1) != 0])
        values = starts & np.vstack([np.ones_like(intercepts, dtype=bool), coefs != 0])
        assert grid.table["nonzeros"][i] == (coefs != 0).sum()
        assert grid.table["df"][i] == values.sum()


def test_results_carry_the_solvers_gap_and_the_referee_agrees(grid):
    assert grid.results(7).gap <= 1e-7 and grid.results(7).certify().relative_gap <= 1e-7


def test_selection_takes_the_least_error(model, grid):
    X, Y = draw(400)
    chosen = grid.select(Y, X, metric="error")
    errors = [((X @ coefs + intercepts > 0) != Y).mean() for coefs, intercepts in zip(grid.coefs, grid.intercepts)]
    error = ((X @ chosen.coefs.to_numpy() + chosen.intercepts.to_numpy() > 0) != Y).mean()
    assert error == pytest.approx(min(errors))


def test_a_grid_on_standardized_features_returns_the_original_scale():
    X, Y = draw(90)
    wide = X * np.r_[100.0, np.ones(7)]
    scaled = FusedLogit(Y, wide, standardize=True).fit_grid([1.0], [0.1], [0.5], tol=1e-9)
    alone = FusedLogit(Y, wide, standardize=True).fit(1.0, 0.1, 0.5, tol=1e-9)
    np.testing.assert_allclose(scaled.params[0], alone.params, rtol=1e-3, atol=1e-5)


def test_progress_is_told_after_each_point(model):
    heard = []
    solve_path(model.problem, [(1.0, 0.1, 0.5), (2.0, 0.1, 0.5)], callback=heard.append)
    assert heard == [1, 2]


def test_penalty_factors_and_free_intercepts_reach_every_point(model):
    factors = np.r_[0.0, np.full(7, 2.0)]
    problem = Problem.build(Data.of(model), model.tasks, factors, fuse_intercepts=False)
    params = solve_path(problem, [(0.5, 0.1, 1.0)], tol=1e-9).params
    penalty = Penalty.from_values(0.5, 0.1, np.r_[0.0, np.ones(8)], 8, factors)
    assert certify(model.problem, params[0], penalty).relative_gap <= 1e-8


@pytest.mark.parametrize("name, values, error", [
    ("l1", [], ValueError), ("l1", [-1.0], ValueError), ("l2", [np.nan], ValueError),
    ("fusion", [1.0, 1.0], ValueError),
    ("l1", "one", TypeError), ("l2", None, TypeError), ("fusion", [[1.0]], ValueError), ("l1", ["a"], TypeError)])
def test_bad_lists_are_refused_by_name(model, name, values, error):
    lists = {"l1": [1.0], "l2": [0.1], "fusion": [0.5], name: values}
    with pytest.raises(error, match=name):
        model.fit_grid(**lists)


def test_a_large_grid_is_solved_in_stripes_that_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(5000, 25))
    model = FusedLogit((rng.random((5000, 4)) < expit(X[:, :4])).astype(float), X)
    lists, counts = ([20.0, 80.0], [0.0, 1.0], [0.0, 1.0, 5.0, 20.0]), []
    one, two = (model.fit_grid(*lists, tol=1e-8, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.params, two.params)
    assert one.table.equals(two.table) and (one.table["gap"] <= 1e-8).all()
    points = one.table[["l1", "l2", "fusion"]].to_numpy()
    params = solve_path(model.problem, points, tol=1e-8, callback=counts.append, n_jobs=2).params
    assert counts == list(range(1, len(points) + 1))
    for point, found in zip(points, params):
        assert certify(model.problem, found, model.problem.penalty(*point)).relative_gap <= 2e-8
