# Ordered levels by R's ordinalNet, tuned by its own cross-validation: Rscript ordered.R FOLDER
#
# The folder holds train.csv and test.csv, the level (from 0) in the first column. Written back are shares.csv, the
# probability of every level in the rows of test.csv, and seconds.txt, the CPU time of tuning and fitting.
folder <- commandArgs(trailingOnly = TRUE)[1]
train <- utils::read.csv(file.path(folder, "train.csv"))
test <- utils::read.csv(file.path(folder, "test.csv"))
set.seed(1)
x <- as.matrix(train[, -1])
y <- factor(train[, 1], ordered = TRUE)
clock <- system.time({
    # Semi-parallel: one coefficient for each feature plus its own at every threshold, all under the lasso.
    tuned <- ordinalNet::ordinalNetTune(x, y, family = "cumulative", parallelTerms = TRUE, nonparallelTerms = TRUE,
                                        nFolds = 5, printProgress = FALSE, warn = FALSE)
    best <- which.max(rowMeans(tuned$loglik))
    shares <- stats::predict(tuned$fit, newx = as.matrix(test[, -1]), whichLambda = best, type = "response")
})
utils::write.csv(shares, file.path(folder, "shares.csv"), row.names = FALSE)
writeLines(format(sum(clock[1:2])), file.path(folder, "seconds.txt"))
