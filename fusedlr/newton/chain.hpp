// Exact operations on one block of a chain of tasks, in the namespace of one instruction set (see solver.hpp).
// Edge k joins task k and task k + 1 and carries nu[k].

// Scratch numbers for blocks of T tasks; on the stack where T is known when compiling.
template <int T, int Times, int Extra = 0>
struct Scratch {
  double values[Times * T + Extra];
  explicit Scratch(int) {}
  double *get() { return values; }
};
template <int Times, int Extra>
struct Scratch<0, Times, Extra> {
  std::unique_ptr<double[]> values;
  explicit Scratch(int tasks) : values(new double[Times * static_cast<std::size_t>(tasks) + Extra]) {}
  double *get() { return values.get(); }
};

inline double soft(double q, double limit, double h) { return q > limit ? (q - limit) / h : (q < -limit ? (q + limit) / h : 0.0); }

// Is b = 0 the minimiser of the block?  Bounds on the slope that each edge must carry run along the chain.
template <int T>
inline bool chain_is_zero(int tasks, const double *q, double l1, const double *nu, double scale = 1.0) {
  const int t = T ? T : tasks;
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

// Smallest s >= lowest such that q / s can be split into slopes: the extreme points of the penalty are intervals.
template <int T>
double chain_gauge(int tasks, const double *q, double l1, const double *nu, double lowest) {
  const int t = T ? T : tasks;
  if (chain_is_zero<T>(t, q, l1, nu, lowest)) return lowest;
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

// Derivative of the best value of tasks 0..k as a function of b_k: non-decreasing and piecewise linear.
// Knots hold the change of slope and intercept from left to right; a jump is a change of intercept alone.
template <int T>
struct Derivative {
  Scratch<T, 12, 24> memory;
  double *x, *slope, *level;
  int first, last;
  double left_slope = 0, left_level = 0, right_slope = 0, right_level = 0;

  explicit Derivative(int tasks) : memory(tasks) {
    const int size = 4 * tasks + 8;
    x = memory.get();
    slope = x + size;
    level = slope + size;
    first = last = tasks + 2;
  }

  void add_task(double h, double q, double l1) {
    left_slope += h;
    left_level += -q - l1;
    right_slope += h;
    right_level += -q + l1;
    if (l1 > 0) add_jump_at_zero(2 * l1);
  }

  void add_jump_at_zero(double jump) {
    int i = first;
    while (i < last && x[i] < 0) i++;
    if (i < last && x[i] == 0) {
      level[i] += jump;
      return;
    }
    for (int j = last; j > i; j--) {
      x[j] = x[j - 1];
      slope[j] = slope[j - 1];
      level[j] = level[j - 1];
    }
    x[i] = 0;
    slope[i] = 0;
    level[i] = jump;
    last++;
  }

  // Where the derivative passes `target`, dropping the knots to the left of that place.
  double pass_from_left(double target, double &s, double &c) {
    s = left_slope;
    c = left_level;
    while (first < last) {
      if (s * x[first] + c >= target) break;
      s += slope[first];
      c += level[first];
      const double here = x[first++];
      if (s * here + c >= target) return here;
    }
    return (target - c) / s;
  }

  double clip_below(double nu) {
    double s, c;
    const double here = pass_from_left(-nu, s, c);
    first--;
    x[first] = here;
    slope[first] = s;
    level[first] = c + nu;
    left_slope = 0;
    left_level = -nu;
    return here;
  }

  // As clip_below, from the right. Both clips may fall into one jump: then one knot stands for the two.
  double clip_above(double nu) {
    double s = right_slope, c = right_level, here = 0;
    bool inside = false;
    while (last > first + 1) {
      const int j = last - 1;
      if (s * x[j] + c <= nu) break;
      s -= slope[j];
      c -= level[j];
      here = x[j];
      last--;
      if (s * here + c <= nu) {
        inside = true;
        break;
      }
    }
    if (!inside) here = (nu - c) / s;
    right_slope = 0;
    right_level = nu;
    if (here <= x[first]) {
      last = first + 1;
      slope[first] = 0;
      level[first] = 2 * nu;
      return x[first];
    }
    x[last] = here;
    slope[last] = -s;
    level[last] = nu - c;
    last++;
    return here;
  }

  double root() {
    double s, c;
    return pass_from_left(0.0, s, c);
  }
};

// b = argmin sum h/2 b^2 - q b + l1 |b| + sum_k nu_k |b_k - b_{k+1}|, curvatures h > 0 of any size.
template <int T>
void chain_prox(int tasks, const double *h, const double *q, double l1, const double *nu, double *b) {
  const int t = T ? T : tasks;
  if (chain_is_zero<T>(t, q, l1, nu)) {
    std::fill(b, b + t, 0.0);
    return;
  }
  Derivative<T> derivative(t);
  Scratch<T, 2> bounds(t);
  double *lowest = bounds.get(), *highest = lowest + t;
  for (int k = 0; k < t - 1; k++) {
    derivative.add_task(h[k], q[k], l1);
    lowest[k] = derivative.clip_below(nu[k]);
    highest[k] = derivative.clip_above(nu[k]);
  }
  derivative.add_task(h[t - 1], q[t - 1], l1);
  b[t - 1] = derivative.root();
  for (int k = t - 2; k >= 0; k--) b[k] = std::min(std::max(b[k + 1], lowest[k]), highest[k]);
}

// The minimiser with the signs and ties that b has on entry, if it has them still: a few operations without branches.
// Otherwise false, and b is left as it is. nu has T entries, the last one 0.
template <int T>
bool chain_keep_pattern(const double *h, const double *q, double l1, const double *nu, double *b) {
  double sign[T], jump[T], tie[T], rest[T], sum[T], value[T];
  int last[T];
  for (int k = 0; k < T; k++) {
    const double next = k + 1 < T ? b[k + 1] : 0.0;
    sign[k] = (b[k] > 0) - (b[k] < 0);
    jump[k] = k + 1 < T ? (b[k] > next) - (b[k] < next) : 0;
    tie[k] = k + 1 < T && b[k] == next;
    rest[k] = q[k] - l1 * sign[k] - nu[k] * jump[k];
    sum[k] = h[k];
  }
  for (int k = 1; k < T; k++) {
    rest[k] += nu[k - 1] * jump[k - 1] + tie[k - 1] * rest[k - 1];
    sum[k] += tie[k - 1] * sum[k - 1];
  }
  last[T - 1] = T - 1;
  for (int k = T - 2; k >= 0; k--) last[k] = tie[k] != 0 ? last[k + 1] : k;
  for (int k = 0; k < T; k++) rest[k] /= sum[k];
  for (int k = 0; k < T; k++) value[k] = sign[k] != 0 ? rest[last[k]] : 0.0;
  bool kept = true;
  double low = 0, high = 0;
  for (int k = 0; k < T; k++) {
    const double slope = q[k] - h[k] * value[k] - l1 * sign[k];
    const double room = sign[k] == 0 ? l1 : (tie[k] != 0 ? 0.0 : 1e300);
    low = std::max(low + slope - room, nu[k] * (jump[k] - tie[k]));
    high = std::min(high + slope + room, nu[k] * (jump[k] + tie[k]));
    kept &= low <= high;
    kept &= (value[k] * sign[k] > 0) | (sign[k] == 0);
    if (k + 1 < T) kept &= ((value[k] - value[k + 1]) * jump[k] > 0) | (tie[k] != 0);
  }
  if (kept) std::copy(value, value + T, b);
  return kept;
}
