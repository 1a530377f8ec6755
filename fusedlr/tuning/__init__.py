"""Choice of penalties: a grid of fits, and which of them to take."""

from .cross_validation import By, CVResults, Rule, fit_cv
from .default_grid import PenaltyLimits, default_penalties, fusion_limit, l1_limit, penalty_limits
from .grid import Grid, fit_grid

__all__ = ["By", "CVResults", "Grid", "PenaltyLimits", "Rule", "default_penalties", "fit_cv", "fit_grid",
           "fusion_limit", "l1_limit", "penalty_limits"]
