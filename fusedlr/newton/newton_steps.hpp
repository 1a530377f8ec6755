// Newton steps down to a small duality gap, in the namespace of one instruction set (see solver.hpp).
template <int T>
class NewtonSteps {
 public:
  enum End { CONVERGED, OUT_OF_STEPS, MOVED_FAR, BROKEN_OFF };

  NewtonSteps(const Data<T> &data, const Penalties<T> &penalties)
      : state(data),
        data_(data),
        penalties_(penalties),
        block_(penalties.block),
        set_(data.features),
        gram_(data, state, set_),
        rows_(data, state, set_),
        gram_sweeps_(penalties, state, set_, gram_, pause_),
        row_sweeps_(penalties, state, set_, rows_, pause_),
        gap_of_(data, penalties, state, gram_, set_) {
    state.now.linear.copy(data.offset);
    state.next.linear.copy(data.offset);
    null_loss_ = data.evaluate(state.next);
  }

  State<T> state;
  double objective = 0, gap = 0;  // gap is relative
  int iterations = 0;

  // What an absolute gap is divided by: the objective, but at least a thousandth of the loss of all-zero coefficients.
  double scale() const { return std::max(objective, 1e-3 * null_loss_); }

  void start(const double *params) {
    std::copy(params, params + state.params.size(), state.params.get());
    state.now.linear.copy(data_.offset);
    moved_.clear();
    moves_.clear();
    for (int a = 0; a < data_.features; a++) {
      if (!is_active(a)) continue;
      moved_.push_back(a);
      moves_.insert(moves_.end(), state.params.row(a), state.params.row(a) + tasks());
    }
    data_.add_features(moved_, moves_, state.now.linear);
  }

  bool is_active(int a) const {
    const double *b = state.params.row(a);
    for (int k = 0; k < tasks(); k++)
      if (b[k] != 0) return true;
    return false;
  }

  // Down from the present point. Gives up where `gone_too_far` says so.
  template <class Judge>
  End descend(const Settings &settings, const Judge &gone_too_far) {
    data_.evaluate(state.now);
    polish_intercepts();
    double value = state.now.loss + penalties_.total(state.params), fall = std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity();
    bool force = false;
    int stalls = 0;
    for (int step = 0;; step++) {
      data_.gradient(state.now.first, state.gradient);
      objective = value;
      gap = gap_of_(objective, settings.tolerance * scale(), !by_rows_, drift_limit()) / scale();
      if (gap <= settings.tolerance) return CONVERGED;
      // Near the end the objective no longer tells one step from the next, but the gap still does.
      stalls = fall <= 1e-15 * objective && gap > 0.5 * least ? stalls + 1 : 0;
      force |= step > 3 && gap > 0.3 * least;  // slow for this long: old curvature may be to blame
      least = std::min(least, gap);
      if (step == settings.max_iterations || stalls == 5) return OUT_OF_STEPS;
      if (gone_too_far()) return MOVED_FAR;
      if (pause_.asked_to_stop(settings)) return BROKEN_OFF;
      iterations++;
      const bool fresh = choose_features(force);
      if (!sweep(settings)) return BROKEN_OFF;
      const bool moved = line_search();
      force = !moved;
      if (!moved && fresh) return OUT_OF_STEPS;
      if (moved) polish_intercepts();
      value = state.now.loss + penalties_.total(state.params);
      fall = objective - value;
    }
  }
  End descend(const Settings &settings) {
    return descend(settings, [] { return false; });
  }

 private:
  int tasks() const { return data_.tasks(); }

  // ---------------------------------------------------------------- intercepts

  // Newton steps on a common shift of the intercepts of each component, until their slopes sum to rounding.
  void polish_intercepts() {
    if (!penalties_.is_free(0)) return;
    const int count = penalties_.components(0);
    std::vector<double> slope(count), curvature(count);
    for (int round = 0; round < 4; round++) {
      std::fill(slope.begin(), slope.end(), 0.0);
      std::fill(curvature.begin(), curvature.end(), 0.0);
      for (int k = 0; k < tasks(); k++) {
        Vec first{}, second{};
        for (int i = 0; i < data_.vectors(); i++) {
          first += as_vec(state.now.first.row(k))[i];
          second += as_vec(state.now.second.row(k))[i];
        }
        slope[penalties_.component(0, k)] += total(first);
        curvature[penalties_.component(0, k)] += total(second);
      }
      double largest = 0;
      for (const double s : slope) largest = std::max(largest, std::fabs(s));
      if (largest <= 1e-12 * (1 + state.now.loss) || !shift_intercepts(slope, curvature)) break;
    }
  }

  bool shift_intercepts(const std::vector<double> &slope, const std::vector<double> &curvature) {
    Scratch<T, 1> shift(tasks());
    for (int k = 0; k < tasks(); k++) {
      const int c = penalties_.component(0, k);
      shift.get()[k] = curvature[c] > 0 ? std::max(-1.0, std::min(1.0, -slope[c] / curvature[c])) : 0.0;
      const Vec by = spread(shift.get()[k]);
      for (int i = 0; i < data_.vectors(); i++)
        as_vec(state.next.linear.row(k))[i] = as_vec(state.now.linear.row(k))[i] + by;
    }
    if (!(data_.evaluate(state.next) <= state.now.loss)) return false;
    for (int k = 0; k < tasks(); k++) state.params[k] += shift.get()[k];
    state.now.swap(state.next);
    return true;
  }

  // ---------------------------------------------------------------- the quadratic model

  // The features of the next quadratic model; true if its curvature is that of the present point.
  bool choose_features(bool force) {
    const bool fresh = force || gram_.size() == 0 || gram_.drift() > drift_limit();
    if (fresh) {
      set_.clear();
      gram_.renew();
    }
    for (int a = 0; a < data_.features; a++)
      if (!set_.has(a) && (a == 0 || is_active(a))) set_.add(a);
    add_violators();
    by_rows_ = set_.size() > std::min(data_.rows, gram_.largest());
    if (by_rows_) {
      gram_.forget();
      rows_.prepare(least_curvature());
    } else {
      gram_.prepare(least_curvature());
    }
    return fresh || by_rows_;
  }

  // How far the curvature may move before Gram matrices are made anew. That costs n / 2 products for each entry; sweeps
  // with the old ones cost more where blocks are fused. Measured: docs/speed.md.
  double drift_limit() const { return penalties_.is_fused() ? std::min(0.08, 0.03 + data_.rows / 8000.0) : 0.1; }

  // Keeps blocks with no curvature at all where they are.
  double least_curvature() const { return 1e-12 * (1 + null_loss_) / tasks(); }

  // Zero features whose slopes cannot be balanced; of very many, those that miss by most.
  void add_violators() {
    Scratch<T, 1> scratch(tasks());
    double *q = scratch.get();
    std::vector<std::pair<double, int>> &found = violators_;
    found.clear();
    for (int a = 1; a < data_.features; a++) {
      if (set_.has(a)) continue;
      double miss = 0;
      for (int k = 0; k < tasks(); k++) {
        q[k] = -state.gradient.row(k)[a];
        const double over = std::max(0.0, std::fabs(q[k]) - penalties_.l1[a]);
        miss += over * over;
      }
      if (miss > 0 && !block_.is_zero(q, penalties_.l1[a], penalties_.fusion[a])) found.push_back({-miss, a});
    }
    const std::size_t most = std::max<std::size_t>(128, 2 * set_.members.size());
    if (found.size() > most) {
      std::nth_element(found.begin(), found.begin() + most, found.end());
      found.resize(most);
    }
    for (const auto &violator : found) set_.add(violator.second);
  }

  bool sweep(const Settings &settings) {
    const double smallest = 1e-12 * settings.tolerance * settings.tolerance * objective;
    if (by_rows_) return row_sweeps_.run(least_curvature(), smallest, settings);
    return gram_sweeps_.run(least_curvature(), smallest, settings);
  }

  // ---------------------------------------------------------------- line search

  // Moves towards the minimiser of the model until the true objective has fallen enough.
  bool line_search() {
    if (!by_rows_) collect_change();
    double slope = 0, before = 0, after = 0;
    for (const int a : set_.members) {
      const double *b = state.params.row(a), *to = state.trial.row(a);
      for (int k = 0; k < tasks(); k++) slope += (to[k] - b[k]) * state.gradient.row(k)[a];
      before += penalties_.value(a, b);
      after += penalties_.value(a, to);
    }
    const double expected = slope + after - before;
    double step = 1;
    for (int halvings = 0; halvings < 30; halvings++, step *= 0.5) {
      for (std::size_t i = 0; i < state.change.size() / LANES; i++)
        as_vec(state.next.linear.get())[i] = as_vec(state.now.linear.get())[i] + as_vec(state.change.get())[i] * step;
      const double value = data_.evaluate(state.next) + (step == 1 ? after : penalty_between(step));
      if (value <= objective + 0.01 * step * expected + 1e-13 * objective) {
        accept(step);
        return true;
      }
    }
    return false;
  }

  void collect_change() {
    state.change.clear();
    moves_.clear();
    for (const int a : set_.members)
      for (int k = 0; k < tasks(); k++) moves_.push_back(state.trial.row(a)[k] - state.params.row(a)[k]);
    data_.add_features(set_.members, moves_, state.change);
  }

  double penalty_between(double step) const {
    Scratch<T, 1> b(tasks());
    double sum = 0;
    for (const int a : set_.members) {
      const double *from = state.params.row(a), *to = state.trial.row(a);
      for (int k = 0; k < tasks(); k++) b.get()[k] = from[k] + step * (to[k] - from[k]);
      sum += penalties_.value(a, b.get());
    }
    return sum;
  }

  void accept(double step) {
    for (const int a : set_.members) {
      double *b = state.params.row(a);
      const double *to = state.trial.row(a);
      for (int k = 0; k < tasks(); k++) b[k] = step == 1 ? to[k] : b[k] + step * (to[k] - b[k]);
    }
    state.now.swap(state.next);
  }

  const Data<T> &data_;
  const Penalties<T> &penalties_;
  Block<T> &block_;
  WorkingSet set_;
  GramModel<T> gram_;
  RowModel<T> rows_;
  Pause pause_;
  Sweeps<T, GramModel<T>> gram_sweeps_;
  Sweeps<T, RowModel<T>> row_sweeps_;
  Gap<T> gap_of_;
  bool by_rows_ = false;
  double null_loss_ = 0;
  std::vector<int> moved_;  // features and by how much, see start and collect_change
  std::vector<double> moves_;
  std::vector<std::pair<double, int>> violators_;
};
