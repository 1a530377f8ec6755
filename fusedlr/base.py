"""What every result can do: print as its summary, in a terminal and in a notebook, and be saved."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, ClassVar

from . import checks, storage

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["Result"]


class Result:
    """Parent of all results.

    Attributes
    ----------
    kind : str
        What files of this result are called inside; see ``files.load``.
    """

    kind: ClassVar[str]

    def summary(self) -> Summary:
        """A statsmodels ``Summary`` to print, or to turn into html, latex or csv."""
        raise NotImplementedError

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        raise NotImplementedError

    def save(self, path: str | PathLike, remove_data: bool = False) -> None:
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

    def __str__(self) -> str:
        return self.summary().as_text()

    def _repr_html_(self) -> str:
        return self.summary().as_html()
