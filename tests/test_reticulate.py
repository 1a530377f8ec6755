"""R users reach the Python package through reticulate: what arrives, what is refused, and what stays as it was."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.processes import said

ROOT = Path(__file__).resolve().parents[1]
START = """
library(reticulate)
fusedlr <- import("fusedlr")
set.seed(1)
x <- data.frame(a = rnorm(60), b = rnorm(60))
y <- sapply(1:3, function(k) x$a + rnorm(60) > 0)
y[1, 1] <- NA
"""


# The first releases of reticulate that know a numpy or a Python, newest first.
KNOWN_SINCE = (("numpy", np.__version__, (2, 1), (1, 39)), ("numpy", np.__version__, (2, 0), (1, 38)),
               ("Python", platform.python_version(), (3, 13), (1, 40)),
               ("Python", platform.python_version(), (3, 12), (1, 33)))


def numbers(version):
    return tuple(map(int, version.split(".")[:2]))


def why_not():
    """What is missing for a reticulate that works here, in words, or None."""
    look = "cat(as.character(packageVersion('reticulate')))"
    found = shutil.which("Rscript") and subprocess.run(["Rscript", "-e", look], capture_output=True, text=True).stdout
    if not found:
        return "R's package reticulate is not installed"
    for name, version, least, since in KNOWN_SINCE:
        if numbers(version) >= least and numbers(found) < since:
            return f"reticulate {found} does not load {name} {version}: {'.'.join(map(str, since))} or newer does"
    return None


MISSING = why_not()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]


def lines(source):
    """What R prints, line by line."""
    env = {**os.environ, "RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT),
           "FUSEDLR_RLIB": str(ROOT / ".rlib")}
    return said(["Rscript", "-e", START + source], env=env).split("\n")[:-1]


def test_missing_labels_arrive_as_numbers():
    assert lines("""
        model <- fusedlr$FusedLogit(y * 1, x)
        cat(is.na(model$endog[1, 1]), model$nobs, "\\n")
    """) == ["TRUE 60 "]


def test_formulas_and_the_whole_numbers_of_r_are_understood():
    assert lines("""
        d <- cbind(x, u = y[, 1] * 1, v = y[, 2] * 1)
        model <- fusedlr$FusedLogit$from_formula("u + v ~ a + b", d)
        cat(dim(model$fit(l1 = 1, l2 = 0, fusion = 1)$params), "\\n")
        cv <- model$fit_cv(folds = 3, rng = 1, l1 = c(1, 2), l2 = 0, fusion = c(0, 1), progress = FALSE)
        cat(length(unique(cv$folds)), "\\n")
        edges <- fusedlr$FusedLogit(y * 1, x, tasks = list(c(0, 1), c(1, 2)))
        cat(nrow(edges$tasks$edges), "\\n")
    """) == ["3 2 ", "3 ", "2 "]


def test_r_is_not_called_from_the_python_inside_of_it():
    assert lines("""
        r <- import("fusedlr.r")
        set.seed(3)
        before <- list(.Random.seed, search(), .libPaths())
        boosted <- function() r$boost(as.matrix(x), y[, 2] * 1, as.matrix(x), seed = 1)
        for (call in list(boosted, function() r$from_r("x")))
            cat(grepl("inside of R, through reticulate", tryCatch(call(), error = conditionMessage)), "\\n")
        cat(identical(list(.Random.seed, search(), .libPaths()), before), "\\n")
    """) == ["TRUE ", "TRUE ", "TRUE "]


def test_ordered_factors_keep_their_order_in_a_data_frame_and_are_refused_alone():
    assert lines("""
        level <- factor(c("low", "mid", "high")[rep(1:3, 20)], c("low", "mid", "high"), ordered = TRUE)
        model <- fusedlr$FusedLogit$from_formula("level ~ a + b", cbind(x, level = level))
        cat(model$endog_names, "\\n")
        alone <- suppressWarnings(r_to_py(level))
        said <- tryCatch({ fusedlr$FusedLogit$from_ordered(alone, x); "taken" }, error = conditionMessage)
        cat(grepl("levels is needed, lowest first", said), "\\n")
        cat(fusedlr$FusedLogit$from_ordered(alone, x, levels = levels(level))$endog_names, "\\n")
    """) == [">low >mid ", "TRUE ", ">low >mid "]
