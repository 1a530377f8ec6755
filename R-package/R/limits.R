# Ends of the grid of penalties: the smallest l1 with empty support, the smallest fusion that ties all tasks.

LIMIT_TOL <- 1e-10

# The null model: intercepts and unpenalized features, every other coefficient zero, (1 + d, t).
null_params <- function(problem) {
  free <- problem$factors[-1L, "l1"] == 0
  small <- problem
  small$x <- if (any(free)) problem$x[, free, drop = FALSE] else matrix(0, nrow(problem$x), 1L)
  small$factors <- matrix(0, 1L + ncol(small$x), 3L)
  found <- solve_points(small, c(0, 0, 0), LIMIT_TOL)$params
  params <- matrix(0, 1L + ncol(problem$x), length(problem$tasks))
  params[c(TRUE, free), ] <- matrix(found, nrow(found))[seq_len(1L + sum(free)), ]
  params
}

# Smallest l1 at which every penalized coefficient is zero, without fusion.
l1_limit <- function(problem) {
  held <- which(problem$factors[, "l1"] > 0)
  if (!length(held)) return(0)
  slopes <- abs(gradient(problem, null_params(problem))[held, , drop = FALSE])
  max(apply(slopes, 1L, max) / problem$factors[held, "l1"])
}

# The pooled fit: all tasks of a connected component are equal, up to intercepts that are not fused.
pooled_params <- function(problem, l1) {
  params <- matrix(0, 1L + ncol(problem$x), length(problem$tasks))
  part <- components(problem$graph, length(problem$tasks))
  for (first in unique(part)) params[, part == first] <- pooled_columns(problem, which(part == first), l1)
  params
}

pooled_columns <- function(problem, members, l1) {
  d <- ncol(problem$x)
  t <- length(members)
  own <- !problem$fuse_intercepts && t > 1L
  one <- problem
  task <- match(label_task(problem$labels), members)
  seen <- which(!is.na(task))
  one$x <- problem$x[problem$labels$row[seen] + 1L, , drop = FALSE]
  if (own) one$x <- cbind(one$x, diag(t)[task[seen], -1L])
  one$labels <- list(start = c(0, length(seen)), row = seq_along(seen) - 1L, sign = problem$labels$sign[seen],
                     weight = problem$labels$weight[seen])
  offset <- label_offset(problem)
  if (!is.null(offset)) one$offset <- matrix(offset[seen])
  one$factors <- rbind(problem$factors * t, matrix(0, ncol(one$x) - d, 3L))
  one$graph <- make_graph(matrix(0, 0L, 3L), 1L)
  # Where rows are too few for an unpenalized fit, a ridge of a thousandth of the mean curvature replaces an l2 of 0.
  l2 <- 0
  if (l1 == 0)
    l2 <- 1e-3 * mean(task_products(problem$x^2, problem$labels, problem$labels$weight) / problem$scale^2) / 4 / t
  column <- solve_points(one, c(l1, l2, 0), LIMIT_TOL)$params[, 1L, 1L]
  params <- matrix(column[seq_len(1L + d)], 1L + d, t)
  if (own) params[1L, ] <- params[1L, ] + c(0, column[-seq_len(1L + d)])
  params
}

# Smallest fusion at which all tasks have the same coefficients and, where these are fused, the same intercept. By the
# KKT conditions subgradients along the edges must cancel the gradient of every set of tasks.
fusion_limit <- function(problem, l1) {
  if (!ncol(problem$graph$ends)) return(0)
  params <- pooled_params(problem, l1)
  l1_rows <- l1 * problem$factors[, "l1"]
  slopes <- gradient(problem, params) + l1_rows * sign(params)
  slack <- ifelse(params == 0, l1_rows, 0)
  rows <- problem$factors[, "fusion"] > 0
  unit <- problem$factors[rows, "fusion"]
  sets <- task_sets(problem$graph, ncol(params))
  ends <- problem$graph$ends + 1L
  cuts <- drop(abs(sets[, ends[1L, ], drop = FALSE] - sets[, ends[2L, ], drop = FALSE]) %*% problem$graph$weights)
  sets <- sets[cuts > 0, , drop = FALSE]
  excess <- abs(sets %*% t(slopes[rows, , drop = FALSE] / unit)) - sets %*% t(slack[rows, , drop = FALSE] / unit)
  max(0, excess / cuts[cuts > 0])
}

# Indicators of the sets of tasks that decide this, one 0/1 row each: arcs of a ring, elsewhere all subsets.
task_sets <- function(graph, t) {
  ring <- (graph$ends[2L, ] - graph$ends[1L, ]) %in% c(1L, t - 1L)
  if (all(ring)) {
    arcs <- expand.grid(length = seq_len(t) - 1L, first = seq_len(t) - 1L)
    return(outer(seq_len(nrow(arcs)), seq_len(t) - 1L, function(a, k) ((k - arcs$first[a]) %% t <= arcs$length[a]) * 1))
  }
  if (t > 12L)
    refuse("fusion must be given for more than 12 tasks in a graph other than a chain or ring: the default grid would ",
           "look at every set of tasks")
  outer(seq_len(2^t - 1), seq_len(t) - 1L, function(s, k) (s %/% 2^k) %% 2)
}

# Mean over features and tasks of the curvature of the loss in one penalized coefficient, adjusted for the intercept, in
# units in which l2 has the factor 1.
mean_curvature <- function(problem) {
  held <- problem$factors[-1L, "l1"] > 0
  if (!any(held)) return(0)
  labels <- problem$labels
  linear <- label_linear(problem, null_params(problem))
  second <- labels$weight * stats::plogis(linear) * stats::plogis(-linear)
  x <- problem$x[, held, drop = FALSE]
  sums <- task_products(x, labels, second)
  found <- task_products(x^2, labels, second) - sums^2 / rep(pmax(by_task(labels, second), 1e-300), each = ncol(x))
  mean(found / problem$scale[held]^2)
}

# 10 values of l1, 3 of l2, 9 of fusion that suit the data; see the help page of cv.fusedlr.
default_penalties <- function(problem) {
  top <- l1_limit(problem)
  low <- if (nrow(problem$x) > ncol(problem$x)) 1e-3 else 1e-2
  l1 <- if (top > 0) top * low^((0:9) / 9) else 0
  tie <- max(vapply(l1[c(1L, length(l1) %/% 2L + 1L, length(l1))], fusion_limit, 0, problem = problem))
  list(l1 = l1, l2 = unique(mean_curvature(problem) * c(0, 0.03, 0.3)),
       fusion = if (tie > 0) c(0, tie * 1e-3^((7:0) / 7)) else 0)
}

# x' times values of the labels, task by task, (d, t).
task_products <- function(x, labels, values) {
  table <- matrix(0, nrow(x), n_tasks(labels))
  table[cbind(labels$row + 1L, label_task(labels))] <- values
  crossprod(x, table)
}

# Gradient of the loss in the coefficients, (1 + d, t).
gradient <- function(problem, params) {
  labels <- problem$labels
  residual <- -labels$weight * labels$sign * stats::plogis(-labels$sign * label_linear(problem, params))
  rbind(by_task(labels, residual), task_products(unname(problem$x), labels, residual))
}
