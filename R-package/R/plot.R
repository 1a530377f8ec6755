# Base graphics: coefficients as steps along the tasks, as a map, or survival curves.

plot.fusedlr <- function(x, type = c("steps", "map"), features = NULL, standardized = FALSE, xlab = "", ylab = NULL,
                         which = NULL, s = NULL, ...) {
  type <- check_word("type", type, c("steps", "map"))
  fit <- do.call(one_fit, c(list(x), Filter(Negate(is.null), list(which = which, s = s))))
  standardized <- check_flag("standardized", standardized)
  b <- params_of(fit)[-1L, , drop = FALSE] * if (standardized) fit$problem$scale else 1
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
  if (type == "map") draw_map(b, ylab, ...) else
    draw_steps(b, if (is.null(fit$problem$outcome$causes)) fit$problem$outcome$breaks, xlab, ylab, ...)
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

# Features by tasks: red below zero, blue above, white where exactly zero; lines part neighbours that differ.
draw_map <- function(b, title, ...) {
  top <- max(abs(b))
  colours <- grDevices::hcl.colors(101L, "Blue-Red 3", rev = TRUE)
  names <- rownames(b)
  old <- graphics::par(mar = pmax(graphics::par("mar"), c(4, 1 + 0.5 * max(nchar(names)), 3, 2)))
  on.exit(graphics::par(old))
  d <- nrow(b)
  graphics::image(seq_len(ncol(b)), seq_len(d), t(b[d:1L, , drop = FALSE]), zlim = c(-top, top), col = colours,
                  axes = FALSE, xlab = "", ylab = "", main = paste0(title, ", from ", format(-top, digits = 2L),
                                                                    " (red) to ", format(top, digits = 2L), " (blue)"),
                  cex.main = 0.9, ...)
  graphics::axis(1L, seq_len(ncol(b)), colnames(b), las = 2L, cex.axis = 0.8)
  graphics::axis(2L, seq_len(d), rev(names), las = 1L, cex.axis = 0.8)
  change <- which(b[, -1L, drop = FALSE] != b[, -ncol(b), drop = FALSE], arr.ind = TRUE)
  graphics::segments(change[, 2L] + 0.5, d + 0.5 - change[, 1L], change[, 2L] + 0.5, d + 1.5 - change[, 1L])
  graphics::box()
}

# Survival, or cumulative incidence of a cause, of each of some rows at the ends of the intervals.
plot_survival <- function(object, newdata = NULL, cause = NULL, xlab = "Time", ylab = NULL, ...) {
  if (!inherits(object, "fusedlr")) refuse("object must be a fit of fusedlr, found class ", class(object)[1L])
  fit <- one_fit(object)
  breaks <- fit$problem$outcome$breaks
  if (is.null(breaks)) refuse("survival curves are of a survival model, Surv(time, event) with breaks")
  curves <- if (is.null(cause)) cbind(1, predict.fusedlr(fit, newdata, type = "survival")) else
    cbind(0, predict.fusedlr(fit, newdata, type = "incidence", cause = cause))
  if (is.null(ylab)) ylab <- if (is.null(cause)) "Survival" else paste("Cumulative incidence of", cause)
  colours <- grDevices::hcl.colors(max(nrow(curves), 2L), "Dark 3")
  graphics::matplot(breaks, t(curves), type = "b", pch = 20L, lty = 1L, ylim = c(0, 1), xlab = xlab, ylab = ylab,
                    col = colours, ...)
  if (nrow(curves) <= 10L && length(rownames(curves)))
    graphics::legend(if (is.null(cause)) "topright" else "topleft", rownames(curves), col = colours, lty = 1L,
                     bty = "n", cex = 0.8, title = "Row")
  invisible(curves)
}
