// The same solver for CPUs with AVX2; chosen when it starts, see core_base.cpp.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)  // GCC does not align the stack for them on Windows
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define FUSEDLR_FMA
#define FUSEDLR_ISA avx2
#define FUSEDLR_LANES 4
#include "solver.hpp"

namespace fusedlr::avx2 {
Solver *make(const Problem &problem);
Solver *make(const Problem &problem) { return new PathSolver(problem); }
}  // namespace fusedlr::avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
