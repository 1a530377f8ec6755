# Outcomes as labels of tasks. Each reader gives: n, labels, tasks (names), words (no and yes of each task), kind, and
# what the predictions of this kind need.

read_outcome <- function(y, a, n) {
  survival <- inherits(y, "Surv")
  levels <- is.ordered(y) && nlevels(y) > 2L
  misplaced <- c(breaks = !survival && !is.null(a$breaks), causes = !survival && !is.null(a$causes),
                 order = is.null(a$task) && !is.null(a$order), task = (survival || levels) && !is.null(a$task),
                 yes = (survival || levels) && !is.null(a$yes))
  goes_with <- c(breaks = "a survival outcome, Surv(time, event)", causes = "a survival outcome, Surv(time, event)",
                 order = "task, the task of each row", task = "one column of yes/no labels",
                 yes = "yes/no labels; here yes is the higher level, or the event")
  if (any(misplaced)) refuse(names(which(misplaced))[1L], " goes with ", goes_with[[names(which(misplaced))[1L]]])
  kind <- check_word("kind", a$kind, c("sequential", "cumulative"))
  direction <- check_word("direction", a$direction, c("forward", "backward"))
  if (survival) return(read_survival(y, a$breaks, a$causes))
  if (levels) return(read_ordered(y, kind, direction))
  columns <- label_columns(y)
  if (!is.null(a$task)) return(read_long(columns, a$task, a$order, a$yes))
  pairs <- read_pairs(columns, a$yes)
  signs <- do.call(cbind, Map(signs_of, columns, pairs))
  list(n = nrow(signs), labels = wide_labels(signs), tasks = names(columns), words = lapply(pairs, `[[`, "words"),
       kind = "labels")
}

label_columns <- function(y) {
  if (is.data.frame(y)) columns <- as.list(y)
  else if (is.matrix(y)) {
    columns <- lapply(seq_len(ncol(y)), function(k) y[, k])
    names(columns) <- if (is.null(colnames(y))) paste0("y", seq_len(ncol(y)))[seq_len(ncol(y))] else colnames(y)
  } else if (is.atomic(y) && !is.null(y) || is.factor(y)) columns <- list(y = y)
  else refuse("y must be a vector, a factor, a matrix or a data.frame of labels, found class ", class(y)[1L])
  if (!length(columns) || !length(columns[[1L]])) refuse("y must have rows and columns")
  if (anyDuplicated(names(columns))) refuse("y must not repeat the name of a task, found ",
                                            quoted(names(columns)[duplicated(names(columns))]), " twice")
  columns
}

# ---- which of two labels is yes ----

NO <- c("no", "n", "false", "f", "control", "controls", "none", "never", "absent", "alive", "survived", "survivor",
        "censored", "negative", "neg", "-", "0", "-1", "off", "failure", "fail", "failed", "healthy", "normal", "low",
        "below", "unexposed")
YES <- c("yes", "y", "true", "t", "case", "cases", "event", "some", "ever", "present", "dead", "died", "deceased",
         "death", "positive", "pos", "+", "1", "on", "success", "pass", "passed", "sick", "ill", "diseased", "abnormal",
         "high", "above", "exposed")
NEGATIONS <- c("no ", "not ", "no_", "not_", "no-", "not-", "non-", "non", "un", "without ")

# No and yes of every column, and whether it is certain which is which: the user or the words say so.
read_pairs <- function(columns, yes) {
  said <- said_yes(yes, names(columns))
  shared <- unique(unlist(lapply(columns, function(v) if (is.character(v)) v[!is.na(v)])))
  pairs <- Map(function(v, name, said) {
    refuse_strange(v, name)
    if (is.null(said)) label_pair(v, name, shared) else said_pair(v, name, said)
  }, columns, names(columns), said)
  warn_unlike(pairs[vapply(said, is.null, NA)])
  pairs
}

# The label that is yes in each task, NULL where the user left it open: one for all, one a task, or by name.
said_yes <- function(yes, tasks) {
  found <- stats::setNames(vector("list", length(tasks)), tasks)
  if (is.null(yes)) return(found)
  yes <- as.list(if (is.factor(yes)) as.character(yes) else yes)
  if (any(lengths(yes) != 1L) || anyNA(unlist(yes))) refuse("yes must hold labels, found ", shown(yes))
  if (!is.null(names(yes))) {
    unknown <- setdiff(names(yes), tasks)
    if (length(unknown)) refuse("yes names tasks that y does not have: ", quoted(unknown))
    return(replace(found, names(yes), yes))
  }
  if (!length(yes) %in% c(1L, length(tasks)))
    refuse("yes must be one label, or one for each of ", length(tasks), " tasks, found ", length(yes))
  stats::setNames(rep_len(yes, length(tasks)), tasks)
}

refuse_strange <- function(v, name) {
  if (!is.null(dim(v))) refuse("y: task '", name, "' must be one column, found ", ncol(v))
  if (is.ordered(v) && nlevels(v) > 2L)
    refuse("y: task '", name, "' is an ordered factor of ", nlevels(v),
           " levels; give it alone for one task at each threshold")
  plain <- is.numeric(v) || is.logical(v) || is.character(v) || is.factor(v)
  if (!plain || inherits(v, c("Date", "POSIXt", "difftime")))
    refuse("y: task '", name, "' must hold 0/1, -1/1, TRUE/FALSE or two levels, found class ", class(v)[1L])
}

label_pair <- function(v, name, shared) {
  if (is.logical(v)) return(pair_of("FALSE", "TRUE"))
  if (is.factor(v)) return(level_pair(v, name))
  if (is.character(v)) {
    words <- unique(v[!is.na(v)])
    if (length(words) == 1L && length(shared) == 2L) words <- shared
    if (length(words) != 2L) refuse_levels(name, words)
    return(word_pair(words))
  }
  found <- sort(unique(as.numeric(v)))
  if (all(found %in% c(0, 1))) return(pair_of("0", "1"))
  if (all(found %in% c(-1, 1))) return(pair_of("-1", "1"))
  refuse("y: task '", name, "' must hold 0/1, -1/1, TRUE/FALSE or two levels (NA where not observed), found ",
         shown(found[seq_len(min(4L, length(found)))]), "; an outcome of several levels is an ordered factor")
}

pair_of <- function(no, yes, certain = TRUE) list(words = c(no, yes), certain = certain)

refuse_levels <- function(name, levels) {
  refuse("y: task '", name, "' must have two levels, found ", length(levels),
         if (length(levels)) paste0(": ", quoted(levels)),
         if (length(levels) > 2L) "; an ordered factor gives one task for each threshold")
}

used_levels <- function(v) if (nlevels(v) == 2L) levels(v) else levels(droplevels(v))

# The two levels in their order, unless that is the alphabet's, which factor() takes where nobody gave one.
level_pair <- function(v, name) {
  levels <- used_levels(v)
  if (length(levels) != 2L) refuse_levels(name, levels)
  if (!is.ordered(v) && identical(levels, sort(levels, method = "radix"))) word_pair(levels)
  else pair_of(levels[1L], levels[2L])
}

# Two words as no and yes: by what they mean, else in the order of the alphabet, upper and lower case alike.
word_pair <- function(words) {
  words <- words[order(tolower(words), words, method = "radix")]
  forth <- means(words[1L], words[2L])
  if (!forth && means(words[2L], words[1L])) pair_of(words[2L], words[1L]) else pair_of(words[1L], words[2L], forth)
}

plain_word <- function(word) tolower(trimws(word))

means <- function(no, yes) {
  no <- plain_word(no)
  yes <- plain_word(yes)
  no %in% NO && yes %in% YES || any(no == paste0(NEGATIONS, yes))
}

# The two labels of a task whose yes the user named; the other may be any one label.
said_pair <- function(v, name, yes) {
  seen <- if (is.factor(v)) used_levels(v) else label_text(sort(unique(v)))
  others <- setdiff(seen, label_text(yes))
  if (length(others) != 1L)
    refuse("yes must be one of two labels of task '", name, "', found yes = ", shown(yes), " and the labels ",
           quoted(seen))
  pair_of(others, label_text(yes))
}

label_text <- function(v) if (is.numeric(v)) number_text(v) else as.character(v)

# Numbers as text with as many digits as tell them apart, whatever options(digits, OutDec, scipen) are.
number_text <- function(v) {
  words <- sprintf("%.15g", v)
  if (anyDuplicated(words[!duplicated(v)])) sprintf("%.17g", v) else words
}

# Yes may mean opposite things in two tasks, whose coefficients are pulled together all the same.
warn_unlike <- function(pairs) {
  for (j in seq_along(pairs)) for (k in seq_len(j - 1L)) {
    one <- pairs[[k]]
    two <- pairs[[j]]
    turned <- identical(plain_word(one$words), rev(plain_word(two$words)))
    other <- !identical(plain_word(one$words), plain_word(two$words)) && !(one$certain && two$certain)
    if (!turned && !other) next
    warn("fusedlr_yes", "yes is '", one$words[2L], "' in task '", names(pairs)[k], "' but '", two$words[2L],
         "' in task '", names(pairs)[j],
         "': fusion would pull opposite effects together if these mean opposite things; say which label is yes, ",
         "as in yes = c(", names(pairs)[k], " = \"", one$words[2L], "\", ", names(pairs)[j], " = \"", two$words[2L],
         "\")")
    return(invisible())
  }
}

signs_of <- function(v, pair) c(-1, 1)[match(label_text(v), pair$words)]

# ---- rows of one task each ----

read_long <- function(columns, task, order, yes) {
  if (length(columns) != 1L) refuse("y must be one column of labels to go with task, found ", length(columns))
  if (length(task) != length(columns[[1L]]) || !is.atomic(task))
    refuse("task must have one value for each of the ", length(columns[[1L]]), " rows of y, found ", shown(task))
  if (anyNA(task)) refuse("task must name a task for every row, found ", sum(is.na(task)), " missing values; drop ",
                          "these rows")
  if (length(yes) > 1L) refuse("yes must be one label, the same in all tasks, found ", shown(yes))
  pair <- read_pairs(columns, if (!is.null(yes)) unname(yes))[[1L]]
  tasks <- task_order(task, order)
  signs <- signs_of(columns[[1L]], pair)
  seen <- which(!is.na(signs))
  list(n = length(signs), tasks = tasks, kind = "long",
       words = stats::setNames(rep(list(pair$words), length(tasks)), tasks),
       labels = new_labels(seen, match(task_text(task), tasks)[seen], signs[seen], rep(1, length(seen)), length(tasks)))
}

task_text <- function(task) if (is.numeric(task) && !is.object(task)) number_text(task) else as.character(task)

# Names of the tasks in their order: the user's, that of numbers and dates, or that of the levels of an ordered factor.
task_order <- function(task, order) {
  seen <- unique(task_text(task))
  if (!is.null(order)) {
    if (!is.atomic(order)) refuse("order must hold names of tasks, found ", shown(order))
    order <- task_text(order)
    if (anyDuplicated(order)) refuse("order must not repeat a task, found ", quoted(order[duplicated(order)]), " twice")
    if (length(setdiff(seen, order))) refuse("order must name every task, found none of ", quoted(setdiff(seen, order)))
    if (length(setdiff(order, seen)))
      refuse("order names tasks that no row has: ", quoted(setdiff(order, seen)), "; leave them out")
    return(order)
  }
  if (is.ordered(task)) return(intersect(levels(task), seen))
  if (is.character(task) || is.factor(task))
    refuse("order is needed, first task first, unless task holds numbers, dates or an ordered factor; found ",
           quoted(seen))
  unique(task_text(sort(task)))
}

# Positions of the tasks of new rows.
new_tasks <- function(task, n, names) {
  if (!is.atomic(task) || is.null(task) || !length(task) %in% c(1L, n))
    refuse("task must be one task, or one for each of the ", n, " rows, found ", shown(task))
  found <- match(task_text(task), names)
  if (anyNA(found)) refuse("task must hold tasks of the fit, found ", quoted(unique(task_text(task)[is.na(found)])),
                           "; there are ", quoted(names))
  rep_len(found, n)
}

# ---- ordered levels ----

# An ordered factor as one task ">level" for each level but the last. Sequential (continuation ratio): beyond this
# level, given that it was reached, so a row that ended below has no label; backward, ">=level": at this level or above
# it, given that it is not above. Cumulative: above this level, for every row.
read_ordered <- function(y, kind, direction) {
  if (kind == "cumulative" && direction == "backward")
    refuse("direction = \"backward\" goes with kind = \"sequential\" only; cumulative tasks have none")
  unseen <- setdiff(levels(y), as.character(y))
  if (length(unseen)) refuse("y never takes the levels ", quoted(unseen), "; see droplevels()")
  if (nlevels(y) > max(20, sum(!is.na(y)) / 2))
    refuse("y has ", nlevels(y), " levels in ", sum(!is.na(y)), " rows, which is more like a continuous outcome; cut ",
           "it into levels, see cut()")
  tasks <- if (direction == "forward") paste0(">", levels(y)[-nlevels(y)]) else paste0(">=", levels(y)[-1L])
  outcome <- list(tasks = tasks, kind = kind, direction = direction, levels = levels(y),
                  words = stats::setNames(rep(list(c("FALSE", "TRUE")), length(tasks)), tasks))
  c(list(n = length(y), labels = wide_labels(level_signs(as.integer(y), outcome))), outcome)
}

# Signs (n, t) of ranks, from 1; NA where a row has no label in a task.
level_signs <- function(rank, outcome) {
  steps <- seq_len(length(outcome$levels) - 1L)
  signs <- outer(rank, steps, function(r, k) ifelse(r > k, 1, -1))
  if (outcome$kind == "sequential") signs[if (outcome$direction == "forward") outer(rank, steps, "<") else
    outer(rank, steps + 1L, ">")] <- NA
  signs
}

# ---- survival ----

# Survival times as discrete-time hazards: one task for each interval (from, to], labelled in every row that was watched
# in it; with several causes of an event, a chain of intervals for each.
read_survival <- function(y, breaks, causes) {
  times <- survival_times(y, causes)
  ends <- read_breaks(breaks, times)
  labels <- person_periods(times, ends)
  words <- format_each(ends)
  intervals <- paste0("(", words[-length(words)], ",", words[-1L], "]")
  tasks <- if (is.null(times$causes)) intervals else
    paste(rep(times$causes, each = length(intervals)), rep(intervals, length(times$causes)))
  idle <- diff(labels$start)[seq_along(intervals)] == 0
  if (any(idle)) refuse("breaks leave the intervals ", quoted(intervals[idle]), " without a row that was watched; ",
                        "leave them out")
  list(n = length(times$time), labels = labels, tasks = tasks, breaks = ends, causes = times$causes, times = times,
       kind = if (is.null(times$causes)) "survival" else "risks", codes = causes,
       words = stats::setNames(rep(list(c("survived", "event")), length(tasks)), tasks),
       left_out = count_left_out(times, ends, sum(labels$sign > 0)))
}

person_periods <- function(times, ends) {
  found <- .Call(C_periods, times$entry, times$time, times$event, ends, max(length(times$causes), 1L))
  stats::setNames(found, c("start", "row", "sign", "weight"))
}

# Events before the first interval and beyond the last one have no label, which is said.
count_left_out <- function(times, ends, inside) {
  events <- sum(times$event > 0)
  beyond <- sum(times$event > 0 & times$time > ends[length(ends)])
  found <- c(before = events - beyond - inside, beyond = beyond)
  if (any(found > 0))
    warn("fusedlr_left_out", "breaks from ", format_each(ends[1L]), " to ", format_each(ends[length(ends)]),
         " leave out ", sum(found), " of ", events, " events, ", found[["before"]], " before and ", beyond,
         " beyond; extend the breaks to keep them")
  found
}

# Entry, time and event of each row, the event as the number of its cause, from 1.
survival_times <- function(y, causes) {
  type <- attr(y, "type")
  if (!isTRUE(type %in% c("right", "counting", "mright", "mcounting")))
    refuse("Surv must be of type right or counting, found ", shown(type))
  states <- attr(y, "states")
  y <- unclass(y)
  late <- type %in% c("counting", "mcounting")
  if (!is.matrix(y) || !all(c(if (late) c("start", "stop") else "time", "status") %in% colnames(y)))
    refuse("Surv must have the columns that package survival gives it, found ", shown(colnames(y)))
  time <- as.numeric(y[, if (late) "stop" else "time"])
  entry <- if (late) as.numeric(y[, "start"]) else rep(0, length(time))
  status <- as.numeric(y[, "status"])
  if (!all(is.finite(c(time, entry, status))))
    refuse("Surv must not hold missing or infinite times or events; drop these rows")
  if (any(time < 0, entry < 0)) refuse("Surv must not hold negative times, found ", shown(min(time, entry)))
  if (late && any(entry >= time)) refuse("Surv: every start must come before its stop")
  event <- cause_numbers(status, states, causes)
  if (!any(event$number > 0)) refuse("Surv must hold an event, found none: nothing to model")
  list(time = time, entry = entry, event = event$number, causes = event$names)
}

# Numbers of the causes from 1, 0 where censored, and their names; no names where there is one kind of event.
cause_numbers <- function(status, states, causes) {
  if (!is.null(states)) {
    if (!is.null(causes)) refuse("causes are the levels of the event already, ", quoted(states), "; leave causes out")
    return(list(number = as.integer(status), names = if (length(states) > 1L) states))
  }
  if (is.null(causes)) {
    unknown <- setdiff(status, c(0, 1))
    if (length(unknown)) refuse("Surv: event must hold 0/1, 1/2 or TRUE/FALSE, found ", shown(sort(unique(status))),
                                "; say that there are several causes, causes = c(1, 2), or make the event a factor ",
                                "whose first level is censoring")
    return(list(number = as.integer(status)))
  }
  if (!is.numeric(causes) || length(causes) < 2L || anyDuplicated(causes) || 0 %in% causes || anyNA(causes))
    refuse("causes must list two codes of the event or more, none of them 0 and none twice, found ", shown(causes))
  names <- ifelse(names_of(causes) == "", number_text(causes), names_of(causes))
  if (anyDuplicated(names)) refuse("causes must not repeat a name, found ", quoted(names))
  unknown <- setdiff(status, c(0, causes))
  if (length(unknown)) refuse("Surv: event must be 0 where the row was censored or one of the causes ", shown(causes),
                              ", found ", shown(unknown))
  if (length(setdiff(causes, status))) refuse("event never is ", shown(setdiff(causes, status)), "; leave it out of ",
                                              "causes")
  list(number = match(status, causes, nomatch = 0L), names = names)
}

# Rows of one group must follow each other.
refuse_overlaps <- function(times, units) {
  order <- order(units$code, times$entry)
  first <- order[-length(order)]
  second <- order[-1L]
  early <- which(units$code[first] == units$code[second] & times$entry[second] < times$time[first])
  if (!length(early)) return(invisible())
  pair <- c(first[early[1L]], second[early[1L]])
  refuse("Surv: rows ", pair[1L], " and ", pair[2L], " of one ", units$word, " overlap, watched from ",
         times$entry[pair[1L]], " to ", times$time[pair[1L]], " and from ", times$entry[pair[2L]], " to ",
         times$time[pair[2L]], "; rows of one ", units$word, " must follow each other")
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
  died <- times$time[times$event > 0]
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

# Surv(time, event) or Surv(start, stop, event), as package survival lays it out. An event with more than two levels is
# the cause, its first level censoring.
surv <- function(time, time2, event, type = NULL) {
  if (missing(time)) refuse("Surv needs a time and an event")
  counting <- !missing(time2) && !missing(event)
  if (missing(event)) event <- if (missing(time2)) rep(1, length(time)) else time2
  several <- is.factor(event) && nlevels(event) > 2L || identical(type, "mstate")
  if (!is.null(type) && !isTRUE(type %in% c("right", "counting", "mstate")))
    refuse("Surv must be of type right, counting or mstate, found ", shown(type))
  for (v in c(list(time), if (counting) list(time2))) if (!is.numeric(v) && !inherits(v, "difftime"))
    refuse("Surv: times must be numbers, found class ", class(v)[1L])
  if (inherits(time, "difftime")) refuse("Surv: times must be numbers; use as.numeric(time, units = \"days\")")
  states <- if (several) levels(as.factor(event))[-1L]
  status <- if (several) as.integer(as.factor(event)) - 1L else read_events(event)
  y <- if (counting) cbind(start = time, stop = time2, status = status) else cbind(time = time, status = status)
  if (counting && any(time >= time2, na.rm = TRUE)) refuse("Surv: every start must come before its stop")
  structure(y, type = paste0(if (several) "m", if (counting) "counting" else "right"), states = states, class = "Surv")
}

read_events <- function(event) {
  if (is.factor(event) && nlevels(event) == 2L) event <- as.integer(event) - 1L
  if (!is.numeric(event) && !is.logical(event))
    refuse("Surv: event must hold 0/1, 1/2 or TRUE/FALSE, found class ", class(event)[1L])
  event <- as.numeric(event)
  found <- unique(event[!is.na(event)])
  if (!length(setdiff(found, c(1, 2))) && 2 %in% found) event - 1 else event
}

# ---- predictions of a kind of outcome, from linear predictors (n, t) ----

extra_types <- function(outcome) {
  switch(outcome$kind, labels = , long = NULL, survival = , risks = c("hazard", "survival", "incidence", "median"),
         c("levels", "rank"))
}

predict_outcome <- function(problem, linear, type, cause) {
  outcome <- problem$outcome
  if (type %in% c("levels", "rank")) {
    chances <- level_probabilities(outcome, linear)
    if (type == "levels") return(chances)
    return(stats::setNames(drop(chances %*% level_numbers(outcome$levels)), rownames(linear)))
  }
  hazards <- cause_hazards(outcome, linear)
  total <- Reduce(`+`, hazards)
  alive <- row_products(1 - total)
  ends <- format_each(outcome$breaks[-1L])
  if (type == "median") return(median_times(alive, outcome$breaks))
  if (type == "survival") return(named_table(alive, linear, ends))
  if (type == "hazard" && length(hazards) == 1L) return(named_table(hazards[[1L]], linear, problem$tasks))
  if (type == "incidence" && length(hazards) == 1L) return(named_table(1 - alive, linear, ends))
  # Cumulative incidence by Aalen and Johansen: event-free survival up to an interval times the hazard in it, summed.
  before <- cbind(rep(1, nrow(alive)), alive[, -ncol(alive), drop = FALSE])
  found <- lapply(hazards, function(hazard) if (type == "hazard") hazard else row_sums(before * hazard))
  if (!is.null(cause)) return(named_table(found[[match(cause, outcome$causes)]], linear, ends))
  names <- paste(rep(outcome$causes, each = length(ends)), rep(ends, length(found)))
  named_table(do.call(cbind, found), linear, names)
}

# plogis() that keeps the columns of a matrix without rows.
sigmoid <- function(linear) {
  linear[] <- stats::plogis(linear)
  linear
}

named_table <- function(values, linear, names) {
  dimnames(values) <- list(rownames(linear), names)
  values
}

# Products and sums along the rows of a matrix, one column after the other.
row_products <- function(m) {
  for (k in seq_len(ncol(m))[-1L]) m[, k] <- m[, k] * m[, k - 1L]
  m
}

row_sums <- function(m) {
  for (k in seq_len(ncol(m))[-1L]) m[, k] <- m[, k] + m[, k - 1L]
  m
}

# Hazards of each cause, (n, intervals), divided by their sum where they add up to more than 1.
cause_hazards <- function(outcome, linear) {
  intervals <- length(outcome$breaks) - 1L
  hazards <- lapply(seq_len(max(length(outcome$causes), 1L)), function(c) {
    unname(sigmoid(linear[, (c - 1L) * intervals + seq_len(intervals), drop = FALSE]))
  })
  total <- Reduce(`+`, hazards)
  beyond <- sum(rowSums(total > 1, na.rm = TRUE) > 0)
  if (beyond) warn("fusedlr_crossing", "hazards of the causes add up to more than 1 in ", beyond, " of ", nrow(linear),
                   " rows; they were divided by their sum there; shorter intervals bring them down")
  lapply(hazards, `/`, pmax(total, 1))
}

# The levels where they are numbers, else their positions from 1.
level_numbers <- function(levels) {
  numbers <- suppressWarnings(as.numeric(levels))
  if (anyNA(numbers)) seq_along(levels) else numbers
}

# Probability of every level, (n, levels). Sequential: of reaching it and of stopping there. Cumulative: differences of
# P(> level), put in falling order first where the fits cross.
level_probabilities <- function(outcome, linear) {
  one <- rep(1, nrow(linear))
  if (outcome$kind == "sequential") {
    back <- outcome$direction == "backward"
    beyond <- if (back) -linear[, rev(seq_len(ncol(linear))), drop = FALSE] else linear
    found <- cbind(one, row_products(sigmoid(beyond))) * cbind(sigmoid(-beyond), one)
    if (back) found <- found[, rev(seq_len(ncol(found))), drop = FALSE]
  } else {
    yes <- sigmoid(linear)
    crossed <- rowSums(yes[, -1L, drop = FALSE] > yes[, -ncol(yes), drop = FALSE], na.rm = TRUE) > 0
    if (any(crossed)) {
      warn("fusedlr_crossing", "P(> level) rises with the level in ", sum(crossed), " of ", nrow(yes),
           " rows; put in falling order there; kind = \"sequential\" never crosses")
      yes[crossed, ] <- t(apply(yes[crossed, , drop = FALSE], 1L, sort, decreasing = TRUE))
    }
    found <- cbind(one, yes) - cbind(yes, 0 * one)
  }
  named_table(unname(found), linear, outcome$levels)
}

# Median survival time, NA where survival stays above one half. Within an interval the hazard is taken as constant, so
# that survival falls geometrically; linearly where it falls to 0.
median_times <- function(alive, breaks) {
  found <- rep(NA_real_, nrow(alive))
  for (i in which(rowSums(alive <= 0.5) > 0)) {
    k <- which.max(alive[i, ] <= 0.5)
    first <- c(1, alive[i, ])[k]
    share <- if (alive[i, k] > 0) log(0.5 / first) / log(alive[i, k] / first) else (first - 0.5) / first
    found[i] <- breaks[k] + min(max(share, 0), 1) * (breaks[k + 1L] - breaks[k])
  }
  stats::setNames(found, rownames(alive))
}
