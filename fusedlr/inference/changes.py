"""Is an effect the same in all tasks? Differences between tasks, and their Wald tests, on refits without ties.

A tie in a penalized fit does not show that two tasks are equal, and a refit that keeps the ties
cannot test it. Without ties every selected feature has a value of its own in each task, and
equality is a linear hypothesis about them (Wald 1943). For an ordered outcome this is the test of
parallel lines (Brant 1990, with a joint sandwich estimator), for survival that of proportional odds
of the hazard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..constrained_fit import without_ties
from ..spec import Spec
from .contrasts import chi2_test, is_singular, spread, wald_pvalue, wald_table

if TYPE_CHECKING:
    from .refit import RefitResults

__all__ = ["ChangeTest", "against_first", "change_test", "differences", "released"]


@dataclass(frozen=True)
class ChangeTest:
    """Wald test of an equal effect in all tasks.

    Attributes
    ----------
    term : name of a feature, or of a term of the formula
    statistic : float
        Wald statistic; NaN where a value has no standard error.
    df : int
        Differences tested at once.
    pvalue : float
        With a sandwich covariance by Hotelling's T-squared and a small-sample correction, else by chi-squared.
    """

    term: Any
    statistic: float
    df: int
    pvalue: float

    def __str__(self) -> str:
        return (f"{self.term}: the same effect in all tasks? Wald {self.statistic:.3f} on {self.df} df, "
                f"p = {self.pvalue:.4g}")


def change_test(untied: RefitResults, term: Any = None) -> pd.DataFrame | ChangeTest:
    """Wald tests of equal effects within the connected components of the task graph.

    Parameters
    ----------
    untied : RefitResults
        A refit without ties.
    term : name of a feature or of a term of the formula, optional
        Columns of a factor are tested at once. All terms where left out.

    Returns
    -------
    ChangeTest, or DataFrame
        Indexed by term: ``statistic``, ``df`` and ``pvalue``; no numbers for terms that were not selected.
    """
    spec = untied.model.spec
    if term is None:
        tests = [_test(untied, name, rows) for name, rows in spec.rows_of_terms.items()]
        index = pd.Index([test.term for test in tests], name="term", tupleize_cols=False)
        return pd.DataFrame([(test.statistic, test.df, test.pvalue) for test in tests], index,
                            ["statistic", "df", "pvalue"])
    found = _test(untied, term, _rows("term", term, spec))
    if not found.df:
        raise ValueError(f"term: {checks.shown(term)} has nothing to compare: the penalized fit set it to zero in "
                         "every task, or no two tasks are connected; penalty_factors of 0 keep a feature")
    return found


def differences(untied: RefitResults, feature: Any = None, alpha: float = 0.05) -> pd.DataFrame:
    """Differences between the two tasks of every edge, with standard errors and intervals.

    Parameters
    ----------
    untied : RefitResults
        A refit without ties.
    feature : name of a feature or of a term of the formula, optional
        All features that were selected where left out.
    alpha : float

    Returns
    -------
    DataFrame
        Indexed by ``feature``, ``task`` and ``neighbour``; ``coef`` is that of the neighbour less that of
        the task, then ``std err``, ``z``, ``P>|z|`` and the ends of the interval.
    """
    spec, edges = untied.model.spec, untied.model.tasks.edges
    asked = range(1, len(spec.terms)) if feature is None else _rows("feature", feature, spec)
    kept = [row for row in asked if untied.pattern[row, 0] >= 0]
    if feature is not None and not kept:
        raise ValueError(f"feature: nothing was estimated for {checks.shown(feature)}, which the penalized fit set to "
                         "zero")
    contrasts = np.vstack([np.zeros((0, len(untied.fit.values))), *(_contrasts(untied, row, edges) for row in kept)])
    names = [(spec.terms[row], spec.tasks[j], spec.tasks[k]) for row in kept for j, k in edges]
    index = pd.MultiIndex.from_tuples(names, names=["feature", "task", "neighbour"]) if names else None
    return wald_table(contrasts @ untied.fit.values, spread(contrasts, untied.fit.cov), alpha, index)


def released(pattern: np.ndarray, terms: Iterable[list[int]]) -> np.ndarray:
    """The pattern without ties: a term that has a value anywhere has one in each of its columns and tasks.

    By whole terms: what the test of a factor says must not depend on which of its levels is the reference.

    Parameters
    ----------
    pattern : ndarray of int, shape (1 + d, t)
    terms : iterable of list of int
        Rows of params of each term.

    Returns
    -------
    ndarray of int, shape (1 + d, t)
    """
    kept = pattern.copy()
    for rows in terms:
        kept[rows] = kept[rows].max()
    return without_ties(kept)


def _rows(argument: str, name: Any, spec: Spec) -> list[int]:
    """Rows of params that a name stands for: those of a term, or that of a feature."""
    known = {**{feature: [row] for row, feature in enumerate(spec.terms) if row}, **spec.rows_of_terms}
    try:
        return known[name]
    except (KeyError, TypeError):
        raise ValueError(f"{argument} must be one of {checks.shown(list(known))}, found {checks.shown(name)}") from None


def _test(untied: RefitResults, term: Any, rows: list[int]) -> ChangeTest:
    """All differences of the selected features among ``rows`` at once."""
    pairs = against_first(untied.model.tasks.components())
    parts = [_contrasts(untied, row, pairs) for row in rows if untied.pattern[row, 0] >= 0]
    contrasts = np.vstack([np.zeros((0, len(untied.fit.values))), *parts])
    if not len(contrasts):
        return ChangeTest(term, np.nan, 0, np.nan)
    variance = spread(contrasts, untied.fit.cov)
    if not np.isnan(variance).any() and is_singular(variance):
        return ChangeTest(term, np.nan, len(contrasts), np.nan)  # fewer sampling units than differences
    found = chi2_test(contrasts, np.zeros(len(contrasts)), untied.fit.values, untied.fit.cov)
    pvalue = float(found.pvalue) if untied.cov_type == "nonrobust" else _corrected(untied, contrasts)
    return ChangeTest(term, float(found.statistic), len(contrasts), pvalue)


def _corrected(untied: RefitResults, contrasts: np.ndarray) -> float:
    """p-value of contrasts with a sandwich covariance, corrected for few rows or groups."""
    facts, per_task = untied.facts, int((untied.pattern[:, 0] >= 0).sum())
    # By task: the same data may come as one row or several. Weights of groups need not be numbers of rows.
    by_row, tasks = untied.model.problem.groups.are_rows, len(facts.labels)
    rows = float(facts.labels.mean()) if by_row else facts.observed / tasks
    return wald_pvalue(contrasts, untied.fit.values, untied.fit.cov, facts.units, rows, per_task)


def against_first(components: np.ndarray) -> np.ndarray:
    """Pairs (first, other) of each task with the first one of its connected component, shape (q, 2)."""
    first = np.unique(components, return_index=True)[1][components]
    others = np.flatnonzero(first != np.arange(len(components)))
    return np.column_stack([first[others], others])


def _contrasts(untied: RefitResults, row: int, pairs: np.ndarray) -> np.ndarray:
    """The value of the second task of each pair less that of the first, shape (q, p)."""
    numbers, unit = untied.pattern[row], np.eye(len(untied.fit.values))
    return unit[numbers[pairs[:, 1]]] - unit[numbers[pairs[:, 0]]]
