"""What users hand in, checked and turned into arrays: labels, designs, weights, penalties.

Every check of a user's data stands here; each refusal names the argument, the rule,
what was found, and a way out. The rest of the package trusts what comes out.
"""

from collections.abc import Mapping
from numbers import Integral, Number, Real
from typing import NamedTuple

import numpy as np
import pandas as pd

__all__ = ["Design", "Outcomes", "aligned", "check_index", "check_max_iter", "check_tol", "factors_by_name",
           "new_offset", "penalty_by_name", "read_endog", "read_exog", "read_held_out", "read_new_exog",
           "read_ordered"]


class Outcomes(NamedTuple):
    """Labels of every task as 0, 1 and NaN, and what they were called.

    Attributes
    ----------
    Y : ndarray, shape (n, t)
    names : list
        One name for each task.
    labels : list of (no, yes)
        The user's own labels, one pair for each task.
    index : pandas.Index or None
        Row labels, where the user gave pandas.
    """

    Y: np.ndarray
    names: list
    labels: list
    index: object


class Design(NamedTuple):
    """Features without the constant column, and what the columns were called.

    Attributes
    ----------
    X : ndarray, shape (n, d)
    names : list
        Name of the intercept, then one name for each feature.
    constant : int or None
        Position of the column of ones in the user's exog, where there was one.
    index : pandas.Index or None
    """

    X: np.ndarray
    names: list
    constant: object
    index: object


# ---- labels ---------------------------------------------------------------------------------------------------------

def read_endog(endog):
    """Labels of any of the accepted kinds as ``Outcomes``."""
    frame, index = _endog_frame(endog)
    if 0 in frame.shape:
        raise ValueError(f"endog must have rows and columns, found shape {frame.shape}")
    names = list(frame.columns)
    _refuse_duplicates("endog", names)
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    shared = _shared_words(columns)
    coded = [_code_labels(column, name, shared) for column, name in zip(columns, names)]
    Y = np.column_stack([codes for codes, _ in coded])
    _refuse_unobserved(Y, names)
    return Outcomes(Y, names, [labels for _, labels in coded], index)


def read_held_out(endog, names, labels):
    """Labels of other rows in the model's own coding, ndarray (n, t) of 0, 1 and NaN.

    Unlike in ``read_endog`` a task may have labels of one kind, or none.
    """
    frame, _ = _endog_frame(endog)
    by_name = isinstance(endog, pd.DataFrame) and set(names) <= set(frame.columns)
    if not by_name and frame.shape[1] != len(names):
        raise ValueError(f"endog must have the model's tasks {names} as columns, found {list(frame.columns)}")
    columns = [frame[name] if by_name else frame.iloc[:, k] for k, name in enumerate(names)]
    return np.column_stack([_code_known(column, name, pair) for column, name, pair in zip(columns, names, labels)])


def read_ordered(endog, levels=None):
    """Ordered levels as cumulative yes/no tasks, a DataFrame with one column ">level" for each but the last level."""
    column = endog if isinstance(endog, pd.Series) else pd.Series(_one_column(endog))
    levels = _ordered_levels(column, levels)
    rank = column.map({level: k for k, level in enumerate(levels)}).astype(float)
    strangers = pd.unique(column[rank.isna() & column.notna()])
    if len(strangers):
        raise ValueError(f"endog holds levels that are not in levels, found {list(strangers[:3])}; levels are {levels}")
    unseen = [level for k, level in enumerate(levels) if not (rank == k).any()]
    if unseen:
        raise ValueError(f"endog never takes the levels {unseen}; leave them out of levels "
                         "(or call cat.remove_unused_categories())")
    above = {f">{level}": (rank > k).astype(float).where(rank.notna()) for k, level in enumerate(levels[:-1])}
    return pd.DataFrame(above, index=column.index)


def _endog_frame(endog):
    if endog is None:
        raise TypeError("endog must be an array or a DataFrame of labels, found None")
    if isinstance(endog, pd.DataFrame):
        return endog, endog.index
    if isinstance(endog, pd.Series):
        return endog.to_frame("y" if endog.name is None else endog.name), endog.index
    if isinstance(endog, pd.Categorical):
        return pd.DataFrame({"y": endog}), None
    array = _label_array(endog)
    names = ["y"] if array.shape[1] == 1 else [f"y{k + 1}" for k in range(array.shape[1])]
    return pd.DataFrame(array, columns=names), None


def _label_array(endog):
    if not isinstance(endog, np.ndarray):
        try:
            # Through object, because numpy would turn a NaN among strings into the word "nan".
            endog = np.array(endog, dtype=object)
        except ValueError as error:
            raise ValueError(f"endog must be rectangular, with one label for each row and task: {error}") from None
    if endog.dtype == object and any(isinstance(value, (list, tuple, np.ndarray)) for value in endog.ravel()):
        raise ValueError("endog must be rectangular, with one label for each row and task; found rows of different "
                         "lengths; use NaN or None where a label is not observed")
    array = endog[:, None] if endog.ndim == 1 else endog
    if array.ndim != 2:
        raise ValueError(f"endog must be one column, or rows by tasks, found {endog.ndim} dimensions")
    return array


def _code_labels(column, task, shared):
    """Codes 0, 1 and NaN of one task, and its pair of labels (no, yes)."""
    _refuse_strange_types(column, task)
    missing = column.isna().to_numpy()
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = _category_pair(column, task)
    else:
        labels = _label_pair(column[~missing].tolist(), task, shared)
    return _codes(column, missing, labels), labels


def _codes(column, missing, labels):
    codes = np.full(len(column), np.nan)
    codes[~missing] = np.asarray(column[~missing] == labels[1], dtype=bool)
    return codes


def _code_known(column, task, labels):
    """Codes 0, 1 and NaN of a task whose pair of labels is known."""
    missing = column.isna().to_numpy()
    strangers = [value for value in pd.unique(column[~missing]) if value not in labels]
    if strangers:
        raise ValueError(f"endog must hold the labels of the fit, {labels[0]!r} and {labels[1]!r} in task {task!r}; "
                         f"found {strangers[:3]}")
    return _codes(column, missing, labels)


def _refuse_strange_types(column, task):
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        raise TypeError(f"endog must hold two labels for each task; task {task!r} holds dates; compare them with a "
                        "date to make a yes/no label")
    if pd.api.types.is_complex_dtype(column.dtype):
        raise TypeError(f"endog must hold two labels for each task; task {task!r} holds complex numbers; "
                        "use 0/1, -1/1, bool, or two words")


def _label_pair(values, task, shared):
    """The labels (no, yes) of plain values: numbers, booleans or words."""
    found = set(values)
    if all(isinstance(value, (bool, np.bool_)) for value in found) and found:
        return False, True
    if all(isinstance(value, Number) and not isinstance(value, complex) for value in found):
        return _number_pair(found, task)
    if all(isinstance(value, str) for value in found):
        return _word_pair(sorted(found), task, shared)
    kinds = sorted({type(value).__name__ for value in found})
    raise TypeError(f"endog must hold numbers, booleans or words; task {task!r} holds {' and '.join(kinds)}")


def _number_pair(found, task):
    for pair in ((0, 1), (-1, 1)):
        if found <= set(pair):
            return pair
    examples = sorted(float(value) for value in found)[:4]
    raise ValueError(f"endog must hold 0/1 or -1/1 (NaN where not observed); task {task!r} holds "
                     f"{', '.join(f'{value:g}' for value in examples)}; recode it, or see FusedLogit.from_ordered for "
                     "an outcome with ordered levels")


def _word_pair(words, task, shared):
    if len(words) == 1 and shared is not None:
        words = shared
    if len(words) != 2:
        way_out = ("see FusedLogit.from_ordered for an outcome with ordered levels" if len(words) > 2 else
                   "use a categorical with both levels, so that yes and no can be told apart")
        raise ValueError(f"endog must hold two labels for each task; task {task!r} holds {words[:4]}; {way_out}")
    return tuple(words)


def _category_pair(column, task):
    levels = list(column.cat.categories)
    if len(levels) != 2:
        seen = set(column.dropna())
        levels = [level for level in levels if level in seen]
    if len(levels) != 2:
        raise ValueError(f"endog must hold two labels for each task; task {task!r} has the levels {levels[:4]}; "
                         "see FusedLogit.from_ordered for an outcome with ordered levels")
    return tuple(level.item() if isinstance(level, np.generic) else level for level in levels)


def _shared_words(columns):
    """The two words of all tasks together, if they are two: they tell yes from no where a task has only one."""
    words = set()
    for column in columns:
        if not isinstance(column.dtype, pd.CategoricalDtype):
            words.update(value for value in column.dropna().tolist() if isinstance(value, str))
    return sorted(words) if len(words) == 2 else None


def _refuse_unobserved(Y, names):
    empty = [name for name, column in zip(names, Y.T) if np.isnan(column).all()]
    if len(empty) == len(names):
        raise ValueError("endog has no observed label: every value is missing")
    if empty:
        raise ValueError(f"endog must have an observed label in every task; all are missing in {empty}; "
                         "drop these tasks")


def _one_column(endog):
    if isinstance(endog, pd.DataFrame) or np.ndim(endog) != 1:
        raise ValueError(f"endog must be one column of ordered levels, found shape {np.shape(endog)}")
    return endog


def _ordered_levels(column, levels):
    if levels is None and isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        levels = list(column.cat.categories)
    elif levels is None:
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError("levels is needed, lowest first, unless endog is numeric or an ordered categorical; "
                             f"found {list(pd.unique(column.dropna()))[:4]}")
        levels = sorted(pd.unique(column.dropna()).tolist())
    levels = list(levels)
    _refuse_duplicates("levels", levels)
    if len(levels) < 2:
        raise ValueError(f"endog must have at least two ordered levels, found {levels}")
    return [int(level) if isinstance(level, float) and level.is_integer() else level for level in levels]


# ---- designs --------------------------------------------------------------------------------------------------------

def read_exog(exog):
    """Design of any of the accepted kinds as ``Design``; a column of ones is taken out as the intercept."""
    X, names, index = _exog_array(exog)
    ones = np.flatnonzero((X == 1.0).all(axis=0))
    if ones.size > 1:
        raise ValueError(f"exog has {ones.size} constant columns of ones, {_named(names, ones)}; one is the intercept, "
                         "drop the others")
    constant = int(ones[0]) if ones.size else None
    features = [j for j in range(X.shape[1]) if j != constant]
    if not features:
        raise ValueError("exog must have at least one feature besides the constant column, found none")
    return Design(X[:, features] if ones.size else X, _intercept_first(names, constant, features), constant, index)


def read_new_exog(exog, names, constant):
    """Features of new rows in the model's order, (X, index); frames by name, arrays by position.

    Parameters
    ----------
    exog : DataFrame or array_like, shape (n, d), or (n, 1 + d) with the constant where it was in the fit
    names : list
        Names of the features.
    constant : int or None
    """
    if isinstance(exog, pd.DataFrame):
        absent = [name for name in names if name not in exog.columns]
        if absent:
            raise ValueError(f"exog must have a column for each feature of the model; missing are {absent[:4]}"
                             f"{f' and {len(absent) - 4} more' if len(absent) > 4 else ''}")
        exog = exog[names]
    X, _, index = _exog_array(exog)
    if constant is not None and X.shape[1] == len(names) + 1:
        if (X[:, constant] != 1).any():
            raise ValueError(f"exog must have the column of ones at position {constant}, as in the fit")
        X = np.delete(X, constant, axis=1)
    if X.shape[1] != len(names):
        raise ValueError(f"exog must have the {len(names)} features of the model as columns, "
                         f"found {X.shape[1]} columns")
    return X, index


def _exog_array(exog):
    if hasattr(exog, "tocsr"):
        raise TypeError("exog must be dense: a numpy array or a DataFrame of numbers is supported, found a sparse "
                        "matrix; use exog.toarray()")
    if exog is None:
        raise TypeError("exog must be an array or a DataFrame of numbers, found None")
    if not isinstance(exog, (pd.DataFrame, pd.Series)):
        exog = _rectangular("exog", exog)
    if exog.ndim == 1:
        way_out = "exog.to_frame()" if isinstance(exog, pd.Series) else "exog.reshape(-1, 1)"
        raise ValueError(f"exog must have rows and columns, found one dimension; for a single feature use {way_out}")
    if isinstance(exog, pd.DataFrame):
        _refuse_duplicates("exog", list(exog.columns))
        _refuse_text_columns(exog)
        return numbers("exog", exog), list(exog.columns), exog.index
    return numbers("exog", exog), None, None


def _rectangular(name, values):
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be rectangular, with as many numbers in every row; found rows of different "
                         "lengths") from None


def numbers(name, values):
    """A finite matrix of floats, shape (rows, columns)."""
    framed = isinstance(values, pd.DataFrame)
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise TypeError("found complex numbers")
        array = values.to_numpy(dtype=float, na_value=np.nan) if framed else array.astype(float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a matrix of numbers: {error}") from None
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have rows and columns, found shape {array.shape}")
    bad = ~np.isfinite(array)
    if bad.any():
        columns = _named(list(values.columns) if framed else None, np.flatnonzero(bad.any(axis=0)))
        raise ValueError(f"{name} must be finite, found nan or inf in {int(bad.any(axis=1).sum())} rows, {columns}; "
                         "drop these rows or impute")
    return array


def _refuse_text_columns(frame):
    def is_number(dtype):
        return pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)

    text = [name for name, dtype in zip(frame.columns, frame.dtypes)
            if isinstance(dtype, pd.CategoricalDtype) or not (is_number(dtype) or dtype == object)]
    text += [name for name, dtype in zip(frame.columns, frame.dtypes) if dtype == object and _holds_text(frame[name])]
    if text:
        raise TypeError(f"exog must hold numbers; columns {text[:4]} do not; code them with pandas.get_dummies, "
                        "or use FusedLogit.from_formula with C(...)")


def _holds_text(column):
    return any(not isinstance(value, Real) for value in column[column.notna()])


def _intercept_first(names, constant, features):
    """Name of the intercept, then names of the features; const, x1, x2, ... where the user gave none."""
    if names is None:
        return ["const", *(f"x{j + 1}" for j in range(len(features)))]
    intercept = "const" if constant is None else names[constant]
    others = [names[j] for j in features]
    if intercept in others:
        raise ValueError(f"exog has a column named {intercept!r} that is not a column of ones; that is the name of the "
                         "intercept, which the model adds itself: rename the column")
    return [intercept, *others]


def _named(names, positions):
    shown = [repr(names[j]) if names else str(j) for j in positions[:4]]
    return f"columns {', '.join(shown)}" + (", ..." if len(positions) > 4 else "")


def _refuse_duplicates(argument, names):
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{argument} must not repeat a name, found {repeated[:4]} more than once; rename or drop")


# ---- numbers beside the data ----------------------------------------------------------------------------------------

def check_index(index, other, argument, reference="endog"):
    """Refuse rows of two pandas objects that do not carry the same labels in the same order."""
    if index is None or other is None or index.equals(other):
        return
    if len(index) == len(other) and index.isin(other).all():
        found = "the same labels in another order"
        way_out = f"use {argument}.loc[{reference}.index]"
    else:
        found = f"{len(other)} and {len(index)} rows" if len(index) != len(other) else "other labels"
        way_out = f"align them, or hand in {argument}.to_numpy() if the order is right"
    raise ValueError(f"{argument} must have the index of {reference}, found {found}; {way_out}")


def aligned(argument, values, index, tasks):
    """Weights or offsets as an array in the order of rows and tasks; None stays None."""
    if isinstance(values, (pd.Series, pd.DataFrame)):
        check_index(values.index, index, argument)
    if isinstance(values, pd.DataFrame):
        if set(values.columns) != set(tasks):
            raise ValueError(f"{argument} as a DataFrame must have the tasks {tasks} as columns, found "
                             f"{list(values.columns)}")
        values = values[tasks]
    return values


def new_offset(offset, shape, index, tasks):
    """Offsets of new rows, shape (n, t); zeros where None."""
    if offset is None:
        return np.zeros(shape)
    array = np.asarray(aligned("offset", offset, index, tasks), dtype=float)
    array = array[:, None] if array.shape == shape[:1] else array
    if array.ndim != 2 or array.shape not in (shape, (shape[0], 1)):
        raise ValueError(f"offset must have shape {shape[:1]} or {shape}, found {np.shape(offset)}")
    if not np.isfinite(array).all():
        raise ValueError("offset must be finite, found nan or inf")
    return np.broadcast_to(array, shape)


def factors_by_name(factors, features):
    """Penalty factors as an array; features that a Series leaves out keep the factor 1."""
    if not isinstance(factors, (pd.Series, Mapping)):
        return factors
    given = _by_name("penalty_factors", factors, features)
    return np.array([given.get(name, 1.0) for name in features])


def penalty_by_name(argument, value, names, needs_intercept):
    """A penalty as a number or as an array, intercept first; names that a Series leaves out are an error.

    Only a penalty that does not need the intercept may leave it out, and has 0 there.
    """
    if value is None:
        raise TypeError(f"{argument} must be a number, a vector or a Series, found None; use 0 for no penalty")
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{argument} must be a number, a vector or a Series, found {value!r}")
    if not isinstance(value, (pd.Series, Mapping)):
        return value
    given = _by_name(argument, value, names)
    if not needs_intercept:
        given.setdefault(names[0], 0.0)
    absent = [name for name in names if name not in given]
    if absent:
        raise ValueError(f"{argument} by name must name every feature{' and the intercept' * needs_intercept}; "
                         f"missing are {absent[:4]}")
    return [given[name] for name in names]


def _by_name(argument, values, names):
    given = dict(values)
    if len(given) != len(values):
        raise ValueError(f"{argument} must not repeat a name")
    strangers = [name for name in given if name not in names]
    if strangers:
        raise ValueError(f"{argument} names features that the model does not have, found {strangers[:4]}; "
                         f"it has {names[:6]}{' ...' * (len(names) > 6)}")
    return given


def check_tol(tol):
    """Refuse a tolerance that is not a number between 0 and 1."""
    if isinstance(tol, bool) or not isinstance(tol, Real):
        raise TypeError(f"tol must be a number, found {tol!r}; it is a relative duality gap such as 1e-6")
    if not 0 < tol < 1:
        raise ValueError(f"tol must lie between 0 and 1, found {tol:g}; it is a relative duality gap such as 1e-6")


def check_max_iter(max_iter):
    """Refuse a limit that is neither None nor a positive whole number."""
    if max_iter is None:
        return
    if isinstance(max_iter, bool) or not isinstance(max_iter, Integral):
        raise TypeError(f"max_iter must be a whole number or None, found {max_iter!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, found {max_iter}; None takes the solver's own limit")
