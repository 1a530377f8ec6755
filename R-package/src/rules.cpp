// R's face of the rules that it shares with Python; see glue.h for the layout of matrices. Python's is rules.pxi.
#include "glue.h"

namespace {

bool is_whole(SEXP a, double low, double high) {
  return is_vector(a, INTSXP, 1) && INTEGER(a)[0] >= low && INTEGER(a)[0] <= high;
}

bool is_coefficients(SEXP params, SEXP parts, double fits) {
  const double rows = 1.0 + n_features(VECTOR_ELT(parts, 0)), tasks = tasks_of(VECTOR_ELT(parts, 1));
  return TYPEOF(params) == REALSXP && Rf_xlength(params) == tasks * rows * fits &&
         all_between(params, -LARGEST, LARGEST);
}

// How many fits these coefficients (tasks, 1 + features, fits) are of.
int number_of_fits(SEXP params, SEXP parts) {
  const double size = (1.0 + n_features(VECTOR_ELT(parts, 0))) * tasks_of(VECTOR_ELT(parts, 1));
  const int fits = static_cast<int>(Rf_xlength(params) / size);
  need(fits > 0 && is_coefficients(params, parts, fits), "coefficients");
  return fits;
}

// Costs of points may be infinite, or missing.
void check_points(SEXP points, SEXP cost, SEXP other) {
  need(TYPEOF(points) == REALSXP && Rf_isMatrix(points) && Rf_nrows(points) == 3 && Rf_ncols(points) > 0, "points");
  need(is_vector(cost, REALSXP, Rf_ncols(points)) && is_vector(other, REALSXP, Rf_ncols(points)), "costs of points");
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

// Person-period labels, as glue.h has labels: a list of start, row, sign and weight, cause after cause. entry, time
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

// Linear predictor of every label, offset included, (labels). params (tasks, 1 + features).
SEXP fusedlr_linear(SEXP parts, SEXP params) {
  check_problem(parts);
  need(number_of_fits(params, parts) == 1, "coefficients");
  SEXP labels = VECTOR_ELT(parts, 1);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(VECTOR_ELT(labels, 1))));
  guarded([&] {
    const Features features(VECTOR_ELT(parts, 0));
    const FlatLabels flat(labels, VECTOR_ELT(parts, 2));
    fusedlr::linear_predictors(read_problem(parts, flat, features), REAL(params), REAL(out));
  });
  UNPROTECT(1);
  return out;
}

// Weighted negative log-likelihood of each task at linear predictors (labels), and their sum behind, (tasks + 1).
SEXP fusedlr_losses(SEXP labels, SEXP linear) {
  check_labels(labels, INT_MAX);
  need(is_vector(linear, REALSXP, Rf_xlength(VECTOR_ELT(labels, 1))), "linear predictors");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, tasks_of(labels) + 1));
  guarded([&] { fusedlr::task_losses(tasks_of(labels), FlatLabels(labels).get(), REAL(linear), REAL(out)); });
  UNPROTECT(1);
  return out;
}

// The same with the best intercept of each task beside the offset, (labels) or NULL, (tasks + 1).
SEXP fusedlr_null_losses(SEXP labels, SEXP offset) {
  check_labels(labels, INT_MAX);
  check_offset(offset, labels);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, tasks_of(labels) + 1));
  guarded([&] { fusedlr::null_losses(tasks_of(labels), FlatLabels(labels, offset).get(), REAL(out)); });
  UNPROTECT(1);
  return out;
}

// Scores of g fits, params (tasks, 1 + features, g), on labels that they did not see, (g, 3): mean log-loss, share of
// wrong labels, AUC (mean over tasks). The labels of `parts` are the held-out ones; those of weight 0 do not count, but
// cost time.
SEXP fusedlr_scores(SEXP parts, SEXP params) {
  check_problem(parts);
  const int points = number_of_fits(params, parts);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, points, 3));
  guarded([&] {
    const Features features(VECTOR_ELT(parts, 0));
    const FlatLabels flat(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2));
    fusedlr::held_out_scores(read_problem(parts, flat, features), points, REAL(params), REAL(out), REAL(out) + points,
                             REAL(out) + 2 * points);
  });
  UNPROTECT(1);
  return out;
}

// Variance of the mean difference of g points to the best one in held-out labels, by units, (g). `parts` has all labels
// with their own weights. by_loss: TRUE for log-loss, FALSE for wrong labels; share (rows, folds), that of each row
// which is held out in each fold; params (tasks, 1 + features, 1 + g, folds), for each fold the fit at the best point,
// then those at the others. The standard error is the root; over repeats, that of the mean of the variances.
SEXP fusedlr_paired(SEXP parts, SEXP code, SEXP times, SEXP by_loss, SEXP share, SEXP params) {
  check_problem(parts);
  check_units(code, times);
  const int rows = n_rows(VECTOR_ELT(parts, 0));
  need(Rf_xlength(code) == rows && is_vector(by_loss, LGLSXP, 1), "groups do not fit x");
  need(TYPEOF(share) == REALSXP && Rf_isMatrix(share) && Rf_nrows(share) == rows && Rf_ncols(share) > 0 &&
           all_between(share, 0, 1), "shares of folds");
  const int folds = Rf_ncols(share), fits = number_of_fits(params, parts), points = fits / folds - 1;
  need(points > 0 && fits % folds == 0, "coefficients");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, points));
  guarded([&] {
    const Features features(VECTOR_ELT(parts, 0));
    const FlatLabels flat(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2));
    fusedlr::paired_variances(read_problem(parts, flat, features), read_units(code, times), LOGICAL(by_loss)[0] == TRUE,
                              folds, REAL(share), points, REAL(params), REAL(out));
  });
  UNPROTECT(1);
  return out;
}

// Mean of scores (points, folds) over folds, each by its weight (folds), and its standard error from their spread,
// (points, 2). Folds come repeat after repeat; a fold whose scores are all NaN does not count.
SEXP fusedlr_fold_means(SEXP scores, SEXP weights, SEXP repeats) {
  need(TYPEOF(scores) == REALSXP && Rf_isMatrix(scores) && Rf_nrows(scores) > 0 && Rf_ncols(scores) > 0, "scores");
  need(is_vector(weights, REALSXP, Rf_ncols(scores)) && all_between(weights, 0, LARGEST), "weights of folds");
  need(is_whole(repeats, 1, Rf_ncols(scores)) && Rf_ncols(scores) % INTEGER(repeats)[0] == 0, "repeats");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, Rf_nrows(scores), 2));
  guarded([&] {
    fusedlr::fold_means(Rf_ncols(scores), INTEGER(repeats)[0], Rf_nrows(scores), REAL(scores), REAL(weights), REAL(out),
                        REAL(out) + Rf_nrows(scores));
  });
  UNPROTECT(1);
  return out;
}

// Position, from 1, of the best of points (3, g): the lowest cost (g), ties by the second one (g), then by the largest
// l1, l2 and fusion; NA where no cost is a number.
SEXP fusedlr_best(SEXP points, SEXP cost, SEXP second) {
  check_points(points, cost, second);
  int best = -1;
  guarded([&] { best = fusedlr::best_point(Rf_ncols(points), REAL(points), REAL(cost), REAL(second)); });
  return Rf_ScalarInteger(best < 0 ? NA_INTEGER : best + 1);
}

// Position, from 1, that the rule of one standard error takes: points (3, g); cost, error (the standard error of the
// difference to the best), df (integers), (g) each; best: its position from 1.
SEXP fusedlr_one_error(SEXP points, SEXP cost, SEXP error, SEXP df, SEXP best) {
  check_points(points, cost, error);
  need(is_vector(df, INTSXP, Rf_ncols(points)) && is_whole(best, 1, Rf_ncols(points)), "the best point");
  int found = -1;
  guarded([&] {
    found = fusedlr::one_standard_error(Rf_ncols(points), REAL(points), REAL(cost), REAL(error), INTEGER(df),
                                        INTEGER(best)[0] - 1);
  });
  return Rf_ScalarInteger(found < 0 ? NA_INTEGER : found + 1);
}

// Support and ties of coefficients (tasks, 1 + features): the number of the value in each place, from 1 along the rows
// of coef(), 0 for a zero, integers (tasks, 1 + features). ends (2, edges) from 0.
SEXP fusedlr_pattern(SEXP params, SEXP ends) {
  need(TYPEOF(params) == REALSXP && Rf_isMatrix(params) && Rf_xlength(params) > 0, "coefficients");
  check_ends(ends, Rf_nrows(params));
  SEXP out = PROTECT(Rf_allocMatrix(INTSXP, Rf_nrows(params), Rf_ncols(params)));
  guarded([&] {
    fusedlr::pattern_of(Rf_ncols(params), Rf_nrows(params), Rf_ncols(ends), INTEGER(ends), REAL(params), INTEGER(out));
    for (R_xlen_t i = 0; i < Rf_xlength(out); i++) INTEGER(out)[i]++;
  });
  UNPROTECT(1);
  return out;
}

// Maximum likelihood of the values of a pattern, as C_pattern has it: a list of values (p), their covariance (p, p),
// which are unbounded and which collinear (p), both NaN in the covariance. That is the inverse information, or the
// sandwich estimator by units where `cluster` is TRUE. scale (features): that of each feature.
SEXP fusedlr_refit(SEXP parts, SEXP pattern, SEXP scale, SEXP code, SEXP times, SEXP cluster) {
  check_problem(parts);
  check_units(code, times);
  SEXP x = VECTOR_ELT(parts, 0);
  const int rows = 1 + n_features(x), tasks = tasks_of(VECTOR_ELT(parts, 1));
  need(is_matrix(pattern, INTSXP, tasks, rows), "pattern does not fit x");
  need(is_vector(scale, REALSXP, rows - 1) && all_between(scale, 0, LARGEST), "scale does not fit x");
  need(Rf_xlength(code) == n_rows(x) && is_vector(cluster, LGLSXP, 1), "groups do not fit x");
  int p = 0;
  for (R_xlen_t i = 0; i < Rf_xlength(pattern); i++) {
    need(INTEGER(pattern)[i] >= 0 && INTEGER(pattern)[i] <= Rf_xlength(pattern), "pattern");
    p = std::max(p, INTEGER(pattern)[i]);
  }
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
  SEXP values = SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, p));
  SEXP covariance = SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, p, p));
  SEXP unbounded = SET_VECTOR_ELT(out, 2, Rf_allocVector(LGLSXP, p));
  SEXP collinear = SET_VECTOR_ELT(out, 3, Rf_allocVector(LGLSXP, p));
  guarded([&] {
    const Features features(VECTOR_ELT(parts, 0));
    const FlatLabels flat(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2));
    const fusedlr::Problem problem = read_problem(parts, flat, features);
    std::vector<int> numbers(INTEGER(pattern), INTEGER(pattern) + Rf_xlength(pattern));
    for (int &number : numbers) number--;
    const std::unique_ptr<bool[]> flags(new bool[2 * static_cast<std::size_t>(p) + 1]());
    fusedlr::fit_pattern(problem, numbers.data(), p, REAL(scale), REAL(values), REAL(covariance), flags.get(),
                         flags.get() + p);
    if (LOGICAL(cluster)[0] == TRUE && p > 0)
      fusedlr::clustered_covariance(problem, read_units(code, times), numbers.data(), p, REAL(values),
                                    REAL(covariance));
    std::copy_n(flags.get(), p, LOGICAL(unbounded));
    std::copy_n(flags.get() + p, p, LOGICAL(collinear));
  });
  UNPROTECT(1);
  return out;
}

// Effective degrees of freedom of coefficients (tasks, 1 + features) with a ridge l2 (1 + features) on their rows.
SEXP fusedlr_df(SEXP parts, SEXP code, SEXP times, SEXP params, SEXP l2) {
  check_problem(parts);
  check_units(code, times);
  need(number_of_fits(params, parts) == 1, "coefficients");
  need(Rf_xlength(code) == n_rows(VECTOR_ELT(parts, 0)), "groups do not fit x");
  need(is_vector(l2, REALSXP, 1 + n_features(VECTOR_ELT(parts, 0))) && all_between(l2, 0, LARGEST * LARGEST),
       "l2 does not fit x");
  double df = 0;
  guarded([&] {
    const Features features(VECTOR_ELT(parts, 0));
    const FlatLabels flat(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2));
    df = fusedlr::effective_df(read_problem(parts, flat, features), read_units(code, times), REAL(params), REAL(l2));
  });
  return Rf_ScalarReal(df);
}

// A grid that suits the data: a list of l1 (10, or 1), l2 (3, or 1) and fusion (9, or 1). factors (1 + features, 3), as
// for C_solve; scale (features): that on which each feature is penalized.
SEXP fusedlr_grid(SEXP parts, SEXP factors, SEXP scale) {
  check_problem(parts);
  const int features = n_features(VECTOR_ELT(parts, 0)), rows = 1 + features;
  need(is_matrix(factors, REALSXP, rows, 3) && all_between(factors, 0, LARGEST * LARGEST), "factors do not fit x");
  need(is_vector(scale, REALSXP, features) && all_between(scale, 0, LARGEST), "scale does not fit x");
  fusedlr::Grid grid{};
  guarded([&] {
    const Features held(VECTOR_ELT(parts, 0));
    const FlatLabels flat(VECTOR_ELT(parts, 1), VECTOR_ELT(parts, 2));
    grid = fusedlr::default_grid(read_problem(parts, flat, held),
                                 {REAL(factors), REAL(factors) + rows, REAL(factors) + 2 * rows}, REAL(scale));
  });
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
  const double *values[] = {grid.l1, grid.l2, grid.fusion};
  for (int i = 0; i < 3; i++)
    std::copy_n(values[i], grid.size[i], REAL(SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, grid.size[i]))));
  UNPROTECT(1);
  return out;
}

}  // extern "C"
