// Warm starts from stored solutions, whose objectives at other penalties cost a few operations each.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

class WarmStarts {
 public:
  using Point = std::array<double, 3>;  // l1, l2, fusion
  struct Terms {
    double loss, l1, l2, fusion;  // of a solution: its loss, and each penalty's value at a multiplier of 1
  };
  // The point start + factor * (to - from), all three stored solutions. For a penalty of 0 the best factor is unknown
  // (`open_ended`).
  struct Extrapolation {
    std::size_t start, from, to;
    double factor;
    bool open_ended;
  };

  void clear() {
    terms_.clear();
    points_.clear();
    index_.clear();
    for (auto &values : axes_) values.clear();
  }
  bool empty() const { return terms_.empty(); }

  void add(const Point &point, const Terms &terms) {
    index_[point] = terms_.size();
    terms_.push_back(terms);
    points_.push_back(point);
    for (int i = 0; i < 3; i++) axes_[i].insert(point[i]);
  }

  // The solution of least objective at a point.
  std::size_t best(const Point &point) const {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < terms_.size(); i++) {
      const Terms &m = terms_[i];
      const double value = m.loss + point[0] * m.l1 + point[1] * m.l2 + point[2] * m.fusion;
      if (value < least) {
        least = value;
        best = i;
      }
    }
    return best;
  }

  // On a grid, for a point that differs from a solution's in one penalty only: the difference of two solutions that
  // differ in the same way, each at the nearest other value of another penalty.
  std::vector<Extrapolation> from_neighbours(const Point &here, std::size_t solution) const {
    std::vector<Extrapolation> found;
    const Point &there = points_[solution];
    int differing = 0, which = 0;
    for (int i = 0; i < 3; i++)
      if (here[i] != there[i]) {
        differing++;
        which = i;
      }
    for (int i = 0; i < 3 && differing == 1; i++) {
      if (i == which) continue;
      Extrapolation nearest{};
      double distance = std::numeric_limits<double>::infinity();
      for (const double value : axes_[i]) {
        if (value == here[i] || std::fabs(value - here[i]) >= distance) continue;
        Point from = there, to = here;
        from[i] = to[i] = value;
        const auto a = index_.find(from), b = index_.find(to);
        if (a == index_.end() || b == index_.end()) continue;
        nearest = {solution, a->second, b->second, 1.0, false};
        distance = std::fabs(value - here[i]);
      }
      if (std::isfinite(distance)) found.push_back(nearest);
    }
    return found;
  }

  // On a grid: linear extrapolation of the solution path, in the logarithm of a penalty, from its two next larger
  // values. To a penalty of 0 only where there is no other.
  std::vector<Extrapolation> along_path(const Point &here) const {
    std::vector<Extrapolation> found, distant;
    for (int i = 0; i < 3; i++) {
      std::vector<std::pair<double, std::size_t>> larger;
      for (auto value = axes_[i].upper_bound(here[i]); value != axes_[i].end() && larger.size() < 2; ++value) {
        Point there = here;
        there[i] = *value;
        const auto place = index_.find(there);
        if (place != index_.end()) larger.push_back({*value, place->second});
      }
      if (larger.size() < 2) continue;
      Extrapolation guess{larger[0].second, larger[1].second, larger[0].second, 1, here[i] == 0};
      if (!guess.open_ended)
        guess.factor = std::log(larger[0].first / here[i]) / std::log(larger[1].first / larger[0].first);
      (guess.open_ended ? distant : found).push_back(guess);
    }
    return found.empty() ? distant : found;
  }

 private:
  std::vector<Terms> terms_;
  std::vector<Point> points_;
  std::map<Point, std::size_t> index_;
  std::set<double> axes_[3];
};

}  // namespace fusedlr::FUSEDLR_ISA
