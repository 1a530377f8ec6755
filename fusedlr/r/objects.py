"""R objects both ways: a fit as an R list; an R data.frame, matrix, table or time series as a pandas DataFrame.

Factors are passed as codes and levels, and rebuilt as a Categorical in pandas or as a
factor in R.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fusedlr.r import session

if TYPE_CHECKING:
    from fusedlr.fit import Result

__all__ = ["from_r", "to_r"]

_FRAME_FROM_R = """
function(frame) {
    if (inherits(frame, "table")) frame <- as.data.frame(frame, stringsAsFactors = TRUE)
    else if (inherits(frame, "ts")) {
        values <- if (is.matrix(frame)) frame else matrix(frame, dimnames = list(NULL, "value"))
        frame <- data.frame(time = as.numeric(stats::time(frame)), unclass(values)[, , drop = FALSE],
                            check.names = FALSE)
    }
    else if (is.matrix(frame) && is.atomic(frame)) frame <- as.data.frame(frame, stringsAsFactors = FALSE)
    if (!inherits(frame, "data.frame"))
        stop("a data.frame, matrix, table or ts is needed, found an object of class ", class(frame)[1L])
    if (any(vapply(frame, inherits, NA, "haven_labelled")))
        stop("a column of class haven_labelled has words beside its numbers; choose by haven::as_factor() or ",
             "haven::zap_labels() first")
    rows <- if (.row_names_info(frame) > 0L) enc2utf8(row.names(frame))
    n <- nrow(frame)
    split <- function(v, name) {  # a matrix is its columns
        if (length(dim(v)) != 2L) return(structure(list(v), names = name))
        endings <- if (is.null(colnames(v))) seq_len(ncol(v)) else colnames(v)
        structure(lapply(seq_len(ncol(v)), function(k) v[, k, drop = TRUE]), names = paste(name, endings, sep = "."))
    }
    frame <- do.call(c, unname(Map(split, as.list(frame), enc2utf8(as.character(names(frame))))))
    column <- function(v) {
        if (is.factor(v)) {
            known <- levels(v)[!is.na(levels(v))]  # NA as a level is a missing value like any other
            v <- factor(v, known, exclude = NA)
            list(kind = "factor", values = as.integer(v), levels = enc2utf8(levels(v)), ordered = is.ordered(v))
        }
        else if (is.character(v)) list(kind = "character", values = enc2utf8(v))
        else if (inherits(v, c("Date", "POSIXt"))) list(kind = "time", values = as.numeric(as.POSIXct(v)))
        else if (is.logical(v)) list(kind = "logical", values = v)
        else if (is.numeric(v) && !inherits(v, "integer64")) list(kind = "number", values = as.vector(v))
        else stop("a column of class ", class(v)[1L], " cannot be taken; turn it into numbers or strings first")
    }
    list(names = as.character(names(frame)), columns = unname(lapply(frame, column)), rows = rows, n = n)
}
"""

_FRAME_TO_R = """
function(names, columns, rows) {
    values <- lapply(columns, function(column) {
        value <- as.vector(column$values)
        value <- replace(value, is.na(value), NA)
        switch(column$kind, factor = factor(column$levels[value], column$levels, ordered = column$ordered),
               logical = as.logical(value), time = as.POSIXct(value, origin = "1970-01-01", tz = "UTC"), value)
    })
    names(values) <- names
    structure(values, class = "data.frame", row.names = if (is.integer(rows)) .set_row_names(length(rows)) else rows)
}
"""


_BY_NAME = """function(name) {
    parts <- strsplit(name, "::", fixed = TRUE)[[1]]
    if (length(parts) != 2) return(get(name, envir = globalenv()))
    box <- new.env()  # data of packages that do not load them lazily, such as AER, are no values of their namespace
    tryCatch(getExportedValue(parts[1], parts[2]), error = function(problem) {
        suppressWarnings(utils::data(list = parts[2], package = parts[1], envir = box))
        if (exists(parts[2], box, inherits = FALSE)) get(parts[2], box) else stop(problem)
    })
}"""


def from_r(data_frame: Any) -> pd.DataFrame:
    """An R data.frame, matrix, contingency table or time series as a pandas DataFrame.

    Parameters
    ----------
    data_frame : rpy2 object or str
        An object of rpy2, or the name of one that R can see (``"infert"``,
        or ``"survival::rotterdam"`` of a package that is installed but not attached).

    Returns
    -------
    DataFrame
        Factors as categories with their levels in R's order, NA as missing (as a level,
        too), dates and times as UTC timestamps, a matrix column as its columns. Row names become
        the index unless they only count. A table has one row a cell, its count in ``Freq``, as
        ``weights``; a time series its ``time`` and its columns (``value`` where it has one).
        Ready for ``FusedLogit(frame[outcomes], frame[features])`` and
        ``FusedLogit.from_formula(formula, frame)``; two-level
        factors are outcomes as they are.

    Examples
    --------
    >>> from fusedlr.r import from_r
    >>> from_r("women").head(2)
       height  weight
    0    58.0   115.0
    1    59.0   117.0
    """
    if not isinstance(data_frame, str) and not hasattr(data_frame, "__sexp__"):
        raise TypeError("data_frame must be a data.frame, matrix, table or ts of rpy2 or the name of one, found "
                        f"{type(data_frame).__name__}")
    if isinstance(data_frame, str):
        data_frame = session.call_raw(_BY_NAME, name=data_frame)
    parts = session.call(_FRAME_FROM_R, frame=data_frame)
    index = pd.RangeIndex(int(parts["n"][0])) if parts["rows"] is None else pd.Index(parts["rows"])
    columns = [pd.Series(_column_from_r(column), index=index, name=name)
               for name, column in zip(parts["names"], parts["columns"])]
    return pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)


def to_r(results: Result | pd.DataFrame) -> Any:
    """A fit, a grid, a choice of penalties, a refit, a bootstrap, a stability selection or a DataFrame as an R object.

    Lists of data.frames, arrays, numbers and words: plain objects of R, which need no package there
    and are no fits of the R package. Fit in R for these; the numbers are the same.

    Parameters
    ----------
    results : FusedLogitResults, Grid, CVResults, RefitResults, BootstrapResults, StabilityResults or DataFrame

    Returns
    -------
    rpy2.robjects.ListVector or DataFrame
        Of a fit, a list of ``coefficients`` (data.frame, one row a term and one column
        a task, the intercept first), ``tasks`` (data.frame: observed labels, positives,
        log-likelihood), ``edges`` (data.frame: neighbours and weights), ``penalties``
        (data.frame: l1, l2, fusion of every term, as they act on its coefficients) and
        ``fit`` (list: objective, gap, status, converged, iterations, method, nobs, llf,
        df, aic, bic). Of a grid, its
        ``table`` and ``coefficients``, an array (points, terms, tasks). Of a choice of
        penalties, its ``table``, the ``chosen`` row (from 1) and that ``fit``. Of a refit,
        its ``table`` (one row for each estimated value) and ``coefficients``. Of a
        bootstrap, ``coefficients`` of the fit, their ``errors``, the ``selected`` and
        ``tied`` shares, and the ``samples``, an array (resamples, terms, tasks). Of a
        stability selection, the ``stable`` set, its ``threshold`` and the ``multiple`` of the
        penalty, the ``selected`` and ``changed`` shares, and the ``samples``.

    Examples
    --------
    >>> from fusedlr import datasets
    >>> from fusedlr.r import from_r, to_r
    >>> _, X = datasets.weeks()
    >>> from_r(to_r(X)).equals(X)
    True
    """
    make = next((_MAKERS[kind] for kind in _class_names(results) if kind in _MAKERS), None)
    if make is None:
        raise TypeError("results must be a fit, Grid, CVResults, RefitResults, BootstrapResults, StabilityResults or "
                        f"DataFrame, found {type(results).__name__}")
    vectors = _robjects().vectors
    if isinstance(results, pd.DataFrame):
        return vectors.DataFrame(make(results))
    return vectors.ListVector(_list(make(results)))


def _robjects():
    """rpy2's high-level module; its import takes over Ctrl-C, which is handed back."""
    session.call("function() NULL")
    handler = signal.getsignal(signal.SIGINT)
    try:
        from rpy2 import robjects
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
    return robjects


def _class_names(results):
    return [kind.__name__ for kind in type(results).__mro__]


def _list(parts):
    return session.call_raw("function(...) list(...)", **parts)


def _column_from_r(column):
    kind, values = column["kind"][0], column["values"]
    if kind == "factor":
        codes = np.where(np.isnan(values), 0, values).astype(int) - 1
        return pd.Categorical.from_codes(codes, categories=column["levels"], ordered=bool(column["ordered"][0]))
    if kind == "time":
        return pd.to_datetime(values, unit="s")
    return np.array(values, dtype=object) if kind == "character" else values


def _frame_to_r(frame):
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
    columns = [_column_to_r(frame.iloc[:, k], name) for k, name in enumerate(names)]
    return session.call_raw(_FRAME_TO_R, names=names, columns={str(k): column for k, column in enumerate(columns)},
                            rows=_row_names(frame.index))


def _row_names(index):
    if isinstance(index, pd.RangeIndex):
        return np.arange(1, len(index) + 1, dtype=np.int32)
    rows = [" ".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in index]
    if len(set(rows)) < len(rows):
        repeated = next(row for row in rows if rows.count(row) > 1)
        raise ValueError(f"results: row names of R must differ, found {repeated!r} twice in the index; "
                         "use reset_index()")
    return rows


def _column_to_r(series, name):
    kinds = pd.api.types
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy(dtype=float) + 1
        levels = [str(level) for level in series.cat.categories]
        return {"kind": "factor", "values": np.where(codes == 0, np.nan, codes), "levels": levels,
                "ordered": bool(series.cat.ordered)}
    if kinds.is_datetime64_any_dtype(series.dtype):
        return {"kind": "time", "values": _seconds(series)}
    if kinds.is_complex_dtype(series.dtype) or kinds.is_timedelta64_dtype(series.dtype):
        raise TypeError(f"results: column {name!r} of type {series.dtype} cannot go to R; turn it into numbers first")
    if kinds.is_numeric_dtype(series.dtype):
        kind = "logical" if kinds.is_bool_dtype(series.dtype) else "number"
        return {"kind": kind, "values": _numbers(series)}
    words = [None if missing else str(value) for value, missing in zip(series, series.isna())]
    return {"kind": "character", "values": words}


def _seconds(series):
    """Times as seconds since 1970 in UTC, nan where missing."""
    start = pd.Timestamp(0, tz="UTC" if series.dt.tz is not None else None)
    return ((series - start) / pd.Timedelta(seconds=1)).to_numpy(dtype=float)


def _numbers(series):
    """A column of numbers as R would hold them: integers where they fit into 32 bits, nan where missing."""
    if series.isna().any() or pd.api.types.is_float_dtype(series.dtype):
        return series.to_numpy(float, na_value=np.nan)
    if not pd.api.types.is_bool_dtype(series.dtype) and not series.between(-(2**31) + 1, 2**31 - 1).all():
        return series.to_numpy(float)
    return series.to_numpy(np.int32)


def _tasks_table(results):
    return pd.DataFrame({"nobs": results.nobs_per_task, "positives": results.positives, "llf": results.llf_per_task})


def _edges_table(model):
    names = np.array(model.endog_names, dtype=object)
    edges = model.tasks.edges
    return pd.DataFrame({"from": names[edges[:, 0]], "to": names[edges[:, 1]], "weight": model.tasks.weights})


def _penalties_table(results):
    penalty = results.penalty_by_row
    table = {"l1": penalty.l1, "l2": penalty.l2, "fusion": penalty.fusion}
    return pd.DataFrame(table, index=results.model.exog_names)


def _fit_facts(results):
    names = ("objective", "gap", "status", "converged", "iterations", "method", "nobs", "llf", "df", "aic", "bic")
    return {name: getattr(results, name) for name in names}


def _fit_parts(results):
    return {
        "coefficients": _frame_to_r(results.params),
        "tasks": _frame_to_r(_tasks_table(results)),
        "edges": _frame_to_r(_edges_table(results.model)),
        "penalties": _frame_to_r(_penalties_table(results)),
        "fit": _fit_facts(results),
    }


def _grid_parts(grid):
    return {"table": _frame_to_r(grid.table), "coefficients": _named_array(grid.params, grid.model)}


def _cv_parts(found):
    return {"table": _frame_to_r(found.table), "chosen": found.chosen + 1, "rule": found.rule,
            "fit": _list(_fit_parts(found))}


def _refit_parts(refitted):
    table = refitted.table().rename_axis(index=["feature", "tasks"]).reset_index()
    facts = {name: getattr(refitted, name) for name in ("nobs", "llf", "df", "aic", "bic", "converged", "cov_type")}
    return {"table": _frame_to_r(table), "coefficients": _frame_to_r(refitted.params), "fit": facts}


def _bootstrap_parts(found):
    return {"coefficients": _frame_to_r(found.results.params), "errors": _frame_to_r(found.bse),
            "selected": _frame_to_r(found.selection_frequency), "tied": _frame_to_r(found.fusion_frequency),
            "samples": _named_array(found.samples, found.results.model)}


def _stability_parts(found):
    return {"stable": _frame_to_r(found.stable()), "threshold": found.threshold(), "multiple": found.multiple,
            "selected": _frame_to_r(found.selection_frequency), "changed": _frame_to_r(found.change_frequency),
            "samples": _named_array(found.samples, found.results.model)}


def _named_array(values, model):
    """Coefficients of many fits, an R array (fits, terms, tasks) with names."""
    source = """function(values, size, terms, tasks) array(values, size, list(NULL, terms, tasks))"""
    return session.call_raw(source, values=values.ravel(order="F"), size=np.array(values.shape, dtype=np.int32),
                            terms=list(map(str, model.exog_names)), tasks=list(map(str, model.endog_names)))


# By name, because the classes live in modules that are imported only when they are needed.
_MAKERS = {"DataFrame": _frame_to_r, "FusedLogitResults": _fit_parts, "Grid": _grid_parts, "CVResults": _cv_parts,
           "RefitResults": _refit_parts, "BootstrapResults": _bootstrap_parts, "StabilityResults": _stability_parts}
