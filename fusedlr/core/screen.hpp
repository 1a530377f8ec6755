// Excludes features from gradients and duality gaps by what is known about their slopes.
//
// The last passes over all of X left residuals and the slopes of every feature at them. Other residuals r are, task by
// task, a mixture of those and a rest e, so the slope of a column x is the mixture of its known slopes and x'e, where
// |x'e| <= |x - mean| |e| + |mean| |sum of e|. A feature whose slopes are certain to be within its penalty has zero
// coefficients and adds nothing to a gap. With C(l1) the slopes that l1 and fusion can hold at zero,
// C(l1 - b) + [-b, b]^t lies in C(l1): the zero-block test with a smaller l1 is a proof.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "block.hpp"
#include "data.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "penalty.hpp"
#include "rows.hpp"
#include "state.hpp"
#include "tasks.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Residuals, scaled by 1 / scale, as a dual point; balancing them moves the slopes of a column by at most `excess`
// times its largest value in total. See duality_gap.hpp.
struct DualPoint {
  const LabelTable *residuals;  // negative ones
  Table *slopes;                // of the features that are known
  double correction, scale, excess;
};

class Screen {
 public:
  Screen(const Data &data, const Penalty &penalty)
      : data_(data), penalty_(penalty), block_(penalty.block), mixture_(data.tasks()) {}

  // Whether there are so many features that excluding some pays.
  bool pays() const { return data_.features >= MANY; }

  void forget() {
    count_ = 0;
    last_ = -1;
  }

  // Stores a pass: negative residuals, and the slopes of all features at them. In place of the last one if `again`.
  void remember(const LabelTable &residuals, const Table &slopes, bool again) {
    if (count_ == 0 || !again) {
      last_ = (last_ + 1) % MOST;
      count_ = std::min(count_ + 1, MOST);
    }
    Pass &last = pass_[last_];
    if (last.residuals.empty()) {
      last.residuals.resize(data_.ranges);
      last.slopes.resize(data_.tasks(), slopes.width());
    }
    last.residuals.copy(residuals);
    last.slopes.copy(slopes);
    for (int k = 0; k < data_.tasks(); k++)
      for (int p = 0; p < count_; p++)
        mixture_[k].product[last_][p] = mixture_[k].product[p][last_] =
            dot(k, pass_[last_].residuals.row(k), pass_[p].residuals.row(k));
  }

  // Writes residuals as a mixture of those of the last passes; false if that leaves much of them.
  bool mix(const LabelTable &residuals) {
    bool close = count_ > 0;
    for (int k = 0; k < data_.tasks() && count_ > 0; k++) close &= mix(k, residuals.row(k));
    return close;
  }

  // Features that may well have to leave zero, by the last mixture; beyond `known`, to which they are added.
  void add_likely(WorkingSet &known) {
    with_tasks(data_.tasks(), [&](auto t) {
      Scratch<decltype(t), 1> scratch(t);
      double *c = scratch.get();
      for (int a = 1; a < data_.features; a++) {
        if (known.has(a)) continue;
        for (int k = 0; k < t; k++) c[k] = mixed_.row(k)[a];
        if (is_likely(t, a, c)) known.add(a);
      }
    });
  }

  // Leaves in `known` what has to be there and what may well have to leave zero, by its gradient.
  template <class Needed>
  void drop_unlikely(const Table &gradient, WorkingSet &known, const Needed &needed) {
    with_tasks(data_.tasks(), [&](auto t) {
      Scratch<decltype(t), 1> scratch(t);
      double *c = scratch.get();
      const std::vector<int> before = known.members;
      known.clear();
      for (const int a : before) {
        for (int k = 0; k < t; k++) c[k] = gradient.row(k)[a];
        if (needed(a) || is_likely(t, a, c)) known.add(a);
      }
    });
  }

  // Features beyond `known` whose slopes are not certain to be within their penalties at a dual point; all of these
  // where they are too many.
  const std::vector<int> &doubtful(const DualPoint &dual, const WorkingSet &known) {
    const bool mixed = count_ > 0 && (mix(*dual.residuals), true);
    doubtful_.clear();
    if (mixed) with_tasks(data_.tasks(), [&](auto t) { find_doubtful(t, dual, known); });
    if (mixed && doubtful_.size() <= FEW * data_.features) return doubtful_;
    doubtful_.clear();
    for (int a = 0; a < data_.features; a++)
      if (!known.has(a)) doubtful_.push_back(a);
    return doubtful_;
  }

 private:
  static constexpr int MANY = 300;          // features
  static constexpr int MOST = 3;            // passes
  static constexpr double FEW = 0.3;        // of all features: up to here columns are looked at one by one
  static constexpr double NEAR = 0.95;      // of a penalty: slopes that may well exceed it soon
  static constexpr double CLOSE = 0.3;      // of residuals: a rest that leaves the mixture worth something
  static constexpr double ROUNDING = 1e-14;  // relative, of sums over rows

  struct Pass {
    LabelTable residuals;
    Table slopes;
  };
  struct Mixture {
    double product[MOST][MOST], share[MOST];
    double length, total;  // bounds on the rest: its length, and the absolute value of its sum
  };

  double dot(int k, const double *x, const double *y) const {
    Vec sum{};
    for (int i = 0; i < data_.vectors(k); i++) sum = multiply_add(as_vec(x)[i], as_vec(y)[i], sum);
    return total(sum);
  }

  // Least squares, by elimination; any shares will do.
  void find_shares(int k, const double *residuals) {
    Mixture &m = mixture_[k];
    double system[MOST][MOST];
    for (int p = 0; p < MOST; p++) std::copy(m.product[p], m.product[p] + MOST, system[p]);
    for (int p = 0; p < count_; p++) {
      system[p][p] += 1e-10 * system[p][p] + 1e-300;
      m.share[p] = dot(k, pass_[p].residuals.row(k), residuals);
    }
    for (int p = 0; p < count_; p++)
      for (int q = p + 1; q < count_; q++) {
        const double f = system[q][p] / system[p][p];
        for (int e = p; e < count_; e++) system[q][e] -= f * system[p][e];
        m.share[q] -= f * m.share[p];
      }
    for (int p = count_ - 1; p >= 0; p--) {
      for (int q = p + 1; q < count_; q++) m.share[p] -= system[p][q] * m.share[q];
      m.share[p] /= system[p][p];
    }
  }

  bool mix(int k, const double *residuals) {
    Mixture &m = mixture_[k];
    find_shares(k, residuals);
    Vec sum{}, square{}, all{};
    const Vec *past[MOST];
    for (int p = 0; p < count_; p++) past[p] = as_vec(pass_[p].residuals.row(k));
    for (int i = 0; i < data_.vectors(k); i++) {
      const Vec r = as_vec(residuals)[i];
      Vec rest = r;
      for (int p = 0; p < count_; p++) rest = multiply_add(past[p][i], broadcast(-m.share[p]), rest);
      sum += rest;
      square = multiply_add(rest, rest, square);
      all = multiply_add(r, r, all);
    }
    if (mixed_.empty()) mixed_.resize(data_.tasks(), padded(data_.features));
    double *mixed = mixed_.row(k), rounding = std::sqrt(total(all));
    std::fill(mixed, mixed + data_.features, 0.0);
    for (int p = 0; p < count_; p++) {
      add_scaled(padded(data_.features) / LANES, m.share[p], pass_[p].slopes.row(k), mixed);
      rounding += std::fabs(m.share[p]) * std::sqrt(m.product[p][p]);
    }
    m.length = std::sqrt(total(square)) + ROUNDING * rounding;
    m.total = std::fabs(total(sum)) + ROUNDING * std::sqrt(static_cast<double>(data_.length(k))) * rounding;
    return m.length <= CLOSE * std::sqrt(total(all));
  }

  template <class Tasks>
  bool is_likely(Tasks t, int a, const double *c) {
    return !block_.is_zero(t, c, NEAR * penalty_.l1[a], penalty_.fusion[a]);
  }

  template <class Tasks>
  void find_doubtful(Tasks t, const DualPoint &dual, const WorkingSet &known) {
    Scratch<Tasks, 1> scratch(t);
    double *c = scratch.get();
    for (int a = 0; a < data_.features; a++) {
      if (known.has(a)) continue;
      const Data::Size &size = data_.size(a);
      const double mean = std::fabs(size.mean), limit = dual.scale * penalty_.l1[a] - dual.excess * size.largest;
      double most = 0, error = 0;
      for (int k = 0; k < t; k++) {
        c[k] = mixed_.row(k)[a];
        const double by = size.length * mixture_[k].length + mean * mixture_[k].total;
        error = std::max(error, by);
        most = std::max(most, std::fabs(c[k]) + by);
      }
      if (most <= limit) continue;
      if (!(error < limit && block_.is_zero(t, c, limit - error, dual.scale * penalty_.fusion[a])))
        doubtful_.push_back(a);
    }
  }

  const Data &data_;
  const Penalty &penalty_;
  Block &block_;
  int count_ = 0, last_ = -1;     // of passes, in a ring
  std::array<Pass, MOST> pass_;
  std::vector<Mixture> mixture_;  // of each task
  Table mixed_;                   // slopes of the last mixture, [task][feature]
  std::vector<int> doubtful_;
};

}  // namespace fusedlr::FUSEDLR_ISA
