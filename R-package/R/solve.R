# The interface to the compiled core.

# Of a fit as a list. It rises when its parts change, so that one read from an older file is refused.
FORMAT <- 3L

FLOOR <- 1e-5
STATUS <- c("optimal", "separated", "not_converged")

# Without the user's tol a fit is solved until its duality gap is at the level of rounding, so that its printed digits,
# zeros and ties are those of the optimum; the core takes it as optimal if the gap is at most this.
ACCEPTED <- 1e-8

# params (1 + d, t, g), the same as the core has them (t, 1 + d, g), and a table with one row for each point (l1, l2,
# fusion).
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
  list(params = aperm(found[[1L]], c(2L, 1L, 3L)), core = found[[1L]], table = table)
}

solver_parts <- function(problem) {
  graph <- problem$graph
  list(core_features(problem$x), unname(problem$labels), label_offset(problem), graph$ends, graph$weights, graph$chain)
}

# What R does at Ctrl-C, once the solver has given its memory back.
interrupt <- function() {
  signalCondition(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
  invokeRestart("abort")
}

# Sampling units by the core: their number, how many uniform numbers their folds take, whether folds split weights.
count_units <- function(units) {
  found <- .Call(C_units, units$code, units$times)
  list(number = found[1L], uniforms = found[2L], split = found[3L] > 0)
}

# Multipliers of the row weights when these units (places, from 0) are drawn.
drawn_weights <- function(units, places, uniform) .Call(C_drawn, units$code, units$times, as.integer(places), uniform)

# The same work on many things, by package future.apply where asked for. Nothing random happens in it, so the numbers do
# not depend on where it is done.
over <- function(things, work, parallel, ...) {
  if (!check_flag("parallel", parallel)) return(lapply(things, work, ...))
  if (!requireNamespace("future.apply", quietly = TRUE))
    refuse("parallel = TRUE needs package future.apply, which is not installed; see its plan() for where to work")
  future.apply::future_lapply(things, work, ..., future.packages = "fusedlr")
}

# Name of the instruction set that the solver uses on this machine.
fusedlr_cpu <- function() .Call(C_cpu)
