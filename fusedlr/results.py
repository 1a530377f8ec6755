"""What a fit found: coefficients, how good they are, predictions, and a summary to read."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import criteria, storage
from .fitted import Fit
from .inference import BootstrapResults, RefitResults, StabilityResults, bootstrap, refit, stability
from .objective import Penalty, Solution
from .optimality import certify

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["FusedLogitResults"]


class FusedLogitResults(Fit):
    """A fitted ``FusedLogit``.

    Parameters
    ----------
    model : FusedLogit
    solution : objective.Solution
        Its params are those of the features divided by the model's ``scale``.
    penalties : dict
        l1, l2 and fusion as the user gave them.
    method : str
    tol : float

    Notes
    -----
    Coefficients are shrunken, so no standard errors come with them: ``refit()`` and
    ``bootstrap()`` say how sure one may be.
    """

    def __init__(self, model: Any, solution: Solution, penalties: dict, method: str = "newton",
                 tol: float = 1e-6) -> None:
        super().__init__(model, solution.params)
        self.solution = solution
        # Copied: what a caller does to an array of penalties later must not change this result.
        self.penalties = {name: copy(value) for name, value in penalties.items()}
        self.method = method
        self.tol = tol

    kind = "results"
    kept = ("gap", "df_effective", *Fit.kept)

    # ---- coefficients -----------------------------------------------------------------------------------------------

    @property
    def nonzero(self) -> pd.DataFrame:
        """Which coefficients are not zero, DataFrame of bool (d, t)."""
        return self.params.iloc[1:] != 0

    @property
    def fused_groups(self) -> pd.DataFrame:
        """Every distinct fitted value: one row for each group of tied neighbours, zeros left out.

        Returns
        -------
        DataFrame
            ``feature``, ``tasks`` (a tuple of names), ``size`` (number of tasks) and
            ``value`` on the original scale. Its length is ``df``.
        """
        order = np.argsort(self.pattern, axis=None, kind="stable")
        groups = self.pattern.ravel()[order]
        places = np.split(order[groups >= 0], np.flatnonzero(np.diff(groups[groups >= 0])) + 1)
        rows = [self._group(*np.divmod(place, self.pattern.shape[1])) for place in places]
        return pd.DataFrame(rows, columns=["feature", "tasks", "size", "value"])

    def _group(self, rows, columns):
        model, row = self.model, rows[0]
        value = self.solution.params[row, columns[0]] / (model.scale[row - 1] if row else 1.0)
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
    def penalty_by_row(self) -> Penalty:
        """Penalties of every row of params as the solver used them, ``objective.Penalty``."""
        return self.model.penalty_by_row(**self.penalties)

    @cached_property
    def gap(self) -> float:
        """Relative duality gap, recomputed by the referee, which knows nothing of the solver.

        Of separated data, which have no minimiser to be close to, the solver's own.
        """
        if self.status == "separated":
            return float(self.solution.gap)
        certificate = certify(self.model.problem, self.solution.params, self.penalty_by_row)
        return max(float(certificate.relative_gap), 0.0)  # rounding can make a perfect gap negative

    # ---- how well the model fits ------------------------------------------------------------------------------------

    @cached_property
    def df_effective(self) -> float:
        """Effective number of values fitted: ``df``, less what the ridge takes away; see ``criteria.effective_df``."""
        return criteria.effective_df(self.model.problem, self.solution.params, self.penalty_by_row)

    @property
    def aic(self) -> float:
        """-2 llf + 2 df_effective."""
        return criteria.aic(self.llf, self.df_effective)

    @property
    def bic(self) -> float:
        """-2 llf + log(n) df_effective, n the number of rows (weights counted): tasks of a row are not independent."""
        return criteria.bic(self.llf, self.df_effective, self._row_weight)

    # ---- reading it -------------------------------------------------------------------------------------------------

    def summary(self, max_rows: int | None = 40, title: str | None = None) -> Summary:
        """A statsmodels ``Summary`` to print, or to turn into html, latex or csv.

        Parameters
        ----------
        max_rows : int or None
            Features to show; the largest where there are more. Features that are zero
            in every task are counted, not shown. None shows all features.
        title : str, optional
        """
        from .summary import summarize  # brings statsmodels, which nothing else here needs

        return summarize(self, max_rows, title)

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients as a map, features by tasks; see ``plots.coef_map``."""
        from .plots import coef_map

        return coef_map(self, ax=ax)

    def __str__(self) -> str:
        from .summary import screen

        return screen(self).as_text()

    def summary_frame(self) -> pd.DataFrame:
        """One row for each intercept and coefficient: feature, task, value, zero, and the tasks it is fused with."""
        members = [*self.fused_groups["tasks"], ()]  # the last one is that of zeros, whose group is -1
        rows = [(feature, task, value, group < 0, tuple(other for other in members[group] if other != task))
                for task, values, groups in zip(self.model.endog_names, self.params.to_numpy().T, self.pattern.T)
                for feature, value, group in zip(self.model.exog_names, values, groups)]
        return pd.DataFrame(rows, columns=["feature", "task", "value", "zero", "fused_with"])

    # ---- how sure one may be ----------------------------------------------------------------------------------------

    def refit(self, cov_type: str | None = None) -> RefitResults:
        """The same zeros and ties without penalty, with Wald intervals conditional on selection.

        Parameters
        ----------
        cov_type : "cluster" or "nonrobust", optional
            Standard errors that allow any dependence between the tasks of a row, the
            default where there are several tasks, or that take them as independent.

        Returns
        -------
        RefitResults
        """
        return refit(self, cov_type)

    def bootstrap(self, n: int = 200, seed: int = 0, n_jobs: int | None = None,
                  progress: bool = True) -> BootstrapResults:
        """Percentile intervals, and how often each coefficient is selected and each tie is found, from resampled rows.

        Rows are drawn with replacement, keep the labels of all their tasks, and are fitted at
        the same penalties. A weight is a number of rows: a row of weight 2 is drawn as two
        equal rows would be.

        Parameters
        ----------
        n : int
            Number of resamples.
        seed : int
            Each resample has its own stream drawn from it, so a larger ``n`` does not change
            the first resamples.
        n_jobs, progress : as for ``FusedLogit.fit_cv``

        Returns
        -------
        BootstrapResults
        """
        return bootstrap(self, n, seed=seed, n_jobs=n_jobs, progress=progress)

    def stability(self, n: int = 100, seed: int = 1, n_jobs: int | None = None,
                  progress: bool = True) -> StabilityResults:
        """Effects and changes that come again in halves of the rows, with a bound on how many of them are false.

        Rows are split at random into two halves, each half is fitted with the same penalties
        for each row, and this is done again: complementary pairs, after Shah and Samworth
        (2013). With an odd number of rows one is left out, another one in each pair. A weight
        is a number of rows: a row of weight 2 is split as two equal rows would be, which may
        go to different halves.

        Parameters
        ----------
        n : int
            Number of halves, even.
        seed : int
            Each pair has its own stream drawn from it, so a larger ``n`` does not change the
            first pairs.
        n_jobs, progress : as for ``FusedLogit.fit_cv``

        Returns
        -------
        StabilityResults
        """
        return stability(self, n, seed=seed, n_jobs=n_jobs, progress=progress)

    # ---- keeping it -------------------------------------------------------------------------------------------------

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        page, arrays = self.model.state(remove_data)
        solution = self.solution
        page["solution"] = {"objective": solution.objective, "gap": solution.gap, "status": solution.status,
                            "iterations": solution.iterations}
        page["penalties"] = {name: _dismantled(value) for name, value in self.penalties.items()}
        page.update(method=self.method, tol=self.tol, kept=self._kept_values())
        return page, {**arrays, "params": solution.params}

    @classmethod
    def from_state(cls, model: Any, page: dict, arrays: dict) -> FusedLogitResults:
        """Results from what ``state`` gave, for a model that was made from the same."""
        solution = Solution(arrays["params"], **page["solution"], history={})
        penalties = {name: _revived(value) for name, value in page["penalties"].items()}
        results = cls(model, solution, penalties, page["method"], page["tol"])
        results._take_kept(page["kept"])
        return results

    def __repr__(self):
        penalties = ", ".join(f"{name}={_brief(value)}" for name, value in self.penalties.items())
        return f"<FusedLogitResults: {penalties}; {self.df} distinct values, {self.status}>"


def _dismantled(penalty):
    """A penalty as JSON has it: a number, a list, or pairs of name and number."""
    if hasattr(penalty, "keys"):
        return {"by_name": [[name, float(penalty[name])] for name in penalty.keys()]}
    return np.asarray(penalty, dtype=float).tolist()


def _revived(penalty):
    if isinstance(penalty, dict):
        return dict(zip(storage.names([name for name, _ in penalty["by_name"]]), (v for _, v in penalty["by_name"])))
    return penalty


def _brief(value):
    return f"{value:g}" if np.ndim(value) == 0 else "by feature"
