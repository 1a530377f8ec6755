"""Result files of the study: written atomically, and bitwise identical for the same numbers."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

__all__ = ["lacking", "read_arrays", "read_scores", "read_table", "replacing", "write_arrays", "write_table"]

# Numbers are read to the last bit: pandas must be told so before 3.1, and warns of being told since.
_TELLS = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _TELLS else {}


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


def write_arrays(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays as npz."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


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
        return pd.read_csv(path, **_EXACT)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is missing or broken; delete it and run again ({error})") from error


def lacking(table: pd.DataFrame, wanted: Mapping[str, Iterable]) -> list[tuple]:
    """Columns and values of which a table has no row, of those that are wanted."""
    return [(column, value) for column, values in wanted.items() for value in values
            if value not in set(table[column])]


def read_scores(path: str | Path, config: dict | None = None) -> pd.DataFrame:
    """Scores, checked to be complete: every case has the same instances, sizes and models, and those of the config.

    A truncated table would give other verdicts without notice.
    """
    scores = read_table(path)
    wanted = {column: config[f"{column}s"] for column in ("case", "size", "model")} if config else {}
    for column, value in lacking(scores, wanted):
        raise ValueError(f"{path} has no rows of the {column} {value!r}; delete it and run again")
    rows = int(np.prod([scores[name].nunique() for name in ("case", "instance", "size", "model")]))
    if len(scores) != rows:
        raise ValueError(f"{path} has {len(scores)} rows where its cases, instances, sizes and models make {rows}; "
                         "delete it and run again")
    return scores
