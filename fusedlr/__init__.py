"""Fused elastic-net logistic regression: several yes/no outcomes in a natural order, fitted jointly.

Start here, with one row a unit and one yes/no column a task::

    from fusedlr import FusedLogit

    cv = FusedLogit(Y, X).fit_cv(rng=1)        # penalties by cross-validation; cv is the fit there
    print(cv.summary())                        # what was found
    cv.change_test()                           # is an effect the same in all tasks?
    cv.refit(ties=False).conf_int()            # intervals to quote
    cv.predict(X_new)                          # probabilities

Other shapes of data: ``FusedLogit.from_long`` (one row a label), ``from_ordered`` (levels), ``from_survival`` (times to
an event, also of several causes), ``from_formula`` (all of them by formula). Figures: ``fusedlr.plots``; estimators for
scikit-learn: ``fusedlr.sklearn``; R: ``fusedlr.r``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .compare import Comparison, compare
from .exceptions import (CollinearWarning, ConvergenceWarning, CrossingWarning, FusedLogitWarning, GridEdgeWarning,
                         LeftOutWarning, OneClassWarning, SeparationWarning, YesWarning)
from .fit import load
from .inference import BootstrapResults, MultiSplitResults, PredictionResults, RefitResults, StabilityResults
from .model import FusedLogit
from .results import FusedLogitResults
from .tasks import TaskGraph
from .tuning import CVResults, Grid
from .version import __version__

if TYPE_CHECKING:
    from . import plots  # noqa: F401

__all__ = ["BootstrapResults", "CVResults", "CollinearWarning", "Comparison", "ConvergenceWarning", "CrossingWarning",
           "FusedLogit", "FusedLogitResults", "FusedLogitWarning", "Grid", "GridEdgeWarning", "LeftOutWarning",
           "MultiSplitResults", "OneClassWarning", "PredictionResults", "RefitResults", "SeparationWarning",
           "StabilityResults", "TaskGraph", "YesWarning", "__version__", "compare", "load"]


def __dir__():
    """What is public: completion in an editor or notebook offers no modules."""
    return sorted([*__all__, "plots"])


def __getattr__(name):
    """``fusedlr.plots`` on first use: matplotlib is slow to import, and optional."""
    if name == "plots":
        return import_module(".plots", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
