// The duality gap: an upper bound on the distance to the optimum. In the namespace of one instruction set (see
// solver.hpp).
//
// With residuals r = -first, C = X'r and any scaling s in [0, 1] that makes s C feasible, the dual value is at least
// s (loss + <C, B>) - sum of conjugates(s C). Slopes of rows without l1 and l2 must vanish (sum to zero over fused
// tasks); residuals are corrected until they do.
template <int T>
class Gap {
 public:
  Gap(const Data<T> &data, const Penalties<T> &penalties, State<T> &at, GramModel<T> &gram, const WorkingSet &set)
      : data_(data), penalties_(penalties), block_(penalties.block), at_(at), gram_(gram), set_(set) {}

  // Where the gap cannot come below `target`, it may be left at the objective itself, which bounds it too. The Gram
  // matrices may stand in for the curvature where they differ by less than `drift`.
  double operator()(double objective, double target, bool gram_in_use, double drift) {
    const Table *G = &at_.gradient;
    double correction = 0;
    if (penalties_.has_free_features()) {
      if (least_gap() > target || !project_free_rows(gram_in_use, drift, correction)) return objective;
      G = &projected_;
    }
    Scratch<T, 1> scratch(tasks());
    double *c = scratch.get();
    double slack = 0, scale = 1, inner = 0;
    for (int a = 0; a < data_.features; a++) {
      for (int k = 0; k < tasks(); k++) c[k] = -G->row(k)[a];
      if (penalties_.is_free(a)) slack += centre(a, c);
      const double *b = at_.params.row(a);
      for (int k = 0; k < tasks(); k++) inner += c[k] * b[k];
      if (penalties_.l2[a] == 0) scale = block_.gauge(c, penalties_.l1[a], penalties_.fusion[a], scale);
    }
    const double s = 1 / scale;
    double conjugates = 0;
    for (int a = 0; a < data_.features; a++)
      if (penalties_.l2[a] > 0) conjugates += conjugate(a, *G, s);
    return objective - s * (at_.now.loss + inner - correction) + conjugates + slack;
  }

 private:
  struct Unknown {
    int row, component;
  };

  int tasks() const { return data_.tasks(); }
  bool holds(const Unknown &u, int k) const { return penalties_.component(u.row, k) == u.component; }

  // What one Newton step on a single free coefficient would gain: roughly a lower bound on the gap.
  double least_gap() const {
    double most = 0;
    for (int a = 1; a < data_.features; a++) {
      if (!penalties_.is_free(a)) continue;
      for (int c = 0; c < penalties_.components(a); c++) {
        const double slope = component_sum({a, c}), curvature = curvature_between({a, c}, {a, c});
        if (slope != 0) most = std::max(most, 0.25 * slope * slope / (curvature + 1e-300));
      }
    }
    return most;
  }

  // Makes the slopes of a free row sum to zero in each component; returns what the rounding left there may cost.
  double centre(int a, double *c) const {
    const double *b = at_.params.row(a);
    double cost = 0;
    for (int j = 0; j < penalties_.components(a); j++) {
      double sum = 0, size = 0;
      int members = 0;
      for (int k = 0; k < tasks(); k++)
        if (holds({a, j}, k)) {
          sum += c[k];
          size = std::max(size, std::fabs(b[k]));
          members++;
        }
      for (int k = 0; k < tasks(); k++)
        if (holds({a, j}, k)) c[k] -= sum / members;
      cost += std::fabs(sum) * size;
    }
    return cost;
  }

  double conjugate(int a, const Table &G, double s) {
    Scratch<T, 3> scratch(tasks());
    double *c = scratch.get(), *ones = c + tasks(), *b = ones + tasks(), sum = 0;
    for (int k = 0; k < tasks(); k++) {
      c[k] = -s * G.row(k)[a];
      ones[k] = 1;
    }
    block_.prox(ones, c, penalties_.l1[a], penalties_.fusion[a], b);
    for (int k = 0; k < tasks(); k++) sum += b[k] * b[k];
    return sum / (2 * penalties_.l2[a]);
  }

  // ---------------------------------------------------------------- rows without l1 and l2

  // Corrects the residuals by multiples of the curvature so that the slopes of all free rows vanish as they must, and
  // puts their gradient into projected_. False if the correction leaves the dual domain or is too large to compute.
  bool project_free_rows(bool gram_in_use, double drift, double &correction) {
    std::vector<Unknown> unknowns;
    for (int a = 0; a < data_.features; a++)
      if (penalties_.is_free(a))
        for (int c = 0; c < penalties_.components(a); c++) unknowns.push_back({a, c});
    const int count = static_cast<int>(unknowns.size());
    if (count > 2000) return false;
    const bool by_gram = gram_in_use && gram_.size() > 0 && gram_.drift() <= drift && gram_covers(unknowns);
    std::vector<double> matrix(static_cast<std::size_t>(count) * count), z(count);
    double diagonal = 0;
    for (int u = 0; u < count; u++) {
      double *row = &matrix[static_cast<std::size_t>(u) * count];
      z[u] = component_sum(unknowns[u]);
      for (int v = 0; v <= u; v++)
        row[v] = by_gram ? gram_between(unknowns[u], unknowns[v]) : curvature_between(unknowns[u], unknowns[v]);
      diagonal = std::max(diagonal, row[u]);
    }
    for (int u = 0; u < count; u++) matrix[static_cast<std::size_t>(u) * count + u] += 1e-13 * diagonal;
    if (!solve_positive(matrix, count, z)) return false;
    return apply_projection(unknowns, z, by_gram ? gram_.weights() : at_.now.second, correction);
  }

  bool gram_covers(const std::vector<Unknown> &unknowns) const {
    for (const Unknown &u : unknowns)
      if (!set_.has(u.row) || set_.place[u.row] >= gram_.size()) return false;
    return true;
  }

  double gram_between(const Unknown &u, const Unknown &v) const {
    double sum = 0;
    for (int k = 0; k < tasks(); k++)
      if (holds(u, k) && holds(v, k)) sum += gram_.gram(k, set_.place[u.row])[set_.place[v.row]];
    return sum;
  }

  double component_sum(const Unknown &u) const {
    double sum = 0;
    for (int k = 0; k < tasks(); k++)
      if (holds(u, k)) sum -= at_.gradient.row(k)[u.row];
    return sum;
  }

  double curvature_between(const Unknown &u, const Unknown &v) const {
    Vec sum{};
    const Vec *x = as_vec(data_.column(u.row)), *y = as_vec(data_.column(v.row));
    for (int k = 0; k < tasks(); k++) {
      if (!holds(u, k) || !holds(v, k)) continue;
      const Vec *w = as_vec(at_.now.second.row(k));
      for (int i = 0; i < data_.vectors(); i++) sum += x[i] * y[i] * w[i];
    }
    return total(sum);
  }

  bool apply_projection(const std::vector<Unknown> &unknowns, const std::vector<double> &z, const Table &weights,
                        double &correction) {
    at_.change.clear();
    for (std::size_t u = 0; u < unknowns.size(); u++)
      for (int k = 0; k < tasks(); k++)
        if (holds(unknowns[u], k)) add_scaled(data_.width, z[u], data_.column(unknowns[u].row), at_.change.row(k));
    correction = 0;
    for (std::size_t i = 0; i < weights.size(); i++) {
      const double by = weights[i] * at_.change[i], curvature = at_.now.second[i];
      if (!(std::fabs(by) <= 0.5 * curvature)) return false;
      if (by != 0) correction += 2 * by * by / curvature;
      at_.next.first[i] = at_.now.first[i] + by;
    }
    if (projected_.empty()) projected_.resize(tasks(), padded(data_.features));
    data_.gradient(at_.next.first, projected_);
    return true;
  }

  const Data<T> &data_;
  const Penalties<T> &penalties_;
  Block<T> &block_;
  State<T> &at_;
  GramModel<T> &gram_;
  const WorkingSet &set_;
  Table projected_;  // gradient at the corrected residuals
};
