// Person-period labels of survival data: one for each row and interval at risk, cause by cause.
#include "standard.hpp"

// The same bits from every build: no optimisation decides which products and sums are rounded together (vectors.hpp).
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,fp-contract=off")
#endif

#include "core.hpp"

namespace fusedlr {

// An event is 1 with weight 1 in its interval, whatever share of it the row was at risk; an interval survived is 0,
// weighted by the share at risk. Intervals are closed on the right; an event at the start of the first one, of a row
// that entered then, is in the first. An event of a competing cause is 0 with weight 1.
std::int64_t person_periods(int rows, const double *entry, const double *time, const int *event, int intervals,
                            const double *breaks, int causes, std::int64_t *start, int *row, signed char *sign,
                            double *weight) {
  std::int64_t count = 0;
  for (int task = 0; task < causes * intervals; task++) {
    const int cause = task / intervals + 1, k = task % intervals;
    const double from = breaks[k], to = breaks[k + 1];
    if (row) start[task] = count;
    for (int i = 0; i < rows; i++) {
      const bool at_once = k == 0 && time[i] == from && entry[i] == from;
      const bool came = event[i] > 0 && ((time[i] > from && time[i] <= to) || at_once);
      const double watched = std::min(time[i], to) - std::max(entry[i], from);
      if (!came && !(watched > 0)) continue;
      if (row) {
        row[count] = i;
        sign[count] = came && event[i] == cause ? 1 : -1;
        weight[count] = came ? 1.0 : watched / (to - from);
      }
      count++;
    }
  }
  if (row) start[causes * intervals] = count;
  return count;
}

}  // namespace fusedlr
