# The models of test_parity.py in R; every number that both languages print goes to a file of raw doubles:
# Rscript parity.R DATA FOLDER
suppressWarnings({
library(fusedlr)
folder <- commandArgs(trailingOnly = TRUE)
d <- read.csv(folder[1], stringsAsFactors = FALSE)
out <- function(name, value) writeBin(as.vector(as.numeric(value)), file.path(folder[2], name))

# Everything that a fit, its refits and tests say.
tell <- function(name, fit) {
  tell <- function(what, value) out(paste(name, what, sep = "."), value)
  tell("params", coef(fit))
  tell("gap", fit$table$objective)
  tell("fitted", fitted(fit))
  tell("resid_response", residuals(fit))
  tell("resid_pearson", residuals(fit, "pearson"))
  tell("resid_deviance", residuals(fit, "deviance"))
  tell("llf", logLik(fit))
  tell("df_effective", attr(logLik(fit), "df"))
  tell("aic", AIC(fit))
  tell("bic", BIC(fit))
  tell("nobs", nobs(fit))
  tell("df_resid", df.residual(fit))
  for (ties in c(TRUE, FALSE)) {
    again <- refit(fit, ties = ties)
    word <- if (ties) "refit" else "untied"
    tell(paste0(word, "_values"), again$values)
    tell(paste0(word, "_cov"), vcov(again))
    tell(paste0(word, "_llf"), logLik(again))
    tell(paste0(word, "_p"), summary(again)$coefficients[, 4])
  }
  tell("nonrobust_cov", vcov(refit(fit, cov_type = "nonrobust")))
  tell("change", as.matrix(change_test(fit)))
  tell("differences", as.matrix(differences(fit)[-(1:3)]))
}

x <- as.matrix(d[c("x1", "x2", "x3", "x4")])
y <- as.matrix(d[c("y1", "y2", "y3")])
at <- list(l1 = 1, l2 = 0.25, fusion = 1.5)
fit <- function(...) do.call(fusedlr, c(list(...), at))
tell("wide", fit(x, y))
tell("weighted", fit(x, y, weights = d$w, offset = d$o))
tell("long", fit(x, d$y1, task = d$year))
tell("grouped", fit(y1 ~ x1 + x2 + x3 + x4, d, task = d$year, groups = d$person))
tell("ring", fit(x, y, tasks = "ring"))
level <- factor(d$level, ordered = TRUE)
tell("sequential", fit(x, level))
backward <- fit(x, level, direction = "backward")
tell("backward", backward)
out("backward.levels", predict(backward, type = "levels"))
out("backward.rank", predict(backward, type = "rank"))
cumulative <- fit(x, level, kind = "cumulative")
out("cumulative.llf", logLik(cumulative))
out("cumulative.levels", predict(cumulative, type = "levels"))

risks <- fit(Surv(start, stop, cause) ~ x1 + x2, d, causes = 1:2, breaks = c(1, 2, 4), groups = d$person2)
tell("risks", risks)
for (type in c("hazard", "survival", "incidence", "median")) out(paste0("risks.", type), predict(risks, type = type))
out("risks.incidence_2", predict(risks, d[1:5, ], type = "incidence", cause = "2"))
died <- fit(Surv(stop, cause > 0) ~ x1 + x2, d, breaks = 3)
tell("survival", died)
out("survival.breaks", died$problem$outcome$breaks)
for (type in c("hazard", "survival", "incidence", "median")) out(paste0("survival.", type), predict(died, type = type))

grid <- list(l1 = c(16, 8, 4, 2, 1, 0.5), l2 = c(0, 1), fusion = c(0, 0.5, 2, 8))
choose <- function(...) do.call(cv.fusedlr, c(list(...), grid))
for (name in c("wide", "weighted", "grouped")) {
  cv <- switch(name, wide = choose(x, y, foldid = d$fold), weighted = choose(x, y, weights = d$w, foldid = d$fold),
               grouped = choose(x, d$y1, task = d$year, groups = d$person, foldid = d$person %% 4))
  out(paste0("cv_", name, ".points"), as.matrix(cv$table[c("l1", "l2", "fusion")]))
  out(paste0("cv_", name, ".mean"), cv$table$cvm / 2)
  out(paste0("cv_", name, ".se"), cv$table$cvsd / 2)
  out(paste0("cv_", name, ".se_difference"), cv$table$cvsd_difference / 2)
  out(paste0("cv_", name, ".chosen"), unlist(cv$chosen) - 1)
  out(paste0("cv_", name, ".min"), coef(cv))
  out(paste0("cv_", name, ".1se"), coef(cv, s = "1se"))
}
auc <- choose(x, y, foldid = d$fold, type.measure = "auc")
out("auc.mean", auc$table$cvm)
out("auc.se_difference", auc$table$cvsd_difference)
out("auc.chosen", unlist(auc$chosen) - 1)
repeated <- choose(x, y, weights = d$w, nfolds = 3, repeats = 2)
stopifnot(ncol(repeated$parts) == 6, all(abs(rowSums(repeated$parts)[d$w > 0] - 2) < 1e-12))
by <- choose(x, y, by = "ebic")
for (name in c("df_effective", "aic", "bic", "ebic")) out(paste0("criteria.", name), by$table[[name]])
out("criteria.chosen", unlist(by$chosen) - 1)

# Draws and folds from the uniform numbers of the data.
units <- fit(x, d$y1, task = d$year, groups = d$person)$problem$units
count <- length(units$times)
out("resampling.drawn", fusedlr:::drawn_weights(units, floor(d$u[seq_len(count)] * count), d$v[seq_len(count)]))
for (q in 1:6) for (bound in c("none", "unimodal"))
  out(paste("share", q, bound, sep = "."), fusedlr:::share_needed(q, 12, 1, 60, bound))
})
