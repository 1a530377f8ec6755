// How a grid of penalties is solved: in which order, and in which pieces.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#include "core.hpp"

namespace fusedlr {

namespace {

constexpr std::int64_t LARGE = 500000;     // features times labels; below, a grid takes a second or so
constexpr std::int64_t AT_ONCE = 2000000;  // coefficients of the points of one call: 16 MB

// Position of each point's value among the distinct values of its penalty.
std::vector<int> ranks(int points, const double *point, int penalty) {
  std::vector<double> values(points);
  for (int i = 0; i < points; i++) values[i] = point[3 * i + penalty];
  std::vector<double> sorted(values);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int> rank(points);
  for (int i = 0; i < points; i++)
    rank[i] = static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), values[i]) - sorted.begin());
  return rank;
}

int largest(const std::vector<int> &rank) { return rank.empty() ? 0 : *std::max_element(rank.begin(), rank.end()); }

// Serpentine order: l1 falls, the others go back and forth, so that successive points are neighbours. At the least l1,
// l2 always falls: where l1 and l2 are both 0, fits at larger l2 are the warm starts.
std::vector<int> serpentine(const std::vector<int> &l1, const std::vector<int> &l2, const std::vector<int> &fusion) {
  const int points = static_cast<int>(l1.size()), tops[] = {largest(l1), largest(l2), largest(fusion)};
  std::vector<std::array<int, 3>> key(points);
  for (int i = 0; i < points; i++) {
    const int outer = tops[0] - l1[i], middle = outer % 2 == 0 ? tops[2] - fusion[i] : fusion[i];
    const bool falls = (static_cast<std::int64_t>(outer) * (tops[2] + 1) + middle) % 2 == 0 || outer == tops[0];
    key[i] = {outer, middle, falls ? tops[1] - l2[i] : l2[i]};
  }
  std::vector<int> order(points);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return key[i] < key[j]; });
  return order;
}

}  // namespace

// A stripe has every l1 and some neighbouring values of fusion, or of l2 if that has more. Four stripes take about the
// time of one (0.98 to 1.04 of it for 1,000 to 3,000 rows).
int solving_order(std::int64_t cells, int points, const double *point, int *order, int *first) {
  const std::vector<int> l1 = ranks(points, point, 0), l2 = ranks(points, point, 1), fusion = ranks(points, point, 2);
  const std::vector<int> one_by_one = serpentine(l1, l2, fusion);
  const std::vector<int> &across = largest(l2) > largest(fusion) ? l2 : fusion;
  const int values = largest(across) + 1, stripes = values < MOST_STRIPES || cells < LARGE ? 1 : MOST_STRIPES;
  int done = 0;
  for (int s = 0; s < stripes; s++) {
    first[s] = done;
    for (const int i : one_by_one)
      if (static_cast<std::int64_t>(across[i]) * stripes / values == s) order[done++] = i;
  }
  first[stripes] = done;
  return stripes;
}

int points_at_once(int features, int tasks) {
  return static_cast<int>(std::max<std::int64_t>(1, AT_ONCE / ((1 + static_cast<std::int64_t>(features)) * tasks)));
}

}  // namespace fusedlr
