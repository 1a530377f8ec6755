# Data frames in the manner of package generics, registered only where that is installed; tibbles where these are.

as_tibble <- function(frame) if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(frame) else frame

tidy.fusedlr <- function(x, conf.int = FALSE, ...) {
  if (check_flag("conf.int", conf.int)) vcov.fusedlr(x)
  fit <- one_fit(x, ...)
  b <- params_of(fit)
  as_tibble(data.frame(term = rep(rownames(b), ncol(b)), task = rep(colnames(b), each = nrow(b)),
                       estimate = as.vector(b), group = as.vector(pattern_of(fit))))
}

tidy.refit.fusedlr <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  table <- summary.refit.fusedlr(x, ...)$coefficients
  colnames(table) <- c("estimate", "std.error", "statistic", "p.value")
  ends <- if (check_flag("conf.int", conf.int)) confint.refit.fusedlr(x, level = conf.level)
  if (!is.null(ends)) colnames(ends) <- c("conf.low", "conf.high")
  as_tibble(cbind(x$names, as.data.frame(cbind(table, ends), row.names = seq_len(nrow(table)))))
}

tidy.bootstrap.fusedlr <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  found <- tidy.fusedlr(x, ...)
  found$std.error <- as.vector(apply(x$samples, 1:2, stats::sd))
  if (!check_flag("conf.int", conf.int)) return(found)
  ends <- confint.bootstrap.fusedlr(x, level = conf.level)
  found$conf.low <- as.vector(ends[, , 1L])
  found$conf.high <- as.vector(ends[, , 2L])
  found
}

tidy.stability.fusedlr <- function(x, ...) {
  check_no_more(...)
  as_tibble(stable(x))
}

tidy.cv.fusedlr <- function(x, ...) {
  check_no_more(...)
  as_tibble(x$table)
}

glance.fusedlr <- function(x, ...) {
  fit <- one_fit(x, ...)
  log_lik <- if (inherits(x, "refit.fusedlr")) logLik.fusedlr(x) else logLik.fusedlr(fit)
  as_tibble(cbind(fit$table, logLik = as.numeric(log_lik), AIC = stats::AIC(log_lik), BIC = stats::BIC(log_lik),
                  nobs = nobs.fusedlr(fit)))
}

# One row for each row and task, with the columns of the data in front where these are given.
augment.fusedlr <- function(x, data = NULL, newdata = NULL, ...) {
  yes <- predict.fusedlr(x, newdata, type = "response", ...)
  n <- nrow(yes)
  beside <- if (is.null(newdata)) data else newdata
  if (!is.null(beside) && (!is.data.frame(beside) || nrow(beside) != n))
    refuse("data must be a data.frame with the ", n, " rows of the fit, found ", shown(dim(beside)))
  found <- data.frame(.row = rep(seq_len(n), ncol(yes)), .task = rep(colnames(yes), each = n), .fitted = as.vector(yes))
  if (is.null(newdata)) found$.resid <- all_residuals(x, yes, ...)
  if (!is.null(beside)) found <- cbind(as.data.frame(beside)[found$.row, , drop = FALSE], found, row.names = NULL)
  as_tibble(found)
}

# Residuals in a table of rows by tasks, whatever the outcome.
all_residuals <- function(x, yes, ...) {
  residual <- residuals.fusedlr(x, ...)
  if (is.matrix(residual)) return(as.vector(residual))
  problem <- one_fit(x, ...)$problem
  table <- matrix(NA_real_, nrow(yes), ncol(yes))
  table[cbind(problem$labels$row + 1L, label_task(problem$labels))] <- residual[problem$labels$row + 1L]
  as.vector(table)
}
