"""The objective of fused elastic-net logistic regression, stated here and nowhere else.

With ``params`` B of shape (1 + d, t), intercepts in row 0, and linear predictor
eta = offset + [1, X] B, the objective is

    sum_ik weights_ik * log(1 + exp(-signs_ik * eta_ik))
    + sum_l l1_l * sum_k |B_lk|  +  sum_l l2_l / 2 * sum_k B_lk^2
    + sum_l fusion_l * sum_edges weight_jk * |B_lj - B_lk|

It is a sum over rows and tasks, not a mean. The intercept row carries no l1 and no
l2, but it is fused, unless a model leaves its intercepts free (``fusion[0]`` is 0). In
the paper's letters l1, l2 and fusion are lambda1, lambda2 and nu; glmnet's lambda is
(l1 + l2) / n.

Shapes, everywhere in this package: n rows, d features, t tasks; X is (n, d) without
a column of ones; anything per observation and task is (n, t); anything per
coefficient is (1 + d, t).
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["Data", "Penalty", "Solution", "gradient", "linear_predictor", "loss", "loss_derivatives", "objective",
           "penalty_value", "gap_scale"]


@dataclass(frozen=True)
class Data:
    """Design, labels, weights and offsets of one problem, checked and complete.

    Attributes
    ----------
    X : ndarray, shape (n, d)
    signs : ndarray, shape (n, t)
        +1 for yes, -1 for no. Where a label is not observed the sign is +1 and the
        weight 0, so nothing depends on it.
    weights, offset : ndarray, shape (n, t)
    """

    X: np.ndarray
    signs: np.ndarray
    weights: np.ndarray
    offset: np.ndarray

    @classmethod
    def from_arrays(cls, X, Y, weights=None, offset=None):
        """Check and complete arrays.

        Parameters
        ----------
        X : array_like, shape (n, d)
        Y : array_like, shape (n, t) or (n,)
            0, 1, or NaN where the label is not observed.
        weights, offset : array_like, shape (n,) or (n, t), optional
        """
        X = _checked_matrix("exog", X)
        Y = _checked_labels(Y, X.shape[0])
        weights = _per_observation("weights", weights, Y.shape, 1.0)
        if (weights < 0).any():
            raise ValueError(f"weights must not be negative, found {weights.min():g}")
        observed = ~np.isnan(Y)
        weights = np.where(observed, weights, 0.0)
        if not weights.any():
            raise ValueError("weights are all zero, or no label of endog is observed: nothing to fit")
        return cls(X, np.where(Y == 0, -1.0, 1.0), weights, _per_observation("offset", offset, Y.shape, 0.0))

    @property
    def n_rows(self):
        return self.X.shape[0]

    @property
    def n_features(self):
        return self.X.shape[1]

    @property
    def n_tasks(self):
        return self.signs.shape[1]


@dataclass(frozen=True)
class Penalty:
    """Penalties of every row of the coefficient matrix, intercept row first.

    Attributes
    ----------
    l1, l2, fusion : ndarray, shape (1 + d,)
        ``l1[0]`` and ``l2[0]`` are 0.
    """

    l1: np.ndarray
    l2: np.ndarray
    fusion: np.ndarray

    @classmethod
    def from_values(cls, l1, l2, fusion, n_features, penalty_factors=None):
        """Check numbers or vectors and spread them over the rows.

        Parameters
        ----------
        l1, l2, fusion : float or array_like, shape (1 + d,)
        n_features : int
        penalty_factors : array_like, shape (d,), optional
            Multiplies l1 and l2 of a feature; fusion is not touched.
        """
        rows = [_per_row(name, value, n_features) for name, value in (("l1", l1), ("l2", l2), ("fusion", fusion))]
        if penalty_factors is not None:
            factors = _checked_factors(penalty_factors, n_features)
            rows[0][1:] *= factors
            rows[1][1:] *= factors
        return cls(*rows)


@dataclass(frozen=True)
class Solution:
    """What a solver hands back.

    Attributes
    ----------
    params : ndarray, shape (1 + d, t)
    objective : float
    gap : float
        Relative duality gap by the solver's own account; ``optimality.certify`` is the referee.
    status : str
        "optimal", "separated" or "not_converged".
    iterations : int
    history : dict of str to ndarray
        Residuals by iteration, where the solver keeps them.
    """

    params: np.ndarray
    objective: float
    gap: float
    status: str
    iterations: int
    history: dict


def linear_predictor(data, params):
    """Offset plus intercept plus features times coefficients, shape (n, t)."""
    return data.offset + params[0] + data.X @ params[1:]


def loss(data, linear):
    """Weighted negative log-likelihood at a linear predictor; exact for margins of any size."""
    return float(np.sum(data.weights * np.logaddexp(0.0, -data.signs * linear)))


def loss_derivatives(data, linear):
    """First and second derivative of the loss in each linear predictor, both (n, t)."""
    margin = data.signs * linear
    small = np.exp(-np.abs(margin))
    miss = np.where(margin > 0, small, 1.0) / (1.0 + small)
    return -data.weights * data.signs * miss, data.weights * small / (1.0 + small) ** 2


def gradient(data, residual):
    """Gradient of the loss in the coefficients, shape (1 + d, t), from its first derivative."""
    return np.vstack([residual.sum(axis=0), data.X.T @ residual])


def penalty_value(params, penalty, tasks):
    """Value of the three penalties."""
    size = penalty.l1 @ np.abs(params).sum(axis=1) + 0.5 * penalty.l2 @ np.square(params).sum(axis=1)
    return float(size + penalty.fusion @ (np.abs(tasks.differences(params)) @ tasks.weights))


def objective(data, params, penalty, tasks):
    """Value of the objective."""
    return loss(data, linear_predictor(data, params)) + penalty_value(params, penalty, tasks)


def gap_scale(data, value):
    """What an absolute duality gap is divided by to make it relative.

    The objective itself; but at least a thousandth of the loss of all-zero
    coefficients, so that a fit whose objective tends to 0 can still be certified.
    """
    return max(value, 1e-3 * loss(data, data.offset))


def _checked_matrix(name, values):
    try:
        array = np.array(values, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a matrix of numbers: {error}") from None
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have rows and columns, found shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, found nan or inf in {int((~np.isfinite(array)).any(axis=1).sum())} rows; "
                         "drop or impute these rows")
    return array


def _checked_labels(Y, n_rows):
    Y = np.array(Y, dtype=float)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or 0 in Y.shape or Y.shape[0] != n_rows:
        raise ValueError(f"endog must have one row for each of the {n_rows} rows of exog, found shape {Y.shape}")
    strangers = np.setdiff1d(Y[~np.isnan(Y)], [0.0, 1.0])
    if strangers.size:
        raise ValueError(f"endog must hold 0, 1 or nan (not observed), found {strangers[:3].tolist()}")
    return Y


def _per_observation(name, values, shape, default):
    if values is None:
        return np.full(shape, default)
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold numbers, found {type(values).__name__}") from None
    if array.shape == shape[:1]:
        array = np.repeat(array[:, None], shape[1], axis=1)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape[:1]} or {shape}, found {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, found nan or inf")
    return np.ascontiguousarray(array)


def _per_row(name, value, n_features):
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or one number for each row of params, found {value!r}") from None
    if array.ndim == 0:
        array = np.full(1 + n_features, float(array))
        array[0] = 0.0 if name != "fusion" else array[0]
    if array.shape != (1 + n_features,):
        raise ValueError(f"{name} must be a number or {1 + n_features} numbers (const first), found shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name} must be finite and not negative, found {array[~(array >= 0) | ~np.isfinite(array)][0]:g}")
    if name != "fusion" and array[0] != 0:
        raise ValueError(f"{name} of const (the first number) must be 0: intercepts are not shrunk, found {array[0]:g}")
    return array


def _checked_factors(factors, n_features):
    try:
        array = np.array(factors, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"penalty_factors must hold numbers, found {factors!r}") from None
    if array.shape != (n_features,):
        raise ValueError(f"penalty_factors must hold one number for each of {n_features} features, found shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"penalty_factors must be finite and not negative, found {array.min():g}")
    return array
