// Exact prox, zero test and gauge of one block on a chain. See parts.hpp.
// Edge k joins task k and task k + 1 with penalty nu[k]. The prox is the dynamic program of Johnson (2013), here with
// unequal curvatures, edge weights and the l1 kink inside the messages.

// Scratch space for blocks of T tasks; on the stack where T is known at compile time.
template <int T, int Times, int Extra = 0, typename Item = double>
struct Scratch {
  Item items[Times * T + Extra];
  explicit Scratch(int) {}
  Item *get() { return items; }
};
template <int Times, int Extra, typename Item>
struct Scratch<0, Times, Extra, Item> {
  std::unique_ptr<Item[]> items;
  explicit Scratch(int tasks) : items(new Item[Times * static_cast<std::size_t>(tasks) + Extra]) {}
  Item *get() { return items.get(); }
};

// Is b = 0 the minimiser of the block?  Interval propagation: bounds on the dual variable of each edge along the chain.
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

// Gauge: by the coarea formula the extreme points of the penalty's unit ball are indicators of intervals of tasks.
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

// b = argmin sum h/2 b^2 - q b + l1 |b| + sum_k nu_k |b_k - b_{k+1}| with h > 0: messages forwards, clamping backwards.
template <int T>
void chain_prox(int tasks, const double *h, const double *q, double l1, const double *nu, double *b) {
  const int t = T ? T : tasks;
  if (chain_is_zero<T>(t, q, l1, nu)) {
    std::fill(b, b + t, 0.0);
    return;
  }
  Scratch<T, 4, 8, Knot> knots(t);
  Knot *middle = knots.get() + t + 2;
  Message message{middle, middle, 0, 0, 0, 0};
  Scratch<T, 2> bounds(t);
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
// pattern takes a few operations, without branches or divisions. nu has T entries, the last one 0.
template <int T>
class ChainPattern {
 public:
  void set(const double *h, double l1, const double *nu, const double *b) {
    double sum[T];
    for (int k = 0; k < T; k++) {
      const double next = k + 1 < T ? b[k + 1] : 0.0;
      sign_[k] = (b[k] > 0) - (b[k] < 0);
      jump_[k] = k + 1 < T ? (b[k] > next) - (b[k] < next) : 0;
      tie_[k] = k + 1 < T && b[k] == next;
      pull_[k] = l1 * sign_[k] + nu[k] * jump_[k];
      room_[k] = sign_[k] == 0 ? l1 : (tie_[k] != 0 ? 0.0 : 1e300);
      low_[k] = nu[k] * (jump_[k] - tie_[k]);
      high_[k] = nu[k] * (jump_[k] + tie_[k]);
      sum[k] = h[k];
    }
    for (int k = T - 1; k > 0; k--) pull_[k] -= nu[k - 1] * jump_[k - 1];
    for (int k = 1; k < T; k++) sum[k] += tie_[k - 1] * sum[k - 1];
    inverse_[T - 1] = 1 / sum[T - 1];
    for (int k = T - 2; k >= 0; k--) inverse_[k] = tie_[k] != 0 ? inverse_[k + 1] : 1 / sum[k];
    for (int k = 0; k < T; k++) inverse_[k] *= sign_[k] != 0;
  }

  // The minimiser with this pattern; false if the dual variables show that the true minimiser has another.
  [[gnu::always_inline]] bool prox(const double *h, const double *q, double l1, double *value) const {
    double sum[T];
    for (int k = 0; k < T; k++) sum[k] = q[k] - pull_[k];
    for (int k = 1; k < T; k++) sum[k] += tie_[k - 1] * sum[k - 1];
    for (int k = T - 2; k >= 0; k--) sum[k] = tie_[k] != 0 ? sum[k + 1] : sum[k];
    for (int k = 0; k < T; k++) value[k] = sum[k] * inverse_[k];
    bool kept = true;
    double least = 0, most = 0;
    for (int k = 0; k < T; k++) {
      const double slope = q[k] - h[k] * value[k] - l1 * sign_[k];
      least = std::max(least + slope - room_[k], low_[k]);
      most = std::min(most + slope + room_[k], high_[k]);
      kept &= least <= most;
      kept &= (value[k] * sign_[k] > 0) | (sign_[k] == 0);
      if (k + 1 < T) kept &= ((value[k] - value[k + 1]) * jump_[k] > 0) | (tie_[k] != 0);
    }
    return kept;
  }

 private:
  double pull_[T];     // penalty gradient of each task on the pattern
  double inverse_[T];  // of the curvature of the group of each task; 0 where it stays at zero
  double tie_[T], sign_[T], jump_[T], room_[T], low_[T], high_[T];
};
