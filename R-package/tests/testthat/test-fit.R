test_that("fits meet the optimality conditions", {
  s <- simulated()
  for (fuse in c(TRUE, FALSE)) for (standardize in c(TRUE, FALSE)) {
    fit <- fusedlr(s$x, s$y, l1 = 2, l2 = 0.3, fusion = 1.5, fuse_intercepts = fuse, standardize = standardize,
                   tol = 1e-12)
    expect_identical(fit$table$status, "optimal")
    expect_true(chain_violation(fit) < 1e-4)
    expect_true(any(coef(fit)[-1, ] == 0) && any(coef(fit)[-1, 1] == coef(fit)[-1, 2]))
  }
  expect_true(chain_violation(replace(fit, "params", list(fit$params + 0.01))) > 0.1)
})

test_that("without penalties every task is a glm of its own", {
  s <- simulated()
  fit <- fusedlr(s$x, s$y, l1 = 0, fusion = 0)
  for (k in 1:3) expect_equal(unname(coef(fit)[, k]), glm_coefs(s$x, s$y[, k]), tolerance = 1e-5)
})

test_that("strong fusion is one glm of all labels with an intercept for each task", {
  s <- simulated()
  fit <- fusedlr(s$x, s$y, l1 = 0, fusion = 1e4, tol = 1e-12)
  task <- rep(1:3, each = 120)
  pooled <- glm(as.vector(s$y) ~ 0 + factor(task) + s$x[rep(1:120, 3), ], family = binomial, epsilon = 1e-14)
  expect_equal(unname(coef(fit)[1, ]), unname(coef(pooled)[1:3]), tolerance = 1e-5)
  for (k in 1:3) expect_equal(unname(coef(fit)[-1, k]), unname(coef(pooled)[-(1:3)]), tolerance = 1e-5)
})

test_that("lambda and alpha are those of glmnet, standardized or not, with weights", {
  skip_if_not_installed("glmnet")
  s <- simulated()
  weights <- rep(1:3, 40)
  for (standardize in c(TRUE, FALSE)) {
    ours <- fusedlr(s$x * 10, s$y[, 1], lambda = 0.03, alpha = 0.4, weights = weights, standardize = standardize,
                    tol = 1e-12)
    theirs <- glmnet::glmnet(s$x * 10, s$y[, 1], "binomial", lambda = 0.03, alpha = 0.4, weights = weights,
                             standardize = standardize)
    expect_equal(unname(coef(ours)[, 1]), unname(as.matrix(coef(theirs))[, 1]), tolerance = 1e-3)
  }
})

test_that("a weight of 2 is the row twice, and 0 or NA is no row", {
  s <- simulated()
  weights <- rep(c(2, 1, 0, 3), 30)
  rows <- rep(seq_len(120), weights)
  ours <- fusedlr(s$x, s$y, l1 = 1, l2 = 0.1, fusion = 1, weights = weights)
  expect_equal(coef(ours), coef(fusedlr(s$x[rows, ], s$y[rows, ], l1 = 1, l2 = 0.1, fusion = 1)), tolerance = 1e-5)
  gone <- s$y
  gone[weights == 0, ] <- NA
  expect_equal(coef(ours), coef(fusedlr(s$x, gone, l1 = 1, l2 = 0.1, fusion = 1, weights = pmax(weights, 1))),
               tolerance = 1e-5)
})

test_that("an outlier in a row that does not count changes nothing", {
  s <- simulated()
  x <- rbind(s$x, 1e6)
  fit <- fusedlr(x, rbind(s$y, NA), l1 = 1, fusion = 1)
  expect_equal(coef(fit), coef(fusedlr(s$x, s$y, l1 = 1, fusion = 1)), tolerance = 1e-6)
})

test_that("location and scale of a feature change nothing but its own unit and the intercepts", {
  s <- simulated()
  fit <- fusedlr(s$x, s$y, l1 = 1, l2 = 0.2, fusion = 1)
  moved <- s$x
  moved[, 2] <- 7 + 100 * moved[, 2]
  other <- coef(fusedlr(moved, s$y, l1 = 1, l2 = 0.2, fusion = 1))
  expect_equal(other[-1, ] * c(1, 100, 1, 1, 1), coef(fit)[-1, ], tolerance = 1e-4)
})

test_that("an offset moves the intercept, and a factor is a penalty of its own", {
  s <- simulated()
  fit <- coef(fusedlr(s$x, s$y, l1 = 1, l2 = 0.2, fusion = 1))
  moved <- coef(fusedlr(s$x, s$y, l1 = 1, l2 = 0.2, fusion = 1, offset = 0.7))
  expect_equal(moved, fit - c(0.7, rep(0, 5)), tolerance = 1e-5)
  free <- fusedlr(s$x, s$y, l1 = 30, l2 = 0, fusion = 0, penalty_factors = c(x2 = 0))
  for (k in 1:3) expect_equal(unname(coef(free)[c(1, 3), k]), glm_coefs(s$x[, 2], s$y[, k]), tolerance = 1e-5)
})

test_that("a reversed chain is the same model", {
  s <- simulated(t = 4)
  fit <- coef(fusedlr(s$x, s$y, l1 = 1, l2 = 0.1, fusion = 2))
  expect_equal(coef(fusedlr(s$x, s$y[, 4:1], l1 = 1, l2 = 0.1, fusion = 2))[, 4:1], fit, tolerance = 1e-5)
})

test_that("edges may be named or numbered, and a ring is a chain with one edge more", {
  s <- simulated(t = 4)
  ring <- coef(fusedlr(s$x, s$y, l1 = 1, fusion = 2, tasks = "ring"))
  numbers <- coef(fusedlr(s$x, s$y, l1 = 1, fusion = 2, tasks = cbind(c(1, 2, 3, 4), c(2, 3, 4, 1))))
  names <- data.frame(from = c("y1", "y2", "y3", "y4"), to = c("y2", "y3", "y4", "y1"), weight = 0.5)
  expect_equal(numbers, ring, tolerance = 1e-6)
  expect_equal(coef(fusedlr(s$x, s$y, l1 = 1, fusion = 4, tasks = names)), ring, tolerance = 1e-6)
})

test_that("a formula is the matrix it stands for, factors on the left and right", {
  s <- simulated()
  d <- data.frame(s$x, site = factor(rep(c("a", "b", "c"), 40)), u = factor(ifelse(s$y[, 1] > 0, "yes", "no")),
                  v = s$y[, 2] > 0)
  d$v[3] <- NA
  fit <- fusedlr(cbind(u, other = v) ~ x1 + x2 + site, d, l1 = 1, fusion = 1)
  x <- cbind(s$x[, 1:2], siteb = d$site == "b", sitec = d$site == "c")
  y <- cbind(u = s$y[, 1], other = replace(s$y[, 2], 3, NA))
  expect_identical(coef(fit), coef(fusedlr(x, y, l1 = 1, fusion = 1)))
  expect_identical(predict(fit, d[1:5, ], type = "class")[, "u"], predict(fit, type = "class")[1:5, "u"])
  weighted <- fusedlr(u ~ x1 + offset(x2), d, l1 = 1, weights = x1^2)
  expect_identical(unname(coef(weighted)), unname(coef(fusedlr(s$x[, 1, drop = FALSE], s$y[, 1], l1 = 1,
                                                               weights = s$x[, 1]^2,
                                                              offset = s$x[, 2]))))
})

test_that("a grid holds the fits of its points", {
  s <- simulated()
  grid <- fusedlr(s$x, s$y, l1 = c(4, 1), l2 = c(0, 0.5), fusion = c(0, 2))
  expect_identical(dim(coef(grid)), c(6L, 3L, 8L))
  for (i in c(1, 4, 8)) {
    point <- grid$table[i, ]
    alone <- fusedlr(s$x, s$y, l1 = point$l1, l2 = point$l2, fusion = point$fusion)
    expect_equal(coef(grid, which = i), coef(alone), tolerance = 1e-4)
    expect_identical(coef(grid, which = i) == 0, coef(alone) == 0)
  }
})

test_that("separated data and tasks of one class warn by a class of their own", {
  x <- cbind(a = 1:20, b = rep(1:2, 10))
  y <- cbind(rep(0:1, each = 10), rep(0:1, 10))
  fit <- expect_warning(fusedlr(x, y, l1 = 0, fusion = 0), class = "fusedlr_separation")
  expect_warning(fusedlr(x, cbind(1, y[, 1]), l1 = 1, fusion = 1, fuse_intercepts = TRUE), class = "fusedlr_one_class")
  expect_warning(fusedlr(x, y, l1 = 0.1, fusion = 0.1, maxit = 1), class = "fusedlr_convergence")
})

test_that("affine copies and constant features are named", {
  s <- simulated()
  fit <- function(...) fusedlr(cbind(s$x, ...), s$y, l1 = 1, fusion = 1)
  expect_warning(fit(twice = 7 - 3 * s$x[, 2]), "'x2' and 'twice' are affine copies", class = "fusedlr_collinear")
  expect_warning(fit(idle = 2), "'idle' are constant", class = "fusedlr_collinear")
  expect_identical(nrow(fusedlr:::alike(cbind(s$x, near = s$x[, 2] + 1e-4 * s$x[, 1]))), 0L)
  pairs <- fusedlr:::alike(cbind(s$x, a = s$x[, 1], b = -s$x[, 3]))
  expect_identical(pairs[order(pairs[, 1]), ], cbind(c("x1", "x3"), c("a", "b")))
})
