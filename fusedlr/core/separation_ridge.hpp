// The separable rule, in the namespace of one instruction set (see solver.hpp).
//
// Rows with neither l1 nor l2 have no finite minimiser where the data are separated (separation_test.hpp says when
// that is). Then every such row gets a ridge, `floor` times the largest curvature it can have, and the answer is the
// minimiser with that ridge, solved to the tolerance like any other. The intercept row gets one only where a whole
// component of tasks has labels of one class: otherwise the other rows hold it.
template <int T>
class SeparableRule {
 public:
  using Steps = NewtonSteps<T>;
  using Verdict = typename Separation<T>::Verdict;

  SeparableRule(const Data<T> &data, Penalties<T> &penalties, Steps &steps)
      : data_(data),
        penalties_(penalties),
        steps_(steps),
        separation_(data, steps.pause()),
        ridge_(data.features, 0.0) {}

  // Solves at the present penalties, with the ridge where it is needed. `good` becomes the status of a solve that ends
  // well.
  typename Steps::End solve(const Settings &settings, Status &good) {
    good = OPTIMAL;
    std::fill(ridge_.begin(), ridge_.end(), 0.0);
    const bool one_class = penalties_.is_free(0) && has_one_class();
    steps_.loose = penalties_.has_free_features();
    steps_.ridged = false;
    if (!one_class && !steps_.loose) return steps_.descend(settings);
    const std::vector<double> asked = penalties_.l2, floor = floor_of(settings.floor, one_class);
    const Verdict found = one_class ? Separation<T>::INFINITE : verdict(asked, floor, settings);
    if (found == Separation<T>::UNKNOWN) return Steps::BROKEN_OFF;
    if (found == Separation<T>::FINITE) return steps_.descend(settings);
    good = SEPARATED;
    ridge_ = floor;
    return solve_with_ridge(asked, settings);
  }

  const std::vector<double> &ridge() const { return ridge_; }

  // Adds the ridge to the penalties that a solve of free features would begin with; the caller takes it away again.
  void expect_ridge(double floor) {
    if (verdict_ != Separation<T>::FINITE || kinds_of_rows() != judged_)
      raise_ridge(std::vector<double>(penalties_.l2), floor_of(floor, false));
  }

 private:
  static constexpr double ROUGH = 1e-3;  // gap of a fit that is only asked for its residuals

  int tasks() const { return data_.tasks(); }

  // Values are reported for the penalties that were asked for. Of these only the dual point 0 is at hand: the gap is
  // all of the objective.
  typename Steps::End solve_with_ridge(const std::vector<double> &asked, const Settings &settings) {
    raise_ridge(asked, ridge_);
    steps_.ridged = true;
    const auto end = steps_.descend(settings);
    penalties_.l2 = asked;
    steps_.objective = steps_.value();
    steps_.gap = steps_.objective / steps_.scale();
    return end;
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
      const double curvature = data_.largest_curvature(a);
      floor[a] = curvature > 0 ? fraction * curvature : fraction;
    }
    return floor;
  }

  void raise_ridge(const std::vector<double> &asked, const std::vector<double> &floor) {
    for (int a = 0; a < data_.features; a++) penalties_.l2[a] = asked[a] + floor[a];
  }

  // Which rows are free, and which of all rows are fused: what a verdict on separation depends on.
  std::vector<char> kinds_of_rows() const {
    std::vector<char> kinds(data_.features);
    for (int a = 0; a < data_.features; a++)
      kinds[a] = static_cast<char>(2 * penalties_.is_free(a) + (penalties_.fusion[a] > 0));
    return kinds;
  }

  // Whether there are more labels than free coefficients: otherwise no proof that the data are not separated is likely.
  bool has_more_labels() const {
    const Groups &groups = steps_.gap_of().label_free_rows();
    long long labels = 0;
    for (int k = 0; k < tasks(); k++)
      for (int i = 0; i < data_.rows; i++) labels += data_.weights.row(k)[i] > 0;
    return labels > groups.count;
  }

  // A rough fit with the ridge comes first: where the data are not separated its residuals mostly prove it, and either
  // way it is a good start. The question itself is put without regard to it.
  Verdict verdict(const std::vector<double> &asked, const std::vector<double> &floor, const Settings &settings) {
    const std::vector<char> kinds = kinds_of_rows();
    if (verdict_ != Separation<T>::UNKNOWN && kinds == judged_) return verdict_;
    raise_ridge(asked, floor);
    Settings rough = settings;
    rough.tolerance = std::max(settings.tolerance, ROUGH);
    const auto end = steps_.descend(rough);
    penalties_.l2 = asked;
    judged_ = kinds;
    if (end == Steps::BROKEN_OFF)
      verdict_ = Separation<T>::UNKNOWN;
    else if (has_more_labels() && steps_.proves_finite())
      verdict_ = Separation<T>::FINITE;
    else
      verdict_ = separation_.judge(steps_.gap_of().label_free_rows(), settings);
    return verdict_;
  }

  const Data<T> &data_;
  Penalties<T> &penalties_;
  Steps &steps_;
  Separation<T> separation_;
  std::vector<double> ridge_;
  Verdict verdict_ = Separation<T>::UNKNOWN;
  std::vector<char> judged_;
};
