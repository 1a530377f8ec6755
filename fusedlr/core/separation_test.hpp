// Whether data are separated, in the namespace of one instruction set (see solver.hpp).
//
// Let A take the free coefficients, one number for each group of tasks that must move together, to the linear
// predictor, and let Y hold the labels' signs. The data are separated if there is a direction d with Y A d >= 0 and Y A
// d != 0: along it the loss falls for ever. By Stiemke's lemma there is none if and only if some a > 0 has A'Y a = 0.
// Which of the two holds is found by non-negative least squares: minimise |A'Y (1 + s)| over s >= 0. A residual of zero
// gives a = 1 + s; any other residual is itself such a direction. The active-set method of Lawson and Hanson ends after
// finitely many steps. Features are scaled and rows normed, so that the answer does not depend on units.
template <int T>
class Separation {
 public:
  enum Verdict { UNKNOWN, FINITE, INFINITE };

  Separation(const Data<T> &data, Pause &pause) : data_(data), pause_(pause), slopes_(data.tasks(), data.width) {}

  Verdict judge(const Groups &groups, const Settings &settings) {
    const std::vector<int> part = parts_of(groups);
    for (int k = 0; k < data_.tasks(); k++) {
      if (part[k] != k) continue;
      const Verdict verdict = judge_part(groups, part, k, settings);
      if (verdict != FINITE) return verdict;
    }
    return FINITE;
  }

 private:
  static constexpr double SMALL = 1e-10;  // cosines and sums of unit vectors below this count as zero
  struct Label {
    int task, row;
    double inverse;  // of the norm of its row of A, with its sign
  };

  Verdict judge_part(const Groups &groups, const std::vector<int> &part, int which, const Settings &settings) {
    collect(groups, part, which);
    if (unknowns_ == 0 || labels_.empty()) return FINITE;
    std::vector<double> target(unknowns_, 0.0);
    for (std::size_t j = 0; j < labels_.size(); j++) add_label(groups, j, target);
    passive_.clear();
    factor_.reset(target);
    shares_.clear();
    double sum = static_cast<double>(labels_.size());
    for (std::size_t step = 0; step < 3 * (labels_.size() + unknowns_); step++) {
      const double size = norm(factor_.residual());
      if (size <= SMALL * sum) return FINITE;
      const int worst = most_opposed(groups, -SMALL * size);
      if (worst < 0) return INFINITE;
      take(groups, worst);
      sum = static_cast<double>(labels_.size());
      for (const double s : shares_) sum += s;
      if (pause_.asked_to_stop(settings)) return UNKNOWN;
    }
    return FINITE;  // no direction found; the gap of the fit will tell
  }

  // Unknowns and labels of one part.
  void collect(const Groups &groups, const std::vector<int> &part, int which) {
    place_.assign(groups.count, -1);
    unknowns_ = 0;
    labels_.clear();
    for (std::size_t i = 0; i < groups.size(); i++)
      for (int k = 0; k < groups.tasks; k++) {
        const int g = groups.of(i)[k];
        if (g >= 0 && part[k] == which && place_[g] < 0) place_[g] = unknowns_++;
      }
    std::vector<double> square(data_.rows);
    for (int k = 0; k < groups.tasks; k++) {
      if (part[k] != which) continue;
      std::fill(square.begin(), square.end(), 0.0);
      for (std::size_t i = 0; i < groups.size(); i++)
        if (groups.of(i)[k] >= 0)
          for (int r = 0; r < data_.rows; r++)
            square[r] += data_.column(groups.features[i])[r] * data_.column(groups.features[i])[r];
      for (int r = 0; r < data_.rows; r++)
        if (data_.weights.row(k)[r] > 0 && square[r] > 0)
          labels_.push_back({k, r, data_.signs.row(k)[r] / std::sqrt(square[r])});
    }
  }

  // to += column of label j
  void add_label(const Groups &groups, std::size_t j, std::vector<double> &to) const {
    const Label &label = labels_[j];
    for (std::size_t i = 0; i < groups.size(); i++) {
      const int g = groups.of(i)[label.task];
      if (g >= 0) to[place_[g]] += label.inverse * data_.column(groups.features[i])[label.row];
    }
  }

  // The label that the residual goes most against, or -1 if it goes against none by more than the limit.
  int most_opposed(const Groups &groups, double limit) {
    slopes_.clear();
    by_.assign(groups.labels.size(), 0.0);
    for (std::size_t i = 0; i < by_.size(); i++) {
      const int g = groups.labels[i];
      if (g >= 0 && place_[g] >= 0) by_[i] = factor_.residual()[place_[g]];
    }
    data_.add_features(groups.features, by_, slopes_);
    int worst = -1;
    for (std::size_t j = 0; j < labels_.size(); j++) {
      const double slope = labels_[j].inverse * slopes_.row(labels_[j].task)[labels_[j].row];
      if (slope < limit) {
        limit = slope;
        worst = static_cast<int>(j);
      }
    }
    return worst;
  }

  // Gives a label a share of its own, and others up that would need a negative one.
  void take(const Groups &groups, int label) {
    passive_.push_back(label);
    shares_.push_back(0.0);
    std::vector<double> column(unknowns_, 0.0), wanted;
    add_label(groups, label, column);
    if (!factor_.append(column)) {  // depends on the others up to rounding
      passive_.pop_back();
      shares_.pop_back();
      labels_[label].inverse = 0;
      return;
    }
    for (;;) {
      factor_.least_squares(wanted);
      for (double &w : wanted) w = -w;
      double reach = 1;
      std::size_t first = wanted.size();
      for (std::size_t i = 0; i < wanted.size(); i++) {
        if (wanted[i] > 0) continue;
        const double until = shares_[i] > 0 ? shares_[i] / (shares_[i] - wanted[i]) : 0.0;
        if (until > reach) continue;
        reach = until;
        first = i;
      }
      for (std::size_t i = 0; i < wanted.size(); i++) shares_[i] += reach * (wanted[i] - shares_[i]);
      if (first == wanted.size()) break;
      if (passive_[first] == label) labels_[label].inverse = 0;  // opposed by rounding alone: not again
      factor_.remove(static_cast<int>(first));
      passive_.erase(passive_.begin() + first);
      shares_.erase(shares_.begin() + first);
    }
  }

  static double norm(const std::vector<double> &v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  }

  const Data<T> &data_;
  Pause &pause_;
  Table slopes_;
  int unknowns_ = 0;
  std::vector<int> place_, passive_;
  std::vector<Label> labels_;
  std::vector<double> shares_, by_;
  OrthogonalFactor factor_;
};
