// Block coordinate descent on a quadratic model plus penalty: a block is the coefficients of one feature and is
// minimised exactly. With Anderson acceleration, and Newton steps on the active set (support and ties fixed) where
// sweeps stall. Model is GramModel or RowModel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "anderson.hpp"
#include "block.hpp"
#include "chain_prox.hpp"
#include "groups.hpp"
#include "core.hpp"
#include "graph.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "penalty.hpp"
#include "state.hpp"
#include "stop_check.hpp"
#include "tasks.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

template <class Model>
class CoordinateDescent {
  using StateTable = typename Model::StateTable;

 public:
  CoordinateDescent(const Penalty &penalty, State &at, const WorkingSet &set, Model &model, StopCheck &stop_check)
      : penalty_(penalty), block_(penalty.block), at_(at), set_(set), model_(model), stop_check_(stop_check) {}

  // Sweeps until the steps are a hundredth of the first sweep's, or below `smallest`: all features, then the non-zero
  // ones, then all again. With nearly unpenalized rows sweeps would stall from the start: every second one is a Newton
  // step on the active set instead, after two sweeps that look for the active set in the first iteration (`early`).
  // `damping` was added to the diagonal of the Hessian, `budget` counts the sweeps left. False if interrupted.
  bool run(double damping, double smallest, bool nearly_unpenalized, bool early, int &budget,
           const Settings &settings) {
    damping_ = damping;
    budget_ = &budget;
    start();
    const int newton_every = nearly_unpenalized ? 2 : SWEEPS_BEFORE_NEWTON;
    double first = 0;
    for (int pass = 0; pass < 2 && nearly_unpenalized && early && penalty_.is_fused(); pass++, budget--)
      first = std::max(first, update_blocks(every_block_));
    if (nearly_unpenalized) first = std::max(first, newton_step_on_active_set(true));
    bool all = true;
    stored_ = 0;
    for (int pass = 0; pass < MOST_PASSES && budget > 0; pass++, budget--) {
      const double size = update_blocks(all ? every_block_ : active_);
      if (all) list_active(false);
      if (pass == 0) first = std::max(first, size);
      if (size <= 1e-2 * first || size <= smallest) {
        if (all || static_cast<int>(active_.size()) == set_.size()) return true;
        all = true;
        stored_ = 0;
        continue;
      }
      all = nearly_unpenalized;
      if (pass % newton_every == newton_every - 1) {
        newton_step_on_active_set(nearly_unpenalized);
        stored_ = 0;
      } else {
        extrapolate();
      }
      if (stop_check_.stop_requested(settings)) return false;
    }
    return true;
  }

 private:
  static constexpr int MOST_PASSES = 200;          // a fresh model is worth more than an exact minimiser
  static constexpr int SWEEPS_BEFORE_NEWTON = 48;  // on the active set; sooner gains nothing, see docs/speed.md
  static constexpr int MOST_ROUNDS = 100;          // of conjugate gradients, each about as costly as a sweep

  int tasks() const { return block_.tasks(); }

  void start() {
    for (const int a : set_.members) std::copy(at_.params.row(a), at_.params.row(a) + tasks(), at_.trial.row(a));
    model_.reset_state();
    set_patterns();
    every_block_.resize(set_.size());
    for (int c = 0; c < set_.size(); c++) every_block_[c] = c;
  }

  // Caches the pattern (signs and ties) of every block.
  void set_patterns() {
    has_patterns_ = block_.has_patterns() && penalty_.is_fused();
    if (has_patterns_) with_tasks(tasks(), [this](auto t) { set_patterns(t); });
  }

  template <class Tasks>
  void set_patterns(Tasks t) {
    patterns_.resize(static_cast<std::size_t>(set_.size()) * t * ChainPattern<Tasks>::SIZE);
    Scratch<Tasks, 1> h(t);
    for (int c = 0; c < set_.size(); c++) {
      const int a = set_.members[c];
      for (int k = 0; k < t; k++) h.get()[k] = model_.diagonal(c, k) + penalty_.l2[a];
      block_.set_pattern(pattern(t, c), t, h.get(), penalty_.l1[a], penalty_.fusion[a], at_.trial.row(a));
    }
  }

  template <class Tasks>
  ChainPattern<Tasks> pattern(Tasks t, int c) {
    return {t, &patterns_[static_cast<std::size_t>(c) * t * ChainPattern<Tasks>::SIZE]};
  }

  double update_blocks(const std::vector<int> &which) {
    return with_tasks(tasks(), [&](auto t) { return update_blocks(t, which); });
  }

  template <class Tasks>
  double update_blocks(Tasks t, const std::vector<int> &which) {
    double size = 0;
    std::size_t i = 0;
    if constexpr (Model::has_gram)
      for (; i + 4 <= which.size(); i += 4) size += update_four(t, &which[i]);
    for (; i < which.size(); i++) size += update_block(t, which[i]);
    return size;
  }

  // Four blocks in turn: each sees the steps of those before it through single entries of the Gram matrices, and the
  // gradient is updated by all four steps at once.
  template <class Tasks>
  double update_four(Tasks t, const int *c) {
    Scratch<Tasks, 4> scratch(t);
    double *steps = scratch.get(), size = 0;
    for (int j = 0; j < 4; j++) {
      double *step = steps + j * t;
      model_.block_gradient(t, c[j], step);
      for (int i = 0; i < j; i++)
        for (int k = 0; k < t; k++) step[k] = multiply_add(model_.entry(k, c[i], c[j]), steps[i * t + k], step[k]);
      size += move_block(t, c[j], step);
    }
    if (size > 0) model_.add_four_steps(t, c, steps, model_.state());
    return size;
  }

  template <class Tasks>
  double update_block(Tasks t, int c) {
    Scratch<Tasks, 1> step(t);
    model_.block_gradient(t, c, step.get());
    const double size = move_block(t, c, step.get());
    if (size > 0) model_.add_step(c, step.get(), model_.state());
    return size;
  }

  // Minimises the model over one block by the exact prox; returns the squared step in the norm of the curvature. On
  // entry `step` holds the gradient of the model, on return the step.
  template <class Tasks>
  [[gnu::always_inline]] double move_block(Tasks t, int c, double *step) {
    Scratch<Tasks, 2> scratch(t);
    double *h = scratch.get(), *q = h + t;
    const int a = set_.members[c];
    double *b = at_.trial.row(a);
    bool zero = true;
    for (int k = 0; k < t; k++) {
      const double curvature = model_.diagonal(c, k);
      h[k] = curvature + penalty_.l2[a];
      q[k] = multiply_add(curvature, b[k], -step[k]);
      zero &= b[k] == 0;
    }
    const double l1 = penalty_.l1[a], fusion = penalty_.fusion[a];
    if (zero && block_.is_zero(t, q, l1, fusion)) {
      std::fill(step, step + t, 0.0);
      return 0;
    }
    if (zero || !has_patterns_ || !pattern(t, c).prox(h, q, l1, step)) {
      block_.prox(t, h, q, l1, fusion, step);
      if (has_patterns_) block_.set_pattern(pattern(t, c), t, h, l1, fusion, step);
    }
    double size = 0;
    for (int k = 0; k < t; k++) {
      const double by = step[k] - b[k];
      b[k] = step[k];
      step[k] = by;
      size = multiply_add(h[k] * by, by, size);
    }
    return size;
  }

  // The active set: non-zero features and the intercept, with nearly unpenalized rows all features without l1 as well.
  void list_active(bool nearly_unpenalized) {
    active_.clear();
    for (int c = 0; c < set_.size(); c++) {
      const int a = set_.members[c];
      if (a == 0 || (nearly_unpenalized && penalty_.l1[a] == 0) || is_nonzero(at_.trial.row(a), tasks()))
        active_.push_back(c);
    }
  }

  // ---------------------------------------------------------------- Anderson acceleration

  void extrapolate() {
    const std::size_t coefs = static_cast<std::size_t>(set_.size()) * tasks(), states = model_.state().size();
    past_coefs_.resize((DEPTH + 1) * coefs);
    past_states_.resize((DEPTH + 1) * states);
    copy_coefs(&past_coefs_[stored_ * coefs]);
    std::copy(model_.state().get(), model_.state().get() + states, &past_states_[stored_ * states]);
    if (++stored_ <= DEPTH) return;
    stored_ = 0;
    double mix[DEPTH];
    if (!anderson_weights(past_coefs_, coefs, mix)) return;
    candidate_coefs_.resize(coefs);
    match_shape(candidate_state_);
    anderson_mix(past_coefs_, coefs, mix, candidate_coefs_.data());
    anderson_mix(past_states_, states, mix, candidate_state_.get());
    const double here = model_value(&past_coefs_[DEPTH * coefs], model_.state());
    if (!(model_value(candidate_coefs_.data(), candidate_state_) < here)) return;
    accept_candidate();
  }

  void accept_candidate() {
    for (int c = 0; c < set_.size(); c++) {
      const double *from = &candidate_coefs_[static_cast<std::size_t>(c) * tasks()];
      std::copy(from, from + tasks(), at_.trial.row(set_.members[c]));
    }
    model_.state().copy(candidate_state_);
    set_patterns();
  }

  void copy_coefs(double *out) const {
    with_tasks(tasks(), [&](auto t) {
      for (const int a : set_.members)
        for (int k = 0; k < t; k++) *out++ = at_.trial.row(a)[k];
    });
  }

  // Resizes a table to the shape of the model's state.
  void match_shape(StateTable &table) {
    if (table.size() != model_.state().size()) table.match(model_.state());
  }

  // Quadratic model plus penalty, up to a constant.
  double model_value(const double *coefs, const StateTable &state) const {
    return with_tasks(tasks(), [&](auto t) {
      double value = model_.loss(state);
      for (int c = 0; c < set_.size(); c++) {
        const double *b = coefs + static_cast<std::size_t>(c) * t;
        model_.add_loss(t, c, b, state, value);
        value += penalty_.value(t, set_.members[c], b);
      }
      return value;
    });
  }

  // ---------------------------------------------------------------- Newton on the active set

  // Where the model is nearly flat, coordinate descent stalls. With support and ties fixed, model plus penalty is one
  // quadratic: a Newton step to its minimum, with backtracking on the model. Returns the squared step in the norm of
  // the Hessian.
  double newton_step_on_active_set(bool nearly_unpenalized) {
    list_active(nearly_unpenalized);
    label_groups();
    std::vector<double> step(groups_.count), curvature(groups_.count);
    active_gradient(step, curvature);
    for (double &r : step) r = -r;
    const std::vector<double> negative_gradient = step;
    match_shape(state_change_);
    if (!solve_directly(step)) conjugate_gradients(curvature, step);
    double size = 0;
    for (int g = 0; g < groups_.count; g++) size += negative_gradient[g] * step[g];
    return backtrack_on_active_set(step) ? size : 0.0;
  }

  // By Cholesky, if the model has Gram matrices and that is cheap; true if so.
  bool solve_directly(std::vector<double> &step) {
    if constexpr (Model::has_gram) {
      if (!model_.gram().is_quick(groups_)) return false;
      model_.gram().equations(groups_, penalty_.ridges(groups_)).solve(step);
      *budget_ -= std::min(20, 1 + static_cast<int>(model_.gram().cost_in_sweeps(groups_)));
      return true;
    }
    return false;
  }

  // Preconditioned by the diagonal. On entry `step` is the negative gradient.
  void conjugate_gradients(const std::vector<double> &curvature, std::vector<double> &step) {
    const int groups = groups_.count;
    std::vector<double> residual = step, scaled(groups), direction(groups), product(groups);
    std::fill(step.begin(), step.end(), 0.0);
    double before = 0;
    for (int g = 0; g < groups; g++) {
      direction[g] = scaled[g] = residual[g] / curvature[g];
      before += residual[g] * scaled[g];
    }
    const double enough = 1e-6 * before;
    for (int round = 0; round < MOST_ROUNDS && before > enough; round++, --*budget_) {
      active_hessian_product(direction, product);
      double along = 0;
      for (int g = 0; g < groups; g++) along += direction[g] * product[g];
      if (!(along > 0)) break;
      const double length = before / along;
      double after = 0;
      for (int g = 0; g < groups; g++) {
        step[g] += length * direction[g];
        residual[g] -= length * product[g];
        scaled[g] = residual[g] / curvature[g];
        after += residual[g] * scaled[g];
      }
      for (int g = 0; g < groups; g++) direction[g] = scaled[g] + after / before * direction[g];
      before = after;
    }
  }

  // One unknown for each group of tied tasks of an active feature; coefficients that l1 holds at zero stay fixed.
  void label_groups() {
    groups_.clear(tasks());
    for (const int c : active_) {
      const int a = set_.members[c];
      penalty_.label_ties(a, at_.trial.row(a), groups_.add(a), groups_.count);
    }
  }

  void active_gradient(std::vector<double> &gradient, std::vector<double> &curvature) {
    Scratch<int, 1> scratch(tasks());
    double *block_gradient = scratch.get();
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int c = active_[i], a = set_.members[c], *group = groups_.of(i);
      model_.block_gradient(tasks(), c, block_gradient);
      penalty_.add_gradient(a, at_.trial.row(a), block_gradient);
      for (int k = 0; k < tasks(); k++)
        if (group[k] >= 0) {
          gradient[group[k]] += block_gradient[k];
          curvature[group[k]] += model_.diagonal(c, k) + penalty_.l2[a];
        }
    }
  }

  // Step of active feature i from a vector over groups.
  void group_step(std::size_t i, const std::vector<double> &values, double *step) const {
    const int *group = groups_.of(i);
    for (int k = 0; k < tasks(); k++) step[k] = group[k] >= 0 ? values[group[k]] : 0.0;
  }

  // Change of the model's state by steps of the active features, tasks() numbers each.
  void set_state_change(const std::vector<double> &steps) {
    state_change_.clear();
    std::size_t i = 0;
    if constexpr (Model::has_gram)
      for (; i + 4 <= active_.size(); i += 4)
        model_.add_four_steps(tasks(), &active_[i], &steps[i * tasks()], state_change_);
    for (; i < active_.size(); i++) model_.add_step(active_[i], &steps[i * tasks()], state_change_);
  }

  void active_hessian_product(const std::vector<double> &direction, std::vector<double> &product) {
    moves_.resize(active_.size() * tasks());
    for (std::size_t i = 0; i < active_.size(); i++) group_step(i, direction, &moves_[i * tasks()]);
    set_state_change(moves_);
    std::fill(product.begin(), product.end(), 0.0);
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int c = active_[i], *group = groups_.of(i);
      const double ridge = penalty_.l2[set_.members[c]] + damping_;
      for (int k = 0; k < tasks(); k++)
        if (group[k] >= 0)
          product[group[k]] += model_.hessian_product(k, c, state_change_) + ridge * direction[group[k]];
    }
  }

  // Backtracks until the model falls; coefficients that cross zero or each other on the way are tied there.
  bool backtrack_on_active_set(const std::vector<double> &step) {
    from_.resize(static_cast<std::size_t>(set_.size()) * tasks());
    copy_coefs(from_.data());
    const double here = model_value(from_.data(), model_.state());
    for (double length = 1; length > 0.01; length *= 0.5)
      if (try_step(step, length, here)) return true;
    return false;
  }

  bool try_step(const std::vector<double> &step, double length, double here) {
    candidate_coefs_ = from_;
    moves_.assign(active_.size() * tasks(), 0.0);
    for (std::size_t i = 0; i < active_.size(); i++) {
      double *to = &candidate_coefs_[static_cast<std::size_t>(active_[i]) * tasks()], *move = &moves_[i * tasks()];
      group_step(i, step, move);
      for (int k = 0; k < tasks(); k++) to[k] += length * move[k];
      clip_crossings(active_[i], to);
      for (int k = 0; k < tasks(); k++) move[k] = to[k] - at_.trial.row(set_.members[active_[i]])[k];
    }
    set_state_change(moves_);
    match_shape(candidate_state_);
    for (std::size_t j = 0; j < state_change_.size(); j++) candidate_state_[j] = model_.state()[j] + state_change_[j];
    if (!(model_value(candidate_coefs_.data(), candidate_state_) < here)) return false;
    accept_candidate();
    return true;
  }

  // A step that changes the pattern: with l1, coefficients that crossed zero become zero; fused ones that crossed each
  // other become equal.
  void clip_crossings(int c, double *to) const {
    const int a = set_.members[c];
    const double *b = at_.trial.row(a);
    if (penalty_.fusion[a] > 0) {
      bool crossed = false;
      for (const Edge &e : block_.edges()) crossed |= (b[e.a] - b[e.b]) * (to[e.a] - to[e.b]) < 0;
      if (crossed) tie_crossed(c, to);
    }
    for (int k = 0; k < tasks() && penalty_.l1[a] > 0; k++)
      if (b[k] * to[k] < 0) to[k] = 0;
  }

  void tie_crossed(int c, double *to) const {
    const double *b = at_.trial.row(set_.members[c]);
    std::vector<int> part(tasks());
    for (int k = 0; k < tasks(); k++) part[k] = k;
    for (const Edge &e : block_.edges())
      if (b[e.a] == b[e.b] || (b[e.a] - b[e.b]) * (to[e.a] - to[e.b]) < 0) join(part, e.a, e.b);
    std::vector<double> sum(tasks(), 0.0), weight(tasks(), 0.0);
    for (int k = 0; k < tasks(); k++) {
      sum[part[k]] += model_.diagonal(c, k) * to[k];
      weight[part[k]] += model_.diagonal(c, k);
    }
    for (int k = 0; k < tasks(); k++) to[k] = sum[part[k]] / weight[part[k]];
  }

  const Penalty &penalty_;
  Block &block_;
  State &at_;
  const WorkingSet &set_;
  Model &model_;
  StopCheck &stop_check_;
  double damping_ = 0;
  int *budget_ = nullptr;         // sweeps left; conjugate gradients and direct solves count too
  std::vector<int> every_block_;  // positions in the working set
  std::vector<int> active_;       // positions of the active features in the working set
  std::vector<double> patterns_;  // see ChainPattern
  bool has_patterns_ = false;
  Groups groups_;  // unknowns of a Newton step on the active set

  int stored_ = 0;
  std::vector<double> past_coefs_, candidate_coefs_;
  std::vector<typename Model::Number> past_states_;
  std::vector<double> from_, moves_;  // of a Newton step: coefficients of the working set, steps of the active features
  StateTable candidate_state_, state_change_;
};

}  // namespace fusedlr::FUSEDLR_ISA
