"""Average marginal effects (average predictive differences) with delta-method standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..constrained_fit import values_in_places
from ..objective import sigmoid
from ..problem import Design
from .contrasts import pairs, wald_table

if TYPE_CHECKING:
    from .refit import RefitResults

__all__ = ["MarginalEffects", "margins"]

_STEP = 1e-4  # of a feature's standard deviation, and of a value's standard error


@dataclass(frozen=True)
class MarginalEffects:
    """Average marginal effects (predictive differences) with a delta-method covariance.

    Attributes
    ----------
    margeff : DataFrame, shape (features, columns)
        A row for each feature that was selected, a column for each task, level or time.
    cov : ndarray, shape (features * columns,) twice
        Covariance of ``margeff``, row after row.
    which : str
        What was predicted: "prob", or another word of ``predict``.
    scale : ndarray, shape (features,)
        Standard deviation of each feature; 1 where it is 0/1, whose effect is the change from 0 to 1.
    """

    margeff: pd.DataFrame
    cov: np.ndarray
    which: str
    scale: np.ndarray

    @property
    def margeff_se(self) -> pd.DataFrame:
        """Standard errors, shaped as ``margeff``."""
        error = np.sqrt(np.diag(self.cov)).reshape(self.margeff.shape)
        return pd.DataFrame(error, self.margeff.index, self.margeff.columns)

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """A row for each feature and column: ``dy/dx``, ``std err``, ``z``, ``P>|z|`` and the ends of the interval."""
        rows, columns = self.margeff.shape
        index = pairs(np.repeat(np.array(self.margeff.index, dtype=object), columns), [*self.margeff.columns] * rows,
                      ["feature", self.margeff.columns.name or "of"])
        return wald_table(self.margeff.to_numpy().ravel(), self.cov, alpha, index).rename(columns={"coef": "dy/dx"})

    def plot(self, ax: Any = None) -> Any:
        """Draw the effects with their intervals; see ``plots.margins``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> ax = FusedLogit(Y, X).fit(l1=5, l2=0.5, fusion=10).get_margeff().plot()
        >>> [tick.get_text() for tick in ax.get_yticklabels()]
        ['age', 'dose']
        """
        from ..plots import margins as draw

        return draw(self, ax=ax)

    def __repr__(self) -> str:
        return f"<MarginalEffects: {len(self.margeff)} features; see summary_frame()>"

    def __str__(self) -> str:
        return str(self.summary_frame())


def margins(refitted: RefitResults, which: str = "prob") -> MarginalEffects:
    """Average predictive differences of an unpenalized refit; arguments as for ``RefitResults.get_margeff``."""
    outcome = refitted.model.outcome
    which = checks.word("which", which, ("prob", *(word for word in outcome.predictions if word != "level")))
    rows = np.flatnonzero((refitted.pattern[1:] >= 0).any(axis=1))
    values, cov = refitted.fit.values, refitted.fit.cov
    found = _differences(refitted, values, rows, which)
    if found.isna().any(axis=None):
        raise ValueError(f"which={which!r} has no mean over rows: of some of them survival stays above a half, so that "
                         "they have no median; use which='survival'")
    steps = _STEP * np.nan_to_num(np.sqrt(np.diag(cov)), nan=1.0)
    slopes = np.column_stack([_slope(refitted, values, v, step, rows, which) for v, step in enumerate(steps)])
    vague = (slopes != 0).astype(float) @ np.isnan(cov).astype(float) @ (slopes != 0).T > 0
    names = [refitted.model.exog_names[1 + j] for j in rows]
    table = pd.DataFrame(found.to_numpy(), pd.Index(names, name="feature", tupleize_cols=False), found.columns)
    widths = [_width(column) for column in refitted.model.problem.design.columns(1 + rows).T]
    return MarginalEffects(table, np.where(vague, np.nan, slopes @ np.nan_to_num(cov) @ slopes.T), which,
                           np.array(widths))


def _width(column):
    """Step that makes features comparable: a standard deviation, or from 0 to 1."""
    return 1.0 if np.isin(column, (0.0, 1.0)).all() else float(column.std())


def _slope(refitted, values, v, step, rows, which):
    """Derivative of all differences in one value, shape (features * columns,)."""
    ends = [_differences(refitted, values + sign * step * np.eye(len(values))[v], rows, which) for sign in (1, -1)]
    return (ends[0].to_numpy() - ends[1].to_numpy()).ravel() / (2 * step)


def _differences(refitted, values, rows, which):
    """Mean over rows: the discrete difference from 0 to 1 of a binary feature, else the derivative."""
    problem, params = refitted.model.problem, values_in_places(refitted.pattern, values)
    weights = problem.labels.row_weights(problem.n_rows)
    found = [_mean_change(refitted, params, j, which, weights / weights.sum()) for j in rows]
    return pd.DataFrame(found) if found else pd.DataFrame(columns=refitted.model.endog_names, dtype=float)


def _mean_change(refitted, params, j, which, shares):
    design = refitted.model.problem.design
    column = design.columns(np.array([1 + j]))[:, 0]
    step = _STEP * column.std()
    low, high = (0.0, 1.0) if np.isin(column, (0.0, 1.0)).all() else (column - step, column + step)
    width = 1.0 if np.ndim(low) == 0 else 2 * step
    return shares @ (_predicted(refitted, params, design, j, high, which)
                     - _predicted(refitted, params, design, j, low, which)) / width


def _predicted(refitted: RefitResults, params: np.ndarray, design: Design, j: int, column: Any,
               which: str) -> pd.DataFrame:
    """Predictions with one feature replaced, DataFrame (n, columns)."""
    moved = column - design.columns(np.array([1 + j]))[:, 0]
    linear = refitted.model.spec.table(design.table(params) + np.outer(moved, params[1 + j]), None)
    if which == "prob":
        return pd.DataFrame(sigmoid(linear.to_numpy()), columns=linear.columns)
    found = refitted.model.outcome.predict(linear, which)
    return found.to_frame(which) if isinstance(found, pd.Series) else found
