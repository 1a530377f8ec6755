# The R package beside smurf, RMTL and ordinalNet on one real data set: Rscript r_peers.R
#
# Ozone in New York (R's airquality) in four classes: three tasks "beyond this class, given that it was reached", three
# features, 111 days. Each function below is what a user types, given x and the ordered factor y; its lines are counted.
# Packages that are not installed are left out. Prints a table in Markdown: seconds of the user's CPU are medians of
# five runs of 20 fits each, the objective is ours (l1 = 1, fusion = 2 on standardized features, free intercepts) at
# what was found, above the optimum by a share of it.
options(keep.source = TRUE)
days <- na.omit(airquality)
y <- cut(days$Ozone, c(0, 20, 40, 80, Inf), c("low", "fair", "high", "extreme"), ordered_result = TRUE)
x <- scale(as.matrix(days[c("Solar.R", "Wind", "Temp")])) * sqrt(nrow(days) / (nrow(days) - 1))

by_fusedlr <- function() {
    coef(fusedlr::fusedlr(x, y, l1 = 1, fusion = 2))
}

# The same objective, with the tasks put below each other by hand; smurf has no ridge beside the fusion.
by_smurf <- function() {
    rank <- as.integer(y)
    task <- rep(1:3, nrow(x))
    row <- rep(seq_len(nrow(x)), each = 3)
    seen <- rank[row] >= task
    label <- as.numeric(rank[row] > task)[seen]
    steps <- outer(task[seen], 1:3, ">=") + 0
    stacked <- matrix(0, sum(seen), 9)
    for (j in 1:3) for (k in 1:3) stacked[, 3 * (j - 1) + k] <- ifelse(task[seen] == k, x[row[seen], j], 0)
    names <- c("Intercept", "step2", "step3", colnames(x))
    as_list <- function(values) setNames(as.list(values), names)
    design <- Matrix::Matrix(cbind(steps, stacked), sparse = TRUE)
    colnames(design) <- c(names[1:3], paste0(rep(colnames(x), each = 3), ".", 1:3))
    fit <- smurf::glmsmurf.fit(
        design, label, family = binomial(), pen.cov = as_list(rep(c("none", "flasso"), each = 3)),
        n.par.cov = as_list(rep(c(1, 3), each = 3)), group.cov = as_list(rep(0, 6)), refcat.cov = as_list(rep(0, 6)),
        lambda = 2 / sum(seen), lambda1 = 1 / 2, standardize = FALSE,
        pen.weights = as_list(c(rep(list(0), 3), rep(list(c(1, 1)), 3))),
        control = list(epsilon = 1e-10, maxiter = 1e6, reest = FALSE, ncores = 1L, po.ncores = 1L))
    found <- as.vector(fit$coefficients)
    rbind(cumsum(found[1:3]), matrix(found[-(1:3)], 3, byrow = TRUE))
}

# Another objective: squared differences to the mean of the neighbours, mean losses, one design for each task.
by_RMTL <- function() {
    rank <- as.integer(y)
    X <- lapply(1:3, function(k) x[rank >= k, ])
    Y <- lapply(1:3, function(k) matrix(ifelse(rank[rank >= k] > k, 1, -1)))
    G <- cbind(c(1, -1, 0), c(0, 1, -1))
    fit <- RMTL::MTL(X, Y, type = "Classification", Regularization = "Graph", Lam1 = 0.01, G = G,
                     opts = list(init = 0, tol = 1e-10, maxIter = 10000))
    rbind(fit$C, fit$W)
}

# Another objective: an elastic net on shared effects and on deviations from them, all thresholds apart or together.
by_ordinalNet <- function() {
    fit <- ordinalNet::ordinalNet(x, y, family = "sratio", parallelTerms = TRUE, nonparallelTerms = TRUE,
                                  lambdaVals = 1 / length(y), standardize = FALSE, reverse = FALSE)
    -coef(fit, matrix = TRUE)
}

objective <- function(params) {
    rank <- as.integer(y)
    linear <- cbind(1, x) %*% params
    loss <- sum(sapply(1:3, function(k) sum(log1p(exp(-ifelse(rank > k, 1, -1) * linear[, k]))[rank >= k])))
    b <- params[-1, ]
    loss + sum(abs(b)) + 2 * sum(abs(b[, -1] - b[, -3]))
}

report <- function(name, what) {
    if (!requireNamespace(name, quietly = TRUE)) return(invisible())
    fit <- get(paste0("by_", name))
    params <- suppressWarnings(fit())  # smurf would rather compute its weights, and count the intercepts in
    seconds <- numeric(5)
    for (run in 1:5) seconds[run] <- system.time(suppressWarnings(for (i in 1:20) fit()))[["user.self"]] / 20
    ties <- sum(params[-1, -1] == params[-1, -3] & params[-1, -1] != 0)
    lines <- length(as.character(attr(fit, "srcref"))) - 2L
    best <- objective(unname(by_fusedlr()))
    found <- objective(unname(params))
    cat(sprintf("| %s %s | %s | %d | %.4f | %.8f | %.1e | %d of 6 |\n", name, packageVersion(name), what, lines,
                median(seconds), found, found / best - 1, ties))
}

cat("| package | objective | lines | seconds | fusedlr's objective at its answer | above the optimum | exact ties |\n")
cat("|---|---|---|---|---|---|---|\n")
report("fusedlr", "l1 and fusion")
report("smurf", "the same, stated by hand")
report("RMTL", "squared differences")
report("ordinalNet", "shared effects and deviations")
