# A formula with its data, read once by model.frame: features, labels, weights, offset, task and groups of the same
# rows.

# Terms that other packages give a meaning of their own. They would become features here.
MEANINGS <- c(strata = "give the strata as tasks (task =), or as a factor among the features",
              frailty = "rows that belong together are named by groups =",
              tt = "effects that change over time are what this model fits; see breaks =")

read_formula <- function(formula, data, extras, subset, na.action, caller) {
  if (length(formula) != 3L) refuse("formula must have the tasks on its left side: cbind(y1, y2) ~ x1 + x2")
  if (!is.data.frame(data) && !is.environment(data) && !is.list(data))
    refuse("data must be a data.frame, found class ", class(data)[1L])
  extras <- Filter(Negate(is.null), extras)
  full <- expand_dot(formula, data, extras)
  terms <- special_terms(full)
  if (!is.null(terms$cluster)) {
    if (!is.null(extras$groups)) refuse("give groups = or cluster() in the formula, not both")
    extras$groups <- terms$cluster
  }
  left <- left_parts(full[[2L]])
  frame <- whole_frame(terms$right, data, c(extras, left$parts), subset, caller)
  kept <- drop_missing(frame, left, na.action)
  x <- stats::model.matrix(attr(kept, "terms"), kept)
  part <- function(name) kept[[paste0("(", name, ")")]]
  list(x = x, y = left$make(lapply(stats::setNames(names(left$parts), names(left$parts)), part)),
       weights = part("weights"), offset = total_offset(kept), task = part("task"),
       groups = with_word(part("groups"), extras$groups),
       record = list(formula = full, terms = attr(kept, "terms"), model = without_left(kept, left),
                     xlevels = stats::.getXlevels(attr(kept, "terms"), kept), contrasts = attr(x, "contrasts"),
                     assign = attr(x, "assign"), na.action = attr(kept, "na.action"), task_expression = extras$task))
}

# A dot stands for all columns of data but those that are used otherwise.
expand_dot <- function(formula, data, extras) {
  if (!"." %in% all.vars(formula[[3L]])) return(formula)
  if (!is.data.frame(data)) refuse("a dot in the formula needs data, a data.frame")
  used <- unlist(lapply(extras, all.vars))
  full <- stats::formula(stats::terms(formula, data = data[setdiff(names(data), used)]))
  environment(full) <- environment(formula)
  full
}

# The right side as terms, without cluster(), which names the groups.
special_terms <- function(formula) {
  right <- stats::delete.response(stats::terms(formula, specials = c(names(MEANINGS), "cluster")))
  found <- attr(right, "specials")
  for (name in names(MEANINGS)) if (length(found[[name]]))
    refuse(name, "() in the formula is not supported: ", MEANINGS[[name]])
  if (!length(found$cluster)) return(list(right = right))
  variables <- as.list(attr(right, "variables"))[-1L]
  place <- found$cluster
  if (length(place) > 1L || sum(attr(right, "factors")[place, ] > 0) > 1L)
    refuse("cluster() must stand once in the formula, on its own, found ", shown(formula[[3L]]))
  call <- variables[[place]]
  drop <- which(attr(right, "factors")[place, ] > 0)
  if (length(attr(right, "term.labels")) == 1L) refuse("the formula must have a feature beside cluster()")
  left <- stats::drop.terms(right, drop)
  environment(left) <- environment(formula)
  list(right = stats::terms(stats::formula(left)), cluster = call[[2L]])
}

# All variables of the same rows. Missing values stay until drop_missing() has looked at them.
whole_frame <- function(right, data, extras, subset, caller) {
  call <- as.call(c(list(quote(stats::model.frame), right, data = quote(data), na.action = stats::na.pass),
                    extras, if (!is.null(subset)) list(subset = subset)))
  if (!is.null(subset)) check_subset(tryCatch(eval(subset, data, environment(right)), error = function(e) subset))
  here <- new.env(parent = caller)
  here$data <- data
  environment(right) <- if (is.null(environment(right))) caller else environment(right)
  frame <- tryCatch(eval(call, here), error = function(e) refuse("formula: ", conditionMessage(e)))
  if (!nrow(frame)) refuse("data and subset leave no row")
  frame
}

check_subset <- function(subset) {
  if (!is.logical(subset) && !is.numeric(subset))
    refuse("subset must be TRUE or FALSE for each row, or numbers of rows, found ", shown(subset))
}

# na.action is asked about everything but labels, which may be missing; times of survival may not.
drop_missing <- function(frame, left, na.action) {
  if (is.null(na.action)) na.action <- stats::na.pass
  if (is.character(na.action) && length(na.action) == 1L)
    na.action <- get0(na.action, mode = "function", ifnotfound = na.action)
  if (!is.function(na.action)) refuse("na.action must be a function such as na.omit, found ", shown(na.action))
  asked <- if (left$may_be_missing) without_left(frame, left) else frame
  kept <- tryCatch(na.action(asked), error = function(e)
    refuse("na.action: ", conditionMessage(e), "; na.omit drops such rows"))
  omitted <- attr(kept, "na.action")
  if (is.null(omitted)) return(frame)
  if (length(omitted) == nrow(frame)) refuse("every row has a missing value, and na.action leaves none")
  found <- frame[-omitted, , drop = FALSE]
  structure(found, terms = attr(frame, "terms"), na.action = omitted)
}

without_left <- function(frame, left) {
  structure(frame[setdiff(names(frame), paste0("(", names(left$parts), ")"))], terms = attr(frame, "terms"))
}

total_offset <- function(frame) {
  given <- frame[["(offset)"]]
  terms <- attr(attr(frame, "terms"), "offset")
  inside <- if (length(terms)) Reduce(`+`, frame[terms])
  if (is.null(inside)) given else if (is.null(given)) inside else given + inside
}

# The left side in parts that model.frame evaluates one by one, and what puts them together: cbind() would drop the
# levels of factors, and Surv() is read here, so that package survival need not be attached, or even be there.
left_parts <- function(left) {
  head <- if (is.call(left)) deparse(left[[1L]])[1L] else ""
  if (head == "+") refuse("the tasks on the left side must be joined by cbind(), found ", shown(left))
  if (head == "cbind") {
    parts <- as.list(left)[-1L]
    words <- names_of(parts)
    words <- ifelse(words == "", vapply(parts, function(part) deparse(part)[1L], ""), words)
    return(left_side(parts, function(columns) {
      data.frame(stats::setNames(unname(columns), words), check.names = FALSE, stringsAsFactors = FALSE)
    }))
  }
  if (head %in% c("Surv", "survival::Surv", "survival:::Surv")) {
    arguments <- surv_arguments(left)
    return(left_side(arguments$parts, function(columns) {
      do.call(surv, c(stats::setNames(columns, arguments$words), arguments$fixed))
    }, may_be_missing = FALSE))
  }
  left_side(list(left), function(columns) {
    y <- columns[[1L]]
    if (!is.null(dim(y)) || is.ordered(y)) return(y)
    stats::setNames(data.frame(y, stringsAsFactors = FALSE), deparse(left)[1L])
  })
}

left_side <- function(parts, make, may_be_missing = TRUE) {
  list(parts = stats::setNames(parts, paste0("y", seq_along(parts))), make = make, may_be_missing = may_be_missing)
}

# Times and event of Surv() vary by row, its type does not.
surv_arguments <- function(call) {
  matched <- as.list(match.call(surv, call))[-1L]
  fixed <- names(matched) %in% "type"
  list(parts = unname(matched[!fixed]), words = names(matched)[!fixed], fixed = lapply(matched[fixed], eval))
}
