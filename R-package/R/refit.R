# Unpenalized refits of the zeros and ties, with standard errors, and tests of effects that change between tasks.

refit <- function(object, ...) UseMethod("refit")

# Maximum likelihood on the support and ties; without ties a term that has a value anywhere is free in every task.
refit.fusedlr <- function(object, cov_type = NULL, ties = TRUE, rows = NULL, ...) {
  fit <- one_fit(object, ...)
  ties <- check_flag("ties", ties)
  unseen <- inherits(rows, "fusedlr")
  fit <- if (is.null(rows)) fit else if (unseen) with_problem(fit, one_fit(rows)$problem) else
    with_problem(fit, on_rows(fit$problem, check_rows("rows", rows, nrow(fit$problem$x))))
  problem <- fit$problem
  usual <- if (length(problem$tasks) == 1L && are_rows(problem$units)) "nonrobust" else "cluster"
  cov_type <- check_word("cov_type", if (is.null(cov_type)) usual else cov_type, c("cluster", "nonrobust"))
  pattern <- pattern_of(fit)
  if (!ties) pattern <- released(pattern, rows_of_terms(fit))
  found <- fit_pattern(problem, pattern, cov_type)
  warn_refit(found, pattern)
  structure(c(found[c("values", "vcov")], list(pattern = pattern, names = value_names(pattern), cov_type = cov_type,
              ties = ties, unseen = unseen, fit = fit, call = fit$call)), class = c("refit.fusedlr", "fusedlr"))
}

# The selection of one fit with the rows of another.
with_problem <- function(fit, problem) {
  same <- identical(problem$tasks, fit$problem$tasks) && identical(colnames(problem$x), colnames(fit$problem$x))
  if (!same) refuse("rows must be a fit of the same tasks and features, found tasks ", quoted(problem$tasks),
                    " and features ", quoted(colnames(problem$x)))
  empty <- diff(problem$labels$start) == 0
  if (any(empty)) refuse("rows must leave an observed label in every task; there is none in ",
                         quoted(problem$tasks[empty]))
  fit$problem <- problem
  fit
}

check_rows <- function(name, rows, n) {
  if (is.logical(rows) && length(rows) == n && !anyNA(rows)) return(rows)
  if (!is.numeric(rows) || anyNA(rows) || any(rows != round(rows)) || any(abs(rows) > n) || any(rows == 0) ||
      any(rows > 0) && any(rows < 0))
    refuse(name, " must be TRUE or FALSE for each of the ", n, " rows, or numbers of rows, found ", shown(rows))
  seq_len(n) %in% seq_len(n)[rows]
}

# The pattern without ties, by whole terms: what the test of a factor says must not depend on its reference level.
released <- function(pattern, terms) {
  kept <- c(TRUE, rowSums(pattern[-1L, , drop = FALSE] > 0L) > 0)
  for (rows in terms) kept[rows] <- any(kept[rows])
  free <- pattern
  free[] <- 0L
  free[kept, ] <- matrix(seq_len(sum(kept) * ncol(pattern)), sum(kept), byrow = TRUE)
  free
}

# Estimated values, their covariance (the inverse information, or the sandwich by sampling units), and which of them
# have no finite estimate or are collinear.
fit_pattern <- function(problem, pattern, cov_type) {
  found <- .Call(C_refit, solver_parts(problem), t(unname(pattern)), problem$scale, problem$units$code,
                 problem$units$times, cov_type == "cluster")
  stats::setNames(found, c("values", "vcov", "unbounded", "collinear"))
}

# Effective degrees of freedom: distinct values, corrected for the ridge and for dependent labels (Takeuchi).
effective_df <- function(fit) {
  problem <- fit$problem
  .Call(C_df, solver_parts(problem), problem$units$code, problem$units$times, t(unname(params_of(fit))),
        fit$table$l2 * unname(problem$factors[, "l2"]))
}

warn_refit <- function(found, pattern) {
  touched <- function(which) matrix(c(FALSE, which)[pattern + 1L], nrow(pattern))
  if (any(found$unbounded)) {
    tasks <- colnames(pattern)[colSums(touched(found$unbounded)) > 0]
    warn("fusedlr_separation", "refit: the labels of ", quoted(tasks), " are separated by the selected features, so ",
         "that their coefficients have no finite maximum likelihood estimate; they are held back by a small ridge and ",
         "have no standard error; use the penalized fit, or larger penalties")
  }
  if (any(found$collinear))
    warn("fusedlr_collinear", "refit: the selected features ",
         quoted(rownames(pattern)[rowSums(touched(found$collinear)) > 0]), " are collinear, so that their ",
         "coefficients cannot be told apart and have no standard errors; drop some of them, or use the penalized fit")
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

vcov.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  names <- paste(object$names$term, object$names$tasks, sep = ": ")
  structure(object$vcov, dimnames = list(names, names))
}

confint.refit.fusedlr <- function(object, parm, level = 0.95, ...) {
  check_no_more(...)
  level <- check_number("level", level, 0, 1, open = TRUE)
  half <- stats::qnorm((1 + level) / 2) * sqrt(diag(object$vcov))
  found <- cbind(object$values - half, object$values + half)
  dimnames(found) <- list(rownames(vcov.refit.fusedlr(object)), percents(c(1 - level, 1 + level) / 2))
  if (missing(parm)) return(found)
  if (is.character(parm)) parm <- unlist(lapply(parm, function(name) rows_of_name(name, object$names$term, found)))
  check_parm(parm, rownames(found))
  found[parm, , drop = FALSE]
}

# Rows of a feature in all its groups of tasks, or the one row of that name.
rows_of_name <- function(name, terms, table) if (name %in% terms) rownames(table)[terms == name] else name

check_parm <- function(parm, names) {
  good <- if (!is.numeric(parm) && !is.character(parm)) FALSE else if (is.character(parm)) parm %in% names else
    parm %in% c(seq_along(names), -seq_along(names))
  if (!all(good)) refuse("parm names what is not there: ", shown(parm), "; there are ", quoted(names))
}

percents <- function(shares) paste(format(100 * shares, trim = TRUE, digits = 3L, decimal.mark = "."), "%")

summary.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  error <- sqrt(diag(object$vcov))
  z <- object$values / error
  table <- cbind(Estimate = object$values, `Std. Error` = error, `z value` = z, `Pr(>|z|)` = 2 * stats::pnorm(-abs(z)))
  rownames(table) <- rownames(vcov.refit.fusedlr(object))
  structure(list(coefficients = table, cov_type = object$cov_type, word = object$fit$problem$units$word,
                 ties = object$ties, unseen = object$unseen, logLik = logLik.fusedlr(object), call = object$call,
                 nobs = nobs.fusedlr(object), na.action = object$fit$na.action), class = "summary.refit.fusedlr")
}

print.refit.fusedlr <- function(x, ...) {
  print(summary.refit.fusedlr(x), ...)
  invisible(x)
}

print.summary.refit.fusedlr <- function(x, digits = 4L, ...) {
  chkDots(...)
  cat("\nUnpenalized refit of the ", if (x$ties) "zeros and ties" else "selected features, without ties,", " of\n",
      paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  stats::printCoefmat(x$coefficients, digits = digits, signif.stars = FALSE)
  said <- c(if (x$unseen) "On rows that did not choose the zeros and ties." else if (x$ties)
    "Conditional on selection: the same data chose the zeros and ties, so p-values are too small." else
    paste("Conditional on selection: the same data chose the features; intervals of effects and changes hold about",
          "their level."),
    if (x$cov_type == "cluster") paste0("Standard errors allow any dependence between the labels of a ", x$word, ".")
    else "Standard errors take all labels as independent.", na_text(x$na.action))
  cat("\n", paste(strwrap(said, 0.95 * getOption("width")), collapse = "\n"), "\n", sep = "")
  invisible(x)
}

na_text <- function(action) if (length(action)) paste0("(", stats::naprint(action), ")")

# ---- do effects change between tasks? ----

change_test <- function(object, ...) UseMethod("change_test")

# Wald tests of an equal effect in all tasks, on the refit without ties; with a sandwich covariance by Hotelling's
# T-squared and a small-sample correction.
change_test.fusedlr <- function(object, term = NULL, ...) {
  untied <- untied_refit(object, ...)
  terms <- rows_of_terms(untied$fit)
  if (is.null(term)) {
    tests <- lapply(terms, change_of, untied = untied)
    return(data.frame(do.call(rbind, tests), row.names = names(terms)))
  }
  found <- change_of(named_rows("term", term, untied$fit), untied)
  if (found[["df"]] == 0)
    refuse("term: '", term, "' has nothing to compare: the penalized fit set it to zero in every task, or no two ",
           "tasks are connected; penalty_factors of 0 keep a feature")
  structure(list(statistic = c(Wald = found[["statistic"]]), parameter = c(df = found[["df"]]),
                 p.value = found[["pvalue"]], method = "Wald test of the same effect in all tasks", data.name = term),
            class = "htest")
}

untied_refit <- function(object, ...) {
  if (!inherits(object, "refit.fusedlr")) return(refit.fusedlr(object, ties = FALSE, ...))
  check_no_more(...)
  if (object$ties) refit.fusedlr(object$fit, object$cov_type, ties = FALSE) else object
}

# Rows of the coefficients that a name stands for: those of a term, or that of a feature.
named_rows <- function(argument, name, fit) {
  features <- colnames(fit$problem$x)
  known <- c(rows_of_terms(fit), stats::setNames(as.list(seq_along(features) + 1L), features))
  if (!is.character(name) || length(name) != 1L || !name %in% names(known))
    refuse(argument, " must be one of ", quoted(names(known)), ", found ", shown(name))
  known[[name]]
}

change_of <- function(rows, untied) {
  part <- components(untied$fit$problem$graph, ncol(untied$pattern))
  others <- which(part != seq_along(part))
  contrasts <- contrasts_of(untied, rows, cbind(part[others], others))
  none <- c(statistic = NA, df = nrow(contrasts), pvalue = NA)
  variance <- contrasts %*% replace(untied$vcov, is.na(untied$vcov), 0) %*% t(contrasts)
  used <- colSums(contrasts != 0) > 0
  if (!nrow(contrasts) || anyNA(untied$vcov[used, used]) || is_singular(variance)) return(none)
  effect <- contrasts %*% untied$values
  statistic <- sum(effect * solve(variance, effect))
  q <- nrow(contrasts)
  pvalue <- if (untied$cov_type == "nonrobust") stats::pchisq(statistic, q, lower.tail = FALSE) else
    corrected(statistic, q, untied)
  c(statistic = statistic, df = q, pvalue = pvalue)
}

# The sandwich estimator is too small, and has a variance of its own.
corrected <- function(statistic, q, untied) {
  problem <- untied$fit$problem
  units <- sum(problem$units$times)
  rows <- if (are_rows(problem$units)) mean(by_task(problem$labels, problem$labels$weight)) else
    length(problem$labels$row) / n_tasks(problem$labels)
  per_task <- sum(untied$pattern[, 1L] > 0L)
  left <- min(units - 1, rows - per_task)
  if (left < q) return(NA)
  statistic <- statistic * (units - 1) / units * (rows - per_task) / (rows - 1)
  stats::pf(statistic * (left - q + 1) / (left * q), q, left - q + 1, lower.tail = FALSE)
}

is_singular <- function(variance) {
  size <- sqrt(diag(variance))
  roots <- svd(variance / outer(size, size), 0L, 0L)$d
  sum(roots > max(roots) * nrow(variance) * .Machine$double.eps) < nrow(variance)
}

# The value of the second task of each pair less that of the first, of the rows that have values, (q, p).
contrasts_of <- function(untied, rows, pairs) {
  unit <- diag(length(untied$values))
  rows <- rows[untied$pattern[rows, 1L] > 0L]
  do.call(rbind, c(list(unit[0L, , drop = FALSE]), lapply(rows, function(row) {
    number <- untied$pattern[row, ]
    unit[number[pairs[, 2L]], , drop = FALSE] - unit[number[pairs[, 1L]], , drop = FALSE]
  })))
}

differences <- function(object, ...) UseMethod("differences")

# Differences between the two tasks of every edge, with standard errors and intervals, on the refit without ties.
differences.fusedlr <- function(object, feature = NULL, level = 0.95, ...) {
  untied <- untied_refit(object, ...)
  level <- check_number("level", level, 0, 1, open = TRUE)
  asked <- if (is.null(feature)) seq_len(nrow(untied$pattern))[-1L] else named_rows("feature", feature, untied$fit)
  kept <- asked[untied$pattern[asked, 1L] > 0L]
  if (!is.null(feature) && !length(kept))
    refuse("feature: nothing was estimated for '", feature, "', which the penalized fit set to zero")
  ends <- t(untied$fit$problem$graph$ends) + 1L
  contrasts <- contrasts_of(untied, kept, ends)
  estimate <- drop(contrasts %*% untied$values)
  vague <- (contrasts != 0) %*% is.na(diag(untied$vcov)) > 0
  variance <- rowSums((contrasts %*% replace(untied$vcov, is.na(untied$vcov), 0)) * contrasts)
  error <- sqrt(ifelse(vague, NA, variance))
  half <- stats::qnorm((1 + level) / 2) * error
  tasks <- colnames(untied$pattern)
  data.frame(term = rep(rownames(untied$pattern)[kept], each = nrow(ends)), task = rep(tasks[ends[, 1L]], length(kept)),
             neighbour = rep(tasks[ends[, 2L]], length(kept)), estimate = estimate, std.error = error,
             statistic = estimate / error, p.value = 2 * stats::pnorm(-abs(estimate / error)),
             conf.low = estimate - half, conf.high = estimate + half)
}
