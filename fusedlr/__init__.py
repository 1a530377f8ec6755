"""Fused elastic-net logistic regression: several yes/no outcomes in a natural order, fitted jointly."""

from .exceptions import ConvergenceWarning, FusedLogitWarning, OneClassWarning, SeparationWarning
from .files import load
from .grid import Grid
from .inference import BootstrapResults, RefitResults
from .model import FusedLogit
from .results import FusedLogitResults
from .tasks import TaskGraph
from .tuning import CVResults
from .version import __version__

__all__ = ["BootstrapResults", "CVResults", "ConvergenceWarning", "FusedLogit", "FusedLogitResults",
           "FusedLogitWarning", "Grid", "OneClassWarning", "RefitResults", "SeparationWarning", "TaskGraph",
           "__version__", "load"]
