"""States on disk: arrays and a page of JSON in one npz file, which runs no code when it is read."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Container
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from .version import __version__

__all__ = ["names", "read", "write"]

# Raised when a file written before can no longer be read; files of a later format are refused.
FORMAT = 1

# What numpy, zipfile and json say of a file that is not ours or is damaged.
_BROKEN = (BadZipFile, zlib.error, EOFError, AttributeError, KeyError, TypeError, ValueError)


def write(path: str | os.PathLike, kind: str, page: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write a state to ``path``: beside it first, then renamed, so that no half file is ever seen."""
    page = {"kind": f"fusedlr {kind}", "format": FORMAT, "fusedlr": __version__, **page}
    text = json.dumps(page, default=_plain).encode()
    path = Path(path)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, page=np.frombuffer(text, dtype=np.uint8), **arrays)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def read(path: str | os.PathLike, kinds: Container[str]) -> tuple[str, dict, dict[str, np.ndarray]]:
    """Kind, page and arrays of a file that ``write`` made, or a refusal that says what is wrong with it."""
    refusal = ValueError(f"path must lead to a file written by the save method of a result, found {str(path)!r}, "
                         "which is something else or cut short")
    try:
        # Opened here, because numpy leaves a file open that turns out to be cut short.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        page = json.loads(arrays.pop("page").tobytes())
        kind = page["kind"].removeprefix("fusedlr ")
    except _BROKEN as error:
        raise refusal from error
    if kind not in kinds:
        raise refusal
    if page["format"] > FORMAT:
        raise ValueError(f"path leads to a file of format {page['format']}, written by fusedlr {page['fusedlr']}; "
                         f"this is fusedlr {__version__}, which reads up to format {FORMAT}: update fusedlr")
    return kind, page, arrays


def names(listed: list) -> list:
    """Names as they were: JSON knows no tuples, which are the names of columns with several levels."""
    return [tuple(name) if isinstance(name, list) else name for name in listed]


def _plain(value):
    """numpy's numbers as Python's; anything else has no place in a file without code."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"names and labels must be text or numbers to be saved, found {type(value).__name__} {value!r}")


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
