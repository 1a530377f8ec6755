"""What fits of resampled rows and of halves of the rows have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from ..reporting import Result
from .wald import pairs

__all__ = ["Resampled"]


@dataclass(frozen=True)
class Resampled(Result):
    """Results that repeat a fit on parts of its rows, at the same penalties; attributes are explained in each."""

    kind: ClassVar[str]
    # What a repetition is fitted to, in the plural.
    parts: ClassVar[str]

    results: Any
    samples: np.ndarray
    status: np.ndarray
    seed: int

    @property
    def model(self) -> Any:
        """The model of the fit."""
        return self.results.model

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

    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None) -> pd.DataFrame | pd.Series:
        """Predictions of the fit on the rows themselves; see ``FusedLogitResults.predict``."""
        return self.results.predict(exog, which, offset)

    def plot(self, ax: Any = None) -> Any:
        """Draw how often coefficients are selected and neighbours tied; see ``plots.selection_frequencies``."""
        from ..plots import selection_frequencies

        return selection_frequencies(self, ax=ax)

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        page, arrays = self.results.state(remove_data)
        page[self.kind] = {"seed": self.seed, "status": self.status.tolist()}
        return page, {**arrays, "samples": self.samples}

    @classmethod
    def from_state(cls, results: Any, page: dict, arrays: dict) -> Self:
        """Repetitions from what ``state`` gave, of a fit that was made from the same."""
        return cls(results, arrays["samples"], np.array(page[cls.kind]["status"]), page[cls.kind]["seed"])

    def _edges(self) -> pd.MultiIndex:
        """Names of the two tasks of every edge."""
        first, second = ([self.model.endog_names[k] for k in ends] for ends in self.model.tasks.edges.T)
        return pairs(first, second, ["task", "neighbour"])

    def __repr__(self) -> str:
        repeated = f"{len(self.samples)} {self.parts}, {self.n_failed} not optimal"
        return f"<{type(self).__name__}: {repeated}, seed {self.seed}>"
