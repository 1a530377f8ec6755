// R's face of the rules that it shares with Python; see glue.hpp for the layout of matrices. Python's is rules.pxi.
#include "glue.hpp"

namespace {

bool is_whole(SEXP a, double low, double high) {
  return is_vector(a, INTSXP, 1) && INTEGER(a)[0] >= low && INTEGER(a)[0] <= high;
}

}  // namespace

extern "C" {

// Of sampling units, code (rows) from 0 and times (groups): their weighted number; how many uniform numbers C_folds
// takes; 1 if folds split the weights of rows, else 0. Returns these three numbers.
SEXP fusedlr_units(SEXP code, SEXP times) {
  check_units(code, times);
  double sum = 0;
  for (R_xlen_t g = 0; g < Rf_xlength(times); g++) sum += REAL(times)[g];
  need(sum < INT_MAX, "weights stand for more than 2^31 rows");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 3));
  guarded([&] {
    const fusedlr::Units units = read_units(code, times);
    REAL(out)[0] = static_cast<double>(fusedlr::number_of_units(units));
    REAL(out)[1] = static_cast<double>(fusedlr::fold_uniforms(units));
    REAL(out)[2] = fusedlr::folds_split_weights(units);
  });
  UNPROTECT(1);
  return out;
}

// Multipliers of the row weights in a draw of the units, (rows). place (k): integers from 0 up to C_units()[1] - 1, all
// drawn with replacement for a bootstrap resample, or the first half of a permutation and then its next half; uniform
// (k): numbers from [0, 1).
SEXP fusedlr_drawn(SEXP code, SEXP times, SEXP place, SEXP uniform) {
  check_units(code, times);
  need(TYPEOF(place) == INTSXP && is_vector(uniform, REALSXP, Rf_xlength(place)) && all_between(uniform, 0, 1),
       "places and uniform numbers");
  for (R_xlen_t i = 0; i < Rf_xlength(place); i++) need(INTEGER(place)[i] >= 0, "places");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(code)));
  guarded([&] {
    const std::vector<std::int64_t> places(INTEGER(place), INTEGER(place) + Rf_xlength(place));
    fusedlr::drawn_weights(read_units(code, times), Rf_xlength(place), places.data(), REAL(uniform), REAL(out));
  });
  UNPROTECT(1);
  return out;
}

// Stratified folds: the share of each row in each fold, (rows, folds), 0 or 1 unless weights are split. folds: an
// integer; uniform: C_units()[2] numbers from [0, 1).
SEXP fusedlr_folds(SEXP labels, SEXP code, SEXP times, SEXP folds, SEXP uniform) {
  check_units(code, times);
  const int rows = static_cast<int>(Rf_xlength(code));
  check_labels(labels, rows);
  need(is_whole(folds, 1, INT_MAX), "folds");
  const R_xlen_t wanted = static_cast<R_xlen_t>(fusedlr::fold_uniforms(read_units(code, times)));
  need(is_vector(uniform, REALSXP, wanted) && all_between(uniform, 0, 1), "uniform numbers");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, rows, INTEGER(folds)[0]));
  guarded([&] {
    const FlatLabels flat(labels);
    fusedlr::fold_shares(tasks_of(labels), flat.get(), read_units(code, times), INTEGER(folds)[0], REAL(uniform),
                         REAL(out));
  });
  UNPROTECT(1);
  return out;
}

// Person-period labels, as glue.hpp has labels: a list of start, row, sign and weight, cause after cause. entry, time
// (rows); event (rows): 0 or a cause from 1 on, integers; breaks (intervals + 1), rising; causes: an integer.
SEXP fusedlr_periods(SEXP entry, SEXP time, SEXP event, SEXP breaks, SEXP causes) {
  const R_xlen_t rows = Rf_xlength(time);
  need(TYPEOF(time) == REALSXP && rows > 0 && rows <= INT_MAX && all_between(time, -LARGEST, LARGEST), "time");
  need(is_vector(entry, REALSXP, rows) && all_between(entry, -LARGEST, LARGEST), "entry");
  need(is_whole(causes, 1, 10000) && is_vector(event, INTSXP, rows), "event");
  for (R_xlen_t i = 0; i < rows; i++)
    need(INTEGER(event)[i] >= 0 && INTEGER(event)[i] <= INTEGER(causes)[0], "event");
  const R_xlen_t intervals = Rf_xlength(breaks) - 1;
  need(TYPEOF(breaks) == REALSXP && intervals > 0 && intervals <= 100000 && all_between(breaks, -LARGEST, LARGEST),
       "breaks");
  const int n = static_cast<int>(rows), many = static_cast<int>(intervals), last = INTEGER(causes)[0];
  const auto periods = [&](std::int64_t *start, int *row, signed char *sign, double *weight) {
    return fusedlr::person_periods(n, REAL(entry), REAL(time), INTEGER(event), many, REAL(breaks), last, start, row,
                                   sign, weight);
  };
  R_xlen_t count = 0;
  guarded([&] { count = static_cast<R_xlen_t>(periods(nullptr, nullptr, nullptr, nullptr)); });
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
  SEXP start = SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, static_cast<R_xlen_t>(last) * many + 1));
  SEXP row = SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, count));
  SEXP sign = SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, count));
  SEXP weight = SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, count));
  guarded([&] {
    std::vector<std::int64_t> starts(Rf_xlength(start));
    std::vector<signed char> signs(count + 1);
    periods(starts.data(), INTEGER(row), signs.data(), REAL(weight));
    std::copy(starts.begin(), starts.end(), REAL(start));
    std::copy_n(signs.begin(), count, INTEGER(sign));
  });
  UNPROTECT(1);
  return out;
}

}  // extern "C"
