// A ridge for separated data.
//
// Rows with neither l1 nor l2 have no finite minimiser where the data are separated (separation_test.hpp). Then every
// such row gets a ridge, `floor` times an upper bound on its curvature, and the answer is the minimiser with that
// ridge, solved to the tolerance like any other. The intercept row gets one only where a whole component of tasks has
// labels of one class: otherwise the ridge on the other rows bounds it.
#pragma once

#include <algorithm>
#include <vector>

#include "core.hpp"
#include "data.hpp"
#include "groups.hpp"
#include "isa.hpp"
#include "newton.hpp"
#include "penalty.hpp"
#include "separation_test.hpp"

namespace fusedlr::FUSEDLR_ISA {

class SeparationRidge {
 public:
  using Newton = ProximalNewton;
  using Verdict = SeparationTest::Verdict;

  SeparationRidge(const Data &data, Penalty &penalty, Newton &newton)
      : data_(data),
        penalty_(penalty),
        newton_(newton),
        separation_test_(data, newton.stop_check()),
        ridge_(data.features, 0.0) {}

  // Solves at the present penalties, with the ridge where it is needed. `status` is that of a solve that converges; a
  // gap of `accepted` is enough for that where no step lowers it further.
  Newton::End solve(const Settings &settings, double accepted, Status &status) {
    accepted_ = accepted;
    status = OPTIMAL;
    std::fill(ridge_.begin(), ridge_.end(), 0.0);
    const bool one_class = penalty_.is_unpenalized(0) && has_one_class();
    newton_.nearly_unpenalized = penalty_.has_unpenalized_features();
    newton_.has_ridge = false;
    if (!one_class && !newton_.nearly_unpenalized) return minimise_with({}, settings);
    const std::vector<double> floor = ridge_floor(settings.floor, one_class);
    const Verdict found = one_class ? SeparationTest::SEPARATED : verdict(floor, settings);
    if (found == SeparationTest::UNDECIDED) return Newton::STOPPED;
    if (found == SeparationTest::OVERLAP) return minimise_with({}, settings);
    status = SEPARATED;
    ridge_ = floor;
    return solve_with_ridge(settings);
  }

  const std::vector<double> &ridge() const { return ridge_; }

  // The ridge that a solve at the present penalties would begin with; empty where none.
  std::vector<double> likely(double floor) const {
    if (!penalty_.has_unpenalized_features()) return {};
    const bool overlap = verdict_ == SeparationTest::OVERLAP && row_kinds() == tested_kinds_;
    return overlap ? std::vector<double>() : ridge_floor(floor, false);
  }

 private:
  static constexpr double ROUGH = 1e-3;  // gap of a fit that is needed for its residuals only

  int tasks() const { return data_.tasks(); }

  // Objective and gap are reported at the requested penalties, for which 0 is the only dual point at hand: the gap is
  // all of the objective.
  Newton::End solve_with_ridge(const Settings &settings) {
    newton_.has_ridge = true;
    const Newton::End end = minimise_with(ridge_, settings);
    newton_.objective = newton_.value();
    newton_.gap = newton_.objective / newton_.scale();
    return end;
  }

  bool has_one_class() const {
    for (int c = 0; c < penalty_.components(0); c++) {
      bool yes = false, no = false;
      for (int k = 0; k < tasks(); k++)
        if (penalty_.component(0, k) == c)
          for (int i = 0; i < data_.length(k); i++)
            if (data_.weights.row(k)[i] > 0) (data_.signs.row(k)[i] > 0 ? yes : no) = true;
      if (yes != no) return true;
    }
    return false;
  }

  // A fraction of the upper bound on the curvature of each unpenalized row.
  std::vector<double> ridge_floor(double fraction, bool one_class) const {
    std::vector<double> floor(data_.features, 0.0);
    for (int a = one_class ? 0 : 1; a < data_.features; a++) {
      if (!penalty_.is_unpenalized(a)) continue;
      const double curvature = data_.largest_curvature(a);
      floor[a] = curvature > 0 ? fraction * curvature : fraction;
    }
    return floor;
  }

  Newton::End minimise_with(const std::vector<double> &ridge, const Settings &settings) {
    const AddedRidge added(penalty_, ridge);
    const Newton::End end = newton_.minimise(settings);
    return end == Newton::OUT_OF_STEPS && newton_.gap <= accepted_ ? Newton::CONVERGED : end;
  }

  // Which rows are unpenalized and which are fused: what the verdict on separation depends on.
  std::vector<char> row_kinds() const {
    std::vector<char> kinds(data_.features);
    for (int a = 0; a < data_.features; a++)
      kinds[a] = static_cast<char>(2 * penalty_.is_unpenalized(a) + (penalty_.fusion[a] > 0));
    return kinds;
  }

  // Whether there are more labels than unpenalized coefficients: otherwise a proof of overlap is unlikely.
  bool has_more_labels() const {
    const Groups &groups = newton_.duality_gap().label_unpenalized_rows();
    long long labels = 0;
    for (int k = 0; k < tasks(); k++)
      for (int i = 0; i < data_.length(k); i++) labels += data_.weights.row(k)[i] > 0;
    return labels > groups.count;
  }

  // A rough fit with the ridge comes first: under overlap its residuals mostly prove it, and either way it is a good
  // warm start. The test itself does not depend on it.
  Verdict verdict(const std::vector<double> &floor, const Settings &settings) {
    const std::vector<char> kinds = row_kinds();
    if (verdict_ != SeparationTest::UNDECIDED && kinds == tested_kinds_) return verdict_;
    Settings rough = settings;
    rough.tolerance = std::max(settings.tolerance, ROUGH);
    const Newton::End end = minimise_with(floor, rough);
    tested_kinds_ = kinds;
    if (end == Newton::STOPPED)
      verdict_ = SeparationTest::UNDECIDED;
    else if (has_more_labels() && newton_.proves_overlap())
      verdict_ = SeparationTest::OVERLAP;
    else
      verdict_ = separation_test_.test(newton_.duality_gap().label_unpenalized_rows(), settings);
    return verdict_;
  }

  const Data &data_;
  Penalty &penalty_;
  Newton &newton_;
  SeparationTest separation_test_;
  std::vector<double> ridge_;
  double accepted_ = 0;
  Verdict verdict_ = SeparationTest::UNDECIDED;
  std::vector<char> tested_kinds_;
};

}  // namespace fusedlr::FUSEDLR_ISA
