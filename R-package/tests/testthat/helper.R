# Data and a referee that several tests share. The referee knows nothing of the solver.

simulated <- function(n = 120, d = 5, t = 3, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * d), n, dimnames = list(NULL, paste0("x", seq_len(d))))
  y <- sapply(seq_len(t), function(k) rbinom(n, 1, plogis(x[, 1] - (k > 1) * x[, 2] + 0.3 * (k - 2))))
  colnames(y) <- paste0("y", seq_len(t))
  list(x = x, y = y)
}

ozone <- function() {
  days <- na.omit(airquality)
  days$class <- cut(days$Ozone, c(0, 20, 40, 80, Inf), c("low", "fair", "high", "extreme"), ordered_result = TRUE)
  days
}

# How far params of a chain are from the optimality conditions, in the units that penalties see. The slope of the edge
# after task k is the sum of all slopes before it, known up to the intervals that zeros leave free.
chain_violation <- function(fit, which = 1L) {
  problem <- fit$problem
  stopifnot(problem$graph$chain)
  unit <- c(1, problem$scale)
  b <- matrix(fit$params[, , which], nrow(fit$params)) * unit
  x <- cbind(1, unname(problem$x)) / rep(unit, each = nrow(problem$x))
  point <- fit$table[which, ]
  linear <- x %*% b
  if (!is.null(problem$offset)) linear <- linear + problem$offset[, rep_len(seq_len(ncol(problem$offset)), ncol(b))]
  # Rows by tasks, 0 where there is no label.
  labels <- problem$labels
  place <- cbind(labels$row + 1L, rep(seq_len(ncol(b)), diff(labels$start)))
  signs <- weights <- matrix(0, nrow(x), ncol(b))
  signs[place] <- labels$sign
  weights[place] <- labels$weight
  residual <- -weights * signs * plogis(-signs * linear)
  factors <- problem$factors[, "l1"] / unit
  slopes <- crossprod(x, residual) + point$l2 * factors * b
  fusion <- point$fusion * problem$factors[, "fusion"] / unit
  max(vapply(seq_len(nrow(b)), function(row) {
    row_violation(slopes[row, ], b[row, ], point$l1 * factors[row], fusion[row] * problem$graph$weights)
  }, 0))
}

row_violation <- function(slopes, b, l1, fusion) {
  low <- high <- worst <- 0
  for (k in seq_along(b)) {
    low <- low + slopes[k] + (if (b[k] > 0) l1 else -l1)
    high <- high + slopes[k] + (if (b[k] < 0) -l1 else l1)
    room <- if (k == length(b)) c(0, 0) else
      if (b[k] == b[k + 1L]) c(-fusion[k], fusion[k]) else rep(-sign(b[k] - b[k + 1L]) * fusion[k], 2L)
    worst <- max(worst, low - room[2L], room[1L] - high)
    low <- min(max(low, room[1L]), room[2L])
    high <- max(min(high, room[2L]), room[1L])
  }
  worst
}

glm_coefs <- function(x, y) suppressWarnings(unname(coef(glm(y ~ x, family = binomial, epsilon = 1e-14, maxit = 100))))
