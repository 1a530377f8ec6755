// The duality gap: an upper bound on the distance to the optimum. In the namespace of one instruction set (see
// solver.hpp).
//
// With residuals r = -first, C = X'r and any scaling s in [0, 1] that makes s C feasible, the dual value is at least
// s (loss + <C, B>) - sum of conjugates(s C). Slopes of rows without l1 and l2 must vanish (sum to zero over fused
// tasks); residuals are corrected until they do.
template <int T>
class Gap {
 public:
  Gap(const Data<T> &data, const Penalties<T> &penalties, State<T> &at, Gram<T> &gram, const WorkingSet &set)
      : data_(data), penalties_(penalties), block_(penalties.block), at_(at), gram_(gram), set_(set) {}

  // Where the gap cannot come below `target`, it may be left at something larger, such as the objective itself.
  //
  // The residuals at hand give a gap that falls with their error, while the distance to the optimum falls with its
  // square: where rows have no ridge to speak of (`loose`) or none at all, those residuals do better to which a Newton
  // step on the present zeros and ties would lead. Gram matrices, of old curvature or not, stand in for the present
  // one. The coefficients themselves are then less exact than others with the same gap, and a last step gains many
  // digits: unless there is none (`last`), only a gap far below the target will do.
  double operator()(double objective, double target, bool loose, bool last) {
    const bool free = penalties_.has_free_features();
    const double plain = this->plain(objective);
    if (plain <= target || !(loose || penalties_.has_features_without_ridge())) return plain;
    double correction;
    if (label_pattern_in_set()) {
      if (least_gap(true) > (loose ? LOOSELY_HOPEFUL : HOPEFUL) * target) return plain;
      const NormalEquations &equations = gram_.equations(free_, ridge_);
      const std::vector<double> slopes = misses();
      std::vector<double> step = slopes;
      equations.solve(step);
      double gain = 0;
      for (int g = 0; g < free_.count; g++) gain += 0.25 * slopes[g] * step[g];
      const double enough = last ? target : std::min(target, std::max(FURTHER * target, ROUNDED * objective));
      if (gain > enough) return plain;
      if (loose ? balance(equations, true, step, correction) : balance_once(step, correction)) {
        const double found = bound(objective, projected_, correction);
        return found <= enough ? found : plain;
      }
    }
    if (!free) return plain;
    label_free_rows();
    if (least_gap(gram_covers_free_rows()) > target || !project(true, correction)) return objective;
    return bound(objective, projected_, correction);
  }

  // The gap of the residuals at hand; all of the objective where some rows are free, whose slopes they do not balance.
  double plain(double objective) {
    rounding_.assign(data_.features, 0.0);
    return penalties_.has_free_features() ? objective : bound(objective, at_.gradient, 0);
  }

  // A gap that may be smaller near the minimum, where rounding leaves slopes that a small penalty cannot carry: for the
  // residuals to which a Newton step on the present zeros and ties would lead.
  double on_pattern(double objective) {
    label_pattern();
    double correction;
    if (free_.count > MOST_UNKNOWNS || !project(false, correction)) return objective;
    return std::min(objective, bound(objective, projected_, correction));
  }

  // Whether the residuals at hand can be corrected to a point strictly within the dual domain that balances all free
  // rows: a proof that the data are not separated.
  bool proves_finite(bool by_gram) {
    double correction;
    label_free_rows();
    return project(by_gram, correction);
  }

  // One unknown for each group of tasks in which a free row must move as one.
  const Groups &label_free_rows() {
    free_.clear(tasks());
    for (int a = 0; a < data_.features; a++) {
      if (!penalties_.is_free(a)) continue;
      int *group = free_.add(a);
      for (int k = 0; k < tasks(); k++) group[k] = free_.count + penalties_.component(a, k);
      free_.count += penalties_.components(a);
    }
    wanted_.assign(free_.count, 0.0);
    ridge_.assign(free_.count, 0.0);
    return free_;
  }

 private:
  static constexpr double BALANCED = 1e-12;  // of what is summed up: thousands of roundings
  static constexpr double ROUNDING = 1e-14;  // likewise, of a sum in the order of the rows
  static constexpr int MOST_ROUNDS = 6;
  static constexpr int MOST_UNKNOWNS = 600;  // of a system for a smaller gap
  static constexpr double HOPEFUL = 0.01;    // of a target: what single steps may gain for equations to be worth while
  static constexpr double LOOSELY_HOPEFUL = 0.1;  // likewise, where rows have no ridge to speak of
  static constexpr double FURTHER = 0.01;    // of a target
  static constexpr double ROUNDED = 1e-15;   // of an objective: gaps below cannot be told from rounding

  int tasks() const { return data_.tasks(); }

  // The gap of residuals whose slopes vanish where they must. What they were corrected by costs `correction`.
  double bound(double objective, const Table &G, double correction) {
    Scratch<T, 1> scratch(tasks());
    double *c = scratch.get();
    double slack = 0, scale = 1, inner = 0;
    for (int a = 0; a < data_.features; a++) {
      for (int k = 0; k < tasks(); k++) c[k] = -G.row(k)[a];
      if (penalties_.is_free(a)) slack += centre(a, c);
      const double *b = at_.params.row(a);
      for (int k = 0; k < tasks(); k++) inner += c[k] * b[k];
      if (penalties_.l2[a] == 0 && !forgive_rounding(a, c, slack))
        scale = block_.gauge(c, penalties_.l1[a], penalties_.fusion[a], scale);
    }
    const double s = 1 / scale;
    double conjugates = 0;
    for (int a = 0; a < data_.features; a++)
      if (penalties_.l2[a] > 0) conjugates += conjugate(a, G, s);
    return objective - s * (at_.now.loss + inner - correction) + conjugates + slack;
  }

  // One unknown for each group of tied tasks, but for coefficients that l1 holds at zero; what the slopes of a group
  // must sum to, and how much of that its own step takes away.
  void label_pattern() {
    free_.clear(tasks());
    for (int a = 0; a < data_.features; a++)
      if (penalties_.is_free(a) || at_.is_active(a))
        penalties_.label_ties(a, at_.params.row(a), free_.add(a), free_.count);
    weigh_pattern();
  }

  // The same in the order of the working set; false if its Gram matrices do not hold all that is needed, or the
  // equations would take long.
  bool label_pattern_in_set() {
    if (set_.size() == 0 || gram_.size() < set_.size()) return false;
    for (int a = 0; a < data_.features; a++)
      if (!set_.has(a) && (penalties_.is_free(a) || at_.is_active(a))) return false;
    free_.clear(tasks());
    for (const int a : set_.members)
      if (a == 0 || penalties_.l1[a] == 0 || at_.is_active(a))
        penalties_.label_ties(a, at_.params.row(a), free_.add(a), free_.count);
    if (!gram_.is_quick(free_)) return false;
    weigh_pattern();
    return true;
  }

  void weigh_pattern() {
    wanted_.assign(free_.count, 0.0);
    ridge_ = penalties_.ridges(free_);
    std::vector<double> slopes(tasks());
    for (std::size_t i = 0; i < free_.size(); i++) {
      const int a = free_.features[i];
      std::fill(slopes.begin(), slopes.end(), 0.0);
      penalties_.add_slopes(a, at_.params.row(a), slopes.data());
      for (int k = 0; k < tasks(); k++)
        if (free_.of(i)[k] >= 0) wanted_[free_.of(i)[k]] += slopes[k];
    }
  }

  // What one Newton step on a single free coefficient would gain: roughly a lower bound on the gap.
  double least_gap(bool by_gram) const {
    const std::vector<double> slope = misses();
    std::vector<double> curvature = ridge_;
    for_all_free([&](int a, int k, int g) {
      if (slope[g] != 0) curvature[g] += by_gram ? gram_.diagonal(set_.place[a], k) : curvature_between(k, a, a);
    });
    double most = 0;
    for (int g = 0; g < free_.count; g++) most = std::max(most, 0.25 * slope[g] * slope[g] / (curvature[g] + 1e-300));
    return most;
  }

  // Where the slopes of a row are beyond what its penalty carries by rounding alone: adds what that may cost.
  bool forgive_rounding(int a, const double *c, double &cost) {
    if (rounding_[a] == 0) return false;
    const double beyond = 1 - 1 / block_.gauge(c, penalties_.l1[a], penalties_.fusion[a], 1.0);
    double sum = 0, largest = 0;
    for (int k = 0; k < tasks(); k++) {
      sum += std::fabs(c[k] * at_.params.row(a)[k]);
      largest = std::max(largest, std::fabs(c[k]));
    }
    if (beyond * largest > rounding_[a]) return false;
    cost += beyond * sum;
    return true;
  }

  // Makes the slopes of a free row sum to zero in each component; returns what the rounding left there may cost.
  double centre(int a, double *c) const {
    const double *b = at_.params.row(a);
    double cost = 0;
    for (int j = 0; j < penalties_.components(a); j++) {
      double sum = 0, size = 0;
      int members = 0;
      for (int k = 0; k < tasks(); k++)
        if (penalties_.component(a, k) == j) {
          sum += c[k];
          size = std::max(size, std::fabs(b[k]));
          members++;
        }
      for (int k = 0; k < tasks(); k++)
        if (penalties_.component(a, k) == j) c[k] -= sum / members;
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

  template <class Act>
  void for_all_free(const Act &act) const {
    for (std::size_t i = 0; i < free_.size(); i++)
      for (int k = 0; k < tasks(); k++)
        if (free_.of(i)[k] >= 0) act(free_.features[i], k, free_.of(i)[k]);
  }

  // Sums of the slopes of every group.
  std::vector<double> imbalance(const Table &gradient) const {
    std::vector<double> sums(free_.count, 0.0);
    for_all_free([&](int a, int k, int g) { sums[g] -= gradient.row(k)[a]; });
    return sums;
  }

  // Corrects the residuals by multiples of the curvature so that the slopes of all groups sum to what they must, and
  // puts their gradient into projected_. False if the correction leaves the dual domain, or the slopes miss: however
  // small, a coefficient may make much of them.
  bool project(bool by_gram, double &correction) {
    by_gram = by_gram && gram_covers_free_rows();
    const NormalEquations &equations = by_gram ? gram_.equations(free_, ridge_) : present_equations();
    std::vector<double> step = misses();
    equations.solve(step);
    return balance(equations, by_gram, step, correction);
  }

  // The same from the first solution of the equations on. The present curvature, with which corrections are smallest,
  // comes first, and then the one that the equations are of, with which nothing is left but rounding: of nearly
  // singular equations even that may be too much.
  bool balance(const NormalEquations &equations, bool by_gram, std::vector<double> step, double &correction) {
    std::vector<double> sum(free_.count, 0.0);
    const std::vector<double> load = loads();
    at_.next.first.copy(at_.now.first);
    for (int round = 0; round < MOST_ROUNDS; round++) {
      if (round > 0) equations.solve(step);
      for (std::size_t g = 0; g < step.size(); g++) sum[g] += step[g];
      correct(step, by_gram && round > 0);
      step = misses(projected_, sum);
      bool balanced = !by_gram || round > 0;
      for (std::size_t g = 0; g < step.size(); g++)
        balanced &= ridge_[g] > 0 || std::fabs(step[g]) <= BALANCED * load[g];
      if (!balanced) continue;
      for_all_free([&](int a, int, int g) { rounding_[a] = std::max(rounding_[a], ROUNDING * load[g]); });
      return is_inside(correction);
    }
    return false;
  }

  // The same without regard to rounding, for rows whose penalties can carry it.
  bool balance_once(const std::vector<double> &step, double &correction) {
    at_.next.first.copy(at_.now.first);
    correct(step, true);
    return is_inside(correction);
  }

  // What is missing in the sums of slopes at the present point.
  std::vector<double> misses() const { return misses(at_.gradient, std::vector<double>(free_.count, 0.0)); }

  // The same for another gradient, once the coefficients of the groups have moved by `step`.
  std::vector<double> misses(const Table &gradient, const std::vector<double> &step) const {
    std::vector<double> sums = imbalance(gradient);
    for (std::size_t g = 0; g < sums.size(); g++) sums[g] -= wanted_[g] + ridge_[g] * step[g];
    return sums;
  }

  // Sums of the sizes of what the slopes of every group are sums of.
  std::vector<double> loads() {
    std::vector<double> sums(free_.count, 0.0);
    reshape_projected();
    data_.sizes(at_.now.first, projected_);
    for_all_free([&](int a, int k, int g) { sums[g] += projected_.row(k)[a]; });
    return sums;
  }

  const NormalEquations &present_equations() {
    equations_.factorise(free_, ridge_, free_.features, [this](int k, int a) {
      return [this, k, a](int b) { return curvature_between(k, a, b); };
    });
    return equations_;
  }

  bool gram_covers_free_rows() const {
    for (const int a : free_.features)
      if (!set_.has(a) || set_.place[a] >= gram_.size()) return false;
    return true;
  }

  double curvature_between(int k, int a, int b) const {
    const Vec *x = as_vec(data_.column(a)), *y = as_vec(data_.column(b)), *w = as_vec(at_.now.second.row(k));
    Vec sum{};
    for (int i = 0; i < data_.vectors(); i++) sum += x[i] * y[i] * w[i];
    return total(sum);
  }

  // Corrects the residuals in next by the present curvature, or that of the Gram matrices, times a step of the groups.
  void correct(const std::vector<double> &step, bool by_gram) {
    steps_.assign(free_.labels.size(), 0.0);
    for (std::size_t i = 0; i < steps_.size(); i++)
      if (free_.labels[i] >= 0) steps_[i] = step[free_.labels[i]];
    at_.change.clear();
    data_.add_features(free_.features, steps_, at_.change);
    for (int k = 0; k < tasks(); k++) {
      const Vec *weight = as_vec((by_gram ? gram_.weights() : at_.now.second).row(k));
      const Vec *change = as_vec(at_.change.row(k));
      const double growth = by_gram ? gram_.equations_growth(k) : 1.0;
      Vec *to = as_vec(at_.next.first.row(k));
      for (int i = 0; i < data_.vectors(); i++) to[i] += growth * weight[i] * change[i];
    }
    reshape_projected();
    data_.gradient(at_.next.first, projected_);
  }

  void reshape_projected() {
    if (projected_.empty()) projected_.resize(tasks(), padded(data_.features));
  }

  // Whether the corrected residuals are well within the dual domain, and what the correction costs.
  bool is_inside(double &correction) const {
    Vec cost{};
    Bits outside{};
    for (std::size_t i = 0; i < at_.next.first.size() / LANES; i++) {
      const Vec by = as_vec(at_.next.first.get())[i] - as_vec(at_.now.first.get())[i];
      const Vec curvature = as_vec(at_.now.second.get())[i];
      outside |= ~((by > 0.0 ? by : -by) <= 0.5 * curvature);
      cost += by != 0.0 ? 2.0 * by * by / curvature : Vec{};
    }
    for (int lane = 0; lane < LANES; lane++)
      if (outside[lane]) return false;
    correction = total(cost);
    return true;
  }

  const Data<T> &data_;
  const Penalties<T> &penalties_;
  Block<T> &block_;
  State<T> &at_;
  Gram<T> &gram_;
  const WorkingSet &set_;
  Groups free_;                         // coefficients whose slopes must sum to something
  std::vector<double> wanted_, ridge_;  // by group
  std::vector<double> rounding_;        // by feature; 0 where slopes need not be forgiven anything
  NormalEquations equations_;
  std::vector<double> steps_;  // of the free features in each task
  Table projected_;            // gradient at the corrected residuals
};
