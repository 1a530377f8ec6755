// Systems of equations with a positive definite matrix, in the namespace of one instruction set (see solver.hpp).

// Cholesky factorisation. Unknowns that depend on those before them, up to rounding, are left at zero.
class Cholesky {
 public:
  // Room for an upper triangle of m rows, all zero.
  void reset(int m) {
    size_ = m;
    entries_.assign(static_cast<std::size_t>(m) * m, 0.0);
  }
  int size() const { return size_; }
  double *row(int i) { return &entries_[static_cast<std::size_t>(i) * size_]; }
  const double *row(int i) const { return &entries_[static_cast<std::size_t>(i) * size_]; }

  // Four pivots at a time are taken into all rows below: the matrix is read and written a quarter as often.
  void factorise() {
    std::vector<double> least(size_);
    for (int j = 0; j < size_; j++) least[j] = DEPENDENT * row(j)[j];
    for (int from = 0; from < size_; from += PIVOTS) {
      const int end = std::min(from + PIVOTS, size_);
      for (int j = from; j < end; j++) {
        for (int p = from; p < j; p++) subtract(row(p)[j], row(p), j, row(j));
        make_pivot(j, least[j]);
      }
      for (int i = end; i < size_ && end == from + PIVOTS; i++) subtract_four(from, i);
    }
  }

  void solve(double *b) const {
    for (int j = 0; j < size_; j++) {
      const double *pivot = row(j);
      b[j] /= pivot[j];
      for (int q = j + 1; q < size_; q++) b[q] -= pivot[q] * b[j];
    }
    for (int j = size_ - 1; j >= 0; j--) {
      const double *pivot = row(j);
      double sum = b[j];
      for (int q = j + 1; q < size_; q++) sum -= pivot[q] * b[q];
      b[j] = sum / pivot[j];
    }
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

  // Takes four pivots from row i, right of its diagonal.
  void subtract_four(int first, int i) {
    const double *__restrict a = row(first), *__restrict b = row(first + 1);
    const double *__restrict c = row(first + 2), *__restrict d = row(first + 3);
    const double x = a[i], y = b[i], z = c[i], w = d[i];
    double *__restrict to = row(i);
    if (x != 0 || y != 0 || z != 0 || w != 0)
      for (int q = i; q < size_; q++) to[q] -= (x * a[q] + y * b[q]) + (z * c[q] + w * d[q]);
  }

  int size_ = 0;
  std::vector<double> entries_;
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

  template <class Entry>
  void add_task(const Groups &groups, int k, Cholesky &system, const Entry &entry) {
    for (std::size_t i = 0; i < groups.size(); i++) {
      if (groups.of(i)[k] < 0) continue;
      const int u = place_[groups.of(i)[k]];
      for (std::size_t j = 0; j <= i; j++) {
        if (groups.of(j)[k] < 0) continue;
        const int v = place_[groups.of(j)[k]];
        system.row(std::min(u, v))[std::max(u, v)] += entry(k, i, j);
      }
    }
  }

  std::vector<Cholesky> systems_;
  std::vector<int> sizes_, system_, place_, system_of_task_;
  std::vector<double> right_;
};
