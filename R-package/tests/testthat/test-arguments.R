s <- simulated(n = 40)

test_that("each argument is checked by name", {
  fit <- function(...) fusedlr(...)
  good <- list(x = s$x, y = s$y, l1 = 1, l2 = 0, fusion = 1)
  wrong <- list(l1 = list(-1, NA, "a", numeric(), c(1, 1)), l2 = list(-1, Inf), fusion = list("b", NULL),
                tol = list(0, 2, "a", NA),
                maxit = list(0, 1.5, "a"), standardize = list(NA, "yes", 1), fuse_intercepts = list(2, c(TRUE, FALSE)),
                tasks = list("star", 1:3, NULL, cbind(1, 9), cbind(1, 1),
                             cbind(c(1, 2), c(2, 1))), kind = list("both", 1),
                weights = list(-1, NA, 1:3, "a", matrix(1, 2, 2)), offset = list(NaN, 1:3), breaks = list(3),
                penalty_factors = list(-1, 1:2, c(zz = 1), "a"), lambda = list(0.1), alpha = list())
  for (name in names(wrong)) for (value in wrong[[name]]) {
    arguments <- good
    arguments[name] <- list(value)
    if (name == "lambda") expect_error(do.call(fit, arguments), "not both")
    else expect_error(do.call(fit, arguments), name)
  }
  expect_error(fusedlr(s$x, s$y, l1 = 1, fusion = 1, fuse.intercepts = TRUE), "unknown argument 'fuse.intercepts'")
  expect_error(fusedlr(s$x, s$y, l1 = 1, fusion = 1, alpha = 0.5), "alpha goes with lambda")
  expect_error(fusedlr(s$x, s$y[, 1], lambda = 0.1, alpha = 2), "alpha must be one number between 0 and 1")
  expect_error(fusedlr(s$x, s$y, fusion = 1), "l1 is needed")
})

test_that("features and labels are checked in words", {
  expect_error(fusedlr(replace(s$x, 3, NA), s$y, l1 = 1, fusion = 1), "NA, NaN or Inf in 1 rows")
  expect_error(fusedlr(data.frame(a = letters[1:20]), rep(0:1, 10), l1 = 1), "columns 'a' do not")
  expect_error(fusedlr(s$x, s$y[1:5, ], l1 = 1, fusion = 1), "one row for each of the 40 rows")
  expect_error(fusedlr(s$x, s$y + 1, l1 = 1, fusion = 1), "must hold 0/1, -1/1")
  expect_error(fusedlr(s$x, cbind(s$y, NA), l1 = 1, fusion = 1), "observed label in every task; there is none in")
  expect_error(fusedlr(s$x, list(1), l1 = 1, fusion = 1), "y must be")
  expect_error(fusedlr(~ a, data.frame(a = 1), l1 = 1), "left side")
  expect_error(fusedlr(s$x[, c(1, 1)], s$y, l1 = 1, fusion = 1), "repeat the name")
  expect_identical(coef(fusedlr(cbind(`(Intercept)` = 1, s$x), s$y, l1 = 1, fusion = 1)),
                   coef(fusedlr(s$x, s$y, l1 = 1, fusion = 1)))
})

test_that("labels may be words, levels, logicals or signs", {
  truth <- coef(fusedlr(s$x, s$y, l1 = 1, fusion = 1))
  words <- ifelse(s$y == 1, "yes", "no")
  dimnames(words) <- dimnames(s$y)
  expect_identical(coef(fusedlr(s$x, words, l1 = 1, fusion = 1)), truth)
  expect_identical(coef(fusedlr(s$x, as.data.frame(words, stringsAsFactors = TRUE), l1 = 1, fusion = 1)), truth)
  expect_identical(coef(fusedlr(s$x, s$y == 1, l1 = 1, fusion = 1)), truth)
  expect_identical(coef(fusedlr(s$x, 2 * s$y - 1, l1 = 1, fusion = 1)), truth)
})

test_that("random numbers are left alone by a fit", {
  set.seed(1)
  runif(1)
  seed <- .Random.seed
  fusedlr(s$x, s$y, l1 = 1, fusion = 1)
  expect_identical(.Random.seed, seed)
})

test_that("a misspelt argument is named, with the one that was meant, before it is looked up", {
  d <- data.frame(s$x, s$y)
  expect_error(fusedlr(y1 ~ x1, d, l1 = 1, weigths = x2), "unknown argument 'weigths'; did you mean 'weights'")
  expect_error(fusedlr(s$x, s$y, L1 = 1, fusion = 1), "'L1'; did you mean 'l1'")
  expect_error(fusedlr(s$x, s$y, l1 = 1, fusion = 1, penalty_factor = 1:2), "penalty_factors must hold one number")
  expect_error(fusedlr(s$x, s$y, l1 = 1, fusion = 1, penalty.factor = 1), "penalty.factor goes with lambda and alpha")
  expect_error(cv.fusedlr(y1 ~ x1, d, ncores = 2), "unknown argument 'ncores'$")
  fit <- fusedlr(y1 ~ x1, d, l1 = 1)
  for (method in list(summary, logLik, deviance, fitted, residuals, coef, predict, refit, bootstrap))
    expect_error(method(fit, whch = 1), "unknown argument 'whch'")
  expect_error(nobs(fit, whch = 1), "unknown argument 'whch'")
  expect_error(confint(refit(fit), lvel = 0.9), "'lvel'; did you mean 'level'")
  expect_warning(capture.output(print(fit, digts = 2)), "digts")
})

test_that("a formula says what it lacks", {
  d <- data.frame(s$x, s$y)
  expect_error(fusedlr(y1 + y2 ~ x1, d, l1 = 1, fusion = 1), "joined by cbind\\(\\), found y1 \\+ y2")
  fit <- fusedlr(cbind(y1, y2) ~ x1 + x2, d, l1 = 1, fusion = 1)
  expect_error(predict(fit, d["x1"]), "newdata must have the variables of the formula; missing are 'x2'")
  expect_error(predict(fit, transform(d, x2 = NA)), "'x2' was fitted with type")
  expect_true(is.na(predict(fit, transform(d, x2 = NA_real_))[1, 1]))
  constant <- 2
  shifted <- fusedlr(y1 ~ I(x1 + constant), d, l1 = 0)
  expect_equal(unname(predict(shifted, d[1:2, ])), unname(predict(shifted)[1:2, , drop = FALSE]))
})

test_that("subset takes rows of data", {
  d <- data.frame(s$x, s$y, site = rep(c("a", "b"), 20), weight = 1:40)
  some <- fusedlr(cbind(y1, y2) ~ x1, d, l1 = 1, fusion = 1, weights = weight, subset = site == "a")
  other <- fusedlr(cbind(y1, y2) ~ x1, d[d$site == "a", ], l1 = 1, fusion = 1, weights = weight)
  expect_identical(coef(some), coef(other))
  expect_identical(coef(fusedlr(y1 ~ x1, d, l1 = 1, subset = 1:30)), coef(fusedlr(y1 ~ x1, d[1:30, ], l1 = 1)))
  expect_error(fusedlr(y1 ~ x1, d, l1 = 1, subset = "a"), "subset must be TRUE or FALSE for each row")
})
