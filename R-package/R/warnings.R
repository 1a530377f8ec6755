# What a user should hear of before trusting a fit, each by a class of its own.

warn_one_class <- function(problem) {
  labels <- problem$labels
  count <- function(sign) by_task(labels, labels$weight * (labels$sign == sign))
  single <- count(1) == 0 | count(-1) == 0
  if (any(single)) warn("fusedlr_one_class", "every observed label is the same in ", quoted(problem$tasks[single]),
                        "; drop these tasks, or fuse intercepts (fuse_intercepts = TRUE)")
}

warn_status <- function(row, tol) {
  if (row$status == "separated")
    warn("fusedlr_separation", "some task's labels are separated by its features (complete or quasi-complete ",
         "separation), or all the same: no finite minimiser exists at these penalties; use a positive l1 or l2, and ",
         "drop tasks whose labels are all the same")
  else if (row$status == "not_converged")
    warn("fusedlr_convergence", "stopped after ", row$iterations, " iterations at a relative duality gap of ",
         format(row$gap, digits = 2L), ", above tol = ", format(tol),
         "; raise maxit or tol, or use larger penalties")
}

# Constant features, and pairs of affine copies.
warn_collinear <- function(x) {
  if (is_sparse(x)) x <- dense(possible_copies(x))
  idle <- colSums(x != rep(x[1L, ], each = nrow(x))) == 0
  if (any(idle)) warn("fusedlr_collinear", "x: ", quoted(colnames(x)[idle]),
                      " are constant, collinear with the intercept; drop them")
  pairs <- alike(x[, !idle, drop = FALSE])
  shown <- paste0("'", pairs[, 1L], "' and '", pairs[, 2L], "'")[seq_len(min(nrow(pairs), 3L))]
  if (nrow(pairs)) warn("fusedlr_collinear", "x: ", paste(shown, collapse = ", "), if (nrow(pairs) > 3L) ", ...",
                        " are affine copies of each other: their separate effects are not identifiable; ",
                        "drop one of them")
}

# Columns of a sparse matrix that may be constant, or multiples of others: these are filled in the same places.
possible_copies <- function(x) {
  filled <- diff(x@p)
  places <- vapply(seq_len(ncol(x)), function(k) sum(cos(x@i[x@p[k] + seq_len(filled[k])]^2)), 0)
  key <- paste(filled, signif(places, 9L))
  x[, filled == 0 | filled == nrow(x) | key %in% key[duplicated(key)], drop = FALSE]
}

# Centred and scaled, affine copies have the same projection on any vector, up to the sign; candidates are then compared
# entry by entry. Names of the pairs, (pairs, 2).
alike <- function(x) {
  if (ncol(x) < 2L || nrow(x) < 2L) return(matrix("", 0L, 2L))
  x <- x - rep(colMeans(x), each = nrow(x))
  x <- x / rep(pmax(sqrt(colSums(x^2)), .Machine$double.xmin), each = nrow(x))
  place <- abs(drop(crossprod(x, cos(seq_len(nrow(x))^2))))
  order <- order(place)
  near <- which(diff(place[order]) <= 1e-9 * place[order][-1L])
  first <- pmin(order[near], order[near + 1L])
  second <- pmax(order[near], order[near + 1L])
  same <- 1 - abs(colSums(x[, first, drop = FALSE] * x[, second, drop = FALSE])) < 1e-14
  cbind(colnames(x)[first[same]], colnames(x)[second[same]])
}

# A chosen point at an end of the grid, unless a larger penalty would change nothing, as all is zero or tied already, or
# a smaller one next to nothing, as it is small and no coefficient is zero or tied.
warn_edge <- function(points, fit) {
  ends <- unlist(lapply(colnames(points), function(name) {
    value <- fit$table[[name]]
    grid <- unique(points[, name])
    end <- if (value == max(grid)) "largest" else if (value == min(grid) && value > 0) "least"
    if (length(grid) > 1L && !is.null(end) && goes_on(fit, name, end, grid))
      paste0("the ", end, " ", name, " (", format(value, digits = 4L), ")")
  }))
  if (length(ends)) warn("fusedlr_grid_edge", "the chosen point lies at an end of the grid, ",
                         paste(ends, collapse = " and "),
                         ": a better one may lie beyond; give a longer list of that penalty")
}

goes_on <- function(fit, name, end, grid) {
  problem <- fit$problem
  params <- params_of(fit)
  ends <- problem$graph$ends + 1L
  differences <- params[, ends[1L, ], drop = FALSE] - params[, ends[2L, ], drop = FALSE]
  subject <- if (name == "fusion") differences else params
  subject <- subject[problem$factors[, if (name == "fusion") "fusion" else "l1"] > 0, ]
  if (end == "largest") any(subject != 0) else any(subject == 0) || min(grid) > 1e-2 * max(grid)
}
