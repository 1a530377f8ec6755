"""What a fit found: coefficients, how good they are, predictions, and a summary to read."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import checks, criteria, storage
from .inference import BootstrapResults, RefitResults, bootstrap, refit
from .inputs import new_offset
from .likelihood import loglike, null_loglike
from .objective import Penalty, Solution, linear_predictor, sigmoid
from .optimality import certify
from .pattern import pattern_of

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["FusedLogitResults"]


class FusedLogitResults:
    """A fitted ``FusedLogit``.

    Parameters
    ----------
    model : FusedLogit
    solution : objective.Solution
        On the solver's scale.
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
        self.model = model
        self.solution = solution
        # Copied: what a caller does to an array of penalties later must not change this result.
        self.penalties = {name: copy(value) for name, value in penalties.items()}
        self.method = method
        self.tol = tol

    # ---- coefficients -----------------------------------------------------------------------------------------------

    @property
    def params(self) -> pd.DataFrame:
        """Intercepts (first row) and coefficients on the original scale, DataFrame (1 + d, t)."""
        values = self.solution.params / np.append(1.0, self.model.scale)[:, None]
        return pd.DataFrame(values, self.model.exog_names, self.model.endog_names)

    @property
    def coefs(self) -> np.ndarray:
        """Coefficients on the original scale, ndarray (d, t)."""
        return self.solution.params[1:] / self.model.scale[:, None]

    @property
    def intercepts(self) -> np.ndarray:
        """Intercepts, ndarray (t,)."""
        return self.solution.params[0].copy()

    @property
    def nonzero(self) -> pd.DataFrame:
        """Which coefficients are not zero, DataFrame of bool (d, t)."""
        return self.params.iloc[1:] != 0

    @cached_property
    def pattern(self) -> np.ndarray:
        """Zeros and ties: the number of the group in each place of params, -1 for a zero, ndarray (1 + d, t)."""
        return pattern_of(self.solution.params, self.model.tasks)

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
    def penalty(self) -> Penalty:
        """Penalties of every row of params as the solver used them, ``objective.Penalty``."""
        return self.model.penalty(**self.penalties)

    @cached_property
    def gap(self) -> float:
        """Relative duality gap, recomputed by the referee, which knows nothing of the solver.

        Of separated data, which have no minimiser to be close to, the solver's own.
        """
        if self.status == "separated":
            return float(self.solution.gap)
        certificate = certify(self.model.problem, self.solution.params, self.penalty)
        return max(float(certificate.relative_gap), 0.0)  # rounding can make a perfect gap negative

    # ---- how well the model fits ------------------------------------------------------------------------------------

    @cached_property
    def nobs(self) -> int:
        """Rows with at least one observed label."""
        return self.model.nobs

    @cached_property
    def _row_weight(self) -> float:
        return float(self.model.data.row_weights.sum())

    @cached_property
    def nobs_per_task(self) -> pd.Series:
        """Observed labels of each task, weights counted, Series (t,)."""
        return self._by_task(self.model.data.weights.sum(axis=0))

    @cached_property
    def positives(self) -> pd.Series:
        """Observed labels that are yes, weights counted, Series (t,)."""
        data = self.model.data
        return self._by_task((data.weights * (data.signs > 0)).sum(axis=0))

    @cached_property
    def llf_per_task(self) -> pd.Series:
        """Log-likelihood of each task, Series (t,)."""
        return self._by_task(loglike(self.model.data, self.solution.params))

    @cached_property
    def llnull_per_task(self) -> pd.Series:
        """Log-likelihood of each task with its own intercept and the offset only, Series (t,)."""
        return self._by_task(null_loglike(self.model.data))

    @cached_property
    def llf(self) -> float:
        """Log-likelihood, penalties not counted; of a model of one outcome that of the outcome itself."""
        return self.model.loglike(self.solution.params)

    @cached_property
    def llnull(self) -> float:
        """Log-likelihood of intercepts alone, one for each task, neither fused nor shrunk."""
        outcome = self.model.outcome
        overlapping = outcome is not None and not outcome.exact
        return outcome.null_loglike(self.model.data) if overlapping else float(self.llnull_per_task.sum())

    @property
    def deviance(self) -> float:
        """-2 llf."""
        return -2 * self.llf

    @property
    def prsquared(self) -> float:
        """Share of the null deviance explained, McFadden's pseudo R-squared; NaN where the null model is perfect."""
        return 1 - self.llf / self.llnull if self.llnull else float("nan")

    @property
    def df(self) -> int:
        """Distinct values fitted: groups of non-zero coefficients plus groups of intercepts."""
        return int(self.pattern.max()) + 1

    @property
    def df_model(self) -> int:
        """Distinct non-zero values of the coefficients, intercepts not counted, as in statsmodels."""
        return self.df - len(np.unique(self.pattern[0]))

    @property
    def df_resid(self) -> float:
        """Observed labels of all tasks less ``df``."""
        return float(self.nobs_per_task.sum()) - self.df

    @cached_property
    def df_effective(self) -> float:
        """Effective number of values fitted: ``df``, less what the ridge takes away; see ``criteria.effective_df``."""
        return criteria.effective_df(self.model.problem, self.solution.params, self.penalty)

    @property
    def aic(self) -> float:
        """-2 llf + 2 df_effective."""
        return criteria.aic(self.llf, self.df_effective)

    @property
    def bic(self) -> float:
        """-2 llf + log(n) df_effective, n the number of rows (weights counted): tasks of a row are not independent."""
        return criteria.bic(self.llf, self.df_effective, self._row_weight)

    def _by_task(self, values):
        return pd.Series(values, self.model.endog_names)

    # ---- predictions ------------------------------------------------------------------------------------------------

    def predict(self, exog: Any = None, which: str = "prob", offset: Any = None) -> pd.DataFrame | pd.Series:
        """Predictions for new rows, or for the rows of the fit.

        Parameters
        ----------
        exog : DataFrame or array_like, optional
            The rows of the fit where left out. Columns of a DataFrame are found by
            name, in any order, others are ignored; columns of an array by position. A
            model from a formula takes a DataFrame with the formula's variables.
        which : "prob", "linear" or "label"
            Probability of yes, linear predictor, or the more probable of the user's own
            two labels. Of an ordered outcome also "levels" (probability of each level),
            "level" (the most probable one) and "rank" (expected level where levels are
            numbers, else expected position from 1); of time to event "hazard", "survival",
            "incidence" (both at the ends of the intervals) and "median" (the end of the first
            interval that half survive at most, NaN where there is none).
        offset : array_like, shape (n,) or (n, t), optional
            0 where left out, for new rows.

        Returns
        -------
        DataFrame, shape (n, t)
            A column for each level at "levels"; a Series, shape (n,), at "level", "rank" and "median".
        """
        outcome = self.model.outcome
        special = () if outcome is None else outcome.predictions
        which = checks.word("which", which, ("prob", "linear", "label", *special))
        linear = self._linear(exog, offset)
        if which in special:
            return outcome.predict(linear, which)
        if which == "prob":
            return pd.DataFrame(sigmoid(linear.to_numpy()), linear.index, linear.columns)
        return linear if which == "linear" else self._labels(linear)

    @property
    def fittedvalues(self) -> pd.DataFrame:
        """Probabilities of yes in the rows of the fit, DataFrame (n, t)."""
        return self.predict()

    @property
    def resid_response(self) -> pd.DataFrame:
        """Label less fitted probability, NaN where the label is not observed, DataFrame (n, t)."""
        return self.model.endog - self.fittedvalues

    def _linear(self, exog, offset):
        names = self.model.endog_names
        if exog is None:
            if offset is not None:
                raise ValueError("offset goes with exog: the rows of the fit keep the offset of the model")
            return pd.DataFrame(linear_predictor(self.model.data, self.solution.params), self.model.index, names)
        X, index = self.model.design(exog)
        linear = new_offset(offset, (len(X), len(names)), index, names) + self.intercepts + X @ self.coefs
        return pd.DataFrame(linear, index, names)

    def _labels(self, linear):
        # Object arrays keep each label as the user wrote it; infer_objects then finds the type of the column.
        columns = {name: np.array([*labels, None], dtype=object)[:2][(linear[name] > 0).to_numpy().astype(int)]
                   for name, labels in zip(linear.columns, self.model.labels)}
        return pd.DataFrame(columns, linear.index).infer_objects()

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

    def bootstrap(self, n: int = 200, seed: int = 0, n_jobs: int | None = None, progress: bool = True) -> BootstrapResults:
        """Percentile intervals, and how often each coefficient is selected and each tie is found, from resampled rows.

        Parameters
        ----------
        n : int
            Number of resamples.
        seed : int
        n_jobs : int, optional
            Number of threads, one for each core where left out; the numbers do not depend on it.
        progress : bool
            Show a progress bar, on a terminal where tqdm is installed.

        Returns
        -------
        BootstrapResults
        """
        return bootstrap(self, n, seed=seed, n_jobs=n_jobs, progress=progress)

    # ---- keeping it -------------------------------------------------------------------------------------------------

    def remove_data(self) -> None:
        """Let go of the data, and keep coefficients and everything the summary shows.

        The result of a large design is large only by its model's data. Afterwards
        ``predict`` needs ``exog``, and ``refit`` and ``bootstrap`` are no longer possible.
        """
        for name in KEPT:
            getattr(self, name)
        self.model = self.model.without_data()

    def save(self, path: str | PathLike, remove_data: bool = False) -> None:
        """Write to one file that holds arrays and text only, no code.

        The file appears whole or not at all. Row labels other than numbers, dates and
        text come back as text.

        Parameters
        ----------
        path : str or path
        remove_data : bool
            Leave the data out, as ``remove_data()`` would.
        """
        page, arrays = self.state(checks.flag("remove_data", remove_data))
        storage.write(path, "results", page, arrays)

    def state(self, remove_data: bool = False) -> tuple[dict, dict]:
        """Everything worth keeping, as plain values and as arrays by name; ``from_state`` takes them back."""
        page, arrays = self.model.state(remove_data)
        solution = self.solution
        page["solution"] = {"objective": solution.objective, "gap": solution.gap, "status": solution.status,
                            "iterations": solution.iterations}
        page["penalties"] = {name: _dismantled(value) for name, value in self.penalties.items()}
        page.update(method=self.method, tol=self.tol, kept={name: _listed(getattr(self, name)) for name in KEPT})
        return page, {**arrays, "params": solution.params}

    @classmethod
    def from_state(cls, model: Any, page: dict, arrays: dict) -> FusedLogitResults:
        """Results from what ``state`` gave, for a model that was made from the same."""
        solution = Solution(arrays["params"], **page["solution"], history={})
        penalties = {name: _revived(value) for name, value in page["penalties"].items()}
        results = cls(model, solution, penalties, page["method"], page["tol"])
        for name in KEPT:
            value = page["kept"][name]
            results.__dict__[name] = pd.Series(value, model.endog_names) if isinstance(value, list) else value
        return results

    def __repr__(self):
        penalties = ", ".join(f"{name}={_brief(value)}" for name, value in self.penalties.items())
        return f"<FusedLogitResults: {penalties}; {self.df} distinct values, {self.status}>"


# What remove_data keeps of the data: everything that is computed from them when first asked for.
KEPT = ("gap", "df_effective", "nobs", "_row_weight", "nobs_per_task", "positives", "llf_per_task", "llnull_per_task",
        "llf", "llnull")


def _dismantled(penalty):
    """A penalty as JSON has it: a number, a list, or pairs of name and number."""
    if hasattr(penalty, "keys"):
        return {"by_name": [[name, float(penalty[name])] for name in penalty.keys()]}
    return np.asarray(penalty, dtype=float).tolist()


def _revived(penalty):
    if isinstance(penalty, dict):
        return dict(zip(storage.names([name for name, _ in penalty["by_name"]]), (v for _, v in penalty["by_name"])))
    return penalty


def _listed(value):
    return value.tolist() if isinstance(value, pd.Series) else value


def _brief(value):
    return f"{value:g}" if np.ndim(value) == 0 else "by feature"
