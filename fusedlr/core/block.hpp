// Exact prox, zero test and gauge of one block, the coefficients of one feature, for any graph of tasks. `t` is the
// number of tasks, a constant or an int (tasks.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "chain_prox.hpp"
#include "graph.hpp"
#include "isa.hpp"
#include "message.hpp"
#include "tasks.hpp"
#include "tree_prox.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

class Block {
 public:
  Block(int tasks, int edges, const int *ends, const double *weights, bool chain)
      : graph_(tasks, edges, ends, weights, chain), graph_prox_(graph_) {}

  int tasks() const { return graph_.tasks; }
  const std::vector<Edge> &edges() const { return graph_.edges; }

  // Connected components of the fusion graph; without fusion every task is one.
  int components(double fusion) const { return fusion > 0 ? graph_.components : tasks(); }
  int component(double fusion, int k) const { return fusion > 0 ? graph_.component[k] : k; }

  template <class Tasks>
  double total_variation(Tasks t, const double *b) const {
    double sum = 0;
    if (graph_.chain) {
      for (int k = 0; k + 1 < t; k++)
        sum = multiply_add(graph_.edges[k].weight, std::fabs(b[k] - b[k + 1]), sum);
    } else {
      for (const Edge &e : graph_.edges) sum += e.weight * std::fabs(b[e.a] - b[e.b]);
    }
    return sum;
  }

  // b = argmin sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|
  template <class Tasks>
  void prox(Tasks t, const double *h, const double *q, double l1, double fusion, double *b) {
    if (fusion == 0)
      for (int k = 0; k < t; k++) b[k] = soft(q[k], l1, h[k]);
    else
      fused_prox(t, h, q, l1, fusion, b);
  }

  // Whether a block's pattern (signs and ties) can be kept and tried before the prox.
  bool has_patterns() const { return graph_.chain && tasks() > 1; }
  template <class Tasks>
  void set_pattern(ChainPattern<Tasks> pattern, Tasks t, const double *h, double l1, double fusion,
                   const double *b) const {
    Scratch<Tasks, 1> nu(t);
    edge_penalties(t, fusion, nu.get());
    nu.get()[t - 1] = 0;
    pattern.set(h, l1, nu.get(), b);
  }

  // Is b = 0 the minimiser?
  template <class Tasks>
  bool is_zero(Tasks t, const double *q, double l1, double fusion) {
    if (fusion == 0 || t == 1) {
      for (int k = 0; k < t; k++)
        if (std::fabs(q[k]) > l1) return false;
      return true;
    }
    if (!graph_.chain) return graph_prox_.is_zero(q, l1, fusion);
    Scratch<Tasks, 1> nu(t);
    edge_penalties(t, fusion, nu.get());
    return chain_is_zero(t, q, l1, nu.get());
  }

  // Gauge of the penalty's subdifferential at 0, its dual norm: the smallest s >= lowest with q / s in it.
  template <class Tasks>
  double gauge(Tasks t, const double *q, double l1, double fusion, double lowest) {
    if (fusion == 0 || t == 1) {
      for (int k = 0; k < t; k++)
        if (l1 > 0) lowest = std::max(lowest, std::fabs(q[k]) / l1);
      return lowest;
    }
    if (!graph_.chain) return graph_prox_.gauge(q, l1, fusion, lowest);
    Scratch<Tasks, 1> nu(t);
    edge_penalties(t, fusion, nu.get());
    return chain_gauge(t, q, l1, nu.get(), lowest);
  }

  // Number of groups of tied neighbours; groups at zero count if `zeros`.
  int count_groups(const double *b, bool zeros) const {
    int count = 0;
    if (graph_.chain) {
      for (int k = 0; k < tasks(); k++) count += (zeros || b[k] != 0) && (k == 0 || b[k] != b[k - 1]);
      return count;
    }
    std::vector<int> group(tasks());
    for (int k = 0; k < tasks(); k++) group[k] = k;
    for (const Edge &e : graph_.edges)
      if (b[e.a] == b[e.b]) join(group, e.a, e.b);
    for (int k = 0; k < tasks(); k++) count += group[k] == k && (zeros || b[k] != 0);
    return count;
  }

 private:
  // Out of line, so that prox itself can be inlined.
  template <class Tasks>
  [[gnu::noinline]] void fused_prox(Tasks t, const double *h, const double *q, double l1, double fusion, double *b) {
    if (!graph_.chain) return graph_prox_.prox(h, q, l1, fusion, b);
    Scratch<Tasks, 1> nu(t);
    edge_penalties(t, fusion, nu.get());
    chain_prox(t, h, q, l1, nu.get(), b);
  }

  template <class Tasks>
  void edge_penalties(Tasks t, double fusion, double *nu) const {
    for (int k = 0; k + 1 < t; k++) nu[k] = fusion * graph_.edges[k].weight;
  }

  const Graph graph_;
  GraphProx graph_prox_;  // for graphs other than a chain
};

}  // namespace fusedlr::FUSEDLR_ISA
