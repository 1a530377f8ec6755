# Methods of R's own generics for a fit. A fit may hold a grid of points; `which` names one of them.

params_at <- function(object, which) {
  check_format(object)
  check_whole("which", which, 1L, nrow(object$table))
  matrix(object$params[, , which], nrow(object$params), dimnames = dimnames(object$params)[1:2])
}

check_format <- function(object) {
  if (!identical(object$format, FORMAT))
    refuse("this fit has format ", shown(object$format), ", this version of fusedlr reads ", FORMAT,
           "; fit the model again")
}

coef.fusedlr <- function(object, which = NULL, ...) {
  check_no_more(...)
  if (is.null(which) && nrow(object$table) > 1L) object$params else params_at(object, if (is.null(which)) 1L else which)
}

predict.fusedlr <- function(object, newdata = NULL, type = NULL, which = 1L, offset = NULL, newx = NULL, ...) {
  check_no_more(...)
  type <- check_word("type", if (is.null(type)) "link" else type, predict_types(object))
  params <- params_at(object, which)
  if (type == "coefficients") return(params)
  if (type == "nonzero") {
    chosen <- params[-1L, , drop = FALSE] != 0
    return(lapply(stats::setNames(seq_len(ncol(chosen)), colnames(chosen)), function(k) base::which(chosen[, k])))
  }
  linear <- linear_at(object, params, if (is.null(newdata)) newx else newdata, offset)
  if (type == "link") return(linear)
  yes <- stats::plogis(linear)
  switch(type, response = yes, class = classes(object, yes), levels = level_probabilities(object, yes),
         survival = survival_curves(object, yes), median = median_times(object, yes))
}

predict_types <- function(object) {
  extra <- switch(object$problem$outcome$kind, labels = NULL, survival = c("survival", "median"), "levels")
  c("link", "response", "class", "coefficients", "nonzero", extra)
}

linear_at <- function(object, params, newdata, offset) {
  problem <- object$problem
  if (is.null(newdata)) {
    if (!is.null(offset)) refuse("offset goes with newdata: the rows of the fit keep the offset of the model")
    linear <- linear_predictor(problem, params)
    dimnames(linear) <- list(rownames(problem$x), problem$tasks)
    return(linear)
  }
  new <- new_features(object, newdata)
  if (problem$has_offset && is.null(offset) && is.null(new$offset))
    refuse("offset is needed for new rows: the model was fitted with one; use offset = 0 to predict without")
  shift <- per_label("offset", offset, 0, nrow(new$x), problem$tasks) + if (is.null(new$offset)) 0 else new$offset
  linear <- shift + rep(params[1L, ], each = nrow(new$x)) + unname(new$x) %*% params[-1L, , drop = FALSE]
  dimnames(linear) <- list(rownames(new$x), problem$tasks)
  linear
}

# Features of new rows in the model's order: by formula, by name, or by position where there are no names.
new_features <- function(object, newdata) {
  features <- colnames(object$problem$x)
  if (!is.null(object$terms)) {
    if (!is.data.frame(newdata)) refuse("newdata must be a data.frame with the variables of the formula")
    check_variables(object, newdata)
    frame <- stats::model.frame(object$terms, newdata, na.action = stats::na.pass, xlev = object$xlevels)
    stats::.checkMFClasses(attr(object$terms, "dataClasses"), frame)
    x <- stats::model.matrix(object$terms, frame, contrasts.arg = object$contrasts)
    return(list(x = x[, features, drop = FALSE], offset = stats::model.offset(frame)))
  }
  if (is.data.frame(newdata) && all(features %in% names(newdata))) newdata <- newdata[features]
  x <- as.matrix(newdata)
  if (is.null(dim(newdata)) && length(newdata) == length(features)) x <- t(x)
  if (!is.numeric(x) && !is.logical(x)) refuse("newdata must be a matrix of numbers, found ", typeof(x))
  if (!is.null(colnames(x))) x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  if (all(features %in% colnames(x))) return(list(x = x[, features, drop = FALSE]))
  made_up <- identical(features, paste0("V", seq_along(features)))
  if (ncol(x) != length(features) || !(is.null(colnames(x)) || made_up))
    refuse("newdata must have the ", length(features), " columns of x; missing are ",
           quoted(setdiff(features, colnames(x))))
  list(x = x)
}

# What the formula takes from elsewhere, such as a constant, must be found where the formula was written.
check_variables <- function(object, newdata) {
  wanted <- setdiff(all.vars(object$terms), names(newdata))
  missing <- wanted[!vapply(wanted, exists, NA, envir = environment(object$formula))]
  if (length(missing)) refuse("newdata must have the variables of the formula; missing are ", quoted(missing))
}

# The more probable of the user's own two labels; of an ordered outcome the most probable level.
classes <- function(object, yes) {
  if (!is.null(object$problem$outcome$levels)) {
    levels <- object$problem$outcome$levels
    best <- apply(level_probabilities(object, yes), 1L, function(p) if (anyNA(p)) NA else base::which.max(p))
    return(stats::setNames(factor(levels[best], levels, ordered = TRUE), rownames(yes)))
  }
  labels <- object$problem$labels
  words <- vapply(seq_along(labels), function(k) labels[[k]][1L + (yes[, k] > 0.5)], character(nrow(yes)))
  matrix(words, nrow(yes), dimnames = dimnames(yes))
}

# Probability of every level, (n, levels). Sequential: of reaching it and of stopping there. Cumulative: differences of
# P(> level), put in falling order first where the fits cross.
level_probabilities <- function(object, yes) {
  n <- nrow(yes)
  if (object$problem$outcome$kind == "sequential") {
    reached <- cbind(1, t(apply(yes, 1L, cumprod)))
    if (ncol(yes) == 1L) reached <- cbind(1, yes)
  } else {
    crossed <- ncol(yes) > 1L & rowSums(yes[, -1L, drop = FALSE] > yes[, -ncol(yes), drop = FALSE], na.rm = TRUE) > 0
    if (any(crossed)) {
      warn("fusedlr_crossing", "P(> level) rises with the level in ", sum(crossed), " of ", n,
           " rows; put in falling order ",
           "there; kind = \"sequential\" never crosses")
      yes[crossed, ] <- t(apply(yes[crossed, , drop = FALSE], 1L, sort, decreasing = TRUE))
    }
    reached <- cbind(1, yes)
  }
  found <- reached - cbind(reached[, -1L, drop = FALSE], 0)
  dimnames(found) <- list(rownames(yes), object$problem$outcome$levels)
  found
}

# Probability of surviving to the end of each interval, (n, intervals).
survival_curves <- function(object, hazard) {
  curves <- t(apply(1 - hazard, 1L, cumprod))
  if (ncol(hazard) == 1L) curves <- 1 - hazard
  dimnames(curves) <- list(rownames(hazard), format_each(object$problem$outcome$breaks[-1L]))
  curves
}

# Median survival time, NA where survival stays above one half. Within an interval the hazard is taken as constant, so
# that survival falls geometrically; linearly where it falls to 0.
median_times <- function(object, hazard) {
  alive <- survival_curves(object, hazard)
  breaks <- object$problem$outcome$breaks
  apply(alive, 1L, function(row) {
    if (!isTRUE(any(row <= 0.5))) return(NA_real_)
    k <- base::which.max(row <= 0.5)
    first <- c(1, row)[k]
    share <- if (row[k] > 0) log(0.5 / first) / log(row[k] / first) else (first - 0.5) / first
    breaks[k] + min(max(share, 0), 1) * (breaks[k + 1L] - breaks[k])
  })
}

fitted.fusedlr <- function(object, which = 1L, ...) {
  check_no_more(...)
  predict.fusedlr(object, type = "response", which = which)
}

residuals.fusedlr <- function(object, type = c("response", "pearson", "deviance"), which = 1L, ...) {
  check_no_more(...)
  type <- check_word("type", type, c("response", "pearson", "deviance"))
  problem <- object$problem
  yes <- fitted.fusedlr(object, which)
  response <- (problem$signs > 0) - yes
  losses <- log_losses(problem, linear_predictor(problem, params_at(object, which)))
  found <- switch(type, response = response, pearson = sqrt(problem$weights) * response / sqrt(yes * (1 - yes)),
                  deviance = problem$signs * sqrt(2 * losses))
  found[problem$weights == 0] <- NA
  structure(found, dimnames = dimnames(yes))
}

nobs.fusedlr <- function(object, ...) {
  check_no_more(...)
  sum(rowSums(object$problem$weights > 0) > 0)
}

# So that confint() says it, too.
vcov.fusedlr <- function(object, ...) {
  refuse("shrunken coefficients have no standard errors: see refit() and bootstrap(), which have confint()")
}

logLik.fusedlr <- function(object, which = 1L, ...) {
  check_no_more(...)
  problem <- object$problem
  losses <- log_losses(problem, linear_predictor(problem, params_at(object, which)))
  found <- if (problem$outcome$kind == "cumulative") level_likelihood(object, which) else -sum(losses)
  structure(found, df = effective_df(object, which), nobs = sum(row_weights(problem)), class = "logLik")
}

# Cumulative tasks overlap, so that their log-likelihoods do not add up: that of the levels themselves.
level_likelihood <- function(object, which) {
  problem <- object$problem
  chances <- suppressWarnings(level_probabilities(object, fitted.fusedlr(object, which)))
  level <- 1L + rowSums(problem$signs > 0 & problem$weights > 0)
  times <- row_weights(problem)
  sum((times * log(chances[cbind(seq_along(level), level)]))[times > 0])
}

# Effective degrees of freedom: the trace of (H + R)^-1 H, with H the information in the distinct values and R the ridge
# on them; without ridge their number.
effective_df <- function(object, which) {
  pattern <- pattern_of(object, which)
  ridge <- object$table$l2[which] * object$problem$factors[row(pattern)[pattern > 0L], "l2"]
  if (!any(ridge > 0)) return(max(pattern))
  ridge <- rowsum(ridge, pattern[pattern > 0L])[, 1L]
  design <- pattern_design(object$problem, pattern)
  yes <- fitted.fusedlr(object, which)[cbind(design$row, design$task)]
  information <- crossprod(design$z, design$weights * yes * (1 - yes) * design$z)
  unit <- sqrt(diag(information) + ridge)  # features may differ by many orders of magnitude
  information <- information / outer(unit, unit)
  parts <- eigen(information + diag(ridge / unit^2, length(ridge)), symmetric = TRUE)
  kept <- parts$values > 1e-12 * max(parts$values)
  vectors <- parts$vectors[, kept, drop = FALSE]
  sum((information %*% vectors) * vectors / rep(parts$values[kept], each = nrow(vectors)))
}

deviance.fusedlr <- function(object, which = 1L, ...) {
  check_no_more(...)
  -2 * as.numeric(logLik.fusedlr(object, which))
}

formula.fusedlr <- function(x, ...) {
  check_no_more(...)
  if (is.null(x$formula)) refuse("this fit was made from a matrix, not from a formula")
  x$formula
}

# Tied groups: the number of the group of each entry of params, 0 for a zero coefficient, (1 + d, t).
pattern_of <- function(object, which) {
  params <- params_at(object, which)
  group <- matrix(seq_len(ncol(params)), nrow(params), ncol(params), byrow = TRUE)
  ends <- object$problem$graph$ends + 1L
  repeat {
    before <- group
    for (e in seq_len(ncol(ends))) {
      same <- params[, ends[1L, e]] == params[, ends[2L, e]]
      group[same, ends[, e]] <- pmin(group[same, ends[1L, e]], group[same, ends[2L, e]])
    }
    if (identical(before, group)) break
  }
  keys <- (row(params) - 1L) * ncol(params) + group
  chosen <- params != 0
  chosen[1L, ] <- TRUE
  found <- matrix(0L, nrow(params), ncol(params), dimnames = dimnames(params))
  found[chosen] <- match(keys[chosen], sort(unique(keys[chosen])))
  found
}

plot.fusedlr <- function(x, which = 1L, features = NULL, standardized = FALSE, xlab = "", ylab = NULL, ...) {
  standardized <- check_flag("standardized", standardized)
  b <- params_at(x, which)[-1L, , drop = FALSE] * if (standardized) x$problem$scale else 1
  if (is.null(features)) features <- rownames(b)[rowSums(b != 0) > 0]
  unknown <- setdiff(features, rownames(b))
  if (length(unknown)) refuse("features names what the model does not have: ", quoted(unknown))
  b <- b[features, , drop = FALSE]
  if (!nrow(b)) {
    graphics::plot.new()
    graphics::title(main = "Every coefficient is zero")
    return(invisible(b))
  }
  if (is.null(ylab)) ylab <- if (standardized) "Standardized coefficient" else "Coefficient"
  draw_steps(b, x$problem$outcome$breaks, xlab, ylab, ...)
  invisible(b)
}

# One step for each task, on a true time axis where breaks are given; the legend has the space at the right to itself.
draw_steps <- function(b, breaks, xlab, ylab, ...) {
  ends <- if (is.null(breaks)) seq_len(ncol(b) + 1L) - 0.5 else breaks
  named <- nrow(b) <= 15L
  room <- if (named) legend_share(rownames(b)) else 0
  colours <- grDevices::hcl.colors(max(nrow(b), 2L), "Dark 3")
  graphics::matplot(ends, rbind(t(b), b[, ncol(b)]), type = "s", lty = 1L, lwd = 2, col = colours, xaxt = "n",
                    xlab = xlab, ylab = ylab, xlim = range(ends) + c(0, room / (1 - room)) * diff(range(ends)), ...)
  if (is.null(breaks)) graphics::axis(1L, seq_len(ncol(b)), colnames(b)) else graphics::axis(1L, ends)
  graphics::abline(h = 0, col = "grey")
  if (named) graphics::legend("topright", rownames(b), col = colours, lty = 1L, lwd = 2, bty = "n", cex = 0.8)
}

# Share of the plot's width that a legend with these words takes: half an inch for its lines, then letters.
legend_share <- function(words) {
  inches <- 0.5 + 0.5 * graphics::par("cin")[1L] * max(nchar(words))
  min(inches / graphics::par("pin")[1L], 0.6)
}
