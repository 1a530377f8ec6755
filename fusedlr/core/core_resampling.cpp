// Folds, bootstrap resamples and halves of the sampling units, as multipliers of the row weights.
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

constexpr double MOST_ROWS = 1e7;  // that whole weights may stand for where folds split them

std::vector<double> ends(const Units &units) {
  std::vector<double> end(units.times, units.times + units.groups);
  std::partial_sum(end.begin(), end.end(), end.begin());
  return end;
}

std::int64_t rounded_size(const std::vector<double> &end) {
  return end.empty() ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::nearbyint(end.back())));
}

// Stable order of numbers.
std::vector<int> order_of(const std::vector<double> &numbers) {
  std::vector<int> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return numbers[i] < numbers[j]; });
  return order;
}

// Sorts rows by their labels (missing is a label of its own), keeping the order of those with equal labels: a radix
// sort, from the last task to the first. `row` is the row of the data behind each.
void sort_by_labels(int tasks, const Labels &labels, int rows, const std::vector<int> &row, std::vector<int> &order) {
  std::vector<signed char> sign(rows);
  for (int k = tasks - 1; k >= 0; k--) {
    std::fill(sign.begin(), sign.end(), 0);
    for (std::int64_t i = labels.start[k]; i < labels.start[k + 1]; i++)
      if (labels.weight[i] > 0) sign[labels.row[i]] = labels.sign[i];
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return sign[row[i]] < sign[row[j]]; });
  }
}

// Rows sorted by their labels, at random within equal ones, are dealt out in turn: the numbers of rows with the same
// labels differ by at most 1 between folds, and so do the numbers of all rows.
void deal_rows(int tasks, const Labels &labels, const Units &units, int folds, const double *uniform, double *share) {
  const bool split = folds_split_weights(units);
  std::vector<int> row;
  for (int i = 0; i < units.rows; i++)
    row.insert(row.end(), split ? static_cast<std::size_t>(units.times[units.code[i]]) : 1, i);
  std::vector<int> order = order_of({uniform, uniform + row.size()});
  sort_by_labels(tasks, labels, units.rows, row, order);
  for (std::size_t place = 0; place < order.size(); place++)
    share[place % folds * units.rows + row[order[place]]] += 1;
  if (!split) return;
  for (int f = 0; f < folds; f++)
    for (int i = 0; i < units.rows; i++)
      if (const double times = units.times[units.code[i]]; times > 0)
        share[static_cast<std::size_t>(f) * units.rows + i] /= times;
}

struct Kinds {
  double yes = 0, no = 0;
  double sum() const { return yes + no; }
};

double square(double x) { return x * x; }

// Groups are assigned greedily from the one with the most weight of labels to the one with the least, in random order
// where equal, each to the fold that lacks labels of its kinds most.
void deal_groups(int tasks, const Labels &labels, const Units &units, int folds, const double *uniform,
                 double *share) {
  std::vector<Kinds> counts(units.groups), filled(folds);
  for (std::int64_t i = 0; i < labels.start[tasks]; i++) {
    Kinds &group = counts[units.code[labels.row[i]]];
    (labels.sign[i] > 0 ? group.yes : group.no) += labels.weight[i];
  }
  Kinds wanted;
  for (const Kinds &group : counts) wanted = {wanted.yes + group.yes, wanted.no + group.no};
  wanted = {std::max(wanted.yes, 1e-300) / folds, std::max(wanted.no, 1e-300) / folds};
  std::vector<int> order = order_of({uniform, uniform + units.groups}), fold(units.groups);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return counts[i].sum() > counts[j].sum(); });
  for (const int group : order) {
    const auto lack = [&](const Kinds &full) {
      const double yes = square((full.yes + counts[group].yes) / wanted.yes) - square(full.yes / wanted.yes);
      return yes + (square((full.no + counts[group].no) / wanted.no) - square(full.no / wanted.no));
    };
    int best = 0;
    for (int f = 1; f < folds; f++)
      if (lack(filled[f]) < lack(filled[best])) best = f;
    fold[group] = best;
    filled[best] = {filled[best].yes + counts[group].yes, filled[best].no + counts[group].no};
  }
  for (int i = 0; i < units.rows; i++) share[static_cast<std::size_t>(fold[units.code[i]]) * units.rows + i] = 1;
}

}  // namespace

bool groups_have_rows(const Units &units) {
  std::vector<char> seen(units.groups, 0);
  for (int i = 0; i < units.rows; i++)
    if (seen[units.code[i]]++) return true;
  return false;
}

std::int64_t number_of_units(const Units &units) { return rounded_size(ends(units)); }

// The unit at each position of a line on which the length of each unit is its weight: a unit of weight 2 is the same as
// two equal units side by side. A position has length 1, so whole weights leave nothing to chance; of units that share
// a position one is drawn with probability proportional to its share.
void drawn_weights(const Units &units, std::int64_t count, const std::int64_t *place, const double *uniform,
                   double *weights) {
  const std::vector<double> end = ends(units);
  if (end.empty()) return;
  const double unit = end.back() / static_cast<double>(rounded_size(end));
  std::vector<double> drawn(units.groups, 0.0);
  for (std::int64_t i = 0; i < count; i++) {
    const double at = (static_cast<double>(place[i]) + uniform[i]) * unit;
    drawn[std::upper_bound(end.begin(), end.end() - 1, at) - end.begin()] += 1;
  }
  for (int i = 0; i < units.rows; i++) {
    const double times = units.times[units.code[i]];
    weights[i] = times > 0 ? drawn[units.code[i]] / times : 0.0;
  }
}

bool folds_split_weights(const Units &units) {
  double sum = 0;
  bool several = false;
  for (int g = 0; g < units.groups; g++) {
    if (units.times[g] != std::floor(units.times[g])) return false;
    several |= units.times[g] > 1;
    sum += units.times[g];
  }
  return several && sum <= MOST_ROWS;
}

std::int64_t fold_uniforms(const Units &units) {
  if (groups_have_rows(units)) return units.groups;
  return folds_split_weights(units) ? number_of_units(units) : units.rows;
}

void fold_shares(int tasks, const Labels &labels, const Units &units, int folds, const double *uniform, double *share) {
  std::fill(share, share + static_cast<std::size_t>(folds) * units.rows, 0.0);
  const auto deal = groups_have_rows(units) ? deal_groups : deal_rows;
  deal(tasks, labels, units, folds, uniform, share);
}

}  // namespace fusedlr
