"""Fits on a grid of penalties, with warm starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..base import Model
from ..exceptions import GridEdgeWarning
from ..fit import Result
from ..io import SHARE, Nested, Plain, registered, saved
from ..metrics import PENALTIES, choose
from ..parallel import progress_bar
from ..results import FusedLogitResults
from ..solver import ACCEPTED, Path, solve_exactly, solve_path

if TYPE_CHECKING:
    from statsmodels.iolib.summary import Summary

__all__ = ["Grid", "distinct", "fit_grid", "warn_edge"]

SHOWN = ("objective", "gap", "status", "nonzeros", "df", "iterations")


def fit_grid(model: Model, l1: Any, l2: Any, fusion: Any, tol: float = 1e-6, max_iter: int = 200,
             progress: bool = True, n_jobs: int | None = 1) -> Grid:
    """Fits of one model at every combination of the penalties given; arguments as for ``FusedLogit.fit_grid``."""
    lists = [distinct(name, values) for name, values in zip(PENALTIES, (l1, l2, fusion))]
    points = np.array(list(product(*lists)))
    with progress_bar(len(points), checks.flag("progress", progress), "points") as step:
        return Grid(model, solve_path(model.with_data(), points, tol, max_iter, step, n_jobs), tol)


@registered("grid")
@dataclass(eq=False, repr=False)
class Grid(Result):
    """Fits of one model at every combination of the penalties given.

    Made by ``FusedLogit.fit_grid``. Points come in the order of
    ``itertools.product(l1, l2, fusion)``.

    Attributes
    ----------
    model : FusedLogit
    path : solver.Path
        What the solver handed back.
    tol : float

    Examples
    --------
    >>> from fusedlr import FusedLogit, datasets
    >>> Y, X = datasets.weeks()
    >>> grid = FusedLogit(Y, X).fit_grid(l1=[2, 8], l2=[0], fusion=[1, 10])
    >>> grid
    <Grid: 4 points, 4 optimal>
    """

    model: Model = saved(Nested("model"))
    path: Path = saved(Nested(Path))
    tol: float = saved(Plain(SHARE))

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a point: l1, l2, fusion, objective, gap (the solver's), status, nonzeros, df, iterations."""
        return pd.DataFrame({**dict(zip(PENALTIES, self.path.points.T)),
                             **{name: getattr(self.path, name) for name in SHOWN}})

    @property
    def params(self) -> np.ndarray:
        """Intercepts (row 0) and coefficients of every point, shape (g, 1 + d, t), made anew; ``path[i]`` is one."""
        return self.path.params

    @property
    def intercepts(self) -> np.ndarray:
        """Intercepts of every point, shape (g, t)."""
        return self.params[:, 0]

    @property
    def coefs(self) -> np.ndarray:
        """Coefficients of every point, shape (g, d, t)."""
        return self.params[:, 1:]

    def __len__(self) -> int:
        return len(self.table)

    def results(self, i: int) -> FusedLogitResults:
        """The fit at point ``i``, warm-started from the grid and solved exactly, as by ``model.fit``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> grid = FusedLogit(Y, X).fit_grid(l1=[2, 8], l2=[0], fusion=[1, 10])
        >>> grid.results(1).coefs.round(2)
               week4  week8  week12  week16
        age     0.97   0.97    0.97    0.97
        dose    0.00   0.00    0.96    0.96
        noise   0.01   0.01    0.01    0.01
        """
        i = checks.whole("i", i, -len(self), len(self) - 1, "it is a row of table")
        penalties = dict(zip(PENALTIES, self.path.points[i].tolist()))
        problem = self.model.with_data()
        solution = solve_exactly(problem, problem.penalty(**penalties), start=self.path[i])
        return FusedLogitResults(self.model, solution, penalties, "newton", ACCEPTED)

    def select(self, endog: Any, exog: Any, metric: str = "logloss", offset: Any = None, weights: Any = None,
               task: Any = None) -> FusedLogitResults:
        """The point that predicts held-out rows best.

        Parameters
        ----------
        endog, exog : as for ``FusedLogit``
            Held-out rows, with the model's labels and features.
        metric : "logloss", "error" or "auc"
            Mean negative log-likelihood or share of wrong labels over all observed labels
            of all tasks, or area under the ROC curve, mean over tasks; of an ordered outcome
            also "rps", the mean ranked probability score. Equal scores are resolved by log-loss
            (for log-loss: by error), then by the larger penalties (l1, then l2, then fusion).
        offset, weights : as for ``FusedLogit``, optional
        task : as for ``FusedLogit.from_long``, optional
            The task of each row, where rows have one each.

        Returns
        -------
        FusedLogitResults

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> grid = FusedLogit(Y[:300], X[:300]).fit_grid(l1=[1, 5, 25], l2=[0], fusion=[0.2, 1, 5])
        >>> grid.select(Y[300:], X[300:])
        <FusedLogitResults: l1=5, l2=0, fusion=1; 11 distinct values, optimal>
        """
        metrics = self.model.metrics
        wanted = metrics[checks.word("metric", metric, metrics)]
        held = self.model.held_out(endog, exog, weights, offset, task)

        def cost(kind):
            return lambda where: kind.cost(kind.score(self.path.tables.take(where), held.design, held.labels))

        best = choose(self.table, cost(wanted), cost(metrics[wanted.tie_breaker]))
        warn_edge(self, best)
        return self.results(best)

    def summary(self) -> Summary:
        """A statsmodels ``Summary``: what was fitted, and some of the points.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> grid = FusedLogit(Y, X).fit_grid(l1=[2, 8], l2=[0], fusion=[1, 10])
        >>> print(str(grid.summary()).splitlines()[0].strip())
        Fits on a grid of penalties
        """
        from ..summary import summarize_grid

        return summarize_grid(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients of all features as l1 falls; see ``plots.coef_paths``.

        Examples
        --------
        >>> from fusedlr import FusedLogit, datasets
        >>> Y, X = datasets.weeks()
        >>> grid = FusedLogit(Y, X).fit_grid(l1=[2, 8], l2=[0], fusion=[1, 10])
        >>> ax = grid.plot()
        """
        from ..plots import coef_paths

        return coef_paths(self, ax=ax)

    def __repr__(self):
        counts = ", ".join(f"{count} {status}" for status, count in self.table["status"].value_counts().items())
        return f"<Grid: {len(self)} points, {counts}>"


def warn_edge(grid: Grid, chosen: int, names: Sequence[str] = PENALTIES, stacklevel: int = 3) -> None:
    """Warn where a chosen point lies at an end of one of the lists named, beyond which the fit would go on."""
    ends = {name: end for name in names for end in [_end(grid.table[name].to_numpy(), chosen)]
            if end and _goes_on(grid, chosen, name, end)}
    if ends:
        where = " and ".join(f"the {end} {name} ({grid.table[name].iloc[chosen]:.4g})" for name, end in ends.items())
        lists = ", ".join(f"{name}={_longer(grid.table[name], end)}" for name, end in ends.items())
        warnings.warn(f"the chosen point lies at an end of the grid, {where}: a better one may lie beyond; a longer "
                      f"list: {lists}", GridEdgeWarning, stacklevel=stacklevel)


def _longer(values, end):
    """A list of penalties with three more values beyond an end, by the ratio of the two last, as a user types it."""
    values = np.unique(values)
    positive = values[values > 0]
    edge = positive[-2:] if end == "largest" else positive[1::-1]
    ratio = edge[-1] / edge[0] if len(edge) > 1 else 3.0
    more = edge[-1] * ratio ** np.arange(1, 4)
    listed = np.append(values, more) if end == "largest" else np.append(more[::-1], values)
    return "[" + ", ".join(f"{value:.4g}" for value in listed) + "]"


def _end(values, chosen):
    """Which end of a list of at least two penalties was chosen, if any; nothing lies beyond 0."""
    if values[chosen] == values.max() > values.min():
        return "largest"
    return "least" if values[chosen] == values.min() > 0 and values.max() > values.min() else None


def _goes_on(grid, chosen, name, end):
    """Whether the fit would go on to change beyond that end.

    A larger penalty changes nothing where all is zero, or tied; a smaller one hardly anything
    where it is small already and no coefficient is zero, or tied.
    """
    problem, params = grid.model.problem, grid.path[chosen]
    differences = problem.tasks.differences(params)[problem.factors.fusion > 0]
    subject = differences if name == "fusion" else params[problem.factors.l1 > 0]
    values = grid.table[name]
    return bool(subject.any() if end == "largest" else (subject == 0).any() or values.min() > 1e-2 * values.max())


def distinct(name: str, values: Any) -> np.ndarray:
    """The values of one penalty in a grid, none of them twice."""
    array = checks.vector(name, values)
    if len(np.unique(array)) < array.size:
        raise ValueError(f"{name} must not repeat a value in a grid, found {array.tolist()}")
    return array
