// A matrix of columns that come and go, as Q R with orthonormal Q, and how near they come to a target; in the namespace
// of one instruction set (see solver.hpp).
class OrthogonalFactor {
 public:
  void reset(const std::vector<double> &target) {
    columns_.clear();
    upper_.clear();
    along_.clear();
    rest_ = target;
  }
  int count() const { return static_cast<int>(columns_.size()); }

  // False, and nothing done, for a column that depends on the others up to rounding.
  bool append(std::vector<double> column) {
    const double before = std::sqrt(dot(column, column));
    std::vector<double> entries(count() + 1, 0.0);
    double size = take_out(column, entries);
    if (size < 0.7 * before) size = take_out(column, entries);  // what rounding left of much that went
    if (!(size > 1e-13 * before)) return false;
    entries.back() = size;
    for (double &x : column) x /= size;
    along_.push_back(dot(column, rest_));
    add(-along_.back(), column, rest_);
    columns_.push_back(std::move(column));
    upper_.push_back(std::move(entries));
    return true;
  }

  // Column i goes; rotations of neighbouring rows make R a triangle again.
  void remove(int i) {
    upper_.erase(upper_.begin() + i);
    for (int j = i; j < static_cast<int>(upper_.size()); j++) {
      const double a = upper_[j][j], b = upper_[j][j + 1], size = std::hypot(a, b), cosine = a / size, sine = b / size;
      for (std::size_t q = j; q < upper_.size(); q++) rotate(cosine, sine, upper_[q][j], upper_[q][j + 1]);
      for (std::size_t r = 0; r < rest_.size(); r++) rotate(cosine, sine, columns_[j][r], columns_[j + 1][r]);
      rotate(cosine, sine, along_[j], along_[j + 1]);
      upper_[j].resize(j + 1);
    }
    add(along_.back(), columns_.back(), rest_);
    along_.pop_back();
    columns_.pop_back();
  }

  // Coefficients of the columns that come nearest to the target.
  void least_squares(std::vector<double> &out) const {
    out = along_;
    for (int j = count() - 1; j >= 0; j--) {
      out[j] /= upper_[j][j];
      for (int i = 0; i < j; i++) out[i] -= upper_[j][i] * out[j];
    }
  }

  // What of the target is at right angles to all columns.
  const std::vector<double> &residual() const { return rest_; }

 private:
  // Takes from a vector what lies along the columns of Q, adds how much of each that was, and returns the norm of the
  // rest.
  double take_out(std::vector<double> &v, std::vector<double> &much) const {
    for (int j = 0; j < count(); j++) {
      const double along = dot(columns_[j], v);
      much[j] += along;
      add(-along, columns_[j], v);
    }
    return std::sqrt(dot(v, v));
  }
  static void rotate(double cosine, double sine, double &a, double &b) {
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
  static void add(double by, const std::vector<double> &from, std::vector<double> &to) {
    for (std::size_t i = 0; i < to.size(); i++) to[i] += by * from[i];
  }

  std::vector<std::vector<double>> columns_, upper_;  // columns of Q and of R
  std::vector<double> along_, rest_;                  // of the target: along each column of Q, and what is left
};
