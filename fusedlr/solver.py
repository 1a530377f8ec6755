"""The fast solver: proximal Newton in the C++ core, from a ``Problem`` to a ``Solution`` or a ``Path``.

A relative duality gap of 1e-6 is enough to compare points of a grid. The fourth digit of
a coefficient, and now and then a zero or a tie, may then still differ from the optimum.
A reported fit (a single fit without the user's ``tol``, a point taken from a grid or a
cross-validation, a bootstrap resample) is therefore solved until the gap is at the level
of rounding, 1e-15, or no step lowers it. Convergence is nearly quadratic there, so this
costs a few steps. The fit counts as optimal if its gap is at most 1e-8.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import core, memory
from .constrained_fit import fit_pattern, pattern_of
from .core import ACCEPTED, FLOOR, Core, gauge, points_at_once, prox, scales, stripes
from .core import STATUS as STATUS_WORDS
from .exceptions import ConvergenceWarning, SeparationWarning
from .io import STATUS, Array, Nested, Plain, listed, saved, size
from .matrices import Matrix, for_core, size_in_bytes
from .parallel import run
from .problem import Penalty, Problem, Solution
from .tasks import TaskGraph

__all__ = ["ACCEPTED", "FLOOR", "NewtonSolver", "Path", "Tables", "block_gauge", "block_prox", "by_row",
           "column_scales", "separated_tasks", "solve_exactly", "solve_newton", "solve_path", "solve_quadratic",
           "warn_status"]

_MOST_VALUES = 300  # of a fit whose separated tasks are looked for


@dataclass(frozen=True)
class Tables:
    """Coefficients of many fits, of which only those that are not zero are kept, fit by fit.

    ``tables[i]`` is one table, ndarray (1 + d, t); a slice or an array of positions gives an
    ndarray (k, 1 + d, t).

    Attributes
    ----------
    start : ndarray of int, shape (g + 1,)
        Values of fit i are those from ``start[i]`` up to ``start[i + 1]``.
    place : ndarray of int32, shape (number of values,)
        Where each value stands in its table, counted along its rows, rising.
    value : ndarray, shape (number of values,)
    rows, tasks : int
        Shape of a table.
    """

    start: np.ndarray = saved(Array(("1+g",), "i", least=0))
    place: np.ndarray = saved(Array(("values",), "i", least=0))
    value: np.ndarray = saved(Array(("values",)))
    rows: int = saved(Plain(size("1+d")))
    tasks: int = saved(Plain(size("t")))

    @classmethod
    def of(cls, params: np.ndarray) -> Tables:
        """What to keep of an ndarray (g, 1 + d, t)."""
        g, rows, tasks = params.shape
        flat = params.reshape(g, rows * tasks)
        point, place = np.nonzero((flat != 0) | np.signbit(flat))  # -0.0 comes back as it was
        start = np.append(0, np.cumsum(np.bincount(point, minlength=g)))
        return cls(start, place.astype(np.int32), flat[point, place], rows, tasks)

    @classmethod
    def joined(cls, parts: list[Tables]) -> Tables:
        """The fits of all parts, one part after the other."""
        counts = np.concatenate([np.diff(part.start) for part in parts])
        place, value = (np.concatenate([getattr(part, name) for part in parts]) for name in ("place", "value"))
        return cls(np.append(0, np.cumsum(counts)), place, value, parts[0].rows, parts[0].tasks)

    def take(self, which: np.ndarray) -> Tables:
        """Some of the fits, in the order given."""
        counts = np.diff(self.start)[which]
        start = np.append(0, np.cumsum(counts))
        old = np.repeat(self.start[which] - start[:-1], counts) + np.arange(start[-1])
        return Tables(start, self.place[old], self.value[old], self.rows, self.tasks)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, which: Any) -> np.ndarray:
        positions = np.arange(len(self))[which]
        some = self.take(np.atleast_1d(positions))
        dense = np.zeros((len(some), self.rows * self.tasks))
        dense[np.repeat(np.arange(len(some)), np.diff(some.start)), some.place] = some.value
        return dense.reshape(*np.shape(positions), self.rows, self.tasks)

    def check_loaded(self) -> None:
        """Refuse what only all of it shows, in a file that somebody else may have written."""
        if self.start[0] != 0 or self.start[-1] != len(self.place) or (np.diff(self.start) < 0).any():
            raise ValueError(f"start must rise from 0 to {len(self.place)}")
        first = np.isin(np.arange(1, len(self.place)), self.start)
        if (self.place >= self.rows * self.tasks).any() or (np.diff(self.place)[~first] <= 0).any():
            raise ValueError(f"place must rise within every fit, and stay below {self.rows * self.tasks}")


@dataclass(frozen=True)
class Path:
    """Fits at many penalties.

    Attributes
    ----------
    points : ndarray, shape (g, 3)
        l1, l2 and fusion of each point.
    tables : Tables
        Coefficients; ``params`` has them all as one array.
    objective, gap : ndarray, shape (g,)
        The gap is relative, as the solver computed it.
    status : ndarray of str, shape (g,)
    nonzeros, df, iterations : ndarray of int, shape (g,)
        Size of the support; distinct non-zero values of tied groups, intercepts included.
    """

    points: np.ndarray = saved(Array(("g", "3"), least=0))
    tables: Tables = saved(Nested(Tables))
    objective: np.ndarray = saved(Array(("g",)))
    gap: np.ndarray = saved(Array(("g",)))
    status: np.ndarray = saved(Plain(listed(STATUS.rule, "g"), np.ndarray.tolist,
                                     lambda words: np.array(words, dtype=object)))
    nonzeros: np.ndarray = saved(Array(("g",), "i", least=0))
    df: np.ndarray = saved(Array(("g",), "i", least=0))
    iterations: np.ndarray = saved(Array(("g",), "i", least=0))

    @property
    def params(self) -> np.ndarray:
        """Coefficients of every point, ndarray (g, 1 + d, t), made anew: 8 g (1 + d) t bytes."""
        return self.tables[:]

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, i: int) -> np.ndarray:
        """Coefficients of one point, ndarray (1 + d, t)."""
        return self.tables[i]


class NewtonSolver:
    """One data set, ready to be solved at any penalties.

    Keeps the last solution and its Gram matrices as a warm start for nearby penalties.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    ridge : ndarray, shape (1 + d,)
        The ridge that the separable rule added to each row in the last solve, at most; 0 where none.
    """

    def __init__(self, problem: Problem) -> None:
        X, self.what = problem.design.X, _described(problem)
        # The core's own columns, what it keeps for each label, and for each coefficient.
        self.bytes = size_in_bytes(X) + 64 * problem.labels.size + 48 * (1 + problem.n_features) * problem.n_tasks
        memory.ask(self.bytes, self.what)
        self.core = Core(for_core(X), *_labels(problem), *problem.tasks.for_core, problem.tasks.is_chain)
        self.factors = by_row(problem.factors)
        self.ridge = np.zeros(1 + problem.n_features)

    def solve(self, penalty: Penalty, tol: float | None = 1e-6, max_iter: int = 200, start: np.ndarray | None = None,
              floor: float = FLOOR) -> Solution:
        """Minimise the objective.

        Parameters
        ----------
        penalty : Penalty
        tol : float or None
            Relative duality gap to reach; None goes down to rounding, and takes ``ACCEPTED`` as good enough.
        max_iter : int
            Limit on Newton steps.
        start : ndarray, shape (1 + d, t), optional
            Warm start; the last solution if not given.
        floor : float
            Constant of the separable rule; see ``core``.
        """
        params, reports, self.ridge = self._solve_path(by_row(penalty), np.ones((1, 3)), tol, max_iter, floor, start)
        objective, gap, status, iterations = reports[0, :4].tolist()
        return Solution(params[0], objective, gap, STATUS_WORDS[int(status)], int(iterations))

    def solve_points(self, points: np.ndarray, tol: float = 1e-6, max_iter: int = 200,
                     callback: Callable[[int], object] | None = None,
                     floor: float = FLOOR) -> tuple[np.ndarray, np.ndarray]:
        """Minimise the objective at many penalties, each warm-started from the best solution so far.

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
            Objective, relative gap, position of the status in ``core.STATUS``, iterations, nonzeros, df.
        """
        points = np.ascontiguousarray(points, dtype=float)
        params, reports, self.ridge = self._solve_path(self.factors, points, tol, max_iter, floor, None, callback)
        return params, reports

    def _solve_path(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        try:
            return self.core.solve_path(*arguments)
        except MemoryError:
            raise memory.shortage(2 * self.bytes, self.what) from None


def _described(problem):
    return f"a fit of {problem.n_rows} rows, {problem.n_features} features and {problem.n_tasks} tasks"


def solve_newton(problem: Problem, penalty: Penalty, tol: float | None = 1e-6, max_iter: int = 200,
                 start: np.ndarray | None = None, floor: float = FLOOR) -> Solution:
    """Minimise the objective once; see `NewtonSolver.solve`."""
    return NewtonSolver(problem).solve(penalty, tol, max_iter, start, floor)


def solve_exactly(problem: Problem, penalty: Penalty, max_iter: int = 200, start: np.ndarray | None = None) -> Solution:
    """Minimise the objective down to rounding error."""
    return solve_newton(problem, penalty, None, max_iter, start)


def solve_path(problem: Problem, points: Any, tol: float = 1e-6, max_iter: int = 200,
               callback: Callable[[int], None] | None = None, n_jobs: int | None = 1) -> Path:
    """Minimise the objective at many penalties, each warm-started from the best solution so far.

    The path of a large problem is solved in stripes of neighbouring values of fusion (or
    l2), in sequence or in parallel; the stripes do not depend on ``n_jobs``.

    Parameters
    ----------
    problem : Problem
    points : array_like, shape (g, 3)
        l1, l2 and fusion of each point, in any order.
    tol, max_iter : as for a single fit
    callback : callable, optional
        Called with the number of points done, after each.
    n_jobs : int, optional
        Number of threads, each with its own copy of the features; one for each core where None.
    """
    points = np.asarray(points, dtype=float)
    count = callback and _Count(callback)
    pieces = stripes(np.ascontiguousarray(points), problem.labels.size * problem.n_features)
    parts = run(lambda stripe: _solve_stripe(problem, points[stripe], tol, max_iter, count),
                pieces, n_jobs, progress=False)
    tables, reports = Tables.joined([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    back = np.argsort(np.concatenate(pieces))
    objective, gap, status, iterations, nonzeros, df = reports[back].T
    words = np.array(STATUS_WORDS, dtype=object)[status.astype(int)]
    return Path(points, tables.take(back), objective, gap, words, nonzeros.astype(int), df.astype(int),
                iterations.astype(int))


def _solve_stripe(problem, points, tol, max_iter, callback):
    """Solve points one from the other; of a large problem, some of them at a time."""
    solver = NewtonSolver(problem)
    step = points_at_once(problem.n_features, problem.n_tasks)
    tables, reports = [], []
    for first in range(0, len(points), step):
        params, report = solver.solve_points(points[first:first + step], tol, max_iter, callback)
        tables.append(Tables.of(params))
        reports.append(report)
    return Tables.joined(tables), np.concatenate(reports)


def warn_status(solution: Solution, tol: float, problem: Problem, names: list) -> None:
    """Warn, on behalf of the caller's caller, of a fit that is not optimal."""
    if solution.status == "not_converged":
        warnings.warn(f"stopped after {solution.iterations} iterations at a relative duality gap of "
                      f"{solution.gap:.1e}, above tol = {tol:.1e}; raise max_iter or tol, use larger penalties, "
                      "or standardize=True where features differ much in scale", ConvergenceWarning, stacklevel=3)
    elif solution.status == "separated":
        tasks = separated_tasks(problem, solution.params, names)
        warnings.warn(f"the labels of {tasks} are separated by the features (complete or quasi-complete separation), "
                      "or all the same: no finite minimiser exists at these penalties, and sizes of coefficients are "
                      "arbitrary; use a positive l2 or l1, and drop tasks whose labels are all the same",
                      SeparationWarning, stacklevel=3)


def separated_tasks(problem: Problem, params: np.ndarray, names: list) -> str:
    """The tasks in which a fit that has no finite minimiser goes off to infinity, in words.

    Found by an unpenalized fit of the same zeros and ties, unless these are too many.
    """
    pattern = pattern_of(params, problem.tasks)
    found = []
    if pattern.max() < _MOST_VALUES:
        fit = fit_pattern(problem, pattern)
        touched = (fit.unbounded[pattern] & (pattern >= 0)).any(axis=0)
        found = [repr(name) for name, hit in zip(names, touched) if hit]
    if not found:
        return "some task"
    return f"task{'s' * (len(found) > 1)} {', '.join(found[:6])}" + f" and {len(found) - 6} more" * (len(found) > 6)


def column_scales(X: Matrix, weights: np.ndarray) -> np.ndarray:
    """Weighted standard deviation of every column, shape (d,); 0 for a column that does not vary.

    Parameters
    ----------
    X : ndarray or scipy.sparse.csc_array, shape (n, d)
    weights : ndarray, shape (n,)
        Rows of weight 0 do not count.
    """
    return scales(for_core(X), np.ascontiguousarray(weights, dtype=float))


def solve_quadratic(gram: np.ndarray, slopes: np.ndarray, penalty: Penalty, tasks: TaskGraph,
                    start: np.ndarray) -> np.ndarray:
    """Minimiser of a quadratic loss plus the penalty, shape (1 + d, t): for data that lie elsewhere.

    Parameters
    ----------
    gram : ndarray, shape (t, 1 + d, 1 + d)
        Hessian of the loss in the coefficients of each task, intercept first.
    slopes : ndarray, shape (1 + d, t)
        Gradient of the loss at ``start``.
    penalty : Penalty
    tasks : TaskGraph
    start : ndarray, shape (1 + d, t)
    """
    gram, slopes = (np.ascontiguousarray(array, dtype=float) for array in (gram, slopes))
    return core.solve_quadratic(gram, slopes, by_row(penalty), start, *tasks.for_core, tasks.is_chain)


def block_prox(tasks: TaskGraph, h: np.ndarray, q: np.ndarray, l1: float, fusion: float,
               start: np.ndarray | None = None) -> np.ndarray:
    """Proximal operator of one block, shape (t,).

    The minimiser of sum h/2 b^2 - q b + l1 |b| + fusion * sum of weighted absolute differences. ``start`` is a warm
    start, whose ties and signs are tried first; it never changes the answer.
    """
    h, q = (np.ascontiguousarray(a, dtype=float) for a in (h, q))
    return prox(*tasks.for_core, tasks.is_chain, h, q, l1, fusion, np.zeros_like(h) if start is None else start)


def block_gauge(tasks: TaskGraph, q: np.ndarray, l1: float, fusion: float, lowest: float = 0.0) -> float:
    """Gauge (dual norm) of q: smallest s >= lowest at which b = 0 minimises `block_prox` with s * l1, s * fusion."""
    return gauge(*tasks.for_core, tasks.is_chain, np.ascontiguousarray(q, dtype=float), l1, fusion, lowest)


def _labels(problem):
    """The labels as the core has them: start, row, sign, weight, and offset or None."""
    labels = problem.labels
    offset = None if problem.design.offset is None else np.ascontiguousarray(problem.design.shift(labels), dtype=float)
    return *labels.for_core, offset


def by_row(penalty: Penalty) -> np.ndarray:
    """l1, l2 and fusion of every row of params, shape (3, 1 + d)."""
    return np.array([penalty.l1, penalty.l2, penalty.fusion], dtype=float)


class _Count:
    """Thread-safe count of finished points, passed to the callback."""

    def __init__(self, callback):
        self.callback, self.done, self.lock = callback, 0, threading.Lock()

    def __call__(self, _):
        with self.lock:
            self.done += 1
            self.callback(self.done)
