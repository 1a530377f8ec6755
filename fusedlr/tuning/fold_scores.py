"""Held-out scores of every point of a grid in every fold, and their standard errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..metrics import Metric, label_sums
from ..problem import Problem
from ..solver import Tables

__all__ = ["FoldScores"]

# Rows by points whose losses are held at once: 16 MB.
_CELLS = 2_000_000


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
        return np.average(self.of(metric), axis=0, weights=self.weights[self._seen(metric)])

    def standard_error(self, metric: str, best: int | None = None) -> np.ndarray:
        """Standard error of the mean over folds, or of the mean difference to the best point, by folds, shape (g,)."""
        variances = []
        for folds in self._by_repeat():
            seen = folds[self._seen(metric)[folds]]
            scores, weights = self.scores[metric][seen], self.weights[seen]
            if len(seen):
                scores = scores if best is None else scores - scores[:, [best]]
                spread = (scores - np.average(scores, axis=0, weights=weights)) ** 2
                variances.append(np.average(spread, axis=0, weights=weights) / max(len(seen) - 1, 1))
        return np.sqrt(np.mean(variances, axis=0))

    def paired_error(self, metric: str, judge: Metric, best: int) -> np.ndarray:
        """Standard error of the mean paired difference to the best point on held-out labels, shape (g,).

        By sampling units: contributions of rows (or groups) are taken as independent. For scores
        that are no means over labels, such as AUC, by folds. Over repeats, which hold out the
        same labels, the variance is averaged.
        """
        if judge.by_label is None:
            return self.standard_error(metric, best)
        variances = [self._variance(folds, judge.by_label, best) for folds in self._by_repeat()]
        return np.sqrt(np.mean(variances, axis=0))

    def _variance(self, folds, by_label, best):
        """Variance of the difference to the best point in the folds of one repeat, shape (g,)."""
        n_points = len(self.tables[0])
        step = max(1, _CELLS // self.problem.n_rows)
        points = np.split(np.arange(n_points), range(step, n_points, step))
        return np.concatenate([self._some_variances(folds, by_label, best, some) for some in points])

    def _some_variances(self, folds, by_label, best, points):
        rows, shares, weights, differences = zip(*(self._differences(fold, by_label, best, points) for fold in folds))
        units = self.problem.groups.take_shares(np.concatenate(rows), np.concatenate(shares))
        weight, difference = np.concatenate(weights), np.concatenate(differences)
        mean = difference.sum(axis=0) / weight.sum()
        return units.standard_error((difference - weight[:, None] * mean) / weight.sum()) ** 2

    def _differences(self, fold, by_label, best, points):
        """Rows that are held out, the share and the weight of each, and what it adds to the difference, (rows, g)."""
        part, problem = self.parts[fold], self.problem
        held = problem.labels.some(part[problem.labels.row] > 0).times(part)
        rows = np.unique(held.row)
        design, labels = problem.design.take(rows), replace(held, row=np.searchsorted(rows, held.row))
        losses = label_sums(by_label, self.tables[fold].take(np.append(best, points)), design, labels)
        return rows, part[rows], labels.by_row(labels.weight, len(rows)), losses[:, 1:] - losses[:, :1]

    def _seen(self, metric):
        seen = ~np.isnan(self.scores[metric]).all(axis=1)
        if not seen.any():
            raise ValueError(f"metric={metric!r} needs a fold in which some task has both labels, found none; use "
                             "fewer folds, or metric='logloss'")
        return seen

    def _by_repeat(self) -> Iterator[np.ndarray]:
        """Positions of the folds of each repeat."""
        return iter(np.split(np.arange(len(self.parts)), self.repeats))
