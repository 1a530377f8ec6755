// The solver for any CPU, and the choice between the builds.
#include "headers.hpp"

#define LANES 2
namespace fusedlr {
namespace base {
#include "simd.hpp"
#include "numbers.hpp"
#include "chain.hpp"
#include "block.hpp"
#include "mixing.hpp"
#include "solver.hpp"
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

// The minimiser by the pattern that b has, for the numbers of tasks that are known when compiling.
static bool keep_pattern(int tasks, const double *h, const double *q, double l1, const double *nu, double *b) {
  switch (tasks) {
    case 2: return base::chain_keep_pattern<2>(h, q, l1, nu, b);
    case 3: return base::chain_keep_pattern<3>(h, q, l1, nu, b);
    case 4: return base::chain_keep_pattern<4>(h, q, l1, nu, b);
    case 5: return base::chain_keep_pattern<5>(h, q, l1, nu, b);
    case 6: return base::chain_keep_pattern<6>(h, q, l1, nu, b);
    default: return false;
  }
}

void block_prox(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *h, const double *q,
                double l1, double fusion, double *b) {
  const Graph graph(tasks, edges, ends, weights, chain);
  if (chain && fusion > 0) {
    std::vector<double> nu;
    for (const Edge &e : graph.edges) nu.push_back(fusion * e.weight);
    nu.push_back(0);
    if (!keep_pattern(tasks, h, q, l1, nu.data(), b)) base::chain_prox<0>(tasks, h, q, l1, nu.data(), b);
    return;
  }
  GraphBlock(graph).prox(h, q, l1, fusion, b);
}

double block_gauge(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *q, double l1,
                   double fusion, double lowest) {
  const Graph graph(tasks, edges, ends, weights, chain);
  if (chain && fusion > 0) {
    std::vector<double> nu;
    for (const Edge &e : graph.edges) nu.push_back(fusion * e.weight);
    return base::chain_gauge<0>(tasks, q, l1, nu.data(), lowest);
  }
  return GraphBlock(graph).gauge(q, l1, fusion, lowest);
}

}  // namespace fusedlr
