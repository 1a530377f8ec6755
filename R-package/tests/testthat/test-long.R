# Rows of one task each, groups of rows, causes of an event, and which label is yes.

visits <- function(persons = 40, each = 6, seed = 3) {
  set.seed(seed)
  person <- rep(seq_len(persons), each = each)
  d <- data.frame(person, year = rep(2000 + seq_len(each), persons), x1 = rnorm(persons * each),
                  x2 = rnorm(persons)[person])
  d$y <- rbinom(nrow(d), 1, plogis(d$x1 * (d$year > 2003) + d$x2 + rnorm(persons)[person]))
  d
}

test_that("long data are the table of labels with gaps, by formula and by matrix", {
  d <- visits()
  fit <- fusedlr(y ~ x1 + x2, d, task = year, l1 = 1, fusion = 1)
  wide <- matrix(NA, nrow(d), 6, dimnames = list(NULL, 2001:2006))
  wide[cbind(seq_len(nrow(d)), d$year - 2000)] <- d$y
  table <- fusedlr(d[c("x1", "x2")], wide, l1 = 1, fusion = 1)
  expect_identical(coef(fit), coef(table))
  expect_identical(coef(fusedlr(d[c("x1", "x2")], d$y, l1 = 1, fusion = 1, task = d$year)), coef(fit))
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(table)))
  seen <- cbind(seq_len(nrow(d)), d$year - 2000)
  expect_equal(unname(fitted(fit)), unname(predict(fit, type = "response")[seen]))
  expect_equal(unname(residuals(fit, "deviance")), unname(residuals(table, "deviance")[seen]))
})

test_that("predictions are of the task asked for, in whatever way", {
  d <- visits()
  fit <- fusedlr(y ~ x1 + x2, d, task = year, l1 = 1, fusion = 1)
  one <- predict(fit, d, task = year, type = "response")
  expect_equal(one, stats::setNames(fitted(fit), rownames(d)))
  expect_identical(predict(fit, d, task = "year", type = "response"), one)
  expect_equal(predict(fit, d[1:3, ], task = 2004), predict(fit, d[1:3, ])[, "2004"])
  expect_identical(unname(predict(fit, d[1:3, ], task = 2004, type = "class")),
                   unname(ifelse(predict(fit, d[1:3, ], task = 2004) > 0, "1", "0")))
  expect_error(predict(fit, d, task = 1999), "task must hold tasks of the fit, found '1999'; there are '2001'")
  expect_error(predict(fit, d, task = c(2001, 2002)), "task must be one task, or one for each of the 240 rows")
})

test_that("tasks are in the order of numbers, dates or levels, else in the user's", {
  d <- visits()
  tasks <- function(task, ...) colnames(coef(fusedlr(d["x1"], d$y, l1 = 1, fusion = 1, task = task, ...)))
  expect_identical(tasks(d$year * 1e5 + 0.5), paste0(2001:2006, "00000.5"))
  expect_identical(tasks(as.Date("2020-01-01") + 31 * (d$year - 2001))[1:2], c("2020-01-01", "2020-02-01"))
  words <- c("b", "c", "a")[1 + d$year %% 3]
  expect_identical(tasks(factor(words, c("c", "b", "a"), ordered = TRUE)), c("c", "b", "a"))
  expect_identical(tasks(words, order = c("a", "c", "b")), c("a", "c", "b"))
  expect_error(tasks(words), "order is needed, first task first")
  expect_error(tasks(words, order = c("a", "c")), "order must name every task")
  expect_error(tasks(words, order = c("a", "c", "b", "z")), "order names tasks that no row has: 'z'")
  expect_error(tasks(c(NA, d$year[-1])), "task must name a task for every row, found 1 missing")
  old <- options(OutDec = ",", digits = 3)
  on.exit(options(old))
  expect_identical(tasks(d$year / 8)[1:2], c("250.125", "250.25"))
})

test_that("groups are the sampling unit of refits, draws, halves, folds and BIC", {
  d <- visits()
  fit <- fusedlr(y ~ x1 + x2, d, task = year, groups = person, l1 = 1, fusion = 1)
  again <- refit(fit)
  problem <- fit$problem
  # One column for each distinct value, one row for each label.
  task <- rep(1:6, diff(problem$labels$start))
  features <- cbind(1, problem$x)[problem$labels$row + 1, ]
  z <- sapply(seq_along(again$values), function(v) rowSums(features * t(again$pattern == v)[task, ]))
  yes <- plogis(drop(z %*% again$values))
  bread <- solve(crossprod(z, yes * (1 - yes) * z))
  labels <- problem$labels
  scores <- rowsum(((labels$sign > 0) - yes) * z, d$person[labels$row + 1])
  expect_equal(again$vcov, bread %*% crossprod(scores) %*% bread, tolerance = 1e-8)
  expect_identical(attr(logLik(fit), "nobs"), 40)
  expect_true(any(grepl("labels of a person", capture.output(print(again)))))
  expect_true(any(grepl("240 rows of 40 groups \\(person\\)", capture.output(summary(fit)))))
  set.seed(1)
  shares <- fusedlr:::stratified_folds(problem, 5)
  expect_true(all(rowSums(rowsum(shares, d$person) > 0) == 1))
  drawn <- fusedlr:::drawn_weights(problem$units, 0:39, rep(0.5, 40))
  expect_identical(drawn, rep(1, 240))
  expect_true(all(tapply(fusedlr:::half_weights(problem$units, 40)[[1]], d$person, function(v) length(unique(v))) == 1))
})

test_that("cluster() names the groups, and what has another meaning elsewhere is refused", {
  d <- visits()
  by_argument <- fusedlr(y ~ x1 + x2, d, task = year, groups = person, l1 = 1, fusion = 1)
  by_term <- fusedlr(y ~ x1 + x2 + cluster(person), d, task = year, l1 = 1, fusion = 1)
  expect_identical(coef(by_term), coef(by_argument))
  expect_identical(by_term$problem$units, by_argument$problem$units)
  expect_error(fusedlr(y ~ x1 + strata(x2), d, l1 = 1), "strata\\(\\) in the formula is not supported")
  expect_error(fusedlr(y ~ x1 + frailty(person), d, l1 = 1), "frailty\\(\\).*groups =")
  expect_error(fusedlr(y ~ x1 + tt(x2), d, l1 = 1), "tt\\(\\)")
  expect_error(fusedlr(y ~ x1 + cluster(person), d, groups = person, l1 = 1), "not both")
  expect_error(fusedlr(d["x1"], d$y, l1 = 1, groups = c(NA, d$person[-1])), "groups must name a group for every row")
  expect_error(fusedlr(d["x1"], d$y, l1 = 1, groups = 1:3), "groups must hold one value for each of the 240 rows")
})

test_that("a dot stands for features only, and rows with missing values are left out and counted", {
  d <- visits()
  d$x1[1:3] <- NA
  fit <- fusedlr(y ~ ., d, task = year, groups = person, l1 = 1, fusion = 1)
  expect_identical(rownames(coef(fit))[-1], c("x1", "x2"))
  expect_identical(nobs(fit), 237L)
  expect_true(any(grepl("3 observations deleted due to missingness", capture.output(print(fit)))))
  expect_true(any(grepl("3 observations deleted", capture.output(summary(fit)))))
  kept <- update(fit, na.action = na.exclude)
  expect_identical(length(fitted(kept)), 240L)
  expect_identical(unname(is.na(residuals(kept))), rep(c(TRUE, FALSE), c(3, 237)))
  expect_identical(dim(predict(kept)), c(240L, 6L))
  expect_error(update(fit, na.action = na.fail), "na.action: missing values")
  expect_identical(formula(fit), y ~ x1 + x2)
})

test_that("start-stop rows of a person may not overlap, and a person counts once", {
  skip_if_not_installed("survival")
  heart <- survival::heart
  fit <- fusedlr(Surv(start, stop, event) ~ age + transplant, heart, groups = id, breaks = c(30, 100, 400, 1800),
                 l1 = 0, fusion = 1e5)
  expect_identical(nobs(fit), 103L)
  expect_true(abs(coef(fit)["transplant1", 1]) < 0.3)  # -0.18 by the piecewise exponential model
  twice <- rbind(heart[1:4, ], heart[4, ])
  expect_error(fusedlr(Surv(start, stop, event) ~ age, twice, groups = id, breaks = c(30, 100), l1 = 1, fusion = 1),
               "rows [0-9]+ and [0-9]+ of one id overlap")
  expect_error(fusedlr(Surv(stop, start, event) ~ age, heart, breaks = 2, l1 = 1, fusion = 1), "start must come before")
})

risks <- function() {
  d <- survival::mgus2
  d$time <- ifelse(d$pstat == 1, d$ptime, d$futime)
  d$cause <- ifelse(d$pstat == 1, 1, 2 * d$death)
  d[d$time > 0, ]
}

test_that("causes make a chain each, by code, by name and by factor", {
  skip_if_not_installed("survival")
  d <- risks()
  fit <- function(...) suppressWarnings(fusedlr(..., breaks = c(60, 120, 240), l1 = 2, fusion = 5))
  by_code <- fit(Surv(time, cause) ~ age, d, causes = c(pcm = 1, death = 2))
  d$state <- factor(d$cause, 0:2, c("censored", "pcm", "death"))
  by_factor <- fit(Surv(time, state) ~ age, d)
  expect_identical(coef(by_code), coef(by_factor))
  expect_identical(coef(fit(d["age"], survival::Surv(d$time, d$state))), coef(by_code))
  expect_identical(colnames(coef(by_code))[3:4], c("pcm (120,240]", "death (0,60]"))
  expect_identical(by_code$problem$graph$ends, matrix(c(0L, 1L, 1L, 2L, 3L, 4L, 4L, 5L), 2))
  expect_error(fit(Surv(time, cause) ~ age, d), "several causes, causes = c\\(1, 2\\)")
  expect_error(fit(Surv(time, cause) ~ age, d, causes = c(1, 3)), "one of the causes c\\(1, 3\\), found 2")
})

test_that("cumulative incidence is that of Aalen and Johansen", {
  skip_if_not_installed("survival")
  d <- risks()
  d$none <- rep(0:1, length.out = nrow(d))
  ends <- c(60, 120, 240)
  fit <- suppressWarnings(fusedlr(Surv(time, cause) ~ none, d, causes = c(pcm = 1, death = 2), breaks = ends, l1 = 1e5,
                                  fusion = 0))
  new <- data.frame(none = 0)
  hazards <- lapply(1:2, function(k) plogis(coef(fit)[1, 3 * (k - 1) + 1:3]))
  alive <- cumprod(1 - hazards[[1]] - hazards[[2]])
  by_hand <- cumsum(c(1, alive[-3]) * hazards[[1]])
  found <- predict(fit, new, type = "incidence", cause = "pcm")
  expect_equal(as.vector(found), unname(by_hand))
  expect_equal(as.vector(predict(fit, new, type = "survival")), unname(alive))
  expect_identical(colnames(predict(fit, new, type = "incidence"))[c(1, 6)], c("pcm 60", "death 240"))
  state <- factor(d$cause, 0:2)
  multi <- summary(survival::survfit(survival::Surv(d$time, state) ~ 1), times = ends)$pstate
  expect_true(max(abs(predict(fit, new, type = "incidence") - as.vector(multi[, 2:3]))) < 0.015)
  expect_error(predict(fit, new, type = "incidence", cause = "x"), "cause must be one of 'pcm', 'death'")
  expect_error(predict(fit, new, type = "survival", cause = "pcm"), "cause goes with type = \"hazard\" and")
})

test_that("the word that means yes is yes, whatever the alphabet says, and the user's word is the last", {
  s <- simulated(n = 60)
  yes_of <- function(first, second, ...) {
    fit <- fusedlr(s$x, ifelse(s$y[, 1] == 1, second, first), l1 = 0.1, ...)
    found <- fit$problem$words[[1]][2]
    expect_identical(predict(fit, type = "response") > 0.5, predict(fit, type = "class") == found)
    found
  }
  expect_identical(yes_of("no", "Yes"), "Yes")
  expect_identical(yes_of("control", "case"), "case")
  expect_identical(yes_of("survived", "died"), "died")
  expect_identical(yes_of("a", "B"), "B")
  expect_identical(yes_of("not ill", "ill"), "ill")
  expect_identical(yes_of("no", "Yes", yes = "no"), "no")
  levels <- function(...) fusedlr(s$x, factor(s$y[, 1], 0:1, ...), l1 = 1)$problem$words[[1]]
  expect_identical(levels(c("control", "case")), c("control", "case"))
  both <- data.frame(a = ifelse(s$y[, 1] == 1, "case", "control"), b = ifelse(s$y[, 2] == 1, "north", "south"))
  expect_warning(fusedlr(s$x, both, l1 = 1, fusion = 1), "yes is 'case' in task 'a' but 'south'", class = "fusedlr_yes")
  said <- fusedlr(s$x, both, l1 = 1, fusion = 1, yes = c(b = "north", a = "case"))
  expect_identical(unname(vapply(said$problem$words, `[[`, "", 2L)), c("case", "north"))
  expect_error(fusedlr(s$x, both, l1 = 1, fusion = 1, yes = "east"), "yes must be one of two labels of task 'a'")
  numbers <- fusedlr(s$x, 1 + s$y[, 1], l1 = 1, yes = 1)
  expect_identical(numbers$problem$words[[1]], c("2", "1"))
})
