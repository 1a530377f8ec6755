// Public interface of the core, for Python and R. No header of either is included anywhere in the core.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fusedlr {

// Labels, flat and compressed by task: those of task k are the ones from start[k] up to start[k + 1].
struct Labels {
  const std::int64_t *start;      // (tasks + 1), from 0
  const int *row;                 // of each label, as are the others; rising within a task
  const signed char *sign;        // 1 or -1
  const double *weight, *offset;  // no offset at all where null
};

// The features. Dense, by rows or by columns: entry (i, a) is value[i * row_stride + a * column_stride]. Or sparse,
// compressed by column (CSC), where `start` is not null: the entries of column a that are stored are those from
// start[a] up to start[a + 1], with rows that rise; all others are zero.
struct Columns {
  int rows, features;
  const double *value;
  std::ptrdiff_t row_stride, column_stride;
  const std::int64_t *start = nullptr;  // (features + 1), from 0
  const int *row = nullptr;             // of each entry
  bool is_sparse() const { return start != nullptr; }
  const double &operator()(int i, int a) const { return value[i * row_stride + a * column_stride]; }
};

// Borrowed arrays.
struct Problem {
  Columns X;
  int tasks;
  Labels labels;
  int edges;
  const int *ends;             // (edges x 2) task positions
  const double *edge_weights;  // (edges)
  bool chain;                  // the edges are (0,1), (1,2), ... in this order
};

// Factors of each row of the coefficient matrix (1 + features numbers, intercept first): a point's l1, l2 and fusion
// times these are the penalties of the rows.
struct Factors {
  const double *l1, *l2, *fusion;
};

struct Settings {
  double tolerance;    // relative duality gap to reach; 0: the level of rounding, AIM, with ACCEPTED as good enough
  int max_iterations;  // Newton steps
  double floor;        // ridge on unpenalized rows of separated data, as a fraction of their largest curvature
  bool (*stop)();      // polled some 20 times a second, unless null; true interrupts the solve
  bool (*done)(void *context, int points);  // called after each point, unless null; false ends the path
  void *context;
};

// A fit without the user's tolerance aims at the first gap, is optimal up to the second; the usual Settings::floor.
constexpr double AIM = 1e-15, ACCEPTED = 1e-8, FLOOR = 1e-5;

enum Status { OPTIMAL = 0, SEPARATED = 1, NOT_CONVERGED = 2, INTERRUPTED = 3 };

struct Report {
  double objective, gap;  // gap is relative
  int status, iterations, nonzeros, groups;
};

// The data of one problem, ready to be solved at any penalties. It keeps the last solution and its Gram matrices, so
// that the next path starts close by if its penalties are.
class Solver {
 public:
  virtual ~Solver() = default;
  // Minimises the objective at each point (l1, l2, fusion), in the order given. The first starts from `start`, or the
  // last solution if that is null; every other one from the best of the solutions before it, or an extrapolation of
  // them on a grid. Writes (1 + features) x tasks coefficients and a report for each point, and the largest ridge that
  // separated data had added to each row. After an interrupt the last report written says so.
  virtual void solve_path(const Factors &factors, int points, const double *point, const double *start,
                          const Settings &settings, double *params, Report *reports, double *ridge) = 0;
};

// Weighted mean and standard deviation of every column, over rows of positive weight.
void means_and_scales(const Columns &X, const double *weights, double *means, double *scales);

// The build of the solver that suits this CPU, or that the environment variable FUSEDLR_KERNEL names; the caller
// deletes it. std::invalid_argument where there is no such build.
Solver *make_solver(const Problem &problem);
// Name of the instruction set that make_solver picks: "base", "avx2" or "avx512".
const char *instruction_set();
// A quadratic loss about coefficients B, (rows x tasks) with the intercepts in row 0:
// sum slopes * (Z - B) + 1/2 sum over tasks of (Z - B)' gram (Z - B), in the columns of each task.
struct Quadratic {
  int rows, tasks;
  const double *gram;    // (tasks x rows x rows)
  const double *slopes;  // (rows x tasks)
};
// Minimises it plus the penalties of each row, over the tasks' graph. On entry `params` is B, on return the minimiser.
void solve_quadratic(const Quadratic &quadratic, int edges, const int *ends, const double *edge_weights, bool chain,
                     const Factors &penalties, double *params);
// Weighted proximal operator of one block, argmin  sum h/2 b^2 - q b + l1 |b| + fusion * sum_e w_e |b_j - b_k|, for
// tests. The ties and signs that b has on entry are tried first where the solver would try them.
void block_prox(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *h,
                const double *q, double l1, double fusion, double *b);
// Gauge (dual norm) of that block's penalty, for tests: the smallest s >= lowest for which q / s is a subgradient at 0.
double block_gauge(int tasks, int edges, const int *ends, const double *weights, bool chain, const double *q, double l1,
                   double fusion, double lowest);


// Rules that Python and R share (core_*.cpp of these names); none of them needs a solver unless it says so.

// core_grids.cpp: how a grid is solved. Writes the positions of the points (l1, l2, fusion) in the order of solving,
// stripe after stripe, and where each stripe begins (MOST_STRIPES + 1 numbers); returns the number of stripes. Each
// stripe is for a solver of its own. `cells` is the number of labels times the number of features.
constexpr int MOST_STRIPES = 4;
int solving_order(std::int64_t cells, int points, const double *point, int *order, int *first);
// How many points of a stripe one call of solve_path takes, which bounds the memory of their coefficients; the next
// call starts from the last solution. Other pieces have other warm starts, and so other last digits.
int points_at_once(int features, int tasks);

// core_resampling.cpp: sampling units (rows, or groups of rows) and how often each counts.
struct Units {
  int rows, groups;
  const int *code;      // (rows) group of each row
  const double *times;  // (groups) a row its weight, a group of the user's once
};
// Weighted number of units, at least 1.
std::int64_t number_of_units(const Units &units);
// Bootstrap resamples and halves: how often each row was drawn, over its weight, (rows). `place` are numbers from 0 up
// to number_of_units - 1, drawn with replacement (all of them: a bootstrap resample) or a part of a permutation (its
// first n / 2, and the next n / 2: complementary halves); `uniform` are as many numbers from [0, 1).
void drawn_weights(const Units &units, std::int64_t count, const std::int64_t *place, const double *uniform,
                   double *weights);
// How many uniform numbers the folds of these units take: one for each row; one for each group, where a group has
// several rows; one for each row that whole weights stand for, where these are split over folds.
std::int64_t fold_uniforms(const Units &units);
// Whether folds split the weights of rows.
bool folds_split_weights(const Units &units);
// Stratified folds: share of each row in each fold, (folds x rows).
void fold_shares(int tasks, const Labels &labels, const Units &units, int folds, const double *uniform, double *share);

// Whether some group has several rows.
bool groups_have_rows(const Units &units);

// core_scores.cpp. Linear predictor of every label, offset included, (labels), at coefficients (1 + features) x tasks.
void linear_predictors(const Problem &problem, const double *params, double *linear);
// Weighted negative log-likelihood of each task at linear predictors, and their sum behind, (tasks + 1).
void task_losses(int tasks, const Labels &labels, const double *linear, double *loss);
// The same with the best intercept of each task beside the offset; 0 for a task of one class.
void null_losses(int tasks, const Labels &labels, double *loss);
// Scores of many fits on labels that they did not see, (points) each unless null: mean log-loss, share of wrong labels,
// and AUC, mean over the tasks that have both labels. NaN where there is no label, or no such task.
void held_out_scores(const Problem &problem, int points, const double *params, double *loss, double *error,
                     double *auc);
// Variance of the mean difference to the best point in held-out labels, log-loss or wrong labels, (points), by units.
// `share` is that of each row in each fold, (folds x rows); `params` has for each fold the best point, then the others.
void paired_variances(const Problem &problem, const Units &units, bool by_loss, int folds, const double *share,
                      int points, const double *params, double *variance);

// core_choice.cpp: lower costs are better; costs that agree to nine digits are tied, NaN is never chosen. Marks the
// lowest ones.
void lowest_costs(int points, const double *cost, bool *is_lowest);
// The point (l1, l2, fusion) of lowest cost; ties go to the lowest second cost, then to the largest l1, l2 and fusion.
// -1 where no cost is a number.
int best_point(int points, const double *point, const double *cost, const double *second);
// Marks points that are worse than the best one by a standard error (of that difference) at most.
void within_one_error(int points, const double *cost, const double *error, int best, bool *near);
// Of these, the one with the least df among those with l1, l2 and fusion each at least those of the best; ties go to
// the largest l1, l2 and fusion.
int one_standard_error(int points, const double *point, const double *cost, const double *error, const int *df,
                       int best);
// Mean of scores over folds, (folds x points), each by its weight, and its standard error from their spread, averaged
// over repeats. A fold without a score at any point does not count.
void fold_means(int folds, int repeats, int points, const double *score, const double *weight, double *mean,
                double *error);

// core_patterns.cpp: maximum likelihood with support and ties fixed. A pattern is the number of the free value in each
// place of the coefficients, (1 + features) x tasks, or -1 for a zero. Support and ties of coefficients: their values
// are numbered along the rows, and a row 0 of intercepts has no zeros; returns how many there are.
int pattern_of(int rows, int tasks, int edges, const int *ends, const double *params, int *pattern);
constexpr double RIDGE = 1e-2;  // on values without a finite estimate, times the square of the feature's scale
// Estimates of the values, and the inverse of the information in them, (values x values). Without a finite estimate
// (separation), or linked to one, is `unbounded`, with the ridge to keep it finite; `collinear` is not identified. Both
// have NaN for a covariance. `scale` is that of each feature.
void fit_pattern(const Problem &problem, const int *pattern, int values, const double *scale, double *value,
                 double *covariance, bool *unbounded, bool *collinear);
// Puts the sandwich estimator in place of the inverse information: scores summed by unit, each over how often it
// counts.
void clustered_covariance(const Problem &problem, const Units &units, const int *pattern, int values,
                          const double *value, double *covariance);
// Effective degrees of freedom of coefficients: the trace of (H + R)^-1 H, H the information in their values and R the
// ridge `l2` (1 + features) on them. Where units have several labels, Takeuchi's trace of (H + R)^-1 J if it is larger,
// J the sum of outer products of the units' scores.
double effective_df(const Problem &problem, const Units &units, const double *params, const double *l2);

// core_limits.cpp: ends of a grid of penalties; `scale` is that on which each feature is penalized. The smallest l1 at
// which every penalized coefficient is zero, at this fusion of each row.
double l1_limit(const Problem &problem, const Factors &factors, const double *scale, const double *fusion);
// The smallest fusion at which tasks of one connected component have the same coefficients (and intercepts, where these
// are fused), at this l1 and l2 of each row. It is that of a fit in which all is tied.
double fusion_limit(const Problem &problem, const Factors &factors, const double *scale, const double *l1,
                    const double *l2);
// Mean second derivative of the loss in a penalized coefficient at zero, its intercept profiled out, in units in which
// l2 has the factor 1.
double mean_curvature(const Problem &problem, const Factors &factors, const double *scale);
// l1 falls from its limit to a thousandth of it, a hundredth where there are not more rows than features; l2 is 0, and
// 3 % and 30 % of the mean curvature; fusion is 0, then rises over three powers of ten to its limit at three values of
// l1. One value, 0, where the limit is 0.
struct Grid {
  static constexpr int MOST_L1 = 10, MOST_L2 = 3, MOST_FUSION = 9;
  double l1[MOST_L1], l2[MOST_L2], fusion[MOST_FUSION];
  int size[3];
};
Grid default_grid(const Problem &problem, const Factors &factors, const double *scale);

// core_periods.cpp: labels of survival data. Fills start, (causes * intervals + 1), row, sign and weight, and returns
// the number of labels; only the last where `row` is null. `event` is 0 or a cause from 1 on, `breaks` are
// (intervals + 1) rising numbers.
std::int64_t person_periods(int rows, const double *entry, const double *time, const int *event, int intervals,
                            const double *breaks, int causes, std::int64_t *start, int *row, signed char *sign,
                            double *weight);

}  // namespace fusedlr
