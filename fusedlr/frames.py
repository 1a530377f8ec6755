"""Frames and columns of any library as those of pandas, so that names are never lost on the way in.

A frame goes by name or is refused. polars, pyarrow, narwhals, Dask and xarray are known by
the module of their type and are never imported; what is computed only when asked for, and so
has no fixed order of rows, is refused with the call that fixes one.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["index_of", "plain"]

# Calls that give a frame of known order, by library and type.
_WAYS_OUT = {("polars", "LazyFrame"): "collect()", ("narwhals", "LazyFrame"): "collect()",
             ("duckdb", "DuckDBPyRelation"): "df()", ("_duckdb", "DuckDBPyRelation"): "df()",
             ("xarray", "Dataset"): "to_dataframe()", ("pyarrow", "RecordBatchReader"): "read_all()"}


def plain(name: str, value: Any) -> Any:
    """Frames and columns of other libraries as pandas objects, all else as it is.

    Parameters
    ----------
    name : str
        The argument, for refusals.
    value : object

    Returns
    -------
    object
        What was a frame has its names, what was a column its own. Ask ``index_of`` for the
        labels of rows before: only pandas has them, and here every row gets a number.
    """
    if isinstance(value, pd.MultiIndex):
        raise TypeError(f"{name} must have one value for each row, found a MultiIndex; use "
                        f"{name}.get_level_values(0), or {name}.to_frame(index=False)")
    if value is None or isinstance(value, (pd.DataFrame, pd.Series, pd.Index, list, tuple, str, bytes, type)):
        return value
    if isinstance(value, np.ndarray):
        return _without_fields(name, value)
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    way_out = _WAYS_OUT.get((library, kind))
    if way_out is None and library in _READERS:
        return _READERS[library](name, value)
    if way_out is not None or any(hasattr(value, mark) for mark in ("__dataframe__", "__arrow_c_stream__", "columns")):
        raise TypeError(f"{name} must be an array, or a frame of pandas, polars, pyarrow, narwhals or Dask that is in "
                        f"memory, found {library}'s {kind}; use {name}.{way_out or 'to_pandas()'}")
    return value


def index_of(value: Any) -> pd.Index | None:
    """Labels of the rows of what a user handed in; None where its rows have none."""
    return value.index if isinstance(value, (pd.DataFrame, pd.Series)) else None


def _without_fields(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.names:
        raise TypeError(f"{name} must not be a structured array, found records with the fields "
                        f"{list(array.dtype.names)[:4]}; use pandas.DataFrame({name})")
    return array


def _frame(columns: list, names: list) -> pd.DataFrame:
    """A frame of columns, whose names may repeat: that is refused later, in its own words."""
    return pd.concat(columns, axis=1).set_axis(names, axis=1) if columns else pd.DataFrame()


def _numbers(column: pd.Series) -> pd.Series:
    """Decimal numbers as floats."""
    values = column.dropna()
    exact = column.dtype == object and len(values) > 0 and all(isinstance(value, Decimal) for value in values)
    return column.astype(float) if exact else column


def _from_polars(name: str, value: Any) -> Any:
    if hasattr(value, "columns"):
        return _frame([_from_polars(name, value[column]) for column in value.columns], value.columns)
    if not hasattr(value, "dtype"):
        raise TypeError(f"{name} must be a DataFrame or a Series, found polars' {type(value).__name__}")
    if type(value.dtype).__name__ == "Enum":
        levels = pd.CategoricalDtype(list(value.dtype.categories), ordered=True)
        return pd.Series(value.to_list(), dtype=levels, name=value.name or None)
    return _numbers(pd.Series(value.to_numpy(), name=value.name or None))


def _from_pyarrow(name: str, value: Any) -> Any:
    if hasattr(value, "column_names") or hasattr(value, "schema"):
        return _frame([_from_pyarrow(name, column) for column in value.columns], list(value.schema.names))
    if not hasattr(value, "to_pandas") or not hasattr(value, "type"):
        raise TypeError(f"{name} must be a table or an array, found pyarrow's {type(value).__name__}; use "
                        f"{name}.to_table()")
    return _numbers(pd.Series(value.to_pandas()))


def _from_narwhals(name: str, value: Any) -> Any:
    return plain(name, value.to_native())


def _from_dask(name: str, value: Any) -> Any:
    """A frame or a column as it is in memory; an array, which may be larger, is left to ``chunked``."""
    if hasattr(value, "chunks") and not hasattr(value, "columns"):
        raise TypeError(f"{name} must be in memory, found a Dask array of {value.nbytes / 1e6:.0f} MB; fusedlr.chunked "
                        f"takes its rows in chunks, and {name}.compute() loads it")
    return value.compute()


def _from_xarray(name: str, value: Any) -> Any:
    """A frame where the columns have coordinates, elsewhere an array."""
    array = np.asarray(value.values)
    return pd.DataFrame(array, columns=value.indexes[value.dims[1]]) if (
        array.ndim == 2 and value.dims[1] in value.indexes) else array


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "polars": _from_polars, "pyarrow": _from_pyarrow, "narwhals": _from_narwhals, "dask": _from_dask,
    "xarray": _from_xarray}
