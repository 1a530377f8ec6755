// Prox-Newton for the whole problem, in the namespace of one instruction set.
//
// Outside, Newton steps: the loss is replaced by its quadratic model. Inside, sweeps over blocks (the t coefficients of
// one feature), each minimised exactly. The model is kept as t weighted Gram matrices over a working set of features,
// reused across steps and penalties until the weights have moved; a working set with more features than there are rows
// is swept through the rows instead. Every step ends with a duality gap, and the gap alone says when to stop.
//
// Layout: X by columns, column 0 all ones, rows padded with zero weights to whole vectors; anything per row and task is
// [task][row]; coefficients are [feature][task]; gradients are [task][feature].

template <int T>
class NewtonSolver final : public Solver {
 public:
  explicit NewtonSolver(const Problem &problem)
      : block_(problem.tasks, problem.edges, problem.ends, problem.edge_weights, problem.chain),
        n_(problem.rows),
        p_(problem.features + 1),
        t_(problem.tasks),
        np_(padded(problem.rows)),
        pp_(padded(problem.features + 1)),
        cells_(static_cast<std::size_t>(t_) * np_),
        X_(static_cast<std::size_t>(p_) * np_),
        signs_(cells_),
        weights_(cells_),
        offset_(cells_),
        now_(cells_),
        next_(cells_),
        change_(cells_),
        B_(static_cast<std::size_t>(p_) * t_),
        trial_(static_cast<std::size_t>(p_) * t_),
        G_(static_cast<std::size_t>(t_) * pp_),
        l1_(p_, 0.0),
        l2_(p_, 0.0),
        fusion_(p_, 0.0),
        factors_(p_, 1.0),
        fusion_factors_(p_, 1.0),
        place_(p_, -1),
        growth_(t_, 1.0) {
    factors_[0] = 0;
    copy_data(problem);
    null_loss_ = evaluate_at(offset_, next_);
  }

  void penalise(const double *l1, const double *l2, const double *fusion) override {
    l1_.assign(l1, l1 + p_);
    l2_.assign(l2, l2 + p_);
    fusion_.assign(fusion, fusion + p_);
  }

  void set_factors(const double *factors, const double *fusion_factors) override {
    factors_.assign(factors, factors + p_);
    fusion_factors_.assign(fusion_factors, fusion_factors + p_);
  }

  void penalise_by(double l1, double l2, double fusion) override {
    point_ = {l1, l2, fusion};
    for (int a = 0; a < p_; a++) {
      l1_[a] = l1 * factors_[a];
      l2_[a] = l2 * factors_[a];
      fusion_[a] = fusion * fusion_factors_[a];
    }
  }

  void start(const double *params) override {
    std::copy(params, params + static_cast<std::size_t>(p_) * t_, B_.get());
    refresh_linear();
  }

  void start_from_best(const double *solutions) override {
    if (memory_.empty()) return;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < memory_.size(); i++) {
      const Parts &m = memory_[i];
      const double value = m.loss + point_.l1 * m.l1 + point_.l2 * m.l2 + point_.fusion * m.fusion;
      if (value < least) {
        least = value;
        best = i;
      }
    }
    start(solutions + best * p_ * t_);
  }

  void remember() override {
    Parts parts{now_.loss, 0, 0, 0};
    for (int a = 0; a < p_; a++) {
      const double *b = row(B_, a);
      double size = 0, square = 0;
      for (int k = 0; k < tasks(); k++) {
        size += std::fabs(b[k]);
        square += b[k] * b[k];
      }
      parts.l1 += factors_[a] * size;
      parts.l2 += factors_[a] * 0.5 * square;
      parts.fusion += fusion_factors_[a] * block_.variation(b);
    }
    memory_.push_back(parts);
  }

  void forget() override { memory_.clear(); }

  void params(double *out) const override { std::copy(B_.get(), B_.get() + static_cast<std::size_t>(p_) * t_, out); }

  // The separable rule. Rows that carry neither l1 nor l2 may have no finite minimiser. They first get a tiny ridge, the
  // floor, and a rough fit. Then the ridge is dropped. If the fit without it does not come to a small gap within TRIAL
  // steps, or moves a linear predictor by more than FAR and half of the largest, the data count as separated, and the
  // answer is a rough fit with the ridge. An intercept comes under the rule only where a whole component of tasks has
  // labels of one class; there the ridge stays. Whether data are separated hangs on which rows are free and fused, not
  // on how strongly: the question is put with all fused tasks tied, and the next solve keeps the verdict.
  Report solve(const Settings &settings) override {
    iterations_ = 0;
    const std::vector<double> asked = l2_;
    const bool one_class = intercept_is_free() && has_one_class(), free = has_free_features();
    if (!one_class && !free) return finish(descend(settings), OPTIMAL);
    const std::vector<double> floor = floor_of(settings.floor, one_class);
    const Verdict found = free ? verdict(asked, floor, settings) : INFINITE;
    if (found == UNKNOWN) return restore_and_finish(asked, BROKEN_OFF, SEPARATED);
    if (found == FINITE) {
      drop_ridge(asked, floor);
      return restore_and_finish(asked, descend(settings), one_class ? SEPARATED : OPTIMAL);
    }
    raise_ridge(asked, floor);
    const End end = descend(rough(settings, settings.max_iterations));
    return restore_and_finish(asked, end == BROKEN_OFF ? end : CONVERGED, SEPARATED);
  }

 private:
  enum End { CONVERGED, OUT_OF_STEPS, MOVED_FAR, BROKEN_OFF };
  enum Verdict { UNKNOWN, FINITE, INFINITE };
  static constexpr double FAR = 5.0;
  static constexpr int TRIAL = 30;
  struct Parts {
    double loss, l1, l2, fusion;
  };
  struct Point {
    double l1, l2, fusion;
  };

  int tasks() const { return T ? T : t_; }
  double *row(const Numbers &B, int a) const { return B.get() + static_cast<std::size_t>(a) * tasks(); }
  const double *column(int a) const { return X_.get() + static_cast<std::size_t>(a) * np_; }

  // ---------------------------------------------------------------- data and loss

  void copy_data(const Problem &problem) {
    const int d = p_ - 1;
    for (int i = 0; i < n_; i++) X_[i] = 1.0;
    const int strip = 64;  // columns at a time, so that both sides of the transposition stay in cache
    for (int from = 0; from < d; from += strip)
      for (int i = 0; i < n_; i++)
        for (int a = from; a < std::min(d, from + strip); a++)
          X_[static_cast<std::size_t>(a + 1) * np_ + i] = problem.X[static_cast<std::size_t>(i) * d + a];
    for (int k = 0; k < t_; k++)
      for (int i = 0; i < np_; i++) {
        const std::size_t to = static_cast<std::size_t>(k) * np_ + i, from = static_cast<std::size_t>(i) * t_ + k;
        signs_[to] = i < n_ ? problem.signs[from] : 1.0;
        weights_[to] = i < n_ ? problem.weights[from] : 0.0;
        offset_[to] = i < n_ ? problem.offset[from] : 0.0;
      }
    std::copy(offset_.get(), offset_.get() + cells_, now_.linear.get());
  }

  double evaluate(Slopes &at) const {
    const Vec *linear = as_vec(at.linear.get()), *signs = as_vec(signs_.get()), *weights = as_vec(weights_.get());
    Vec *first = as_vec(at.first.get()), *second = as_vec(at.second.get());
    Vec sum{};
    const std::size_t vectors = cells_ / LANES;
    for (std::size_t i = 0; i < vectors; i++) {
      const Vec margin = signs[i] * linear[i];
      const Bits right = margin > 0.0;
      const Vec size = right ? margin : -margin;
      const Vec small = exp_negative(-size);
      const Vec inverse = 1.0 / (1.0 + small);
      const Vec share = small * inverse;
      first[i] = -weights[i] * signs[i] * (right ? share : inverse);
      second[i] = weights[i] * share * inverse;
      sum += weights[i] * (log_one_plus(small) + (right ? Vec{} : size));
    }
    at.loss = total(sum);
    return at.loss;
  }

  double evaluate_at(const Numbers &linear, Slopes &at) const {
    std::copy(linear.get(), linear.get() + cells_, at.linear.get());
    return evaluate(at);
  }

  void refresh_linear() {
    std::copy(offset_.get(), offset_.get() + cells_, now_.linear.get());
    moved_.clear();
    moves_.clear();
    for (int a = 0; a < p_; a++) {
      if (!is_active(a)) continue;
      moved_.push_back(a);
      moves_.insert(moves_.end(), row(B_, a), row(B_, a) + tasks());
    }
    add_moves(now_.linear.get());
  }

  // linear += column a times one coefficient for each task
  void add_feature(int a, const double *by, double *linear) const {
    for (int k = 0; k < tasks(); k++)
      if (by[k] != 0) add_scaled(np_, by[k], column(a), linear + static_cast<std::size_t>(k) * np_);
  }

  // The same for all features in moved_ with the coefficients in moves_, four at a time: the linear predictor is read and
  // written a quarter as often.
  void add_moves(double *linear) const {
    std::size_t i = 0;
    for (; i + 4 <= moved_.size(); i += 4) {
      const double *x[4] = {column(moved_[i]), column(moved_[i + 1]), column(moved_[i + 2]), column(moved_[i + 3])};
      for (int k = 0; k < tasks(); k++) {
        const double *by = &moves_[i * tasks() + k];
        add_scaled(np_, by, tasks(), x, linear + static_cast<std::size_t>(k) * np_);
      }
    }
    for (; i < moved_.size(); i++) add_feature(moved_[i], &moves_[i * tasks()], linear);
  }

  // ---------------------------------------------------------------- penalty

  double row_penalty(int a, const double *b) const {
    double size = 0, square = 0;
    for (int k = 0; k < tasks(); k++) {
      size += std::fabs(b[k]);
      square += b[k] * b[k];
    }
    return l1_[a] * size + 0.5 * l2_[a] * square + (fusion_[a] > 0 ? fusion_[a] * block_.variation(b) : 0.0);
  }

  double penalty() const {
    double sum = 0;
    for (int a = 0; a < p_; a++) sum += row_penalty(a, row(B_, a));
    return sum;
  }

  // ---------------------------------------------------------------- gradient

  // Two columns against up to four tasks at a time.
  template <int K>
  void gradient_strip(const double *first, int k0, double *out) const {
    const int vectors = np_ / LANES;
    for (int a = 0; a < p_; a += 2) {
      const Vec *x = as_vec(column(a)), *y = as_vec(column(a + 1 < p_ ? a + 1 : a));
      Vec sums[2][K] = {};
      for (int i = 0; i < vectors; i++)
        for (int k = 0; k < K; k++) {
          const Vec r = as_vec(first + static_cast<std::size_t>(k0 + k) * np_)[i];
          sums[0][k] += x[i] * r;
          sums[1][k] += y[i] * r;
        }
      for (int k = 0; k < K; k++) {
        double *to = out + static_cast<std::size_t>(k0 + k) * pp_ + a;
        to[0] = total(sums[0][k]);
        if (a + 1 < p_) to[1] = total(sums[1][k]);
      }
    }
  }

  void full_gradient(const double *first, double *out) const {
    int k = 0;
    for (; k + 4 <= tasks(); k += 4) gradient_strip<4>(first, k, out);
    for (; k + 2 <= tasks(); k += 2) gradient_strip<2>(first, k, out);
    if (k < tasks()) gradient_strip<1>(first, k, out);
  }

  // ---------------------------------------------------------------- intercepts

  bool intercept_is_free() const { return l1_[0] == 0 && l2_[0] == 0; }

  // Newton steps on a common shift of the intercepts of each component, until their slopes sum to rounding.
  void polish_intercepts() {
    if (!intercept_is_free()) return;
    const int count = block_.components(fusion_[0]);
    std::vector<double> slope(count), curvature(count);
    for (int round = 0; round < 4; round++) {
      std::fill(slope.begin(), slope.end(), 0.0);
      std::fill(curvature.begin(), curvature.end(), 0.0);
      for (int k = 0; k < tasks(); k++) {
        Vec first{}, second{};
        const std::size_t from = static_cast<std::size_t>(k) * np_;
        for (int i = 0; i < np_ / LANES; i++) {
          first += as_vec(now_.first.get() + from)[i];
          second += as_vec(now_.second.get() + from)[i];
        }
        slope[block_.component(fusion_[0], k)] += total(first);
        curvature[block_.component(fusion_[0], k)] += total(second);
      }
      double largest = 0;
      for (const double s : slope) largest = std::max(largest, std::fabs(s));
      if (largest <= 1e-12 * (1 + now_.loss) || !shift_intercepts(slope, curvature)) break;
    }
  }

  bool shift_intercepts(const std::vector<double> &slope, const std::vector<double> &curvature) {
    Scratch<T, 1> shift(t_);
    for (int k = 0; k < tasks(); k++) {
      const int c = block_.component(fusion_[0], k);
      shift.get()[k] = curvature[c] > 0 ? std::max(-1.0, std::min(1.0, -slope[c] / curvature[c])) : 0.0;
      const Vec by = spread(shift.get()[k]);
      const std::size_t from = static_cast<std::size_t>(k) * np_;
      for (int i = 0; i < np_ / LANES; i++)
        as_vec(next_.linear.get() + from)[i] = as_vec(now_.linear.get() + from)[i] + by;
    }
    if (!(evaluate(next_) <= now_.loss)) return false;
    for (int k = 0; k < tasks(); k++) B_[k] += shift.get()[k];
    now_.swap(next_);
    return true;
  }

  // ---------------------------------------------------------------- duality gap

  // Upper bound on the distance to the optimum. With residuals r = -first, C = X'r and any scaling s in [0, 1] that makes
  // s C feasible, the dual value is at least  s (loss + <C, B>) - sum of conjugates(s C).
  // Where this cannot come below `tolerance`, it may be left at the objective itself, which bounds it too.
  double duality_gap(double objective, double tolerance) {
    const double *G = G_.get();
    double correction = 0;
    if (has_free_features()) {
      if (least_gap() > tolerance * scale() || !project_free_rows(correction)) return objective;
      G = projected_.get();
    }
    Scratch<T, 1> scratch(t_);
    double *c = scratch.get();
    double slack = 0, scale = 1, inner = 0;
    for (int a = 0; a < p_; a++) {
      for (int k = 0; k < tasks(); k++) c[k] = -G[static_cast<std::size_t>(k) * pp_ + a];
      if (is_free(a)) slack += centre(a, c);
      const double *b = row(B_, a);
      for (int k = 0; k < tasks(); k++) inner += c[k] * b[k];
      if (l2_[a] == 0) scale = block_.gauge(c, l1_[a], fusion_[a], scale);
    }
    const double s = 1 / scale;
    double conjugates = 0;
    for (int a = 0; a < p_; a++)
      if (l2_[a] > 0) conjugates += conjugate(a, G, s);
    return objective - s * (now_.loss + inner - correction) + conjugates + slack;
  }

  double scale() const { return std::max(objective_, 1e-3 * null_loss_); }

  // What one Newton step on a single free coefficient would gain: roughly a lower bound on the gap.
  double least_gap() const {
    double most = 0;
    for (int a = 1; a < p_; a++) {
      if (!is_free(a)) continue;
      for (int c = 0; c < block_.components(fusion_[a]); c++) {
        const double slope = component_sum({a, c}), curvature = curvature_between({a, c}, {a, c});
        if (slope != 0) most = std::max(most, 0.25 * slope * slope / (curvature + 1e-300));
      }
    }
    return most;
  }

  bool is_free(int a) const { return l1_[a] == 0 && l2_[a] == 0; }

  bool has_free_features() const {
    for (int a = 1; a < p_; a++)
      if (is_free(a)) return true;
    return false;
  }

  // Makes the slopes of a free row sum to zero in each component; returns what the rounding left there may cost.
  double centre(int a, double *c) const {
    const int count = block_.components(fusion_[a]);
    const double *b = row(B_, a);
    double cost = 0;
    for (int j = 0; j < count; j++) {
      double sum = 0, size = 0;
      int members = 0;
      for (int k = 0; k < tasks(); k++)
        if (block_.component(fusion_[a], k) == j) {
          sum += c[k];
          size = std::max(size, std::fabs(b[k]));
          members++;
        }
      for (int k = 0; k < tasks(); k++)
        if (block_.component(fusion_[a], k) == j) c[k] -= sum / members;
      cost += std::fabs(sum) * size;
    }
    return cost;
  }

  double conjugate(int a, const double *G, double s) {
    Scratch<T, 3> scratch(t_);
    double *c = scratch.get(), *ones = c + tasks(), *b = ones + tasks(), sum = 0;
    for (int k = 0; k < tasks(); k++) {
      c[k] = -s * G[static_cast<std::size_t>(k) * pp_ + a];
      ones[k] = 1;
    }
    block_.prox(ones, c, l1_[a], fusion_[a], b);
    for (int k = 0; k < tasks(); k++) sum += b[k] * b[k];
    return sum / (2 * l2_[a]);
  }

  // Corrects the residuals by multiples of the curvature so that the slopes of all free rows vanish as they must, and
  // puts their gradient into projected_. False if the correction leaves the dual domain or is too large to compute.
  bool project_free_rows(double &correction) {
    std::vector<std::pair<int, int>> unknowns;  // (row, component)
    for (int a = 0; a < p_; a++)
      if (is_free(a))
        for (int c = 0; c < block_.components(fusion_[a]); c++) unknowns.push_back({a, c});
    const int count = static_cast<int>(unknowns.size());
    if (count > 2000) return false;
    const bool by_gram = gram_covers(unknowns);
    std::vector<double> matrix(static_cast<std::size_t>(count) * count), z(count);
    double diagonal = 0;
    for (int u = 0; u < count; u++) {
      z[u] = component_sum(unknowns[u]);
      for (int v = 0; v <= u; v++)
        matrix[static_cast<std::size_t>(u) * count + v] =
            by_gram ? gram_between(unknowns[u], unknowns[v]) : curvature_between(unknowns[u], unknowns[v]);
      diagonal = std::max(diagonal, matrix[static_cast<std::size_t>(u) * count + u]);
    }
    for (int u = 0; u < count; u++) matrix[static_cast<std::size_t>(u) * count + u] += 1e-13 * diagonal;
    if (!solve_positive(matrix, count, z)) return false;
    return apply_projection(unknowns, z, by_gram ? gram_weights_ : now_.second, correction);
  }

  // Whether the Gram matrices hold these rows at nearly the present curvature.
  bool gram_covers(const std::vector<std::pair<int, int>> &unknowns) {
    if (by_rows_ || gram_size_ == 0 || curvature_drift() > drift_limit()) return false;
    for (const auto &u : unknowns)
      if (place_[u.first] < 0 || place_[u.first] >= gram_size_) return false;
    return true;
  }

  double gram_between(const std::pair<int, int> &u, const std::pair<int, int> &v) const {
    double sum = 0;
    for (int k = 0; k < tasks(); k++)
      if (block_.component(fusion_[u.first], k) == u.second && block_.component(fusion_[v.first], k) == v.second)
        sum += gram(k, place_[u.first])[place_[v.first]];
    return sum;
  }

  double component_sum(const std::pair<int, int> &u) const {
    double sum = 0;
    for (int k = 0; k < tasks(); k++)
      if (block_.component(fusion_[u.first], k) == u.second) sum -= G_[static_cast<std::size_t>(k) * pp_ + u.first];
    return sum;
  }

  double curvature_between(const std::pair<int, int> &u, const std::pair<int, int> &v) const {
    Vec sum{};
    const Vec *x = as_vec(column(u.first)), *y = as_vec(column(v.first));
    for (int k = 0; k < tasks(); k++) {
      if (block_.component(fusion_[u.first], k) != u.second || block_.component(fusion_[v.first], k) != v.second) continue;
      const Vec *w = as_vec(now_.second.get() + static_cast<std::size_t>(k) * np_);
      for (int i = 0; i < np_ / LANES; i++) sum += x[i] * y[i] * w[i];
    }
    return total(sum);
  }

  // Cholesky factorisation of the lower triangle and solution in place.
  static bool solve_positive(std::vector<double> &A, int m, std::vector<double> &b) {
    for (int j = 0; j < m; j++) {
      double *Aj = &A[static_cast<std::size_t>(j) * m];
      for (int i = 0; i < j; i++) {
        const double *Ai = &A[static_cast<std::size_t>(i) * m];
        double sum = Aj[i];
        for (int q = 0; q < i; q++) sum -= Aj[q] * Ai[q];
        Aj[i] = sum / Ai[i];
      }
      double sum = Aj[j];
      for (int q = 0; q < j; q++) sum -= Aj[q] * Aj[q];
      if (!(sum > 0)) return false;
      Aj[j] = std::sqrt(sum);
    }
    for (int j = 0; j < m; j++) {
      for (int q = 0; q < j; q++) b[j] -= A[static_cast<std::size_t>(j) * m + q] * b[q];
      b[j] /= A[static_cast<std::size_t>(j) * m + j];
    }
    for (int j = m - 1; j >= 0; j--) {
      b[j] /= A[static_cast<std::size_t>(j) * m + j];
      for (int q = 0; q < j; q++) b[q] -= A[static_cast<std::size_t>(j) * m + q] * b[j];
    }
    return true;
  }

  bool apply_projection(const std::vector<std::pair<int, int>> &unknowns, const std::vector<double> &z, const Numbers &weights,
                        double &correction) {
    std::fill(change_.get(), change_.get() + cells_, 0.0);
    for (std::size_t u = 0; u < unknowns.size(); u++)
      for (int k = 0; k < tasks(); k++)
        if (block_.component(fusion_[unknowns[u].first], k) == unknowns[u].second)
          add_scaled(np_, z[u], column(unknowns[u].first), change_.get() + static_cast<std::size_t>(k) * np_);
    correction = 0;
    for (std::size_t i = 0; i < cells_; i++) {
      const double by = weights[i] * change_[i], curvature = now_.second[i];
      if (!(std::fabs(by) <= 0.5 * curvature)) return false;
      if (by != 0) correction += 2 * by * by / curvature;
      next_.first[i] = now_.first[i] + by;
    }
    if (projected_.get() == nullptr) projected_.resize(static_cast<std::size_t>(t_) * pp_);
    full_gradient(next_.first.get(), projected_.get());
    return true;
  }

  // ---------------------------------------------------------------- working set

  // The features of the next quadratic model; true if its curvature is that of the present point.
  bool choose_features(bool force) {
    const bool fresh = force || gram_size_ == 0 || curvature_drift() > drift_limit();
    if (fresh) forget_features();
    for (int a = 0; a < p_; a++)
      if (place_[a] < 0 && (a == 0 || is_active(a))) add_feature_to_set(a);
    add_violators();
    by_rows_ = static_cast<int>(set_.size()) > std::min(n_, largest_gram());
    if (by_rows_) {
      gram_size_ = 0;
      prepare_rows();
    } else {
      build_gram();
    }
    return fresh || by_rows_;
  }

  // New Gram matrices cost n / 2 products for each entry; sweeps with the old ones cost more where blocks are fused.
  double drift_limit() const { return is_fused() ? std::min(0.08, 0.03 + n_ / 8000.0) : 0.1; }

  bool is_fused() const {
    for (int a = 0; a < p_; a++)
      if (fusion_[a] > 0) return tasks() > 1;
    return false;
  }

  bool is_active(int a) const {
    const double *b = row(B_, a);
    for (int k = 0; k < tasks(); k++)
      if (b[k] != 0) return true;
    return false;
  }

  void forget_features() {
    for (const int a : set_) place_[a] = -1;
    set_.clear();
    gram_size_ = 0;
    if (gram_weights_.get() == nullptr) gram_weights_.resize(cells_);
    std::copy(now_.second.get(), now_.second.get() + cells_, gram_weights_.get());
    std::fill(growth_.begin(), growth_.end(), 1.0);
  }

  void add_feature_to_set(int a) {
    place_[a] = static_cast<int>(set_.size());
    set_.push_back(a);
  }

  // How far the curvature has moved since the Gram matrices were made, beyond a common growth in each task (which
  // growth_ takes up), relative to its sum: over all tasks, or a tenth of that of a single task, lest a task that hardly
  // counts be left behind.
  double curvature_drift() {
    double moved = 0, sum = 0, largest = 0;
    for (int k = 0; k < tasks(); k++) {
      const std::size_t from = static_cast<std::size_t>(k) * np_;
      const Vec *now = as_vec(now_.second.get() + from), *then = as_vec(gram_weights_.get() + from);
      Vec sum_now{}, sum_then{}, by{};
      for (int i = 0; i < np_ / LANES; i++) {
        sum_now += now[i];
        sum_then += then[i];
      }
      const double task_sum = total(sum_now) + 1e-300;
      growth_[k] = task_sum / (total(sum_then) + 1e-300);
      for (int i = 0; i < np_ / LANES; i++) {
        const Vec difference = now[i] - then[i] * growth_[k];
        by += difference > 0.0 ? difference : -difference;
      }
      moved += total(by);
      sum += task_sum;
      largest = std::max(largest, total(by) / task_sum);
    }
    return std::max(moved / sum, 0.1 * largest);
  }

  // Zero features whose slopes cannot be balanced; of very many, those that miss by most.
  void add_violators() {
    Scratch<T, 1> scratch(t_);
    double *q = scratch.get();
    std::vector<std::pair<double, int>> &found = violators_;
    found.clear();
    for (int a = 1; a < p_; a++) {
      if (place_[a] >= 0) continue;
      double miss = 0;
      for (int k = 0; k < tasks(); k++) {
        q[k] = -G_[static_cast<std::size_t>(k) * pp_ + a];
        const double over = std::max(0.0, std::fabs(q[k]) - l1_[a]);
        miss += over * over;
      }
      if (miss > 0 && !block_.is_zero(q, l1_[a], fusion_[a])) found.push_back({-miss, a});
    }
    const std::size_t most = std::max<std::size_t>(128, 2 * set_.size());
    if (found.size() > most) {
      std::nth_element(found.begin(), found.begin() + most, found.end());
      found.resize(most);
    }
    for (const auto &violator : found) add_feature_to_set(violator.second);
  }

  // ---------------------------------------------------------------- quadratic model by Gram matrices

  int largest_gram() const { return std::min(2000, static_cast<int>(std::sqrt(3.2e7 / tasks()))); }

  void build_gram() {
    const int m = static_cast<int>(set_.size());
    if (m + PAD > stride_) grow_gram(m);
    if (gram_size_ < m)
      for (int k = 0; k < tasks(); k++) weigh_and_multiply(k, m);
    gram_size_ = m;
    diagonal_.resize(static_cast<std::size_t>(m) * tasks());
    for (int c = 0; c < m; c++)
      for (int k = 0; k < tasks(); k++)
        diagonal_[static_cast<std::size_t>(c) * tasks() + k] = growth_[k] * gram(k, c)[c] + least_curvature();
  }

  double *gram(int k, int c) const {
    return gram_.get() + static_cast<std::size_t>(k) * stride_ * stride_ + static_cast<std::size_t>(c) * stride_;
  }

  // Keeps blocks with no curvature at all where they are.
  double least_curvature() const { return 1e-12 * (1 + null_loss_) / tasks(); }

  void grow_gram(int m) {
    stride_ = padded(std::min(std::max(2 * m, 64), std::max(m, std::min(p_, largest_gram()))) + PAD);
    gram_.resize(static_cast<std::size_t>(tasks()) * stride_ * stride_);
    slope_.resize(static_cast<std::size_t>(tasks()) * stride_);
    weighted_.resize(static_cast<std::size_t>(stride_) * np_);
    weight_.resize(np_);
    gram_size_ = 0;
  }

  // Rows gram_size_..m of the Gram matrix of one task. From scratch, both factors carry the roots of the weights, which
  // halves the memory that must stay in cache; else the new one carries the weights.
  void weigh_and_multiply(int k, int m) {
    const bool scratch = gram_size_ == 0;
    const Vec *w = as_vec(gram_weights_.get() + static_cast<std::size_t>(k) * np_);
    Vec *by = as_vec(weight_.get());
    for (int i = 0; i < np_ / LANES; i++) by[i] = scratch ? root(w[i]) : w[i];
    for (int c = gram_size_; c < m; c++) {
      const Vec *x = as_vec(column(set_[c]));
      Vec *to = as_vec(weighted_.get() + static_cast<std::size_t>(c) * np_);
      for (int i = 0; i < np_ / LANES; i++) to[i] = by[i] * x[i];
    }
    right_.resize(m);
    for (int c = 0; c < m; c++) right_[c] = scratch ? weighted_.get() + static_cast<std::size_t>(c) * np_ : column(set_[c]);
    int c = gram_size_;
    for (; c + 6 <= m; c += 6) gram_rows<3, 2>(k, c);
    for (; c + 3 <= m; c += 3) gram_rows<3, 1>(k, c);
    for (; c < m; c++) gram_rows<1, 1>(k, c);
  }

  template <int R, int Times>
  void gram_rows(int k, int c) {
    const int last = c + R * Times;
    int e = 0;
    for (; e + 4 <= last; e += 4)
      for (int j = 0; j < Times; j++) gram_tile<R, 4>(k, c + R * j, e);
    for (; e < last; e++)
      for (int j = 0; j < Times; j++) gram_tile<R, 1>(k, c + R * j, e);
  }

  // R x C products of a weighted column and another, written on both sides of the diagonal.
  template <int R, int C>
  void gram_tile(int k, int c, int e) {
    const Vec *x[C], *w[R];
    for (int j = 0; j < C; j++) x[j] = as_vec(right_[e + j]);
    for (int i = 0; i < R; i++) w[i] = as_vec(weighted_.get() + static_cast<std::size_t>(c + i) * np_);
    Vec sums[R][C];
    for (int j = 0; j < C; j++)
      for (int i = 0; i < R; i++) sums[i][j] = w[i][0] * x[j][0];
    for (int v = 1; v < np_ / LANES; v++)
      for (int j = 0; j < C; j++) {
        const Vec xj = x[j][v];
        for (int i = 0; i < R; i++) sums[i][j] += w[i][v] * xj;
      }
    for (int i = 0; i < R; i++)
      for (int j = 0; j < C; j++) gram(k, c + i)[e + j] = gram(k, e + j)[c + i] = total(sums[i][j]);
  }

  // ---------------------------------------------------------------- quadratic model by rows

  void prepare_rows() {
    const int m = static_cast<int>(set_.size());
    diagonal_.resize(static_cast<std::size_t>(m) * tasks());
    for (int c = 0; c < m; c++)
      for (int k = 0; k < tasks(); k++) {
        const Vec *x = as_vec(column(set_[c])), *w = as_vec(now_.second.get() + static_cast<std::size_t>(k) * np_);
        Vec sum{};
        for (int i = 0; i < np_ / LANES; i++) sum += x[i] * x[i] * w[i];
        diagonal_[static_cast<std::size_t>(c) * tasks() + k] = total(sum) + least_curvature();
      }
  }

  double slope_by_rows(int k, int c) const {
    const std::size_t from = static_cast<std::size_t>(k) * np_;
    const Vec *x = as_vec(column(set_[c])), *r = as_vec(now_.first.get() + from), *w = as_vec(now_.second.get() + from),
              *z = as_vec(change_.get() + from);
    Vec sum{};
    for (int i = 0; i < np_ / LANES; i++) sum += x[i] * (r[i] + w[i] * z[i]);
    return total(sum);
  }

  // ---------------------------------------------------------------- sweeps

  // The numbers that sweeps keep up to date beside the coefficients: slopes of the model, or changes of the linear predictor.
  double *state() const { return by_rows_ ? change_.get() : slope_.get(); }
  std::size_t state_size() const { return by_rows_ ? cells_ : static_cast<std::size_t>(tasks()) * stride_; }

  void start_sweeps() {
    for (std::size_t c = 0; c < set_.size(); c++) {
      std::copy(row(B_, set_[c]), row(B_, set_[c]) + tasks(), row(trial_, set_[c]));
      if (!by_rows_)
        for (int k = 0; k < tasks(); k++)
          slope_[static_cast<std::size_t>(k) * stride_ + c] = G_[static_cast<std::size_t>(k) * pp_ + set_[c]];
    }
    if (by_rows_) std::fill(change_.get(), change_.get() + cells_, 0.0);
  }

  void model_slopes(int c, double *out) const {
    if (by_rows_)
      for (int k = 0; k < tasks(); k++) out[k] = slope_by_rows(k, c);
    else
      for (int k = 0; k < tasks(); k++) out[k] = slope_[static_cast<std::size_t>(k) * stride_ + c];
  }

  // Minimises the model over one block; returns the curvature-weighted square of the step.
  double update_block(int c) {
    Scratch<T, 3> scratch(t_);
    double *h = scratch.get(), *q = h + tasks(), *step = q + tasks();
    const int a = set_[c];
    double *b = row(trial_, a);
    const double *diagonal = &diagonal_[static_cast<std::size_t>(c) * tasks()];
    model_slopes(c, step);
    bool zero = true;
    for (int k = 0; k < tasks(); k++) {
      h[k] = diagonal[k] + l2_[a];
      q[k] = diagonal[k] * b[k] - step[k];
      zero &= b[k] == 0;
    }
    if (zero && block_.is_zero(q, l1_[a], fusion_[a])) return 0;
    if (zero || !block_.keep_pattern(h, q, l1_[a], fusion_[a], b, step)) block_.prox(h, q, l1_[a], fusion_[a], step);
    double size = 0;
    for (int k = 0; k < tasks(); k++) {
      const double by = step[k] - b[k];
      b[k] = step[k];
      step[k] = by;
      size += h[k] * by * by;
    }
    if (size > 0) spread_step(c, step, state());
    return size;
  }

  void spread_step(int c, const double *step, double *state) const {
    if (by_rows_) {
      add_feature(set_[c], step, state);
      return;
    }
    const int count = padded(static_cast<int>(set_.size()));
    for (int k = 0; k < tasks(); k++)
      if (step[k] != 0) add_scaled(count, growth_[k] * step[k], gram(k, c), state + static_cast<std::size_t>(k) * stride_);
  }

  // Sweeps until the steps are a hundredth of the first sweep's: all features, then the non-zero ones, then all again.
  bool sweep(double smallest, const Settings &settings) {
    start_sweeps();
    const int m = static_cast<int>(set_.size());
    double first = 0;
    bool all = true;
    kept_ = 0;
    for (int pass = 0; pass < 200; pass++) {
      double size = 0;
      if (all) {
        for (int c = 0; c < m; c++) size += update_block(c);
        list_active();
      } else {
        for (const int c : active_) size += update_block(c);
      }
      if (pass == 0) first = size;
      if (size <= 1e-2 * first || size <= smallest) {
        if (all || static_cast<int>(active_.size()) == m) return true;
        all = true;
        kept_ = 0;
        continue;
      }
      all = false;
      if (pass % 48 == 47) {
        solve_on_pattern();
        kept_ = 0;
      } else {
        extrapolate();
      }
      if (interrupted(settings)) return false;
    }
    return true;
  }

  void list_active() {
    active_.clear();
    for (int c = 0; c < static_cast<int>(set_.size()); c++) {
      const double *b = row(trial_, set_[c]);
      bool active = set_[c] == 0;
      for (int k = 0; k < tasks(); k++) active |= b[k] != 0;
      if (active) active_.push_back(c);
    }
  }

  // ---------------------------------------------------------------- Anderson extrapolation of the sweeps

  void extrapolate() {
    const std::size_t coefs = set_.size() * tasks(), states = state_size();
    past_coefs_.resize((DEPTH + 1) * coefs);
    past_states_.resize((DEPTH + 1) * states);
    gather(&past_coefs_[kept_ * coefs]);
    std::copy(state(), state() + states, &past_states_[kept_ * states]);
    if (++kept_ <= DEPTH) return;
    kept_ = 0;
    double mix[DEPTH];
    if (!mixing_weights(past_coefs_, coefs, mix)) return;
    mixed_coefs_.resize(coefs);
    mixed_states_.resize(states);
    combine(past_coefs_, coefs, mix, mixed_coefs_);
    combine(past_states_, states, mix, mixed_states_);
    const double here = model_value(&past_coefs_[DEPTH * coefs], state());
    if (!(model_value(mixed_coefs_.data(), mixed_states_.data()) < here)) return;
    adopt_mixture();
  }

  void adopt_mixture() {
    for (std::size_t c = 0; c < set_.size(); c++)
      std::copy(&mixed_coefs_[c * tasks()], &mixed_coefs_[c * tasks()] + tasks(), row(trial_, set_[c]));
    std::copy(mixed_states_.begin(), mixed_states_.end(), state());
  }

  void gather(double *out) const {
    for (std::size_t c = 0; c < set_.size(); c++)
      for (int k = 0; k < tasks(); k++) out[c * tasks() + k] = row(trial_, set_[c])[k];
  }

  // Quadratic model plus penalty, up to a constant.
  double model_value(const double *coefs, const double *state) const {
    double value = by_rows_ ? model_loss_by_rows(state) : 0.0;
    for (std::size_t c = 0; c < set_.size(); c++) {
      const int a = set_[c];
      const double *b = coefs + c * tasks(), *old = row(B_, a);
      if (!by_rows_)
        for (int k = 0; k < tasks(); k++)
          value += 0.5 * (G_[static_cast<std::size_t>(k) * pp_ + a] + state[static_cast<std::size_t>(k) * stride_ + c]) * (b[k] - old[k]);
      value += row_penalty(a, b);
    }
    return value;
  }

  double model_loss_by_rows(const double *change) const {
    double value = 0;
    for (std::size_t i = 0; i < cells_; i++) value += change[i] * (now_.first[i] + 0.5 * now_.second[i] * change[i]);
    return value;
  }

  // ---------------------------------------------------------------- conjugate gradients on the present pattern

  // Sweeps crawl where the model is nearly flat. Then keep the pattern of zeros and ties, on which model and penalty are
  // one quadratic, walk to its minimum by conjugate gradients, and go there as far as the true model falls.
  void solve_on_pattern() {
    list_active();
    const int groups = label_groups();
    std::vector<double> residual(groups), scaled(groups), direction(groups), walk(groups), product(groups), curvature(groups);
    pattern_gradient(residual, curvature);
    for (double &r : residual) r = -r;
    reply_.resize(state_size());
    double before = 0;
    for (int g = 0; g < groups; g++) {
      direction[g] = scaled[g] = residual[g] / curvature[g];
      before += residual[g] * scaled[g];
    }
    const double enough = 1e-6 * before;
    for (int round = 0; round < 100 && before > enough; round++) {
      pattern_product(direction, product);
      double along = 0;
      for (int g = 0; g < groups; g++) along += direction[g] * product[g];
      if (!(along > 0)) break;
      const double length = before / along;
      double after = 0;
      for (int g = 0; g < groups; g++) {
        walk[g] += length * direction[g];
        residual[g] -= length * product[g];
        scaled[g] = residual[g] / curvature[g];
        after += residual[g] * scaled[g];
      }
      for (int g = 0; g < groups; g++) direction[g] = scaled[g] + after / before * direction[g];
      before = after;
    }
    walk_on_pattern(walk);
  }

  // Numbers the groups of tied tasks of the active features; -1 for coefficients that stay at zero.
  int label_groups() {
    const int t = tasks();
    group_.assign(active_.size() * t, -1);
    int groups = 0;
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int a = set_[active_[i]];
      const double *b = row(trial_, a);
      int *group = &group_[i * t];
      for (int k = 0; k < t; k++) {
        if (b[k] == 0 && l1_[a] > 0) continue;
        if (group[k] < 0) group[k] = groups++;
        if (fusion_[a] > 0) spread_label(b, k, group);
      }
    }
    return groups;
  }

  void spread_label(const double *b, int k, int *group) const {
    for (bool more = true; more;) {
      more = false;
      for (const Edge &e : block_.edges())
        if (b[e.a] == b[e.b] && (group[e.a] == group[k]) != (group[e.b] == group[k])) {
          group[e.a] = group[e.b] = group[k];
          more = true;
        }
    }
  }

  void pattern_gradient(std::vector<double> &gradient, std::vector<double> &curvature) {
    const int t = tasks();
    Scratch<T, 1> slopes(t_);
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int c = active_[i], a = set_[c];
      const double *b = row(trial_, a);
      model_slopes(c, slopes.get());
      for (int k = 0; k < t; k++)
        slopes.get()[k] = slopes.get()[k] + l2_[a] * b[k] + (b[k] > 0 ? l1_[a] : (b[k] < 0 ? -l1_[a] : 0.0));
      if (fusion_[a] > 0)
        for (const Edge &e : block_.edges()) {
          const double nu = fusion_[a] * e.weight * ((b[e.a] > b[e.b]) - (b[e.a] < b[e.b]));
          slopes.get()[e.a] += nu;
          slopes.get()[e.b] -= nu;
        }
      for (int k = 0; k < t; k++)
        if (group_[i * t + k] >= 0) {
          gradient[group_[i * t + k]] += slopes.get()[k];
          curvature[group_[i * t + k]] += diagonal_[static_cast<std::size_t>(c) * t + k] + l2_[a];
        }
    }
  }

  // Step of active feature i that a vector over groups stands for.
  void group_step(std::size_t i, const std::vector<double> &values, double *step) const {
    for (int k = 0; k < tasks(); k++) step[k] = group_[i * tasks() + k] >= 0 ? values[group_[i * tasks() + k]] : 0.0;
  }

  // Change of the state (see state()) by a step over groups.
  void pattern_reply(const std::vector<double> &values) {
    std::fill(reply_.get(), reply_.get() + state_size(), 0.0);
    Scratch<T, 1> step(t_);
    for (std::size_t i = 0; i < active_.size(); i++) {
      group_step(i, values, step.get());
      spread_step(active_[i], step.get(), reply_.get());
    }
  }

  void pattern_product(const std::vector<double> &direction, std::vector<double> &product) {
    const int t = tasks();
    pattern_reply(direction);
    std::fill(product.begin(), product.end(), 0.0);
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int c = active_[i];
      for (int k = 0; k < t; k++) {
        const int g = group_[i * t + k];
        if (g < 0) continue;
        const double by_loss = by_rows_ ? weighted_product(k, c, reply_.get()) : reply_[static_cast<std::size_t>(k) * stride_ + c];
        product[g] += by_loss + (l2_[set_[c]] + least_curvature()) * direction[g];
      }
    }
  }

  double weighted_product(int k, int c, const double *linear) const {
    const std::size_t from = static_cast<std::size_t>(k) * np_;
    const Vec *x = as_vec(column(set_[c])), *w = as_vec(now_.second.get() + from), *z = as_vec(linear + from);
    Vec sum{};
    for (int i = 0; i < np_ / LANES; i++) sum += x[i] * w[i] * z[i];
    return total(sum);
  }

  void walk_on_pattern(const std::vector<double> &walk) {
    pattern_reply(walk);
    const std::size_t coefs = set_.size() * tasks(), states = state_size();
    std::vector<double> from(coefs), to(coefs);
    gather(from.data());
    mixed_states_.resize(states);
    const double here = model_value(from.data(), state());
    Scratch<T, 1> step(t_);
    for (double length = 1; length > 0.01; length *= 0.5) {
      to = from;
      for (std::size_t i = 0; i < active_.size(); i++) {
        group_step(i, walk, step.get());
        for (int k = 0; k < tasks(); k++) to[active_[i] * static_cast<std::size_t>(tasks()) + k] += length * step.get()[k];
      }
      for (std::size_t j = 0; j < states; j++) mixed_states_[j] = state()[j] + length * reply_[j];
      if (model_value(to.data(), mixed_states_.data()) < here) {
        mixed_coefs_ = to;
        adopt_mixture();
        return;
      }
    }
  }

  // ---------------------------------------------------------------- Newton steps

  // With `home`, gives up once a linear predictor has gone far from there.
  End descend(const Settings &settings, const std::vector<double> *home = nullptr) {
    evaluate(now_);
    polish_intercepts();
    double objective = now_.loss + penalty(), fall = std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity();
    bool force = false;
    int stalls = 0;
    for (int step = 0;; step++) {
      full_gradient(now_.first.get(), G_.get());
      objective_ = objective;
      gap_ = duality_gap(objective, settings.tolerance) / scale();
      if (gap_ <= settings.tolerance) return CONVERGED;
      // Near the end the objective no longer tells one step from the next, but the gap still does.
      stalls = fall <= 1e-15 * objective && gap_ > 0.5 * least ? stalls + 1 : 0;
      force |= step > 3 && gap_ > 0.3 * least;  // slow for this long: old curvature may be to blame
      least = std::min(least, gap_);
      if (step == settings.max_iterations || stalls == 5) return OUT_OF_STEPS;
      if (home && has_gone_far(*home)) return MOVED_FAR;
      if (interrupted(settings)) return BROKEN_OFF;
      iterations_++;
      const bool fresh = choose_features(force);
      const double smallest = 1e-12 * settings.tolerance * settings.tolerance * objective;
      if (!sweep(smallest, settings)) return BROKEN_OFF;
      const bool moved = line_search(objective);
      force = !moved;
      if (!moved && fresh) return OUT_OF_STEPS;
      if (moved) polish_intercepts();
      const double value = now_.loss + penalty();
      fall = objective - value;
      objective = value;
    }
  }

  // Moves towards the minimiser of the model until the true objective has fallen enough.
  bool line_search(double objective) {
    if (!by_rows_) collect_change();
    double slope = 0, before = 0, after = 0;
    for (const int a : set_) {
      const double *b = row(B_, a), *to = row(trial_, a);
      for (int k = 0; k < tasks(); k++) slope += (to[k] - b[k]) * G_[static_cast<std::size_t>(k) * pp_ + a];
      before += row_penalty(a, b);
      after += row_penalty(a, to);
    }
    const double expected = slope + after - before;
    double step = 1;
    for (int halvings = 0; halvings < 30; halvings++, step *= 0.5) {
      for (std::size_t i = 0; i < cells_ / LANES; i++)
        as_vec(next_.linear.get())[i] = as_vec(now_.linear.get())[i] + as_vec(change_.get())[i] * step;
      const double value = evaluate(next_) + (step == 1 ? after : penalty_between(step));
      if (value <= objective + 0.01 * step * expected + 1e-13 * objective) {
        accept(step);
        return true;
      }
    }
    return false;
  }

  void collect_change() {
    std::fill(change_.get(), change_.get() + cells_, 0.0);
    moved_ = set_;
    moves_.resize(set_.size() * tasks());
    for (std::size_t c = 0; c < set_.size(); c++)
      for (int k = 0; k < tasks(); k++) moves_[c * tasks() + k] = row(trial_, set_[c])[k] - row(B_, set_[c])[k];
    add_moves(change_.get());
  }

  double penalty_between(double step) const {
    Scratch<T, 1> b(t_);
    double sum = 0;
    for (const int a : set_) {
      for (int k = 0; k < tasks(); k++) b.get()[k] = row(B_, a)[k] + step * (row(trial_, a)[k] - row(B_, a)[k]);
      sum += row_penalty(a, b.get());
    }
    return sum;
  }

  void accept(double step) {
    for (const int a : set_)
      for (int k = 0; k < tasks(); k++) {
        double &b = row(B_, a)[k];
        const double to = row(trial_, a)[k];
        b = step == 1 ? to : b + step * (to - b);
      }
    now_.swap(next_);
  }

  // Asks some 20 times a second: asking takes the lock of the caller's interpreter.
  bool interrupted(const Settings &settings) {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return false;
    asked_ = now;
    return settings.stop && settings.stop();
  }

  // ---------------------------------------------------------------- the separable rule

  bool has_one_class() const {
    const int count = block_.components(fusion_[0]);
    for (int c = 0; c < count; c++) {
      bool yes = false, no = false;
      for (int k = 0; k < tasks(); k++)
        if (block_.component(fusion_[0], k) == c)
          for (int i = 0; i < n_; i++) {
            const std::size_t at = static_cast<std::size_t>(k) * np_ + i;
            if (weights_[at] > 0) (signs_[at] > 0 ? yes : no) = true;
          }
      if (yes != no) return true;
    }
    return false;
  }

  // A fraction of the largest curvature that a row can have.
  std::vector<double> floor_of(double fraction, bool one_class) const {
    std::vector<double> floor(p_, 0.0);
    for (int a = one_class ? 0 : 1; a < p_; a++) {
      if (!is_free(a)) continue;
      for (int k = 0; k < tasks(); k++) {
        double sum = 0;
        for (int i = 0; i < n_; i++) sum += weights_[static_cast<std::size_t>(k) * np_ + i] * column(a)[i] * column(a)[i];
        floor[a] = std::max(floor[a], 0.25 * fraction * sum);
      }
      if (floor[a] == 0) floor[a] = fraction;
    }
    return floor;
  }

  void raise_ridge(const std::vector<double> &asked, const std::vector<double> &floor) {
    for (int a = 0; a < p_; a++) l2_[a] = asked[a] + floor[a];
  }

  static Settings rough(const Settings &settings, int most) {
    Settings out = settings;
    out.tolerance = std::max(settings.tolerance, 1e-3);
    out.max_iterations = std::min(settings.max_iterations, most);
    return out;
  }

  void drop_ridge(const std::vector<double> &asked, const std::vector<double> &floor) {
    l2_ = asked;
    l2_[0] += floor[0];
  }

  // Which rows are free, and which of all rows are fused: what a verdict on separation hangs on.
  std::vector<char> circumstances() const {
    std::vector<char> kinds(p_);
    for (int a = 0; a < p_; a++) kinds[a] = static_cast<char>(2 * is_free(a) + (fusion_[a] > 0));
    return kinds;
  }

  // Tasks that are fused can only run away together, so fusion strong enough to tie them all asks the same question.
  Verdict verdict(const std::vector<double> &asked, const std::vector<double> &floor, const Settings &settings) {
    const std::vector<char> kinds = circumstances();
    if (verdict_ != UNKNOWN && kinds == judged_) return verdict_;
    const std::vector<double> fusion = fusion_, params(B_.get(), B_.get() + static_cast<std::size_t>(p_) * t_);
    tie_all();
    verdict_ = try_without_ridge(asked, floor, settings);
    judged_ = kinds;
    fusion_ = fusion;
    start(params.data());
    return verdict_;
  }

  Verdict try_without_ridge(const std::vector<double> &asked, const std::vector<double> &floor, const Settings &settings) {
    raise_ridge(asked, floor);
    if (descend(rough(settings, 10)) == BROKEN_OFF) return UNKNOWN;
    const std::vector<double> home(now_.linear.get(), now_.linear.get() + cells_);
    drop_ridge(asked, floor);
    Settings trial = settings;
    trial.tolerance = std::max(settings.tolerance, 1e-3);
    trial.max_iterations = TRIAL;
    const End end = descend(trial, &home);
    if (end == BROKEN_OFF) return UNKNOWN;
    // A gap that is all of the objective only says that the objective tends to zero.
    return end == CONVERGED && gap_ * scale() < 0.5 * objective_ ? FINITE : INFINITE;
  }

  // Fusion that no slope of the loss can overcome, on the rows that have any.
  void tie_all() {
    double least = 1;
    for (const Edge &e : block_.edges()) least = std::min(least, e.weight);
    for (int a = 0; a < p_; a++) {
      if (fusion_[a] == 0) continue;
      double sum = 0;
      for (int k = 0; k < tasks(); k++)
        for (int i = 0; i < n_; i++) sum += weights_[static_cast<std::size_t>(k) * np_ + i] * std::fabs(column(a)[i]);
      fusion_[a] = std::max(fusion_[a], std::min(sum / least, 1e150));
    }
  }

  // Has some linear predictor gone far from where it was, as all do that have no finite optimum?
  bool has_gone_far(const std::vector<double> &home) const {
    double largest = 0, moved = 0;
    for (std::size_t i = 0; i < cells_; i++) {
      if (weights_[i] == 0) continue;
      largest = std::max(largest, std::fabs(home[i]));
      moved = std::max(moved, std::fabs(now_.linear[i] - home[i]));
    }
    return moved > std::max(FAR, 0.5 * largest);
  }

  // Values are reported for the penalties that were asked for, without the floor. Where the floor stays, the dual point
  // 0 is the only one at hand: the gap is all of the objective.
  Report restore_and_finish(const std::vector<double> &asked, End end, Status good) {
    l2_ = asked;
    objective_ = now_.loss + penalty();
    if (good == SEPARATED) gap_ = objective_ / scale();
    return finish(end, good);
  }

  Report finish(End end, Status good) const {
    Report report{objective_, gap_, good, iterations_, 0, 0};
    if (end == OUT_OF_STEPS) report.status = NOT_CONVERGED;
    if (end == BROKEN_OFF) report.status = INTERRUPTED;
    for (int a = 0; a < p_; a++) count_groups(a, report);
    return report;
  }

  // Non-zero coefficients, and groups of tied neighbours (non-zero ones only, but for the intercept).
  void count_groups(int a, Report &report) const {
    const double *b = row(B_, a);
    if (a > 0 && !is_active(a)) return;
    for (int k = 0; k < tasks(); k++) report.nonzeros += a > 0 && b[k] != 0;
    report.groups += block_.count_groups(b, a == 0);
  }

  Block<T> block_;
  const int n_, p_, t_, np_, pp_;
  const std::size_t cells_;  // tasks times padded rows
  Numbers X_, signs_, weights_, offset_;
  Slopes now_, next_;
  Numbers change_;  // of the linear predictor, from the present point to the trial point
  Numbers B_, trial_, G_, projected_;
  std::vector<double> l1_, l2_, fusion_, factors_, fusion_factors_;
  Point point_{0, 0, 0};
  std::vector<Parts> memory_;
  double null_loss_ = 0, objective_ = 0, gap_ = 0;
  int iterations_ = 0;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  Verdict verdict_ = UNKNOWN;
  std::vector<char> judged_;

  std::vector<int> moved_;  // features, and by how much: see add_moves
  std::vector<double> moves_;
  std::vector<int> place_, set_, active_;  // position of a feature in the working set, the set, its non-zero members
  std::vector<std::pair<double, int>> violators_;
  std::vector<double> growth_;  // of the curvature of each task since the Gram matrices were made
  bool by_rows_ = false;
  int stride_ = 0, gram_size_ = 0;
  Numbers gram_, gram_weights_, slope_, weighted_, weight_;
  std::vector<const double *> right_;  // second factors of the products
  std::vector<double> diagonal_;

  int kept_ = 0;
  std::vector<double> past_coefs_, past_states_, mixed_coefs_, mixed_states_;
  std::vector<int> group_;  // of each coefficient of the active features
  Numbers reply_;
};

Solver *make(const Problem &problem) {
  switch (problem.tasks) {
    case 1: return new NewtonSolver<1>(problem);
    case 2: return new NewtonSolver<2>(problem);
    case 3: return new NewtonSolver<3>(problem);
    case 4: return new NewtonSolver<4>(problem);
    case 5: return new NewtonSolver<5>(problem);
    case 6: return new NewtonSolver<6>(problem);
    default: return new NewtonSolver<0>(problem);
  }
}
