# One fused logistic fit by an R package: Rscript fused_peers.R FOLDER PACKAGE EPSILON
#
# The folder holds X, Y and penalties (l1, fusion) as raw doubles, shape (n, d, t) in the file size. The tasks are put
# below each other: row (task, i), column (feature, task), which is X where the two tasks agree and 0 elsewhere, so that
# the coefficients of one feature stand side by side. Every task has an intercept of its own, without any penalty.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
epsilon <- as.numeric(arguments[3])
read <- function(name) readBin(file.path(folder, name), "double", n = 1e8)
size <- read("size")
n <- size[1]; d <- size[2]; t <- size[3]
X <- matrix(read("X"), n, d)
y <- read("Y")
penalties <- read("penalties")
stacked <- matrix(0, n * t, d * t)
for (k in seq_len(t)) stacked[(k - 1) * n + seq_len(n), (seq_len(d) - 1) * t + k] <- X
steps <- outer(rep(seq_len(t), each = n), seq_len(t), ">=") + 0

# lambda1 acts on coefficients, lambda2 on differences within a group, here a feature; all are sums over rows as ours.
by_penalized <- function() {
    fit <- penalized::penalized(y, penalized = stacked, unpenalized = steps, lambda1 = penalties[1],
                                lambda2 = penalties[2], fusedl = rep(seq_len(d), each = t), model = "logistic",
                                epsilon = epsilon, maxiter = 10000,
                                trace = FALSE)
    list(steps = fit@unpenalized, coefs = fit@penalized)
}

# The loss is a mean over rows; lambda acts on differences and lambda times lambda1 on coefficients.
by_smurf <- function() {
    names <- c("Intercept", paste0("step", seq_len(t - 1)), paste0("x", seq_len(d)))
    as_list <- function(values) stats::setNames(as.list(values), names)
    lambda <- penalties[2] / (n * t)
    weights <- as_list(c(rep(list(0), t), rep(list(rep(1, t - 1)), d)))  # its own "eq" would count the intercepts in
    design <- Matrix::Matrix(cbind(steps, stacked), sparse = TRUE)
    colnames(design) <- c(names[seq_len(t)], paste0(rep(names[-seq_len(t)], each = t), ".", seq_len(t)))
    fit <- smurf::glmsmurf.fit(
        design, y, family = stats::binomial(), pen.cov = as_list(c(rep("none", t), rep("flasso", d))),
        n.par.cov = as_list(c(rep(1, t), rep(t, d))), group.cov = as_list(rep(0, t + d)),
        refcat.cov = as_list(rep(0, t + d)),
        lambda = lambda, lambda1 = penalties[1] / penalties[2], pen.weights = weights, standardize = FALSE,
        control = list(epsilon = epsilon, maxiter = 1e6, reest = FALSE, ncores = 1L, po.ncores = 1L))
    found <- as.vector(fit$coefficients)
    list(steps = found[seq_len(t)], coefs = found[-seq_len(t)])
}

fit <- list(penalized = by_penalized, smurf = by_smurf)[[arguments[2]]]
invisible(requireNamespace(arguments[2]))
start <- proc.time()[["user.self"]]
found <- fit()
seconds <- proc.time()[["user.self"]] - start
params <- rbind(cumsum(found$steps), t(matrix(found$coefs, t, d)))
writeBin(c(seconds, as.vector(params)), file.path(folder, "found"))
