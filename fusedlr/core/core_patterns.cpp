// Maximum likelihood with support and ties fixed: some coefficients are zero, some share one value. Newton's method,
// covariances of the values, and effective degrees of freedom.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#include "core.hpp"
#include "features.hpp"
#include "symmetric.hpp"

namespace fusedlr {

namespace {

using base::OuterProducts;
using base::Symmetric;

constexpr double SMALL_STEP = 1e-9;   // of a linear predictor, at most
constexpr double STILL_MOVES = 1e-3;  // when the likelihood has converged: it rises without end
constexpr double LARGE_STEP = 5;
constexpr int MOST_STEPS = 60;
constexpr double SMALLEST_PIVOT = 1e-12, SMALLEST_IDENTIFIED = 1e-10;

struct Curve {
  double loss, first, second;
};

Curve logistic(double linear, int sign, double weight) {
  const double margin = sign * linear, small = std::exp(-std::fabs(margin)), whole = 1 + small;
  return {weight * (std::log1p(small) + (margin < 0 ? -margin : 0.0)),
          -weight * sign * ((margin > 0 ? small : 1.0) / whole), weight * (small / (whole * whole))};
}

// Places of one task that are not zero: features, and the numbers of their values, the intercept's in front if it has.
struct TaskPlaces {
  bool intercept = false;
  std::vector<int> columns, numbers;
};

class Pattern {
 public:
  Pattern(const Problem &problem, const int *pattern, int values) : problem_(problem), values_(values) {
    for (int k = 0; k < problem.tasks; k++) {
      TaskPlaces task;
      for (int row = 0; row <= problem.X.features; row++) {
        const int number = pattern[static_cast<std::size_t>(row) * problem.tasks + k];
        if (number < 0) continue;
        if (row == 0) task.intercept = true;
        if (row > 0) task.columns.push_back(row - 1);
        task.numbers.push_back(number);
      }
      tasks_.push_back(task);
    }
    feature_.assign(values, -1);
    for (int k = problem.tasks - 1; k >= 0; k--)
      for (std::size_t j = 0; j < tasks_[k].numbers.size(); j++)
        feature_[tasks_[k].numbers[j]] = j < tasks_[k].intercept ? -1 : tasks_[k].columns[j - tasks_[k].intercept];
  }

  int values() const { return values_; }
  // The feature that a value belongs to, -1 for an intercept.
  int feature(int value) const { return feature_[value]; }

  // Labels of a task with their rows of the design: act(first label, how many, table (labels x places)).
  template <class Act>
  void rows_of(int k, Act act) const {
    const TaskPlaces &task = tasks_[k];
    const std::size_t width = task.numbers.size(), shift = task.intercept;
    std::vector<double> rows(base::AT_A_TIME * width + 1, 1.0);
    base::by_rows(problem_, problem_.labels.start[k], problem_.labels.start[k + 1], task.columns,
                  [&](std::int64_t from, int count, const double *table) {
                    const std::size_t columns = width - shift;
                    for (int i = 0; i < count; i++)
                      std::copy_n(table + i * columns, columns, rows.data() + i * width + shift);
                    act(from, count, rows.data());
                  });
  }

  double linear(int k, std::int64_t label, const double *row, const double *value) const {
    double sum = problem_.labels.offset ? problem_.labels.offset[label] : 0.0;
    for (std::size_t j = 0; j < tasks_[k].numbers.size(); j++) sum += row[j] * value[tasks_[k].numbers[j]];
    return sum;
  }

  double loss(const double *value) const {
    double sum = 0;
    for (int k = 0; k < problem_.tasks; k++)
      rows_of(k, [&](std::int64_t from, int count, const double *rows) {
        for (int i = 0; i < count; i++) sum += at(k, from + i, rows + i * width(k), value).loss;
      });
    return sum;
  }

  // Gradient, whole matrix of second derivatives, and loss; tasks share no label.
  double derivatives(const double *value, std::vector<double> &slope, std::vector<double> &curvature) const {
    slope.assign(values_, 0.0);
    curvature.assign(static_cast<std::size_t>(values_) * values_, 0.0);
    double loss = 0, second[base::AT_A_TIME];
    for (int k = 0; k < problem_.tasks; k++) {
      const std::vector<int> &numbers = tasks_[k].numbers;
      const int wide = static_cast<int>(numbers.size());
      OuterProducts products(wide);
      std::vector<double> slopes(wide, 0.0);
      rows_of(k, [&](std::int64_t from, int count, const double *rows) {
        for (int i = 0; i < count; i++) {
          const Curve curve = at(k, from + i, rows + i * wide, value);
          loss += curve.loss;
          second[i] = curve.second;
          for (int j = 0; j < wide; j++) slopes[j] += curve.first * rows[i * wide + j];
        }
        products.add(count, rows, second);
      });
      for (int a = 0; a < wide; a++) {
        slope[numbers[a]] += slopes[a];
        for (int b = 0; b < wide; b++)
          curvature[static_cast<std::size_t>(numbers[a]) * values_ + numbers[b]] += products(a, b);
      }
    }
    return loss;
  }

  // Scores of the sampling units that count, each over the root of how often: act(score (values)).
  template <class Act>
  void scores(const Units &units, const double *value, Act act) const {
    const Labels &labels = problem_.labels;
    std::vector<std::int64_t> first(units.groups + 1, 0), order(labels.start[problem_.tasks]);
    for (std::size_t i = 0; i < order.size(); i++) first[units.code[labels.row[i]] + 1]++;
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::int64_t> place(first);
    std::vector<int> task(order.size());
    for (int k = 0; k < problem_.tasks; k++)
      for (std::int64_t i = labels.start[k]; i < labels.start[k + 1]; i++) {
        task[i] = k;
        order[place[units.code[labels.row[i]]]++] = i;
      }
    std::vector<double> score(values_), row(1 + static_cast<std::size_t>(problem_.X.features), 1.0);
    for (int g = 0; g < units.groups; g++) {
      if (!(units.times[g] > 0)) continue;
      std::fill(score.begin(), score.end(), 0.0);
      for (std::int64_t at_label = first[g]; at_label < first[g + 1]; at_label++) {
        const std::int64_t i = order[at_label];
        const TaskPlaces &places = tasks_[task[i]];
        base::gather(problem_.X, 1, labels.row + i, places.columns, row.data() + places.intercept);
        if (places.intercept) row[0] = 1;
        const double slope = at(task[i], i, row.data(), value).first;
        for (std::size_t j = 0; j < places.numbers.size(); j++) score[places.numbers[j]] += slope * row[j];
      }
      const double root = std::sqrt(units.times[g]);
      for (double &part : score) part /= root;
      act(score.data());
    }
  }

 private:
  std::size_t width(int k) const { return tasks_[k].numbers.size(); }
  Curve at(int k, std::int64_t label, const double *row, const double *value) const {
    return logistic(linear(k, label, row, value), problem_.labels.sign[label], problem_.labels.weight[label]);
  }

  const Problem &problem_;
  const int values_;
  std::vector<TaskPlaces> tasks_;
  std::vector<int> feature_;
};

// Largest absolute entry of the column that belongs to each value.
std::vector<double> largest_entries(const Problem &problem, const Pattern &pattern) {
  std::vector<int> columns;
  for (int v = 0; v < pattern.values(); v++)
    if (pattern.feature(v) >= 0) columns.push_back(pattern.feature(v));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<double> most(columns.size(), 0.0), table(base::AT_A_TIME * columns.size() + 1);
  std::vector<int> row(base::AT_A_TIME);
  for (int first = 0; first < problem.X.rows; first += base::AT_A_TIME) {
    const int count = std::min(base::AT_A_TIME, problem.X.rows - first);
    std::iota(row.begin(), row.end(), first);
    base::gather(problem.X, count, row.data(), columns, table.data());
    for (std::size_t i = 0; i < count * columns.size(); i++) {
      double &largest = most[i % columns.size()];
      largest = std::max(largest, std::fabs(table[i]));
    }
  }
  std::vector<double> largest(pattern.values(), 1.0);
  for (int v = 0; v < pattern.values(); v++)
    if (pattern.feature(v) >= 0)
      largest[v] = most[std::lower_bound(columns.begin(), columns.end(), pattern.feature(v)) - columns.begin()];
  return largest;
}

// Newton's method with backtracking. Says which values still move, and leaves the curvature (the information, ridge
// counted) there.
std::vector<char> newton(const Pattern &pattern, const std::vector<double> &largest, const std::vector<double> &ridge,
                         double *value, std::vector<double> &curvature) {
  const int p = pattern.values();
  std::vector<double> slope, step(p), next(p), moves(p, 0.0);
  const auto ridge_at = [&](const double *at) {
    double sum = 0;
    for (int v = 0; v < p; v++) sum += 0.5 * ridge[v] * (at[v] * at[v]);
    return sum;
  };
  const auto derive = [&] {
    const double loss = pattern.derivatives(value, slope, curvature);
    for (int v = 0; v < p; v++) {
      slope[v] = -(slope[v] + ridge[v] * value[v]);
      curvature[static_cast<std::size_t>(v) * p + v] += ridge[v];
    }
    return loss + ridge_at(value);
  };
  std::fill(value, value + p, 0.0);
  for (int steps = 0; steps < MOST_STEPS; steps++) {
    const double height = derive();
    Symmetric(p, curvature, SMALLEST_PIVOT).solve(slope.data(), step.data());
    double most = 0;
    for (int v = 0; v < p; v++) most = std::max(most, std::fabs(step[v]) * largest[v]);
    const double damped = std::min(1.0, LARGE_STEP / std::max(most, 1e-300));
    for (int v = 0; v < p; v++) {
      step[v] *= damped;
      moves[v] = std::fabs(step[v]) * largest[v];
    }
    for (int halved = 0; halved < 30; halved++) {
      for (int v = 0; v < p; v++) next[v] = value[v] + step[v];
      if (pattern.loss(next.data()) + ridge_at(next.data()) <= height * (1 + 1e-14)) {
        std::copy(next.begin(), next.end(), value);
        break;
      }
      for (double &part : step) part /= 2;
    }
    if (most * damped < SMALL_STEP) break;
  }
  derive();
  std::vector<char> moving(p);
  for (int v = 0; v < p; v++) moving[v] = moves[v] > STILL_MOVES;
  return moving;
}

// Values that the information matrix links to a moving one.
std::vector<char> linked(const std::vector<double> &curvature, std::vector<char> moving) {
  const int p = static_cast<int>(moving.size());
  std::vector<int> open;
  for (int v = 0; v < p; v++)
    if (moving[v]) open.push_back(v);
  while (!open.empty()) {
    const int from = open.back();
    open.pop_back();
    for (int v = 0; v < p; v++)
      if (!moving[v] && curvature[static_cast<std::size_t>(from) * p + v] != 0) {
        moving[v] = 1;
        open.push_back(v);
      }
  }
  return moving;
}

std::vector<double> product(std::size_t p, const std::vector<double> &left, const std::vector<double> &right) {
  std::vector<double> out(p * p, 0.0);
  for (std::size_t i = 0; i < p; i++)
    for (std::size_t l = 0; l < p; l++)
      for (std::size_t j = 0; j < p; j++) out[i * p + j] += left[i * p + l] * right[l * p + j];
  return out;
}

bool one_label_each(const Problem &problem, const Units &units) {
  std::vector<char> seen(units.groups, 0);
  for (std::int64_t i = 0; i < problem.labels.start[problem.tasks]; i++)
    if (seen[units.code[problem.labels.row[i]]]++) return false;
  return true;
}

}  // namespace

int pattern_of(int rows, int tasks, int edges, const int *ends, const double *params, int *pattern) {
  int values = 0;
  std::vector<int> group(tasks);
  for (int row = 0; row < rows; row++, params += tasks, pattern += tasks) {
    std::iota(group.begin(), group.end(), 0);
    for (bool joined = true; joined;) {  // the first task of each group, whatever the order of edges
      joined = false;
      for (int e = 0; e < edges; e++) {
        int &a = group[ends[2 * e]], &b = group[ends[2 * e + 1]];
        if (params[ends[2 * e]] != params[ends[2 * e + 1]] || a == b) continue;
        a = b = std::min(a, b);
        joined = true;
      }
    }
    for (int k = 0; k < tasks; k++)
      pattern[k] = row > 0 && params[k] == 0 ? -1 : group[k] == k ? values++ : pattern[group[k]];
  }
  return values;
}

void fit_pattern(const Problem &problem, const int *pattern, int values, const double *scale, double *value,
                 double *covariance, bool *unbounded, bool *collinear) {
  if (values == 0) return;
  const Pattern places(problem, pattern, values);
  const std::vector<double> largest = largest_entries(problem, places);
  std::vector<double> ridge(values, 0.0), curvature;
  const std::vector<char> endless = linked(curvature, newton(places, largest, ridge, value, curvature));
  if (std::any_of(endless.begin(), endless.end(), [](char is) { return is != 0; })) {
    for (int v = 0; v < values; v++) {
      const double unit = places.feature(v) < 0 ? 1.0 : scale[places.feature(v)];
      if (endless[v]) ridge[v] = RIDGE * (unit * unit);
    }
    newton(places, largest, ridge, value, curvature);
  }
  const Symmetric information(values, curvature, SMALLEST_IDENTIFIED);
  const std::vector<char> dependent = information.dependent();
  information.inverse(covariance);
  for (int v = 0; v < values; v++) {
    unbounded[v] = endless[v] != 0;
    collinear[v] = dependent[v] && !endless[v];
    if (!endless[v] && !dependent[v]) continue;
    for (int u = 0; u < values; u++)
      covariance[static_cast<std::size_t>(v) * values + u] = covariance[static_cast<std::size_t>(u) * values + v] =
          std::numeric_limits<double>::quiet_NaN();
  }
}

void clustered_covariance(const Problem &problem, const Units &units, const int *pattern, int values,
                          const double *value, double *covariance) {
  const Pattern places(problem, pattern, values);
  const std::size_t p = values;
  OuterProducts products(values);
  const std::vector<double> ones(4, 1.0);
  std::vector<double> four;
  places.scores(units, value, [&](const double *score) {
    four.insert(four.end(), score, score + p);
    if (four.size() < 4 * p) return;
    products.add(4, four.data(), ones.data());
    four.clear();
  });
  products.add(p ? static_cast<int>(four.size() / p) : 0, four.data(), ones.data());
  std::vector<double> bread(covariance, covariance + p * p), meat(p * p);
  for (std::size_t i = 0; i < p * p; i++) {
    if (std::isnan(bread[i])) bread[i] = 0;
    meat[i] = products(static_cast<int>(i / p), static_cast<int>(i % p));
  }
  const std::vector<double> sandwich = product(p, product(p, bread, meat), bread);
  for (std::size_t i = 0; i < p * p; i++)
    if (!std::isnan(covariance[i])) covariance[i] = sandwich[i];
}

double effective_df(const Problem &problem, const Units &units, const double *params, const double *l2) {
  const int rows = 1 + problem.X.features, tasks = problem.tasks;
  std::vector<int> pattern(static_cast<std::size_t>(rows) * tasks);
  const int p = pattern_of(rows, tasks, problem.edges, problem.ends, params, pattern.data());
  std::vector<double> ridge(p, 0.0), value(p);
  for (std::size_t place = 0; place < pattern.size(); place++)
    if (pattern[place] >= 0) {
      ridge[pattern[place]] += l2[place / tasks];
      value[pattern[place]] = params[place];
    }
  const bool alone = one_label_each(problem, units);
  if (alone && std::all_of(ridge.begin(), ridge.end(), [](double of) { return of == 0; })) return p;
  const Pattern places(problem, pattern.data(), p);
  std::vector<double> slope, curvature, column(p), work;
  places.derivatives(value.data(), slope, curvature);
  for (int v = 0; v < p; v++) curvature[static_cast<std::size_t>(v) * p + v] += ridge[v];
  const Symmetric shrunken(p, curvature, SMALLEST_PIVOT / std::max(p, 1));
  double independent = p;
  for (int v = 0; v < p; v++) {
    if (ridge[v] == 0) continue;
    std::fill(column.begin(), column.end(), 0.0);
    column[v] = std::sqrt(ridge[v]);
    independent -= shrunken.whitened_square(column.data(), work);
  }
  if (alone) return independent;
  double dependent = 0;
  places.scores(units, value.data(), [&](const double *score) { dependent += shrunken.whitened_square(score, work); });
  return std::max(independent, dependent);
}

}  // namespace fusedlr
