// How the rules that Python and R share read the features: some columns of some rows at a time, as a small dense table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core.hpp"
#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

constexpr int AT_A_TIME = 64;  // labels

// Writes rows by columns into `table`, (count x columns). Rows rise.
inline void gather(const Columns &X, int count, const int *row, const std::vector<int> &columns, double *table) {
  const std::size_t width = columns.size();
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
