"""Feature matrices, dense or sparse: the only module that asks which of the two a matrix is.

A dense matrix is an ndarray. A sparse one is a ``scipy.sparse.csc_array`` of floats without
duplicates, its rows sorted within every column. It is never made dense as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array, hstack, issparse

from . import checks
from .io import Array, Parts, refuse

__all__ = ["Matrix", "about_mean", "beside", "columns_of_ones", "complete_rows", "constant_columns", "cut", "dense",
           "finite", "for_core", "frame", "is_sparse", "largest", "moments", "part", "saved_matrix", "size_in_bytes",
           "sparse"]

Matrix = Any  # an ndarray or a csc_array, (n, d)


def is_sparse(X: Matrix) -> bool:
    """Whether a matrix is sparse."""
    return bool(issparse(X))


def sparse(name: str, values: Any) -> Matrix | None:
    """The sparse matrix that a user handed in, or a frame with columns of sparse type; None where it is neither."""
    if issparse(values):
        if values.dtype.kind not in "biuf" or len(values.shape) != 2:
            raise TypeError(f"{name} must hold numbers in rows and columns, found a sparse matrix of {values.dtype} of "
                            f"shape {values.shape}")
        return _canonical(values)
    if isinstance(values, pd.DataFrame):
        kept = [_is_sparse_column(dtype) for dtype in values.dtypes]
        return _from_frame(name, values, np.array(kept)) if any(kept) else None
    return None


def _canonical(X: Any) -> Matrix:
    found = csc_array(X, dtype=float)
    if not found.has_canonical_format:
        found = found.copy() if found is X or np.shares_memory(found.data, X.data) else found
        found.sum_duplicates()
    return found


def _is_sparse_column(dtype: Any) -> bool:
    return isinstance(dtype, pd.SparseDtype) and dtype.subtype.kind in "biuf" and dtype.fill_value == 0


def _from_frame(name: str, values: pd.DataFrame, kept: np.ndarray) -> Matrix:
    """Columns of sparse type as they are, beside all others, which are checked as a dense frame is."""
    left = _canonical(values.loc[:, kept].sparse.to_coo())
    if kept.all():
        return left
    both = beside(left, checks.array(name, values.loc[:, ~kept]))
    return both[:, np.argsort(np.append(np.flatnonzero(kept), np.flatnonzero(~kept)))]


def beside(X: Matrix, more: np.ndarray) -> Matrix:
    """A matrix with more columns behind its own."""
    return csc_array(hstack([X, csc_array(more)], format="csc")) if issparse(X) else np.hstack([X, more])


def dense(X: Matrix) -> np.ndarray:
    """The few rows or columns that somebody picked, as an ndarray."""
    return X.toarray() if issparse(X) else X


def cut(X: Matrix, rows: np.ndarray) -> Matrix:
    """Some of the rows, in the order given; a row may come more than once."""
    return csc_array(csr_array(X)[rows]) if issparse(X) else X[rows]


def part(X: Matrix, rows: np.ndarray | None, columns: np.ndarray) -> Matrix:
    """Some of the columns, in all rows or in some."""
    if rows is None:
        return X[:, columns]
    return cut(X[:, columns], rows) if issparse(X) else X[np.ix_(rows, columns)]


def frame(X: Matrix, index: pd.Index | None, names: list) -> pd.DataFrame:
    """A frame, of sparse type where the matrix is sparse."""
    if issparse(X):
        return pd.DataFrame.sparse.from_spmatrix(X.tocoo(), index, names)
    return pd.DataFrame(X, index, names)


def size_in_bytes(X: Matrix) -> int:
    """Bytes that the core's copy of the columns takes, at most; see ``core/columns.hpp``."""
    return 8 * X.shape[1] + 32 * X.nnz if issparse(X) else 8 * X.shape[0] * X.shape[1]


def for_core(X: Matrix) -> Any:
    """The matrix as the C++ core takes it: an array by rows, or n, start, row and value of the entries."""
    if not issparse(X):
        return np.ascontiguousarray(X, dtype=float)
    return X.shape[0], X.indptr.astype(np.int64), X.indices.astype(np.intc, copy=False), X.data


# ---- what the columns are like -------------------------------------------------------------------------------------


def finite(name: str, X: Matrix, names: list | None) -> Matrix:
    """The same matrix; NaN and infinity are refused, with the names of their columns."""
    if not issparse(X):
        return checks.finite(name, X, names)
    bad = ~np.isfinite(X.data)
    if bad.any():
        raise ValueError(f"{name} must be finite, found nan or inf in {len(np.unique(X.indices[bad]))} rows, "
                         f"{checks.named(names, np.unique(_column(X)[bad]))}; drop these rows or impute")
    return X


def largest(X: Matrix) -> float:
    """Largest absolute value that is not NaN."""
    found = X.data if issparse(X) else X
    return max(np.fmax.reduce(found, axis=None, initial=0.0), -np.fmin.reduce(found, axis=None, initial=0.0))


def complete_rows(X: Matrix) -> np.ndarray:
    """Mask of the rows without NaN, shape (n,)."""
    if not issparse(X):
        return ~np.isnan(X).any(axis=1)
    complete = np.ones(X.shape[0], dtype=bool)
    complete[X.indices[np.isnan(X.data)]] = False
    return complete


def columns_of_ones(X: Matrix) -> np.ndarray:
    """Positions of the columns that are 1 in every row."""
    if issparse(X):
        full = np.flatnonzero(np.diff(X.indptr) == X.shape[0])
        return np.array([j for j in full if (X.data[X.indptr[j]:X.indptr[j + 1]] == 1.0).all()], dtype=int)
    ones = np.flatnonzero(X[0] == 1.0)
    return ones[(X[:, ones] == 1.0).all(axis=0)]


def constant_columns(X: Matrix) -> np.ndarray:
    """Positions of the columns that have one value."""
    if not issparse(X):
        return np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    n, count = X.shape[0], np.diff(X.indptr)
    filled = np.flatnonzero(count)
    least, most = np.zeros(len(count)), np.zeros(len(count))
    least[filled] = np.minimum.reduceat(X.data, X.indptr[filled]) if len(filled) else 0.0
    most[filled] = np.maximum.reduceat(X.data, X.indptr[filled]) if len(filled) else 0.0
    return np.flatnonzero((least == most) & ((most == 0) | (count == n)))


def moments(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Mean and mean square of every column, each of shape (d,)."""
    n = X.shape[0]
    if not issparse(X):
        return X.mean(axis=0), np.einsum("ij,ij->j", X, X) / n
    column = _column(X)
    return np.bincount(column, X.data, X.shape[1]) / n, np.bincount(column, X.data**2, X.shape[1]) / n


def about_mean(X: Matrix, weights: np.ndarray) -> np.ndarray:
    """Weighted sum of squares about the weighted mean of every column, shape (d,); weights of shape (n,)."""
    whole = max(weights.sum(), np.finfo(float).tiny)
    centre = weights @ X / whole
    if not issparse(X):
        return weights @ (X - centre) ** 2
    column, weight = _column(X), weights[X.indices]
    filled = np.bincount(column, weight, X.shape[1])
    squares = np.bincount(column, weight * (X.data - centre[column]) ** 2, X.shape[1])
    return squares + np.maximum(whole - filled, 0.0) * centre**2


def _column(X: Matrix) -> np.ndarray:
    """Column of every entry of a sparse matrix."""
    return np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))


# ---- on disk -------------------------------------------------------------------------------------------------------


def saved_matrix(most: float) -> Parts:
    """The rule for a matrix of n rows and d features in a file, with numbers up to ``most``."""
    return Parts({"": Array(("n", "d"), most=most, optional=True),
                  "start": Array(("1+d",), "i", least=0, optional=True),
                  "row": Array(("entries",), "i", least=0, below="n", optional=True),
                  "value": Array(("entries",), most=most, optional=True),
                  "shape": Array(("2",), "i", least=1, optional=True)}, _pack, _unpack)


def _pack(X: Matrix) -> dict[str, np.ndarray]:
    if not issparse(X):
        return {"": X}
    return {"start": X.indptr, "row": X.indices, "value": X.data, "shape": np.array(X.shape)}


def _unpack(where: str, parts: dict[str, np.ndarray]) -> Matrix:
    if not parts:
        refuse(where, "be there", "nothing")
    if "" in parts:
        return parts[""]
    if len(parts) < 4:
        refuse(where, "have start, row, value and shape where it is sparse", ", ".join(parts))
    try:
        X = csc_array((parts["value"], parts["row"], parts["start"]), shape=tuple(parts["shape"]))
        X.check_format()
    except ValueError as error:
        refuse(where, "be a sparse matrix", str(error))
    if not X.has_canonical_format:
        refuse(where, "have rows that rise within every column", "others")
    return X
