"""Stability selection with complementary pairs: features, effects and changes, with an error bound."""

from __future__ import annotations

import warnings
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from .. import checks
from ..exceptions import FusedLogitWarning
from ..io import NONE, Plain, either, finite, registered, saved, word
from ..resampling import halves, number_of_units, seed_of, streams
from .resampled import Resampled, penalties_of, refits

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

    from ..results import FusedLogitResults

__all__ = ["Bound", "StabilityResults", "What", "share_needed", "stability"]

What = Literal["features", "effects", "changes"]
Bound = Literal["none", "unimodal"]

_SHARE = 0.9       # largest threshold accepted in the search for the penalty
_TRIAL_PAIRS = 10  # complementary pairs for each penalty tried
_STEP, _STEPS = 1.25, 40


def stability(results: FusedLogitResults, n: int = 100, rng: Any = 1, what: What = "features",
              errors: float | None = 1.0, bound: Bound = "unimodal", n_jobs: int | None = None,
              progress: bool = True, executor: Executor | None = None) -> StabilityResults:
    """Repeat a penalized fit on halves of the rows; arguments as for ``FusedLogitResults.stability``."""
    n = checks.whole("n", n, 2, 10**7, way_out="it is a number of halves")
    if n % 2:
        raise ValueError(f"n must be even, because halves come in pairs, found {n}; use {n + 1}")
    what, bound = checks.word("what", what, get_args(What)), checks.word("bound", bound, get_args(Bound))
    errors = None if errors is None else _positive(errors)
    rng, groups = checks.rng(rng), results.model.with_data().groups
    if number_of_units(groups) < 2:
        raise ValueError("weights must stand for two rows or more to be split into halves, found a sum of "
                         f"{groups.size:g}; a weight is a number of rows")
    seeds = streams(rng, n // 2)

    def halved(multiple: float, seeds: list, progress: bool) -> StabilityResults:
        raised = _raised(penalties_of(results), what, multiple)
        samples, status = refits(results, raised, _doubled_halves, seeds, n_jobs, progress, "stability", executor)
        return StabilityResults(results, samples, status, seed_of(rng), what, bound, errors, multiple)

    return halved(1.0 if errors is None else _search(halved, seeds), seeds, progress)


def share_needed(found: float, candidates: int, errors: float, halves: int, bound: Bound = "unimodal") -> float:
    """Threshold above which at most ``errors`` candidates of low selection probability are expected.

    Parameters
    ----------
    found : float
        Average number selected in a half, q.
    candidates : int
        Number of candidates, p.
    errors : float
    halves : int
    bound : "none" or "unimodal"
        Shah and Samworth (2013), theorem 1 or its sharper form (8) for unimodal shares.

    Returns
    -------
    float
        Above 1 where no threshold suffices.
    """
    candidates, pairs = max(candidates, 1), halves / 2
    if bound == "none":
        return 0.5 + found**2 / (2 * errors * candidates)
    chance = found / candidates
    shares = np.arange(halves // 2 + 1, halves + 1) / halves
    with np.errstate(divide="ignore"):
        factor = np.where(shares <= 0.75, 1 / (2 * np.maximum(2 * shares - 1 - 1 / halves, 0)),
                          4 * (1 - shares + 1 / halves) / (1 + 1 / pairs))
    least = min(0.5 + chance**2, 0.5 + 1 / halves + 0.75 * chance**2)
    enough = (shares > least) & (factor * found * chance <= errors) & (chance <= 1 / np.sqrt(3))
    return float(shares[enough][0]) if enough.any() else np.inf


def _positive(errors):
    errors = checks.number("errors", errors)
    if errors == 0:
        raise ValueError("errors must be positive, found 0; no share of the halves excludes all false ones")
    return errors


def _raised(penalties: list, what: What, multiple: float) -> list:
    """The penalty that decides what is found, times a number."""
    l1, l2, fusion = penalties
    return [l1, l2, multiple * fusion] if what == "changes" else [multiple * l1, l2, fusion]


def _search(halved: Any, seeds: list) -> float:
    """The smallest multiple of the penalty, at least 1, at which a threshold of ``_SHARE`` suffices, by bisection."""
    few = seeds[:_TRIAL_PAIRS]

    def is_enough(step):
        trial = halved(_STEP**step, few, False)
        return share_needed(*trial.average(), trial.errors, 2 * len(seeds), trial.bound) <= _SHARE

    if is_enough(0):
        return 1.0
    low, high = 0, _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return float(_STEP**high)


def _doubled_halves(groups, rng):
    """A complementary pair with doubled weights, so that the penalty per row is that of the full data."""
    return [2.0 * times for times in halves(groups, rng)]


@registered("stability")
@dataclass(eq=False, repr=False)
class StabilityResults(Resampled):
    """Stability selection: fits of complementary pairs of halves.

    Attributes
    ----------
    results : FusedLogitResults
        The fit on all rows.
    samples : ndarray, shape (n, 1 + d, t)
        Coefficients of each half; the two halves of a pair are adjacent.
    status : ndarray of str, shape (n,)
        Status of the fit of each half, "optimal" or another.
    seed : int or None
        What ``rng`` was, where it was a number.
    what : str
        What is looked for: "features", "effects" or "changes".
    bound : str
        "none" or "unimodal": assumption on the selection frequencies.
    errors : float or None
        Largest expected number of false selections, for which the penalty was raised.
    multiple : float
        By how much l1 (for changes: fusion) of the fit was multiplied in the halves.

    Notes
    -----
    If on average q of p candidates are selected in a half, those selected in at least a share s
    of the halves, s > 1/2, contain in expectation at most q^2 / ((2 s - 1) p) candidates of low
    selection probability, at most q / p in a half (Shah and Samworth 2013, theorem 1). This
    assumes independent sampling units only (``bound="none"``). ``bound="unimodal"`` also assumes
    that for each of these the number of pairs in which both halves select it is unimodal; the
    threshold is then lower (their equation 8). To read either as a bound on *false* selections,
    as Meinshausen and Buhlmann (2010) do, one must assume that noise candidates have at most the
    average selection probability. That fails for a feature correlated with a true one, a tie next
    to a true change, or where most candidates are selected anyway.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> halves = fit.stability(20, what="changes", rng=1)
    >>> halves
    <StabilityResults: 20 halves, 0 not optimal, rng 1>
    """

    what: str = saved(Plain(word(*get_args(What))), default="features")
    bound: str = saved(Plain(word(*get_args(Bound))), default="unimodal")
    errors: float | None = saved(Plain(either(NONE, finite(1e-300))), default=None)
    multiple: float = saved(Plain(finite(0)), default=1.0)

    parts = "halves"

    @property
    def feature_frequency(self) -> pd.Series:
        """Share of halves in which a feature, or a term of a formula, is not zero in some task, Series (terms,)."""
        index = pd.Index(list(self.model.spec.rows_of_terms), tupleize_cols=False)
        return pd.Series(self._found("features").mean(axis=0)[:, 0], index)

    @property
    def change_frequency(self) -> pd.DataFrame:
        """Share of halves in which the two tasks of an edge differ, DataFrame (d, edges)."""
        return pd.DataFrame(self._found("changes").mean(axis=0), self.model.exog_names[1:], self._edges())

    @property
    def fusion_frequency(self) -> pd.DataFrame:
        """Share of halves in which the two tasks of an edge have the same value, DataFrame (d, edges)."""
        return 1 - self.change_frequency

    def threshold(self, what: What | None = None, errors: float | None = None) -> float:
        """Threshold on the selection frequency for at most ``errors`` expected false ones; above 1 where none suffices.

        Parameters
        ----------
        what : "features", "effects" or "changes", optional
            What the halves were made for where left out.
        errors : float, optional
            Largest expected number of false selections, positive; by default that of the search, or 1.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> halves = fit.stability(20, what="changes", rng=1)
        >>> round(halves.threshold(), 2)
        0.65
        """
        return share_needed(*self.average(what), self._errors(errors), len(self.samples),
                            self.bound)  # type: ignore[arg-type]

    def average(self, what: What | None = None) -> tuple[float, int]:
        """Average number selected in a half and number of candidates: q and p of the notes.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> halves = fit.stability(20, what="changes", rng=1)
        >>> halves.average()
        (1.7, 9)
        """
        what = self._what(what)
        found = self._found(what)[:, self._candidates(what)]
        return float(found.sum(axis=(1, 2)).mean()), found[0].size

    def stable(self, what: What | None = None, errors: float | None = None) -> pd.DataFrame:
        """The stable set: candidates above ``threshold``.

        Parameters
        ----------
        what, errors : as for ``threshold``

        Returns
        -------
        DataFrame
            ``feature`` (of a formula: the term), and for effects ``task``, for changes ``task`` and ``neighbour``;
            ``frequency``; for effects ``coef``, that of the fit on all rows.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> halves = fit.stability(20, what="changes", rng=1)
        >>> halves.stable()
          feature   task neighbour  frequency
        0    dose  week8    week12        1.0
        """
        what, errors = self._what(what), self._errors(errors)
        share = self.threshold(what, errors)
        if share > 1:
            found, candidates = self.average(what)
            warnings.warn(f"on average {found:.1f} of {candidates} {what} are found in a half, too many to bound the "
                          f"false ones by {errors:g}; {WAYS_OUT}", FusedLogitWarning, stacklevel=2)
        frequency = self._found(what).mean(axis=0)
        places = np.argwhere((frequency >= share) & self._candidates(what)[:, None])
        rows = [(*self._named(what, j, k), frequency[j, k]) for j, k in places]
        table = pd.DataFrame(rows, columns=[*_NAMES[what], "frequency"])
        if what != "effects":
            return table
        return table.assign(coef=[self.results.params.iat[1 + j, k] for j, k in places])

    def summary(self, errors: float | None = None, max_rows: int | None = 40) -> Summary:
        """A statsmodels ``Summary`` of the stable set.

        Parameters
        ----------
        errors : float, optional
            As for ``threshold``.
        max_rows : int or None
            Features, effects or changes to show, those found most often; None shows all.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> halves = fit.stability(20, what="changes", rng=1)
        >>> print(str(halves.summary()).splitlines()[0].strip())
        Changes in halves of the rows
        """
        from ..summary import summarize_stability

        return summarize_stability(self, self._errors(errors), max_rows)

    def __str__(self) -> str:
        from ..summary import VALUES_ON_A_SCREEN

        return self.summary(max_rows=VALUES_ON_A_SCREEN // 2).as_text()

    def _what(self, what: What | None) -> Any:
        return self.what if what is None else checks.word("what", what, get_args(What))

    def _errors(self, errors: float | None) -> float:
        known = 1.0 if self.errors is None else self.errors
        return known if errors is None else _positive(errors)

    def _named(self, what, j, k):
        """Names of a candidate."""
        if what == "features":
            return (list(self.model.spec.rows_of_terms)[j],)
        tasks = self.model.endog_names
        places = [k] if what == "effects" else self.model.tasks.edges[k]
        return (self.model.exog_names[1 + j], *(tasks[place] for place in places))

    def _found(self, what):
        """Whether each half has each candidate, ndarray of bool, (n, terms, 1), (n, d, t) or (n, d, edges)."""
        edges, coefs = self.model.tasks.edges, self.samples[:, 1:]
        if what == "features":
            terms = self.model.spec.rows_of_terms.values()
            return np.stack([(self.samples[:, rows] != 0).any(axis=(1, 2)) for rows in terms], axis=1)[:, :, None]
        return coefs != 0 if what == "effects" else coefs[:, :, edges[:, 0]] != coefs[:, :, edges[:, 1]]

    def _candidates(self, what):
        """Rows of which a penalty could make it zero, or tie it, shape (terms,) or (d,)."""
        penalty = self.results.penalty_by_row
        if what == "features":
            return np.array([(penalty.l1[rows] > 0).all() for rows in self.model.spec.rows_of_terms.values()])
        return (penalty.l1 if what == "effects" else penalty.fusion)[1:] > 0


_NAMES = {"features": ["feature"], "effects": ["feature", "task"], "changes": ["feature", "task", "neighbour"]}
WAYS_OUT = "make halves for it (what=), fit with larger penalties, or allow more errors"
