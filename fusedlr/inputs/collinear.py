"""Features that say the same, or nothing: found by one product with a random vector."""

from __future__ import annotations

import numpy as np

__all__ = ["alike", "constant"]

_ROUNDING = 1e-9


def constant(X: np.ndarray) -> list[int]:
    """Positions of the columns that do not vary."""
    return np.flatnonzero((X == X[0]).all(axis=0)).tolist()


def alike(X: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of columns of which one is the other, but for its unit and its zero.

    Such columns have the same projection on a random vector once they are centred and
    scaled, up to the sign; those that do are then compared entry by entry.
    """
    n = X.shape[0]
    probe = np.random.default_rng(0).standard_normal(n)
    centre = X.mean(axis=0)
    size = np.sqrt(np.maximum(np.einsum("ij,ij->j", X, X) / n - centre**2, 0.0))
    varies = np.flatnonzero(size > _ROUNDING * np.abs(centre))
    place = np.abs(probe @ X - probe.sum() * centre)[varies] / size[varies]
    order = np.argsort(place, kind="stable")
    near = np.flatnonzero(np.diff(place[order]) <= _ROUNDING * np.abs(place[order][1:]))
    pairs = [sorted((int(varies[order[i]]), int(varies[order[i + 1]]))) for i in near]
    return sorted((j, k) for j, k in pairs if _same(X[:, j], X[:, k], centre, size, j, k))


def _same(x, y, centre, size, j, k):
    x, y = (x - centre[j]) / size[j], (y - centre[k]) / size[k]
    return bool(np.abs(x - np.sign(x @ y) * y).max() <= 1e-7)
