# What the solver sees: features, signs, weights, offsets, factors of the penalties, and which tasks are neighbours.

read_problem <- function(x, y, tasks, weights, offset, penalty_factors, fusion_factors, standardize, fuse_intercepts,
                         kind, breaks) {
  x <- read_features(x)
  warn_collinear(x)
  kind <- check_word("kind", kind, c("sequential", "cumulative"))
  outcome <- read_outcome(y, kind, breaks)
  names <- colnames(outcome$signs)
  if (nrow(outcome$signs) != nrow(x))
    refuse("y must have one row for each of the ", nrow(x), " rows of x, found ", nrow(outcome$signs))
  weights <- per_label("weights", weights, 1, nrow(x), names)
  if (any(weights < 0)) refuse("weights must not be negative, found ", shown(min(weights)))
  signs <- unname(outcome$signs)
  weights[is.na(signs)] <- 0
  times <- largest_weights(weights)
  if (!is.null(outcome$exposure)) weights <- weights * outcome$exposure
  signs[weights == 0] <- 0
  empty <- colSums(weights) == 0
  if (any(empty)) refuse("y and weights must leave an observed label in every task; there is none in ",
                         quoted(names[empty]))
  scale <- if (check_flag("standardize", standardize)) column_scales(x, times) else rep(1, ncol(x))
  fuse_intercepts <- check_flag("fuse_intercepts", fuse_intercepts)
  list(x = x, signs = signs, weights = weights, times = times, offset = per_label("offset", offset, 0, nrow(x), names),
       has_offset = !is.null(offset), graph = read_graph(tasks, names), scale = scale,
       factors = row_factors(read_factors("penalty_factors", penalty_factors, colnames(x)),
                             read_factors("fusion_factors", fusion_factors, colnames(x)), scale, fuse_intercepts),
       fuse_intercepts = fuse_intercepts, standardize = standardize, tasks = names,
       labels = outcome$labels, outcome = outcome[setdiff(names(outcome), c("signs", "labels", "exposure"))])
}

# Factors on l1, l2 and fusion of each row of the coefficients, (1 + d, 3). They standardize features: a fit with a
# feature divided by s is the fit of the feature itself with l1 and fusion times s and l2 times s^2.
row_factors <- function(factors, fusion_factors, scale, fuse_intercepts) {
  rbind(c(0, 0, fuse_intercepts),
        cbind(l1 = factors * scale, l2 = factors * scale^2, fusion = fusion_factors * scale))
}

read_features <- function(x) {
  if (inherits(x, "sparseMatrix"))
    refuse("x must be a dense matrix; a sparse one (", class(x)[1L],
           ") is not supported: use as.matrix(x) where it fits")
  if (is.data.frame(x)) {
    text <- !vapply(x, function(v) is.numeric(v) || is.logical(v), NA)
    if (any(text)) refuse("x must hold numbers; columns ", quoted(names(x)[text]),
                          " do not: use a formula, or model.matrix()")
  }
  x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) refuse("x must be a matrix of numbers, found ", typeof(x))
  if (!nrow(x) || !ncol(x)) refuse("x must have rows and columns, found ", nrow(x), " by ", ncol(x))
  storage.mode(x) <- "double"
  bad <- !is.finite(x)
  if (any(bad)) refuse("x has NA, NaN or Inf in ", sum(rowSums(bad) > 0), " rows; drop or impute them")
  if (is.null(colnames(x))) colnames(x) <- paste0("V", seq_len(ncol(x)))
  if (anyDuplicated(colnames(x))) refuse("x must not repeat the name of a column, found ",
                                         quoted(colnames(x)[duplicated(colnames(x))]), " twice")
  without_intercept(x)
}

# model.matrix() brings a column of ones, which the model adds itself.
without_intercept <- function(x) {
  ours <- colnames(x) == "(Intercept)"
  if (!any(ours)) return(x)
  if (any(x[, ours] != 1)) refuse("x has a column (Intercept) that is not all 1; rename it")
  if (ncol(x) == 1L) refuse("x must have a column beside (Intercept)")
  x[, !ours, drop = FALSE]
}

# Standard deviation of each feature over the rows, each as often as it counts; 1 where it does not vary.
column_scales <- function(x, times) {
  spread <- .Call(C_scales, t(x), matrix(times, 1L))
  replace(spread, spread == 0, 1)
}

read_factors <- function(name, factors, features) {
  if (is.null(factors)) return(rep(1, length(features)))
  if (!is.numeric(factors) || !all(is.finite(factors)) || any(factors < 0))
    refuse(name, " must hold numbers that are finite and not negative, found ", shown(factors))
  if (!is.null(names(factors))) {
    unknown <- setdiff(names(factors), features)
    if (length(unknown)) refuse(name, " names features that x does not have: ", quoted(unknown))
    return(unname(replace(stats::setNames(rep(1, length(features)), features), names(factors), factors)))
  }
  if (length(factors) != length(features))
    refuse(name, " must hold one number for each of the ", length(features), " features, found ",
           length(factors))
  as.numeric(factors)
}

# A number, a vector by row, or a matrix (n, t); columns of a matrix are found by name where it has the tasks' names.
per_label <- function(name, value, default, n, tasks) {
  if (is.null(value)) value <- default
  if (is.data.frame(value)) value <- as.matrix(value)
  if (!is.numeric(value) && !is.logical(value)) refuse(name, " must hold numbers, found class ", class(value)[1L])
  if (!all(is.finite(value))) refuse(name, " must be finite, found NA, NaN or Inf")
  if (is.matrix(value) && setequal(colnames(value), tasks)) value <- value[, tasks, drop = FALSE]
  if (is.matrix(value) && ncol(value) == 1L) value <- drop(value)
  fits <- if (is.matrix(value)) all(dim(value) == c(n, length(tasks))) else length(value) %in% c(1L, n)
  if (!fits) refuse(name, " must hold one number for each of the ", n, " rows, or a matrix with a column for each task")
  matrix(as.numeric(value), n, length(tasks))
}

# Edges as positions from 0, the smaller first, as the core wants them.
read_graph <- function(tasks, names) {
  t <- length(names)
  if (is.character(tasks) && length(tasks) == 1L && is.null(dim(tasks))) {
    tasks <- check_word("tasks", tasks, c("chain", "ring"))
    if (tasks == "ring" && t < 3L) refuse("tasks = \"ring\" needs at least 3 tasks, found ", t, "; use \"chain\"")
    first <- seq_len(if (tasks == "ring") t else t - 1L)
    edges <- cbind(first, first %% t + 1, rep(1, length(first)))
  } else if ((is.matrix(tasks) || is.data.frame(tasks)) && ncol(tasks) %in% 2:3) {
    tasks <- as.data.frame(tasks, stringsAsFactors = FALSE)
    weights <- if (ncol(tasks) == 3L) suppressWarnings(as.numeric(tasks[[3L]])) else rep(1, nrow(tasks))
    edges <- cbind(task_positions(tasks[[1L]], names), task_positions(tasks[[2L]], names), weights)
  } else refuse("tasks must be \"chain\", \"ring\", or a matrix of edges with two columns (task, task) or three ",
                "(and a weight), found ", shown(tasks))
  make_graph(edges, t)
}

task_positions <- function(v, names) {
  known <- match(as.character(v), names)
  number <- suppressWarnings(as.numeric(as.character(v)))
  known <- ifelse(is.na(known) & number %in% seq_along(names), number, known)
  if (anyNA(known)) refuse("tasks: no task ", quoted(as.character(v)[is.na(known)]), "; there are ", quoted(names),
                           " or positions 1 to ", length(names))
  known
}

make_graph <- function(edges, t) {
  ends <- cbind(pmin(edges[, 1L], edges[, 2L]), pmax(edges[, 1L], edges[, 2L]))
  weights <- as.numeric(edges[, 3L])
  if (any(ends[, 1L] == ends[, 2L])) refuse("tasks: an edge joins two different tasks")
  if (anyDuplicated(ends)) refuse("tasks: an edge is given twice; add the weights instead")
  if (!all(is.finite(weights)) || any(weights <= 0)) refuse("tasks: the weight of an edge must be finite and positive")
  chain <- nrow(ends) == t - 1L && all(ends == cbind(seq_len(t - 1L), seq_len(t - 1L) + 1L))
  list(ends = matrix(as.integer(t(ends) - 1), nrow = 2L), weights = weights, chain = chain)
}

is_ring <- function(graph, t) {
  t > 2L && ncol(graph$ends) == t && all((graph$ends[2L, ] - graph$ends[1L, ]) %in% c(1L, t - 1L))
}

graph_word <- function(graph, t) {
  word <- if (t == 1L) "single" else if (graph$chain) "chain" else if (is_ring(graph, t)) "ring" else
    paste(ncol(graph$ends), "edges")
  if (any(graph$weights != 1)) paste("weighted", word) else word
}

# Connected component of each task, by the position of one of its tasks.
components <- function(graph, t) {
  part <- seq_len(t)
  for (e in seq_len(ncol(graph$ends))) {
    pair <- part[graph$ends[, e] + 1L]
    part[part == pair[2L]] <- pair[1L]
  }
  part
}

some_rows <- function(problem, rows) {
  problem$times <- problem$times[rows]
  for (name in c("x", "signs", "weights", "offset")) problem[[name]] <- problem[[name]][rows, , drop = FALSE]
  problem
}

# Rows are the independent units: each counts once, by its largest weight, however many tasks it has and whatever share
# of an interval it was watched.
row_weights <- function(problem) problem$times

largest_weights <- function(weights) do.call(pmax, lapply(seq_len(ncol(weights)), function(k) weights[, k]))
