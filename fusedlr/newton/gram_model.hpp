// The quadratic model of the loss as one weighted Gram matrix of the working set for each task, reused across steps and
// penalties until the weights have moved. In the namespace of one instruction set (see solver.hpp).
template <int T>
class GramModel {
 public:
  static constexpr bool direct = true;  // has the entries that a system of equations needs

  GramModel(const Data<T> &data, const State<T> &at, const WorkingSet &set)
      : data_(data), at_(at), set_(set), growth_(data.tasks(), 1.0), weight_(1, std::min(STRIP, data.width)) {}

  // Four matrices of 2,000 features take 128 MB; more tasks get smaller ones.
  int largest() const { return std::min(2000, static_cast<int>(std::sqrt(3.2e7 / data_.tasks()))); }
  int size() const { return size_; }
  double diagonal(int c, int k) const { return diagonal_[static_cast<std::size_t>(c) * data_.tasks() + k]; }

  void forget() { size_ = 0; }
  bool is_precise() const { return precise_; }

  // Takes the curvature of the present point for matrices to come. In single precision these take half the time, and
  // are nearer than old curvature ever is; what they make slow or impossible must be tried again with precise ones.
  void renew(bool precise) {
    precise_ = precise;
    size_ = 0;
    if (weights_.empty()) weights_.resize(data_.tasks(), data_.width);
    weights_.copy(at_.now.second);
    std::fill(growth_.begin(), growth_.end(), 1.0);
  }

  // How far the curvature has moved since the matrices were made, beyond a common growth in each task (which growth_
  // takes up), relative to its sum: over all tasks, or a tenth of that of a single task, so that tasks of small weight
  // are not forgotten.
  double drift() {
    double moved = 0, sum = 0, largest = 0;
    for (int k = 0; k < data_.tasks(); k++) {
      const Vec *now = as_vec(at_.now.second.row(k)), *then = as_vec(weights_.row(k));
      Vec sum_now{}, sum_then{}, by{};
      for (int i = 0; i < data_.vectors(); i++) {
        sum_now += now[i];
        sum_then += then[i];
      }
      const double task_sum = total(sum_now) + 1e-300;
      growth_[k] = task_sum / (total(sum_then) + 1e-300);
      for (int i = 0; i < data_.vectors(); i++) {
        const Vec difference = now[i] - then[i] * growth_[k];
        by += difference > 0.0 ? difference : -difference;
      }
      moved += total(by);
      sum += task_sum;
      largest = std::max(largest, total(by) / task_sum);
    }
    return std::max(moved / sum, 0.1 * largest);
  }

  // Makes what is missing for the working set. `least` is added to curvatures, see NewtonSteps.
  void prepare(double least) {
    const int m = set_.size();
    if (m + PAD > stride_) grow(m);
    if (size_ < m)
      for (int k = 0; k < data_.tasks(); k++) weigh_and_multiply(k, m);
    size_ = m;
    diagonal_.resize(static_cast<std::size_t>(m) * data_.tasks());
    std::size_t i = 0;
    for (int c = 0; c < m; c++)
      for (int k = 0; k < data_.tasks(); k++) diagonal_[i++] = growth_[k] * gram(k, c)[c] + least;
  }

  // ---------------------------------------------------------------- sweeps: the state is the slopes of the model

  Table &state() { return slope_; }

  void start_sweeps() {
    for (int c = 0; c < set_.size(); c++)
      for (int k = 0; k < data_.tasks(); k++) slope_.row(k)[c] = at_.gradient.row(k)[set_.members[c]];
  }

  void slopes(int c, double *out) const {
    for (int k = 0; k < data_.tasks(); k++) out[k] = slope_.row(k)[c];
  }

  // What a step of block c adds to the state.
  void spread(int c, const double *step, Table &state) const {
    const int count = padded(set_.size());
    for (int k = 0; k < data_.tasks(); k++)
      if (step[k] != 0) add_scaled(count, growth_[k] * step[k], gram(k, c), state.row(k));
  }

  // The same for four blocks, tasks() numbers each: the state is read and written a quarter as often.
  void spread_four(const int *c, const double *steps, Table &state) const {
    const int count = padded(set_.size()), t = data_.tasks();
    for (int k = 0; k < t; k++) {
      const double *x[4] = {gram(k, c[0]), gram(k, c[1]), gram(k, c[2]), gram(k, c[3])};
      double by[4];
      for (int j = 0; j < 4; j++) by[j] = growth_[k] * steps[j * t + k];
      add_scaled(count, by, 1, x, state.row(k));
    }
  }

  // The loss of the model, up to a constant, is a sum over features.
  double loss(const Table &) const { return 0; }
  void add_loss(int c, const double *b, const Table &state, double &value) const {
    const int a = set_.members[c];
    const double *old = at_.params.row(a);
    for (int k = 0; k < data_.tasks(); k++) value += 0.5 * (at_.gradient.row(k)[a] + state.row(k)[c]) * (b[k] - old[k]);
  }

  // Slope of block c in task k that a change of the state stands for.
  double reply(int k, int c, const Table &change) const { return change.row(k)[c]; }

  // ---------------------------------------------------------------- the matrices themselves

  double entry(int k, int c, int e) const { return growth_[k] * gram(k, c)[e]; }
  double *gram(int k, int c) const { return gram_.row(static_cast<std::size_t>(k) * stride_ + c); }
  const Table &weights() const { return weights_; }

 private:
  static constexpr int STRIP = 4096;  // rows at a time: weighted columns stay small and in cache

  void grow(int m) {
    stride_ = padded(std::min(std::max(2 * m, 64), std::max(m, std::min(data_.features, largest()))) + PAD);
    gram_.resize(static_cast<std::size_t>(data_.tasks()) * stride_, stride_);
    slope_.resize(data_.tasks(), stride_);
    const int width = std::min(STRIP, data_.width);
    weighted_.resize(stride_, width);
    singles_.resize(stride_, (width + PAD) / (2 * PAD) * (2 * PAD));  // whole vectors of twice as many numbers
    size_ = 0;
  }

  // Rows size_..m of the Gram matrix of one task, a strip of the data after the other. From scratch, both factors carry
  // the roots of the weights, which halves the memory that must stay in cache; else the new one carries the weights.
  void weigh_and_multiply(int k, int m) {
    for (int from = 0; from < data_.vectors(); from += STRIP / LANES) {
      const int count = std::min(STRIP / LANES, data_.vectors() - from);
      weigh(k, m, from, count);
      if (in_singles())
        multiply<Singles>(k, m, from, (count + 1) / 2);
      else
        multiply<Vec>(k, m, from, count);
    }
    for (int c = size_; c < m && data_.vectors() > STRIP / LANES; c++)
      for (int e = 0; e < c; e++) gram(k, e)[c] = gram(k, c)[e];
  }

  // What is added to matrices that are there is always in double precision.
  bool in_singles() const { return size_ == 0 && !precise_; }

  template <class Numbers>
  void multiply(int k, int m, int from, int count) {
    int c = size_;
    for (; c + 6 <= m; c += 6) gram_rows<3, 2, Numbers>(k, c, from, count);
    for (; c + 3 <= m; c += 3) gram_rows<3, 1, Numbers>(k, c, from, count);
    for (; c < m; c++) gram_rows<1, 1, Numbers>(k, c, from, count);
  }

  void weigh(int k, int m, int from, int count) {
    const bool scratch = size_ == 0;
    const Vec *w = as_vec(weights_.row(k)) + from;
    Vec *by = as_vec(weight_.get());
    for (int i = 0; i < count; i++) by[i] = scratch ? root(w[i]) : w[i];
    for (int c = size_; c < m; c++) {
      const Vec *x = as_vec(data_.column(set_.members[c])) + from;
      if (in_singles()) {
        HalfSingles *to = reinterpret_cast<HalfSingles *>(singles_.row(c));
        for (int i = 0; i < count; i++) to[i] = __builtin_convertvector(by[i] * x[i], HalfSingles);
        if (count % 2 == 1) to[count] = HalfSingles{};
      } else {
        Vec *to = as_vec(weighted_.row(c));
        for (int i = 0; i < count; i++) to[i] = by[i] * x[i];
      }
    }
    right_.resize(m);
    for (int c = 0; c < m; c++)
      right_[c] = scratch ? weighted_.row(c) : data_.column(set_.members[c]) + static_cast<std::size_t>(from) * LANES;
  }

  // Factors of the products that are in the c-th row or column.
  void left(int c, const Vec *&x) const { x = as_vec(weighted_.row(c)); }
  void right(int c, const Vec *&x) const { x = as_vec(right_[c]); }
  void left(int c, const Singles *&x) const { x = reinterpret_cast<const Singles *>(singles_.row(c)); }
  void right(int c, const Singles *&x) const { left(c, x); }

  template <int R, int Times, class Numbers>
  void gram_rows(int k, int c, int from, int count) {
    const int last = c + R * Times;
    int e = 0;
    for (; e + 4 <= last; e += 4)
      for (int j = 0; j < Times; j++) gram_tile<R, 4, Numbers>(k, c + R * j, e, from > 0, count);
    for (; e < last; e++)
      for (int j = 0; j < Times; j++) gram_tile<R, 1, Numbers>(k, c + R * j, e, from > 0, count);
  }

  // R x C products of a weighted column and another, written on both sides of the diagonal; those of later strips are
  // added below it.
  template <int R, int C, class Numbers>
  void gram_tile(int k, int c, int e, bool add, int count) {
    const Numbers *x[C], *w[R];
    for (int j = 0; j < C; j++) right(e + j, x[j]);
    for (int i = 0; i < R; i++) left(c + i, w[i]);
    Numbers sums[R][C];
    for (int j = 0; j < C; j++)
      for (int i = 0; i < R; i++) sums[i][j] = w[i][0] * x[j][0];
    for (int v = 1; v < count; v++)
      for (int j = 0; j < C; j++) {
        const Numbers xj = x[j][v];
        for (int i = 0; i < R; i++) sums[i][j] += w[i][v] * xj;
      }
    for (int i = 0; i < R; i++) {
      double found[C];
      if constexpr (C == 4)
        totals(folded(sums[i][0]), folded(sums[i][1]), folded(sums[i][2]), folded(sums[i][3]), found);
      else
        for (int j = 0; j < C; j++) found[j] = total(folded(sums[i][j]));
      for (int j = 0; j < C; j++) {
        if (add)
          gram(k, c + i)[e + j] += found[j];
        else
          gram(k, c + i)[e + j] = gram(k, e + j)[c + i] = found[j];
      }
    }
  }

  const Data<T> &data_;
  const State<T> &at_;
  const WorkingSet &set_;
  int stride_ = 0, size_ = 0;
  std::vector<double> growth_;  // of the curvature of each task since the matrices were made
  bool precise_ = true;
  Table gram_, weights_, slope_, weighted_, weight_;
  TableOf<float> singles_;
  std::vector<const double *> right_;  // second factors of the products
  std::vector<double> diagonal_;
};
