// What the solver offers to Python (and may offer to R). No Python or R header is included anywhere in the core.
#pragma once

namespace fusedlr {

// Borrowed arrays, all row-major: X (rows x features), the others (rows x tasks).
struct Problem {
  int rows, features, tasks;
  const double *X, *signs, *weights, *offset;
  int edges;
  const int *ends;             // (edges x 2) task positions
  const double *edge_weights;  // (edges)
  bool chain;                  // the edges are (0,1), (1,2), ... in this order
};

struct Settings {
  double tolerance;    // relative duality gap to reach
  int max_iterations;  // Newton steps
  double floor;        // the separable rule: ridge on free rows, as a fraction of their largest curvature
  bool (*stop)();      // asked some 20 times a second, unless null; true interrupts the solve
};

enum Status { OPTIMAL = 0, SEPARATED = 1, NOT_CONVERGED = 2, INTERRUPTED = 3 };

struct Report {
  double objective, gap;  // gap is relative
  int status, iterations, nonzeros, groups;
};

class Solver {
 public:
  virtual ~Solver() = default;
  // Penalties of each row of the coefficient matrix (1 + features numbers, intercept first).
  virtual void penalise(const double *l1, const double *l2, const double *fusion) = 0;
  // Factors that turn one l1, l2 and fusion into rows; used by penalise_by and the warm starts below.
  virtual void set_factors(const double *l1, const double *l2, const double *fusion) = 0;
  virtual void penalise_by(double l1, double l2, double fusion) = 0;
  virtual void start(const double *params) = 0;
  // Start from the remembered solution of least objective at the penalties of penalise_by, or from better guesses that
  // the solutions of a grid allow. `floor` is that of the settings of the solve to come.
  virtual void start_from_best(const double *solutions, double floor) = 0;
  // Remember the solution just found as row `count` of the caller's array of solutions.
  virtual void remember() = 0;
  virtual void forget() = 0;
  virtual Report solve(const Settings &settings) = 0;
  virtual void params(double *out) const = 0;
  // The ridge that the separable rule added to each row in the last solve (1 + features numbers, mostly 0).
  virtual void ridge(double *out) const = 0;
};

// Weighted mean and standard deviation of every column over the rows that count: a row weighs as much as the largest
// weight of its labels. X is (rows x features), weights (rows x tasks), both row-major.
void means_and_scales(int rows, int features, int tasks, const double *X, const double *weights, double *means,
                      double *scales);

// The build of the solver that suits this CPU and this number of tasks; the caller deletes it.
Solver *make_solver(const Problem &problem);
// Name of the instruction set that make_solver picks: "base", "avx2" or "avx512".
const char *instruction_set();
// Minimiser b of one block  sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|, for tests. The ties and signs
// that b has on entry are tried first where the solver would try them.
void block_prox(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *h,
                const double *q, double l1, double fusion, double *b);
// Smallest s >= lowest for which q / s is a sum of slopes of the penalty of that block, for tests.
double block_gauge(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *q, double l1,
                   double fusion, double lowest);

}  // namespace fusedlr
