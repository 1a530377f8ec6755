// QR factorisation of a least-squares problem whose columns are appended and removed.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "isa.hpp"

namespace fusedlr::FUSEDLR_ISA {

class UpdatableQR {
 public:
  void reset(const std::vector<double> &target) {
    q_.clear();
    r_.clear();
    projections_.clear();
    residual_ = target;
  }
  int count() const { return static_cast<int>(q_.size()); }

  // Gram-Schmidt, repeated after cancellation. False, and nothing done, for a linearly dependent column.
  bool append(std::vector<double> column) {
    const double before = std::sqrt(dot(column, column));
    std::vector<double> entries(count() + 1, 0.0);
    double size = orthogonalise(column, entries);
    if (size < 0.7 * before) size = orthogonalise(column, entries);
    if (!(size > 1e-13 * before)) return false;
    entries.back() = size;
    for (double &x : column) x /= size;
    projections_.push_back(dot(column, residual_));
    axpy(-projections_.back(), column, residual_);
    q_.push_back(std::move(column));
    r_.push_back(std::move(entries));
    return true;
  }

  // Removes column i; Givens rotations make R triangular again.
  void remove(int i) {
    r_.erase(r_.begin() + i);
    for (int j = i; j < static_cast<int>(r_.size()); j++) {
      const double a = r_[j][j], b = r_[j][j + 1], size = std::hypot(a, b), cosine = a / size, sine = b / size;
      for (std::size_t q = j; q < r_.size(); q++) givens_rotate(cosine, sine, r_[q][j], r_[q][j + 1]);
      for (std::size_t r = 0; r < residual_.size(); r++) givens_rotate(cosine, sine, q_[j][r], q_[j + 1][r]);
      givens_rotate(cosine, sine, projections_[j], projections_[j + 1]);
      r_[j].resize(j + 1);
    }
    axpy(projections_.back(), q_.back(), residual_);
    projections_.pop_back();
    q_.pop_back();
  }

  // Least-squares solution, by back substitution.
  void least_squares(std::vector<double> &out) const {
    out = projections_;
    for (int j = count() - 1; j >= 0; j--) {
      out[j] /= r_[j][j];
      for (int i = 0; i < j; i++) out[i] -= r_[j][i] * out[j];
    }
  }

  // Residual of the target, orthogonal to all columns.
  const std::vector<double> &residual() const { return residual_; }

 private:
  // Subtracts the projections on the columns of Q, adds their coefficients to `entries`, returns the remaining norm.
  double orthogonalise(std::vector<double> &v, std::vector<double> &entries) const {
    for (int j = 0; j < count(); j++) {
      const double along = dot(q_[j], v);
      entries[j] += along;
      axpy(-along, q_[j], v);
    }
    return std::sqrt(dot(v, v));
  }
  static void givens_rotate(double cosine, double sine, double &a, double &b) {
    const double x = a;
    a = cosine * x + sine * b;
    b = cosine * b - sine * x;
  }
  static double dot(const std::vector<double> &a, const std::vector<double> &b) {
    double sums[4] = {0, 0, 0, 0};
    std::size_t i = 0;
    for (; i + 4 <= a.size(); i += 4)
      for (int j = 0; j < 4; j++) sums[j] += a[i + j] * b[i + j];
    for (; i < a.size(); i++) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  static void axpy(double by, const std::vector<double> &from, std::vector<double> &to) {
    for (std::size_t i = 0; i < to.size(); i++) to[i] += by * from[i];
  }

  std::vector<std::vector<double>> q_, r_;      // columns of Q and of R
  std::vector<double> projections_, residual_;  // of the target: Q'target, and what is left
};

}  // namespace fusedlr::FUSEDLR_ISA
