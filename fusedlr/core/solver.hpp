// Prox-Newton for the whole problem, in the namespace of one instruction set.
//
// Outside, Newton steps (newton.hpp): the loss (data.hpp) is replaced by its quadratic model (gram_model.hpp with
// the curvature of gram.hpp, or row_model.hpp for many more features than rows). Inside, sweeps over blocks, the t
// coefficients of one feature, each minimised exactly (sweeps.hpp, block.hpp). Every step ends with a duality gap
// (duality_gap.hpp), and the gap alone says when to stop. Where sweeps stall, an interior-point method helps out
// (interior_point.hpp). Separated data come under a rule of their own (separation_ridge.hpp).
template <int T>
class NewtonSolver final : public Solver {
 public:
  explicit NewtonSolver(const Problem &problem)
      : block_(problem.tasks, problem.edges, problem.ends, problem.edge_weights, problem.chain),
        data_(problem),
        penalties_(block_, data_.features),
        steps_(data_, penalties_),
        rule_(data_, penalties_, steps_),
        l1_factors_(data_.features, 1.0),
        l2_factors_(data_.features, 1.0),
        fusion_factors_(data_.features, 1.0) {
    l1_factors_[0] = l2_factors_[0] = 0;
  }

  void penalise(const double *l1, const double *l2, const double *fusion) override {
    choose_units(fusion[0]);
    for (int a = 0; a < data_.features; a++) {
      penalties_.l1[a] = l1[a] / data_.scale(a);
      penalties_.l2[a] = l2[a] / (data_.scale(a) * data_.scale(a));
      penalties_.fusion[a] = fusion[a] / data_.scale(a);
    }
  }

  void set_factors(const double *l1, const double *l2, const double *fusion) override {
    l1_factors_.assign(l1, l1 + data_.features);
    l2_factors_.assign(l2, l2 + data_.features);
    fusion_factors_.assign(fusion, fusion + data_.features);
  }

  void penalise_by(double l1, double l2, double fusion) override {
    point_ = {l1, l2, fusion};
    choose_units(fusion * fusion_factors_[0]);
    for (int a = 0; a < data_.features; a++) {
      penalties_.l1[a] = l1 * (l1_factors_[a] / data_.scale(a));
      penalties_.l2[a] = l2 * (l2_factors_[a] / (data_.scale(a) * data_.scale(a)));
      penalties_.fusion[a] = fusion * (fusion_factors_[a] / data_.scale(a));
    }
  }

  void start(const double *params) override { steps_.start(params); }

  // From the best solution so far, or by a move that is known from neighbours on a grid, if that is better.
  void start_from_best(const double *solutions, double floor) override {
    if (memory_.empty()) return;
    const std::size_t best = memory_.best(point_), count = steps_.state.params.size();
    std::vector<Memory::Move> moves = memory_.moves(point_, best);
    for (const Memory::Move &line : memory_.lines(point_)) moves.push_back(line);
    const bool free = penalties_.has_free_features();
    const std::vector<double> asked = penalties_.l2;
    if (free) rule_.expect_ridge(floor);
    start(solutions + best * count);
    double least = steps_.value();
    for (const Memory::Move &move : moves) try_move(solutions, move, free, least);
    penalties_.l2 = asked;
  }

  void remember() override {
    Memory::Parts parts{steps_.state.now.loss, 0, 0, 0};
    for (int a = 0; a < data_.features; a++) {
      const double *b = steps_.state.params.row(a);
      double size = 0, square = 0;
      for (int k = 0; k < data_.tasks(); k++) {
        size += std::fabs(b[k]);
        square += b[k] * b[k];
      }
      const double scale = data_.scale(a);
      parts.l1 += l1_factors_[a] / scale * size;
      parts.l2 += l2_factors_[a] / (scale * scale) * 0.5 * square;
      if (a > 0 || fusion_factors_[0] > 0) parts.fusion += fusion_factors_[a] / scale * block_.variation(b);
    }
    memory_.add(point_, parts);
  }

  void forget() override { memory_.clear(); }

  void params(double *out) const override { data_.to_callers(steps_.state.params, out); }

  void ridge(double *out) const override {
    for (int a = 0; a < data_.features; a++) out[a] = rule_.ridge()[a] * data_.scale(a) * data_.scale(a);
  }

  Report solve(const Settings &settings) override {
    using Steps = NewtonSteps<T>;
    steps_.begin(settings);
    Status status;
    const auto end = rule_.solve(settings, status);
    if (end == Steps::OUT_OF_STEPS) status = NOT_CONVERGED;
    if (end == Steps::BROKEN_OFF) status = INTERRUPTED;
    Report report{steps_.objective, steps_.gap, status, steps_.iterations, 0, 0};
    for (int a = 0; a < data_.features; a++) count_groups(a, report);
    return report;
  }

 private:
  static constexpr int FARTHEST = 5;  // doublings of a move, and one

  // Goes along a move, and keeps where it leads if the objective is least there; where hardly anything but the loss
  // holds coefficients, twice as far each time if it may go far.
  void try_move(const double *solutions, const Memory::Move &move, bool free, double &least) {
    const std::size_t count = steps_.state.params.size();
    const double *start = solutions + move.start * count, *from = solutions + move.from * count,
                 *to = solutions + move.to * count;
    double before = std::numeric_limits<double>::infinity(), by = move.by;
    guess_.resize(count);
    for (int round = 0; round < (move.far && free ? FARTHEST : 1); round++, by *= 2) {
      for (std::size_t i = 0; i < count; i++) guess_[i] = start[i] + by * (to[i] - from[i]);
      if (free) keep_ties(start);
      const double value = steps_.start_if_below(least, guess_.data());
      least = std::min(least, value);
      if (!(value < before)) return;
      before = value;
    }
  }

  // Gives a guess the ties of the solution that it sets out from: where hardly anything but the loss holds
  // coefficients, each tie that a guess breaks for nothing is an unknown more in the equations.
  void keep_ties(const double *from) {
    const int t = data_.tasks();
    std::vector<int> group(t), members(t);
    std::vector<double> mean(t);
    for (int a = 0; a < data_.features; a++) {
      const std::size_t row = static_cast<std::size_t>(a) * t;
      if (!breaks_tie(a, from + row, &guess_[row])) continue;
      int count = 0;
      std::fill(group.begin(), group.end(), -1);
      penalties_.label_ties(a, from + row, group.data(), count);
      std::fill(members.begin(), members.end(), 0);
      std::fill(mean.begin(), mean.end(), 0.0);
      for (int k = 0; k < t; k++)
        if (group[k] >= 0) mean[group[k]] += (guess_[row + k] - mean[group[k]]) / ++members[group[k]];
      for (int k = 0; k < t; k++)
        if (group[k] >= 0) guess_[row + k] = mean[group[k]];
    }
  }

  bool breaks_tie(int a, const double *from, const double *guess) const {
    if (penalties_.fusion[a] > 0)
      for (const Edge &e : block_.edges())
        if (from[e.a] == from[e.b] && guess[e.a] != guess[e.b]) return true;
    return false;
  }

  // Centres columns far from zero where intercepts are free of fusion.
  void choose_units(double intercept_fusion) {
    std::vector<double> params(steps_.state.params.size());
    data_.to_callers(steps_.state.params, params.data());
    const bool fused = intercept_fusion > 0 && !block_.edges().empty();
    if (data_.centre(!fused)) steps_.change_units(params.data());
  }

  // Non-zero coefficients, and groups of tied neighbours (non-zero ones only, but for the intercept).
  void count_groups(int a, Report &report) const {
    const double *b = steps_.state.params.row(a);
    if (a > 0 && !steps_.state.is_active(a)) return;
    for (int k = 0; k < data_.tasks(); k++) report.nonzeros += a > 0 && b[k] != 0;
    report.groups += block_.count_groups(b, a == 0);
  }

  Block<T> block_;
  Data<T> data_;
  Penalties<T> penalties_;
  NewtonSteps<T> steps_;
  SeparableRule<T> rule_;
  std::vector<double> l1_factors_, l2_factors_, fusion_factors_;
  Memory::Point point_{0, 0, 0};
  Memory memory_;
  std::vector<double> guess_;
};

Solver *make(const Problem &problem) {
  switch (problem.tasks) {
    case 1:
      return new NewtonSolver<1>(problem);
    case 2:
      return new NewtonSolver<2>(problem);
    case 3:
      return new NewtonSolver<3>(problem);
    case 4:
      return new NewtonSolver<4>(problem);
    case 5:
      return new NewtonSolver<5>(problem);
    case 6:
      return new NewtonSolver<6>(problem);
    default:
      return new NewtonSolver<0>(problem);
  }
}
