# The bootstrap and stability selection: the same fit on resampled rows.

# Beyond this, what is kept of the resamples would outgrow any use of them.
MOST_RESAMPLES <- 1e5

bootstrap <- function(object, ...) UseMethod("bootstrap")

# Units (rows, or groups) are drawn with replacement, weights taken as frequencies, and keep the labels of all tasks.
bootstrap.fusedlr <- function(object, n = 200L, parallel = FALSE, ...) {
  fit <- one_fit(object, ...)
  n <- check_whole("n", n, 2L, MOST_RESAMPLES)
  units <- fit$problem$units
  number <- count_units(units)$number
  times <- lapply(seq_len(n), function(i) {
    drawn_weights(units, floor(stats::runif(number) * number), stats::runif(number))
  })
  found <- fit_resamples(fit, times, point_of(fit), parallel)
  structure(c(found, list(fit = fit, call = fit$call)),
            class = c("bootstrap.fusedlr", "resampled.fusedlr", "fusedlr"))
}

point_of <- function(fit) unlist(fit$table[c("l1", "l2", "fusion")])

# Coefficients (1 + d, t, n) and status of the fit with the weights of its rows multiplied, once for each of `times`.
fit_resamples <- function(fit, times, point, parallel) {
  start <- params_of(fit)
  fits <- over(times, fit_reweighted, parallel, problem = fit$problem, point = point, maxit = fit$maxit, start = start)
  samples <- array(unlist(lapply(fits, `[[`, "params")), c(dim(start), length(times)), c(dimnames(start), list(NULL)))
  list(samples = samples, status = vapply(fits, function(fit) fit$table$status, ""))
}

fit_reweighted <- function(times, problem, point, maxit, start) {
  solve_points(reweighted(problem, times), point, NULL, maxit, start)
}

confint.bootstrap.fusedlr <- function(object, parm, level = 0.95, ...) {
  check_no_more(...)
  level <- check_number("level", level, 0, 1, open = TRUE)
  ends <- c(1 - level, 1 + level) / 2
  found <- aperm(apply(object$samples, 1:2, stats::quantile, ends, names = FALSE), c(2L, 3L, 1L))
  dimnames(found)[[3L]] <- percents(ends)
  if (missing(parm)) return(found)
  check_parm(parm, rownames(found))
  found[parm, , , drop = FALSE]
}

# Covariance of the coefficients over resamples, task after task.
vcov.bootstrap.fusedlr <- function(object, ...) {
  check_no_more(...)
  names <- outer(dimnames(object$samples)[[1L]], dimnames(object$samples)[[2L]], paste, sep = ": ")
  found <- stats::cov(t(matrix(object$samples, ncol = dim(object$samples)[3L])))
  structure(found, dimnames = list(as.vector(names), as.vector(names)))
}

# Share of repetitions in which a coefficient is not zero, and in which two neighbours are equal.
selected_shares <- function(object) apply(object$samples[-1L, , , drop = FALSE] != 0, 1:2, mean)

tied_shares <- function(object) {
  ends <- object$fit$problem$graph$ends + 1L
  tasks <- dimnames(object$samples)[[2L]]
  same <- object$samples[, ends[1L, ], , drop = FALSE] == object$samples[, ends[2L, ], , drop = FALSE]
  structure(apply(same, 1:2, mean), dim = dim(same)[1:2],
            dimnames = list(rownames(object$samples), paste(tasks[ends[1L, ]], tasks[ends[2L, ]], sep = " = ")))
}

summary.bootstrap.fusedlr <- function(object, ...) {
  check_no_more(...)
  structure(list(n = dim(object$samples)[3L], failed = sum(object$status != "optimal"),
                 word = object$fit$problem$units$word, error = apply(object$samples, 1:2, stats::sd),
                 selected = selected_shares(object), tied = tied_shares(object)),
            class = "summary.bootstrap.fusedlr")
}

print.bootstrap.fusedlr <- function(x, ...) {
  print(summary.bootstrap.fusedlr(x), ...)
  invisible(x)
}

print.summary.bootstrap.fusedlr <- function(x, digits = 2L, ...) {
  chkDots(...)
  cat("\n", x$n, " resamples of the ", x$word, "s", if (x$failed) paste0(", ", x$failed, " of them not optimal"), "\n",
      sep = "")
  titles <- c(error = "Standard deviation", selected = "Share of resamples in which a coefficient is not zero",
              tied = "Share of resamples in which two neighbours are equal")
  for (name in names(titles)) if (length(x[[name]])) {
    cat("\n", titles[[name]], "\n", sep = "")
    print(x[[name]], digits = digits)
  }
  cat("\nThe estimates are shrunken; these numbers describe them and are no test of a hypothesis.\n")
  invisible(x)
}

# ---- stability selection with complementary pairs (Shah and Samworth 2013) ----

SHARE <- 0.9        # largest threshold accepted in the search for the penalty
TRIAL_PAIRS <- 10L  # complementary pairs for each penalty tried
STEP <- 1.25
STEPS <- 40L

stability <- function(object, ...) UseMethod("stability")

stability.fusedlr <- function(object, n = 100L, what = c("features", "effects", "changes"), errors = 1,
                              bound = c("unimodal", "none"), parallel = FALSE, ...) {
  fit <- one_fit(object, ...)
  n <- check_whole("n", n, 2L, MOST_RESAMPLES)
  if (n %% 2L) refuse("n must be even, because halves come in pairs, found ", n, "; use ", n + 1L)
  what <- check_word("what", what, c("features", "effects", "changes"))
  bound <- check_word("bound", bound, c("unimodal", "none"))
  if (!is.null(errors)) errors <- check_number("errors", errors, 0, Inf, open = TRUE)
  number <- count_units(fit$problem$units)$number
  if (number < 2) refuse("weights must stand for two rows or more to be split into halves, found ", number)
  halves <- unlist(lapply(seq_len(n / 2), function(i) half_weights(fit$problem$units, number)), recursive = FALSE)
  halved <- function(multiple, halves) {
    point <- point_of(fit)
    raised <- if (what == "changes") "fusion" else "l1"
    point[raised] <- multiple * point[raised]
    structure(c(fit_resamples(fit, halves, point, parallel),
                list(fit = fit, call = fit$call, what = what, bound = bound, errors = errors, multiple = multiple)),
              class = c("stability.fusedlr", "resampled.fusedlr", "fusedlr"))
  }
  multiple <- if (is.null(errors)) 1 else raised_penalty(halved, halves, n, errors, bound)
  halved(multiple, halves)
}

# A complementary pair with doubled weights, so that the penalty per row is that of the full data.
half_weights <- function(units, number) {
  places <- order(stats::runif(number)) - 1L
  uniform <- stats::runif(number)
  half <- number %/% 2
  parts <- list(seq_len(half), half + seq_len(half))
  lapply(parts, function(part) 2 * drawn_weights(units, places[part], uniform[part]))
}

# The smallest multiple of the penalty, at least 1, at which a threshold of SHARE suffices, by bisection.
raised_penalty <- function(halved, halves, n, errors, bound) {
  few <- halves[seq_len(min(2L * TRIAL_PAIRS, n))]
  is_enough <- function(step) {
    found <- average_found(halved(STEP^step, few))
    share_needed(found[["found"]], found[["candidates"]], errors, n, bound) <= SHARE
  }
  if (is_enough(0)) return(1)
  low <- 0L
  high <- STEPS
  while (high - low > 1L) {
    middle <- (low + high) %/% 2L
    if (is_enough(middle)) high <- middle else low <- middle
  }
  STEP^high
}

# Threshold above which at most `errors` candidates of low selection probability are expected; Inf where none suffices.
share_needed <- function(found, candidates, errors, halves, bound) {
  candidates <- max(candidates, 1)
  if (bound == "none") return(0.5 + found^2 / (2 * errors * candidates))
  chance <- found / candidates
  shares <- (halves %/% 2 + 1):halves / halves
  factor <- ifelse(shares <= 0.75, 1 / (2 * pmax(2 * shares - 1 - 1 / halves, 0)),
                   4 * (1 - shares + 1 / halves) / (1 + 2 / halves))
  least <- min(0.5 + chance^2, 0.5 + 1 / halves + 0.75 * chance^2)
  enough <- shares > least & factor * found * chance <= errors & chance <= 1 / sqrt(3)
  if (any(enough, na.rm = TRUE)) shares[which(enough)[1L]] else Inf
}

# Whether each half has each candidate, (terms, 1, n), (d, t, n) or (d, edges, n), with names.
found_in_halves <- function(object, what) {
  samples <- object$samples
  if (what == "features") {
    terms <- rows_of_terms(object$fit)
    found <- lapply(terms, function(rows) apply(samples[rows, , , drop = FALSE] != 0, 3L, any))
    return(array(t(do.call(cbind, found)), c(length(terms), 1L, dim(samples)[3L]), list(names(terms), NULL, NULL)))
  }
  coefs <- samples[-1L, , , drop = FALSE]
  if (what == "effects") return(coefs != 0)
  ends <- object$fit$problem$graph$ends + 1L
  coefs[, ends[1L, ], , drop = FALSE] != coefs[, ends[2L, ], , drop = FALSE]
}

# Rows that a penalty could make zero, or tie.
candidate_rows <- function(object, what) {
  factors <- object$fit$problem$factors
  point <- object$fit$table
  if (what == "features") {
    l1 <- point$l1 * factors[, "l1"]
    return(vapply(rows_of_terms(object$fit), function(rows) all(l1[rows] > 0), NA))
  }
  (if (what == "effects") point$l1 * factors[-1L, "l1"] else point$fusion * factors[-1L, "fusion"]) > 0
}

# Average number found in a half, and number of candidates.
average_found <- function(object, what = object$what) {
  found <- found_in_halves(object, what)[candidate_rows(object, what), , , drop = FALSE]
  c(found = sum(found) / dim(found)[3L], candidates = prod(dim(found)[1:2]))
}

# The stable set: candidates found in at least the share of halves that bounds false ones.
stable <- function(object, what = object$what, errors = object$errors) {
  if (!inherits(object, "stability.fusedlr")) refuse("object must be what stability() gave, found class ",
                                                     class(object)[1L])
  what <- check_word("what", what, c("features", "effects", "changes"))
  errors <- check_number("errors", if (is.null(errors)) 1 else errors, 0, Inf, open = TRUE)
  found <- average_found(object, what)
  share <- share_needed(found[["found"]], found[["candidates"]], errors, dim(object$samples)[3L], object$bound)
  if (share > 1)
    warn("fusedlr_unstable", "on average ", format(found[["found"]], digits = 2L), " of ", found[["candidates"]], " ",
         what, " are found in a half, too many to bound the false ones by ", errors,
         "; make halves for it (what =), fit with larger penalties, or allow more errors")
  frequency <- apply(found_in_halves(object, what), 1:2, mean)
  places <- which(frequency >= share & candidate_rows(object, what), arr.ind = TRUE)
  places <- places[order(places[, 1L], places[, 2L]), , drop = FALSE]
  named_candidates(object, what, unname(places), frequency[places], share)
}

named_candidates <- function(object, what, places, frequency, share) {
  tasks <- dimnames(object$samples)[[2L]]
  ends <- object$fit$problem$graph$ends + 1L
  names <- if (what == "features") names(rows_of_terms(object$fit)) else rownames(object$samples)[-1L]
  found <- data.frame(feature = names[places[, 1L]])
  if (what == "effects") found$task <- tasks[places[, 2L]]
  if (what == "changes") {
    found$task <- tasks[ends[1L, places[, 2L]]]
    found$neighbour <- tasks[ends[2L, places[, 2L]]]
  }
  found$frequency <- frequency
  if (what == "effects") found$coef <- params_of(object$fit)[-1L, , drop = FALSE][places]
  structure(found, threshold = share)
}

summary.stability.fusedlr <- function(object, ...) {
  check_no_more(...)
  stable <- withCallingHandlers(stable(object), fusedlr_unstable = function(w) invokeRestart("muffleWarning"))
  structure(list(stable = stable, average = average_found(object), n = dim(object$samples)[3L],
                 failed = sum(object$status != "optimal"), word = object$fit$problem$units$word, what = object$what,
                 bound = object$bound, errors = if (is.null(object$errors)) 1 else object$errors,
                 multiple = object$multiple), class = "summary.stability.fusedlr")
}

print.stability.fusedlr <- function(x, ...) {
  print(summary.stability.fusedlr(x), ...)
  invisible(x)
}

print.summary.stability.fusedlr <- function(x, digits = 3L, ...) {
  chkDots(...)
  penalty <- if (x$what == "changes") "fusion" else "l1"
  threshold <- attr(x$stable, "threshold")
  said <- c(paste0(x$n, " halves of the ", x$word, "s", if (x$failed) paste0(", ", x$failed, " not optimal"), "; ",
                   penalty, " of the fit times ", format(x$multiple, digits = 3L), ". On average ",
                   format(x$average[["found"]], digits = 2L), " of ", x$average[["candidates"]], " ", x$what,
                   " are found in a half."),
            if (is.finite(threshold) && threshold <= 1)
              paste0("Found in at least ", format(100 * threshold, digits = 3L), " % of the halves, with at most ",
                     format(x$errors), " false ones expected (bound: ", x$bound, "):") else
              paste("No share of the halves bounds the false ones by", format(x$errors)))
  cat("", strwrap(said, 0.95 * getOption("width")), "", sep = "\n")
  if (nrow(x$stable)) print.data.frame(x$stable, digits = digits, row.names = FALSE) else cat("none\n")
  invisible(x)
}
