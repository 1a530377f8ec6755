"""What users hand in, checked once and turned into arrays: labels, designs, weights, penalties, formulas.

Every check of a user's data stands here and in ``checks``; each refusal names the
argument, the rule, what was found, and a way out. The rest of the package trusts what comes out.
"""

from .collinear import warn_collinear
from .designs import INTERCEPT, MISSING, Features, read_exog, read_new_exog
from .formula import SAVED_FORMULA, Formula, calling_environment
from .labels import read_endog, read_held_out, warn_one_class
from .numbers import (column, new_offset, read_factors, read_groups, read_offset, read_params, read_penalty,
                      refuse_empty, refuse_extreme, row_weights, weighted)

__all__ = ["INTERCEPT", "MISSING", "SAVED_FORMULA", "Features", "Formula", "calling_environment", "column",
           "new_offset", "read_endog", "read_exog", "read_factors", "read_groups", "read_held_out", "read_new_exog",
           "read_offset", "read_params", "read_penalty", "refuse_empty", "refuse_extreme", "row_weights",
           "warn_collinear", "warn_one_class", "weighted"]
