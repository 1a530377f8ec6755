// Groups of tied tasks as unknowns of a system of equations.
#pragma once

#include <cstddef>
#include <vector>

#include "graph.hpp"
#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Support and ties held fixed: one unknown for each group of tied tasks of a feature, labelled 0 to count - 1; -1 for
// coefficients that stay fixed.
struct Groups {
  int tasks = 0, count = 0;
  std::vector<int> features;
  std::vector<int> labels;  // one for each feature and task

  void clear(int tasks_) {
    tasks = tasks_;
    count = 0;
    features.clear();
    labels.clear();
  }
  int *add(int feature) {
    features.push_back(feature);
    labels.resize(features.size() * tasks, -1);
    return of(features.size() - 1);
  }
  bool operator==(const Groups &other) const { return features == other.features && labels == other.labels; }
  int *of(std::size_t i) { return &labels[i * tasks]; }
  const int *of(std::size_t i) const { return &labels[i * tasks]; }
  std::size_t size() const { return features.size(); }
};

// Connected components of tasks that share unknowns, a label for each task: the equations decouple between them.
inline std::vector<int> connected_tasks(const Groups &groups) {
  std::vector<int> part(groups.tasks), first(groups.count, -1);
  for (int k = 0; k < groups.tasks; k++) part[k] = k;
  for (std::size_t i = 0; i < groups.size(); i++)
    for (int k = 0; k < groups.tasks; k++) {
      const int g = groups.of(i)[k];
      if (g < 0) continue;
      if (first[g] < 0) first[g] = k;
      if (part[first[g]] != part[k]) join(part, first[g], k);
    }
  return part;
}

}  // namespace fusedlr::FUSEDLR_ISA
