"""Rules that Python and R share: the order of grids, folds and draws, labels of survival data."""


cdef extern from "core.hpp" namespace "fusedlr" nogil:
    const double core_accepted "fusedlr::ACCEPTED"
    const double core_floor "fusedlr::FLOOR"
    const int MOST_STRIPES

    cdef struct Units:
        int rows, groups
        const int *code
        const double *times

    int core_solving_order "fusedlr::solving_order"(int64_t, int, const double *, int *, int *) except +
    int core_points_at_once "fusedlr::points_at_once"(int, int) except +
    int64_t core_number_of_units "fusedlr::number_of_units"(const Units &) except +
    void core_drawn_weights "fusedlr::drawn_weights"(const Units &, int64_t, const int64_t *, const double *,
                                                     double *) except +
    int64_t core_fold_uniforms "fusedlr::fold_uniforms"(const Units &) except +
    cbool core_folds_split_weights "fusedlr::folds_split_weights"(const Units &) except +
    void core_fold_shares "fusedlr::fold_shares"(int, const Labels &, const Units &, int, const double *,
                                                 double *) except +
    int64_t core_person_periods "fusedlr::person_periods"(int, const double *, const double *, const int *, int,
                                                          const double *, int, int64_t *, int *, signed char *,
                                                          double *) except +


ACCEPTED, FLOOR = core_accepted, core_floor


def stripes(const double[:, ::1] points, int64_t cells):
    """Positions of the points (g, 3) in the order of solving, one array for each stripe."""
    check("points", points, (points.shape[0], 3), 0)
    cdef int[::1] order = np.empty(points.shape[0], dtype=np.intc), first = np.zeros(MOST_STRIPES + 1, dtype=np.intc)
    cdef int count = 1
    if points.shape[0]:
        count = core_solving_order(cells, points.shape[0], &points[0, 0], &order[0], &first[0])
    return [np.asarray(order)[first[i]:first[i + 1]] for i in range(count)]


def points_at_once(int features, int tasks):
    """How many points of a stripe one call of `Core.solve_path` takes."""
    return core_points_at_once(features, tasks)


cdef class SamplingUnits:
    """Sampling units: the group of each row, and how often each group counts."""

    cdef Units units
    cdef const int[::1] code
    cdef const double[::1] times

    def __cinit__(self, code, times):
        self.code, self.times = np.ascontiguousarray(code, dtype=np.intc), np.ascontiguousarray(times, dtype=float)
        check("times", self.times, (self.times.shape[0],), 0)
        self.units.rows, self.units.groups = self.code.shape[0], self.times.shape[0]
        if not (self.units.rows and self.units.groups):
            raise ValueError("code and times must not be empty")
        if not 0 <= np.min(self.code) <= np.max(self.code) < self.units.groups:
            raise ValueError(f"code must be from 0 to {self.units.groups - 1}")
        self.units.code, self.units.times = &self.code[0], &self.times[0]

    def count(self):
        """Weighted number of units, at least 1."""
        return core_number_of_units(self.units)

    def drawn(self, const int64_t[::1] places, const double[::1] uniforms):
        """How often each row was drawn, over its weight, shape (n,); see core.hpp."""
        check("uniforms", uniforms, (places.shape[0],), 0)
        cdef double[::1] weights = np.zeros(self.units.rows)
        if places.shape[0]:
            core_drawn_weights(self.units, places.shape[0], &places[0], &uniforms[0], &weights[0])
        return np.asarray(weights)

    def split_by_folds(self):
        """Whether folds split the weights of rows."""
        return core_folds_split_weights(self.units)

    def n_fold_uniforms(self):
        """How many uniform numbers `fold_shares` takes."""
        return core_fold_uniforms(self.units)

    def fold_shares(self, const int64_t[::1] start, const int[::1] row, const signed char[::1] sign,
                    const double[::1] weight, int folds, const double[::1] uniforms):
        """Share of each row in each of the stratified folds, shape (folds, n)."""
        cdef Labels labels
        check_labels(start, row, sign, weight, None, self.units.rows)
        check("uniforms", uniforms, (self.n_fold_uniforms(),), 0)
        if folds < 1:
            raise ValueError(f"folds must be positive, found {folds}")
        labels.start = &start[0]
        labels.offset = NULL
        labels.row = &row[0] if row.shape[0] else NULL
        labels.sign = &sign[0] if row.shape[0] else NULL
        labels.weight = &weight[0] if row.shape[0] else NULL
        cdef double[:, ::1] share = np.empty((folds, self.units.rows))
        core_fold_shares(start.shape[0] - 1, labels, self.units, folds, &uniforms[0], &share[0, 0])
        return np.asarray(share)


def person_periods(const double[::1] entry, const double[::1] time, const int[::1] event, const double[::1] breaks,
                   int causes):
    """Person-period labels: start, row, sign and weight, as `fusedlr.problem.Labels` has them."""
    cdef int n = time.shape[0], intervals = breaks.shape[0] - 1
    for name, array in (("entry", entry), ("time", time), ("event", event)):
        check(name, array, (n,))
    check("breaks", breaks, (breaks.shape[0],))
    if n == 0 or intervals < 1 or causes < 1:
        raise ValueError("person periods need a row, an interval and a cause")
    cdef int64_t count = core_person_periods(n, &entry[0], &time[0], &event[0], intervals, &breaks[0], causes, NULL,
                                             NULL, NULL, NULL)
    cdef int64_t[::1] start = np.zeros(causes * intervals + 1, dtype=np.int64)
    cdef int[::1] row = np.empty(max(count, 1), dtype=np.intc)
    cdef signed char[::1] sign = np.empty(max(count, 1), dtype=np.int8)
    cdef double[::1] weight = np.empty(max(count, 1))
    core_person_periods(n, &entry[0], &time[0], &event[0], intervals, &breaks[0], causes, &start[0], &row[0], &sign[0],
                        &weight[0])
    return np.asarray(start), np.asarray(row)[:count], np.asarray(sign)[:count], np.asarray(weight)[:count]
