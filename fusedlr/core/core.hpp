// Public interface of the core, for Python and R. No header of either is included anywhere in the core.
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
  double floor;        // ridge on unpenalized rows of separated data, as a fraction of their largest curvature
  bool (*stop)();      // polled some 20 times a second, unless null; true interrupts the solve
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
  // Warm start at the penalties of penalise_by: the stored solution of least objective, or an extrapolation of stored
  // solutions of a grid where that is better. `floor` is that of the settings of the solve to come.
  virtual void start_from_best(const double *solutions, double floor) = 0;
  // Store the solution just found for warm starts, as the next row of the caller's array of solutions.
  virtual void remember() = 0;
  virtual void forget() = 0;
  virtual Report solve(const Settings &settings) = 0;
  virtual void params(double *out) const = 0;
  // The ridge added to each row in the last solve because data are separated (1 + features numbers, mostly 0).
  virtual void ridge(double *out) const = 0;
};

// Weighted mean and standard deviation of every column over the rows that count: a row weighs as much as the largest
// weight of its labels. X is (rows x features), weights (rows x tasks), both row-major.
void means_and_scales(int rows, int features, int tasks, const double *X, const double *weights, double *means,
                      double *scales);

// The build of the solver that suits this CPU, or that the environment variable FUSEDLR_KERNEL names; the caller
// deletes it. std::invalid_argument where there is no such build.
Solver *make_solver(const Problem &problem);
// Name of the instruction set that make_solver picks: "base", "avx2" or "avx512".
const char *instruction_set();
// Weighted proximal operator of one block, argmin  sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|, for
// tests. The ties and signs that b has on entry are tried first where the solver would try them.
void block_prox(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *h,
                const double *q, double l1, double fusion, double *b);
// Gauge (dual norm) of that block's penalty, for tests: the smallest s >= lowest for which q / s is a subgradient at 0.
double block_gauge(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *q, double l1,
                   double fusion, double lowest);

}  // namespace fusedlr
