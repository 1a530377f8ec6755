// Exact prox, zero test and gauge of one block where every component of the graph is a tree or unicyclic (a ring, say).
//
// On trees the dynamic program of a chain (chain_prox.hpp) passes messages from the leaves to a root, as in Kolmogorov,
// Pock and Rolinek (2016). A cycle is a tree plus a closing edge, whose scalar dual variable is found by Newton steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "graph.hpp"
#include "isa.hpp"
#include "message.hpp"

namespace fusedlr::FUSEDLR_ISA {

// A bound that is affine in the scale s of the penalty: sum + s * room, with its value at the present s.
struct ScaledBound {
  double sum, room, value;
  ScaledBound(double sum_ = 0) : sum(sum_), room(0), value(sum_) {}
  ScaledBound(double sum_, double room_, double value_) : sum(sum_), room(room_), value(value_) {}
  ScaledBound operator-() const { return {-sum, -room, -value}; }
  ScaledBound operator+(const ScaledBound &o) const { return {sum + o.sum, room + o.room, value + o.value}; }
  ScaledBound operator-(const ScaledBound &o) const { return {sum - o.sum, room - o.room, value - o.value}; }
  bool operator<(const ScaledBound &o) const { return value < o.value; }
};
inline ScaledBound operator*(double by, const ScaledBound &b) { return {by * b.sum, by * b.room, by * b.value}; }

// Is the interval [low, high] empty?
inline bool is_empty(double low, double high, double &) { return high < low; }

// The same; then s becomes the scale at which the bounds meet. Not counted as empty: what no larger s can repair, and
// what is rounding alone.
inline bool is_empty(const ScaledBound &low, const ScaledBound &high, double &s) {
  const double room = high.room - low.room;
  if (!(high < low) || room <= 0) return false;
  const double meet = (low.sum - high.sum) / room;
  if (meet <= s * (1 + 1e-15)) return false;
  s = meet;
  return true;
}

// Holds its workspace, so one object serves one solver. Tasks are numbered in post-order: a subtree is a range of
// numbers that ends with its root, and the children of i are i - 1, i - 1 - size[i - 1], ... within that range.
class TreeProx {
 public:
  explicit TreeProx(const Graph &graph) {
    if (!graph.at_most_one_cycle_each) return;
    std::vector<char> seen(graph.tasks, 0);
    parent_.assign(graph.tasks, -1);
    for (int k = 0; k < graph.tasks; k++)
      if (!seen[k]) add_part(graph, k, seen);
    for (std::vector<double> *work : {&nu_, &h_, &q_, &b_, &lowest_, &highest_}) work->resize(graph.tasks);
    for (std::vector<Knot *> *ends : {&first_, &last_}) ends->resize(graph.tasks);
    top_.resize(graph.tasks);
    knots_.resize(4 * graph.tasks);
    for (std::vector<Knot> &buffer : merged_) buffer.resize(4 * graph.tasks);
    bounds_.resize(2 * graph.tasks);
    scaled_bounds_.resize(2 * graph.tasks);
  }

  // b = argmin sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|
  void prox(const double *h, const double *q, double l1, double fusion, double *b) {
    if (is_zero(q, l1, fusion)) {
      std::fill(b, b + task_.size(), 0.0);
      return;
    }
    for (std::size_t i = 0; i < task_.size(); i++) {
      h_[i] = h[task_[i]];
      q_[i] = q[task_[i]];
    }
    for (const Part &part : parts_)
      if (part.end < 0)
        solve_tree(part, l1);
      else
        solve_cycle(part, l1, fusion * part.weight);
    for (std::size_t i = 0; i < task_.size(); i++) b[task_[i]] = b_[i];
  }

  // Is b = 0 the minimiser?
  bool is_zero(const double *q, double l1, double fusion) {
    for (std::size_t i = 0; i < task_.size(); i++) nu_[i] = fusion * weight_[i];
    double ignored;
    for (const Part &part : parts_)
      if (!is_dual_feasible(part, q, l1, fusion, 1.0, bounds_, ignored)) return false;
    return true;
  }

  // Gauge: the smallest s >= lowest for which q / s is a subgradient at 0. Discrete Newton (Dinkelbach) method: every
  // infeasible s yields a violated set of tasks, which gives the next s; finitely many steps.
  double gauge(const double *q, double l1, double fusion, double lowest) {
    for (std::size_t i = 0; i < task_.size(); i++) nu_[i] = fusion * weight_[i];
    double s = lowest;
    for (const Part &part : parts_)
      while (!is_dual_feasible(part, q, l1, fusion, ScaledBound(0, 1, s), scaled_bounds_, s)) {
      }
    return s;
  }

 private:
  // One component: the numbers first..root. If it has a cycle, the closing edge joins `end` and the root.
  struct Part {
    int first, root, end;
    double weight;
  };

  // ---------------------------------------------------------------- post-order of the tasks

  void add_part(const Graph &graph, int start, std::vector<char> &seen) {
    const int closing = closing_edge(graph, graph.component[start]), first = static_cast<int>(task_.size());
    const int top = closing < 0 ? start : graph.edges[closing].a;
    number(graph, top, -1, closing, seen);
    Part part{first, static_cast<int>(task_.size()) - 1, -1, 0.0};
    if (closing >= 0) {
      part.weight = graph.edges[closing].weight;
      part.end = static_cast<int>(std::find(task_.begin(), task_.end(), graph.edges[closing].b) - task_.begin());
      for (int i = part.end; i >= 0; i = parent_[i]) on_cycle_[i] = 1;
    }
    parts_.push_back(part);
  }

  // The edge of a component that closes a cycle; -1 if it is a tree.
  static int closing_edge(const Graph &graph, int component) {
    std::vector<int> label(graph.tasks);
    for (int k = 0; k < graph.tasks; k++) label[k] = k;
    for (std::size_t e = 0; e < graph.edges.size(); e++) {
      const Edge &edge = graph.edges[e];
      if (graph.component[edge.a] == component && !join(label, edge.a, edge.b)) return static_cast<int>(e);
    }
    return -1;
  }

  // Numbers the subtree of `task`, entered by edge `above`, in post-order; returns the number of `task`.
  int number(const Graph &graph, int task, int above, int closing, std::vector<char> &seen) {
    seen[task] = 1;
    const int first = static_cast<int>(task_.size());
    std::vector<int> children;
    for (int e = 0; e < static_cast<int>(graph.edges.size()); e++) {
      const Edge &edge = graph.edges[e];
      if (e != above && e != closing && (edge.a == task || edge.b == task))
        children.push_back(number(graph, edge.a == task ? edge.b : edge.a, e, closing, seen));
    }
    const int own = static_cast<int>(task_.size());
    for (const int child : children) parent_[child] = own;
    task_.push_back(task);
    size_.push_back(own - first + 1);
    weight_.push_back(above < 0 ? 0.0 : graph.edges[above].weight);
    on_cycle_.push_back(0);
    return own;
  }

  // ---------------------------------------------------------------- is zero the minimiser?

  // Is q, at this scale of the penalty, a subgradient at 0? Interval propagation: bounds on the dual variable of each
  // edge, from the leaves to the root. If not, s becomes the scale that the violated set of tasks needs.
  template <class Bound>
  bool is_dual_feasible(const Part &part, const double *q, double l1, double fusion, const Bound &unit,
                 std::vector<Bound> &bounds, double &s) const {
    Bound *low = bounds.data(), *high = low + task_.size();
    for (int i = part.first; i <= part.root; i++) {
      low[i] = Bound(q[task_[i]]) - l1 * unit;
      high[i] = Bound(q[task_[i]]) + l1 * unit;
      for (int j = i - 1; j > i - size_[i]; j -= size_[j])
        if (!on_cycle_[j]) {
          low[i] = low[i] + low[j];
          high[i] = high[i] + high[j];
        }
      if (on_cycle_[i] || i == part.root) continue;
      low[i] = std::max(low[i], -(nu_[i] * unit));
      high[i] = std::min(high[i], nu_[i] * unit);
      if (is_empty(low[i], high[i], s)) return false;
    }
    if (part.end >= 0) return is_cycle_feasible(part, low, high, fusion * part.weight * unit, unit, s);
    return !is_empty(low[part.root], Bound(0.0), s) && !is_empty(Bound(0.0), high[part.root], s);
  }

  // The same around the cycle, with bounds on the dual variables of the closing edge and of the present edge, and on
  // their difference; low and high hold the contributions of the cycle's tasks with the trees that hang from them.
  template <class Bound>
  bool is_cycle_feasible(const Part &part, const Bound *low, const Bound *high, const Bound &limit, const Bound &unit,
                 double &s) const {
    Bound start_low = -limit, start_high = limit, now_low = -limit, now_high = limit, by_low(0.0), by_high(0.0);
    for (int i = part.end;; i = parent_[i]) {
      now_low = now_low + low[i];
      now_high = now_high + high[i];
      by_low = by_low + low[i];
      by_high = by_high + high[i];
      if (i == part.root) break;
      const Bound nu = nu_[i] * unit;
      if (nu < now_high) {
        now_high = nu;
        start_high = std::min(start_high, nu - by_low);
        by_high = std::min(by_high, nu - start_low);
      }
      if (now_low < -nu) {
        now_low = -nu;
        start_low = std::max(start_low, -nu - by_high);
        by_low = std::max(by_low, -nu - start_high);
      }
      if (is_empty(now_low, now_high, s)) return false;
    }
    return !is_empty(by_low, Bound(0.0), s) && !is_empty(Bound(0.0), by_high, s);
  }

  // ---------------------------------------------------------------- minimiser on a tree

  void solve_tree(const Part &part, double l1) {
    for (int i = part.first; i < part.root; i++) {
      Message message = sum_messages(i, l1);
      make_room_on_left(i, message);
      lowest_[i] = message.clip_below(nu_[i]);
      highest_[i] = message.clip_above(nu_[i]);
      first_[i] = message.first;
      last_[i] = message.last;
    }
    b_[part.root] = sum_messages(part.root, l1).root();
    backward_pass(part);
  }

  void backward_pass(const Part &part) {
    for (int i = part.root - 1; i >= part.first; i--) b_[i] = clamp_to_parent(i);
  }

  double clamp_to_parent(int i) const { return std::min(std::max(b_[parent_[i]], lowest_[i]), highest_[i]); }

  // Sum of the children's messages and the task's own derivative. A subtree has storage for four knots per task and
  // needs two, and one at zero.
  Message sum_messages(int i, double l1) {
    Message message;
    double nu = 0;
    int children = 0;
    for (int j = i - 1; j > i - size_[i]; j -= size_[j]) {
      nu += nu_[j];
      children++;
    }
    if (children == 0) {
      message.first = message.last = room_of(i) + 1;
    } else if (children == 1) {
      message.first = first_[i - 1];
      message.last = last_[i - 1];
    } else {
      merge_children(i, message);
    }
    message.add_task(h_[i], q_[i], l1, nu);
    return message;
  }

  Knot *room_of(int i) { return &knots_[4 * (i - size_[i] + 1)]; }

  void make_room_on_left(int i, Message &message) {
    if (message.first > room_of(i)) return;
    const std::ptrdiff_t count = message.last - message.first;
    Knot *to = centred(i, count);
    std::copy_backward(message.first, message.last, to + count);
    message.last = to + count;
    message.first = to;
  }

  Knot *centred(int i, std::ptrdiff_t count) { return room_of(i) + (4 * size_[i] - count) / 2; }

  // Merge sort of the knots of several children.
  void merge_children(int i, Message &message) {
    runs_.clear();
    for (int j = i - 1; j > i - size_[i]; j -= size_[j]) runs_.push_back({first_[j], last_[j]});
    for (int into = 0; runs_.size() > 1; into = 1 - into) {
      Knot *to = merged_[into].data();
      std::size_t kept = 0;
      for (std::size_t r = 0; r < runs_.size(); r += 2) {
        const Run merged{to, r + 1 < runs_.size() ? merge(runs_[r], runs_[r + 1], to)
                                                  : std::copy(runs_[r].first, runs_[r].last, to)};
        to = merged.last;
        runs_[kept++] = merged;
      }
      runs_.resize(kept);
    }
    message.first = centred(i, runs_[0].last - runs_[0].first);
    message.last = std::copy(runs_[0].first, runs_[0].last, message.first);
  }

  struct Run {
    Knot *first, *last;
  };

  // Knots with the same x are added up.
  static Knot *merge(Run a, Run b, Knot *to) {
    while (a.first < a.last && b.first < b.last) {
      if (a.first->x == b.first->x) {
        *to++ = {a.first->x, a.first->slope + b.first->slope, a.first->level + b.first->level};
        a.first++;
        b.first++;
      } else {
        *to++ = a.first->x < b.first->x ? *a.first++ : *b.first++;
      }
    }
    return std::copy(b.first, b.last, std::copy(a.first, a.last, to));
  }

  // ---------------------------------------------------------------- minimiser on a cycle

  // The closing edge has a scalar dual variable v in [-nu, nu]; the difference of its ends is non-increasing and
  // piecewise linear in v. At a root the ends are tied; without one v is at a bound. Safeguarded Newton: bisection
  // where a step leaves the bracket. One end falls and the other rises, so the tied value always lies between them.
  void solve_cycle(const Part &part, double l1, double nu) {
    const double infinity = std::numeric_limits<double>::infinity(), tiny = 1e-14 * (nu + size_of(part, l1));
    const double end_q = q_[part.end], root_q = q_[part.root];
    double low = -nu, high = nu, v = first_guess(part, l1, nu), below = -infinity, above = infinity;
    bool tried_low = false, tried_high = false;
    for (int tiny_steps = 0; tiny_steps < 3;) {
      q_[part.end] = end_q - v;
      q_[part.root] = root_q + v;
      solve_tree(part, l1);
      const double difference = b_[part.end] - b_[part.root];
      if (difference == 0 || (difference > 0 ? v >= nu : v <= -nu)) return;
      below = std::max(below, std::min(b_[part.end], b_[part.root]));
      above = std::min(above, std::max(b_[part.end], b_[part.root]));
      if (!(above - below > 1e-14 * std::fabs(above))) break;
      (difference > 0 ? low : high) = v;
      (difference > 0 ? tried_low : tried_high) = true;
      const double step = difference * shared_curvature(part, l1);
      tiny_steps = std::fabs(step) <= tiny ? tiny_steps + 1 : 0;  // beyond the next knot steps may be longer
      v = v + step != v ? v + step : std::nextafter(v, difference * infinity);
      if (v >= high) v = tried_high ? low + 0.5 * (high - low) : high;
      if (v <= low) v = tried_low ? low + 0.5 * (high - low) : low;
      if ((tried_low && v <= low) || (tried_high && v >= high)) break;
    }
    tie_ends(part, std::min(std::max(tied_value(part, l1), below), above), 1e3 * tiny);
  }

  double size_of(const Part &part, double l1) const {
    double size = 0;
    for (int i = part.first; i <= part.root; i++) size += std::fabs(q_[i]) + nu_[i] + l1;
    return size;
  }

  // The v that would tie the ends if they had no other neighbours.
  double first_guess(const Part &part, double l1, double nu) const {
    const double a = h_[part.end], b = h_[part.root];
    const double difference = soft(q_[part.end], l1, a) - soft(q_[part.root], l1, b);
    return std::min(std::max(difference / (1 / a + 1 / b), -nu), nu);
  }

  // Newton slope: change of v per unit of difference of the ends. Their groups move, unless held at zero.
  double shared_curvature(const Part &part, double l1) {
    label_tied(part);
    if (held_at_zero(part.end, l1)) return group_curvature(part, part.root);
    if (held_at_zero(part.root, l1)) return group_curvature(part, part.end);
    return 1 / (1 / group_curvature(part, part.end) + 1 / group_curvature(part, part.root));
  }

  bool held_at_zero(int i, double l1) const { return b_[i] == 0 && l1 > 0; }

  // Tasks tied along tree edges share the number of their group's root.
  void label_tied(const Part &part) {
    top_[part.root] = part.root;
    for (int i = part.root - 1; i >= part.first; i--) top_[i] = b_[i] == b_[parent_[i]] ? top_[parent_[i]] : i;
  }

  double group_curvature(const Part &part, int member) const {
    double sum = 0;
    for (int i = part.first; i <= part.root; i++)
      if (top_[i] == top_[member]) sum += h_[i];
    return sum;
  }

  // Value at which the ends meet if their groups stay as they are; with an l1, zero if that lies between them.
  double tied_value(const Part &part, double l1) {
    const double x = b_[part.end], y = b_[part.root];
    if (l1 > 0 && std::min(x, y) <= 0 && std::max(x, y) >= 0) return 0;
    label_tied(part);
    const double a = group_curvature(part, part.end), b = group_curvature(part, part.root);
    return (a * x + b * y) / (a + b);
  }

  // Ties both ends where rounding has kept them apart, with the tasks of the cycle that are tied to `end`. An end of
  // next to no curvature may be far off and tied to the wrong side: if its group's gradient is not small, it moves
  // alone.
  void tie_ends(const Part &part, double value, double resistance) {
    b_[part.root] = value;
    backward_pass(part);
    label_tied(part);
    const bool together = std::fabs(b_[part.end] - value) * group_curvature(part, part.end) <= resistance;
    const int group = top_[part.end];
    for (int i = part.root - 1; i >= part.first; i--)
      b_[i] = i == part.end || (together && on_cycle_[i] && top_[i] == group) ? value : clamp_to_parent(i);
  }

  std::vector<int> task_, parent_, size_, top_;  // by post-order number; size_: tasks in the subtree
  std::vector<char> on_cycle_;
  std::vector<double> weight_, nu_;  // of the edge above
  std::vector<Part> parts_;
  std::vector<double> h_, q_, b_, lowest_, highest_;
  std::vector<Knot> knots_, merged_[2];
  std::vector<Knot *> first_, last_;  // of the message of a task
  std::vector<Run> runs_;
  std::vector<double> bounds_;
  std::vector<ScaledBound> scaled_bounds_;
};

// Dispatch by the kind of graph.
class GraphProx {
 public:
  explicit GraphProx(const Graph &graph) : by_cuts_(!graph.at_most_one_cycle_each), cuts_(graph), trees_(graph) {}

  void prox(const double *h, const double *q, double l1, double fusion, double *b) {
    by_cuts_ ? cuts_.prox(h, q, l1, fusion, b) : trees_.prox(h, q, l1, fusion, b);
  }
  bool is_zero(const double *q, double l1, double fusion) {
    return by_cuts_ ? cuts_.is_zero(q, l1, fusion) : trees_.is_zero(q, l1, fusion);
  }
  double gauge(const double *q, double l1, double fusion, double lowest) {
    return by_cuts_ ? cuts_.gauge(q, l1, fusion, lowest) : trees_.gauge(q, l1, fusion, lowest);
  }

 private:
  const bool by_cuts_;
  CutProx cuts_;
  TreeProx trees_;
};

}  // namespace fusedlr::FUSEDLR_ISA
