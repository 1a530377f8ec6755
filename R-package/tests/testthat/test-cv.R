s <- simulated(n = 90)

test_that("scores are those of fits on the other folds", {
  foldid <- rep(1:3, 30)
  cv <- suppressWarnings(cv.fusedlr(s$x, s$y, l1 = c(3, 1), l2 = 0.1, fusion = c(0, 2), foldid = foldid,
                                    standardize = FALSE))
  losses <- sapply(1:3, function(f) {
    fit <- fusedlr(s$x[foldid != f, ], s$y[foldid != f, ], l1 = 1, l2 = 0.1, fusion = 2, standardize = FALSE)
    yes <- predict(fit, s$x[foldid == f, ], type = "response")
    -2 * mean(log(ifelse(s$y[foldid == f, ] == 1, yes, 1 - yes)))
  })
  row <- which(cv$table$l1 == 1 & cv$table$fusion == 2)
  expect_equal(cv$table$cvm[row], mean(losses), tolerance = 1e-4)
  expect_equal(cv$table$cvsd[row], sd(losses) / sqrt(3), tolerance = 1e-3)
  expect_identical(cv$chosen$min, which.min(cv$table$cvm))
})

test_that("the one-standard-error point is never less penalized and never worse than it may be", {
  set.seed(3)
  cv <- cv.fusedlr(s$x, s$y)
  best <- cv$table[cv$chosen$min, ]
  other <- cv$table[cv$chosen$`1se`, ]
  expect_true(other$l1 >= best$l1 && other$l2 >= best$l2 && other$fusion >= best$fusion)
  expect_true(other$cvm <= best$cvm + best$cvsd && other$df <= best$df)
  expect_identical(coef(cv, s = "1se"), coef(cv$fits$`1se`))
  expect_identical(predict(cv, s$x[1:2, ], type = "response"), predict(cv$fits$min, s$x[1:2, ], type = "response"))
  set.seed(3)
  expect_identical(cv.fusedlr(s$x, s$y)$table, cv$table)
  expect_identical(nrow(cv$table), 270L)
  for (method in list(logLik, deviance, fitted, residuals))
    expect_identical(method(cv, s = "1se"), method(cv$fits$`1se`))
  expect_identical(nobs(cv), 90L)
  expect_error(vcov(cv), "no standard errors")
})

default_grid <- function(...) fusedlr:::default_penalties(fusedlr(..., l1 = 1, fusion = 1)$problem)

test_that("the default grid begins where all is zero and ends where all is tied", {
  top <- max(default_grid(s$x, s$y)$l1)
  expect_true(all(coef(fusedlr(s$x, s$y, l1 = top * 1.0001, fusion = 0))[-1, ] == 0))
  expect_true(any(coef(fusedlr(s$x, s$y, l1 = top * 0.999, fusion = 0))[-1, ] != 0))
  for (tasks in list("chain", "ring", cbind(c(1, 1), c(2, 3)))) {
    grid <- default_grid(s$x, s$y, tasks = tasks)
    tied <- function(fusion) all(vapply(grid$l1[c(1, 6, 10)], function(l1) {
      all(apply(coef(fusedlr(s$x, s$y, l1 = l1, fusion = fusion, tasks = tasks))[-1, ], 1, var) == 0)
    }, NA))
    expect_true(tied(max(grid$fusion) * 1.001))
    expect_true(!tied(max(grid$fusion) * 0.99))
  }
})

test_that("the default grid of l2 does not depend on where a feature has its zero", {
  expect_equal(default_grid(s$x + 50, s$y)$l2, default_grid(s$x, s$y)$l2, tolerance = 1e-6)
})

test_that("folds spread rows with the same labels evenly", {
  problem <- fusedlr(s$x, s$y, l1 = 1, fusion = 1)$problem
  fold <- max.col(fusedlr:::stratified_folds(problem, 5))
  expect_true(diff(range(table(fold))) <= 1)
  counts <- table(fold, interaction(as.data.frame(s$y)))
  expect_true(all(apply(counts, 2, function(v) diff(range(v))) <= 1))
  expect_error(cv.fusedlr(s$x, s$y, nfolds = 1), "nfolds must be")
  expect_error(cv.fusedlr(s$x, s$y, foldid = 1:3), "foldid must name")
})

test_that("a formula and a survival outcome serve too", {
  skip_if_not_installed("survival")
  set.seed(1)
  cv <- cv.fusedlr(Surv(time, status) ~ karno + age, survival::veteran, breaks = 3, l2 = 0)
  expect_true(all(diff(t(predict(cv, type = "survival"))) <= 0))
  expect_identical(dim(predict(cv, survival::veteran[1:3, ], s = "1se", type = "response")), c(3L, 3L))
})

test_that("a choice at an end of the grid is said, unless nothing lies beyond", {
  cv <- function(...) cv.fusedlr(s$x, s$y, foldid = rep(1:3, 30), ...)
  expect_warning(cv(l1 = c(8, 5), l2 = 0, fusion = 0), "the least l1 \\(5\\)", class = "fusedlr_grid_edge")
  expect_warning(cv(l1 = 1, l2 = 0, fusion = c(0, 1e-3)), "the largest fusion \\(0.001\\)", class = "fusedlr_grid_edge")
  all_zero <- tryCatch(cv(l1 = c(1000, 900), l2 = 0, fusion = 0), fusedlr_grid_edge = conditionMessage)
  expect_true(inherits(all_zero, "cv.fusedlr"))
})
