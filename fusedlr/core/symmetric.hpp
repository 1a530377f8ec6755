// A symmetric matrix that may be singular: scaled to unit diagonal and factorised with pivoting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

// Sums of weighted outer products of rows, the upper triangle of a square matrix.
class OuterProducts {
 public:
  explicit OuterProducts(int size) : size_(size), sums_(static_cast<std::size_t>(size) * size, 0.0) {}

  // Adds weight[i] times the outer product of each of `count` rows of a table. Four at a time, so that each entry of
  // the matrix is read and written once for four.
  void add(int count, const double *table, const double *weight) {
    int i = 0;
    for (; i + 4 <= count; i += 4) add_four(table + static_cast<std::size_t>(i) * size_, weight + i);
    for (; i < count; i++) {
      const double *z = table + static_cast<std::size_t>(i) * size_;
      for (int a = 0; a < size_; a++) {
        const double w = weight[i] * z[a];
        double *to = &sums_[static_cast<std::size_t>(a) * size_];
        for (int b = a; b < size_; b++) to[b] += w * z[b];
      }
    }
  }

  double operator()(int a, int b) const {
    return sums_[static_cast<std::size_t>(std::min(a, b)) * size_ + std::max(a, b)];
  }

 private:
  void add_four(const double *table, const double *weight) {
    const double *y = table + size_, *x = y + size_, *v = x + size_;
    for (int a = 0; a < size_; a++) {
      const double w0 = weight[0] * table[a], w1 = weight[1] * y[a], w2 = weight[2] * x[a], w3 = weight[3] * v[a];
      double *to = &sums_[static_cast<std::size_t>(a) * size_];
      for (int b = a; b < size_; b++) to[b] += (w0 * table[b] + w1 * y[b]) + (w2 * x[b] + w3 * v[b]);
    }
  }

  const int size_;
  std::vector<double> sums_;
};

// A = D P L L' P' D with D the roots of the diagonal, as far as A has a rank: pivots that are small beside the largest
// sum of absolute entries of a row belong to linear dependencies.
class Symmetric {
 public:
  // `matrix` is whole, (size x size).
  Symmetric(int size, const std::vector<double> &matrix, double smallest)
      : size_(size), rank_(0), unit_(size), order_(size), lower_(matrix) {
    for (int i = 0; i < size; i++) {
      unit_[i] = std::sqrt(at(i, i));
      if (!(unit_[i] > 0)) unit_[i] = 1;
      order_[i] = i;
    }
    double norm = 1;
    for (int i = 0; i < size; i++) {
      double sum = 0;
      for (int j = 0; j < size; j++) {
        at(i, j) /= unit_[i] * unit_[j];
        sum += std::fabs(at(i, j));
      }
      norm = std::max(norm, sum);
    }
    factorise(smallest * norm);
    if (rank_ < size_) find_dependencies();
  }

  // Minimum-norm solution, in units of unit diagonal.
  void solve(const double *right, double *solution) const {
    std::vector<double> y(size_, 0.0);
    for (int i = 0; i < size_; i++) y[i] = right[order_[i]] / unit_[order_[i]];
    whiten_scaled(y.data());
    for (int j = rank_ - 1; j >= 0; j--) {  // rows of L' are columns of L
      double sum = y[j];
      for (int i = j + 1; i < rank_; i++) sum -= at(i, j) * y[i];
      y[j] = sum / at(j, j);
    }
    std::fill(y.begin() + rank_, y.end(), 0.0);
    for (std::size_t first = 0; first < dependencies_.size(); first += size_) {
      const double *null = &dependencies_[first];
      double along = 0;
      for (int i = 0; i < size_; i++) along += null[i] * y[i];
      for (int i = 0; i < size_; i++) y[i] -= along * null[i];
    }
    for (int i = 0; i < size_; i++) solution[order_[i]] = y[i] / unit_[order_[i]];
  }

  // Squared length of w with w'w = z' A^- z, for z in the range of A.
  double whitened_square(const double *z, std::vector<double> &w) const {
    w.resize(size_);
    for (int i = 0; i < size_; i++) w[i] = z[order_[i]] / unit_[order_[i]];
    whiten_scaled(w.data());
    double sum = 0;
    for (int i = 0; i < rank_; i++) sum += w[i] * w[i];
    return sum;
  }

  // Values that a linear dependency has a part in.
  std::vector<char> dependent() const {
    std::vector<char> found(size_, 0);
    for (std::size_t i = 0; i < dependencies_.size(); i++)
      if (std::fabs(dependencies_[i]) > 1e-5) found[order_[i % size_]] = 1;
    return found;
  }

  // A generalized inverse, right for all values that are not dependent, (size x size).
  void inverse(double *out) const {
    std::fill(out, out + static_cast<std::size_t>(size_) * size_, 0.0);
    std::vector<double> inverse(static_cast<std::size_t>(rank_) * rank_, 0.0);  // of L, column j in row j
    for (int j = 0; j < rank_; j++) {
      double *w = &inverse[static_cast<std::size_t>(j) * rank_];
      w[j] = 1;
      for (int i = j; i < rank_; i++) {
        w[i] /= at(i, i);
        for (int l = i + 1; l < rank_; l++) w[l] -= at(l, i) * w[i];
      }
    }
    for (int i = 0; i < rank_; i++)
      for (int j = 0; j <= i; j++) {
        double sum = 0;
        for (int l = i; l < rank_; l++)
          sum += inverse[static_cast<std::size_t>(i) * rank_ + l] * inverse[static_cast<std::size_t>(j) * rank_ + l];
        const int a = order_[i], b = order_[j];
        out[static_cast<std::size_t>(a) * size_ + b] = sum / (unit_[a] * unit_[b]);
        out[static_cast<std::size_t>(b) * size_ + a] = out[static_cast<std::size_t>(a) * size_ + b];
      }
  }

 private:
  double &at(int i, int j) { return lower_[static_cast<std::size_t>(j) * size_ + i]; }
  const double &at(int i, int j) const { return lower_[static_cast<std::size_t>(j) * size_ + i]; }

  // By columns, the largest remaining diagonal first; whole columns are kept up to date.
  void factorise(double threshold) {
    for (int j = 0; j < size_; j++, rank_++) {
      int largest = j;
      for (int i = j + 1; i < size_; i++)
        if (at(i, i) > at(largest, largest)) largest = i;
      if (!(at(largest, largest) > threshold)) return;
      exchange(j, largest);
      const double pivot = std::sqrt(at(j, j));
      at(j, j) = pivot;
      for (int i = j + 1; i < size_; i++) at(i, j) /= pivot;
      for (int l = j + 1; l < size_; l++) {
        const double factor = at(l, j);
        if (factor == 0) continue;
        const double *from = &at(0, j);
        double *to = &at(0, l);
        for (int i = l; i < size_; i++) to[i] -= factor * from[i];
      }
    }
  }

  // Swaps two rows and columns; only entries below the diagonal of the rest, and L, are looked at.
  void exchange(int a, int b) {
    if (a == b) return;
    std::swap(order_[a], order_[b]);
    for (int j = 0; j < a; j++) std::swap(at(a, j), at(b, j));
    std::swap(at(a, a), at(b, b));
    for (int i = a + 1; i < b; i++) std::swap(at(i, a), at(b, i));
    for (int i = b + 1; i < size_; i++) std::swap(at(i, a), at(i, b));
  }

  void whiten_scaled(double *w) const {
    for (int j = 0; j < rank_; j++) {
      w[j] /= at(j, j);
      const double *column = &at(0, j), factor = w[j];
      for (int i = j + 1; i < rank_; i++) w[i] -= column[i] * factor;
    }
  }

  // An orthonormal basis of the null space, one vector after the other.
  void find_dependencies() {
    const std::size_t size = size_;
    for (int c = rank_; c < size_; c++) {
      std::vector<double> null(size_, 0.0);
      for (int j = 0; j < rank_; j++) null[j] = -at(c, j);
      for (int j = rank_ - 1; j >= 0; j--) {
        for (int i = j + 1; i < rank_; i++) null[j] -= at(i, j) * null[i];
        null[j] /= at(j, j);
      }
      null[c] = 1;
      for (int twice = 0; twice < 2; twice++)
        for (std::size_t first = 0; first < dependencies_.size(); first += size) {
          double along = 0;
          for (std::size_t i = 0; i < size; i++) along += dependencies_[first + i] * null[i];
          for (std::size_t i = 0; i < size; i++) null[i] -= along * dependencies_[first + i];
        }
      double square = 0;
      for (const double value : null) square += value * value;
      for (double &value : null) value /= std::sqrt(square);
      dependencies_.insert(dependencies_.end(), null.begin(), null.end());
    }
  }

  const int size_;
  int rank_;
  std::vector<double> unit_;
  std::vector<int> order_;
  std::vector<double> lower_;         // by columns
  std::vector<double> dependencies_;  // in the order of pivots, of unit diagonal
};

}  // namespace fusedlr::FUSEDLR_ISA
