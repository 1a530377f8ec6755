"""Held-out scores of every point of a grid in every fold, and their standard errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core import fold_means, points_at_once
from ..metrics import Metric, labelled_rows
from ..problem import Problem
from ..resampling import sampling_units
from ..solver import Tables

__all__ = ["FoldScores"]


@dataclass(frozen=True)
class FoldScores:
    """Scores of each fold, repeat after repeat.

    Attributes
    ----------
    problem : Problem
    parts : ndarray, shape (number of parts, n)
        Share of each row that is held out in each fold.
    repeats : int
    tables : list of Tables
        Fits at every point on all but one fold, for each fold.
    weights : ndarray, shape (number of parts,)
        Weight of the held-out labels.
    scores : dict of str to ndarray of shape (number of parts, g)
        By metric.
    """

    problem: Problem
    parts: np.ndarray
    repeats: int
    tables: list[Tables]
    weights: np.ndarray
    scores: dict[str, np.ndarray]

    def of(self, metric: str) -> np.ndarray:
        """Scores of the folds that have any: one without observed labels (for AUC, pairs) says nothing."""
        return self.scores[metric][self._seen(metric)]

    def mean(self, metric: str) -> np.ndarray:
        """Mean over folds, each by the weight of its labels, shape (g,)."""
        return self._means(metric)[0]

    def standard_error(self, metric: str) -> np.ndarray:
        """Standard error of the mean over folds, from their spread, shape (g,)."""
        return self._means(metric)[1]

    def paired_error(self, metric: str, judge: Metric, best: int) -> np.ndarray:
        """Standard error of the mean paired difference to the best point on held-out labels, shape (g,).

        By sampling units: contributions of rows (or groups) are taken as independent. For scores
        that are no means over labels, such as AUC, by folds. Over repeats, which hold out the
        same labels, the variance is averaged.
        """
        if not judge.is_mean:
            return self._means(metric, best)[1]
        variances = [self._variances(folds, metric == "logloss", best) for folds in self._by_repeat()]
        return np.sqrt(np.mean(variances, axis=0))

    def _means(self, metric, best=None):
        """Mean over folds, or of the difference to the best point, and its standard error by folds."""
        self._seen(metric)
        scores = self.scores[metric]
        return fold_means(scores if best is None else scores - scores[:, [best]], self.weights, self.repeats)

    def _variances(self, folds, by_loss, best):
        """Variance of the difference to the best point in the folds of one repeat, shape (g,)."""
        problem, n_points = self.problem, len(self.tables[0])
        rows = labelled_rows(problem.design, problem.labels)
        units, shares = sampling_units(problem.groups), self.parts[folds]
        step = max(1, points_at_once(problem.n_features, problem.n_tasks) // len(folds) - 1)
        parts = [np.arange(first, min(first + step, n_points)) for first in range(0, n_points, step)]
        return np.concatenate([rows.paired_variances(units, by_loss, shares, np.array(
            [self.tables[fold][np.append(best, some)] for fold in folds])) for some in parts])

    def _seen(self, metric):
        seen = ~np.isnan(self.scores[metric]).all(axis=1)
        if not seen.any():
            raise ValueError(f"metric={metric!r} needs a fold in which some task has both labels, found none; use "
                             "fewer folds, or metric='logloss'")
        return seen

    def _by_repeat(self) -> Iterator[np.ndarray]:
        """Positions of the folds of each repeat."""
        return iter(np.split(np.arange(len(self.parts)), self.repeats))
