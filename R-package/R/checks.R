# Small checks of arguments. Each refusal names the argument, the rule and what was found.

refuse <- function(...) stop(..., call. = FALSE)

# A warning of a class of its own, so that a user can catch this kind and no other.
warn <- function(class, ...) {
  classes <- c(class, "fusedlr_warning", "warning", "condition")
  warning(structure(list(message = paste0(...), call = NULL), class = classes))
}

shown <- function(value) {
  text <- paste(deparse(value, width.cutoff = 60L, nlines = 1L), collapse = "")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

quoted <- function(words) paste0("'", words[seq_len(min(length(words), 4L))], "'", collapse = ", ")

check_flag <- function(name, value) {
  if (!is.logical(value) || length(value) != 1L || is.na(value))
    refuse(name, " must be TRUE or FALSE, found ", shown(value))
  value
}

check_number <- function(name, value, low, high, open = FALSE) {
  good <- is.numeric(value) && length(value) == 1L && is.finite(value)
  if (!good || value < low || value > high || (open && value %in% c(low, high)))
    refuse(name, " must be one number between ", low, " and ", high, ", found ", shown(value))
  as.numeric(value)
}

check_tol <- function(tol) if (!is.null(tol)) check_number("tol", tol, 0, 1, open = TRUE)

check_whole <- function(name, value, low, high = Inf) {
  good <- is.numeric(value) && length(value) == 1L && is.finite(value)
  if (!good || value != round(value) || value < low || value > high)
    refuse(name, " must be a whole number, at least ", low, if (is.finite(high)) paste(" and at most", high),
           ", found ", shown(value))
  as.integer(value)
}

check_word <- function(name, value, known) {
  if (identical(value, known)) return(known[1L])
  if (!is.character(value) || length(value) != 1L || !value %in% known)
    refuse(name, " must be ", paste0("\"", known, "\"", collapse = " or "), ", found ", shown(value))
  value
}

# Squares of features are summed; those of larger numbers would overflow.
LARGEST <- 1e100

check_penalties <- function(name, value) {
  if (!is.numeric(value) || !length(value) || !all(is.finite(value)) || any(value < 0) || any(value > LARGEST))
    refuse(name, " must hold numbers from 0 to 1e100, found ", shown(value))
  if (anyDuplicated(value)) refuse(name, " must not repeat a number, found ", shown(value))
  as.numeric(value)
}

# Arguments that R's own functions hand to the methods of their generics. A method takes them and goes on.
PASSED <- c("REML", "use.fallback", "env", "complete", "k", "scale", "digits", "evaluate", "data", "quote", "right",
            "correlation", "symbolic.cor", "simplify", "drop.unused.levels", "na.action")

# Other unknown arguments are refused, since a misspelt one would be ignored. Only names are looked at: values may refer
# to columns of data that are not there.
check_no_more <- function(...) {
  known <- setdiff(names(formals(sys.function(sys.parent()))), "...")
  refuse_unknown(as.list(substitute(list(...)))[-1L], known, PASSED)
}

# Arguments passed on to another function; partial matching as always in R.
check_handed_on <- function(arguments, receiver) {
  known <- setdiff(names(formals(receiver)), "...")
  given <- names_of(arguments)
  refuse_unknown(arguments[given == "" | is.na(pmatch(given, known, duplicates.ok = TRUE))], known)
}

names_of <- function(arguments) if (is.null(names(arguments))) rep("", length(arguments)) else names(arguments)

refuse_unknown <- function(arguments, known, passed = NULL) {
  arguments <- arguments[!names_of(arguments) %in% passed]
  if (!length(arguments)) return(invisible())
  names <- names_of(arguments)
  edits <- utils::adist(names, known, ignore.case = TRUE)
  near <- known[colSums(edits < pmin(nchar(names) / 2, 4)) > 0]
  names <- ifelse(names == "", vapply(arguments, shown, ""), names)
  refuse("unknown argument ", quoted(names), if (length(near)) paste0("; did you mean ", quoted(near), "?"))
}
