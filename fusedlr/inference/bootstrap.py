"""Fits of resampled rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..exact import solve_exactly
from ..parallel import run
from .draws import number_of_rows, rows_at, times_drawn
from .resampled import Resampled
from .wald import intervals

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["BootstrapResults", "bootstrap"]


def bootstrap(results: Any, n: int = 200, seed: int = 0, n_jobs: int | None = None,
              progress: bool = True) -> BootstrapResults:
    """Repeat a penalized fit on resampled rows; arguments as for ``FusedLogitResults.bootstrap``."""
    n = checks.whole("n", n, 2, 10**7, way_out="it is a number of resamples")
    seed = checks.whole("seed", seed, 0)
    model = results.model
    work = partial(_refit_resample, model.problem, results.penalty_by_row, results.solution.params)
    fits = run(work, np.random.SeedSequence(seed).spawn(n), n_jobs, progress, "bootstrap")
    params = np.array([params for params, _ in fits]) / np.append(1.0, model.scale)[:, None]
    return BootstrapResults(results, params, np.array([status for _, status in fits]), seed)


@dataclass(frozen=True, repr=False)
class BootstrapResults(Resampled):
    """Fits of resampled rows.

    Percentile intervals of a penalized fit describe the penalized estimate, which is
    pulled towards zero and towards its neighbours; they are no test of a hypothesis.

    Attributes
    ----------
    results : FusedLogitResults
        The fit on the rows themselves.
    samples : ndarray, shape (n, 1 + d, t)
        Coefficients of each resample on the original scale.
    status : ndarray of str, shape (n,)
        "optimal", or what kept a resample from it.
    seed : int
    """

    kind = "bootstrap"
    parts = "resamples"

    @property
    def bse(self) -> pd.DataFrame:
        """Standard deviation over resamples, DataFrame (1 + d, t)."""
        return self._frame(self.samples.std(axis=0, ddof=1))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Percentile intervals, DataFrame (1 + d, 2 t) with columns (task, "lower") and (task, "upper")."""
        alpha = checks.tolerance("alpha", alpha)
        lower, upper = np.quantile(self.samples, [alpha / 2, 1 - alpha / 2], axis=0)
        return intervals(self._frame(lower), self._frame(upper))

    @property
    def fusion_frequency(self) -> pd.DataFrame:
        """Share of resamples in which both tasks of an edge have the same value, DataFrame (1 + d, edges).

        Two zeros are the same value.
        """
        edges = self.model.tasks.edges
        same = self.samples[:, :, edges[:, 0]] == self.samples[:, :, edges[:, 1]]
        return pd.DataFrame(same.mean(axis=0), self.model.exog_names, self._edges())

    def summary(self, alpha: float = 0.05, max_rows: int | None = 40) -> Summary:
        """A statsmodels ``Summary``: each coefficient with its percentile interval and how often it is selected.

        Parameters
        ----------
        alpha : float
        max_rows : int or None
            Features to show, those selected most often; None shows all.
        """
        from ..summary import summarize_bootstrap

        return summarize_bootstrap(self, alpha, max_rows)

    def __str__(self) -> str:
        from ..summary import VALUES_ON_A_SCREEN

        return self.summary(max_rows=max(VALUES_ON_A_SCREEN // len(self.model.endog_names) - 1, 1)).as_text()

    def _frame(self, values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values, self.model.exog_names, self.model.endog_names)


def _refit_resample(problem, penalty, start, seeds):
    """Coefficients and status of one resample, drawn as weights: a row drawn twice counts twice."""
    drawn = problem.reweighted(_draw(problem.data.row_weights, np.random.default_rng(seeds)))
    solution = solve_exactly(drawn, penalty, start=start)
    return solution.params, solution.status


def _draw(weights, rng):
    """How often each row is drawn, over its weight, in a resample of as many rows as the weights stand for, (n,)."""
    size = number_of_rows(weights)
    return times_drawn(rows_at(rng.integers(size, size=size), weights, rng), weights)
