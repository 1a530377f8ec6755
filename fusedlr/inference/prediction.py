"""Predicted probabilities with standard errors and intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..objective import pointwise_curvature, sigmoid
from .contrasts import intervals, normal_quantile, side_by_side

__all__ = ["PredictionResults"]


class PredictionResults:
    """Probabilities of yes, with the uncertainty of the coefficients.

    Attributes
    ----------
    linear, se_linear : DataFrame, shape (n, t)
        Linear predictor and its standard error; NaN where a coefficient has none.

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
    >>> refit = fit.refit(ties=False)
    >>> found = refit.get_prediction(X.head(2))
    >>> found.predicted_mean.round(2)
       week4  week8  week12  week16
    0    0.6   0.56    0.78    0.76
    1    0.2   0.17    0.47    0.39
    """

    def __init__(self, linear: pd.DataFrame, se_linear: pd.DataFrame) -> None:
        self.linear = linear
        self.se_linear = se_linear

    @property
    def predicted_mean(self) -> pd.DataFrame:
        """Probability of yes, DataFrame (n, t)."""
        return self._frame(sigmoid(self.linear.to_numpy()))

    @property
    def se_mean(self) -> pd.DataFrame:
        """Standard error of the probability by the delta method, DataFrame (n, t)."""
        return self._frame(pointwise_curvature(self.linear.to_numpy()) * self.se_linear.to_numpy())

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Wald intervals of the linear predictor, transformed to probabilities, so that they stay between 0 and 1.

        Returns
        -------
        DataFrame, shape (n, 2 t)
            Columns (task, "lower") and (task, "upper").

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> found = refit.get_prediction(X.head(2))
        >>> found.conf_int()["week16"].round(2)
           lower  upper
        0   0.69   0.82
        1   0.29   0.49
        """
        return intervals(*self._ends(alpha))

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Columns of statsmodels for each task: mean, mean_se, mean_ci_lower and mean_ci_upper, DataFrame (n, 4 t).

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> fit = FusedLogit(Y, X).fit(l1=5, l2=0, fusion=10)
        >>> refit = fit.refit(ties=False)
        >>> found = refit.get_prediction(X.head(2))
        >>> found.summary_frame()["week16"].round(2)
           mean  mean_se  mean_ci_lower  mean_ci_upper
        0  0.76     0.03           0.69           0.82
        1  0.39     0.05           0.29           0.49
        """
        lower, upper = self._ends(alpha)
        return side_by_side({"mean": self.predicted_mean, "mean_se": self.se_mean, "mean_ci_lower": lower,
                             "mean_ci_upper": upper})

    def _ends(self, alpha):
        """Lower and upper ends of the intervals."""
        half = normal_quantile(alpha) * self.se_linear
        return [self._frame(sigmoid(end.to_numpy())) for end in (self.linear - half, self.linear + half)]

    def _frame(self, values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values, self.linear.index, self.linear.columns)

    def __repr__(self) -> str:
        rows, tasks = self.linear.shape
        return f"<PredictionResults: {rows} rows, {tasks} tasks; see summary_frame()>"

    def __str__(self) -> str:
        return str(self.summary_frame())

    def _repr_html_(self) -> str:
        return self.summary_frame()._repr_html_()
