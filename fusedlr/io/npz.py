"""Results on disk: arrays and a page of JSON in one npz file, which runs no code when it is read.

``load`` accepts only what the fields of a registered class describe, and checks sizes before
it allocates memory.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from .. import checks
from ..version import __version__
from .rules import Sizes, bind, refuse
from .schema import KINDS, Array, arrays_of, pack, rules_of, unpack

__all__ = ["load", "save"]

# Incremented when older files can no longer be read; files of another format are refused.
FORMAT = 2

# Bytes of a page: the names of a million features take a quarter of it.
_PAGE_LIMIT = 64_000_000

# Limits against zip bombs: what the page, and all parts together, may unpack to, in bytes or as a multiple of the file,
# whichever is more. Text is compressed 5 times, data of zeros and ones 100 times, a bomb 1,000 times.
_PAGE_UNPACKED = 1_000_000, 20
_ALL_UNPACKED = 256_000_000, 500

_WORDS = {"f": "numbers", "i": "whole numbers", "b": "true and false"}


def save(path: str | os.PathLike, result: Any) -> None:
    """Write a result to ``path`` atomically: to a temporary file beside it, which is then renamed.

    A file that is replaced keeps its permissions.
    """
    page, arrays = pack(result, type(result))
    page = {"kind": f"fusedlr {result.kind}", "format": FORMAT, "fusedlr": __version__, **page}
    text = json.dumps(page, default=_plain).encode()
    target = Path(os.path.realpath(checks.path("path", path)))
    beside = target.with_name(f".fusedlr-{secrets.token_hex(8)}")
    parts: dict[str, Any] = {"page": np.frombuffer(text, dtype=np.uint8), **arrays}
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must lie in a folder that is there, found {str(path)!r}; make "
                                f"{str(target.parent)!r} first")
    try:
        with _opened(beside, _permissions(target)) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for name, array in parts.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
        os.replace(beside, target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno:  # under the user's name for the file
            raise type(error)(error.errno, error.strerror, str(target)) from None
        raise


def load(path: str | os.PathLike) -> Any:
    """The result saved to a file, of the same class; a ValueError says what is wrong with which field."""
    with _regular(checks.path("path", path)) as file:
        try:
            return _checked(file)
        except _Refused as error:
            raise ValueError(f"path leads to {str(path)!r}, in which {error}") from None
        except Exception as error:  # whatever numpy, zipfile and json say of a file that is not ours or is damaged
            raise ValueError("path must lead to a file written by the save method of a result, found "
                             f"{str(path)!r}, which is something else or cut short") from error


def _regular(path: str) -> IO[bytes]:
    """A file, open for reading; a folder, device or pipe is refused before anything is read, or waited for."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError(f"path must lead to a file, found {path!r}, which is a folder, a device or a pipe")
    return os.fdopen(handle, "rb")


class _Refused(ValueError):
    """A file of ours that does not hold what it should."""


def _checked(file: IO[bytes]) -> Any:
    with ZipFile(file) as archive:
        members = _members(archive)
        _check_packing(members, file.seek(0, os.SEEK_END))
        text = members.pop("page")
        _check_member(archive, text, Array(("bytes",), "u"), {}, _PAGE_LIMIT)
        page = json.loads(_load(archive, text).tobytes(), parse_int=_whole)
        kind = page.pop("kind").removeprefix("fusedlr ")
        _check_format(page.pop("format"), page.pop("fusedlr"))
        cls = KINDS[kind]
        try:
            return unpack(cls, page, _arrays(archive, members, cls, page))
        except (TypeError, ValueError) as error:
            raise _Refused(str(error)) from None


def _arrays(archive: ZipFile, members: dict[str, ZipInfo], cls: type, page: dict) -> dict[str, np.ndarray]:
    """All arrays of a file, after its page and their sizes have been checked."""
    sizes: Sizes = {}
    _check_page(page, cls, sizes)
    known = arrays_of(cls, page)
    _check_names(members, known)
    for name in members:
        _check_member(archive, members[name], known[name], sizes)
    return {name: _check_values(name, known[name], _load(archive, members[name]), sizes) for name in members}


def _members(archive: ZipFile) -> dict[str, ZipInfo]:
    """The parts of the file by name, without duplicates."""
    listed = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(listed) < len(archive.infolist()):
        raise ValueError("a name comes twice")
    return listed


def _check_packing(members: dict[str, ZipInfo], whole: int) -> None:
    """Refuse a file of ``whole`` bytes that unpacks to far more (a zip bomb), whatever its headers say."""
    for name, parts, (bytes_, times) in (("page", [members["page"]], _PAGE_UNPACKED),
                                         ("all parts", members.values(), _ALL_UNPACKED)):
        unpacked = sum(info.file_size for info in parts)
        if unpacked > max(bytes_, times * whole):
            raise _Refused(f"{name} must not unpack to more than {times} times the file, found {unpacked} bytes in a "
                           f"file of {whole}")
    for name, info in members.items():
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise _Refused(f"{name} must be stored or deflated, found another compression, number {info.compress_type}")


def _check_format(found: Any, version: Any) -> None:
    if found != FORMAT:
        raise _Refused(f"the format is {found}, written by fusedlr {version}; this is fusedlr {__version__}, which "
                       f"reads format {FORMAT}: use the version that wrote it")


def _check_page(page: dict, cls: type, sizes: Sizes) -> None:
    rules = rules_of(cls)
    unknown = sorted(set(page) - set(rules))
    if unknown:
        refuse(unknown[0], f"be one of {', '.join(rules)}", "a field of another name")
    for field, rule in rules.items():
        rule(field, page.setdefault(field, None), sizes)


def _check_names(members: dict[str, ZipInfo], known: Mapping[str, Array]) -> None:
    unknown = sorted(set(members) - set(known))
    if unknown:
        refuse(unknown[0], f"be one of {', '.join(known)}", "an array of another name")
    absent = [name for name, array in known.items() if name not in members and not array.optional]
    if absent:
        refuse(absent[0], "be there", "nothing")


def _check_member(archive: ZipFile, info: ZipInfo, array: Array, sizes: Sizes, limit: float = np.inf) -> None:
    """Refuse an array whose header does not agree with the layout, with other arrays, or with the size of its part."""
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as file:
        shape, dtype = _header(file)
        _check_header(name, array, shape, dtype, sizes)
        if file.tell() + int(np.prod(shape, dtype=object)) * dtype.itemsize != info.file_size or info.file_size > limit:
            refuse(name, f"have the size of its shape {shape}", f"{info.file_size} bytes")


def _load(archive: ZipFile, info: ZipInfo) -> np.ndarray:
    """An array whose header has been checked."""
    with archive.open(info) as file:
        values = np.lib.format.read_array(file, allow_pickle=False)
        file.read()  # to the end, where the checksum is compared
    return values


def _header(file: IO[bytes]) -> tuple[tuple, np.dtype]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = readers[np.lib.format.read_magic(file)](file)
    return shape, dtype


def _check_header(name: str, array: Array, shape: tuple, dtype: np.dtype, sizes: Sizes) -> None:
    if dtype.kind not in array.kind:
        refuse(name, f"hold {_WORDS.get(array.kind, f'one of the types {array.kind}')}", f"the type {dtype}")
    if len(shape) != len(array.shape):
        refuse(name, f"have shape ({', '.join(array.shape)})", f"shape {shape}")
    for letter, length in zip(array.shape, shape):
        bind(name, letter, length, sizes)


def _check_values(name: str, array: Array, values: np.ndarray, sizes: Sizes) -> np.ndarray:
    """Numbers in native byte order, checked to be finite and within bounds; other kinds as they are."""
    if array.kind not in _WORDS:
        return values
    values = np.ascontiguousarray(values, dtype=float if array.kind == "f" else values.dtype.newbyteorder("="))
    known = values[~np.isnan(values)] if array.gaps else values
    if not np.isfinite(known).all():
        refuse(name, "be finite", "nan or inf")
    if known.size and known.min() < array.least:
        refuse(name, f"be at least {array.least:g}", f"{known.min():g}")
    if array.most < np.inf and known.size and max(known.max(), -known.min()) > array.most:
        refuse(name, f"lie between -{array.most:g} and {array.most:g}", "a number beyond")
    if array.below and known.size and known.max() >= sizes[array.below]:
        refuse(name, f"be less than {sizes[array.below]}", f"{known.max()}")
    if array.among and not np.isin(known, array.among).all():
        refuse(name, f"hold {' and '.join(map(str, array.among))} only", "other numbers")
    return values


def _permissions(target: Path) -> int | None:
    """Permissions of the file that is to be replaced; None where there is none."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise ValueError(f"path must be that of a file, found {str(target)!r}, which is a folder or a device")
    return stat.S_IMODE(mode)


def _opened(path: Path, permissions: int | None) -> IO[bytes]:
    """A new file, open for writing; where no permissions are given, with the system's default."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0),
                     0o666 if permissions is None else 0o600)
    if permissions is not None:
        os.chmod(path, permissions)
    return os.fdopen(handle, "wb")


def _whole(digits: str) -> int | float:
    """An integer where numpy has a type for it, else the nearest float."""
    number = int(digits)
    return number if abs(number) < 2**64 else float(number)


def _plain(value):
    """numpy's numbers as Python's; anything else has no place in a file without code."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"names and labels must be text or numbers to be saved, found {type(value).__name__} {value!r}")
