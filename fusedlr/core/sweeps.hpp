// Minimising a quadratic model plus penalties: sweeps over blocks (the coefficients of one feature), each minimised
// exactly, with Anderson extrapolation, and a direct way to the minimum on the present zeros and ties where sweeps
// crawl. Model is GramModel or RowModel, whose state tells the slopes. In the namespace of one instruction set (see
// solver.hpp).

// Asks whether to stop some 20 times a second: asking takes the lock of the caller's interpreter.
class Pause {
 public:
  bool asked_to_stop(const Settings &settings) {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return false;
    asked_ = now;
    return settings.stop && settings.stop();
  }

 private:
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

template <int T, class Model>
class Sweeps {
  using Moved = TableOf<typename Model::Number>;

 public:
  Sweeps(const Penalties<T> &penalties, State<T> &at, const WorkingSet &set, Model &model, Pause &pause)
      : penalties_(penalties), block_(penalties.block), at_(at), set_(set), model_(model), pause_(pause) {}

  // Sweeps until the steps are a hundredth of the first sweep's: all features, then the non-zero ones, then all again.
  // `least` is the curvature that every block has at least, `smallest` a step that does not count. Where hardly
  // anything but the loss holds the coefficients (`loose`), sweeps would crawl from the start: every second one goes to
  // the minimum on the present pattern instead, after two that look for a pattern if that may be another one (`early`).
  // `passes` is what is left of a budget. False if the caller wants to stop.
  bool run(double least, double smallest, bool loose, bool early, int &passes, const Settings &settings) {
    least_ = least;
    passes_ = &passes;
    start();
    const int crawling = loose ? 2 : CRAWLING;
    double first = 0;
    for (int pass = 0; pass < 2 && loose && early && penalties_.is_fused(); pass++, passes--)
      first = std::max(first, update_blocks(everyone_));
    if (loose) first = std::max(first, solve_on_pattern(true));
    bool all = true;
    kept_ = 0;
    for (int pass = 0; pass < MOST_PASSES && passes > 0; pass++, passes--) {
      const double size = update_blocks(all ? everyone_ : active_);
      if (all) list_active(false);
      if (pass == 0) first = std::max(first, size);
      if (size <= 1e-2 * first || size <= smallest) {
        if (all || static_cast<int>(active_.size()) == set_.size()) return true;
        all = true;
        kept_ = 0;
        continue;
      }
      all = loose;
      if (pass % crawling == crawling - 1) {
        solve_on_pattern(loose);
        kept_ = 0;
      } else {
        extrapolate();
      }
      if (pause_.asked_to_stop(settings)) return false;
    }
    return true;
  }

 private:
  static constexpr int MOST_PASSES = 200;  // a fresh model is worth more than a perfect minimiser of an old one
  static constexpr int CRAWLING = 48;      // sweeps; going to the pattern sooner gains nothing, see docs/speed.md
  static constexpr int MOST_ROUNDS = 100;  // of conjugate gradients, each about as dear as a sweep

  int tasks() const { return block_.tasks(); }

  void start() {
    for (const int a : set_.members) std::copy(at_.params.row(a), at_.params.row(a) + tasks(), at_.trial.row(a));
    model_.start_sweeps();
    set_patterns();
    everyone_.resize(set_.size());
    for (int c = 0; c < set_.size(); c++) everyone_[c] = c;
  }

  // What follows from the signs and ties of every block.
  void set_patterns() {
    patterned_ = block_.has_patterns() && penalties_.is_fused();
    if (!patterned_) return;
    patterns_.resize(set_.size());
    Scratch<T, 1> h(tasks());
    for (int c = 0; c < set_.size(); c++) {
      const int a = set_.members[c];
      for (int k = 0; k < tasks(); k++) h.get()[k] = model_.diagonal(c, k) + penalties_.l2[a];
      block_.set_pattern(patterns_[c], h.get(), penalties_.l1[a], penalties_.fusion[a], at_.trial.row(a));
    }
  }

  double update_blocks(const std::vector<int> &which) {
    double size = 0;
    std::size_t i = 0;
    if constexpr (Model::direct)
      for (; i + 4 <= which.size(); i += 4) size += update_four(&which[i]);
    for (; i < which.size(); i++) size += update_block(which[i]);
    return size;
  }

  // Four blocks in turn: each sees the steps of those before it through single entries of the Gram matrices, and all
  // four steps are carried into the slopes together.
  double update_four(const int *c) {
    const int t = tasks();
    Scratch<T, 4> scratch(t);
    double *steps = scratch.get(), size = 0;
    for (int j = 0; j < 4; j++) {
      double *step = steps + j * t;
      model_.slopes(c[j], step);
      for (int i = 0; i < j; i++)
        for (int k = 0; k < t; k++) step[k] += model_.entry(k, c[i], c[j]) * steps[i * t + k];
      size += move_block(c[j], step);
    }
    if (size > 0) model_.spread_four(c, steps, model_.state());
    return size;
  }

  double update_block(int c) {
    Scratch<T, 1> step(tasks());
    model_.slopes(c, step.get());
    const double size = move_block(c, step.get());
    if (size > 0) model_.spread(c, step.get(), model_.state());
    return size;
  }

  // Minimises the model over one block; returns the curvature-weighted square of the step. On entry `step` holds the
  // slopes of the model, on return the step.
  [[gnu::always_inline]] double move_block(int c, double *step) {
    Scratch<T, 2> scratch(tasks());
    double *h = scratch.get(), *q = h + tasks();
    const int a = set_.members[c];
    double *b = at_.trial.row(a);
    bool zero = true;
    for (int k = 0; k < tasks(); k++) {
      const double curvature = model_.diagonal(c, k);
      h[k] = curvature + penalties_.l2[a];
      q[k] = curvature * b[k] - step[k];
      zero &= b[k] == 0;
    }
    const double l1 = penalties_.l1[a], fusion = penalties_.fusion[a];
    if (zero && block_.is_zero(q, l1, fusion)) {
      std::fill(step, step + tasks(), 0.0);
      return 0;
    }
    if (zero || !patterned_ || !block_.keep(patterns_[c], h, q, l1, step)) {
      block_.prox(h, q, l1, fusion, step);
      if (patterned_) block_.set_pattern(patterns_[c], h, l1, fusion, step);
    }
    double size = 0;
    for (int k = 0; k < tasks(); k++) {
      const double by = step[k] - b[k];
      b[k] = step[k];
      step[k] = by;
      size += h[k] * by * by;
    }
    return size;
  }

  // The non-zero features and the intercept, or those without l1 as well.
  void list_active(bool loose) {
    active_.clear();
    for (int c = 0; c < set_.size(); c++) {
      const int a = set_.members[c];
      if (a == 0 || (loose && penalties_.l1[a] == 0) || has_any(at_.trial.row(a), tasks())) active_.push_back(c);
    }
  }

  // ---------------------------------------------------------------- Anderson extrapolation of the sweeps

  void extrapolate() {
    const std::size_t coefs = static_cast<std::size_t>(set_.size()) * tasks(), states = model_.state().size();
    past_coefs_.resize((DEPTH + 1) * coefs);
    past_states_.resize((DEPTH + 1) * states);
    gather(&past_coefs_[kept_ * coefs]);
    std::copy(model_.state().get(), model_.state().get() + states, &past_states_[kept_ * states]);
    if (++kept_ <= DEPTH) return;
    kept_ = 0;
    double mix[DEPTH];
    if (!mixing_weights(past_coefs_, coefs, mix)) return;
    mixed_coefs_.resize(coefs);
    fit(mixed_state_);
    combine(past_coefs_, coefs, mix, mixed_coefs_.data());
    combine(past_states_, states, mix, mixed_state_.get());
    const double here = model_value(&past_coefs_[DEPTH * coefs], model_.state());
    if (!(model_value(mixed_coefs_.data(), mixed_state_) < here)) return;
    adopt_mixture();
  }

  void adopt_mixture() {
    for (int c = 0; c < set_.size(); c++) {
      const double *from = &mixed_coefs_[static_cast<std::size_t>(c) * tasks()];
      std::copy(from, from + tasks(), at_.trial.row(set_.members[c]));
    }
    model_.state().copy(mixed_state_);
    set_patterns();
  }

  void gather(double *out) const {
    for (int c = 0; c < set_.size(); c++)
      for (int k = 0; k < tasks(); k++) *out++ = at_.trial.row(set_.members[c])[k];
  }

  // Gives a table the shape of the model's state.
  void fit(Moved &table) {
    if (table.size() != model_.state().size()) table.resize(tasks(), model_.state().size() / tasks());
  }

  // Quadratic model plus penalty, up to a constant.
  double model_value(const double *coefs, const Moved &state) const {
    double value = model_.loss(state);
    for (int c = 0; c < set_.size(); c++) {
      const double *b = coefs + static_cast<std::size_t>(c) * tasks();
      model_.add_loss(c, b, state, value);
      value += penalties_.value(set_.members[c], b);
    }
    return value;
  }

  // ---------------------------------------------------------------- the present pattern

  // Sweeps crawl where the model is nearly flat. Then keep the pattern of zeros and ties, on which model and penalty
  // are one quadratic, and go towards its minimum as far as the true model falls. Returns the curvature-weighted square
  // of the way there.
  double solve_on_pattern(bool loose) {
    list_active(loose);
    label_groups();
    std::vector<double> walk(groups_.count), curvature(groups_.count);
    pattern_gradient(walk, curvature);
    for (double &r : walk) r = -r;
    const std::vector<double> downhill = walk;
    fit(reply_);
    if (!solve_directly(walk)) conjugate_gradients(curvature, walk);
    double size = 0;
    for (int g = 0; g < groups_.count; g++) size += downhill[g] * walk[g];
    return walk_on_pattern(walk) ? size : 0.0;
  }

  // By a system of equations, if the model has one that is quick; true if so.
  bool solve_directly(std::vector<double> &walk) {
    if constexpr (Model::direct) {
      if (!model_.gram().is_quick(groups_)) return false;
      model_.gram().equations(groups_, penalties_.ridges(groups_)).solve(walk);
      *passes_ -= std::min(20, 1 + static_cast<int>(model_.gram().passes_of_equations(groups_)));
      return true;
    }
    return false;
  }

  // On entry `walk` is the direction downhill.
  void conjugate_gradients(const std::vector<double> &curvature, std::vector<double> &walk) {
    const int groups = groups_.count;
    std::vector<double> residual = walk, scaled(groups), direction(groups), product(groups);
    std::fill(walk.begin(), walk.end(), 0.0);
    double before = 0;
    for (int g = 0; g < groups; g++) {
      direction[g] = scaled[g] = residual[g] / curvature[g];
      before += residual[g] * scaled[g];
    }
    const double enough = 1e-6 * before;
    for (int round = 0; round < MOST_ROUNDS && before > enough; round++, --*passes_) {
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
  }

  // One unknown for each group of tied tasks of an active feature; coefficients that l1 holds at zero stay there.
  void label_groups() {
    groups_.clear(tasks());
    for (const int c : active_) {
      const int a = set_.members[c];
      penalties_.label_ties(a, at_.trial.row(a), groups_.add(a), groups_.count);
    }
  }

  void pattern_gradient(std::vector<double> &gradient, std::vector<double> &curvature) {
    Scratch<T, 1> scratch(tasks());
    double *slopes = scratch.get();
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int c = active_[i], a = set_.members[c], *group = groups_.of(i);
      model_.slopes(c, slopes);
      penalties_.add_slopes(a, at_.trial.row(a), slopes);
      for (int k = 0; k < tasks(); k++)
        if (group[k] >= 0) {
          gradient[group[k]] += slopes[k];
          curvature[group[k]] += model_.diagonal(c, k) + penalties_.l2[a];
        }
    }
  }

  // Step of active feature i that a vector over groups stands for.
  void group_step(std::size_t i, const std::vector<double> &values, double *step) const {
    const int *group = groups_.of(i);
    for (int k = 0; k < tasks(); k++) step[k] = group[k] >= 0 ? values[group[k]] : 0.0;
  }

  // Change of the model's state by steps of the active features, tasks() numbers each.
  void add_reply(const std::vector<double> &steps) {
    reply_.clear();
    std::size_t i = 0;
    if constexpr (Model::direct)
      for (; i + 4 <= active_.size(); i += 4) model_.spread_four(&active_[i], &steps[i * tasks()], reply_);
    for (; i < active_.size(); i++) model_.spread(active_[i], &steps[i * tasks()], reply_);
  }

  void pattern_product(const std::vector<double> &direction, std::vector<double> &product) {
    moves_.resize(active_.size() * tasks());
    for (std::size_t i = 0; i < active_.size(); i++) group_step(i, direction, &moves_[i * tasks()]);
    add_reply(moves_);
    std::fill(product.begin(), product.end(), 0.0);
    for (std::size_t i = 0; i < active_.size(); i++) {
      const int c = active_[i], *group = groups_.of(i);
      const double ridge = penalties_.l2[set_.members[c]] + least_;
      for (int k = 0; k < tasks(); k++)
        if (group[k] >= 0) product[group[k]] += model_.reply(k, c, reply_) + ridge * direction[group[k]];
    }
  }

  // As far as the model falls, with what crosses zero or each other on the way tied there.
  bool walk_on_pattern(const std::vector<double> &walk) {
    from_.resize(static_cast<std::size_t>(set_.size()) * tasks());
    gather(from_.data());
    const double here = model_value(from_.data(), model_.state());
    for (double length = 1; length > 0.01; length *= 0.5)
      if (try_walk(walk, length, here)) return true;
    return false;
  }

  bool try_walk(const std::vector<double> &walk, double length, double here) {
    mixed_coefs_ = from_;
    moves_.assign(active_.size() * tasks(), 0.0);
    for (std::size_t i = 0; i < active_.size(); i++) {
      double *to = &mixed_coefs_[static_cast<std::size_t>(active_[i]) * tasks()], *move = &moves_[i * tasks()];
      group_step(i, walk, move);
      for (int k = 0; k < tasks(); k++) to[k] += length * move[k];
      keep_order(active_[i], to);
      for (int k = 0; k < tasks(); k++) move[k] = to[k] - at_.trial.row(set_.members[active_[i]])[k];
    }
    add_reply(moves_);
    fit(mixed_state_);
    for (std::size_t j = 0; j < reply_.size(); j++) mixed_state_[j] = model_.state()[j] + reply_[j];
    if (!(model_value(mixed_coefs_.data(), mixed_state_) < here)) return false;
    adopt_mixture();
    return true;
  }

  // Coefficients of a feature on their way from where they are: what has crossed zero becomes zero, where l1 holds it
  // there, and fused ones that have crossed each other become equal.
  void keep_order(int c, double *to) const {
    const int a = set_.members[c];
    const double *b = at_.trial.row(a);
    if (penalties_.fusion[a] > 0) {
      bool crossed = false;
      for (const Edge &e : block_.edges()) crossed |= (b[e.a] - b[e.b]) * (to[e.a] - to[e.b]) < 0;
      if (crossed) tie_crossed(c, to);
    }
    for (int k = 0; k < tasks() && penalties_.l1[a] > 0; k++)
      if (b[k] * to[k] < 0) to[k] = 0;
  }

  void tie_crossed(int c, double *to) const {
    const double *b = at_.trial.row(set_.members[c]);
    std::vector<int> part(tasks());
    for (int k = 0; k < tasks(); k++) part[k] = k;
    for (const Edge &e : block_.edges())
      if (b[e.a] == b[e.b] || (b[e.a] - b[e.b]) * (to[e.a] - to[e.b]) < 0) join(part, e.a, e.b);
    std::vector<double> sum(tasks(), 0.0), weight(tasks(), 0.0);
    for (int k = 0; k < tasks(); k++) {
      sum[part[k]] += model_.diagonal(c, k) * to[k];
      weight[part[k]] += model_.diagonal(c, k);
    }
    for (int k = 0; k < tasks(); k++) to[k] = sum[part[k]] / weight[part[k]];
  }

  const Penalties<T> &penalties_;
  Block<T> &block_;
  State<T> &at_;
  const WorkingSet &set_;
  Model &model_;
  Pause &pause_;
  double least_ = 0;
  int *passes_ = nullptr;  // left in the budget of this solve; conjugate gradients and systems of equations count too
  std::vector<int> everyone_;  // positions in the working set
  std::vector<int> active_;    // positions of the non-zero features in the working set
  std::vector<typename Block<T>::Pattern> patterns_;
  bool patterned_ = false;
  Groups groups_;  // of their coefficients

  int kept_ = 0;
  std::vector<double> past_coefs_, mixed_coefs_;
  std::vector<typename Model::Number> past_states_;
  std::vector<double> from_, moves_;  // of a walk: coefficients of the working set, steps of the active features
  Moved mixed_state_, reply_;
};
