// The data of a problem.
//
// Layout: X by columns, dense or sparse (columns.hpp), column 0 all ones, rows in the order of rows.hpp and padded with
// zero weights to whole vectors; anything per label is [task][row of the range of the task]; coefficients are
// [feature][task]; gradients are [task][feature]. The intercept counts as feature 0.
//
// Units: every column is divided by a power of two, so that its standard deviation is about 1 and nothing is rounded.
// Columns far from zero (mean beyond FAR standard deviations) are centred too while intercepts are unpenalized and can
// absorb the means. Coefficients in these units are scale(a) times the caller's; to_internal and to_external convert.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "core.hpp"
#include "isa.hpp"
#include "logistic.hpp"
#include "numbers.hpp"
#include "rows.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class Data {
 public:
  const int rows, features, width;  // width: rows, padded
  const Ranges ranges;
  LabelTable signs, weights, offset;

  explicit Data(const Problem &problem) : Data(problem, RowOrder(problem).places()) {}

  int tasks() const { return tasks_; }
  // Rows and whole vectors of the range of a task, and the mean number of rows over tasks.
  int length(int k) const { return ranges.length(k); }
  int vectors(int k) const { return ranges.vectors(k); }
  int rows_by_task() const { return rows_by_task_; }
  // Work of one pass over a column in a task, in rows of a dense one: the mean over columns.
  int work_by_column() const { return work_by_column_; }
  double scale(int a) const { return scale_[a]; }
  const std::vector<int> &all() const { return all_; }  // features

  // Centres columns far from zero, or undoes that; true if anything changed.
  bool is_centred() const { return centred_; }
  bool centre(bool centred) {
    centred_ = centred;
    bool changed = false;
    for (int a = 1; a < features; a++) {
      if (!far_[a]) continue;
      const double before = scale_[a], after = centred ? power_of_two(spread_[a]) : power_of_two(mean_[a]);
      double *x = X_.column(a);
      for (int i = 0; i < rows; i++)
        x[i] = centred ? (x[i] * before - mean_[a]) / after : (x[i] * before + mean_[a]) / after;
      scale_[a] = after;
      curvature_[a] = size_[a].largest = -1;
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

  // Whether any column is sparse, or this one; a dense column from the first row of the range of task k on, and from
  // the very first; the entries of a sparse one in that range.
  bool has_sparse() const { return !X_.sparse().empty(); }
  bool is_sparse(int a) const { return X_.is_sparse(a); }
  const double *column(int a, int k) const { return X_.column(a) + ranges.begin(k); }
  const double *column(int a) const { return X_.column(a); }
  Entries entries(int a, int k) const { return X_.entries(a, ranges.begin(k), ranges.end(k)); }

  // Calls act with the row within the range of task k and the value of every entry of a sparse column.
  template <class Act>
  void for_entries(int a, int k, const Act &act) const {
    const Entries found = entries(a, k);
    const int begin = ranges.begin(k);
    for (int j = 0; j < found.count; j++) act(found.row[j] - begin, found.value[j]);
  }
  // A column of either kind in the range of task k: itself, or written to `room`, (width).
  const double *dense_column(int a, int k, double *room) const {
    if (!is_sparse(a)) return column(a, k);
    std::fill(room, room + vectors(k) * LANES, 0.0);
    for_entries(a, k, [room](int i, double x) { room[i] = x; });
    return room;
  }
  // One entry of it.
  double value(int a, int k, int row) const {
    if (!is_sparse(a)) return column(a, k)[row];
    const Entries found = X_.entries(a, ranges.begin(k) + row, ranges.begin(k) + row + 1);
    return found.count > 0 ? *found.value : 0.0;
  }

  // Weighted inner product of two columns in the range of task k.
  double product(int k, int a, int b, const double *weights) const {
    if (is_sparse(b)) std::swap(a, b);
    double sparse = 0;
    if (is_sparse(a) && is_sparse(b)) {
      const Entries left = entries(a, k), right = entries(b, k);
      for (int i = 0, j = 0; i < left.count && j < right.count;) {
        if (left.row[i] == right.row[j])
          sparse += left.value[i] * right.value[j] * weights[left.row[i] - ranges.begin(k)];
        const int row = left.row[i];
        i += row <= right.row[j];
        j += right.row[j] <= row;
      }
      return sparse;
    }
    const double *y = column(b, k);
    if (is_sparse(a)) {
      for_entries(a, k, [&](int i, double x) { sparse += x * y[i] * weights[i]; });
      return sparse;
    }
    Vec sum{};
    for (int i = 0; i < vectors(k); i++)
      sum = multiply_add(as_vec(column(a, k))[i] * as_vec(y)[i], as_vec(weights)[i], sum);
    return total(sum);
  }

  // Upper bound on the loss's curvature in a coefficient beside an intercept, over tasks: a quarter of the weighted sum
  // of squares about the mean; about zero for the intercept itself and for constant columns.
  double largest_curvature(int a) const {
    if (curvature_[a] < 0)
      for (int k = 0; k < tasks(); k++) curvature_[a] = std::max(curvature_[a], MOST_CURVATURE * sum_of_squares(a, k));
    return curvature_[a];
  }

  // Of a column: its largest absolute value, its mean, and its length about that mean, not below the exact one.
  struct Size {
    double largest, mean, length;
  };
  const Size &size(int a) const {
    if (size_[a].largest < 0) size_[a] = measured(a);
    return size_[a];
  }
  double largest_offset() const { return largest_offset_; }  // in absolute value

  // Loss and its derivatives at the linear predictor of `at`.
  double evaluate(Derivatives &at) const { return logistic_loss(signs, weights, at); }

  // linear += column a times one coefficient for each task
  void add_feature(int a, const double *by, LabelTable &linear) const {
    for (int k = 0; k < tasks(); k++) {
      if (by[k] == 0) continue;
      if (is_sparse(a))
        for_entries(a, k, [to = linear.row(k), factor = by[k]](int i, double x) { to[i] += factor * x; });
      else
        add_scaled(vectors(k), by[k], column(a, k), linear.row(k));
    }
  }

  // The same for many features, with tasks() coefficients each, dense ones four at a time: a quarter of the memory
  // traffic in the linear predictor.
  void add_features(const std::vector<int> &which, const std::vector<double> &by, LabelTable &linear) const {
    if (!has_sparse()) return add_dense_features(which, by, linear);
    std::vector<int> dense;
    std::vector<double> dense_by;
    for (std::size_t i = 0; i < which.size(); i++) {
      const double *b = &by[i * tasks()];
      if (is_sparse(which[i])) {
        add_feature(which[i], b, linear);
      } else {
        dense.push_back(which[i]);
        dense_by.insert(dense_by.end(), b, b + tasks());
      }
    }
    add_dense_features(dense, dense_by, linear);
  }

  // Gradient of the loss in the coefficients of some features from its first derivatives; the rest of `out` stays.
  void gradient(const LabelTable &first, const std::vector<int> &which, Table &out) const {
    in_blocks<false>(first, which, out);
  }
  // The same sums over absolute values of the terms, for bounds on rounding errors.
  void gradient_magnitudes(const LabelTable &first, const std::vector<int> &which, Table &out) const {
    in_blocks<true>(first, which, out);
  }

 private:
  static constexpr int BLOCK_ROWS = 2048, BLOCK_COLUMNS = 16;  // 16 kB of a column or task, 256 kB of X
  static constexpr int ENTRY = 16;  // rows of a dense column that take the time of one entry of a sparse one
  static constexpr double FAR = 8;  // standard deviations; below, centring would gain less than a digit or two

  void add_dense_features(const std::vector<int> &which, const std::vector<double> &by, LabelTable &linear) const {
    std::size_t i = 0;
    for (; i + 4 <= which.size(); i += 4)
      for (const Segment &segment : ranges.segments())
        in_strips(segment, [&](auto count, const int *k) {
          add_four<decltype(count)::value>(&which[i], &by[i * tasks()], segment, k, linear);
        });
    for (; i < which.size(); i++) add_feature(which[i], &by[i * tasks()], linear);
  }

  Data(const Problem &problem, const std::vector<int> &place)
      : rows(problem.X.rows),
        features(problem.X.features + 1),
        width(padded(problem.X.rows)),
        ranges(problem, place),
        signs(ranges),
        weights(ranges),
        offset(ranges),
        tasks_(problem.tasks),
        X_(problem.X, place),
        mean_(features, 0.0),
        spread_(features, 1.0),
        scale_(features, 1.0),
        curvature_(features, -1.0),
        size_(features, Size{-1, 0, 0}),
        far_(features, false),
        all_(features) {
    std::iota(all_.begin(), all_.end(), 0);
    copy_labels(problem, place);
    choose_units(problem, place);
    std::int64_t sum = 0;
    for (int k = 0; k < tasks(); k++) sum += length(k);
    rows_by_task_ = static_cast<int>(sum / tasks());
    set_work_by_column();
  }

  // Ranges of tasks are taken to have their share of the entries of a sparse column.
  void set_work_by_column() {
    double entries = 0;
    for (const int a : X_.sparse()) entries += ENTRY * static_cast<double>(X_.entries(a).count) / rows;
    const double share = (features - X_.sparse().size() + entries) / features;
    work_by_column_ = has_sparse() ? static_cast<int>(std::min(1.0, share) * rows_by_task_) : rows_by_task_;
  }

  void copy_labels(const Problem &problem, const std::vector<int> &place) {
    const Labels &labels = problem.labels;
    const CountedLabels counted(problem);
    std::fill(signs.get(), signs.get() + signs.size(), 1.0);
    for (int k = 0; k < tasks(); k++)
      counted.for_task(k, [&](std::int64_t j) {
        const int i = place[labels.row[j]] - ranges.begin(k);
        signs.row(k)[i] = labels.sign[j];
        weights.row(k)[i] = labels.weight[j];
        if (labels.offset) offset.row(k)[i] = labels.offset[j];
      });
    largest_offset_ = largest_of(offset.get(), offset.size());
  }

  // The largest weight of the labels of every row.
  std::vector<double> row_weights(const Labels &labels) const {
    std::vector<double> largest(rows, 0.0);
    for (std::int64_t j = 0; j < labels.start[tasks()]; j++)
      largest[labels.row[j]] = std::max(largest[labels.row[j]], labels.weight[j]);
    return largest;
  }

  static double power_of_two(double size) {
    return size > 0 && std::isfinite(size) ? std::exp2(std::round(std::log2(size))) : 1.0;
  }

  static double largest_of(const double *values, std::size_t count) {
    double largest = 0;
    for (std::size_t i = 0; i < count; i++) largest = std::max(largest, std::fabs(values[i]));
    return largest;
  }

  static double largest_of(const Vec &v) {
    double largest = v[0];
    for (int lane = 1; lane < LANES; lane++) largest = std::max(largest, v[lane]);
    return largest;
  }

  Size measured(int a) const {
    if (is_sparse(a)) return sparse_measured(a);
    const Vec *x = as_vec(column(a));
    Vec most{}, sum{}, squares{};
    for (int i = 0; i < width / LANES; i++) {
      const Vec size = x[i] > 0.0 ? x[i] : -x[i];
      most = size > most ? size : most;
      sum += x[i];
    }
    const double mean = total(sum) / rows;
    for (int i = 0; i < rows / LANES; i++) squares += (x[i] - mean) * (x[i] - mean);
    double about_mean = total(squares);
    for (int i = rows / LANES * LANES; i < rows; i++) about_mean += (column(a)[i] - mean) * (column(a)[i] - mean);
    return {largest_of(most), mean, std::sqrt(about_mean * (1 + 1e-12))};
  }

  Size sparse_measured(int a) const {
    const Entries found = X_.entries(a);
    double largest = 0, mean = 0, about_mean = 0;
    for (int j = 0; j < found.count; j++) {
      largest = std::max(largest, std::fabs(found.value[j]));
      mean += found.value[j] / rows;
    }
    for (int j = 0; j < found.count; j++) about_mean += (found.value[j] - mean) * (found.value[j] - mean);
    about_mean += (rows - found.count) * mean * mean;
    return {largest, mean, std::sqrt(about_mean * (1 + 1e-12))};
  }

  double sum_of_squares(int a, int k) const {
    if (is_sparse(a)) return sparse_sum_of_squares(a, k);
    const Vec *x = as_vec(column(a, k)), *w = as_vec(weights.row(k));
    Vec counts{}, sums{}, squares{};
    for (int i = 0; i < vectors(k); i++) {
      counts += w[i];
      sums += w[i] * x[i];
      squares += w[i] * x[i] * x[i];
    }
    const double count = total(counts), mean = total(sums) / (count > 0 ? count : 1.0), about_zero = total(squares);
    squares = Vec{};
    for (int i = 0; i < vectors(k); i++) squares += w[i] * (x[i] - mean) * (x[i] - mean);
    const double about_mean = total(squares);
    return a > 0 && about_mean > 1e-12 * about_zero ? about_mean : about_zero;
  }

  double sparse_sum_of_squares(int a, int k) const {
    const double *w = weights.row(k);
    double count = 0, filled = 0, sum = 0, about_zero = 0, about_mean = 0;
    for (int i = 0; i < length(k); i++) count += w[i];
    for_entries(a, k, [&](int i, double x) {
      filled += w[i];
      sum += w[i] * x;
      about_zero += w[i] * x * x;
    });
    const double mean = sum / (count > 0 ? count : 1.0);
    for_entries(a, k, [&](int i, double x) { about_mean += w[i] * (x - mean) * (x - mean); });
    about_mean += std::max(0.0, count - filled) * mean * mean;
    return about_mean > 1e-12 * about_zero ? about_mean : about_zero;
  }

  // Dense columns are measured here, each while it is in cache.
  void choose_units(const Problem &problem, const std::vector<int> &place) {
    const std::vector<double> by_row = row_weights(problem.labels);
    if (problem.X.is_sparse()) means_and_scales(problem.X, by_row.data(), &mean_[1], &spread_[1]);
    const double sum = std::accumulate(by_row.begin(), by_row.end(), 0.0);
    Table share(1, width);
    int counted = 0;
    for (int i = 0; i < rows; i++) {
      share[place[i]] = by_row[i] / sum;
      if (by_row[i] > 0) counted = place[i];
    }
    for (int a = 1; a < features; a++) {
      if (!problem.X.is_sparse()) set_mean_and_spread(a, as_vec(share.get()), counted);
      choose_units(a);
      if (!is_sparse(a)) size_[a] = measured(a);
    }
  }

  // As means_and_scales has them, up to rounding. `share` is that of each row in the weights, `counted` a row with one.
  void set_mean_and_spread(int a, const Vec *share, int counted) {
    const Vec *x = as_vec(column(a));
    const double origin = column(a)[counted];  // a constant column is exactly that
    Vec sum{}, most{}, squares{};
    for (int i = 0; i < width / LANES; i++) {
      const Vec by = share[i] > 0.0 ? x[i] - origin : Vec{}, size = by > 0.0 ? by : -by;
      sum = multiply_add(share[i], by, sum);
      most = size > most ? size : most;
    }
    const double mean = origin + total(sum), largest = largest_of(most), inverse = largest > 0 ? 1 / largest : 0.0;
    for (int i = 0; i < width / LANES; i++) {
      const Vec by = share[i] > 0.0 ? (x[i] - mean) * inverse : Vec{};
      squares = multiply_add(share[i] * by, by, squares);
    }
    mean_[a] = mean;
    spread_[a] = largest * std::sqrt(total(squares));
  }

  // A column that is constant up to rounding is not centred: nothing of it would be left. Nor is a sparse one, which
  // only extreme weights of its few rows can make a far one.
  void choose_units(int a) {
    const double mean = std::fabs(mean_[a]);
    far_[a] = mean > FAR * spread_[a] && spread_[a] > 1e-13 * mean && !is_sparse(a);
    scale_[a] = power_of_two(mean > FAR * spread_[a] ? mean : spread_[a]);
    if (scale_[a] != 1) X_.divide(a, scale_[a]);
  }

  // Intercepts += sign * means of the centred columns times their coefficients.
  void shift_intercepts(double *intercepts, const Table &params, double sign) const {
    for (int a = 1; a < features && centred_; a++)
      if (far_[a])
        for (int k = 0; k < tasks(); k++) intercepts[k] += sign * mean_[a] / scale_[a] * params.row(a)[k];
  }

  // Splits the tasks of a segment into strips of 4, 2 or 1: calls act with the width, as a constant, and the tasks.
  template <class Act>
  static void in_strips(const Segment &segment, const Act &act) {
    const int *k = segment.tasks.data(), *end = k + segment.tasks.size();
    for (; end - k >= 4; k += 4) act(std::integral_constant<int, 4>(), k);
    for (; end - k >= 2; k += 2) act(std::integral_constant<int, 2>(), k);
    if (k < end) act(std::integral_constant<int, 1>(), k);
  }

  // Four columns times their coefficients, in the rows of a segment and K of its tasks.
  template <int K>
  void add_four(const int *which, const double *by, const Segment &segment, const int *task, LabelTable &linear) const {
    const Vec *x[4];
    Vec *to[K];
    Vec coefs[K][4];
    for (int j = 0; j < 4; j++) x[j] = as_vec(column(which[j]) + segment.begin);
    for (int k = 0; k < K; k++) {
      to[k] = as_vec(linear.row(task[k]) + (segment.begin - ranges.begin(task[k])));
      for (int j = 0; j < 4; j++) coefs[k][j] = broadcast(by[j * tasks() + task[k]]);
    }
    const int count = (segment.end - segment.begin) / LANES;
    for (int i = 0; i < count; i++) {
      const Vec a = x[0][i], b = x[1][i], c = x[2][i], d = x[3][i];
      for (int k = 0; k < K; k++)
        to[k][i] += multiply_add(a, coefs[k][0], b * coefs[k][1]) + multiply_add(c, coefs[k][2], d * coefs[k][3]);
    }
  }

  // Block after block of rows, and within it some columns at a time: X comes from memory once, its blocks from a cache
  // for each strip of tasks, whose derivatives stay in the nearest one.
  template <bool MAGNITUDES>
  void in_blocks(const LabelTable &first, const std::vector<int> &which, Table &out) const {
    for (int k = 0; k < tasks(); k++)
      for (const int a : which) out.row(k)[a] = 0;
    std::vector<int> some;
    for (const int a : which) {
      if (!has_sparse()) break;
      if (is_sparse(a))
        add_entries<MAGNITUDES>(first, a, out);
      else
        some.push_back(a);
    }
    const std::vector<int> &dense = has_sparse() ? some : which;
    const int columns = static_cast<int>(dense.size());
    for (const Segment &segment : ranges.segments())
      for (int from = segment.begin; from < segment.end; from += BLOCK_ROWS)
        for (int c = 0; c < columns; c += BLOCK_COLUMNS)
          in_strips(segment, [&](auto count, const int *k) {
            add_block<decltype(count)::value, MAGNITUDES>(first, k, &dense[c], std::min(BLOCK_COLUMNS, columns - c),
                                                          from, std::min(from + BLOCK_ROWS, segment.end), out);
          });
  }

  // Two columns against K tasks at a time, in the rows of a block.
  template <int K, bool MAGNITUDES>
  void add_block(const LabelTable &first, const int *task, const int *which, int columns, int begin, int end,
                 Table &out) const {
    const int count = (end - begin) / LANES;
    const Vec *r[K];
    for (int k = 0; k < K; k++) r[k] = as_vec(first.row(task[k]) + (begin - ranges.begin(task[k])));
    for (int c = 0; c < columns; c += 2) {
      const int a = which[c], b = which[c + 1 < columns ? c + 1 : c];
      const Vec *x = as_vec(column(a) + begin), *y = as_vec(column(b) + begin);
      Vec sums[2][K] = {};
      for (int i = 0; i < count; i++)
        for (int k = 0; k < K; k++) {
          add_product<MAGNITUDES>(x[i], r[k][i], sums[0][k]);
          add_product<MAGNITUDES>(y[i], r[k][i], sums[1][k]);
        }
      for (int k = 0; k < K; k++) {
        double *to = out.row(task[k]);
        to[a] += total(sums[0][k]);
        if (c + 1 < columns) to[b] += total(sums[1][k]);
      }
    }
  }

  // The entries of a sparse column, segment after segment.
  template <bool MAGNITUDES>
  void add_entries(const LabelTable &first, int a, Table &out) const {
    Entries left = X_.entries(a);
    for (const Segment &segment : ranges.segments()) {
      const int *end = left.row + left.count, *from = left.row, *to = end;
      if (from == end) return;
      if (*from < segment.begin) from = std::lower_bound(from, end, segment.begin);
      if (end[-1] >= segment.end) to = std::lower_bound(from, end, segment.end);
      const double *x = left.value + (from - left.row);
      for (const int k : segment.tasks) {
        const double *r = first.row(k);
        const int begin = ranges.begin(k), count = static_cast<int>(to - from);
        double sum = 0;
        for (int j = 0; j < count; j++) {
          const double product = x[j] * r[from[j] - begin];
          sum += MAGNITUDES ? std::fabs(product) : product;
        }
        out.row(k)[a] += sum;
      }
      left = {to, left.value + (to - left.row), static_cast<int>(end - to)};
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
  StoredColumns X_;
  std::vector<double> mean_, spread_, scale_;
  mutable std::vector<double> curvature_;  // computed on first use, as is size_; negative before
  mutable std::vector<Size> size_;
  double largest_offset_ = 0;
  int rows_by_task_ = 0, work_by_column_ = 0;
  std::vector<char> far_;
  std::vector<int> all_;
  bool centred_ = false;
};

}  // namespace fusedlr::FUSEDLR_ISA
