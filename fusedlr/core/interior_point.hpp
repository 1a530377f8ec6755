// An interior-point method for problems on which Newton steps and sweeps come to nothing, such as columns that are
// nearly constant beside fused intercepts. In the namespace of one instruction set (see solver.hpp).
//
// Every absolute value c |y|, of a coefficient or of a difference along an edge, is written as c (p + q) with
// y = p - q and p, q >= 0. With the force z of y, the conditions for a minimum are p (c - z) = q (c + z) = 0; Newton
// steps with both products held at a number that goes to 0 need no more than a dozen or two systems of equations,
// however ill-conditioned the data are. Only the coefficients' own equations are solved, the rest is eliminated. Zeros
// and ties are then read off: y counts as 0 where it is nearer to 0 than its force is to its limit.
template <int T>
class Interior {
 public:
  Interior(const Data<T> &data, const Penalties<T> &penalties, State<T> &at, Pause &pause)
      : data_(data), penalties_(penalties), edges_(penalties.block.edges()), at_(at), pause_(pause) {}

  // Whether its systems of equations take a second or so in all.
  bool is_affordable() const {
    const double work = static_cast<double>(data_.rows) * data_.features * unknowns();
    return unknowns() <= MOST_UNKNOWNS && work <= MOST_WORK;
  }

  // Moves the coefficients from where they are to near the minimum, `least` being added to all curvatures. The linear
  // predictor is left for the caller to make anew. False if the caller wants to stop.
  bool run(double least, const Settings &settings) {
    start();
    for (int round = 0; round < MOST_ROUNDS; round++) {
      const double length = step(least);
      if (pause_.asked_to_stop(settings)) return false;
      const double rest = distance();
      if (rest <= ENOUGH * value() && length == 1) break;
      centre_ = (length > 0.9 ? 0.1 : (length > 0.5 ? 0.3 : 1.0)) * rest / (2.0 * atoms_.size());
    }
    finish();
    return true;
  }

 private:
  static constexpr int MOST_UNKNOWNS = 900, MOST_ROUNDS = 60;
  static constexpr double MOST_WORK = 1e9;  // products for the curvature of one step
  static constexpr double ENOUGH = 1e-9;    // of the objective: zeros and ties can be told by then
  static constexpr double LONGEST = 5;      // change of the linear predictor up to which its quadratic model is trusted

  // One absolute value: of coefficient u, or of its difference from coefficient v.
  struct Atom {
    int u, v;
    double limit, plus, minus, force;  // c, p, q, z
    double stiffness, rest;            // what its elimination leaves
  };

  int tasks() const { return data_.tasks(); }
  int unknowns() const { return data_.features * tasks(); }
  double of(const std::vector<double> &values, const Atom &atom) const {
    return values[atom.u] - (atom.v < 0 ? 0.0 : values[atom.v]);
  }

  void start() {
    coefs_.assign(at_.params.get(), at_.params.get() + unknowns());
    at_.next.linear.copy(at_.now.linear);
    data_.evaluate(at_.next);
    list_atoms();
    centre_ = 0.01 * (at_.next.loss + penalties_.total(at_.params)) / std::max<std::size_t>(1, atoms_.size());
    for (Atom &atom : atoms_) {
      const double y = of(coefs_, atom), pull = atom.limit * y;
      atom.force = atom.limit * pull / (centre_ + std::hypot(centre_, pull));
      atom.plus = centre_ / (atom.limit - atom.force);
      atom.minus = centre_ / (atom.limit + atom.force);
    }
  }

  void list_atoms() {
    atoms_.clear();
    for (int a = 0; a < data_.features; a++) {
      const int first = a * tasks();
      for (int k = 0; k < tasks() && penalties_.l1[a] > 0; k++) add_atom(first + k, -1, penalties_.l1[a]);
      if (penalties_.fusion[a] > 0)
        for (const Edge &e : edges_) add_atom(first + e.a, first + e.b, penalties_.fusion[a] * e.weight);
    }
  }
  void add_atom(int u, int v, double limit) {
    if (limit > 0) atoms_.push_back({u, v, limit, 0, 0, 0, 0, 0});
  }

  // How far the products are from 0.
  double distance() const {
    double sum = 0;
    for (const Atom &atom : atoms_)
      sum += atom.plus * (atom.limit - atom.force) + atom.minus * (atom.limit + atom.force);
    return sum;
  }

  double value() const {
    double sum = at_.next.loss;
    for (int a = 0; a < data_.features; a++) sum += penalties_.value(a, &coefs_[a * tasks()]);
    return sum;
  }

  // ---------------------------------------------------------------- one Newton step

  // Returns its length, 1 for a whole one.
  double step(double least) {
    for (Atom &atom : atoms_) {
      const double up = atom.limit - atom.force, down = atom.limit + atom.force;
      atom.stiffness = 1 / (atom.plus / up + atom.minus / down);
      atom.rest = of(coefs_, atom) - centre_ / up + centre_ / down;
    }
    set_downhill();
    set_matrix(least);
    system_.factorise();
    walk_ = downhill_;
    system_.solve(walk_.data());
    at_.change.clear();
    for (int a = 0; a < data_.features; a++) data_.add_feature(a, &walk_[a * tasks()], at_.change);
    const double length = step_length();
    for (int u = 0; u < unknowns(); u++) coefs_[u] += length * walk_[u];
    for (Atom &atom : atoms_) {
      double by[3];
      moves(atom, by);
      atom.plus += length * by[0];
      atom.minus += length * by[1];
      atom.force += length * by[2];
    }
    for (std::size_t i = 0; i < at_.change.size(); i++) at_.next.linear[i] += length * at_.change[i];
    data_.evaluate(at_.next);
    return length;
  }

  // Changes of plus, minus and force that belong to the coefficients' step.
  void moves(const Atom &atom, double *by) const {
    const double force = atom.stiffness * (of(walk_, atom) + atom.rest);
    by[0] = (centre_ + atom.plus * force) / (atom.limit - atom.force) - atom.plus;
    by[1] = (centre_ - atom.minus * force) / (atom.limit + atom.force) - atom.minus;
    by[2] = force;
  }

  void set_downhill() {
    data_.gradient(at_.next.first, at_.gradient);
    downhill_.resize(unknowns());
    for (int a = 0; a < data_.features; a++)
      for (int k = 0; k < tasks(); k++) {
        const int u = a * tasks() + k;
        downhill_[u] = -(at_.gradient.row(k)[a] + penalties_.l2[a] * coefs_[u]);
      }
    for (const Atom &atom : atoms_) {
      const double pull = atom.force + atom.stiffness * atom.rest;
      downhill_[atom.u] -= pull;
      if (atom.v >= 0) downhill_[atom.v] += pull;
    }
  }

  void set_matrix(double least) {
    system_.reset(unknowns());
    if (weighted_.empty()) weighted_.resize(1, data_.width);
    for (int k = 0; k < tasks(); k++) add_curvature(k);
    for (int u = 0; u < unknowns(); u++) system_.row(u)[u] += penalties_.l2[u / tasks()] + least;
    for (const Atom &atom : atoms_) {
      system_.row(atom.u)[atom.u] += atom.stiffness;
      if (atom.v < 0) continue;
      system_.row(atom.v)[atom.v] += atom.stiffness;
      system_.row(std::min(atom.u, atom.v))[std::max(atom.u, atom.v)] -= atom.stiffness;
    }
  }

  void add_curvature(int k) {
    const Vec *w = as_vec(at_.next.second.row(k));
    for (int a = 0; a < data_.features; a++) {
      const Vec *x = as_vec(data_.column(a));
      Vec *to = as_vec(weighted_.get());
      for (int i = 0; i < data_.vectors(); i++) to[i] = w[i] * x[i];
      for (int b = 0; b <= a; b++) {
        const Vec *y = as_vec(data_.column(b));
        Vec sum{};
        for (int i = 0; i < data_.vectors(); i++) sum += to[i] * y[i];
        system_.row(b * tasks() + k)[a * tasks() + k] += total(sum);
      }
    }
  }

  // As far as everything that must stay positive does, and the quadratic model of the loss is good.
  double step_length() const {
    double length = 1, most = 0;
    const auto keep = [&length](double from, double by) {
      if (by < 0) length = std::min(length, -0.99 * from / by);
    };
    for (const Atom &atom : atoms_) {
      double by[3];
      moves(atom, by);
      keep(atom.plus, by[0]);
      keep(atom.minus, by[1]);
      keep(atom.limit - atom.force, -by[2]);
      keep(atom.limit + atom.force, by[2]);
    }
    for (std::size_t i = 0; i < at_.change.size(); i++) most = std::max(most, std::fabs(at_.change[i]));
    return most * length > LONGEST ? LONGEST / most : length;
  }

  // ---------------------------------------------------------------- zeros and ties

  void finish() {
    double largest = 0;
    for (const double b : coefs_) largest = std::max(largest, std::fabs(b));
    std::vector<int> label(unknowns());
    std::vector<char> zero(unknowns(), false);
    for (int u = 0; u < unknowns(); u++) label[u] = u;
    for (const Atom &atom : atoms_) {
      if (std::fabs(of(coefs_, atom)) * atom.limit >= largest * (atom.limit - std::fabs(atom.force))) continue;
      if (atom.v < 0)
        zero[atom.u] = true;
      else
        join(label, atom.u, atom.v);
    }
    std::vector<double> sum(unknowns(), 0.0), members(unknowns(), 0.0);
    for (int u = 0; u < unknowns(); u++) {
      sum[label[u]] += coefs_[u];
      members[label[u]]++;
      zero[label[u]] |= zero[u];
    }
    for (int u = 0; u < unknowns(); u++) at_.params[u] = zero[label[u]] ? 0.0 : sum[label[u]] / members[label[u]];
  }

  const Data<T> &data_;
  const Penalties<T> &penalties_;
  const std::vector<Edge> &edges_;
  State<T> &at_;
  Pause &pause_;
  double centre_ = 0;  // what the products are held at
  std::vector<double> coefs_, downhill_, walk_;  // [feature][task]
  std::vector<Atom> atoms_;
  Cholesky system_;
  Table weighted_;  // one column
};
