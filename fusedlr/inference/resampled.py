"""What the bootstrap, stability selection and multi-splits have in common."""

from __future__ import annotations

from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
import pandas as pd

from ..adaptive import adapted
from ..base import Model
from ..fit import Result, Single, Tabled
from ..io import NONE, STATUS, WHOLE, Array, Nested, Plain, either, listed, saved
from ..parallel import run
from ..problem import Problem
from ..solver import solve_exactly
from .contrasts import pairs

if TYPE_CHECKING:
    from ..results import FusedLogitResults

__all__ = ["OfFit", "Resampled", "penalties_of", "refits"]


def penalties_of(results: FusedLogitResults) -> list:
    """l1, l2 and fusion of a fit as numbers or vectors of shape (1 + d,), before the factors of its rows."""
    return results.model.spec.penalties(**results.penalties, fuse_intercepts=results.model.fuse_intercepts)


def refits(results: FusedLogitResults, penalties: list, parts: Any, seeds: list[np.random.SeedSequence],
           n_jobs: int | None, progress: bool, description: str,
           executor: Executor | None) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and status of the same fit on parts of the rows.

    Parameters
    ----------
    results : FusedLogitResults
    penalties : list
        l1, l2 and fusion, as from ``penalties_of``.
    parts : function
        From the sampling units and a generator to multipliers of the row weights, for one part
        or several.
    seeds : list of SeedSequence
        One for each call of ``parts``.
    n_jobs, progress, executor : as for ``FusedLogitResults.bootstrap``
    """
    work = partial(_fit_parts, results.model.with_data(), penalties, results.solution.params, parts)
    found = [fit for fits in run(work, seeds, n_jobs, progress, description, executor) for fit in fits]
    return np.array([solution.params for solution in found]), np.array([solution.status for solution in found])


def _fit_parts(problem: Problem, penalties: list, start: np.ndarray, parts: Any,
               seeds: np.random.SeedSequence) -> list:
    drawn = parts(problem.groups, np.random.default_rng(seeds))
    fitted = (adapted(problem.reweighted(times)) for times in drawn)
    return [solve_exactly(part, part.penalty(*penalties), start=start) for part in fitted]


@dataclass(eq=False, repr=False)
class OfFit(Result):
    """Results about a fit, which they hold."""

    results: FusedLogitResults = saved(Nested("results"))

    @property
    def model(self) -> Model:  # type: ignore[override]
        """The model of the fit."""
        return self.results.model

    @overload
    def predict(self, exog: Any = None, which: Tabled = "prob", offset: Any = None) -> pd.DataFrame: ...

    @overload
    def predict(self, exog: Any, which: Single, offset: Any = None) -> pd.Series: ...

    @overload
    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None) -> pd.DataFrame | pd.Series: ...

    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None) -> pd.DataFrame | pd.Series:
        """Predictions of the fit on the rows themselves; see ``FusedLogitResults.predict``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> boot = fit.bootstrap(50, rng=1)
        >>> boot.predict(X.head(1)).round(2)
           week4  week8  week12  week16
        0   0.58   0.57    0.74    0.74
        """
        return self.results.predict(exog, which, offset)

    def remove_data(self) -> None:
        """Drop the data of the fit; see ``FusedLogitResults.remove_data``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> boot = fit.bootstrap(50, rng=1)
        >>> boot.remove_data()
        >>> boot.model
        <FusedLogit: 4 tasks, 3 features, data removed>
        """
        self.results = copy(self.results)
        self.results.remove_data()


@dataclass(eq=False, repr=False)
class Resampled(OfFit):
    """Results that repeat a fit on parts of its rows, at the same penalties; attributes are explained in each."""

    # What a repetition is fitted to, in the plural.
    parts: ClassVar[str]

    samples: np.ndarray = saved(Array(("r", "1+d", "t")))
    status: np.ndarray = saved(Plain(listed(STATUS.rule, "r", least=2), np.ndarray.tolist, np.array))
    seed: int | None = saved(Plain(either(NONE, WHOLE)))

    @property
    def params(self) -> pd.DataFrame:
        """Coefficients of the fit on the rows themselves, DataFrame (1 + d, t)."""
        return self.results.params

    @property
    def n_failed(self) -> int:
        """Repetitions whose fit is not optimal; they are kept."""
        return int((self.status != "optimal").sum())

    @property
    def selection_frequency(self) -> pd.DataFrame:
        """Share of repetitions in which a coefficient is not zero, DataFrame (d, t)."""
        share = (self.samples[:, 1:] != 0).mean(axis=0)
        return pd.DataFrame(share, self.model.exog_names[1:], self.model.endog_names)

    def plot(self, ax: Any = None) -> Any:
        """Draw how often coefficients are selected and neighbours tied; see ``plots.selection_frequencies``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> boot = fit.bootstrap(50, rng=1)
        >>> ax = boot.plot()
        """
        from ..plots import selection_frequencies

        return selection_frequencies(self, ax=ax)  # type: ignore[arg-type]  # one of the two below

    def _edges(self) -> pd.MultiIndex:
        """Names of the two tasks of every edge."""
        first, second = ([self.model.endog_names[k] for k in ends] for ends in self.model.tasks.edges.T)
        return pairs(first, second, ["task", "neighbour"])

    def __repr__(self) -> str:
        repeated = f"{len(self.samples)} {self.parts}, {self.n_failed} not optimal"
        seed = f", rng {self.seed}" * (self.seed is not None)
        return f"<{type(self).__name__}: {repeated}{seed}>"
