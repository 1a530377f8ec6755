"""The percentile bootstrap of a penalized fit."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..io import registered
from ..resampling import draw, seed_of, streams
from .contrasts import intervals
from .resampled import Resampled, penalties_of, refits

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

    from ..results import FusedLogitResults

__all__ = ["BootstrapResults", "bootstrap"]


def bootstrap(results: FusedLogitResults, n: int = 200, rng: Any = 0, n_jobs: int | None = None,
              progress: bool = True, executor: Executor | None = None) -> BootstrapResults:
    """Repeat a penalized fit on resampled rows; arguments as for ``FusedLogitResults.bootstrap``."""
    n = checks.whole("n", n, 2, 10**7, way_out="it is a number of resamples")
    rng = checks.rng(rng)
    samples, status = refits(results, penalties_of(results), _resample, streams(rng, n), n_jobs, progress, "bootstrap",
                             executor)
    return BootstrapResults(results, samples, status, seed_of(rng))


def _resample(groups, rng):
    return [draw(groups, rng)]


@registered("bootstrap")
@dataclass(eq=False, repr=False)
class BootstrapResults(Resampled):
    """Bootstrap fits.

    Percentile intervals describe the penalized estimate, which is biased towards zero and
    towards its neighbours; they are no confidence intervals or tests of the true effect.

    Attributes
    ----------
    results : FusedLogitResults
        The fit on the rows themselves.
    samples : ndarray, shape (n, 1 + d, t)
        Coefficients of each resample.
    status : ndarray of str, shape (n,)
        Status of the fit of each resample, "optimal" or another.
    seed : int or None
        What ``rng`` was, where it was a number.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> boot = fit.bootstrap(50, rng=1)
    >>> boot
    <BootstrapResults: 50 resamples, 0 not optimal, rng 1>
    >>> boot.fusion_frequency.loc["age"].tolist()
    [0.98, 0.44, 0.84]
    """

    parts = "resamples"

    @property
    def bse(self) -> pd.DataFrame:
        """Standard deviation over resamples, DataFrame (1 + d, t)."""
        return self.model.spec.frame(self.samples.std(axis=0, ddof=1))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Percentile intervals, DataFrame (1 + d, 2 t) with columns (task, "lower") and (task, "upper").

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> boot = fit.bootstrap(50, rng=1)
        >>> boot.conf_int().loc["age", "week4"].round(2).to_dict()
        {'lower': 0.82, 'upper': 1.1}
        """
        alpha = checks.tolerance("alpha", alpha)
        lower, upper = np.quantile(self.samples, [alpha / 2, 1 - alpha / 2], axis=0)
        return intervals(self.model.spec.frame(lower), self.model.spec.frame(upper))

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

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> boot = fit.bootstrap(50, rng=1)
        >>> print(str(boot.summary()).splitlines()[0].strip())
        Bootstrap of a penalized fit
        """
        from ..summary import summarize_bootstrap

        return summarize_bootstrap(self, alpha, max_rows)

    def __str__(self) -> str:
        from ..summary import VALUES_ON_A_SCREEN

        return self.summary(max_rows=max(VALUES_ON_A_SCREEN // len(self.model.endog_names) - 1, 1)).as_text()
