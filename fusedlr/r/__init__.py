"""R beside the model: ``ada`` and ``glmnet`` with R's own numbers, and conversion of objects both ways.

Only this folder imports rpy2, and only when a function is first called: importing
it starts nothing and needs no R.
"""

from .ada import AdaResult, boost
from .objects import from_r, to_r
from .session import RError, RMissingError, RWarning

__all__ = ["AdaResult", "RError", "RMissingError", "RWarning", "boost", "from_r", "to_r"]
