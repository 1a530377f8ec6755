// R's thin face of the core: arrays in, arrays out, and Ctrl-C. R leaves a function by a jump that runs no destructor,
// so results are allocated before the first C++ object, and errors are raised after the last one is gone.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "core.hpp"

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>

namespace {

// Squares of features are summed; those of larger numbers would overflow.
const double LARGEST = 1e100;

void ask_r(void *) { R_CheckUserInterrupt(); }

// The core asks some 20 times a second. R_ToplevelExec catches the jump that R makes at Ctrl-C.
bool interrupted() { return R_ToplevelExec(ask_r, nullptr) == FALSE; }

// A fit is a list that anybody may edit or read from a file, so nothing of it is taken on trust: every length, type and
// range is looked at before the core sees it. Raised before the first C++ object exists.
void need(bool good, const char *what) {
  if (!good) Rf_error("this is no problem that fusedlr made (%s); fit the model again", what);
}

bool is_matrix(SEXP a, int type, int rows, int columns) {
  return TYPEOF(a) == type && Rf_isMatrix(a) && Rf_nrows(a) == rows && Rf_ncols(a) == columns;
}

bool all_between(SEXP a, double low, double high) {
  for (R_xlen_t i = 0; i < Rf_xlength(a); i++)
    if (!(REAL(a)[i] >= low && REAL(a)[i] <= high)) return false;  // NaN, too
  return true;
}

void check_features(SEXP x) {
  need(TYPEOF(x) == REALSXP && Rf_isMatrix(x) && Rf_nrows(x) > 0 && Rf_ncols(x) > 0, "x is not a matrix of numbers");
  need(all_between(x, -LARGEST, LARGEST), "x is not finite, or beyond 1e100");
}

void check_edges(SEXP ends, SEXP weights, SEXP chain, int tasks) {
  need(TYPEOF(ends) == INTSXP && Rf_isMatrix(ends) && Rf_nrows(ends) == 2, "edges are not pairs of whole numbers");
  const int edges = Rf_ncols(ends);
  need(TYPEOF(weights) == REALSXP && Rf_xlength(weights) == edges && all_between(weights, 0, LARGEST), "edge weights");
  need(TYPEOF(chain) == LGLSXP && Rf_xlength(chain) == 1, "chain is not TRUE or FALSE");
  const int *end = INTEGER(ends);
  for (int e = 0; e < edges; e++)
    need(end[2 * e] >= 0 && end[2 * e] < end[2 * e + 1] && end[2 * e + 1] < tasks, "an edge joins no two of the tasks");
  if (LOGICAL(chain)[0] != TRUE) return;
  need(edges == tasks - 1, "the edges are no chain");
  for (int e = 0; e < edges; e++) need(end[2 * e] == e && end[2 * e + 1] == e + 1, "the edges are no chain");
}

void check_problem(SEXP parts) {
  need(TYPEOF(parts) == VECSXP && Rf_xlength(parts) == 7, "parts");
  SEXP x = VECTOR_ELT(parts, 0), signs = VECTOR_ELT(parts, 1), weights = VECTOR_ELT(parts, 2);
  check_features(x);
  need(TYPEOF(signs) == REALSXP && Rf_isMatrix(signs) && Rf_nrows(signs) > 0, "signs are not a matrix of numbers");
  const int tasks = Rf_nrows(signs), rows = Rf_ncols(x);
  need(is_matrix(signs, REALSXP, tasks, rows) && all_between(signs, -1, 1), "signs do not fit x");
  need(is_matrix(weights, REALSXP, tasks, rows) && all_between(weights, 0, LARGEST), "weights do not fit x");
  need(is_matrix(VECTOR_ELT(parts, 3), REALSXP, tasks, rows) && all_between(VECTOR_ELT(parts, 3), -LARGEST, LARGEST),
       "offset does not fit x");
  check_edges(VECTOR_ELT(parts, 4), VECTOR_ELT(parts, 5), VECTOR_ELT(parts, 6), tasks);
}

void check_settings(SEXP points, SEXP factors, SEXP start, SEXP control, int rows, int tasks) {
  need(TYPEOF(points) == REALSXP && Rf_isMatrix(points) && Rf_nrows(points) == 3 && Rf_ncols(points) > 0, "points");
  need(all_between(points, 0, LARGEST), "a penalty is negative, not finite, or beyond 1e100");
  need(is_matrix(factors, REALSXP, rows, 3) && all_between(factors, 0, LARGEST * LARGEST), "factors do not fit x");
  need(start == R_NilValue || (is_matrix(start, REALSXP, tasks, rows) && all_between(start, -LARGEST, LARGEST)),
       "start does not fit x");
  need(TYPEOF(control) == REALSXP && Rf_xlength(control) == 3 && all_between(control, 0, INT_MAX), "control");
  need(REAL(control)[0] > 0 && REAL(control)[2] > 0, "tol");
}

// R's matrices of labels (tasks, rows), made flat. Where some row has a label in some tasks only, those of weight 0 are
// left out; a row whose weights are all 0 was not drawn, which leaves no gap in a table.
class FlatLabels {
 public:
  FlatLabels(SEXP signs, SEXP weights, SEXP offset) : start_{0} {
    const int tasks = Rf_nrows(signs), rows = Rf_ncols(signs);
    const bool gaps = has_gaps(REAL(weights), tasks, rows);
    for (int k = 0; k < tasks; k++) {
      for (int i = 0; i < rows; i++) {
        const std::size_t from = static_cast<std::size_t>(i) * tasks + k;
        if (gaps && REAL(weights)[from] == 0) continue;
        row_.push_back(i);
        sign_.push_back(REAL(signs)[from] > 0 ? 1 : -1);
        weight_.push_back(REAL(weights)[from]);
        offset_.push_back(REAL(offset)[from]);
      }
      start_.push_back(static_cast<std::int64_t>(row_.size()));
    }
  }

  fusedlr::Labels get() const { return {start_.data(), row_.data(), sign_.data(), weight_.data(), offset_.data()}; }

 private:
  static bool has_gaps(const double *weights, int tasks, int rows) {
    for (int i = 0; i < rows; i++, weights += tasks)
      for (int k = 1; k < tasks; k++)
        if ((weights[k] > 0) != (weights[0] > 0)) return true;
    return false;
  }

  std::vector<std::int64_t> start_;
  std::vector<int> row_;
  std::vector<signed char> sign_;
  std::vector<double> weight_, offset_;
};

// A matrix x (features, rows) of R, transposed; it is not copied.
fusedlr::Columns columns(SEXP x) { return {Rf_ncols(x), Rf_nrows(x), REAL(x), Rf_nrows(x), 1}; }

// R hands in every matrix transposed: x (features, rows); signs, weights, offset (tasks, rows); ends (2, edges) from
// 0; edge weights; is it a chain.
fusedlr::Problem read_problem(SEXP parts, const FlatLabels &labels) {
  fusedlr::Problem problem{};
  problem.X = columns(VECTOR_ELT(parts, 0));
  problem.tasks = Rf_nrows(VECTOR_ELT(parts, 1));
  problem.labels = labels.get();
  problem.edges = Rf_ncols(VECTOR_ELT(parts, 4));
  problem.ends = INTEGER(VECTOR_ELT(parts, 4));
  problem.edge_weights = REAL(VECTOR_ELT(parts, 5));
  problem.chain = LOGICAL(VECTOR_ELT(parts, 6))[0] == TRUE;
  return problem;
}

void write_report(const fusedlr::Report &report, double *out) {
  out[0] = report.objective;
  out[1] = report.gap;
  out[2] = report.status;
  out[3] = report.iterations;
  out[4] = report.nonzeros;
  out[5] = report.groups;
}

void solve(SEXP parts, SEXP points, SEXP factors, SEXP start, const fusedlr::Settings &settings, double *params,
           double *reports) {
  const FlatLabels labels(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2), VECTOR_ELT(parts, 3));
  const fusedlr::Problem problem = read_problem(parts, labels);
  const std::unique_ptr<fusedlr::Solver> solver(fusedlr::make_solver(problem));
  const int rows = 1 + problem.X.features, count = Rf_ncols(points);
  const fusedlr::Factors by{REAL(factors), REAL(factors) + rows, REAL(factors) + 2 * rows};
  std::vector<fusedlr::Report> found(count);
  std::vector<double> ridge(rows);
  solver->solve_path(by, count, REAL(points), start == R_NilValue ? nullptr : REAL(start), settings, params,
                     found.data(), ridge.data());
  for (int i = 0; i < count; i++) write_report(found[i], reports + 6 * i);
}

}  // namespace

extern "C" {

// points (3, g): l1, l2, fusion; factors (1 + features, 3): of l1, l2 and fusion; start (tasks, 1 + features) or
// NULL, for a single point; control: tolerance, most iterations, floor of the separable rule. Returns a list of params
// (tasks, 1 + features, g) and reports (6, g).
SEXP fusedlr_solve(SEXP parts, SEXP points, SEXP factors, SEXP start, SEXP control) {
  check_problem(parts);
  const int rows = 1 + Rf_nrows(VECTOR_ELT(parts, 0)), tasks = Rf_nrows(VECTOR_ELT(parts, 1));
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
  for (R_xlen_t i = 0; i < Rf_xlength(params); i++) REAL(params)[i] = 0;
  for (R_xlen_t i = 0; i < Rf_xlength(reports); i++) REAL(reports)[i] = 0;
  char message[256] = "";
  try {
    solve(parts, points, factors, start, settings, REAL(params), REAL(reports));
  } catch (const std::exception &error) {
    std::snprintf(message, sizeof message, "%s", error.what());
  } catch (...) {
    std::snprintf(message, sizeof message, "unknown error of C++");
  }
  UNPROTECT(1);
  if (message[0]) Rf_error("the solver stopped: %s", message);
  return out;
}

// Standard deviations of x (features, rows), each row by the largest of its weights (tasks, rows); 0 where none.
SEXP fusedlr_scales(SEXP x, SEXP weights) {
  check_features(x);
  need(Rf_isMatrix(weights) && Rf_nrows(weights) > 0, "weights are not a matrix of numbers");
  need(is_matrix(weights, REALSXP, Rf_nrows(weights), Rf_ncols(x)) && all_between(weights, 0, LARGEST),
       "weights do not fit x");
  SEXP means = PROTECT(Rf_allocVector(REALSXP, Rf_nrows(x)));
  SEXP scales = PROTECT(Rf_allocVector(REALSXP, Rf_nrows(x)));
  bool good = true;
  try {
    std::vector<double> largest(Rf_ncols(x), 0.0);
    for (R_xlen_t i = 0; i < Rf_xlength(weights); i++) {
      double &weight = largest[i / Rf_nrows(weights)];
      weight = std::max(weight, REAL(weights)[i]);
    }
    fusedlr::means_and_scales(columns(x), largest.data(), REAL(means), REAL(scales));
  } catch (...) {
    good = false;
  }
  UNPROTECT(2);
  if (!good) Rf_error("not enough memory for the scale of features");
  return scales;
}

SEXP fusedlr_cpu(void) { return Rf_mkString(fusedlr::instruction_set()); }

static const R_CallMethodDef calls[] = {
    {"C_solve", reinterpret_cast<DL_FUNC>(fusedlr_solve), 5},
    {"C_scales", reinterpret_cast<DL_FUNC>(fusedlr_scales), 2},
    {"C_cpu", reinterpret_cast<DL_FUNC>(fusedlr_cpu), 0},
    {nullptr, nullptr, 0},
};

// Visible although all else is hidden: R looks for it by name.
void attribute_visible R_init_fusedlr(DllInfo *dll) {
  R_registerRoutines(dll, nullptr, calls, nullptr, nullptr);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}

}  // extern "C"
