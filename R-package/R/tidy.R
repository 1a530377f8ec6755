# Data frames in the manner of package generics, registered only where that is installed.

tidy.fusedlr <- function(x, which = 1L, ...) {
  b <- params_at(x, which)
  data.frame(term = rep(rownames(b), ncol(b)), task = rep(colnames(b), each = nrow(b)), estimate = as.vector(b),
             group = as.vector(pattern_of(x, which)))
}

glance.fusedlr <- function(x, which = 1L, ...) {
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
