# The two ways into a fit: a matrix of features with labels, or a formula.

fusedlr <- function(x, ...) UseMethod("fusedlr")

# Arguments that describe the problem, the same in every door.
PROBLEM <- c("task", "order", "groups", "tasks", "weights", "offset", "penalty_factors", "fusion_factors",
             "standardize", "fuse_intercepts", "kind", "direction", "breaks", "causes", "yes")

fusedlr.default <- function(x, y, l1, l2 = 0, fusion, task = NULL, order = NULL, groups = NULL, tasks = "chain",
                            weights = NULL, offset = NULL, penalty_factors = NULL, fusion_factors = NULL,
                            standardize = TRUE, fuse_intercepts = FALSE, kind = c("sequential", "cumulative"),
                            direction = c("forward", "backward"), breaks = NULL, causes = NULL, yes = NULL,
                            lambda = NULL, alpha = 1, penalty.factor = NULL, tol = NULL, maxit = 200L, ...) {
  check_no_more(...)
  if (missing(y)) refuse("y is needed: labels, an ordered factor or Surv(time, event) for each row of x")
  call <- as_called(match.call())
  if (!missing(alpha) && is.null(lambda)) refuse("alpha goes with lambda; give l1 and l2, or lambda and alpha")
  groups <- with_word(groups, substitute(groups))
  tol <- check_tol(tol)
  maxit <- check_whole("maxit", maxit, 1L, 1e9)
  problem <- read_problem(x, y, mget(c(PROBLEM, "lambda", "penalty.factor")))
  points <- read_points(problem, if (!missing(l1)) l1, if (!missing(l2) || is.null(lambda)) l2,
                        if (!missing(fusion)) fusion, lambda, alpha)
  fit_problem(problem, points, tol, maxit, call)
}

fusedlr.formula <- function(formula, data = environment(formula), ..., task = NULL, groups = NULL, weights = NULL,
                            offset = NULL, subset = NULL, na.action = getOption("na.action")) {
  check_handed_on(as.list(substitute(list(...)))[-1L], fusedlr.default)
  extras <- list(task = substitute(task), groups = substitute(groups), weights = substitute(weights),
                 offset = substitute(offset))
  parts <- read_formula(formula, data, extras, substitute(subset), na.action, parent.frame())
  fit <- fusedlr.default(parts$x, parts$y, ..., task = parts$task, groups = parts$groups, weights = parts$weights,
                         offset = parts$offset)
  with_formula(fit, parts, as_called(match.call()))
}

# The call under the name of the generic, so that update() finds it.
as_called <- function(call, name = "fusedlr") {
  call[[1L]] <- as.name(name)
  call
}

with_formula <- function(fit, parts, call) {
  fit$call <- call
  fit[names(parts$record)] <- parts$record
  fit
}

# A word for the groups, where the user gave a name and not some expression.
with_word <- function(groups, expression) {
  if (is.null(groups) || !is.null(attr(groups, "word"))) return(groups)
  if (is.call(expression) && identical(expression[[1L]], as.name("$"))) expression <- expression[[3L]]
  word <- if (is.name(expression)) as.character(expression) else "group"
  structure(groups, word = if (word %in% c("row", "groups")) "group" else word)
}

# Points (l1, l2, fusion) in the order of nested loops: l1 outside, fusion inside. lambda and alpha are glmnet's, whose
# loss is a mean over rows: a path on which l1 and l2 fall together.
read_points <- function(problem, l1, l2, fusion, lambda, alpha) {
  if (!is.null(lambda) && (!is.null(l1) || !is.null(l2))) refuse("give l1 and l2, or lambda and alpha, not both")
  if (is.null(fusion) && length(problem$tasks) == 1L) fusion <- 0
  if (is.null(l1) && is.null(lambda) || is.null(fusion))
    refuse(if (is.null(l1) && is.null(lambda)) "l1" else "fusion",
           " is needed: a number, or several for a grid; cv.fusedlr() chooses it for you")
  fusion <- check_penalties("fusion", fusion)
  if (is.null(lambda))
    return(grid_points(list(l1 = check_penalties("l1", l1), l2 = check_penalties("l2", l2), fusion = fusion)))
  alpha <- check_number("alpha", alpha, 0, 1)
  total <- check_penalties("lambda", lambda) * sum(problem$units$times)
  cbind(l1 = rep(alpha * total, each = length(fusion)), l2 = rep((1 - alpha) * total, each = length(fusion)),
        fusion = rep(fusion, length(total)))
}

grid_points <- function(lists) {
  as.matrix(expand.grid(fusion = lists$fusion, l2 = lists$l2, l1 = lists$l1)[c("l1", "l2", "fusion")])
}

fit_problem <- function(problem, points, tol, maxit, call) {
  warn_one_class(problem)
  # As in Python, the points of a grid are solved to 1e-6 where nothing else is said.
  found <- solve_points(problem, points, if (is.null(tol) && nrow(points) > 1L) 1e-6 else tol, maxit)
  params <- found$params
  dimnames(params) <- list(c("(Intercept)", colnames(problem$x)), problem$tasks, NULL)
  if (nrow(points) == 1L) warn_status(found$table, if (is.null(tol)) ACCEPTED else tol)
  structure(list(params = params, table = cbind(as.data.frame(points), found$table), problem = problem, tol = tol,
                 maxit = maxit, call = call, format = FORMAT), class = "fusedlr")
}
