// The solver's iterate and working set.
#pragma once

#include <vector>

#include "data.hpp"
#include "isa.hpp"
#include "logistic.hpp"
#include "numbers.hpp"
#include "rows.hpp"

namespace fusedlr::FUSEDLR_ISA {

inline bool is_nonzero(const double *b, int tasks) {
  for (int k = 0; k < tasks; k++)
    if (b[k] != 0) return true;
  return false;
}

// Some features, and the position of each feature among them (or -1): the working set of the quadratic model, or those
// that a screen does not exclude.
struct WorkingSet {
  std::vector<int> members, place;
  explicit WorkingSet(int features) : place(features, -1) {}
  int size() const { return static_cast<int>(members.size()); }
  bool has(int a) const { return place[a] >= 0; }
  void add(int a) {
    place[a] = size();
    members.push_back(a);
  }
  void clear() {
    for (const int a : members) place[a] = -1;
    members.clear();
  }
  bool has_all() const { return members.size() == place.size(); }
};

// The iterate: coefficients, loss and derivatives.
struct State {
  Table params, trial;    // [feature][task]; trial is the minimiser of the quadratic model
  Table gradient;         // of the loss at params, [task][feature]
  WorkingSet known;       // features whose gradient is computed: all of them, or those that are not surely zero
  Derivatives now, next;  // now always belongs to params
  LabelTable change;           // of the linear predictor, from params to trial
  State(int features, int tasks)  // without rows
      : params(features, tasks), trial(features, tasks), gradient(tasks, padded(features)), known(features),
        tasks_(tasks) {}
  explicit State(const Data &data)
      : params(data.features, data.tasks()),
        trial(data.features, data.tasks()),
        gradient(data.tasks(), padded(data.features)),
        known(data.features),
        now(data.ranges),
        next(data.ranges),
        change(data.ranges),
        tasks_(data.tasks()) {
    for (const int a : data.all()) known.add(a);
  }

  bool is_active(int a) const { return is_nonzero(params.row(a), tasks_); }

 private:
  const int tasks_;
};

}  // namespace fusedlr::FUSEDLR_ISA
