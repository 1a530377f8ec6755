"""How sure one may be: unpenalized refits with Wald intervals, and the bootstrap."""

import textwrap
import warnings
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from . import checks, criteria
from .exact import solve_exactly
from .exceptions import FusedLogitWarning, SeparationWarning
from .parallel import run
from .pattern import RIDGE, clustered_cov, fit_pattern

__all__ = ["BootstrapResults", "RefitResults", "bootstrap", "refit"]

SELECTION_NOTE = ("Conditional on selection: the same data chose which coefficients are zero or equal, "
                  "so these intervals are too short and these p-values too small.")


def refit(results, cov_type=None):
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


class RefitResults:
    """An unpenalized fit on the pattern of a penalized one, with Wald standard errors.

    Tables have the shape of ``params``, features by tasks with the intercept first.
    Tied places hold the same number; places that the pattern sets to zero hold 0 in
    ``params`` and NaN in everything about uncertainty, because nothing was estimated there.

    Attributes
    ----------
    selected : FusedLogitResults
        The penalized fit.
    fit : pattern.PatternFit
        On the solver's scale.
    cov_type : str
    """

    def __init__(self, selected, fit, cov_type="nonrobust"):
        self.selected = selected
        self.model = selected.model
        self.fit = fit
        self.cov_type = cov_type

    @property
    def params(self):
        """Coefficients on the original scale, DataFrame (1 + d, t)."""
        return self._frame(self.fit.params / self._row_scale)

    @property
    def bse(self):
        """Wald standard errors, DataFrame (1 + d, t); NaN where nothing was estimated or no finite best exists."""
        return self._frame(self._places(np.sqrt(np.diag(self.fit.cov))) / self._row_scale)

    @property
    def zvalues(self):
        """Coefficients over their standard errors, DataFrame (1 + d, t)."""
        return self.params / self.bse

    tvalues = zvalues

    @property
    def pvalues(self):
        """Two-sided Wald p-values, conditional on selection, DataFrame (1 + d, t)."""
        from scipy.stats import norm

        return self._frame(2 * norm.sf(np.abs(self.zvalues.to_numpy())))

    def conf_int(self, alpha=0.05):
        """Wald intervals, DataFrame (1 + d, 2 t) with columns (task, "lower") and (task, "upper")."""
        half = _normal_quantile(alpha) * self.bse
        return _intervals(self.params - half, self.params + half)

    @property
    def cov_params(self):
        """Covariance of the estimated values on the original scale, in the order of ``table``, DataFrame (p, p)."""
        names = pd.MultiIndex.from_frame(self._groups[["feature", "tasks"]])
        unit = self._groups["scale"].to_numpy()
        return pd.DataFrame(self.fit.cov / np.outer(unit, unit), names, names)

    def table(self, alpha=0.05):
        """One row for each estimated value.

        Returns
        -------
        DataFrame
            Indexed by feature and by the tasks that share the value; columns ``coef``,
            ``std err``, ``z``, ``P>|z|`` and the ends of the interval.
        """
        from scipy.stats import norm

        groups = self._groups
        coef, error = self.fit.values / groups["scale"], np.sqrt(np.diag(self.fit.cov)) / groups["scale"]
        half = _normal_quantile(alpha) * error
        columns = {"coef": coef, "std err": error, "z": coef / error, "P>|z|": 2 * norm.sf(np.abs(coef / error)),
                   f"[{alpha / 2:.4g}": coef - half, f"{1 - alpha / 2:.4g}]": coef + half}
        names = pd.MultiIndex.from_frame(groups[["feature", "tasks"]])
        return pd.DataFrame({name: np.asarray(column) for name, column in columns.items()}, names)

    @property
    def nobs(self):
        return self.selected.nobs

    @property
    def llf(self):
        """Log-likelihood."""
        return self.fit.llf

    @property
    def df_model(self):
        """Estimated values of features, intercepts not counted."""
        return len(self.fit.values) - len(np.unique(self.fit.pattern[0]))

    @property
    def df(self):
        """Estimated values, intercepts counted."""
        return len(self.fit.values)

    @property
    def aic(self):
        return criteria.aic(self.llf, self.df)

    @property
    def bic(self):
        return criteria.bic(self.llf, self.df, self.model.data.row_weights.sum())

    @property
    def separated(self):
        """Tasks in which some coefficient has no finite best value, list of names."""
        return self._tasks_of(self.fit.unbounded)

    @property
    def converged(self):
        """Whether every value was estimated: no separation, no collinear features."""
        return not (self.fit.unbounded.any() or self.fit.collinear.any())

    def summary(self, alpha=0.05):
        """A statsmodels Summary of the Wald table, labelled as conditional on selection."""
        from statsmodels.iolib.summary import Summary
        from statsmodels.iolib.table import SimpleTable

        title = "Unpenalized refit, conditional on selection"
        summary = Summary()
        summary.tables.append(SimpleTable(_head(self), title=title))
        summary.tables.append(SimpleTable(*_wald_cells(self.table(alpha))))
        summary.add_extra_txt(_notes(self))
        return summary

    @cached_property
    def _groups(self):
        """Feature, tasks and scale of each estimated value."""
        rows = []
        names = self.model.endog_names
        for value in range(len(self.fit.values)):
            row, places = np.nonzero(self.fit.pattern == value)
            rows.append((self.model.exog_names[row[0]], _span(places, names),
                         self._row_scale[row[0], 0]))
        return pd.DataFrame(rows, columns=["feature", "tasks", "scale"])

    @property
    def _row_scale(self):
        return np.append(1.0, self.model.scale)[:, None]

    def _places(self, values):
        return np.where(self.fit.pattern >= 0, np.append(values, np.nan)[self.fit.pattern], np.nan)

    def _frame(self, values):
        return pd.DataFrame(np.asarray(values), self.model.exog_names, self.model.endog_names)

    def _tasks_of(self, values):
        touched = (self._places(values.astype(float)) == 1).any(axis=0)
        return [name for name, hit in zip(self.model.endog_names, touched) if hit]

    def __repr__(self):
        return f"<RefitResults: {self.df} values, llf {self.llf:.6g}, conditional on selection>"


def bootstrap(results, n=200, seed=0, n_jobs=None, progress=True):
    """Repeat a penalized fit on resampled rows, at the same penalties.

    Rows are drawn with replacement and keep the labels of all their tasks. A weight is a
    number of rows: a row of weight 2 is drawn as two equal rows would be.

    Parameters
    ----------
    results : FusedLogitResults
    n : int
        Number of resamples.
    seed : int
        Each resample has its own stream drawn from it, so neither ``n_jobs`` nor a
        larger ``n`` changes the first resamples.
    n_jobs : int, optional
        Number of threads, one for each core where left out; the numbers do not depend on it.
    progress : bool
        Show a bar on a terminal.

    Returns
    -------
    BootstrapResults
    """
    n = checks.whole("n", n, 2, 10**7, way_out="it is a number of resamples")
    seed = checks.whole("seed", seed, 0)
    model = results.model
    work = partial(_refit_resample, model.problem, results.penalty, results.solution.params)
    seed = checks.whole("seed", seed, 0)
    fits = run(work, np.random.SeedSequence(seed).spawn(n), n_jobs, progress, "bootstrap")
    params = np.array([params for params, _ in fits]) / np.append(1.0, model.scale)[:, None]
    return BootstrapResults(results, params, np.array([status for _, status in fits]), seed)


@dataclass(frozen=True)
class BootstrapResults:
    """Fits of resampled rows.

    Percentile intervals of a penalized fit describe the penalized estimate, which is
    pulled towards zero and towards its neighbours; they are no test of a hypothesis.

    Attributes
    ----------
    results : FusedLogitResults
        The fit on the rows themselves.
    samples : ndarray, shape (n, 1 + d, t)
        Coefficients of each resample on the original scale.
    status : ndarray of str, shape (n,)
        "optimal", or what kept a resample from it.
    seed : int
    """

    results: object
    samples: np.ndarray
    status: np.ndarray
    seed: object

    @property
    def bse(self):
        """Standard deviation over resamples, DataFrame (1 + d, t)."""
        return self._frame(self.samples.std(axis=0, ddof=1))

    def conf_int(self, alpha=0.05):
        """Percentile intervals, DataFrame (1 + d, 2 t) with columns (task, "lower") and (task, "upper")."""
        _normal_quantile(alpha)
        lower, upper = np.quantile(self.samples, [alpha / 2, 1 - alpha / 2], axis=0)
        return _intervals(self._frame(lower), self._frame(upper))

    @property
    def selection_frequency(self):
        """Share of resamples in which a coefficient is not zero, DataFrame (d, t)."""
        return self._frame((self.samples != 0).mean(axis=0)).iloc[1:]

    @property
    def fusion_frequency(self):
        """Share of resamples in which both tasks of an edge have the same value, DataFrame (1 + d, edges).

        Two zeros are the same value.
        """
        edges, names = self.results.model.tasks.edges, self.results.model.endog_names
        same = self.samples[:, :, edges[:, 0]] == self.samples[:, :, edges[:, 1]]
        columns = pd.MultiIndex.from_tuples([(names[j], names[k]) for j, k in edges], names=["task", "neighbour"])
        return pd.DataFrame(same.mean(axis=0), self.results.model.exog_names, columns)

    @property
    def n_failed(self):
        """Resamples whose fit is not optimal; they are kept."""
        return int((self.status != "optimal").sum())

    def _frame(self, values):
        return pd.DataFrame(values, self.results.model.exog_names, self.results.model.endog_names)

    def __repr__(self):
        return f"<BootstrapResults: {len(self.samples)} resamples, {self.n_failed} not optimal, seed {self.seed}>"


def _refit_resample(problem, penalty, start, seeds):
    """Coefficients and status of one resample, drawn as weights: a row drawn twice counts twice."""
    drawn = problem.reweighted(_draw(problem.data.row_weights, np.random.default_rng(seeds)))
    solution = solve_exactly(drawn, penalty, start=start)
    return solution.params, solution.status


def _draw(weights, rng):
    """How often each row is drawn, over its weight, in a resample of as many rows as the weights stand for, (n,)."""
    end = np.cumsum(weights)
    size = max(int(round(end[-1])), 1)
    # A place in the queue of all rows, each as long as its weight: equal rows side by side are drawn like one of twice the weight.
    places = (rng.integers(size, size=size) + 0.5) * (end[-1] / size)
    times = np.bincount(np.searchsorted(end, places, side="right"), minlength=len(weights))
    return np.divide(times, weights, out=np.zeros(len(weights)), where=weights > 0)


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


def _normal_quantile(alpha):
    from scipy.stats import norm

    return norm.isf(checks.tolerance("alpha", alpha) / 2)


def _intervals(lower, upper):
    both = pd.concat({"lower": lower, "upper": upper}, axis=1).swaplevel(axis=1)
    return both[[(task, end) for task in lower.columns for end in ("lower", "upper")]]


def _span(places, names):
    """Short name of a set of tasks: runs of neighbouring columns as "first ... last"."""
    if len(places) == len(names) > 1:
        return "all tasks"
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return ", ".join(f"{names[run[0]]} ... {names[run[-1]]}" if len(run) > 2 else ", ".join(str(names[k]) for k in run)
                     for run in runs)


def _head(refitted):
    """Facts about the fit, name and value, two pairs in a line."""
    return [["Tasks:", f"{refitted.model.data.n_tasks}", "   Log-likelihood:", f"{refitted.llf:.4f}"],
            ["No. observations:", f"{refitted.nobs}", "   AIC:", f"{refitted.aic:.4f}"],
            ["Estimated values:", f"{refitted.df}", "   BIC:", f"{refitted.bic:.4f}"]]


def _wald_cells(table):
    """Cells, headers and row names of the table as text."""
    cells = [[f"{tasks}", *(_number(value, name) for name, value in row.items())]
             for (_, tasks), (_, row) in zip(table.index, table.iterrows())]
    return cells, ["tasks", *table.columns], [str(feature) for feature, _ in table.index]


def _number(value, name):
    if np.isnan(value):
        return "-"
    return f"{value:.3f}" if name in ("z", "P>|z|") else f"{value:.4f}"


def _notes(refitted):
    notes = [SELECTION_NOTE]
    if refitted.cov_type == "cluster":
        notes.append("Standard errors allow any dependence between the tasks of a row.")
    elif refitted.model.data.n_tasks > 1:
        notes.append("Standard errors take the tasks of a row as independent; refit(cov_type='cluster') does not.")
    if refitted.separated:
        notes.append(f"Tasks {refitted.separated} are separated: no finite best values, no standard errors.")
    if refitted.fit.collinear.any():
        notes.append("Values without a standard error belong to collinear features.")
    return [line for note in notes for line in textwrap.wrap(note, 96)]
