"""The fast solver's C++ core, which knows neither Python nor R (``core.hpp`` says what it offers), and its Cython face.

The separable rule
------------------
Rows of the coefficient matrix with neither l1 nor l2 have no finite minimiser where the data are *separated*: where
some change of these rows, the same for tasks that fusion ties, never lowers the margin of a label and raises that of
some. A linear program decides it, solved as non-negative least squares, or a dual point strictly within its bounds that
balances all free rows, which proves the contrary; so the verdict depends neither on the path of the solver nor on size,
units or order, and one verdict serves all points of a grid. A component of the task graph whose labels are of one class
is separated by its intercept alone.

The answer for separated data is defined: the minimiser with a ridge on every free row, ``floor`` times the largest
curvature that the row can have (a quarter of the largest weighted sum of squares about the mean over the tasks), solved
to ``tol`` like any other. The intercepts get one only where a component has one class. The status is "separated", the
objective and the gap are those of the penalties that were asked for, of which only the trivial dual point is known;
``NewtonSolver.ridge`` says what was added.
"""

from ._core import (ACCEPTED, FLOOR, RIDGE, STATUS, Core, FlatLabels, LabelledRows, SamplingUnits, best_point, cpu,
                    fold_means, gauge, lowest_costs, one_standard_error, pattern_of, person_periods,
                    points_at_once, prox, scales, solve_quadratic, stripes, within_one_error)

__all__ = ["ACCEPTED", "FLOOR", "RIDGE", "STATUS", "Core", "FlatLabels", "LabelledRows", "SamplingUnits", "best_point",
           "cpu", "fold_means", "gauge", "lowest_costs", "one_standard_error", "pattern_of",
           "person_periods", "points_at_once", "prox", "scales", "solve_quadratic", "stripes",
           "within_one_error"]
