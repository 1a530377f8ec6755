// The quadratic model of the loss in Gram space.
//
// Its state is the Hessian times the step so far. So single precision (Number) rounds only what a Newton step changes,
// as in iterative refinement: the gradient at the next iterate is computed in double precision.
#pragma once

#include <vector>

#include "data.hpp"
#include "gram.hpp"
#include "gram_matrices.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "state.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

template <class Number_>
class GramModel {
 public:
  using Number = Number_;
  using StateTable = TableOf<Number>;
  static constexpr bool has_gram = true;  // offers entries of the Hessian, for direct solves

  GramModel(const Data &data, const State &at, const WorkingSet &set, Gram &gram)
      : data_(data), at_(at), set_(set), gram_(gram), matrices_(gram.matrices<Number>()) {}

  Gram &gram() { return gram_; }
  double diagonal(int c, int k) const { return gram_.diagonal(c, k); }
  double entry(int k, int c, int e) const { return scales_[k] * matrices_.row(k, c)[e]; }

  TableOf<Number> &state() { return moved_; }

  void reset_state() {
    const int t = data_.tasks();
    if (moved_.width() != static_cast<std::size_t>(matrices_.stride())) {
      moved_.reshape(t, matrices_.stride());
      gradient_.reshape(matrices_.stride(), t);
    }
    moved_.clear();
    scales_.resize(t);
    for (int k = 0; k < t; k++) scales_[k] = gram_.scale<Number>(k);
    for (int c = 0; c < set_.size(); c++)
      for (int k = 0; k < t; k++) gradient_.row(c)[k] = at_.gradient.row(k)[set_.members[c]];
  }

  template <class Tasks>
  void block_gradient(Tasks t, int c, double *out) const {
    for (int k = 0; k < t; k++) 
      out[k] = multiply_add(scales_[k], static_cast<double>(moved_.row(k)[c]), gradient_.row(c)[k]);
  }

  // Adds the Hessian times a step of block c to the state.
  void add_step(int c, const double *step, TableOf<Number> &state) const {
    for (int k = 0; k < data_.tasks(); k++)
      if (step[k] != 0) add_scaled(vectors(), static_cast<Number>(step[k]), matrices_.row(k, c), state.row(k));
  }

  // The same for four blocks, t numbers each, with a quarter of the memory traffic in the state.
  template <class Tasks>
  void add_four_steps(Tasks t, const int *c, const double *steps, TableOf<Number> &state) const {
    for (int k = 0; k < t; k++) {
      const Number *x[4] = {matrices_.row(k, c[0]), matrices_.row(k, c[1]), matrices_.row(k, c[2]),
                            matrices_.row(k, c[3])};
      Number by[4];
      for (int j = 0; j < 4; j++) by[j] = static_cast<Number>(steps[j * t + k]);
      add_scaled(vectors(), by, x, state.row(k));
    }
  }

  // The loss of the model, up to a constant, is a sum over features.
  double loss(const TableOf<Number> &) const { return 0; }
  template <class Tasks>
  void add_loss(Tasks t, int c, const double *b, const TableOf<Number> &state, double &value) const {
    const double *old = at_.params.row(set_.members[c]);
    for (int k = 0; k < t; k++)
      value += (gradient_.row(c)[k] + 0.5 * scales_[k] * state.row(k)[c]) * (b[k] - old[k]);
  }

  // Entry (k, c) of the Hessian product that a change of the state stands for.
  double hessian_product(int k, int c, const TableOf<Number> &change) const { return scales_[k] * change.row(k)[c]; }

 private:
  int vectors() const { return (set_.size() + VectorOf<Number>::lanes - 1) / VectorOf<Number>::lanes; }

  const Data &data_;
  const State &at_;
  const WorkingSet &set_;
  Gram &gram_;
  const GramMatrices<Number> &matrices_;
  std::vector<double> scales_;  // of the matrices of each task, and so of the state
  TableOf<Number> moved_;       // the state, [task][feature]
  Table gradient_;                 // where they set out from, [feature][task]
};

}  // namespace fusedlr::FUSEDLR_ISA
