# Uncertainty: an unpenalized refit of the zeros and ties, and the bootstrap.

refit <- function(object, ...) UseMethod("refit")

# Maximum likelihood on the support and ties: one logistic regression with a column for each distinct value, by glm.fit.
refit.fusedlr <- function(object, cov_type = NULL, which = 1L, ...) {
  check_no_more(...)
  problem <- object$problem
  usual <- if (length(problem$tasks) > 1L) "cluster" else "nonrobust"
  cov_type <- check_word("cov_type", if (is.null(cov_type)) usual else cov_type, c("cluster", "nonrobust"))
  pattern <- pattern_of(object, which)
  design <- pattern_design(problem, pattern)
  fit <- fit_design(design)
  likelihood <- structure(-fit$loss, df = length(fit$values), nobs = sum(row_weights(problem)), class = "logLik")
  structure(list(values = fit$values, vcov = value_covariance(design, fit, cov_type), pattern = pattern,
                 names = value_names(pattern), cov_type = cov_type, logLik = likelihood, nobs = nobs.fusedlr(object),
                 call = object$call), class = "refit.fusedlr")
}

refit.cv.fusedlr <- function(object, s = c("min", "1se"), ...) refit.fusedlr(chosen_fit(object, s), ...)

# Observed labels of all tasks, stacked: design (rows, values), label, weight, offset, row and task.
pattern_design <- function(problem, pattern) {
  columns <- cbind(1, unname(problem$x))
  blocks <- lapply(seq_along(problem$tasks), function(k) {
    seen <- which(problem$weights[, k] > 0)
    used <- which(pattern[, k] > 0L)
    z <- matrix(0, length(seen), max(pattern))
    z[, pattern[used, k]] <- columns[seen, used]
    list(z = z, y = (problem$signs[seen, k] > 0) * 1, weights = problem$weights[seen, k],
         offset = problem$offset[seen, k], row = seen, task = rep(k, length(seen)))
  })
  design <- lapply(names(blocks[[1L]])[-1L], function(name) unlist(lapply(blocks, `[[`, name)))
  names(design) <- names(blocks[[1L]])[-1L]
  c(list(z = do.call(rbind, lapply(blocks, `[[`, "z"))), design, list(row_weights = row_weights(problem)))
}

fit_design <- function(design) {
  fit <- suppressWarnings(stats::glm.fit(design$z, design$y, design$weights, offset = design$offset, intercept = FALSE,
                                         family = stats::quasibinomial(),
                                         control = list(epsilon = 1e-14, maxit = 100L)))
  yes <- fit$fitted.values
  extreme <- yes < 1e-8 | yes > 1 - 1e-8
  touched <- colSums(abs(design$z[extreme, , drop = FALSE])) > 0
  if (any(touched)) warn("fusedlr_separation",
                         "refit: the selected features separate the labels of some task, so that ",
                         "their coefficients have no finite maximum likelihood estimate and no standard error; use ",
                         "the penalized fit")
  collinear <- is.na(fit$coefficients)
  if (any(collinear)) warn("fusedlr_collinear", "refit: ", sum(collinear),
                           " of the selected values are collinear with others ",
                           "and were set to zero")
  values <- replace(fit$coefficients, collinear, 0)
  list(values = unname(values), vague = unname(touched | collinear), yes = yes, loss = fit$deviance / 2)
}

# Inverse information, or the sandwich estimator clustered by row; a weight counts its row as often, by the largest
# weight of its tasks.
value_covariance <- function(design, fit, cov_type) {
  p <- ncol(design$z)
  found <- matrix(NA_real_, p, p)
  keep <- !fit$vague
  if (!any(keep)) return(found)
  z <- design$z[, keep, drop = FALSE]
  information <- crossprod(z, design$weights * fit$yes * (1 - fit$yes) * z)
  unit <- sqrt(outer(diag(information), diag(information)))  # features may differ by many orders of magnitude
  bread <- solve(information / unit) / unit
  if (cov_type == "cluster") {
    scores <- rowsum(design$weights * (design$y - fit$yes) * z, design$row)
    times <- design$row_weights[as.integer(rownames(scores))]
    bread <- bread %*% crossprod(scores / sqrt(times)) %*% bread
  }
  found[keep, keep] <- bread
  found
}

value_names <- function(pattern) {
  places <- lapply(seq_len(max(pattern)), function(v) which(pattern == v, arr.ind = TRUE))
  tasks <- vapply(places, function(place) span(sort(place[, 2L]), colnames(pattern)), "")
  data.frame(term = vapply(places, function(place) rownames(pattern)[place[1L, 1L]], ""), tasks = tasks)
}

# Short name of a set of tasks: runs of neighbours as "first ... last".
span <- function(tasks, names) {
  if (length(tasks) == length(names) && length(names) > 1L) return("all tasks")
  runs <- split(tasks, cumsum(c(TRUE, diff(tasks) > 1L)))
  short <- function(run) paste(unique(names[range(run)]), collapse = if (length(run) > 2L) " ... " else ", ")
  paste(vapply(runs, short, ""), collapse = ", ")
}

coef.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  found <- c(0, object$values)[object$pattern + 1L]
  matrix(found, nrow(object$pattern), dimnames = dimnames(object$pattern))
}

vcov.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  names <- paste(object$names$term, object$names$tasks, sep = ": ")
  structure(object$vcov, dimnames = list(names, names))
}

logLik.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  object$logLik
}

nobs.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  object$nobs
}

confint.refit.fusedlr <- function(object, parm, level = 0.95, ...) {
  check_no_more(...)
  level <- check_number("level", level, 0, 1, open = TRUE)
  half <- stats::qnorm((1 + level) / 2) * sqrt(diag(object$vcov))
  found <- cbind(object$values - half, object$values + half)
  dimnames(found) <- list(rownames(vcov.refit.fusedlr(object)), percents(c(1 - level, 1 + level) / 2))
  if (missing(parm)) return(found)
  if (is.character(parm)) parm <- unlist(lapply(parm, function(name) rows_of_term(name, object$names$term, found)))
  check_rows(parm, rownames(found))
  found[parm, , drop = FALSE]
}

# Rows of a feature in all its groups of tasks, or the one row of that name.
rows_of_term <- function(name, terms, table) if (name %in% terms) rownames(table)[terms == name] else name

check_rows <- function(parm, names) {
  good <- if (is.character(parm)) parm %in% names else parm %in% c(seq_along(names), -seq_along(names))
  if (!all(good)) refuse("parm names what is not there: ", quoted(parm[!good]), "; there are ", quoted(names))
}

percents <- function(shares) paste(format(100 * shares, trim = TRUE), "%")

summary.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  error <- sqrt(diag(object$vcov))
  z <- object$values / error
  table <- cbind(Estimate = object$values, `Std. Error` = error, `z value` = z, `Pr(>|z|)` = 2 * stats::pnorm(-abs(z)))
  rownames(table) <- rownames(vcov.refit.fusedlr(object))
  structure(list(coefficients = table, cov_type = object$cov_type, logLik = object$logLik, call = object$call),
            class = "summary.refit.fusedlr")
}

print.refit.fusedlr <- function(x, ...) {
  print(summary.refit.fusedlr(x), ...)
  invisible(x)
}

print.summary.refit.fusedlr <- function(x, digits = 4L, ...) {
  chkDots(...)
  cat("\nUnpenalized refit of the zeros and ties of\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  stats::printCoefmat(x$coefficients, digits = digits, signif.stars = FALSE)
  cat("\nConditional on selection: the same data chose the zeros and ties, so p-values are too small.\n",
      if (x$cov_type == "cluster") "Standard errors allow any dependence between the tasks of a row.\n"
      else "Standard errors take the tasks of a row as independent.\n", sep = "")
  invisible(x)
}

# Beyond this, what is kept of the resamples would outgrow any use of them.
MOST_RESAMPLES <- 1e5

bootstrap <- function(object, ...) UseMethod("bootstrap")

# Rows are drawn with replacement, weights taken as frequencies, and keep the labels of all tasks.
bootstrap.fusedlr <- function(object, n = 200L, which = 1L, ...) {
  check_no_more(...)
  n <- check_whole("n", n, 2L, MOST_RESAMPLES)
  problem <- object$problem
  times <- row_weights(problem)
  point <- as.matrix(object$table[which, c("l1", "l2", "fusion")])
  start <- params_at(object, which)
  fits <- lapply(seq_len(n), function(i) {
    drawn <- sample.int(length(times), max(1, round(sum(times))), replace = TRUE,
                        prob = if (any(times != times[1L])) times)
    share <- tabulate(drawn, length(times)) / ifelse(times > 0, times, 1)
    solve_points(replace(problem, "weights", list(problem$weights * share)), point, object$tol, object$maxit, start)
  })
  samples <- vapply(fits, function(fit) fit$params[, , 1L], start)
  dim(samples) <- c(dim(start), n)
  dimnames(samples) <- c(dimnames(start), list(NULL))
  status <- vapply(fits, function(fit) fit$table$status, "")
  structure(list(samples = samples, status = status, params = params_at(object, which), ends = problem$graph$ends + 1L,
                 call = object$call), class = "bootstrap.fusedlr")
}

bootstrap.cv.fusedlr <- function(object, n = 200L, s = c("min", "1se"), ...) {
  bootstrap.fusedlr(chosen_fit(object, s), n, ...)
}

confint.bootstrap.fusedlr <- function(object, parm, level = 0.95, ...) {
  check_no_more(...)
  level <- check_number("level", level, 0, 1, open = TRUE)
  ends <- c(1 - level, 1 + level) / 2
  found <- apply(object$samples, 1:2, stats::quantile, ends, names = FALSE)
  found <- aperm(found, c(2L, 3L, 1L))
  dimnames(found)[[3L]] <- percents(ends)
  if (missing(parm)) return(found)
  check_rows(parm, rownames(found))
  found[parm, , , drop = FALSE]
}

# Bootstrap standard error, and frequencies of selection and of ties between neighbours.
summary.bootstrap.fusedlr <- function(object, ...) {
  check_no_more(...)
  tasks <- colnames(object$params)
  same <- object$samples[, object$ends[1L, ], , drop = FALSE] == object$samples[, object$ends[2L, ], , drop = FALSE]
  ties <- apply(same, 1:2, mean)
  dimnames(ties) <- list(rownames(object$params), paste(tasks[object$ends[1L, ]], tasks[object$ends[2L, ]],
                                                        sep = " = "))
  structure(list(n = dim(object$samples)[3L], failed = sum(object$status != "optimal"),
                 error = apply(object$samples, 1:2, stats::sd),
                 selected = apply(object$samples[-1L, , , drop = FALSE] != 0, 1:2, mean), tied = ties),
            class = "summary.bootstrap.fusedlr")
}

print.bootstrap.fusedlr <- function(x, ...) {
  print(summary.bootstrap.fusedlr(x), ...)
  invisible(x)
}

print.summary.bootstrap.fusedlr <- function(x, digits = 2L, ...) {
  chkDots(...)
  cat("\n", x$n, " resamples of the rows", if (x$failed) paste0(", ", x$failed, " of them not optimal"), "\n", sep = "")
  titles <- c(error = "Standard deviation", selected = "Share of resamples in which a coefficient is not zero",
              tied = "Share of resamples in which two neighbours are equal")
  for (name in names(titles)) if (length(x[[name]])) {
    cat("\n", titles[[name]], "\n", sep = "")
    print(x[[name]], digits = digits)
  }
  cat("\nThe estimates are shrunken; these numbers describe them and are no test of a hypothesis.\n")
  invisible(x)
}
