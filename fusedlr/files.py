"""Results from files that their ``save`` methods wrote."""

from __future__ import annotations

from os import PathLike

from . import checks, storage
from .grid import Grid
from .inference import BootstrapResults, RefitResults, StabilityResults
from .layouts import LAYOUTS
from .model import FusedLogit
from .results import FusedLogitResults
from .tuning import CVResults

__all__ = ["load"]


AnyResult = FusedLogitResults | RefitResults | BootstrapResults | StabilityResults | Grid | CVResults


def load(path: str | PathLike, formula: bool = False) -> AnyResult:
    """The result that its ``save`` wrote to a file, of the same class. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
    formula : bool
        Whether a model from a formula takes the formula's variables in ``predict``
        again. A formula is code: ask for this with files you trust only. Without
        it, ``predict`` takes the columns of the design.
    """
    formula = checks.flag("formula", formula)
    kind, page, arrays = storage.read(path, LAYOUTS)
    try:
        return _from_state(kind, FusedLogit.from_state(page, arrays, formula), page, arrays)
    except (TypeError, ValueError) as error:  # what only the whole shows, such as an edge to a task that is not there
        raise ValueError(f"path leads to {str(path)!r}, in which {error}") from None


def _from_state(kind, model, page, arrays):
    if kind == "grid":
        return Grid.from_state(model, page, arrays)
    results = FusedLogitResults.from_state(model, page, arrays)
    above = {cls.kind: cls for cls in (RefitResults, BootstrapResults, StabilityResults, CVResults)}
    return above[kind].from_state(results, page, arrays) if kind in above else results
