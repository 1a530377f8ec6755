// The Hessian of the loss over the working set: one weighted Gram matrix for each task, reused across iterations and
// penalties until the weights have drifted.
//
// Single precision halves the time to form and to use them, and its error is below that of a stale Hessian; where it
// makes convergence slow or a line search fail, the solver goes on in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "cholesky.hpp"
#include "data.hpp"
#include "gram_matrices.hpp"
#include "groups.hpp"
#include "isa.hpp"
#include "rows.hpp"
#include "state.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class Gram {
 public:
  Gram(const Data &data, const State &at, const WorkingSet &set)
      : data_(data),
        at_(at),
        set_(set),
        growth_(data.tasks(), 1.0),
        doubles_(data, set, weights_),
        singles_(data, set, weights_) {}

  int largest() const { return doubles_.largest(); }
  int size() const { return size_; }
  double diagonal(int c, int k) const { return diagonal_[static_cast<std::size_t>(c) * data_.tasks() + k]; }

  void discard() { size_ = 0; }
  bool is_precise() const { return precise_; }

  // Takes the weights of the present iterate for the next matrices.
  void refresh(bool precise) {
    precise_ = precise;
    size_ = 0;
    factorised_ = false;
    if (weights_.empty()) weights_.resize(data_.ranges);
    weights_.copy(at_.now.second);
    std::fill(growth_.begin(), growth_.end(), 1.0);
  }

  // Relative l1 change of the weights since the matrices were formed, beyond a common factor in each task (growth_):
  // over all tasks, or a tenth of that of a single task, so that tasks of small weight count. Infinite without
  // matrices.
  double drift() {
    if (size_ == 0) return std::numeric_limits<double>::infinity();
    double moved = 0, sum = 0, largest = 0;
    for (int k = 0; k < data_.tasks(); k++) {
      const Vec *now = as_vec(at_.now.second.row(k)), *then = as_vec(weights_.row(k));
      Vec sum_now{}, sum_then{}, by{};
      for (int i = 0; i < data_.vectors(k); i++) {
        sum_now += now[i];
        sum_then += then[i];
      }
      const double task_sum = total(sum_now) + 1e-300;
      const double growth = growth_[k] = task_sum / (total(sum_then) + 1e-300);
      for (int i = 0; i < data_.vectors(k); i++) {
        const Vec difference = multiply_add(-then[i], broadcast(growth), now[i]);
        by += difference > 0.0 ? difference : -difference;
      }
      moved += total(by);
      sum += task_sum;
      largest = std::max(largest, total(by) / task_sum);
    }
    return std::max(moved / sum, 0.1 * largest);
  }

  // Forms the entries missing for the working set. `damping` is added to the diagonal, see ProximalNewton.
  void prepare(double damping) {
    damping_ = damping;
    if (precise_)
      prepare(doubles_);
    else
      prepare(singles_);
  }

  // Matrices of a precision, and the factor of their entries in task k.
  template <class Number>
  const GramMatrices<Number> &matrices() const {
    if constexpr (std::is_same<Number, double>::value)
      return doubles_;
    else
      return singles_;
  }
  template <class Number>
  double scale(int k) const {
    return growth_[k] * matrices<Number>().unit(k);
  }

  // Cost of the equations over groups in sweeps, and whether that is at most a hundred or some milliseconds anyway.
  double cost_in_sweeps(const Groups &groups) const {
    const double unknowns = NormalEquations::largest_system(groups);
    return unknowns * unknowns * unknowns / (3.0 * data_.tasks() * set_.size() * set_.size());
  }
  bool is_quick(const Groups &groups) const {
    return groups.count <= SMALL_SYSTEM || cost_in_sweeps(groups) <= 100;
  }

  // Factorised equations of the model over groups, reused while groups and ridge are the same and growth is small.
  const NormalEquations &equations(const Groups &groups, const std::vector<double> &ridge) {
    if (factorised_ && groups == groups_ && ridge == ridge_ && growth_is_small()) return equations_;
    groups_ = groups;
    ridge_ = ridge;
    equations_growth_ = growth_;
    factorised_ = true;
    places_.clear();
    for (const int a : groups.features) places_.push_back(set_.place[a]);
    if (precise_)
      factorise<double>();
    else
      factorise<float>();
    return equations_;
  }

  const LabelTable &weights() const { return weights_; }
  // The growth at which the equations were factorised.
  double equations_growth(int k) const { return equations_growth_[k]; }

 private:
  static constexpr int SMALL_SYSTEM = 500;  // unknowns
  static constexpr double SMALL_GROWTH = 0.05;  // not worth a new factorisation

  bool growth_is_small() const {
    for (int k = 0; k < data_.tasks(); k++)
      if (std::fabs(growth_[k] / equations_growth_[k] - 1) > SMALL_GROWTH) return false;
    return true;
  }

  template <class Number>
  void prepare(GramMatrices<Number> &matrices) {
    matrices.prepare(size_);
    size_ = set_.size();
    diagonal_.resize(static_cast<std::size_t>(size_) * data_.tasks());
    std::size_t i = 0;
    for (int c = 0; c < size_; c++)
      for (int k = 0; k < data_.tasks(); k++) diagonal_[i++] = scale<Number>(k) * matrices.row(k, c)[c] + damping_;
  }

  template <class Number>
  void factorise() {
    std::vector<double> added = ridge_;
    for (const int g : groups_.labels)
      if (g >= 0) added[g] += damping_;
    equations_.factorise(groups_, added, places_, [this](int k, int c) {
      return [scale = this->scale<Number>(k), row = matrices<Number>().row(k, c)](int e) {
        return scale * row[e];
      };
    });
  }

  const Data &data_;
  const State &at_;
  const WorkingSet &set_;
  int size_ = 0;
  std::vector<double> growth_;            // of the weights of each task since the matrices were formed
  std::vector<double> equations_growth_;  // likewise, when the equations were factorised
  bool precise_ = true;
  double damping_ = 0;
  LabelTable weights_;  // of the matrices
  GramMatrices<double> doubles_;
  GramMatrices<float> singles_;
  std::vector<double> diagonal_;

  NormalEquations equations_;  // of the last call, if factorised_: over groups_, with ridge_
  Groups groups_;
  std::vector<double> ridge_;
  std::vector<int> places_;  // of their features in the working set
  bool factorised_ = false;
};

}  // namespace fusedlr::FUSEDLR_ISA
