// A quadratic loss, given by its Hessian and gradient, plus the penalty: for whoever has the data elsewhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cholesky.hpp"
#include "coordinate_descent.hpp"
#include "core.hpp"
#include "groups.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "penalty.hpp"
#include "state.hpp"
#include "stop_check.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// The model that CoordinateDescent works on: one Hessian for each task, over all features.
class QuadraticModel {
 public:
  using Number = double;
  using StateTable = Table;
  static constexpr bool has_gram = true;

  QuadraticModel(int rows, int tasks, const double *gram, const State &at)
      : rows_(rows), tasks_(tasks), at_(at), gram_(static_cast<std::size_t>(tasks) * rows, padded(rows)),
        moved_(tasks, padded(rows)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tasks) * rows; i++, gram += rows)
      std::copy(gram, gram + rows, gram_.row(i));
  }

  double entry(int k, int c, int e) const { return row(k, c)[e]; }
  // Positive, so that a block without any curvature stays where it is.
  double diagonal(int c, int k) const { return std::max(entry(k, c, c), 1e-300); }
  Table &state() { return moved_; }
  void reset_state() { moved_.clear(); }

  template <class Tasks>
  void block_gradient(Tasks t, int c, double *out) const {
    for (int k = 0; k < t; k++) out[k] = at_.gradient.row(k)[c] + moved_.row(k)[c];
  }
  void add_step(int c, const double *step, Table &state) const {
    for (int k = 0; k < tasks_; k++)
      if (step[k] != 0) add_scaled(vectors(), step[k], row(k, c), state.row(k));
  }
  template <class Tasks>
  void add_four_steps(Tasks t, const int *c, const double *steps, Table &state) const {
    for (int j = 0; j < 4; j++) add_step(c[j], steps + j * t, state);
  }
  double loss(const Table &) const { return 0; }
  template <class Tasks>
  void add_loss(Tasks t, int c, const double *b, const Table &state, double &value) const {
    const double *old = at_.params.row(c);
    for (int k = 0; k < t; k++) value += (at_.gradient.row(k)[c] + 0.5 * state.row(k)[c]) * (b[k] - old[k]);
  }
  double hessian_product(int k, int c, const Table &change) const { return change.row(k)[c]; }

  // Newton steps on the active set, which are worth their price as long as there is no pass over the data to save.
  QuadraticModel &gram() { return *this; }
  bool is_quick(const Groups &groups) const { return NormalEquations::largest_system(groups) <= MOST_UNKNOWNS; }
  double cost_in_sweeps(const Groups &) const { return 1; }
  const NormalEquations &equations(const Groups &groups, const std::vector<double> &ridge) {
    equations_.factorise(groups, ridge, groups.features, [this](int k, int a) {
      return [from = row(k, a)](int b) { return from[b]; };
    });
    return equations_;
  }

 private:
  static constexpr int MOST_UNKNOWNS = 2000;

  int vectors() const { return static_cast<int>(gram_.width()) / LANES; }
  const double *row(int k, int c) const { return gram_.row(static_cast<std::size_t>(k) * rows_ + c); }

  const int rows_, tasks_;
  const State &at_;
  Table gram_, moved_;
  NormalEquations equations_;
};

// Runs of coordinate descent, each from the last, until a run moves nothing that rounding can tell.
inline void minimise_quadratic(const Quadratic &quadratic, Block &block, const Factors &penalties, double *params) {
  const int rows = quadratic.rows, tasks = quadratic.tasks;
  Penalty penalty(block, rows);
  penalty.l1.assign(penalties.l1, penalties.l1 + rows);
  penalty.l2.assign(penalties.l2, penalties.l2 + rows);
  penalty.fusion.assign(penalties.fusion, penalties.fusion + rows);
  penalty.update();
  State at(rows, tasks);
  WorkingSet set(rows);
  for (int a = 0; a < rows; a++) {
    set.add(a);
    std::copy_n(params + static_cast<std::size_t>(a) * tasks, tasks, at.params.row(a));
    for (int k = 0; k < tasks; k++) at.gradient.row(k)[a] = quadratic.slopes[static_cast<std::size_t>(a) * tasks + k];
  }
  QuadraticModel model(rows, tasks, quadratic.gram, at);
  StopCheck stop_check;
  CoordinateDescent<QuadraticModel> descent(penalty, at, set, model, stop_check);
  double first = 0;
  for (int round = 0; round < 60; round++) {
    int budget = 1000;
    descent.run(0.0, 0.0, penalty.has_unpenalized_features(), round == 0, budget, Settings{});
    double size = 0;
    for (int a = 0; a < rows; a++)
      for (int k = 0; k < tasks; k++) {
        const double by = at.trial.row(a)[k] - at.params.row(a)[k];
        size += (model.diagonal(a, k) + penalty.l2[a]) * by * by;
      }
    for (int k = 0; k < tasks; k++)
      for (int a = 0; a < rows; a++) at.gradient.row(k)[a] += model.state().row(k)[a];
    at.params.copy(at.trial);
    first = std::max(first, size);
    if (!(size > 1e-26 * first)) break;
  }
  for (int a = 0; a < rows; a++)
    std::copy_n(at.params.row(a), tasks, params + static_cast<std::size_t>(a) * tasks);
}

}  // namespace fusedlr::FUSEDLR_ISA
