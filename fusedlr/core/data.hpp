// The data of a problem.
//
// Layout: X by columns, column 0 all ones, rows padded with zero weights to whole vectors; anything per row and task is
// [task][row]; coefficients are [feature][task]; gradients are [task][feature]. The intercept counts as feature 0.
//
// Units: every column is divided by a power of two, so that its standard deviation is about 1 and nothing is rounded.
// Columns far from zero (mean beyond FAR standard deviations) are centred too while intercepts are unpenalized and can
// absorb the means. Coefficients in these units are scale(a) times the caller's; to_internal and to_external convert.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "core.hpp"
#include "isa.hpp"
#include "logistic.hpp"
#include "numbers.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class Data {
 public:
  const int rows, features, width;  // width: rows, padded
  Table signs, weights, offset;

  explicit Data(const Problem &problem)
      : rows(problem.rows),
        features(problem.features + 1),
        width(padded(problem.rows)),
        signs(problem.tasks, width),
        weights(problem.tasks, width),
        offset(problem.tasks, width),
        tasks_(problem.tasks),
        X_(features, width),
        mean_(features, 0.0),
        spread_(features, 1.0),
        scale_(features, 1.0),
        curvature_(features, -1.0),
        largest_(features, -1.0),
        far_(features, false) {
    copy_columns(problem);
    for (int k = 0; k < tasks(); k++)
      for (int i = 0; i < width; i++) {
        const std::size_t from = static_cast<std::size_t>(i) * tasks() + k;
        signs.row(k)[i] = i < rows ? problem.signs[from] : 1.0;
        weights.row(k)[i] = i < rows ? problem.weights[from] : 0.0;
        offset.row(k)[i] = i < rows ? problem.offset[from] : 0.0;
      }
    largest_offset_ = largest_of(problem.offset, static_cast<std::size_t>(rows) * tasks());
    means_and_scales(problem.rows, problem.features, problem.tasks, problem.X, problem.weights, &mean_[1], &spread_[1]);
    for (int a = 1; a < features; a++) choose_units(a);
  }

  int tasks() const { return tasks_; }
  int vectors() const { return width / LANES; }
  double scale(int a) const { return scale_[a]; }

  // Centres columns far from zero, or undoes that; true if anything changed.
  bool centre(bool centred) {
    if (centred == centred_) return false;
    centred_ = centred;
    bool changed = false;
    for (int a = 1; a < features; a++) {
      if (!far_[a]) continue;
      const double before = scale_[a], after = centred ? power_of_two(spread_[a]) : power_of_two(mean_[a]);
      double *x = X_.row(a);
      for (int i = 0; i < rows; i++)
        x[i] = centred ? (x[i] * before - mean_[a]) / after : (x[i] * before + mean_[a]) / after;
      scale_[a] = after;
      curvature_[a] = largest_[a] = -1;
      changed = true;
    }
    return changed;
  }

  // Coefficients [feature][task] from the caller's units to those of the columns here, and back.
  void to_internal(const double *from, Table &to) const {
    for (int a = 0; a < features; a++)
      for (int k = 0; k < tasks(); k++) to.row(a)[k] = from[static_cast<std::size_t>(a) * tasks() + k] * scale_[a];
    shift_intercepts(to.get(), to, 1.0);
  }
  void to_external(const Table &from, double *to) const {
    for (int a = 0; a < features; a++)
      for (int k = 0; k < tasks(); k++) to[static_cast<std::size_t>(a) * tasks() + k] = from.row(a)[k] / scale_[a];
    shift_intercepts(to, from, -1.0);
  }
  const double *column(int a) const { return X_.row(a); }

  // Upper bound on the loss's curvature in a coefficient beside an intercept, over tasks: a quarter of the weighted sum
  // of squares about the mean; about zero for the intercept itself and for constant columns.
  double largest_curvature(int a) const {
    if (curvature_[a] < 0)
      for (int k = 0; k < tasks(); k++) curvature_[a] = std::max(curvature_[a], MOST_CURVATURE * sum_of_squares(a, k));
    return curvature_[a];
  }

  // Largest absolute value of a column, and of all offsets.
  double largest_value(int a) const {
    if (largest_[a] < 0) largest_[a] = largest_of(column(a), rows);
    return largest_[a];
  }
  double largest_offset() const { return largest_offset_; }

  // Loss and its derivatives at the linear predictor of `at`.
  double evaluate(Derivatives &at) const { return logistic_loss(signs, weights, at); }

  // linear += column a times one coefficient for each task
  void add_feature(int a, const double *by, Table &linear) const {
    for (int k = 0; k < tasks(); k++)
      if (by[k] != 0) add_scaled(vectors(), by[k], column(a), linear.row(k));
  }

  // The same for many features, with tasks() coefficients each, four at a time: a quarter of the memory traffic in the
  // linear predictor.
  void add_features(const std::vector<int> &which, const std::vector<double> &by, Table &linear) const {
    std::size_t i = 0;
    for (; i + 4 <= which.size(); i += 4)
      in_strips([&](auto count, int k) { add_four<decltype(count)::value>(&which[i], &by[i * tasks()], k, linear); });
    for (; i < which.size(); i++) add_feature(which[i], &by[i * tasks()], linear);
  }

  // Gradient of the loss in the coefficients from its first derivatives.
  void gradient(const Table &first, Table &out) const { in_blocks<false>(first, out); }
  // The same sums over absolute values of the terms, for bounds on rounding errors.
  void gradient_magnitudes(const Table &first, Table &out) const { in_blocks<true>(first, out); }

 private:
  static constexpr int BLOCK_ROWS = 2048, BLOCK_COLUMNS = 16;  // 16 kB of a column or task, 256 kB of X
  static constexpr double FAR = 8;  // standard deviations; below, centring would gain less than a digit or two

  static double power_of_two(double size) {
    return size > 0 && std::isfinite(size) ? std::exp2(std::round(std::log2(size))) : 1.0;
  }

  static double largest_of(const double *values, std::size_t count) {
    double largest = 0;
    for (std::size_t i = 0; i < count; i++) largest = std::max(largest, std::fabs(values[i]));
    return largest;
  }

  double sum_of_squares(int a, int k) const {
    const Vec *x = as_vec(column(a)), *w = as_vec(weights.row(k));
    Vec counts{}, sums{}, squares{};
    for (int i = 0; i < vectors(); i++) {
      counts += w[i];
      sums += w[i] * x[i];
      squares += w[i] * x[i] * x[i];
    }
    const double count = total(counts), mean = total(sums) / (count > 0 ? count : 1.0), about_zero = total(squares);
    squares = Vec{};
    for (int i = 0; i < vectors(); i++) squares += w[i] * (x[i] - mean) * (x[i] - mean);
    const double about_mean = total(squares);
    return a > 0 && about_mean > 1e-12 * about_zero ? about_mean : about_zero;
  }

  // A column that is constant up to rounding is not centred: nothing of it would be left.
  void choose_units(int a) {
    const double mean = std::fabs(mean_[a]);
    far_[a] = mean > FAR * spread_[a] && spread_[a] > 1e-13 * mean;
    scale_[a] = power_of_two(mean > FAR * spread_[a] ? mean : spread_[a]);
    for (int i = 0; i < rows && scale_[a] != 1; i++) X_.row(a)[i] /= scale_[a];
  }

  // Intercepts += sign * means of the centred columns times their coefficients.
  void shift_intercepts(double *intercepts, const Table &params, double sign) const {
    for (int a = 1; a < features && centred_; a++)
      if (far_[a])
        for (int k = 0; k < tasks(); k++) intercepts[k] += sign * mean_[a] / scale_[a] * params.row(a)[k];
  }

  void copy_columns(const Problem &problem) {
    const int d = features - 1;
    std::fill(X_.row(0), X_.row(0) + rows, 1.0);
    const int strip = 64;  // columns at a time, so that both sides of the transposition stay in cache
    for (int from = 0; from < d; from += strip)
      for (int i = 0; i < rows; i++)
        for (int a = from; a < std::min(d, from + strip); a++)
          X_.row(a + 1)[i] = problem.X[static_cast<std::size_t>(i) * d + a];
  }

  // Splits the tasks into strips of 4, 2 or 1: calls act with the width, as a constant, and the first task.
  template <class Act>
  void in_strips(const Act &act) const {
    int k = 0;
    for (; k + 4 <= tasks(); k += 4) act(std::integral_constant<int, 4>(), k);
    for (; k + 2 <= tasks(); k += 2) act(std::integral_constant<int, 2>(), k);
    if (k < tasks()) act(std::integral_constant<int, 1>(), k);
  }

  // Four columns times their coefficients, for K tasks from k0 on.
  template <int K>
  void add_four(const int *which, const double *by, int k0, Table &linear) const {
    const Vec *x[4];
    Vec *to[K];
    Vec coefs[K][4];
    for (int j = 0; j < 4; j++) x[j] = as_vec(column(which[j]));
    for (int k = 0; k < K; k++) {
      to[k] = as_vec(linear.row(k0 + k));
      for (int j = 0; j < 4; j++) coefs[k][j] = broadcast(by[j * tasks() + k0 + k]);
    }
    for (int i = 0; i < vectors(); i++) {
      const Vec a = x[0][i], b = x[1][i], c = x[2][i], d = x[3][i];
      for (int k = 0; k < K; k++)
        to[k][i] += multiply_add(a, coefs[k][0], b * coefs[k][1]) + multiply_add(c, coefs[k][2], d * coefs[k][3]);
    }
  }

  // Block after block of rows, and within it some columns at a time: X comes from memory once, its blocks from a cache
  // for each strip of tasks, whose derivatives stay in the nearest one.
  template <bool MAGNITUDES>
  void in_blocks(const Table &first, Table &out) const {
    for (int from = 0; from < vectors(); from += BLOCK_ROWS / LANES)
      for (int a = 0; a < features; a += BLOCK_COLUMNS)
        in_strips([&](auto count, int k) {
          add_block<decltype(count)::value, MAGNITUDES>(first, k, a, from, out);
        });
  }

  // Two columns against K tasks from k0 on at a time, within a block that begins at column a0 and vector i0.
  template <int K, bool MAGNITUDES>
  void add_block(const Table &first, int k0, int a0, int i0, Table &out) const {
    const int end = std::min(i0 + BLOCK_ROWS / LANES, vectors()), last = std::min(a0 + BLOCK_COLUMNS, features);
    for (int a = a0; a < last; a += 2) {
      const Vec *x = as_vec(column(a)), *y = as_vec(column(a + 1 < features ? a + 1 : a));
      Vec sums[2][K] = {};
      for (int i = i0; i < end; i++)
        for (int k = 0; k < K; k++) {
          const Vec r = as_vec(first.row(k0 + k))[i];
          add_product<MAGNITUDES>(x[i], r, sums[0][k]);
          add_product<MAGNITUDES>(y[i], r, sums[1][k]);
        }
      for (int k = 0; k < K; k++) {
        double *to = out.row(k0 + k) + a;
        to[0] = total(sums[0][k]) + (i0 > 0 ? to[0] : 0.0);
        if (a + 1 < features) to[1] = total(sums[1][k]) + (i0 > 0 ? to[1] : 0.0);
      }
    }
  }

  template <bool MAGNITUDE>
  static void add_product(const Vec &x, const Vec &y, Vec &sum) {
    if constexpr (MAGNITUDE) {
      const Vec product = x * y;
      sum += product > 0.0 ? product : -product;
    } else {
      sum = multiply_add(x, y, sum);
    }
  }

  const int tasks_;
  Table X_;
  std::vector<double> mean_, spread_, scale_;
  mutable std::vector<double> curvature_, largest_;  // computed on first use; negative before
  double largest_offset_ = 0;
  std::vector<char> far_;
  bool centred_ = false;
};

}  // namespace fusedlr::FUSEDLR_ISA
