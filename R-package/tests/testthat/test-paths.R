# Problems shared with Python that are taken through every public path, each with its defaults and no tolerance. The
# numbers go into the folder named, for the Python tests, which compare them with their own.
read_path <- function(path) {
  data <- read.csv(file.path("fixtures", paste0(path$data, ".csv")))
  part <- function(letter) as.matrix(data[grep(paste0("^", letter, "[0-9]+$"), names(data))])
  y <- switch(path$door, wide = part("y"), long = data$y, survival = surv(data$entry, data$time, data$event),
              factor(data$level, ordered = TRUE))
  arguments <- list(x = part("x"), y = y, tasks = path$tasks, standardize = as.logical(path$standardize),
                    fuse_intercepts = as.logical(path$fuse_intercepts), weights = data$w1, groups = data$group)
  if (path$door == "long") arguments$task <- data$task
  if (path$door == "cumulative") arguments$kind <- "cumulative"
  if (path$door == "survival") arguments$breaks <- c(0, 1, 2, 3, 5)
  list(arguments = arguments, data = data, point = lapply(path[c("l1", "l2", "fusion")], as.numeric))
}

surv <- function(...) fusedlr:::surv(...)

# Fits on a resample and on two halves, drawn with given numbers.
resampled_fits <- function(fit, data) {
  problem <- fit$problem
  number <- fusedlr:::count_units(problem$units)$number
  u <- list(rep_len(data$u1, number), rep_len(data$u2, number))
  draw <- function(places, which) fusedlr:::drawn_weights(problem$units, places, u[[2]][which])
  places <- order(u[[1]]) - 1
  half <- list(seq_len(number %/% 2), number %/% 2 + seq_len(number %/% 2))
  halves <- lapply(half, function(part) 2 * draw(places[part], part))
  times <- c(list(draw(floor(u[[1]] * number), seq_len(number))), halves)
  fusedlr:::fit_resamples(fit, times, fusedlr:::point_of(fit), FALSE)$samples
}

path_numbers <- function(path) {
  read <- read_path(path)
  quiet <- function(f, ...) suppressWarnings(do.call(f, c(read$arguments, list(...))))
  fit <- do.call(quiet, c(list(fusedlr), read$point))
  cv <- quiet(cv.fusedlr, foldid = read$data$fold)
  by <- quiet(cv.fusedlr, by = "ebic", l1 = c(0.5, 2), l2 = c(0, 0.5), fusion = c(0, 1))
  refits <- lapply(c(TRUE, FALSE), function(ties) lapply(c("nonrobust", "cluster"), function(cov_type) {
    found <- suppressWarnings(refit(fit, cov_type = cov_type, ties = ties))
    c(found$values, found$vcov)
  }))
  list(fit = coef(fit), loglik = logLik(fit), df = attr(logLik(fit), "df"), criteria = c(AIC(fit), BIC(fit)),
       residuals = unlist(lapply(c("response", "pearson", "deviance"), function(type) residuals(fit, type))),
       refit = unlist(refits), grid = as.matrix(cv$table[c("l1", "l2", "fusion")]),
       cv = as.matrix(cv$table[c("cvm", "cvsd", "cvsd_difference")]), chosen = unlist(cv$chosen), best = coef(cv),
       by = as.matrix(by$table[c("df_effective", "aic", "bic", "ebic")]), resamples = resampled_fits(fit, read$data))
}

test_that("every public path of the shared problems gives numbers", {
  folder <- Sys.getenv("FUSEDLR_WRITE_FITS")
  paths <- read.csv(file.path("fixtures", "paths.csv"), colClasses = "character")
  for (i in seq_len(nrow(paths))) {
    numbers <- path_numbers(paths[i, ])
    expect_true(all(vapply(numbers, function(values) length(values) > 0 && any(is.finite(values)), NA)))
    if (nzchar(folder)) for (name in names(numbers))
      writeBin(as.double(numbers[[name]]), file.path(folder, paste(paths$name[i], name, sep = ".")))
  }
})
