// Systems of equations with a positive definite matrix, in the namespace of one instruction set (see solver.hpp).

// Cholesky factorisation. Unknowns that depend on those before them, up to rounding, are left at zero. Rows are those
// of an upper triangle; what stands left of a diagonal is never read.
class Cholesky {
 public:
  // Room for m unknowns, all entries zero.
  void reset(int m) {
    if (size_ == m)
      entries_.clear();
    else
      entries_.resize(m, padded(m));
    size_ = m;
  }
  int size() const { return size_; }
  double *row(int i) const { return entries_.row(i); }

  // Four pivots at a time are taken into all rows below, two rows at a time: the matrix is read and written a quarter
  // as often, and the pivots half as often.
  void factorise() {
    std::vector<double> least(size_);
    for (int j = 0; j < size_; j++) least[j] = DEPENDENT * row(j)[j];
    for (int from = 0; from < size_; from += PIVOTS) {
      const int end = std::min(from + PIVOTS, size_);
      for (int j = from; j < end; j++) {
        for (int p = from; p < j; p++) subtract(row(p)[j], row(p), j, row(j));
        make_pivot(j, least[j]);
      }
      int i = end;
      for (; i + 2 <= size_; i += 2) subtract_pivots<2>(from, i);
      if (i < size_) subtract_pivots<1>(from, i);
    }
  }

  void solve(double *b) const {
    for (int j = 0; j < size_; j++) {
      const double *pivot = row(j);
      b[j] /= pivot[j];
      for (int q = j + 1; q < size_; q++) b[q] -= pivot[q] * b[j];
    }
    for (int j = size_ - 1; j >= 0; j--) b[j] = (b[j] - product(row(j), b, j + 1)) / row(j)[j];
  }

 private:
  static constexpr double DEPENDENT = 1e-14;  // of a diagonal entry: some hundred roundings
  static constexpr int PIVOTS = 4;

  void make_pivot(int j, double least) {
    double *pivot = row(j);
    if (!(pivot[j] > least)) {
      std::fill(pivot + j, pivot + size_, 0.0);
      pivot[j] = std::numeric_limits<double>::infinity();
      return;
    }
    const double inverse = 1 / std::sqrt(pivot[j]);
    for (int q = j; q < size_; q++) pivot[q] *= inverse;
  }

  void subtract(double by, const double *__restrict pivot, int from, double *__restrict to) const {
    if (by != 0)
      for (int q = from; q < size_; q++) to[q] -= by * pivot[q];
  }

  // Takes four pivots from R rows, from the vector on that holds the first of their diagonals.
  template <int R>
  void subtract_pivots(int first, int i) {
    const Vec *a = as_vec(row(first)), *b = as_vec(row(first + 1)), *c = as_vec(row(first + 2)),
              *d = as_vec(row(first + 3));
    Vec *to[R];
    double by[R][PIVOTS];
    for (int r = 0; r < R; r++) {
      to[r] = as_vec(row(i + r));
      for (int p = 0; p < PIVOTS; p++) by[r][p] = row(first + p)[i + r];
    }
    for (int v = i / LANES; v < padded(size_) / LANES; v++)
      for (int r = 0; r < R; r++)
        to[r][v] -= (a[v] * by[r][0] + b[v] * by[r][1]) + (c[v] * by[r][2] + d[v] * by[r][3]);
  }

  // In four sums, which need not wait for each other.
  double product(const double *x, const double *y, int from) const {
    double sums[4] = {0, 0, 0, 0};
    int q = from;
    for (; q + 4 <= size_; q += 4)
      for (int j = 0; j < 4; j++) sums[j] += x[q + j] * y[q + j];
    for (; q < size_; q++) sums[0] += x[q] * y[q];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  int size_ = 0;
  Table entries_;
};

// Coefficients that move together: one unknown for each group of tied tasks of a feature, labelled 0 to count - 1; -1
// for coefficients that stay where they are.
struct Groups {
  int tasks = 0, count = 0;
  std::vector<int> features;  // numbers of the caller's choice
  std::vector<int> labels;    // one for each feature and task

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
  int *of(std::size_t i) { return &labels[i * tasks]; }
  const int *of(std::size_t i) const { return &labels[i * tasks]; }
  std::size_t size() const { return features.size(); }
};

// Which tasks share unknowns, directly or through others: a part for each task. Parts can be solved on their own.
inline std::vector<int> parts_of(const Groups &groups) {
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

// The normal equations of a weighted least-squares problem over groups, part by part.
class NormalEquations {
 public:
  // entry(k, i, j) is the curvature between the i-th and the j-th feature of the groups in task k.
  template <class Entry>
  void factorise(const Groups &groups, const std::vector<double> &ridge, const Entry &entry) {
    place(groups);
    for (std::size_t p = 0; p < systems_.size(); p++) {
      systems_[p].reset(sizes_[p]);
      for (int k = 0; k < groups.tasks; k++)
        if (system_of_task_[k] == static_cast<int>(p)) add_task(groups, k, systems_[p], entry);
    }
    for (int g = 0; g < groups.count; g++) systems_[system_[g]].row(place_[g])[place_[g]] += ridge[g];
    for (Cholesky &system : systems_) system.factorise();
  }

  void solve(std::vector<double> &values) {
    for (std::size_t p = 0; p < systems_.size(); p++) {
      right_.resize(sizes_[p]);
      for (std::size_t g = 0; g < values.size(); g++)
        if (system_[g] == static_cast<int>(p)) right_[place_[g]] = values[g];
      systems_[p].solve(right_.data());
      for (std::size_t g = 0; g < values.size(); g++)
        if (system_[g] == static_cast<int>(p)) values[g] = right_[place_[g]];
    }
  }

  // Size of the largest part.
  static int largest(const Groups &groups) {
    NormalEquations sizes;
    sizes.place(groups);
    return sizes.sizes_.empty() ? 0 : *std::max_element(sizes.sizes_.begin(), sizes.sizes_.end());
  }

 private:
  void place(const Groups &groups) {
    const std::vector<int> part = parts_of(groups);
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
        if (place_[g] >= 0) continue;
        system_[g] = system;
        place_[g] = sizes_[system]++;
      }
    systems_.resize(sizes_.size());
  }

  // Places grow with the features: what is added stands on the diagonal and right of it.
  template <class Entry>
  void add_task(const Groups &groups, int k, Cholesky &system, const Entry &entry) {
    members_.clear();
    for (std::size_t i = 0; i < groups.size(); i++)
      if (groups.of(i)[k] >= 0) members_.push_back({i, place_[groups.of(i)[k]]});
    for (std::size_t from = 0; from < members_.size(); from++) {
      double *to = system.row(members_[from].second);
      for (std::size_t i = from; i < members_.size(); i++)
        to[members_[i].second] += entry(k, members_[from].first, members_[i].first);
    }
  }

  std::vector<Cholesky> systems_;
  std::vector<int> sizes_, system_, place_, system_of_task_;
  std::vector<double> right_;
  std::vector<std::pair<std::size_t, int>> members_;  // features with an unknown in one task, and its place
};
