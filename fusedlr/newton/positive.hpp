// Systems of equations with a positive definite matrix, in the namespace of one instruction set (see solver.hpp).

// Cholesky factorisation of the lower triangle and solution in place.
inline bool solve_positive(std::vector<double> &A, int m, std::vector<double> &b) {
  const auto row = [&A, m](int j) { return &A[static_cast<std::size_t>(j) * m]; };
  for (int j = 0; j < m; j++) {
    double *Aj = row(j);
    for (int i = 0; i < j; i++) {
      const double *Ai = row(i);
      double sum = Aj[i];
      for (int q = 0; q < i; q++) sum -= Aj[q] * Ai[q];
      Aj[i] = sum / Ai[i];
    }
    double sum = Aj[j];
    for (int q = 0; q < j; q++) sum -= Aj[q] * Aj[q];
    if (!(sum > 0)) return false;
    Aj[j] = std::sqrt(sum);
  }
  for (int j = 0; j < m; j++) {
    for (int q = 0; q < j; q++) b[j] -= row(j)[q] * b[q];
    b[j] /= row(j)[j];
  }
  for (int j = m - 1; j >= 0; j--) {
    b[j] /= row(j)[j];
    for (int q = 0; q < j; q++) b[q] -= row(j)[q] * b[j];
  }
  return true;
}
