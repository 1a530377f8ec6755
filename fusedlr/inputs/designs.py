"""Designs of every accepted kind, turned into a matrix of finite floats and names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import checks, matrices, memory
from ..frames import index_of, plain
from ..matrices import Matrix
from ..problem import LARGEST

__all__ = ["INTERCEPT", "MISSING", "Features", "read_exog", "read_new_exog"]

# The intercept's name, whatever a column of ones was called.
INTERCEPT = "const"

# What may be done with rows in which a feature is missing, in the words of statsmodels.
MISSING = ("none", "drop", "raise")


class Features(NamedTuple):
    """Features without the constant column, and what the columns were called.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csc_array, shape (n, d)
    names : list
        One name for each feature.
    constant : int or None
        Position of the column of ones in the user's exog, where there was one.
    index : pandas.Index or None
        Labels of all rows, also of those that were dropped.
    kept : ndarray of bool or None
        Mask of the user's rows that ``X`` has, where some were dropped for a missing value.
    """

    X: Matrix
    names: list
    constant: int | None
    index: pd.Index | None  # type: ignore[assignment]  # hides tuple.index, which nobody calls
    kept: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Rows that the user gave."""
        return self.X.shape[0] if self.kept is None else len(self.kept)


def read_exog(exog: Any, drop: bool = False) -> Features:
    """Design of any of the accepted kinds as ``Features``; a column of ones is taken out as the intercept.

    With ``drop`` rows with NaN are left out; elsewhere they are refused.
    """
    X, names, index = _exog_array(exog, finite=not drop)
    kept = _complete(X) if drop else None
    X = matrices.finite("exog", X if kept is None else matrices.cut(X, np.flatnonzero(kept)), names)
    ones = matrices.columns_of_ones(X)
    if ones.size > 1:
        raise ValueError(f"exog has {ones.size} constant columns of ones, {checks.named(names, ones)}; one is the "
                         "intercept, drop the others")
    constant = int(ones[0]) if ones.size else None
    features = [j for j in range(X.shape[1]) if j != constant]
    if not features:
        raise ValueError("exog must have at least one feature besides the constant column, found none")
    X = X if constant is None else _without(X, constant)
    return Features(X, _feature_names(names, features), constant, index, kept)


def read_new_exog(exog: Any, names: list, constant: int | None,
                  gaps: bool = False) -> tuple[Matrix, pd.Index | None]:
    """Features of new rows in the model's order, (X, index); frames by name, arrays by position.

    Parameters
    ----------
    exog : DataFrame or array_like, shape (n, d), or (n, 1 + d) with the constant where it was in the fit
    names : list
        Names of the features.
    constant : int or None
    gaps : bool
        Whether NaN may stand in it; elsewhere it is refused.
    """
    index, exog = index_of(exog), plain("exog", exog)
    if isinstance(exog, pd.DataFrame):
        absent = [name for name in names if name not in exog.columns]
        if absent:
            raise ValueError(f"exog must have a column for each feature of the model; missing are {absent[:4]}"
                             f"{f' and {len(absent) - 4} more' if len(absent) > 4 else ''}")
        exog = exog[names]
    X, columns, _ = _exog_array(exog, finite=not gaps)
    if gaps:
        matrices.finite("exog", matrices.cut(X, np.flatnonzero(matrices.complete_rows(X))), columns)
    if constant is not None and X.shape[1] == len(names) + 1:
        if (matrices.dense(X[:, [constant]]) != 1).any():
            raise ValueError(f"exog must have the column of ones at position {constant}, as in the fit")
        X = _without(X, constant)
    if X.shape[1] != len(names):
        raise ValueError(f"exog must have the {len(names)} features of the model as columns, "
                         f"found {X.shape[1]} columns")
    return X, index


def _without(X: Matrix, j: int) -> Matrix:
    """All columns but one; a dense matrix stays by rows, as the solver has it."""
    return X[:, np.arange(X.shape[1]) != j] if matrices.is_sparse(X) else np.delete(X, j, axis=1)


def _complete(X: Matrix) -> np.ndarray | None:
    """Mask of the complete rows, without NaN, shape (n,); None where all are."""
    complete = matrices.complete_rows(X)
    if not complete.any():
        raise ValueError("exog must have a row without missing values, found none; leave out columns, or impute")
    return None if complete.all() else complete


def _exog_array(exog: Any, finite: bool = True) -> tuple[Matrix, list | None, pd.Index | None]:
    """A matrix of floats, all finite unless told otherwise, its column names and its row labels."""
    if exog is None:
        raise TypeError("exog must be an array or a DataFrame of numbers, found None")
    index, exog = index_of(exog), plain("exog", exog)
    names = list(exog.columns) if isinstance(exog, pd.DataFrame) else None
    checks.refuse_duplicates("exog", names or [])
    if isinstance(exog, pd.Series):
        raise _one_dimension("exog.to_frame()", "frame.iloc[[i]] or exog.to_frame().T")
    X = matrices.sparse("exog", exog)
    if X is None and len(getattr(exog, "shape", ())) == 2:
        n, d = exog.shape
        memory.ask(8 * 1.3 * n * d + memory.WORKSPACE, f"exog of {n} rows and {d} columns")
    X = checks.array("exog", exog) if X is None else X
    if X.ndim == 1:
        raise _one_dimension("exog.reshape(-1, 1)", "exog.reshape(1, -1)")
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"exog must have rows and columns, found shape {X.shape}")
    X = matrices.finite("exog", X, names) if finite else X
    largest = matrices.largest(X)
    if LARGEST < largest < np.inf:  # infinity is refused as such, here or once rows were dropped
        raise ValueError(f"exog must lie between -{LARGEST:g} and {LARGEST:g}, found {largest:g}; choose another unit")
    return X, names, index


def _one_dimension(column: str, row: str) -> ValueError:
    return ValueError(f"exog must have rows and columns, found one dimension; for a single feature use {column}, "
                      f"for a single row {row}")


def _feature_names(names: list | None, features: list) -> list:
    """Names of the features; x1, x2, ... where the user gave none."""
    if names is None:
        return [f"x{j + 1}" for j in range(len(features))]
    others = [names[j] for j in features]
    if INTERCEPT in others:
        raise ValueError(f"exog has a column named {INTERCEPT!r} that is not a column of ones; that is the name of the "
                         "intercept, which the model adds itself: rename the column")
    return others
