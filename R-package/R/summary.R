# A fit to read: exactly equal neighbours are joined by "=", exact zeros are dots.

print.fusedlr <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  chkDots(...)
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  if (is_grid(x)) {
    print(x$table[c("l1", "l2", "fusion", "nonzeros", "df", "gap", "status")], digits = digits)
    return(invisible(x))
  }
  print_params(params_of(x), pattern_of(x), x$problem$graph, digits)
  cat("\n", x$table$df, " distinct values; ", gap_text(x$table), "\n", sep = "")
  if (length(x$na.action)) cat(na_text(x$na.action), "\n", sep = "")
  invisible(x)
}

gap_text <- function(row) {
  gap <- if (row$gap < 1e-12) "below 1e-12" else format(row$gap, digits = 2L)
  paste0(sub("_", " ", row$status, fixed = TRUE), ", duality gap ", gap)
}

# Numbers with their ties; features that are zero in every task are counted, not shown.
print_params <- function(params, pattern, graph, digits) {
  kept <- c(TRUE, rowSums(pattern[-1L, , drop = FALSE] > 0) > 0)
  b <- params[kept, , drop = FALSE]
  groups <- pattern[kept, , drop = FALSE]
  cells <- formatC(b, digits = digits, format = "g", flag = "#")
  cells[] <- vapply(cells, function(cell) sub("\\.$", "", cell), "")
  cells[groups == 0L] <- "."
  cells[] <- paste0(cells, tie_marks(groups, graph))
  print(cells, quote = FALSE, right = TRUE)
  if (any(!kept)) cat("Not shown: zero in every task:", sum(!kept), if (sum(!kept) > 1L) "features\n" else "feature\n")
}

# Behind a value of a chain or ring "=" if the next one is equal; elsewhere a letter for each set of equal values.
tie_marks <- function(groups, graph) {
  t <- ncol(groups)
  marks <- matrix("", nrow(groups), t)
  if (t == 1L) return(marks)
  if (is_line(graph) || is_ring(graph, t)) {
    same <- groups[, -1L, drop = FALSE] == groups[, -t, drop = FALSE] & groups[, -1L, drop = FALSE] > 0L
    marks[, -t] <- ifelse(same, " =", "  ")
    if (is_ring(graph, t)) marks[, t] <- ifelse(groups[, t] == groups[, 1L] & groups[, t] > 0L, " =", "  ")
    return(marks)
  }
  for (row in seq_len(nrow(groups))) {
    shared <- unique(groups[row, duplicated(groups[row, ]) & groups[row, ] > 0L])
    number <- match(groups[row, ], shared)
    marks[row, ] <- ifelse(is.na(number), "  ", paste0(" ", letters[(number - 1L) %% 26L + 1L]))
  }
  marks
}

summary.fusedlr <- function(object, ...) {
  fit <- one_fit(object, ...)
  problem <- fit$problem
  params <- params_of(fit)
  labels <- problem$labels
  losses <- task_losses(problem, params)
  counts <- by_task(labels, labels$weight)
  yes <- by_task(labels, labels$weight * (labels$sign > 0))
  tasks <- data.frame(labels = counts, yes, share = yes / counts, nonzero = colSums(params[-1L, , drop = FALSE] != 0),
                      logLik = -losses, explained = 1 - losses / null_losses(problem), row.names = problem$tasks)
  structure(list(call = fit$call, point = fit$table, tasks = tasks, params = params, pattern = pattern_of(fit),
                 problem = problem[c("graph", "fuse_intercepts", "standardize", "outcome", "words")],
                 rows = length(unique(labels$row)), unlabelled = nrow(problem$x) - length(unique(labels$row)),
                 groups = if (!are_rows(problem$units)) n_groups(problem), word = problem$units$word,
                 na.action = fit$na.action, logLik = logLik.fusedlr(fit), nobs = nobs.fusedlr(fit)),
            class = "summary.fusedlr")
}

print.summary.fusedlr <- function(x, digits = 4L, ...) {
  chkDots(...)
  point <- x$point
  t <- nrow(x$tasks)
  cat("\nFused logistic regression: ", t, if (t == 1L) " task (" else " tasks (", graph_word(x$problem$graph, t), "), ",
      x$rows, " rows", if (!is.null(x$groups)) paste0(" of ", x$groups, " groups (", x$word, ")"), ", ",
      nrow(x$params) - 1L, " features\n", sep = "")
  cat("l1 = ", format(point$l1, digits = 4L), ", l2 = ", format(point$l2, digits = 4L), ", fusion = ",
      format(point$fusion, digits = 4L), ": ", gap_text(point), "\n", sep = "")
  cat("logLik ", format(as.numeric(x$logLik), nsmall = 2L, digits = 6L), " (df ",
      format(attr(x$logLik, "df"), digits = 4L), "), AIC ",
      format(stats::AIC(x$logLik), digits = 6L), ", BIC ", format(stats::BIC(x$logLik), digits = 6L), "\n", sep = "")
  cat(strwrap(facts(x), 0.95 * getOption("width"), exdent = 2L), "", sep = "\n")
  print(x$tasks, digits = digits)
  cat("\n")
  print_params(x$params, x$pattern, x$problem$graph, digits)
  cat("", strwrap(notes(x), 0.95 * getOption("width")), sep = "\n")
  invisible(x)
}

# What the labels mean, and which rows and events have none.
facts <- function(x) {
  outcome <- x$problem$outcome
  words <- unique(vapply(x$problem$words, `[[`, "", 2L))
  inside <- sum(x$tasks$yes)
  c(if (outcome$kind %in% c("labels", "long")) paste0("Yes is ", quoted(words)),
    if (!is.null(outcome$levels)) paste0(length(outcome$levels), " levels (", outcome$kind,
                                         if (outcome$direction == "backward") ", backward", ")"),
    if (!is.null(outcome$breaks)) paste0(
      "Events: ", format(inside), " in the intervals", if (any(outcome$left_out > 0))
        paste0(", ", outcome$left_out[["before"]], " before and ", outcome$left_out[["beyond"]], " beyond the breaks")),
    if (x$unlabelled > 0) paste(x$unlabelled, "rows without a label"), na_text(x$na.action))
}

notes <- function(x) {
  ties <- "= joins neighbours that are exactly equal; a dot is exactly zero."
  c(ties, "Coefficients are shrunken: no standard errors; see refit() and bootstrap().",
    paste0("Penalties are added to the sum over rows; intercepts are ",
           if (x$problem$fuse_intercepts) "fused but not shrunk" else "neither fused nor shrunk",
           if (x$problem$standardize) "; penalties act on standardized features", "."))
}
