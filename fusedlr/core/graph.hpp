// The penalty of one feature over a graph of tasks,  l1 * sum |b_k| + sum_e nu_e |b_j - b_k|, for any graph: exact
// prox, zero test and gauge by minimum cuts. Chains, trees and single cycles have dynamic programs (chain_prox.hpp,
// tree_prox.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

struct Edge {
  int a, b;
  double weight;
};

// Union of two labelled sets: all that are labelled like b get the label of a; false if they have it already.
inline bool join(std::vector<int> &label, int a, int b) {
  const int from = label[b], to = label[a];
  for (int &other : label)
    if (other == from) other = to;
  return from != to;
}

struct Graph {
  int tasks = 0;
  bool chain = false;
  std::vector<Edge> edges;
  std::vector<int> component;  // label of each task
  int components = 0;
  bool at_most_one_cycle_each = false;  // every component is a tree or unicyclic

  Graph(int tasks_, int count, const int *ends, const double *weights, bool chain_) : tasks(tasks_), chain(chain_) {
    for (int e = 0; e < count; e++) edges.push_back({ends[2 * e], ends[2 * e + 1], weights[e]});
    label_components();
    count_cycles();
  }

 private:
  void label_components() {
    component.resize(tasks);
    for (int k = 0; k < tasks; k++) component[k] = k;
    for (const Edge &e : edges) join(component, e.a, e.b);
    std::vector<int> fresh(tasks, -1);
    components = 0;
    for (int &c : component) {
      if (fresh[c] < 0) fresh[c] = components++;
      c = fresh[c];
    }
  }

  void count_cycles() {
    std::vector<int> spare(components, 0);  // a tree has one edge less than tasks
    for (const int c : component) spare[c]++;
    for (const Edge &e : edges) spare[component[e.a]]--;
    at_most_one_cycle_each = std::all_of(spare.begin(), spare.end(), [](int left) { return left >= 0; });
  }
};

// Prox by divide and conquer: a set of tasks takes its common minimiser, and a minimum cut splits it or proves it tied.
// These are the threshold cuts of Hochbaum (2001) and of Chambolle and Darbon (2009), each solved from scratch by
// shortest augmenting paths (Edmonds-Karp) rather than parametrically. Holds its workspace: one object for one solver.
class CutProx {
 public:
  explicit CutProx(const Graph &graph)
      : graph_(graph), tasks_(graph.tasks), first_(tasks_ + 3), queue_(tasks_ + 2), from_(tasks_ + 2) {}

  // b = argmin sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|
  void prox(const double *h, const double *q, double l1, double fusion, double *b) {
    linear_.assign(q, q + tasks_);
    set_.assign(tasks_, 0);
    int sets = 1;
    for (int current = 0; current < sets; current++) {
      while (true) {
        const double value = common_value(h, current, l1);
        if (!split(h, current, sets, l1, fusion, value)) {
          for (int k = 0; k < tasks_; k++)
            if (set_[k] == current) b[k] = value;
          break;
        }
        sets++;
      }
    }
  }

  // Is b = 0 the minimiser?
  bool is_zero(const double *q, double l1, double fusion) {
    bool small = true;
    for (int k = 0; k < tasks_; k++) small &= std::fabs(q[k]) <= l1;
    return small || excess(q, l1, fusion) <= 0;
  }

  // Gauge: the smallest s >= lowest for which q / s is a subgradient at 0, by Dinkelbach's method over violated sets.
  double gauge(const double *q, double l1, double fusion, double lowest) {
    double s = lowest;
    for (int round = 0; round < 100; round++) {
      if (excess(q, s * l1, s * fusion) <= 0) break;
      double sum = 0, weight = 0;
      for (int k = 0; k < tasks_; k++)
        if (side_[k]) {
          sum += q[k];
          weight += l1;
        }
      for (const Edge &e : graph_.edges)
        if (side_[e.a] != side_[e.b]) weight += fusion * e.weight;
      if (weight <= 0) break;
      const double next = std::fabs(sum) / weight;
      if (next <= s * (1 + 1e-15)) break;
      s = next;
    }
    return s;
  }

 private:
  // Minimiser over a set of tasks that are all equal.
  double common_value(const double *h, int set, double l1) const {
    double sum = 0, weight = 0, limit = 0;
    for (int k = 0; k < tasks_; k++)
      if (set_[k] == set) {
        sum += linear_[k];
        weight += h[k];
        limit += l1;
      }
    if (sum > limit) return (sum - limit) / weight;
    return sum < -limit ? (sum + limit) / weight : 0.0;
  }

  // Moves the tasks that a minimum cut puts above (or below) `value` into a new set; false if there are none.
  bool split(const double *h, int set, int fresh, double l1, double fusion, double value) {
    for (const int direction : {1, -1}) {
      pull_.assign(tasks_, 0.0);
      double scale = 0;
      for (int k = 0; k < tasks_; k++)
        if (set_[k] == set) {
          const double kink = value > 0 ? l1 : (value < 0 ? -l1 : direction * l1);
          pull_[k] = direction * (linear_[k] - h[k] * value - kink);
          scale += std::fabs(linear_[k]) + std::fabs(h[k] * value) + l1;
        }
      if (cut(fusion, set) > 1e-14 * scale && is_proper_subset(set)) {
        apply_split(set, fresh, fusion, direction);
        return true;
      }
      if (value != 0) break;  // without the kink at zero both directions are the same cut
    }
    return false;
  }

  bool is_proper_subset(int set) const {
    bool inside = false, outside = false;
    for (int k = 0; k < tasks_; k++)
      if (set_[k] == set) (side_[k] ? inside : outside) = true;
    return inside && outside;
  }

  void apply_split(int set, int fresh, double fusion, int direction) {
    for (const Edge &e : graph_.edges)
      if (set_[e.a] == set && set_[e.b] == set && side_[e.a] != side_[e.b]) {
        const double nu = direction * fusion * e.weight;
        linear_[side_[e.a] ? e.a : e.b] -= nu;
        linear_[side_[e.a] ? e.b : e.a] += nu;
      }
    for (int k = 0; k < tasks_; k++)
      if (set_[k] == set && side_[k]) set_[k] = fresh;
  }

  // Largest violation  |sum_S q| - l1 |S| - fusion * cut(S)  over sets S of tasks, S in side_; 0 within rounding.
  double excess(const double *q, double l1, double fusion) {
    set_.assign(tasks_, 0);
    for (const double direction : {1.0, -1.0}) {
      pull_.resize(tasks_);
      double scale = 0;
      for (int k = 0; k < tasks_; k++) {
        pull_[k] = direction * q[k] - l1;
        scale += std::fabs(q[k]) + l1;
      }
      const double value = cut(fusion, 0);
      if (value > 1e-14 * scale) return value;
    }
    return 0;
  }

  struct Arc {
    int to;
    double capacity;
    int twin;
  };

  void add_arc(int a, int b, double forth, double back) {
    const int i = static_cast<int>(arcs_.size());
    arcs_.push_back({b, forth, i + 1});
    arcs_.push_back({a, back, i});
  }

  // Minimum cut: maximises sum_S pull - fusion * cut(S) over subsets S of one set; fills side_, returns the maximum.
  double cut(double fusion, int set) {
    const int source = tasks_, sink = tasks_ + 1;
    arcs_.clear();
    full_ = 0;
    for (int k = 0; k < tasks_; k++)
      if (set_[k] == set) {
        if (pull_[k] > 0) add_arc(source, k, pull_[k], 0);
        if (pull_[k] < 0) add_arc(k, sink, -pull_[k], 0);
        full_ += 1e-15 * std::fabs(pull_[k]);
      }
    for (const Edge &e : graph_.edges)
      if (set_[e.a] == set && set_[e.b] == set) add_arc(e.a, e.b, fusion * e.weight, fusion * e.weight);
    sort_arcs();
    while (augment(source, sink)) {
    }
    side_.assign(tasks_, 0);  // after the last search, from_ marks what the source still reaches
    for (int k = 0; k < tasks_; k++) side_[k] = set_[k] == set && from_[k] != -1;
    double left = 0;
    for (int i = first_[source]; i < first_[source + 1]; i++) left += arcs_[order_[i]].capacity;
    return left;
  }

  void sort_arcs() {
    const int count = static_cast<int>(arcs_.size());
    arc_tail_.resize(count);
    for (int a = 0; a < count; a++) arc_tail_[a] = arcs_[arcs_[a].twin].to;
    std::fill(first_.begin(), first_.end(), 0);
    for (int a = 0; a < count; a++) first_[arc_tail_[a] + 1]++;
    for (std::size_t v = 1; v < first_.size(); v++) first_[v] += first_[v - 1];
    order_.resize(count);
    place_.assign(first_.begin(), first_.end());
    for (int a = 0; a < count; a++) order_[place_[arc_tail_[a]]++] = a;
  }

  // Augments along one shortest path; false if the sink is out of reach.
  bool augment(int source, int sink) {
    std::fill(from_.begin(), from_.end(), -1);
    from_[source] = -2;
    int head = 0, tail = 0;
    queue_[tail++] = source;
    while (head < tail && from_[sink] == -1) {
      const int v = queue_[head++];
      for (int i = first_[v]; i < first_[v + 1]; i++) {
        const Arc &arc = arcs_[order_[i]];
        if (arc.capacity > full_ && from_[arc.to] == -1) {
          from_[arc.to] = order_[i];
          queue_[tail++] = arc.to;
        }
      }
    }
    if (from_[sink] == -1) return false;
    double capacity = std::numeric_limits<double>::infinity();
    for (int v = sink; v != source; v = arc_tail_[from_[v]]) capacity = std::min(capacity, arcs_[from_[v]].capacity);
    for (int v = sink; v != source; v = arc_tail_[from_[v]]) {
      Arc &arc = arcs_[from_[v]];
      arc.capacity -= capacity;
      arcs_[arc.twin].capacity += capacity;
    }
    return true;
  }

  const Graph &graph_;
  const int tasks_;
  double full_ = 0;  // an arc with less residual capacity than this counts as saturated
  std::vector<double> linear_, pull_;
  std::vector<int> set_, side_;
  std::vector<Arc> arcs_;
  std::vector<int> arc_tail_, order_, place_, first_, queue_, from_;
};

}  // namespace fusedlr::FUSEDLR_ISA
