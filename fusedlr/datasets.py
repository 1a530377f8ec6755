"""Data for examples, made by a stated model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import checks

__all__ = ["weeks"]


def weeks(n: int = 400, rng: Any = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Four weeks, three features: age matters in every week, dose from week 12 on, noise never.

    Features are independent and standard normal. The log-odds of yes are ``age`` in weeks 4 and 8
    and ``age + 1.2 dose`` in weeks 12 and 16.

    Parameters
    ----------
    n : int
        Number of rows.
    rng : int, SeedSequence, Generator or None

    Returns
    -------
    Y : DataFrame of bool, shape (n, 4)
    X : DataFrame, shape (n, 3)

    Examples
    --------
    >>> from fusedlr import datasets
    >>> Y, X = datasets.weeks()
    >>> Y.mean().round(2).to_dict()
    {'week4': 0.5, 'week8': 0.5, 'week12': 0.51, 'week16': 0.5}
    """
    n, draw = checks.whole("n", n, 1, 10**7), np.random.default_rng(checks.rng(rng))
    X = pd.DataFrame(draw.normal(size=(n, 3)), columns=["age", "dose", "noise"])
    effects = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.2, 1.2], [0.0, 0.0, 0.0, 0.0]])
    chance = 1 / (1 + np.exp(-X.to_numpy() @ effects))
    return pd.DataFrame(draw.random((n, 4)) < chance, columns=["week4", "week8", "week12", "week16"]), X
