# The two ways into a fit: a matrix of features with labels, or a formula.

fusedlr <- function(x, ...) UseMethod("fusedlr")

fusedlr.default <- function(x, y, l1, l2 = 0, fusion, tasks = "chain", weights = NULL, offset = NULL,
                            penalty_factors = NULL, fusion_factors = NULL, standardize = TRUE,
                            fuse_intercepts = FALSE, kind = c("sequential", "cumulative"), breaks = NULL,
                            lambda = NULL, alpha = 1, tol = NULL, maxit = 200L, ...) {
  check_no_more(...)
  call <- as_called(match.call())
  if (!missing(alpha) && is.null(lambda)) refuse("alpha goes with lambda; give l1 and l2, or lambda and alpha")
  problem <- read_problem(x, y, tasks, weights, offset, penalty_factors, fusion_factors, standardize,
                          fuse_intercepts, kind, breaks)
  lists <- read_penalties(problem, if (!missing(l1)) l1, if (!missing(l2) || is.null(lambda)) l2,
                          if (!missing(fusion)) fusion, lambda, alpha)
  fit_problem(problem, lists, tol, maxit, call)
}

fusedlr.formula <- function(formula, data = environment(formula), l1, l2 = 0, fusion, tasks = "chain", weights = NULL,
                            offset = NULL, subset = NULL, ...) {
  check_handed_on(as.list(substitute(list(...)))[-1L], fusedlr.default)
  parts <- read_formula(formula, data, substitute(weights), substitute(offset), substitute(subset), parent.frame())
  arguments <- list(parts$x, parts$y, tasks = tasks, weights = parts$weights, offset = parts$offset, ...)
  if (!missing(l1)) arguments$l1 <- l1
  if (!missing(l2)) arguments$l2 <- l2
  if (!missing(fusion)) arguments$fusion <- fusion
  fit <- do.call(fusedlr.default, arguments)
  with_formula(fit, parts, as_called(match.call()))
}

# The call under the name of the generic, so that update() finds it.
as_called <- function(call, name = "fusedlr") {
  call[[1L]] <- as.name(name)
  call
}

with_formula <- function(fit, parts, call) {
  fit$call <- call
  fit[c("formula", "terms", "xlevels", "contrasts")] <- parts[c("formula", "terms", "xlevels", "contrasts")]
  fit
}

# A missing label leaves out this label and not the row, so rows with NA are kept until x is checked.
read_formula <- function(formula, data, weights, offset, subset, caller) {
  if (length(formula) != 3L) refuse("formula must have the tasks on its left side: cbind(y1, y2) ~ x1 + x2")
  env <- environment(formula)
  if (!is.data.frame(data) && !is.environment(data)) refuse("data must be a data.frame, found class ", class(data)[1L])
  if (!is.null(subset)) data <- subset_rows(data, eval(subset, data, caller))
  terms <- stats::delete.response(stats::terms(formula, data = if (is.data.frame(data)) data))
  frame <- stats::model.frame(terms, data, na.action = stats::na.pass)
  terms <- attr(frame, "terms")
  x <- stats::model.matrix(terms, frame)
  offset <- eval(offset, data, caller)
  if (!is.null(stats::model.offset(frame))) offset <- stats::model.offset(frame) + if (is.null(offset)) 0 else offset
  list(x = x, y = left_side(formula[[2L]], data, env), weights = eval(weights, data, caller), offset = offset,
       formula = formula, terms = terms, xlevels = stats::.getXlevels(terms, frame), contrasts = attr(x, "contrasts"))
}

subset_rows <- function(data, subset) {
  if (!is.data.frame(data)) refuse("subset needs data: a data.frame with the variables of the formula")
  if (!is.logical(subset) && !is.numeric(subset))
    refuse("subset must be TRUE or FALSE for each row, or numbers of rows, found ", shown(subset))
  if (is.logical(subset)) subset <- subset & !is.na(subset)
  data[subset, , drop = FALSE]
}

# l1, l2 and fusion as lists of numbers; lambda and alpha are glmnet's, whose loss is a mean over rows.
read_penalties <- function(problem, l1, l2, fusion, lambda, alpha) {
  if (!is.null(lambda)) {
    if (!is.null(l1) || !is.null(l2)) refuse("give l1 and l2, or lambda and alpha, not both")
    alpha <- check_number("alpha", alpha, 0, 1)
    if (length(lambda) > 1L && alpha < 1)
      refuse("lambda must be one number where alpha is below 1, because l1 and l2 are crossed in a grid; found ",
             shown(lambda))
    total <- check_penalties("lambda", lambda) * sum(row_weights(problem))
    l1 <- alpha * total
    l2 <- unique((1 - alpha) * total)
  }
  if (is.null(fusion) && length(problem$tasks) == 1L) fusion <- 0
  if (is.null(l1) || is.null(fusion))
    refuse(if (is.null(l1)) "l1" else "fusion",
           " is needed: a number, or several for a grid; cv.fusedlr() chooses it for you")
  list(l1 = check_penalties("l1", l1), l2 = check_penalties("l2", l2), fusion = check_penalties("fusion", fusion))
}

# Points in the order of nested loops: l1 outside, fusion inside.
grid_points <- function(lists) {
  as.matrix(expand.grid(fusion = lists$fusion, l2 = lists$l2, l1 = lists$l1)[c("l1", "l2", "fusion")])
}

fit_problem <- function(problem, lists, tol, maxit, call) {
  if (!is.null(tol)) tol <- check_number("tol", tol, 0, 1, open = TRUE)
  maxit <- check_whole("maxit", maxit, 1L)
  points <- grid_points(lists)
  warn_one_class(problem)
  found <- solve_points(problem, points, tol, maxit)
  params <- found$params
  dimnames(params) <- list(c("(Intercept)", colnames(problem$x)), problem$tasks, NULL)
  if (nrow(points) == 1L) warn_status(found$table, if (is.null(tol)) ACCEPTED else tol)
  structure(list(params = params, table = cbind(as.data.frame(points), found$table), problem = problem, tol = tol,
                 maxit = maxit, call = call, format = FORMAT), class = "fusedlr")
}
