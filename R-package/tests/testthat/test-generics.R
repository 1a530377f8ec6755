# R's own generics, on a fit and on everything that is one: cross-validation, refit, bootstrap, stability.
days <- ozone()
fit <- fusedlr(class ~ Solar.R + Wind + Temp, days, l1 = 1, fusion = 2)
set.seed(1)
cv <- suppressWarnings(cv.fusedlr(class ~ Solar.R + Wind + Temp, days, l1 = c(4, 1, 0.2), l2 = 0, fusion = c(0.5, 2)))
again <- refit(fit)
boot <- bootstrap(fit, n = 5)
halves <- stability(fit, n = 10)
kinds <- list(fit = fit, cv = cv, refit = again, bootstrap = boot, stability = halves)

test_that("no generic is a silent NULL, on any of them", {
  generics <- list(coef = coef, fitted = fitted, residuals = residuals, deviance = deviance, logLik = logLik,
                   predict = predict, weights = weights, df.residual = df.residual, nobs = nobs, formula = formula,
                   terms = terms, model.frame = model.frame, model.matrix = model.matrix, sigma = sigma, AIC = AIC,
                   BIC = BIC, summary = summary, family_of_call = function(x) x$call)
  for (kind in names(kinds)) for (name in names(generics)) {
    found <- generics[[name]](kinds[[kind]])
    expect_true(!is.null(found) && length(found) > 0L)
  }
  for (kind in names(kinds)) expect_identical(dim(fitted(kinds[[kind]])), c(111L, 3L))
  for (kind in c("fit", "cv", "stability")) {
    expect_error(vcov(kinds[[kind]]), "no standard errors")
    expect_error(confint(kinds[[kind]]), "no standard errors")
  }
  for (kind in kinds) expect_error(anova(kind), "change_test\\(\\)")
  expect_identical(dim(vcov(boot)), c(12L, 12L))
})

test_that("a cross-validation, a bootstrap and halves predict as their fit, a refit as its own values", {
  for (kind in list(boot, halves)) {
    expect_identical(coef(kind), coef(fit))
    expect_identical(predict(kind, days[1:3, ], type = "levels"), predict(fit, days[1:3, ], type = "levels"))
  }
  expect_identical(coef(cv, s = "lambda.1se"), coef(cv$fits$`1se`))
  expect_identical(predict(cv, days[1:3, ], s = "lambda.min"), predict(cv$fits$min, days[1:3, ]))
  expect_error(coef(cv, s = 0.1), "s must be \"min\" or \"1se\", found 0.1")
  link <- model.matrix(again) %*% coef(again)
  expect_equal(unname(predict(again)), unname(link))
  chances <- predict(again, type = "levels")
  expect_equal(as.numeric(logLik(again)), sum(log(chances[cbind(1:111, as.integer(days$class))])))
})

test_that("arguments of R's generics go through, near-misses of ours do not", {
  expect_identical(formula(fit, env = globalenv()), formula(fit))
  expect_identical(nobs(fit, use.fallback = TRUE), nobs(fit))
  expect_identical(logLik(fit, REML = FALSE), logLik(fit))
  expect_identical(coef(fit, complete = TRUE), coef(fit))
  expect_equal(AIC(fit, k = 3), deviance(fit) + 3 * attr(logLik(fit), "df"))
  expect_equal(unname(extractAIC(fit)), c(attr(logLik(fit), "df"), AIC(fit)))
  expect_error(coef(fit, complte = TRUE), "unknown argument 'complte'")
})

test_that("update takes a dot, and step walks by AIC", {
  more <- update(fit, . ~ . + Month)
  expect_identical(coef(more), coef(fusedlr(class ~ Solar.R + Wind + Temp + Month, days, l1 = 1, fusion = 2)))
  dots <- fusedlr(class ~ ., days[c("class", "Wind", "Temp")], l1 = 1, fusion = 2)
  expect_identical(formula(dots), class ~ Wind + Temp)
  expect_identical(rownames(coef(update(dots, . ~ . - Wind))), c("(Intercept)", "Temp"))
  walked <- step(update(more, l1 = 0, data = days), trace = 0)
  expect_true(AIC(walked) <= AIC(update(more, l1 = 0)))
})

test_that("the model frame holds what the formula used", {
  d <- transform(days, w = rep(1:3, 37), id = rep(1:37, 3), o = 0.1)
  all <- fusedlr(class ~ Wind + offset(o), d, l1 = 1, fusion = 2, weights = w, groups = id, subset = Temp > 60)
  frame <- model.frame(all)
  expect_true(all(c("Wind", "(weights)", "(groups)") %in% names(frame)))
  expect_identical(nrow(frame), sum(d$Temp > 60))
  expect_identical(attr(model.matrix(all), "assign"), 0:1)
  expect_equal(max(weights(all), na.rm = TRUE), 3)
  expect_equal(predict(all, d[1:2, ]), predict(all, d[1:2, ]) + 0)
})

test_that("new data without rows give no rows, of every type", {
  none <- days[0, ]
  for (type in c("link", "response", "levels")) expect_identical(nrow(predict(fit, none, type = type)), 0L)
  expect_identical(length(predict(fit, none, type = "class")), 0L)
  expect_identical(length(predict(fit, none, type = "rank")), 0L)
  s <- simulated(n = 40)
  plain <- fusedlr(s$x, s$y, l1 = 1, fusion = 1)
  for (type in c("link", "response", "class")) expect_identical(dim(predict(plain, s$x[0, ], type = type)), c(0L, 3L))
  expect_identical(length(predict(plain, s$x[0, ], task = "y1")), 0L)
  timed <- fusedlr(s$x, fusedlr:::surv(rep(1:4, 10), s$y[, 1]), breaks = 2, l1 = 1, fusion = 1)
  for (type in c("hazard", "survival", "incidence"))
    expect_identical(dim(predict(timed, s$x[0, ], type = type)), c(0L, 2L))
  expect_identical(length(predict(timed, s$x[0, ], type = "median")), 0L)
})

test_that("a grid asks for its point, and solves it exactly", {
  grid <- fusedlr(class ~ Solar.R + Wind + Temp, days, l1 = c(2, 1), fusion = 2)
  for (f in list(predict, fitted, residuals, logLik, deviance, summary, refit, bootstrap, stability, change_test))
    expect_error(f(grid), "which is needed: this fit has 2 points")
  expect_equal(coef(grid, which = 2), coef(fit), tolerance = 1e-9)
  expect_identical(dim(coef(grid)), c(4L, 3L, 2L))
})

test_that("tidiers give tibbles, with intervals where there are any", {
  skip_if_not_installed("generics")
  skip_if_not_installed("tibble")
  for (kind in kinds) {
    expect_true(inherits(generics::tidy(kind), "tbl_df") && inherits(generics::glance(kind), "tbl_df"))
  }
  table <- generics::tidy(again, conf.int = TRUE, conf.level = 0.9)
  expect_equal(table$conf.high, unname(confint(again, level = 0.9)[, 2]))
  expect_true(all(c("conf.low", "conf.high") %in% names(generics::tidy(boot, conf.int = TRUE))))
  expect_error(generics::tidy(fit, conf.int = TRUE), "no standard errors")
  beside <- generics::augment(fit, data = days)
  expect_identical(beside$Temp, rep(days$Temp, 3))
  expect_identical(nrow(generics::augment(fit, newdata = days[1:2, ])), 6L)
})

test_that("glmnet's words give glmnet's numbers", {
  skip_if_not_installed("glmnet")
  x <- as.matrix(days[c("Solar.R", "Wind", "Temp")])
  y <- days$Ozone > 40
  lambda <- c(0.1, 0.03, 0.01)
  factor <- c(1, 0.5, 3)
  theirs <- glmnet::glmnet(x, y, "binomial", lambda = lambda, alpha = 0.4, penalty.factor = factor, thresh = 1e-14)
  ours <- fusedlr(x, y, lambda = lambda, alpha = 0.4, penalty.factor = factor)
  for (i in 1:3)
    expect_equal(unname(coef(ours, which = i)[, 1]), unname(as.matrix(coef(theirs))[, i]), tolerance = 1e-5)
  expect_error(fusedlr(x, y, lambda = 0.1, penalty.factor = c(0, 0, 0)), "penalty.factor must have a positive number")
})

test_that("changes are tested by feature, term and factor, on a fit and on its refit", {
  table <- change_test(fit)
  expect_identical(dimnames(table), list(c("Solar.R", "Wind", "Temp"), c("statistic", "df", "pvalue")))
  one <- change_test(fit, "Temp")
  expect_identical(unname(one$statistic), table["Temp", "statistic"])
  expect_true(inherits(one, "htest") && any(grepl("same effect in all tasks", capture.output(print(one)))))
  expect_identical(change_test(refit(fit, ties = FALSE)), table)
  expect_identical(change_test(again), table)
  d <- transform(days, site = rep(c("a", "b", "c"), 37))
  with_factor <- fusedlr(class ~ Temp + site, d, l1 = 0.1, fusion = 1)
  expect_identical(change_test(with_factor)["site", "df"], 4)
  untied <- refit(fit, ties = FALSE)
  expect_equal(differences(fit, "Temp")$estimate, unname(diff(coef(untied)["Temp", ])))
  expect_error(change_test(fusedlr(class ~ Temp + Wind, days, l1 = 1e4, fusion = 1), "Temp"), "set it to zero in every")
  expect_error(change_test(fit, "nothing"), "term must be one of 'Solar.R'")
})

test_that("a refit on other rows takes these rows", {
  first <- rep(c(TRUE, FALSE), length.out = 111)
  half <- fusedlr(class ~ Wind + Temp, days[first, ], l1 = 1, fusion = 2)
  other <- refit(half, rows = fusedlr(class ~ Wind + Temp, days[!first, ], l1 = 1, fusion = 2))
  expect_identical(nobs(other), sum(!first))
  expect_true(any(grepl("did not choose", capture.output(print(other)))))
  whole <- fusedlr(class ~ Wind + Temp, days, l1 = 1, fusion = 2)
  some <- refit(whole, rows = which(!first))
  expect_identical(nobs(some), sum(!first))
  same <- refit(whole, rows = rep(TRUE, 111))
  expect_equal(coef(same), coef(refit(whole)))
  expect_error(refit(whole, rows = fit), "rows must be a fit of the same tasks and features")
})

test_that("stability finds what is there, and says how sure it is", {
  s <- simulated(n = 300)
  strong <- fusedlr(s$x, s$y, l1 = 3, fusion = 1)
  set.seed(2)
  found <- stability(strong, n = 60)
  set <- stable(found)
  expect_true(all(c("x1", "x2") %in% set$feature) && attr(set, "threshold") > 0.5)
  expect_true(any(grepl("halves of the rows", capture.output(print(found)))))
  expect_identical(names(stable(found, "changes", errors = 1e9)), c("feature", "task", "neighbour", "frequency"))
  expect_error(stability(strong, n = 3), "n must be even")
  kept <- stability(strong, n = 4, errors = NULL)
  expect_identical(kept$multiple, 1)
})

test_that("work is done elsewhere where asked for, with the same numbers", {
  skip_if_not_installed("future.apply")
  set.seed(3)
  here <- bootstrap(fit, n = 4)
  set.seed(3)
  there <- bootstrap(fit, n = 4, parallel = TRUE)
  expect_identical(there$samples, here$samples)
})

test_that("a grid is chosen from by rows that it has not seen", {
  first <- rep(c(TRUE, FALSE), length.out = 111)
  grid <- fusedlr(class ~ Wind + Temp, days[first, ], l1 = c(30, 4, 0.5), fusion = c(0, 2))
  chosen <- select_point(grid, days[!first, ])
  logs <- vapply(1:6, function(i) {
    chances <- predict(grid, days[!first, ], type = "levels", which = i)
    -sum(log(chances[cbind(seq_len(sum(!first)), as.integer(days$class[!first]))]))
  }, 0)
  best <- which.min(logs)
  expect_equal(unlist(chosen$table[c("l1", "fusion")]), unlist(grid$table[best, c("l1", "fusion")]))
  s <- simulated()
  plain <- fusedlr(s$x[1:60, ], s$y[1:60, ], l1 = c(8, 1), fusion = 1)
  for (measure in c("deviance", "class", "auc"))
    expect_true(nrow(select_point(plain, s$x[61:120, ], s$y[61:120, ], measure)$table) == 1L)
  expect_error(select_point(plain, s$x, s$y + 5), "y must hold the labels of the fit, '0', '1'")
  expect_error(select_point(plain, s$x[1:3, ], s$y), "y must have one row for each of the 3 rows of newdata")
  expect_error(select_point(plain, s$x), "y is needed")
  expect_error(select_point(fit, days), "a fit at several penalties")
  d <- data.frame(s$x, s$y, year = rep(1:4, 30))
  long <- fusedlr(y1 ~ x1 + x2, d, task = year, l1 = c(8, 1), fusion = 1, subset = 1:80)
  expect_true(inherits(select_point(long, d[81:120, ]), "fusedlr"))
  timed <- suppressWarnings(fusedlr(Surv(year, y1) ~ x1, d, breaks = 2, l1 = c(8, 1), fusion = 1))
  expect_true(inherits(select_point(timed, d), "fusedlr"))
})

test_that("criteria choose, without folds", {
  for (by in c("aic", "bic", "ebic")) {
    chosen <- suppressWarnings(cv.fusedlr(class ~ Wind + Temp, days, by = by, l1 = c(8, 2, 0.5), l2 = 0, fusion = 1))
    expect_identical(chosen$chosen$min, which.min(chosen$table[[by]]))
    expect_true(any(grepl(toupper(by), capture.output(print(chosen)))))
    expect_error(coef(chosen, s = "1se"), "needs standard errors")
  }
})

test_that("maps and survival curves draw", {
  file <- tempfile(fileext = ".pdf")
  pdf(file)
  plot(fit, type = "map", standardized = TRUE)
  s <- simulated(n = 60)
  timed <- fusedlr(s$x, fusedlr:::surv(rep(1:4, 15), s$y[, 1]), breaks = 3, l1 = 1, fusion = 1)
  curves <- plot_survival(timed, s$x[1:2, ])
  expect_identical(dim(curves), c(2L, 4L))
  dev.off()
  expect_true(file.size(file) > 2000)
  expect_error(plot_survival(fit), "survival curves are of a survival model")
})
