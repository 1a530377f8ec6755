"""Memory, asked for before work begins.

Libraries that get none in the middle of their work may end the process or wait forever, as
OpenBLAS does; an allocation that is asked for and given back at once costs microseconds.
"""

from __future__ import annotations

from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

__all__ = ["WORKSPACE", "ask", "shortage"]

# What linear algebra takes at its first product, in bytes.
WORKSPACE = 64e6


def ask(needed: float, what: str) -> None:
    """Raise a MemoryError that says how much is needed for what, unless so many bytes can be had."""
    try:
        mmap(-1, int(needed), MAP_PRIVATE | MAP_ANONYMOUS).close()
    except (OSError, OverflowError):
        raise shortage(needed, what) from None


def shortage(needed: float, what: str) -> MemoryError:
    """The error for work that needs more bytes than there are."""
    size = f"{needed / 1e9:.3g} GB" if needed >= 1e9 else f"{max(needed / 1e6, 1):.0f} MB"
    return MemoryError(f"{what} takes {size} of memory, which this process cannot have; free some, raise its limit, or "
                       "use fewer rows, features or threads (n_jobs=1); fusedlr.chunked takes rows in chunks")
