// Symmetric positive semidefinite systems.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "groups.hpp"
#include "isa.hpp"
#include "numbers.hpp"
#include "products.hpp"
#include "vectors.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Right-looking blocked Cholesky factorisation U'U; the lower triangle is never read. Pivots that vanish up to rounding
// are skipped and their unknowns left at zero. Tiles of zeros are skipped as long as there is no fill-in.
class Cholesky {
 public:
  // Zero matrix of order m.
  void reset(int m) {
    if (size_ != m) {
      entries_.reshape(padded(m), padded(m));
      panel_.resize(PANEL, padded(m) + PANEL);
      right_.resize(1, padded(m));
    }
    size_ = m;
    for (int i = 0; i < padded(m); i++) std::fill(row(i) + i / PANEL * PANEL, row(i) + padded(m), 0.0);
  }
  int size() const { return size_; }
  double *row(int i) const { return entries_.row(i); }

  // Panel by panel: pack the non-zero tiles of its rows, factorise, unpack, update the trailing matrix.
  void factorise() {
    threshold_.resize(size_);
    for (int j = 0; j < size_; j++) threshold_[j] = RANK_TOLERANCE * row(j)[j];
    panel_tiles_.clear();
    ends_.clear();
    for (int from = 0; from < size_; from += PANEL) {
      const int pivots = std::min(PANEL, size_ - from);
      pack_panel(from, pivots);
      panel_tiles_.insert(panel_tiles_.end(), tiles_.begin() + std::min<std::size_t>(PANEL / TILE, tiles_.size()),
                          tiles_.end());
      ends_.push_back(panel_tiles_.size());
      for (int j = 0; j < pivots; j++) eliminate_row(j, threshold_[from + j]);
      unpack_panel(from, pivots);
      for (std::size_t u = PANEL / TILE; u < tiles_.size(); u++) update_trailing_rows(u);
    }
  }

  // Forward and back substitution, panel by panel.
  void solve(double *b) const {
    std::copy(b, b + size_, right_.get());
    std::fill(right_.get() + size_, right_.get() + right_.size(), 0.0);
    const int panels = static_cast<int>(ends_.size());
    for (int p = 0; p < panels; p++) forward_substitute(p);
    for (int p = panels - 1; p >= 0; p--) back_substitute(p);
    std::copy(right_.get(), right_.get() + size_, b);
  }

 private:
  static constexpr double RANK_TOLERANCE = 1e-14;  // of a diagonal entry: some hundred roundings
  static constexpr int TILE = TILE_ROWS;           // rows and columns of a tile
  static constexpr int PANEL = 16;                 // pivots, a multiple of TILE
  static constexpr int TILE_VECTORS = TILE / LANES;

  // Copies the non-zero tiles of the pivots' rows side by side; the diagonal tiles first.
  void pack_panel(int from, int pivots) {
    tiles_.clear();
    for (int u = from / TILE; u * TILE < size_; u++)
      if (u * TILE < from + PANEL || !is_zero(from, pivots, u)) tiles_.push_back(u);
    for (int j = 0; j < pivots; j++)
      for (std::size_t u = 0; u < tiles_.size(); u++)
        for (int v = 0; v < TILE_VECTORS; v++) panel(j, u)[v] = tile(from + j, tiles_[u])[v];
  }

  bool is_zero(int from, int pivots, int u) const {
    Bits other{};
    for (int j = 0; j < pivots; j++)
      for (int v = 0; v < TILE_VECTORS; v++) other |= tile(from + j, u)[v] != 0.0;
    for (int lane = 0; lane < LANES; lane++)
      if (other[lane]) return false;
    return true;
  }

  void unpack_panel(int from, int pivots) {
    for (int j = 0; j < pivots; j++) {
      for (std::size_t u = 0; u < tiles_.size(); u++)
        for (int v = 0; v < TILE_VECTORS; v++) tile(from + j, tiles_[u])[v] = panel(j, u)[v];
      if (panel_.row(j)[j] == 0) row(from + j)[from + j] = std::numeric_limits<double>::infinity();
    }
  }

  // Eliminates the earlier pivots of the panel from row j and scales it; a linearly dependent row becomes zero.
  void eliminate_row(int j, double threshold) {
    double by[PANEL];
    for (int p = 0; p < j; p++) by[p] = panel_.row(p)[j];
    Vec *pivot = as_vec(panel_.row(j));
    const int first = j / LANES, end = static_cast<int>(tiles_.size()) * TILE_VECTORS;
    for (int v = first; v < end; v++) {
      Vec x = pivot[v];
      for (int p = 0; p < j; p++) x = multiply_add(as_vec(panel_.row(p))[v], broadcast(-by[p]), x);
      pivot[v] = x;
    }
    const double size = panel_.row(j)[j], inverse = size > threshold ? 1 / std::sqrt(size) : 0.0;
    for (int v = first; v < end; v++) pivot[v] = inverse > 0 ? pivot[v] * inverse : Vec{};
  }

  // Subtracts the panel's outer product from the trailing rows of one tile.
  void update_trailing_rows(std::size_t rows) {
    for_each_tile(static_cast<int>(tiles_.size() - rows), [this, rows](auto tiles, int from) {
      update_trailing_tile<decltype(tiles)::value>(rows, rows + from);
    });
  }

  template <int U>
  void update_trailing_tile(std::size_t rows, std::size_t u) {
    constexpr int V = U * TILE_VECTORS;
    Vec sums[TILE_ROWS][V];
    multiply_tile<V>(panel_.row(0) + rows * TILE, panel_.row(0) + u * TILE, panel_.width(), PANEL, sums);
    for (int r = 0; r < TILE_ROWS; r++)
      for (int v = 0; v < V; v++)
        tile(tiles_[rows] * TILE + r, tiles_[u + v / TILE_VECTORS])[v % TILE_VECTORS] -= sums[r][v];
  }

  // Off-diagonal tiles in the rows of a panel.
  const int *first_tile(int p) const { return panel_tiles_.data() + (p > 0 ? ends_[p - 1] : 0); }
  const int *last_tile(int p) const { return panel_tiles_.data() + ends_[p]; }

  void forward_substitute(int p) const {
    const int from = p * PANEL, end = std::min(from + PANEL, size_);
    double *x = right_.get();
    for (int j = from; j < end; j++) {
      x[j] /= row(j)[j];
      for (int q = j + 1; q < end; q++) x[q] = multiply_add(-row(j)[q], x[j], x[q]);
    }
    for (const int *u = first_tile(p); u != last_tile(p); u++)
      for (int v = 0; v < TILE_VECTORS; v++) {
        Vec &to = as_vec(x + *u * TILE)[v];
        Vec sum = to;
        for (int j = from; j < end; j++) sum = multiply_add(tile(j, *u)[v], broadcast(-x[j]), sum);
        to = sum;
      }
  }

  void back_substitute(int p) const {
    const int from = p * PANEL, end = std::min(from + PANEL, size_);
    double *x = right_.get();
    for (int j = end - 1; j >= from; j--) {
      Vec sum{};
      for (const int *u = first_tile(p); u != last_tile(p); u++)
        for (int v = 0; v < TILE_VECTORS; v++) sum = multiply_add(tile(j, *u)[v], as_vec(x + *u * TILE)[v], sum);
      double rest = x[j] - total(sum);
      for (int q = j + 1; q < end; q++) rest = multiply_add(-row(j)[q], x[q], rest);
      x[j] = rest / row(j)[j];
    }
  }

  Vec *panel(int j, std::size_t u) const { return as_vec(panel_.row(j) + u * TILE); }
  Vec *tile(int i, int u) const { return as_vec(row(i) + u * TILE); }

  int size_ = 0;
  Table entries_, panel_, right_;
  std::vector<double> threshold_;  // that a pivot must exceed
  std::vector<int> tiles_;         // non-zero tiles of the present panel
  std::vector<int> panel_tiles_;   // off-diagonal tiles of all panels
  std::vector<std::size_t> ends_;  // of each panel among them
};

// The normal equations of a weighted least-squares problem over groups, one system for each component of tasks.
class NormalEquations {
 public:
  // entries(k, a)(b) is the Hessian of task k between two features of the groups, by their `names` a and b.
  template <class Entries>
  void factorise(const Groups &groups, const std::vector<double> &ridge, const std::vector<int> &names,
                 const Entries &entries) {
    place(groups);
    for (std::size_t p = 0; p < systems_.size(); p++) {
      systems_[p].reset(sizes_[p]);
      for (int k = 0; k < groups.tasks; k++)
        if (system_of_task_[k] == static_cast<int>(p)) add_task(groups, k, systems_[p], names, entries);
    }
    for (int g = 0; g < groups.count; g++) systems_[system_[g]].row(place_[g])[place_[g]] += ridge[g];
    for (Cholesky &system : systems_) system.factorise();
  }

  void solve(std::vector<double> &values) const {
    std::vector<double> right;
    for (std::size_t p = 0; p < systems_.size(); p++) {
      right.resize(sizes_[p]);
      for (std::size_t g = 0; g < values.size(); g++)
        if (system_[g] == static_cast<int>(p)) right[place_[g]] = values[g];
      systems_[p].solve(right.data());
      for (std::size_t g = 0; g < values.size(); g++)
        if (system_[g] == static_cast<int>(p)) values[g] = right[place_[g]];
    }
  }

  // Order of the largest system.
  static int largest_system(const Groups &groups) {
    const std::vector<int> part = connected_tasks(groups);
    std::vector<int> sizes(groups.tasks, 0);
    std::vector<char> seen(groups.count, false);
    for (std::size_t i = 0; i < groups.labels.size(); i++) {
      const int g = groups.labels[i];
      if (g < 0 || seen[g]) continue;
      seen[g] = true;
      sizes[part[i % groups.tasks]]++;
    }
    return *std::max_element(sizes.begin(), sizes.end());
  }

 private:
  void place(const Groups &groups) {
    const std::vector<int> part = connected_tasks(groups);
    std::vector<int> number(groups.tasks, -1);
    sizes_.clear();
    system_.assign(groups.count, -1);
    place_.assign(groups.count, -1);
    system_of_task_.assign(groups.tasks, -1);
    for (std::size_t i = 0; i < groups.size(); i++)
      for (int k = 0; k < groups.tasks; k++) {
        const int g = groups.of(i)[k];
        if (g < 0) continue;
        int &system = number[part[k]];
        if (system < 0) {
          system = static_cast<int>(sizes_.size());
          sizes_.push_back(0);
        }
        system_of_task_[k] = system;
        system_[g] = system;
      }
    systems_.resize(sizes_.size());
    for (const int g : elimination_order(groups)) place_[g] = sizes_[system_[g]]++;
  }

  // Fill-reducing order: groups of few tasks first, those of the same tasks together. Groups without a task in common
  // have a zero entry, and this order keeps most of these zeros.
  const std::vector<int> &elimination_order(const Groups &groups) {
    const long long t = groups.tasks;
    keys_.assign(groups.count, 0);  // tasks in a group, then their sum: in a chain that tells which they are
    for (std::size_t i = 0; i < groups.size(); i++)
      for (int k = 0; k < t; k++)
        if (groups.of(i)[k] >= 0) keys_[groups.of(i)[k]] += t * t + k;
    order_.resize(groups.count);
    for (int g = 0; g < groups.count; g++) order_[g] = g;
    std::stable_sort(order_.begin(), order_.end(), [this](int g, int h) { return keys_[g] < keys_[h]; });
    return order_;
  }

  template <class Entries>
  void add_task(const Groups &groups, int k, Cholesky &system, const std::vector<int> &names, const Entries &entries) {
    at_.assign(system.size(), -1);
    for (std::size_t i = 0; i < groups.size(); i++)
      if (groups.of(i)[k] >= 0) at_[place_[groups.of(i)[k]]] = names[i];
    to_.clear();
    from_.clear();
    for (int place = 0; place < system.size(); place++)
      if (at_[place] >= 0) {
        to_.push_back(place);
        from_.push_back(at_[place]);
      }
    for (std::size_t i = 0; i < to_.size(); i++) {
      double *row = system.row(to_[i]);
      const auto entry = entries(k, from_[i]);
      for (std::size_t j = i; j < to_.size(); j++) row[to_[j]] += entry(from_[j]);
    }
  }

  std::vector<Cholesky> systems_;
  std::vector<int> sizes_, system_, place_, system_of_task_;
  std::vector<long long> keys_;  // sort keys of order_
  std::vector<int> order_;
  std::vector<int> at_, to_, from_;  // of one task: names of features by place, and both of those that have one
};

}  // namespace fusedlr::FUSEDLR_ISA
