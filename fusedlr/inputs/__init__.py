"""What users hand in, checked once and turned into arrays: labels, designs, weights, penalties.

Every check of a user's data stands here and in ``checks``; each refusal names the
argument, the rule, what was found, and a way out. The rest of the package trusts what comes out.
"""

from .collinear import alike, constant
from .designs import MISSING, Design, read_exog, read_new_exog
from .labels import Outcomes, read_endog, read_held_out
from .names import check_index
from .numbers import (column, held_out_weights, new_offset, read_factors, read_offset, read_params, read_penalty,
                      read_weights, row_weights)

__all__ = ["Design", "MISSING", "Outcomes", "alike", "check_index", "column", "constant", "held_out_weights",
           "new_offset", "read_endog", "read_exog", "read_factors", "read_held_out", "read_new_exog", "read_offset",
           "read_params", "read_penalty", "read_weights", "row_weights"]
