"""Models built in other ways than from arrays: from formulas, from an ordered outcome, from times to an event."""

from __future__ import annotations

from typing import Any, Self

import pandas as pd

from . import checks
from .described import Described
from .formula import Formula, calling_environment
from .inputs import MISSING, column
from .outcomes import Ordered, Survival, Times, split_surv

__all__ = ["Built"]


class Built(Described):
    """Other ways to build a ``FusedLogit``, each of which ends in the one way: labels, features and options."""

    def __init__(self, endog: Any, exog: Any, **options: Any) -> None:
        raise NotImplementedError

    @classmethod
    def from_formula(cls, formula: str, data: pd.DataFrame, **kwargs: Any) -> Self:
        """A model from a formula with the tasks on the left: ``"low + mid + high ~ age + C(site)"``.

        Parameters
        ----------
        formula : str
            In patsy's language. The tasks are fused in the order in which they are
            written. Each may be any of the kinds of labels ``FusedLogit`` takes.
        data : pandas.DataFrame
        **kwargs
            The other arguments of ``FusedLogit``; ``weights`` and ``offset`` may be names of
            columns of ``data``.

        Notes
        -----
        A formula is code: every part of it is evaluated as Python and may call whatever is
        in sight, as in patsy and statsmodels. Take none from those whose code you would not run.

        A missing label leaves out this label, not the row as in statsmodels. A missing
        value on the right side is an error unless ``missing="drop"``. The intercept is
        always there; ``0 +`` only makes a first factor keep all of its levels, which
        suits penalized fits.
        """
        parsed, kwargs = _parse(formula, data, kwargs)
        model = cls(parsed.endog, parsed.exog, **kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def from_ordered(cls, endog: Any, exog: Any, levels: Any = None, kind: str = "sequential",
                     direction: str = "forward", **kwargs: Any) -> Self:
        """A model of one ordered outcome: one task for each step from a level to the next, in a chain.

        Parameters
        ----------
        endog : array_like or Series, shape (n,)
            Numbers, an ordered categorical, or any values named in ``levels``. Where
            missing, no task has a label.
        exog : array_like, shape (n, d)
        levels : sequence, optional
            The levels, lowest first; needed unless ``endog`` carries an order itself.
        kind : "sequential" or "cumulative"
            Sequential: each task asks "beyond this level, given that it was reached?", and a
            row that ended below has no label in it. The likelihood of the tasks is that of
            the levels, whose probabilities are never negative. Cumulative: each task asks
            "above this level?" of every row, as the proportional-odds model does; its
            probabilities can cross, and are then put in order with a ``CrossingWarning``.
        direction : "forward" or "backward"
            Of a sequential outcome: whether rows climb from the lowest level, or come down
            from the highest ("at this level, given that no higher one was?"). Yes is the
            higher side in both, so that coefficients have the same sign.
        **kwargs
            The other arguments of ``FusedLogit``.

        Notes
        -----
        With levels low < mid < high the tasks are ``>low`` and ``>mid``; backward, ``>=mid``
        and ``>=high``. With a large ``fusion`` all tasks share every coefficient but the
        intercept: the continuation-ratio model, or (cumulative) the structure of
        proportional odds; ``fusion`` decides how far to go there. ``predict`` takes
        ``which="levels"``, ``"level"`` and ``"rank"`` too, ``fit_cv`` takes ``metric="rps"``.
        """
        return cls._of(Ordered.read(endog, levels, kind, direction), endog, exog, kwargs)

    @classmethod
    def from_ordered_formula(cls, formula: str, data: pd.DataFrame, levels: Any = None, kind: str = "sequential",
                             direction: str = "forward", **kwargs: Any) -> Self:
        """A model of one ordered outcome from a formula: ``"severity ~ age + C(site)"``.

        The outcome stands on the left; the other arguments are those of ``from_ordered``.
        """
        parsed, kwargs = _parse(formula, data, kwargs)
        if parsed.endog.shape[1] != 1:
            raise ValueError(f"formula must have one ordered outcome on its left side, found "
                             f"{list(parsed.endog.columns)}; use from_formula for several tasks")
        endog = parsed.endog.iloc[:, 0]
        model = cls._of(Ordered.read(endog, levels, kind, direction), endog, parsed.exog, kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def from_survival(cls, time: Any, event: Any, exog: Any, breaks: Any, entry: Any = None,
                      **kwargs: Any) -> Self:
        """A model of the time to an event: one task for each interval, "did the event come in it?", in a chain.

        Parameters
        ----------
        time : array_like, shape (n,)
            When the event came, or the row was last seen without it.
        event : array_like of bool or 0/1, shape (n,)
            Whether the event came; 0 where the row was censored.
        exog : array_like, shape (n, d)
            Features as they were at the start: none may change over time.
        breaks : int or sequence of float
            Ends of the intervals (0 is put in front), such as ``range(1, 13)`` for twelve
            years; or how many intervals, with about as many events each.
        entry : array_like, shape (n,), optional
            From when on a row was watched (left truncation); 0 where left out.
        **kwargs
            The other arguments of ``FusedLogit``. With ``fuse_intercepts=False``, the default,
            the baseline hazard is free in every interval; with True it is fused too.

        Notes
        -----
        The coefficients are log odds ratios of the discrete hazard. An interval holds its
        right end. A label is 1 where the event came in the interval, 0 where it was
        survived, and missing where the row was not watched all along: it entered later,
        ended before, or entered or was censored inside the interval. The likelihood is exact
        for rows censored at breaks. With a large ``fusion`` effects are constant over
        time, as in the proportional-odds hazard model; ``fusion`` decides how far to go
        there. ``predict`` takes ``which="hazard"``, ``"survival"``, ``"incidence"`` and
        ``"median"`` too; ``outcomes.out_of_fold_scores`` has log-likelihood, Brier score and
        concordance of what ``fit_cv`` chose, ``outcomes.survival_scores`` those in other rows.
        """
        times = Times.read(time, event, entry)
        return cls._of(Survival.read(times, breaks), times, exog, kwargs)

    @classmethod
    def from_survival_formula(cls, formula: str, data: pd.DataFrame, breaks: Any, **kwargs: Any) -> Self:
        """A model of the time to an event from a formula: ``"Surv(time, event) ~ age + C(site)"``.

        On the left stand ``Surv(time, event)``, ``Surv(entry, time, event)``, or two or three
        columns as ``time + event``. The other arguments are those of ``from_survival``.
        """
        parsed, kwargs = _parse(split_surv(formula), data, kwargs)
        columns = [parsed.endog.iloc[:, k] for k in range(parsed.endog.shape[1])]
        if len(columns) not in (2, 3):
            raise ValueError("formula must have a time and an event on its left side, as in Surv(time, event), found "
                             f"{list(parsed.endog.columns)}")
        times = Times.read(*columns[-2:], *columns[:-2])
        model = cls._of(Survival.read(times, breaks), times, parsed.exog, kwargs)
        model.formula = parsed.without_data()
        return model

    @classmethod
    def _of(cls, outcome: Any, endog: Any, exog: Any, kwargs: dict) -> Self:
        """A model of the tasks of an outcome; without pandas in it, ``endog`` has the row labels of ``exog``."""
        labels = outcome.labels(endog)
        named = isinstance(endog, pd.Series) or isinstance(endog, Times) and endog.index is not None
        if not named and isinstance(exog, pd.DataFrame) and len(exog) == len(labels):
            labels.index = exog.index
        model = cls(labels, exog, **kwargs)
        model.outcome = outcome
        return model


def _parse(formula, data, options):
    """A formula evaluated on data, with the names that its caller's caller sees, and the other arguments of the model.

    Weights and offset may be names of columns.
    """
    drop = checks.word("missing", options.get("missing", "none"), MISSING) == "drop"
    parsed = Formula(formula, data, calling_environment(depth=3), drop)
    named = {name: column(name, options[name], data, "data") for name in ("weights", "offset")
             if isinstance(options.get(name), str)}
    return parsed, {**options, **named}
