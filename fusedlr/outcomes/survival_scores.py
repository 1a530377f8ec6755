"""How well fitted hazards predict when the event comes, in rows that were watched for different times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .survival import Survival, Times

__all__ = ["brier_scores", "censoring_curve", "concordance", "survival_scores"]


def survival_scores(results: Any, time: Any, event: Any, exog: Any, entry: Any = None) -> pd.Series:
    """Scores of a fit of time to event in other rows.

    Parameters
    ----------
    results : FusedLogitResults
        Of a model from ``FusedLogit.from_survival``.
    time, event, exog, entry : as for ``from_survival``
        Held-out rows.

    Returns
    -------
    Series
        ``loglike``, the mean log-likelihood of a person, over those watched through at
        least one interval; ``brier``, the integrated Brier score up to the last break,
        weighted against censoring; ``concordance``, the share of pairs that are in the
        right order; ``nobs``, the number of rows.

    Notes
    -----
    The Brier score at a break is the mean squared distance between the predicted
    probability to be without the event then and what was seen. Rows censored before count
    nothing, the others by one over the probability not to be censored so long, Kaplan and
    Meier's estimate from the same rows. Between breaks the score is taken as a straight line.
    Concordance is Antolini's: of a row with the event and one that is watched for longer,
    the first should have the lower predicted survival at that time. Equal ones count half.
    """
    outcome = results.model.outcome
    if not isinstance(outcome, Survival):
        raise ValueError("results must come from FusedLogit.from_survival, found a model of something else")
    times = Times.read(time, event, entry)
    hazard = results.predict(exog, which="hazard").to_numpy()
    if len(hazard) != len(times.time):
        raise ValueError(f"exog must have one row for each of the {len(times.time)} times, found {len(hazard)}")
    curves, ends = np.cumprod(1 - hazard, axis=1), np.array(outcome.breaks)
    return pd.Series({"loglike": _loglike(outcome.labels(times).to_numpy(), hazard),
                      "brier": _integrated(brier_scores(curves, ends, times), ends),
                      "concordance": concordance(curves, ends, times), "nobs": float(len(hazard))})


def brier_scores(curves: np.ndarray, breaks: np.ndarray, times: Times) -> np.ndarray:
    """Brier score at the end of each interval, weighted against censoring, shape (t,).

    Parameters
    ----------
    curves : ndarray, shape (n, t)
        Predicted probability to be without the event at the end of each interval.
    breaks : ndarray, shape (t + 1,)
    times : Times
    """
    before, after = censoring_curve(times)
    scores = []
    for alive, end in zip(curves.T, breaks[1:]):
        came, well = times.event & (times.time <= end), times.time > end
        # Until just before the event for those who had it, until now for the others.
        weights = np.zeros(len(alive))
        weights[came] = 1 / before(times.time[came])
        weights[well] = 1 / max(float(after(end)), 1e-12)
        seen = times.entry < end
        scores.append(np.sum((weights * (alive - well) ** 2)[seen]) / seen.sum())
    return np.array(scores)


def censoring_curve(times: Times) -> tuple:
    """Kaplan and Meier's probability not to be censored: functions of time, just before it and at it."""
    moments = np.unique(times.time[~times.event])
    at_risk = ((times.entry[:, None] < moments) & (times.time[:, None] >= moments)).sum(axis=0)
    # Events come before censorings of the same time.
    at_risk -= (times.event[:, None] & (times.time[:, None] == moments)).sum(axis=0)
    leaving = (~times.event[:, None] & (times.time[:, None] == moments)).sum(axis=0)
    left = np.append(1.0, np.cumprod(1 - leaving / at_risk))

    def before(time):
        return left[np.searchsorted(moments, time, side="left")]

    def at(time):
        return left[np.searchsorted(moments, time, side="right")]

    return before, at


def concordance(curves: np.ndarray, breaks: np.ndarray, times: Times) -> float:
    """Share of comparable pairs in the right order, Antolini's index; NaN where no pair can be compared."""
    interval = np.searchsorted(breaks, times.time, side="left") - 1
    right = pairs = 0.0
    for i in np.flatnonzero(times.event & (interval >= 0) & (interval < curves.shape[1])):
        others = (times.time > times.time[i]) & (times.entry < times.time[i])
        later, mine = curves[others, interval[i]], curves[i, interval[i]]
        right += (later > mine).sum() + 0.5 * (later == mine).sum()
        pairs += others.sum()
    return float(right / pairs) if pairs else float("nan")


def _loglike(labels, hazard):
    chance = np.where(labels == 1, hazard, 1 - hazard)
    by_row = np.where(np.isnan(labels), 0.0, np.log(np.where(np.isnan(labels), 1.0, chance))).sum(axis=1)
    return float(by_row[~np.isnan(labels).all(axis=1)].mean())


def _integrated(scores, breaks):
    """Mean over time; at the first break nothing has happened, and nothing can be wrong."""
    heights = np.append(0.0, scores)
    return float(np.sum((heights[1:] + heights[:-1]) / 2 * np.diff(breaks)) / (breaks[-1] - breaks[0]))
