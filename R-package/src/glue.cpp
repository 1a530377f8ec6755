// R's thin face of the solver: arrays in, arrays out, and Ctrl-C; see glue.h.
#include "glue.h"

namespace {

void ask_r(void *) { R_CheckUserInterrupt(); }

// The core asks some 20 times a second. R_ToplevelExec catches the jump that R makes at Ctrl-C.
bool interrupted() { return R_ToplevelExec(ask_r, nullptr) == FALSE; }

void check_settings(SEXP points, SEXP factors, SEXP start, SEXP control, int rows, int tasks) {
  need(TYPEOF(points) == REALSXP && Rf_isMatrix(points) && Rf_nrows(points) == 3 && Rf_ncols(points) > 0, "points");
  need(all_between(points, 0, LARGEST), "a penalty is negative, not finite, or beyond 1e100");
  need(is_matrix(factors, REALSXP, rows, 3) && all_between(factors, 0, LARGEST * LARGEST), "factors do not fit x");
  need(start == R_NilValue || (is_matrix(start, REALSXP, tasks, rows) && all_between(start, -LARGEST, LARGEST)),
       "start does not fit x");
  need(is_vector(control, REALSXP, 3) && all_between(control, 0, INT_MAX), "control");
  need(REAL(control)[2] > 0, "control");
}

void write_report(const fusedlr::Report &report, double *out) {
  out[0] = report.objective;
  out[1] = report.gap;
  out[2] = report.status;
  out[3] = report.iterations;
  out[4] = report.nonzeros;
  out[5] = report.groups;
}

// One stripe of a grid, some points at a time. False after an interrupt.
bool solve_stripe(const fusedlr::Problem &problem, const fusedlr::Factors &factors, const std::vector<int> &stripe,
                  const double *points, const double *start, const fusedlr::Settings &settings, double *params,
                  double *reports) {
  const std::unique_ptr<fusedlr::Solver> solver(fusedlr::make_solver(problem));
  const std::size_t count = stripe.size(), step = fusedlr::points_at_once(problem.X.features, problem.tasks);
  const std::size_t size = (1 + static_cast<std::size_t>(problem.X.features)) * problem.tasks;
  std::vector<double> some(3 * step), found(step * size), ridge(1 + problem.X.features);
  std::vector<fusedlr::Report> report(step);
  for (std::size_t first = 0; first < count; first += step) {
    const int now = static_cast<int>(std::min(step, count - first));
    for (int i = 0; i < now; i++) std::copy_n(points + 3 * stripe[first + i], 3, &some[3 * i]);
    solver->solve_path(factors, now, some.data(), first == 0 ? start : nullptr, settings, found.data(), report.data(),
                       ridge.data());
    for (int i = 0; i < now; i++) {
      std::copy_n(&found[i * size], size, params + stripe[first + i] * size);
      write_report(report[i], reports + 6 * stripe[first + i]);
      if (report[i].status == fusedlr::INTERRUPTED) return false;
    }
  }
  return true;
}

void solve(SEXP parts, SEXP points, SEXP factors, SEXP start, const fusedlr::Settings &settings, double *params,
           double *reports) {
  const FlatLabels labels(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2));
  const Features features(VECTOR_ELT(parts, 0));
  const fusedlr::Problem problem = read_problem(parts, labels, features);
  const int rows = 1 + problem.X.features, count = Rf_ncols(points);
  const fusedlr::Factors by{REAL(factors), REAL(factors) + rows, REAL(factors) + 2 * rows};
  std::vector<int> order(count), first(fusedlr::MOST_STRIPES + 1);
  const int stripes = fusedlr::solving_order(labels.size() * problem.X.features, count, REAL(points), order.data(),
                                             first.data());
  for (int s = 0; s < stripes; s++)
    if (!solve_stripe(problem, by, {order.begin() + first[s], order.begin() + first[s + 1]}, REAL(points),
                      start == R_NilValue ? nullptr : REAL(start), settings, params, reports))
      return;
}

}  // namespace

extern "C" {

// points (3, g): l1, l2, fusion, in any order: the core decides in which they are solved; factors (1 + features, 3): of
// l1, l2 and fusion; start (tasks, 1 + features) or NULL, for a single point; control: tolerance (0: the level of
// rounding), most iterations, floor of the separable rule. Returns a list of params (tasks, 1 + features, g) and
// reports (6, g): objective, gap, status from 0, iterations, nonzeros, df.
SEXP fusedlr_solve(SEXP parts, SEXP points, SEXP factors, SEXP start, SEXP control) {
  check_problem(parts);
  const int rows = 1 + n_features(VECTOR_ELT(parts, 0)), tasks = tasks_of(VECTOR_ELT(parts, 1));
  check_settings(points, factors, start, control, rows, tasks);
  const int g = Rf_ncols(points);
  fusedlr::Settings settings{};
  settings.tolerance = REAL(control)[0];
  settings.max_iterations = static_cast<int>(REAL(control)[1]);
  settings.floor = REAL(control)[2];
  settings.stop = interrupted;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
  SEXP params = SET_VECTOR_ELT(out, 0, Rf_alloc3DArray(REALSXP, tasks, rows, g));
  SEXP reports = SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, 6, g));
  std::fill_n(REAL(params), Rf_xlength(params), 0.0);
  std::fill_n(REAL(reports), Rf_xlength(reports), 0.0);
  guarded([&] { solve(parts, points, factors, start, settings, REAL(params), REAL(reports)); });
  UNPROTECT(1);
  return out;
}

// Standard deviations of the columns of x, dense or sparse, each row by its weight (rows); 0 where it does not vary.
SEXP fusedlr_scales(SEXP x, SEXP weights) {
  check_features(x);
  need(is_vector(weights, REALSXP, n_rows(x)) && all_between(weights, 0, LARGEST), "weights do not fit x");
  SEXP means = PROTECT(Rf_allocVector(REALSXP, n_features(x)));
  SEXP scales = PROTECT(Rf_allocVector(REALSXP, n_features(x)));
  guarded([&] { fusedlr::means_and_scales(Features(x).get(), REAL(weights), REAL(means), REAL(scales)); });
  UNPROTECT(2);
  return scales;
}

SEXP fusedlr_cpu(void) { return Rf_mkString(fusedlr::instruction_set()); }

// rules.cpp
SEXP fusedlr_units(SEXP code, SEXP times);
SEXP fusedlr_drawn(SEXP code, SEXP times, SEXP place, SEXP uniform);
SEXP fusedlr_folds(SEXP labels, SEXP code, SEXP times, SEXP folds, SEXP uniform);
SEXP fusedlr_periods(SEXP entry, SEXP time, SEXP event, SEXP breaks, SEXP causes);
SEXP fusedlr_linear(SEXP parts, SEXP params);
SEXP fusedlr_losses(SEXP labels, SEXP linear);
SEXP fusedlr_null_losses(SEXP labels, SEXP offset);
SEXP fusedlr_scores(SEXP parts, SEXP params);
SEXP fusedlr_paired(SEXP parts, SEXP code, SEXP times, SEXP by_loss, SEXP share, SEXP params);
SEXP fusedlr_fold_means(SEXP scores, SEXP weights, SEXP repeats);
SEXP fusedlr_best(SEXP points, SEXP cost, SEXP second);
SEXP fusedlr_one_error(SEXP points, SEXP cost, SEXP error, SEXP df, SEXP best);
SEXP fusedlr_pattern(SEXP params, SEXP ends);
SEXP fusedlr_refit(SEXP parts, SEXP pattern, SEXP scale, SEXP code, SEXP times, SEXP cluster);
SEXP fusedlr_df(SEXP parts, SEXP code, SEXP times, SEXP params, SEXP l2);
SEXP fusedlr_grid(SEXP parts, SEXP factors, SEXP scale);

static const R_CallMethodDef calls[] = {
    {"C_solve", reinterpret_cast<DL_FUNC>(fusedlr_solve), 5},
    {"C_scales", reinterpret_cast<DL_FUNC>(fusedlr_scales), 2},
    {"C_cpu", reinterpret_cast<DL_FUNC>(fusedlr_cpu), 0},
    {"C_units", reinterpret_cast<DL_FUNC>(fusedlr_units), 2},
    {"C_drawn", reinterpret_cast<DL_FUNC>(fusedlr_drawn), 4},
    {"C_folds", reinterpret_cast<DL_FUNC>(fusedlr_folds), 5},
    {"C_periods", reinterpret_cast<DL_FUNC>(fusedlr_periods), 5},
    {"C_linear", reinterpret_cast<DL_FUNC>(fusedlr_linear), 2},
    {"C_losses", reinterpret_cast<DL_FUNC>(fusedlr_losses), 2},
    {"C_null_losses", reinterpret_cast<DL_FUNC>(fusedlr_null_losses), 2},
    {"C_scores", reinterpret_cast<DL_FUNC>(fusedlr_scores), 2},
    {"C_paired", reinterpret_cast<DL_FUNC>(fusedlr_paired), 6},
    {"C_fold_means", reinterpret_cast<DL_FUNC>(fusedlr_fold_means), 3},
    {"C_best", reinterpret_cast<DL_FUNC>(fusedlr_best), 3},
    {"C_one_error", reinterpret_cast<DL_FUNC>(fusedlr_one_error), 5},
    {"C_pattern", reinterpret_cast<DL_FUNC>(fusedlr_pattern), 2},
    {"C_refit", reinterpret_cast<DL_FUNC>(fusedlr_refit), 6},
    {"C_df", reinterpret_cast<DL_FUNC>(fusedlr_df), 5},
    {"C_grid", reinterpret_cast<DL_FUNC>(fusedlr_grid), 3},
    {nullptr, nullptr, 0},
};

// Visible although all else is hidden: R looks for it by name.
void attribute_visible R_init_fusedlr(DllInfo *dll) {
  R_registerRoutines(dll, nullptr, calls, nullptr, nullptr);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}

}  // extern "C"
