// The quadratic model of the loss as one weighted Gram matrix of the working set for each task, reused across steps and
// penalties until the weights have moved. In the namespace of one instruction set (see solver.hpp).
template <int T>
class GramModel {
 public:
  static constexpr bool direct = true;  // has the entries that a system of equations needs

  GramModel(const Data<T> &data, const State<T> &at, const WorkingSet &set)
      : data_(data), at_(at), set_(set), growth_(data.tasks(), 1.0), heaviest_(data.tasks()) {}

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
    known_ = false;
    if (weights_.empty()) weights_.resize(data_.tasks(), data_.width);
    weights_.copy(at_.now.second);
    for (int k = 0; k < data_.tasks(); k++)
      heaviest_[k] = *std::max_element(weights_.row(k), weights_.row(k) + data_.rows);
    std::fill(growth_.begin(), growth_.end(), 1.0);
  }

  // How far the curvature has moved since the matrices were made, beyond a common growth in each task (which growth_
  // takes up), relative to its sum: over all tasks, or a tenth of that of a single task, so that tasks of small weight
  // are not forgotten. Infinite where there are none.
  double drift() {
    if (size_ == 0) return std::numeric_limits<double>::infinity();
    double moved = 0, sum = 0, largest = 0;
    for (int k = 0; k < data_.tasks(); k++) {
      const Vec *now = as_vec(at_.now.second.row(k)), *then = as_vec(weights_.row(k));
      Vec sum_now{}, sum_then{}, by{};
      for (int i = 0; i < data_.vectors(); i++) {
        sum_now += now[i];
        sum_then += then[i];
      }
      const double task_sum = total(sum_now) + 1e-300;
      const double growth = growth_[k] = task_sum / (total(sum_then) + 1e-300);
      for (int i = 0; i < data_.vectors(); i++) {
        const Vec difference = now[i] - then[i] * growth;
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
    least_ = least;
    const int m = set_.size();
    if (m + PAD > stride_) grow(m);
    if (size_ == 0 && precise_)
      make<Vec>(m, doubles_);
    else if (size_ == 0)
      make<Singles>(m, singles_);
    else if (size_ < m)
      for (int k = 0; k < data_.tasks(); k++) extend(k, m);
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

  // What the equations over groups cost in sweeps, and whether that is a hundred at most or some milliseconds anyway.
  double passes_of_equations(const Groups &groups) const {
    const double unknowns = NormalEquations::largest(groups);
    return unknowns * unknowns * unknowns / (3.0 * data_.tasks() * set_.size() * set_.size());
  }
  bool is_quick(const Groups &groups) const {
    return groups.count <= SMALL_SYSTEM || passes_of_equations(groups) <= 100;
  }

  // The equations of the model over groups of coefficients, kept while they are those of the last call but for a little
  // growth.
  const NormalEquations &equations(const Groups &groups, const std::vector<double> &ridge) {
    if (known_ && groups == groups_ && ridge == ridge_ && has_grown_little()) return equations_;
    groups_ = groups;
    ridge_ = ridge;
    equations_growth_ = growth_;
    known_ = true;
    std::vector<double> added = ridge;
    for (const int g : groups.labels)
      if (g >= 0) added[g] += least_;
    places_.clear();
    for (const int a : groups.features) places_.push_back(set_.place[a]);
    equations_.factorise(groups, added, places_, [this](int k, int c) {
      return [growth = growth_[k], row = gram(k, c)](int e) { return growth * row[e]; };
    });
    return equations_;
  }

  double entry(int k, int c, int e) const { return growth_[k] * gram(k, c)[e]; }
  double *gram(int k, int c) const { return gram_.row(static_cast<std::size_t>(k) * stride_ + c); }
  const Table &weights() const { return weights_; }
  // The growth that the equations of the last call take into account.
  double equations_growth(int k) const { return equations_growth_[k]; }

 private:
  static constexpr int SMALL_SYSTEM = 500;     // unknowns
  static constexpr double LITTLE = 0.05;       // growth that is not worth new equations
  static constexpr int STRIP = 128, LONG_STRIP = 4096;  // rows at a time: what is made of them stays in cache

  bool has_grown_little() const {
    for (int k = 0; k < data_.tasks(); k++)
      if (std::fabs(growth_[k] / equations_growth_[k] - 1) > LITTLE) return false;
    return true;
  }

  void grow(int m) {
    stride_ = std::min(std::max(2 * m, 64), std::max(m, std::min(data_.features, largest()))) + PAD;
    stride_ = (stride_ + 2 * PAD - 1) / (2 * PAD) * (2 * PAD);  // whole vectors of singles too
    gram_.resize(static_cast<std::size_t>(data_.tasks()) * stride_, stride_);
    slope_.resize(data_.tasks(), stride_);
    weighted_.resize(stride_, std::min(LONG_STRIP, data_.width));
    size_ = 0;
  }

  // Some rows of the data, row by row, and the same times the weights of a task.
  template <class Number>
  struct Strip {
    TableOf<Number> plain, weighted;
    int from = 0, count = 0;
  };

  // Matrices from scratch, a strip after the other: products of columns are summed in vectors with their neighbours.
  template <class Numbers, class Number>
  void make(int m, Strip<Number> &strip) {
    if (strip.plain.width() != static_cast<std::size_t>(stride_)) {
      strip.plain.resize(STRIP, stride_);
      strip.weighted.resize(STRIP, stride_);
    }
    for (strip.from = 0; strip.from < data_.rows; strip.from += STRIP) {
      strip.count = std::min(STRIP, data_.rows - strip.from);
      for (int c = 0; c < m; c += PAD)  // some columns at a time, which are a line of memory where they go
        for (int i = 0; i < strip.count; i++)
          for (int e = c; e < std::min(m, c + PAD); e++)
            strip.plain.row(i)[e] = static_cast<Number>(data_.column(set_.members[e])[strip.from + i]);
      for (int k = 0; k < data_.tasks(); k++) add_strip<Numbers>(k, m, strip);
    }
    for (int k = 0; k < data_.tasks(); k++)
      for (int c = 0; c < m; c += PAD)  // likewise
        for (int e = c; e < m; e++)
          for (int from = c; from < std::min(e, c + PAD); from++) gram(k, e)[from] = gram(k, from)[e];
  }

  // Weights are divided by the largest, because singles end at 1e38. What is left of the diagonal is not made yet.
  template <class Numbers, class Number>
  void add_strip(int k, int m, Strip<Number> &strip) {
    constexpr int lanes = lanes_of<Numbers>;
    const int vectors = (m + lanes - 1) / lanes;
    const double unit = precise_ || heaviest_[k] == 0 ? 1.0 : heaviest_[k];
    for (int i = 0; i < strip.count; i++) {
      const Number by = static_cast<Number>(weights_.row(k)[strip.from + i] / unit);
      const Numbers *x = reinterpret_cast<const Numbers *>(strip.plain.row(i));
      Numbers *to = reinterpret_cast<Numbers *>(strip.weighted.row(i));
      for (int v = 0; v < vectors; v++) to[v] = x[v] * by;
    }
    for (int c = 0; c < m; c += TILE_ROWS) {
      const int first = c / lanes;
      take_threes(vectors - first, [&](auto count, int from) {
        add_tile<decltype(count)::value, Numbers>(k, c, (first + from) * lanes, unit, strip);
      });
    }
  }

  template <int V, class Numbers, class Number>
  void add_tile(int k, int c, int e, double unit, const Strip<Number> &strip) {
    Numbers sums[TILE_ROWS][V];
    multiply_tile<V>(strip.weighted.get() + c, strip.plain.get() + e, stride_, strip.count, sums);
    for (int r = 0; r < TILE_ROWS; r++)
      for (int v = 0; v < V; v++)
        store(sums[r][v], unit, gram(k, c + r) + e + v * lanes_of<Numbers>, strip.from > 0);
  }

  static void store(const Vec &sum, double unit, double *to, bool add) {
    Vec &out = *as_vec(to);
    out = add ? out + sum * unit : sum * unit;
  }
  static void store(const Singles &sum, double unit, double *to, bool add) {
    HalfSingles halves[2];
    std::memcpy(halves, &sum, sizeof sum);
    store(__builtin_convertvector(halves[0], Vec), unit, to, add);
    store(__builtin_convertvector(halves[1], Vec), unit, to + LANES, add);
  }

  // Rows size_..m of the Gram matrix of one task beside those that are there.
  void extend(int k, int m) {
    for (int from = 0; from < data_.vectors(); from += LONG_STRIP / LANES) {
      const int count = std::min(LONG_STRIP / LANES, data_.vectors() - from);
      const Vec *w = as_vec(weights_.row(k)) + from;
      for (int c = size_; c < m; c++) {
        const Vec *x = as_vec(data_.column(set_.members[c])) + from;
        Vec *to = as_vec(weighted_.row(c));
        for (int i = 0; i < count; i++) to[i] = w[i] * x[i];
      }
      int c = size_;
      for (; c + 3 <= m; c += 3) gram_rows<3>(k, c, from, count);
      for (; c < m; c++) gram_rows<1>(k, c, from, count);
    }
    for (int c = size_; c < m && data_.vectors() > LONG_STRIP / LANES; c++)
      for (int e = 0; e < c; e++) gram(k, e)[c] = gram(k, c)[e];
  }

  template <int R>
  void gram_rows(int k, int c, int from, int count) {
    int e = 0;
    for (; e + 4 <= c + R; e += 4) gram_tile<R, 4>(k, c, e, from, count);
    for (; e < c + R; e++) gram_tile<R, 1>(k, c, e, from, count);
  }

  // R x C products of a weighted column and another, written on both sides of the diagonal; those of later strips are
  // added below it.
  template <int R, int C>
  void gram_tile(int k, int c, int e, int from, int count) {
    const Vec *x[C], *w[R];
    for (int j = 0; j < C; j++) x[j] = as_vec(data_.column(set_.members[e + j])) + from;
    for (int i = 0; i < R; i++) w[i] = as_vec(weighted_.row(c + i));
    Vec sums[R][C];
    for (int j = 0; j < C; j++)
      for (int i = 0; i < R; i++) sums[i][j] = w[i][0] * x[j][0];
    for (int v = 1; v < count; v++)
      for (int j = 0; j < C; j++) {
        const Vec xj = x[j][v];
        for (int i = 0; i < R; i++) sums[i][j] += w[i][v] * xj;
      }
    for (int i = 0; i < R; i++) {
      double found[C];
      if constexpr (C == 4)
        totals(sums[i][0], sums[i][1], sums[i][2], sums[i][3], found);
      else
        for (int j = 0; j < C; j++) found[j] = total(sums[i][j]);
      for (int j = 0; j < C; j++) {
        if (from > 0)
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
  std::vector<double> equations_growth_;  // likewise, when the equations were made
  std::vector<double> heaviest_;  // largest weight of each task then
  bool precise_ = true;
  double least_ = 0;
  Table gram_, weights_, slope_, weighted_;
  Strip<double> doubles_;
  Strip<float> singles_;
  std::vector<double> diagonal_;

  NormalEquations equations_;  // of the last call, if known_: over these groups, with these ridges
  Groups groups_;
  std::vector<double> ridge_;
  std::vector<int> places_;  // of their features in the working set
  bool known_ = false;
};
