// Inexact proximal Newton with line search (Lee, Sun and Saunders 2014) down to a small duality gap.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "block.hpp"
#include "coordinate_descent.hpp"
#include "core.hpp"
#include "data.hpp"
#include "duality_gap.hpp"
#include "gram.hpp"
#include "gram_model.hpp"
#include "graph.hpp"
#include "interior_point.hpp"
#include "isa.hpp"
#include "logistic.hpp"
#include "numbers.hpp"
#include "penalty.hpp"
#include "row_model.hpp"
#include "rows.hpp"
#include "screen.hpp"
#include "state.hpp"
#include "stop_check.hpp"
#include "tasks.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class ProximalNewton {
 public:
  enum End { CONVERGED, OUT_OF_STEPS, STALLED, STOPPED };

  ProximalNewton(const Data &data, const Penalty &penalty)
      : state(data),
        data_(data),
        penalty_(penalty),
        block_(penalty.block),
        set_(data.features),
        gram_(data, state, set_),
        rows_(data, state, set_),
        precise_model_(data, state, set_, gram_),
        quick_model_(data, state, set_, gram_),
        precise_descent_(penalty, state, set_, precise_model_, stop_check_),
        quick_descent_(penalty, state, set_, quick_model_, stop_check_),
        row_descent_(penalty, state, set_, rows_, stop_check_),
        interior_point_(data, penalty, state, stop_check_),
        duality_gap_(data, penalty, state, gram_, set_),
        screen_(data, penalty) {
    restart();
    null_loss_ = state.now.loss;
  }

  State state;
  double objective = 0, gap = 0;  // gap is relative
  int iterations = 0;
  bool nearly_unpenalized = false;  // some features have neither l1 nor l2, or only the ridge of separated data
  bool has_ridge = false;           // and they have that ridge to the end

  // Denominator of relative gaps: the objective, but at least a thousandth of the loss of all-zero coefficients.
  double scale() const { return std::max(objective, 1e-3 * null_loss_); }

  // Begins a solve with a budget of sweeps, which bounds its time.
  void begin(const Settings &settings) {
    iterations = 0;
    passed_ = false;
    budget_ = BUDGET + 10 * settings.max_iterations;
    early_ = true;
  }

  // Starts from coefficients in the caller's units.
  void start(const double *params) {
    data_.to_internal(params, state.params);
    restart();
  }

  // The objective at the iterate.
  double value() const { return state.now.loss + penalty_.total(state.params); }

  // The same where all other features than those known are zero.
  double known_value() const { return state.now.loss + penalty_.total(state.known.members, state.params); }

  // The objective at other coefficients, which become the iterate if that is below `least`.
  double start_if_below(double least, const double *params) {
    data_.to_internal(params, state.trial);
    predict(state.trial, state.next);
    const double value = state.next.loss + penalty_.total(state.trial);
    if (value < least) {
      state.params.copy(state.trial);
      state.now.swap(state.next);
    }
    return value;
  }

  // Discards what depends on the units of the columns, which have changed, and starts from the caller's coefficients.
  void change_units(const double *params) {
    set_.clear();
    gram_.discard();
    screen_.forget();
    start(params);
  }

  DualityGap &duality_gap() { return duality_gap_; }
  StopCheck &stop_check() { return stop_check_; }

  // Whether the last solution's residuals prove overlap (data not separated) at the present penalties.
  bool proves_overlap() {
    know_all();
    data_.gradient(state.now.first, data_.all(), state.gradient);
    return duality_gap_.proves_overlap(gram_is_near());
  }

  // Proximal Newton from the present iterate; where it stalls, the interior-point method and proximal Newton from
  // there.
  End minimise(const Settings &settings) {
    End end = iterate(settings);
    if (end == STALLED && gap > std::max(settings.tolerance, SMALL) && interior_point_.is_affordable())
      end = fall_back_on_interior_point(settings);
    return end == STALLED ? OUT_OF_STEPS : end;
  }

 private:
  static constexpr double BEYOND = 0.1;  // of the last gap over all features: a gap at which to look at all again
  static constexpr double NEGLIGIBLE = 1e-12, SMALL = 1e-9;  // gaps not worth a better dual point, or the fallback

  // Keeps the better of the two iterates.
  End fall_back_on_interior_point(const Settings &settings) {
    const double objective_before = objective, gap_before = gap;
    const std::vector<double> params(state.params.get(), state.params.get() + state.params.size());
    budget_ = BUDGET;
    const bool finished = interior_point_.run(damping(), settings);
    gram_.discard();
    restart();
    const End end = finished ? iterate(settings) : STOPPED;
    if (end == CONVERGED || (end == STALLED && gap < gap_before)) return end;
    std::copy(params.begin(), params.end(), state.params.get());
    restart();
    objective = objective_before;
    gap = gap_before;
    return end;
  }

  End iterate(const Settings &settings) {
    fit_far_intercepts();
    polish_intercepts(settings.tolerance);
    double fall = std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity(), beyond = settings.tolerance;
    bool failed = false, screens = screen_.pays() && !nearly_unpenalized;
    int stalls = 0;
    choose_known(screens);
    double value = known_value();
    for (int step = 0;; step++) {
      const bool last = step == settings.max_iterations || budget_ <= 0;
      if (last) know_all();
      compute_gradient(screens);
      objective = value;
      const bool drifted = gram_.drift() > drift_limit();
      gap = absolute_gap(settings.tolerance * scale(), drifted && !last, last) / scale();
      if (screens && !last && (state.known.has_all() || gap <= beyond)) {
        if (!state.known.has_all()) look_beyond(settings.tolerance);
        beyond = std::max(settings.tolerance, BEYOND * gap);
      }
      if (gap <= settings.tolerance) return CONVERGED;
      if (screens && !last) drop_unlikely();
      // Near convergence the objective stagnates at rounding while the gap may still fall.
      stalls = fall <= 1e-15 * objective && gap > 0.5 * least ? stalls + 1 : 0;
      const bool slow = converges_slowly(step, gap / least);
      least = std::min(least, gap);
      if (step == settings.max_iterations) return OUT_OF_STEPS;
      if (stalls == 5 || budget_ <= 0) {
        if (state.known.has_all()) return end_stalled(settings);
        stop_screening(screens, stalls);
        continue;
      }
      if (stop_check_.stop_requested(settings)) return STOPPED;
      iterations++;
      const bool fresh = choose_working_set(drifted, slow, failed);
      if (!minimise_model(settings)) return STOPPED;
      failed = !line_search();
      if (failed && fresh) {
        if (state.known.has_all()) return end_stalled(settings);
        stop_screening(screens, stalls);
      }
      if (!failed) polish_intercepts(settings.tolerance);
      value = known_value();
      fall = objective - value;
    }
  }

  // ---------------------------------------------------------------- features that are looked at

  void know_all() {
    if (state.known.has_all()) return;
    state.known.clear();
    for (const int a : data_.all()) state.known.add(a);
  }

  // The features to begin with: where residuals are close to those of earlier passes over X, the support, the working
  // set and what their slopes suggest; else all.
  void choose_known(bool screens) {
    if (!screens || !screen_.mix(state.now.first)) return know_all();
    state.known.clear();
    for (const int a : data_.all())
      if (is_needed(a)) state.known.add(a);
    screen_.add_likely(state.known);
  }

  bool is_needed(int a) const { return a == 0 || set_.has(a) || state.is_active(a); }

  void drop_unlikely() {
    screen_.drop_unlikely(state.gradient, state.known, [this](int a) { return is_needed(a); });
  }

  void compute_gradient(bool screens) {
    data_.gradient(state.now.first, state.known.members, state.gradient);
    if (screens && state.known.has_all()) remember(state.now.first, state.gradient);
  }

  void remember(const LabelTable &residuals, const Table &slopes) {
    screen_.remember(residuals, slopes, passed_);
    passed_ = true;
  }

  // Makes the gap one over all features: looks at those whose slopes are not sure to be within their penalties.
  void look_beyond(double tolerance) {
    const std::vector<int> &doubtful = screen_.doubtful(duality_gap_.dual(), state.known);
    gap = duality_gap_.extend(objective, doubtful) / scale();
    const DualPoint &dual = duality_gap_.dual();
    if (state.known.has_all()) remember(*dual.residuals, *dual.slopes);
    if (gap > tolerance && duality_gap_.is_dual_projected())
      data_.gradient(state.now.first, doubtful, state.gradient);
  }

  // Before a solve ends short of its tolerance, all features are looked at from there on.
  void stop_screening(bool &screens, int &stalls) {
    screens = false;
    stalls = 0;
    know_all();
  }

  // Where Gram matrices are about to be formed anew, projecting by the old ones is hardly worth it.
  double absolute_gap(double target, bool anew, bool last) {
    const bool hopeless = nearly_unpenalized && anew && gram_.size() > 0;
    return hopeless ? duality_gap_.unprojected(objective) : duality_gap_(objective, target, nearly_unpenalized, last);
  }

  // Whether a stale Hessian may be to blame for a small fall of the gap. Where only the ridge of separated data bounds
  // the coefficients it is so from the start; then refresh it at once, unless that costs more than an iteration.
  bool converges_slowly(int step, double fall) const {
    if (nearly_unpenalized && !penalty_.has_unpenalized_features() && data_.rows_by_task() <= data_.features)
      return step > 0 && fall > 0.1;
    return step > 3 && fall > 0.3;
  }

  // No step helps any more; perhaps a better dual point certifies the iterate.
  End end_stalled(const Settings &settings) {
    if (gap > NEGLIGIBLE) gap = std::min(gap, duality_gap_.on_active_set(objective) / scale());
    return gap <= settings.tolerance ? CONVERGED : STALLED;
  }

  static constexpr int BUDGET = 4000;        // sweeps; a whole solve takes a hundred or two, see docs/speed.md
  static constexpr int SMALL_GRAM = 400;     // features whose Gram matrices are cheap beside direct solves
  static constexpr double CACHED = 1 << 17;  // entries of Gram matrices that stay in cache: half a megabyte

  int tasks() const { return data_.tasks(); }

  // Linear predictor, loss and derivatives at the present coefficients.
  void restart() { predict(state.params, state.now); }

  void predict(const Table &params, Derivatives &at) {
    at.linear.copy(data_.offset);
    moved_.clear();
    moves_.clear();
    for (int a = 0; a < data_.features; a++) {
      const double *b = params.row(a);
      if (!is_nonzero(b, tasks())) continue;
      moved_.push_back(a);
      moves_.insert(moves_.end(), b, b + tasks());
    }
    data_.add_features(moved_, moves_, at.linear);
    data_.evaluate(at);
  }

  // ---------------------------------------------------------------- intercepts

  // Where offsets, or a warm start, leave the loss of some task nearly linear in its intercept, Newton steps diverge.
  // Then shift the intercepts to their best fit, each alone or all of a component tied.
  void fit_far_intercepts() {
    if (!penalty_.is_unpenalized(0) || !intercepts_are_far()) return;
    std::vector<double> alone(tasks()), tied(tasks());
    for (int k = 0; k < tasks(); k++)
      tied[k] = best_shift([this, k](int j) { return penalty_.component(0, j) == penalty_.component(0, k); });
    try_shift(tied);
    if (penalty_.fusion[0] > 0) {
      for (int k = 0; k < tasks(); k++) alone[k] = best_shift([k](int j) { return j == k; });
      try_shift(alone);
    }
  }

  bool intercepts_are_far() const {
    for (int k = 0; k < tasks(); k++) {
      double slope = 0, curvature = 0;
      for (int i = 0; i < data_.length(k); i++) {
        slope += state.now.first.row(k)[i];
        curvature += state.now.second.row(k)[i];
      }
      if (curvature < 0.02 * std::fabs(slope)) return true;
    }
    return false;
  }

  // Safeguarded Newton for the root of a monotone function: bisection where a step leaves the bracket.
  template <class Member>
  double best_shift(const Member &member) const {
    double all = 0, yes = 0, least = std::numeric_limits<double>::infinity(), most = -least;
    for_all_labels(member, [&](double sign, double weight, double linear) {
      all += weight;
      yes += sign > 0 ? weight : 0.0;
      least = std::min(least, linear);
      most = std::max(most, linear);
    });
    if (all == 0) return 0;
    const double share = std::min(std::max(yes / all, 1e-3), 1 - 1e-3), middle = std::log(share / (1 - share));
    double low = middle - most, high = middle - least, shift = 0.5 * (low + high);
    for (int round = 0; round < 100 && high - low > 1e-6; round++) {
      double slope = -share * all, curvature = 0;
      for_all_labels(member, [&](double, double weight, double linear) {
        const Chance chance(linear + shift);
        slope += weight * chance.value;
        curvature += weight * chance.slope;
      });
      (slope > 0 ? high : low) = shift;
      const double to = curvature > 0 ? shift - slope / curvature : low;
      shift = to > low && to < high ? to : 0.5 * (low + high);
      if (std::fabs(slope) <= 1e-6 * curvature) break;
    }
    return shift;
  }

  template <class Member, class Act>
  void for_all_labels(const Member &member, const Act &act) const {
    for (int k = 0; k < tasks(); k++)
      if (member(k))
        for (int i = 0; i < data_.length(k); i++)
          if (data_.weights.row(k)[i] > 0)
            act(data_.signs.row(k)[i], data_.weights.row(k)[i], state.now.linear.row(k)[i]);
  }

  // Proximal Newton on the intercept block alone until its gradient vanishes: the gap depends on that to first order,
  // on rows with a ridge only to second.
  void polish_intercepts(double tolerance) {
    if (!penalty_.is_unpenalized(0)) return;
    Scratch<int, 3> scratch(tasks());
    double *h = scratch.get(), *q = h + tasks(), *to = q + tasks(), *b = state.params.row(0);
    const double enough = 1e-2 * tolerance * std::max(state.now.loss, 1e-3 * null_loss_);
    for (int round = 0; round < 4; round++) {
      double size = 1, miss = 0, longest = 0;
      for (int k = 0; k < tasks(); k++) {
        Vec first{}, second{};
        for (int i = 0; i < data_.vectors(k); i++) {
          first += as_vec(state.now.first.row(k))[i];
          second += as_vec(state.now.second.row(k))[i];
        }
        h[k] = total(second) + damping();
        q[k] = multiply_add(h[k], b[k], -total(first));
        size = std::max(size, std::fabs(b[k]));
      }
      block_.prox(tasks(), h, q, 0.0, penalty_.fusion[0], to);
      for (int k = 0; k < tasks(); k++) {
        miss = std::max(miss, std::fabs(h[k] * (to[k] - b[k])));
        longest = std::max(longest, std::fabs(to[k] - b[k]));
      }
      if (miss * size <= enough && miss <= 1e-2 * tolerance * penalty_.weakest_tie()) break;
      for (int k = 0; k < tasks() && longest > 1; k++) to[k] = b[k] + (to[k] - b[k]) / longest;
      if (!move_intercepts(to)) break;
    }
  }

  bool try_shift(const std::vector<double> &shift) {
    Scratch<int, 1> to(tasks());
    for (int k = 0; k < tasks(); k++) to.get()[k] = state.params[k] + shift[k];
    return move_intercepts(to.get());
  }

  // Accepts new intercepts if they do not raise the objective.
  bool move_intercepts(const double *to) {
    for (int k = 0; k < tasks(); k++) {
      const Vec by = broadcast(to[k] - state.params[k]);
      for (int i = 0; i < data_.vectors(k); i++)
        as_vec(state.next.linear.row(k))[i] = as_vec(state.now.linear.row(k))[i] + by;
    }
    const double before = penalty_.value(0, state.params.row(0)), after = penalty_.value(0, to);
    if (!(data_.evaluate(state.next) + (after - before) <= state.now.loss * (1 + 1e-14))) return false;
    std::copy(to, to + tasks(), state.params.row(0));
    state.now.swap(state.next);
    return true;
  }

  // ---------------------------------------------------------------- the quadratic model

  // The working set of the next quadratic model: all non-zero features and the violators. A new one with a fresh
  // Hessian where the weights have drifted, or convergence is slow or the line search failed. True if the Hessian is
  // exactly that of the iterate. The ridge of separated data is larger than what single precision leaves out.
  bool choose_working_set(bool drifted, bool slow, bool failed) {
    const bool fresh = drifted || slow || failed;
    if (fresh) {
      set_.clear();
      gram_.refresh(failed || (!has_ridge && (slow || nearly_unpenalized)));
    }
    for (const int a : state.known.members)
      if (!set_.has(a) && (a == 0 || state.is_active(a))) set_.add(a);
    add_violators();
    by_rows_ = set_.size() > std::min(largest_gram(), gram_.largest());
    if (by_rows_) {
      gram_.discard();
      rows_.prepare(damping());
    } else {
      gram_.prepare(damping());
    }
    return (fresh && gram_.is_precise()) || by_rows_;
  }

  // Largest working set for which Gram matrices pay. Sweeps by rows cost as much as sweeps by Gram matrices of three
  // features a row, but those must be formed first, and leave the cache sooner. Measured: docs/speed.md.
  int largest_gram() const {
    if (nearly_unpenalized) return std::max(2 * data_.rows_by_task(), SMALL_GRAM);
    const int cached = static_cast<int>(std::sqrt(CACHED / tasks()));
    const int rows = data_.work_by_column();
    return std::max(rows + rows / 4, std::min(3 * rows, cached));
  }

  // Drift of the weights up to which Gram matrices are reused. New ones cost n / 2 products for each entry; more
  // iterations with old ones cost more where blocks are fused. Measured: docs/speed.md.
  double drift_limit() const {
    return penalty_.is_fused() || nearly_unpenalized ? std::min(0.08, 0.03 + data_.rows_by_task() / 8000.0) : 0.1;
  }

  // Whether Gram matrices approximate the present Hessian.
  bool gram_is_near() { return !by_rows_ && gram_.drift() <= drift_limit(); }

  // Levenberg damping: keeps blocks without any curvature where they are.
  double damping() const { return 1e-12 * (null_loss_ > 0 ? null_loss_ : 1.0) / tasks(); }

  // Zero features that violate their optimality conditions; of very many, those with the largest violation.
  void add_violators() {
    std::vector<std::pair<double, int>> &found = violators_;
    found.clear();
    with_tasks(tasks(), [this](auto t) { find_violators(t); });
    const std::size_t most = std::max<std::size_t>(128, 2 * set_.members.size());
    if (found.size() > most) {
      std::nth_element(found.begin(), found.begin() + most, found.end());
      found.resize(most);
    }
    for (const auto &violator : found) set_.add(violator.second);
  }

  template <class Tasks>
  void find_violators(Tasks t) {
    Scratch<Tasks, 1> scratch(t);
    double *q = scratch.get();
    for (const int a : state.known.members) {
      if (a == 0 || set_.has(a)) continue;
      double miss = 0;
      for (int k = 0; k < t; k++) {
        q[k] = -state.gradient.row(k)[a];
        const double over = std::max(0.0, std::fabs(q[k]) - penalty_.l1[a]);
        miss += over * over;
      }
      if (miss > 0 && !block_.is_zero(t, q, penalty_.l1[a], penalty_.fusion[a])) violators_.push_back({-miss, a});
    }
  }

  bool minimise_model(const Settings &settings) {
    const bool early = std::exchange(early_, false);
    const double smallest = 1e-12 * settings.tolerance * settings.tolerance * objective;
    const auto run = [&](auto &descent) {
      return descent.run(damping(), smallest, nearly_unpenalized, early, budget_, settings);
    };
    if (by_rows_) return run(row_descent_);
    return gram_.is_precise() ? run(precise_descent_) : run(quick_descent_);
  }

  // ---------------------------------------------------------------- line search

  // Backtracking until the Armijo condition for composite objectives holds.
  bool line_search() {
    if (!by_rows_) collect_change();
    const double before = penalty_.total(set_.members, state.params), after = penalty_.total(set_.members, state.trial);
    double slope = 0;
    for (const int a : set_.members) {
      const double *b = state.params.row(a), *to = state.trial.row(a);
      for (int k = 0; k < tasks(); k++) slope = multiply_add(to[k] - b[k], state.gradient.row(k)[a], slope);
    }
    // A model that rounding left indefinite may predict a rise; none is allowed.
    const double expected = std::min(0.0, slope + after - before);
    double step = 1;
    for (int halvings = 0; halvings < 30; halvings++, step *= 0.5) {
      for (std::size_t i = 0; i < state.change.size() / LANES; i++)
        as_vec(state.next.linear.get())[i] =
            multiply_add(as_vec(state.change.get())[i], broadcast(step), as_vec(state.now.linear.get())[i]);
      const double value = data_.evaluate(state.next) + (step == 1 ? after : penalty_between(step));
      if (value <= objective + 0.01 * step * expected + 1e-13 * objective) {
        accept(step);
        return true;
      }
    }
    return false;
  }

  void collect_change() {
    state.change.clear();
    moves_.resize(set_.members.size() * tasks());
    double *next = moves_.data();
    for (const int a : set_.members)
      for (int k = 0; k < tasks(); k++) *next++ = state.trial.row(a)[k] - state.params.row(a)[k];
    data_.add_features(set_.members, moves_, state.change);
  }

  double penalty_between(double step) const {
    Scratch<int, 1> b(tasks());
    double sum = 0;
    for (const int a : set_.members) {
      const double *from = state.params.row(a), *to = state.trial.row(a);
      for (int k = 0; k < tasks(); k++) b.get()[k] = from[k] + step * (to[k] - from[k]);
      sum += penalty_.value(a, b.get());
    }
    return sum;
  }

  void accept(double step) {
    for (const int a : set_.members) {
      double *b = state.params.row(a);
      const double *to = state.trial.row(a);
      if (step == 1)
        std::copy(to, to + tasks(), b);
      else
        for (int k = 0; k < tasks(); k++) b[k] += step * (to[k] - b[k]);
    }
    state.now.swap(state.next);
  }

  const Data &data_;
  const Penalty &penalty_;
  Block &block_;
  WorkingSet set_;
  Gram gram_;
  RowModel rows_;
  StopCheck stop_check_;
  GramModel<double> precise_model_;
  GramModel<float> quick_model_;
  CoordinateDescent<GramModel<double>> precise_descent_;
  CoordinateDescent<GramModel<float>> quick_descent_;
  CoordinateDescent<RowModel> row_descent_;
  InteriorPoint interior_point_;
  DualityGap duality_gap_;
  Screen screen_;
  bool passed_ = false;  // this solve has made a pass over all of X
  bool by_rows_ = false;
  int budget_ = 0;      // sweeps left in this solve
  bool early_ = false;  // before the first iteration of this solve
  double null_loss_ = 0;
  std::vector<int> moved_;  // features and their coefficients or steps, see predict and collect_change
  std::vector<double> moves_;
  std::vector<std::pair<double, int>> violators_;
};

}  // namespace fusedlr::FUSEDLR_ISA
