"""Fusion by feature: free to change, constant, or anything between."""

import numpy as np
import pandas as pd
import pytest

import fusedlr
from fusedlr import FusedLogit
from fusedlr.tuning import fusion_limit

RNG = np.random.default_rng(6)
X = pd.DataFrame(RNG.normal(size=(200, 3)) * [1.0, 5.0, 1.0], columns=["free", "constant", "plain"])
Y = (X[["free"]].to_numpy() * [0.2, 0.8, 1.2] + RNG.logistic(size=(200, 3)) > 0).astype(int)
FACTORS = {"free": 0.0, "constant": 1e4}


@pytest.mark.parametrize("standardize", [True, False])
def test_a_factor_is_a_penalty_by_feature(standardize):
    model = FusedLogit(Y, X, fusion_factors=[0.5, 2.0, 1.0], standardize=standardize)
    plain = FusedLogit(Y, X, standardize=standardize)
    by_feature = pd.Series({"free": 1.5, "constant": 6.0, "plain": 3.0})
    np.testing.assert_allclose(model.fit(1.0, 0.3, 3.0).params, plain.fit(1.0, 0.3, by_feature).params, atol=1e-9)


def test_zero_leaves_an_effect_free_and_a_large_number_makes_it_constant():
    res = FusedLogit(Y, X, fusion_factors=FACTORS).fit(0.0, 0.1, 1.0)
    assert res.params.loc["free"].nunique() == 3 and res.params.loc["constant"].nunique() == 1
    tied = FusedLogit(Y, X, fusion_factors=FACTORS).fit(0.0, 0.1, 1e4)
    assert tied.params.loc["free"].nunique() == 3 and tied.params.loc["plain"].nunique() == 1
    assert tied.certify().relative_gap < 1e-8


def test_every_door_takes_them_and_files_keep_them(tmp_path):
    level, data = Y.sum(axis=1), X.assign(level=Y.sum(axis=1))
    doors = [FusedLogit(Y, X, fusion_factors=FACTORS), FusedLogit.from_ordered(level, X, fusion_factors=FACTORS),
             FusedLogit.from_formula("level ~ free + constant + plain", data, levels=[0, 1, 2, 3],
                                     fusion_factors=FACTORS),
             FusedLogit.from_long(Y[:, 0], X, np.arange(200) % 3, fusion_factors=FACTORS)]
    for model in doors:
        np.testing.assert_array_equal(model.fusion_factors, [0.0, 1e4, 1.0])
    res = doors[0].fit(1.0, 0.1, 1.0)
    res.save(tmp_path / "fit.npz")
    again = fusedlr.load(tmp_path / "fit.npz")
    np.testing.assert_array_equal(again.model.fusion_factors, [0.0, 1e4, 1.0])
    assert "1 x factors" in str(again.summary())


@pytest.mark.parametrize(("factors", "message"), [
    ([1.0], "fusion_factors must hold one number for each of 3 features"),
    ({"other": 1.0}, "fusion_factors names features that the model does not have"),
    ([1.0, -1.0, 1.0], "fusion_factors must be finite and not negative")])
def test_bad_factors_are_refused(factors, message):
    with pytest.raises(ValueError, match=message):
        FusedLogit(Y, X, fusion_factors=factors)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_cross_validation_goes_by_them():
    cv = FusedLogit(Y, X, fusion_factors=FACTORS).fit_cv(folds=3, l1=0.0, l2=0.1, rng=1)
    assert cv.params.loc["free"].nunique() == 3
    nothing = FusedLogit(Y, X, fusion_factors=np.zeros(3))
    assert nothing.penalty_limits().fusion == 0
    assert nothing.fit_cv(folds=3, rng=1).table["fusion"].unique().tolist() == [0.0]


@pytest.mark.parametrize("l1, l2", [(0.0, 0.0), (1.0, 0.5), (4.0, 0.0)])
@pytest.mark.parametrize("fuse_intercepts", [False, True])
@pytest.mark.parametrize("tasks", ["chain", "ring", [("y1", "y2")]])
def test_at_the_limit_all_but_the_free_feature_are_tied(tasks, fuse_intercepts, l1, l2):
    """Features depend on each other, so that the free one takes part in where the others are tied."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(150, 3)) + rng.normal(size=(150, 1)), columns=["free", "one", "two"])
    Y = X.to_numpy() @ np.array([[0.0, 1.0, 3.0], [1.0, 1.0, 2.0], [0.0, 0.4, 0.0]]) + rng.logistic(size=(150, 3)) > 0
    model = FusedLogit(Y, X, tasks, fusion_factors=[0.0, 1.0, 2.0], fuse_intercepts=fuse_intercepts)
    limit = fusion_limit(model.problem, l1, l2)

    def steps(fusion):
        params = model.tasks.differences(model.fit(l1, l2, fusion).params.to_numpy())
        return np.delete(params, [1] if fuse_intercepts else [0, 1], axis=0), params[1]

    tied, free = steps(limit * (1 + 1e-4))
    assert not tied.any() and free.all() and steps(limit * 0.99)[0].any()
