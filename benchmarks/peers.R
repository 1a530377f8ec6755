# Install the R packages that fused fits are compared with, from CRAN into a folder given as the only argument.
# What cannot be installed is left out of the comparison: this script says so and never fails.
folder <- normalizePath(commandArgs(trailingOnly = TRUE)[1])
.libPaths(c(folder, .libPaths()))
loads <- function(package) requireNamespace(package, quietly = TRUE)
missing <- function() Filter(Negate(loads), c("penalized", "smurf"))
if (length(missing()) > 0) {
    # smurf needs these two, and CRAN has them for the newest R only.
    if (!loads("MASS") || !loads("mgcv")) {
        system("apt-get install -qq -y --no-install-recommends r-cran-mass r-cran-mgcv",
               ignore.stdout = TRUE, ignore.stderr = TRUE)
    }
    if (getOption("repos")["CRAN"] == "@CRAN@") chooseCRANmirror(ind = 1, local.only = TRUE)
    options(timeout = 60, Ncpus = 1)
    try(install.packages(missing(), lib = folder, quiet = TRUE), silent = TRUE)
}
for (package in missing()) cat("R's package", package, "is not installed and could not be installed from CRAN\n")
