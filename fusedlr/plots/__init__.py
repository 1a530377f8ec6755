"""Figures of fits, of the choice of penalties and of uncertainty.

Every function takes ``ax`` (a new figure of fitting size where left out) and returns the
Axes. Nothing depends on colour alone: signs are also hatched, tasks also run from light to dark.
"""

try:
    import matplotlib  # noqa: F401
    import seaborn  # noqa: F401
except ImportError as missing:
    raise ImportError(f"figures need {missing.name}, which is not installed: pip install fusedlr[plots]") from missing

from .coefficients import coef_map
from .paths import coef_paths, feature_path
from .ranges import intervals, margins
from .residuals import residual_history
from .scores import score_boxes
from .shares import calibration, selection_frequencies
from .survival import survival_curves
from .tuning import cv_surface

__all__ = ["calibration", "coef_map", "coef_paths", "cv_surface", "feature_path", "intervals", "margins",
           "residual_history", "score_boxes", "selection_frequencies", "survival_curves"]
