"""Multi-split p-values, valid after selection, also with more features than rows.

One half selects, the other tests what was selected, without ties; the p-values of many splits
are aggregated by their quantiles (Meinshausen, Meier and Buhlmann 2009). No row selects and tests
in the same split, so selection does not bias the tests. The assumption is screening: half of the
rows select every feature that has an effect.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from .. import checks
from ..adaptive import adapted
from ..constrained_fit import clustered_cov, fit_pattern, pattern_of
from ..io import NONE, WHOLE, Array, Plain, either, registered, saved, word
from ..parallel import run
from ..problem import Groups, Problem
from ..resampling import halves, number_of_units, seed_of, streams
from ..solver import solve_exactly
from .changes import against_first, released
from .contrasts import wald_pvalue
from .resampled import OfFit, penalties_of

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

    from ..results import FusedLogitResults

__all__ = ["ErrorRate", "MultiSplitResults", "Question", "multisplit", "quantile_pvalues"]

ErrorRate = Literal["fwer", "fdr"]
Question = Literal["features", "changes"]

LEAST_QUANTILE = 0.05


def multisplit(results: FusedLogitResults, n: int = 50, error: ErrorRate = "fwer", rng: Any = 0,
               what: Question = "features", n_jobs: int | None = None, progress: bool = True,
               executor: Executor | None = None) -> MultiSplitResults:
    """p-values of many splits; arguments as for ``FusedLogitResults.multisplit``."""
    n = checks.whole("n", n, 1, 10**7, way_out="it is a number of splits")
    error, what = checks.word("error", error, get_args(ErrorRate)), checks.word("what", what, get_args(Question))
    rng, problem = checks.rng(rng), results.model.with_data()
    if number_of_units(problem.groups) < 4:
        raise ValueError(f"multisplit needs four rows or groups at least, found {problem.groups.size:g}")
    terms = list(results.model.spec.rows_of_terms.values())
    work = partial(_split, problem, penalties_of(results), results.solution.params, terms, what)
    pvalues = np.array(run(work, streams(rng, n), n_jobs, progress, "multisplit", executor))
    return MultiSplitResults(results, pvalues, error, what, seed_of(rng))


def _split(problem: Problem, penalties: list, start: np.ndarray, terms: list, what: Question,
           seeds: np.random.SeedSequence) -> np.ndarray:
    """Bonferroni-corrected p-value of each term selected in one split; 1 for the others."""
    first, second = halves(problem.groups, np.random.default_rng(seeds))
    half = adapted(problem.reweighted(2.0 * first))
    params = solve_exactly(half, half.penalty(*penalties), start=start).params
    pattern, other = released(pattern_of(params, problem.tasks), terms), _half(problem, second)
    fit = fit_pattern(other, pattern)
    cov, pairs = clustered_cov(other, fit), against_first(problem.tasks.components())
    size, per_task = float(number_of_units(problem.groups) // 2), int((pattern[:, 0] >= 0).sum())
    found = [pattern[rows][pattern[rows, 0] >= 0] for rows in terms]
    pvalues = np.array([wald_pvalue(_contrasts(numbers, len(fit.values), pairs, what), fit.values, cov, size, size,
                                    per_task) for numbers in found])
    selected = sum(len(numbers) > 0 for numbers in found)
    return np.where(np.isnan(pvalues), 1.0, np.minimum(pvalues * selected, 1.0))


def _half(problem: Problem, times: np.ndarray) -> Problem:
    """The problem of one half; a row of weight 2 of which one is in it counts once."""
    half, groups = problem.reweighted(times), problem.groups
    return replace(half, groups=Groups.rows(half.labels, half.n_rows)) if groups.are_rows else half


def _contrasts(numbers: np.ndarray, p: int, pairs: np.ndarray, what: Question) -> np.ndarray:
    """Values of some rows in every task, or the second of each pair of tasks less the first, shape (q, p)."""
    unit = np.eye(p)
    if what == "features":
        return unit[numbers.ravel()]
    return unit[numbers[:, pairs[:, 1]].ravel()] - unit[numbers[:, pairs[:, 0]].ravel()]


def quantile_pvalues(pvalues: np.ndarray, least: float = LEAST_QUANTILE) -> np.ndarray:
    """Aggregate the p-values of many splits by the best quantile from ``least`` on, corrected for the search.

    Parameters
    ----------
    pvalues : ndarray, shape (splits, k)
    least : float

    Returns
    -------
    ndarray, shape (k,)
        min(1, (1 - log least) min over g in (least, 1) of the g-quantile of p / g), after equations
        2.2 and 2.3 of Meinshausen, Meier and Buhlmann (2009).
    """
    n = len(pvalues)
    # The quantile is a step function of g, largest at the right end of each step, where p / g is least.
    shares = np.arange(1, n + 1) / n
    allowed = shares > least
    ratios = np.sort(pvalues, axis=0)[allowed] / shares[allowed, None]
    return np.minimum((1 - np.log(least)) * ratios.min(axis=0), 1.0)


def _false_discovery(pvalues: np.ndarray) -> np.ndarray:
    """Bonferroni-corrected p-values adjusted to control the false discovery rate.

    Benjamini and Yekutieli (2001), with i in place of i / k, because of the earlier Bonferroni correction: rejecting
    up to the largest i whose p-value is at most i q keeps the rate below q times the sum of 1 / i up to k, however
    p-values depend on each other (Meinshausen, Meier and Buhlmann 2009, section 3.3). A p-value of 1 is never rejected.
    """
    order = np.argsort(pvalues, kind="stable")
    place = np.arange(1, len(pvalues) + 1)
    steps = np.where(pvalues[order] < 1, pvalues[order] / place * np.sum(1 / place), np.inf)
    adjusted = np.empty(len(pvalues))
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


@registered("multisplit")
@dataclass(eq=False, repr=False)
class MultiSplitResults(OfFit):
    """Multi-split p-values.

    Attributes
    ----------
    results : FusedLogitResults
        The fit on all rows, whose penalties select in the halves.
    splits : ndarray, shape (n, terms)
        Bonferroni-corrected p-values of each split; 1 where a term was not selected.
    error : str
        "fwer" or "fdr": the error rate controlled.
    what : str
        "features" (has it an effect in any task?) or "changes" (has it different effects?).
    seed : int or None
        What ``rng`` was, where it was a number.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> splits = fit.multisplit(20, rng=1)
    >>> splits
    <MultiSplitResults: 20 splits, features, fwer>
    """

    splits: np.ndarray = saved(Array(("r", "terms"), least=0, most=1))
    error: str = saved(Plain(word(*get_args(ErrorRate))))
    what: str = saved(Plain(word(*get_args(Question))))
    seed: int | None = saved(Plain(either(NONE, WHOLE)))

    def check_loaded(self) -> None:
        """Refuse p-values of a file that are not of the model's terms."""
        if self.splits.shape[1] != len(self._terms) or not len(self.splits):
            raise ValueError(f"splits must have rows, and {len(self._terms)} columns, found {self.splits.shape}")

    @property
    def _terms(self) -> list:
        return list(self.model.spec.rows_of_terms)

    @property
    def pvalues(self) -> pd.Series:
        """p-value of each feature, or term of a formula, corrected for multiple testing, Series (terms,)."""
        joined = quantile_pvalues(self.splits)
        adjusted = joined if self.error == "fwer" else _false_discovery(joined)
        return pd.Series(adjusted, pd.Index(self._terms, tupleize_cols=False))

    @property
    def selection_frequency(self) -> pd.Series:
        """Share of splits in which a term was selected by one half and tested below 1 by the other, Series (terms,)."""
        return pd.Series((self.splits < 1).mean(axis=0), pd.Index(self._terms, tupleize_cols=False))

    def summary(self, alpha: float = 0.05, max_rows: int | None = 40) -> Summary:
        """A statsmodels ``Summary``: the terms with the smallest p-values.

        Parameters
        ----------
        alpha : float
            Level of the error rate, for the number of terms found.
        max_rows : int or None
            Terms to show; those with a p-value of 1 are counted, not shown. None shows all others.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> splits = fit.multisplit(20, rng=1)
        >>> print(str(splits.summary()).splitlines()[0].strip())
        Features with an effect in some task, by many splits
        """
        from ..summary import summarize_multisplit

        return summarize_multisplit(self, alpha, max_rows)

    def __repr__(self) -> str:
        return f"<MultiSplitResults: {len(self.splits)} splits, {self.what}, {self.error}>"
