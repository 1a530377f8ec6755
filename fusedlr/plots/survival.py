"""Predicted survival of chosen rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from .. import checks
from .axes import MARKERS, given, new_axes, plain, task_colours

if TYPE_CHECKING:
    from ..fit import Fit

__all__ = ["survival_curves"]


def survival_curves(results: Fit, exog: Any, labels: Any = None, ax: Axes | None = None) -> Axes:
    """Probability to be without the event over time, one line for each row.

    Parameters
    ----------
    results : FusedLogitResults
        Of a model from ``FusedLogit.from_survival``.
    exog : as for ``predict``
        The rows to show, at most twelve.
    labels : sequence, optional
        Names of the rows; the labels of their index where left out.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets, plots
    >>> import numpy as np
    >>> _, X = datasets.weeks()
    >>> time = np.random.default_rng(1).exponential(np.exp(-X["age"]))
    >>> model = FusedLogit.from_survival(np.minimum(time, 2), time < 2, X, breaks=[0.5, 1, 1.5, 2])
    >>> ax = plots.survival_curves(model.fit(l1=5, l2=0, fusion=20), X.head(3))
    """
    ax, names = given(ax), None if labels is None else checks.listed("labels", labels)
    outcome = checks.result("results", results, ["model", "predict"], "a fit of time to event").model.outcome
    breaks = outcome.axis.ends
    if breaks is None or "survival" not in outcome.predictions:
        raise ValueError("results must come from FusedLogit.from_survival without causes, found a fit of something "
                         "else")
    if exog is None:
        raise TypeError("exog must hold the rows to show, found None")
    curves = results.predict(exog, which="survival")
    if len(curves) > 12:
        raise ValueError(f"exog must hold at most 12 rows, to be told apart in a figure, found {len(curves)}")
    names = list(curves.index) if names is None else names
    if len(names) != len(curves):
        raise ValueError(f"labels must name each of the {len(curves)} rows of exog, found {len(names)}")
    ax = ax or new_axes(6.4, 4.0)
    for k, (name, curve) in enumerate(zip(names, curves.to_numpy())):
        ax.plot(breaks, np.append(1.0, curve), color=task_colours(len(curves))[k], marker=MARKERS[k % len(MARKERS)],
                markersize=4, linewidth=1.4, label=plain(name))
    ax.set(xlim=(breaks[0], None), ylim=(0, 1.02), xlabel="time", ylabel="probability to be without the event")
    ax.legend(frameon=False, fontsize=9)
    sns.despine(ax=ax)
    ax.set_title("Predicted survival", loc="left")
    return ax
