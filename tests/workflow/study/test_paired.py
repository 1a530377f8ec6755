"""The tests behind the verdicts, against counting by hand."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from study.paired import EXACT, compare, compare_distances, holm, signed_rank


def by_enumeration(differences):
    """Share of all sign patterns whose statistic is as extreme."""
    differences = np.array([value for value in differences if value != 0])
    ranks = stats.rankdata(np.abs(differences))
    sums = np.array([ranks[list(signs)].sum() for signs in map(np.array, product([False, True], repeat=len(ranks)))])
    seen = ranks[differences > 0].sum()
    return min(1.0, 2 * min(np.mean(sums <= seen), np.mean(sums >= seen)))


@pytest.mark.parametrize("seed", range(30))
def test_signed_rank_counts_every_sign_pattern_with_ties_and_zeros(seed):
    rng = np.random.default_rng(seed)
    differences = rng.integers(-4, 6, rng.integers(1, 12)) / 5600
    assert signed_rank(differences) == pytest.approx(by_enumeration(differences), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_exact_test_is_scipys(seed):
    differences = np.random.default_rng(seed).normal(0.3, 1, 20)
    assert signed_rank(differences) == pytest.approx(stats.wilcoxon(differences, mode="exact").pvalue, rel=1e-12)


def test_differences_that_are_equal_but_for_rounding_are_ties():
    assert 0.3 - 0.1 != 0.2
    assert signed_rank([0.3 - 0.1, -0.2, 0.1]) == signed_rank([0.2, -0.2, 0.1])


def test_many_differences_have_the_normal_limit():
    """Just above the limit, the normal approximation is within a tenth of the exact p-value for nearly as many."""
    differences = np.random.default_rng(1).normal(0.3, 1, EXACT + 1)
    assert signed_rank(differences) == pytest.approx(stats.wilcoxon(differences, mode="exact").pvalue, rel=0.1)


def test_rounding_ties_differences_and_small_ones_count():
    assert signed_rank([0.2 + 3e-13, -0.2, 0.1]) == signed_rank([0.2, -0.2, 0.1])
    assert signed_rank([3e-13, 0.2]) == signed_rank([0.2])
    assert signed_rank([1e-10, 2e-10, 3e-10, 4e-10, 5e-10, 6e-10]) == pytest.approx(2 / 64)


def test_signed_rank_by_hand():
    """Six differences of one sign: 2 of the 64 sign patterns are as extreme."""
    assert signed_rank([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == pytest.approx(2 / 64)
    assert signed_rank(np.zeros(20)) == 1.0


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_gains_are_means_of_paired_differences(scores):
    table = compare(scores).set_index(["case", "size", "model", "other"])
    cell = scores[(scores["case"] == "b") & (scores["size"] == 100)].set_index(["model", "instance"])["test_error"]
    gain = cell["elastic_net"] - cell["fused_elastic_net"]
    row = table.loc[("b", 100, "fused_elastic_net", "elastic_net")]
    assert row["gain"] == pytest.approx(gain.mean())
    assert row["low"] < row["gain"] < row["high"]
    assert len(table) == 8 * 5 * 7


def test_distances_are_compared_in_the_correlated_cases(scores):
    assert set(compare_distances(scores)["case"]) == set("efgh")
