// What R's faces of the core share: checks of what R hands in, and labels and features as the core has them.
//
// R hands in x as it is, (rows, features), or of a sparse dgCMatrix of the Matrix package list(nrow(x), x@p, x@i, x@x),
// the number of rows as an integer; labels as a list of start (tasks + 1), row (from 0), sign and weight, flat
// and compressed by task as in core.hpp; offset (labels) or NULL; ends (2, edges) from 0. A fit is a list that anybody
// may edit or read from a file, so nothing of it is taken on trust: every length, type and range is looked at before
// the core sees it, and before the first C++ object exists, because R leaves a function by a jump that runs no
// destructor. Results are allocated before that, too, and errors are raised after the last object is gone.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
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

// Squares of features are summed; those of larger numbers would overflow.
constexpr double LARGEST = 1e100;

inline void need(bool good, const char *what) {
  if (!good) Rf_error("this is no problem that fusedlr made (%s); fit the model again", what);
}

inline bool is_matrix(SEXP a, int type, int rows, int columns) {
  return TYPEOF(a) == type && Rf_isMatrix(a) && Rf_nrows(a) == rows && Rf_ncols(a) == columns;
}

inline bool is_vector(SEXP a, int type, R_xlen_t length) { return TYPEOF(a) == type && Rf_xlength(a) == length; }

inline bool all_between(SEXP a, double low, double high) {
  for (R_xlen_t i = 0; i < Rf_xlength(a); i++)
    if (!(REAL(a)[i] >= low && REAL(a)[i] <= high)) return false;  // NaN, too
  return true;
}

inline bool is_sparse(SEXP x) { return TYPEOF(x) == VECSXP; }
inline int n_rows(SEXP x) { return is_sparse(x) ? INTEGER(VECTOR_ELT(x, 0))[0] : Rf_nrows(x); }
inline int n_features(SEXP x) {
  return is_sparse(x) ? static_cast<int>(Rf_xlength(VECTOR_ELT(x, 1))) - 1 : Rf_ncols(x);
}

inline void check_sparse(SEXP x) {
  need(Rf_xlength(x) == 4 && is_vector(VECTOR_ELT(x, 0), INTSXP, 1) && TYPEOF(VECTOR_ELT(x, 1)) == INTSXP &&
           Rf_xlength(VECTOR_ELT(x, 1)) > 1 && Rf_xlength(VECTOR_ELT(x, 1)) <= INT_MAX &&
           TYPEOF(VECTOR_ELT(x, 2)) == INTSXP, "x is not a sparse matrix");
  const R_xlen_t count = Rf_xlength(VECTOR_ELT(x, 2));
  need(is_vector(VECTOR_ELT(x, 3), REALSXP, count) && all_between(VECTOR_ELT(x, 3), -LARGEST, LARGEST),
       "x is not finite, or beyond 1e100");
  const int *start = INTEGER(VECTOR_ELT(x, 1)), *row = INTEGER(VECTOR_ELT(x, 2)), features = n_features(x);
  need(n_rows(x) > 0 && start[0] == 0 && start[features] == count, "x is not a sparse matrix");
  for (int a = 0; a < features; a++) need(start[a] <= start[a + 1], "columns of x");  // before any row is read
  for (int a = 0; a < features; a++)
    for (int j = start[a]; j < start[a + 1]; j++)
      need(row[j] >= 0 && row[j] < n_rows(x) && (j == start[a] || row[j] > row[j - 1]), "rows of x");
}

inline void check_features(SEXP x) {
  if (is_sparse(x)) return check_sparse(x);
  need(TYPEOF(x) == REALSXP && Rf_isMatrix(x) && Rf_nrows(x) > 0 && Rf_ncols(x) > 0, "x is not a matrix of numbers");
  need(all_between(x, -LARGEST, LARGEST), "x is not finite, or beyond 1e100");
}

inline void check_labels(SEXP labels, int rows) {
  need(TYPEOF(labels) == VECSXP && Rf_xlength(labels) == 4, "labels");
  SEXP start = VECTOR_ELT(labels, 0), row = VECTOR_ELT(labels, 1), sign = VECTOR_ELT(labels, 2);
  const R_xlen_t count = Rf_xlength(row), ends = Rf_xlength(start);
  const char *wrong = "where the labels of tasks begin";
  need(TYPEOF(start) == REALSXP && ends > 1 && ends <= INT_MAX && all_between(start, 0, static_cast<double>(count)),
       wrong);
  need(REAL(start)[0] == 0 && REAL(start)[ends - 1] == static_cast<double>(count), wrong);
  need(TYPEOF(row) == INTSXP && is_vector(sign, INTSXP, count), "rows and signs of labels");
  need(is_vector(VECTOR_ELT(labels, 3), REALSXP, count) && all_between(VECTOR_ELT(labels, 3), 0, LARGEST),
       "weights of labels");
  for (R_xlen_t k = 1; k < ends; k++) {
    need(REAL(start)[k] >= REAL(start)[k - 1] && REAL(start)[k] == std::floor(REAL(start)[k]), wrong);
    int least = 0;
    for (R_xlen_t i = static_cast<R_xlen_t>(REAL(start)[k - 1]); i < static_cast<R_xlen_t>(REAL(start)[k]); i++) {
      need(INTEGER(row)[i] >= least && INTEGER(row)[i] < rows, "labels do not fit x");
      need(INTEGER(sign)[i] == 1 || INTEGER(sign)[i] == -1, "signs of labels");
      least = INTEGER(row)[i] + 1;
    }
  }
}

inline int tasks_of(SEXP labels) { return static_cast<int>(Rf_xlength(VECTOR_ELT(labels, 0))) - 1; }

inline void check_ends(SEXP ends, int tasks) {
  need(TYPEOF(ends) == INTSXP && Rf_isMatrix(ends) && Rf_nrows(ends) == 2, "edges are not pairs of whole numbers");
  const int *end = INTEGER(ends);
  for (int e = 0; e < Rf_ncols(ends); e++)
    need(end[2 * e] >= 0 && end[2 * e] < end[2 * e + 1] && end[2 * e + 1] < tasks, "an edge joins no two of the tasks");
}

inline void check_edges(SEXP ends, SEXP weights, SEXP chain, int tasks) {
  check_ends(ends, tasks);
  const int edges = Rf_ncols(ends), *end = INTEGER(ends);
  need(is_vector(weights, REALSXP, edges) && all_between(weights, 0, LARGEST), "edge weights");
  need(is_vector(chain, LGLSXP, 1), "chain is not TRUE or FALSE");
  if (LOGICAL(chain)[0] != TRUE) return;
  need(edges == tasks - 1, "the edges are no chain");
  for (int e = 0; e < edges; e++) need(end[2 * e] == e && end[2 * e + 1] == e + 1, "the edges are no chain");
}

inline void check_offset(SEXP offset, SEXP labels) {
  need(offset == R_NilValue || (is_vector(offset, REALSXP, Rf_xlength(VECTOR_ELT(labels, 1))) &&
                                all_between(offset, -LARGEST, LARGEST)), "offset does not fit the labels");
}

// Parts of a problem: x, labels, offset, ends, edge weights, is it a chain.
inline void check_problem(SEXP parts) {
  need(TYPEOF(parts) == VECSXP && Rf_xlength(parts) == 6, "parts");
  check_features(VECTOR_ELT(parts, 0));
  SEXP labels = VECTOR_ELT(parts, 1), offset = VECTOR_ELT(parts, 2);
  check_labels(labels, n_rows(VECTOR_ELT(parts, 0)));
  check_offset(offset, labels);
  check_edges(VECTOR_ELT(parts, 3), VECTOR_ELT(parts, 4), VECTOR_ELT(parts, 5), tasks_of(labels));
}

// Sampling units: code (rows) is the group of each row, from 0; times (groups) how often each counts.
inline void check_units(SEXP code, SEXP times) {
  need(TYPEOF(code) == INTSXP && Rf_xlength(code) > 0 && Rf_xlength(code) <= INT_MAX, "groups are not whole numbers");
  need(TYPEOF(times) == REALSXP && Rf_xlength(times) > 0 && Rf_xlength(times) <= INT_MAX &&
           all_between(times, 0, LARGEST), "times of groups");
  for (R_xlen_t i = 0; i < Rf_xlength(code); i++)
    need(INTEGER(code)[i] >= 0 && INTEGER(code)[i] < Rf_xlength(times), "a row is in no group");
}

inline fusedlr::Units read_units(SEXP code, SEXP times) {
  return {static_cast<int>(Rf_xlength(code)), static_cast<int>(Rf_xlength(times)), INTEGER(code), REAL(times)};
}

// R's labels in the types of the core; rows, weights and offsets are not copied.
class FlatLabels {
 public:
  explicit FlatLabels(SEXP labels, SEXP offset = R_NilValue)
      : start_(REAL(VECTOR_ELT(labels, 0)), REAL(VECTOR_ELT(labels, 0)) + Rf_xlength(VECTOR_ELT(labels, 0))),
        sign_(INTEGER(VECTOR_ELT(labels, 2)), INTEGER(VECTOR_ELT(labels, 2)) + Rf_xlength(VECTOR_ELT(labels, 2))),
        row_(INTEGER(VECTOR_ELT(labels, 1))), weight_(REAL(VECTOR_ELT(labels, 3))),
        offset_(offset == R_NilValue ? nullptr : REAL(offset)) {}

  fusedlr::Labels get() const { return {start_.data(), row_, sign_.data(), weight_, offset_}; }
  std::int64_t size() const { return start_.back(); }

 private:
  std::vector<std::int64_t> start_;
  std::vector<signed char> sign_;
  const int *row_;
  const double *weight_, *offset_;
};

// R's features, dense by columns or sparse; their numbers are not copied.
class Features {
 public:
  explicit Features(SEXP x) : x_(x) {
    if (is_sparse(x)) start_.assign(INTEGER(VECTOR_ELT(x, 1)), INTEGER(VECTOR_ELT(x, 1)) + n_features(x) + 1);
  }

  fusedlr::Columns get() const {
    if (!is_sparse(x_)) return {n_rows(x_), n_features(x_), REAL(x_), 1, n_rows(x_)};
    return {n_rows(x_), n_features(x_), REAL(VECTOR_ELT(x_, 3)), 0, 0, start_.data(), INTEGER(VECTOR_ELT(x_, 2))};
  }

 private:
  SEXP x_;
  std::vector<std::int64_t> start_;
};

inline fusedlr::Problem read_problem(SEXP parts, const FlatLabels &labels, const Features &features) {
  fusedlr::Problem problem{};
  problem.X = features.get();
  problem.tasks = tasks_of(VECTOR_ELT(parts, 1));
  problem.labels = labels.get();
  problem.edges = Rf_ncols(VECTOR_ELT(parts, 3));
  problem.ends = INTEGER(VECTOR_ELT(parts, 3));
  problem.edge_weights = REAL(VECTOR_ELT(parts, 4));
  problem.chain = LOGICAL(VECTOR_ELT(parts, 5))[0] == TRUE;
  return problem;
}

// Runs what makes C++ objects, and hands on an error as R's when all of them are gone.
template <class Act>
void guarded(const Act &act) {
  char message[256] = "";
  try {
    act();
  } catch (const std::exception &error) {
    std::snprintf(message, sizeof message, "%s", error.what());
  } catch (...) {
    std::snprintf(message, sizeof message, "unknown error of C++");
  }
  if (message[0]) Rf_error("the solver stopped: %s", message);
}
