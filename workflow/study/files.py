"""Result files of the study: written atomically, and bitwise identical for the same numbers.

Every file of arrays says inside what it is about: case, instance, seed, and a hash of the data it was made from. A file
in the place of another one is refused on reading.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

__all__ = ["about", "data_hash", "exact", "lacking", "read_arrays", "read_instance", "read_made", "read_scores",
           "read_table", "replacing", "write_arrays", "write_table"]


def exact() -> dict[str, Any]:
    """What pandas must be told to read numbers to the last bit before 3.1; it warns of being told since."""
    return {"float_precision": "round_trip"} if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else {}


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary name beside ``path`` that takes its place only when the block ends well."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_arrays(path: str | Path, arrays: Mapping[str, Any], facts: Mapping[str, Any] | None = None) -> None:
    """Write named arrays as npz, with what they are about."""
    named = dict(arrays)
    if facts:
        named["about"] = np.array(json.dumps(dict(facts), sort_keys=True))
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **named)


def data_hash(arrays: Mapping[str, np.ndarray]) -> str:
    """Sixteen hexadecimal digits of a hash over the names and bytes of arrays."""
    found = hashlib.sha256()
    for name in sorted(set(arrays) - {"about"}):
        found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()[:16]


def about(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What arrays say that they are about."""
    return json.loads(str(arrays["about"])) if "about" in arrays else {}


def read_instance(path: str | Path, **expected: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Data of a simulated instance, and what files made from them are about; ``expected`` are case, instance, seed."""
    arrays = read_arrays(path)
    facts = about(arrays)
    _check_about(path, facts, expected)
    return arrays, {**{name: facts.get(name) for name in ("case", "instance", "seed")}, "data": data_hash(arrays)}


def read_made(path: str | Path, facts: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Arrays that were made from an instance; ``facts`` are those of :func:`read_instance`."""
    arrays = read_arrays(path)
    _check_about(path, about(arrays), facts)
    return arrays


def _check_about(path, found, expected):
    """Refuse a file that is about something else than what is expected in its place."""
    for name, value in expected.items():
        if found.get(name) != value:
            what = "other data than those now there" if name == "data" else f"{name} {found.get(name)}, not {value}"
            raise ValueError(f"{path} is of {what}; delete it and run again")


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Named arrays of an npz file as a dict; a file that cannot be read is named in the error."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, BadZipFile) as error:
        raise ValueError(f"{path} is missing or broken; delete it and run again ({error})") from error


def write_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as csv with numbers that read back to the last bit."""
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def read_table(path: str | Path) -> pd.DataFrame:
    """A csv file as a table; a file that cannot be read is named in the error."""
    try:
        return pd.read_csv(path, **exact())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is missing or broken; delete it and run again ({error})") from error


def lacking(table: pd.DataFrame, wanted: Mapping[str, Iterable]) -> list[tuple]:
    """Columns and values of which a table has no row, of those that are wanted."""
    return [(column, value) for column, values in wanted.items() for value in values
            if value not in set(table[column])]


def read_scores(path: str | Path, config: dict | None = None, may_be_empty: bool = False) -> pd.DataFrame:
    """Scores, checked to be complete: every case has the same instances, sizes and models, and those of the config.

    A truncated table would give other verdicts without notice.
    """
    scores = read_table(path)
    if scores.empty and not may_be_empty:
        raise ValueError(f"{path} has no rows; delete it and run again")
    wanted = {column: config[f"{column}s"] for column in ("case", "size", "model")} if config else {}
    for column, value in lacking(scores, wanted):
        raise ValueError(f"{path} has no rows of the {column} {value!r}; delete it and run again")
    rows = int(np.prod([scores[name].nunique() for name in ("case", "instance", "size", "model")]))
    if len(scores) != rows:
        raise ValueError(f"{path} has {len(scores)} rows where its cases, instances, sizes and models make {rows}; "
                         "delete it and run again")
    return scores
