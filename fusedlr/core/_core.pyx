# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False
"""Cython binding of the C++ core: checked arrays in, arrays out, and Ctrl-C."""

from libcpp cimport bool as cbool

import numpy as np

from fusedlr.parallel import Cancelled, cancelled


cdef extern from "Python.h":
    int PyErr_CheckSignals()  # declared without "except": the exception stays pending until the core has returned
    void *PyErr_Occurred()


cdef extern from "core.hpp" namespace "fusedlr" nogil:
    cdef struct Problem:
        int rows, features, tasks
        const double *X
        const double *signs
        const double *weights
        const double *offset
        int edges
        const int *ends
        const double *edge_weights
        cbool chain

    cdef struct Settings:
        double tolerance
        int max_iterations
        double floor
        cbool (*stop)() noexcept

    cdef struct Report:
        double objective, gap
        int status, iterations, nonzeros, groups

    cdef cppclass Solver:
        void penalise(const double *, const double *, const double *)
        void set_factors(const double *, const double *, const double *)
        void penalise_by(double, double, double)
        void start(const double *)
        void start_from_best(const double *, double)
        void remember()
        void forget()
        Report solve(const Settings &) except +
        void params(double *)
        void ridge(double *)

    Solver *make_solver(const Problem &) except +
    void means_and_scales(int, int, int, const double *, const double *, double *, double *) except +
    const char *instruction_set() except +
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
    if values.size and values.min() < least:
        raise ValueError(f"{name} must not be below {least:g}, found {values.min():g}")


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
    """ValueError unless tol and floor are positive and max_iter is not negative."""
    if not 0 < tolerance < np.inf:
        raise ValueError(f"tol must be positive and finite, found {tolerance}")
    if max_iterations < 0:
        raise ValueError(f"max_iter must not be negative, found {max_iterations}")
    if not 0 < floor < np.inf:
        raise ValueError(f"floor must be positive and finite, found {floor}")


cdef class Core:
    """One problem held by the C++ solver: data, last solution, Gram matrices, and solutions for warm starts.

    Arrays must be C-contiguous doubles of the shapes in `fusedlr.objective`; ValueError otherwise.
    """

    cdef Solver *solver
    cdef readonly int rows, tasks

    def __cinit__(self, const double[:, ::1] X, const double[:, ::1] signs, const double[:, ::1] weights,
                  const double[:, ::1] offset, const int[:, ::1] ends, const double[::1] edge_weights, bint chain):
        cdef Problem problem
        check("X", X, (X.shape[0], X.shape[1]))
        for name, array in (("signs", signs), ("weights", weights), ("offset", offset)):
            check(name, array, (X.shape[0], signs.shape[1]), 0 if name == "weights" else -np.inf)
        if not (X.shape[0] and X.shape[1] and signs.shape[1]):
            raise ValueError(f"X must not be empty, found {X.shape[0]} x {X.shape[1]} and {signs.shape[1]} tasks")
        if (np.abs(np.asarray(signs)) != 1).any():
            raise ValueError("signs must be 1 or -1")
        check_graph(ends, edge_weights, signs.shape[1], chain)
        problem.rows, problem.features, problem.tasks = X.shape[0], X.shape[1], signs.shape[1]
        problem.X, problem.signs = &X[0, 0], &signs[0, 0]
        problem.weights, problem.offset = &weights[0, 0], &offset[0, 0]
        problem.edges = ends.shape[0]
        problem.ends = &ends[0, 0] if problem.edges else NULL
        problem.edge_weights = &edge_weights[0] if problem.edges else NULL
        problem.chain = chain
        self.rows, self.tasks = 1 + X.shape[1], signs.shape[1]
        with nogil:
            self.solver = make_solver(problem)

    def __dealloc__(self):
        del self.solver

    def penalise(self, const double[::1] l1, const double[::1] l2, const double[::1] fusion):
        for name, array in (("l1", l1), ("l2", l2), ("fusion", fusion)):
            check(name, array, (self.rows,), 0)
        self.solver.penalise(&l1[0], &l2[0], &fusion[0])

    def set_factors(self, const double[::1] l1, const double[::1] l2, const double[::1] fusion):
        for name, array in (("factors of l1", l1), ("factors of l2", l2), ("factors of fusion", fusion)):
            check(name, array, (self.rows,), 0)
        self.solver.set_factors(&l1[0], &l2[0], &fusion[0])

    def start(self, const double[:, ::1] params):
        check("start", params, (self.rows, self.tasks))
        self.solver.start(&params[0, 0])

    def ridge(self):
        """The ridge added to each row in the last solve because the data are separated, shape (1 + d,)."""
        cdef double[::1] out = np.empty(self.rows)
        self.solver.ridge(&out[0])
        return np.asarray(out)

    def params(self):
        cdef double[:, ::1] out = np.empty((self.rows, self.tasks))
        self.solver.params(&out[0, 0])
        return np.asarray(out)

    def solve(self, double tolerance, int max_iterations, double floor):
        """Minimise at the present penalties from the present start; the report as a dict."""
        cdef Report report
        report = self.run(tolerance, max_iterations, floor)
        return {"objective": report.objective, "gap": report.gap, "status": STATUS[report.status],
                "iterations": report.iterations, "nonzeros": report.nonzeros, "df": report.groups}

    cdef Report run(self, double tolerance, int max_iterations, double floor) except *:
        cdef Settings settings
        cdef Report report
        check_settings(tolerance, max_iterations, floor)
        settings.tolerance, settings.max_iterations, settings.floor = tolerance, max_iterations, floor
        settings.stop = signal_came
        with nogil:
            report = self.solver.solve(settings)
        if report.status == 3:
            raise_pending()
        return report

    def solve_points(self, const double[:, ::1] points, double[:, :, ::1] out, double[:, ::1] reports,
                     double tolerance, int max_iterations, double floor, callback=None):
        """Minimise at each (l1, l2, fusion), warm-started from the solutions so far.

        ``out`` (points, rows, tasks) takes the solutions, ``reports`` (points, 6) objective, gap, position of the
        status in STATUS, iterations, nonzeros and df. ``callback(done)`` is called after every point.
        """
        cdef Py_ssize_t i
        cdef Report report
        check("points", points, (points.shape[0], 3), 0)
        if (out.shape[0], out.shape[1], out.shape[2]) != (points.shape[0], self.rows, self.tasks):
            raise ValueError("params must have one (rows, tasks) table for each point")
        if (reports.shape[0], reports.shape[1]) != (points.shape[0], 6):
            raise ValueError("reports must have shape (points, 6)")
        self.solver.forget()
        for i in range(points.shape[0]):
            self.solver.penalise_by(points[i, 0], points[i, 1], points[i, 2])
            self.solver.start_from_best(&out[0, 0, 0], floor)
            report = self.run(tolerance, max_iterations, floor)
            self.solver.params(&out[i, 0, 0])
            self.solver.remember()
            reports[i, 0], reports[i, 1], reports[i, 2] = report.objective, report.gap, report.status
            reports[i, 3], reports[i, 4], reports[i, 5] = report.iterations, report.nonzeros, report.groups
            if callback is not None:
                callback(i + 1)
        self.solver.forget()


def scales(const double[:, ::1] X, const double[:, ::1] weights):
    """Weighted standard deviation of every column, shape (d,); see `fusedlr.core.column_scales`."""
    check("X", X, (X.shape[0], X.shape[1]))
    check("weights", weights, (X.shape[0], weights.shape[1]), 0)
    cdef double[::1] means = np.empty(X.shape[1]), out = np.empty(X.shape[1])
    if X.shape[0] and X.shape[1] and weights.shape[1]:
        means_and_scales(X.shape[0], X.shape[1], weights.shape[1], &X[0, 0], &weights[0, 0], &means[0], &out[0])
    return np.asarray(out)


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
