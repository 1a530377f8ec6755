"""Effects and changes that come again in halves of the rows, with a bound on how many of them are false."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from .. import checks
from ..exceptions import FusedLogitWarning
from ..io import registered
from ..resampling import halves, number_of_units, seed_of
from .resampled import Resampled, refits

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

    from ..results import FusedLogitResults

__all__ = ["StabilityResults", "What", "stability"]

What = Literal["effects", "changes"]


def stability(results: FusedLogitResults, n: int = 100, rng: Any = 1, n_jobs: int | None = None,
              progress: bool = True) -> StabilityResults:
    """Repeat a penalized fit on halves of the rows; arguments as for ``FusedLogitResults.stability``."""
    n = checks.whole("n", n, 2, 10**7, way_out="it is a number of halves")
    if n % 2:
        raise ValueError(f"n must be even, because halves come in pairs, found {n}; use {n + 1}")
    rng, groups = checks.rng(rng), results.model.with_data().groups
    if number_of_units(groups) < 2:
        raise ValueError("weights must stand for two rows or more to be split into halves, found a sum of "
                         f"{groups.size:g}; a weight is a number of rows")
    samples, status = refits(results, _doubled_halves, rng, n // 2, n_jobs, progress, "stability")
    return StabilityResults(results, samples, status, seed_of(rng))


def _doubled_halves(groups, rng):
    """Two halves whose weights are doubled, so that a row meets the same penalties as in all."""
    return [2.0 * times for times in halves(groups, rng)]


@registered("stability")
@dataclass(eq=False, repr=False)
class StabilityResults(Resampled):
    """Fits of complementary halves of the rows.

    Attributes
    ----------
    results : FusedLogitResults
        The fit on all rows.
    samples : ndarray, shape (n, 1 + d, t)
        Coefficients of each half; two that follow each other share no row.
    status : ndarray of str, shape (n,)
        "optimal", or what kept a half from it.
    seed : int or None
        What ``rng`` was, where it was a number.

    Notes
    -----
    If on average q of p candidates are found in a half, those found in at least a share s of
    the halves, s > 1/2, hold in expectation at most q^2 / ((2 s - 1) p) candidates whose chance
    to be found in a half is no better than average, q / p (Shah and Samworth 2013, theorem 1).
    Nothing is assumed for that but independent rows. To read it as a bound on *false* ones,
    as Meinshausen and Buhlmann (2010) do, one must assume that each false candidate has at
    most the average chance. For changes this is an assumption indeed: neighbouring ties are
    not exchangeable, and one next to a true change is found more often than one far from it.
    The bound is of use where q is small: at most the root of p for one false candidate.
    """

    parts = "halves"

    @property
    def change_frequency(self) -> pd.DataFrame:
        """Share of halves in which the two tasks of an edge differ, DataFrame (d, edges)."""
        return pd.DataFrame(self._found("changes").mean(axis=0), self.model.exog_names[1:], self._edges())

    @property
    def fusion_frequency(self) -> pd.DataFrame:
        """Share of halves in which the two tasks of an edge have the same value, DataFrame (d, edges)."""
        return 1 - self.change_frequency

    def threshold(self, what: What, errors: float = 1.0) -> float:
        """Share of halves above which at most ``errors`` false effects or changes are expected; see the notes.

        Parameters
        ----------
        what : "effects" or "changes"
        errors : float
            Largest number of false ones to expect, positive.
        """
        what = checks.word("what", what, get_args(What))
        errors = checks.number("errors", errors)
        if errors == 0:
            raise ValueError("errors must be positive, found 0; no share of the halves excludes all false ones")
        found, candidates = self.average(what)
        return 0.5 + found**2 / (2 * errors * max(candidates, 1))

    def average(self, what: What) -> tuple[float, int]:
        """Effects or changes found in a half on average, and how many there could be: q and p of the notes."""
        found = self._found(checks.word("what", what, get_args(What)))[:, self._candidates(what)]
        return float(found.sum(axis=(1, 2)).mean()), found[0].size

    def stable_effects(self, errors: float = 1.0) -> pd.DataFrame:
        """Coefficients that are not zero in so many halves that at most ``errors`` false ones are expected among them.

        Returns
        -------
        DataFrame
            ``feature``, ``task``, ``frequency`` and ``coef``, that of the fit on all rows.
        """
        return self._stable("effects", errors).assign(coef=lambda table: [
            self.results.params.loc[feature, task] for feature, task in zip(table["feature"], table["task"])])

    def stable_changes(self, errors: float = 1.0) -> pd.DataFrame:
        """Edges whose tasks differ in so many halves that at most ``errors`` false changes are expected among them.

        Returns
        -------
        DataFrame
            ``feature``, ``task``, ``neighbour`` and ``frequency``.
        """
        return self._stable("changes", errors)

    def summary(self, errors: float = 1.0, max_rows: int | None = 40) -> Summary:
        """A statsmodels ``Summary``: effects and changes at which at most ``errors`` false ones each are expected.

        Parameters
        ----------
        errors : float
        max_rows : int or None
            Effects, and changes, to show, those found most often; None shows all.
        """
        from ..summary import summarize_stability

        return summarize_stability(self, errors, max_rows)

    def __str__(self) -> str:
        from ..summary import VALUES_ON_A_SCREEN

        return self.summary(max_rows=VALUES_ON_A_SCREEN // 2).as_text()

    def _stable(self, what, errors):
        share = self.threshold(what, errors)
        if share > 1:
            found, candidates = self.average(what)
            warnings.warn(f"on average {found:.1f} of {candidates} {what} are found in a half, too many to bound the "
                          f"false ones by {errors:g}: that needs at most {np.sqrt(errors * candidates):.1f}; fit with "
                          "larger penalties, or allow more errors", FusedLogitWarning, stacklevel=3)
        frequency = self.selection_frequency if what == "effects" else self.change_frequency
        places = np.argwhere((frequency.to_numpy() >= share) & self._candidates(what)[:, None])
        rows = [(frequency.index[j], *np.atleast_1d(np.array(frequency.columns[k], dtype=object)),
                 frequency.iat[j, k]) for j, k in places]
        names = ["feature", "task"] if what == "effects" else ["feature", "task", "neighbour"]
        return pd.DataFrame(rows, columns=[*names, "frequency"])

    def _found(self, what):
        """Whether each half has each effect or change, ndarray of bool, shape (n, d, t) or (n, d, edges)."""
        edges = self.model.tasks.edges
        coefs = self.samples[:, 1:]
        return coefs != 0 if what == "effects" else coefs[:, :, edges[:, 0]] != coefs[:, :, edges[:, 1]]

    def _candidates(self, what):
        """Features of which a penalty could make it zero, or tie it, shape (d,)."""
        penalty = self.results.penalty_by_row
        return (penalty.l1 if what == "effects" else penalty.fusion)[1:] > 0
