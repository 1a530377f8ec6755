// Primal-dual interior-point method, the fallback when proximal Newton stalls: on columns that are nearly constant
// beside fused intercepts, say.
//
// Every absolute value c |y|, of a coefficient or of a difference along an edge, is written as c (p + q) with
// y = p - q and p, q >= 0. With the dual variable z of y, complementarity reads p (c - z) = q (c + z) = 0. Newton steps
// on both products = mu, with mu falling to 0, need a dozen or two systems of equations, however ill-conditioned the
// data are. Only the coefficients' equations are solved, the rest is eliminated (Schur complement). The active set is
// then read off: y counts as 0 where it is nearer to 0 than z is to its bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cholesky.hpp"
#include "core.hpp"
#include "data.hpp"
#include "graph.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "penalty.hpp"
#include "state.hpp"
#include "stop_check.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class InteriorPoint {
 public:
  InteriorPoint(const Data &data, const Penalty &penalty, State &at, StopCheck &stop_check)
      : data_(data), penalty_(penalty), edges_(penalty.block.edges()), at_(at), stop_check_(stop_check) {}

  // Whether its systems of equations take no more than a second or so.
  bool is_affordable() const {
    const double work = static_cast<double>(data_.rows_by_task()) * data_.features * unknowns();
    return unknowns() <= MOST_UNKNOWNS && work <= MOST_WORK;
  }

  // Moves the coefficients close to the minimum, with `damping` on the diagonal of the Hessian. The caller must
  // evaluate the linear predictor anew. False if interrupted.
  bool run(double damping, const Settings &settings) {
    start();
    for (int round = 0; round < MOST_ROUNDS; round++) {
      const double length = step(damping);
      if (stop_check_.stop_requested(settings)) return false;
      const double residual = complementarity();
      if (residual <= ENOUGH * value() && length == 1) break;
      mu_ = (length > 0.9 ? 0.1 : (length > 0.5 ? 0.3 : 1.0)) * residual / (2.0 * terms_.size());
    }
    read_off_pattern();
    return true;
  }

 private:
  static constexpr int MOST_UNKNOWNS = 900, MOST_ROUNDS = 60;
  static constexpr double MOST_WORK = 1e9;   // products for the Hessian of one step
  static constexpr double ENOUGH = 1e-9;     // of the objective: the active set is identified by then
  static constexpr double TRUST_RADIUS = 5;  // largest change of the linear predictor for which its model is trusted

  // One absolute value: of coefficient u, or of its difference from coefficient v.
  struct Term {
    int u, v;
    double limit, plus, minus, dual;  // c, p, q, z
    double stiffness, residual;       // left in the coefficients' equations by its elimination
  };

  int tasks() const { return data_.tasks(); }
  int unknowns() const { return data_.features * tasks(); }
  double of(const std::vector<double> &values, const Term &term) const {
    return values[term.u] - (term.v < 0 ? 0.0 : values[term.v]);
  }

  void start() {
    coefs_.assign(at_.params.get(), at_.params.get() + unknowns());
    at_.next.linear.copy(at_.now.linear);
    data_.evaluate(at_.next);
    list_terms();
    mu_ = 0.01 * (at_.next.loss + penalty_.total(at_.params)) / std::max<std::size_t>(1, terms_.size());
    for (Term &term : terms_) {
      const double y = of(coefs_, term), pull = term.limit * y;
      term.dual = term.limit * pull / (mu_ + std::hypot(mu_, pull));
      term.plus = mu_ / (term.limit - term.dual);
      term.minus = mu_ / (term.limit + term.dual);
    }
  }

  void list_terms() {
    terms_.clear();
    for (int a = 0; a < data_.features; a++) {
      const int first = a * tasks();
      for (int k = 0; k < tasks() && penalty_.l1[a] > 0; k++) add_term(first + k, -1, penalty_.l1[a]);
      if (penalty_.fusion[a] > 0)
        for (const Edge &e : edges_) add_term(first + e.a, first + e.b, penalty_.fusion[a] * e.weight);
    }
  }
  void add_term(int u, int v, double limit) {
    if (limit > 0) terms_.push_back({u, v, limit, 0, 0, 0, 0, 0});
  }

  // Sum of the complementarity products.
  double complementarity() const {
    double sum = 0;
    for (const Term &term : terms_)
      sum += term.plus * (term.limit - term.dual) + term.minus * (term.limit + term.dual);
    return sum;
  }

  double value() const {
    double sum = at_.next.loss;
    for (int a = 0; a < data_.features; a++) sum += penalty_.value(a, &coefs_[a * tasks()]);
    return sum;
  }

  // ---------------------------------------------------------------- one Newton step

  // Returns its length, 1 for a whole one.
  double step(double damping) {
    for (Term &term : terms_) {
      const double up = term.limit - term.dual, down = term.limit + term.dual;
      term.stiffness = 1 / (term.plus / up + term.minus / down);
      term.residual = of(coefs_, term) - mu_ / up + mu_ / down;
    }
    set_rhs();
    set_matrix(damping);
    system_.factorise();
    direction_ = rhs_;
    system_.solve(direction_.data());
    at_.change.clear();
    for (int a = 0; a < data_.features; a++) data_.add_feature(a, &direction_[a * tasks()], at_.change);
    const double length = step_length();
    for (int u = 0; u < unknowns(); u++) coefs_[u] += length * direction_[u];
    for (Term &term : terms_) {
      double by[3];
      term_step(term, by);
      term.plus += length * by[0];
      term.minus += length * by[1];
      term.dual += length * by[2];
    }
    for (std::size_t i = 0; i < at_.change.size(); i++) at_.next.linear[i] += length * at_.change[i];
    data_.evaluate(at_.next);
    return length;
  }

  // Steps of plus, minus and dual by back substitution from the coefficients' step.
  void term_step(const Term &term, double *by) const {
    const double dual = term.stiffness * (of(direction_, term) + term.residual);
    by[0] = (mu_ + term.plus * dual) / (term.limit - term.dual) - term.plus;
    by[1] = (mu_ - term.minus * dual) / (term.limit + term.dual) - term.minus;
    by[2] = dual;
  }

  void set_rhs() {
    data_.gradient(at_.next.first, data_.all(), at_.gradient);
    rhs_.resize(unknowns());
    for (int a = 0; a < data_.features; a++)
      for (int k = 0; k < tasks(); k++) {
        const int u = a * tasks() + k;
        rhs_[u] = -(at_.gradient.row(k)[a] + penalty_.l2[a] * coefs_[u]);
      }
    for (const Term &term : terms_) {
      const double pull = term.dual + term.stiffness * term.residual;
      rhs_[term.u] -= pull;
      if (term.v >= 0) rhs_[term.v] += pull;
    }
  }

  void set_matrix(double damping) {
    system_.reset(unknowns());
    if (weighted_.empty()) weighted_.resize(3, data_.width);
    for (int k = 0; k < tasks(); k++) add_curvature(k);
    for (int u = 0; u < unknowns(); u++) system_.row(u)[u] += penalty_.l2[u / tasks()] + damping;
    for (const Term &term : terms_) {
      system_.row(term.u)[term.u] += term.stiffness;
      if (term.v < 0) continue;
      system_.row(term.v)[term.v] += term.stiffness;
      system_.row(std::min(term.u, term.v))[std::max(term.u, term.v)] -= term.stiffness;
    }
  }

  void add_curvature(int k) {
    const Vec *w = as_vec(at_.next.second.row(k));
    for (int a = 0; a < data_.features; a++) {
      const Vec *x = as_vec(data_.dense_column(a, k, weighted_.row(1)));
      Vec *to = as_vec(weighted_.get());
      for (int i = 0; i < data_.vectors(k); i++) to[i] = w[i] * x[i];
      for (int b = 0; b <= a; b++) {
        const Vec *y = as_vec(data_.dense_column(b, k, weighted_.row(2)));
        Vec sum{};
        for (int i = 0; i < data_.vectors(k); i++) sum += to[i] * y[i];
        system_.row(b * tasks() + k)[a * tasks() + k] += total(sum);
      }
    }
  }

  // Fraction to the boundary, and within the trust region of the quadratic model of the loss.
  double step_length() const {
    double length = 1, most = 0;
    const auto keep = [&length](double from, double by) {
      if (by < 0) length = std::min(length, -0.99 * from / by);
    };
    for (const Term &term : terms_) {
      double by[3];
      term_step(term, by);
      keep(term.plus, by[0]);
      keep(term.minus, by[1]);
      keep(term.limit - term.dual, -by[2]);
      keep(term.limit + term.dual, by[2]);
    }
    for (std::size_t i = 0; i < at_.change.size(); i++) most = std::max(most, std::fabs(at_.change[i]));
    return most * length > TRUST_RADIUS ? TRUST_RADIUS / most : length;
  }

  // ---------------------------------------------------------------- support and ties

  void read_off_pattern() {
    double largest = 0;
    for (const double b : coefs_) largest = std::max(largest, std::fabs(b));
    std::vector<int> label(unknowns());
    std::vector<char> zero(unknowns(), false);
    for (int u = 0; u < unknowns(); u++) label[u] = u;
    for (const Term &term : terms_) {
      if (std::fabs(of(coefs_, term)) * term.limit >= largest * (term.limit - std::fabs(term.dual))) continue;
      if (term.v < 0)
        zero[term.u] = true;
      else
        join(label, term.u, term.v);
    }
    std::vector<double> sum(unknowns(), 0.0), members(unknowns(), 0.0);
    for (int u = 0; u < unknowns(); u++) {
      sum[label[u]] += coefs_[u];
      members[label[u]]++;
      zero[label[u]] |= zero[u];
    }
    for (int u = 0; u < unknowns(); u++) at_.params[u] = zero[label[u]] ? 0.0 : sum[label[u]] / members[label[u]];
  }

  const Data &data_;
  const Penalty &penalty_;
  const std::vector<Edge> &edges_;
  State &at_;
  StopCheck &stop_check_;
  double mu_ = 0;                                // barrier parameter: target of the complementarity products
  std::vector<double> coefs_, rhs_, direction_;  // [feature][task]
  std::vector<Term> terms_;
  Cholesky system_;
  Table weighted_;  // one column, and room for two sparse ones
};

}  // namespace fusedlr::FUSEDLR_ISA
