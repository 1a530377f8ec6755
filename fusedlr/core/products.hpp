// Register-tiled matrix products.
#pragma once

#include <cstddef>
#include <type_traits>

#include "isa.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

constexpr int TILE_ROWS = LANES == 8 ? 8 : 4;

// sums[r][v] = sum over i < count of left[i][r] * right[i][v], where right[i] is an array of vectors, and `stride`
// numbers lie between one i and the next.
template <int V, class Numbers, class Number>
inline void multiply_tile(const Number *left, const Number *right, std::size_t stride, int count,
                          Numbers (&sums)[TILE_ROWS][V]) {
  for (int r = 0; r < TILE_ROWS; r++)
    for (int v = 0; v < V; v++) sums[r][v] = Numbers{};
  for (int i = 0; i < count; i++, left += stride, right += stride) {
    Numbers x[V];
    for (int v = 0; v < V; v++) x[v] = reinterpret_cast<const Numbers *>(right)[v];
    for (int r = 0; r < TILE_ROWS; r++) {
      const Numbers by = broadcast(left[r]);
      for (int v = 0; v < V; v++) sums[r][v] = multiply_add(x[v], by, sums[r][v]);
    }
  }
}

// Splits `count` columns into tiles of 3, 2 or 1: calls act with the width, as a constant, and the first column.
template <class Act>
inline void for_each_tile(int count, const Act &act) {
  int from = 0;
  for (; count - from >= 5 || count - from == 3; from += 3) act(std::integral_constant<int, 3>(), from);
  for (; count - from >= 2; from += 2) act(std::integral_constant<int, 2>(), from);
  if (count > from) act(std::integral_constant<int, 1>(), from);
}

}  // namespace fusedlr::FUSEDLR_ISA
