// What R's faces of the core share: checks of what R hands in, and labels and features as the core has them.
//
// R hands in every matrix transposed: x (features, rows); signs, weights, offset (tasks, rows); ends (2, edges) from 0.
// A sign is 1, -1, or 0 where there is no label; a label may have the weight 0. A fit is a list that anybody may edit
// or read from a file, so nothing of it is taken on trust: every length, type and range is looked at before the core
// sees it, and before the first C++ object exists, because R leaves a function by a jump that runs no destructor.
// Results are allocated before that, too, and errors are raised after the last object is gone.
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

inline bool is_vector(SEXP a, SEXPTYPE type, R_xlen_t length) { return TYPEOF(a) == type && Rf_xlength(a) == length; }

inline bool all_between(SEXP a, double low, double high) {
  for (R_xlen_t i = 0; i < Rf_xlength(a); i++)
    if (!(REAL(a)[i] >= low && REAL(a)[i] <= high)) return false;  // NaN, too
  return true;
}

inline void check_features(SEXP x) {
  need(TYPEOF(x) == REALSXP && Rf_isMatrix(x) && Rf_nrows(x) > 0 && Rf_ncols(x) > 0, "x is not a matrix of numbers");
  need(all_between(x, -LARGEST, LARGEST), "x is not finite, or beyond 1e100");
}

inline void check_labels(SEXP signs, SEXP weights, int rows) {
  need(TYPEOF(signs) == REALSXP && Rf_isMatrix(signs) && Rf_nrows(signs) > 0, "signs are not a matrix of numbers");
  const int tasks = Rf_nrows(signs);
  need(is_matrix(signs, REALSXP, tasks, rows) && all_between(signs, -1, 1), "signs do not fit x");
  need(is_matrix(weights, REALSXP, tasks, rows) && all_between(weights, 0, LARGEST), "weights do not fit x");
}

inline void check_edges(SEXP ends, SEXP weights, SEXP chain, int tasks) {
  need(TYPEOF(ends) == INTSXP && Rf_isMatrix(ends) && Rf_nrows(ends) == 2, "edges are not pairs of whole numbers");
  const int edges = Rf_ncols(ends);
  need(is_vector(weights, REALSXP, edges) && all_between(weights, 0, LARGEST), "edge weights");
  need(is_vector(chain, LGLSXP, 1), "chain is not TRUE or FALSE");
  const int *end = INTEGER(ends);
  for (int e = 0; e < edges; e++)
    need(end[2 * e] >= 0 && end[2 * e] < end[2 * e + 1] && end[2 * e + 1] < tasks, "an edge joins no two of the tasks");
  if (LOGICAL(chain)[0] != TRUE) return;
  need(edges == tasks - 1, "the edges are no chain");
  for (int e = 0; e < edges; e++) need(end[2 * e] == e && end[2 * e + 1] == e + 1, "the edges are no chain");
}

// Parts of a problem: x, signs, weights, offset, ends, edge weights, is it a chain.
inline void check_problem(SEXP parts) {
  need(TYPEOF(parts) == VECSXP && Rf_xlength(parts) == 7, "parts");
  SEXP x = VECTOR_ELT(parts, 0), signs = VECTOR_ELT(parts, 1);
  check_features(x);
  const int rows = Rf_ncols(x);
  check_labels(signs, VECTOR_ELT(parts, 2), rows);
  const int tasks = Rf_nrows(signs);
  need(is_matrix(VECTOR_ELT(parts, 3), REALSXP, tasks, rows) && all_between(VECTOR_ELT(parts, 3), -LARGEST, LARGEST),
       "offset does not fit x");
  check_edges(VECTOR_ELT(parts, 4), VECTOR_ELT(parts, 5), VECTOR_ELT(parts, 6), tasks);
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

// R's matrices of labels (tasks, rows), made flat.
class FlatLabels {
 public:
  FlatLabels(SEXP signs, SEXP weights, SEXP offset = R_NilValue) : start_{0} {
    const int tasks = Rf_nrows(signs), rows = Rf_ncols(signs);
    for (int k = 0; k < tasks; k++) {
      for (int i = 0; i < rows; i++) {
        const std::size_t from = static_cast<std::size_t>(i) * tasks + k;
        if (REAL(signs)[from] == 0) continue;
        row_.push_back(i);
        sign_.push_back(REAL(signs)[from] > 0 ? 1 : -1);
        weight_.push_back(REAL(weights)[from]);
        if (offset != R_NilValue) offset_.push_back(REAL(offset)[from]);
      }
      start_.push_back(static_cast<std::int64_t>(row_.size()));
    }
  }

  fusedlr::Labels get() const {
    return {start_.data(), row_.data(), sign_.data(), weight_.data(), offset_.empty() ? nullptr : offset_.data()};
  }
  std::int64_t size() const { return start_.back(); }

 private:
  std::vector<std::int64_t> start_;
  std::vector<int> row_;
  std::vector<signed char> sign_;
  std::vector<double> weight_, offset_;
};

// A matrix x (features, rows) of R, transposed; it is not copied.
inline fusedlr::Columns columns(SEXP x) { return {Rf_ncols(x), Rf_nrows(x), REAL(x), Rf_nrows(x), 1}; }

inline fusedlr::Problem read_problem(SEXP parts, const FlatLabels &labels) {
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
