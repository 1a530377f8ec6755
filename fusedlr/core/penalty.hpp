// Sparse fused elastic-net penalty of every row of the coefficient matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "block.hpp"
#include "graph.hpp"
#include "groups.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "tasks.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

struct Penalty {
  Block &block;
  std::vector<double> l1, l2, fusion;

  Penalty(Block &block_, int features)
      : block(block_), l1(features, 0.0), l2(features, 0.0), fusion(features, 0.0) {
    update();
  }

  int features() const { return static_cast<int>(l1.size()); }

  template <class Tasks>
  double value(Tasks t, int a, const double *b) const {
    double size = 0, square = 0;
    for (int k = 0; k < t; k++) {
      size += std::fabs(b[k]);
      square = multiply_add(b[k], b[k], square);
    }
    const double tied = fusion[a] > 0 ? fusion[a] * block.total_variation(t, b) : 0.0;
    return multiply_add(l1[a], size, 0.5 * l2[a] * square) + tied;
  }
  double value(int a, const double *b) const { return value(block.tasks(), a, b); }

  double total(const Table &params) const {
    return with_tasks(block.tasks(), [&](auto t) {
      double sum = 0;
      for (int a = 0; a < features(); a++) sum += value(t, a, params.row(a));
      return sum;
    });
  }
  double total(const std::vector<int> &rows, const Table &params) const {
    return with_tasks(block.tasks(), [&](auto t) {
      double sum = 0;
      for (const int a : rows) sum += value(t, a, params.row(a));
      return sum;
    });
  }

  // Neither l1 nor l2: the penalty is not coercive in this row, so only the loss can keep it finite.
  bool is_unpenalized(int a) const { return l1[a] == 0 && l2[a] == 0; }

  // To be called after a change of l1, l2 or fusion: what is asked at every Newton step is looked up once.
  void update() {
    unpenalized_ = without_ridge_ = fused_ = false;
    for (int a = 0; a < features(); a++) {
      unpenalized_ |= a > 0 && is_unpenalized(a);
      without_ridge_ |= a > 0 && l2[a] == 0;
      fused_ |= fusion[a] > 0;
    }
  }
  bool has_unpenalized_features() const { return unpenalized_; }
  bool has_features_without_ridge() const { return without_ridge_; }
  bool is_fused() const { return fused_ && block.tasks() > 1; }

  // The smallest bound on the dual variable of an edge between intercepts.
  double weakest_tie() const {
    double least = std::numeric_limits<double>::infinity();
    if (fusion[0] > 0)
      for (const Edge &e : block.edges()) least = std::min(least, fusion[0] * e.weight);
    return least;
  }

  // Adds the penalty's gradient in row a on the active set: the subgradient without its part at zeros and ties.
  void add_gradient(int a, const double *b, double *slopes) const {
    for (int k = 0; k < block.tasks(); k++) slopes[k] += l2[a] * b[k] + l1[a] * ((b[k] > 0) - (b[k] < 0));
    if (fusion[a] > 0)
      for (const Edge &e : block.edges()) {
        const double pull = fusion[a] * e.weight * ((b[e.a] > b[e.b]) - (b[e.a] < b[e.b]));
        slopes[e.a] += pull;
        slopes[e.b] -= pull;
      }
  }

  // Labels the groups of tied tasks of row a, from `count` on; coefficients that l1 holds at zero get no label.
  void label_ties(int a, const double *b, int *group, int &count) const {
    for (int k = 0; k < block.tasks(); k++) {
      if (b[k] == 0 && l1[a] > 0) continue;
      if (group[k] < 0) group[k] = count++;
      if (fusion[a] > 0) propagate_label(b, k, group);
    }
  }

  // Sum of l2 over each group.
  std::vector<double> ridges(const Groups &groups) const {
    std::vector<double> sums(groups.count, 0.0);
    for (std::size_t i = 0; i < groups.size(); i++)
      for (int k = 0; k < block.tasks(); k++)
        if (groups.of(i)[k] >= 0) sums[groups.of(i)[k]] += l2[groups.features[i]];
    return sums;
  }

  int components(int a) const { return block.components(fusion[a]); }
  int component(int a, int k) const { return block.component(fusion[a], k); }

 private:
  void propagate_label(const double *b, int k, int *group) const {
    for (bool more = true; more;) {
      more = false;
      for (const Edge &e : block.edges())
        if (b[e.a] == b[e.b] && (group[e.a] == group[k]) != (group[e.b] == group[k])) {
          group[e.a] = group[e.b] = group[k];
          more = true;
        }
    }
  }

  bool unpenalized_ = false, without_ridge_ = false, fused_ = false;
};

// Adds a ridge, none if that is empty, to a penalty's l2 for as long as it lives.
class AddedRidge {
 public:
  AddedRidge(Penalty &penalty, const std::vector<double> &ridge) : penalty_(penalty) {
    if (ridge.empty()) return;
    requested_ = penalty.l2;
    for (int a = 0; a < penalty.features(); a++) penalty.l2[a] += ridge[a];
    penalty.update();
  }
  AddedRidge(const AddedRidge &) = delete;
  AddedRidge &operator=(const AddedRidge &) = delete;
  ~AddedRidge() {
    if (requested_.empty()) return;
    penalty_.l2 = requested_;
    penalty_.update();
  }

 private:
  Penalty &penalty_;
  std::vector<double> requested_;
};

}  // namespace fusedlr::FUSEDLR_ISA
