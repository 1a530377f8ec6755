# By testthat where it is installed; otherwise its few functions that the tests use are stood in for here.
library(fusedlr)
if (requireNamespace("testthat", quietly = TRUE)) {
  testthat::test_check("fusedlr")
} else {
  setwd("testthat")
  expect_true <- function(object) stopifnot(isTRUE(object))
  expect_identical <- function(object, expected) stopifnot(identical(object, expected))
  expect_equal <- function(object, expected, tolerance = 1.5e-8) {
    stopifnot(all.equal(object, expected, tolerance = tolerance))
  }
  expect_error <- function(object, regexp = "") {
    message <- tryCatch({ object; NULL }, error = conditionMessage)
    if (is.null(message) || !grepl(regexp, message)) stop("expected the error '", regexp, "', found ", deparse(message))
  }
  expect_warning <- function(object, regexp = "", class = "warning") {
    heard <- NULL
    value <- withCallingHandlers(object, warning = function(w) {
      if (inherits(w, class) && grepl(regexp, conditionMessage(w))) heard <<- w
      invokeRestart("muffleWarning")
    })
    if (is.null(heard)) stop("expected the warning '", regexp, "'")
    invisible(value)
  }
  skip_if_not_installed <- function(package) if (!requireNamespace(package, quietly = TRUE))
    stop(structure(list(message = package, call = NULL), class = c("skipped", "error", "condition")))
  test_that <- function(desc, code) {
    code <- substitute(code)
    how <- tryCatch({ eval(code, new.env(parent = globalenv())); "ok" },
                    skipped = function(e) paste("skipped, without", conditionMessage(e)))
    cat(desc, ": ", how, "\n", sep = "")
  }
  options(warn = 2)
  for (file in sort(list.files(pattern = "^(helper|test).*\\.R$"))) source(file)
}
