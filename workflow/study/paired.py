"""Paired comparisons over the instances of a case: both models see the same data.

Tests run over the last axis of an array, so that those of many resamples are made at once. The test is Wilcoxon's
signed-rank test, two-sided; p-values are corrected by Holm's method over all comparisons of one table.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import stats

from study.cases import CASES
from study.models import MODELS

__all__ = ["FUSED", "SINGLE_TASK", "compare", "compare_distances", "holm", "interval_of", "paired_table", "signed_rank",
           "wide"]

FUSED = tuple(model.name for model in MODELS.values() if model.role == "fused")
SINGLE_TASK = tuple(model.name for model in MODELS.values() if model.role == "single-task")

#: Columns of a table of paired comparisons, which may have no rows.
PAIRED = ["case", "size", "model", "other", "instances", "gain", "low", "high", "median", "p"]
#: Number of differences beyond which the normal approximation replaces the exact null distribution, which takes long.
EXACT = 50
#: Errors are counts divided by a count: differences that are equal but for rounding are ties.
DECIMALS = 12


def compare(scores: pd.DataFrame) -> pd.DataFrame:
    """Paired differences in test error of both fused models to the others, by case and size.

    ``gain`` is the mean of (error of ``other`` - error of ``model``) with its 95 % t-interval ``low`` to ``high``.
    """
    errors = wide(scores, "test_error")
    present = [model for model in MODELS if model in errors]
    pairs = [(FUSED[0], other) for other in present if other != FUSED[0]]
    pairs += [(FUSED[1], other) for other in present if other in SINGLE_TASK]
    return paired_table(errors, [pair for pair in pairs if set(pair) <= set(present)])


def compare_distances(scores: pd.DataFrame) -> pd.DataFrame:
    """Paired differences of the elastic net to the fused elastic net in distance from the true zeros."""
    correlated = [case for case in scores["case"].unique() if CASES[case].correlated]
    apart = wide(scores[scores["case"].isin(correlated)], "distance_zero")
    return paired_table(apart, [(FUSED[0], "elastic_net")])


def wide(scores: pd.DataFrame, column: str) -> pd.DataFrame:
    """One column of the scores with a column for each model, by case, size and instance."""
    return scores.pivot(index=["case", "size", "instance"], columns="model", values=column)


def paired_table(values: pd.DataFrame, pairs: Sequence[tuple[str, ...]]) -> pd.DataFrame:
    """Gains of models over others (``pairs``), with intervals and tests; less of the ``values`` is better."""
    rows, gains = [], []
    for (case, size), cell in values.groupby(["case", "size"]):
        for model, other in pairs:
            gains.append(cell[other].to_numpy() - cell[model].to_numpy())
            rows.append({"case": case, "size": size, "model": model, "other": other, **interval_of(gains[-1])})
    table = pd.DataFrame(rows, columns=PAIRED)
    table["p"] = [signed_rank(gain) for gain in gains]
    table["p_holm"] = holm(table["p"])
    return table


def signed_rank(differences: np.ndarray) -> np.ndarray:
    """Two-sided p-values of Wilcoxon's signed-rank test over the last axis; 1 where nothing differs.

    Zero differences are left out; ties get midranks. Up to 50 differences the p-value is exact: the share of all sign
    patterns of these ranks whose statistic is as extreme, on either side.
    """
    differences = np.round(np.asarray(differences, dtype=float), DECIMALS)
    ranks = _doubled_ranks(np.abs(differences))
    positive, total = (ranks * (differences > 0)).sum(axis=-1), ranks.sum(axis=-1)
    extreme = np.minimum(positive, total - positive)
    if differences.shape[-1] > EXACT:
        spread = np.sqrt((ranks.astype(float) ** 2).sum(axis=-1)) / 2
        return np.where(total > 0, 2 * stats.norm.cdf((extreme - total / 2) / np.where(total > 0, spread, 1)), 1.0)
    shares = _shares(ranks.reshape(-1, ranks.shape[-1]), extreme.ravel())
    return np.minimum(1.0, 2 * shares).reshape(extreme.shape)


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """P-values adjusted for multiple testing by Holm's method, over the last axis."""
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, axis=-1, kind="stable")
    steps = np.take_along_axis(values, order, axis=-1) * np.arange(values.shape[-1], 0, -1)
    corrected = np.empty_like(values)
    np.put_along_axis(corrected, order, np.minimum(np.maximum.accumulate(steps, axis=-1), 1.0), axis=-1)
    return corrected


def _doubled_ranks(values):
    """Twice the ranks of the values that are not 0, which are integers even for midranks; 0 for those that are."""
    here, others = values[..., :, None], values[..., None, :]
    below = ((others < here) & (others > 0)).sum(axis=-1)
    return np.where(values > 0, below + ((others <= here) & (others > 0)).sum(axis=-1) + 1, 0)


def _shares(ranks, statistic):
    """Share of the sign patterns of each row of ranks (tests, n) whose positive ranks sum to at most its statistic.

    Patterns are counted rank by rank, all tests that have a rank at once; up to 50 ranks the counts are exact.
    """
    patterns = np.zeros((len(ranks), int(statistic.max(initial=0)) + 1))
    patterns[:, 0] = 1.0
    ordered = np.sort(ranks, axis=-1)
    for column in ordered.T:
        for rank in np.unique(column[column > 0]):
            tests = np.flatnonzero(column == rank)
            patterns[tests, rank:] += patterns[tests, :-rank]
    counts = np.cumsum(patterns, axis=-1)[np.arange(len(ranks)), statistic]
    return counts / 2.0 ** (ranks > 0).sum(axis=-1)


@lru_cache(maxsize=1000)
def _t_quantile(n):
    return stats.t.ppf(0.975, n - 1)


def interval_of(gain: np.ndarray) -> dict[str, float]:
    """Mean, its 95 % t-interval (nan for a single instance), median, and how many instances they are made of."""
    n, mean = len(gain), gain.mean()
    half = _t_quantile(n) * gain.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    return {"instances": n, "gain": mean, "low": mean - half, "high": mean + half, "median": np.median(gain)}
