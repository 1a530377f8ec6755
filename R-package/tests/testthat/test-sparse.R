# Features as a sparse matrix of package Matrix: the same fits as of the dense one.
words <- function(n = 80, d = 12) {
  set.seed(4)
  x <- matrix(rbinom(n * d, 1, 0.15) * round(64 * rnorm(n * d)) / 64, n, dimnames = list(NULL, paste0("w", seq_len(d))))
  y <- sapply(1:3, function(k) rbinom(n, 1, plogis(2 * x[, 1] - k * x[, 2] + 0.3)))
  list(x = x, y = y)
}

test_that("a sparse matrix gives the fits, predictions and choices of the dense one", {
  skip_if_not_installed("Matrix")
  s <- words()
  thin <- Matrix::Matrix(s$x, sparse = TRUE)
  full <- fusedlr(s$x, s$y, l1 = 0.5, l2 = 0.1, fusion = 0.5)
  sparse <- fusedlr(thin, s$y, l1 = 0.5, l2 = 0.1, fusion = 0.5)
  expect_true(inherits(sparse$problem$x, "dgCMatrix"))
  expect_equal(coef(sparse), coef(full), tolerance = 1e-6)
  expect_equal(predict(sparse, thin[1:5, ]), predict(full, s$x[1:5, ]), tolerance = 1e-6)
  expect_equal(predict(sparse, s$x[1:5, ], type = "response"), predict(full, s$x[1:5, ], type = "response"),
               tolerance = 1e-6)
  expect_equal(unname(predict(sparse, thin[1:5, ], task = "y2")), unname(predict(full, s$x[1:5, ])[, 2]),
               tolerance = 1e-6)
  expect_equal(residuals(sparse, "deviance"), residuals(full, "deviance"), tolerance = 1e-6)
  expect_equal(as.numeric(logLik(sparse)), as.numeric(logLik(full)), tolerance = 1e-8)
  expect_equal(refit(sparse)$vcov, refit(full)$vcov, tolerance = 1e-6)
  folds <- rep(1:4, 20)
  grid <- list(l1 = c(4, 1, 0.3), l2 = 0, fusion = c(0, 1), foldid = folds)
  choose <- function(x) suppressWarnings(do.call(cv.fusedlr, c(list(x, s$y), grid)))
  expect_identical(choose(thin)$chosen, choose(s$x)$chosen)
  long <- fusedlr(thin, s$y[, 1], task = rep(1:4, 20), l1 = 0.5, fusion = 0.5)
  expect_equal(coef(long), coef(fusedlr(s$x, s$y[, 1], task = rep(1:4, 20), l1 = 0.5, fusion = 0.5)), tolerance = 1e-6)
})

test_that("other sparse matrices are turned into it, and bad ones refused", {
  skip_if_not_installed("Matrix")
  s <- words()
  pattern <- Matrix::Matrix(s$x != 0, sparse = TRUE)
  expect_equal(coef(fusedlr(pattern, s$y, l1 = 0.5, fusion = 0.5)), coef(fusedlr((s$x != 0) * 1, s$y, l1 = 0.5,
                                                                                fusion = 0.5)), tolerance = 1e-6)
  bad <- Matrix::Matrix(replace(s$x, 1L, NA), sparse = TRUE)
  expect_error(fusedlr(bad, s$y, l1 = 1, fusion = 1), "x has NA, NaN or Inf")
  twice <- Matrix::Matrix(cbind(s$x, again = 2 * s$x[, 1]), sparse = TRUE)
  expect_warning(fusedlr(twice, s$y, l1 = 1, fusion = 1), "'w1' and 'again' are affine copies",
                 class = "fusedlr_collinear")
})
