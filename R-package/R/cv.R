# Choice of penalties by cross-validation.

cv.fusedlr <- function(x, ...) UseMethod("cv.fusedlr")

cv.fusedlr.default <- function(x, y, l1 = NULL, l2 = NULL, fusion = NULL, nfolds = 5L, foldid = NULL,
                               type.measure = c("deviance", "class"), by = c("cv", "aic", "bic", "ebic"), repeats = 1L,
                               task = NULL, order = NULL, groups = NULL, tasks = "chain", weights = NULL, offset = NULL,
                               penalty_factors = NULL, fusion_factors = NULL, standardize = TRUE,
                               fuse_intercepts = FALSE, kind = c("sequential", "cumulative"),
                               direction = c("forward", "backward"), breaks = NULL, causes = NULL, yes = NULL,
                               tol = NULL, maxit = 200L, parallel = FALSE, ...) {
  check_no_more(...)
  if (missing(y)) refuse("y is needed: labels, an ordered factor or Surv(time, event) for each row of x")
  call <- as_called(match.call(), "cv.fusedlr")
  type.measure <- check_word("type.measure", type.measure, c("deviance", "class"))
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

CV_TOL <- 1e-6  # relative duality gap of fits within the cross-validation; the two that are reported are exact

choose_point <- function(problem, points, parts, type.measure, by, tol, maxit, call, parallel) {
  warn_one_class(problem)
  all <- solve_points(problem, points, CV_TOL, maxit)
  table <- cbind(as.data.frame(points), all$table[c("nonzeros", "df", "status")])
  scores <- if (by == "cv") score_folds(problem, points, parts, maxit, parallel)
  chosen <- if (by == "cv") chosen_by_folds(table, scores, type.measure) else
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

# Scores of each fold (row) and point (column), the weight of each fold, and the coefficients of its fits.
score_folds <- function(problem, points, parts, maxit, parallel) {
  folds <- lapply(seq_len(ncol(parts)), function(f) parts[, f])
  params <- over(folds, fit_without, parallel, problem = problem, points = points, maxit = maxit)
  found <- Map(function(part, params) held_out_scores(held_out(problem, part), params), folds, params)
  list(weight = vapply(folds, function(part) sum(held_out(problem, part)$labels$weight), 0), parts = parts,
       params = params, deviance = do.call(rbind, lapply(found, `[[`, "deviance")),
       class = do.call(rbind, lapply(found, `[[`, "class")), problem = problem)
}

fit_without <- function(part, problem, points, maxit) {
  solve_points(reweighted(problem, 1 - part), points, CV_TOL, maxit)$params
}

held_out <- function(problem, part) {
  problem$labels <- some_labels(problem$labels, part[problem$labels$row + 1L] > 0)
  reweighted(problem, part)
}

held_out_scores <- function(held, params) {
  labels <- held$labels
  per_point <- vapply(seq_len(dim(params)[3L]), function(i) {
    linear <- label_linear(held, matrix(params[, , i], nrow(params)))
    c(2 * sum(labels$weight * label_loss(labels, linear)), sum(labels$weight * ((linear > 0) != (labels$sign > 0))))
  }, c(0, 0)) / sum(labels$weight)
  list(deviance = per_point[1L, ], class = per_point[2L, ])
}

# Mean and standard error over folds, weighted by their labels.
fold_means <- function(scores, measure) {
  seen <- scores$weight > 0
  values <- scores[[measure]][seen, , drop = FALSE]
  repeats <- attr(scores$parts, "repeats")
  turn <- rep(seq_len(repeats), each = length(seen) / repeats)[seen]
  mean <- drop(scores$weight[seen] %*% values) / sum(scores$weight)
  variances <- vapply(split(seq_along(turn), turn), function(rows) {
    share <- scores$weight[seen][rows] / sum(scores$weight[seen][rows])
    some <- values[rows, , drop = FALSE]
    drop(share %*% (some - rep(drop(share %*% some), each = length(rows)))^2) / max(length(rows) - 1L, 1L)
  }, mean)
  list(mean = mean, error = sqrt(rowMeans(matrix(variances, length(mean)))))
}

# Standard error of the mean difference to the best point, by units: what makes a fold hard for all points alike does
# not count.
paired_errors <- function(scores, measure, best) {
  problem <- scores$problem
  repeats <- attr(scores$parts, "repeats")
  per <- ncol(scores$parts) / repeats
  variances <- lapply(seq_len(repeats), function(turn) {
    parts <- lapply((turn - 1) * per + seq_len(per), function(f) {
      fold_differences(held_out(problem, scores$parts[, f]), scores$params[[f]], measure, best)
    })
    weight <- unlist(lapply(parts, `[[`, "weight"))
    difference <- do.call(rbind, lapply(parts, `[[`, "difference"))
    rows <- unlist(lapply(parts, `[[`, "rows"))
    units <- problem$units
    share <- unlist(Map(function(part, f) scores$parts[part$rows, f], parts, (turn - 1) * per + seq_len(per)))
    units <- if (are_rows(units))
      list(code = seq_along(rows) - 1L, times = units$times[rows] * share, word = "row") else
      list(code = units$code[rows], times = units$times * (tabulate(units$code[rows] + 1L, length(units$times)) > 0),
           word = units$word)
    mean <- colSums(difference) / sum(weight)
    unit_errors(units, (difference - outer(weight, mean)) / sum(weight))^2
  })
  sqrt(Reduce(`+`, variances) / repeats)
}

fold_differences <- function(held, params, measure, best) {
  labels <- held$labels
  rows <- sort(unique(labels$row))
  losses <- vapply(seq_len(dim(params)[3L]), function(i) {
    linear <- label_linear(held, matrix(params[, , i], nrow(params)))
    of_label <- if (measure == "deviance") 2 * label_loss(labels, linear) else (linear > 0) != (labels$sign > 0)
    rowsum(labels$weight * of_label, labels$row)[, 1L]
  }, numeric(length(rows)))
  losses <- matrix(losses, length(rows))
  list(rows = rows + 1L, weight = rowsum(labels$weight, labels$row)[, 1L], difference = losses - losses[, best])
}

chosen_by_folds <- function(table, scores, measure) {
  mean <- fold_means(scores, measure)
  other <- fold_means(scores, setdiff(c("deviance", "class"), measure))$mean
  best <- best_point(table, mean$mean, other)
  table <- cbind(table[c("l1", "l2", "fusion")], cvm = mean$mean, cvsd = mean$error,
                 cvsd_difference = paired_errors(scores, measure, best), table[c("nonzeros", "df", "status")])
  list(table = table, rows = list(min = best, `1se` = one_standard_error(table, best)))
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
  list(table = table, rows = list(min = best_point(table, table[[by]], rep(0, nrow(table)))))
}

# Lowest cost; ties (to nine digits: two points may have the same fit) are broken by the other one, then by the larger
# l1, l2, fusion.
best_point <- function(table, cost, other) {
  left <- lowest(other, lowest(cost, seq_len(nrow(table))))
  left[order(-table$l1[left], -table$l2[left], -table$fusion[left])[1L]]
}

lowest <- function(score, positions) {
  least <- min(score[positions])
  positions[score[positions] <= least + 1e-9 * abs(least)]
}

# One-standard-error rule: of the points within one standard error of the best whose penalties are each at least the
# best's, the one with the fewest distinct values; then the larger l1, l2, fusion.
one_standard_error <- function(table, best) {
  near <- table$cvm - table$cvm[best] <= table$cvsd_difference + 1e-9 * abs(table$cvm[best])
  for (name in c("l1", "l2", "fusion")) near <- near & table[[name]] >= table[[name]][best]
  near <- which(near)
  near[order(table$df[near], -table$l1[near], -table$l2[near], -table$fusion[near])[1L]]
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
  best <- stats::aggregate(score ~ l1 + fusion, table, min)
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
