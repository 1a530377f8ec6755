// The choice among the points of a grid: the best score, and the rule of one standard error.
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

constexpr double EQUAL = 1e-9;  // scores that differ by less, relatively, are tied

// The one of some points with the largest l1, then l2, then fusion.
int most_penalized(const double *point, const std::vector<int> &some) {
  const auto less = [point](int i, int j) {
    return std::lexicographical_compare(point + 3 * i, point + 3 * i + 3, point + 3 * j, point + 3 * j + 3);
  };
  return some.empty() ? -1 : *std::max_element(some.begin(), some.end(), less);
}

std::vector<int> lowest(const std::vector<int> &some, const double *cost) {
  double least = std::numeric_limits<double>::infinity();
  for (const int i : some) least = std::min(least, std::isnan(cost[i]) ? least : cost[i]);
  std::vector<int> left;
  for (const int i : some)
    if (cost[i] <= least + EQUAL * std::fabs(least)) left.push_back(i);  // no NaN
  return left;
}

// A fold counts if it has a score at any point.
bool has_score(const double *score, int points) {
  return !std::all_of(score, score + points, [](double value) { return std::isnan(value); });
}

}  // namespace

void lowest_costs(int points, const double *cost, bool *is_lowest) {
  std::vector<int> all(points);
  std::iota(all.begin(), all.end(), 0);
  std::fill(is_lowest, is_lowest + points, false);
  for (const int i : lowest(all, cost)) is_lowest[i] = true;
}

int best_point(int points, const double *point, const double *cost, const double *second) {
  std::vector<int> left(points);
  std::iota(left.begin(), left.end(), 0);
  left = lowest(left, cost);
  if (left.size() > 1) left = lowest(left, second);
  return most_penalized(point, left);
}

void within_one_error(int points, const double *cost, const double *error, int best, bool *near) {
  for (int i = 0; i < points; i++) near[i] = cost[i] - cost[best] <= error[i] + EQUAL * std::fabs(cost[best]);
}

int one_standard_error(int points, const double *point, const double *cost, const double *error, const int *df,
                       int best) {
  const std::unique_ptr<bool[]> near(new bool[points]);
  within_one_error(points, cost, error, best, near.get());
  std::vector<int> left;
  for (int i = 0; i < points; i++) {
    const double *at = point + 3 * i, *from = point + 3 * best;
    if (!near[i] || at[0] < from[0] || at[1] < from[1] || at[2] < from[2]) continue;
    if (!left.empty() && df[i] < df[left[0]]) left.clear();
    if (left.empty() || df[i] == df[left[0]]) left.push_back(i);
  }
  return most_penalized(point, left);
}

void fold_means(int folds, int repeats, int points, const double *score, const double *weight, double *mean,
                double *error) {
  std::vector<double> variance(points, 0.0), spread(points), centre(points);
  std::fill(mean, mean + points, 0.0);
  double total = 0;
  int counted = 0;
  for (int r = 0; r < repeats; r++) {
    std::fill(centre.begin(), centre.end(), 0.0);
    std::fill(spread.begin(), spread.end(), 0.0);
    const int first = folds / repeats * r, last = first + folds / repeats;
    double sum = 0;
    int seen = 0;
    for (int f = first; f < last; f++) {
      const double *at = score + static_cast<std::size_t>(f) * points;
      if (!has_score(at, points)) continue;
      for (int i = 0; i < points; i++) centre[i] += weight[f] * at[i];
      sum += weight[f];
      seen++;
    }
    if (!seen) continue;
    for (int f = first; f < last; f++) {
      const double *at = score + static_cast<std::size_t>(f) * points;
      if (!has_score(at, points)) continue;
      for (int i = 0; i < points; i++) {
        const double away = at[i] - centre[i] / sum;
        spread[i] += weight[f] * (away * away);
      }
    }
    for (int i = 0; i < points; i++) {
      mean[i] += centre[i];
      variance[i] += spread[i] / sum / std::max(seen - 1, 1);
    }
    total += sum;
    counted++;
  }
  for (int i = 0; i < points; i++) {  // 0 / 0 where no fold has a score
    mean[i] /= total;
    error[i] = std::sqrt(variance[i] / counted);
  }
}

}  // namespace fusedlr
