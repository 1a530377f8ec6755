"""What a fit found: coefficients, how good they are, predictions, and a summary to read."""

from functools import cached_property

import numpy as np
import pandas as pd

from .objective import linear_predictor, loss

__all__ = ["FusedLogitResults", "fused_groups", "null_loglike"]


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

    @property
    def fused_blocks(self):
        """Every distinct fitted value: one row for each group of tied neighbours, zeros left out.

        Returns
        -------
        DataFrame
            ``feature``, ``block`` (counted within the feature), ``tasks`` (a tuple of
            names), ``size`` and ``value`` on the original scale. Its length is ``df``.
        """
        params, rows = self.params, []
        values, names = params.to_numpy(), self.model.endog_names
        for row, groups in enumerate(fused_groups(self.solution.params, self.model.tasks)):
            firsts = [first for first in np.unique(groups) if row == 0 or values[row, first] != 0]
            for block, first in enumerate(firsts):
                members = tuple(names[k] for k in np.flatnonzero(groups == first))
                rows.append((params.index[row], block, members, len(members), values[row, first]))
        return pd.DataFrame(rows, columns=["feature", "block", "tasks", "size", "value"])

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
        """Relative duality gap, recomputed by the referee, which knows nothing of the solver."""
        from .optimality import certify

        return float(certify(self.model.data, self.solution.params, self.penalty, self.model.tasks).relative_gap)

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
        """Distinct values fitted: non-zero fused groups of the features plus fused groups of the intercept."""
        return self.df_model + len(np.unique(self._groups[0]))

    @property
    def df_model(self):
        """Distinct non-zero fused groups of the features, intercepts not counted, as in statsmodels."""
        return sum(len(np.unique(groups[values != 0]))
                   for groups, values in zip(self._groups[1:], self.solution.params[1:]))

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

    @property
    def _groups(self):
        return fused_groups(self.solution.params, self.model.tasks)

    def _by_task(self, values):
        return pd.Series(values, self.model.endog_names)
