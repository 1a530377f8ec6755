"""Folds, draws and halves of the sampling units, as numbers by which the weights of their rows are multiplied.

Nothing is ever copied: a row drawn twice counts twice, one left out counts not at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Groups, Labels

__all__ = ["draw", "halves", "number_of_units", "seed_of", "stratified_folds", "streams"]


def streams(rng: Any, n: int) -> list[np.random.SeedSequence]:
    """Seeds of n streams that do not depend on each other; a larger n does not change the first ones.

    Parameters
    ----------
    rng : int, SeedSequence, Generator or None
        None draws fresh ones.
    n : int
    """
    if isinstance(rng, np.random.Generator):
        bits: Any = rng.bit_generator
        return getattr(bits, "seed_seq", bits._seed_seq).spawn(n)  # public from numpy 1.25 on
    return (rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)).spawn(n)


def seed_of(rng: Any) -> int | None:
    """The whole number that randomness comes from, where it is known."""
    return rng if isinstance(rng, int) else None


def number_of_units(groups: Groups) -> int:
    """How many sampling units the groups stand for, at least 1: a weight is a number of them."""
    return max(int(round(groups.size)), 1)


def draw(groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """What multiplies each row's weights in a resample of as many units as there are, with replacement, shape (n,)."""
    size = number_of_units(groups)
    return _times(_units_at(rng.integers(size, size=size), groups, rng), groups)


def halves(groups: Groups, rng: np.random.Generator) -> list[np.ndarray]:
    """What multiplies each row's weights in either half of the units, two arrays of shape (n,)."""
    half = number_of_units(groups) // 2
    order = _units_at(rng.permutation(number_of_units(groups)), groups, rng)
    return [_times(units, groups) for units in (order[:half], order[half:2 * half])]


def stratified_folds(labels: Labels, n: int, folds: int, rng: Any) -> np.ndarray:
    """Fold of each row, such that every combination of labels is spread as evenly as it can be.

    Rows are sorted by their labels (not observed is a label of its own), in random order
    where these are the same, and dealt out in turn: the numbers of rows with the same
    labels differ by at most 1 between folds, and so do the numbers of all rows.

    Parameters
    ----------
    labels : Labels
    n : int
        Number of rows.
    folds : int
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    ndarray of int, shape (n,)
    """
    order = np.argsort(np.random.default_rng(rng).random(n), kind="stable")
    for part in [*labels.parts][::-1]:  # a radix sort, from the last task to the first
        sign = np.zeros(n, dtype=np.int8)
        sign[labels.row[part]] = labels.sign[part] * (labels.weight[part] > 0)
        order = order[np.argsort(sign[order], kind="stable")]
    fold = np.empty(n, dtype=int)
    fold[order] = np.arange(n) % folds
    return fold


def _units_at(places, groups, rng):
    """Which groups stand at these places of a queue in which each is as long as it counts.

    Equal groups side by side are found like one that counts twice. A place has length 1, so
    whole numbers leave nothing to chance; of groups that share a place any one is
    taken, by its share of the place.
    """
    end = np.cumsum(groups.times)
    at = (places + rng.random(len(places))) * (end[-1] / number_of_units(groups))
    return np.searchsorted(end[:-1], at, side="right")


def _times(units, groups):
    """How often each row's group was drawn, over how often it counts, shape (n,)."""
    drawn = np.bincount(units, minlength=len(groups.times))
    return np.divide(drawn, groups.times, out=np.zeros(len(drawn)), where=groups.times > 0)[groups.code]
