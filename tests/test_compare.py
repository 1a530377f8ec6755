"""Models are compared on the same splits, by numbers that can be checked by hand."""

import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fusedlr import FusedLogit, compare

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    Y = (X[:, [0]] + rng.normal(size=(120, 2)) > 0).astype(float)
    Y[:5, 1] = np.nan
    return Y, X


def always(value):
    """A model that gives every row the same probability."""
    return lambda Y, X, X_new: np.full((len(X_new), Y.shape[1]), value)


def test_a_model_that_always_says_yes_errs_in_the_share_of_no(data):
    Y, X = data
    seen = []

    def yes(Y_train, X_train, X_new):
        seen.append(X_new)
        return np.full((len(X_new), 2), 0.9)

    found = compare(Y, X, models={"yes": yes}, splits=3, progress=False)
    for row, X_new in zip(found.scores.to_dict("records"), seen):
        held_out = [np.flatnonzero((X == x).all(axis=1))[0] for x in X_new]
        known = Y[held_out][~np.isnan(Y[held_out])]
        assert row["error"] == pytest.approx(np.mean(known == 0))
        assert row["logloss"] == pytest.approx(-np.mean(np.where(known == 1, np.log(0.9), np.log(0.1))))
    assert len(seen[0]) == 30


def test_all_models_see_the_same_rows_and_smaller_sizes_the_first_of_them(data):
    Y, X = data
    seen = {}

    def spy(name):
        def model(Y_train, X_train, X_new):
            seen.setdefault(name, []).append((X_train, X_new))
            return always(0.5)(Y_train, X_train, X_new)
        return model

    compare(Y, X, models={"a": spy("a"), "b": spy("b")}, splits=2, sizes=[10, 90], progress=False)
    for (train, new), (other_train, other_new) in zip(seen["a"], seen["b"]):
        assert np.array_equal(train, other_train)
        assert np.array_equal(new, other_new)
    (small, _), (large, new) = seen["a"][:2]
    assert np.array_equal(small, large[:10])
    assert not {tuple(row) for row in large} & {tuple(row) for row in new}
    assert not np.array_equal(new, seen["a"][2][1]), "splits differ"


def test_groups_are_never_split(data):
    Y, X = data
    groups = np.repeat(np.arange(40), 3)
    X = np.column_stack([X, groups])

    def whole(Y_train, X_train, X_new):
        assert not set(X_train[:, -1]) & set(X_new[:, -1])
        return always(0.5)(Y_train, X_train, X_new)

    found = compare(Y, X, models={"whole": whole}, splits=5, groups=groups, progress=False)
    assert found.test_share == 0.25


def test_the_named_models_are_those_of_the_package(data):
    Y, X = data
    parts = []

    def spy(Y_train, X_train, X_new):
        parts.append((Y_train, X_train, X_new))
        return always(0.5)(Y_train, X_train, X_new)

    names = ["fused_elastic_net", "fused_l1", "elastic_net", "unpenalized"]
    kept = {}
    found = compare(Y, X, models={**dict.fromkeys(names), "spy": spy}, splits=1, progress=False)
    Y_train, X_train, X_new = parts[0]
    kept["fused_elastic_net"] = FusedLogit(Y_train, X_train).fit_cv(progress=False)
    kept["fused_l1"] = FusedLogit(Y_train, X_train).fit_cv(l2=[0.0], progress=False)
    kept["unpenalized"] = FusedLogit(Y_train, X_train).fit(0.0, 0.0, 0.0)
    held_out = np.array([Y[(X == x).all(axis=1)][0] for x in X_new])
    known = ~np.isnan(held_out)
    chances = {name: fit.predict(X_new).to_numpy() for name, fit in kept.items()}
    chances["elastic_net"] = np.column_stack([
        FusedLogit(Y_train[:, [k]], X_train).fit_cv(progress=False).predict(X_new).to_numpy() for k in range(2)])
    errors = found.scores.set_index("model")["error"]
    for name in names:
        assert errors[name] == np.mean((chances[name] > 0.5)[known] != held_out[known])


def test_intervals_have_the_correction_for_shared_rows(data):
    Y, X = data
    found = compare(Y, X, models=["fused_l1", "unpenalized"], splits=4,
                    sizes=[40], progress=False)
    row, = found.differences().to_dict("records")
    wide = found.scores.pivot(index="split", columns="model", values="error")
    apart = wide["unpenalized"] - wide["fused_l1"]
    half = stats.t.ppf(0.975, 3) * np.sqrt(apart.var() * (1 / 4 + 30 / 90))
    assert (row["model"], row["to"], row["splits"]) == ("unpenalized", "fused_l1", 4)
    assert row["mean"] == pytest.approx(apart.mean())
    assert [row["low"], row["high"]] == pytest.approx([apart.mean() - half, apart.mean() + half])
    assert found.differences(to="unpenalized")["mean"].tolist() == pytest.approx([-apart.mean()])
    assert "fused_l1" in str(found)


def test_splits_may_be_shared_between_processes(data):
    Y, X = data
    settings = {"models": ["unpenalized"], "splits": 4, "rng": 7, "progress": False}
    whole = compare(Y, X, **settings).scores.drop(columns="seconds")
    parts = [compare(Y, X, **settings, only=[number]).scores.drop(columns="seconds") for number in range(4)]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)
    other = compare(Y, X, **{**settings, "rng": 8}).scores
    assert other["error"].tolist() != whole["error"].tolist()


@pytest.mark.parametrize(("settings", "error", "said"), [
    ({"models": []}, ValueError, "models must list at least one, found none"),
    ({"models": ["lasso"]}, ValueError, "models must be"),
    ({"models": {"x": 3}}, TypeError, "models['x'] must be a function f(Y, X, X_new) or None, found 3"),
    ({"models": {"x": lambda Y, X, X_new: X_new}}, ValueError,
     "models['x'] must return probabilities of shape (30, 2), found shape (30, 3)"),
    ({"models": {"x": always(1.5)}}, ValueError, "with values from 1.5 to 1.5"),
    ({"splits": 0}, ValueError, "splits must be from 1 to 1000000, found 0"),
    ({"sizes": [91]}, ValueError, "sizes must be from 2 to 90, found 91; the smallest split has 90 training rows"),
    ({"test": 1.0}, ValueError, "test must be a share between 0 and 1, found 1"),
    ({"only": [20]}, ValueError, "only must be from 0 to 19, found 20"),
])
def test_what_cannot_be_done_is_refused_in_a_sentence(data, settings, error, said):
    with pytest.raises(error, match=re.escape(said)):
        compare(*data, **{"models": ["unpenalized"], "progress": False, **settings})


def test_boxes_have_a_group_for_each_size(data):
    ax = compare(*data, models=["unpenalized"], splits=2, sizes=[20, 60], progress=False).plot("logloss")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["20", "60"]
    assert ax.get_ylabel() == "held-out log-loss"
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.r
def test_adaboost_is_one_more_model(data):
    scores = compare(*data, models=["adaboost"], splits=1, progress=False).scores
    assert scores["error"].between(0, 0.5).all()
