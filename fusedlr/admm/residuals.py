"""Residuals of the two levels, their scales, and their history."""

from dataclasses import dataclass

import numpy as np

__all__ = ["History", "Residuals"]


@dataclass(frozen=True)
class Residuals:
    """Primal and dual residual of one level, and their scales (Boyd et al. 2011, section 3.3)."""

    primal: float
    dual: float
    primal_scale: float
    dual_scale: float
    root_size: float

    def small(self, eps):
        """The stopping rule, with ``eps`` as both absolute and relative tolerance."""
        return self.relative() <= eps

    def relative(self):
        """The least ``eps`` for which the residuals are small."""
        return max(self.primal / (self.root_size + self.primal_scale), self.dual / (self.root_size + self.dual_scale))

    def imbalance(self):
        """Factor on rho that would make the two relative residuals equal."""
        tiny = np.finfo(float).tiny
        primal = self.primal / max(self.primal_scale, tiny)
        dual = self.dual / max(self.dual_scale, tiny)
        return np.sqrt(max(primal, tiny) / max(dual, tiny))


class History:
    """Residuals of both levels by iteration."""

    def __init__(self):
        self.first_level, self.second_level = [], []

    def first(self, residuals, share):
        self.first_level.append((residuals.primal, residuals.dual, share))

    def second(self, residuals):
        self.second_level.append((residuals.primal, residuals.dual, len(self.first_level)))

    def arrays(self):
        first = np.array(self.first_level).reshape(-1, 3)
        second = np.array(self.second_level).reshape(-1, 3)
        return {"primal": first[:, 0], "dual": first[:, 1], "rho": first[:, 2], "second_primal": second[:, 0],
                "second_dual": second[:, 1], "second_of": second[:, 2].astype(int)}
