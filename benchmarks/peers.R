# Install the R packages that fused fits are compared with, from CRAN into a folder given as the only argument.
# What cannot be installed is left out of the comparison: this script says so and never fails.
folder <- normalizePath(commandArgs(trailingOnly = TRUE)[1])
.libPaths(c(folder, .libPaths()))
missing <- function() Filter(Negate(function(package) requireNamespace(package, quietly = TRUE)), c("penalized", "smurf"))
if (length(missing()) > 0) {
    if (getOption("repos")["CRAN"] == "@CRAN@") chooseCRANmirror(ind = 1, local.only = TRUE)
    options(timeout = 60, Ncpus = 1)
    try(install.packages(missing(), lib = folder, quiet = TRUE), silent = TRUE)
}
for (package in missing()) cat("R's package", package, "is not installed and could not be installed from CRAN\n")
