# Choice of penalties by cross-validation.

cv.fusedlr <- function(x, ...) UseMethod("cv.fusedlr")

cv.fusedlr.default <- function(x, y, l1 = NULL, l2 = NULL, fusion = NULL, nfolds = 5L, foldid = NULL,
                               type.measure = c("deviance", "class"), tasks = "chain", weights = NULL, offset = NULL,
                               penalty_factors = NULL, fusion_factors = NULL, standardize = TRUE,
                               fuse_intercepts = FALSE, kind = c("sequential", "cumulative"), breaks = NULL, tol = NULL,
                               maxit = 200L, ...) {
  check_no_more(...)
  call <- as_called(match.call(), "cv.fusedlr")
  type.measure <- check_word("type.measure", type.measure, c("deviance", "class"))
  problem <- read_problem(x, y, tasks, weights, offset, penalty_factors, fusion_factors, standardize,
                          fuse_intercepts, kind, breaks)
  lists <- cv_lists(problem, list(l1 = l1, l2 = l2, fusion = fusion))
  foldid <- if (is.null(foldid)) stratified_folds(problem, nfolds) else check_folds(foldid, problem)
  choose_point(problem, lists, foldid, type.measure, tol, maxit, call)
}

cv.fusedlr.formula <- function(formula, data = environment(formula), weights = NULL, offset = NULL, subset = NULL,
                               ...) {
  check_handed_on(as.list(substitute(list(...)))[-1L], cv.fusedlr.default)
  parts <- read_formula(formula, data, substitute(weights), substitute(offset), substitute(subset), parent.frame())
  found <- cv.fusedlr.default(parts$x, parts$y, weights = parts$weights, offset = parts$offset, ...)
  found$call <- as_called(match.call(), "cv.fusedlr")
  for (s in c("min", "1se")) found$fits[[s]] <- with_formula(found$fits[[s]], parts, found$call)
  found
}

cv_lists <- function(problem, given) {
  left <- vapply(given, is.null, NA)
  lists <- if (any(left)) default_penalties(problem) else given
  for (name in names(given)[!left]) lists[[name]] <- check_penalties(name, given[[name]])
  lists[c("l1", "l2", "fusion")]
}

# Fits within the cross-validation are solved to a relative duality gap of 1e-6; the two that are reported, to tol.
choose_point <- function(problem, lists, foldid, type.measure, tol, maxit, call) {
  points <- grid_points(lists)
  scores <- fold_scores(problem, points, foldid, maxit)
  all <- solve_points(problem, points, 1e-6, maxit)$table
  measure <- mean_and_error(scores, type.measure)
  other <- mean_and_error(scores, setdiff(c("deviance", "class"), type.measure))
  table <- cbind(as.data.frame(points), cvm = measure$mean, cvsd = measure$error, all[c("nonzeros", "df", "status")])
  chosen <- list(min = best_point(table, other$mean))
  chosen$`1se` <- one_standard_error(table, chosen$min)
  fits <- lapply(chosen, function(i) fit_problem(problem, as.list(table[i, c("l1", "l2", "fusion")]), tol, maxit, call))
  warn_edge(lists, fits$min)
  structure(list(table = table, chosen = chosen, fits = fits, foldid = foldid, type.measure = type.measure,
                 call = call),
            class = "cv.fusedlr")
}

# Deviance and misclassification rate of each fold (row) and point (column), and the weight of each fold.
fold_scores <- function(problem, points, foldid, maxit) {
  folds <- sort(unique(foldid))
  size <- vapply(folds, function(f) sum(problem$weights[foldid == f, ]), 0)
  folds <- folds[size > 0]
  if (length(folds) < 2L) refuse("foldid must put observed labels into at least 2 folds")
  found <- lapply(folds, function(f) {
    params <- solve_points(some_rows(problem, foldid != f), points, 1e-6, maxit)$params
    score_held_out(some_rows(problem, foldid == f), params)
  })
  list(size = size[size > 0], deviance = do.call(rbind, lapply(found, `[[`, "deviance")),
       class = do.call(rbind, lapply(found, `[[`, "class")))
}

score_held_out <- function(held, params) {
  per_point <- vapply(seq_len(dim(params)[3L]), function(i) {
    linear <- linear_predictor(held, matrix(params[, , i], nrow(params)))
    c(2 * sum(log_losses(held, linear)), sum(held$weights * ((linear > 0) != (held$signs > 0))))
  }, c(0, 0)) / sum(held$weights)
  list(deviance = per_point[1L, ], class = per_point[2L, ])
}

# Mean and standard error over folds, weighted by their labels.
mean_and_error <- function(scores, measure) {
  share <- scores$size / sum(scores$size)
  mean <- drop(share %*% scores[[measure]])
  spread <- drop(share %*% (scores[[measure]] - rep(mean, each = length(share)))^2)
  list(mean = mean, error = sqrt(spread / max(length(share) - 1L, 1L)))
}

# Lowest mean; ties (to nine digits: two points may have the same fit) are broken by the other measure, then by the
# larger l1, l2, fusion.
best_point <- function(table, other) {
  left <- lowest(other, lowest(table$cvm, seq_len(nrow(table))))
  left[order(-table$l1[left], -table$l2[left], -table$fusion[left])[1L]]
}

lowest <- function(score, positions) {
  least <- min(score[positions])
  positions[score[positions] <= least + 1e-9 * abs(least)]
}

# One-standard-error rule: of the points within one standard error of the best whose penalties are each at least the
# best's, the one with the fewest distinct values; then the larger l1, l2, fusion.
one_standard_error <- function(table, best) {
  near <- table$cvm <= table$cvm[best] + table$cvsd[best]
  for (name in c("l1", "l2", "fusion")) near <- near & table[[name]] >= table[[name]][best]
  near <- which(near)
  near[order(table$df[near], -table$l1[near], -table$l2[near], -table$fusion[near])[1L]]
}

# Folds stratified by the labels of a row; set.seed() makes them reproducible.
stratified_folds <- function(problem, nfolds) {
  n <- nrow(problem$signs)
  nfolds <- check_whole("nfolds", nfolds, 2L, n)
  labels <- ifelse(problem$weights > 0, problem$signs, 0)
  dealt <- do.call(order, c(unname(as.data.frame(labels)), list(stats::runif(n))))
  replace(integer(n), dealt, rep_len(seq_len(nfolds), n))
}

check_folds <- function(foldid, problem) {
  if (!is.atomic(foldid) || length(foldid) != nrow(problem$x) || anyNA(foldid))
    refuse("foldid must name a fold for each of the ", nrow(problem$x), " rows, found ", shown(foldid))
  foldid
}

# glmnet's words for the two choices are taken, too.
chosen_fit <- function(object, s) {
  if (is.character(s)) s <- sub("^lambda\\.", "", s)
  object$fits[[check_word("s", s, c("min", "1se"))]]
}

coef.cv.fusedlr <- function(object, s = c("min", "1se"), ...) coef.fusedlr(chosen_fit(object, s), ...)

predict.cv.fusedlr <- function(object, newdata = NULL, s = c("min", "1se"), ...) {
  predict.fusedlr(chosen_fit(object, s), newdata, ...)
}

summary.cv.fusedlr <- function(object, s = c("min", "1se"), ...) summary.fusedlr(chosen_fit(object, s), ...)

logLik.cv.fusedlr <- function(object, s = c("min", "1se"), ...) logLik.fusedlr(chosen_fit(object, s), ...)

deviance.cv.fusedlr <- function(object, s = c("min", "1se"), ...) deviance.fusedlr(chosen_fit(object, s), ...)

fitted.cv.fusedlr <- function(object, s = c("min", "1se"), ...) fitted.fusedlr(chosen_fit(object, s), ...)

residuals.cv.fusedlr <- function(object, s = c("min", "1se"), ...) residuals.fusedlr(chosen_fit(object, s), ...)

nobs.cv.fusedlr <- function(object, ...) nobs.fusedlr(object$fits$min, ...)

formula.cv.fusedlr <- function(x, ...) formula.fusedlr(x$fits$min, ...)

vcov.cv.fusedlr <- function(object, ...) vcov.fusedlr(object)

print.cv.fusedlr <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  chkDots(...)
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", nrow(x$table), " points by ",
      length(unique(x$foldid)), " folds; measure: ", x$type.measure, "\n\n", sep = "")
  rows <- x$table[unlist(x$chosen), ]
  rownames(rows) <- names(x$chosen)
  print(rows, digits = digits)
  invisible(x)
}

# The measure over l1, one line for each fusion, at the best l2 of each point.
plot.cv.fusedlr <- function(x, xlab = "l1", ylab = x$type.measure, ...) {
  best <- stats::aggregate(cvm ~ l1 + fusion, x$table, min)
  scores <- stats::xtabs(cvm ~ l1 + fusion, best)
  l1 <- sort(unique(best$l1))
  colours <- grDevices::hcl.colors(ncol(scores), "Viridis")
  at <- if (all(l1 > 0)) l1 else seq_along(l1)
  graphics::matplot(at, unclass(scores), type = "l", lty = 1L, col = colours, xlab = xlab, ylab = ylab,
                    log = if (all(l1 > 0) && length(l1) > 1L) "x" else "", ...)
  chosen <- at[match(x$table$l1[unlist(x$chosen)], l1)]
  graphics::abline(v = chosen, lty = 3L)
  graphics::axis(3L, unique(chosen), if (chosen[1L] == chosen[2L]) "min, 1se" else names(x$chosen), tick = FALSE)
  graphics::legend("topleft", format(sort(unique(best$fusion)), digits = 2L), col = colours, lty = 1L, bty = "n",
                   cex = 0.7, title = "fusion")
  invisible(scores)
}
