# Signs of the labels of an outcome as a table (n, t), NA where there is none, and their weights.
tables <- function(outcome) {
  labels <- outcome$labels
  place <- cbind(labels$row + 1L, rep(seq_along(outcome$tasks), diff(labels$start)))
  signs <- matrix(NA_real_, outcome$n, length(outcome$tasks))
  weights <- 0 * replace(signs, TRUE, 1)
  signs[place] <- labels$sign
  weights[place] <- labels$weight
  list(signs = signs, weights = weights)
}

ordered_outcome <- function(y, kind = "sequential", direction = "forward") {
  fusedlr:::read_outcome(y, list(kind = kind, direction = direction))
}

test_that("an ordered factor is split at its thresholds, rows that ended earlier without a label", {
  y <- factor(c("low", "mid", "high", NA, "low", "high"), c("low", "mid", "high"), ordered = TRUE)
  split <- ordered_outcome(y)
  expect_identical(split$tasks, c(">low", ">mid"))
  expect_identical(tables(split)$signs, cbind(c(-1, 1, 1, NA, -1, 1), c(NA, -1, 1, NA, NA, 1)))
  expect_identical(tables(ordered_outcome(y, "cumulative"))$signs[, 2], c(-1, -1, 1, NA, -1, 1))
  back <- ordered_outcome(y, direction = "backward")
  expect_identical(back$tasks, c(">=mid", ">=high"))
  expect_identical(tables(back)$signs, cbind(c(-1, 1, NA, NA, -1, NA), c(-1, -1, 1, NA, -1, 1)))
  expect_error(ordered_outcome(y, "cumulative", "backward"), "backward.* goes with kind = \"sequential\" only")
})

test_that("a sequential fit without penalties is a glm among the rows that reached the level", {
  days <- ozone()
  x <- scale(as.matrix(days[c("Wind", "Temp")]))
  fit <- fusedlr(x, days$class, l1 = 0, fusion = 0, tol = 1e-13)
  for (k in 1:3) {
    reached <- as.integer(days$class) >= k
    expect_equal(unname(coef(fit)[, k]), glm_coefs(x[reached, ], (as.integer(days$class) > k)[reached]),
                 tolerance = 1e-5)
  }
})

test_that("probabilities of levels sum to 1 and give the log-likelihood of the ordered outcome", {
  days <- ozone()
  fit <- fusedlr(class ~ Wind + Temp + Solar.R, days, l1 = 0.5, fusion = 1)
  levels <- predict(fit, type = "levels")
  expect_equal(unname(rowSums(levels)), rep(1, nrow(days)))
  expect_true(all(levels >= 0))
  expect_equal(sum(log(levels[cbind(seq_len(nrow(days)), as.integer(days$class))])), as.numeric(logLik(fit)))
  expect_identical(levels(predict(fit, type = "class")), levels(days$class))
  expect_identical(unname(as.integer(predict(fit, type = "class"))), unname(max.col(levels, "first")))
  expect_equal(predict(fit, days[1:4, ], type = "levels"), levels[1:4, ])
})

test_that("probabilities of a cumulative fit are put in order with a warning that counts", {
  days <- ozone()
  fit <- fusedlr(class ~ Wind + Temp, days, l1 = 0.5, fusion = 1, kind = "cumulative")
  expect_equal(unname(predict(fit, type = "levels")[, 1]), unname(1 - predict(fit, type = "response")[, 1]))
  chances <- predict(fit, type = "levels")
  expect_equal(as.numeric(logLik(fit)), sum(log(chances[cbind(seq_len(nrow(days)), as.integer(days$class))])))
  crossing <- function() fusedlr:::level_probabilities(fit$problem$outcome, qlogis(rbind(c(0.9, 0.5, 0.1),
                                                                                        c(0.5, 0.7, 0.2))))
  found <- expect_warning(crossing(), "1 of 2 rows", class = "fusedlr_crossing")
  found <- suppressWarnings(crossing())
  expect_true(all(found >= 0) && all(abs(rowSums(found) - 1) < 1e-12))
})

# time, event: died in the first interval; survived all; censored inside the second; censored at the end of the second;
# died at the end of the second; died after the last break
TIMES <- data.frame(time = c(0.5, 9, 1.5, 2, 2, 8), event = c(1, 0, 0, 0, 1, 1), x = c(1, 4, 2, 2, 5, 3))

split_at <- function(left, rows, breaks, causes = NULL) {
  parts <- fusedlr:::left_parts(left)
  y <- parts$make(lapply(parts$parts, eval, rows))
  suppressWarnings(fusedlr:::read_outcome(y, list(kind = "sequential", direction = "forward", breaks = breaks,
                                                  causes = causes)))
}

test_that("labels of intervals: an event counts whole, an interval survived by the share watched", {
  split <- split_at(quote(Surv(time, event)), TIMES, c(1, 2))
  expect_identical(split$tasks, c("(0,1]", "(1,2]"))
  expect_identical(tables(split)$signs, cbind(c(1, -1, -1, -1, -1, -1), c(NA, -1, -1, -1, 1, -1)))
  expect_identical(tables(split)$weights, cbind(rep(1, 6), c(0, 1, 0.5, 1, 1, 1)))
  expect_identical(split$left_out, c(before = 0L, beyond = 1L))
})

test_that("late entry counts by the share watched, and an event at time 0 is not lost", {
  rows <- data.frame(entry = c(0, 0.5, 1), time = c(3, 3, 3), event = 1)
  split <- split_at(quote(Surv(entry, time, event)), rows, c(1, 2, 3))
  expect_identical(tables(split)$signs, rbind(c(-1, -1, 1), c(-1, -1, 1), c(NA, -1, 1)))
  expect_identical(tables(split)$weights[, 1], c(1, 0.5, 0))
  at_once <- split_at(quote(Surv(time, event)), data.frame(time = c(0, 2, 1), event = c(1, 0, 1)), c(1, 2))
  expect_identical(tables(at_once)$signs[1, ], c(1, NA))
})

test_that("where all rows enter later, time begins with them", {
  rows <- data.frame(entry = 40, time = c(41, 42, 43, 43, 42.5), event = c(1, 1, 1, 0, 0))
  found <- split_at(quote(Surv(entry, time, event)), rows, 40:43)
  expect_identical(found$tasks, c("(40,41]", "(41,42]", "(42,43]"))
  expect_identical(tables(found)$signs[, 2], c(NA, 1, -1, -1, -1))
  expect_identical(split_at(quote(Surv(entry, time, event)), rows, 2)$breaks, c(40, 42, 43))
})

test_that("a row cut in two inside an interval, without its event, changes nothing but rounding", {
  skip_if_not_installed("survival")
  d <- transform(survival::veteran, start = 0)
  breaks <- c(30, 90, 200)
  whole <- suppressWarnings(fusedlr(Surv(start, time, status) ~ karno + trt, d, breaks = breaks, l1 = 0.5, fusion = 1,
                                    standardize = FALSE))
  later <- d$time > 30
  cut <- rbind(d[!later, ], transform(d[later, ], time = 11, status = 0), transform(d[later, ], start = 11))
  cut <- survival::survSplit(cut, cut = c(30, 90), end = "time", start = "start", event = "status")
  expect_true(nrow(cut) > 2 * nrow(d))
  parts <- suppressWarnings(fusedlr(Surv(start, time, status) ~ karno + trt, cut, breaks = breaks, l1 = 0.5, fusion = 1,
                                    standardize = FALSE))
  expect_equal(coef(parts), coef(whole), tolerance = 1e-6)
  expect_equal(as.numeric(logLik(parts)), as.numeric(logLik(whole)), tolerance = 1e-10)
})

test_that("a group that is censored earlier, with the same hazard, has no invented effect", {
  set.seed(1)
  n <- 4000
  group <- rep(0:1, n / 2)
  time <- rexp(n, 0.25)
  until <- ifelse(group == 1, runif(n, 0, 4), 4)
  d <- data.frame(time = pmin(time, until), event = as.numeric(time <= until), group)
  fit <- fusedlr(Surv(time, event) ~ group, d, breaks = 1:4, l1 = 0, fusion = 1e5)
  expect_true(abs(coef(fit)["group", 1L]) < 0.12)
  alive <- predict(fit, data.frame(group = 0), type = "survival")
  expect_true(max(abs(alive - exp(-(1:4) / 4))) < 0.03)
})

test_that("hazards without penalties and all tied are a glm on person-periods", {
  skip_if_not_installed("survival")
  d <- survival::veteran
  breaks <- c(0, 30, 90, 200)
  fit <- expect_warning(fusedlr(Surv(time, status) ~ karno + trt, d, breaks = breaks, l1 = 0, fusion = 1e5,
                                tol = 1e-12),
                        "leave out [0-9]+ of 128 events, 0 before", class = "fusedlr_left_out")
  long <- survival::survSplit(d, cut = breaks[-1], start = "tstart", end = "time", event = "status", episode = "k")
  long <- long[long$k <= 3, ]
  share <- ifelse(long$status == 1, 1, (long$time - long$tstart) / diff(breaks)[long$k])
  pooled <- suppressWarnings(glm(status ~ 0 + factor(k) + karno + trt, binomial, long, weights = share,
                                 epsilon = 1e-14))
  expect_equal(unname(coef(fit)[1, ]), unname(coef(pooled)[1:3]), tolerance = 1e-5)
  expect_equal(unname(coef(fit)[-1, 2]), unname(coef(pooled)[4:5]), tolerance = 1e-5)
  curves <- predict(fit, type = "survival")
  expect_equal(curves[, 2], (1 - fitted(fit)[, 1]) * (1 - fitted(fit)[, 2]))
  median <- predict(fit, type = "median")
  expect_true(all(is.na(median) == (curves[, 3] > 0.5)) && all(median[curves[, 1] <= 0.5] <= 30))
  first <- curves[, 1] <= 0.5 & curves[, 1] > 0
  expect_equal(unname(median[first]), unname(30 * log(0.5) / log(curves[first, 1])))
})

test_that("Surv of package survival and of the formula are the same", {
  skip_if_not_installed("survival")
  d <- survival::veteran
  ours <- fusedlr(Surv(time, status) ~ karno, d, breaks = 4, l1 = 1, fusion = 1)
  x <- as.matrix(d["karno"])
  expect_identical(coef(ours), coef(fusedlr(x, survival::Surv(d$time, d$status), breaks = 4, l1 = 1, fusion = 1)))
  expect_identical(max(ours$problem$outcome$breaks), max(d$time[d$status == 1]))
})

test_that("bad outcomes are refused in a sentence", {
  d <- transform(TIMES, negative = -time, odd = 7, missing = c(NA, time[-1]))
  fit <- function(formula, ...) fusedlr(formula, d, l1 = 1, fusion = 1, ...)
  expect_error(fit(Surv(time, event) ~ x), "breaks are needed")
  expect_error(fit(Surv(negative, event) ~ x, breaks = 2), "negative times")
  expect_error(fit(Surv(time, odd) ~ x, breaks = 2), "event must hold 0/1")
  expect_identical(nobs(suppressWarnings(fit(Surv(missing, event) ~ x, breaks = c(1, 2, 9)))), 5L)
  missing <- fusedlr:::surv(d$missing, d$event)
  expect_error(fusedlr(d["x"], missing, l1 = 1, fusion = 1, breaks = 2), "missing or infinite")
  expect_error(fit(Surv(time, event) ~ x, breaks = c(3, 2)), "breaks must increase")
  expect_error(suppressWarnings(fit(Surv(time, event) ~ x, breaks = c(9, 12, 15))), "without a row that was watched")
  expect_error(fit(Surv(time, event, type = "left") ~ x, breaks = 2), "type right, counting or mstate, found \"left\"")
  expect_error(fit(event ~ x, breaks = 2), "breaks goes with a survival outcome")
  expect_error(fit(factor(x) ~ time), "two levels, found 5.*an ordered factor gives")
  expect_error(fit(ordered(event, 0:2) ~ x), "never takes the levels '2'")
})
