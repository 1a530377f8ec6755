"""Inference: refits with Wald intervals and tests, bootstrap, stability selection, multi-split p-values."""

from .bootstrap import BootstrapResults, bootstrap
from .changes import ChangeTest
from .margins import MarginalEffects
from .multisplit import ErrorRate, MultiSplitResults, Question, multisplit
from .prediction import PredictionResults
from .refit import CovType, RefitResults, refit
from .stability import Bound, StabilityResults, What, stability

__all__ = ["BootstrapResults", "Bound", "ChangeTest", "CovType", "ErrorRate", "MarginalEffects", "MultiSplitResults",
           "PredictionResults", "Question", "RefitResults", "StabilityResults", "What", "bootstrap", "multisplit",
           "refit", "stability"]
