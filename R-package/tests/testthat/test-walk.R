# A walk of wrong arguments: every argument of every function gets strange values. What comes back is an answer, or a
# refusal in our own words: raised without a call, warnings of our own classes. Nothing crashes.
strange <- function() list(
  NULL, NA, NaN, Inf, -1, 0, 1e300, 2.5, 1:3, numeric(0), c(1, NA), "a", character(0), NA_character_, TRUE, c(TRUE, NA),
  list(), list(1, "a"), data.frame(), matrix("a"), matrix(0, 0, 3), array(1, c(2, 2, 2)), factor(c("a", "b")),
  as.Date("2020-01-01"), 1i, as.raw(1), quote(x + y), function(x) x, new.env(), y ~ x)

walked <- new.env()
walked$calls <- 0L

# Every strange value for one argument of a call; gives what was not said in our own words.
walk <- function(name, f, good, argument) {
  unlist(lapply(strange(), function(value) {
    walked$calls <- walked$calls + 1L
    arguments <- good
    arguments[argument] <- list(value)
    raw <- NULL
    note <- function(condition) {
      shown <- paste(deparse(value), collapse = "")
      raw <<- c(raw, paste0(name, "(", argument, " = ", shown, "): ", conditionMessage(condition)))
    }
    tryCatch(withCallingHandlers(utils::capture.output(f_of(f, arguments)), warning = function(w) {
      if (!inherits(w, "fusedlr_warning")) note(w)
      invokeRestart("muffleWarning")
    }), error = function(e) if (!is.null(conditionCall(e))) note(e))
    raw
  }))
}

f_of <- function(f, arguments) print(do.call(f, arguments, quote = TRUE))

expect_own_words <- function(name, f, good, arguments) {
  found <- unlist(lapply(arguments, function(argument) walk(name, f, good, argument)))
  if (length(found)) cat(found, sep = "\n")
  expect_identical(length(found), 0L)
}

s <- simulated(n = 30)
plain <- list(x = s$x, y = s$y, l1 = 1, fusion = 1)
fit <- do.call(fusedlr, plain)
grid <- list(l1 = c(4, 1), l2 = 0, fusion = 1)
cv <- suppressWarnings(do.call(cv.fusedlr, c(plain[1:2], grid, list(nfolds = 2))))
again <- refit(fit)
boot <- bootstrap(fit, n = 2)
halves <- stability(fit, n = 4)

test_that("fits refuse strange arguments in words", {
  names <- setdiff(names(formals(fusedlr:::fusedlr.default)), "...")
  expect_own_words("fusedlr", fusedlr:::fusedlr.default, plain, names)
  glmnet <- list(x = s$x, y = s$y, lambda = 0.1, fusion = 1)
  expect_own_words("fusedlr", fusedlr:::fusedlr.default, glmnet, c("lambda", "alpha", "penalty.factor"))
  long <- list(x = s$x, y = s$y[, 1], task = rep(1:3, 10), l1 = 1, fusion = 1)
  expect_own_words("fusedlr", fusedlr:::fusedlr.default, long, c("y", "task", "order", "groups", "yes", "tasks"))
  timed <- list(x = s$x, y = fusedlr:::surv(rep(1:3, 10), s$y[, 1]), breaks = 2, l1 = 1, fusion = 1)
  expect_own_words("fusedlr", fusedlr:::fusedlr.default, timed, c("breaks", "causes", "groups", "weights"))
})

test_that("formulas refuse strange arguments in words", {
  d <- data.frame(s$x, s$y, id = rep(1:10, 3))
  good <- list(formula = y1 ~ x1 + x2, data = d, l1 = 1)
  # The data themselves, and what is evaluated in them, may be anything that R finds.
  expect_own_words("fusedlr", fusedlr, good, c("data", "weights", "offset", "subset", "na.action", "task", "groups"))
})

test_that("cross-validations refuse strange arguments in words", {
  good <- c(plain[1:2], grid, list(nfolds = 2))
  expect_own_words("cv.fusedlr", fusedlr:::cv.fusedlr.default, good,
                   c("l1", "l2", "fusion", "nfolds", "foldid", "type.measure", "by", "repeats", "tol", "maxit",
                     "parallel"))
})

test_that("methods refuse strange arguments in words", {
  new <- list(object = fit, newdata = s$x[1:3, ])
  expect_own_words("predict", predict, new, c("newdata", "type", "offset", "newx", "task", "cause", "which"))
  expect_own_words("predict", predict, list(object = cv), c("s", "type"))
  expect_own_words("residuals", residuals, list(object = fit), c("type", "which"))
  expect_own_words("refit", refit, list(object = fit), c("cov_type", "ties", "rows", "which"))
  expect_own_words("change_test", change_test, list(object = fit), c("term", "which"))
  expect_own_words("differences", differences, list(object = fit), c("feature", "level"))
  expect_own_words("bootstrap", bootstrap, list(object = fit, n = 2), c("n", "parallel"))
  expect_own_words("stability", stability, list(object = fit, n = 4), c("n", "what", "errors", "bound", "parallel"))
  expect_own_words("stable", stable, list(object = halves), c("object", "what", "errors"))
  expect_own_words("confint", confint, list(object = again), c("parm", "level"))
  expect_own_words("confint", confint, list(object = boot), c("parm", "level"))
  for (method in c("coef", "logLik", "deviance", "nobs", "fitted", "weights", "df.residual", "summary"))
    expect_own_words(method, get(method), list(object = fit), "which")
  expect_true(walked$calls > 1500L)
})
