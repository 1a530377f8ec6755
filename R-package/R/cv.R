# Choice of penalties by cross-validation.

cv.fusedlr <- function(x, ...) UseMethod("cv.fusedlr")

cv.fusedlr.default <- function(x, y, l1 = NULL, l2 = NULL, fusion = NULL, nfolds = 5L, foldid = NULL,
                               type.measure = c("deviance", "class", "auc"), by = c("cv", "aic", "bic", "ebic"),
                               repeats = 1L, task = NULL, order = NULL, groups = NULL, tasks = "chain",
                               weights = NULL, offset = NULL,
                               penalty_factors = NULL, fusion_factors = NULL, standardize = TRUE,
                               fuse_intercepts = FALSE, kind = c("sequential", "cumulative"),
                               direction = c("forward", "backward"), breaks = NULL, causes = NULL, yes = NULL,
                               tol = NULL, maxit = 200L, parallel = FALSE, ...) {
  check_no_more(...)
  if (missing(y)) refuse("y is needed: labels, an ordered factor or Surv(time, event) for each row of x")
  call <- as_called(match.call(), "cv.fusedlr")
  type.measure <- check_word("type.measure", type.measure, MEASURES)
  by <- check_word("by", by, c("cv", "aic", "bic", "ebic"))
  parallel <- check_flag("parallel", parallel)
  tol <- check_tol(tol)
  maxit <- check_whole("maxit", maxit, 1L, 1e9)
  groups <- with_word(groups, substitute(groups))
  problem <- read_problem(x, y, mget(PROBLEM))
  points <- grid_points(cv_lists(problem, list(l1 = l1, l2 = l2, fusion = fusion)))
  parts <- if (by == "cv") read_folds(problem, foldid, nfolds, repeats)
  choose_point(problem, points, parts, type.measure, by, tol, maxit, call, parallel)
}

cv.fusedlr.formula <- function(formula, data = environment(formula), ..., task = NULL, groups = NULL, weights = NULL,
                               offset = NULL, subset = NULL, na.action = getOption("na.action")) {
  check_handed_on(as.list(substitute(list(...)))[-1L], cv.fusedlr.default)
  extras <- list(task = substitute(task), groups = substitute(groups), weights = substitute(weights),
                 offset = substitute(offset))
  parts <- read_formula(formula, data, extras, substitute(subset), na.action, parent.frame())
  found <- cv.fusedlr.default(parts$x, parts$y, ..., task = parts$task, groups = parts$groups, weights = parts$weights,
                              offset = parts$offset)
  found$call <- as_called(match.call(), "cv.fusedlr")
  found$fits <- lapply(found$fits, with_formula, parts, found$call)
  found
}

cv_lists <- function(problem, given) {
  left <- vapply(given, is.null, NA)
  lists <- if (any(left)) default_penalties(problem) else given
  for (name in names(given)[!left]) lists[[name]] <- check_penalties(name, given[[name]])
  lists[c("l1", "l2", "fusion")]
}

# 10 values of l1, 3 of l2, 9 of fusion that suit the data; see the help page.
default_penalties <- function(problem) {
  stats::setNames(.Call(C_grid, solver_parts(problem), unname(problem$factors), problem$scale),
                  c("l1", "l2", "fusion"))
}

CV_TOL <- 1e-6  # relative duality gap of fits within the cross-validation; the two that are reported are exact

choose_point <- function(problem, points, parts, type.measure, by, tol, maxit, call, parallel) {
  warn_one_class(problem)
  all <- solve_points(problem, points, CV_TOL, maxit)
  table <- cbind(as.data.frame(points), all$table[c("nonzeros", "df", "status")])
  scores <- if (by == "cv") score_folds(problem, points, parts, maxit, parallel)
  chosen <- if (by == "cv") chosen_by_folds(table, points, scores, type.measure) else
    chosen_by_criterion(table, problem, all$params, points, by)
  start <- function(i) matrix(all$params[, , i], nrow(all$params))
  fits <- lapply(chosen$rows, function(i) fit_chosen(problem, points[i, ], start(i), tol, maxit, call))
  warn_edge(points, fits$min)
  structure(list(table = chosen$table, chosen = chosen$rows, fits = fits, parts = parts, by = by,
                 type.measure = type.measure, call = call), class = c("cv.fusedlr", "fusedlr"))
}

# The fit at one point of a grid, from its solution there.
fit_chosen <- function(problem, point, start, tol, maxit, call) {
  found <- solve_points(problem, point, tol, maxit, start)
  warn_status(found$table, if (is.null(tol)) ACCEPTED else tol)
  dimnames(found$params) <- list(c("(Intercept)", colnames(problem$x)), problem$tasks, NULL)
  structure(list(params = found$params, table = cbind(as.data.frame(as.list(point)), found$table), problem = problem,
                 tol = tol, maxit = maxit, call = call, format = FORMAT), class = "fusedlr")
}

# Share of each row that is held out in each fold, (n, folds times repeats).
read_folds <- function(problem, foldid, nfolds, repeats) {
  repeats <- check_whole("repeats", repeats, 1L, 1000L)
  n <- nrow(problem$x)
  if (is.null(foldid)) {
    nfolds <- check_whole("nfolds", nfolds, 2L, if (are_rows(problem$units)) n else n_groups(problem))
    drawn <- lapply(seq_len(repeats), function(i) stratified_folds(problem, nfolds))
    return(structure(do.call(cbind, drawn), repeats = repeats))
  }
  if (repeats > 1L) refuse("repeats draw folds anew, and foldid gives them; use nfolds")
  if (!is.atomic(foldid) || length(foldid) != n || anyNA(foldid))
    refuse("foldid must name a fold for each of the ", n, " rows, found ", shown(foldid))
  shares <- outer(as.vector(foldid), sort(unique(as.vector(foldid))), "==") * 1
  if (sum(colSums(shares * by_row(problem$labels, problem$labels$weight, n)) > 0) < 2L)
    refuse("foldid must put observed labels into at least 2 folds")
  structure(shares, repeats = 1L)
}

# Folds stratified by the labels of all tasks, no group split; set.seed() makes them reproducible.
stratified_folds <- function(problem, nfolds) {
  units <- problem$units
  uniform <- stats::runif(count_units(units)$uniforms)
  .Call(C_folds, unname(problem$labels), units$code, units$times, as.integer(nfolds), uniform)
}

# Costs of every point in every fold, (points, folds), the lower the better; the weight of each fold, and its fits.
score_folds <- function(problem, points, parts, maxit, parallel) {
  folds <- lapply(seq_len(ncol(parts)), function(f) parts[, f])
  params <- over(folds, fit_without, parallel, problem = problem, points = points, maxit = maxit)
  held <- lapply(folds, held_out, problem = problem)
  scores <- simplify2array(Map(held_out_costs, held, params))
  list(problem = problem, parts = parts, params = params, costs = array(scores, c(nrow(points), 3L, length(folds))),
       weight = vapply(held, function(part) sum(part$labels$weight), 0))
}

fit_without <- function(part, problem, points, maxit) {
  solve_points(reweighted(problem, 1 - part), points, CV_TOL, maxit)$core
}

held_out <- function(problem, part) {
  problem$labels <- some_labels(problem$labels, part[problem$labels$row + 1L] > 0)
  reweighted(problem, part)
}

# Deviance, misclassification rate and -AUC of each of many fits, (points, 3).
held_out_costs <- function(held, params) {
  found <- .Call(C_scores, solver_parts(held), params)
  cbind(2 * found[, 1L], found[, 2L], -found[, 3L])
}

MEASURES <- c("deviance", "class", "auc")

# What breaks ties of a measure.
TIE_BREAKER <- c(deviance = "class", class = "deviance", auc = "deviance")

# Means over folds and their standard errors, (points, 2).
fold_means <- function(scores, measure, best = NULL) {
  costs <- matrix(scores$costs[, match(measure, MEASURES), ], dim(scores$costs)[1L])
  if (!any(colSums(!is.na(costs)) > 0))
    refuse("type.measure = \"", measure, "\" needs a fold in which some task has both labels, found none; use fewer ",
           "folds")
  if (!is.null(best)) costs <- costs - rep(costs[best, ], each = nrow(costs))
  .Call(C_fold_means, costs, scores$weight, attr(scores$parts, "repeats"))
}

# Standard error of the mean difference to the best point, by units: what makes a fold hard for all points alike does
# not count. AUC is no mean over labels: by folds.
paired_errors <- function(scores, measure, best) {
  if (measure == "auc") return(fold_means(scores, measure, best)[, 2L])
  problem <- scores$problem
  repeats <- attr(scores$parts, "repeats")
  turns <- split(seq_len(ncol(scores$parts)), rep(seq_len(repeats), each = ncol(scores$parts) / repeats))
  variances <- vapply(turns, function(folds) {
    fits <- unlist(lapply(scores$params[folds], function(core) c(core[, , best], core)))
    .Call(C_paired, solver_parts(problem), problem$units$code, problem$units$times, measure == "deviance",
          scores$parts[, folds, drop = FALSE], fits)
  }, numeric(dim(scores$costs)[1L]))
  sqrt(rowMeans(matrix(variances, ncol = repeats))) * if (measure == "deviance") 2 else 1
}

chosen_by_folds <- function(table, points, scores, measure) {
  means <- fold_means(scores, measure)
  best <- best_point(points, means[, 1L], fold_means(scores, TIE_BREAKER[[measure]])[, 1L])
  errors <- paired_errors(scores, measure, best)
  more <- .Call(C_one_error, t(unname(points)), means[, 1L], errors, table$df, best)
  mean <- if (measure == "auc") -means[, 1L] else means[, 1L]
  table <- cbind(table[c("l1", "l2", "fusion")], cvm = mean, cvsd = means[, 2L], cvsd_difference = errors,
                 table[c("nonzeros", "df", "status")])
  list(table = table, rows = list(min = best, `1se` = more))
}

best_point <- function(points, cost, second) {
  best <- .Call(C_best, t(unname(points)), as.numeric(cost), as.numeric(second))
  if (is.na(best)) refuse("no point has a score: no label is observed in the held-out rows")
  best
}

# Akaike's and Schwarz's criteria of the fits on all rows, and the extended BIC of Chen and Chen (2008).
chosen_by_criterion <- function(table, problem, params, points, by) {
  criteria <- t(vapply(seq_len(nrow(table)), function(i) {
    fit <- structure(list(params = params[, , i, drop = FALSE], table = as.data.frame(rbind(points[i, ])),
                          problem = problem, format = FORMAT), class = "fusedlr")
    dimnames(fit$params) <- list(c("(Intercept)", colnames(problem$x)), problem$tasks, NULL)
    df <- effective_df(fit)
    deviance <- -2 * log_likelihood(fit)
    bic <- deviance + log(sum(problem$units$times)) * df
    kept <- sum(rowSums(params[-1L, , i] != 0) > 0)
    c(df_effective = df, aic = deviance + 2 * df, bic = bic, ebic = bic + 2 * lchoose(ncol(problem$x), kept))
  }, numeric(4L)))
  table <- cbind(table[c("l1", "l2", "fusion")], criteria, table[c("nonzeros", "df", "status")])
  list(table = table, rows = list(min = best_point(points, table[[by]], rep(0, nrow(table)))))
}

summary.cv.fusedlr <- function(object, ...) summary.fusedlr(one_fit(object, ...))

print.cv.fusedlr <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  chkDots(...)
  repeats <- attr(x$parts, "repeats")
  how <- if (x$by != "cv") paste0(", ", toupper(x$by)) else
    paste0(" by ", ncol(x$parts) / repeats, " folds", if (repeats > 1L) paste(" x", repeats), "; measure: ",
           x$type.measure)
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", nrow(x$table), " points", how, "\n\n", sep = "")
  rows <- x$table[unlist(x$chosen), ]
  rownames(rows) <- names(x$chosen)
  print(rows, digits = digits)
  invisible(x)
}

# The measure over l1, one line for each fusion, at the best l2 of each point.
plot.cv.fusedlr <- function(x, xlab = "l1", ylab = if (x$by == "cv") x$type.measure else toupper(x$by), ...) {
  table <- data.frame(x$table[c("l1", "fusion")], score = x$table[[if (x$by == "cv") "cvm" else x$by]])
  best <- stats::aggregate(score ~ l1 + fusion, table, if (x$type.measure == "auc" && x$by == "cv") max else min)
  scores <- stats::xtabs(score ~ l1 + fusion, best)
  l1 <- sort(unique(best$l1))
  colours <- grDevices::hcl.colors(ncol(scores), "Viridis")
  at <- if (all(l1 > 0)) l1 else seq_along(l1)
  graphics::matplot(at, unclass(scores), type = "l", lty = 1L, col = colours, xlab = xlab, ylab = ylab,
                    log = if (all(l1 > 0) && length(l1) > 1L) "x" else "", ...)
  chosen <- at[match(x$table$l1[unlist(x$chosen)], l1)]
  graphics::abline(v = chosen, lty = 3L)
  graphics::axis(3L, unique(chosen), if (length(unique(chosen)) < length(chosen)) "min, 1se" else names(x$chosen),
                 tick = FALSE)
  graphics::legend("topleft", format(sort(unique(best$fusion)), digits = 2L), col = colours, lty = 1L, bty = "n",
                   cex = 0.7, title = "fusion")
  invisible(scores)
}

# ---- the point of a grid that predicts other rows best ----

select_point <- function(object, newdata, y = NULL, type.measure = c("deviance", "class", "auc"), weights = NULL,
                         offset = NULL, task = NULL) {
  if (!inherits(object, "fusedlr") || !is_grid(object))
    refuse("object must be a fit at several penalties, a grid, found class ", class(object)[1L])
  check_format(object)
  type.measure <- check_word("type.measure", type.measure, MEASURES)
  if (missing(newdata) || is.null(newdata)) refuse("newdata is needed: rows that the fit has not seen")
  task <- task_of_rows(substitute(task), newdata, object, parent.frame())
  held <- held_out_problem(object, newdata, y, weights, offset, task)
  costs <- held_out_costs(held, aperm(unname(object$params), c(2L, 1L, 3L)))
  points <- as.matrix(object$table[c("l1", "l2", "fusion")])
  cost <- function(measure) costs[, match(measure, MEASURES)]
  one_fit.fusedlr(object, best_point(points, cost(type.measure), cost(TIE_BREAKER[[type.measure]])))
}

# The problem of a fit with other rows, their labels in its coding.
held_out_problem <- function(fit, newdata, y, weights, offset, task) {
  problem <- fit$problem
  if (is.null(y)) {
    if (is.null(fit$formula)) refuse("y is needed: the labels of the rows of newdata")
    if (!is.data.frame(newdata)) refuse("newdata must be a data.frame with the variables of the formula")
    left <- left_parts(fit$formula[[2L]])
    y <- tryCatch(left$make(lapply(left$parts, eval, newdata, environment(fit$formula))),
                  error = function(e) refuse("newdata: ", conditionMessage(e)))
    if (is.null(task)) task <- eval(fit$task_expression, newdata, environment(fit$formula))
  }
  rows <- rows_to_predict(fit, newdata, offset)
  problem$x <- read_features(rows$x)
  problem$offset <- rows$offset
  labels <- known_labels(problem, y, task)
  if (labels$n != nrow(problem$x))
    refuse("y must have one row for each of the ", nrow(problem$x), " rows of newdata, found ", labels$n)
  problem$labels <- weighted_labels(labels$labels, per_label("weights", weights, nrow(problem$x), problem$tasks))
  problem
}

known_labels <- function(problem, y, task) {
  outcome <- problem$outcome
  tasks <- problem$tasks
  coded <- function(v, words) {
    found <- signs_of(v, list(words = words))
    unknown <- unique(v[is.na(found) & !is.na(v)])
    if (length(unknown)) refuse("y must hold the labels of the fit, ", quoted(words), ", found ", shown(unknown))
    found
  }
  if (outcome$kind %in% c("survival", "risks")) {
    if (!inherits(y, "Surv")) refuse("y must be Surv(time, event), found class ", class(y)[1L])
    times <- survival_times(y, if (is.null(attr(y, "states"))) outcome$codes)
    return(list(n = length(times$time), labels = person_periods(times, outcome$breaks)))
  }
  if (!is.null(outcome$levels)) {
    if (length(setdiff(as.character(y), c(outcome$levels, NA))))
      refuse("y must hold the levels of the fit, ", quoted(outcome$levels))
    signs <- level_signs(match(as.character(y), outcome$levels), outcome)
    return(list(n = length(y), labels = wide_labels(signs)))
  }
  columns <- label_columns(y)
  if (outcome$kind == "long") {
    if (length(columns) != 1L || is.null(task)) refuse("task is needed: the rows of this fit have one task each")
    places <- new_tasks(task, length(columns[[1L]]), tasks)
    signs <- coded(columns[[1L]], problem$words[[1L]])
    seen <- which(!is.na(signs))
    return(list(n = length(signs),
                labels = new_labels(seen, places[seen], signs[seen], rep(1, length(seen)), length(tasks))))
  }
  if (length(columns) != length(tasks)) refuse("y must have the tasks of the fit, ", quoted(tasks))
  if (all(tasks %in% names(columns))) columns <- columns[tasks]
  signs <- do.call(cbind, Map(coded, columns, problem$words))
  list(n = nrow(signs), labels = wide_labels(signs))
}
