"""Folds, bootstrap draws and halves of the sampling units, as multipliers of the row weights.

Rows are never copied: a row drawn twice has twice its weight, one left out has weight 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import FlatLabels, SamplingUnits
from .problem import Groups, Labels

__all__ = ["draw", "fold_shares", "halves", "number_of_units", "sampling_units", "seed_of",
           "splits_weights", "streams"]


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
    """The integer seed, where it is known."""
    return rng if isinstance(rng, int) else None


def number_of_units(groups: Groups) -> int:
    """Number of sampling units, at least 1: weights are frequencies."""
    return sampling_units(groups).count()


def draw(groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """Multipliers of the row weights in a bootstrap sample of the units, shape (n,)."""
    units = sampling_units(groups)
    places = rng.integers(units.count(), size=units.count())
    return units.drawn(places, rng.random(len(places)))


def halves(groups: Groups, rng: np.random.Generator) -> list[np.ndarray]:
    """Multipliers of the row weights in a complementary pair of halves of the units, two arrays of shape (n,)."""
    units = sampling_units(groups)
    places, half = rng.permutation(units.count()), units.count() // 2
    uniforms = rng.random(len(places))
    return [units.drawn(places[part], uniforms[part]) for part in (slice(0, half), slice(half, 2 * half))]


def fold_shares(labels: Labels, groups: Groups, folds: int, rng: Any) -> np.ndarray:
    """Stratified folds: labels of all tasks are balanced and no group is split.

    Groups of one row are sorted by their labels (missing is a label of its own), at random within
    equal labels, and dealt out in turn: the numbers of rows with the same labels differ by at most 1
    between folds, and so do the numbers of all rows. Whole weights count as so many rows, which may
    come into different folds. Larger groups are assigned greedily from the largest to the smallest,
    in random order where equal, each to the fold that lacks its labels most.

    Parameters
    ----------
    labels : Labels
    groups : Groups
    folds : int
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    ndarray, shape (folds, n)
        Share of each row in each fold: 0 or 1, unless its weight is split.
    """
    units = sampling_units(groups)
    uniforms = np.random.default_rng(rng).random(units.n_fold_uniforms())
    return units.fold_shares(FlatLabels(*labels.for_core), folds, uniforms)


def splits_weights(groups: Groups) -> bool:
    """Whether folds split the weights of rows: whole frequencies, not all 1, that stand for no more than 10^7 rows."""
    return sampling_units(groups).split_by_folds()


def sampling_units(groups: Groups) -> SamplingUnits:
    """The sampling units as the C++ core reads them."""
    return SamplingUnits(groups.code, groups.times)
