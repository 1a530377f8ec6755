"""Coefficients by R's ``glmnet`` and ``glm`` in the special cases where they solve the same problem.

Fused logistic regression is exactly a plain elastic net in three special cases:

- ``elastic_net``: no fusion, every task by itself;
- ``pooled``: fusion so strong that all tasks share their coefficients;
- ``fused_only``: a chain with fusion and nothing else, where the differences between
  neighbours become the coefficients of an L1 fit.

``unpenalized`` is R's ``glm``, for data without separation. All take ``Problem`` and
``Penalty`` of ``fusedlr.problem`` and return coefficients (1 + d, t), intercepts first.
glmnet divides the loss by the sum of the weights W and rescales its penalty factors to a
mean of 1, so its lambda is the mean of our l1 + l2 over columns, divided by W.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusedlr.matrices import is_sparse
from fusedlr.objective import objective
from fusedlr.problem import Penalty, Problem
from fusedlr.r import session

__all__ = ["agreement", "elastic_net", "fused_only", "pooled", "unpenalized"]

# Warm starts along a path of lambdas lead glmnet's coordinate descent to the target; its early stops are switched off.
# From version 5 on glmnet takes thresh and maxit inside of control.
_GLMNET = """
function(x, y, weights, offset, penalties, alpha) {
    old <- glmnet::glmnet.control()
    on.exit(do.call(glmnet::glmnet.control, old))
    glmnet::glmnet.control(fdev = 0, devmax = 1)
    settings <- list(thresh = 1e-22, maxit = 1e7)
    if ("control" %in% names(formals(glmnet::glmnet))) settings <- list(control = settings)
    target <- mean(penalties) / sum(weights)
    fit <- do.call(glmnet::glmnet, c(list(
        x, as.vector(y), "binomial", weights = as.vector(weights), offset = as.vector(offset), alpha = alpha,
        lambda = target * 2^(12:0), standardize = FALSE,
        penalty.factor = as.vector(penalties) / mean(penalties)), settings))
    if (length(fit$lambda) < 13L) stop("glmnet ended its path of penalties early")
    c(fit$a0[13L], as.matrix(fit$beta)[, 13L])
}
"""

# quasibinomial() takes non-integer weights without a warning; renamed to binomial it keeps glm's warning about
# separation.
_GLM = """
function(x, y, weights, offset) {
    family <- stats::quasibinomial()
    family$family <- "binomial"
    fit <- stats::glm.fit(cbind(1, x), as.vector(y), weights = as.vector(weights), offset = as.vector(offset),
                          family = family, control = list(epsilon = 1e-14, maxit = 200))
    as.vector(fit$coefficients)
}
"""


def elastic_net(problem: Problem, penalty: Penalty) -> np.ndarray:
    """Coefficients of each task by itself, by glm where l1 and l2 are 0; ``penalty.fusion`` must be 0.

    Parameters
    ----------
    problem : problem.Problem
    penalty : problem.Penalty
        l1 and l2 may differ between features by a common factor, glmnet's penalty factor, once each feature is divided
        by ``problem.scale``.

    Returns
    -------
    ndarray, shape (1 + d, t)
    """
    _check_rows(problem, penalty)
    if penalty.fusion.any():
        raise ValueError("fusion must be 0: glmnet fits every task by itself")
    if not (penalty.l1.any() or penalty.l2.any()):
        return unpenalized(problem)
    problem, total, alpha, unit = _standardized(problem, penalty)
    return np.column_stack([_call(_GLMNET, problem, problem.design.X[problem.labels.row[part]], part,
                                  penalties=total, alpha=alpha) for part in problem.labels.parts]) / unit


def pooled(problem: Problem, penalty: Penalty) -> np.ndarray:
    """Coefficients that all tasks share, the limit of strong fusion over a connected graph.

    Intercepts are shared too, unless ``penalty.fusion[0]`` is 0: then each task has its own.
    """
    _check_rows(problem, penalty)
    n_tasks, d = problem.n_tasks, problem.n_features
    problem, total, alpha, unit = _standardized(problem, penalty)
    steps = _steps(problem)[:, 1:] if penalty.fusion[0] == 0 else np.empty((problem.labels.size, 0))
    X = np.hstack([problem.design.X[problem.labels.row], steps])
    fit = _call(_GLMNET, problem, X, penalties=np.append(n_tasks * total, np.zeros(steps.shape[1])), alpha=alpha)
    coefs, moves = fit[1:1 + d], fit[1 + d:]
    intercepts = fit[0] + np.append(0, np.cumsum(moves)) if moves.size else np.repeat(fit[0], n_tasks)
    return np.vstack([intercepts, np.repeat(coefs[:, None], n_tasks, axis=1)]) / unit


def fused_only(problem: Problem, penalty: Penalty) -> np.ndarray:
    """Coefficients along a chain of tasks, whose edges may have weights, with fusion alone; l1 and l2 must be 0."""
    _check_rows(problem, penalty)
    if penalty.l1.any() or penalty.l2.any() or not problem.tasks.is_chain:
        raise ValueError("l1 and l2 must be 0 and tasks a chain: only then are differences glmnet's coefficients")
    rows = problem.design.columns(np.arange(1 + problem.n_features), problem.labels.row)
    blocks = [rows * step[:, None] for step in _steps(problem).T]
    penalties = [np.zeros(rows.shape[1]), *(penalty.fusion * weight for weight in problem.tasks.weights)]
    # The first column, all ones, is glmnet's own intercept.
    fit = _call(_GLMNET, problem, np.hstack(blocks)[:, 1:], penalties=np.concatenate(penalties)[1:], alpha=1.0)
    return np.cumsum(fit.reshape(problem.n_tasks, -1), axis=0).T


def unpenalized(problem: Problem) -> np.ndarray:
    """Coefficients of each task by R's ``glm``; it warns in R's words where the data are separated."""
    _check_dense(problem)
    return np.column_stack([_call(_GLM, problem, problem.design.X[problem.labels.row[part]], part)
                            for part in problem.labels.parts])


def agreement(problem: Problem, penalty: Penalty, params: np.ndarray) -> dict[str, float]:
    """Differences of coefficients without fusion from R's.

    Parameters
    ----------
    problem : problem.Problem
    penalty : problem.Penalty
        ``fusion`` must be 0.
    params : ndarray, shape (1 + d, t)
        In the order of ``problem``, like ``solution.params`` of a result. A DataFrame is refused: ``problem`` has no
        names to find its rows and columns by.

    Returns
    -------
    dict
        "max_coef_difference", the largest absolute difference of a coefficient or
        intercept, and "objective_difference", our objective minus R's: negative where
        ours is the lower.
    """
    _check_params(problem, params)
    theirs = elastic_net(problem, penalty)
    ours, other = (objective(problem, each, penalty) for each in (params, theirs))
    return {"max_coef_difference": float(np.abs(params - theirs).max()), "objective_difference": ours - other}


def _check_dense(problem):
    if is_sparse(problem.design.X):
        raise ValueError("problem must have dense features to be handed to R, found sparse ones; build it from "
                         "exog.toarray()")


def _check_rows(problem, penalty):
    _check_dense(problem)
    if penalty.l1.size != 1 + problem.n_features:
        raise ValueError(f"penalty must have {1 + problem.n_features} rows, one for the intercept and one for each "
                         f"feature of the problem, found {penalty.l1.size}")


def _check_params(problem, params):
    if hasattr(params, "columns"):
        raise TypeError("params must be an array in the order of problem, found a DataFrame: give "
                        "result.solution.params with model.problem")
    if np.shape(params) != (1 + problem.n_features, problem.n_tasks):
        raise ValueError(f"params must have shape {(1 + problem.n_features, problem.n_tasks)}, intercepts first, found "
                         f"{np.shape(params)}")


def _call(function, problem, X, part=slice(None), **more):
    """Value of an R function on some labels and their features."""
    labels = problem.labels
    packages = ["glmnet"] if more else []
    return session.call(function, packages=packages, x=X, y=labels.yes[part].astype(float),
                        weights=labels.weight[part], offset=problem.design.shift(labels)[part], **more)


def _steps(problem):
    """Step functions over the tasks of all labels, one column for each task: 1 from that task on."""
    return (problem.labels.task[:, None] >= np.arange(problem.n_tasks)).astype(float)


def _standardized(problem, penalty):
    """The same problem with features divided by their scale, l1 + l2 of each, glmnet's alpha, and units of params.

    Standardizing multiplies l1 by the scale and l2 by its square; divided by it, features have one alpha.
    """
    total, alpha = _mixture(penalty.l1[1:] / problem.scale, penalty.l2[1:] / problem.scale**2)
    design = replace(problem.design, X=problem.design.X / problem.scale)
    return replace(problem, design=design), total, alpha, np.append(1.0, problem.scale)[:, None]


def _mixture(l1, l2):
    """l1 + l2 of every feature, and glmnet's alpha."""
    total = l1 + l2
    if not total.any():
        raise ValueError("l1 and l2 must not both be 0")
    alpha = l1.sum() / total.sum()
    if not np.allclose(l1, alpha * total, rtol=1e-12, atol=0):
        raise ValueError("l1 and l2 must be in the same proportion for every feature: glmnet has one alpha")
    return total, float(alpha)
