# The interface to the compiled solver, and the loss that it minimises.

# Of a fit as a list. It rises when its parts change, so that one read from an older file is refused.
FORMAT <- 2L

FLOOR <- 1e-5
STATUS <- c("optimal", "separated", "not_converged")

# Without the user's tol a fit is solved until its duality gap is at the level of rounding, so that its printed digits,
# zeros and ties are those of the optimum; the core takes it as optimal if the gap is at most this.
ACCEPTED <- 1e-8

# params (1 + d, t, g), and a table with one row for each point (l1, l2, fusion).
solve_points <- function(problem, points, tol, maxit = 200L, start = NULL) {
  points <- matrix(as.numeric(points), ncol = 3L)
  start <- if (!is.null(start)) t(start)
  found <- .Call(C_solve, solver_parts(problem), t(points), problem$factors, start,
                 c(if (is.null(tol)) 0 else tol, maxit, FLOOR))
  reports <- t(found[[2L]])
  if (any(reports[, 3L] == 3)) interrupt()
  table <- data.frame(objective = reports[, 1L], gap = reports[, 2L], status = STATUS[reports[, 3L] + 1],
                      nonzeros = as.integer(reports[, 5L]), df = as.integer(reports[, 6L]),
                      iterations = as.integer(reports[, 4L]))
  list(params = aperm(found[[1L]], c(2L, 1L, 3L)), table = table)
}

# Matrices transposed, as the core wants them. What is none goes as it is: the glue says what is wrong with it.
solver_parts <- function(problem) {
  turned <- lapply(problem[c("x", "signs", "weights", "offset")], function(m) if (is.matrix(m)) t(m) else m)
  c(unname(turned), list(problem$graph$ends, problem$graph$weights, problem$graph$chain))
}

# What R does at Ctrl-C, once the solver has given its memory back.
interrupt <- function() {
  signalCondition(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
  invokeRestart("abort")
}

linear_predictor <- function(problem, params) {
  problem$offset + rep(params[1L, ], each = nrow(problem$x)) + unname(problem$x) %*% params[-1L, , drop = FALSE]
}

# Weighted negative log-likelihood of every label, (n, t); exact for margins of any size.
log_losses <- function(problem, linear) {
  margin <- problem$signs * linear
  problem$weights * (pmax(-margin, 0) + log1p(exp(-abs(margin))))
}

# Gradient of the loss in the coefficients, (1 + d, t).
gradient <- function(problem, params) {
  residual <- -problem$weights * problem$signs * stats::plogis(-problem$signs * linear_predictor(problem, params))
  rbind(colSums(residual), crossprod(unname(problem$x), residual))
}

# Name of the instruction set that the solver uses on this machine.
fusedlr_cpu <- function() .Call(C_cpu)
