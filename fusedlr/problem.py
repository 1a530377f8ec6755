"""One problem: data, neighbouring tasks, and how penalties act on each row of the coefficients.

Which intercepts are free of fusion and which features are unpenalized is decided here and
nowhere else. Solvers, referee, grids, limits, tuning, bootstrap and storage take a ``Problem``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .objective import Data, Penalty
from .tasks import TaskGraph

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """What is minimised, but for the three penalties.

    Attributes
    ----------
    data : objective.Data
    tasks : TaskGraph
    factors : ndarray, shape (1 + d,)
        Multiplies l1 and l2 of each row of params: 0 for the intercept and for unpenalized features.
    fusion_factors : ndarray, shape (1 + d,)
        Multiplies fusion of each row of params: 0 for intercepts that are not fused.
    """

    data: Data
    tasks: TaskGraph
    factors: np.ndarray
    fusion_factors: np.ndarray

    @classmethod
    def build(cls, data: Data, tasks: TaskGraph, penalty_factors: np.ndarray | None = None,
              fuse_intercepts: bool = True) -> Problem:
        """A problem from the words of a user.

        Parameters
        ----------
        data : objective.Data
        tasks : TaskGraph
        penalty_factors : array_like, shape (d,), optional
            1 for every feature where left out.
        fuse_intercepts : bool
        """
        ones = np.ones(data.n_features)
        factors = ones if penalty_factors is None else np.asarray(penalty_factors, dtype=float)
        return cls(data, tasks, np.append(0.0, factors), np.append(float(fuse_intercepts), ones))

    @property
    def fuse_intercepts(self) -> bool:
        """Whether fusion acts on the intercepts too."""
        return bool(self.fusion_factors[0])

    @property
    def penalty_factors(self) -> np.ndarray:
        """Factors of the features alone, shape (d,)."""
        return self.factors[1:]

    def penalty(self, l1: Any, l2: Any, fusion: Any) -> Penalty:
        """Penalties of every row of params from numbers, or from vectors of shape (1 + d,)."""
        penalty = Penalty.from_values(l1, l2, fusion, self.data.n_features, self.penalty_factors)
        return replace(penalty, fusion=penalty.fusion * self.fusion_factors)

    def centred(self) -> Problem:
        """The same problem with features around their means, where free intercepts make up for it; else itself.

        Limits of penalties are the same for both, and those of features far from zero are found here.
        """
        if self.fuse_intercepts:
            return self
        times = self.data.row_weights
        return replace(self, data=replace(self.data, X=self.data.X - times @ self.data.X / times.sum()))

    def rows(self, rows: np.ndarray) -> Problem:
        """The same problem on some of the rows, in the order given; a row may come more than once."""
        return replace(self, data=self.data.rows(rows))

    def reweighted(self, times: np.ndarray) -> Problem:
        """The same problem with every weight multiplied by a number for its row, shape (n,)."""
        return replace(self, data=replace(self.data, weights=self.data.weights * times[:, None]))
