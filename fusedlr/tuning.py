"""Choice of penalties: scores on held-out rows, where a grid should start and end, cross-validation."""

import numpy as np

__all__ = ["choose", "validation_error", "validation_logloss"]

METRICS = ("error", "logloss")

# Cells of one block of linear predictors, rows by tasks by points: 64 MB of floats.
_CELLS = 8_000_000


def validation_error(params, Y, X, offset=0.0, weights=None):
    """Share of wrong labels, for each of many fits of the same tasks.

    A linear predictor above 0 predicts yes, any other no.

    Parameters
    ----------
    params : array_like, shape (g, 1 + d, t)
        Coefficients of g fits, intercepts in row 0.
    Y : array_like, shape (n, t) or (n,)
        0, 1, or NaN where the label is not observed; those are left out.
    X : array_like, shape (n, d)
    offset : float or array_like, shape (n,) or (n, t)
    weights : array_like, shape (n,) or (n, t), optional
        A weight 2 counts an observation twice.

    Returns
    -------
    ndarray, shape (g,)
        NaN throughout if nothing is observed.
    """
    return _mean_score(_wrong, params, Y, X, offset, weights)


def validation_logloss(params, Y, X, offset=0.0, weights=None):
    """Mean negative log-likelihood of an observed label, for each of many fits of the same tasks.

    Parameters and return value are those of :func:`validation_error`.
    """
    return _mean_score(_minus_log_likelihood, params, Y, X, offset, weights)


def choose(table, error, logloss, metric="error"):
    """Position of the best point of a grid.

    The lowest ``metric`` wins. Points that are exactly equal in it are told apart by
    the other score, and points equal in both by their penalties: the larger l1, then
    the larger l2, then the larger fusion, so that of two equally good fits the more
    penalized one is taken.

    Parameters
    ----------
    table : DataFrame or mapping with l1, l2 and fusion of each point
    error, logloss : array_like, shape (g,), or function
        Scores of each point. A function is called with the positions of those points
        whose score is needed and returns theirs.
    metric : "error" or "logloss"

    Returns
    -------
    int
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be 'error' or 'logloss', found {metric!r}")
    first, second = (error, logloss) if metric == "error" else (logloss, error)
    keys = np.column_stack([np.asarray(table[name], dtype=float) for name in ("l1", "l2", "fusion")])
    left = _lowest(first, np.arange(len(keys)))
    if len(left) > 1:
        left = _lowest(second, left)
    return int(max(left, key=lambda i: tuple(keys[i])))


def _lowest(score, positions):
    values = np.asarray(score(positions) if callable(score) else np.asarray(score)[positions], dtype=float)
    if np.isnan(values).all():
        raise ValueError("no point has a score: no label of endog is observed in the held-out rows")
    return positions[values == np.nanmin(values)]


def _mean_score(score, params, Y, X, offset, weights):
    params, X = np.asarray(params, dtype=float), np.asarray(X, dtype=float)
    shape = (X.shape[0], params.shape[2])
    Y, offset = _spread(Y, shape), _spread(offset, shape)
    counts = np.where(np.isnan(Y), 0.0, 1.0 if weights is None else _spread(weights, shape))
    total = counts.sum()
    if total == 0:
        return np.full(len(params), np.nan)
    signs = np.where(Y == 1, 1.0, -1.0)
    size = max(1, _CELLS // (shape[0] * shape[1]))
    sums = [score(_linear_predictors(params[start:start + size], X, offset), signs, counts)
            for start in range(0, len(params), size)]
    return np.concatenate(sums) / total


def _spread(values, shape):
    array = np.asarray(values, dtype=float)
    return np.broadcast_to(array[:, None] if array.ndim == 1 else array, shape)


def _linear_predictors(params, X, offset):
    """Linear predictors of all fits by one matrix product, shape (n, g, t)."""
    g, rows, t = params.shape
    wide = np.ascontiguousarray(params[:, 1:].transpose(1, 0, 2)).reshape(rows - 1, g * t)
    return (X @ wide).reshape(-1, g, t) + params[:, 0] + offset[:, None]


def _wrong(linear, signs, counts):
    return np.einsum("igt,it->g", (linear > 0) != (signs > 0)[:, None], counts)


def _minus_log_likelihood(linear, signs, counts):
    return np.einsum("igt,it->g", np.logaddexp(0.0, -signs[:, None] * linear), counts)
