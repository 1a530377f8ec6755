# The call as the manual of ada has it, in an R of its own: one folder for each size, with the numbers as raw doubles.
for (folder in commandArgs(trailingOnly = TRUE)) {
    read <- function(name) readBin(file.path(folder, name), "double", n = 1e7)
    size <- read("size")
    X <- matrix(read("X"), nrow = size[1])
    X_new <- matrix(read("X_new"), ncol = ncol(X))
    y <- read("y")
    set.seed(size[2])
    fit <- ada::ada(as.data.frame(X), y, loss = "exponential", type = "discrete", iter = 200)
    set.seed(size[3])
    writeBin(predict(fit, as.data.frame(X_new), type = "F"), file.path(folder, "margins"))
}
