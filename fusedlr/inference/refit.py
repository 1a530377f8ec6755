"""Unpenalized (relaxed) refits on the selected support and ties, with Wald standard errors."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
import pandas as pd

from .. import checks
from ..base import Model
from ..constrained_fit import RIDGE, PatternFit, clustered_cov, fit_pattern
from ..exceptions import FusedLogitWarning, SeparationWarning
from ..fit import Fit
from ..io import Nested, Plain, registered, saved, word
from ..spec import task_span
from .changes import ChangeTest, change_test, differences, released
from .contrasts import chi2_test, intervals, normal_quantile, pairs, read_hypotheses, two_sided, wald_table, z_tests
from .margins import MarginalEffects, margins
from .prediction import PredictionResults

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary
    from statsmodels.stats.contrast import ContrastResults

    from ..results import FusedLogitResults

__all__ = ["CovType", "RefitResults", "refit"]

CovType = Literal["nonrobust", "cluster"]


def refit(results: FusedLogitResults, cov_type: CovType | None = None, ties: bool = True,
          rows: Any = None) -> RefitResults:
    """Maximum likelihood refit on the selected support and ties.

    Parameters
    ----------
    results : FusedLogitResults
    cov_type : "cluster" or "nonrobust", optional
        Cluster-robust standard errors (sandwich estimator), clusters being rows, or groups where
        the model has them, the default with several tasks or groups; or model-based ones, all
        labels independent given the features. Labels of one person at several times or
        thresholds are dependent: the second kind is then too small for values that tasks share.
    ties, rows : as for ``FusedLogitResults.refit``

    Returns
    -------
    RefitResults

    Warns
    -----
    SeparationWarning
        Complete or quasi-complete separation in some task: no finite maximum likelihood
        estimate exists. A small ridge keeps its values finite; they have no standard error.
    """
    ties = checks.flag("ties", ties)
    selected = results if rows is None else _on_rows(results, rows)
    model = selected.model
    alone = len(model.endog_names) == 1 and model.problem.groups.are_rows
    usual = "nonrobust" if alone else "cluster"
    errors = usual if cov_type is None else checks.word("cov_type", cov_type, get_args(CovType))
    fit = fit_pattern(model.with_data(), _pattern(selected, ties))
    if errors == "cluster":
        fit = replace(fit, cov=clustered_cov(model.problem, fit))
    refitted = RefitResults(selected, fit, errors, ties, isinstance(rows, Model))
    _warn(refitted)
    return refitted


def _pattern(selected: FusedLogitResults, ties: bool) -> np.ndarray:
    """Support and ties that are kept of a penalized fit."""
    return selected.pattern if ties else released(selected.pattern, selected.model.spec.rows_of_terms.values())


def _on_rows(results: FusedLogitResults, rows: Any) -> FusedLogitResults:
    """The same selection with the model of other rows; its summary still shows its own rows."""
    if not isinstance(rows, Model) and not len(checks.rows("rows", rows, results.model.with_data().n_rows)):
        raise ValueError("rows must have observed labels, found no rows")
    model = rows if isinstance(rows, Model) else results.model.with_rows(rows)
    if model.endog_names != results.model.endog_names or model.exog_names != results.model.exog_names:
        raise ValueError("rows must be a model of the same tasks and features as the fit, found tasks "
                         f"{checks.shown(model.endog_names)} and features {checks.shown(model.exog_names[1:])}")
    if not model.with_data().labels.size:
        raise ValueError("rows must have observed labels, found none")
    moved = copy(results)
    for name in moved.computed:
        getattr(moved, name)
    moved.model = model
    return moved


@registered("refit")
@dataclass(eq=False, repr=False)
class RefitResults(Fit):
    """Maximum likelihood fit with the support and ties of a penalized fit, with Wald standard errors.

    Tables have the shape of ``params``, features by tasks with the intercept first.
    Tied places hold the same number; places that the pattern sets to zero hold 0 in
    ``params`` and NaN in everything about uncertainty, because nothing was estimated there.
    Everything is conditional on selection: where the same data selected support and ties,
    intervals are too short and p-values too small, mostly because of the ties. Without ties
    (``ties=False``), or on rows not used for selection, coverage is about nominal.

    Attributes
    ----------
    selected : FusedLogitResults
        The penalized fit; on other rows its model is that of these rows.
    fit : constrained_fit.PatternFit
    cov_type : str
    ties : bool
        Whether values that are tied in the penalized fit are tied here.
    unseen : bool
        Whether the rows are those of another model than the one used for selection.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> refit = fit.refit()
    >>> refit
    <RefitResults: 7 values, llf -906.345, cluster, conditional on selection>
    >>> refit.table().round(2)[["coef", "std err"]]
                            coef  std err
    feature tasks
    const   week4          -0.00     0.11
            week8          -0.05     0.11
            week12          0.01     0.12
            week16         -0.02     0.12
    age     week4, week8    1.10     0.11
            week12, week16  0.96     0.10
    dose    week12, week16  1.08     0.11
    """

    selected: FusedLogitResults = saved(Nested("results"))
    fit: PatternFit = saved(Nested(PatternFit))
    cov_type: str = saved(Plain(word(*get_args(CovType))))
    ties: bool = saved(default=True)
    unseen: bool = saved(default=False)

    @property
    def model(self) -> Model:  # type: ignore[override]
        """The model of the rows that were fitted."""
        return self.selected.model

    @property
    def _params(self) -> np.ndarray:
        return self.fit.params

    @cached_property
    def pattern(self) -> np.ndarray:
        """Support and ties of the penalized fit, or its selected features without ties."""
        return self.fit.pattern

    def check_loaded(self) -> None:
        """Refuse support and ties of a file that the penalized fit does not have."""
        if not np.array_equal(self.fit.pattern, _pattern(self.selected, self.ties)):
            raise ValueError("fit.pattern must be that of the penalized fit")

    # ---- estimated values -------------------------------------------------------------------------------------------

    @property
    def bse(self) -> pd.DataFrame:
        """Wald standard errors, DataFrame (1 + d, t); NaN where nothing was estimated or the estimate is infinite."""
        return self.model.spec.frame(self._places(np.sqrt(np.diag(self.fit.cov))))

    @property
    def zvalues(self) -> pd.DataFrame:
        """Coefficients over their standard errors, DataFrame (1 + d, t)."""
        return self.params / self.bse

    tvalues = zvalues

    @property
    def pvalues(self) -> pd.DataFrame:
        """Two-sided Wald p-values, conditional on selection, DataFrame (1 + d, t)."""
        return self.model.spec.frame(two_sided(self.zvalues.to_numpy()))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Wald intervals, DataFrame (1 + d, 2 t) with columns (task, "lower") and (task, "upper").

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> refit.conf_int().loc["age"].unstack().round(2)
                lower  upper
        week4    0.81   1.34
        week8    0.85   1.41
        week12   0.60   1.18
        week16   0.76   1.32
        """
        half = normal_quantile(alpha) * self.bse
        return intervals(self.params - half, self.params + half)

    def cov_params(self) -> pd.DataFrame:
        """Covariance of the estimated values, in the order of ``table``, DataFrame (p, p).

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit()
        >>> refit.cov_params().shape
        (7, 7)
        """
        return pd.DataFrame(self.fit.cov, self._names, self._names)

    def table(self, alpha: float = 0.05) -> pd.DataFrame:
        """One row for each estimated value.

        Returns
        -------
        DataFrame
            Indexed by feature and by the tasks that share the value; columns ``coef``,
            ``std err``, ``z``, ``P>|z|`` and the ends of the interval.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit()
        >>> refit.table().loc["age", ["coef", "[0.025", "0.975]"]].round(2)
                        coef  [0.025  0.975]
        tasks
        week4, week8    1.10    0.89    1.32
        week12, week16  0.96    0.77    1.15
        """
        return wald_table(self.fit.values, self.fit.cov, alpha, self._names)

    def t_test(self, hypotheses: Any = None, value: Any = 0.0) -> ContrastResults:
        """Tests of linear hypotheses about the estimated values, each on its own.

        Parameters
        ----------
        hypotheses : feature, (feature, task), list of these, or array_like of shape (q, p), optional
            A feature stands for all of its values, (feature, task) for the value that the
            feature has in this task (or in these, as ``table`` writes them). Rows of a
            matrix are contrasts of the values in the order of ``table``. Every value where left out.
        value : float or array_like, shape (q,)
            Values under the null hypotheses.

        Returns
        -------
        statsmodels ContrastResults
            With normal statistics, conditional on selection.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit()
        >>> refit.t_test("age").pvalue.round(3)
        array([0., 0.])
        """
        return z_tests(*self._hypotheses(hypotheses, value))

    def wald_test(self, hypotheses: Any = None, value: Any = 0.0) -> ContrastResults:
        """A chi-squared test of several linear hypotheses at once; arguments are those of ``t_test``.

        ``wald_test("age")`` asks whether age has any effect in any task.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> float(refit.wald_test("dose").pvalue) < 0.001
        True
        """
        return chi2_test(*self._hypotheses(hypotheses, value))

    def differences(self, feature: Any = None, alpha: float = 0.05) -> pd.DataFrame:
        """Differences between neighbouring tasks, on the refit without ties; see ``inference.changes``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> refit.differences("age")["coef"].round(2).tolist()
        [0.06, -0.24, 0.15]
        """
        return differences(self._untied, feature, alpha)

    @overload
    def change_test(self, term: None = None) -> pd.DataFrame: ...

    @overload
    def change_test(self, term: Any) -> ChangeTest: ...

    def change_test(self, term: Any = None) -> pd.DataFrame | ChangeTest:
        """Is the effect of a feature or term the same in all tasks? See ``FusedLogitResults.change_test``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> refit.change_test()["pvalue"].round(3).to_dict()
        {'age': 0.697, 'dose': 0.0, 'noise': nan}
        """
        return change_test(self._untied, term)

    @cached_property
    def _untied(self) -> RefitResults:
        """The same refit without ties."""
        return refit(self.selected, self.cov_type, ties=False) if self.ties else self  # type: ignore[arg-type]

    def _hypotheses(self, hypotheses, value):
        contrasts, wanted = read_hypotheses(hypotheses, value, self._groups, self.model.spec, self.pattern)
        return contrasts, wanted, self.fit.values, self.fit.cov

    # ---- how well the model fits ------------------------------------------------------------------------------------

    @property
    def separated(self) -> list:
        """Tasks in which some coefficient has no finite maximum likelihood estimate, list of names."""
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

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> refit.get_prediction(X.head(1)).summary_frame()["week4"].round(2)
           mean  mean_se  mean_ci_lower  mean_ci_upper
        0   0.6     0.04           0.53           0.66
        """
        linear = self._linear(exog, offset)
        design = self.model.problem.design if exog is None else self.model.spec.new_rows(exog, offset)[0]
        variance = np.column_stack([self._variance(design, k) for k in range(linear.shape[1])])
        return PredictionResults(linear, pd.DataFrame(np.sqrt(variance), linear.index, linear.columns))

    def get_margeff(self, which: str = "prob") -> MarginalEffects:
        """Average marginal effects (predictive differences) by feature and task, conditional on selection.

        The weighted mean over rows of the derivative of the prediction in a feature, others fixed;
        of a 0/1 feature the discrete difference. Standard errors are by the delta method with
        numerical derivatives. A column of a formula is moved alone, even where others, such as
        interactions, come from the same variable.

        Parameters
        ----------
        which : "prob", or what the outcome predicts as numbers
            As in ``predict``: "levels" or "rank" of an ordered outcome; "hazard", "survival", ... of a survival model.

        Returns
        -------
        MarginalEffects

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> refit.get_margeff().summary_frame().loc["dose"].round(2)
                dy/dx  std err      z  P>|z|  [0.025  0.975]
        of
        week4    0.00     0.02   0.20   0.84   -0.04    0.05
        week8   -0.02     0.02  -0.87   0.38   -0.06    0.02
        week12   0.21     0.02  10.81   0.00    0.17    0.25
        week16   0.19     0.02   8.73   0.00    0.14    0.23
        """
        return margins(self, which)

    def _variance(self, rows_to_predict, k):
        """Variance of the linear predictor of task k, shape (n,)."""
        rows = np.flatnonzero(self.pattern[:, k] >= 0)
        values = self.pattern[rows, k]
        design = rows_to_predict.columns(rows)
        return np.einsum("ij,jk,ik->i", design, self.fit.cov[np.ix_(values, values)], design)

    # ---- reading it -------------------------------------------------------------------------------------------------

    def summary(self, alpha: float = 0.05, title: str | None = None, max_rows: int | None = 40) -> Summary:
        """A statsmodels Summary of the Wald table, its first ``max_rows`` values; conditional on selection.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit()
        >>> print(str(refit.summary()).splitlines()[0].strip())
        Unpenalized refit, conditional on selection
        """
        from ..summary import summarize_refit

        return summarize_refit(self, alpha, title, max_rows)

    def __str__(self) -> str:
        from ..summary import VALUES_ON_A_SCREEN, summarize_refit

        return summarize_refit(self, max_rows=VALUES_ON_A_SCREEN).as_text()

    def plot(self, ax: Any = None) -> Any:
        """Draw coefficients with their intervals; see ``plots.intervals``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit()
        >>> ax = refit.plot()
        """
        from ..plots import intervals as draw

        return draw(self, ax=ax)

    @cached_property
    def _groups(self) -> pd.DataFrame:
        """Feature and tasks of each estimated value."""
        names, rows = self.model.endog_names, []
        for value in range(len(self.fit.values)):
            row, places = np.nonzero(self.pattern == value)
            rows.append((self.model.exog_names[row[0]], task_span(places, names)))
        return pd.DataFrame(rows, columns=["feature", "tasks"])

    @property
    def _names(self) -> pd.MultiIndex:
        return pairs(self._groups["feature"], self._groups["tasks"], ["feature", "tasks"])

    def _places(self, values: np.ndarray) -> np.ndarray:
        return np.where(self.pattern >= 0, np.append(values, np.nan)[self.pattern], np.nan)

    def remove_data(self) -> None:
        """Drop the data, here and in ``selected``; see ``FusedLogitResults.remove_data``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit()
        >>> refit.remove_data()
        >>> refit.model
        <FusedLogit: 4 tasks, 3 features, data removed>
        """
        self.facts  # noqa: B018  computed now, and kept
        self.__dict__.pop("_untied", None)
        self.selected = copy(self.selected)
        self.selected.remove_data()

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
