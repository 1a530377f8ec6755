"""Rows drawn at random where a weight is a number of rows."""

from __future__ import annotations

import numpy as np

__all__ = ["number_of_rows", "rows_at", "times_drawn"]


def number_of_rows(weights: np.ndarray) -> int:
    """How many rows the weights stand for, at least 1."""
    return max(int(round(weights.sum())), 1)


def rows_at(places: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which rows stand at these places of a queue in which each row is as long as its weight.

    Equal rows side by side are found like one of twice the weight. A place has length 1, so
    whole weights leave nothing to chance; of rows that share a place any one is
    taken, by its share of the place.

    Parameters
    ----------
    places : ndarray of int
        From 0 to ``number_of_rows(weights) - 1``.
    weights : ndarray, shape (n,)
    rng : Generator

    Returns
    -------
    ndarray of int, as many as places
    """
    end = np.cumsum(weights)
    at = (places + rng.random(len(places))) * (end[-1] / number_of_rows(weights))
    return np.searchsorted(end[:-1], at, side="right")


def times_drawn(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How often each row was drawn, over its weight, shape (n,)."""
    times = np.bincount(rows, minlength=len(weights))
    return np.divide(times, weights, out=np.zeros(len(weights)), where=weights > 0)
