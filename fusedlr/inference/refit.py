"""Unpenalized refits of what a penalized fit selected, with Wald standard errors."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks, criteria
from ..exceptions import FusedLogitWarning, SeparationWarning
from ..fitted import Fit
from ..pattern import RIDGE, PatternFit, clustered_cov, fit_pattern
from .hypotheses import read_hypotheses
from .prediction import PredictionResults
from .wald import chi2_test, intervals, normal_quantile, pairs, two_sided, z_tests

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary
    from statsmodels.stats.contrast import ContrastResults

__all__ = ["RefitResults", "refit"]


def refit(results: Any, cov_type: str | None = None) -> RefitResults:
    """Fit the zeros and ties that a penalized fit found again, without penalty.

    Parameters
    ----------
    results : FusedLogitResults
    cov_type : "cluster" or "nonrobust", optional
        Standard errors that allow any dependence between the tasks of a row, the default
        where there are several tasks; or that take the labels of one row as independent
        given the features, as separate logistic regressions do. Labels of one person at
        several times, or at several thresholds, are not independent: the second kind is
        then too small for values that tasks share.

    Returns
    -------
    RefitResults

    Warns
    -----
    SeparationWarning
        The pattern separates the data of some task, so that its coefficients have no
        finite best value. They are held back by a small ridge and carry no standard error.
    """
    model = results.model
    usual = "cluster" if len(model.endog_names) > 1 else "nonrobust"
    cov_type = usual if cov_type is None else checks.word("cov_type", cov_type, ("nonrobust", "cluster"))
    fit = fit_pattern(model.data, results.pattern)
    if cov_type == "cluster":
        fit = replace(fit, cov=clustered_cov(model.data, fit))
    refitted = RefitResults(results, fit, cov_type)
    _warn(refitted)
    return refitted


class RefitResults(Fit):
    """An unpenalized fit on the pattern of a penalized one, with Wald standard errors.

    Tables have the shape of ``params``, features by tasks with the intercept first.
    Tied places hold the same number; places that the pattern sets to zero hold 0 in
    ``params`` and NaN in everything about uncertainty, because nothing was estimated there.
    Everything is conditional on selection: the same data chose what is zero and what is
    equal, so intervals are too short and p-values too small.

    Attributes
    ----------
    selected : FusedLogitResults
        The penalized fit.
    fit : pattern.PatternFit
        Of the features divided by the model's ``scale``.
    cov_type : str
    """

    kind = "refit"

    def __init__(self, selected: Any, fit: PatternFit, cov_type: str = "nonrobust") -> None:
        super().__init__(selected.model, fit.params)
        self.selected = selected
        self.fit = fit
        self.pattern = fit.pattern
        self.cov_type = cov_type
        # Facts about the data alone, which the penalized fit may know without having the data any more.
        self._take_kept({name: getattr(selected, name) for name in Fit.kept
                         if name not in ("llf", "llf_per_task")})

    # ---- estimated values -------------------------------------------------------------------------------------------

    @property
    def bse(self) -> pd.DataFrame:
        """Wald standard errors, DataFrame (1 + d, t); NaN where nothing was estimated or no finite best exists."""
        return self._by_place(self._places(np.sqrt(np.diag(self.fit.cov))) / self._row_scale)

    @property
    def zvalues(self) -> pd.DataFrame:
        """Coefficients over their standard errors, DataFrame (1 + d, t)."""
        return self.params / self.bse

    tvalues = zvalues

    @property
    def pvalues(self) -> pd.DataFrame:
        """Two-sided Wald p-values, conditional on selection, DataFrame (1 + d, t)."""
        return self._by_place(two_sided(self.zvalues.to_numpy()))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Wald intervals, DataFrame (1 + d, 2 t) with columns (task, "lower") and (task, "upper")."""
        half = normal_quantile(alpha) * self.bse
        return intervals(self.params - half, self.params + half)

    def cov_params(self) -> pd.DataFrame:
        """Covariance of the estimated values on the original scale, in the order of ``table``, DataFrame (p, p)."""
        unit = self._groups["scale"].to_numpy()
        return pd.DataFrame(self.fit.cov / np.outer(unit, unit), self._names, self._names)

    def table(self, alpha: float = 0.05) -> pd.DataFrame:
        """One row for each estimated value.

        Returns
        -------
        DataFrame
            Indexed by feature and by the tasks that share the value; columns ``coef``,
            ``std err``, ``z``, ``P>|z|`` and the ends of the interval.
        """
        unit = self._groups["scale"].to_numpy()
        coef, error = self.fit.values / unit, np.sqrt(np.diag(self.fit.cov)) / unit
        half = normal_quantile(alpha) * error
        return pd.DataFrame({"coef": coef, "std err": error, "z": coef / error, "P>|z|": two_sided(coef / error),
                             f"[{alpha / 2:.4g}": coef - half, f"{1 - alpha / 2:.4g}]": coef + half}, self._names)

    def t_test(self, hypotheses: Any = None, value: Any = 0.0) -> ContrastResults:
        """Tests of linear hypotheses about the estimated values, each on its own.

        Parameters
        ----------
        hypotheses : feature, (feature, task), list of these, or array_like of shape (q, p), optional
            A feature stands for all of its values, (feature, task) for the value that the
            feature has in this task (or in these, as ``table`` writes them). Rows of a
            matrix are sums of values in the order of ``table``. Every value where left out.
        value : float or array_like, shape (q,)
            What the hypotheses say that values or sums are equal to.

        Returns
        -------
        statsmodels ContrastResults
            With normal statistics, conditional on selection.
        """
        return z_tests(*self._hypotheses(hypotheses, value))

    def wald_test(self, hypotheses: Any = None, value: Any = 0.0) -> ContrastResults:
        """A chi-squared test of several linear hypotheses at once; arguments are those of ``t_test``.

        ``wald_test("age")`` asks whether age has any effect in any task.
        """
        return chi2_test(*self._hypotheses(hypotheses, value))

    def _hypotheses(self, hypotheses, value):
        contrasts, wanted = read_hypotheses(hypotheses, value, self._groups, self.model, self.pattern)
        return contrasts, wanted, self.fit.values / self._groups["scale"].to_numpy(), self.cov_params().to_numpy()

    # ---- how well the model fits ------------------------------------------------------------------------------------

    @property
    def aic(self) -> float:
        """-2 llf + 2 df."""
        return criteria.aic(self.llf, self.df)

    @property
    def bic(self) -> float:
        """-2 llf + log(n) df, n the number of rows (weights counted)."""
        return criteria.bic(self.llf, self.df, self._row_weight)

    @property
    def separated(self) -> list:
        """Tasks in which some coefficient has no finite best value, list of names."""
        touched = (self._places(self.fit.unbounded.astype(float)) == 1).any(axis=0)
        return [name for name, hit in zip(self.model.endog_names, touched) if hit]

    @property
    def converged(self) -> bool:
        """Whether every value was estimated: no separation, no collinear features."""
        return not (self.fit.unbounded.any() or self.fit.collinear.any())

    # ---- predictions ------------------------------------------------------------------------------------------------

    def get_prediction(self, exog: Any = None, offset: Any = None) -> PredictionResults:
        """Probabilities of yes with standard errors and intervals, conditional on selection.

        Parameters
        ----------
        exog, offset : as for ``predict``

        Returns
        -------
        PredictionResults
        """
        linear = self.predict(exog, "linear", offset)
        X = self.model.data.X if exog is None else self.model.design(exog)[0] / self.model.scale
        variance = np.column_stack([self._variance(X, k) for k in range(linear.shape[1])])
        return PredictionResults(linear, pd.DataFrame(np.sqrt(variance), linear.index, linear.columns))

    def _variance(self, X, k):
        """Variance of the linear predictor of task k, shape (n,)."""
        rows = np.flatnonzero(self.pattern[:, k] >= 0)
        values = self.pattern[rows, k]
        design = np.column_stack([np.ones(len(X)), X[:, rows[rows > 0] - 1]])
        return np.einsum("ij,jk,ik->i", design, self.fit.cov[np.ix_(values, values)], design)

    # ---- reading it -------------------------------------------------------------------------------------------------

    def summary(self, alpha: float = 0.05, title: str | None = None) -> Summary:
        """A statsmodels Summary of the Wald table, labelled as conditional on selection."""
        from ..summary import summarize_refit

        return summarize_refit(self, alpha, title)

    def __str__(self) -> str:
        from ..summary import VALUES_ON_A_SCREEN, summarize_refit

        return summarize_refit(self, max_rows=VALUES_ON_A_SCREEN).as_text()

    def plot(self, ax: Any = None) -> Any:
        """Draw coefficients with their intervals; see ``plots.intervals``."""
        from ..plots import intervals as draw

        return draw(self, ax=ax)

    @cached_property
    def _groups(self) -> pd.DataFrame:
        """Feature, tasks and scale of each estimated value."""
        names, rows = self.model.endog_names, []
        for value in range(len(self.fit.values)):
            row, places = np.nonzero(self.pattern == value)
            rows.append((self.model.exog_names[row[0]], _span(places, names), self._row_scale[row[0], 0]))
        return pd.DataFrame(rows, columns=["feature", "tasks", "scale"])

    @property
    def _names(self) -> pd.MultiIndex:
        return pairs(self._groups["feature"], self._groups["tasks"], ["feature", "tasks"])

    def _places(self, values: np.ndarray) -> np.ndarray:
        return np.where(self.pattern >= 0, np.append(values, np.nan)[self.pattern], np.nan)

    # ---- keeping it -------------------------------------------------------------------------------------------------

    def remove_data(self) -> None:
        """Let go of the data, here and in ``selected``; see ``FusedLogitResults.remove_data``."""
        super().remove_data()
        self.selected.remove_data()

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        page, arrays = self.selected.state(remove_data)
        fit = self.fit
        page["refit"] = {"cov_type": self.cov_type, "llf": self.llf, "llf_per_task": self.llf_per_task.tolist()}
        # Values without a variance are known by their flags, so that files hold finite numbers only.
        return page, {**arrays, "refit_pattern": fit.pattern, "refit_values": fit.values,
                      "refit_cov": np.nan_to_num(fit.cov), "refit_unbounded": fit.unbounded.astype(np.int8),
                      "refit_collinear": fit.collinear.astype(np.int8)}

    @classmethod
    def from_state(cls, selected: Any, page: dict, arrays: dict) -> RefitResults:
        """A refit from what ``state`` gave, of a penalized fit that was made from the same."""
        unbounded, collinear = (arrays[f"refit_{name}"].astype(bool) for name in ("unbounded", "collinear"))
        vague, cov = unbounded | collinear, arrays["refit_cov"].copy()
        cov[vague] = cov[:, vague] = np.nan
        kept = page["refit"]
        fit = PatternFit(arrays["refit_pattern"], arrays["refit_values"], cov, sum(kept["llf_per_task"]),
                         unbounded, collinear)
        refitted = cls(selected, fit, kept["cov_type"])
        refitted._take_kept({name: kept[name] for name in ("llf", "llf_per_task")})
        return refitted

    def __repr__(self) -> str:
        return f"<RefitResults: {self.df} values, llf {self.llf:.6g}, {self.cov_type}, conditional on selection>"


def _warn(refitted):
    if refitted.fit.unbounded.any():
        warnings.warn(f"refit: the labels of tasks {refitted.separated} are separated by the selected features, so "
                      f"that their coefficients have no finite best value; they are held back by a ridge of {RIDGE:g} "
                      "and have no standard errors; use the penalized fit, or larger penalties",
                      SeparationWarning, stacklevel=4)
    if refitted.fit.collinear.any():
        features = refitted._groups["feature"][refitted.fit.collinear].unique().tolist()
        warnings.warn(f"refit: the selected features {features[:6]} are collinear, so that their coefficients cannot "
                      "be told apart and have no standard errors; drop some of them, or use the penalized fit",
                      FusedLogitWarning, stacklevel=4)


def _span(places, names):
    """Short name of a set of tasks: runs of neighbouring columns as "first ... last"."""
    if len(places) == len(names) > 1:
        return "all tasks"
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return ", ".join(f"{names[run[0]]} ... {names[run[-1]]}" if len(run) > 2 else ", ".join(str(names[k]) for k in run)
                     for run in runs)
