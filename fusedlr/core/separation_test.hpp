// Test for separation, complete or quasi-complete, against overlap (Albert and Anderson 1984).
//
// Let A map the unpenalized coefficients, one number for each group of tasks that must move together, to the linear
// predictor, and let Y hold the labels' signs. The data are separated if there is a direction d with Y A d >= 0 and
// Y A d != 0: a direction of recession of the loss. By Stiemke's lemma there is none if and only if some a > 0 has
// A'Y a = 0. Which of the two holds is decided by non-negative least squares, min |A'Y (1 + s)| over s >= 0. A residual
// of zero gives a = 1 + s; any other residual is itself such a direction. The active-set method of Lawson and Hanson is
// finite. Features are scaled and rows normed, so that the answer does not depend on units.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core.hpp"
#include "data.hpp"
#include "groups.hpp"
#include "isa.hpp"
#include "rows.hpp"
#include "stop_check.hpp"
#include "updatable_qr.hpp"

namespace fusedlr::FUSEDLR_ISA {

class SeparationTest {
 public:
  enum Verdict { UNDECIDED, OVERLAP, SEPARATED };

  SeparationTest(const Data &data, StopCheck &stop_check)
      : data_(data), stop_check_(stop_check) {}

  Verdict test(const Groups &groups, const Settings &settings) {
    const std::vector<int> component = connected_tasks(groups);
    slopes_.resize(data_.ranges);
    for (int k = 0; k < data_.tasks(); k++) {
      if (component[k] != k) continue;
      const Verdict verdict = test_component(groups, component, k, settings);
      if (verdict != OVERLAP) return verdict;
    }
    return OVERLAP;
  }

 private:
  static constexpr double ZERO = 1e-10;  // cosines and sums of unit vectors below this count as zero
  struct Label {
    int task, row;  // within the range of the task
    double inverse;  // of the norm of its row of A, with its sign
  };

  Verdict test_component(const Groups &groups, const std::vector<int> &component, int which, const Settings &settings) {
    collect(groups, component, which);
    if (unknowns_ == 0 || labels_.empty()) return OVERLAP;
    std::vector<double> target(unknowns_, 0.0);
    for (std::size_t j = 0; j < labels_.size(); j++) add_label(groups, j, target);
    passive_.clear();
    qr_.reset(target);
    multipliers_.clear();
    double sum = static_cast<double>(labels_.size());
    for (std::size_t step = 0; step < 3 * (labels_.size() + unknowns_); step++) {
      const double size = norm(qr_.residual());
      if (size <= ZERO * sum) return OVERLAP;
      const int worst = entering_label(groups, -ZERO * size);
      if (worst < 0) return SEPARATED;
      enter_passive_set(groups, worst);
      sum = static_cast<double>(labels_.size());
      for (const double s : multipliers_) sum += s;
      if (stop_check_.stop_requested(settings)) return UNDECIDED;
    }
    return OVERLAP;  // no direction found; the duality gap of the fit will tell
  }

  // Unknowns and labels of one component.
  void collect(const Groups &groups, const std::vector<int> &component, int which) {
    place_.assign(groups.count, -1);
    unknowns_ = 0;
    labels_.clear();
    for (std::size_t i = 0; i < groups.size(); i++)
      for (int k = 0; k < groups.tasks; k++) {
        const int g = groups.of(i)[k];
        if (g >= 0 && component[k] == which && place_[g] < 0) place_[g] = unknowns_++;
      }
    std::vector<double> square, room;
    for (int k = 0; k < groups.tasks; k++) {
      if (component[k] != which) continue;
      square.assign(data_.length(k), 0.0);
      room.resize(data_.width);
      for (std::size_t i = 0; i < groups.size(); i++)
        if (groups.of(i)[k] >= 0) {
          const double *x = data_.dense_column(groups.features[i], k, room.data());
          for (int r = 0; r < data_.length(k); r++) square[r] += x[r] * x[r];
        }
      for (int r = 0; r < data_.length(k); r++)
        if (data_.weights.row(k)[r] > 0 && square[r] > 0)
          labels_.push_back({k, r, data_.signs.row(k)[r] / std::sqrt(square[r])});
    }
  }

  // to += column of label j
  void add_label(const Groups &groups, std::size_t j, std::vector<double> &to) const {
    const Label &label = labels_[j];
    for (std::size_t i = 0; i < groups.size(); i++) {
      const int g = groups.of(i)[label.task];
      if (g >= 0) to[place_[g]] += label.inverse * data_.value(groups.features[i], label.task, label.row);
    }
  }

  // The label with the most negative slope along the residual, or -1 if none is below the limit.
  int entering_label(const Groups &groups, double limit) {
    slopes_.clear();
    by_.assign(groups.labels.size(), 0.0);
    for (std::size_t i = 0; i < by_.size(); i++) {
      const int g = groups.labels[i];
      if (g >= 0 && place_[g] >= 0) by_[i] = qr_.residual()[place_[g]];
    }
    data_.add_features(groups.features, by_, slopes_);
    int worst = -1;
    for (std::size_t j = 0; j < labels_.size(); j++) {
      const double slope = labels_[j].inverse * slopes_.row(labels_[j].task)[labels_[j].row];
      if (slope < limit) {
        limit = slope;
        worst = static_cast<int>(j);
      }
    }
    return worst;
  }

  // Lets a label enter the passive set; others leave whose multiplier would become negative.
  void enter_passive_set(const Groups &groups, int label) {
    passive_.push_back(label);
    multipliers_.push_back(0.0);
    std::vector<double> column(unknowns_, 0.0), unconstrained;
    add_label(groups, label, column);
    if (!qr_.append(column)) {  // linearly dependent up to rounding
      passive_.pop_back();
      multipliers_.pop_back();
      labels_[label].inverse = 0;
      return;
    }
    for (;;) {
      qr_.least_squares(unconstrained);
      for (double &w : unconstrained) w = -w;
      double length = 1;
      std::size_t first = unconstrained.size();
      for (std::size_t i = 0; i < unconstrained.size(); i++) {
        if (unconstrained[i] > 0) continue;
        const double until = multipliers_[i] > 0 ? multipliers_[i] / (multipliers_[i] - unconstrained[i]) : 0.0;
        if (until > length) continue;
        length = until;
        first = i;
      }
      for (std::size_t i = 0; i < unconstrained.size(); i++)
        multipliers_[i] += length * (unconstrained[i] - multipliers_[i]);
      if (first == unconstrained.size()) break;
      if (passive_[first] == label) labels_[label].inverse = 0;  // entered by rounding alone: not again
      qr_.remove(static_cast<int>(first));
      passive_.erase(passive_.begin() + first);
      multipliers_.erase(multipliers_.begin() + first);
    }
  }

  static double norm(const std::vector<double> &v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  }

  const Data &data_;
  StopCheck &stop_check_;
  LabelTable slopes_;
  int unknowns_ = 0;
  std::vector<int> place_, passive_;
  std::vector<Label> labels_;
  std::vector<double> multipliers_, by_;
  UpdatableQR qr_;
};

}  // namespace fusedlr::FUSEDLR_ISA
