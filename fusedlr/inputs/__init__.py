"""What users hand in, checked once and turned into arrays: labels, designs, weights, penalties.

Every check of a user's data stands here and in ``checks``; each refusal names the
argument, the rule, what was found, and a way out. The rest of the package trusts what comes out.
"""

from .collinear import warn_collinear
from .designs import MISSING, Design, read_exog, read_new_exog
from .labels import Outcomes, read_endog, read_held_out, warn_one_class
from .names import check_index
from .numbers import (column, held_out_weights, new_offset, read_factors, read_offset, read_params, read_penalty,
                      read_weights, row_weights)

__all__ = ["Design", "MISSING", "Outcomes", "check_index", "column", "held_out_weights", "new_offset", "read_endog",
           "read_exog", "read_factors", "read_held_out", "read_new_exog", "read_offset", "read_params", "read_penalty",
           "read_weights", "row_weights", "warn_collinear", "warn_one_class"]
