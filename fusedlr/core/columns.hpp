// The columns of X, each dense or sparse: of a sparse one only the entries that are stored, by rising row.
//
// A column is sparse where the caller's is and at most a part of its rows, MOST_FILLED, have an entry: above, whole
// vectors are faster, and take less than three times the memory. A column far from zero is never sparse: with a share f
// of the rows filled, its mean is at most sqrt(f / (1 - f)) standard deviations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Entries of a sparse column, or of a part of its rows.
struct Entries {
  const int *row;
  const double *value;
  int count;
};

class StoredColumns {
 public:
  // The columns of a problem behind one of ones, with row i at position place[i].
  StoredColumns(const Columns &X, const std::vector<int> &place) : rows_(X.rows), column_(X.features + 1, nullptr) {
    std::vector<int> dense{0};
    std::int64_t stored = 0;
    for (int a = 0; a < X.features; a++) {
      const std::int64_t count = X.is_sparse() ? X.start[a + 1] - X.start[a] : X.rows;
      const bool sparse = X.is_sparse() && count <= MOST_FILLED * X.rows;
      (sparse ? sparse_ : dense).push_back(a + 1);
      stored += sparse ? count : 0;
    }
    table_.reshape(dense.size(), padded(rows_));
    for (std::size_t s = 0; s < dense.size(); s++) {
      column_[dense[s]] = table_.row(s);
      std::fill(table_.row(s) + rows_, table_.row(s) + table_.width(), 0.0);
    }
    std::fill(table_.row(dense.size()), table_.row(dense.size()) + PAD, 0.0);
    std::fill(table_.row(0), table_.row(0) + rows_, 1.0);
    if (X.is_sparse())
      copy_entries(X, place, stored);
    else
      copy_all(X, place);
  }

  bool is_sparse(int a) const { return column_[a] == nullptr; }
  const std::vector<int> &sparse() const { return sparse_; }  // features, rising

  // A dense column, and a sparse one.
  double *column(int a) const { return column_[a]; }
  Entries entries(int a) const {
    const std::int64_t from = start_[a];
    return {&row_[from], &value_[from], static_cast<int>(start_[a + 1] - from)};
  }
  // The part of it in the rows from `begin` up to `end`.
  Entries entries(int a, int begin, int end) const {
    const Entries all = entries(a);
    const int *last = all.row + all.count, *from = all.row;
    if (begin > 0) from = std::lower_bound(from, last, begin);
    if (end < rows_) last = std::lower_bound(from, last, end);
    return {from, all.value + (from - all.row), static_cast<int>(last - from)};
  }

  // Divides a column by a number.
  void divide(int a, double by) {
    double *x = is_sparse(a) ? value_.data() + start_[a] : column(a);
    const std::int64_t count = is_sparse(a) ? start_[a + 1] - start_[a] : rows_;
    for (std::int64_t i = 0; i < count; i++) x[i] /= by;
  }

 private:
  static constexpr double MOST_FILLED = 0.25;

  void copy_all(const Columns &X, const std::vector<int> &place) {
    std::vector<int> order(rows_);  // which row is at each position: X is read by rows out of order, not written so
    for (int i = 0; i < rows_; i++) order[place[i]] = i;
    const int strip = 64;  // columns at a time, so that both sides of the transposition stay in cache
    for (int from = 0; from < X.features; from += strip) {
      const int end = std::min(X.features, from + strip);
      for (int i = 0; i < rows_; i++) {
        const int ahead = order[std::min(i + 16, rows_ - 1)];
        for (int a = from; a < end; a += 8) __builtin_prefetch(&X(ahead, a));  // in cache lines
        for (int a = from; a < end; a++) table_.row(a + 1)[i] = X(order[i], a);
      }
    }
  }

  void copy_entries(const Columns &X, const std::vector<int> &place, std::int64_t stored) {
    start_.assign(column_.size() + 1, 0);
    row_.reserve(stored);
    value_.reserve(stored);
    std::vector<std::pair<int, double>> sorted;
    for (int a = 0; a < X.features; a++) {
      sorted.clear();
      for (std::int64_t j = X.start[a]; j < X.start[a + 1]; j++) sorted.push_back({place[X.row[j]], X.value[j]});
      if (!is_sparse(a + 1)) {
        std::fill(column(a + 1), column(a + 1) + rows_, 0.0);
        for (const auto &entry : sorted) column(a + 1)[entry.first] = entry.second;
      } else {
        if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
        for (const auto &entry : sorted) {
          row_.push_back(entry.first);
          value_.push_back(entry.second);
        }
      }
      start_[a + 2] = static_cast<std::int64_t>(row_.size());
    }
  }

  const int rows_;
  std::vector<double *> column_;  // of each feature, in the table; null where it is sparse
  std::vector<int> sparse_;
  Table table_;
  std::vector<std::int64_t> start_;  // of the entries of each feature, where any is sparse
  std::vector<int> row_;
  std::vector<double> value_;
};

}  // namespace fusedlr::FUSEDLR_ISA
