# Methods of R's own generics. A fit, a cross-validation, a refit, a bootstrap and a stability selection all have the
# class "fusedlr" and share these; one_fit() finds the fit at one point that such a method is about.

one_fit <- function(object, ...) UseMethod("one_fit")

# `which` is a row of the table of a grid. Points of a grid are solved to 1e-6 unless tol was given; here, exactly.
one_fit.fusedlr <- function(object, which = NULL, ...) {
  check_no_more(...)
  check_format(object)
  count <- nrow(object$table)
  if (count == 1L && is.null(which)) return(object)
  if (is.null(which)) refuse("which is needed: this fit has ", count, " points, rows of its table, see print()")
  which <- check_whole("which", which, 1L, count)
  if (count == 1L) return(object)
  start <- matrix(object$params[, , which], nrow(object$params))
  point <- object$table[which, c("l1", "l2", "fusion")]
  object$table <- object$table[which, ]
  object$params <- object$params[, , which, drop = FALSE]
  if (!is.null(object$tol)) return(object)
  found <- solve_points(object$problem, unlist(point), NULL, object$maxit, start)
  object$params[] <- found$params
  object$table[names(found$table)] <- found$table
  object
}

# `s` is one of the two choices, in glmnet's words, too.
one_fit.cv.fusedlr <- function(object, s = c("min", "1se"), ...) {
  check_no_more(...)
  if (is.character(s)) s <- sub("^lambda\\.", "", s)
  s <- check_word("s", s, c("min", "1se"))
  if (is.null(object$fits[[s]])) refuse("s = \"1se\" needs standard errors, which by = \"", object$by, "\" has not")
  one_fit.fusedlr(object$fits[[s]])
}

one_fit.refit.fusedlr <- function(object, ...) {
  check_no_more(...)
  fit <- object$fit
  fit$params[] <- values_in_places(object$pattern, object$values)
  fit
}

one_fit.resampled.fusedlr <- function(object, ...) {
  check_no_more(...)
  object$fit
}

check_format <- function(object) {
  if (is_sparse(object$problem$x)) need_matrix()
  if (!identical(object$format, FORMAT))
    refuse("this fit has format ", shown(object$format), ", this version of fusedlr reads ", FORMAT,
           "; fit the model again")
}

# Coefficients of a fit at one point, (1 + d, t).
params_of <- function(fit) matrix(fit$params, nrow(fit$params), dimnames = dimnames(fit$params)[1:2])

coef.fusedlr <- function(object, ...) {
  if (is_grid(object) && !"which" %in% names(list(...))) {
    check_format(object)
    check_no_more(...)
    return(object$params)
  }
  params_of(one_fit(object, ...))
}

is_grid <- function(object) inherits(object, "fusedlr", TRUE) == 1L && isTRUE(nrow(object$table) > 1L)

predict.fusedlr <- function(object, newdata = NULL, type = NULL, offset = NULL, newx = NULL, task = NULL, cause = NULL,
                            ...) {
  fit <- one_fit(object, ...)
  problem <- fit$problem
  types <- c("link", "response", "class", "coefficients", "nonzero", extra_types(problem$outcome))
  type <- check_word("type", if (is.null(type)) "link" else type, types)
  params <- params_of(fit)
  if (type == "coefficients") return(params)
  if (type == "nonzero") {
    chosen <- params[-1L, , drop = FALSE] != 0
    return(lapply(stats::setNames(seq_len(ncol(chosen)), colnames(chosen)), function(k) base::which(chosen[, k])))
  }
  new <- if (is.null(newdata)) newx else newdata
  whole <- type %in% extra_types(problem$outcome)
  check_cause(cause, type, problem$outcome)
  task <- task_of_rows(substitute(task), new, fit, parent.frame())
  if (!is.null(task) && whole)
    refuse("task goes with type = \"link\", \"response\" and \"class\", found \"", type, "\"")
  rows <- rows_to_predict(fit, new, offset)
  if (!is.null(task)) {
    linear <- task_linear(rows, params, new_tasks(task, nrow(rows$x), problem$tasks))
    if (type == "class") linear <- words_of(problem, linear$value, linear$task) else linear <- linear$value
    found <- if (type == "response") stats::plogis(linear) else linear
    return(if (is.null(new)) stats::napredict(fit$na.action, found) else found)
  }
  linear <- row_linear(rows$x, rows$offset, params)
  found <- if (whole) predict_outcome(problem, linear, type, cause) else
    switch(type, link = linear, response = sigmoid(linear), class = classes(problem, linear))
  if (is.null(new)) stats::napredict(fit$na.action, found) else found
}

check_cause <- function(cause, type, outcome) {
  if (is.null(cause)) return(invisible())
  if (is.null(outcome$causes)) refuse("cause must be left out in a model without several causes, found ", shown(cause))
  if (length(cause) != 1L || !cause %in% outcome$causes)
    refuse("cause must be one of ", quoted(outcome$causes), ", found ", shown(cause))
  if (!type %in% c("hazard", "incidence"))
    refuse("cause goes with type = \"hazard\" and \"incidence\", found \"", type, "\"")
}

# The user's task, which may be the name of a column of the new rows, quoted or not.
task_of_rows <- function(expression, new, fit, caller) {
  if (is.null(expression)) return(NULL)
  task <- tryCatch(eval(expression, if (is.data.frame(new)) new else if (is.null(new)) fit$model, caller),
                   error = function(e) refuse("task: ", conditionMessage(e)))
  column <- is.character(task) && length(task) == 1L && !task %in% fit$problem$tasks && is.data.frame(new)
  if (column && task %in% names(new)) new[[task]] else task
}

# Features and offset of new rows, or those of the fit.
rows_to_predict <- function(fit, new, offset) {
  problem <- fit$problem
  if (is.null(new)) {
    if (!is.null(offset)) refuse("offset goes with newdata: the rows of the fit keep the offset of the model")
    return(problem[c("x", "offset")])
  }
  rows <- new_features(fit, new)
  if (!is.null(problem$offset) && is.null(offset) && is.null(rows$offset))
    refuse("offset is needed for new rows: the model was fitted with one; use offset = 0 to predict without")
  given <- per_label("offset", offset, nrow(rows$x), problem$tasks)
  inside <- per_label("offset", rows$offset, nrow(rows$x), problem$tasks)
  rows$offset <- if (is.null(given)) inside else if (is.null(inside)) given else
    if (ncol(given) == ncol(inside)) given + inside else given[, 1L] + inside
  rows
}

# Linear predictor of each row in its task.
task_linear <- function(rows, params, task) {
  value <- numeric(length(task))
  for (k in unique(task))
    value[task == k] <- as.vector(rows$x[task == k, , drop = FALSE] %*% params[-1L, k]) + params[1L, k]
  if (!is.null(rows$offset))
    value <- value + rows$offset[cbind(seq_along(task), if (ncol(rows$offset) > 1L) task else rep(1L, length(task)))]
  list(value = stats::setNames(value, rownames(rows$x)), task = task)
}

# Features of new rows in the model's order: by formula, by name, or by position where there are no names.
new_features <- function(fit, newdata) {
  features <- colnames(fit$problem$x)
  if (!is.null(fit$terms)) {
    if (!is.data.frame(newdata)) refuse("newdata must be a data.frame with the variables of the formula")
    check_variables(fit, newdata)
    frame <- tryCatch({
      found <- stats::model.frame(fit$terms, newdata, na.action = stats::na.pass, xlev = fit$xlevels)
      stats::.checkMFClasses(attr(fit$terms, "dataClasses"), found)
      found
    }, error = function(e) refuse("newdata: ", conditionMessage(e)))
    x <- stats::model.matrix(fit$terms, frame, contrasts.arg = fit$contrasts)
    return(list(x = x[, features, drop = FALSE], offset = stats::model.offset(frame)))
  }
  if (is.data.frame(newdata) && all(features %in% names(newdata))) newdata <- newdata[features]
  x <- new_matrix(newdata, length(features))
  if (!is.null(colnames(x))) x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  if (all(features %in% colnames(x))) return(list(x = x[, features, drop = FALSE]))
  made_up <- identical(features, paste0("V", seq_along(features)))
  if (ncol(x) != length(features) || !(is.null(colnames(x)) || made_up))
    refuse("newdata must have the ", length(features), " columns of x; missing are ",
           quoted(setdiff(features, colnames(x))))
  list(x = x)
}

new_matrix <- function(newdata, d) {
  if (is_sparse(newdata)) return(read_new_sparse(newdata))
  if (!is.data.frame(newdata) && !is.atomic(newdata))
    refuse("newdata must be a matrix or a data.frame, found class ", class(newdata)[1L])
  x <- as.matrix(newdata)
  if (is.null(dim(newdata)) && length(newdata) == d) x <- t(x)
  if (!is.numeric(x) && !is.logical(x)) refuse("newdata must be a matrix of numbers, found ", typeof(x))
  x
}

read_new_sparse <- function(x) {
  need_matrix()
  methods::as(x, "CsparseMatrix")
}

# What the formula takes from elsewhere, such as a constant, must be found where the formula was written.
check_variables <- function(fit, newdata) {
  wanted <- setdiff(all.vars(fit$terms), names(newdata))
  missing <- wanted[!vapply(wanted, exists, NA, envir = environment(fit$formula))]
  if (length(missing)) refuse("newdata must have the variables of the formula; missing are ", quoted(missing))
}

# The more probable of the user's own two labels; of an ordered outcome the most probable level.
classes <- function(problem, linear) {
  levels <- problem$outcome$levels
  if (!is.null(levels)) {
    chances <- level_probabilities(problem$outcome, linear)
    best <- ifelse(rowSums(is.na(chances)) > 0, NA, max.col(replace(chances, is.na(chances), 0), "first"))
    return(stats::setNames(factor(levels[best], levels, ordered = TRUE), rownames(linear)))
  }
  matrix(words_of(problem, linear, col(linear)), nrow(linear), ncol(linear), dimnames = dimnames(linear))
}

words_of <- function(problem, linear, task) {
  words <- do.call(cbind, problem$words)
  structure(words[cbind(1L + as.vector(linear > 0), as.vector(task))], names = names(linear))
}

# Fitted probabilities (n, t); of long data those of each row in its task.
fitted.fusedlr <- function(object, ...) {
  fit <- one_fit(object, ...)
  problem <- fit$problem
  found <- if (problem$outcome$kind == "long")
    spread_labels(problem, stats::plogis(label_linear(problem, params_of(fit)))) else
    stats::plogis(row_linear(problem$x, problem$offset, params_of(fit)))
  stats::napredict(fit$na.action, found)
}

residuals.fusedlr <- function(object, type = c("response", "pearson", "deviance"), ...) {
  type <- check_word("type", type, c("response", "pearson", "deviance"))
  fit <- one_fit(object, ...)
  problem <- fit$problem
  labels <- problem$labels
  linear <- label_linear(problem, params_of(fit))
  found <- switch(type, response = (labels$sign > 0) - stats::plogis(linear),
                  pearson = labels$sign * exp(-labels$sign * linear / 2),
                  deviance = labels$sign * sqrt(2 * label_loss(labels, linear)))
  stats::naresid(fit$na.action, spread_labels(problem, found))
}

# Rows with an observed label; groups of such rows in a survival model.
nobs.fusedlr <- function(object, ...) {
  problem <- one_fit(object, ...)$problem
  rows <- unique(problem$labels$row) + 1L
  by_group <- problem$outcome$kind %in% c("survival", "risks")
  if (by_group) n_groups(problem) else length(rows)
}

n_groups <- function(problem) length(unique(problem$units$code[problem$labels$row + 1L]))

# So that confint() says it, too.
vcov.fusedlr <- function(object, ...) {
  refuse("shrunken coefficients have no standard errors: see refit() and bootstrap(), which have confint()")
}

confint.fusedlr <- function(object, parm, level = 0.95, ...) vcov.fusedlr(object)

sigma.fusedlr <- function(object, ...) {
  one_fit(object, ...)
  1
}

logLik.fusedlr <- function(object, ...) {
  fit <- one_fit(object, ...)
  df <- if (inherits(object, "refit.fusedlr")) length(object$values) else effective_df(fit)
  structure(log_likelihood(fit), df = df, nobs = sum(fit$problem$units$times), class = "logLik")
}

# Cumulative tasks overlap, so that their log-likelihoods do not add up: that of the levels themselves.
log_likelihood <- function(fit) {
  problem <- fit$problem
  params <- params_of(fit)
  if (problem$outcome$kind != "cumulative") return(-total_loss(problem, params))
  labels <- problem$labels
  yes <- labels$sign > 0 & labels$weight > 0
  level <- rep(1L, nrow(problem$x))
  highest <- tapply(label_task(labels)[yes], labels$row[yes], max)
  level[as.integer(names(highest)) + 1L] <- highest + 1L
  times <- largest_by_row(labels, nrow(problem$x))
  chances <- suppressWarnings(level_probabilities(problem$outcome, row_linear(problem$x, problem$offset, params)))
  seen <- times > 0
  sum(times[seen] * log(chances[cbind(seq_along(level), level)][seen]))
}

# For step().
extractAIC.fusedlr <- function(fit, scale, k = 2, ...) {
  found <- logLik.fusedlr(fit, ...)
  c(attr(found, "df"), -2 * as.numeric(found) + k * attr(found, "df"))
}

deviance.fusedlr <- function(object, ...) -2 * log_likelihood(one_fit(object, ...))

# Observed labels, weights counted, less distinct values.
df.residual.fusedlr <- function(object, ...) {
  fit <- one_fit(object, ...)
  sum(fit$problem$labels$weight) - max(pattern_of(fit))
}

weights.fusedlr <- function(object, ...) {
  fit <- one_fit(object, ...)
  stats::naresid(fit$na.action, spread_labels(fit$problem, fit$problem$labels$weight))
}

formula.fusedlr <- function(x, ...) {
  fit <- one_fit(x, ...)
  if (is.null(fit$formula)) refuse("this fit was made from a matrix, not from a formula")
  fit$formula
}

terms.fusedlr <- function(x, ...) {
  fit <- one_fit(x, ...)
  if (is.null(fit$formula)) refuse("this fit was made from a matrix, not from a formula: it has no terms")
  stats::terms(fit$formula)
}

model.frame.fusedlr <- function(formula, ...) {
  fit <- one_fit(formula, ...)
  if (is.null(fit$model)) refuse("this fit was made from a matrix, not from a formula: it has no model frame")
  fit$model
}

# The design with its column of ones.
model.matrix.fusedlr <- function(object, ...) {
  fit <- one_fit(object, ...)
  structure(cbind(`(Intercept)` = 1, fit$problem$x), assign = fit$assign, contrasts = fit$contrasts)
}

# Two fits or refits of the same rows are compared by anova() of their likelihoods, one alone by change_test().
anova.fusedlr <- function(object, ...) {
  refuse("anova() of penalized fits has no known distribution; see change_test() for effects that change between ",
         "tasks, and confint(refit()) for single values")
}

# Tied groups: the number of the group of each entry of params, 0 for a zero coefficient, (1 + d, t).
pattern_of <- function(fit) {
  params <- params_of(fit)
  structure(t(.Call(C_pattern, t(unname(params)), fit$problem$graph$ends)), dimnames = dimnames(params))
}

values_in_places <- function(pattern, values) c(0, values)[pattern + 1L]

# Rows of the coefficients that belong to each term of the formula; without a formula each feature is its own.
rows_of_terms <- function(fit) {
  rows <- seq_len(ncol(fit$problem$x)) + 1L
  if (is.null(fit$terms)) return(stats::setNames(as.list(rows), colnames(fit$problem$x)))
  labels <- attr(fit$terms, "term.labels")
  found <- lapply(seq_along(labels), function(k) rows[fit$assign[fit$assign > 0] == k])
  Filter(length, stats::setNames(found, labels))
}
