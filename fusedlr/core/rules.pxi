"""Rules that Python and R share: order of grids, folds and draws, scores and choice, labels of survival data."""


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
    void core_linear "fusedlr::linear_predictors"(const Problem &, const double *, double *) except +
    void core_task_losses "fusedlr::task_losses"(int, const Labels &, const double *, double *) except +
    void core_null_losses "fusedlr::null_losses"(int, const Labels &, double *) except +
    void core_held_out_scores "fusedlr::held_out_scores"(const Problem &, int, const double *, double *, double *,
                                                         double *) except +
    void core_paired_variances "fusedlr::paired_variances"(const Problem &, const Units &, cbool, int, const double *,
                                                           int, const double *, double *) except +
    void core_lowest_costs "fusedlr::lowest_costs"(int, const double *, cbool *) except +
    int core_best_point "fusedlr::best_point"(int, const double *, const double *, const double *) except +
    void core_within_one_error "fusedlr::within_one_error"(int, const double *, const double *, int, cbool *) except +
    int core_one_standard_error "fusedlr::one_standard_error"(int, const double *, const double *, const double *,
                                                              const int *, int) except +
    void core_fold_means "fusedlr::fold_means"(int, int, int, const double *, const double *, double *,
                                               double *) except +
    const double core_ridge "fusedlr::RIDGE"
    int core_pattern_of "fusedlr::pattern_of"(int, int, int, const int *, const double *, int *) except +
    void core_fit_pattern "fusedlr::fit_pattern"(const Problem &, const int *, int, const double *, double *, double *,
                                                 cbool *, cbool *) except +
    void core_clustered_covariance "fusedlr::clustered_covariance"(const Problem &, const Units &, const int *, int,
                                                                   const double *, double *) except +
    double core_effective_df "fusedlr::effective_df"(const Problem &, const Units &, const double *,
                                                     const double *) except +
    double core_l1_limit "fusedlr::l1_limit"(const Problem &, const Factors &, const double *, const double *) except +
    double core_fusion_limit "fusedlr::fusion_limit"(const Problem &, const Factors &, const double *, const double *,
                                                     const double *) except +
    cdef struct DefaultGrid "fusedlr::Grid":
        double *l1
        double *l2
        double *fusion
        int *size

    DefaultGrid core_default_grid "fusedlr::default_grid"(const Problem &, const Factors &, const double *) except +
    int64_t core_person_periods "fusedlr::person_periods"(int, const double *, const double *, const int *, int,
                                                          const double *, int, int64_t *, int *, signed char *,
                                                          double *) except +


ACCEPTED, FLOOR, RIDGE = core_accepted, core_floor, core_ridge


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

    def fold_shares(self, FlatLabels labels, int folds, const double[::1] uniforms):
        """Share of each row in each of the stratified folds, shape (folds, n)."""
        labels.check_rows(self.units.rows)
        check("uniforms", uniforms, (self.n_fold_uniforms(),), 0)
        if folds < 1:
            raise ValueError(f"folds must be positive, found {folds}")
        cdef double[:, ::1] share = np.empty((folds, self.units.rows))
        core_fold_shares(labels.tasks, labels.held, self.units, folds, &uniforms[0], &share[0, 0])
        return np.asarray(share)


cdef class FlatLabels:
    """The labels of `fusedlr.problem.Labels`, with an offset for each or None where there is none at all."""

    cdef Labels held
    cdef readonly int tasks
    cdef readonly int64_t size
    cdef object kept

    def __cinit__(self, const int64_t[::1] start, const int[::1] row, const signed char[::1] sign,
                  const double[::1] weight, const double[::1] offset=None):
        check_labels(start, row, sign, weight, offset, np.iinfo(np.intc).max)
        self.kept = start, row, sign, weight, offset  # borrowed by the pointers below
        self.tasks, self.size = start.shape[0] - 1, row.shape[0]
        self.held.start = &start[0]
        if self.size:
            self.held.row, self.held.sign, self.held.weight = &row[0], &sign[0], &weight[0]
            if offset is not None:
                self.held.offset = &offset[0]

    def check_rows(self, int rows):
        """ValueError unless all labels are of the first so many rows."""
        if self.size and np.max(self.kept[1]) >= rows:
            raise ValueError(f"rows of labels must be from 0 to {rows - 1}, found {np.max(self.kept[1])}")

    def losses(self, const double[::1] linear):
        """Negative log-likelihood of each task at linear predictors (m,), and their sum behind, shape (t + 1,)."""
        check("linear", linear, (self.size,))
        cdef double[::1] loss = np.empty(self.tasks + 1)
        core_task_losses(self.tasks, self.held, &linear[0] if self.size else NULL, &loss[0])
        return np.asarray(loss)

    def null_losses(self):
        """The same with the best intercept of each task beside the offset, shape (t + 1,)."""
        cdef double[::1] loss = np.empty(self.tasks + 1)
        core_null_losses(self.tasks, self.held, &loss[0])
        return np.asarray(loss)


cdef class LabelledRows:
    """Features, as `Features` takes them, labels of their rows, and the graph of the tasks where it is asked for."""

    cdef Problem problem
    cdef FlatLabels labels
    cdef object kept

    def __cinit__(self, X, FlatLabels labels, const int[:, ::1] ends=None, const double[::1] edge_weights=None,
                  bint chain=False):
        cdef Features features = Features(X)
        labels.check_rows(features.rows)
        self.kept, self.labels = features, labels
        if not (features.rows and features.columns):
            raise ValueError(f"X must not be empty, found {features.rows} x {features.columns}")
        self.problem.X = features.held
        self.problem.tasks, self.problem.labels = labels.tasks, labels.held
        if ends is not None:
            check_graph(ends, edge_weights, labels.tasks, chain)
            self.kept = features, ends, edge_weights
            self.problem.edges, self.problem.chain = ends.shape[0], chain
            if ends.shape[0]:
                self.problem.ends, self.problem.edge_weights = &ends[0, 0], &edge_weights[0]

    def linear(self, const double[:, ::1] params):
        """Linear predictor of every label at coefficients (1 + d, t), shape (m,)."""
        self.check_params(params[None])
        cdef double[::1] linear = np.empty(self.labels.size)
        if self.labels.size:
            with nogil:
                core_linear(self.problem, &params[0, 0], &linear[0])
        return np.asarray(linear)

    def score(self, const double[:, :, ::1] params, name):
        """One of "logloss", "error" and "auc" of many fits (g, 1 + d, t), shape (g,)."""
        self.check_params(params)
        cdef int points = params.shape[0]
        cdef double[::1] found = np.full(points, np.nan)
        cdef int which = ("logloss", "error", "auc").index(name)
        if points and self.labels.size:
            with nogil:
                core_held_out_scores(self.problem, points, &params[0, 0, 0], &found[0] if which == 0 else NULL,
                                     &found[0] if which == 1 else NULL, &found[0] if which == 2 else NULL)
        return np.asarray(found)

    def paired_variances(self, SamplingUnits units, cbool by_loss, const double[:, ::1] shares,
                         const double[:, :, :, ::1] params):
        """Variance of the mean difference to the best point, shape (g,); see core.hpp.

        Shares are (folds, n), params (folds, 1 + g, 1 + d, t) with the best point in front.
        """
        check("shares", shares, (params.shape[0], units.units.rows), 0)
        for fold in params:
            self.check_params(fold)
        self.check_units(units)
        cdef int folds = params.shape[0], points = params.shape[1] - 1
        cdef double[::1] variance = np.empty(points)
        if folds and points > 0:
            with nogil:
                core_paired_variances(self.problem, units.units, by_loss, folds, &shares[0, 0], points,
                                      &params[0, 0, 0, 0], &variance[0])
        return np.asarray(variance)

    def fit_pattern(self, const int[:, ::1] pattern, const double[::1] scale):
        """Values (p,), inverse information (p, p), which values are unbounded, and which collinear; see core.hpp."""
        cdef int values = self.check_pattern(pattern)
        check("scale", scale, (self.problem.X.features,), 0)
        cdef double[::1] value = np.zeros(max(values, 1))
        cdef double[:, ::1] covariance = np.empty((max(values, 1), max(values, 1)))
        cdef unsigned char[:, ::1] flags = np.zeros((2, max(values, 1)), dtype=np.uint8)
        with nogil:
            core_fit_pattern(self.problem, &pattern[0, 0], values, &scale[0], &value[0], &covariance[0, 0],
                             <cbool *>&flags[0, 0], <cbool *>&flags[1, 0])
        unbounded, collinear = np.asarray(flags)[:, :values].astype(bool)
        return np.asarray(value)[:values], np.asarray(covariance)[:values, :values], unbounded, collinear

    def clustered_covariance(self, SamplingUnits units, const int[:, ::1] pattern, const double[::1] value, covariance):
        """Sandwich estimator in place of the inverse information (p, p) of a fit of this pattern."""
        cdef int values = self.check_pattern(pattern)
        cdef double[:, ::1] found = np.array(covariance, dtype=float)
        self.check_units(units)
        check("value", value, (values,))
        if values and np.shape(covariance) == (values, values):
            with nogil:
                core_clustered_covariance(self.problem, units.units, &pattern[0, 0], values, &value[0], &found[0, 0])
        return np.asarray(found)

    def effective_df(self, SamplingUnits units, const double[:, ::1] params, const double[::1] l2):
        """Effective degrees of freedom of coefficients (1 + d, t) with a ridge (1 + d,) on the rows."""
        self.check_params(params[None])
        self.check_units(units)
        check("l2", l2, (params.shape[0],), 0)
        cdef double df
        with nogil:
            df = core_effective_df(self.problem, units.units, &params[0, 0], &l2[0])
        return df

    def l1_limit(self, const double[:, ::1] factors, const double[::1] scale, const double[::1] fusion):
        """Smallest l1 at which every penalized coefficient is zero, at the fusion (1 + d,) of each row."""
        cdef Factors rows = self.by_row(factors, scale)
        check("fusion", fusion, (factors.shape[1],), 0)
        cdef double limit
        with nogil:
            limit = core_l1_limit(self.problem, rows, &scale[0], &fusion[0])
        return limit

    def fusion_limit(self, const double[:, ::1] factors, const double[::1] scale, const double[::1] l1,
                     const double[::1] l2):
        """Smallest fusion at which all tasks are equal, at the l1 and l2 (1 + d,) of each row."""
        cdef Factors rows = self.by_row(factors, scale)
        for name, penalty in (("l1", l1), ("l2", l2)):
            check(name, penalty, (factors.shape[1],), 0)
        cdef double limit
        with nogil:
            limit = core_fusion_limit(self.problem, rows, &scale[0], &l1[0], &l2[0])
        return limit

    def default_grid(self, const double[:, ::1] factors, const double[::1] scale):
        """Values of l1, l2 and fusion that suit the data, three arrays; see core.hpp."""
        cdef Factors rows = self.by_row(factors, scale)
        cdef DefaultGrid grid
        with nogil:
            grid = core_default_grid(self.problem, rows, &scale[0])
        return [np.array([values[i] for i in range(grid.size[penalty])])
                for penalty, values in enumerate((<double[:10]>grid.l1, <double[:3]>grid.l2, <double[:9]>grid.fusion))]

    cdef Factors by_row(self, const double[:, ::1] factors, const double[::1] scale):
        cdef Factors rows
        check("factors", factors, (3, 1 + self.problem.X.features), 0)
        check("scale", scale, (self.problem.X.features,), 0)
        rows.l1, rows.l2, rows.fusion = &factors[0, 0], &factors[1, 0], &factors[2, 0]
        return rows

    def check_pattern(self, pattern):
        """Number of values of a pattern; ValueError unless it is of this problem."""
        check("pattern", pattern, (1 + self.problem.X.features, self.problem.tasks), -1)
        return int(np.max(pattern)) + 1

    def check_units(self, SamplingUnits units):
        """ValueError unless these are the sampling units of these rows."""
        if units.units.rows != self.problem.X.rows:
            raise ValueError(f"units must be of {self.problem.X.rows} rows, found {units.units.rows}")

    def check_params(self, params):
        """ValueError unless these are coefficients of this problem."""
        check("params", params, (len(params), 1 + self.problem.X.features, self.problem.tasks))


def pattern_of(const double[:, ::1] params, const int[:, ::1] ends):
    """Support and ties of coefficients (1 + d, t): number of the value in each place, -1 for zeros; see core.hpp."""
    check("params", params, (params.shape[0], params.shape[1]))
    check_graph(ends, np.ones(ends.shape[0]), params.shape[1], False)
    cdef int[:, ::1] pattern = np.empty((params.shape[0], params.shape[1]), dtype=np.intc)
    if params.shape[0] and params.shape[1]:
        core_pattern_of(params.shape[0], params.shape[1], ends.shape[0], &ends[0, 0] if ends.shape[0] else NULL,
                        &params[0, 0], &pattern[0, 0])
    return np.asarray(pattern)


def lowest_costs(const double[::1] cost):
    """Which costs are the lowest, up to nine digits, ndarray of bool."""
    found = np.zeros(cost.shape[0], dtype=np.uint8)
    cdef unsigned char[::1] marks = found
    if cost.shape[0]:
        core_lowest_costs(cost.shape[0], &cost[0], <cbool *>&marks[0])
    return found.astype(bool)


def best_point(const double[:, ::1] points, const double[::1] cost, const double[::1] second):
    """Position of the best point (l1, l2, fusion), -1 where no cost is a number; see core.hpp."""
    check_choice(points, cost, second)
    return core_best_point(points.shape[0], &points[0, 0], &cost[0], &second[0])


def within_one_error(const double[::1] cost, const double[::1] error, int best):
    """Which points are worse than the best by one standard error at most, ndarray of bool."""
    if not (0 <= best < cost.shape[0] == error.shape[0]):
        raise ValueError("best must be one of the points, and every point must have a cost and an error")
    found = np.zeros(cost.shape[0], dtype=np.uint8)
    cdef unsigned char[::1] marks = found
    core_within_one_error(cost.shape[0], &cost[0], &error[0], best, <cbool *>&marks[0])
    return found.astype(bool)


def one_standard_error(const double[:, ::1] points, const double[::1] cost, const double[::1] error, const int[::1] df,
                       int best):
    """Position of the point that the rule of one standard error takes; see core.hpp."""
    check_choice(points, cost, error)
    if not 0 <= best < cost.shape[0] == df.shape[0]:
        raise ValueError("best must be one of the points, and every point must have a df")
    return core_one_standard_error(points.shape[0], &points[0, 0], &cost[0], &error[0], &df[0], best)


def check_choice(points, *costs):
    """ValueError unless there are points, with as many costs."""
    check("points", points, (len(points), 3), 0)
    if not len(points) or any(len(cost) != len(points) for cost in costs):
        raise ValueError(f"every one of {len(points)} points must have a cost")


def fold_means(const double[:, ::1] scores, const double[::1] weights, int repeats):
    """Mean of scores (folds, g) over folds, and its standard error, two of shape (g,); see core.hpp."""
    cdef int folds = scores.shape[0], points = scores.shape[1]
    check("weights", weights, (folds,), 0)
    if repeats < 1 or folds % repeats or not points or not folds:
        raise ValueError(f"there must be scores, and {repeats} repeats must divide {folds} folds")
    cdef double[::1] mean = np.empty(points), error = np.empty(points)
    core_fold_means(folds, repeats, points, &scores[0, 0], &weights[0], &mean[0], &error[0])
    return np.asarray(mean), np.asarray(error)


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
