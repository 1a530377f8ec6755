// Proximal Newton for the whole problem.
//
// Outer iterations (newton.hpp): proximal Newton with line search on the logistic loss (logistic.hpp), whose quadratic
// model has Gram matrices as its Hessian (gram_model.hpp, gram.hpp) or, for many more features than rows, works on the
// rows (row_model.hpp). Inner iterations: block coordinate descent on a working set of features, each block minimised
// by an exact prox (coordinate_descent.hpp, block.hpp). Every iteration ends with a duality gap (duality_gap.hpp),
// which alone is the stopping rule. Fallback when coordinate descent stalls: an interior-point method
// (interior_point.hpp). Separated data get a ridge (separation_ridge.hpp), grids warm starts (warm_starts.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "block.hpp"
#include "core.hpp"
#include "data.hpp"
#include "graph.hpp"
#include "isa.hpp"
#include "newton.hpp"
#include "penalty.hpp"
#include "separation_ridge.hpp"
#include "warm_starts.hpp"

namespace fusedlr::FUSEDLR_ISA {

class NewtonSolver final : public Solver {
 public:
  explicit NewtonSolver(const Problem &problem)
      : block_(problem.tasks, problem.edges, problem.ends, problem.edge_weights, problem.chain),
        data_(problem),
        penalty_(block_, data_.features),
        newton_(data_, penalty_),
        separation_ridge_(data_, penalty_, newton_),
        l1_factors_(data_.features, 1.0),
        l2_factors_(data_.features, 1.0),
        fusion_factors_(data_.features, 1.0) {
    l1_factors_[0] = l2_factors_[0] = 0;
  }

  void penalise(const double *l1, const double *l2, const double *fusion) override {
    update_centring(fusion[0]);
    for (int a = 0; a < data_.features; a++) {
      penalty_.l1[a] = l1[a] / data_.scale(a);
      penalty_.l2[a] = l2[a] / (data_.scale(a) * data_.scale(a));
      penalty_.fusion[a] = fusion[a] / data_.scale(a);
    }
  }

  void set_factors(const double *l1, const double *l2, const double *fusion) override {
    l1_factors_.assign(l1, l1 + data_.features);
    l2_factors_.assign(l2, l2 + data_.features);
    fusion_factors_.assign(fusion, fusion + data_.features);
  }

  void penalise_by(double l1, double l2, double fusion) override {
    point_ = {l1, l2, fusion};
    update_centring(fusion * fusion_factors_[0]);
    for (int a = 0; a < data_.features; a++) {
      penalty_.l1[a] = l1 * (l1_factors_[a] / data_.scale(a));
      penalty_.l2[a] = l2 * (l2_factors_[a] / (data_.scale(a) * data_.scale(a)));
      penalty_.fusion[a] = fusion * (fusion_factors_[a] / data_.scale(a));
    }
  }

  void start(const double *params) override { newton_.start(params); }

  // From the stored solution of least objective, or an extrapolation from neighbours on a grid if that is better.
  void start_from_best(const double *solutions, double floor) override {
    if (warm_starts_.empty()) return;
    const std::size_t best = warm_starts_.best(point_), count = newton_.state.params.size();
    std::vector<WarmStarts::Extrapolation> guesses = warm_starts_.from_neighbours(point_, best);
    for (const WarmStarts::Extrapolation &guess : warm_starts_.along_path(point_)) guesses.push_back(guess);
    const bool unpenalized = penalty_.has_unpenalized_features();
    const std::vector<double> requested = penalty_.l2;
    if (unpenalized) separation_ridge_.assume_ridge(floor);
    start(solutions + best * count);
    double least = newton_.value();
    for (const WarmStarts::Extrapolation &guess : guesses) try_extrapolation(solutions, guess, unpenalized, least);
    penalty_.l2 = requested;
  }

  void remember() override {
    WarmStarts::Terms terms{newton_.state.now.loss, 0, 0, 0};
    for (int a = 0; a < data_.features; a++) {
      const double *b = newton_.state.params.row(a);
      double size = 0, square = 0;
      for (int k = 0; k < data_.tasks(); k++) {
        size += std::fabs(b[k]);
        square += b[k] * b[k];
      }
      const double scale = data_.scale(a);
      terms.l1 += l1_factors_[a] / scale * size;
      terms.l2 += l2_factors_[a] / (scale * scale) * 0.5 * square;
      if (a > 0 || fusion_factors_[0] > 0)
        terms.fusion += fusion_factors_[a] / scale * block_.total_variation(data_.tasks(), b);
    }
    warm_starts_.add(point_, terms);
  }

  void forget() override { warm_starts_.clear(); }

  void params(double *out) const override { data_.to_external(newton_.state.params, out); }

  void ridge(double *out) const override {
    for (int a = 0; a < data_.features; a++) out[a] = separation_ridge_.ridge()[a] * data_.scale(a) * data_.scale(a);
  }

  Report solve(const Settings &settings) override {
    using Newton = ProximalNewton;
    newton_.begin(settings);
    Status status;
    const auto end = separation_ridge_.solve(settings, status);
    if (end == Newton::OUT_OF_STEPS) status = NOT_CONVERGED;
    if (end == Newton::STOPPED) status = INTERRUPTED;
    Report report{newton_.objective, newton_.gap, status, newton_.iterations, 0, 0};
    for (int a = 0; a < data_.features; a++) count_groups(a, report);
    return report;
  }

 private:
  static constexpr int MOST_TRIALS = 5;  // of an extrapolation, each twice as far

  // Tries an extrapolated start and keeps it if its objective is the least so far; with unpenalized rows and an
  // open-ended one, doubles its factor while that helps.
  void try_extrapolation(const double *solutions, const WarmStarts::Extrapolation &guess, bool unpenalized,
                         double &least) {
    const std::size_t count = newton_.state.params.size();
    const double *start = solutions + guess.start * count, *from = solutions + guess.from * count,
                 *to = solutions + guess.to * count;
    double before = std::numeric_limits<double>::infinity(), factor = guess.factor;
    trial_.resize(count);
    for (int round = 0; round < (guess.open_ended && unpenalized ? MOST_TRIALS : 1); round++, factor *= 2) {
      for (std::size_t i = 0; i < count; i++) trial_[i] = start[i] + factor * (to[i] - from[i]);
      if (unpenalized) restore_ties(start);
      const double value = newton_.start_if_below(least, trial_.data());
      least = std::min(least, value);
      if (!(value < before)) return;
      before = value;
    }
  }

  // Gives an extrapolated start the ties of the solution that it sets out from: with nearly unpenalized rows, each tie
  // broken in vain is one more unknown in the Newton step on the active set.
  void restore_ties(const double *from) {
    const int t = data_.tasks();
    std::vector<int> group(t), members(t);
    std::vector<double> mean(t);
    for (int a = 0; a < data_.features; a++) {
      const std::size_t row = static_cast<std::size_t>(a) * t;
      if (!breaks_tie(a, from + row, &trial_[row])) continue;
      int count = 0;
      std::fill(group.begin(), group.end(), -1);
      penalty_.label_ties(a, from + row, group.data(), count);
      std::fill(members.begin(), members.end(), 0);
      std::fill(mean.begin(), mean.end(), 0.0);
      for (int k = 0; k < t; k++)
        if (group[k] >= 0) mean[group[k]] += (trial_[row + k] - mean[group[k]]) / ++members[group[k]];
      for (int k = 0; k < t; k++)
        if (group[k] >= 0) trial_[row + k] = mean[group[k]];
    }
  }

  bool breaks_tie(int a, const double *from, const double *guess) const {
    if (penalty_.fusion[a] > 0)
      for (const Edge &e : block_.edges())
        if (from[e.a] == from[e.b] && guess[e.a] != guess[e.b]) return true;
    return false;
  }

  // Centres columns far from zero where intercepts are not fused.
  void update_centring(double intercept_fusion) {
    std::vector<double> params(newton_.state.params.size());
    data_.to_external(newton_.state.params, params.data());
    const bool fused = intercept_fusion > 0 && !block_.edges().empty();
    if (data_.centre(!fused)) newton_.change_units(params.data());
  }

  // Non-zero coefficients, and groups of tied neighbours (non-zero ones only, but for the intercept).
  void count_groups(int a, Report &report) const {
    const double *b = newton_.state.params.row(a);
    if (a > 0 && !newton_.state.is_active(a)) return;
    for (int k = 0; k < data_.tasks(); k++) report.nonzeros += a > 0 && b[k] != 0;
    report.groups += block_.count_groups(b, a == 0);
  }

  Block block_;
  Data data_;
  Penalty penalty_;
  ProximalNewton newton_;
  SeparationRidge separation_ridge_;
  std::vector<double> l1_factors_, l2_factors_, fusion_factors_;
  WarmStarts::Point point_{0, 0, 0};
  WarmStarts warm_starts_;
  std::vector<double> trial_;
};

}  // namespace fusedlr::FUSEDLR_ISA
