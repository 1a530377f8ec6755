// Anderson acceleration of coordinate descent, as in Bertrand and Massias (2021): DEPTH + 1 successive iterates,
// `count` numbers each, are extrapolated.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "isa.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

constexpr int DEPTH = 3;

// The extrapolated point: an affine combination of the last DEPTH iterates.
template <class Number>
inline void anderson_mix(const std::vector<Number> &past, std::size_t count, const double *mix, Number *out) {
  const Number *a = &past[count], *b = a + count, *c = b + count;
  const Number by[DEPTH] = {static_cast<Number>(mix[0]), static_cast<Number>(mix[1]), static_cast<Number>(mix[2])};
  for (std::size_t i = 0; i < count; i++) 
    out[i] = multiply_add(by[2], c[i], multiply_add(by[0], a[i], by[1] * b[i]));
}

// Weights, summing to 1, that minimise the norm of the combined step (normal equations, slightly regularised).
inline bool anderson_weights(const std::vector<double> &past, std::size_t count, double *mix) {
  double A[DEPTH][DEPTH + 1];
  double trace = 0;
  for (int i = 0; i < DEPTH; i++)
    for (int j = 0; j <= i; j++) {
      const double *a = &past[i * count], *b = &past[j * count];
      double sum = 0;
      for (std::size_t q = 0; q < count; q++) sum += (a[q + count] - a[q]) * (b[q + count] - b[q]);
      A[i][j] = A[j][i] = sum;
      if (i == j) trace += sum;
    }
  if (!(trace > 0)) return false;
  for (int i = 0; i < DEPTH; i++) {
    A[i][i] += 1e-12 * trace;
    A[i][DEPTH] = 1;
  }
  for (int i = 0; i < DEPTH; i++) {  // positive definite: no pivoting needed
    if (!(A[i][i] > 0)) return false;
    for (int r = i + 1; r < DEPTH; r++) {
      const double by = A[r][i] / A[i][i];
      for (int q = i; q <= DEPTH; q++) A[r][q] = multiply_add(-by, A[i][q], A[r][q]);
    }
  }
  double sum = 0;
  for (int i = DEPTH - 1; i >= 0; i--) {
    mix[i] = A[i][DEPTH];
    for (int q = i + 1; q < DEPTH; q++) mix[i] = multiply_add(-A[i][q], mix[q], mix[i]);
    mix[i] /= A[i][i];
    sum += mix[i];
  }
  if (!(std::fabs(sum) > 1e-300)) return false;
  for (int i = 0; i < DEPTH; i++) mix[i] /= sum;
  return true;
}

}  // namespace fusedlr::FUSEDLR_ISA
