// The separable rule, in the namespace of one instruction set (see solver.hpp).
//
// Rows that carry neither l1 nor l2 may have no finite minimiser. They first get a tiny ridge, the floor, and a rough
// fit. Then the ridge is dropped. If the fit without it does not come to a small gap within TRIAL steps, or moves a
// linear predictor by more than FAR and half of the largest, the data count as separated, and the answer is a rough fit
// with the ridge. An intercept comes under the rule only where a whole component of tasks has labels of one class;
// there the ridge stays. Whether data are separated hangs on which rows are free and fused, not on how strongly: the
// question is put with all fused tasks tied, and the next solve keeps the verdict.
template <int T>
class SeparableRule {
 public:
  using Steps = NewtonSteps<T>;

  SeparableRule(const Data<T> &data, Penalties<T> &penalties, Steps &steps)
      : data_(data), penalties_(penalties), steps_(steps) {}

  // Solves at the present penalties, with the ridge where it is needed. `good` becomes the status of a solve that ends
  // well.
  typename Steps::End solve(const Settings &settings, Status &good) {
    good = OPTIMAL;
    const bool one_class = penalties_.is_free(0) && has_one_class(), free = penalties_.has_free_features();
    if (!one_class && !free) return steps_.descend(settings);
    const std::vector<double> asked = penalties_.l2;
    const typename Steps::End end = solve_free(settings, asked, one_class, free, good);
    report_without_floor(asked, good);
    return end;
  }

 private:
  enum Verdict { UNKNOWN, FINITE, INFINITE };
  static constexpr double FAR = 5.0;
  static constexpr int TRIAL = 30;

  int tasks() const { return data_.tasks(); }

  typename Steps::End solve_free(const Settings &settings, const std::vector<double> &asked, bool one_class, bool free,
                                 Status &good) {
    const std::vector<double> floor = floor_of(settings.floor, one_class);
    const Verdict found = free ? verdict(asked, floor, settings) : INFINITE;
    good = found == FINITE && !one_class ? OPTIMAL : SEPARATED;
    if (found == UNKNOWN) return Steps::BROKEN_OFF;
    if (found == FINITE) {
      drop_ridge(asked, floor);
      return steps_.descend(settings);
    }
    raise_ridge(asked, floor);
    const auto end = steps_.descend(rough(settings, settings.max_iterations));
    return end == Steps::BROKEN_OFF ? end : Steps::CONVERGED;
  }

  // Values are reported for the penalties that were asked for, without the floor. Where the floor stays, the dual point
  // 0 is the only one at hand: the gap is all of the objective.
  void report_without_floor(const std::vector<double> &asked, Status good) {
    penalties_.l2 = asked;
    steps_.objective = steps_.state.now.loss + penalties_.total(steps_.state.params);
    if (good == SEPARATED) steps_.gap = steps_.objective / steps_.scale();
  }

  bool has_one_class() const {
    for (int c = 0; c < penalties_.components(0); c++) {
      bool yes = false, no = false;
      for (int k = 0; k < tasks(); k++)
        if (penalties_.component(0, k) == c)
          for (int i = 0; i < data_.rows; i++)
            if (data_.weights.row(k)[i] > 0) (data_.signs.row(k)[i] > 0 ? yes : no) = true;
      if (yes != no) return true;
    }
    return false;
  }

  // A fraction of the largest curvature that a row can have.
  std::vector<double> floor_of(double fraction, bool one_class) const {
    std::vector<double> floor(data_.features, 0.0);
    for (int a = one_class ? 0 : 1; a < data_.features; a++) {
      if (!penalties_.is_free(a)) continue;
      const double *x = data_.column(a);
      for (int k = 0; k < tasks(); k++) {
        double sum = 0;
        for (int i = 0; i < data_.rows; i++) sum += data_.weights.row(k)[i] * x[i] * x[i];
        floor[a] = std::max(floor[a], 0.25 * fraction * sum);
      }
      if (floor[a] == 0) floor[a] = fraction;
    }
    return floor;
  }

  void raise_ridge(const std::vector<double> &asked, const std::vector<double> &floor) {
    for (int a = 0; a < data_.features; a++) penalties_.l2[a] = asked[a] + floor[a];
  }

  void drop_ridge(const std::vector<double> &asked, const std::vector<double> &floor) {
    penalties_.l2 = asked;
    penalties_.l2[0] += floor[0];
  }

  static Settings rough(const Settings &settings, int most) {
    Settings out = settings;
    out.tolerance = std::max(settings.tolerance, 1e-3);
    out.max_iterations = std::min(settings.max_iterations, most);
    return out;
  }

  // Which rows are free, and which of all rows are fused: what a verdict on separation hangs on.
  std::vector<char> kinds_of_rows() const {
    std::vector<char> kinds(data_.features);
    for (int a = 0; a < data_.features; a++)
      kinds[a] = static_cast<char>(2 * penalties_.is_free(a) + (penalties_.fusion[a] > 0));
    return kinds;
  }

  // Tasks that are fused can only run away together, so fusion strong enough to tie them all asks the same question.
  Verdict verdict(const std::vector<double> &asked, const std::vector<double> &floor, const Settings &settings) {
    const std::vector<char> kinds = kinds_of_rows();
    if (verdict_ != UNKNOWN && kinds == judged_) return verdict_;
    const Table &params = steps_.state.params;
    const std::vector<double> fusion = penalties_.fusion, before(params.get(), params.get() + params.size());
    tie_all();
    verdict_ = try_without_ridge(asked, floor, settings);
    judged_ = kinds;
    penalties_.fusion = fusion;
    steps_.start(before.data());
    return verdict_;
  }

  Verdict try_without_ridge(const std::vector<double> &asked, const std::vector<double> &floor,
                            const Settings &settings) {
    raise_ridge(asked, floor);
    if (steps_.descend(rough(settings, 10)) == Steps::BROKEN_OFF) return UNKNOWN;
    const Table &linear = steps_.state.now.linear;
    const std::vector<double> home(linear.get(), linear.get() + linear.size());
    drop_ridge(asked, floor);
    Settings trial = settings;
    trial.tolerance = std::max(settings.tolerance, 1e-3);
    trial.max_iterations = TRIAL;
    const auto end = steps_.descend(trial, [&] { return has_gone_far(home); });
    if (end == Steps::BROKEN_OFF) return UNKNOWN;
    // A gap that is all of the objective only says that the objective tends to zero.
    return end == Steps::CONVERGED && steps_.gap * steps_.scale() < 0.5 * steps_.objective ? FINITE : INFINITE;
  }

  // Fusion that no slope of the loss can overcome, on the rows that have any.
  void tie_all() {
    double least = 1;
    for (const Edge &e : penalties_.block.edges()) least = std::min(least, e.weight);
    for (int a = 0; a < data_.features; a++) {
      double &fusion = penalties_.fusion[a];
      if (fusion == 0) continue;
      double sum = 0;
      for (int k = 0; k < tasks(); k++)
        for (int i = 0; i < data_.rows; i++) sum += data_.weights.row(k)[i] * std::fabs(data_.column(a)[i]);
      fusion = std::max(fusion, std::min(sum / least, 1e150));
    }
  }

  // Has some linear predictor gone far from where it was, as all do that have no finite optimum?
  bool has_gone_far(const std::vector<double> &home) const {
    double largest = 0, moved = 0;
    for (std::size_t i = 0; i < home.size(); i++) {
      if (data_.weights[i] == 0) continue;
      largest = std::max(largest, std::fabs(home[i]));
      moved = std::max(moved, std::fabs(steps_.state.now.linear[i] - home[i]));
    }
    return moved > std::max(FAR, 0.5 * largest);
  }

  const Data<T> &data_;
  Penalties<T> &penalties_;
  Steps &steps_;
  Verdict verdict_ = UNKNOWN;
  std::vector<char> judged_;
};
