"""Folds, bootstrap draws and halves of the sampling units, as multipliers of the row weights.

Rows are never copied: a row drawn twice has twice its weight, one left out has weight 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Groups, Labels

__all__ = ["draw", "halves", "number_of_units", "seed_of", "split_weights", "stratified_folds", "streams"]

_MOST_ROWS = 10**7  # that whole weights may stand for where folds split them


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
    return max(int(round(groups.size)), 1)


def draw(groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """Multipliers of the row weights in a bootstrap sample of the units, shape (n,)."""
    size = number_of_units(groups)
    return _times(_units_at(rng.integers(size, size=size), groups, rng), groups)


def halves(groups: Groups, rng: np.random.Generator) -> list[np.ndarray]:
    """Multipliers of the row weights in a complementary pair of halves of the units, two arrays of shape (n,)."""
    half = number_of_units(groups) // 2
    order = _units_at(rng.permutation(number_of_units(groups)), groups, rng)
    return [_times(units, groups) for units in (order[:half], order[half:2 * half])]


def stratified_folds(labels: Labels, groups: Groups, folds: int, rng: Any) -> np.ndarray:
    """Stratified folds: labels of all tasks are balanced and no group is split.

    Groups of one row are sorted by their labels (missing is a label of its own), at random within
    equal labels, and dealt out in turn: the numbers of rows with the same labels differ by at most 1
    between folds, and so do the numbers of all rows. Larger groups are assigned greedily from the
    largest to the smallest, in random order where equal, each to the fold that lacks its labels most.

    Parameters
    ----------
    labels : Labels
    groups : Groups
    folds : int
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    ndarray of int, shape (n,)
    """
    generator = np.random.default_rng(rng)
    if np.bincount(groups.code).max(initial=0) > 1:
        return _fold_of_groups(labels, groups, folds, generator)[groups.code]
    n = len(groups.code)
    order = np.argsort(generator.random(n), kind="stable")
    for part in [*labels.parts][::-1]:  # a radix sort, from the last task to the first
        sign = np.zeros(n, dtype=np.int8)
        sign[labels.row[part]] = labels.sign[part] * (labels.weight[part] > 0)
        order = order[np.argsort(sign[order], kind="stable")]
    fold = np.empty(n, dtype=int)
    fold[order] = np.arange(n) % folds
    return fold


def split_weights(labels: Labels, groups: Groups, folds: int, rng: Any) -> np.ndarray | None:
    """Share of each row in each fold, shape (folds, n), where weights are whole frequencies.

    Folds are those of the rows repeated by their weights. None where nothing is to be split: groups
    were given, all weights are 1, some are not whole, or they stand for too many rows.
    """
    times = groups.times
    if not groups.are_rows or (times <= 1).all() or not groups.are_whole or times.sum() > _MOST_ROWS:
        return None
    rows = np.repeat(np.arange(len(times)), times.astype(int))
    apart = labels.take(rows, len(times))
    fold = stratified_folds(apart, Groups.rows(apart.counted_once(), len(rows)), folds, rng)
    counts = np.zeros((folds, len(times)))
    np.add.at(counts, (fold, rows), 1.0)
    return np.divide(counts, times, out=np.zeros_like(counts), where=times > 0)


def _fold_of_groups(labels, groups, folds, rng):
    """Fold of each group, shape (number of groups,): greedily, by the weight of its labels of either kind."""
    code = groups.code[labels.row]
    counts = np.column_stack([np.bincount(code, labels.weight * side, len(groups.times))
                              for side in (labels.yes, ~labels.yes)])
    order = np.lexsort((rng.random(len(counts)), -counts.sum(axis=1)))
    wanted, filled = np.maximum(counts.sum(axis=0), 1e-300) / folds, np.zeros((folds, 2))
    fold = np.empty(len(counts), dtype=int)
    for group in order:
        lack = ((filled + counts[group]) / wanted) ** 2 - (filled / wanted) ** 2
        fold[group] = np.argmin(lack.sum(axis=1))
        filled[fold[group]] += counts[group]
    return fold


def _units_at(places, groups, rng):
    """Groups at these positions of a line on which the length of each is its weight.

    A group of weight 2 is the same as two equal groups side by side. A position has length 1, so
    whole weights leave nothing to chance; of groups that share a position one is drawn with
    probability proportional to its share.
    """
    end = np.cumsum(groups.times)
    at = (places + rng.random(len(places))) * (end[-1] / number_of_units(groups))
    return np.searchsorted(end[:-1], at, side="right")


def _times(units, groups):
    """How often each row's group was drawn, over its weight, shape (n,)."""
    drawn = np.bincount(units, minlength=len(groups.times))
    return np.divide(drawn, groups.times, out=np.zeros(len(drawn)), where=groups.times > 0)[groups.code]
