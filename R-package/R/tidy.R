# Data frames in the manner of package generics, registered only where that is installed.

tidy.fusedlr <- function(x, which = 1L, ...) {
  check_no_more(...)
  b <- params_at(x, which)
  data.frame(term = rep(rownames(b), ncol(b)), task = rep(colnames(b), each = nrow(b)), estimate = as.vector(b),
             group = as.vector(pattern_of(x, which)))
}

tidy.refit.fusedlr <- function(x, ...) {
  check_no_more(...)
  table <- summary.refit.fusedlr(x)$coefficients
  colnames(table) <- c("estimate", "std.error", "statistic", "p.value")
  cbind(x$names, as.data.frame(table, row.names = seq_len(nrow(table))))
}

glance.fusedlr <- function(x, which = 1L, ...) {
  check_no_more(...)
  log_lik <- logLik.fusedlr(x, which)
  cbind(x$table[which, ], logLik = as.numeric(log_lik), AIC = stats::AIC(log_lik), BIC = stats::BIC(log_lik),
        nobs = nobs.fusedlr(x))
}

augment.fusedlr <- function(x, newdata = NULL, which = 1L, ...) {
  yes <- predict.fusedlr(x, newdata, type = "response", which = which, ...)
  n <- nrow(yes)
  found <- data.frame(.row = rep(seq_len(n), ncol(yes)), .task = rep(colnames(yes), each = n), .fitted = as.vector(yes))
  if (is.null(newdata)) found$.resid <- as.vector(residuals.fusedlr(x, which = which))
  found
}
