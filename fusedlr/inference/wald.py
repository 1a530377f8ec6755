"""Normal quantiles, intervals, and Wald tests of linear hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import checks

if TYPE_CHECKING:
    from statsmodels.stats.contrast import ContrastResults

__all__ = ["chi2_test", "intervals", "normal_quantile", "pairs", "side_by_side", "two_sided", "z_tests"]


def normal_quantile(alpha: float) -> float:
    """The number that a standard normal exceeds with probability alpha / 2."""
    from scipy.stats import norm

    return float(norm.isf(checks.tolerance("alpha", alpha) / 2))


def two_sided(z: np.ndarray) -> np.ndarray:
    """Two-sided p-values of standard normal statistics, same shape."""
    from scipy.stats import norm

    return 2 * norm.sf(np.abs(z))


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
    error = np.sqrt(np.diag(_spread(contrasts, cov)))
    return ContrastResults(effect=effect, statistic=(effect - wanted) / error, sd=error, distribution="norm")


def chi2_test(contrasts: np.ndarray, wanted: np.ndarray, values: np.ndarray, cov: np.ndarray) -> ContrastResults:
    """A test of all rows of ``contrasts @ values = wanted`` at once; arguments as for ``z_tests``."""
    from statsmodels.stats.contrast import ContrastResults

    distance, spread = contrasts @ values - wanted, _spread(contrasts, cov)
    if np.isnan(spread).any():
        return ContrastResults(statistic=np.nan, df_denom=len(wanted), distribution="chi2")
    if np.linalg.matrix_rank(contrasts) < len(contrasts):
        raise ValueError(f"hypotheses must not follow from each other, found {len(contrasts)}, of which only "
                         f"{np.linalg.matrix_rank(contrasts)} are independent; leave the others out")
    statistic = float(distance @ np.linalg.solve(spread, distance))
    return ContrastResults(statistic=statistic, df_denom=len(wanted), distribution="chi2")


def _spread(contrasts, cov):
    """Covariance of the contrasts; NaN only where a value takes part that has no variance."""
    used = (contrasts != 0).astype(float)
    vague = (used @ np.isnan(cov) @ used.T) > 0
    return np.where(vague, np.nan, contrasts @ np.nan_to_num(cov) @ contrasts.T)
