"""Printed summaries of results, each a statsmodels ``Summary``: text, html, latex and csv."""

from .choices import summarize_choice, summarize_cv, summarize_grid
from .fit import screen, summarize
from .multisplit import summarize_multisplit
from .refit import summarize_refit
from .resamples import summarize_bootstrap, summarize_stability
from .tables import VALUES_ON_A_SCREEN

__all__ = ["VALUES_ON_A_SCREEN", "screen", "summarize", "summarize_bootstrap", "summarize_choice", "summarize_cv",
           "summarize_grid", "summarize_multisplit", "summarize_refit", "summarize_stability"]
