// How the rules that Python and R share read the features: some columns of some rows at a time, as a small dense table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core.hpp"
#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

constexpr int AT_A_TIME = 64;  // labels

// The same of sparse features.
inline void gather_entries(const Columns &X, int count, const int *row, const std::vector<int> &columns,
                           double *table) {
  const std::size_t width = columns.size();
  std::fill(table, table + count * width, 0.0);
  for (std::size_t j = 0; j < width && count > 0; j++) {
    const int *end = X.row + X.start[columns[j] + 1], *entry = std::lower_bound(X.row + X.start[columns[j]], end, *row);
    for (int i = 0; i < count && entry < end; i++) {
      while (entry < end && *entry < row[i]) entry++;
      if (entry < end && *entry == row[i]) table[i * width + j] = X.value[entry - X.row];
    }
  }
}

// Writes rows by columns into `table`, (count x columns). Rows rise.
inline void gather(const Columns &X, int count, const int *row, const std::vector<int> &columns, double *table) {
  const std::size_t width = columns.size();
  if (X.is_sparse()) return gather_entries(X, count, row, columns, table);
  for (int i = 0; i < count; i++)
    for (std::size_t j = 0; j < width; j++) table[i * width + j] = X(row[i], columns[j]);
}

// Labels from `first` up to `last`, AT_A_TIME: act(first of these, how many, their rows of the features).
template <class Act>
void by_rows(const Problem &problem, std::int64_t first, std::int64_t last, const std::vector<int> &columns, Act act) {
  std::vector<double> table(AT_A_TIME * columns.size() + 1);
  for (std::int64_t from = first; from < last; from += AT_A_TIME) {
    const int count = static_cast<int>(last - from < AT_A_TIME ? last - from : AT_A_TIME);
    gather(problem.X, count, problem.labels.row + from, columns, table.data());
    act(from, count, table.data());
  }
}

}  // namespace fusedlr::FUSEDLR_ISA
