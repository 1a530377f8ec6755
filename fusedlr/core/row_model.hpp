// The quadratic model of the loss without Gram matrices, for working sets with more features than rows or too many for
// the memory: the state is the change of the linear predictor.
#pragma once

#include <cstddef>
#include <vector>

#include "data.hpp"
#include "isa.hpp"
#include "rows.hpp"
#include "state.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class RowModel {
 public:
  using StateTable = LabelTable;
  using Number = double;
  static constexpr bool has_gram = false;
  double entry(int, int, int) const { return 0; }

  RowModel(const Data &data, State &at, const WorkingSet &set) : data_(data), at_(at), set_(set) {}

  double diagonal(int c, int k) const { return diagonal_[static_cast<std::size_t>(c) * data_.tasks() + k]; }

  void prepare(double damping) {
    diagonal_.resize(static_cast<std::size_t>(set_.size()) * data_.tasks());
    std::size_t next = 0;
    for (int c = 0; c < set_.size(); c++)
      for (int k = 0; k < data_.tasks(); k++)
        diagonal_[next++] = data_.product(k, set_.members[c], set_.members[c], at_.now.second.row(k)) + damping;
  }

  LabelTable &state() { return at_.change; }

  void reset_state() { at_.change.clear(); }

  void block_gradient(int t, int c, double *out) const {
    for (int k = 0; k < t; k++) out[k] = slope(k, c);
  }

  void add_step(int c, const double *step, LabelTable &state) const { data_.add_feature(set_.members[c], step, state); }

  void add_four_steps(int, const int *, const double *, LabelTable &) const {}

  // The loss of the model, up to a constant, is a sum over rows.
  void add_loss(int, int, const double *, const LabelTable &, double &) const {}
  double loss(const LabelTable &change) const {
    const Vec *by = as_vec(change.get()), *first = as_vec(at_.now.first.get()), *second = as_vec(at_.now.second.get());
    Vec value{};
    for (std::size_t i = 0; i < change.size() / LANES; i++) 
      value = multiply_add(by[i], multiply_add(0.5 * second[i], by[i], first[i]), value);
    return total(value);
  }

  double hessian_product(int k, int c, const LabelTable &change) const {
    if (data_.is_sparse(set_.members[c])) {
      double sum = 0;
      data_.for_entries(set_.members[c], k, [&, w = at_.now.second.row(k), z = change.row(k)](int i, double x) {
        sum += x * w[i] * z[i];
      });
      return sum;
    }
    const Vec *x = as_vec(data_.column(set_.members[c], k)), *w = as_vec(at_.now.second.row(k)),
              *z = as_vec(change.row(k));
    Vec sum{};
    for (int i = 0; i < data_.vectors(k); i++) sum = multiply_add(x[i] * w[i], z[i], sum);
    return total(sum);
  }

 private:
  double slope(int k, int c) const {
    if (data_.is_sparse(set_.members[c])) return sparse_slope(k, set_.members[c]);
    const Vec *x = as_vec(data_.column(set_.members[c], k)), *r = as_vec(at_.now.first.row(k)),
              *w = as_vec(at_.now.second.row(k)), *z = as_vec(at_.change.row(k));
    Vec sum{};
    for (int i = 0; i < data_.vectors(k); i++) sum = multiply_add(x[i], multiply_add(w[i], z[i], r[i]), sum);
    return total(sum);
  }

  double sparse_slope(int k, int a) const {
    const double *r = at_.now.first.row(k), *w = at_.now.second.row(k), *z = at_.change.row(k);
    double sum = 0;
    data_.for_entries(a, k, [&](int i, double x) { sum += x * (w[i] * z[i] + r[i]); });
    return sum;
  }

  const Data &data_;
  State &at_;
  const WorkingSet &set_;
  std::vector<double> diagonal_;
};

}  // namespace fusedlr::FUSEDLR_ISA
