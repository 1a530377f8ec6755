// Exact prox, zero test and gauge of one block, the coefficients of one feature, for any graph of tasks. T is the
// number of tasks, 0 where it is known at run time only. See parts.hpp.
template <int T>
class Block {
 public:
  Block(int tasks, int edges, const int *ends, const double *weights, bool chain)
      : graph_(tasks, edges, ends, weights, chain), graph_prox_(graph_) {}

  int tasks() const { return T ? T : graph_.tasks; }
  const std::vector<Edge> &edges() const { return graph_.edges; }

  // Connected components of the fusion graph; without fusion every task is one.
  int components(double fusion) const { return fusion > 0 ? graph_.components : tasks(); }
  int component(double fusion, int k) const { return fusion > 0 ? graph_.component[k] : k; }

  double total_variation(const double *b) const {
    double sum = 0;
    if (graph_.chain) {
      for (int k = 0; k + 1 < tasks(); k++) sum += graph_.edges[k].weight * std::fabs(b[k] - b[k + 1]);
    } else {
      for (const Edge &e : graph_.edges) sum += e.weight * std::fabs(b[e.a] - b[e.b]);
    }
    return sum;
  }

  // b = argmin sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|
  void prox(const double *h, const double *q, double l1, double fusion, double *b) {
    if (fusion == 0)
      for (int k = 0; k < tasks(); k++) b[k] = soft(q[k], l1, h[k]);
    else
      fused_prox(h, q, l1, fusion, b);
  }

  // The same if the minimiser has the signs and ties of b; else false.
  bool prox_on_pattern(const double *h, const double *q, double l1, double fusion, const double *b, double *to) const {
    if constexpr (T > 1) {
      if (fusion == 0 || !has_patterns()) return false;
      Pattern pattern;
      set_pattern(pattern, h, l1, fusion, b);
      return prox_on_pattern(pattern, h, q, l1, to);
    }
    return false;
  }

  // Cached patterns (signs and ties) of blocks, for chains whose length is known at compile time.
  using Pattern = ChainPattern<(T > 1 ? T : 1)>;
  bool has_patterns() const { return T > 1 && graph_.chain; }
  void set_pattern(Pattern &pattern, const double *h, double l1, double fusion, const double *b) const {
    if constexpr (T > 1) {
      double nu[T] = {};
      edge_penalties(fusion, nu);
      pattern.set(h, l1, nu, b);
    }
  }
  [[gnu::always_inline]] bool prox_on_pattern(const Pattern &pattern, const double *h, const double *q, double l1,
                                   double *to) const {
    if constexpr (T > 1) return pattern.prox(h, q, l1, to);
    return false;
  }

  // Is b = 0 the minimiser?
  bool is_zero(const double *q, double l1, double fusion) {
    if (fusion == 0 || tasks() == 1) {
      for (int k = 0; k < tasks(); k++)
        if (std::fabs(q[k]) > l1) return false;
      return true;
    }
    if (!graph_.chain) return graph_prox_.is_zero(q, l1, fusion);
    Scratch<T, 1> nu(tasks());
    edge_penalties(fusion, nu.get());
    return chain_is_zero<T>(tasks(), q, l1, nu.get());
  }

  // Gauge of the penalty's subdifferential at 0, its dual norm: the smallest s >= lowest with q / s in it.
  double gauge(const double *q, double l1, double fusion, double lowest) {
    if (fusion == 0 || tasks() == 1) {
      for (int k = 0; k < tasks(); k++)
        if (l1 > 0) lowest = std::max(lowest, std::fabs(q[k]) / l1);
      return lowest;
    }
    if (!graph_.chain) return graph_prox_.gauge(q, l1, fusion, lowest);
    Scratch<T, 1> nu(tasks());
    edge_penalties(fusion, nu.get());
    return chain_gauge<T>(tasks(), q, l1, nu.get(), lowest);
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
  [[gnu::noinline]] void fused_prox(const double *h, const double *q, double l1, double fusion, double *b) {
    if (!graph_.chain) return graph_prox_.prox(h, q, l1, fusion, b);
    Scratch<T, 1> nu(tasks());
    edge_penalties(fusion, nu.get());
    chain_prox<T>(tasks(), h, q, l1, nu.get(), b);
  }

  void edge_penalties(double fusion, double *nu) const {
    for (int k = 0; k + 1 < tasks(); k++) nu[k] = fusion * graph_.edges[k].weight;
  }

  const Graph graph_;
  GraphProx graph_prox_;  // for graphs other than a chain
};
