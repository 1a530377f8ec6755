"""The fast solver: prox-Newton steps, exact blocks, a duality gap with every answer.

The work is done by a C++ core that knows neither Python nor R (``core.hpp`` says what it offers); this module turns
the package's own types into its arrays.

The separable rule
------------------
Rows of the coefficient matrix with neither l1 nor l2 have no finite minimiser where the data are *separated*: where
some change of these rows, the same for tasks that fusion ties, never lowers the margin of a label and raises that of
some. A linear program decides it, solved as non-negative least squares, or a dual point strictly within its bounds that
balances all free rows, which proves the contrary; so the verdict depends neither on the path of the solver nor on size,
units or order, and one verdict serves all points of a grid. A component of the task graph whose labels are of one class
is separated by its intercept alone.

The answer for separated data is defined: the minimiser with a ridge on every free row, ``floor`` times the largest
curvature that the row can have (a quarter of the largest weighted sum of squares about the mean over the tasks), solved
to ``tol`` like any other. The intercepts get one only where a component has one class. The status is "separated", the
objective and the gap are those of the penalties that were asked for, of which only the trivial dual point is known;
``NewtonSolver.ridge`` says what was added.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..objective import Penalty, Solution
from ..problem import Problem
from ..tasks import TaskGraph
from ._core import STATUS, Core, cpu, gauge, prox, scales

__all__ = ["FLOOR", "STATUS", "NewtonSolver", "block_gauge", "block_prox", "column_scales", "cpu", "solve_newton"]

FLOOR = 1e-5


class NewtonSolver:
    """One data set, ready to be solved at any penalties.

    Keeps the last solution and its Gram matrices, so a solve at nearby penalties is cheap.

    Parameters
    ----------
    problem : fusedlr.problem.Problem
    """

    def __init__(self, problem: Problem) -> None:
        data, tasks = problem.data, problem.tasks
        arrays = [np.ascontiguousarray(a, dtype=float) for a in (data.X, data.signs, data.weights, data.offset)]
        self.core = Core(*arrays, *_edges(tasks), tasks.is_chain)
        factors = (problem.factors, problem.factors, problem.fusion_factors)
        self.core.set_factors(*(np.ascontiguousarray(a, dtype=float) for a in factors))

    def solve(self, penalty: Penalty, tol: float = 1e-6, max_iter: int = 200, start: np.ndarray | None = None,
              floor: float = FLOOR) -> Solution:
        """Minimise the objective.

        Parameters
        ----------
        penalty : fusedlr.objective.Penalty
        tol : float
            Relative duality gap to reach.
        max_iter : int
            Most Newton steps.
        start : ndarray, shape (1 + d, t), optional
            Where to start; the last solution if not given.
        floor : float
            Constant of the separable rule.

        Returns
        -------
        fusedlr.objective.Solution
        """
        if start is not None:
            self.core.start(np.ascontiguousarray(start, dtype=float))
        self.core.penalise(*(np.ascontiguousarray(row) for row in (penalty.l1, penalty.l2, penalty.fusion)))
        report = self.core.solve(tol, max_iter, floor)
        return Solution(self.core.params(), report["objective"], report["gap"], report["status"],
                        report["iterations"], {})

    @property
    def ridge(self) -> np.ndarray:
        """The ridge that the separable rule added to each row in the last solve, shape (1 + d,); 0 where none."""
        return self.core.ridge()

    def solve_points(self, points: np.ndarray, tol: float = 1e-6, max_iter: int = 200,
                     callback: Callable[[int], object] | None = None,
                     floor: float = FLOOR) -> tuple[np.ndarray, np.ndarray]:
        """Minimise the objective at many penalties, each from the best solution so far.

        Parameters
        ----------
        points : ndarray, shape (g, 3)
            l1, l2, fusion of each point, in the order of solving.
        callback : callable, optional
            Called with the number of points done, after each.

        Returns
        -------
        params : ndarray, shape (g, 1 + d, t)
        reports : ndarray, shape (g, 6)
            Objective, relative gap, position of the status in ``STATUS``, iterations, nonzeros, df.
        """
        params = np.zeros((len(points), self.core.rows, self.core.tasks))
        reports = np.zeros((len(points), 6))
        points = np.ascontiguousarray(points, dtype=float)
        self.core.solve_points(points, params, reports, tol, max_iter, floor, callback)
        return params, reports


def solve_newton(problem: Problem, penalty: Penalty, tol: float = 1e-6, max_iter: int = 200,
                 start: np.ndarray | None = None, floor: float = FLOOR) -> Solution:
    """Minimise the objective once; see `NewtonSolver.solve`."""
    return NewtonSolver(problem).solve(penalty, tol, max_iter, start, floor)


def column_scales(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted standard deviation of every column, shape (d,); 0 for a column that does not vary.

    Parameters
    ----------
    X : array_like, shape (n, d)
    weights : array_like, shape (n, t)
        A row weighs as much as the largest weight of its labels; rows of weight 0 do not count.
    """
    return scales(np.ascontiguousarray(X, dtype=float), np.ascontiguousarray(weights, dtype=float))


def block_prox(tasks: TaskGraph, h: np.ndarray, q: np.ndarray, l1: float, fusion: float,
               start: np.ndarray | None = None) -> np.ndarray:
    """Minimiser of one block: sum h/2 b^2 - q b + l1 |b| + fusion * sum of weighted differences, shape (t,).

    ``start`` may save time if it has the ties and signs of the minimiser; it never changes the answer.
    """
    h, q = (np.ascontiguousarray(a, dtype=float) for a in (h, q))
    return prox(*_edges(tasks), tasks.is_chain, h, q, l1, fusion, np.zeros_like(h) if start is None else start)


def block_gauge(tasks: TaskGraph, q: np.ndarray, l1: float, fusion: float, lowest: float = 0.0) -> float:
    """Smallest s >= lowest at which b = 0 minimises the block of `block_prox`, its l1 and fusion multiplied by s."""
    return gauge(*_edges(tasks), tasks.is_chain, np.ascontiguousarray(q, dtype=float), l1, fusion, lowest)


def _edges(tasks):
    return np.ascontiguousarray(tasks.edges, dtype=np.intc), np.ascontiguousarray(tasks.weights, dtype=float)
