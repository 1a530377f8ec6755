"""How sure one may be: unpenalized refits with Wald intervals, the bootstrap, and halves."""

from .bootstrap import BootstrapResults, bootstrap
from .prediction import PredictionResults
from .refit import CovType, RefitResults, refit
from .stability import StabilityResults, stability

__all__ = ["BootstrapResults", "CovType", "PredictionResults", "RefitResults", "StabilityResults", "bootstrap", "refit",
           "stability"]
