"""What a fit found: coefficients, how good they are, predictions, and a summary to read."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd

from .base import Model
from .constrained_fit import effective_df
from .fit import Fit
from .inference import (BootstrapResults, Bound, ChangeTest, CovType, ErrorRate, MarginalEffects, MultiSplitResults,
                        Question, RefitResults, StabilityResults, What, bootstrap, multisplit, refit, stability)
from .io import NAME, SHARE, Nested, Plain, either, finite, listed, names, record, registered, row, saved, word
from .optimality import Certificate, certify
from .problem import Penalty, Solution

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["FusedLogitResults"]

_PENALTY = either(finite(0), listed(finite(0), "1+d"), record({"by_name": listed(row(NAME, finite(0)))}))
_SAVED_PENALTIES = Plain(record({"l1": _PENALTY, "l2": _PENALTY, "fusion": _PENALTY}),
                         lambda given: {name: _packed(value) for name, value in given.items()},
                         lambda page: {name: _unpacked(value) for name, value in page.items()})


@registered("results")
@dataclass(eq=False, repr=False)
class FusedLogitResults(Fit):
    """A fitted ``FusedLogit``.

    Attributes
    ----------
    model : FusedLogit
    solution : Solution
        What the solver handed back.
    penalties : dict
        l1, l2 and fusion as the user gave them.
    method : str
    tol : float

    Notes
    -----
    Coefficients are shrunken, so they have no standard errors; see ``refit()`` and
    ``bootstrap()`` for inference.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> fit.coefs.round(2)
           week4  week8  week12  week16
    age     0.92   0.92    0.90    0.90
    dose    0.00   0.00    0.89    0.89
    noise   0.00   0.00    0.00    0.00
    >>> fit.converged, fit.df
    (True, 7)
    """

    model: Model = saved(Nested("model"))
    solution: Solution = saved(Nested(Solution))
    penalties: dict = saved(_SAVED_PENALTIES)
    method: str = saved(Plain(word("newton", "admm")), default="newton")
    tol: float = saved(Plain(SHARE), default=1e-6)

    computed = {**Fit.computed, "df_effective": Plain(finite(0))}

    def __post_init__(self) -> None:
        # Copied: a caller may later change an array of penalties in place.
        self.penalties = {name: copy(value) for name, value in self.penalties.items()}

    def check_loaded(self) -> None:
        """Refuse penalties of a file that are not of the model's features."""
        self.penalty_by_row  # noqa: B018  refuses what it does not know, by name

    @property
    def _params(self) -> np.ndarray:
        return self.solution.params

    # ---- coefficients -----------------------------------------------------------------------------------------------

    @property
    def nonzero(self) -> pd.DataFrame:
        """Which coefficients are not zero, DataFrame of bool (d, t)."""
        return self.params.iloc[1:] != 0

    @property
    def fused_groups(self) -> pd.DataFrame:
        """Every distinct non-zero value: one row for each group of tied neighbours.

        Returns
        -------
        DataFrame
            ``feature``, ``tasks`` (a tuple of names), ``size`` (number of tasks) and
            ``value``. Its length is ``df``.
        """
        order = np.argsort(self.pattern, axis=None, kind="stable")
        groups = self.pattern.ravel()[order]
        places = np.split(order[groups >= 0], np.flatnonzero(np.diff(groups[groups >= 0])) + 1)
        rows = [self._group(*np.divmod(place, self.pattern.shape[1])) for place in places]
        return pd.DataFrame(rows, columns=["feature", "tasks", "size", "value"])

    def _group(self, rows, columns):
        model, row = self.model, rows[0]
        value = self._params[row, columns[0]]
        return model.exog_names[row], tuple(model.endog_names[k] for k in columns), len(columns), value

    # ---- how the solver did -----------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """"optimal", "separated" or "not_converged"."""
        return self.solution.status

    @property
    def converged(self) -> bool:
        """Whether the duality gap reached ``tol``."""
        return self.status == "optimal"

    @property
    def iterations(self) -> int:
        return self.solution.iterations

    @property
    def objective(self) -> float:
        """Value of the penalized objective."""
        return self.solution.objective

    @property
    def gap(self) -> float:
        """Relative duality gap of the solver, an upper bound on the suboptimality of the objective."""
        return max(float(self.solution.gap), 0.0)  # rounding can make a perfect gap negative

    @property
    def penalty_by_row(self) -> Penalty:
        """Penalties of every row of params as the solver used them, ``problem.Penalty``."""
        return self.model.penalty_by_row(**self.penalties)

    def certify(self) -> Certificate:
        """A certificate of optimality, computed independently of the solver.

        Returns
        -------
        optimality.Certificate
            Objective, dual lower bound, absolute and relative duality gap, and the violation of
            the KKT conditions.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> proof = fit.certify()
        >>> proof.relative_gap < 1e-9
        True
        """
        return certify(self.model.with_data(), self._params, self.penalty_by_row)

    @cached_property
    def df_effective(self) -> float:
        """Effective degrees of freedom: ``df`` corrected for the ridge and for dependent labels (Takeuchi).

        See ``constrained_fit.effective_df``.
        """
        return effective_df(self.model.with_data(), self._params, self.penalty_by_row)

    # ---- reading it -------------------------------------------------------------------------------------------------

    def summary(self, max_rows: int | None = 40, title: str | None = None) -> Summary:
        """A statsmodels ``Summary`` to print, or to turn into html, latex or csv.

        Parameters
        ----------
        max_rows : int or None
            Features to show; the largest where there are more. Features that are zero
            in every task are counted, not shown. None shows all features.
        title : str, optional

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> print(str(fit.summary()).splitlines()[0].strip())
        Fused logistic regression
        """
        from .summary import summarize  # brings statsmodels, which nothing else here needs

        return summarize(self, max_rows, title)

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients as a map, features by tasks; see ``plots.coef_map``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> ax = fit.plot()
        """
        from .plots import coef_map

        return coef_map(self, ax=ax)

    def __str__(self) -> str:
        from .summary import screen

        return screen(self).as_text()

    def summary_frame(self) -> pd.DataFrame:
        """One row for each intercept and coefficient: feature, task, value, zero, and the tasks it is fused with.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.summary_frame().round(2).head(3)
          feature   task  value   zero fused_with
        0   const  week4   0.00  False         ()
        1     age  week4   0.92  False   (week8,)
        2    dose  week4   0.00   True         ()
        """
        members = [*self.fused_groups["tasks"], ()]  # the last one is that of zeros, whose group is -1
        rows = [(feature, task, value, group < 0, tuple(other for other in members[group] if other != task))
                for task, values, groups in zip(self.model.endog_names, self.params.to_numpy().T, self.pattern.T)
                for feature, value, group in zip(self.model.exog_names, values, groups)]
        return pd.DataFrame(rows, columns=["feature", "task", "value", "zero", "fused_with"])

    # ---- how sure one may be ----------------------------------------------------------------------------------------

    def refit(self, cov_type: CovType | None = None, ties: bool = True, rows: Any = None) -> RefitResults:
        """Unpenalized refit on the selected support and ties, with Wald intervals conditional on selection.

        Parameters
        ----------
        cov_type : "cluster" or "nonrobust", optional
            Cluster-robust standard errors (sandwich estimator), clusters being rows, or groups where
            the model has them, the default with several tasks or groups; or model-based ones, all
            labels independent.
        ties : bool
            Whether tied coefficients stay tied, and zeros zero. Without ties a selected feature (of a
            formula: a term, with all its columns) is free in every task: intervals of effects and
            changes have about nominal coverage, those of tied values do not.
        rows : array_like of bool or int, or a FusedLogit, optional
            Rows to fit instead of all: some rows of the model (a mask, or positions), or a model
            of other rows. Where these are independent of the rows of the fit (sample splitting), as in
            ``model.with_rows(first).fit_cv().refit(rows=model.with_rows(second))``, intervals and
            p-values are valid for the selected model.

        Returns
        -------
        RefitResults

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.refit(ties=False).conf_int().loc["dose"].unstack().round(2)
                lower  upper
        week4   -0.21   0.25
        week8   -0.32   0.13
        week12   0.86   1.46
        week16   0.71   1.31
        """
        return refit(self, cov_type, ties, rows)

    @overload
    def change_test(self, term: None = None) -> pd.DataFrame: ...

    @overload
    def change_test(self, term: Any) -> ChangeTest: ...

    def change_test(self, term: Any = None) -> pd.DataFrame | ChangeTest:
        """Is the effect of a feature or term the same in all tasks? A Wald test on the refit without ties.

        Robust to dependence between the labels of a sampling unit, and corrected for small
        samples. For an ordered outcome it is the test of parallel lines, for survival that of a
        constant effect over time. Only tasks of one connected component are compared.

        Parameters
        ----------
        term : name of a feature, or of a term of the formula such as "C(site)", optional
            All columns of a factor are tested at once, if any was selected. All terms where left out.

        Returns
        -------
        ChangeTest, with ``statistic``, ``df`` and ``pvalue``; or a DataFrame with these columns, a row for each term.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.change_test().round(3)
               statistic  df  pvalue
        term
        age        1.457   3   0.697
        dose      66.272   3   0.000
        noise        NaN   0     NaN
        >>> round(fit.change_test("age").pvalue, 2)
        0.7
        """
        return self.refit(ties=False).change_test(term)

    def differences(self, feature: Any = None, alpha: float = 0.05) -> pd.DataFrame:
        """Differences of coefficients between neighbouring tasks, with intervals, on the refit without ties.

        Parameters
        ----------
        feature : name of a feature, or of a term of the formula, optional
            All that were selected where left out.
        alpha : float

        Returns
        -------
        DataFrame
            Indexed by ``feature``, ``task`` and ``neighbour``; ``coef`` (neighbour less task), ``std err``, ``z``,
            ``P>|z|`` and the ends of the interval.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.differences("dose")[["coef", "[0.025", "0.975]"]].round(2)
                                  coef  [0.025  0.975]
        feature task   neighbour
        dose    week4  week8     -0.12   -0.42    0.18
                week8  week12     1.26    0.89    1.62
                week12 week16    -0.15   -0.58    0.28
        """
        return self.refit(ties=False).differences(feature, alpha)

    def get_margeff(self, which: str = "prob") -> MarginalEffects:
        """Average predictive differences of the refit; see ``RefitResults.get_margeff``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> fit.get_margeff().summary_frame().loc["age"].round(2)
                dy/dx  std err      z  P>|z|  [0.025  0.975]
        of
        week4    0.22     0.01  15.06    0.0    0.19    0.25
        week8    0.22     0.01  15.03    0.0    0.19    0.25
        week12   0.18     0.01  12.99    0.0    0.15    0.20
        week16   0.18     0.01  12.99    0.0    0.15    0.20
        """
        return self.refit().get_margeff(which)

    def bootstrap(self, n: int = 200, rng: Any = 0, n_jobs: int | None = None,
                  progress: bool = True, executor: Executor | None = None) -> BootstrapResults:
        """Percentile bootstrap intervals, and frequencies of selection and of ties over resamples.

        Rows (or groups) are drawn with replacement with the labels of all their tasks, and fitted
        at the same penalties. Weights are frequencies: a row of weight 2 is drawn as two equal rows.

        Parameters
        ----------
        n : int
            Number of resamples.
        rng : int, SeedSequence, Generator or None
            Each resample has its own stream drawn from it, so a larger ``n`` does not change
            the first resamples.
        n_jobs, progress, executor : as for ``FusedLogit.fit_cv``

        Returns
        -------
        BootstrapResults

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> boot = fit.bootstrap(50, rng=1)
        >>> boot.selection_frequency.loc["dose"].to_dict()
        {'week4': 0.44, 'week8': 0.42, 'week12': 1.0, 'week16': 1.0}
        """
        return bootstrap(self, n, rng, n_jobs=n_jobs, progress=progress, executor=executor)

    def stability(self, n: int = 100, rng: Any = 1, what: What = "features", errors: float | None = 1.0,
                  bound: Bound = "unimodal", n_jobs: int | None = None, progress: bool = True,
                  executor: Executor | None = None) -> StabilityResults:
        """Stability selection with complementary pairs, with a bound on the expected number of false selections.

        Rows (or groups) are split at random into two halves, again and again; each half is fitted
        at the same penalties per row (Shah and Samworth 2013). Of an odd number of rows each pair
        leaves one out at random. Weights are frequencies: a row of weight 2 is split as two equal
        rows, which may go to different halves.

        Penalties tuned for prediction select too many candidates for the bound. So l1 (for changes:
        fusion) is multiplied by the smallest of 1, 1.25, 1.25^2, ... at which the bound holds for
        a threshold of 90 % of the halves; the summary shows the multiple.

        Parameters
        ----------
        n : int
            Number of halves, even.
        rng : int, SeedSequence, Generator or None
            Each pair has its own stream drawn from it, so at the same penalties a larger ``n``
            does not change the first pairs.
        what : "features", "effects" or "changes"
            Features (of a formula: terms) that are not zero in some task, coefficients that are not
            zero, or neighbouring tasks that differ.
        errors : float or None
            Largest expected number of false selections. None keeps the penalties of the fit.
        bound : "unimodal" or "none"
            Assumption on the selection frequencies; see the notes of ``StabilityResults``.
        n_jobs, progress, executor : as for ``FusedLogit.fit_cv``

        Returns
        -------
        StabilityResults

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
        return stability(self, n, rng, what, errors, bound, n_jobs=n_jobs, progress=progress, executor=executor)

    def multisplit(self, n: int = 50, error: ErrorRate = "fwer", rng: Any = 0, what: Question = "features",
                   n_jobs: int | None = None, progress: bool = True,
                   executor: Executor | None = None) -> MultiSplitResults:
        """Multi-split p-values, valid after selection, also with more features than rows.

        In each split one half of the rows selects features at the penalties of the fit, and the
        other half tests each of them by a Wald test without ties. The p-values are
        Bonferroni-corrected for the number selected and aggregated over splits by their quantiles
        (Meinshausen, Meier and Buhlmann 2009).

        Parameters
        ----------
        n : int
            Number of splits.
        error : "fwer" or "fdr"
            Error rate that the p-values control: family-wise error rate, or false discovery rate
            (after Benjamini and Yekutieli).
        rng : int, SeedSequence, Generator or None
            Each split has its own stream drawn from it.
        what : "features" or "changes"
            Has a feature (of a formula: a term) an effect in any task, or effects that differ between tasks?
        n_jobs, progress, executor : as for ``FusedLogit.fit_cv``

        Returns
        -------
        MultiSplitResults

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> splits = fit.multisplit(20, rng=1)
        >>> splits.pvalues.round(3).to_dict()
        {'age': 0.0, 'dose': 0.0, 'noise': 1.0}
        """
        return multisplit(self, n, error, rng, what, n_jobs=n_jobs, progress=progress, executor=executor)

    def __repr__(self):
        penalties = ", ".join(f"{name}={_brief(value)}" for name, value in self.penalties.items())
        return f"<FusedLogitResults: {penalties}; {self.df} distinct values, {self.status}>"


def _packed(penalty):
    """A penalty as JSON has it: a number, a list, or pairs of name and number."""
    if isinstance(penalty, (pd.Series, Mapping)):
        return {"by_name": [[name, float(penalty[name])] for name in penalty.keys()]}
    return np.asarray(penalty, dtype=float).tolist()


def _unpacked(penalty):
    if isinstance(penalty, dict):
        return dict(zip(names([name for name, _ in penalty["by_name"]]), (v for _, v in penalty["by_name"])))
    return penalty


def _brief(value):
    return "by feature" if isinstance(value, Mapping) or np.ndim(value) else f"{value:g}"
