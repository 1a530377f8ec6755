"""Results from files that their ``save`` methods wrote."""

from __future__ import annotations

from os import PathLike

from . import checks, storage
from .layouts import LAYOUTS
from .model import FusedLogit
from .results import FusedLogitResults

__all__ = ["load"]


def load(path: str | PathLike, formula: bool = False) -> FusedLogitResults:
    """Results from a file written by ``save``. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
    formula : bool
        Whether a model from a formula takes the formula's variables in ``predict``
        again. A formula is code: ask for this with files you trust only. Without
        it, ``predict`` takes the columns of the design.
    """
    formula = checks.flag("formula", formula)
    _, page, arrays = storage.read(path, LAYOUTS)
    try:
        return FusedLogitResults.from_state(FusedLogit.from_state(page, arrays, formula), page, arrays)
    except ValueError as error:  # what only the whole shows, such as an edge to a task that is not there
        raise ValueError(f"path leads to {str(path)!r}, in which {error}") from None
