# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False
"""Cython binding of the C++ core: checked arrays in, arrays out, and Ctrl-C."""

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from fusedlr.parallel import Cancelled, cancelled


cdef extern from "Python.h":
    int PyErr_CheckSignals()  # declared without "except": the exception stays pending until the core has returned
    void *PyErr_Occurred()


cdef extern from "core.hpp" namespace "fusedlr" nogil:
    cdef struct Labels:
        const int64_t *start
        const int *row
        const signed char *sign
        const double *weight
        const double *offset

    cdef struct Columns:
        int rows, features
        const double *value
        ptrdiff_t row_stride, column_stride
        const int64_t *start
        const int *row

    cdef struct Problem:
        Columns X
        int tasks
        Labels labels
        int edges
        const int *ends
        const double *edge_weights
        cbool chain

    cdef struct Settings:
        double tolerance
        int max_iterations
        double floor
        cbool (*stop)() noexcept
        cbool (*done)(void *, int) noexcept
        void *context

    cdef struct Factors:
        const double *l1
        const double *l2
        const double *fusion

    cdef struct Report:
        double objective, gap
        int status, iterations, nonzeros, groups

    cdef cppclass Solver:
        void solve_path(const Factors &, int, const double *, const double *, const Settings &, double *, Report *,
                        double *) except +

    Solver *make_solver(const Problem &) except +
    void means_and_scales(const Columns &, const double *, double *, double *) except +
    const char *instruction_set() except +

    cdef struct Quadratic:
        int rows, tasks
        const double *gram
        const double *slopes

    void core_quadratic "fusedlr::solve_quadratic"(const Quadratic &, int, const int *, const double *, cbool,
                                                   const Factors &, double *) except +
    void block_prox(int, int, const int *, const double *, cbool, const double *, const double *, double, double,
                    double *) except +
    double block_gauge(int, int, const int *, const double *, cbool, const double *, double, double, double) except +


STATUS = ("optimal", "separated", "not_converged")


cdef cbool signal_came() noexcept nogil:
    """The core's stop callback: true after Ctrl-C (in the main thread), or where this thread's work was cancelled."""
    cdef cbool came
    with gil:
        came = PyErr_CheckSignals() != 0 or unwanted()
    return came


cdef cbool unwanted() noexcept:
    return cancelled()


class Progress:
    """What is to be told after every point, and what went wrong when it was."""

    def __init__(self, callback):
        self.callback, self.error = callback, None

    def tell(self, points):
        try:
            self.callback(points)
        except BaseException as error:  # it is raised when the core has returned
            self.error = error
        return self.error is None


cdef cbool point_done(void *context, int points) noexcept nogil:
    """The core's callback after each point of a path."""
    cdef cbool more
    with gil:
        more = (<object>context).tell(points)
    return more


cdef int raise_pending() except -1:
    """Propagate the exception of a signal as it is: no Python code may run while it is pending."""
    if PyErr_Occurred() == NULL:
        raise Cancelled("the solve was stopped because its result is no longer wanted")
    return -1


def check(name, array, shape, least=-np.inf):
    """ValueError unless an array has this shape and finite entries, none below ``least``."""
    values = np.asarray(array)
    if values.shape != tuple(shape):
        raise ValueError(f"{name} must have shape {tuple(shape)}, found {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, found nan or inf")
    if values.size and least > -np.inf and values.min() < least:
        raise ValueError(f"{name} must not be below {least:g}, found {values.min():g}")


def check_labels(start, row, sign, weight, offset, n_rows):
    """ValueError unless labels are compressed by task, with rows that exist and rise within every task."""
    first, rows = np.asarray(start), np.asarray(row)
    if len(first) < 2 or first[0] != 0 or first[len(first) - 1] != len(rows) or (np.diff(first) < 0).any():
        raise ValueError(f"start must rise from 0 to {len(rows)}, found {first.tolist()}")
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise ValueError(f"rows of labels must be from 0 to {n_rows - 1}, found {rows.min()} to {rows.max()}")
    falls = np.flatnonzero(np.diff(rows) <= 0) + 1
    if not np.isin(falls, first).all():
        raise ValueError("rows of labels must rise within every task")
    check("sign", sign, rows.shape)
    if (np.abs(np.asarray(sign)) != 1).any():
        raise ValueError("signs must be 1 or -1")
    check("weight", weight, rows.shape, 0)
    if offset is not None:
        check("offset", offset, rows.shape)


def check_graph(ends, edge_weights, n_tasks, chain):
    """ValueError unless the edges join tasks that exist, and as a chain where they are said to be one."""
    check("edges", ends, (len(ends), 2), 0)
    check("edge weights", edge_weights, (len(ends),), 0)
    pairs = np.asarray(ends)
    if (pairs >= n_tasks).any():
        raise ValueError(f"edges must join tasks below {n_tasks}, found {pairs.max()}")
    if chain and not np.array_equal(pairs, np.column_stack([np.arange(n_tasks - 1), np.arange(1, n_tasks)])):
        raise ValueError("edges of a chain must be (0, 1), (1, 2), ... in this order")


def check_settings(tolerance, max_iterations, floor):
    """ValueError unless tol (None: exact) and floor are positive and max_iter is not negative."""
    if tolerance is not None and not 0 < tolerance < np.inf:
        raise ValueError(f"tol must be positive and finite, found {tolerance}")
    if max_iterations < 0:
        raise ValueError(f"max_iter must not be negative, found {max_iterations}")
    if not 0 < floor < np.inf:
        raise ValueError(f"floor must be positive and finite, found {floor}")


def check_compressed(n_rows, start, row, value):
    """ValueError unless these are the columns of a sparse matrix: rows that exist and rise within every column."""
    first, rows = np.asarray(start), np.asarray(row)
    if len(first) < 1 or first[0] != 0 or first[len(first) - 1] != len(rows) or (np.diff(first) < 0).any():
        raise ValueError(f"start of X must rise from 0 to {len(rows)}")
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise ValueError(f"rows of X must be from 0 to {n_rows - 1}, found {rows.min()} to {rows.max()}")
    begins = np.zeros(len(rows) + 1, dtype=bool)
    begins[first] = True
    if (np.diff(rows) <= 0)[~begins[1:len(rows)]].any():
        raise ValueError("rows of X must rise within every column")
    check("X", value, rows.shape)


cdef class Features:
    """A matrix of features as the core has it: dense, or sparse and compressed by column.

    Dense is an ndarray of doubles, (n, d), C-contiguous. Sparse is a tuple: n, then ``start`` of int64, (d + 1,),
    ``row`` of int32 and ``value`` of doubles, one for each entry that is stored; rows rise within a column.
    """

    cdef readonly int rows, columns
    cdef Columns held
    cdef object kept

    def __cinit__(self, X):
        cdef const double[:, ::1] dense
        cdef const int64_t[::1] start
        cdef const int[::1] row
        cdef const double[::1] value
        self.kept = X  # borrowed by the pointers below
        self.held.start = NULL
        self.held.row = NULL
        self.held.value = NULL
        if isinstance(X, tuple):
            self.rows, start, row, value = X
            check_compressed(self.rows, start, row, value)
            self.columns = start.shape[0] - 1
            self.held.start = &start[0]
            if row.shape[0]:
                self.held.row, self.held.value = &row[0], &value[0]
        else:
            dense = X
            check("X", dense, (dense.shape[0], dense.shape[1]))
            self.rows, self.columns = dense.shape[0], dense.shape[1]
            if self.rows and self.columns:
                self.held.value = &dense[0, 0]
        self.held.rows, self.held.features = self.rows, self.columns
        self.held.row_stride, self.held.column_stride = self.columns, 1


cdef class Core:
    """One problem held by the C++ solver: data, last solution, Gram matrices, and solutions for warm starts.

    X is that of `Features`. Arrays must be C-contiguous: the labels of `fusedlr.problem.Labels`, with an
    offset for each or None where there is none at all; ValueError otherwise.
    """

    cdef Solver *solver
    cdef readonly int rows, tasks

    def __cinit__(self, X, const int64_t[::1] start, const int[::1] row,
                  const signed char[::1] sign, const double[::1] weight, const double[::1] offset,
                  const int[:, ::1] ends, const double[::1] edge_weights, bint chain):
        cdef Problem problem
        cdef Features features = Features(X)
        check_labels(start, row, sign, weight, offset, features.rows)
        if not (features.rows and features.columns):
            raise ValueError(f"X must not be empty, found {features.rows} x {features.columns}")
        check_graph(ends, edge_weights, start.shape[0] - 1, chain)
        problem.X, problem.tasks, problem.labels.start = features.held, start.shape[0] - 1, &start[0]
        problem.labels.row = &row[0] if row.shape[0] else NULL
        problem.labels.sign = &sign[0] if row.shape[0] else NULL
        problem.labels.weight = &weight[0] if row.shape[0] else NULL
        problem.labels.offset = &offset[0] if offset is not None and row.shape[0] else NULL
        problem.edges = ends.shape[0]
        problem.ends = &ends[0, 0] if problem.edges else NULL
        problem.edge_weights = &edge_weights[0] if problem.edges else NULL
        problem.chain = chain
        self.rows, self.tasks = 1 + features.columns, problem.tasks
        with nogil:
            self.solver = make_solver(problem)

    def __dealloc__(self):
        del self.solver

    def solve_path(self, const double[:, ::1] factors, const double[:, ::1] points, tolerance,
                   int max_iterations, double floor, start=None, callback=None):
        """Minimise at each point (l1, l2, fusion) in the order given, each from the best solution before it.

        Parameters
        ----------
        factors : ndarray, shape (3, 1 + d)
            What l1, l2 and fusion of a point are multiplied by in each row.
        points : ndarray, shape (g, 3)
        tolerance : float or None
            Relative duality gap to reach; None: the level of rounding.
        start : ndarray, shape (1 + d, t), optional
            Where the first point starts; the last solution if not given.
        callback : callable, optional
            Called with the number of points done, after each.

        Returns
        -------
        params : ndarray, shape (g, 1 + d, t)
        reports : ndarray, shape (g, 6)
            Objective, relative gap, position of the status in STATUS, iterations, nonzeros, df.
        ridge : ndarray, shape (1 + d,)
            What separated data had added to the l2 of each row, at most.
        """
        cdef Settings settings
        cdef Factors rows
        cdef vector[Report] reports
        cdef int i, count = points.shape[0]
        cdef const double[:, ::1] first
        cdef double[:, :, ::1] params = np.zeros((count, self.rows, self.tasks))
        cdef double[::1] ridge = np.zeros(self.rows)
        cdef const double *start_at = NULL
        check("factors", factors, (3, self.rows), 0)
        check("points", points, (count, 3), 0)
        check_settings(tolerance, max_iterations, floor)
        if start is not None:
            first = np.ascontiguousarray(start, dtype=float)
            check("start", first, (self.rows, self.tasks))
            start_at = &first[0, 0]
        progress = Progress(callback)
        settings.tolerance = 0.0 if tolerance is None else tolerance
        settings.max_iterations, settings.floor = max_iterations, floor
        settings.stop = signal_came
        settings.done = NULL
        if callback is not None:
            settings.done = point_done
        settings.context = <void *>progress
        rows.l1, rows.l2, rows.fusion = &factors[0, 0], &factors[1, 0], &factors[2, 0]
        reports.resize(count)
        if count:
            with nogil:
                self.solver.solve_path(rows, count, &points[0, 0], start_at, settings, &params[0, 0, 0],
                                       reports.data(), &ridge[0])
        for i in range(count):
            if reports[i].status == 3:
                raise_pending()
        if progress.error is not None:
            raise progress.error
        table = np.empty((count, 6))
        for i in range(count):
            table[i] = (reports[i].objective, reports[i].gap, reports[i].status, reports[i].iterations,
                        reports[i].nonzeros, reports[i].groups)
        return np.asarray(params), table, np.asarray(ridge)


def scales(X, const double[::1] weights):
    """Weighted standard deviation of every column of `Features`, shape (d,); see `fusedlr.core.column_scales`."""
    cdef Features features = Features(X)
    check("weights", weights, (features.rows,), 0)
    cdef double[::1] means = np.empty(features.columns), out = np.empty(features.columns)
    if features.rows and features.columns:
        means_and_scales(features.held, &weights[0], &means[0], &out[0])
    return np.asarray(out)


def solve_quadratic(const double[:, :, ::1] gram, const double[:, ::1] slopes, const double[:, ::1] penalties,
                    start, const int[:, ::1] ends, const double[::1] edge_weights, bint chain):
    """Minimiser of a quadratic loss plus penalties, shape (1 + d, t); see `fusedlr.solver.solve_quadratic`.

    Penalties are l1, l2 and fusion of every row, (3, 1 + d).
    """
    cdef double[:, ::1] params = np.array(start, dtype=float, order="C")
    cdef Quadratic quadratic
    cdef Factors by
    cdef int edges = ends.shape[0]
    quadratic.rows, quadratic.tasks = slopes.shape[0], slopes.shape[1]
    check("gram", gram, (quadratic.tasks, quadratic.rows, quadratic.rows))
    check("slopes", slopes, (quadratic.rows, quadratic.tasks))
    check("penalties", penalties, (3, quadratic.rows), 0)
    check("start", params, (quadratic.rows, quadratic.tasks))
    check_graph(ends, edge_weights, quadratic.tasks, chain)
    if not (quadratic.rows and quadratic.tasks):
        raise ValueError(f"slopes must not be empty, found {quadratic.rows} x {quadratic.tasks}")
    quadratic.gram, quadratic.slopes = &gram[0, 0, 0], &slopes[0, 0]
    by.l1, by.l2, by.fusion = &penalties[0, 0], &penalties[1, 0], &penalties[2, 0]
    with nogil:
        core_quadratic(quadratic, edges, &ends[0, 0] if edges else NULL, &edge_weights[0] if edges else NULL, chain,
                       by, &params[0, 0])
    return np.asarray(params)


def cpu():
    """Name of the instruction set in use: "base", "avx2" or "avx512"."""
    return instruction_set().decode()


def prox(const int[:, ::1] ends, const double[::1] edge_weights, bint chain, const double[::1] h, const double[::1] q,
         double l1, double fusion, start):
    """Prox of one block, argmin sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|, shape (tasks,)."""
    cdef double[::1] b = np.array(start, dtype=float)
    cdef int edges = ends.shape[0]
    check("h", h, (h.shape[0],), 0)
    for name, array in (("q", q), ("start", b)):
        check(name, array, (h.shape[0],))
    check_graph(ends, edge_weights, h.shape[0], chain)
    block_prox(h.shape[0], edges, &ends[0, 0] if edges else NULL, &edge_weights[0] if edges else NULL, chain, &h[0],
               &q[0], l1, fusion, &b[0])
    return np.asarray(b)


def gauge(const int[:, ::1] ends, const double[::1] edge_weights, bint chain, const double[::1] q, double l1,
          double fusion, double lowest):
    """Gauge: smallest s >= lowest with q / s a subgradient at 0 of l1 |b| + fusion * sum_e w_e |b_j - b_k|."""
    cdef int edges = ends.shape[0]
    check("q", q, (q.shape[0],))
    check_graph(ends, edge_weights, q.shape[0], chain)
    return block_gauge(q.shape[0], edges, &ends[0, 0] if edges else NULL, &edge_weights[0] if edges else NULL, chain,
                       &q[0], l1, fusion, lowest)


include "rules.pxi"
