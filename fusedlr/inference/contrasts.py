"""Linear hypotheses as users write them, their Wald tests, and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..spec import Spec

if TYPE_CHECKING:
    from statsmodels.stats.contrast import ContrastResults

__all__ = ["chi2_test", "intervals", "is_singular", "normal_quantile", "pairs", "read_hypotheses", "side_by_side",
           "spread", "two_sided", "wald_pvalue", "wald_table", "z_tests"]


def normal_quantile(alpha: float) -> float:
    """Upper alpha / 2 quantile of the standard normal."""
    from scipy.stats import norm

    return float(norm.isf(checks.tolerance("alpha", alpha) / 2))


def two_sided(z: np.ndarray) -> np.ndarray:
    """Two-sided p-values of standard normal statistics, same shape."""
    from scipy.stats import norm

    return 2 * norm.sf(np.abs(z))


def wald_table(coef: np.ndarray, cov: np.ndarray, alpha: float, index: pd.MultiIndex) -> pd.DataFrame:
    """Estimates with their standard errors, statistics, p-values and intervals, from their covariance.

    What does not vary, such as the margin of a coefficient that is zero, has no statistic.
    """
    error = np.sqrt(np.diag(cov))
    half, z = normal_quantile(alpha) * error, np.full(len(error), np.nan)
    np.divide(coef, error, out=z, where=error > 0)
    return pd.DataFrame({"coef": coef, "std err": error, "z": z, "P>|z|": two_sided(z),
                         f"[{alpha / 2:.4g}": coef - half, f"{1 - alpha / 2:.4g}]": coef + half}, index)


def pairs(first: Iterable, second: Iterable, names: Sequence[str | None]) -> pd.MultiIndex:
    """An index of pairs in the order given. Their parts may be of any kinds: pandas itself would sort them."""
    levels, codes = [], []
    for values in (list(first), list(second)):
        distinct = {repr(value): value for value in values}
        place = {name: k for k, name in enumerate(distinct)}
        levels.append(pd.Index(list(distinct.values()), tupleize_cols=False))
        codes.append([place[repr(value)] for value in values])
    return pd.MultiIndex(levels, codes, names=names)


def side_by_side(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of the same rows and tasks as one: for each task a column (task, name) of every table."""
    first = next(iter(tables.values()))
    columns = pairs([task for task in first.columns for _ in tables], [*tables] * len(first.columns),
                    [first.columns.name, None])
    return pd.DataFrame(np.stack(list(tables.values()), axis=2).reshape(len(first), -1), first.index, columns)


def intervals(lower: pd.DataFrame, upper: pd.DataFrame) -> pd.DataFrame:
    """Both ends side by side, columns (task, "lower") and (task, "upper")."""
    return side_by_side({"lower": lower, "upper": upper})


def z_tests(contrasts: np.ndarray, wanted: np.ndarray, values: np.ndarray, cov: np.ndarray) -> ContrastResults:
    """A test of each row of ``contrasts @ values = wanted`` on its own, as statsmodels returns it.

    Parameters
    ----------
    contrasts : ndarray, shape (q, p)
    wanted : ndarray, shape (q,)
    values : ndarray, shape (p,)
    cov : ndarray, shape (p, p)
    """
    from statsmodels.stats.contrast import ContrastResults

    effect = contrasts @ values
    error = np.sqrt(np.diag(spread(contrasts, cov)))
    return ContrastResults(effect=effect, statistic=(effect - wanted) / error, sd=error, distribution="norm")


def chi2_test(contrasts: np.ndarray, wanted: np.ndarray, values: np.ndarray, cov: np.ndarray) -> ContrastResults:
    """A test of all rows of ``contrasts @ values = wanted`` at once; arguments as for ``z_tests``."""
    from statsmodels.stats.contrast import ContrastResults

    distance, variance = contrasts @ values - wanted, spread(contrasts, cov)
    if np.isnan(variance).any():
        return ContrastResults(statistic=np.nan, df_denom=len(wanted), distribution="chi2")
    if np.linalg.matrix_rank(contrasts) < len(contrasts):
        raise ValueError(f"hypotheses must not follow from each other, found {len(contrasts)}, of which only "
                         f"{np.linalg.matrix_rank(contrasts)} are independent; leave the others out")
    statistic = float(distance @ np.linalg.solve(variance, distance))
    return ContrastResults(statistic=statistic, df_denom=len(wanted), distribution="chi2")


def wald_pvalue(contrasts: np.ndarray, values: np.ndarray, cov: np.ndarray, units: float, rows: float,
                per_task: int) -> float:
    """p-value of ``contrasts @ values = 0`` with a sandwich covariance, corrected for small samples.

    The sandwich estimator is too small by a factor of about (units - 1) / units (rows - per_task) / (rows - 1)
    (CR1 of MacKinnon and White 1985, for clusters), with ``per_task`` values in each task. Its own variance makes
    the tail heavier: the statistic is referred to Hotelling's T-squared, a multiple of an F distribution. NaN
    without contrasts or standard errors, or where nothing is left to estimate the variance from.

    Parameters
    ----------
    contrasts, values, cov : as for ``z_tests``
    units, rows : float
        Number of clusters, and of rows in them.
    per_task : int
    """
    from scipy.stats import f

    variance, q = spread(contrasts, cov), len(contrasts)
    left = min(units - 1, rows - per_task)
    if not q or left < q or np.isnan(variance).any() or is_singular(variance):
        return np.nan
    effect = contrasts @ values
    statistic = float(effect @ np.linalg.solve(variance, effect))
    statistic *= (units - 1) / units * (rows - per_task) / (rows - 1)
    return float(f.sf(statistic * (left - q + 1) / (left * q), q, left - q + 1))


def is_singular(variance: np.ndarray) -> bool:
    """Whether a covariance is rank-deficient: fewer sampling units than contrasts."""
    size = np.sqrt(np.diag(variance))
    return bool(np.linalg.matrix_rank(variance / np.outer(size, size), hermitian=True) < len(variance))


def spread(contrasts: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """Covariance of contrasts (q, p), shape (q, q); NaN only where a value without variance enters."""
    used = (contrasts != 0).astype(float)
    vague = (used @ np.isnan(cov) @ used.T) > 0
    return np.where(vague, np.nan, contrasts @ np.nan_to_num(cov) @ contrasts.T)


# ---- hypotheses -----------------------------------------------------------------------------------------------------

def read_hypotheses(hypotheses: Any, value: Any, groups: pd.DataFrame, spec: Spec,
                    pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrix (q, p) and right side (q,) of hypotheses; see ``RefitResults.t_test``.

    Parameters
    ----------
    hypotheses, value : what the user gave
    groups : DataFrame, p rows
        Feature and tasks of each estimated value.
    spec : Spec
    pattern : ndarray of int, shape (1 + d, t)
    """
    if hypotheses is None:
        contrasts = np.eye(len(groups))
    elif _is_matrix(hypotheses):
        contrasts = np.atleast_2d(checks.finite("hypotheses", checks.array("hypotheses", hypotheses)))
    else:
        listed = hypotheses if isinstance(hypotheses, list) and hypotheses else [hypotheses]
        contrasts = np.eye(len(groups))[[k for one in listed for k in _values(one, groups, spec, pattern)]]
    if contrasts.ndim != 2 or contrasts.shape[1] != len(groups):
        raise ValueError(f"hypotheses must have a column for each of the {len(groups)} values of table(), found shape "
                         f"{contrasts.shape}")
    return contrasts, _right_side(value, len(contrasts))


def _is_matrix(hypotheses):
    if isinstance(hypotheses, list) and hypotheses:
        return isinstance(hypotheses[0], (list, float, np.ndarray))
    return isinstance(hypotheses, (np.ndarray, pd.DataFrame))


def _right_side(value, q):
    wanted = checks.finite("value", checks.array("value", value))
    if wanted.shape not in ((), (q,)):
        raise ValueError(f"value must be a number or {q} numbers, one for each hypothesis, found shape {wanted.shape}")
    return np.broadcast_to(wanted, (q,))


def _values(named, groups, spec, pattern):
    """Positions of the values that a feature, or a feature and a task, stands for."""
    features = spec.terms
    if _is_one_of(named, features):
        found = np.flatnonzero([feature == named for feature in groups["feature"]]).tolist()
    else:
        feature, tasks = _pair(named, features)
        same = [feature == other and tasks == label for other, label in zip(groups["feature"], groups["tasks"])]
        found = np.flatnonzero(same).tolist() or _in_task(feature, tasks, features, spec, pattern)
    if not found:
        raise ValueError(f"hypotheses: nothing was estimated for {named!r}, which the penalized fit set to zero; see "
                         "table() for the values that there are")
    return found


def _is_one_of(name, names):
    """Whether a name, of any type, is in a list."""
    try:
        return name in dict.fromkeys(names)
    except TypeError:
        return False


def _pair(named, features):
    if isinstance(named, tuple) and len(named) == 2 and _is_one_of(named[0], features):
        return named
    raise ValueError("hypotheses must name features, or pairs of feature and task, or be a matrix, found "
                     f"{checks.shown(named)}; features are {features[:5]}{' ...' if len(features) > 5 else ''}")


def _in_task(feature, task, features, spec, pattern):
    tasks = spec.tasks
    if not _is_one_of(task, tasks):
        raise ValueError(f"hypotheses: the task of {(feature, task)!r} must be one of {tasks}, or tasks as table() "
                         "writes them")
    value = pattern[features.index(feature), tasks.index(task)]
    return [int(value)] if value >= 0 else []
