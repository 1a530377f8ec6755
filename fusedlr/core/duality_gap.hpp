// The duality gap: an upper bound on the objective's distance to its minimum.
//
// Dual points are residuals r = -first, rescaled: with C = X'r and any s in [0, 1] that makes s C feasible, the dual
// value is at least s (loss + <C, B>) - sum of conjugates(s C). In unpenalized rows C must vanish (sum to zero over
// fused tasks); residuals are projected until it does. Where only intercepts are unpenalized, a small sum S of C can be
// charged instead: the residuals of the class that is in excess, times 1 - |S| / their sum, are balanced. That moves
// the entries of C in a row by |S| times the row's largest feature value in total, and takes at most |S| (1 - log p)
// from the dual value, p the smallest probability of a wrong label.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "block.hpp"
#include "cholesky.hpp"
#include "data.hpp"
#include "gram.hpp"
#include "groups.hpp"
#include "isa.hpp"
#include "logistic.hpp"
#include "numbers.hpp"
#include "penalty.hpp"
#include "rows.hpp"
#include "screen.hpp"
#include "state.hpp"
#include "tasks.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class DualityGap {
 public:
  DualityGap(const Data &data, const Penalty &penalty, State &at, Gram &gram, const WorkingSet &set)
      : data_(data), penalty_(penalty), block_(penalty.block), at_(at), gram_(gram), set_(set) {}

  // Where the gap cannot come below `target`, a larger bound may be returned, such as the objective itself.
  //
  // The gap at the residuals of the iterate is linear in their error, while the suboptimality is quadratic. For rows
  // without a ridge, or nearly so (`nearly_unpenalized`), a better dual point is that of a Newton step on the active
  // set, with Gram matrices, stale or not, as the Hessian. The coefficients are then less exact than others with the
  // same gap, and a last step gains many digits: unless there is none (`last`), only a gap far below the target will
  // do.
  double operator()(double objective, double target, bool nearly_unpenalized, bool last) {
    const bool has_unpenalized = penalty_.has_unpenalized_features();
    double unprojected = this->unprojected(objective), correction;
    if (unprojected > target && unprojected - charged_ <= target) {
      label_unpenalized_rows();
      const DualPoint before = dual_;
      const double found = project(false, correction) ? bound(objective, projected_, correction) : objective;
      if (found < unprojected)
        unprojected = found;
      else
        dual_ = before;
    }
    if (unprojected <= target || !(nearly_unpenalized || penalty_.has_features_without_ridge())) return unprojected;
    if (label_active_set_in_gram()) {
      if (least_gap(true) > (nearly_unpenalized ? HOPEFUL_UNPENALIZED : HOPEFUL) * target) return unprojected;
      const NormalEquations &equations = gram_.equations(groups_, ridge_);
      const std::vector<double> slopes = infeasibility();
      std::vector<double> step = slopes;
      equations.solve(step);
      double gain = 0;
      for (int g = 0; g < groups_.count; g++) gain += 0.25 * slopes[g] * step[g];
      const double enough = last ? target : std::min(target, std::max(FURTHER * target, ROUNDED * objective));
      if (gain > enough) return unprojected;
      if (nearly_unpenalized ? refine_projection(equations, true, step, correction) : project_once(step, correction)) {
        const double found = bound(objective, projected_, correction);
        return found <= target && found - charged_ <= enough ? found : unprojected;
      }
    }
    if (!has_unpenalized) return unprojected;
    label_unpenalized_rows();
    if (least_gap(gram_covers_groups()) > target || !project(true, correction)) return objective;
    return bound(objective, projected_, correction);
  }

  // The gap at the residuals of the iterate; all of the objective where unpenalized rows make them infeasible.
  double unprojected(double objective) {
    rounding_.assign(data_.features, 0.0);
    charged_ = 0;
    return penalty_.has_unpenalized_features() ? objective : bound(objective, at_.gradient, 0.0);
  }

  // The gap at the dual point of a Newton step on the active set. It may be smaller near the minimum, where rounding
  // errors of C exceed what a small penalty allows.
  double on_active_set(double objective) {
    label_active_set();
    double correction;
    if (groups_.count > MOST_UNKNOWNS || !project(false, correction)) return objective;
    return std::min(objective, bound(objective, projected_, correction));
  }

  // The dual point of the last bound, and that bound once more features are known, at whose slopes it has not looked.
  // Nothing changes for features with slopes of zero conjugate there.
  const DualPoint &dual() const { return dual_; }
  double extend(double objective, const std::vector<int> &features) {
    for (const int a : features) at_.known.add(a);
    data_.gradient(*dual_.residuals, features, *dual_.slopes);
    return bound(objective, *dual_.slopes, dual_.correction);
  }
  bool is_dual_projected() const { return dual_.slopes == &projected_; }

  // Whether the residuals can be projected to a strictly feasible dual point: a proof of overlap.
  bool proves_overlap(bool by_gram) {
    double correction;
    label_unpenalized_rows();
    return project(by_gram, correction);
  }

  // One unknown for each component of tasks in each unpenalized row.
  const Groups &label_unpenalized_rows() {
    groups_.clear(tasks());
    for (int a = 0; a < data_.features; a++) {
      if (!penalty_.is_unpenalized(a)) continue;
      int *group = groups_.add(a);
      for (int k = 0; k < tasks(); k++) group[k] = groups_.count + penalty_.component(a, k);
      groups_.count += penalty_.components(a);
    }
    targets_.assign(groups_.count, 0.0);
    ridge_.assign(groups_.count, 0.0);
    return groups_;
  }

 private:
  static constexpr double BALANCED = 1e-12;  // of the sum of absolute terms: thousands of roundings
  static constexpr double ROUNDING = 1e-14;  // likewise, of a sum in the order of the rows
  static constexpr int MOST_ROUNDS = 6;
  static constexpr int MOST_UNKNOWNS = 600;  // of a system for a smaller gap
  static constexpr double HOPEFUL = 0.01;    // of a target: gain of single coordinates up to which a projection pays
  static constexpr double HOPEFUL_UNPENALIZED = 0.1;  // likewise, for nearly unpenalized rows
  static constexpr double FURTHER = 0.01;    // of a target
  static constexpr double ROUNDED = 1e-15;   // of an objective: gaps below cannot be told from rounding

  int tasks() const { return data_.tasks(); }

  // The gap at residuals that are feasible in unpenalized rows, or balanced here in the intercepts if these are the
  // only ones. `correction` bounds what their projection cost.
  double bound(double objective, Table &G, double correction) {
    return with_tasks(tasks(), [&](auto t) { return bound(t, objective, G, correction); });
  }

  template <class Tasks>
  double bound(Tasks t, double objective, Table &G, double correction) {
    Scratch<Tasks, 1> scratch(t);
    double *c = scratch.get();
    const double excess = penalty_.has_unpenalized_features() ? 0.0 : intercept_excess(G);
    double slack = 0, gauge = 1, scale = 1, inner = 0;  // scale: gauge of the balanced residuals at most
    for (const int a : at_.known.members) {
      for (int k = 0; k < t; k++) c[k] = -G.row(k)[a];
      if (penalty_.is_unpenalized(a)) slack += centre_row(a, c);
      const double *b = at_.params.row(a);
      for (int k = 0; k < t; k++) inner = multiply_add(c[k], b[k], inner);
      if (penalty_.l2[a] > 0 || forgive_rounding(a, c, slack)) continue;
      const double moved = excess > 0 ? excess * gauge_of_move(a) : 0.0;  // gauges are subadditive
      const double found = block_.gauge(t, c, penalty_.l1[a], penalty_.fusion[a], std::min(gauge, scale - moved));
      gauge = std::max(gauge, found);
      scale = std::max(scale, found + moved);
    }
    const double s = 1 / scale, balance = excess > 0 ? excess * (2 + largest_predictor()) : 0.0;
    double conjugates = 0, risen = 0;
    for (const int a : at_.known.members)
      if (penalty_.l2[a] > 0) conjugates += conjugate(t, a, G, s, s * excess * data_.size(a).largest, risen);
    charged_ = balance + risen + (1 / gauge - s) * (at_.now.loss + inner);
    dual_ = {&G == &projected_ ? &moved_ : &at_.now.first, &G, correction, scale, excess};
    return objective - s * (at_.now.loss + inner - correction - balance) + conjugates + risen + slack;
  }

  // One unknown for each group of tied tasks, but for coefficients that l1 holds at zero; with the target of its
  // gradient's sum, and its ridge.
  void label_active_set() {
    groups_.clear(tasks());
    for (const int a : at_.known.members)
      if (penalty_.is_unpenalized(a) || at_.is_active(a))
        penalty_.label_ties(a, at_.params.row(a), groups_.add(a), groups_.count);
    set_targets();
  }

  // The same in the order of the working set; false if its Gram matrices do not cover the active set, or the equations
  // are expensive.
  bool label_active_set_in_gram() {
    if (set_.size() == 0 || gram_.size() < set_.size()) return false;
    for (const int a : at_.known.members)
      if (!set_.has(a) && (penalty_.is_unpenalized(a) || at_.is_active(a))) return false;
    groups_.clear(tasks());
    for (const int a : set_.members)
      if (a == 0 || penalty_.l1[a] == 0 || at_.is_active(a))
        penalty_.label_ties(a, at_.params.row(a), groups_.add(a), groups_.count);
    if (!gram_.is_quick(groups_)) return false;
    set_targets();
    return true;
  }

  void set_targets() {
    targets_.assign(groups_.count, 0.0);
    ridge_ = penalty_.ridges(groups_);
    std::vector<double> slopes(tasks());
    for (std::size_t i = 0; i < groups_.size(); i++) {
      const int a = groups_.features[i];
      std::fill(slopes.begin(), slopes.end(), 0.0);
      penalty_.add_gradient(a, at_.params.row(a), slopes.data());
      for (int k = 0; k < tasks(); k++)
        if (groups_.of(i)[k] >= 0) targets_[groups_.of(i)[k]] += slopes[k];
    }
  }

  // The largest gain of a Newton step on a single group: roughly a lower bound on the gap.
  double least_gap(bool by_gram) const {
    const std::vector<double> slope = infeasibility();
    std::vector<double> curvature = ridge_;
    for_all_groups([&](int a, int k, int g) {
      if (slope[g] != 0) curvature[g] += by_gram ? gram_.diagonal(set_.place[a], k) : curvature_between(k, a, a);
    });
    double most = 0;
    for (int g = 0; g < groups_.count; g++) most = std::max(most, 0.25 * slope[g] * slope[g] / (curvature[g] + 1e-300));
    return most;
  }

  // Where a row is infeasible by rounding alone: adds what its rescaling may cost the bound.
  bool forgive_rounding(int a, const double *c, double &cost) {
    if (rounding_[a] == 0) return false;
    const double beyond = 1 - 1 / block_.gauge(tasks(), c, penalty_.l1[a], penalty_.fusion[a], 1.0);
    double sum = 0, largest = 0;
    for (int k = 0; k < tasks(); k++) {
      sum += std::fabs(c[k] * at_.params.row(a)[k]);
      largest = std::max(largest, std::fabs(c[k]));
    }
    if (beyond * largest > rounding_[a]) return false;
    cost += beyond * sum;
    return true;
  }

  // Makes C of an unpenalized row sum to zero in each component; returns what that may cost the bound.
  double centre_row(int a, double *c) const {
    const double *b = at_.params.row(a);
    double cost = 0;
    for (int j = 0; j < penalty_.components(a); j++) {
      double sum = 0, size = 0;
      int members = 0;
      for (int k = 0; k < tasks(); k++)
        if (penalty_.component(a, k) == j) {
          sum += c[k];
          size = std::max(size, std::fabs(b[k]));
          members++;
        }
      for (int k = 0; k < tasks(); k++)
        if (penalty_.component(a, k) == j) c[k] -= sum / members;
      cost += std::fabs(sum) * size;
    }
    return cost;
  }

  // How far C sums from zero over the tasks that share an intercept without penalty.
  double intercept_excess(const Table &G) const {
    if (!penalty_.is_unpenalized(0)) return 0;
    Scratch<int, 1> sums(tasks());
    std::fill(sums.get(), sums.get() + penalty_.components(0), 0.0);
    for (int k = 0; k < tasks(); k++) sums.get()[penalty_.component(0, k)] += G.row(k)[0];
    double excess = 0;
    for (int j = 0; j < penalty_.components(0); j++) excess += std::fabs(sums.get()[j]);
    return excess;
  }

  // The gauge of a move of C in row a by a total of at most the row's largest feature value. Of the intercepts, where
  // moves sum to zero over fused tasks and every edge has to carry half of one and of its centring.
  double gauge_of_move(int a) const {
    return a > 0 ? data_.size(a).largest / penalty_.l1[a] : 1 / penalty_.weakest_tie();
  }

  // Bounds -log p of labels up to log 2, and their offsets. See intercepts in bound.
  double largest_predictor() const {
    Vec most{};
    for (std::size_t i = 0; i < at_.now.linear.size() / LANES; i++) {
      const Vec z = as_vec(at_.now.linear.get())[i];
      const Vec size = z > 0.0 ? z : -z;
      most = size > most ? size : most;
    }
    double largest = 0;
    for (int lane = 0; lane < LANES; lane++) largest = std::max(largest, most[lane]);
    return largest + data_.largest_offset();
  }

  // Conjugate of row a; adds to `risen` by how much it may rise as C moves: the prox is nonexpansive.
  template <class Tasks>
  double conjugate(Tasks t, int a, const Table &G, double s, double move, double &risen) {
    Scratch<Tasks, 3> scratch(t);
    double *c = scratch.get(), *ones = c + t, *b = ones + t, sum = 0, size = 0;
    for (int k = 0; k < t; k++) {
      c[k] = -s * G.row(k)[a];
      ones[k] = 1;
    }
    block_.prox(t, ones, c, penalty_.l1[a], penalty_.fusion[a], b);
    for (int k = 0; k < t; k++) {
      sum = multiply_add(b[k], b[k], sum);
      size += std::fabs(b[k]);
    }
    const double inverse = 0.5 / penalty_.l2[a];
    risen += move * (2 * size + move) * inverse;
    return sum * inverse;
  }

  // ---------------------------------------------------------------- projection of the residuals

  template <class Act>
  void for_all_groups(const Act &act) const {
    for (std::size_t i = 0; i < groups_.size(); i++)
      for (int k = 0; k < tasks(); k++)
        if (groups_.of(i)[k] >= 0) act(groups_.features[i], k, groups_.of(i)[k]);
  }

  // Sum of C over every group.
  std::vector<double> imbalance(const Table &gradient) const {
    std::vector<double> sums(groups_.count, 0.0);
    for_all_groups([&](int a, int k, int g) { sums[g] -= gradient.row(k)[a]; });
    return sums;
  }

  // Projects the residuals, in the metric of the inverse weights, so that the sums of C over all groups meet their
  // targets, and puts their gradient into projected_. False if that leaves the dual domain or misses a target: however
  // small, large coefficients amplify it.
  bool project(bool by_gram, double &correction) {
    by_gram = by_gram && gram_covers_groups();
    const NormalEquations &equations = by_gram ? gram_.equations(groups_, ridge_) : present_equations();
    std::vector<double> step = infeasibility();
    equations.solve(step);
    return refine_projection(equations, by_gram, step, correction);
  }

  // Iterative refinement from the first solution of the equations. First with the present weights, which need the
  // smallest correction, then with those of the equations, which leave nothing but rounding: of nearly singular
  // equations even that may be too much.
  bool refine_projection(const NormalEquations &equations, bool by_gram, std::vector<double> step, double &correction) {
    std::vector<double> sum(groups_.count, 0.0);
    const std::vector<double> magnitude = magnitudes();
    copy_residuals();
    for (int round = 0; round < MOST_ROUNDS; round++) {
      if (round > 0) equations.solve(step);
      for (std::size_t g = 0; g < step.size(); g++) sum[g] += step[g];
      correct(step, by_gram && round > 0);
      step = infeasibility(projected_, sum);
      bool balanced = !by_gram || round > 0;
      for (std::size_t g = 0; g < step.size(); g++)
        balanced &= ridge_[g] > 0 || std::fabs(step[g]) <= BALANCED * magnitude[g];
      if (!balanced) continue;
      for_all_groups([&](int a, int, int g) { rounding_[a] = std::max(rounding_[a], ROUNDING * magnitude[g]); });
      return conjugate_rise(at_.now, moved_, correction);
    }
    return false;
  }

  // Without refinement, for rows whose penalties allow for rounding.
  bool project_once(const std::vector<double> &step, double &correction) {
    copy_residuals();
    correct(step, true);
    return conjugate_rise(at_.now, moved_, correction);
  }

  // Distance of the sums of C from their targets at the iterate.
  std::vector<double> infeasibility() const {
    return infeasibility(at_.gradient, std::vector<double>(groups_.count, 0.0));
  }

  // The same for another gradient, once the coefficients of the groups have moved by `step`.
  std::vector<double> infeasibility(const Table &gradient, const std::vector<double> &step) const {
    std::vector<double> sums = imbalance(gradient);
    for (std::size_t g = 0; g < sums.size(); g++) sums[g] -= targets_[g] + ridge_[g] * step[g];
    return sums;
  }

  // Sums of the absolute terms of C over every group.
  std::vector<double> magnitudes() {
    std::vector<double> sums(groups_.count, 0.0);
    reshape_projected();
    data_.gradient_magnitudes(at_.now.first, groups_.features, projected_);
    for_all_groups([&](int a, int k, int g) { sums[g] += projected_.row(k)[a]; });
    return sums;
  }

  const NormalEquations &present_equations() {
    equations_.factorise(groups_, ridge_, groups_.features, [this](int k, int a) {
      return [this, k, a](int b) { return curvature_between(k, a, b); };
    });
    return equations_;
  }

  bool gram_covers_groups() const {
    for (const int a : groups_.features)
      if (!set_.has(a) || set_.place[a] >= gram_.size()) return false;
    return true;
  }

  double curvature_between(int k, int a, int b) const {
    return data_.product(k, a, b, at_.now.second.row(k));
  }

  // Adds the present weights, or those of the Gram matrices, times a step of the groups to the residuals.
  void correct(const std::vector<double> &step, bool by_gram) {
    steps_.assign(groups_.labels.size(), 0.0);
    for (std::size_t i = 0; i < steps_.size(); i++)
      if (groups_.labels[i] >= 0) steps_[i] = step[groups_.labels[i]];
    change_.clear();
    data_.add_features(groups_.features, steps_, change_);
    for (int k = 0; k < tasks(); k++) {
      const Vec *weight = as_vec((by_gram ? gram_.weights() : at_.now.second).row(k));
      const Vec *change = as_vec(change_.row(k));
      const double growth = by_gram ? gram_.equations_growth(k) : 1.0;
      Vec *to = as_vec(moved_.row(k));
      for (int i = 0; i < data_.vectors(k); i++) to[i] = multiply_add(growth * weight[i], change[i], to[i]);
    }
    reshape_projected();
    data_.gradient(moved_, at_.known.members, projected_);
  }

  void reshape_projected() {
    if (projected_.empty()) projected_.resize(tasks(), padded(data_.features));
  }

  void copy_residuals() {
    if (moved_.empty()) {
      moved_.resize(data_.ranges);
      change_.resize(data_.ranges);
    }
    moved_.copy(at_.now.first);
  }

  const Data &data_;
  const Penalty &penalty_;
  Block &block_;
  State &at_;
  Gram &gram_;
  const WorkingSet &set_;
  Groups groups_;                        // whose sums of C have targets
  std::vector<double> targets_, ridge_;  // by group
  std::vector<double> rounding_;         // error bound of C by feature; 0 where it does not matter
  DualPoint dual_{};                     // of the last bound
  double charged_ = 0;                   // in the last bound, for intercepts out of balance
  NormalEquations equations_;
  std::vector<double> steps_;  // of the features of the groups in each task
  LabelTable moved_, change_;  // projected residuals (the negative ones), and the change of the linear predictor
  Table projected_;            // gradient at the projected residuals
};

}  // namespace fusedlr::FUSEDLR_ISA
