"""An ordered outcome as a chain of binary tasks: continuation-ratio (sequential) or cumulative logits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd

from .. import checks
from ..checks import check_index
from ..exceptions import CrossingWarning
from ..frames import index_of, plain
from ..inputs import row_weights
from ..io import LABEL, Plain, listed, saved, word
from ..metrics import Metric, Params
from ..objective import sigmoid
from ..problem import Design, Groups, Labels
from .binary import Binary
from .outcome import LabelledRows, Outcome

if TYPE_CHECKING:
    from ..fit import Fit

__all__ = ["Direction", "Kind", "Ordered", "ordered_scores"]

Kind = Literal["sequential", "cumulative"]
Direction = Literal["forward", "backward"]


@dataclass(frozen=True)
class Ordered(Outcome):
    """Levels of an ordered outcome, and how they are cut into tasks.

    Attributes
    ----------
    levels : tuple
        The user's own, lowest first.
    layout : "sequential" or "cumulative"
    direction : "forward" or "backward"
        Of a sequential outcome. Yes always means the higher side.
    categorical : bool
        Whether predicted levels come back as a categorical.
    """

    kind: ClassVar[str] = "ordered"
    predictions: ClassVar[tuple[str, ...]] = ("levels", "level", "rank")

    levels: tuple = saved(Plain(listed(LABEL, least=2), list, tuple))
    layout: str = saved(Plain(word(*get_args(Kind))), default="sequential")
    direction: str = saved(Plain(word(*get_args(Direction))), default="forward")
    categorical: bool = saved(default=False)

    @classmethod
    def read(cls, endog: Any, levels: Any = None, kind: Kind = "sequential",
             direction: Direction = "forward") -> Ordered:
        """The outcome that a column of levels describes; ``labels`` then lays out the column itself."""
        column = _column(endog)
        kind = checks.word("kind", kind, get_args(Kind))
        direction = checks.word("direction", direction, get_args(Direction))
        if kind == "cumulative" and direction == "backward":
            raise ValueError("direction='backward' goes with kind='sequential' only; cumulative tasks have none")
        found = _ordered_levels(column, levels)
        if levels is None and len(found) > max(20, column.notna().sum() / 2):
            raise ValueError(f"endog has {len(found)} levels in {int(column.notna().sum())} rows, which is more like a "
                             "continuous outcome; cut it into levels (pandas.cut), or name them all in levels")
        outcome = cls(tuple(found), kind, direction, isinstance(column.dtype, pd.CategoricalDtype))
        seen = set(outcome.ranks(column).dropna())
        unseen = [level for k, level in enumerate(found) if k not in seen]
        if unseen:
            raise ValueError(f"endog never takes the levels {unseen}; leave them out of levels "
                             "(or call cat.remove_unused_categories())")
        return outcome

    @property
    def tasks(self) -> tuple:
        """Names of the tasks: ">level" for each level but the last; backward, ">=level" for each but the first."""
        if self.direction == "backward":
            return tuple(f">={level}" for level in self.levels[1:])
        return tuple(f">{level}" for level in self.levels[:-1])

    def ranks(self, endog: Any) -> pd.Series:
        """Position of each row's level, from 0, NaN where missing, Series (n,)."""
        column = _column(endog)
        rank = column.map({level: k for k, level in enumerate(self.levels)}).astype(float)
        unknown = pd.unique(column[rank.isna() & column.notna()])
        if len(unknown):
            raise ValueError(f"endog holds levels that are not in levels, found {checks.shown(list(unknown[:3]))}; "
                             f"levels are {list(self.levels)}")
        return rank

    def labels(self, endog: Any) -> LabelledRows:
        """Labels from a column of levels, or from a table of the tasks' own labels.

        A row that never reached the level of a sequential task has no label in it.
        """
        index, endog = index_of(endog), plain("endog", endog)
        if np.ndim(endog) == 2:
            return Binary(self.tasks, self.words).labels(endog)
        rank = self.ranks(endog)
        r, k = rank.to_numpy()[:, None], np.arange(len(self.levels) - 1.0)
        above = np.where(np.isnan(r), np.nan, r > k)
        if self.layout == "sequential":
            reached = r >= k if self.direction == "forward" else r <= k + 1
            above = np.where(reached, above, np.nan)
        return LabelledRows(Labels.wide(above), len(rank), index)

    def observed(self, labels: Labels, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Ranks and weights of n rows, both of shape (n,); the weight is 0 where missing."""
        rank = np.zeros(n, dtype=int)
        yes = labels.yes & (labels.weight > 0)
        # With no label beyond the level where a row ended, the highest yes counts.
        np.maximum.at(rank, labels.row[yes], labels.task[yes] + 1)
        return rank, Groups.rows(labels, n).times

    def probabilities(self, linear: np.ndarray) -> np.ndarray:
        """Probability of every level from linear predictors of shape (..., t), shape (..., levels)."""
        if self.direction == "backward":
            return _stops(-linear[..., ::-1])[..., ::-1]
        return _stops(linear) if self.layout == "sequential" else _differences(sigmoid(linear))

    def predict(self, linear: pd.DataFrame, which: str) -> pd.DataFrame | pd.Series:
        """Probabilities of the levels, the most probable level, or the expected rank of each row."""
        shares = self.probabilities(linear.to_numpy())
        self._warn_crossing(linear.to_numpy())
        if which == "levels":
            return pd.DataFrame(shares, linear.index, pd.Index(self.levels, tupleize_cols=False))
        if which == "rank":
            return pd.Series(shares @ self._numbers, linear.index, name="rank")
        return pd.Series(self._named(shares.argmax(axis=1)), linear.index, name="level")

    def loglike(self, labels: Labels, linear: np.ndarray) -> float:
        """Log-likelihood of the levels, weights counted; -inf where an observed level has probability 0."""
        if self.layout == "sequential":  # the tasks' likelihoods multiply to that of the levels
            return super().loglike(labels, linear)
        n = labels.row.max() + 1
        rank, weights = self.observed(labels, n)
        seen = weights > 0
        shares = self.probabilities(labels.table(linear, n)[seen])
        with np.errstate(divide="ignore"):
            return float(weights[seen] @ np.log(np.take_along_axis(shares, rank[seen, None], axis=1)[:, 0]))

    def null_loglike(self, labels: Labels, offset: np.ndarray) -> float:
        """Log-likelihood of the levels in the null model, weights counted."""
        if self.layout == "sequential":
            return super().null_loglike(labels, offset)
        rank, weights = self.observed(labels, labels.row.max() + 1)
        totals = np.bincount(rank, weights, len(self.levels))
        seen = totals[totals > 0]
        return float(seen @ np.log(seen / seen.sum()))

    @property
    def metrics(self) -> dict[str, Metric]:
        """Scores of the outcome as a whole, for the choice of penalties."""
        return {"rps": Metric(self._mean_rps, False, "logloss", "mean ranked probability score of held-out rows")}

    def facts(self, labels: Labels, n: int) -> list[tuple[str, str]]:
        """How many levels there are, and how they are cut into tasks."""
        return [("Levels:", f"{len(self.levels)} ({self.layout}{', backward' * (self.direction == 'backward')})")]

    def _mean_rps(self, params: Params, design: Design, labels: Labels) -> np.ndarray:
        """Mean ranked probability score for each of many fits; parameters as in ``metrics.error``."""
        rank, counts = self.observed(labels, design.n_rows)
        if not counts.any():
            return np.full(len(params), np.nan)
        seen = np.flatnonzero(counts)
        held, rank, counts = design.take(seen), rank[seen], counts[seen]
        shares = (self.probabilities(held.table(params[i])) for i in range(len(params)))
        return np.array([counts @ ranked_probability(each, rank) / counts.sum() for each in shares])

    @property
    def _numbers(self) -> np.ndarray:
        """The levels where they are numbers, else their positions from 1."""
        if all(isinstance(level, Real) for level in self.levels):
            return np.array(self.levels, dtype=float)
        return np.arange(1.0, len(self.levels) + 1)

    def _named(self, codes: np.ndarray) -> Any:
        if self.categorical:
            return pd.Categorical.from_codes(codes, list(self.levels), ordered=True)
        return [self.levels[k] for k in codes]

    def _warn_crossing(self, linear: np.ndarray) -> None:
        crossed = int((np.diff(linear, axis=1) > 0).any(axis=1).sum()) if self.layout == "cumulative" else 0
        if crossed:
            warnings.warn(f"P(> level) rises with the level in {crossed} of {len(linear)} rows, which no outcome can "
                          "do; it was put in falling order there; kind='sequential' never crosses, and a larger "
                          "fusion crosses less", CrossingWarning, stacklevel=4)


def ordered_scores(results: Fit, endog: Any, exog: Any, weights: Any = None, offset: Any = None) -> pd.Series:
    """Scores of a fit of an ordered outcome on held-out rows.

    Parameters
    ----------
    results : FusedLogitResults
        Of a model from ``FusedLogit.from_ordered``.
    endog, exog : as for ``from_ordered``
        Held-out rows; those without a level are left out.
    weights : array_like, shape (n,), optional
        A weight 2 is the row twice, 0 no row.
    offset : as for ``predict``, optional

    Returns
    -------
    Series
        ``logloss``, minus the mean log-probability of the observed level; ``rps``, the
        mean ranked probability score; ``error``, the share of rows whose most probable
        level is another; ``nobs``, the rows that were scored. Weights count in all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from fusedlr import FusedLogit, datasets
    >>> from fusedlr.outcomes import ordered_scores
    >>> _, X = datasets.weeks()
    >>> level = np.digitize(X["age"] + X["noise"], [-1, 0, 1])
    >>> fit = FusedLogit.from_ordered(level, X[["age", "dose"]]).fit(l1=1, l2=0, fusion=10)
    >>> scores = ordered_scores(fit, level, X)
    >>> {name: round(value, 2) for name, value in scores.items()}
    {'logloss': 1.08, 'rps': 0.4, 'error': 0.51, 'nobs': 400.0}
    """
    outcome: Any = getattr(getattr(results, "model", None), "outcome", None)
    if getattr(outcome, "kind", None) != "ordered":
        raise ValueError("results must come from FusedLogit.from_ordered, found a model of plain tasks or of times")
    ranks = outcome.ranks(endog)
    counts = row_weights(weights, len(ranks), index_of(endog), "endog")
    if exog is None:
        raise TypeError("exog must hold the features of the rows, found None")
    check_index(index_of(endog), index_of(exog), "endog", "exog")
    shares = results.predict(exog, which="levels", offset=offset).to_numpy()
    if len(shares) != len(ranks):
        raise ValueError(f"endog must have one level for each of the {len(shares)} rows of exog, found {len(ranks)}")
    seen = ranks.notna().to_numpy() & (counts > 0)
    rank, shares, counts = ranks.to_numpy()[seen].astype(int), shares[seen], counts[seen]
    if not len(rank):
        raise ValueError("endog must have a level in some row that counts, found none")
    with np.errstate(divide="ignore"):
        logs = np.log(shares[np.arange(len(rank)), rank])
    scores = {"logloss": -logs, "rps": ranked_probability(shares, rank), "error": shares.argmax(axis=1) != rank}
    return pd.Series({name: np.average(score, weights=counts) for name, score in scores.items()} |
                     {"nobs": float(counts.sum())})


def ranked_probability(shares: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Ranked probability score: squared error of the cumulative probabilities, summed over thresholds.

    Parameters
    ----------
    shares : ndarray, shape (n, ..., levels)
    rank : ndarray of int, shape (n,)

    Returns
    -------
    ndarray, shape (n, ...)
        0 where all probability is on the right level, at most the number of thresholds.
    """
    below = np.cumsum(shares, axis=-1)[..., :-1]
    rank = rank.reshape(-1, *[1] * (shares.ndim - 1))
    return np.square(below - (rank <= np.arange(below.shape[-1]))).sum(axis=-1)


def _stops(linear):
    """Probability to stop at each level, from the log-odds of going beyond it once it is reached."""
    reached = np.cumprod(sigmoid(linear), axis=-1)
    ones = np.ones((*linear.shape[:-1], 1))
    return np.concatenate([ones, reached], axis=-1) * np.concatenate([sigmoid(-linear), ones], axis=-1)


def _differences(above):
    """Probability of each level from P(> level), sorted to be decreasing where these cross."""
    falling = -np.sort(-above, axis=-1)
    ones = np.ones((*above.shape[:-1], 1))
    return np.concatenate([ones, falling], axis=-1) - np.concatenate([falling, 0 * ones], axis=-1)


def _column(endog):
    endog = plain("endog", endog)
    if isinstance(endog, pd.Series):
        return endog
    known = isinstance(endog, (list, tuple, np.ndarray, pd.Index, pd.api.extensions.ExtensionArray))
    strange = isinstance(endog, np.ndarray) and (endog.dtype.kind in "VcMm" or np.ma.isMaskedArray(endog))
    if not known or strange or getattr(endog, "ndim", 1) != 1:
        raise ValueError(f"endog must be one column of ordered levels, found {checks.shown(endog)}, "
                         f"shape {getattr(endog, 'shape', None)}")
    return pd.Series(checks.listed("endog", endog) if isinstance(endog, (list, tuple)) else endog)


def _ordered_levels(column, levels):
    if levels is None and isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        levels = column.cat.categories
    elif levels is None:
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError("levels is needed, lowest first, unless endog is numeric or an ordered categorical; "
                             f"found {list(pd.unique(column.dropna()))[:4]}")
        levels = sorted(pd.unique(column.dropna()).tolist())
    levels = [level.item() if isinstance(level, np.generic) else level for level in checks.listed("levels", levels)]
    checks.refuse_duplicates("levels", levels)
    if len(levels) < 2:
        raise ValueError(f"endog must have at least two ordered levels, found {levels}")
    return [int(level) if isinstance(level, float) and level.is_integer() else level for level in levels]
