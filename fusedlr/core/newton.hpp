// Newton steps down to a small duality gap, in the namespace of one instruction set (see solver.hpp).
template <int T>
class NewtonSteps {
 public:
  enum End { CONVERGED, OUT_OF_STEPS, STALLED, BROKEN_OFF };

  NewtonSteps(const Data<T> &data, const Penalties<T> &penalties)
      : state(data),
        data_(data),
        penalties_(penalties),
        block_(penalties.block),
        set_(data.features),
        gram_(data, state, set_),
        rows_(data, state, set_),
        precise_model_(data, state, set_, gram_),
        quick_model_(data, state, set_, gram_),
        precise_sweeps_(penalties, state, set_, precise_model_, pause_),
        quick_sweeps_(penalties, state, set_, quick_model_, pause_),
        row_sweeps_(penalties, state, set_, rows_, pause_),
        interior_(data, penalties, state, pause_),
        gap_of_(data, penalties, state, gram_, set_) {
    restart();
    null_loss_ = state.now.loss;
  }

  State<T> state;
  double objective = 0, gap = 0;  // gap is relative
  int iterations = 0;
  bool loose = false;   // hardly anything but the loss holds some features: set by the separable rule
  bool ridged = false;  // and they have its ridge for good

  // What an absolute gap is divided by: the objective, but at least a thousandth of the loss of all-zero coefficients.
  double scale() const { return std::max(objective, 1e-3 * null_loss_); }

  // Begins a solve with a budget of sweeps, so that every solve ends in a time that grows with its size alone.
  void begin(const Settings &settings) {
    iterations = 0;
    passes_ = PASSES + 10 * settings.max_iterations;
    early_ = true;
  }

  // Starts from coefficients in the caller's units.
  void start(const double *params) {
    data_.to_own(params, state.params);
    restart();
  }

  // The objective where the descent stands.
  double value() const { return state.now.loss + penalties_.total(state.params); }

  // The objective at other coefficients, from which it starts if that is below `least`.
  double start_if_below(double least, const double *params) {
    data_.to_own(params, state.trial);
    predict(state.trial, state.next);
    const double value = state.next.loss + penalties_.total(state.trial);
    if (value < least) {
      state.params.copy(state.trial);
      state.now.swap(state.next);
    }
    return value;
  }

  // Forgets what depends on the units of the columns, which have changed, and starts from the caller's coefficients.
  void change_units(const double *params) {
    set_.clear();
    gram_.forget();
    start(params);
  }

  Gap<T> &gap_of() { return gap_of_; }
  Pause &pause() { return pause_; }

  // Whether the last solution's residuals prove that the data are not separated, at the present penalties.
  bool proves_finite() {
    data_.gradient(state.now.first, state.gradient);
    return gap_of_.proves_finite(gram_is_near());
  }

  // Down from the present point; where that comes to nothing, by an interior-point method to the neighbourhood of the
  // minimum and down from there.
  End descend(const Settings &settings) {
    End end = walk_down(settings);
    if (end == STALLED && gap > std::max(settings.tolerance, SMALL) && interior_.is_affordable())
      end = go_another_way(settings);
    return end == STALLED ? OUT_OF_STEPS : end;
  }

 private:
  static constexpr double NEGLIGIBLE = 1e-12, SMALL = 1e-9;  // gaps: not worth a better bound, or another way

  // Ends where it began if that was better.
  End go_another_way(const Settings &settings) {
    const double objective_before = objective, gap_before = gap;
    const std::vector<double> params(state.params.get(), state.params.get() + state.params.size());
    passes_ = PASSES;
    const bool finished = interior_.run(least_curvature(), settings);
    gram_.forget();
    restart();
    const End end = finished ? walk_down(settings) : BROKEN_OFF;
    if (end == CONVERGED || (end == STALLED && gap < gap_before)) return end;
    std::copy(params.begin(), params.end(), state.params.get());
    restart();
    objective = objective_before;
    gap = gap_before;
    return end;
  }

  End walk_down(const Settings &settings) {
    fit_far_intercepts();
    polish_intercepts(settings.tolerance);
    double value = this->value(), fall = std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity();
    bool failed = false;
    int stalls = 0;
    for (int step = 0;; step++) {
      data_.gradient(state.now.first, state.gradient);
      objective = value;
      const bool last = step == settings.max_iterations || passes_ <= 0, far = gram_.drift() > drift_limit();
      gap = absolute_gap(settings.tolerance * scale(), far && !last, last) / scale();
      if (gap <= settings.tolerance) return CONVERGED;
      // Near the end the objective no longer tells one step from the next, but the gap still does.
      stalls = fall <= 1e-15 * objective && gap > 0.5 * least ? stalls + 1 : 0;
      const bool slow = is_slow(step, gap / least);
      least = std::min(least, gap);
      if (step == settings.max_iterations) return OUT_OF_STEPS;
      if (stalls == 5 || passes_ <= 0) return stop_here(settings);
      if (pause_.asked_to_stop(settings)) return BROKEN_OFF;
      iterations++;
      const bool fresh = choose_features(far, slow, failed);
      if (!sweep(settings)) return BROKEN_OFF;
      failed = !line_search();
      if (failed && fresh) return stop_here(settings);
      if (!failed) polish_intercepts(settings.tolerance);
      value = this->value();
      fall = objective - value;
    }
  }

  // Where Gram matrices are about to be made anew, a gap by the old ones would hardly be small.
  double absolute_gap(double target, bool anew, bool last) {
    const bool hopeless = loose && anew && gram_.size() > 0;
    return hopeless ? gap_of_.plain(objective) : gap_of_(objective, target, loose, last);
  }

  // Whether old curvature may be to blame for a small fall of the gap. Where only the ridge of the separable rule holds
  // the coefficients, it is from the start; then try the present one at once, unless that costs more than a step.
  bool is_slow(int step, double fall) const {
    if (loose && !penalties_.has_free_features() && data_.rows <= data_.features) return step > 0 && fall > 0.1;
    return step > 3 && fall > 0.3;
  }

  // No step helps any more; perhaps a better dual point shows that none is needed.
  End stop_here(const Settings &settings) {
    if (gap > NEGLIGIBLE) gap = std::min(gap, gap_of_.on_pattern(objective) / scale());
    return gap <= settings.tolerance ? CONVERGED : STALLED;
  }

  static constexpr int PASSES = 4000;     // a whole solve takes a hundred or two; see docs/speed.md
  static constexpr int SMALL_GRAM = 400;  // features whose Gram matrices are cheap beside systems of equations
  static constexpr double CACHED = 1 << 17;  // numbers in Gram matrices that are near at hand: half a megabyte

  int tasks() const { return data_.tasks(); }

  // The loss at the present coefficients, and all that belongs to it.
  void restart() { predict(state.params, state.now); }

  void predict(const Table &params, Slopes &at) {
    at.linear.copy(data_.offset);
    moved_.clear();
    moves_.clear();
    for (int a = 0; a < data_.features; a++) {
      const double *b = params.row(a);
      if (!has_any(b, tasks())) continue;
      moved_.push_back(a);
      moves_.insert(moves_.end(), b, b + tasks());
    }
    data_.add_features(moved_, moves_, at.linear);
    data_.evaluate(at);
  }

  // ---------------------------------------------------------------- intercepts

  // Where offsets, or a start from elsewhere, leave the loss of some task nearly linear in its intercept, Newton steps
  // get nowhere. Then shift the intercepts to where they fit best, alone or tied as fusion would have them.
  void fit_far_intercepts() {
    if (!penalties_.is_free(0) || !intercepts_are_far()) return;
    std::vector<double> alone(tasks()), tied(tasks());
    for (int k = 0; k < tasks(); k++)
      tied[k] = best_shift([this, k](int j) { return penalties_.component(0, j) == penalties_.component(0, k); });
    try_shift(tied);
    if (penalties_.fusion[0] > 0) {
      for (int k = 0; k < tasks(); k++) alone[k] = best_shift([k](int j) { return j == k; });
      try_shift(alone);
    }
  }

  bool intercepts_are_far() const {
    for (int k = 0; k < tasks(); k++) {
      double slope = 0, curvature = 0;
      for (int i = 0; i < data_.rows; i++) {
        slope += state.now.first.row(k)[i];
        curvature += state.now.second.row(k)[i];
      }
      if (curvature < 0.02 * std::fabs(slope)) return true;
    }
    return false;
  }

  // The root of a monotone function between bounds that hold it: Newton steps, or halving where they would leave them.
  template <class Member>
  double best_shift(const Member &member) const {
    double all = 0, yes = 0, least = std::numeric_limits<double>::infinity(), most = -least;
    for_all_labels(member, [&](double sign, double weight, double linear) {
      all += weight;
      yes += sign > 0 ? weight : 0.0;
      least = std::min(least, linear);
      most = std::max(most, linear);
    });
    if (all == 0) return 0;
    const double share = std::min(std::max(yes / all, 1e-3), 1 - 1e-3), middle = std::log(share / (1 - share));
    double low = middle - most, high = middle - least, shift = 0.5 * (low + high);
    for (int round = 0; round < 100 && high - low > 1e-6; round++) {
      double slope = -share * all, curvature = 0;
      for_all_labels(member, [&](double, double weight, double linear) {
        const double small = std::exp(-std::fabs(linear + shift)), chance = 1 / (1 + small);
        slope += weight * (linear + shift > 0 ? chance : small * chance);
        curvature += weight * small * chance * chance;
      });
      (slope > 0 ? high : low) = shift;
      const double to = curvature > 0 ? shift - slope / curvature : low;
      shift = to > low && to < high ? to : 0.5 * (low + high);
      if (std::fabs(slope) <= 1e-6 * curvature) break;
    }
    return shift;
  }

  template <class Member, class Act>
  void for_all_labels(const Member &member, const Act &act) const {
    for (int k = 0; k < tasks(); k++)
      if (member(k))
        for (int i = 0; i < data_.rows; i++)
          if (data_.weights.row(k)[i] > 0)
            act(data_.signs.row(k)[i], data_.weights.row(k)[i], state.now.linear.row(k)[i]);
  }

  // Newton steps on the intercepts alone, ties and all, until their slopes are balanced: the gap depends on these to
  // first order, on everything that carries a ridge only to second.
  void polish_intercepts(double tolerance) {
    if (!penalties_.is_free(0)) return;
    Scratch<T, 3> scratch(tasks());
    double *h = scratch.get(), *q = h + tasks(), *to = q + tasks(), *b = state.params.row(0);
    const double enough = 1e-2 * tolerance * std::max(state.now.loss, 1e-3 * null_loss_);
    for (int round = 0; round < 4; round++) {
      double size = 1, miss = 0, longest = 0;
      for (int k = 0; k < tasks(); k++) {
        Vec first{}, second{};
        for (int i = 0; i < data_.vectors(); i++) {
          first += as_vec(state.now.first.row(k))[i];
          second += as_vec(state.now.second.row(k))[i];
        }
        h[k] = total(second) + least_curvature();
        q[k] = h[k] * b[k] - total(first);
        size = std::max(size, std::fabs(b[k]));
      }
      block_.prox(h, q, 0.0, penalties_.fusion[0], to);
      for (int k = 0; k < tasks(); k++) {
        miss = std::max(miss, std::fabs(h[k] * (to[k] - b[k])));
        longest = std::max(longest, std::fabs(to[k] - b[k]));
      }
      if (miss * size <= enough && miss <= 1e-2 * tolerance * weakest_tie()) break;
      for (int k = 0; k < tasks() && longest > 1; k++) to[k] = b[k] + (to[k] - b[k]) / longest;
      if (!move_intercepts(to)) break;
    }
  }

  // The least force that any edge of the intercepts can carry.
  double weakest_tie() const {
    double least = std::numeric_limits<double>::infinity();
    if (penalties_.fusion[0] > 0)
      for (const Edge &e : block_.edges()) least = std::min(least, penalties_.fusion[0] * e.weight);
    return least;
  }

  bool try_shift(const std::vector<double> &shift) {
    Scratch<T, 1> to(tasks());
    for (int k = 0; k < tasks(); k++) to.get()[k] = state.params[k] + shift[k];
    return move_intercepts(to.get());
  }

  // Takes new intercepts if they do not make loss and fusion worse.
  bool move_intercepts(const double *to) {
    for (int k = 0; k < tasks(); k++) {
      const Vec by = spread(to[k] - state.params[k]);
      for (int i = 0; i < data_.vectors(); i++)
        as_vec(state.next.linear.row(k))[i] = as_vec(state.now.linear.row(k))[i] + by;
    }
    const double before = penalties_.value(0, state.params.row(0)), after = penalties_.value(0, to);
    if (!(data_.evaluate(state.next) + (after - before) <= state.now.loss * (1 + 1e-14))) return false;
    std::copy(to, to + tasks(), state.params.row(0));
    state.now.swap(state.next);
    return true;
  }

  // ---------------------------------------------------------------- the quadratic model

  // The features of the next quadratic model, where the curvature has moved far, or after a step that was slow or
  // failed; true if its curvature is just that of the present point. A ridge for good is larger than anything that
  // single precision leaves out.
  bool choose_features(bool far, bool slow, bool failed) {
    const bool fresh = far || slow || failed;
    if (fresh) {
      set_.clear();
      gram_.renew(failed || (!ridged && (slow || loose)));
    }
    for (int a = 0; a < data_.features; a++)
      if (!set_.has(a) && (a == 0 || state.is_active(a))) set_.add(a);
    add_violators();
    by_rows_ = set_.size() > std::min(most_in_gram(), gram_.largest());
    if (by_rows_) {
      gram_.forget();
      rows_.prepare(least_curvature());
    } else {
      gram_.prepare(least_curvature());
    }
    return (fresh && gram_.is_precise()) || by_rows_;
  }

  // Features for which Gram matrices pay. Sweeps through rows cost about as much as sweeps through matrices of three
  // features a row, but those must be made first, and leave the cache sooner. Measured: docs/speed.md.
  int most_in_gram() const {
    if (loose) return std::max(2 * data_.rows, SMALL_GRAM);
    const int cached = static_cast<int>(std::sqrt(CACHED / tasks()));
    return std::max(data_.rows + data_.rows / 4, std::min(3 * data_.rows, cached));
  }

  // How far the curvature may move before Gram matrices are made anew. That costs n / 2 products for each entry; sweeps
  // with the old ones cost more where blocks are fused. Measured: docs/speed.md.
  double drift_limit() const {
    return penalties_.is_fused() || loose ? std::min(0.08, 0.03 + data_.rows / 8000.0) : 0.1;
  }

  // Whether Gram matrices may stand in for the present curvature.
  bool gram_is_near() { return !by_rows_ && gram_.drift() <= drift_limit(); }

  // Keeps blocks with no curvature at all where they are.
  double least_curvature() const { return 1e-12 * (null_loss_ > 0 ? null_loss_ : 1.0) / tasks(); }

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
    const bool early = std::exchange(early_, false);
    const double smallest = 1e-12 * settings.tolerance * settings.tolerance * objective;
    const auto run = [&](auto &sweeps) {
      return sweeps.run(least_curvature(), smallest, loose, early, passes_, settings);
    };
    if (by_rows_) return run(row_sweeps_);
    return gram_.is_precise() ? run(precise_sweeps_) : run(quick_sweeps_);
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
    // A model that rounding left indefinite may expect a rise; none is allowed.
    const double expected = std::min(0.0, slope + after - before);
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
  Gram<T> gram_;
  RowModel<T> rows_;
  Pause pause_;
  GramModel<T, double> precise_model_;
  GramModel<T, float> quick_model_;
  Sweeps<T, GramModel<T, double>> precise_sweeps_;
  Sweeps<T, GramModel<T, float>> quick_sweeps_;
  Sweeps<T, RowModel<T>> row_sweeps_;
  Interior<T> interior_;
  Gap<T> gap_of_;
  bool by_rows_ = false;
  int passes_ = 0;  // left in the budget of this solve
  bool early_ = false;  // no step of this solve has been made yet
  double null_loss_ = 0;
  std::vector<int> moved_;  // features and by how much, see predict and collect_change
  std::vector<double> moves_;
  std::vector<std::pair<double, int>> violators_;
};
