"""What every result can do, and what every fit has: coefficients, likelihood, predictions, residuals."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
import pandas as pd

from . import checks, io, matrices
from .base import INNER, Model
from .constrained_fit import log_choose, pattern_of
from .inputs import read_groups
from .io import Array, Nested, Plain, saved
from .metrics import linear_predictor, loglike, null_loglike
from .objective import pointwise_loss, sigmoid
from .outcomes import Outcome
from .problem import Design, Groups, Labels
from .scores import score_table

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

    from .inference import BootstrapResults, StabilityResults

__all__ = ["Facts", "Fit", "Result", "Single", "Tabled", "load"]

# Words of ``predict`` that give a table, and those that give one number a row.
Tabled = Literal["prob", "linear", "label", "levels", "hazard", "survival", "incidence"]
Single = Literal["level", "rank", "median"]


class Result:
    """Methods that all results share; each is a dataclass with a summary of its own."""

    kind: ClassVar[str]
    #: Cached properties computed from the data, to be kept when the data are removed.
    computed: ClassVar[Mapping[str, Plain | Nested]] = {}
    model: Model

    def summary(self) -> Summary:
        """A statsmodels ``Summary``."""
        raise NotImplementedError

    def remove_data(self) -> None:
        """Drop the data; keep the coefficients and everything the summary shows.

        Afterwards ``predict`` needs ``exog``, and what needs the rows (``refit``, ``bootstrap``,
        residuals) is no longer possible.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.remove_data()
        >>> fit.model
        <FusedLogit: 4 tasks, 3 features, data removed>
        """
        for name in self.computed:
            getattr(self, name)
        self.model = self.model.without_data()

    def save(self, path: str | PathLike, remove_data: bool = False) -> None:
        """Write to one file that holds arrays and text only, no code; ``fusedlr.load`` reads it.

        The file appears whole or not at all. Row labels other than numbers, dates and
        text come back as text.

        Parameters
        ----------
        path : str or path
        remove_data : bool
            Leave the data out: everything that the summary shows is kept, and ``predict``
            needs ``exog``.

        Examples
        --------
        >>> import os, tempfile
        >>> from fusedlr import FusedLogit, datasets, load
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "fit.npz")
        ...     fit.save(path, remove_data=True)
        ...     again = load(path)
        >>> again
        <FusedLogitResults: l1=5, l2=0, fusion=10; 7 distinct values, optimal>
        """
        kept = copy.copy(self)
        if checks.flag("remove_data", remove_data):
            kept.remove_data()
        io.save(path, kept)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - INNER)

    def __str__(self) -> str:
        return self.summary().as_text()

    def _repr_html_(self) -> str:
        return self.summary().as_html()


def load(path: str | PathLike, formula: bool = False) -> Any:
    """The result that its ``save`` wrote to a file, of the same class. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
    formula : bool
        Whether a model from a formula takes the formula's variables in ``predict``
        again. A formula is code: ask for this with files you trust only. Without
        it, ``predict`` takes the columns of the design.

    Examples
    --------
    >>> import os, tempfile
    >>> from fusedlr import FusedLogit, datasets, load
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "fit.npz")
    ...     fit.save(path)
    ...     again = load(path)
    >>> bool((again.params == fit.params).all(axis=None))
    True
    """
    trusted, result = checks.flag("formula", formula), io.load(path)
    if not isinstance(result, Result):
        raise ValueError(f"path must lead to a file written by the save method of a result, found {str(path)!r}, which "
                         "holds a part of one")
    if trusted and result.model.spec.formula is not None:
        try:
            result.model.spec.formula.trust(result.model.spec.features)
        except Exception as error:  # a formula is code, which may raise anything
            raise ValueError(f"path leads to {str(path)!r}, in which {error}") from error
    return result


@dataclass(frozen=True)
class Facts:
    """What a summary says of data and likelihood.

    Attributes
    ----------
    nobs : int
        Observations; see ``Fit.nobs``.
    rows, unlabelled, groups : int
        Rows with an observed label, rows without any, and groups of the former.
    units : float
        Weighted number of sampling units; the n of BIC.
    observed : int
        Observed labels, weights not counted.
    labels, yes : ndarray, shape (t,)
        Observed labels of each task, and those that are yes, weights counted.
    llf_per_task, llnull_per_task : ndarray, shape (t,)
    llf, llnull : float
        Of the outcome as a whole.
    about : list of (str, str)
        What the outcome says of itself.
    """

    nobs: int = saved()
    rows: int = saved()
    unlabelled: int = saved()
    groups: int = saved()
    units: float = saved(Plain(io.finite(0)))
    observed: int = saved()
    labels: np.ndarray = saved(Array(("t",), least=0))
    yes: np.ndarray = saved(Array(("t",), least=0))
    llf_per_task: np.ndarray = saved(Array(("t",)))
    llnull_per_task: np.ndarray = saved(Array(("t",)))
    llf: float = saved()
    llnull: float = saved()
    about: list = saved(Plain(io.listed(io.row(io.TEXT, io.TEXT))))

    @classmethod
    def of(cls, model: Model, params: np.ndarray) -> Facts:
        """The facts of a model at coefficients of shape (1 + d, t)."""
        problem = model.with_data()
        labels, offset = problem.labels, problem.design.shift(problem.labels)
        linear = linear_predictor(problem.design, labels, params)
        return cls(model.nobs, model.n_rows, problem.n_rows - model.n_rows, model.n_groups, problem.groups.size,
                   labels.size, labels.sums(labels.weight), labels.sums(labels.weight * labels.yes),
                   loglike(labels, linear)[:-1], null_loglike(labels, offset)[:-1],
                   model.outcome.loglike(labels, linear), model.outcome.null_loglike(labels, offset),
                   model.outcome.facts(labels, problem.n_rows))


class Fit(Result):
    """Results that have coefficients for every task."""

    computed = {"facts": Nested(Facts)}

    @property
    def _params(self) -> np.ndarray:
        """Intercepts and coefficients, ndarray (1 + d, t)."""
        raise NotImplementedError

    @cached_property
    def facts(self) -> Facts:
        """What the summary says of data and likelihood."""
        return Facts.of(self.model, self._params)

    # ---- coefficients -----------------------------------------------------------------------------------------------

    @property
    def params(self) -> pd.DataFrame:
        """Intercepts (first row) and coefficients, DataFrame (1 + d, t)."""
        return self.model.spec.frame(self._params.copy())

    @property
    def coefs(self) -> pd.DataFrame:
        """Coefficients, DataFrame (d, t)."""
        return self.params.iloc[1:]

    @property
    def intercepts(self) -> pd.Series:
        """Intercepts, Series (t,)."""
        return self.params.iloc[0]

    @cached_property
    def pattern(self) -> np.ndarray:
        """Support and ties: the number of the tied group of each entry of params, -1 for a zero, ndarray (1 + d, t)."""
        return pattern_of(self._params, self.model.tasks)

    def effects(self, found_in: BootstrapResults | StabilityResults | None = None) -> pd.DataFrame:
        """Piecewise-constant effects along chains: one row for each run of tasks that share a coefficient.

        Parameters
        ----------
        found_in : BootstrapResults or StabilityResults, optional
            Of the same fit, for the last column.

        Returns
        -------
        DataFrame
            Indexed by feature. ``first`` and ``last`` task of the run (in a survival model the
            times ``start`` and ``end``), ``coef``, and ``constant``: whether the feature has a
            single run. ``found``: the share of resamples with a change point where this run
            begins; for a feature's first run, the share in which it is constant throughout.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.effects().round(2)
                  first    last  coef  constant
        feature
        age       week4   week8  0.92     False
        age      week12  week16  0.90     False
        dose      week4   week8  0.00     False
        dose     week12  week16  0.89     False
        noise     week4  week16  0.00      True
        """
        if not self.model.tasks.is_line:
            raise ValueError("effects are stretches of a chain, found another graph of tasks; see fused_groups")
        changes, axis = _changes(self, found_in), self.model.outcome.axis
        begins, ends = (axis.names, axis.names) if axis.ends is None else (axis.ends[:-1], axis.ends[1:])
        rows = [(name, begins[first], ends[last], *rest)
                for name, values, change in zip(self.model.spec.features, self._params[1:], changes)
                for first, last, *rest in _stretches(values, change, self.model.tasks)]
        words = ("first", "last") if axis.ends is None else ("start", "end")
        table = pd.DataFrame(rows, columns=["feature", *words, "coef", "constant", "found"]).set_index("feature")
        return table if found_in is not None else table.drop(columns="found")

    # ---- how well the model fits ------------------------------------------------------------------------------------

    @property
    def nobs(self) -> int:
        """Rows with at least one observed label; groups of such rows in a survival model with groups."""
        return self.facts.nobs

    @property
    def n_groups(self) -> int:
        """Groups (clusters) with an observed label; rows where no groups were given."""
        return self.facts.groups

    @property
    def nobs_per_task(self) -> pd.Series:
        """Observed labels of each task, weights counted, Series (t,)."""
        return self.model.spec.by_task(self.facts.labels)

    @property
    def positives(self) -> pd.Series:
        """Observed labels that are yes, weights counted, Series (t,)."""
        return self.model.spec.by_task(self.facts.yes)

    @property
    def llf_per_task(self) -> pd.Series:
        """Log-likelihood of each task, Series (t,)."""
        return self.model.spec.by_task(self.facts.llf_per_task)

    @property
    def llnull_per_task(self) -> pd.Series:
        """Log-likelihood of each task with its own intercept and the offset only, Series (t,)."""
        return self.model.spec.by_task(self.facts.llnull_per_task)

    @property
    def llf(self) -> float:
        """Log-likelihood, penalties not counted; of a model of one outcome that of the outcome itself."""
        return self.facts.llf

    @property
    def llnull(self) -> float:
        """Log-likelihood of intercepts alone, one for each task, neither fused nor shrunk."""
        return self.facts.llnull

    @property
    def deviance(self) -> float:
        """-2 llf."""
        return -2 * self.llf

    @property
    def prsquared(self) -> float:
        """McFadden's pseudo R-squared, the share of the null deviance explained; NaN where that is zero."""
        return 1 - self.llf / self.llnull if self.llnull else float("nan")

    @property
    def df(self) -> int:
        """Degrees of freedom: distinct non-zero coefficients plus distinct intercepts."""
        return int(self.pattern.max()) + 1

    @property
    def df_model(self) -> int:
        """Distinct non-zero values of the coefficients, intercepts not counted, as in statsmodels."""
        return self.df - len(np.unique(self.pattern[0]))

    @property
    def df_resid(self) -> float:
        """Observed labels of all tasks less ``df``."""
        return float(self.facts.labels.sum()) - self.df

    @property
    def df_effective(self) -> float:
        """Effective degrees of freedom."""
        return float(self.df)

    @property
    def aic(self) -> float:
        """Akaike's criterion, -2 llf + 2 df_effective."""
        return -2 * self.llf + 2 * self.df_effective

    @property
    def bic(self) -> float:
        """Schwarz's criterion, -2 llf + log(n) df_effective, n the number of sampling units: rows, or groups."""
        return -2 * self.llf + float(np.log(self.facts.units)) * self.df_effective

    @property
    def ebic(self) -> float:
        """Extended BIC, ``bic`` + 2 log(d choose k) for k of d features selected (Chen and Chen 2008, at gamma = 1).

        With many features BIC keeps false ones: its uniform prior over models favours large
        models, of which there are more. That of EBIC is uniform over the number of features.
        """
        features = len(self.pattern) - 1
        return float(self.bic + 2 * log_choose(features, np.sum((self.pattern[1:] >= 0).any(axis=1))))

    # ---- predictions and residuals ----------------------------------------------------------------------------------

    @overload
    def predict(self, exog: Any = None, which: Tabled = "prob", offset: Any = None, task: None = None,
                cause: Any = None) -> pd.DataFrame: ...

    @overload
    def predict(self, exog: Any, which: Single, offset: Any = None, task: None = None,
                cause: Any = None) -> pd.Series: ...

    @overload
    def predict(self, exog: Any = None, *, which: Single, offset: Any = None, cause: Any = None) -> pd.Series: ...

    @overload
    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None, *, task: Any,
                cause: Any = None) -> pd.Series: ...

    @overload
    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None, task: Any = None,
                cause: Any = None) -> pd.DataFrame | pd.Series: ...

    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None,
                task: Any = None, cause: Any = None) -> pd.DataFrame | pd.Series:
        """Predictions for new rows, or for the rows of the fit.

        Parameters
        ----------
        exog : DataFrame or array_like, optional
            The rows of the fit where left out. Columns of a DataFrame are found by
            name, in any order, others are ignored; columns of an array by position. A
            model from a formula takes a DataFrame with the formula's variables. A model with
            ``missing="drop"`` predicts NaN where a feature is missing; others refuse such rows.
        which : "prob", "linear" or "label"
            Probability of yes, linear predictor, or the more probable of the user's own
            two labels. Of an ordered outcome also "levels" (probability of each level),
            "level" (the most probable one) and "rank" (expected level where levels are
            numbers, else expected position from 1); of a survival model "hazard", "survival",
            "incidence" (both at the ends of the intervals) and "median" survival time (the hazard
            constant within an interval; NaN where survival stays above a half).
        offset : float or array_like, shape (n,) or (n, t), or the name of a column of exog, optional
            Of new rows. Required where the model has an offset; 0 is allowed.
        task : name of a task, array_like of names, shape (n,), or name of a column of exog, optional
            The task to predict, of all rows or of each row.
        cause : name of a cause, optional
            Of models with several causes: that of "hazard" and "incidence"; all where left out.

        Returns
        -------
        DataFrame, shape (n, t)
            A column for each level at "levels"; a Series, shape (n,), at "level", "rank" and
            "median", and where ``task`` is given.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.predict(X.head(2)).round(2)
           week4  week8  week12  week16
        0   0.58   0.57    0.74    0.74
        1   0.23   0.22    0.41    0.40
        >>> fit.predict(X.head(2), which="label")
           week4  week8  week12  week16
        0   True   True    True    True
        1  False  False   False   False
        """
        outcome = self.model.outcome
        which = checks.word("which", which, ("prob", "linear", "label", *outcome.predictions))
        _refuse_misplaced(outcome, which, task, cause)
        if task is not None:
            return self._predict_task(exog, which, offset, task)
        linear = self._linear(exog, offset)
        missing = linear.isna().any(axis=1).to_numpy()
        if not missing.any():
            return self._predicted(linear, which, cause)
        found = self._predicted(linear.fillna(0.0), which, cause)
        return found.mask(missing if found.ndim == 1 else np.tile(missing[:, None], found.shape[1]))

    def _predicted(self, linear, which, cause):
        """Predictions from linear predictors."""
        outcome = self.model.outcome
        if which in outcome.predictions:
            return outcome.predict(linear, which, **({} if cause is None else {"cause": cause}))
        if which == "prob":
            return pd.DataFrame(sigmoid(linear.to_numpy()), linear.index, linear.columns)
        return linear if which == "linear" else self._labels(linear)

    def _predict_task(self, exog, which, offset, task):
        """Predictions of one task for each row, Series (n,)."""
        design, index = self._rows(exog, offset)
        k = self.model.spec.positions(task, exog, design.n_rows, index)
        labels = Labels.long(np.ones(len(k)), k, len(self.model.endog_names))
        linear = np.empty(len(k))
        linear[labels.row] = design.linear(self._params, labels)
        linear = self._blanked(design, linear)
        if which == "label":
            words = np.array([[*words, None] for words in self.model.outcome.words], dtype=object)
            return pd.Series(words[k, np.where(np.isnan(linear), 2, linear > 0)], index).infer_objects()
        return pd.Series(sigmoid(linear) if which == "prob" else linear, index)

    def score(self, endog: Any, exog: Any, weights: Any = None, offset: Any = None, task: Any = None,
              groups: Any = None) -> pd.DataFrame:
        """Scores on held-out rows, by task: log-loss, Brier score, AUC and calibration.

        Parameters
        ----------
        endog, exog, weights, offset, task, groups : as for ``FusedLogit`` and ``from_long``
            Held-out rows. Standard errors are cluster-robust where groups are given.

        Returns
        -------
        DataFrame
            See ``scores.score_table``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y[:300], X[:300]).fit(l1=5, l2=0, fusion=10)
        >>> fit.score(Y[300:], X[300:])[["logloss", "auc"]].round(2)
                logloss   auc
        week4      0.59  0.75
        week8      0.59  0.74
        week12     0.56  0.77
        week16     0.59  0.76
        all        0.58  0.75
        """
        held = self.model.held_out(endog, exog, weights, offset, task)
        given = read_groups(groups, held.design.n_rows, held.index)
        counted = held.labels.counted_once() if weights is None else held.labels
        units = Groups.rows(counted, held.design.n_rows) if given is None else Groups.given(*given, held.labels)
        return score_table(held.labels, held.design.linear(self._params, held.labels), units, self.model.endog_names)

    @property
    def fittedvalues(self) -> pd.DataFrame | pd.Series:
        """Probabilities of yes in the rows of the fit, DataFrame (n, t).

        A Series (n,) where each row has one task, NaN in rows without a label.
        """
        problem = self.model.with_data()
        if self.model.outcome.long:
            return self._by_label(sigmoid(problem.linear(self._params)))
        return self.predict()

    @property
    def resid_response(self) -> pd.DataFrame | pd.Series:
        """Label less fitted probability, NaN where the label is not observed, shaped as ``fittedvalues``."""
        return self.model.endog - self.fittedvalues

    @property
    def resid_pearson(self) -> pd.DataFrame | pd.Series:
        """``resid_response`` over the standard deviation of the label, sqrt(p (1 - p))."""
        return self._residuals(lambda margin: np.exp(-margin / 2))

    @property
    def resid_deviance(self) -> pd.DataFrame | pd.Series:
        """Signed root of each label's contribution to the deviance, weights not counted."""
        return self._residuals(lambda margin: np.sqrt(2 * pointwise_loss(margin)))

    def _residuals(self, size: Callable[[np.ndarray], np.ndarray]) -> pd.DataFrame | pd.Series:
        """Residuals with the sign of the label, from their size at a margin (sign times linear predictor)."""
        problem = self.model.with_data()
        sign = problem.labels.sign
        return self._by_label(sign * size(sign * problem.linear(self._params)))

    def _by_label(self, values: np.ndarray) -> pd.DataFrame | pd.Series:
        problem = self.model.problem
        return self.model.outcome.by_label(problem.labels, values, problem.n_rows, self.model.index)

    def _rows(self, exog: Any, offset: Any) -> tuple[Design, pd.Index | None]:
        """Rows to predict: new ones, or those of the fit."""
        if exog is not None:
            return self.model.spec.new_rows(exog, offset, gaps=self.model.spec.drops)
        if offset is not None:
            raise ValueError("offset goes with exog: the rows of the fit keep the offset of the model")
        return self.model.with_data().design, self.model.index

    def _linear(self, exog: Any, offset: Any) -> pd.DataFrame:
        """Linear predictors, NaN in rows with a missing feature."""
        design, index = self._rows(exog, offset)
        return self.model.spec.table(self._blanked(design, design.table(self._params)), index)

    def _blanked(self, design: Design, values: np.ndarray) -> np.ndarray:
        """Values by row, NaN where a feature is missing, also one whose coefficient is zero."""
        if self.model.spec.drops:
            values[~matrices.complete_rows(design.X)] = np.nan
        return values

    def _labels(self, linear: pd.DataFrame) -> pd.DataFrame:
        # Object arrays keep each label as the user wrote it; infer_objects then finds the type of the column.
        columns = {name: np.array([*words, None], dtype=object)[:2][(linear[name] > 0).to_numpy().astype(int)]
                   for name, words in zip(linear.columns, self.model.outcome.words)}
        return pd.DataFrame(columns, linear.index).infer_objects()


def _refuse_misplaced(outcome: Outcome, which: str, task: Any, cause: Any) -> None:
    """Refuse a task where the outcome as a whole is asked for, and a cause that is not there or nobody asked for."""
    if task is not None and which in outcome.predictions:
        raise ValueError(f"task goes with which='prob', 'linear' and 'label', found which={which!r}, about all "
                         "tasks")
    if cause is None:
        return
    if isinstance(cause, bool) or not isinstance(cause, (str, Real)) or cause not in outcome.causes:
        known = f"one of {list(outcome.causes)}" if outcome.causes else "left out in a model without several causes"
        raise ValueError(f"cause must be {known}, found {checks.shown(cause)}")
    if which not in outcome.predictions:
        raise ValueError(f"cause goes with which='hazard' and 'incidence', found which={which!r}")


def _changes(fit: Fit, found_in: Any) -> Iterator[np.ndarray | None] | np.ndarray:
    """For each feature, in which resamples its coefficient changes after each task, (resamples, t - 1), or None."""
    if found_in is None:
        return iter([None] * len(fit.model.spec.features))
    checks.result("found_in", found_in, ("params", "samples"), "what bootstrap() or stability() gave")
    if not found_in.params.equals(fit.params):
        raise ValueError("found_in must be of the same fit, found that of a fit with other coefficients")
    return np.moveaxis(np.diff(found_in.samples[:, 1:], axis=2) != 0, 1, 0)


def _stretches(values, changes, tasks):
    """First and last task, value and constancy of each run of equal values, and how often resamples agree."""
    joined = np.isin(np.arange(len(values) - 1), tasks.edges[:, 0])
    starts = np.append(0, np.flatnonzero((np.diff(values) != 0) | ~joined) + 1)
    for first, last in zip(starts, np.append(starts[1:], len(values)) - 1):
        begins = first == 0 or not joined[first - 1]
        constant = begins and (last == len(values) - 1 or not joined[last])
        if changes is None:
            found = np.nan
        else:
            rest = np.flatnonzero(~joined[first:])
            chain = slice(first, first + rest[0] if len(rest) else len(joined))
            found = 1 - changes[:, chain].any(axis=1).mean() if begins else changes[:, first - 1].mean()
        yield first, last, values[first] + 0.0, constant, found
