// The solver for any CPU, and the choice between the builds.
#include "headers.hpp"

#define LANES 2
namespace fusedlr {
namespace base {
#include "parts.hpp"
}  // namespace base

#if defined(__x86_64__) && defined(__GNUC__)
namespace avx2 {
Solver *make(const Problem &problem);
}
namespace avx512 {
Solver *make(const Problem &problem);
}
static int width() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return 8;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 4 : 2;
}
#else
static int width() { return 2; }
#endif

Solver *make_solver(const Problem &problem) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (width() == 8) return avx512::make(problem);
  if (width() == 4) return avx2::make(problem);
#endif
  return base::make(problem);
}

const char *instruction_set() { return width() == 8 ? "avx512" : (width() == 4 ? "avx2" : "base"); }

template <int T>
struct Known {
  static constexpr int tasks = T;
};

void block_prox(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *h,
                const double *q, double l1, double fusion, double *b) {
  const std::vector<double> start(b, b + tasks);
  const auto solve = [&](auto known) {
    base::Block<decltype(known)::tasks> block(tasks, edges, ends, weights, chain);
    if (!block.keep_pattern(h, q, l1, fusion, start.data(), b)) block.prox(h, q, l1, fusion, b);
  };
  switch (tasks) {
    case 2:
      return solve(Known<2>());
    case 3:
      return solve(Known<3>());
    case 4:
      return solve(Known<4>());
    case 5:
      return solve(Known<5>());
    case 6:
      return solve(Known<6>());
    default:
      return solve(Known<0>());
  }
}

double block_gauge(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *q, double l1,
                   double fusion, double lowest) {
  return base::Block<0>(tasks, edges, ends, weights, chain).gauge(q, l1, fusion, lowest);
}

}  // namespace fusedlr
