"""The fast solver: prox-Newton steps, exact blocks, a duality gap with every answer.

The work is done by a C++ core that knows neither Python nor R (``core.hpp`` says what it offers); this module turns
the package's own types into its arrays.

The separable rule
------------------
Rows of the coefficient matrix with neither l1 nor l2 may have no finite minimiser: the data are separated, or a task
has labels of one class only. Such rows first get a tiny ridge, ``floor`` times the largest curvature they can have,
and a rough fit. Then the ridge is dropped. If the fit without it does not come to a relative gap of 1e-3 within 30
steps, or moves a linear predictor by more than 5 and by more than half of the largest, the data count as separated:
the status is "separated" and the answer is the fit with the ridge, solved to a relative gap of 1e-3 or for
``max_iter`` steps. Otherwise the fit goes on to its optimum, which exists: even a rough gap needs a dual point strictly
within its bounds, and separated data have none. Whether data are separated depends on which rows are free and fused, not
on how strongly, so the question is put with all fused tasks tied, and one verdict serves all points of a grid. An
intercept comes under the rule only where a component of the task graph has a single class; then its ridge stays, and
the status is "separated" too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..objective import Penalty, Solution
from ..problem import Problem
from ..tasks import TaskGraph
from ._newton import STATUS, Core, cpu, gauge, prox

__all__ = ["FLOOR", "STATUS", "NewtonSolver", "block_gauge", "block_prox", "cpu", "solve_newton"]

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
        self.core.set_factors(*(np.ascontiguousarray(a, dtype=float) for a in (problem.factors, problem.fusion_factors)))

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
        return Solution(self.core.params(), report["objective"], report["gap"], report["status"], report["iterations"], {})

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
        self.core.solve_points(np.ascontiguousarray(points, dtype=float), params, reports, tol, max_iter, floor, callback)
        return params, reports


def solve_newton(problem: Problem, penalty: Penalty, tol: float = 1e-6, max_iter: int = 200,
                 start: np.ndarray | None = None, floor: float = FLOOR) -> Solution:
    """Minimise the objective once; see `NewtonSolver.solve`."""
    return NewtonSolver(problem).solve(penalty, tol, max_iter, start, floor)


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
