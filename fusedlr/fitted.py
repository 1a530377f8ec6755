"""What a penalized fit and an unpenalized refit have in common: coefficients, likelihood, predictions, residuals."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from . import checks
from .likelihood import loglike, null_loglike
from .objective import linear_predictor, pointwise_loss, sigmoid
from .pattern import pattern_of
from .reporting import Result

__all__ = ["Fit"]


class Fit(Result):
    """Results that have coefficients for every task.

    Parameters
    ----------
    model : FusedLogit
    solved : ndarray, shape (1 + d, t)
        Intercepts and coefficients of the features divided by the model's ``scale``.
    """

    # What is computed from the data when first asked for, and must be kept where the data are not.
    kept: tuple[str, ...] = ("nobs", "_row_weight", "nobs_per_task", "positives", "llf_per_task", "llnull_per_task",
                             "llf", "llnull")

    def __init__(self, model: Any, solved: np.ndarray) -> None:
        self.model = model
        self._solved = solved

    # ---- coefficients -----------------------------------------------------------------------------------------------

    @property
    def params(self) -> pd.DataFrame:
        """Intercepts (first row) and coefficients on the original scale, DataFrame (1 + d, t)."""
        return self._by_place(self._solved / self._row_scale)

    @property
    def coefs(self) -> np.ndarray:
        """Coefficients on the original scale, ndarray (d, t)."""
        return self._solved[1:] / self.model.scale[:, None]

    @property
    def intercepts(self) -> np.ndarray:
        """Intercepts, ndarray (t,)."""
        return self._solved[0].copy()

    @cached_property
    def pattern(self) -> np.ndarray:
        """Zeros and ties: the number of the group in each place of params, -1 for a zero, ndarray (1 + d, t)."""
        return pattern_of(self._solved, self.model.tasks)

    @property
    def _row_scale(self) -> np.ndarray:
        return np.append(1.0, self.model.scale)[:, None]

    def _by_place(self, values: Any) -> pd.DataFrame:
        return pd.DataFrame(np.asarray(values), self.model.exog_names, self.model.endog_names)

    def _by_task(self, values: np.ndarray) -> pd.Series:
        return pd.Series(values, self.model.endog_names)

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
        return self._by_task(loglike(self.model.data, self._solved))

    @cached_property
    def llnull_per_task(self) -> pd.Series:
        """Log-likelihood of each task with its own intercept and the offset only, Series (t,)."""
        return self._by_task(null_loglike(self.model.data))

    @cached_property
    def llf(self) -> float:
        """Log-likelihood, penalties not counted; of a model of one outcome that of the outcome itself."""
        return self.model.loglike(self.params)

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

    # ---- predictions and residuals ----------------------------------------------------------------------------------

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
        offset : float or array_like, shape (n,) or (n, t), or the name of a column of exog, optional
            Of new rows. A model with an offset asks for it; 0 is an answer.

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

    @property
    def resid_pearson(self) -> pd.DataFrame:
        """``resid_response`` over the standard deviation of the label, sqrt(p (1 - p)), DataFrame (n, t)."""
        return self._residuals(lambda margin: np.exp(-margin / 2))

    @property
    def resid_deviance(self) -> pd.DataFrame:
        """Signed root of what each label adds to the deviance, weights not counted, DataFrame (n, t)."""
        return self._residuals(lambda margin: np.sqrt(2 * pointwise_loss(margin)))

    def _residuals(self, size) -> pd.DataFrame:
        """Residuals with the sign of the label, from their size at a margin (sign times linear predictor)."""
        data = self.model.data
        values = data.signs * size(data.signs * linear_predictor(data, self._solved))
        return pd.DataFrame(np.where(data.weights > 0, values, np.nan), self.model.index, self.model.endog_names)

    def _linear(self, exog: Any, offset: Any) -> pd.DataFrame:
        names = self.model.endog_names
        if exog is None:
            if offset is not None:
                raise ValueError("offset goes with exog: the rows of the fit keep the offset of the model")
            return pd.DataFrame(linear_predictor(self.model.data, self._solved), self.model.index, names)
        X, offset, index = self.model.new_rows(exog, offset)
        return pd.DataFrame(offset + self.intercepts + X @ self.coefs, index, names)

    def _labels(self, linear: pd.DataFrame) -> pd.DataFrame:
        # Object arrays keep each label as the user wrote it; infer_objects then finds the type of the column.
        columns = {name: np.array([*labels, None], dtype=object)[:2][(linear[name] > 0).to_numpy().astype(int)]
                   for name, labels in zip(linear.columns, self.model.labels)}
        return pd.DataFrame(columns, linear.index).infer_objects()

    # ---- without the data -------------------------------------------------------------------------------------------

    def remove_data(self) -> None:
        """Let go of the data, and keep coefficients and everything the summary shows.

        The result of a large design is large only by its model's data. Afterwards
        ``predict`` needs ``exog``, and what needs the rows (``refit``, ``bootstrap``,
        residuals) is no longer possible.
        """
        for name in self.kept:
            getattr(self, name)
        self.model = self.model.without_data()

    def _kept_values(self) -> dict:
        return {name: value.tolist() if isinstance(value, pd.Series) else value
                for name in self.kept for value in [getattr(self, name)]}

    def _take_kept(self, values: dict) -> None:
        for name, value in values.items():
            self.__dict__[name] = self._by_task(np.array(value)) if isinstance(value, list) else value
