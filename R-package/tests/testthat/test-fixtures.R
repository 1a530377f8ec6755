read_fixture <- function(problem) {
  data <- read.csv(file.path("fixtures", paste0(problem$data, ".csv")))
  part <- function(letter) {
    found <- grep(paste0("^", letter, "[0-9]+$"), names(data))
    if (length(found)) as.matrix(data[found])
  }
  numbers <- function(text) if (nzchar(text)) as.numeric(strsplit(text, " ")[[1]])
  y <- if (nzchar(problem$kind)) factor(data$level, ordered = TRUE) else part("y")
  list(x = part("x"), y = y, l1 = numbers(problem$l1), l2 = numbers(problem$l2), fusion = numbers(problem$fusion),
       tasks = read_edges(problem$tasks), weights = part("w"), offset = part("o"),
       penalty_factors = numbers(problem$factors),
       standardize = as.logical(problem$standardize), fuse_intercepts = as.logical(problem$fuse_intercepts),
       kind = if (nzchar(problem$kind)) problem$kind else "sequential", tol = as.numeric(problem$tol))
}

# "1-2 2-3*0.5": pairs of tasks and, behind a star, weights.
read_edges <- function(text) {
  if (!grepl("-", text)) return(text)
  edges <- do.call(rbind, strsplit(strsplit(text, " ")[[1]], "[-*]"))
  if (is.list(edges)) stop("all edges or none must have a weight")
  matrix(as.numeric(edges), nrow(edges))
}

problems <- function() read.csv(file.path("fixtures", "problems.csv"), colClasses = "character")

# A folder to write raw doubles into, for the Python tests, which compare them with their own.
test_that("problems shared with Python meet the optimality conditions", {
  folder <- Sys.getenv("FUSEDLR_WRITE_FITS")
  rows <- problems()
  for (i in seq_len(nrow(rows))) {
    fit <- suppressWarnings(do.call(fusedlr, read_fixture(rows[i, ])))
    if (nzchar(folder)) writeBin(as.vector(fit$params), file.path(folder, rows$name[i]))
    for (point in seq_len(nrow(fit$table)))
      if (fit$problem$graph$chain && fit$table$status[point] == "optimal")
        expect_true(chain_violation(fit, point) < 0.05)
  }
})
