"""What every result can do: be printed as its summary, in a terminal and in a notebook, and be saved to a file."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, ClassVar, Protocol

from . import checks, storage

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["Result"]


class _Summarized(Protocol):
    """What a result brings itself, for a type checker: the name of its kind in files, a summary, its state."""

    kind: ClassVar[str]

    def summary(self) -> Summary: ...

    def state(self, remove_data: bool = False) -> tuple[dict, dict]: ...


class Result:
    """Methods that all results share; each has a ``kind``, a ``summary`` and a ``state`` of its own."""

    def save(self: _Summarized, path: str | PathLike, remove_data: bool = False) -> None:
        """Write to one file that holds arrays and text only, no code; ``fusedlr.load`` reads it.

        The file appears whole or not at all. Row labels other than numbers, dates and
        text come back as text.

        Parameters
        ----------
        path : str or path
        remove_data : bool
            Leave the data out: everything that the summary shows is kept, and ``predict``
            needs ``exog``.
        """
        page, arrays = self.state(checks.flag("remove_data", remove_data))
        storage.write(path, self.kind, page, arrays)

    def __str__(self: _Summarized) -> str:
        return self.summary().as_text()

    def _repr_html_(self: _Summarized) -> str:
        return self.summary().as_html()
