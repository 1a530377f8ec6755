s <- simulated()
fit <- fusedlr(s$x, s$y, l1 = 3, l2 = 0, fusion = 4)

test_that("a refit is the glm of the pattern, with its standard errors", {
  b <- coef(fit)
  again <- refit(fit, cov_type = "nonrobust")
  values <- unique(t(apply(b, 1, function(row) row)))
  expect_identical(coef(again) == 0, b == 0)
  columns <- c()
  for (row in 1:6) for (value in unique(b[row, b[row, ] != 0 | row == 1]))
    columns <- cbind(columns, as.vector(outer(cbind(1, s$x)[, row], (b[row, ] == value) * 1)))
  other <- glm(as.vector(s$y) ~ 0 + columns, family = binomial, epsilon = 1e-14)
  expect_equal(sort(again$values), sort(unname(coef(other))), tolerance = 1e-6)
  expect_equal(sort(sqrt(diag(again$vcov))), sort(unname(sqrt(diag(vcov(other))))), tolerance = 1e-6)
  expect_equal(as.numeric(logLik(again)), as.numeric(logLik(other)))
  half <- qnorm(0.95) * sqrt(diag(again$vcov))
  expect_equal(unname(confint(again, level = 0.9)[, 2]), again$values + half)
})

test_that("intervals are found by feature, by value or by number", {
  again <- refit(fit)
  table <- confint(again)
  expect_identical(confint(again, "x1"), table[again$names$term == "x1", , drop = FALSE])
  expect_identical(confint(again, rownames(table)[2]), table[2, , drop = FALSE])
  expect_identical(confint(again, 2:3), table[2:3, ])
  expect_error(confint(again, "x9"), "parm names what is not there: \"x9\"")
  expect_error(confint(bootstrap(fit, n = 2), "x9"), "parm names what is not there: \"x9\"")
  expect_identical(nobs(again), 120L)
})

test_that("what is printed says what it is worth", {
  expect_true(any(grepl("Conditional on selection", capture.output(print(refit(fit))))))
  expect_true(any(grepl("no test of a hypothesis", capture.output(print(bootstrap(fit, n = 3))))))
})

test_that("standard errors by cluster see that a repeated task brings no news", {
  twice <- fusedlr(s$x, cbind(s$y[, 1], s$y[, 1]), l1 = 0, fusion = 1e4, fuse_intercepts = TRUE)
  once <- fusedlr(s$x, s$y[, 1], l1 = 0)
  sandwich <- refit(once, cov_type = "cluster")
  expect_equal(refit(twice)$vcov, sandwich$vcov, tolerance = 1e-5)
  expect_equal(refit(twice, cov_type = "nonrobust")$vcov, refit(once)$vcov / 2, tolerance = 1e-5)
})

test_that("a weight counts as rows do in a refit", {
  weights <- rep(1:2, 60)
  rows <- rep(1:120, weights)
  weighted <- refit(fusedlr(s$x, s$y, l1 = 0, fusion = 0, weights = weights))
  repeated <- refit(fusedlr(s$x[rows, ], s$y[rows, ], l1 = 0, fusion = 0))
  expect_equal(weighted$values, repeated$values, tolerance = 1e-6)
  expect_equal(weighted$vcov, repeated$vcov, tolerance = 1e-6)
})

test_that("units of features, however odd, change standard errors and degrees of freedom by nothing but the unit", {
  unit <- 10^c(-9, 9, 0, 4, -4)
  odd <- fusedlr(s$x * rep(unit, each = 120), s$y, l1 = 2, l2 = 0.5, fusion = 1)
  plain <- fusedlr(s$x, s$y, l1 = 2, l2 = 0.5, fusion = 1)
  expect_equal(attr(logLik(odd), "df"), attr(logLik(plain), "df"), tolerance = 1e-6)
  size <- c(1, unit)[match(refit(odd)$names$term, rownames(coef(odd)))]
  expect_equal(refit(odd)$values * size, refit(plain)$values, tolerance = 1e-6)
  expect_equal(sqrt(diag(refit(odd)$vcov)) * size, sqrt(diag(refit(plain)$vcov)), tolerance = 1e-6)
  expect_equal(fusedlr:::default_penalties(odd$problem), fusedlr:::default_penalties(plain$problem), tolerance = 1e-6)
})

test_that("separated values have no standard error and warn", {
  x <- cbind(a = c(1:10, 11:20) + 0, b = rep(c(1, 3, 2, 1), 5))
  y <- cbind(rep(0:1, each = 10), rep(0:1, 10))
  fit <- fusedlr(x, y, l1 = 0.1, fusion = 0)
  again <- expect_warning(refit(fit), class = "fusedlr_separation")
  again <- suppressWarnings(refit(fit))
  expect_true(anyNA(again$vcov) && all(is.finite(again$values)))
})

test_that("the bootstrap resamples rows, repeatably, and a weight counts as rows do", {
  set.seed(5)
  first <- bootstrap(fit, n = 30)
  set.seed(5)
  expect_identical(bootstrap(fit, n = 30), first)
  expect_identical(dim(first$samples), c(6L, 3L, 30L))
  summary <- summary(first)
  expect_equal(summary$error[2, 1], sd(first$samples[2, 1, ]))
  expect_equal(summary$tied[3, 1], mean(first$samples[3, 1, ] == first$samples[3, 2, ]))
  expect_equal(unname(confint(first)[2, 1, 1]), unname(quantile(first$samples[2, 1, ], 0.025)))
  four <- fusedlr(s$x, s$y, l1 = 0, fusion = 0, weights = rep(4, 120))
  set.seed(1)
  spread <- summary(bootstrap(four, n = 200))$error[2, 1]
  wald <- sqrt(refit(four, cov_type = "nonrobust")$vcov[4, 4])
  expect_true(abs(spread / wald - 1) < 0.25)
})
