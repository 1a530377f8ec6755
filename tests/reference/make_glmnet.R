# Reference coefficients by glmnet and glm, for tests that need no R.
# Run in this folder: Rscript --vanilla make_glmnet.R
# It writes the data it draws and the coefficients it finds, nothing else.
#
# Objective (sums, not means; intercepts carry no l1 and no l2):
#   sum of log-losses + l1 * sum|B| + l2/2 * sum B^2 + fusion * sum over neighbours |B_k - B_k+1|
# glmnet's objective is the mean loss + lambda * sum pf * ((1 - alpha)/2 * b^2 + alpha * |b|),
# after it has rescaled its penalty factors pf to a mean of 1.

library(glmnet)
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20131230)
glmnet.control(fdev = 0, devmax = 1)

n <- 90; d <- 6; t <- 3
X <- round(matrix(rnorm(n * d), n), 4)
X[, 2] <- round(X[, 1] + 0.5 * X[, 2], 4)
B <- cbind(c(1, 0, -1, 0.5, 0, 0), c(1, 0, -0.5, 0.5, 0, 0.8), c(0.4, 0, 0, 0.5, 0, 0.8))
Y <- 1 * (matrix(runif(n * t), n) < plogis(rep(1, n) %o% c(-0.5, 0, 0.7) + X %*% B))
data <- data.frame(X, Y)
names(data) <- c(paste0("x", 1:d), paste0("y", 1:t))

# penalties: the absolute penalty l1 + l2 of every column; alpha: l1 / (l1 + l2)
fit_glmnet <- function(x, y, penalties, alpha) {
    lambda <- mean(penalties) / length(y)
    fit <- glmnet(x, y, "binomial", alpha = alpha, lambda = lambda * 2^(12:0), standardize = FALSE, thresh = 1e-22,
                  penalty.factor = penalties / mean(penalties), maxit = 1e7)
    unname(c(fit$a0[13], fit$beta[, 13]))
}

stacked_X <- X[rep(1:n, t), ]
stacked_y <- as.vector(Y)
task <- rep(1:t, each = n)
from <- function(k) 1 * (task >= k)

elastic_net <- function(l1, l2) sapply(1:t, function(k) fit_glmnet(X, Y[, k], rep(l1 + l2, d), l1 / (l1 + l2)))

pooled_shared <- function(l1, l2) {
    b <- fit_glmnet(stacked_X, stacked_y, rep(t * (l1 + l2), d), l1 / (l1 + l2))
    matrix(b, 1 + d, t)
}

pooled_free <- function(l1, l2) {
    b <- fit_glmnet(cbind(stacked_X, from(2), from(3)), stacked_y, c(rep(t * (l1 + l2), d), 0, 0), l1 / (l1 + l2))
    rbind(b[1] + cumsum(c(0, b[d + 2:3])), matrix(b[1 + 1:d], d, t))
}

fused_only <- function(fusion, fusion_const) {
    step <- c(fusion_const, rep(fusion, d))
    x <- cbind(stacked_X, from(2), stacked_X * from(2), from(3), stacked_X * from(3))
    b <- matrix(fit_glmnet(x, stacked_y, c(rep(0, d), step, step), 1), 1 + d, t)
    cbind(b[, 1], b[, 1] + b[, 2], b[, 1] + b[, 2] + b[, 3])
}

unpenalized <- function() {
    sapply(1:t, function(k) coef(glm(Y[, k] ~ X, family = binomial, control = list(epsilon = 1e-14, maxit = 100))))
}

row <- function(comparison, l1, l2, fusion, fusion_const, coefs) {
    coefs <- matrix(sprintf("%.17g", coefs), 1 + d, t, dimnames = list(NULL, paste0("y", 1:t)))
    data.frame(comparison, l1, l2, fusion, fusion_const, term = c("const", paste0("x", 1:d)), coefs)
}
# 1e4 stands for infinity: from some finite value on, fusion makes all tasks equal.
strong <- 1e4
found <- rbind(
    row("elastic_net", 1, 0.5, 0, 0, elastic_net(1, 0.5)),
    row("elastic_net", 4, 0, 0, 0, elastic_net(4, 0)),
    row("elastic_net", 0, 2, 0, 0, elastic_net(0, 2)),
    row("pooled_shared", 1, 0.5, strong, strong, pooled_shared(1, 0.5)),
    row("pooled_free", 1, 0.5, strong, 0, pooled_free(1, 0.5)),
    row("pooled_free", 3, 0, strong, 0, pooled_free(3, 0)),
    row("fused_only", 0, 0, 1, 0, fused_only(1, 0)),
    row("fused_only", 0, 0, 2, 2, fused_only(2, 2)),
    row("unpenalized", 0, 0, 0, 0, unpenalized())
)

made_by <- sprintf("# made by make_glmnet.R with R %s and glmnet %s", getRversion(), packageVersion("glmnet"))
write_table <- function(name, table) {
    file <- file(name, "w")
    on.exit(close(file))
    writeLines(made_by, file)
    write.csv(table, file, row.names = FALSE, quote = FALSE)
}
write_table("glmnet_data.csv", data)
write_table("glmnet_coefs.csv", found)
