// Messages of the dynamic programs in chain_prox.hpp and tree_prox.hpp (Johnson 2013).
#pragma once

#include <algorithm>
#include <limits>

#include "isa.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Soft-thresholding: argmin h/2 b^2 - q b + limit |b|.
inline double soft(double q, double limit, double h) {
  return q > limit ? (q - limit) / h : (q < -limit ? (q + limit) / h : 0.0);
}

// The derivative changes by slope * x + level from the left of x to the right.
struct Knot {
  double x, slope, level;
};

// Derivative of a subtree's partial minimum as a function of the value at its root: non-decreasing, piecewise linear.
// The knots lie in [first, last); there is room for one more on the left and two on the right.
struct Message {
  Knot *first, *last;
  double left_slope, left_level, right_slope, right_level;

  // Adds a task's own derivative to messages that were clipped at +-nu in sum.
  void add_task(double h, double q, double l1, double nu) {
    left_slope = right_slope = h;
    left_level = -q - l1 - nu;
    right_level = -q + l1 + nu;
    if (l1 > 0) add_jump_at_zero(2 * l1);
  }

  void add_jump_at_zero(double jump) {
    Knot *at = first;
    while (at < last && at->x < 0) at++;
    if (at < last && at->x == 0) {
      at->level += jump;
      return;
    }
    std::copy_backward(at, last, last + 1);
    *at = {0, 0, jump};
    last++;
  }

  // Where the derivative reaches `target`; the knots to the left of that are dropped. Where curvatures differ by many
  // orders the slope between two knots may be lost in rounding; the root then still lies between them.
  double pass_from_left(double target, double &s, double &c) {
    double before = -std::numeric_limits<double>::infinity();
    s = left_slope;
    c = left_level;
    while (first < last) {
      if (multiply_add(s, first->x, c) >= target) return std::min(first->x, std::max(before, (target - c) / s));
      before = first->x;
      s += first->slope;
      c += first->level;
      first++;
      if (multiply_add(s, before, c) >= target) return before;
    }
    s = right_slope;
    c = right_level;
    return std::max(before, (target - c) / s);
  }

  double clip_below(double nu) {
    double s, c;
    const double here = pass_from_left(-nu, s, c);
    *--first = {here, s, c + nu};
    return here;
  }

  // After clip_below. Both clips may fall into one jump: then the two knots merge.
  double clip_above(double nu) {
    double s = right_slope, c = right_level, after = std::numeric_limits<double>::infinity();
    bool inside = false;
    while (last > first + 1 && !inside && multiply_add(s, last[-1].x, c) > nu) {
      last--;
      after = last->x;
      s -= last->slope;
      c -= last->level;
      inside = multiply_add(s, after, c) <= nu;
    }
    const double here = inside ? after : std::min(after, std::max(last[-1].x, (nu - c) / s));
    if (here <= first->x) {
      *first = {first->x, 0, 2 * nu};
      last = first + 1;
      return first->x;
    }
    *last++ = {here, -s, nu - c};
    return here;
  }

  double root() {
    double s, c;
    return pass_from_left(0.0, s, c);
  }
};

}  // namespace fusedlr::FUSEDLR_ISA
