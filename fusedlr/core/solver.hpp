// Paths of solutions by proximal Newton.
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

class PathSolver final : public Solver {
 public:
  explicit PathSolver(const Problem &problem)
      : block_(problem.tasks, problem.edges, problem.ends, problem.edge_weights, problem.chain),
        data_(problem),
        penalty_(block_, data_.features),
        newton_(data_, penalty_),
        separation_ridge_(data_, penalty_, newton_) {}

  void solve_path(const Factors &factors, int points, const double *point, const double *start,
                  const Settings &settings, double *params, Report *reports, double *ridge) override {
    factors_ = factors;
    warm_starts_.clear();
    std::fill(ridge, ridge + data_.features, 0.0);
    if (start) newton_.start(start);
    for (int i = 0; i < points; i++, point += 3) {
      penalise({point[0], point[1], point[2]});
      if (i > 0) start_from_best(params, settings.floor);
      reports[i] = solve(settings);
      data_.to_external(newton_.state.params, params + i * newton_.state.params.size());
      for (int a = 0; a < data_.features && reports[i].status != OPTIMAL; a++)
        ridge[a] = std::max(ridge[a], separation_ridge_.ridge()[a] * data_.scale(a) * data_.scale(a));
      if (reports[i].status == INTERRUPTED || (settings.done && !settings.done(settings.context, i + 1))) return;
      remember();
    }
  }

 private:
  static constexpr int MOST_TRIALS = 5;  // of an extrapolation, each twice as far

  void penalise(const WarmStarts::Point &point) {
    point_ = point;
    update_centring();
    for (int a = 0; a < data_.features; a++) {
      const double scale = data_.scale(a);
      penalty_.l1[a] = point[0] * (factors_.l1[a] / scale);
      penalty_.l2[a] = point[1] * (factors_.l2[a] / (scale * scale));
      penalty_.fusion[a] = point[2] * (factors_.fusion[a] / scale);
    }
    penalty_.update();
  }

  Report solve(Settings settings) {
    const double accepted = settings.tolerance == 0 ? ACCEPTED : settings.tolerance;
    if (settings.tolerance == 0) settings.tolerance = AIM;
    newton_.begin(settings);
    Status status;
    const auto end = separation_ridge_.solve(settings, accepted, status);
    if (end == ProximalNewton::OUT_OF_STEPS) status = NOT_CONVERGED;
    if (end == ProximalNewton::STOPPED) status = INTERRUPTED;
    Report report{newton_.objective, newton_.gap, status, newton_.iterations, 0, 0};
    for (const int a : newton_.state.known.members) count_groups(a, report);  // all others are zero
    return report;
  }

  // From the stored solution of least objective, or an extrapolation from neighbours on a grid if that is better.
  void start_from_best(const double *solutions, double floor) {
    const std::size_t best = warm_starts_.best(point_), count = newton_.state.params.size();
    std::vector<WarmStarts::Extrapolation> guesses = warm_starts_.from_neighbours(point_, best);
    for (const WarmStarts::Extrapolation &guess : warm_starts_.along_path(point_)) guesses.push_back(guess);
    const bool unpenalized = penalty_.has_unpenalized_features();
    const AddedRidge assumed(penalty_, separation_ridge_.likely(floor));
    newton_.start(solutions + best * count);
    double least = newton_.value();
    for (const WarmStarts::Extrapolation &guess : guesses) try_extrapolation(solutions, guess, unpenalized, least);
  }

  // Stores the solution just found for warm starts, as the next of the caller's array of solutions.
  void remember() {
    WarmStarts::Terms terms{newton_.state.now.loss, 0, 0, 0};
    for (const int a : newton_.state.known.members) {
      const double *b = newton_.state.params.row(a);
      double size = 0, square = 0;
      for (int k = 0; k < data_.tasks(); k++) {
        size += std::fabs(b[k]);
        square += b[k] * b[k];
      }
      const double scale = data_.scale(a);
      terms.l1 += factors_.l1[a] / scale * size;
      terms.l2 += factors_.l2[a] / (scale * scale) * 0.5 * square;
      if (a > 0 || factors_.fusion[0] > 0)
        terms.fusion += factors_.fusion[a] / scale * block_.total_variation(data_.tasks(), b);
    }
    warm_starts_.add(point_, terms);
  }

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
  void update_centring() {
    const bool fused = point_[2] * factors_.fusion[0] > 0 && !block_.edges().empty();
    if (data_.is_centred() == !fused) return;
    std::vector<double> params(newton_.state.params.size());
    data_.to_external(newton_.state.params, params.data());
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
  Factors factors_{};
  WarmStarts::Point point_{0, 0, 0};
  WarmStarts warm_starts_;
  std::vector<double> trial_;
};

}  // namespace fusedlr::FUSEDLR_ISA
