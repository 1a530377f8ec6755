// The data of a problem and the logistic loss, in the namespace of one instruction set (see solver.hpp).
//
// Layout: X by columns, column 0 all ones, rows padded with zero weights to whole vectors; anything per row and task is
// [task][row]; coefficients are [feature][task]; gradients are [task][feature]. The intercept counts as feature 0.
template <int T>
class Data {
 public:
  const int rows, features, width;  // width: rows, padded
  Table signs, weights, offset;

  explicit Data(const Problem &problem)
      : rows(problem.rows),
        features(problem.features + 1),
        width(padded(problem.rows)),
        signs(problem.tasks, width),
        weights(problem.tasks, width),
        offset(problem.tasks, width),
        tasks_(problem.tasks),
        X_(features, width) {
    copy_columns(problem);
    for (int k = 0; k < tasks(); k++)
      for (int i = 0; i < width; i++) {
        const std::size_t from = static_cast<std::size_t>(i) * tasks() + k;
        signs.row(k)[i] = i < rows ? problem.signs[from] : 1.0;
        weights.row(k)[i] = i < rows ? problem.weights[from] : 0.0;
        offset.row(k)[i] = i < rows ? problem.offset[from] : 0.0;
      }
  }

  int tasks() const { return T ? T : tasks_; }
  int vectors() const { return width / LANES; }
  const double *column(int a) const { return X_.row(a); }

  // Loss and its derivatives at the linear predictor of `at`.
  double evaluate(Slopes &at) const {
    const Vec *linear = as_vec(at.linear.get()), *sign = as_vec(signs.get()), *weight = as_vec(weights.get());
    Vec *first = as_vec(at.first.get()), *second = as_vec(at.second.get());
    Vec sum{};
    const std::size_t count = signs.size() / LANES;
    for (std::size_t i = 0; i < count; i++) {
      const Vec margin = sign[i] * linear[i];
      const Bits right = margin > 0.0;
      const Vec size = right ? margin : -margin;
      const Vec small = exp_negative(-size);
      const Vec inverse = 1.0 / (1.0 + small);
      const Vec share = small * inverse;
      first[i] = -weight[i] * sign[i] * (right ? share : inverse);
      second[i] = weight[i] * share * inverse;
      sum += weight[i] * (log_one_plus(small) + (right ? Vec{} : size));
    }
    at.loss = total(sum);
    return at.loss;
  }

  // linear += column a times one coefficient for each task
  void add_feature(int a, const double *by, Table &linear) const {
    for (int k = 0; k < tasks(); k++)
      if (by[k] != 0) add_scaled(width, by[k], column(a), linear.row(k));
  }

  // The same for many features, with tasks() coefficients each, four at a time: the linear predictor is read and
  // written a quarter as often.
  void add_features(const std::vector<int> &which, const std::vector<double> &by, Table &linear) const {
    std::size_t i = 0;
    for (; i + 4 <= which.size(); i += 4) {
      const double *x[4] = {column(which[i]), column(which[i + 1]), column(which[i + 2]), column(which[i + 3])};
      for (int k = 0; k < tasks(); k++) add_scaled(width, &by[i * tasks() + k], tasks(), x, linear.row(k));
    }
    for (; i < which.size(); i++) add_feature(which[i], &by[i * tasks()], linear);
  }

  // Gradient of the loss in the coefficients from its first derivatives.
  void gradient(const Table &first, Table &out) const {
    int k = 0;
    for (; k + 4 <= tasks(); k += 4) gradient_strip<4>(first, k, out);
    for (; k + 2 <= tasks(); k += 2) gradient_strip<2>(first, k, out);
    if (k < tasks()) gradient_strip<1>(first, k, out);
  }

 private:
  void copy_columns(const Problem &problem) {
    const int d = features - 1;
    std::fill(X_.row(0), X_.row(0) + rows, 1.0);
    const int strip = 64;  // columns at a time, so that both sides of the transposition stay in cache
    for (int from = 0; from < d; from += strip)
      for (int i = 0; i < rows; i++)
        for (int a = from; a < std::min(d, from + strip); a++)
          X_.row(a + 1)[i] = problem.X[static_cast<std::size_t>(i) * d + a];
  }

  // Two columns against up to four tasks at a time.
  template <int K>
  void gradient_strip(const Table &first, int k0, Table &out) const {
    for (int a = 0; a < features; a += 2) {
      const Vec *x = as_vec(column(a)), *y = as_vec(column(a + 1 < features ? a + 1 : a));
      Vec sums[2][K] = {};
      for (int i = 0; i < vectors(); i++)
        for (int k = 0; k < K; k++) {
          const Vec r = as_vec(first.row(k0 + k))[i];
          sums[0][k] += x[i] * r;
          sums[1][k] += y[i] * r;
        }
      for (int k = 0; k < K; k++) {
        double *to = out.row(k0 + k) + a;
        to[0] = total(sums[0][k]);
        if (a + 1 < features) to[1] = total(sums[1][k]);
      }
    }
  }

  const int tasks_;
  Table X_;
};
