// Exact prox, zero test and gauge of one block on a chain.
// Edge k joins task k and task k + 1 with penalty nu[k]. The prox is the dynamic program of Johnson (2013), here with
// unequal curvatures, edge weights and the l1 kink inside the messages.
#pragma once

#include <algorithm>
#include <cmath>

#include "isa.hpp"
#include "message.hpp"
#include "tasks.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Is b = 0 the minimiser of the block?  Interval propagation: bounds on the dual variable of each edge along the chain.
template <class Tasks>
inline bool chain_is_zero(Tasks t, const double *q, double l1, const double *nu, double scale = 1.0) {
  double low = 0, high = 0;
  for (int k = 0; k < t; k++) {
    low += q[k] - scale * l1;
    high += q[k] + scale * l1;
    if (k < t - 1) {
      low = std::max(low, -scale * nu[k]);
      high = std::min(high, scale * nu[k]);
    }
    if (low > high) return false;
  }
  return low <= 0 && high >= 0;
}

// Gauge: by the coarea formula the extreme points of the penalty's unit ball are indicators of intervals of tasks.
template <class Tasks>
double chain_gauge(Tasks t, const double *q, double l1, const double *nu, double lowest) {
  if (chain_is_zero(t, q, l1, nu, lowest)) return lowest;
  double largest = lowest;
  for (int i = 0; i < t; i++) {
    double sum = 0;
    for (int j = i; j < t; j++) {
      sum += q[j];
      const double room = l1 * (j - i + 1) + (i > 0 ? nu[i - 1] : 0.0) + (j < t - 1 ? nu[j] : 0.0);
      if (room > 0) largest = std::max(largest, std::fabs(sum) / room);
    }
  }
  return largest;
}

// b = argmin sum h/2 b^2 - q b + l1 |b| + sum_k nu_k |b_k - b_{k+1}| with h > 0: messages forwards, clamping backwards.
template <class Tasks>
void chain_prox(Tasks t, const double *h, const double *q, double l1, const double *nu, double *b) {
  if (chain_is_zero(t, q, l1, nu)) {
    std::fill(b, b + t, 0.0);
    return;
  }
  Scratch<Tasks, 4, 8, Knot> knots(t);
  Knot *middle = knots.get() + t + 2;
  Message message{middle, middle, 0, 0, 0, 0};
  Scratch<Tasks, 2> bounds(t);
  double *lowest = bounds.get(), *highest = lowest + t;
  for (int k = 0; k < t - 1; k++) {
    message.add_task(h[k], q[k], l1, k > 0 ? nu[k - 1] : 0.0);
    lowest[k] = message.clip_below(nu[k]);
    highest[k] = message.clip_above(nu[k]);
  }
  message.add_task(h[t - 1], q[t - 1], l1, t > 1 ? nu[t - 2] : 0.0);
  b[t - 1] = message.root();
  for (int k = t - 2; k >= 0; k--) b[k] = std::min(std::max(b[k + 1], lowest[k]), highest[k]);
}

// Signs and ties of a block with all that depends on curvatures and penalties alone, so that the minimiser with this
// pattern takes a few operations, without branches or divisions. A view of SIZE numbers for each task. nu has an entry
// for each task, the last one 0.
template <class Tasks>
class ChainPattern {
 public:
  static constexpr int SIZE = 8;

  ChainPattern(Tasks tasks, double *numbers) : t(tasks), numbers_(numbers) {}

  void set(const double *h, double l1, const double *nu, const double *b) {
    double *const pull = numbers(PULL), *const inverse = numbers(INVERSE), *const tie = numbers(TIE),
                 *const sign = numbers(SIGN), *const jump = numbers(JUMP), *const room = numbers(ROOM),
                 *const low = numbers(LOW), *const high = numbers(HIGH);
    Scratch<Tasks, 1> scratch(t);
    double *sum = scratch.get();
    for (int k = 0; k < t; k++) {
      const double next = k + 1 < t ? b[k + 1] : 0.0;
      sign[k] = (b[k] > 0) - (b[k] < 0);
      jump[k] = k + 1 < t ? (b[k] > next) - (b[k] < next) : 0;
      tie[k] = k + 1 < t && b[k] == next;
      pull[k] = l1 * sign[k] + nu[k] * jump[k];
      room[k] = sign[k] == 0 ? l1 : (tie[k] != 0 ? 0.0 : 1e300);
      low[k] = nu[k] * (jump[k] - tie[k]);
      high[k] = nu[k] * (jump[k] + tie[k]);
      sum[k] = h[k];
    }
    for (int k = t - 1; k > 0; k--) pull[k] -= nu[k - 1] * jump[k - 1];
    for (int k = 1; k < t; k++) sum[k] += tie[k - 1] * sum[k - 1];
    inverse[t - 1] = 1 / sum[t - 1];
    for (int k = t - 2; k >= 0; k--) inverse[k] = tie[k] != 0 ? inverse[k + 1] : 1 / sum[k];
    for (int k = 0; k < t; k++) inverse[k] *= sign[k] != 0;
  }

  // The minimiser with this pattern; false if the dual variables show that the true minimiser has another.
  [[gnu::always_inline]] bool prox(const double *h, const double *q, double l1, double *value) const {
    const double *const pull = numbers(PULL), *const inverse = numbers(INVERSE), *const tie = numbers(TIE),
                       *const sign = numbers(SIGN), *const jump = numbers(JUMP), *const room = numbers(ROOM),
                       *const low = numbers(LOW), *const high = numbers(HIGH);
    Scratch<Tasks, 1> scratch(t);
    double *sum = scratch.get();
    for (int k = 0; k < t; k++) sum[k] = q[k] - pull[k];
    for (int k = 1; k < t; k++) sum[k] += tie[k - 1] * sum[k - 1];
    for (int k = t - 2; k >= 0; k--) sum[k] = tie[k] != 0 ? sum[k + 1] : sum[k];
    for (int k = 0; k < t; k++) value[k] = sum[k] * inverse[k];
    bool kept = true;
    double least = 0, most = 0;
    for (int k = 0; k < t; k++) {
      const double slope = multiply_add(-h[k], value[k], q[k]) - l1 * sign[k];
      least = std::max(least + slope - room[k], low[k]);
      most = std::min(most + slope + room[k], high[k]);
      kept &= least <= most;
      kept &= (value[k] * sign[k] > 0) | (sign[k] == 0);
      if (k + 1 < t) kept &= ((value[k] - value[k + 1]) * jump[k] > 0) | (tie[k] != 0);
    }
    return kept;
  }

 private:
  // PULL: penalty gradient of each task on the pattern. INVERSE: of the curvature of the group of each task; 0 where it
  // stays at zero. JUMP: sign of the difference to the next task. TIE: 1 where there is none. ROOM, LOW, HIGH: bounds
  // on dual variables, of the task and of the edge to the next.
  enum { PULL, INVERSE, TIE, SIGN, JUMP, ROOM, LOW, HIGH };
  double *numbers(int which) const { return numbers_ + which * t; }

  const Tasks t;
  double *const numbers_;
};

}  // namespace fusedlr::FUSEDLR_ISA
