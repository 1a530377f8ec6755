"""Constant features and affine copies, found by one product with a random vector."""

from __future__ import annotations

import warnings

import numpy as np

from .. import checks, matrices
from ..exceptions import CollinearWarning
from ..matrices import Matrix

__all__ = ["warn_collinear"]

_ROUNDING = 1e-9


def warn_collinear(X: Matrix, names: list) -> None:
    """Warn, on behalf of the caller's caller, of constant features and of pairs of affine copies."""
    idle, pairs = matrices.constant_columns(X), _alike(X)
    if idle.size:
        warnings.warn(f"exog: {checks.named(names, idle)} are constant, collinear with the intercept; drop "
                      "them", CollinearWarning, stacklevel=3)
    if pairs:
        shown = ", ".join(f"{names[j]!r} and {names[k]!r}" for j, k in pairs[:3]) + ", ..." * (len(pairs) > 3)
        warnings.warn(f"exog: {shown} are affine copies of each other: their separate effects are not identifiable; "
                      "drop one of them", CollinearWarning, stacklevel=3)


def _alike(X: Matrix) -> list[tuple[int, int]]:
    """Pairs of columns that are affine copies of each other.

    Centred and scaled, such columns have the same projection on a random vector, up to
    the sign; candidates are then compared entry by entry.
    """
    probe = np.random.default_rng(0).standard_normal((X.shape[0],))
    centre, square = matrices.moments(X)
    size = np.sqrt(np.maximum(square - centre**2, 0.0))
    varies = np.flatnonzero(size > _ROUNDING * np.abs(centre))
    place = np.abs(probe @ X - probe.sum() * centre)[varies] / size[varies]
    order = np.argsort(place, kind="stable")
    near = np.flatnonzero(np.diff(place[order]) <= _ROUNDING * np.abs(place[order][1:]))
    pairs = [sorted((int(varies[order[i]]), int(varies[order[i + 1]]))) for i in near]
    return sorted((j, k) for j, k in pairs if _same(matrices.dense(X[:, [j, k]]), centre[[j, k]], size[[j, k]]))


def _same(pair, centre, size):
    x, y = ((pair - centre) / size).T
    return bool(np.abs(x - np.sign(x @ y) * y).max() <= 1e-7)
