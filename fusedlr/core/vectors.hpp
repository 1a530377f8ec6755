// SIMD vectors by GCC's vector extensions, and the few functions on them that the solver needs.
#pragma once

#include <cstring>
#ifdef FUSEDLR_FMA
#include <immintrin.h>
#endif

#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

constexpr int PAD = 8;  // arrays are padded to multiples of this many numbers

typedef double Vec __attribute__((vector_size(8 * LANES), aligned(8 * LANES)));
typedef long long Bits __attribute__((vector_size(8 * LANES), aligned(8 * LANES)));

typedef float Singles __attribute__((vector_size(8 * LANES), aligned(8 * LANES)));  // as many bytes

// SIMD vector of a number type.
template <class Number>
struct VectorOf;
template <>
struct VectorOf<double> {
  typedef Vec type;
  static constexpr int lanes = LANES;
};
template <>
struct VectorOf<float> {
  typedef Singles type;
  static constexpr int lanes = 2 * LANES;
};

inline Vec broadcast(double value) { return value - Vec{}; }
inline Singles broadcast(float value) { return value - Singles{}; }

// a * b + c, rounded once where the instruction set can do that. The compiler makes no such operations of its own
// (fp-contract=off in core_*.cpp): which ones it makes depends on how far it optimises, and so would the last bits.
#ifdef FUSEDLR_FMA
#if FUSEDLR_LANES == 8
inline Vec multiply_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a, b, c); }
inline Singles multiply_add(Singles a, Singles b, Singles c) { return _mm512_fmadd_ps(a, b, c); }
#else
inline Vec multiply_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }
inline Singles multiply_add(Singles a, Singles b, Singles c) { return _mm256_fmadd_ps(a, b, c); }
#endif
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
template <class Number>
inline Number multiply_add(Number a, Number b, Number c) {
  return a * b + c;
}
#endif

#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, Bits{__VA_ARGS__})
#endif

inline double total(const Vec &v) {
#if FUSEDLR_LANES == 8
  const Vec halves = v + PICK(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  const Vec quarters = halves + PICK(halves, halves, 2, 3, 0, 1, 6, 7, 4, 5);
  return quarters[0] + quarters[1];
#elif FUSEDLR_LANES == 4
  const Vec halves = v + PICK(v, v, 2, 3, 0, 1);
  return halves[0] + halves[1];
#else
  return v[0] + v[1];
#endif
}

// Horizontal sums of four vectors, with a quarter of the shuffles that one after the other would take.
inline void totals(const Vec &a, const Vec &b, const Vec &c, const Vec &d, double *out) {
#if FUSEDLR_LANES == 8
  const Vec ab = PICK(a, b, 0, 8, 2, 10, 4, 12, 6, 14) + PICK(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const Vec cd = PICK(c, d, 0, 8, 2, 10, 4, 12, 6, 14) + PICK(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  const Vec all = PICK(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) + PICK(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
  const Vec sums = all + PICK(all, all, 4, 5, 6, 7, 0, 1, 2, 3);
#elif FUSEDLR_LANES == 4
  const Vec ab = PICK(a, b, 0, 4, 2, 6) + PICK(a, b, 1, 5, 3, 7), cd = PICK(c, d, 0, 4, 2, 6) + PICK(c, d, 1, 5, 3, 7);
  const Vec sums = PICK(ab, cd, 0, 1, 4, 5) + PICK(ab, cd, 2, 3, 6, 7);
#else
  const Vec ab = PICK(a, b, 0, 2) + PICK(a, b, 1, 3), cd = PICK(c, d, 0, 2) + PICK(c, d, 1, 3);
  const double sums[4] = {ab[0], ab[1], cd[0], cd[1]};
#endif
  for (int i = 0; i < 4; i++) out[i] = sums[i];
}
#undef PICK

// exp(x) for x <= 0, below -708 as at -708. Largest error seen: 1 unit in the last place.
inline Vec exp_negative(Vec x) {
  x = x < -708.0 ? broadcast(-708.0) : x;
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
  const Vec shifted = multiply_add(x, broadcast(1.4426950408889634), broadcast(magic));
  const Vec whole = shifted - magic;
  const Vec high = multiply_add(-whole, broadcast(0.693147180369123816490), x);
  const Vec r = multiply_add(-whole, broadcast(1.90821492927058770002e-10), high);
  Vec p = broadcast(1.0 / 6227020800.0);
  p = multiply_add(p, r, broadcast(1.0 / 479001600.0));
  p = multiply_add(p, r, broadcast(1.0 / 39916800.0));
  p = multiply_add(p, r, broadcast(1.0 / 3628800.0));
  p = multiply_add(p, r, broadcast(1.0 / 362880.0));
  p = multiply_add(p, r, broadcast(1.0 / 40320.0));
  p = multiply_add(p, r, broadcast(1.0 / 5040.0));
  p = multiply_add(p, r, broadcast(1.0 / 720.0));
  p = multiply_add(p, r, broadcast(1.0 / 120.0));
  p = multiply_add(p, r, broadcast(1.0 / 24.0));
  p = multiply_add(p, r, broadcast(1.0 / 6.0));
  p = multiply_add(p, r, broadcast(0.5));
  p = multiply_add(p, r, broadcast(1.0));
  p = multiply_add(p, r, broadcast(1.0));
  Bits exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = (exponent << 52) + (1023LL << 52);
  Vec power;
  std::memcpy(&power, &exponent, sizeof power);
  return p * power;
}

// log(1 + e) for 0 <= e <= 1, by the series of atanh around 1 or 2.
inline Vec log_one_plus(Vec e) {
  const Bits upper = e > 0.41421356237309503;
  const Vec s = (upper ? e - 1.0 : e) / (upper ? e + 3.0 : e + 2.0);
  const Vec u = s * s;
  Vec p = broadcast(1.0 / 21.0);
  p = multiply_add(p, u, broadcast(1.0 / 19.0));
  p = multiply_add(p, u, broadcast(1.0 / 17.0));
  p = multiply_add(p, u, broadcast(1.0 / 15.0));
  p = multiply_add(p, u, broadcast(1.0 / 13.0));
  p = multiply_add(p, u, broadcast(1.0 / 11.0));
  p = multiply_add(p, u, broadcast(1.0 / 9.0));
  p = multiply_add(p, u, broadcast(1.0 / 7.0));
  p = multiply_add(p, u, broadcast(1.0 / 5.0));
  p = multiply_add(p, u, broadcast(1.0 / 3.0));
  p = multiply_add(p, u, broadcast(1.0));
  return multiply_add(2.0 * s, p, upper ? broadcast(0.69314718055994529) : Vec{});
}

inline const Vec *as_vec(const double *p) { return reinterpret_cast<const Vec *>(p); }
inline Vec *as_vec(double *p) { return reinterpret_cast<Vec *>(p); }
inline const Singles *as_vec(const float *p) { return reinterpret_cast<const Singles *>(p); }
inline Singles *as_vec(float *p) { return reinterpret_cast<Singles *>(p); }

// axpy: y += a * x, over a number of vectors.
template <class Number>
inline void add_scaled(int vectors, Number a, const Number *x, Number *y) {
  const auto *from = as_vec(x);
  auto *to = as_vec(y);
  const auto by = broadcast(a);
  for (int i = 0; i < vectors; i++) to[i] = multiply_add(from[i], by, to[i]);
}

// y += a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + a[3] * x[3]
template <class Number>
inline void add_scaled(int vectors, const Number *a, const Number *const *x, Number *y) {
  const auto a0 = broadcast(a[0]), a1 = broadcast(a[1]), a2 = broadcast(a[2]), a3 = broadcast(a[3]);
  const auto *x0 = as_vec(x[0]), *x1 = as_vec(x[1]), *x2 = as_vec(x[2]), *x3 = as_vec(x[3]);
  auto *to = as_vec(y);
  for (int i = 0; i < vectors; i++)
    to[i] += multiply_add(x0[i], a0, x1[i] * a1) + multiply_add(x2[i], a2, x3[i] * a3);
}

}  // namespace fusedlr::FUSEDLR_ISA
