// Ends of a grid of penalties, and a grid that suits the data: the smallest l1 with empty support, the smallest fusion
// that ties all tasks, and the mean curvature of the loss.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#include "block.hpp"
#include "core.hpp"
#include "features.hpp"

namespace fusedlr {

namespace {

// Replaces an l2 of zero where rows are too few for an unpenalized fit, as a share of the mean curvature.
constexpr double ALMOST_ZERO = 1e-3;

std::size_t rows_of(const Problem &problem) { return 1 + static_cast<std::size_t>(problem.X.features); }

// Sums over the labels of each task of term(label, entry less the centre of its column), [task][feature]. Labels come
// in their order, however the features are laid out. Sparse features have no centre, and their zeros add nothing.
template <class Term>
std::vector<double> column_sums(const Problem &problem, const std::vector<double> &centre, Term term) {
  const Columns &X = problem.X;
  const Labels &labels = problem.labels;
  const std::size_t features = X.features;
  std::vector<double> sums(features * problem.tasks, 0.0);
  std::vector<std::int64_t> label_of(X.is_sparse() ? X.rows : 0);
  for (int k = 0; k < problem.tasks; k++) {
    double *to = &sums[k * features];
    const std::int64_t first = labels.start[k], last = labels.start[k + 1];
    if (X.is_sparse()) {
      std::fill(label_of.begin(), label_of.end(), -1);
      for (std::int64_t i = first; i < last; i++) label_of[labels.row[i]] = i;
      for (std::size_t a = 0; a < features; a++)
        for (std::int64_t e = X.start[a]; e < X.start[a + 1]; e++)
          if (label_of[X.row[e]] >= 0) to[a] += term(label_of[X.row[e]], X.value[e]);
    } else if (X.column_stride == 1) {
      for (std::int64_t i = first; i < last; i++) {
        const double *row = &X(labels.row[i], 0);
        for (std::size_t a = 0; a < features; a++) to[a] += term(i, row[a] - centre[a]);
      }
    } else {
      for (std::size_t a = 0; a < features; a++)
        for (std::int64_t i = first; i < last; i++)
          to[a] += term(i, X(labels.row[i], static_cast<int>(a)) - centre[a]);
    }
  }
  return sums;
}

// Weighted mean of every column, each row by the largest of its weights; zeros for sparse features.
std::vector<double> centres(const Problem &problem) {
  std::vector<double> means(problem.X.features, 0.0), scales(problem.X.features), weights(problem.X.rows, 0.0);
  if (problem.X.is_sparse()) return means;
  for (std::int64_t i = 0; i < problem.labels.start[problem.tasks]; i++) {
    double &weight = weights[problem.labels.row[i]];
    weight = std::max(weight, problem.labels.weight[i]);
  }
  means_and_scales(problem.X, weights.data(), means.data(), scales.data());
  return means;
}

struct Derivatives {
  std::vector<double> first, second;  // of the loss in each linear predictor
};

Derivatives derivatives(const Problem &problem, const std::vector<double> &linear) {
  const std::size_t count = linear.size();
  Derivatives found{std::vector<double>(count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; i++) {
    const double margin = problem.labels.sign[i] * linear[i], small = std::exp(-std::fabs(margin)), whole = 1 + small;
    found.first[i] = -problem.labels.weight[i] * problem.labels.sign[i] * ((margin > 0 ? small : 1.0) / whole);
    found.second[i] = problem.labels.weight[i] * (small / (whole * whole));
  }
  return found;
}

// Gradient of the loss in the coefficients, (1 + features) x tasks. Features are centred where every task has an
// intercept of its own, which changes nothing there but keeps digits of features far from zero.
std::vector<double> gradient(const Problem &problem, const Factors &factors, const std::vector<double> &first) {
  std::vector<double> centre(problem.X.features, 0.0);
  if (factors.fusion[0] == 0) centre = centres(problem);
  const std::vector<double> sums = column_sums(problem, centre, [&](std::int64_t i, double x) { return first[i] * x; });
  const std::size_t tasks = problem.tasks, features = problem.X.features;
  std::vector<double> slopes(rows_of(problem) * tasks, 0.0);
  for (std::size_t k = 0; k < tasks; k++) {
    for (std::int64_t i = problem.labels.start[k]; i < problem.labels.start[k + 1]; i++) slopes[k] += first[i];
    for (std::size_t a = 0; a < features; a++) slopes[(1 + a) * tasks + k] = sums[k * features + a];
  }
  return slopes;
}

std::vector<double> solve(const Problem &problem, const std::vector<double> &l1, const std::vector<double> &l2,
                          const std::vector<double> &fusion) {
  const std::unique_ptr<Solver> solver(make_solver(problem));
  const double point[] = {1, 1, 1};
  Settings settings{};
  settings.max_iterations = 200;
  settings.floor = FLOOR;
  std::vector<double> params(rows_of(problem) * problem.tasks), ridge(rows_of(problem));
  Report report;
  solver->solve_path({l1.data(), l2.data(), fusion.data()}, 1, point, nullptr, settings, params.data(), &report,
                     ridge.data());
  return params;
}

// Linear predictors of the fit of intercepts and unpenalized features, every other coefficient zero. `fusion` is that
// of each row.
std::vector<double> null_fit(const Problem &problem, const Factors &factors, const double *scale,
                             const double *fusion) {
  std::vector<int> free, every(problem.X.rows);
  for (int a = 0; a < problem.X.features; a++)
    if (factors.l1[1 + a] == 0) free.push_back(a);
  std::iota(every.begin(), every.end(), 0);
  const bool own = factors.fusion[0] == 0;
  const std::vector<double> centre = own && !free.empty() ? centres(problem) : std::vector<double>();
  const int width = std::max<int>(1, static_cast<int>(free.size()));  // a column of zeros, where no feature is free
  std::vector<double> X(static_cast<std::size_t>(problem.X.rows) * width, 0.0), scales(width, 1.0);
  std::vector<double> rows(1, fusion[0]);
  if (!free.empty()) base::gather(problem.X, problem.X.rows, every.data(), free, X.data());
  for (std::size_t j = 0; j < free.size(); j++) {
    scales[j] = scale[free[j]];
    rows.push_back(fusion[1 + free[j]]);
    for (int i = 0; own && i < problem.X.rows; i++) X[static_cast<std::size_t>(i) * width + j] -= centre[free[j]];
  }
  rows.resize(1 + width, 0.0);
  Problem small = problem;
  small.X = {problem.X.rows, width, X.data(), width, 1};
  const std::size_t places = (1 + static_cast<std::size_t>(width)) * problem.tasks;
  std::vector<double> params(places, 0.0), linear(problem.labels.start[problem.tasks]);
  if (problem.edges == 0 || std::all_of(rows.begin(), rows.end(), [](double of) { return of == 0; })) {
    const int values = static_cast<int>((1 + free.size()) * problem.tasks);
    std::vector<int> pattern(places, -1);
    std::iota(pattern.begin(), pattern.begin() + values, 0);
    std::vector<double> covariance(static_cast<std::size_t>(values) * values);
    const std::unique_ptr<bool[]> flags(new bool[2 * static_cast<std::size_t>(values)]);
    fit_pattern(small, pattern.data(), values, scales.data(), params.data(), covariance.data(), flags.get(),
                flags.get() + values);
  } else {
    params = solve(small, std::vector<double>(1 + width, 0.0), std::vector<double>(1 + width, 0.0), rows);
  }
  linear_predictors(small, params.data(), linear.data());
  return linear;
}

// The tasks of a connected component with their edges, as a block of its own.
struct Component {
  std::vector<int> tasks, ends;
  std::vector<double> weights;
  bool chain = true;
};

std::vector<Component> components(const Problem &problem) {
  std::vector<int> first(problem.tasks);
  std::iota(first.begin(), first.end(), 0);
  for (bool joined = true; joined;) {
    joined = false;
    for (int e = 0; e < problem.edges; e++) {
      int &a = first[problem.ends[2 * e]], &b = first[problem.ends[2 * e + 1]];
      joined |= a != b;
      a = b = std::min(a, b);
    }
  }
  std::vector<Component> found;
  std::vector<int> number(problem.tasks), place(problem.tasks);
  for (int k = 0; k < problem.tasks; k++) {
    if (first[k] == k) {
      number[k] = static_cast<int>(found.size());
      found.emplace_back();
    }
    number[k] = number[first[k]];
    place[k] = static_cast<int>(found[number[k]].tasks.size());
    found[number[k]].tasks.push_back(k);
  }
  for (int e = 0; e < problem.edges; e++) {
    Component &part = found[number[problem.ends[2 * e]]];
    const int a = place[problem.ends[2 * e]], b = place[problem.ends[2 * e + 1]];
    part.chain &= a == static_cast<int>(part.weights.size()) && b == a + 1;
    part.ends.insert(part.ends.end(), {a, b});
    part.weights.push_back(problem.edge_weights[e]);
  }
  for (Component &part : found) part.chain &= part.weights.size() + 1 == part.tasks.size();
  return found;
}

// The smallest size, at least `low`, that holds: it holds for all larger ones.
template <class Holds>
double smallest(double low, Holds holds) {
  if (holds(low)) return low;
  double high = std::max(2 * low, std::numeric_limits<double>::min());
  while (!holds(high)) {
    low = high;
    high *= 2;
    if (!std::isfinite(high)) return low;
  }
  for (double middle = low + (high - low) / 2; middle > low && middle < high; middle = low + (high - low) / 2)
    (holds(middle) ? high : low) = middle;
  return high;
}

bool is_any(const double *values, std::size_t count) {
  return std::any_of(values, values + count, [](double value) { return value != 0; });
}

// The fit in which every fused row has one value in each component of the tasks; other rows are free.
std::vector<double> tied_fit(const Problem &problem, const Factors &factors, const double *scale,
                             const std::vector<double> &l1, std::vector<double> l2,
                             const std::vector<Component> &parts) {
  const std::size_t rows = rows_of(problem), tasks = problem.tasks;
  if (!is_any(l1.data(), rows) && !is_any(l2.data(), rows)) {
    std::vector<int> pattern(rows * tasks);
    int values = 0;
    for (std::size_t row = 0; row < rows; row++)
      for (const Component &part : parts) {
        for (const int k : part.tasks) pattern[row * tasks + k] = factors.fusion[row] > 0 ? values : values++;
        values += factors.fusion[row] > 0;
      }
    if (values < problem.X.rows) {
      std::vector<double> value(values), covariance(static_cast<std::size_t>(values) * values), params(rows * tasks);
      const std::unique_ptr<bool[]> flags(new bool[2 * static_cast<std::size_t>(values)]);
      fit_pattern(problem, pattern.data(), values, scale, value.data(), covariance.data(), flags.get(),
                  flags.get() + values);
      for (std::size_t place = 0; place < params.size(); place++) params[place] = value[pattern[place]];
      return params;
    }
  }
  const std::vector<double> nowhere(problem.X.features, 0.0);
  const double *weight = problem.labels.weight;
  const std::vector<double> sizes = column_sums(problem, nowhere, [&](std::int64_t i, double x) {
    return weight[i] * std::fabs(x);
  });
  if (!is_any(l1.data(), rows) && !is_any(l2.data(), rows)) {
    const std::vector<double> squares = column_sums(problem, nowhere, [&](std::int64_t i, double x) {
      return weight[i] * (x * x);
    });
    double mean = 0;
    for (std::size_t i = 0; i < squares.size(); i++) {
      const double unit = scale[i % problem.X.features];
      mean += squares[i] / (unit * unit);
    }
    mean /= static_cast<double>(problem.X.features);
    for (std::size_t row = 1; row < rows; row++)
      l2[row] = ALMOST_ZERO * mean / 4 / static_cast<double>(tasks) * (scale[row - 1] * scale[row - 1]);
  }
  // The slope of an edge is never larger than those of all labels together, so this fusion ties all that is fused.
  std::vector<double> fusion(rows, 0.0);
  double lightest = std::numeric_limits<double>::infinity();
  for (int e = 0; e < problem.edges; e++) lightest = std::min(lightest, problem.edge_weights[e]);
  for (std::int64_t i = 0; i < problem.labels.start[tasks]; i++) fusion[0] += weight[i];
  for (std::size_t i = 0; i < sizes.size(); i++) fusion[1 + i % problem.X.features] += sizes[i];
  for (std::size_t row = 0; row < rows; row++)
    fusion[row] = factors.fusion[row] > 0 ? 4 * (fusion[row] + static_cast<double>(tasks) * l1[row]) / lightest : 0.0;
  return solve(problem, l1, l2, fusion);
}

}  // namespace

double l1_limit(const Problem &problem, const Factors &factors, const double *scale, const double *fusion) {
  if (!is_any(factors.l1, rows_of(problem))) return 0;
  const std::vector<double> linear = null_fit(problem, factors, scale, fusion);
  const std::vector<double> slopes = gradient(problem, factors, derivatives(problem, linear).first);
  base::Block block(problem.tasks, problem.edges, problem.ends, problem.edge_weights, problem.chain);
  double limit = 0;
  for (std::size_t row = 1; row < rows_of(problem); row++) {
    const double *q = &slopes[row * problem.tasks], factor = factors.l1[row];
    if (factor == 0) continue;
    if (fusion[row] == 0 || problem.edges == 0) {
      for (int k = 0; k < problem.tasks; k++) limit = std::max(limit, std::fabs(q[k]) / factor);
    } else {
      limit = smallest(limit, [&](double l1) { return block.is_zero(problem.tasks, q, l1 * factor, fusion[row]); });
    }
  }
  return limit;
}

// Where the tied value of a row is zero, l1 helps to hold the tasks there, by the same in each; elsewhere their slopes
// cancel, up to rounding, which is taken out.
double fusion_limit(const Problem &problem, const Factors &factors, const double *scale, const double *l1,
                    const double *l2) {
  const std::size_t rows = rows_of(problem), tasks = problem.tasks;
  if (problem.edges == 0 || !is_any(factors.fusion, rows)) return 0;
  const std::vector<Component> parts = components(problem);
  const std::vector<double> params = tied_fit(problem, factors, scale, {l1, l1 + rows}, {l2, l2 + rows}, parts);
  std::vector<double> linear(problem.labels.start[tasks]), q;
  linear_predictors(problem, params.data(), linear.data());
  const std::vector<double> slopes = gradient(problem, factors, derivatives(problem, linear).first);
  double limit = 0;
  for (const Component &part : parts) {
    const int size = static_cast<int>(part.tasks.size());
    if (size == 1) continue;
    base::Block block(size, static_cast<int>(part.weights.size()), part.ends.data(), part.weights.data(), part.chain);
    q.resize(size);
    for (std::size_t row = 0; row < rows; row++) {
      if (factors.fusion[row] == 0) continue;
      const double value = params[row * tasks + part.tasks[0]];
      double mean = 0, largest = 0, slack = value == 0 ? l1[row] : 0.0;
      for (int k = 0; k < size; k++) {
        q[k] = slopes[row * tasks + part.tasks[k]] + l2[row] * value + (value > 0 ? l1[row] : value < 0 ? -l1[row] : 0);
        mean += q[k] / size;
      }
      for (int k = 0; k < size; k++) {
        if (value != 0 || row == 0) q[k] -= mean;
        largest = std::max(largest, std::fabs(q[k]));
      }
      slack += 1e-13 * largest;
      if (value == 0 && row > 0) slack = std::max(slack, std::fabs(mean) * (1 + 1e-13));
      limit = smallest(limit, [&](double fusion) {
        return block.is_zero(size, q.data(), slack, fusion * factors.fusion[row]);
      });
    }
  }
  return limit;
}

double mean_curvature(const Problem &problem, const Factors &factors, const double *scale) {
  const std::vector<double> nothing(rows_of(problem), 0.0), centre = centres(problem);
  const std::vector<double> second =
      derivatives(problem, null_fit(problem, factors, scale, nothing.data())).second;
  const std::vector<double> sums =
      column_sums(problem, centre, [&](std::int64_t i, double x) { return second[i] * x; });
  const std::vector<double> squares =
      column_sums(problem, centre, [&](std::int64_t i, double x) { return second[i] * (x * x); });
  double mean = 0;
  int held = 0;
  const std::size_t features = problem.X.features;
  for (int k = 0; k < problem.tasks; k++) {
    double total = std::numeric_limits<double>::min();
    for (std::int64_t i = problem.labels.start[k]; i < problem.labels.start[k + 1]; i++) total += second[i];
    for (std::size_t a = 0; a < features; a++) {
      if (factors.l1[1 + a] == 0) continue;
      const double sum = sums[k * features + a];
      mean += (squares[k * features + a] - sum * sum / total) / (scale[a] * scale[a]);
      held++;
    }
  }
  return held ? mean / held : 0.0;
}

Grid default_grid(const Problem &problem, const Factors &factors, const double *scale) {
  Grid grid{};
  const std::size_t rows = rows_of(problem);
  const std::vector<double> nothing(rows, 0.0);
  std::vector<double> by_row(rows);
  const double top = l1_limit(problem, factors, scale, nothing.data());
  const double least = problem.X.rows > problem.X.features ? 1e-3 : 1e-2;
  grid.size[0] = top > 0 ? Grid::MOST_L1 : 1;
  for (int i = 0; i < grid.size[0]; i++) grid.l1[i] = top * std::pow(least, i / (Grid::MOST_L1 - 1.0));
  const double bend = mean_curvature(problem, factors, scale);
  grid.size[1] = bend > 0 ? Grid::MOST_L2 : 1;
  grid.l2[1] = 0.03 * bend;
  grid.l2[2] = 0.3 * bend;
  double tie = 0;
  for (const int i : {0, grid.size[0] / 2, grid.size[0] - 1}) {
    for (std::size_t row = 0; row < rows; row++) by_row[row] = grid.l1[i] * factors.l1[row];
    tie = std::max(tie, fusion_limit(problem, factors, scale, by_row.data(), nothing.data()));
    if (grid.size[0] == 1) break;
  }
  grid.size[2] = tie > 0 ? Grid::MOST_FUSION : 1;
  for (int i = 1; i < grid.size[2]; i++)
    grid.fusion[i] = tie * std::pow(1e-3, (Grid::MOST_FUSION - 1 - i) / (Grid::MOST_FUSION - 2.0));
  return grid;
}

}  // namespace fusedlr
