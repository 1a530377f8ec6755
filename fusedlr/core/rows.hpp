// The order of the rows, and the range of rows of each task.
//
// A row may have labels in some tasks only. Rows are ordered so that the labelled rows of a task lie close together:
// one block for each task where every row has one label, nested prefixes where each task has fewer of the same rows.
// All loops over a task run over its range, the shortest that holds its labels and begins and ends at whole vectors.
// Rows of the range without a label have weight 0 there. Nobody but Data knows this order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// The labels that count. Of a table without gaps these are all, so that its rows stay where they are; otherwise those
// of positive weight.
class CountedLabels {
 public:
  explicit CountedLabels(const Problem &problem)
      : labels_(problem.labels),
        all_(labels_.start[problem.tasks] == static_cast<std::int64_t>(problem.X.rows) * problem.tasks) {
    for (int k = 0; k < problem.tasks; k++) for_task(k, [this](std::int64_t) { size_++; });
  }

  std::int64_t size() const { return size_; }
  int row(std::int64_t j) const { return labels_.row[j]; }

  template <class Act>
  void for_task(int k, const Act &act) const {
    for (std::int64_t j = labels_.start[k]; j < labels_.start[k + 1]; j++)
      if (all_ || labels_.weight[j] > 0) act(j);
  }

  // First and last position of the rows of a task; the first is beyond the last where it has none.
  struct Extent {
    int first, last;
  };
  Extent extent(int k, const std::vector<int> &place) const {
    Extent found{static_cast<int>(place.size()), -1};
    for_task(k, [&](std::int64_t j) {
      found.first = std::min(found.first, place[row(j)]);
      found.last = std::max(found.last, place[row(j)]);
    });
    return found;
  }

 private:
  const Labels &labels_;
  const bool all_;
  std::int64_t size_ = 0;
};

// ---------------------------------------------------------------- the order

class RowOrder {
 public:
  explicit RowOrder(const Problem &problem)
      : labels_(problem), rows_(problem.X.rows), tasks_(problem.tasks), place_(rows_) {
    std::iota(place_.begin(), place_.end(), 0);
    if (is_close(span(place_))) return;
    try_order(by_first_label(), true);
    if (!is_close(span(place_))) try_order(by_pattern(), false);
  }

  // Position of every row.
  const std::vector<int> &places() const { return place_; }

 private:
  static constexpr int WORTH = 16;  // the part of the ranges that another order must save

  // Rows of all ranges together, in an order.
  std::int64_t span(const std::vector<int> &place) const {
    std::int64_t sum = 0;
    for (int k = 0; k < tasks_; k++) {
      const auto extent = labels_.extent(k, place);
      sum += std::max(0, extent.last - extent.first + 1);
    }
    return sum;
  }

  bool is_close(std::int64_t span) const { return span - span / WORTH <= labels_.size(); }

  // Takes an order if its ranges are shorter; in place of the caller's only where that is worth it.
  void try_order(const std::vector<int> &order, bool instead_of_given) {
    std::vector<int> place(rows_);
    for (int i = 0; i < rows_; i++) place[order[i]] = i;
    const std::int64_t before = span(place_), after = span(place);
    if (after < before - (instead_of_given ? before / WORTH : 0)) place_.swap(place);
  }

  // By the first task with a label, and within it from the last task with one down.
  std::vector<int> by_first_label() const {
    std::vector<int> first(rows_, tasks_), last(rows_, 0), order(rows_);
    for (int k = 0; k < tasks_; k++)
      labels_.for_task(k, [&](std::int64_t j) {
        first[labels_.row(j)] = std::min(first[labels_.row(j)], k);
        last[labels_.row(j)] = tasks_ - k;
      });
    std::iota(order.begin(), order.end(), 0);
    sort_by(last, order);
    sort_by(first, order);
    return order;
  }

  // Stable, by keys from 0 to the number of tasks.
  void sort_by(const std::vector<int> &key, std::vector<int> &order) const {
    std::vector<int> next(tasks_ + 2, 0);
    for (const int i : order) next[key[i] + 1]++;
    std::partial_sum(next.begin(), next.end(), next.begin());
    const std::vector<int> before = order;
    for (const int i : before) order[next[key[i]]++] = i;
  }

  // By the tasks with a label in the order of a Gray code, in which the rows of each of the first two tasks, and of
  // nested tasks, are neighbours.
  std::vector<int> by_pattern() const {
    std::vector<std::int64_t> start(rows_ + 1, 0);
    std::vector<int> task(labels_.size()), order(rows_);
    for (int k = 0; k < tasks_; k++) labels_.for_task(k, [&](std::int64_t j) { start[labels_.row(j) + 1]++; });
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    for (int k = 0; k < tasks_; k++)
      labels_.for_task(k, [&](std::int64_t j) { task[next[labels_.row(j)]++] = k; });
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int one, int other) {
      const std::int64_t a = start[one], b = start[other], m = start[one + 1] - a, n = start[other + 1] - b;
      std::int64_t same = 0;
      while (same < m && same < n && task[a + same] == task[b + same]) same++;
      if (same == m && same == n) return false;
      const bool one_has = same < m && (same == n || task[a + same] < task[b + same]);
      return one_has == (same % 2 == 0);
    });
    return order;
  }

  const CountedLabels labels_;
  const int rows_, tasks_;
  std::vector<int> place_;
};

// ---------------------------------------------------------------- the ranges

// Rows that belong to the ranges of the same tasks.
struct Segment {
  int begin, end;
  std::vector<int> tasks;
};

class Ranges {
 public:
  Ranges(const Problem &problem, const std::vector<int> &place)
      : rows_(problem.X.rows),
        begin_(problem.tasks),
        end_(problem.tasks),
        vectors_(problem.tasks),
        start_(problem.tasks + 1, 0) {
    const CountedLabels labels(problem);
    for (int k = 0; k < problem.tasks; k++) {
      const auto extent = labels.extent(k, place);
      begin_[k] = extent.first <= extent.last ? extent.first / PAD * PAD : 0;
      end_[k] = padded(std::max(extent.last, 0) + 1);
      vectors_[k] = (end_[k] - begin_[k]) / LANES;
      start_[k + 1] = start_[k] + static_cast<std::size_t>(end_[k] - begin_[k]);
    }
    cut();
  }

  // The range of a task; its rows with and without those of weight 0 behind the last; whole vectors in it.
  int begin(int k) const { return begin_[k]; }
  int end(int k) const { return end_[k]; }
  int length(int k) const { return std::min(end_[k], rows_) - begin_[k]; }
  int vectors(int k) const { return vectors_[k]; }

  // Where each task begins in tables of all ranges, and their size.
  const std::size_t *start() const { return start_.data(); }
  std::size_t size() const { return start_.back(); }

  // All ranges, cut where one begins or ends.
  const std::vector<Segment> &segments() const { return segments_; }

 private:
  void cut() {
    std::vector<int> ends = begin_;
    ends.insert(ends.end(), end_.begin(), end_.end());
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (std::size_t i = 0; i + 1 < ends.size(); i++) segments_.push_back({ends[i], ends[i + 1], {}});
    for (std::size_t k = 0; k < begin_.size(); k++) {
      const auto first = std::lower_bound(ends.begin(), ends.end(), begin_[k]) - ends.begin();
      for (std::size_t i = first; i < segments_.size() && segments_[i].begin < end_[k]; i++)
        segments_[i].tasks.push_back(static_cast<int>(k));
    }
  }

  const int rows_;
  std::vector<int> begin_, end_, vectors_;
  std::vector<std::size_t> start_;
  std::vector<Segment> segments_;
};

// A number for each row of the range of each task, zero at first.
class LabelTable : private Table {
 public:
  LabelTable() = default;
  explicit LabelTable(const Ranges &ranges) { resize(ranges); }

  void resize(const Ranges &ranges) {
    ranges_ = &ranges;
    start_ = ranges.start();
    Table::resize(1, ranges.size());
  }
  void match(const LabelTable &other) { resize(*other.ranges_); }
  void swap(LabelTable &other) { Table::swap(other); }  // of the same ranges
  void copy(const LabelTable &other) { Table::copy(other); }

  double *row(int k) const { return get() + start_[k]; }
  using Table::clear;
  using Table::empty;
  using Table::get;
  using Table::size;
  using Table::operator[];

 private:
  const Ranges *ranges_ = nullptr;
  const std::size_t *start_ = nullptr;  // of each task
};

}  // namespace fusedlr::FUSEDLR_ISA
