# Labels, flat and compressed by task, as in Python and the core: those of task k are the ones from start[k] up to
# start[k + 1]; row (from 0) rises within a task, sign is 1 for yes and -1 for no.

new_labels <- function(row, task, sign, weight, tasks) {
  order <- order(task, row)
  list(start = as.numeric(c(0, cumsum(tabulate(task, tasks)))), row = as.integer(row[order] - 1L),
       sign = as.integer(sign[order]), weight = as.numeric(weight[order]))
}

# From signs (n, t) that are NA where there is no label.
wide_labels <- function(signs) {
  seen <- which(!is.na(signs))
  n <- nrow(signs)
  new_labels((seen - 1L) %% n + 1L, (seen - 1L) %/% n + 1L, signs[seen], rep(1, length(seen)), ncol(signs))
}

n_tasks <- function(labels) length(labels$start) - 1L

# Task of each label.
label_task <- function(labels) rep(seq_len(n_tasks(labels)), diff(labels$start))

some_labels <- function(labels, which) {
  list(start = c(0, cumsum(which))[labels$start + 1], row = labels$row[which], sign = labels$sign[which],
       weight = labels$weight[which])
}

# Sums over the labels of each task.
by_task <- function(labels, values) {
  sums <- rowsum(values, label_task(labels))
  replace(numeric(n_tasks(labels)), as.integer(rownames(sums)), sums)
}

# Sums over the labels of each row.
by_row <- function(labels, values, n) {
  sums <- rowsum(values, labels$row)
  replace(numeric(n), as.integer(rownames(sums)) + 1L, sums)
}

largest_by_row <- function(labels, n) {
  order <- order(labels$row, labels$weight)
  last <- !duplicated(labels$row[order], fromLast = TRUE)
  replace(numeric(n), labels$row[order][last] + 1L, labels$weight[order][last])
}

# Values of labels in a table (n, t), NA where there is no label; of long data in a vector (n).
spread_labels <- function(problem, values, names = rownames(problem$x)) {
  if (problem$outcome$kind == "long") {
    found <- replace(rep(NA_real_, nrow(problem$x)), problem$labels$row + 1L, values)
    return(stats::setNames(found, names))
  }
  table <- matrix(NA_real_, nrow(problem$x), length(problem$tasks), dimnames = list(names, problem$tasks))
  table[cbind(problem$labels$row + 1L, label_task(problem$labels))] <- values
  table
}

# Sampling units: the group of each row (from 0), and how often each group counts: a row its weight, a group of the
# user's once.
row_units <- function(labels, n) list(code = seq_len(n) - 1L, times = largest_by_row(labels, n), word = "row")

given_units <- function(groups, word, labels) {
  code <- match(groups, unique(groups)) - 1L
  list(code = code, times = replace(numeric(max(code) + 1L), unique(code[labels$row + 1L]) + 1L, 1), word = word)
}

are_rows <- function(units) units$word == "row"

# How often each row counts: by itself, or its share of the label weights of its group.
unit_shares <- function(units, labels) {
  if (are_rows(units)) return(units$times)
  rows <- by_row(labels, labels$weight, length(units$code))
  rows / pmax(rowsum(rows, units$code)[, 1L], 5e-324)[units$code + 1L]
}
