"""Checks of arguments: each returns the value in its plain type, or refuses it by name.

A refusal says the argument, the rule, what was found and, where there is one, the way
out: TypeError for a wrong type, ValueError for a wrong value. All public arguments that
are numbers, words, flags or arrays of numbers pass through here, once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from .frames import index_of, plain

__all__ = ["array", "by_name", "check_index", "finite", "flag", "listed", "named", "number", "path",
           "refuse_duplicates", "result", "rng", "rows", "shown", "text", "tolerance", "vector", "whole", "word"]

_TIMES = (np.datetime64, np.timedelta64)  # which Python may not have, and numpy calls whole numbers


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, found {shown(value)}")
    return bool(value)


def word(name: str, value: Any, known: Iterable[str]) -> Any:
    """One of the known words, in any case."""
    known = list(known)
    if isinstance(value, str) and value.lower() in known:
        return value.lower()
    kind = ValueError if isinstance(value, str) else TypeError
    words = " or ".join([", ".join(map(repr, known[:-1])), repr(known[-1])]) if len(known) > 1 else repr(known[0])
    raise kind(f"{name} must be {words}, found {shown(value)}")


def text(name: str, value: Any) -> str:
    """Text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, found {shown(value)}")
    return value


def result(name: str, value: Any, needed: Iterable[str], what: str) -> Any:
    """A result of one of the package's own calls, known by its attributes; ``what`` says which."""
    if isinstance(value, type) or not all(hasattr(value, attribute) for attribute in needed):
        raise TypeError(f"{name} must be {what}, found {shown(value)}")
    return value


def listed(name: str, values: Any) -> list:
    """An ordered collection as a list; a set, which has no order, and a scalar are refused."""
    values = values if isinstance(values, pd.MultiIndex) else plain(name, values)  # columns of which are names
    kinds = (list, tuple, range, pd.Index, pd.Series, pd.api.extensions.ExtensionArray)
    if not isinstance(values, kinds) and not (isinstance(values, np.ndarray) and values.ndim == 1):
        raise TypeError(f"{name} must be a list, found {shown(values)}")
    if not all(map(_is_hashable, values)):
        raise TypeError(f"{name} must be a list of words or numbers, found {shown(values)}")
    return [None if value is pd.NA else _plain(value) for value in values]


def rows(name: str, values: Any, n_rows: int, index: pd.Index | None = None) -> np.ndarray:
    """Row positions, shape (k,), from integers or from a boolean mask of length ``n_rows``.

    A mask is known before anything is converted, because True and False convert to 1 and 0; as
    a Series it must have the rows' own ``index``, where they have one.
    """
    labels, values = index_of(values), plain(name, values)
    found = np.zeros(0, dtype=int) if isinstance(values, list) and not values else array(name, values)
    if found.ndim == 1 and _is_mask(name, values):
        check_index(labels, index, name, "the model")
        if len(found) != n_rows:
            raise ValueError(f"{name} must have one entry for each of {n_rows} rows, found {len(found)}")
        return np.flatnonzero(found)
    if found.ndim != 1 or not np.isfinite(found).all() or (found != np.floor(found)).any():
        raise TypeError(f"{name} must be a list of whole numbers, or of True and False, found {shown(values)}")
    if len(found) and not (-n_rows <= found.min() and found.max() < n_rows):
        raise ValueError(f"{name} must be positions of the {n_rows} rows, found {found.min():g} to {found.max():g}")
    return found.astype(int)


def _is_mask(name: str, values: Any) -> bool:
    """Whether values of one dimension are True and False; a mixture with numbers or missing values is refused."""
    column = pd.Series(np.ma.getdata(values) if np.ma.isMaskedArray(values) else values)
    truths = (column.map(lambda value: isinstance(value, (bool, np.bool_))).to_numpy(dtype=bool)
              if column.dtype == object else np.full(len(column), pd.api.types.is_bool_dtype(column.dtype)))
    if truths.any() and (column.isna().any() or not truths.all()):
        raise ValueError(f"{name} must hold True and False alone in a mask, found missing values or numbers among "
                         f"them; use {name}.fillna(False), or positions")
    return bool(truths.any())


def path(name: str, value: Any) -> str:
    """The path of a file, as text."""
    found = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(found, str):
        raise TypeError(f"{name} must be the path of a file, found {shown(value)}")
    if not found or "\0" in found:
        raise ValueError(f"{name} must be the path of a file, found {shown(value)}")
    return found


def whole(name: str, value: Any, least: int, most: int | None = None, way_out: str = "") -> int:
    """A whole number within bounds; 5.0 is one, because R has no other."""
    if not _is_whole(value):
        raise TypeError(f"{name} must be a whole number, found {shown(value)}{way_out and '; ' + way_out}")
    if int(value) < least or (most is not None and int(value) > most):
        rule = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {rule}, found {shown(int(value))}{way_out and '; ' + way_out}")
    return int(value)


def rng(value: Any) -> Any:
    """Source of randomness: an integer seed, a SeedSequence, a Generator, or None for fresh entropy."""
    if value is None or isinstance(value, (np.random.Generator, np.random.SeedSequence)):
        return value
    return whole("rng", value, 0, way_out="or a numpy Generator or SeedSequence, or None for fresh entropy")


def number(name: str, value: Any, way_out: str = "") -> float:
    """A finite, non-negative number."""
    value = _real(name, value, way_out)
    if not np.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be finite and not negative, found {value:g}{way_out and '; ' + way_out}")
    return value


def tolerance(name: str, value: Any, way_out: str = "") -> float:
    """A number strictly between 0 and 1."""
    value = _real(name, value, way_out)
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, found {value:g}{way_out and '; ' + way_out}")
    return value


def array(name: str, values: Any, missing: bool = False) -> np.ndarray:
    """Numbers of any shape as a new array of floats; NaN for what pandas calls missing.

    Parameters
    ----------
    name : str
    values : array_like, Series or DataFrame
    missing : bool
        Whether masked entries may be taken as NaN; elsewhere they are refused.
    """
    if hasattr(type(values), "tocsr"):  # a frame may have a column of any name
        raise TypeError(f"{name} must be dense: a numpy array or a DataFrame of numbers is supported, found a sparse "
                        f"matrix; use {name}.toarray()")
    values = plain(name, values)
    if values is None or isinstance(values, (str, bytes, set, Mapping)):
        way_out = f"; use pandas.DataFrame({name})" if isinstance(values, Mapping) else ""
        raise TypeError(f"{name} must hold numbers, found {shown(values)}{way_out}")
    if isinstance(values, (pd.Series, pd.DataFrame, pd.Index, pd.api.extensions.ExtensionArray)):
        return _from_pandas(name, values)
    if np.ma.isMaskedArray(values):
        values = _unmasked(name, values, missing)
    return _from_array(name, _rectangular(name, values))


def vector(name: str, values: Any, size: int | None = None) -> np.ndarray:
    """Finite, non-negative numbers, at least one; a scalar counts as a list of one."""
    listed = np.array([_real(name, values, "")]) if isinstance(values, Real) else array(name, values)
    if listed.ndim != 1 or listed.size == 0 or (size is not None and listed.size != size):
        wanted = "at least one number" if size is None else f"{size} numbers"
        raise ValueError(f"{name} must hold {wanted} in one list, found shape {listed.shape}")
    if not np.isfinite(listed).all() or (listed < 0).any():
        raise ValueError(f"{name} must be finite and not negative, found {listed.tolist()}")
    return listed


def finite(name: str, values: np.ndarray, columns: Sequence | None = None) -> np.ndarray:
    """The same array; NaN and infinity are refused, with the names of their columns."""
    good = np.isfinite(values)
    if good.all():
        return values
    if values.ndim != 2:
        raise ValueError(f"{name} must be finite, found nan or inf")
    raise ValueError(f"{name} must be finite, found nan or inf in {int((~good).any(axis=1).sum())} rows, "
                     f"{named(columns, np.flatnonzero((~good).any(axis=0)))}; drop these rows or impute")


def named(names: Sequence | None, positions: np.ndarray) -> str:
    """Columns by name or position, at most four of them."""
    shown = [repr(names[j]) if names is not None else str(j) for j in positions[:4]]
    return f"columns {', '.join(shown)}" + (", ..." if len(positions) > 4 else "")


def _real(name: str, value: Any, way_out: str) -> float:
    if not _is_real(value):
        raise TypeError(f"{name} must be a number, found {shown(value)}{way_out and '; ' + way_out}")
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_real(value: Any) -> bool:
    """Whether it is one number; a duration is one to numpy."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_, *_TIMES))


def _is_whole(value: Any) -> bool:
    if not _is_real(value):
        return False
    return isinstance(value, Integral) or float(value).is_integer()


def _from_pandas(name: str, values: Any) -> np.ndarray:
    frame = values if isinstance(values, pd.DataFrame) else pd.Series(values).to_frame()
    bad = [frame.columns[k] for k, dtype in enumerate(frame.dtypes.to_numpy())
           if not (_is_number(dtype) or (pd.api.types.is_object_dtype(dtype) and _holds_numbers(frame.iloc[:, k])))]
    if bad:
        where = f"; columns {bad[:4]} do not" if frame is values else f", found {frame.dtypes.iloc[0]}"
        raise TypeError(f"{name} must hold numbers{where}; {_way_out(frame[bad[0]])}")
    array = np.empty(frame.shape)
    step = max(1, frame.shape[1] // 16)  # a few columns at a time: a large design is never held twice
    for j in range(0, frame.shape[1], step):
        array[:, j:j + step] = frame.iloc[:, j:j + step].to_numpy(dtype=float, na_value=np.nan)
    return array if frame is values else array[:, 0]


def _way_out(column: Any) -> str:
    """What to do with a column that holds no numbers; of two of the same name the first counts."""
    first = column.iloc[:, 0] if isinstance(column, pd.DataFrame) else column
    word = pd.api.types.infer_dtype(first, skipna=True)
    if word.startswith("timedelta"):
        return "count days or hours, as in duration.dt.days"
    if word.startswith(("date", "period")):
        return "count days from a date, as in (date - date.min()).dt.days, or take date.dt.year"
    return "code them with pandas.get_dummies, or use FusedLogit.from_formula with C(...)"


def _is_number(dtype: Any) -> bool:
    kinds = pd.api.types
    return ((kinds.is_numeric_dtype(dtype) or kinds.is_bool_dtype(dtype))
            and not kinds.is_complex_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype))


def _holds_numbers(column: pd.Series) -> bool:
    return all(isinstance(value, Real) for value in column[column.notna()])


def _unmasked(name: str, values: Any, missing: bool) -> np.ndarray:
    hidden = np.ma.getmaskarray(values)
    if not hidden.any():
        return np.asarray(values.data)
    if missing:
        return np.ma.filled(values.astype(float), np.nan)
    raise ValueError(f"{name} must not be masked, found {int(hidden.sum())} masked entries; drop these rows or impute")


def _rectangular(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be rectangular, with as many numbers in every row; found rows of different "
                         "lengths") from None


def _from_array(name: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return np.array(values, dtype=float, order="C")
    strange = [value for value in values.ravel() if not isinstance(value, Real) and value is not None]
    if values.dtype.kind != "O" or strange:
        what = {"c": "complex numbers", "M": "dates", "m": "durations"}.get(values.dtype.kind)
        raise TypeError(f"{name} must hold numbers, found {what or shown(max(strange, key=_is_word, default=values))}")
    try:
        return np.array(values, dtype=float, order="C")
    except OverflowError:
        raise ValueError(f"{name} must hold numbers below 1e308, found a larger one") from None


def _is_word(value: Any) -> bool:
    """Whether numpy made text of it because it was text, and not because a neighbour was."""
    return not str(value).replace(".", "", 1).replace("-", "", 1).isdigit()


def shown(value: Any) -> str:
    """The value as it was typed, shortened, without the names that numpy puts around its own numbers."""
    try:
        value = _plain(value)
        text = " ".join(repr(value).split())
    except RecursionError:
        text = "a list that holds itself"
    except ValueError:  # Python writes no number of more than some thousand digits
        text = "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}... ({type(value).__name__})"


def _plain(value: Any) -> Any:
    """numpy's own numbers and words as Python's, in lists and tuples too."""
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value.item() if isinstance(value, np.generic) and not isinstance(value, _TIMES) else value


def check_index(index: pd.Index | None, other: pd.Index | None, argument: str, reference: str = "endog") -> None:
    """Refuse two pandas objects whose indexes differ in labels or order."""
    if index is None or other is None or index.equals(other):
        return
    if len(index) == len(other) and index.isin(other).all():
        found = "the same labels in another order"
        way_out = f"use {argument}.loc[{reference}.index]"
    else:
        found = f"{len(other)} and {len(index)} rows" if len(index) != len(other) else "other labels"
        way_out = f"align them, or hand in {argument}.to_numpy() if the order is right"
    raise ValueError(f"{argument} must have the index of {reference}, found {found}; {way_out}")


def refuse_duplicates(argument: str, names: list) -> None:
    """Refuse duplicate names."""
    repeated = sorted(str(name) for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ValueError(f"{argument} must not repeat a name, found {repeated[:4]} more than once; rename or drop")


def by_name(argument: str, values: pd.Series | Mapping, names: list) -> dict:
    """Values by feature name; unknown names are refused."""
    given = dict(values)
    if len(given) != len(values):
        raise ValueError(f"{argument} must not repeat a name")
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"{argument} names features that the model does not have, found {unknown[:4]}; "
                         f"it has {names[:6]}{' ...' * (len(names) > 6)}")
    return given
