# Outcomes as columns of labels, one for each task: -1 and 1, NA where not observed.

# signs (n, t), the user's two labels of each task, and what kind of outcome it was.
read_outcome <- function(y, kind, breaks) {
  if (inherits(y, "Surv")) return(read_survival(y, breaks))
  if (!is.null(breaks)) refuse("breaks go with a survival outcome: Surv(time, event) on the left side, or as y")
  if (is.ordered(y) && nlevels(y) > 2L) return(read_ordered(y, kind))
  columns <- label_columns(y)
  words <- shared_words(columns)
  parts <- Map(read_labels, columns, names(columns), MoreArgs = list(words = words))
  list(signs = do.call(cbind, lapply(parts, `[[`, "signs")), labels = lapply(parts, `[[`, "labels"), kind = "labels")
}

label_columns <- function(y) {
  if (is.data.frame(y)) columns <- as.list(y)
  else if (is.matrix(y)) {
    columns <- lapply(seq_len(ncol(y)), function(k) y[, k])
    names(columns) <- if (is.null(colnames(y))) paste0("y", seq_len(ncol(y))) else colnames(y)
  } else if (is.atomic(y) || is.factor(y)) columns <- list(y = y)
  else refuse("y must be a vector, a factor, a matrix or a data.frame of labels, found class ", class(y)[1L])
  if (!length(columns) || !length(columns[[1L]])) refuse("y must have rows and columns")
  if (anyDuplicated(names(columns))) refuse("y must not repeat the name of a task, found ",
                                            quoted(names(columns)[duplicated(names(columns))]), " twice")
  columns
}

read_labels <- function(v, name, words) {
  if (!is.null(dim(v))) refuse("y: task '", name, "' must be one column, found ", ncol(v))
  if (is.ordered(v) && nlevels(v) > 2L)
    refuse("y: task '", name, "' is an ordered factor of ", nlevels(v),
           " levels; give it alone for one task at each threshold")
  if (is.factor(v) && nlevels(v) != 2L) v <- droplevels(v)
  if (is.character(v)) v <- factor(v, if (length(words) == 2L) words else sort(unique(v)))
  if (is.factor(v)) return(read_factor(v, name))
  if (!is.numeric(v) && !is.logical(v) || inherits(v, c("Date", "POSIXt", "difftime")))
    refuse("y: task '", name, "' must hold 0/1, -1/1, TRUE/FALSE or two levels, found class ", class(v)[1L])
  found <- sort(unique(as.numeric(v)))
  if (all(found %in% c(0, 1)))
    return(list(signs = 2 * as.numeric(v) - 1, labels = if (is.logical(v)) c("FALSE", "TRUE") else c("0", "1")))
  if (all(found %in% c(-1, 1))) return(list(signs = as.numeric(v), labels = c("-1", "1")))
  refuse("y: task '", name, "' must hold 0/1, -1/1, TRUE/FALSE or two levels (NA where not observed), found ",
         shown(found[seq_len(min(4L, length(found)))]), "; an outcome of several levels is an ordered factor")
}

read_factor <- function(v, name) {
  if (nlevels(v) != 2L)
    refuse("y: task '", name, "' must have two levels, found ", nlevels(v),
           if (nlevels(v)) paste0(": ", quoted(levels(v))),
           if (nlevels(v) > 2L) "; an ordered factor gives one task for each threshold")
  list(signs = 2 * (as.integer(v) - 1) - 1, labels = levels(v))
}

# Where tasks share two strings as labels, these tell yes from no in a task that has only one.
shared_words <- function(columns) {
  words <- lapply(columns, function(v) if (is.character(v)) v)
  sort(unique(unlist(words)))
}

# An ordered factor as one task ">level" for each level but the last. Sequential (continuation ratio): beyond this
# level, given that it was reached, so a row that ended below has no label. Cumulative: above this level, for every row.
read_ordered <- function(y, kind) {
  unseen <- setdiff(levels(y), as.character(y))
  if (length(unseen)) refuse("y never takes the levels ", quoted(unseen), "; see droplevels()")
  rank <- as.integer(y)
  steps <- seq_len(nlevels(y) - 1L)
  signs <- outer(rank, steps, function(r, k) ifelse(r > k, 1, -1))
  if (kind == "sequential") signs[outer(rank, steps, "<")] <- NA
  colnames(signs) <- paste0(">", levels(y)[steps])
  labels <- rep(list(c("FALSE", "TRUE")), length(steps))
  list(signs = signs, labels = stats::setNames(labels, colnames(signs)), kind = kind, levels = levels(y))
}

# Survival times as discrete-time hazards: one task for each interval (from, to], labelled in every row that was watched
# in it. An event is 1 with weight 1 in its interval; an interval survived is 0, weighted by the share of it that was
# watched, so that censoring and late entry inside an interval count for what they are. An event where time begins
# belongs to the first interval.
read_survival <- function(y, breaks) {
  times <- survival_times(y)
  ends <- read_breaks(breaks, times)
  periods <- person_periods(times, ends)
  words <- format_each(ends)
  names <- paste0("(", words[-length(words)], ",", words[-1L], "]")
  colnames(periods$signs) <- names
  idle <- colSums(!is.na(periods$signs)) == 0
  if (any(idle)) refuse("breaks leave the intervals ", quoted(names[idle]), " without a row that was watched; leave ",
                        "them out")
  left_out <- count_left_out(times, ends, sum(periods$signs == 1, na.rm = TRUE))
  labels <- stats::setNames(rep(list(c("survived", "event")), length(names)), names)
  c(periods, list(labels = labels, kind = "survival", breaks = ends, left_out = left_out))
}

person_periods <- function(times, ends) {
  from <- ends[-length(ends)]
  to <- ends[-1L]
  cells <- expand.grid(i = seq_along(times$time), k = seq_along(to))
  time <- times$time[cells$i]
  entry <- times$entry[cells$i]
  inside <- time > from[cells$k] & time <= to[cells$k] | cells$k == 1L & time == from[1L] & entry == from[1L]
  came <- inside & times$event[cells$i] == 1
  watched <- pmin(time, to[cells$k]) - pmax(entry, from[cells$k])
  signs <- ifelse(came, 1, ifelse(watched > 0, -1, NA))
  exposure <- ifelse(came, 1, ifelse(watched > 0, watched / (to - from)[cells$k], 0))
  shape <- c(length(times$time), length(to))
  list(signs = array(signs, shape), exposure = array(exposure, shape))
}

# Events before the first interval and beyond the last one have no label, which is said.
count_left_out <- function(times, ends, inside) {
  events <- sum(times$event == 1)
  beyond <- sum(times$event == 1 & times$time > ends[length(ends)])
  found <- c(before = events - beyond - inside, beyond = beyond)
  if (any(found > 0))
    warn("fusedlr_left_out", "breaks from ", format_each(ends[1L]), " to ", format_each(ends[length(ends)]),
         " leave out ", sum(found), " of ", events, " events, ", found[["before"]], " before and ", beyond,
         " beyond; extend the breaks to keep them")
  found
}

survival_times <- function(y) {
  type <- attr(y, "type")
  if (!type %in% c("right", "counting")) refuse("Surv must be of type right or counting, found ", type)
  y <- unclass(y)
  time <- y[, if (type == "counting") "stop" else "time"]
  entry <- if (type == "counting") y[, "start"] else rep(0, length(time))
  event <- y[, "status"]
  if (anyNA(time) || anyNA(entry) || anyNA(event)) refuse("Surv must not hold missing times or events; drop these rows")
  if (any(time < 0, entry < 0)) refuse("Surv must not hold negative times, found ", shown(min(time, entry)))
  list(time = as.numeric(time), entry = as.numeric(entry), event = as.numeric(event))
}

# Ends of the intervals, with the start of the first in front: 0, unless all rows enter later. From their number: at
# quantiles of the times of events, the last of which is the last end if somebody survives it.
read_breaks <- function(breaks, times) {
  if (is.null(breaks)) refuse("breaks are needed for Surv: ends of the intervals, or how many intervals")
  if (!is.numeric(breaks) || !length(breaks) || !all(is.finite(breaks)))
    refuse("breaks must be finite numbers: ends of the intervals, or how many intervals, found ", shown(breaks))
  start <- min(times$entry)
  if (length(breaks) == 1L) return(quantile_breaks(check_whole("breaks", breaks, 1L, length(times$time)), times, start))
  if (breaks[1L] > 0 && start == 0) breaks <- c(0, breaks)
  if (any(diff(breaks) <= 0)) refuse("breaks must increase, found ", shown(breaks))
  as.numeric(breaks)
}

quantile_breaks <- function(count, times, start) {
  died <- times$time[times$event == 1]
  if (!length(died)) refuse("Surv must hold an event, found none: nothing to model")
  at <- function(shares) stats::quantile(died, shares, names = FALSE, type = 1L)
  last <- if (count > 1L) at((count - 1) / count) else start
  # If all at risk in the last interval have the event, its hazard is 1: one interval's events stay beyond.
  survived <- any(times$event == 0 & times$time > last | times$time > max(died))
  ends <- unique(at(seq_len(count) / if (survived) count else count + 1))
  if (max(ends) <= start) refuse("breaks = ", count, " finds no interval: all events come where time begins")
  c(start, ends[ends > start])
}

# With as many digits as tell them apart, four at least; the same whatever options(digits, OutDec) are.
format_each <- function(numbers) {
  for (digits in 4:17) {
    words <- formatC(numbers, digits = digits, format = "g", width = 1L, decimal.mark = ".")
    if (!anyDuplicated(words)) break
  }
  words
}

# The left side of a formula. cbind() would drop the levels of factors, so its parts are evaluated one by one; Surv() is
# read here, so that package survival need not be attached, or even be there.
left_side <- function(left, data, env) {
  head <- if (is.call(left)) deparse(left[[1L]]) else ""
  if (head == "cbind") {
    parts <- as.list(left)[-1L]
    given <- if (is.null(names(parts))) rep("", length(parts)) else names(parts)
    names(parts) <- ifelse(given == "", vapply(parts, function(part) deparse(part)[1L], ""), given)
    columns <- lapply(parts, eval, data, env)
    if (length(unique(lengths(columns))) > 1L) refuse("the tasks on the left side must have as many rows each")
    return(structure(columns, class = "data.frame", row.names = seq_along(columns[[1L]])))
  }
  if (head %in% c("Surv", "survival::Surv")) return(eval(as.call(c(surv, as.list(left)[-1L])), data, env))
  if (head == "+") refuse("the tasks on the left side must be joined by cbind(), found ", shown(left))
  y <- eval(left, data, env)
  if (!is.null(dim(y)) || is.ordered(y)) return(y)
  stats::setNames(data.frame(y, stringsAsFactors = FALSE), deparse(left)[1L])
}

# Surv(time, event) or Surv(start, stop, event), as package survival lays it out.
surv <- function(time, time2, event, type = NULL) {
  if (!is.null(type) && !type %in% c("right", "counting"))
    refuse("Surv must be of type right or counting, found ", shown(type))
  counting <- !missing(time2) && !missing(event)
  if (missing(event)) event <- if (missing(time2)) rep(1, length(time)) else time2
  event <- read_events(event)
  y <- if (counting) cbind(start = time, stop = time2, status = event) else cbind(time = time, status = event)
  if (counting && any(time >= time2, na.rm = TRUE)) refuse("Surv: every start must come before its stop")
  structure(y, type = if (counting) "counting" else "right", class = "Surv")
}

read_events <- function(event) {
  if (is.factor(event) && nlevels(event) == 2L) event <- as.integer(event) - 1L
  event <- as.numeric(event)
  found <- unique(event[!is.na(event)])
  if (!length(setdiff(found, c(1, 2))) && 2 %in% found) event <- event - 1
  else if (length(setdiff(found, c(0, 1)))) refuse("Surv: event must hold 0/1, 1/2 or TRUE/FALSE, found ", shown(found))
  event
}
