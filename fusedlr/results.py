"""What a fit found: coefficients, how good they are, predictions, and a summary to read."""

from functools import cached_property

import numpy as np
import pandas as pd

from .inputs import new_offset
from .objective import linear_predictor

__all__ = ["FusedLogitResults", "fused_groups", "null_loglike", "pattern_of"]


def fused_groups(params, tasks):
    """Which neighbouring tasks share a value, row by row.

    Parameters
    ----------
    params : ndarray, shape (rows, t)
    tasks : TaskGraph

    Returns
    -------
    ndarray of int, shape (rows, t)
        Position of the first task of the group that a task belongs to. Tasks are in
        one group if a path of edges with exactly equal values leads from one to the other.
    """
    group = np.tile(np.arange(params.shape[1]), (params.shape[0], 1))
    tied = tasks.differences(params) == 0
    while True:
        before = group.copy()
        for (j, k), same in zip(tasks.edges, tied.T):
            lowest = np.minimum(group[same, j], group[same, k])
            group[same, j] = group[same, k] = lowest
        if np.array_equal(before, group):
            return group


def pattern_of(params, tasks):
    """Zeros and ties of fitted coefficients.

    Returns
    -------
    ndarray of int, shape (1 + d, t)
        The number of the distinct value in each place of ``params``, counted from 0
        through the rows; -1 for a coefficient that is zero. An intercept that happens
        to be zero is a value like any other, because intercepts are not shrunk.
    """
    keys = fused_groups(params, tasks) + params.shape[1] * np.arange(params.shape[0])[:, None]
    chosen = params != 0
    chosen[0] = True
    pattern = np.full(params.shape, -1)
    pattern[chosen] = np.unique(keys[chosen], return_inverse=True)[1]
    return pattern


def null_loglike(data):
    """Largest log-likelihood of each task with an intercept and the offset only, shape (t,)."""
    return np.array([_null_loglike(data.signs[:, k], data.weights[:, k], data.offset[:, k])
                     for k in range(data.n_tasks)])


def _null_loglike(signs, weights, offset):
    share = weights @ (signs > 0) / weights.sum()
    if share in (0.0, 1.0):
        return 0.0
    middle = np.log(share) - np.log1p(-share)
    intercept = _null_intercept(signs, weights, offset, middle) if offset.any() else middle
    return -float(weights @ np.logaddexp(0.0, -signs * (offset + intercept)))


def _null_intercept(signs, weights, offset, middle):
    """Root of the score; at either end every probability is on one side of the share of yes."""
    from scipy.optimize import brentq
    from scipy.special import expit

    def score(intercept):
        return weights @ ((signs > 0) - expit(offset + intercept))

    low, high = middle - offset.max(), middle - offset.min()
    return low if low == high else brentq(score, low - 1e-9, high + 1e-9, xtol=1e-12)


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

    def __init__(self, model, solution, penalties, method="newton", tol=1e-6):
        self.model = model
        self.solution = solution
        self.penalties = dict(penalties)
        self.method = method
        self.tol = tol

    # ---- coefficients -----------------------------------------------------------------------------------------------

    @property
    def params(self):
        """Intercepts (first row) and coefficients on the original scale, DataFrame (1 + d, t)."""
        values = self.solution.params / np.append(1.0, self.model.scale)[:, None]
        return pd.DataFrame(values, self.model.exog_names, self.model.endog_names)

    @property
    def coefs(self):
        """Coefficients on the original scale, ndarray (d, t)."""
        return self.solution.params[1:] / self.model.scale[:, None]

    @property
    def intercepts(self):
        """Intercepts, ndarray (t,)."""
        return self.solution.params[0].copy()

    @property
    def nonzero(self):
        """Which coefficients are not zero, DataFrame of bool (d, t)."""
        return self.params.iloc[1:] != 0

    @cached_property
    def pattern(self):
        """Zeros and ties: the number of the fused block in each place of params, -1 for a zero, ndarray (1 + d, t)."""
        return pattern_of(self.solution.params, self.model.tasks)

    @property
    def fused_blocks(self):
        """Every distinct fitted value: one row for each block of tied neighbours, zeros left out.

        Returns
        -------
        DataFrame
            ``feature``, ``tasks`` (a tuple of names), ``size`` (number of tasks) and
            ``value`` on the original scale. Its length is ``df``.
        """
        order = np.argsort(self.pattern, axis=None, kind="stable")
        blocks = self.pattern.ravel()[order]
        places = np.split(order[blocks >= 0], np.flatnonzero(np.diff(blocks[blocks >= 0])) + 1)
        rows = [self._block(*np.divmod(place, self.pattern.shape[1])) for place in places]
        return pd.DataFrame(rows, columns=["feature", "tasks", "size", "value"])

    def _block(self, rows, columns):
        model, row = self.model, rows[0]
        value = self.solution.params[row, columns[0]] / (model.scale[row - 1] if row else 1.0)
        return model.exog_names[row], tuple(model.endog_names[k] for k in columns), len(columns), value

    # ---- how the solver did -----------------------------------------------------------------------------------------

    @property
    def status(self):
        """"optimal", "separated" or "not_converged"."""
        return self.solution.status

    @property
    def converged(self):
        """Whether the duality gap reached ``tol``."""
        return self.status == "optimal"

    @property
    def iterations(self):
        return self.solution.iterations

    @property
    def objective(self):
        """Value of the penalized objective."""
        return self.solution.objective

    @property
    def penalty(self):
        """Penalties of every row of params as the solver used them, ``objective.Penalty``."""
        return self.model.penalty(**self.penalties)

    @cached_property
    def gap(self):
        """Relative duality gap, recomputed by the referee, which knows nothing of the solver.

        Of separated data, which have no minimiser to be close to, the solver's own.
        """
        from .optimality import certify

        if self.status == "separated":
            return float(self.solution.gap)
        certificate = certify(self.model.data, self.solution.params, self.penalty, self.model.tasks)
        return max(float(certificate.relative_gap), 0.0)  # rounding can make a perfect gap negative

    # ---- how well the model fits ------------------------------------------------------------------------------------

    @cached_property
    def nobs(self):
        """Rows with at least one observed label."""
        return self.model.nobs

    @cached_property
    def _row_weight(self):
        # The rows are the independent units: a row counts once, by its largest weight, however many tasks it has.
        return float(self.model.data.weights.max(axis=1).sum())

    @cached_property
    def nobs_per_task(self):
        """Observed labels of each task, weights counted, Series (t,)."""
        return self._by_task(self.model.data.weights.sum(axis=0))

    @cached_property
    def positives(self):
        """Observed labels that are yes, weights counted, Series (t,)."""
        data = self.model.data
        return self._by_task((data.weights * (data.signs > 0)).sum(axis=0))

    @cached_property
    def llf_per_task(self):
        """Log-likelihood of each task, Series (t,)."""
        data = self.model.data
        margin = data.signs * linear_predictor(data, self.solution.params)
        return self._by_task(-(data.weights * np.logaddexp(0.0, -margin)).sum(axis=0))

    @cached_property
    def llnull_per_task(self):
        """Log-likelihood of each task with its own intercept and the offset only, Series (t,)."""
        return self._by_task(null_loglike(self.model.data))

    @property
    def llf(self):
        """Log-likelihood, penalties not counted."""
        return float(self.llf_per_task.sum())

    @property
    def llnull(self):
        """Log-likelihood of intercepts alone, one for each task, neither fused nor shrunk."""
        return float(self.llnull_per_task.sum())

    @property
    def deviance(self):
        """-2 llf."""
        return -2 * self.llf

    @property
    def prsquared(self):
        """Share of the null deviance explained, McFadden's pseudo R-squared; NaN where the null model is perfect."""
        return 1 - self.llf / self.llnull if self.llnull else float("nan")

    @property
    def df(self):
        """Distinct values fitted: fused blocks of non-zero coefficients plus fused blocks of intercepts."""
        return int(self.pattern.max()) + 1

    @property
    def df_model(self):
        """Distinct non-zero values of the coefficients, intercepts not counted, as in statsmodels."""
        return self.df - len(np.unique(self.pattern[0]))

    @property
    def df_resid(self):
        """Observed labels of all tasks less ``df``."""
        return float(self.nobs_per_task.sum()) - self.df

    @property
    def aic(self):
        """-2 llf + 2 df."""
        return -2 * self.llf + 2 * self.df

    @property
    def bic(self):
        """-2 llf + log(n) df, n the number of rows (weights counted), because tasks of one row are not independent."""
        return -2 * self.llf + np.log(self._row_weight) * self.df

    def _by_task(self, values):
        return pd.Series(values, self.model.endog_names)

    # ---- predictions ------------------------------------------------------------------------------------------------

    def predict(self, exog=None, which="prob", offset=None):
        """Predictions for new rows, or for the rows of the fit.

        Parameters
        ----------
        exog : DataFrame or array_like, optional
            The rows of the fit where left out. Columns of a DataFrame are found by
            name, in any order, others are ignored; columns of an array by position. A
            model from a formula takes a DataFrame with the formula's variables.
        which : "prob", "linear" or "label"
            Probability of yes, linear predictor, or the more probable of the user's own
            two labels.
        offset : array_like, shape (n,) or (n, t), optional
            0 where left out, for new rows.

        Returns
        -------
        DataFrame, shape (n, t)
        """
        finish = {"prob": _probability, "linear": _untouched, "label": self._labels}
        if which not in finish:
            raise ValueError(f"which must be 'prob', 'linear' or 'label', found {which!r}")
        return finish[which](self._linear(exog, offset))

    @property
    def fittedvalues(self):
        """Probabilities of yes in the rows of the fit, DataFrame (n, t)."""
        return self.predict()

    @property
    def resid_response(self):
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

    def summary(self, max_rows=40, title=None):
        """A statsmodels ``Summary`` to print, or to turn into html, latex or csv.

        Parameters
        ----------
        max_rows : int or None
            Features to show; the largest where there are more. Features that are zero
            in every task are counted, not shown. None shows all features.
        title : str, optional
        """
        from .summary import summarize

        return summarize(self, max_rows, title)

    def summary_frame(self):
        """One row for each intercept and coefficient: feature, task, value, zero, and the tasks it is fused with."""
        members = [*self.fused_blocks["tasks"], ()]  # the last one is that of zeros, whose block is -1
        rows = [(feature, task, value, block < 0, tuple(other for other in members[block] if other != task))
                for task, values, blocks in zip(self.model.endog_names, self.params.to_numpy().T, self.pattern.T)
                for feature, value, block in zip(self.model.exog_names, values, blocks)]
        return pd.DataFrame(rows, columns=["feature", "task", "value", "zero", "fused_with"])

    # ---- how sure one may be ----------------------------------------------------------------------------------------

    def refit(self, cov_type="nonrobust"):
        """The same zeros and ties without penalty, with Wald intervals conditional on selection.

        Parameters
        ----------
        cov_type : "nonrobust" or "cluster"
            Whether tasks of one row count as independent; see ``inference.refit``.

        Returns
        -------
        RefitResults
        """
        from .inference import refit

        return refit(self, cov_type)

    def bootstrap(self, n=200, seed=0, n_jobs=1, progress=True):
        """Percentile intervals, and how often each coefficient is selected and each tie is found, from resampled rows.

        Parameters
        ----------
        n : int
            Number of resamples.
        seed : int
        n_jobs : int
            Processes to use; the numbers do not depend on it.
        progress : bool
            Show a progress bar, where tqdm is installed and a terminal is watching.

        Returns
        -------
        BootstrapResults
        """
        from .inference import bootstrap

        return bootstrap(self, n, seed=seed, n_jobs=n_jobs, progress=progress)

    # ---- keeping it -------------------------------------------------------------------------------------------------

    def remove_data(self):
        """Let go of the data, and keep coefficients and everything the summary shows.

        The result of a large design is large only by its model's data. Afterwards
        ``predict`` needs ``exog``, and ``refit`` and ``bootstrap`` are no longer possible.
        """
        for name in KEPT:
            getattr(self, name)
        self.model = self.model.without_data()

    def save(self, path, remove_data=False):
        """Write to one file that holds arrays and text only, no code.

        The file appears whole or not at all. Row labels other than numbers, dates and
        text come back as text.

        Parameters
        ----------
        path : str or path
        remove_data : bool
            Leave the data out, as ``remove_data()`` would.
        """
        from .storage import write

        write(self, path, remove_data)

    @classmethod
    def load(cls, path, formula=False):
        """Results from a file written by ``save``. Nothing in the file is executed.

        Parameters
        ----------
        path : str or path
        formula : bool
            Whether a model from a formula takes the formula's variables in ``predict``
            again. A formula is code: ask for this with files you trust only. Without
            it, ``predict`` takes the columns of the design.
        """
        from .storage import read

        return read(path, formula)

    def __repr__(self):
        penalties = ", ".join(f"{name}={_brief(value)}" for name, value in self.penalties.items())
        return f"<FusedLogitResults: {penalties}; {self.df} distinct values, {self.status}>"


# What remove_data keeps of the data: everything that is computed from them when first asked for.
KEPT = ("gap", "nobs", "_row_weight", "nobs_per_task", "positives", "llf_per_task", "llnull_per_task")


def _probability(linear):
    from scipy.special import expit

    return pd.DataFrame(expit(linear.to_numpy()), linear.index, linear.columns)


def _untouched(linear):
    return linear


def _brief(value):
    return f"{value:g}" if np.ndim(value) == 0 else "by feature"
