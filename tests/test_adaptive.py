"""Adaptive penalties: factors from a first fit, made anew wherever rows are left out, and what they are good for."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_array

from fusedlr import FusedLogit, TaskGraph, load
from fusedlr.objective import sigmoid
from tests.dependent import drawn, effects

N, TASKS = 160, 4
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")


@pytest.fixture(scope="module")
def data():
    Y, X = drawn(3, N, TASKS)
    return Y, X * np.geomspace(0.1, 10.0, 12)


@pytest.fixture(scope="module")
def model(data):
    return FusedLogit(*data, adaptive=True)


def ridge(y, X, l2):
    """Intercept and coefficients of one task by a general optimiser."""
    def objective(params):
        margin = np.where(y == 1, 1, -1) * (params[0] + X @ params[1:])
        return np.logaddexp(0, -margin).sum() + l2 / 2 * params[1:] @ params[1:]

    return minimize(objective, np.zeros(1 + X.shape[1]), method="BFGS", options={"gtol": 1e-7}).x


def by_hand(Y, X):
    """Factors of l1 and fusion of standardized features, from a ridge of 30 % of the curvature at the share of yes."""
    X, share = X / X.std(axis=0), Y.mean(axis=0)
    l2 = 0.3 * np.mean(len(Y) * share * (1 - share))
    coefs = np.column_stack([ridge(y, X, l2)[1:] for y in Y.T])
    sizes, steps = np.abs(coefs).mean(axis=1), np.abs(np.diff(coefs)).sum(axis=1)
    return sizes.mean() / sizes, steps.mean() / steps


def test_factors_follow_a_ridge_fit_of_each_task(data, model):
    l1, fusion = by_hand(*data)
    np.testing.assert_allclose(model.problem.factors.l1[1:], l1 * model.scale, rtol=1e-3)
    np.testing.assert_allclose(model.problem.factors.fusion[1:], fusion * model.scale, rtol=1e-3)
    np.testing.assert_allclose(model.problem.factors.l2[1:], model.scale**2)
    assert model.problem.factors.l1[0] == model.problem.factors.fusion[0] == 0
    assert model.adaptive and not FusedLogit(*data).adaptive


def test_a_fit_is_that_of_the_same_factors_given_by_hand(data, model):
    factors = model.problem.factors
    plain = FusedLogit(*data, fusion_factors=factors.fusion[1:] / model.scale)
    expected = plain.fit(np.append(0.0, 3.0 * factors.l1[1:] / model.scale), 0.5, 2.0)
    found = model.fit(3.0, 0.5, 2.0)
    np.testing.assert_allclose(found.params, expected.params, atol=1e-8)
    assert found.certify().gap < 1e-8 and found.df == expected.df


def test_units_do_not_matter_and_user_factors_multiply(data, model):
    Y, X = data
    other = FusedLogit(Y, X * 7.0, adaptive=True, penalty_factors=[0.0, 2.0] + [1.0] * 10)
    assert other.problem.factors.l1[1] == 0
    same = FusedLogit(Y, X * 7.0, adaptive=True)
    np.testing.assert_allclose(same.fit(2.0, 0.1, 1.0).params.iloc[1:] * 7.0, model.fit(2.0, 0.1, 1.0).params.iloc[1:],
                               atol=1e-6)


def test_a_weight_of_two_is_the_row_twice_and_the_origin_of_a_feature_does_not_matter(data, model):
    Y, X = data
    twice = np.repeat(np.arange(N), 2)
    for other in (FusedLogit(Y, X, weights=np.full(N, 2.0), adaptive=True),
                  FusedLogit(Y[twice], X[twice], adaptive=True), FusedLogit(Y, X + 100.0, adaptive=True),
                  FusedLogit(Y[:, ::-1], X, adaptive=True)):
        np.testing.assert_allclose(other.problem.factors.l1, model.problem.factors.l1, rtol=1e-6)
        np.testing.assert_allclose(other.problem.factors.fusion, model.problem.factors.fusion, rtol=1e-6)


def test_rows_that_are_left_out_take_no_part_in_the_factors(data, model):
    """Fits without a fold are those of a model that never saw it; so are halves and resamples."""
    Y, X = data
    cv = model.fit_cv(folds=4, l1=[1.0, 4.0], l2=0.1, fusion=[0.5, 2.0], progress=False)
    for fold, params in enumerate(cv.fold_params):
        kept = cv.folds != fold
        alone = model.with_rows(kept)
        assert not np.allclose(alone.problem.factors.l1, model.problem.factors.l1, rtol=1e-2)
        np.testing.assert_allclose(params, alone.fit(**cv.penalties).params, atol=1e-6)
    expected = np.mean([_logloss(model.with_rows(cv.folds != fold).fit(1.0, 0.1, 0.5), Y, X, cv.folds == fold)
                        for fold in range(4)])
    assert cv.table.set_index(["l1", "fusion"])["mean"][1.0, 0.5] == pytest.approx(expected, abs=1e-5)


def _logloss(fit, Y, X, held):
    chance = fit.predict(X[held]).to_numpy()
    return -np.mean(np.log(np.where(Y[held] == 1, chance, 1 - chance)))


def test_resamples_and_halves_adapt_anew(data, model):
    fit = model.fit(2.0, 0.1, 1.0)
    rng = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
    half = model.with_rows(np.sort(rng.permutation(N)[:N // 2])).fit(1.0, 0.05, 0.5)
    found = fit.stability(2, rng=3, errors=None, progress=False)
    np.testing.assert_allclose(found.samples[0], half.params, atol=1e-5)
    drawn_rows = fit.bootstrap(3, rng=1, progress=False).samples
    assert (drawn_rows[0] != drawn_rows[1]).any() and not np.allclose(drawn_rows.mean(axis=0), fit.params, atol=1e-3)
    assert (fit.multisplit(4, progress=False).pvalues >= 0).all()


def test_files_and_summaries_say_so(model, tmp_path):
    fit = model.fit_cv(folds=3, l1=[1.0, 4.0], l2=0.0, fusion=[1.0, 2.0], progress=False)
    fit.save(tmp_path / "fit")
    back = load(tmp_path / "fit")
    assert back.model.adaptive and str(back.summary()) == str(fit.summary())
    assert str(fit.summary()).count("x adaptive factors") == 2 and "made by all folds" in str(fit)
    for found, part in ((fit.bootstrap(2, progress=False), "resamples"), (fit.stability(2, progress=False), "halves"),
                        (fit.multisplit(2, progress=False), "splits")):
        assert f"Adaptive factors: made by all {part}" in " ".join(str(found.summary()).split())
    again = back.model.with_rows(range(100)).problem.factors.l1
    np.testing.assert_allclose(again, model.with_rows(range(100)).problem.factors.l1)
    fit.remove_data()
    assert fit.model.adaptive and fit.predict(np.zeros((1, 12))).shape == (1, TASKS)


@pytest.mark.parametrize("door", [
    lambda Y, X, **more: FusedLogit(Y[:, 0], X, **more),
    lambda Y, X, **more: FusedLogit(Y, X, tasks=TaskGraph([], n_tasks=TASKS), fuse_intercepts=True, **more),
    lambda Y, X, **more: FusedLogit.from_ordered(Y.sum(axis=1), X, **more),
    lambda Y, X, **more: FusedLogit.from_long(Y[:, 0], X, np.arange(N) % 3, **more),
    lambda Y, X, **more: FusedLogit.from_survival(np.arange(1.0, N + 1), Y[:, 0], X, breaks=[50, 100, 160], **more),
    lambda Y, X, **more: FusedLogit(Y, np.column_stack([X, np.full(N, 2.0), X[:, 0]]), **more),
    lambda Y, X, **more: FusedLogit(np.column_stack([Y[:, 0], np.ones(N)]), X, **more),
], ids=["one task", "no edges", "ordered", "long", "survival", "constant and twin", "one class"])
@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
def test_every_door_takes_it(data, door):
    fit = door(*data, adaptive=True).fit(1.0, 0.1, 1.0)
    assert fit.model.adaptive and np.isfinite(fit.params).all(axis=None) and fit.status != "not_converged"


def test_sparse_features_have_the_factors_of_dense_ones(data):
    Y, X = data
    X = np.where(np.abs(X) > X.std(axis=0), X, 0.0)
    sparse, dense = (FusedLogit(Y, features, adaptive=True).problem.factors for features in (csc_array(X), X))
    np.testing.assert_allclose(sparse.l1, dense.l1, rtol=1e-6)
    np.testing.assert_allclose(sparse.fusion, dense.fusion, rtol=1e-6)


def test_more_features_than_rows_and_labels_without_any_effect():
    rng = np.random.default_rng(0)
    wide = FusedLogit(rng.random((40, 3)) < 0.5, rng.normal(size=(40, 150)), adaptive=True).fit(5.0, 0.0, 1.0)
    assert wide.converged
    flat = FusedLogit(np.resize([0, 1], (40, 2)), np.repeat(rng.normal(size=(20, 2)), 2, axis=0), adaptive=True)
    factors = flat.problem.factors
    assert np.isfinite(factors.l1).all() and np.isfinite(factors.fusion).all()


def test_only_true_and_false_are_taken(data):
    with pytest.raises(TypeError, match="adaptive must be True or False"):
        FusedLogit(*data, adaptive="ridge")


# ---- what it is good for ---------------------------------------------------------------------------------------------

def excess(fit, true, rows=4000):
    """Mean Kullback-Leibler divergence of fitted from true probabilities, in thousandths, on new rows."""
    X = np.random.default_rng(1).normal(size=(rows, len(true)))
    p, q = sigmoid(np.linspace(-0.5, 0.5, true.shape[1]) + X @ true), fit.predict(X).to_numpy()
    return 1000 * np.mean(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))


def trial(n, true, draws):
    """Excess of the plain and of the adaptive choice, each (draws,)."""
    found = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, len(true)))
        Y = (rng.random((n, true.shape[1])) < sigmoid(np.linspace(-0.5, 0.5, true.shape[1]) + X @ true)).astype(float)
        found.append([excess(FusedLogit(Y, X, adaptive=adaptive).fit_cv(rng=seed, n_jobs=1, progress=False), true)
                      for adaptive in (False, True)])
    return np.array(found).T


CHOICES = Path(__file__).parents[1] / "docs/choices.md"
TRUTHS = {
    "five strong features, tasks differ": (200, np.vstack([np.random.default_rng(9).normal(size=(5, 4)),
                                                           np.zeros((7, 4))])),
    "six of 100 features, half of them changing": (100, np.vstack([1.3 * effects(4), np.zeros((88, 4))])),
    "six of 12, half of them changing": (300, effects(6)),
    "the same with fewer rows": (150, effects(4)),
    "four of 12, constant": (150, np.repeat([[1.0], [-0.5], [0.5], [0.3]] + [[0.0]] * 8, 4, axis=1)),
    "nothing": (150, np.zeros((12, 4))),
    "all 12 small and different in each task": (200, 0.3 * np.random.default_rng(3).normal(size=(12, 4))),
}


def printed(truth):
    """Mean excess of both fits as docs/choices.md prints it."""
    line = next(line for line in CHOICES.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {truth} |"))
    return [float(cell) for cell in line.split("|")[3:5]]


@pytest.mark.slow
@pytest.mark.parametrize("truth", TRUTHS)
def test_fits_come_as_near_the_truth_as_the_docs_say(truth):
    """Forty data sets, penalties by cross-validation: better where tasks differ, else no worse, but for the last."""
    plain, adaptive = trial(*TRUTHS[truth], 40)
    np.testing.assert_allclose([plain.mean(), adaptive.mean()], printed(truth), rtol=0.05)
    gain, error = np.mean(plain - adaptive), np.std(plain - adaptive) / np.sqrt(40)
    if truth.startswith(("five", "six of 100")):
        assert gain > 4 * error
    assert gain > -0.03 * plain.mean() or gain > -2 * error
