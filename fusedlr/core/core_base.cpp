// The solver for any CPU, and the choice between the builds.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#include "block.hpp"
#include "chain_prox.hpp"
#include "core.hpp"
#include "quadratic.hpp"
#include "solver.hpp"
#include "tasks.hpp"

namespace fusedlr {

namespace base {
static Solver *make(const Problem &problem) { return new PathSolver(problem); }
}  // namespace base

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)  // GCC does not align the stack for them on Windows
namespace avx2 {
Solver *make(const Problem &problem);
}
namespace avx512 {
Solver *make(const Problem &problem);
}
#endif

// A build of the solver: the widest that the CPU has comes first.
struct Kernel {
  const char *name;
  Solver *(*make)(const Problem &problem);
  bool runs;
};

static std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)
  all.push_back({"avx512", avx512::make, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")});
  all.push_back({"avx2", avx2::make, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")});
#endif
  all.push_back({"base", base::make, true});
  return all;
}

// The widest, or the one that the environment asks for.
static Kernel kernel() {
  const char *wanted = std::getenv("FUSEDLR_KERNEL");
  std::string names;
  for (const Kernel &kernel : kernels()) {
    if (!kernel.runs) continue;
    if (!wanted || !*wanted || std::strcmp(wanted, kernel.name) == 0) return kernel;
    names += names.empty() ? kernel.name : std::string(", ") + kernel.name;
  }
  throw std::invalid_argument("FUSEDLR_KERNEL must name one of the builds that this CPU can run, " + names +
                              "; found " + wanted);
}

Solver *make_solver(const Problem &problem) { return kernel().make(problem); }
const char *instruction_set() { return kernel().name; }

// Mean and scale of one sparse column, of whose rows of positive weight `counted` have no entry or one.
static void mean_and_scale(const Columns &X, int a, const double *weights, double sum, int counted, double &mean,
                           double &scale) {
  double filled = 0, least = std::numeric_limits<double>::infinity(), most = -least, square = 0;
  int found = 0;
  mean = 0;
  const auto for_all = [&](auto act) {
    for (std::int64_t j = X.start[a]; j < X.start[a + 1]; j++)
      if (weights[X.row[j]] > 0) act(weights[X.row[j]] / sum, X.value[j]);
  };
  for_all([&](double w, double x) {
    mean += w * x;
    filled += w;
    least = std::min(least, x);
    most = std::max(most, x);
    found++;
  });
  if (found < counted) {
    least = std::min(least, 0.0);
    most = std::max(most, 0.0);
  }
  if (!(most > least)) {  // constant
    mean = found > 0 ? most : 0.0;
    scale = 0;
    return;
  }
  const double unit = most - least;
  for_all([&](double w, double x) { square += w * ((x - mean) / unit) * ((x - mean) / unit); });
  if (found < counted) square += std::max(0.0, 1 - filled) * (mean / unit) * (mean / unit);
  scale = unit * std::sqrt(square);
}

constexpr int STRIP = 64;  // columns that stay in cache from one loop over their rows to the next

// The same of some dense columns.
static void strip_means_and_scales(const Columns &X, int from, int count, const double *weights, double sum,
                                   double *means, double *scales) {
  const auto for_all = [&](auto act) {
    for (int i = 0; i < X.rows; i++)
      if (weights[i] > 0)
        for (int a = 0; a < count; a++) act(a, weights[i] / sum, X(i, from + a));
  };
  std::fill(means, means + count, 0.0);
  std::fill(scales, scales + count, 0.0);
  double some[STRIP] = {}, largest[STRIP] = {}, inverse[STRIP];
  for (int i = X.rows - 1, found = 0; i >= 0 && !found; i--) {
    found = weights[i] > 0;
    for (int a = 0; a < count && found; a++) some[a] = X(i, from + a);
  }
  for_all([&](int a, double w, double x) { means[a] += w * x; });
  for_all([&](int a, double, double x) { largest[a] = std::max(largest[a], std::fabs(x - some[a])); });
  for (int a = 0; a < count; a++) {  // squares of numbers of any size, and of a constant exactly 0
    if (largest[a] == 0) means[a] = some[a];
    inverse[a] = largest[a] > 0 ? 1 / largest[a] : 0.0;
  }
  for_all(
      [&](int a, double w, double x) { scales[a] += w * (x - means[a]) * inverse[a] * ((x - means[a]) * inverse[a]); });
  for (int a = 0; a < count; a++) scales[a] = largest[a] * std::sqrt(scales[a]);
}

void means_and_scales(const Columns &X, const double *weights, double *means, double *scales) {
  const int rows = X.rows, features = X.features;
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += weights[i];
  if (X.is_sparse()) {
    const int counted = static_cast<int>(std::count_if(weights, weights + rows, [](double w) { return w > 0; }));
    for (int a = 0; a < features; a++) mean_and_scale(X, a, weights, sum, counted, means[a], scales[a]);
    return;
  }
  for (int from = 0; from < features; from += STRIP)
    strip_means_and_scales(X, from, std::min(STRIP, features - from), weights, sum, means + from, scales + from);
}

void solve_quadratic(const Quadratic &quadratic, int edges, const int *ends, const double *edge_weights, bool chain,
                     const Factors &penalties, double *params) {
  base::Block block(quadratic.tasks, edges, ends, edge_weights, chain);
  base::minimise_quadratic(quadratic, block, penalties, params);
}

void block_prox(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *h,
                const double *q, double l1, double fusion, double *b) {
  const std::vector<double> start(b, b + tasks);
  base::Block block(tasks, edges, ends, weights, chain);
  base::with_tasks(tasks, [&](auto t) {
    if (block.has_patterns() && fusion > 0) {
      using Pattern = base::ChainPattern<decltype(t)>;
      std::vector<double> numbers(static_cast<std::size_t>(t) * Pattern::SIZE);
      const Pattern pattern(t, numbers.data());
      block.set_pattern(pattern, t, h, l1, fusion, start.data());
      if (pattern.prox(h, q, l1, b)) return;
    }
    block.prox(t, h, q, l1, fusion, b);
  });
}

double block_gauge(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *q, double l1,
                   double fusion, double lowest) {
  return base::Block(tasks, edges, ends, weights, chain).gauge(tasks, q, l1, fusion, lowest);
}

}  // namespace fusedlr
