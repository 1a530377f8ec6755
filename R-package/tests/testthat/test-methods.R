s <- simulated()
fit <- fusedlr(s$x, s$y, l1 = 2, l2 = 0.1, fusion = 1)

test_that("predictions are what the coefficients say, whatever the order of the columns", {
  link <- cbind(1, s$x) %*% coef(fit)
  expect_equal(unname(predict(fit)), unname(link))
  expect_equal(unname(predict(fit, s$x[, 5:1])), unname(link))
  expect_equal(unname(predict(fit, newx = unname(s$x))), unname(link))
  expect_equal(predict(fit, as.data.frame(s$x), type = "response"), predict(fit, type = "response"))
  expect_equal(unname(predict(fit, s$x, type = "response")), unname(plogis(link)))
  expect_identical(unname(predict(fit, type = "class")), unname(ifelse(link > 0, "1", "0")))
  expect_identical(predict(fit, type = "coefficients"), coef(fit))
  expect_identical(predict(fit, type = "nonzero")$y1, which(coef(fit)[-1, 1] != 0))
  expect_equal(predict(fit, data.frame(word = "a", s$x[1:2, ])), predict(fit)[1:2, ])
  expect_error(predict(fit, s$x[, 1:3]), "missing are 'x4', 'x5'")
  expect_error(predict(fit, type = "levels"), "type must be")
})

test_that("an offset of the fit is asked for at new rows", {
  with <- fusedlr(s$x, s$y, l1 = 2, fusion = 1, offset = s$x[, 3])
  expect_error(predict(with, s$x), "offset is needed")
  expect_equal(unname(predict(with, s$x, offset = s$x[, 3])), unname(predict(with)))
})

test_that("likelihood, residuals and degrees of freedom", {
  yes <- fitted(fit)
  expect_equal(as.numeric(logLik(fit)), sum(log(ifelse(s$y == 1, yes, 1 - yes))))
  b <- coef(fit)
  groups <- sum(apply(b, 1, function(row) sum(rle(row)$values != 0)))
  expect_identical(fit$table$df, groups)
  expect_equal(attr(logLik(update(fit, l2 = 0, l1 = 0, fusion = 0)), "df"), 18)
  expect_equal(AIC(fit), deviance(fit) + 2 * attr(logLik(fit), "df"))
  expect_equal(BIC(fit), deviance(fit) + log(120) * attr(logLik(fit), "df"))
  expect_identical(nobs(fit), 120L)
  expect_equal(unname(residuals(fit)), unname(s$y - yes))
  expect_equal(sum(residuals(fit, "deviance")^2), deviance(fit))
  expect_equal(unname(residuals(fit, "pearson")), unname((s$y - yes) / sqrt(yes * (1 - yes))))
})

test_that("shrunken coefficients have no covariance, and the way out is named", {
  expect_error(vcov(fit), "refit\\(\\) and bootstrap\\(\\)")
  expect_error(confint(fit), "no standard errors")
})

test_that("residuals have the names of rows and tasks", {
  rows <- fusedlr(y1 ~ x1, data.frame(s$x, s$y)[11:60, ], l1 = 1)
  for (type in c("response", "pearson", "deviance"))
    expect_identical(dimnames(residuals(rows, type)), list(as.character(11:60), "y1"))
})

test_that("a ridge counts by the trace of its hat matrix", {
  ridge <- fusedlr(s$x, s$y[, 1], l1 = 0, l2 = 7, standardize = FALSE)
  yes <- fitted(ridge)[, 1]
  x <- cbind(1, s$x)
  hat <- x %*% solve(crossprod(x, yes * (1 - yes) * x) + diag(c(0, rep(7, 5))), t(yes * (1 - yes) * x))
  expect_equal(attr(logLik(ridge), "df"), sum(diag(hat)), tolerance = 1e-6)
})

test_that("update fits again, by formula and by argument", {
  d <- data.frame(s$x, s$y)
  by_formula <- fusedlr(cbind(y1, y2) ~ x1 + x2, d, l1 = 2, fusion = 1)
  more <- update(by_formula, . ~ . + x3, l1 = 1)
  expect_identical(coef(more), coef(fusedlr(cbind(y1, y2) ~ x1 + x2 + x3, d, l1 = 1, fusion = 1)))
  expect_identical(coef(update(fit, fusion = 3)), coef(fusedlr(s$x, s$y, l1 = 2, l2 = 0.1, fusion = 3)))
})

test_that("a fit survives saveRDS", {
  file <- tempfile()
  saveRDS(fit, file)
  back <- readRDS(file)
  expect_identical(predict(back, s$x[1:3, ]), predict(fit, s$x[1:3, ]))
})

test_that("print and summary show ties, zeros and how good the fit is", {
  text <- paste(capture.output(print(fit), summary(fit)), collapse = " ")
  for (word in c("optimal, duality gap", "3 tasks \\(chain\\)", "120 rows", "AIC", "neither fused nor shrunk", " = ")) {
    expect_true(grepl(word, text))
  }
  grid <- fusedlr(s$x, s$y, l1 = c(2, 1), fusion = 1)
  expect_true(any(grepl("nonzeros", capture.output(print(grid)))))
})

test_that("plots draw", {
  file <- tempfile(fileext = ".pdf")
  pdf(file)
  expect_equal(plot(fit), coef(fit)[-1, ][rowSums(coef(fit)[-1, ] != 0) > 0, ])
  plot(fusedlr(s$x, s$y, l1 = 1e4, fusion = 1))
  dev.off()
  expect_true(file.size(file) > 2000)
  expect_error(plot(fit, features = "x9"), "'x9'")
})

test_that("tidy, glance and augment serve package generics", {
  skip_if_not_installed("generics")
  tidy <- generics::tidy(fit)
  expect_identical(tidy$estimate, as.vector(coef(fit)))
  expect_equal(generics::glance(fit)$AIC, AIC(fit))
  expect_equal(generics::augment(fit)$.fitted, as.vector(fitted(fit)))
  again <- generics::refit(fit)
  expect_identical(again, refit(fit))
  expect_equal(generics::tidy(again)$std.error, unname(sqrt(diag(vcov(again)))))
})
