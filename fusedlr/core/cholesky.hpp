// Systems of equations with a positive definite matrix, in the namespace of one instruction set (see solver.hpp).

// Cholesky factorisation. Unknowns that depend on those before them, up to rounding, are left at zero. Rows are those
// of an upper triangle; what stands left of a diagonal is never read. Blocks of zeros cost little as long as they stay.
class Cholesky {
 public:
  // Room for m unknowns, all entries zero.
  void reset(int m) {
    if (size_ != m) {
      entries_.reshape(padded(m), padded(m));
      panel_.resize(PANEL, padded(m) + PANEL);
      right_.resize(1, padded(m));
    }
    size_ = m;
    for (int i = 0; i < padded(m); i++) std::fill(row(i) + i / PANEL * PANEL, row(i) + padded(m), 0.0);
  }
  int size() const { return size_; }
  double *row(int i) const { return entries_.row(i); }

  // A panel of pivots after the other is taken out with what is not zero in its rows, made, put back, and taken into
  // the rows below.
  void factorise() {
    least_.resize(size_);
    for (int j = 0; j < size_; j++) least_[j] = DEPENDENT * row(j)[j];
    kept_.clear();
    ends_.clear();
    for (int from = 0; from < size_; from += PANEL) {
      const int pivots = std::min(PANEL, size_ - from);
      take_panel(from, pivots);
      kept_.insert(kept_.end(), units_.begin() + std::min<std::size_t>(PANEL / UNIT, units_.size()), units_.end());
      ends_.push_back(kept_.size());
      for (int j = 0; j < pivots; j++) make_pivot(j, least_[from + j]);
      put_back(from, pivots);
      for (std::size_t u = PANEL / UNIT; u < units_.size(); u++) subtract_from_rows(u);
    }
  }

  // A panel after the other, and back.
  void solve(double *b) const {
    std::copy(b, b + size_, right_.get());
    std::fill(right_.get() + size_, right_.get() + right_.size(), 0.0);
    const int panels = static_cast<int>(ends_.size());
    for (int p = 0; p < panels; p++) solve_down(p);
    for (int p = panels - 1; p >= 0; p--) solve_up(p);
    std::copy(right_.get(), right_.get() + size_, b);
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

  // Units beyond the pivots' own in the rows of a panel.
  const int *first_unit(int p) const { return kept_.data() + (p > 0 ? ends_[p - 1] : 0); }
  const int *last_unit(int p) const { return kept_.data() + ends_[p]; }

  void solve_down(int p) const {
    const int from = p * PANEL, end = std::min(from + PANEL, size_);
    double *x = right_.get();
    for (int j = from; j < end; j++) {
      x[j] /= row(j)[j];
      for (int q = j + 1; q < end; q++) x[q] -= row(j)[q] * x[j];
    }
    for (const int *u = first_unit(p); u != last_unit(p); u++)
      for (int v = 0; v < UNIT_VECTORS; v++) {
        Vec &to = as_vec(x + *u * UNIT)[v];
        Vec sum = to;
        for (int j = from; j < end; j++) sum -= unit(j, *u)[v] * x[j];
        to = sum;
      }
  }

  void solve_up(int p) const {
    const int from = p * PANEL, end = std::min(from + PANEL, size_);
    double *x = right_.get();
    for (int j = end - 1; j >= from; j--) {
      Vec sum{};
      for (const int *u = first_unit(p); u != last_unit(p); u++)
        for (int v = 0; v < UNIT_VECTORS; v++) sum += unit(j, *u)[v] * as_vec(x + *u * UNIT)[v];
      double rest = x[j] - total(sum);
      for (int q = j + 1; q < end; q++) rest -= row(j)[q] * x[q];
      x[j] = rest / row(j)[j];
    }
  }

  Vec *panel(int j, std::size_t u) const { return as_vec(panel_.row(j) + u * UNIT); }
  Vec *unit(int i, int u) const { return as_vec(row(i) + u * UNIT); }

  int size_ = 0;
  Table entries_, panel_, right_;
  std::vector<double> least_;     // that a pivot must exceed
  std::vector<int> units_;        // of the panel
  std::vector<int> kept_;         // units of all panels, but for the pivots' own
  std::vector<std::size_t> ends_;  // of each panel among them
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
  // entries(k, a)(b) is the curvature in task k between two features of the groups, by their `names` a and b.
  template <class Entries>
  void factorise(const Groups &groups, const std::vector<double> &ridge, const std::vector<int> &names,
                 const Entries &entries) {
    place(groups);
    for (std::size_t p = 0; p < systems_.size(); p++) {
      systems_[p].reset(sizes_[p]);
      for (int k = 0; k < groups.tasks; k++)
        if (system_of_task_[k] == static_cast<int>(p)) add_task(groups, k, systems_[p], names, entries);
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
  void add_task(const Groups &groups, int k, Cholesky &system, const std::vector<int> &names, const Entries &entries) {
    at_.assign(system.size(), -1);
    for (std::size_t i = 0; i < groups.size(); i++)
      if (groups.of(i)[k] >= 0) at_[place_[groups.of(i)[k]]] = names[i];
    to_.clear();
    from_.clear();
    for (int place = 0; place < system.size(); place++)
      if (at_[place] >= 0) {
        to_.push_back(place);
        from_.push_back(at_[place]);
      }
    for (std::size_t i = 0; i < to_.size(); i++) {
      double *row = system.row(to_[i]);
      const auto entry = entries(k, from_[i]);
      for (std::size_t j = i; j < to_.size(); j++) row[to_[j]] += entry(from_[j]);
    }
  }

  std::vector<Cholesky> systems_;
  std::vector<int> sizes_, system_, place_, system_of_task_;
  std::vector<long long> keys_;  // by which groups are put in order_
  std::vector<int> order_;
  std::vector<int> at_, to_, from_;  // of one task: names of features by place, and both of those that have one
};
