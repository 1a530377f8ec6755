"""Convergence of the ADMM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from .. import checks
from .axes import INK, given, new_axes

if TYPE_CHECKING:
    from ..results import FusedLogitResults

__all__ = ["residual_history"]


def residual_history(results: FusedLogitResults, ax: Axes | None = None) -> Axes:
    """Primal and dual residual of the ADMM by iteration.

    Parameters
    ----------
    results : FusedLogitResults
        Fitted with ``method="admm"``.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> Y, X = datasets.weeks()
    >>> model = FusedLogit(Y, X, standardize=False, fuse_intercepts=True)
    >>> ax = plots.residual_history(model.fit(l1=5, l2=0, fusion=10, method="admm"))
    """
    checks.result("results", results, ("model", "solution", "method"), "a fit such as FusedLogit(...).fit gives")
    ax, history = given(ax), results.solution.history
    if "primal" not in history:
        raise ValueError(f"results must come from method='admm', which keeps residuals; found {results.method!r}")
    ax = ax or new_axes(6.4, 3.6)
    for name, style in (("primal", "-"), ("dual", "--")):
        values = np.asarray(history[name], dtype=float)
        ax.plot(np.arange(1, len(values) + 1), np.where(values > 0, values, np.nan), style, color=INK, linewidth=1.2,
                label=f"{name} residual")
    ax.set(yscale="log", xlabel="iteration", ylabel="residual")
    ax.legend(frameon=False)
    sns.despine(ax=ax)
    ax.set_title(f"ADMM, {results.status}", loc="left")
    return ax
