# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False
"""The thin face of the C++ core: arrays in, arrays out, and Ctrl-C."""

from libcpp cimport bool as cbool

import numpy as np

from fusedlr.parallel import Cancelled, cancelled


cdef extern from "Python.h":
    int PyErr_CheckSignals()  # declared without "except": the exception stays pending until the core has returned


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
        void set_factors(const double *, const double *)
        void penalise_by(double, double, double)
        void start(const double *)
        void start_from_best(const double *)
        void remember()
        void forget()
        Report solve(const Settings &) except +
        void params(double *)

    Solver *make_solver(const Problem &) except +
    const char *instruction_set()
    void block_prox(int, int, const int *, const double *, cbool, const double *, const double *, double, double,
                    double *) except +
    double block_gauge(int, int, const int *, const double *, cbool, const double *, double, double, double) except +


STATUS = ("optimal", "separated", "not_converged")


cdef cbool signal_came() noexcept nogil:
    """Whether Ctrl-C was pressed, which only the main thread hears of, or this thread's work is no longer wanted."""
    cdef cbool came
    with gil:
        came = PyErr_CheckSignals() != 0 or unwanted()
    return came


cdef cbool unwanted() noexcept:
    return cancelled()


cdef int raise_pending() except -1:
    if cancelled():
        raise Cancelled("the solve was stopped because its result is no longer wanted")
    return -1


cdef class Core:
    """One problem held by the C++ solver: data, the last solution, Gram matrices, remembered solutions.

    Arrays must be C-contiguous doubles of the shapes in `fusedlr.objective`; nothing is checked here.
    """

    cdef Solver *solver
    cdef readonly int rows, tasks

    def __cinit__(self, const double[:, ::1] X, const double[:, ::1] signs, const double[:, ::1] weights,
                  const double[:, ::1] offset, const int[:, ::1] ends, const double[::1] edge_weights, bint chain):
        cdef Problem problem
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
        self.solver.penalise(&l1[0], &l2[0], &fusion[0])

    def set_factors(self, const double[::1] factors, const double[::1] fusion_factors):
        self.solver.set_factors(&factors[0], &fusion_factors[0])

    def start(self, const double[:, ::1] params):
        self.solver.start(&params[0, 0])

    def params(self):
        cdef double[:, ::1] out = np.empty((self.rows, self.tasks))
        self.solver.params(&out[0, 0])
        return np.asarray(out)

    def solve(self, double tolerance, int max_iterations, double floor):
        """Solve at the present penalties from the present start; a dict of the report."""
        cdef Report report
        report = self.run(tolerance, max_iterations, floor)
        return {"objective": report.objective, "gap": report.gap, "status": STATUS[report.status],
                "iterations": report.iterations, "nonzeros": report.nonzeros, "df": report.groups}

    cdef Report run(self, double tolerance, int max_iterations, double floor) except *:
        cdef Settings settings
        cdef Report report
        settings.tolerance, settings.max_iterations, settings.floor = tolerance, max_iterations, floor
        settings.stop = signal_came
        with nogil:
            report = self.solver.solve(settings)
        if report.status == 3:
            raise_pending()
        return report

    def solve_points(self, const double[:, ::1] points, double[:, :, ::1] out, double[:, ::1] reports,
                     double tolerance, int max_iterations, double floor, callback=None):
        """Solve at each (l1, l2, fusion), each from the best solution so far.

        ``out`` (points, rows, tasks) takes the solutions, ``reports`` (points, 6) objective, gap, position of the
        status in STATUS, iterations, nonzeros and df. ``callback(done)`` is called after every point.
        """
        cdef Py_ssize_t i
        cdef Report report
        self.solver.forget()
        for i in range(points.shape[0]):
            self.solver.penalise_by(points[i, 0], points[i, 1], points[i, 2])
            self.solver.start_from_best(&out[0, 0, 0])
            report = self.run(tolerance, max_iterations, floor)
            self.solver.params(&out[i, 0, 0])
            self.solver.remember()
            reports[i, 0], reports[i, 1], reports[i, 2] = report.objective, report.gap, report.status
            reports[i, 3], reports[i, 4], reports[i, 5] = report.iterations, report.nonzeros, report.groups
            if callback is not None:
                callback(i + 1)
        self.solver.forget()


def cpu():
    """Name of the instruction set in use: "base", "avx2" or "avx512"."""
    return instruction_set().decode()


def prox(const int[:, ::1] ends, const double[::1] edge_weights, bint chain, const double[::1] h, const double[::1] q,
         double l1, double fusion, start):
    """Minimiser of one block, sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|, shape (tasks,)."""
    cdef double[::1] b = np.array(start, dtype=float)
    cdef int edges = ends.shape[0]
    block_prox(h.shape[0], edges, &ends[0, 0] if edges else NULL, &edge_weights[0] if edges else NULL, chain, &h[0], &q[0],
               l1, fusion, &b[0])
    return np.asarray(b)


def gauge(const int[:, ::1] ends, const double[::1] edge_weights, bint chain, const double[::1] q, double l1, double fusion,
          double lowest):
    """Smallest s >= lowest for which q / s is a sum of slopes of l1 |b| + fusion * sum_e w_e |b_j - b_k|."""
    cdef int edges = ends.shape[0]
    return block_gauge(q.shape[0], edges, &ends[0, 0] if edges else NULL, &edge_weights[0] if edges else NULL, chain, &q[0],
                       l1, fusion, lowest)
