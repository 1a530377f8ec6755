# A fit is a list that anybody may edit, or read from a file of somebody else. Nothing of it may crash R.
s <- simulated(n = 40)
fit <- fusedlr(s$x, s$y, l1 = 1, fusion = 1)

edited <- function(...) {
  problem <- utils::modifyList(fit$problem, list(...))
  replace(fit, "problem", list(problem))
}

test_that("edges that join no tasks are refused", {
  broken <- fit
  broken$problem$graph$ends[] <- 2000000L
  expect_error(bootstrap(broken, n = 2), "no problem that fusedlr made \\(an edge joins no two of the tasks\\)")
  broken$problem$graph$ends[] <- -1L
  expect_error(bootstrap(broken, n = 2), "an edge joins no two")
  for (ends in list(NULL, "a", 1:2, matrix(0.5, 2, 2), matrix(0:3, 4)))
    expect_error(bootstrap(edited(graph = list(ends = ends, weights = c(1, 1), chain = TRUE)), n = 2))
  expect_error(bootstrap(edited(graph = list(ends = matrix(c(0L, 2L, 0L, 1L), 2), weights = c(1, 1), chain = TRUE)),
                         n = 2), "the edges are no chain")
})

test_that("every part of a problem that was changed is refused by the solver, not met with a crash", {
  good <- fusedlr:::solver_parts(fit$problem)
  solve <- function(parts = good, points = matrix(1, 3, 1), factors = fit$problem$factors, start = NULL,
                    control = c(1e-6, 200, 1e-5)) {
    .Call(fusedlr:::C_solve, parts, points, factors, start, control)
  }
  expect_true(is.list(solve()))
  wrong <- list(NULL, "a", 1, 1L, TRUE, list(), matrix(0, 0, 0), matrix(NaN, 3, 40), matrix(1e300, 5, 40),
                matrix(0, 2, 7))
  for (part in seq_along(good)) for (value in wrong) {
    parts <- good
    parts[part] <- list(value)
    if (!identical(parts, good) && !(part == 6L && isTRUE(value)))
      expect_error(solve(parts), "no problem that fusedlr made")
  }
  for (part in 1:4) for (value in c(wrong, list(good[[2L]][[part]] - 2L, rev(good[[2L]][[part]]), rep(NA_real_, 4)))) {
    labels <- good[[2L]]
    labels[part] <- list(value)
    turned <- part == 3L && identical(value, rev(good[[2L]][[3L]]))  # other signs, as good as these
    if (!identical(value, good[[2L]][[part]]) && !turned)
      expect_error(solve(replace(good, 2L, list(labels))), "no problem that fusedlr made")
  }
  for (value in c(wrong, list(matrix(-1, 3, 1), matrix(Inf, 3, 1))))
    expect_error(solve(points = value), "no problem that fusedlr made")
  for (value in wrong) expect_error(solve(factors = value), "factors do not fit x")
  for (value in wrong[-1L]) expect_error(solve(start = value), "start does not fit x")
  for (value in list(NULL, 1, c(-1, 200, 1e-5), c(1e-6, 200, 0), c(1e-6, 1e300, 1e-5), c(NaN, 200, 1e-5)))
    expect_error(solve(control = value), "no problem that fusedlr made")
  expect_error(.Call(fusedlr:::C_scales, s$x, rep(1, 7)), "weights do not fit x")
  expect_error(.Call(fusedlr:::C_scales, "a", rep(1, 40)), "x is not a matrix of numbers")
})

test_that("a fit of another format is refused in a sentence", {
  old <- fit
  old$format <- NULL
  for (method in list(coef, predict, summary, fitted, residuals, logLik, refit, bootstrap))
    expect_error(method(old), "has format NULL, this version of fusedlr reads 3; fit the model again")
})

test_that("the number of resamples is bounded", {
  expect_error(bootstrap(fit, n = 1e9), "n must be a whole number, at least 2 and at most 1e\\+05, found 1e\\+09")
})

test_that("names of intervals do not depend on options, and are told apart", {
  old <- options(OutDec = ",", digits = 3)
  on.exit(options(old))
  expect_identical(fusedlr:::format_each(c(0, 0.5, 1e5)), c("0", "0.5", "1e+05"))
  expect_identical(fusedlr:::format_each(c(1.00001, 1.00002)), c("1.00001", "1.00002"))
})

test_that("factors of fusion free a feature or hold it constant", {
  free <- fusedlr(s$x, s$y, l1 = 0.1, fusion = 1e4, fusion_factors = c(x1 = 0))
  b <- coef(free)
  expect_true(length(unique(b["x1", ])) == 3L && all(b[-(1:2), ] == b[-(1:2), 1L]))
  expect_true(chain_violation(free) < 1e-4)
  expect_identical(coef(fusedlr(s$x, s$y, l1 = 1, fusion = 1, fusion_factors = rep(1, 5))), coef(fit))
  expect_error(fusedlr(s$x, s$y, l1 = 1, fusion = 1, fusion_factors = 1:2), "fusion_factors must hold one number for")
  expect_error(fusedlr(s$x, s$y, l1 = 1, fusion = 1, fusion_factors = c(zz = 1)), "fusion_factors names features")
})
