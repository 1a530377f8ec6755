// Solutions at other penalties, as starts for the next; in the namespace of one instruction set (see solver.hpp).
class Memory {
 public:
  using Point = std::array<double, 3>;  // l1, l2, fusion
  struct Parts {
    double loss, l1, l2, fusion;  // the loss of a solution, and what each penalty of 1 would add to it
  };
  // A guess: a solution, and from there `by` times the way from one solution to another. To a penalty of 0 nobody knows
  // how far that way is best gone (`far`).
  struct Move {
    std::size_t start, from, to;
    double by;
    bool far;
  };

  void clear() {
    parts_.clear();
    points_.clear();
    places_.clear();
    for (auto &values : values_) values.clear();
  }
  bool empty() const { return parts_.empty(); }

  void add(const Point &point, const Parts &parts) {
    places_[point] = parts_.size();
    parts_.push_back(parts);
    points_.push_back(point);
    for (int i = 0; i < 3; i++) values_[i].insert(point[i]);
  }

  // The solution of least objective at a point.
  std::size_t best(const Point &point) const {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < parts_.size(); i++) {
      const Parts &m = parts_[i];
      const double value = m.loss + point[0] * m.l1 + point[1] * m.l2 + point[2] * m.fusion;
      if (value < least) {
        least = value;
        best = i;
      }
    }
    return best;
  }

  // On a grid: where a point differs from that of a solution in one penalty only, pairs of solutions that differ in the
  // same way, each at the nearest other value of another penalty.
  std::vector<Move> moves(const Point &here, std::size_t solution) const {
    std::vector<Move> found;
    const Point &there = points_[solution];
    int differing = 0, which = 0;
    for (int i = 0; i < 3; i++)
      if (here[i] != there[i]) {
        differing++;
        which = i;
      }
    for (int i = 0; i < 3 && differing == 1; i++) {
      if (i == which) continue;
      Move nearest{};
      double distance = std::numeric_limits<double>::infinity();
      for (const double value : values_[i]) {
        if (value == here[i] || std::fabs(value - here[i]) >= distance) continue;
        Point from = there, to = here;
        from[i] = to[i] = value;
        const auto a = places_.find(from), b = places_.find(to);
        if (a == places_.end() || b == places_.end()) continue;
        nearest = {solution, a->second, b->second, 1.0, false};
        distance = std::fabs(value - here[i]);
      }
      if (std::isfinite(distance)) found.push_back(nearest);
    }
    return found;
  }

  // On a grid: from the two next larger values of each penalty on along the line of their solutions, which is nearly
  // straight in the logarithm of a penalty that vanishes. Lines that go far are worth it only where there is no other.
  std::vector<Move> lines(const Point &here) const {
    std::vector<Move> found, distant;
    for (int i = 0; i < 3; i++) {
      std::vector<std::pair<double, std::size_t>> larger;
      for (auto value = values_[i].upper_bound(here[i]); value != values_[i].end() && larger.size() < 2; ++value) {
        Point there = here;
        there[i] = *value;
        const auto place = places_.find(there);
        if (place != places_.end()) larger.push_back({*value, place->second});
      }
      if (larger.size() < 2) continue;
      Move line{larger[0].second, larger[1].second, larger[0].second, 1, here[i] == 0};
      if (!line.far) line.by = std::log(larger[0].first / here[i]) / std::log(larger[1].first / larger[0].first);
      (line.far ? distant : found).push_back(line);
    }
    return found.empty() ? distant : found;
  }

 private:
  std::vector<Parts> parts_;
  std::vector<Point> points_;
  std::map<Point, std::size_t> places_;
  std::set<double> values_[3];
};
