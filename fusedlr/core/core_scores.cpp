// Linear predictors and log-likelihoods, and scores of many fits on held-out labels.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#include "core.hpp"
#include "features.hpp"

namespace fusedlr {

namespace {

constexpr int FITS = 16;  // whose linear predictors are computed side by side

double log_loss(double margin) { return std::log1p(std::exp(-std::fabs(margin))) + (margin < 0 ? -margin : 0.0); }

bool is_wrong(double linear, int sign) { return (linear > 0) != (sign > 0); }

double probability(double linear) {
  const double small = std::exp(-std::fabs(linear));
  return (linear < 0 ? small : 1.0) / (1.0 + small);
}

// Features that are not zero in a task of some of the fits.
std::vector<int> support(const Problem &problem, int fits, const double *params, int task) {
  const std::size_t size = (1 + static_cast<std::size_t>(problem.X.features)) * problem.tasks;
  std::vector<int> columns;
  for (int a = 0; a < problem.X.features; a++)
    for (int p = 0; p < fits; p++)
      if (params[p * size + (1 + static_cast<std::size_t>(a)) * problem.tasks + task] != 0) {
        columns.push_back(a);
        break;
      }
  return columns;
}

// Linear predictors of one task by up to FITS fits: act(first label, how many, values [label][FITS]). A linear
// predictor is a sum over the features in their order, whatever the other fits are.
template <class Act>
void predict_task(const Problem &problem, int fits, const double *params, int task, Act act) {
  const std::size_t tasks = problem.tasks, size = (1 + static_cast<std::size_t>(problem.X.features)) * tasks;
  const std::vector<int> columns = support(problem, fits, params, task);
  const std::size_t width = columns.size();
  std::vector<double> slopes(width * FITS, 0.0), linear(base::AT_A_TIME * FITS);
  double intercepts[FITS] = {};
  for (int p = 0; p < fits; p++) {
    intercepts[p] = params[p * size + task];
    for (std::size_t j = 0; j < width; j++) slopes[j * FITS + p] = params[p * size + (1 + columns[j]) * tasks + task];
  }
  const Labels &labels = problem.labels;
  base::by_rows(problem, labels.start[task], labels.start[task + 1], columns,
                [&](std::int64_t from, int count, const double *table) {
                  for (int i = 0; i < count; i++) {
                    const double shift = labels.offset ? labels.offset[from + i] : 0.0;
                    double sums[FITS];
                    for (int p = 0; p < FITS; p++) sums[p] = intercepts[p];
                    for (std::size_t j = 0; j < width; j++)
                      for (int p = 0; p < FITS; p++) sums[p] += table[i * width + j] * slopes[j * FITS + p];
                    for (int p = 0; p < FITS; p++) linear[i * FITS + p] = sums[p] + shift;
                  }
                  act(from, count, linear.data());
                });
}

// Fits some at a time: act(first fit, how many, their coefficients).
template <class Act>
void some_fits(const Problem &problem, int points, const double *params, Act act) {
  const std::size_t size = (1 + static_cast<std::size_t>(problem.X.features)) * problem.tasks;
  for (int first = 0; first < points; first += FITS) act(first, std::min(FITS, points - first), params + first * size);
}

// Share of concordant pairs of a yes and a no, equal linear predictors counting half; NaN where there is no pair.
double concordance(std::int64_t count, const double *linear, const signed char *sign, const double *weight,
                   std::vector<std::int64_t> &order) {
  order.resize(count);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return linear[i] < linear[j]; });
  double all_yes = 0, all_no = 0, concordant = 0;
  for (std::int64_t i = 0; i < count;) {
    double yes = 0, no = 0;
    const double value = linear[order[i]];
    for (; i < count && linear[order[i]] == value; i++) (sign[order[i]] > 0 ? yes : no) += weight[order[i]];
    concordant += yes * (all_no + no / 2);
    all_yes += yes;
    all_no += no;
  }
  return all_yes > 0 && all_no > 0 ? concordant / (all_yes * all_no) : std::numeric_limits<double>::quiet_NaN();
}

// AUC of some fits, mean over the tasks that have both labels.
void mean_concordance(const Problem &problem, int fits, const double *params, double *auc) {
  const Labels &labels = problem.labels;
  double sums[FITS] = {};
  int seen = 0;
  std::vector<double> linear;
  std::vector<std::int64_t> order;
  for (int k = 0; k < problem.tasks; k++) {
    const std::int64_t first = labels.start[k], count = labels.start[k + 1] - first;
    linear.resize(static_cast<std::size_t>(count) * fits);
    predict_task(problem, fits, params, k, [&](std::int64_t from, int some, const double *values) {
      for (int i = 0; i < some; i++)
        for (int p = 0; p < fits; p++) linear[p * count + from - first + i] = values[i * FITS + p];
    });
    bool both = count > 0;
    for (int p = 0; p < fits && both; p++) {
      const double area = concordance(count, &linear[p * count], labels.sign + first, labels.weight + first, order);
      both = !std::isnan(area);
      if (both) sums[p] += area;
    }
    seen += both;
  }
  for (int p = 0; p < fits; p++) auc[p] = seen ? sums[p] / seen : std::numeric_limits<double>::quiet_NaN();
}

double total_weight(const Problem &problem) {
  double sum = 0;
  for (std::int64_t i = 0; i < problem.labels.start[problem.tasks]; i++) sum += problem.labels.weight[i];
  return sum;
}

// Root of the score of an intercept beside the offset: Newton's method within a bracket, at either end of which all
// probabilities are on one side of the share of yes.
double null_intercept(const Labels &labels, std::int64_t first, std::int64_t last, double middle) {
  const auto ends = std::minmax_element(labels.offset + first, labels.offset + last);
  double low = middle - *ends.second, high = middle - *ends.first, at = low + (high - low) / 2;
  for (int step = 0; step < 200 && low < high; step++) {
    double score = 0, curvature = 0;
    for (std::int64_t i = first; i < last; i++) {
      const double chance = probability(labels.offset[i] + at);
      score += labels.weight[i] * ((labels.sign[i] > 0) - chance);
      curvature += labels.weight[i] * chance * (1 - chance);
    }
    (score > 0 ? low : high) = at;
    double next = at + score / curvature;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::fabs(next - at) <= 1e-14 * (1 + std::fabs(at))) return next;
    at = next;
  }
  return at;
}

// The labels of a fold, each with its share of the weight.
class HeldOut {
 public:
  HeldOut(const Problem &problem, const double *share) : start_{0} {
    const Labels &labels = problem.labels;
    for (int k = 0; k < problem.tasks; k++) {
      for (std::int64_t i = labels.start[k]; i < labels.start[k + 1]; i++) {
        if (!(share[labels.row[i]] > 0)) continue;
        row_.push_back(labels.row[i]);
        sign_.push_back(labels.sign[i]);
        weight_.push_back(labels.weight[i] * share[labels.row[i]]);
        if (labels.offset) offset_.push_back(labels.offset[i]);
      }
      start_.push_back(static_cast<std::int64_t>(row_.size()));
    }
  }
  std::size_t size() const { return row_.size(); }
  int row(std::size_t i) const { return row_[i]; }
  double weight(std::size_t i) const { return weight_[i]; }
  // It borrows from this.
  Problem get(Problem problem) const {
    const double *offset = problem.labels.offset ? offset_.data() : nullptr;
    problem.labels = {start_.data(), row_.data(), sign_.data(), weight_.data(), offset};
    return problem;
  }

 private:
  std::vector<std::int64_t> start_;
  std::vector<int> row_;
  std::vector<signed char> sign_;
  std::vector<double> weight_, offset_;
};

// What independent units add to a difference in each of FITS fits: rows, or groups where these have several rows. What
// a row adds in two folds is independent, too: its weight stands for several rows.
class Contributions {
 public:
  Contributions(const Units &units, int folds, const double *share)
      : units_(units), grouped_(groups_have_rows(units)), rows_(units.rows), split_(false) {
    const std::size_t shares = rows_ * folds;
    for (std::size_t i = 0; i < shares && !grouped_; i++) split_ |= share[i] > 0 && share[i] < 1;
    cells_ = grouped_ ? units.groups : split_ ? shares : rows_;
    weight_.assign(cells_, 0.0);
    times_.assign(cells_, 0.0);
    share_ = share;
    sums_.resize(cells_ * FITS);
  }

  // To be called once for each fold before anything else.
  void count(int fold, const HeldOut &held) {
    for (std::size_t i = 0; i < held.size(); i++) {
      const std::size_t at = cell(fold, held.row(i));
      const double part = share_[fold * rows_ + held.row(i)];
      weight_[at] += held.weight(i);
      times_[at] = units_.times[units_.code[held.row(i)]] * (grouped_ ? 1.0 : part);
    }
  }
  void clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }
  double *of(int fold, int row) { return &sums_[cell(fold, row) * FITS]; }

  // Of the mean difference of a fit.
  double variance(int fit) const {
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    const double count = std::accumulate(times_.begin(), times_.end(), 0.0);
    double sum = 0, squares = 0;
    for (std::size_t c = 0; c < cells_; c++) sum += sums_[c * FITS + fit];
    for (std::size_t c = 0; c < cells_; c++) {
      const double influence = (sums_[c * FITS + fit] - weight_[c] * (sum / total)) / total;
      if (times_[c] > 0) squares += influence * influence / times_[c];
    }
    return squares * (count > 1 ? count / (count - 1) : 1.0);
  }

 private:
  std::size_t cell(int fold, int row) const {
    return grouped_ ? units_.code[row] : split_ ? fold * rows_ + row : row;
  }

  const Units units_;
  const bool grouped_;
  const std::size_t rows_;
  bool split_;
  std::size_t cells_;
  const double *share_;
  std::vector<double> weight_, times_, sums_;
};

}  // namespace

void linear_predictors(const Problem &problem, const double *params, double *linear) {
  for (int k = 0; k < problem.tasks; k++)
    predict_task(problem, 1, params, k, [&](std::int64_t from, int count, const double *values) {
      for (int i = 0; i < count; i++) linear[from + i] = values[i * FITS];
    });
}

void task_losses(int tasks, const Labels &labels, const double *linear, double *loss) {
  loss[tasks] = 0;
  for (int k = 0; k < tasks; k++) {
    loss[k] = 0;
    for (std::int64_t i = labels.start[k]; i < labels.start[k + 1]; i++)
      loss[k] += labels.weight[i] * log_loss(labels.sign[i] * linear[i]);
    loss[tasks] += loss[k];
  }
}

void null_losses(int tasks, const Labels &labels, double *loss) {
  std::vector<double> linear(labels.start[tasks]);
  std::vector<char> single(tasks, 0);
  for (int k = 0; k < tasks; k++) {
    const std::int64_t first = labels.start[k], last = labels.start[k + 1];
    double yes = 0, no = 0;
    for (std::int64_t i = first; i < last; i++) (labels.sign[i] > 0 ? yes : no) += labels.weight[i];
    single[k] = !(yes > 0 && no > 0);
    if (single[k]) continue;
    const double middle = std::log(yes / no);
    const double at = labels.offset ? null_intercept(labels, first, last, middle) : middle;
    for (std::int64_t i = first; i < last; i++) linear[i] = at + (labels.offset ? labels.offset[i] : 0.0);
  }
  task_losses(tasks, labels, linear.data(), loss);
  loss[tasks] = 0;
  for (int k = 0; k < tasks; k++) {
    if (single[k]) loss[k] = 0;
    loss[tasks] += loss[k];
  }
}

void held_out_scores(const Problem &problem, int points, const double *params, double *loss, double *error,
                     double *auc) {
  const Labels &labels = problem.labels;
  const double total = total_weight(problem);
  some_fits(problem, points, params, [&](int first, int fits, const double *some) {
    if (auc) mean_concordance(problem, fits, some, auc + first);
    if (!loss && !error) return;
    double losses[FITS] = {}, wrong[FITS] = {};
    for (int k = 0; k < problem.tasks; k++)
      predict_task(problem, fits, some, k, [&](std::int64_t from, int count, const double *linear) {
        for (int i = 0; i < count; i++) {
          const double weight = labels.weight[from + i];
          const int sign = labels.sign[from + i];
          if (weight == 0) continue;
          for (int p = 0; p < fits; p++) {
            if (loss) losses[p] += weight * log_loss(sign * linear[i * FITS + p]);
            if (is_wrong(linear[i * FITS + p], sign)) wrong[p] += weight;
          }
        }
      });
    for (int p = 0; p < fits; p++) {  // 0 / 0 where there is no label
      if (loss) loss[first + p] = losses[p] / total;
      if (error) error[first + p] = wrong[p] / total;
    }
  });
}

void paired_variances(const Problem &problem, const Units &units, bool by_loss, int folds, const double *share,
                      int points, const double *params, double *variance) {
  const std::size_t size = (1 + static_cast<std::size_t>(problem.X.features)) * problem.tasks;
  std::vector<HeldOut> parts;
  for (int f = 0; f < folds; f++) parts.emplace_back(problem, share + static_cast<std::size_t>(f) * units.rows);
  Contributions sums(units, folds, share);
  for (int f = 0; f < folds; f++) sums.count(f, parts[f]);
  const auto cost = [by_loss](double linear, int sign) {
    return by_loss ? log_loss(sign * linear) : static_cast<double>(is_wrong(linear, sign));
  };
  for (int first = 0; first < points; first += FITS) {
    const int fits = std::min(FITS, points - first);
    sums.clear();
    for (int f = 0; f < folds; f++) {
      const Problem held = parts[f].get(problem);
      const double *of_fold = params + f * (1 + static_cast<std::size_t>(points)) * size;
      std::vector<double> best(parts[f].size());
      linear_predictors(held, of_fold, best.data());
      for (int k = 0; k < problem.tasks; k++)
        predict_task(held, fits, of_fold + (1 + first) * size, k,
                     [&](std::int64_t from, int some, const double *linear) {
                       for (std::int64_t i = from; i < from + some; i++) {
                         const int sign = held.labels.sign[i];
                         const double least = cost(best[i], sign), weight = held.labels.weight[i];
                         double *to = sums.of(f, held.labels.row[i]);
                         for (int p = 0; p < fits; p++)
                           to[p] += weight * (cost(linear[(i - from) * FITS + p], sign) - least);
                       }
                     });
    }
    for (int p = 0; p < fits; p++) variance[first + p] = sums.variance(p);
  }
}

}  // namespace fusedlr
