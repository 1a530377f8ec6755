"""R objects both ways: a fit as an R list, an R data.frame as a pandas DataFrame.

No factor crosses the bridge as such: R takes it apart into codes and levels, and pandas
puts it together as a Categorical, and the other way round.
"""

import signal

import numpy as np
import pandas as pd

from fusedlr.r import session

__all__ = ["from_r", "to_r"]

_FRAME_FROM_R = """
function(frame) {
    if (!inherits(frame, "data.frame")) stop("a data.frame is needed, found an object of class ", class(frame)[1L])
    rows <- if (.row_names_info(frame) > 0L) row.names(frame)
    frame <- data.frame(lapply(frame, function(v) if (is.matrix(v)) unclass(v) else v), row.names = NULL,
                        check.names = FALSE, stringsAsFactors = FALSE)
    column <- function(v) {
        if (is.factor(v)) list(kind = "factor", values = as.integer(v), levels = levels(v), ordered = is.ordered(v))
        else if (is.character(v)) list(kind = "character", values = v)
        else if (inherits(v, c("Date", "POSIXt"))) list(kind = "time", values = as.numeric(as.POSIXct(v)))
        else if (is.logical(v)) list(kind = "logical", values = v)
        else if (is.numeric(v) && !inherits(v, "integer64")) list(kind = "number", values = as.vector(v))
        else stop("a column of class ", class(v)[1L], " cannot be taken; turn it into numbers or strings first")
    }
    list(names = as.character(names(frame)), columns = unname(lapply(frame, column)),
         rows = rows, n = nrow(frame))
}
"""

_FRAME_TO_R = """
function(names, columns, rows) {
    values <- lapply(columns, function(column) {
        value <- as.vector(column$values)
        switch(column$kind, factor = factor(column$levels[value], column$levels, ordered = column$ordered),
               logical = as.logical(value), replace(value, is.na(value), NA))
    })
    names(values) <- names
    structure(values, class = "data.frame", row.names = rows)
}
"""


def from_r(data_frame):
    """An R data.frame as a pandas DataFrame.

    Parameters
    ----------
    data_frame : rpy2 object or str
        A data.frame of rpy2, or the name of one that R can see (``"infert"``).

    Returns
    -------
    DataFrame
        Factors as categories with their levels in R's order, NA as missing, dates and
        times as UTC timestamps, a matrix column as its columns. Row names become the
        index unless they only count. Ready for ``FusedLogit(frame[outcomes],
        frame[features])`` and ``FusedLogit.from_formula(formula, frame)``; two-level
        factors are outcomes as they are.
    """
    if isinstance(data_frame, str):
        data_frame = session.call_raw("function(name) get(name, envir = globalenv())", name=data_frame)
    parts = session.call(_FRAME_FROM_R, frame=data_frame)
    index = pd.RangeIndex(int(parts["n"][0])) if parts["rows"] is None else pd.Index(parts["rows"])
    columns = [pd.Series(_column_from_r(column), index=index, name=name)
               for name, column in zip(parts["names"], parts["columns"])]
    return pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)


def to_r(results):
    """A fit, or a DataFrame, as an object of R.

    Parameters
    ----------
    results : FusedLogitResults or DataFrame

    Returns
    -------
    rpy2.robjects.ListVector or DataFrame
        Of a fit, a list of ``coefficients`` (data.frame, one row a term and one column
        a task, the intercept first), ``tasks`` (data.frame: observed labels, positives,
        log-likelihood), ``edges`` (data.frame: neighbours and weights), ``penalties``
        (data.frame: l1, l2, fusion of every term) and ``fit`` (list: objective, gap,
        status, converged, iterations, method, nobs, llf, df, aic, bic).
    """
    vectors = _robjects().vectors
    if isinstance(results, pd.DataFrame):
        return vectors.DataFrame(_frame_to_r(results))
    parts = {
        "coefficients": _frame_to_r(results.params),
        "tasks": _frame_to_r(_tasks_table(results)),
        "edges": _frame_to_r(_edges_table(results.model)),
        "penalties": _frame_to_r(_penalties_table(results)),
        "fit": _fit_facts(results),
    }
    return vectors.ListVector(session.call_raw("function(...) list(...)", **parts))


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


def _column_from_r(column):
    kind, values = column["kind"][0], column["values"]
    if kind == "factor":
        codes = np.where(np.isnan(values), 0, values).astype(int) - 1
        return pd.Categorical.from_codes(codes, categories=column["levels"], ordered=bool(column["ordered"][0]))
    if kind == "time":
        return pd.to_datetime(values, unit="s")
    return values


def _frame_to_r(frame):
    rows = np.arange(1, len(frame) + 1) if isinstance(frame.index, pd.RangeIndex) else [str(row) for row in frame.index]
    columns = [_column_to_r(frame.iloc[:, k]) for k in range(frame.shape[1])]
    return session.call_raw(_FRAME_TO_R, names=[str(name) for name in frame.columns],
                            columns={str(k): column for k, column in enumerate(columns)},
                            rows=np.asarray(rows, dtype=np.int32) if isinstance(rows, np.ndarray) else rows)


def _column_to_r(series):
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy(dtype=float) + 1
        levels = [str(level) for level in series.cat.categories]
        return {"kind": "factor", "values": np.where(codes == 0, np.nan, codes), "levels": levels,
                "ordered": bool(series.cat.ordered)}
    if pd.api.types.is_numeric_dtype(series.dtype):
        kind = "logical" if pd.api.types.is_bool_dtype(series.dtype) else "number"
        return {"kind": kind, "values": _numbers(series)}
    words = [None if missing else str(value) for value, missing in zip(series, series.isna())]
    return {"kind": "character", "values": words}


def _numbers(series):
    """A column of numbers as R would hold them: whole numbers where they fit into 32 bits, nan where missing."""
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
    penalty = results.penalty
    table = {"l1": penalty.l1, "l2": penalty.l2, "fusion": penalty.fusion}
    return pd.DataFrame(table, index=results.model.exog_names)


def _fit_facts(results):
    names = ("objective", "gap", "status", "converged", "iterations", "method", "nobs", "llf", "df", "aic", "bic")
    return {name: getattr(results, name) for name in names}
