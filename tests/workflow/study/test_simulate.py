"""Instances have exactly the counts of the paper's table, and no draw depends on another."""

import numpy as np
import pytest

from study import simulate as sim
from study.cases import CASES, PAPER

every_case = pytest.mark.parametrize("case", CASES)


@every_case
@pytest.mark.parametrize("instance", [1, 2, 20])
def test_every_task_has_exactly_k_nonzeros_and_neighbours_exactly_m_matches(case, instance):
    coefs = sim.simulate(case, instance, seed=1)["coefs"]
    expected = CASES[case]
    assert coefs.shape == (101, 4)
    assert (coefs[0] == 0).all()
    assert (np.count_nonzero(coefs, axis=0) == expected.nonzeros).all()
    matches = ((coefs[:, 1:] == coefs[:, :-1]) & (coefs[:, 1:] != 0)).sum(axis=0)
    assert (matches == expected.matches).all()
    assert set(np.unique(coefs)) <= {-4.0, -2.0, 0.0, 2.0, 4.0}


def test_the_papers_table():
    counts = {case: (CASES[case].nonzeros, CASES[case].matches, CASES[case].correlated) for case in PAPER}
    assert counts == {
        "a": (60, 12, False), "b": (60, 48, False), "c": (10, 2, False), "d": (10, 8, False),
        "e": (60, 12, True), "f": (60, 48, True), "g": (10, 2, True), "h": (10, 8, True)}


def test_overlapping_positions_that_do_not_match_occur_and_differ():
    """Two supports of 60 among 100 share at least 20 positions, of which only 12 match."""
    coefs = sim.simulate("a", 1, seed=1)["coefs"]
    both = (coefs[:, 1:] != 0) & (coefs[:, :-1] != 0)
    differ = both & (coefs[:, 1:] != coefs[:, :-1])
    assert (differ.sum(axis=0) >= 8).all()


@every_case
def test_shapes_and_labels(case):
    arrays = sim.simulate(case, 1, seed=1)
    for part, rows in (("train", 400), ("validation", 1400), ("test", 1400)):
        assert arrays[f"X_{part}"].shape == (rows, 100)
        assert arrays[f"Y_{part}"].shape == (rows, 4)
        assert set(np.unique(arrays[f"Y_{part}"])) == {0, 1}
        assert abs(arrays[f"X_{part}"].mean()) < 0.02


@pytest.mark.parametrize("case", "efgh")
@pytest.mark.parametrize(("noise", "correlation"), [("sd", 0.928), ("variance", 0.845)])
def test_relevant_features_are_copied_with_the_stated_correlation(case, noise, correlation):
    arrays = sim.simulate(case, 3, seed=1, noise=noise)
    coefs, X = arrays["coefs"][1:], np.vstack([arrays["X_validation"], arrays["X_test"]])
    assert (coefs[:50] == coefs[50:]).all()
    relevant = coefs[:50].any(axis=1)
    found = np.array([np.corrcoef(X[:, j], X[:, 50 + j])[0, 1] for j in range(50)])
    assert np.abs(found[relevant] - correlation).max() < 0.04
    assert np.abs(found[~relevant]).max(initial=0) < 0.1
    assert np.abs(X[:, 50:][:, ~relevant].std(axis=0) - 1).max(initial=0) < 0.06


def test_independent_features_are_independent():
    X = sim.simulate("b", 1, seed=1)["X_test"]
    off_diagonal = np.corrcoef(X.T)[~np.eye(100, dtype=bool)]
    assert np.abs(off_diagonal).max() < 0.15


def test_labels_follow_the_logistic_model():
    """Labels minus their probabilities, summed over rows, stay within five standard deviations."""
    arrays = sim.simulate("d", 1, seed=1)
    chance = 1 / (1 + np.exp(-arrays["X_test"] @ arrays["coefs"][1:]))
    excess = (arrays["Y_test"] - chance).sum(axis=0)
    assert (np.abs(excess) < 5 * np.sqrt((chance * (1 - chance)).sum(axis=0))).all()


def test_the_noise_reading_moves_only_the_copies():
    sd, variance = (sim.simulate("h", 1, seed=1, noise=noise) for noise in ("sd", "variance"))
    assert (sd["coefs"] == variance["coefs"]).all()
    assert (sd["X_train"][:, :50] == variance["X_train"][:, :50]).all()
    assert (sd["X_train"][:, 50:] != variance["X_train"][:, 50:]).any()


def test_streams_differ_by_seed_case_instance_and_purpose():
    first = [sim.generator(*name).random() for name in (
        (1, "a", 1, "train"), (2, "a", 1, "train"), (1, "b", 1, "train"), (1, "a", 2, "train"), (1, "a", 1, "test"))]
    assert len(set(first)) == len(first)


def test_an_instance_is_the_same_whatever_was_drawn_before():
    alone = sim.simulate("g", 7, seed=5)
    sim.simulate("a", 1, seed=5)
    again = sim.simulate("g", 7, seed=5)
    assert all((alone[name] == again[name]).all() for name in alone)


def test_seeds_for_r_are_valid_and_differ():
    seeds = {sim.r_seed(1, case, instance, size) for case in CASES for instance in range(1, 21)
             for size in (25, 50, 100, 200, 400)}
    assert len(seeds) == 800
    assert all(0 <= seed < 2**31 for seed in seeds)
