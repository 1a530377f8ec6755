// One weighted Gram matrix of the working set for each task, in single or double precision (Number).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "data.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "products.hpp"
#include "rows.hpp"
#include "state.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

template <class Number>
class GramMatrices {
 public:
  GramMatrices(const Data &data, const WorkingSet &set, const LabelTable &weights)
      : data_(data), set_(set), weights_(weights), units_(data.tasks(), 1.0) {}

  // Four matrices of 2,000 features take 128 MB in double precision; more tasks get smaller ones.
  int largest() const { return std::min(2000, static_cast<int>(std::sqrt(3.2e7 / data_.tasks()))); }

  // Row c of the matrix of task k, to be multiplied by unit(k): the largest weight in single precision, which overflows
  // at 1e38.
  Number *row(int k, int c) const { return entries_.row(static_cast<std::size_t>(k) * stride_ + c); }
  double unit(int k) const { return units_[k]; }
  int stride() const { return stride_; }

  // Extends the matrices from the first `size` members of the working set to all.
  void prepare(int size) {
    const int m = set_.size();
    if (m + PAD > stride_) {
      grow(m);
      size = 0;
    }
    if (size == 0) set_units();
    if (size == 0 && !data_.has_sparse())
      make(m);
    else if (size < m)
      for (int k = 0; k < data_.tasks(); k++) data_.has_sparse() ? extend_by_entries(k, size, m) : extend(k, size, m);
  }

 private:
  using Numbers = typename VectorOf<Number>::type;
  static constexpr int lanes = VectorOf<Number>::lanes;
  static constexpr int STRIP = 128, LONG_STRIP = 4096;  // rows at a time (cache blocking)

  void grow(int m) {
    stride_ = std::min(std::max(2 * m, 64), std::max(m, std::min(data_.features, largest()))) + PAD;
    stride_ = (stride_ + 2 * PAD - 1) / (2 * PAD) * (2 * PAD);  // whole vectors of singles too
    entries_.resize(static_cast<std::size_t>(data_.tasks()) * stride_, stride_);
    if (data_.has_sparse()) {
      columns_.resize(data_.width, LANES);
      return;
    }
    plain_.resize(STRIP, stride_);
    weighted_.resize(STRIP, stride_);
    columns_.resize(stride_, std::min(LONG_STRIP, data_.width));
  }

  // ---------------------------------------------------------------- from scratch

  void set_units() {
    for (int k = 0; k < data_.tasks() && std::is_same<Number, float>::value; k++) {
      const double heaviest = *std::max_element(weights_.row(k), weights_.row(k) + data_.length(k));
      units_[k] = heaviest > 0 ? heaviest : 1.0;
    }
  }

  // Strip by strip: rank-STRIP updates of the upper triangle.
  void make(int m) {
    for (int from = 0; from < data_.rows; from += STRIP) {
      const int count = std::min(STRIP, data_.rows - from);
      for (int c = 0; c < m; c += PAD) {  // a cache line of the transposed copy at a time
        const double *x[PAD];
        const int columns = std::min(m - c, PAD);
        for (int e = 0; e < columns; e++) x[e] = data_.column(set_.members[c + e]) + from;
        for (int i = 0; i < count; i++)
          for (int e = 0; e < columns; e++) plain_.row(i)[c + e] = static_cast<Number>(x[e][i]);
      }
      for (int k = 0; k < data_.tasks(); k++) add_strip(k, m, from, count);
    }
    for (int k = 0; k < data_.tasks(); k++)
      for (int c = 0; c < m; c += PAD)  // likewise
        for (int e = c; e < m; e++)
          for (int to = c; to < std::min(e, c + PAD); to++) row(k, e)[to] = row(k, to)[e];
  }

  // The rows of a strip that are in the range of the task; upper triangle only.
  void add_strip(int k, int m, int strip, int rows) {
    const int first_row = data_.ranges.begin(k), from = std::max(strip, first_row);
    const int count = std::min(strip + rows, first_row + data_.length(k)) - from;
    if (count <= 0) return;
    const int vectors = (m + lanes - 1) / lanes;
    for (int i = 0; i < count; i++) {
      const Number by = static_cast<Number>(weights_.row(k)[from - first_row + i] / units_[k]);
      const Numbers *x = as_vec(plain_.row(from - strip + i));
      Numbers *to = as_vec(weighted_.row(i));
      for (int v = 0; v < vectors; v++) to[v] = x[v] * by;
    }
    for (int c = 0; c < m; c += TILE_ROWS) {
      const int first = c / lanes;
      for_each_tile(vectors - first, [&](auto tiles, int v) {
        add_tile<decltype(tiles)::value>(k, c, (first + v) * lanes, from - strip, count, from > first_row);
      });
    }
  }

  template <int V>
  void add_tile(int k, int c, int e, int from, int count, bool add) {
    Numbers sums[TILE_ROWS][V];
    multiply_tile<V>(weighted_.get() + c, plain_.row(from) + e, stride_, count, sums);
    for (int r = 0; r < TILE_ROWS; r++)
      for (int v = 0; v < V; v++) {
        Numbers &out = as_vec(row(k, c + r) + e)[v];
        out = add ? out + sums[r][v] : sums[r][v];
      }
  }

  // ---------------------------------------------------------------- some more features

  // Appends rows size..m to the matrix of one task.
  void extend(int k, int size, int m) {
    for (int from = 0; from < data_.vectors(k); from += LONG_STRIP / LANES) {
      const int count = std::min(LONG_STRIP / LANES, data_.vectors(k) - from);
      const Vec *w = as_vec(weights_.row(k)) + from;
      for (int c = size; c < m; c++) {
        const Vec *x = as_vec(data_.column(set_.members[c], k)) + from;
        Vec *to = as_vec(columns_.row(c));
        for (int i = 0; i < count; i++) to[i] = w[i] * x[i];
      }
      int c = size;
      for (; c + 3 <= m; c += 3) add_rows<3>(k, c, from, count);
      for (; c < m; c++) add_rows<1>(k, c, from, count);
    }
    for (int c = size; c < m && data_.vectors(k) > LONG_STRIP / LANES; c++)
      for (int e = 0; e < c; e++) row(k, e)[c] = row(k, c)[e];
  }

  template <int R>
  void add_rows(int k, int c, int from, int count) {
    int e = 0;
    for (; e + 4 <= c + R; e += 4) add_products<R, 4>(k, c, e, from, count);
    for (; e < c + R; e++) add_products<R, 1>(k, c, e, from, count);
  }

  // R x C inner products of weighted and plain columns, written to both triangles; those of later strips are added to
  // the lower one.
  template <int R, int C>
  void add_products(int k, int c, int e, int from, int count) {
    const Vec *x[C], *w[R];
    for (int j = 0; j < C; j++) x[j] = as_vec(data_.column(set_.members[e + j], k)) + from;
    for (int i = 0; i < R; i++) w[i] = as_vec(columns_.row(c + i));
    Vec sums[R][C];
    for (int j = 0; j < C; j++)
      for (int i = 0; i < R; i++) sums[i][j] = w[i][0] * x[j][0];
    for (int v = 1; v < count; v++)
      for (int j = 0; j < C; j++) {
        const Vec xj = x[j][v];
        for (int i = 0; i < R; i++) sums[i][j] = multiply_add(w[i][v], xj, sums[i][j]);
      }
    for (int i = 0; i < R; i++) {
      double found[C];
      if constexpr (C == 4)
        totals(sums[i][0], sums[i][1], sums[i][2], sums[i][3], found);
      else
        for (int j = 0; j < C; j++) found[j] = total(sums[i][j]);
      for (int j = 0; j < C; j++) {
        const Number entry = static_cast<Number>(found[j] / units_[k]);
        if (from > 0)
          row(k, c + i)[e + j] += entry;
        else
          row(k, c + i)[e + j] = row(k, e + j)[c + i] = entry;
      }
    }
  }

  // ---------------------------------------------------------------- where some columns are sparse

  // Appends rows size..m to the matrix of one task: some weighted columns at a time, side by side in one vector for
  // each row, against the entries of all columns up to the last of them.
  void extend_by_entries(int k, int size, int m) {
    for (int c = size; c < m; c += LANES) {
      const int count = std::min(LANES, m - c);
      for (int lane = 0; lane < count; lane++) spread(k, c + lane, lane, false);
      for (int e = 0; e < c + count; e++) {
        const Vec sums = products(k, set_.members[e]) / units_[k];
        for (int lane = std::max(0, e - c); lane < count; lane++)
          row(k, c + lane)[e] = row(k, e)[c + lane] = static_cast<Number>(sums[lane]);
      }
      for (int lane = 0; lane < count; lane++) spread(k, c + lane, lane, true);
    }
  }

  // Writes a weighted column to a lane of columns_, or zeros in its place.
  void spread(int k, int c, int lane, bool clear) {
    const int a = set_.members[c];
    double *to = columns_.get() + lane;
    const double *w = weights_.row(k);
    if (data_.is_sparse(a)) {
      data_.for_entries(a, k, [&](std::ptrdiff_t i, double x) { to[i * LANES] = clear ? 0.0 : w[i] * x; });
    } else {
      const double *x = data_.column(a, k);
      for (std::ptrdiff_t i = 0; i < data_.length(k); i++) to[i * LANES] = clear ? 0.0 : w[i] * x[i];
    }
  }

  // Inner products of a column with those in the lanes of columns_.
  Vec products(int k, int a) const {
    const Vec *by = as_vec(columns_.get());
    Vec sums{};
    if (data_.is_sparse(a)) {
      data_.for_entries(a, k, [&](int i, double x) { sums = multiply_add(by[i], broadcast(x), sums); });
    } else {
      const double *x = data_.column(a, k);
      for (int i = 0; i < data_.length(k); i++) sums = multiply_add(by[i], broadcast(x[i]), sums);
    }
    return sums;
  }

  const Data &data_;
  const WorkingSet &set_;
  const LabelTable &weights_;
  std::vector<double> units_;
  int stride_ = 0;
  TableOf<Number> entries_;
  TableOf<Number> plain_, weighted_;  // a strip of the data by rows, and the same times the weights of a task
  Table columns_;  // weighted columns of appended features; [row][lane] where some columns are sparse
};

}  // namespace fusedlr::FUSEDLR_ISA
