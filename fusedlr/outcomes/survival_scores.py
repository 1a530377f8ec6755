"""Scores of survival predictions under left truncation and right censoring: Brier score and concordance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..checks import check_index
from ..frames import index_of
from ..inputs import row_weights
from .survival import Survival, Times

if TYPE_CHECKING:
    from ..fit import Fit
    from ..tuning import CVResults

__all__ = ["brier_scores", "censoring_curve", "concordance", "curve_scores", "out_of_fold_scores", "survival_scores"]


def survival_scores(results: Fit, time: Any, event: Any, exog: Any, entry: Any = None, weights: Any = None,
                    offset: Any = None) -> pd.Series | pd.DataFrame:
    """Scores of a survival fit on held-out rows.

    Parameters
    ----------
    results : FusedLogitResults
        Of a model from ``FusedLogit.from_survival``.
    time, event, exog, entry : as for ``from_survival``
        Held-out rows.
    weights : array_like, shape (n,), optional
        A weight 2 is the row twice, 0 no row.
    offset : as for ``predict``, optional

    Returns
    -------
    Series
        ``loglike``, the mean log-likelihood of a row, over those with a label in at least one
        interval; ``brier``, the integrated Brier score up to the last break, weighted by inverse
        probability of censoring (IPCW); ``concordance``, the share of concordant pairs;
        ``nobs``, the number of rows. Weights count in all of them. Of a model with ``causes`` a
        DataFrame with these columns and a row for each cause.

    Notes
    -----
    The Brier score at a break is the mean squared error of predicted survival. Rows censored
    before have weight 0, the others the inverse of their probability of not being censored so
    long, the Kaplan-Meier estimate from the same rows. Between breaks the score is interpolated
    linearly. Concordance is Antolini's: of a row with the event and one that is at risk for
    longer, the first should have the lower predicted survival at that time. Ties count half.

    With left truncation, predicted survival and the censoring probability are conditional on
    the first break at which the row was at risk, in a pair on the later of the two.

    With competing risks ``loglike`` is that of the cause's hazards; it adds up over causes. The
    Brier score is the mean squared error of the predicted cumulative incidence of the cause (Schoop
    et al. 2011). Concordance compares a row with an event of this cause with those at risk for
    longer and those that had an event of another cause before; the first should have the higher
    predicted incidence at that time (Wolbers et al. 2014, without their weights for censoring).

    Examples
    --------
    >>> import numpy as np
    >>> from fusedlr import FusedLogit, datasets
    >>> from fusedlr.outcomes import survival_scores
    >>> _, X = datasets.weeks()
    >>> time = np.random.default_rng(1).exponential(np.exp(-X["age"]))
    >>> time, event = np.minimum(time, 2), time < 2
    >>> model = FusedLogit.from_survival(time, event, X, breaks=[0.5, 1, 1.5, 2])
    >>> scores = survival_scores(model.fit(l1=5, l2=0, fusion=20), time, event, X)
    >>> {name: round(value, 2) for name, value in scores.items()}
    {'loglike': -1.22, 'brier': 0.13, 'concordance': 0.7, 'nobs': 400.0}
    """
    outcome = _outcome("results", results)
    times = Times.read(time, event, entry, _codes(outcome))
    if exog is None:
        raise TypeError("exog must hold the features of the rows, found None; those of a fit: out_of_fold_scores")
    check_index(index_of(exog), times.index, "exog", "time")
    hazard = results.predict(exog, which="hazard", offset=offset).to_numpy()
    if len(hazard) != len(times.time):
        raise ValueError(f"exog must have one row for each of the {len(times.time)} times, found {len(hazard)}")
    return _scores(hazard, outcome, times, _row_weights(weights, times))


def out_of_fold_scores(cv: CVResults, time: Any, event: Any, entry: Any = None, weights: Any = None) -> pd.DataFrame:
    """Out-of-fold scores of a survival model at the chosen penalties, fold by fold.

    Parameters
    ----------
    cv : CVResults
        Of ``fit_cv`` of a model from ``FusedLogit.from_survival``, by folds.
    time, event, entry : as for ``from_survival``
        Of the rows of the model, which itself keeps only the labels.
    weights : array_like, shape (n,), optional
        As for ``survival_scores``.

    Returns
    -------
    DataFrame
        A row for each fold, or each fold and cause, with the columns of ``survival_scores``.

    Notes
    -----
    The same folds chose the penalties, so these scores are slightly optimistic; to compare
    models, use nested cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from fusedlr import FusedLogit, datasets
    >>> from fusedlr.outcomes import out_of_fold_scores
    >>> _, X = datasets.weeks()
    >>> time = np.random.default_rng(1).exponential(np.exp(-X["age"]))
    >>> time, event = np.minimum(time, 2), time < 2
    >>> model = FusedLogit.from_survival(time, event, X, breaks=[0.5, 1, 1.5, 2])
    >>> out_of_fold_scores(model.fit_cv(rng=1), time, event).round(2)
          loglike  brier  concordance  nobs
    fold
    0       -1.35   0.15         0.68  80.0
    1       -1.16   0.13         0.73  80.0
    2       -1.17   0.12         0.72  80.0
    3       -1.21   0.13         0.71  80.0
    4       -1.20   0.13         0.67  80.0
    """
    outcome, fold = _outcome("cv", cv), getattr(cv, "folds", None)
    model: Any = cv.model
    if fold is None:
        raise ValueError("cv must be what fit_cv chose by folds, found no folds; use by='cv', or survival_scores for "
                         "other rows")
    times, problem = Times.read(time, event, entry, _codes(outcome)), model.with_data()
    if len(times.time) != problem.n_rows:
        raise ValueError(f"time must have one value for each of the {problem.n_rows} rows of the model, found "
                         f"{len(times.time)}")
    check_index(times.index, model.index, "time", "the model")
    counts, folds = _row_weights(weights, times), np.unique(fold)
    rows = []
    for number in folds:
        held = fold == number
        fit = model.with_rows(~held).fit(**cv.penalties)
        linear = model.spec.table(problem.design.take(held).table(fit.solution.params), None)
        hazard = outcome.predict(linear, "hazard").to_numpy()
        rows.append(_scores(hazard, outcome, times.rows(held), counts[held]))
    if outcome.causes:
        return pd.concat(rows, keys=folds, names=["fold"])
    return pd.DataFrame(rows, pd.Index(folds, name="fold"))


def curve_scores(curves: pd.DataFrame, time: Any, event: Any, entry: Any = None, weights: Any = None,
                 start: float = 0.0) -> pd.Series:
    """The same scores of survival curves from anywhere, to compare other models.

    Parameters
    ----------
    curves : DataFrame, shape (n, t)
        Predicted survival at the times that name the columns, the ends of the intervals, as
        from ``predict(which="survival")``.
    time, event, entry, weights : as for ``survival_scores``
    start : float
        When all curves are 1; the first interval begins there.

    Returns
    -------
    Series
        As from ``survival_scores``.

    Examples
    --------
    >>> import numpy as np
    >>> from fusedlr import FusedLogit, datasets
    >>> from fusedlr.outcomes import curve_scores
    >>> _, X = datasets.weeks()
    >>> time = np.random.default_rng(1).exponential(np.exp(-X["age"]))
    >>> time, event = np.minimum(time, 2), time < 2
    >>> model = FusedLogit.from_survival(time, event, X, breaks=[0.5, 1, 1.5, 2])
    >>> curves = model.fit(l1=5, l2=0, fusion=20).predict(X, which="survival")
    >>> scores = curve_scores(curves, time, event)
    >>> {name: round(value, 2) for name, value in scores.items()}
    {'loglike': -1.22, 'brier': 0.13, 'concordance': 0.7, 'nobs': 400.0}
    """
    if not isinstance(curves, pd.DataFrame):
        raise TypeError(f"curves must be a DataFrame whose columns are times, found {checks.shown(curves)}")
    ends = checks.vector("columns of curves", curves.columns)
    outcome = Survival((checks.number("start", start), *ends.tolist()))
    times, alive = Times.read(time, event, entry), checks.array("curves", curves)
    check_index(curves.index if times.index is not None else None, times.index, "curves", "time")
    if len(alive) != len(times.time):
        raise ValueError(f"curves must have one row for each of the {len(times.time)} times, found {len(alive)}")
    before = np.column_stack([np.ones(len(alive)), alive[:, :-1]])
    if not ((0 <= alive) & (alive <= before) & (before <= 1)).all() or (np.diff(outcome.breaks) <= 0).any():
        raise ValueError("curves must fall from 1 to 0 along times that rise, found others; sort the columns")
    hazard = 1 - np.divide(alive, before, out=np.zeros(alive.shape), where=before > 0)
    return _scores(hazard, outcome, times, _row_weights(weights, times))


def brier_scores(curves: np.ndarray, breaks: np.ndarray, times: Times, weights: Any = None,
                 incidence: np.ndarray | None = None, cause: int = 1) -> np.ndarray:
    """IPCW Brier score at the end of each interval, shape (t,); NaN where no row is observed.

    Parameters
    ----------
    curves : ndarray, shape (n, t)
        Predicted survival at the end of each interval.
    breaks : ndarray, shape (t + 1,)
    times : Times
    weights : array_like, shape (n,), optional
    incidence : ndarray, shape (n, t), optional
        Predicted cumulative incidence of one of several causes; 1 - curves where left out.
    cause : int
        Its number in ``times.event``.
    """
    counts = _row_weights(weights, times)
    before, at = censoring_curve(times, counts)
    start = _first_break(breaks, times)
    later = times.time > np.append(breaks, np.inf)[start]
    watched = (counts > 0) & (start < len(breaks)) & (later | times.at_once(breaks[0]))
    times, counts, start = times.rows(watched), counts[watched], start[watched]
    alive, ill = _from_start(curves[watched], None if incidence is None else incidence[watched])
    given, staying, known = _at(alive, start), at(breaks[start]), _at(ill, start)
    scores = []
    for k, end in enumerate(breaks[1:], start=1):
        came, well = times.came & (times.time <= end), times.time > end
        # Until just before the event for those who had it, until now for the others.
        share = np.where(came, before(times.time), at(end)) / staying
        # Nobody is there to predict where survival is 0; what is predicted then does not matter.
        chance = np.divide(ill[:, k] - known, given, out=np.ones(len(given)), where=given > 0)
        squares = (chance - (came & (times.event == cause))) ** 2
        seen = start < k
        told = seen & (came | well)
        scores.append(np.sum((counts * squares / share)[told]) / counts[seen].sum() if seen.any() else np.nan)
    return np.array(scores)


def censoring_curve(times: Times, weights: Any = None) -> tuple:
    """Kaplan-Meier estimate of the censoring distribution: functions of time, just before it and at it.

    A ratio at two times is the conditional probability of not being censored between them. A time
    at which the whole risk set is censored is left out: no row is at risk across it.
    """
    counts = _row_weights(weights, times)
    censored = ~times.came & (counts > 0) & (times.time > times.entry)
    moments, place = np.unique(times.time[censored], return_inverse=True)
    leaving = np.bincount(place, counts[censored], len(moments))
    # Events come before censorings of the same time.
    gone = times.came & (counts > 0) & np.isin(times.time, moments)
    events = np.bincount(np.searchsorted(moments, times.time[gone]), counts[gone], len(moments))
    at_risk = _total_below(times.entry, counts, moments) - _total_below(times.time, counts, moments) - events
    stay = 1 - leaving / at_risk
    left = np.append(1.0, np.cumprod(np.where(stay > 1e-12, stay, 1.0)))

    def before(time):
        return left[np.searchsorted(moments, time, side="left")]

    def at(time):
        return left[np.searchsorted(moments, time, side="right")]

    return before, at


def concordance(curves: np.ndarray, breaks: np.ndarray, times: Times, weights: Any = None,
                incidence: np.ndarray | None = None, cause: int = 1) -> float:
    """Antolini's concordance index, the share of comparable pairs in the right order; NaN without such pairs.

    Arguments are those of ``brier_scores``. An event of another cause leaves a row comparable for ever.
    """
    counts = _row_weights(weights, times)
    start, interval = _first_break(breaks, times), np.searchsorted(breaks, times.time, side="left") - 1
    interval[times.at_once(breaks[0])] = 0
    alive, ill = _from_start(curves, incidence)
    other = times.came & (times.event != cause)
    right = pairs = 0.0
    for i in np.flatnonzero((times.event == cause) & (counts > 0) & (start <= interval) & (interval < curves.shape[1])):
        others = (other | (times.time > times.time[i])) & (start <= interval[i])
        since, rows, end = np.maximum(start[others], start[i]), ill[others], interval[i] + 1
        # Crosswise, because a quotient may be 0 / 0.
        later = (rows[:, end] - _at(rows, since)) * alive[i, since]
        mine = (ill[i, end] - ill[i, since]) * _at(alive[others], since)
        right += counts[i] * (counts[others] @ ((later < mine) + 0.5 * (later == mine)))
        pairs += counts[i] * counts[others].sum()
    return float(right / pairs) if pairs else float("nan")


def _outcome(name, results):
    outcome = getattr(getattr(results, "model", None), "outcome", None)
    if getattr(outcome, "kind", None) not in ("survival", "competing risks"):
        raise ValueError(f"{name} must come from FusedLogit.from_survival, found {checks.shown(results)}")
    return outcome


def _codes(outcome):
    """Codes of the causes in ``event``, None where there is one event."""
    return (outcome.codes or outcome.causes) if outcome.causes else None


def _from_start(curves, incidence):
    """Survival and incidence at all breaks, the first one too, each (n, t + 1)."""
    alive = np.column_stack([np.ones(len(curves)), curves])
    return alive, 1 - alive if incidence is None else np.column_stack([np.zeros(len(curves)), incidence])


def _row_weights(weights, times):
    """How often each row counts, shape (n,)."""
    return row_weights(weights, len(times.time), times.index, "time")


def _scores(hazard, outcome, times, counts):
    """Scores of hazards, (n, t), or (n, causes * t), whose cause varies slowest."""
    ends, labels = np.array(outcome.breaks), outcome.labels(times).labels
    if not outcome.causes:
        curves = np.cumprod(1 - hazard, axis=1)
        return _row_of_scores(_loglike(labels, hazard, counts), curves, None, ends, times, counts)
    hazards = hazard.reshape(len(hazard), len(outcome.causes), -1)
    curves = np.cumprod(1 - hazards.sum(axis=1), axis=1)
    reached = np.column_stack([np.ones(len(curves)), curves[:, :-1]])
    rows = [_row_of_scores(_loglike(labels.some(labels.task // curves.shape[1] == k), hazard, counts), curves,
                           np.cumsum(reached * hazards[:, k], axis=1), ends, times, counts, k + 1)
            for k in range(len(outcome.causes))]
    return pd.DataFrame(rows, pd.Index(outcome.causes, name="cause"))


def _row_of_scores(loglike, curves, incidence, ends, times, counts, cause=1):
    brier = _integrated(brier_scores(curves, ends, times, counts, incidence, cause), ends)
    return pd.Series({"loglike": loglike, "brier": brier,
                      "concordance": concordance(curves, ends, times, counts, incidence, cause),
                      "nobs": float(counts.sum())})


def _loglike(labels, hazard, counts):
    chance = hazard[labels.row, labels.task]
    with np.errstate(divide="ignore"):
        by_row = labels.by_row(labels.weight * np.log(np.where(labels.yes, chance, 1 - chance)), len(counts))
    told = (counts > 0) & (labels.by_row(labels.weight, len(counts)) > 0)
    return float(np.average(by_row[told], weights=counts[told])) if told.any() else float("nan")


def _integrated(scores, breaks):
    """Mean over time; at the first break nothing has happened, and nothing can be wrong."""
    heights = np.append(0.0, scores)
    return float(np.sum((heights[1:] + heights[:-1]) / 2 * np.diff(breaks)) / (breaks[-1] - breaks[0]))


def _first_break(breaks, times):
    """Position of the first break at which each row was at risk, shape (n,); after the last where there is none."""
    return np.searchsorted(breaks, times.entry, side="left")


def _at(table, columns):
    """The value in one column of each row."""
    return np.take_along_axis(table, columns[:, None], axis=1)[:, 0]


def _total_below(values, counts, limits):
    """Total weight of the values below each limit."""
    order = np.argsort(values, kind="stable")
    return np.append(0.0, np.cumsum(counts[order]))[np.searchsorted(values[order], limits, side="left")]
