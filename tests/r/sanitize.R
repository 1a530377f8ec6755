# Random fits of every kind from R, for a build with the compiler's checks: Rscript sanitize.R NUMBER
library(fusedlr)
number <- as.integer(commandArgs(trailingOnly = TRUE)[1])

draw <- function() {
  n <- sample(5:60, 1)
  d <- sample(1:30, 1)
  t <- sample(1:9, 1)
  x <- matrix(rnorm(n * d), n)
  y <- matrix(rbinom(n * t, 1, plogis(x[, 1])), n)
  y[sample(length(y), length(y) %/% 10)] <- NA
  y[1:2, ] <- 0:1
  graphs <- if (t > 2) list("chain", "ring", cbind(1, 2:t, runif(t - 1)), t(combn(t, 2))) else list("chain")
  one_of <- function(...) list(...)[[sample(...length(), 1)]]
  list(x = x, y = y, tasks = do.call(one_of, graphs), weights = one_of(NULL, matrix(runif(n * t) + 0.1, n)),
       offset = one_of(NULL, rnorm(n)), penalty_factors = one_of(NULL, runif(d)), standardize = one_of(TRUE, FALSE),
       fuse_intercepts = one_of(TRUE, FALSE), l1 = one_of(c(3, 1, 0.1), rexp(1)), l2 = one_of(0, rexp(1)),
       fusion = one_of(0, c(0, 1), rexp(1)))
}

levels_of <- function(x, t) cut(x[, 1] + rnorm(nrow(x)), t, labels = seq_len(t), ordered_result = TRUE)

# What follows a fit: predictions, likelihood, an unpenalized fit, resamples, penalties by cross-validation.
use <- function(fit, problem) {
  last <- nrow(fit$table)
  stopifnot(all(is.finite(coef(fit))), all(is.finite(predict(fit, problem$x, offset = 0, which = last))))
  stopifnot(is.finite(logLik(fit, which = last)), nobs(fit) <= nrow(problem$x))
  refit(fit, which = last)
  bootstrap(fit, n = 2, which = last)
}

for (seed in seq_len(number)) {
  set.seed(seed)
  problem <- draw()
  suppressWarnings(use(do.call(fusedlr, problem), problem))
  if (seed %% 10 == 0) suppressWarnings({
    x <- problem$x
    cv.fusedlr(x, problem$y[, 1], nfolds = 2, l1 = c(1, 0.1), l2 = 0, fusion = 0)
    long <- rbind(x, x, x)
    use(fusedlr(long, droplevels(levels_of(long, 3)), l1 = 1, fusion = 1), list(x = long))
  })
}

# A fit that is stopped gives its memory back as well.
stopped <- 0
x <- matrix(rnorm(6e5), 600)
y <- matrix(rbinom(6000, 1, 0.5), 600)
for (i in 1:3) {
  setTimeLimit(elapsed = 0.5 * i, transient = TRUE)
  tryCatch(repeat fusedlr(x, y, l1 = 0.01, fusion = 0.01), error = function(e) stopped <<- stopped + 1,
           interrupt = function(e) stopped <<- stopped + 1)
  setTimeLimit()
}
stopifnot(stopped == 3)
cat(number, "fits on the", fusedlr_cpu(), "build, and 3 that were stopped\n")
