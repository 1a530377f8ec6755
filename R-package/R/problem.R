# What the solver sees: features, labels, sampling units, offsets, factors of the penalties, and which tasks are
# neighbours. Shapes are those of Python: n rows, d features, t tasks, m labels; coefficients (1 + d, t).

read_problem <- function(x, y, arguments) {
  a <- arguments
  x <- read_features(x)
  warn_collinear(x)
  outcome <- read_outcome(y, a, nrow(x))
  if (outcome$n != nrow(x))
    refuse("y must have one row for each of the ", nrow(x), " rows of x, found ", outcome$n)
  names <- outcome$tasks
  weights <- per_label("weights", a$weights, nrow(x), names)
  labels <- weighted_labels(outcome$labels, weights)
  once <- outcome$labels
  once$weight[] <- 1
  units <- if (is.null(a$groups)) row_units(weighted_labels(once, weights), nrow(x)) else
    read_groups(a$groups, labels, nrow(x))
  if (!is.null(outcome$times) && !are_rows(units)) refuse_overlaps(outcome$times, units)
  empty <- diff(labels$start) == 0
  if (any(empty)) refuse("y and weights must leave an observed label in every task; there is none in ",
                         quoted(names[empty]))
  standardize <- check_flag("standardize", a$standardize)
  scale <- if (standardize) column_scales(x, unit_shares(units, labels)) else rep(1, ncol(x))
  fuse_intercepts <- check_flag("fuse_intercepts", a$fuse_intercepts)
  factors <- read_factors("penalty_factors", a$penalty_factors, colnames(x))
  if (!is.null(a$penalty.factor)) factors <- glmnet_factors(a$penalty.factor, a$penalty_factors, a$lambda, colnames(x))
  list(x = x, labels = labels, units = units, offset = per_label("offset", a$offset, nrow(x), names),
       graph = read_graph(a$tasks, names, outcome$breaks, outcome$causes), scale = scale,
       factors = row_factors(factors, read_factors("fusion_factors", a$fusion_factors, colnames(x)), scale,
                             fuse_intercepts),
       fuse_intercepts = fuse_intercepts, standardize = standardize, tasks = names, words = outcome$words,
       outcome = outcome[setdiff(names(outcome), c("n", "labels", "words", "tasks", "times"))])
}

# Labels times the user's weights; a weight of 0 leaves a label out.
weighted_labels <- function(labels, weights) {
  if (is.null(weights)) return(labels)
  if (any(weights < 0)) refuse("weights must not be negative, found ", shown(min(weights)))
  given <- weights[cbind(labels$row + 1L, if (ncol(weights) > 1L) label_task(labels) else 1L)]
  labels$weight <- labels$weight * given
  some_labels(labels, given > 0)
}

read_groups <- function(groups, labels, n) {
  if (is.list(groups) || !is.null(dim(groups)) && ncol(as.matrix(groups)) > 1L || length(groups) != n)
    refuse("groups must hold one value for each of the ", n, " rows, found ", shown(groups))
  if (anyNA(groups))
    refuse("groups must name a group for every row, found ", sum(is.na(groups)), " missing values; drop these rows")
  given_units(as.vector(groups), attr(groups, "word"), labels)
}

# Factors on l1, l2 and fusion of each row of the coefficients, (1 + d, 3). They standardize features: a fit with a
# feature divided by s is the fit of the feature itself with l1 and fusion times s and l2 times s^2.
row_factors <- function(factors, fusion_factors, scale, fuse_intercepts) {
  rbind(c(0, 0, fuse_intercepts),
        cbind(l1 = factors * scale, l2 = factors * scale^2, fusion = fusion_factors * scale))
}

read_features <- function(x) {
  if (is_sparse(x)) return(without_intercept(named_features(read_sparse(x))))
  if (is.data.frame(x)) {
    text <- !vapply(x, function(v) is.numeric(v) || is.logical(v), NA)
    if (any(text)) refuse("x must hold numbers; columns ", quoted(names(x)[text]),
                          " do not: use a formula, or model.matrix()")
  }
  if (is.null(x) || !is.atomic(x) && !is.data.frame(x))
    refuse("x must be a matrix of numbers, found class ", class(x)[1L])
  x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) refuse("x must be a matrix of numbers, found ", typeof(x))
  if (!nrow(x) || !ncol(x)) refuse("x must have rows and columns, found ", nrow(x), " by ", ncol(x))
  storage.mode(x) <- "double"
  bad <- !is.finite(x)
  if (any(bad)) refuse("x has NA, NaN or Inf in ", sum(rowSums(bad) > 0), " rows; drop or impute them")
  if (max(abs(x)) > 1e100) refuse("x must lie between -1e100 and 1e100, found ", shown(max(abs(x))))
  without_intercept(named_features(x))
}

named_features <- function(x) {
  if (is.null(colnames(x))) colnames(x) <- paste0("V", seq_len(ncol(x)))
  if (anyDuplicated(colnames(x))) refuse("x must not repeat the name of a column, found ",
                                         quoted(colnames(x)[duplicated(colnames(x))]), " twice")
  x
}

# ---- sparse features, of package Matrix ----

is_sparse <- function(x) inherits(x, "sparseMatrix")

need_matrix <- function() {
  if (!requireNamespace("Matrix", quietly = TRUE))
    refuse("x is a sparse matrix of package Matrix, which is not installed here")
}

# Any sparse matrix as a dgCMatrix: numbers, compressed by columns.
read_sparse <- function(x) {
  need_matrix()
  for (kind in c("dMatrix", "generalMatrix", "CsparseMatrix")) x <- methods::as(x, kind)
  if (!nrow(x) || !ncol(x)) refuse("x must have rows and columns, found ", nrow(x), " by ", ncol(x))
  if (!all(is.finite(x@x))) refuse("x has NA, NaN or Inf; drop or impute them")
  if (any(abs(x@x) > 1e100)) refuse("x must lie between -1e100 and 1e100, found ", shown(max(abs(x@x))))
  x
}

# As the core takes it: a matrix, or the slots of a sparse one.
core_features <- function(x) if (is_sparse(x)) list(nrow(x), x@p, x@i, x@x) else x

dense <- function(x) if (is_sparse(x)) as.matrix(x) else x

# model.matrix() brings a column of ones, which the model adds itself.
without_intercept <- function(x) {
  ours <- colnames(x) == "(Intercept)"
  if (!any(ours)) return(x)
  if (any(dense(x[, ours, drop = FALSE]) != 1)) refuse("x has a column (Intercept) that is not all 1; rename it")
  if (ncol(x) == 1L) refuse("x must have a column beside (Intercept)")
  x[, !ours, drop = FALSE]
}

# Standard deviation of each feature over the rows, each as often as it counts; 1 where it does not vary.
column_scales <- function(x, times) {
  spread <- .Call(C_scales, core_features(x), times)
  replace(spread, spread == 0, 1)
}

read_factors <- function(name, factors, features) {
  if (is.null(factors)) return(rep(1, length(features)))
  if (!is.numeric(factors) || !all(is.finite(factors)) || any(factors < 0) || any(factors > 1e100))
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

# glmnet's penalty.factor goes with its lambda, and is rescaled as there: its mean is 1.
glmnet_factors <- function(penalty.factor, penalty_factors, lambda, features) {
  if (is.null(lambda) || !is.null(penalty_factors))
    refuse("penalty.factor goes with lambda and alpha, as in glmnet, where it is divided by its mean; ",
           "penalty_factors go with l1 and l2, as they are")
  factors <- read_factors("penalty.factor", penalty.factor, features)
  if (!any(factors > 0)) refuse("penalty.factor must have a positive number, found ", shown(penalty.factor))
  factors / mean(factors)
}

# A number, a vector by row, or a matrix (n, t); columns of a matrix are found by name where it has the tasks' names.
# NULL, or a matrix (n, 1) or (n, t).
per_label <- function(name, value, n, tasks) {
  if (is.null(value)) return(NULL)
  if (is.data.frame(value)) value <- as.matrix(value)
  if (!is.numeric(value) && !is.logical(value)) refuse(name, " must hold numbers, found class ", class(value)[1L])
  if (!all(is.finite(value))) refuse(name, " must be finite, found NA, NaN or Inf")
  if (any(abs(value) > 1e100)) refuse(name, " must lie between -1e100 and 1e100, found ", shown(max(abs(value))))
  if (is.matrix(value) && length(colnames(value)) && setequal(colnames(value), tasks))
    value <- value[, tasks, drop = FALSE]
  if (is.matrix(value) && ncol(value) == 1L) value <- drop(value)
  fits <- if (is.matrix(value)) all(dim(value) == c(n, length(tasks))) else length(value) %in% c(1L, n)
  if (!fits) refuse(name, " must hold one number for each of the ", n, " rows, or a matrix with a column for each task")
  if (is.matrix(value)) matrix(as.numeric(value), n) else matrix(as.numeric(value), n, 1L)
}

# Edges as positions from 0, the smaller first, as the core wants them. Causes of an event are not fused with each other
# unless edges say so.
read_graph <- function(tasks, names, breaks, causes) {
  t <- length(names)
  if (is.character(tasks) && length(tasks) == 1L && is.null(dim(tasks))) {
    tasks <- check_word("tasks", tasks, c("chain", "ring"))
    if (tasks == "ring" && t < 3L) refuse("tasks = \"ring\" needs at least 3 tasks, found ", t, "; use \"chain\"")
    first <- seq_len(if (tasks == "ring") t else t - 1L)
    if (tasks == "chain" && length(causes)) first <- first[first %% (length(breaks) - 1L) != 0]
    edges <- cbind(first, first %% t + 1, rep(1, length(first)))
  } else if ((is.matrix(tasks) || is.data.frame(tasks)) && ncol(tasks) %in% 2:3) {
    tasks <- as.data.frame(tasks, stringsAsFactors = FALSE)
    weights <- if (ncol(tasks) == 3L) suppressWarnings(as.numeric(tasks[[3L]])) else rep(1, nrow(tasks))
    edges <- cbind(task_places(tasks[[1L]], names), task_places(tasks[[2L]], names), weights)
  } else refuse("tasks must be \"chain\", \"ring\", or a matrix of edges with two columns (task, task) or three ",
                "(and a weight), found ", shown(tasks))
  make_graph(edges, t)
}

# Tasks by name, else by position.
task_places <- function(v, names) {
  known <- match(task_text(v), names)
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
  if (!all(is.finite(weights)) || any(weights <= 0) || any(weights > 1e100))
    refuse("tasks: the weight of an edge must be finite and positive")
  chain <- nrow(ends) == t - 1L && all(ends == cbind(seq_len(t - 1L), seq_len(t - 1L) + 1L))
  list(ends = matrix(as.integer(t(ends) - 1), nrow = 2L), weights = weights, chain = chain)
}

is_ring <- function(graph, t) {
  t > 2L && ncol(graph$ends) == t && all((graph$ends[2L, ] - graph$ends[1L, ]) %in% c(1L, t - 1L))
}

# Whether every edge joins a task with the next one: a chain, or several.
is_line <- function(graph) all(graph$ends[2L, ] - graph$ends[1L, ] == 1L)

graph_word <- function(graph, t) {
  word <- if (t == 1L) "single" else if (graph$chain) "chain" else if (is_ring(graph, t)) "ring" else
    if (is_line(graph) && ncol(graph$ends)) "chains" else paste(ncol(graph$ends), "edges")
  if (any(graph$weights != 1)) paste("weighted", word) else word
}

# Connected component of each task, by the position of its first task.
components <- function(graph, t) {
  part <- seq_len(t)
  for (e in seq_len(ncol(graph$ends))) {
    pair <- range(part[graph$ends[, e] + 1L])
    part[part == pair[2L]] <- pair[1L]
  }
  part
}

# The same problem with every weight multiplied by a number for its row: folds, draws, halves.
reweighted <- function(problem, times) {
  problem$labels$weight <- problem$labels$weight * times[problem$labels$row + 1L]
  problem
}

# The same problem with the labels of some of the rows.
on_rows <- function(problem, rows) {
  problem$labels <- some_labels(problem$labels, rows[problem$labels$row + 1L])
  problem$units$times <- if (are_rows(problem$units)) problem$units$times * rows else
    replace(0 * problem$units$times, unique(problem$units$code[problem$labels$row + 1L]) + 1L, 1)
  problem
}

# Offset of every label, NULL where there is none.
label_offset <- function(problem, labels = problem$labels) {
  if (is.null(problem$offset)) return(NULL)
  problem$offset[cbind(labels$row + 1L, if (ncol(problem$offset) > 1L) label_task(labels) else 1L)]
}

# Linear predictor of every label, (m).
label_linear <- function(problem, params) .Call(C_linear, solver_parts(problem), t(unname(params)))

# Linear predictor of every row in every task, (n, t).
row_linear <- function(x, offset, params) {
  linear <- rep(params[1L, ], each = nrow(x)) + as.matrix(x %*% params[-1L, , drop = FALSE])
  dimnames(linear) <- list(rownames(x), colnames(params))
  if (is.null(offset)) return(linear)
  linear + if (ncol(offset) > 1L) offset else offset[, rep(1L, ncol(params))]
}

# Negative log-likelihood of every label, weights not counted; exact for margins of any size.
label_loss <- function(labels, linear) {
  margin <- labels$sign * linear
  pmax(-margin, 0) + log1p(exp(-abs(margin)))
}

# Weighted negative log-likelihood of each task, and of the null model: an intercept and the offset.
task_losses <- function(problem, params) {
  found <- .Call(C_losses, unname(problem$labels), label_linear(problem, params))
  found[seq_along(problem$tasks)]
}

null_losses <- function(problem) {
  .Call(C_null_losses, unname(problem$labels), label_offset(problem))[seq_along(problem$tasks)]
}

total_loss <- function(problem, params) {
  found <- .Call(C_losses, unname(problem$labels), label_linear(problem, params))
  found[length(found)]
}
