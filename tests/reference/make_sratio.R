# Reference coefficients by VGAM's stopping-ratio models, for tests that need no R.
# Run in this folder: Rscript --vanilla make_sratio.R
# It reads glmnet_data.csv, whose rows have from 0 to 3 labels of yes: an outcome of four levels.
#
# Forward, VGAM has the log-odds to stop at a level once it is reached, with the other sign than to go beyond it;
# backward (reverse), those to be at a level given that none above was. Its intercepts are never tied.

suppressMessages(library(VGAM))
data <- read.csv("glmnet_data.csv", comment.char = "#")
data$level <- ordered(data$y1 + data$y2 + data$y3)
features <- paste0("x", 1:6)

rows <- function(direction, tied) {
    fit <- vglm(reformulate(features, "level"), sratio(reverse = direction == "backward", parallel = tied), data,
                control = vglm.control(epsilon = 1e-15, maxit = 100))
    coefs <- coef(fit, matrix = TRUE) * (if (direction == "forward") -1 else 1)
    coefs <- matrix(sprintf("%.17g", coefs), 7, 3, dimnames = list(NULL, paste0("step", 1:3)))
    data.frame(direction, tied, term = c("const", features), coefs, llf = sprintf("%.17g", logLik(fit)))
}

found <- rbind(rows("forward", FALSE), rows("backward", FALSE), rows("forward", TRUE), rows("backward", TRUE))
file <- file("sratio_coefs.csv", "w")
writeLines(sprintf("# made by make_sratio.R with R %s and VGAM %s", getRversion(), packageVersion("VGAM")), file)
write.csv(found, file, row.names = FALSE, quote = FALSE)
close(file)
