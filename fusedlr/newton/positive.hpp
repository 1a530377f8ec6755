// Systems of equations with a positive definite matrix, in the namespace of one instruction set (see solver.hpp).

// Cholesky factorisation. Unknowns that depend on those before them, up to rounding, are left at zero. Rows are those
// of an upper triangle; what stands left of a diagonal is never read. Blocks of zeros cost little as long as they stay.
class Cholesky {
 public:
  // Room for m unknowns, all entries zero.
  void reset(int m) {
    if (size_ == m) {
      entries_.clear();
    } else {
      entries_.resize(padded(m), padded(m));
      panel_.resize(PANEL, padded(m) + PANEL);
    }
    size_ = m;
  }
  int size() const { return size_; }
  double *row(int i) const { return entries_.row(i); }

  // A panel of pivots after the other is taken out with what is not zero in its rows, made, put back, and taken into
  // the rows below.
  void factorise() {
    least_.resize(size_);
    for (int j = 0; j < size_; j++) least_[j] = DEPENDENT * row(j)[j];
    for (int from = 0; from < size_; from += PANEL) {
      const int pivots = std::min(PANEL, size_ - from);
      take_panel(from, pivots);
      for (int j = 0; j < pivots; j++) make_pivot(j, least_[from + j]);
      put_back(from, pivots);
      for (std::size_t u = PANEL / UNIT; u < units_.size(); u++) subtract_from_rows(u);
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
  static constexpr int UNIT = TILE_ROWS;  // columns that are taken together, and rows
  static constexpr int PANEL = 16;        // pivots, a multiple of UNIT
  static constexpr int UNIT_VECTORS = UNIT / LANES;

  // Those units of the pivots' rows that are not all zero, side by side; their own columns first.
  void take_panel(int from, int pivots) {
    units_.clear();
    for (int u = from / UNIT; u * UNIT < size_; u++)
      if (u * UNIT < from + PANEL || !is_zero(from, pivots, u)) units_.push_back(u);
    for (int j = 0; j < pivots; j++)
      for (std::size_t u = 0; u < units_.size(); u++)
        for (int v = 0; v < UNIT_VECTORS; v++) panel(j, u)[v] = unit(from + j, units_[u])[v];
  }

  bool is_zero(int from, int pivots, int u) const {
    Bits other{};
    for (int j = 0; j < pivots; j++)
      for (int v = 0; v < UNIT_VECTORS; v++) other |= unit(from + j, u)[v] != 0.0;
    for (int lane = 0; lane < LANES; lane++)
      if (other[lane]) return false;
    return true;
  }

  void put_back(int from, int pivots) {
    for (int j = 0; j < pivots; j++) {
      for (std::size_t u = 0; u < units_.size(); u++)
        for (int v = 0; v < UNIT_VECTORS; v++) unit(from + j, units_[u])[v] = panel(j, u)[v];
      if (panel_.row(j)[j] == 0) row(from + j)[from + j] = std::numeric_limits<double>::infinity();
    }
  }

  // Takes the pivots before it out of row j of the panel, and scales it; a row that depends on them becomes zero.
  void make_pivot(int j, double least) {
    double by[PANEL];
    for (int p = 0; p < j; p++) by[p] = panel_.row(p)[j];
    Vec *pivot = as_vec(panel_.row(j));
    const int first = j / LANES, end = static_cast<int>(units_.size()) * UNIT_VECTORS;
    for (int v = first; v < end; v++) {
      Vec x = pivot[v];
      for (int p = 0; p < j; p++) x -= as_vec(panel_.row(p))[v] * by[p];
      pivot[v] = x;
    }
    const double size = panel_.row(j)[j], inverse = size > least ? 1 / std::sqrt(size) : 0.0;
    for (int v = first; v < end; v++) pivot[v] = inverse > 0 ? pivot[v] * inverse : Vec{};
  }

  // Takes the panel into the rows of one unit.
  void subtract_from_rows(std::size_t rows) {
    take_threes(static_cast<int>(units_.size() - rows), [this, rows](auto units, int from) {
      subtract_tile<decltype(units)::value>(rows, rows + from);
    });
  }

  template <int U>
  void subtract_tile(std::size_t rows, std::size_t u) {
    constexpr int V = U * UNIT_VECTORS;
    Vec sums[TILE_ROWS][V];
    multiply_tile<V>(panel_.row(0) + rows * UNIT, panel_.row(0) + u * UNIT, panel_.width(), PANEL, sums);
    for (int r = 0; r < TILE_ROWS; r++)
      for (int v = 0; v < V; v++)
        unit(units_[rows] * UNIT + r, units_[u + v / UNIT_VECTORS])[v % UNIT_VECTORS] -= sums[r][v];
  }

  Vec *panel(int j, std::size_t u) const { return as_vec(panel_.row(j) + u * UNIT); }
  Vec *unit(int i, int u) const { return as_vec(row(i) + u * UNIT); }

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
  Table entries_, panel_;
  std::vector<double> least_;  // that a pivot must exceed
  std::vector<int> units_;     // of the panel
};

// Coefficients that move together: one unknown for each group of tied tasks of a feature, labelled 0 to count - 1; -1
// for coefficients that stay where they are.
struct Groups {
  int tasks = 0, count = 0;
  std::vector<int> features;
  std::vector<int> labels;  // one for each feature and task

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
  bool operator==(const Groups &other) const { return features == other.features && labels == other.labels; }
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
  // entries(k, i)(j) is the curvature between the i-th and the j-th feature of the groups in task k.
  template <class Entries>
  void factorise(const Groups &groups, const std::vector<double> &ridge, const Entries &entries) {
    place(groups);
    for (std::size_t p = 0; p < systems_.size(); p++) {
      systems_[p].reset(sizes_[p]);
      for (int k = 0; k < groups.tasks; k++)
        if (system_of_task_[k] == static_cast<int>(p)) add_task(groups, k, systems_[p], entries);
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

  // Size of the largest part.
  static int largest(const Groups &groups) {
    const std::vector<int> part = parts_of(groups);
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
        system_[g] = system;
      }
    systems_.resize(sizes_.size());
    for (const int g : by_size(groups)) place_[g] = sizes_[system_[g]]++;
  }

  // Groups of few tasks first, those of the same tasks together. Groups without a task in common do not meet in the
  // equations, and this order keeps most of these zeros.
  const std::vector<int> &by_size(const Groups &groups) {
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
  void add_task(const Groups &groups, int k, Cholesky &system, const Entries &entries) {
    at_.assign(system.size(), -1);
    for (std::size_t i = 0; i < groups.size(); i++)
      if (groups.of(i)[k] >= 0) at_[place_[groups.of(i)[k]]] = static_cast<int>(i);
    members_.clear();
    for (int place = 0; place < system.size(); place++)
      if (at_[place] >= 0) members_.push_back({place, at_[place]});
    for (std::size_t from = 0; from < members_.size(); from++) {
      double *to = system.row(members_[from].first);
      const auto entry = entries(k, members_[from].second);
      for (std::size_t i = from; i < members_.size(); i++) to[members_[i].first] += entry(members_[i].second);
    }
  }

  std::vector<Cholesky> systems_;
  std::vector<int> sizes_, system_, place_, system_of_task_;
  std::vector<long long> keys_;  // by which groups are put in order_
  std::vector<int> order_;
  std::vector<int> at_;
  std::vector<std::pair<int, int>> members_;  // features with an unknown in one task, after its place
};
