"""Places where ``mutate`` breaks the package, and the tests that ought to notice.

Files are named within ``fusedlr``, those of the study within ``workflow``. Tests are given by file and words of their
names; those of the compiled core run on a build with little optimisation, see ``mutate``.
"""

from typing import NamedTuple


class Mutation(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    tests: tuple

    @property
    def path(self):
        return f"{'workflow' if self.file.startswith('study/') else 'fusedlr'}/{self.file}"

    @property
    def is_compiled(self):
        return self.file.endswith((".hpp", ".cpp"))

    @property
    def language(self):
        return "C++" if self.is_compiled else "Python"


def same(words):
    """Tests of invariances that have these words in their names."""
    return "tests/test_invariance.py", "-k", words


SAME = same("rows-fit or rows-cv or rows-bootstrap or rows-calibration or rows-select")
FILES = ("tests/io/test_hostile_files.py",)
GROUPS = ("tests/test_groups.py", "-m", "not slow")
EXPOSURE = ("tests/outcomes/test_exposure.py", "-m", "not slow")
# The walk of wrong arguments is slow.
WRONG = ("tests/inputs/test_arguments.py", "tests/inputs/test_bad_input.py", "-m", "not r")


def core(name, words):
    """Tests of the compiled core in one file that have these words in their names."""
    return f"tests/core/test_{name}.py", "-k", words


MUTATIONS = [Mutation(*row) for row in (
    # Weights, offsets and factors.
    ("files keep optional arrays only where asked for", "io/schema.py", "arrays.update({} if value is None else",
     "arrays.update({} if value is None or rule.optional else", same("save and load")),
    ("rows drop weights", "problem.py", "self.sign[old][order], self.weight[old][order])",
     "self.sign[old][order], np.ones(len(order)))", same("with_rows or rows-cv")),
    ("rows drop offsets", "problem.py", "Design(self.X[rows], None if self.offset is None else self.offset[rows])",
     "Design(self.X[rows])", same("offset")),
    ("labels of weight 0 stay", "inputs/numbers.py", ".some(given > 0)", "", ("tests/test_problem.py",)),
    ("positives ignore weights", "fit.py", "labels.sums(labels.weight * labels.yes)", "labels.sums(labels.yes)", SAME),
    ("cross-validation scores ignore weights", "tuning/cross_validation.py",
     "return tables, held.weight.sum(), [score(", "return tables, held.size, [score(", SAME),
    ("draws ignore weights", "core/core_resampling.cpp",
     "std::vector<double> end(units.times, units.times + units.groups);",
     "std::vector<double> end(units.groups, 1.0);", core("rules", "places")),
    ("folds leave nothing out", "tuning/cross_validation.py", "solve_path(problem.reweighted(1.0 - part)",
     "solve_path(problem.reweighted(1.0 + 0 * part)", ("tests/tuning/test_tuning.py",)),
    ("whole weights stay in one fold", "core/core_resampling.cpp", "return several && sum <= MOST_ROWS;",
     "return several && sum < 0;", core("rules", "whole_weights")),
    ("folds split groups", "core/core_resampling.cpp", "if (seen[units.code[i]]++) return true;", "",
     ("tests/test_groups.py", "-k", "never_split")),
    ("groups without a row go on counting", "problem.py", "return Groups.given(self.code[rows], self.word, labels)",
     "return replace(self, code=self.code[rows])", GROUPS),
    ("every row of a group counts once in the scale", "problem.py",
     "return by_row / np.maximum(self.sums(by_row), 5e-324)[self.code]", "return by_row", GROUPS),
    ("scores of a group are not added up", "constrained_fit.py", "(place[part], np.arange(len(labelled)))",
     "(np.arange(len(labelled)) % count, np.arange(len(labelled)))", GROUPS),
    ("an event counts by the share watched", "core/core_periods.cpp", "came ? 1.0 : watched / (to - from)",
     "watched / (to - from)", core("rules", "person_periods")),
    ("a part of an interval counts in full", "core/core_periods.cpp", "came ? 1.0 : watched / (to - from)",
     "1.0", core("rules", "person_periods")),
    ("an event at the very start is lost", "core/core_periods.cpp", "|| at_once)", "|| false)",
     core("rules", "very_start")),
    ("rows of a person may overlap", "outcomes/survival.py", "self.entry[order][1:] < self.time[order][:-1]",
     "self.entry[order][1:] < -self.time[order][:-1]", EXPOSURE),
    ("incidence as if there were no other cause", "outcomes/competing_risks.py",
     "np.cumsum(reached * hazards, axis=2)", "1 - np.cumprod(1 - hazards, axis=2)",
     ("tests/outcomes/test_competing_risks.py",)),
    ("causes are one chain", "outcomes/competing_risks.py", "if (k + 1) % intervals]", "]",
     ("tests/outcomes/test_competing_risks.py",)),
    ("each row is predicted in the first task", "fit.py", "labels = Labels.long(np.ones(len(k)), k, ",
     "labels = Labels.long(np.ones(len(k)), 0 * k, ", ("tests/outcomes/test_long.py",)),
    ("select drops the offset", "spec.py", "design, index = self.new_rows(exog, offset)",
     "design, index = self.new_rows(exog, 0.0)", same("offset and select")),
    ("bootstrap's standard error with divisor n", "inference/bootstrap.py", "std(axis=0, ddof=1)",
     "std(axis=0, ddof=0)", SAME),
    ("the largest of a summary by mean", "summary/fit.py", "np.abs(results.solution.params[1:]).max(axis=1)",
     "np.abs(results.solution.params[1:]).mean(axis=1)", same("largest_of_a_summary")),
    ("the largest of a summary in the features' own units", "summary/fit.py", ".max(axis=1) * results.model.scale",
     ".max(axis=1)", ("tests/summary/test_summary.py",)),
    ("held-out weights are ignored", "spec.py", "weighted(found.labels, weights, found.n_rows, index, self.tasks)",
     "found.labels", SAME),
    ("the null model ignores the offset", "objective.py", "middle) if offset.any() else middle",
     "middle) if False else middle", same("offset_moves and fit")),
    ("the null model ignores weights", "objective.py", "share = weights @ (signs > 0) / weights.sum()",
     "share = np.mean((signs > 0)[weights > 0])", same("without_an_offset")),
    ("the log-likelihood ignores weights", "objective.py",
     "-labels.sums(labels.weight * pointwise_loss(labels.sign * linear))",
     "-labels.sums(pointwise_loss(labels.sign * linear))", SAME),
    ("the scale ignores weights", "model.py", "column_scales(X, times)",
     "column_scales(X, (times > 0) * 1.0)", same("rows-fit")),
    ("the scale a hundredth larger", "model.py", "return np.where(found > 0, found, 1.0)",
     "return np.where(found > 0, 1.01 * found, 1.0)", same("standardizing and fit")),
    ("the ridge of a standardized feature with its scale once", "problem.py", "factors * scale**2", "factors * scale",
     same("standardizing and fit")),
    ("factors act on fusion too", "problem.py", "np.append(float(fuse_intercepts), fusion * scale))",
     "np.append(float(fuse_intercepts), factors * scale))", same("factor_of_one or penalty-fit")),
    ("factors do not act on l2", "problem.py", "np.append(0.0, factors * scale**2)",
     "np.append(0.0, (factors > 0) * scale**2)", same("factor_of_one or penalty-fit")),
    ("calibration ignores weights", "plots/shares.py", "labels.yes[part], labels.weight[part], bins)",
     "labels.yes[part], np.ones(part.stop - part.start), bins)", SAME),
    ("calibration drops the offset", "plots/shares.py", "model.held_out(endog, exog, weights, offset, task)",
     "model.held_out(endog, exog, weights, 0.0, task)", same("offset and calibration")),
    ("the criteria count rows without weights", "fit.py", "model.n_groups, problem.groups.size,",
     "model.n_groups, float(model.nobs),", SAME),
    ("the table of criteria counts rows without weights", "tuning/cross_validation.py", "np.log(problem.groups.size)",
     "np.log(problem.n_rows)", SAME),
    ("clusters ignore weights", "constrained_fit.py", "yield scores / np.sqrt(some[some > 0])[:, None]", "yield scores",
     same("clusters")),
    ("AUC ignores weights", "metrics.py", "yes, weight = labels.yes[part], labels.weight[part]",
     "yes, weight = labels.yes[part], np.ones(part.stop - part.start)", SAME),
    ("labels of few rows go by another gradient", "problem.py",
     "slopes = np.column_stack([values[part] @ self.X[labels.row[part]] for part in labels.parts])",
     "slopes = np.column_stack([values[part] @ self.X[:part.stop - part.start] for part in labels.parts])",
     ("tests/test_problem.py", "tests/test_objective.py")),
    # Choices.
    ("two standard errors for one", "metrics.py",
     'table["se_difference"].to_numpy() + EQUAL', '2 * table["se_difference"].to_numpy() + EQUAL',
     ("tests/tuning/test_tuning.py",)),
    ("ties go to the smaller penalties", "metrics.py", "return int(max(left, key=lambda i: tuple(keys[i])))",
     "return int(min(left, key=lambda i: tuple(keys[i])))", ("tests/tuning/test_tuning.py",)),
    ("standard errors of folds with divisor n", "tuning/fold_scores.py", "max(len(seen) - 1, 1)", "max(len(seen), 1)",
     ("tests/tuning/test_tuning.py",)),
    ("intervals twice as wide a miss", "inference/bootstrap.py", "[alpha / 2, 1 - alpha / 2]", "[alpha, 1 - alpha]",
     ("tests/inference/test_inference.py",)),
    ("AIC counts df once", "fit.py", "-2 * self.llf + 2 * self.df_effective",
     "-2 * self.llf + self.df_effective", ("tests/test_results.py",
     "tests/tuning/test_defaults.py")),
    # Arguments.
    ("negative numbers are taken", "checks.py", "if not np.isfinite(value) or value < 0:",
     "if not np.isfinite(value):", WRONG),
    ("a tolerance of infinity is taken", "checks.py", "if not 0 < value < 1:", "if not 0 < value:", WRONG),
    ("truth is a number", "checks.py",
     "if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):\n        raise TypeError("
      "f\"{name} must be a number",
     "if not isinstance(value, Real):\n        raise TypeError(f\"{name} must be a number", WRONG),
    ("masks are ignored", "checks.py", "    if not hidden.any():\n", "    if True:\n", WRONG),
    ("rows in another order are taken", "checks.py", "or index.equals(other):", "or len(index) == len(other):",
     WRONG),
    ("dollars are formulas", "plots/axes.py", 'replace("$", r"\\$")', 'replace("$", "$")', WRONG),
    ("any axes will do", "plots/axes.py", "if ax is not None and not isinstance(ax, Axes):", "if False:", WRONG),
    # Files.
    ("numbers of a file may be nan", "io/npz.py", "if not np.isfinite(known).all():", "if False:", FILES),
    ("numbers of a file may be negative", "io/npz.py", "if known.size and known.min() < array.least:", "if False:",
     FILES),
    ("a file may hold more", "io/npz.py", "    unknown = sorted(set(members) - set(known))",
     "    unknown = []", FILES),
    ("sizes of a file may differ", "io/rules.py", "    if known + int(more or 0) != length:", "    if False:", FILES),
    ("a page may have holes", "io/rules.py", "or set(value) != set(rules):", "or not set(value) <= set(rules):", FILES),
    ("a file loses its permissions", "io/npz.py", "return stat.S_IMODE(mode)", "return None", FILES),
    ("a part of a file may come twice", "io/npz.py", "if len(listed) < len(archive.infolist()):", "if False:", FILES),
    ("a small file may unpack to anything", "io/npz.py", "if unpacked > max(bytes_, times * whole):", "if False:",
     FILES),
    ("any compression will do", "io/npz.py", "if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):", "if False:",
     FILES),
    # Threads.
    ("workers go on after an error", "parallel.py", "        unwanted.set()  #", "        pass  #",
     ("tests/test_parallel.py", "-k", "after_an_error")),
    ("values come as they are ready", "parallel.py", "value, error = early.pop(place)",
     "value, error = early.pop(max(early))", ("tests/test_parallel.py", "-k", "in_the_order")),
    # Weights that are numbers of rows, in draws too.
    ("halves at the penalties of all rows", "inference/stability.py", "[2.0 * times for times", "[times for times",
     ("tests/inference/test_stability.py", "-k", "each_half")),
    ("rows of half a weight are passed over", "core/core_resampling.cpp",
     "(static_cast<double>(place[i]) + uniform[i])",
     "(static_cast<double>(place[i]) + 0.5 + 0 * uniform[i])",
     ("tests/inference/test_inference.py", "-k", "half_a_weight")),
    ("a saved ordered outcome forgets its levels", "outcomes/ordered.py", "Plain(listed(LABEL, least=2), list, tuple)",
     "Plain(listed(LABEL, least=2), list, lambda found: tuple(found[::-1]))", same("save and load and ordered")),
    ("a number of a file may be too large", "io/npz.py",
     "if array.below and known.size and known.max() >= sizes[array.below]:", "if False:", FILES),
    ("the ranked probability score ignores weights", "outcomes/ordered.py", "counts @ ranked_probability(each, rank)",
     "(counts > 0) @ ranked_probability(each, rank)", same("rows-cv and ordered")),
    # Verdicts of the study.
    ("claim 3 with less agreement", "study/claims/claim_03_little_help.py", "AGREEING_SHARE = 0.9",
     "AGREEING_SHARE = 0.85", ("tests/workflow/study/test_claims.py", "-k", "claim_3")),
    ("claim 7 with less overlap", "study/claims/claim_07_recovery.py", "OVERLAPPING_SHARE = 0.8",
     "OVERLAPPING_SHARE = 0.7", ("tests/workflow/study/test_claims.py", "-k", "claim_7")),
    ("verdicts of the study are stable too soon", "study/judging.py", "STABLE = 0.8", "STABLE = 0.7",
     ("tests/workflow/study/test_judging.py", "-k", "eighty_percent")),
    # The referee.
    ("the referee's gap halved", "optimality/certificate.py", "gap=value - dual,", "gap=0.5 * (value - dual),",
     ("tests/optimality/test_optimality.py", "-k", "independent_minimum")),
    ("the referee's relative gap halved", "optimality/certificate.py", "relative_gap=(value - dual) /",
     "relative_gap=0.5 * (value - dual) /", ("tests/optimality/test_optimality.py", "-k", "independent_minimum")),
    ("the referee does not pay for the ridge", "optimality/certificate.py", "problem.design.shift(labels))) - paid)",
     "problem.design.shift(labels))))",
     ("tests/optimality/test_optimality.py", "-k", "independent_minimum")),
    # The compiled core: survivors of an earlier attack.
    ("the floor ignores weights", "core/data.hpp", "squares += w[i] * (x[i] - mean)",
     "squares += (w[i] > 0.0 ? broadcast(1.0) : Vec{}) * (x[i] - mean)", core("separable", "the_ridge_is_what")),
    ("the gap of separated data is 0", "core/separation_ridge.hpp",
     "newton_.gap = newton_.objective / newton_.scale();", "newton_.gap = 0;",
     core("separable", "all_of_the_objective")),
    ("df on graphs counts zeros", "core/block.hpp", "count += group[k] == k && (zeros || b[k] != 0);",
     "count += group[k] == k;", core("conditions", "df_counts")),
    ("df on chains counts zeros", "core/block.hpp", "count += (zeros || b[k] != 0) && (k == 0", "count += (k == 0",
     core("conditions", "df_counts")),
    ("a stalled solve is called converged", "core/newton.hpp",
     "return gap <= settings.tolerance ? CONVERGED : STALLED;", "return CONVERGED;", core("conditions", "stalls")),
    ("a solve out of steps is called converged", "core/solver.hpp", "if (end == ProximalNewton::OUT_OF_STEPS) status",
     "if (false) status", core("solver", "too_few_steps")),
    # The compiled core: verdicts.
    ("the core's gap halved", "core/duality_gap.hpp",
     "return objective - s * (at_.now.loss + inner - correction - balance) + conjugates + risen + slack;",
     "return 0.5 * (objective - s * (at_.now.loss + inner - correction - balance) + conjugates + risen + slack);",
     core("conditions", "early_gap")),
    ("conjugates of the gap halved", "core/duality_gap.hpp", "0.5 / penalty_.l2[a]",
     "0.25 / penalty_.l2[a]", core("conditions", "early_gap")),
    ("intercepts out of balance for nothing", "core/duality_gap.hpp",
     "penalty_.has_unpenalized_features() ? 0.0 : intercept_excess(G)", "0.0", core("hard", "understated")),
    ("converged at ten times the tolerance", "core/newton.hpp",
     "if (gap <= settings.tolerance) return CONVERGED;", "if (gap <= 10 * settings.tolerance) return CONVERGED;",
     core("conditions", "early_gap")),
    ("one class is seen in labels without weight", "core/separation_ridge.hpp",
     "if (data_.weights.row(k)[i] > 0) (data_.signs", "if (true) (data_.signs", core("separable", "do_not_count")),
    ("labels without weight keep data from being separated", "core/separation_test.hpp",
     "if (data_.weights.row(k)[r] > 0 && square[r] > 0)", "if (square[r] > 0)", core("separable", "do_not_count")),
    ("a direction without an end is not found", "core/separation_test.hpp", "if (worst < 0) return SEPARATED;",
     "if (worst < 0) return OVERLAP;", core("separable", "linear_program")),
    ("a ridge in the solver's units", "core/solver.hpp",
     "separation_ridge_.ridge()[a] * data_.scale(a) * data_.scale(a)", "separation_ridge_.ridge()[a]",
     core("separable", "the_ridge_is_what")),
    # The compiled core: numbers.
    ("the loss ignores weights", "core/logistic.hpp", "multiply_add(weight[i], log_one_plus",
     "multiply_add(broadcast(1.0), log_one_plus",
     core("solver", "doubled_row")),
    ("offsets are dropped", "core/data.hpp", "offset.row(k)[i] = labels.offset[j]", "offset.row(k)[i] = 0.0",
     core("solver", "an_offset_is_added")),
    ("means are added to intercepts twice", "core/data.hpp", "shift_intercepts(to, from, -1.0)",
     "shift_intercepts(to, from, -2.0)", core("conditions", "take_up_the_means")),
    ("l2 in other units than its columns", "core/solver.hpp", "factors_.l2[a] / (scale * scale));",
     "factors_.l2[a] / scale);", core("conditions", "all_scales")),
    ("grids ignore factors of l2", "core/solver.hpp", "penalty_.l2[a] = point[1] * (factors_.l2[a] /",
     "penalty_.l2[a] = point[1] * ((a > 0) /", same("penalty-grid")),
    ("edges of a chain weigh the same", "core/block.hpp", "nu[k] = fusion * graph_.edges[k].weight;",
     "nu[k] = fusion;", core("prox", "blocks_on_chains")),
    ("a pattern is kept where it no longer holds", "core/chain_prox.hpp", "kept &= least <= most;", "kept &= true;",
     core("prox", "pattern_is_kept")),
    ("the gauge of a chain forgets a task", "core/chain_prox.hpp", "l1 * (j - i + 1) +", "l1 * (j - i) +",
     core("prox", "gauge_of_a_chain")),
    ("sets of tasks are not shrunk", "core/graph.hpp", "if (sum > limit) return (sum - limit) / weight;",
     "if (sum > limit) return sum / weight;", core("prox", "random_graphs")),
    ("sweeps over rows forget their steps", "core/row_model.hpp", "multiply_add(w[i], z[i], r[i])",
     "r[i]", core("solver", "gram_matrix_holds")),
    # The compiled core: where sweeps stall, and many rows.
    ("the interior's forces pull one way", "core/interior_point.hpp", "rhs_[term.v] += pull;",
     "rhs_[term.v] -= pull;", core("hard", "far_means or nearly_equal")),
    ("the interior is never tried", "core/interior_point.hpp",
     "return unknowns() <= MOST_UNKNOWNS && work <= MOST_WORK;",
     "return false;", core("hard", "far_means or nearly_equal")),
    ("a stall after the interior is called converged", "core/newton.hpp",
     "return end == STALLED ? OUT_OF_STEPS : end;", "return end;", core("hard", "within_tol")),
    ("the gap on the pattern forgets the penalty", "core/duality_gap.hpp", "targets_[groups_.of(i)[k]] += slopes[k];",
     "targets_[groups_.of(i)[k]] += 0 * slopes[k];", core("solver", "smaller_than_the_distance")),
    ("curvature of the last strip of rows alone", "core/gram_matrices.hpp",
     "row(k, c + i)[e + j] += entry;", "row(k, c + i)[e + j] = entry;", core("hard", "join_many_rows")),
    ("curvature of the last rows alone", "core/gram_matrices.hpp",
     "out = add ? out + sums[r][v] : sums[r][v];", "out = sums[r][v];", core("hard", "strips")),
    ("what a correction costs is forgotten", "core/logistic.hpp", "rise = total(sum);", "rise = 0;",
     core("solver", "smaller_than_the_distance")),
    ("zeros of one pivot stand for those of its panel", "core/cholesky.hpp", "!is_zero(from, pivots, u)",
     "!is_zero(from, 1, u)", core("hard", "hundred_pairs or different_sizes")),
    ("curvature is never made anew in double precision", "core/newton.hpp",
     "gram_.refresh(failed || (!has_ridge && (slow || nearly_unpenalized)));",
     "gram_.refresh(!has_ridge && nearly_unpenalized);",
     core("hard", "tell_apart")),
    ("matrices in single precision forget their unit", "core/gram.hpp",
     "return growth_[k] * matrices<Number>().unit(k);", "return growth_[k];", core("hard", "ten_steps")),
    ("slopes of a model do not move", "core/gram_model.hpp",
     "multiply_add(scales_[k], static_cast<double>(moved_.row(k)[c]), gradient_.row(c)[k]);",
     "gradient_.row(c)[k];", core("hard", "ten_steps")),
    ("equations end at their panel", "core/cholesky.hpp",
     "last_tile(int p) const { return panel_tiles_.data() + ends_[p];",
     "last_tile(int p) const { return first_tile(p);", core("solver", "fused_tasks_are_called_separated")),
    ("lines of solutions are not followed", "core/warm_starts.hpp", "return found.empty() ? distant : found;",
     "return {};", core("separable", "from_their_neighbours")),
    ("lines are followed the other way", "core/warm_starts.hpp", "std::log(larger[0].first / here[i]) /",
     "std::log(here[i] / larger[0].first) /", core("separable", "from_their_neighbours")),
    ("a verdict forgets what it has left", "core/updatable_qr.hpp",
     "axpy(projections_.back(), q_.back(), residual_);", "", core("separable", "linear_program")),
    ("least curvature that small weights do not have", "core/newton.hpp",
     "1e-12 * (null_loss_ > 0 ? null_loss_ : 1.0)", "1e-12 * (1 + null_loss_)", core("hard", "any_size")),
)]
