"""How sure one may be: unpenalized refits with Wald intervals, and the bootstrap."""

from .bootstrap import BootstrapResults, bootstrap
from .prediction import PredictionResults
from .refit import RefitResults, refit

__all__ = ["BootstrapResults", "PredictionResults", "RefitResults", "bootstrap", "refit"]
