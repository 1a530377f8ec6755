"""Coefficients by R's ``glmnet`` and ``glm`` in the corners where they solve the same problem.

Fused logistic regression meets a plain elastic net in three corners, each exactly:

- ``elastic_net``: no fusion, every task by itself;
- ``pooled``: fusion so strong that all tasks share their coefficients;
- ``fused_only``: a chain with fusion and nothing else, where the differences between
  neighbours become the coefficients of an L1 fit.

``unpenalized`` is R's ``glm``, for data that no plane separates. All take ``Data`` and
``Penalty`` of ``fusedlr.objective`` and return coefficients (1 + d, t) in the units of ``data``,
intercepts first. glmnet divides the loss by the sum of the weights W and rescales its
penalty factors to a mean of 1, so its lambda is the mean of our l1 + l2 over columns,
divided by W.
"""

from __future__ import annotations

import numpy as np

from fusedlr import objective
from fusedlr.objective import Data, Penalty
from fusedlr.r import session
from fusedlr.tasks import TaskGraph

__all__ = ["agreement", "elastic_net", "fused_only", "pooled", "unpenalized"]

# The path of lambdas leads glmnet's coordinate descent to the target by small steps; its early stops are switched off.
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

# The quasi family takes weights that are not whole numbers without a word; under the name of the binomial one it keeps
# glm's warning about separated data.
_GLM = """
function(x, y, weights, offset) {
    family <- stats::quasibinomial()
    family$family <- "binomial"
    fit <- stats::glm.fit(cbind(1, x), as.vector(y), weights = as.vector(weights), offset = as.vector(offset),
                          family = family, control = list(epsilon = 1e-14, maxit = 200))
    as.vector(fit$coefficients)
}
"""


def elastic_net(data: Data, penalty: Penalty) -> np.ndarray:
    """Coefficients of each task by itself; ``penalty.fusion`` must be 0, and so it is glm without l1 and l2.

    Parameters
    ----------
    data : objective.Data
    penalty : objective.Penalty
        l1 and l2 may differ between features by a common factor, glmnet's penalty factor.

    Returns
    -------
    ndarray, shape (1 + d, t)
    """
    _check_rows(data, penalty)
    if penalty.fusion.any():
        raise ValueError("fusion must be 0: glmnet fits every task by itself")
    if not (penalty.l1.any() or penalty.l2.any()):
        return unpenalized(data)
    total, alpha = _mixture(penalty)
    return np.column_stack([_glmnet(data.X, _task(data, k), total, alpha) for k in range(data.n_tasks)])


def pooled(data: Data, penalty: Penalty) -> np.ndarray:
    """Coefficients that all tasks share, the limit of strong fusion over a connected graph.

    Intercepts are shared too, unless ``penalty.fusion[0]`` is 0: then each task has its own.
    """
    _check_rows(data, penalty)
    n_tasks = data.n_tasks
    total, alpha = _mixture(penalty)
    steps = _steps(data)[:, 1:] if penalty.fusion[0] == 0 else np.empty((data.signs.size, 0))
    X = np.hstack([np.tile(data.X, (n_tasks, 1)), steps])
    penalties = np.append(n_tasks * total, np.zeros(steps.shape[1]))
    fit = _glmnet(X, _stacked(data), penalties, alpha)
    coefs, moves = fit[1:1 + data.n_features], fit[1 + data.n_features:]
    intercepts = fit[0] + np.append(0, np.cumsum(moves)) if moves.size else np.repeat(fit[0], n_tasks)
    return np.vstack([intercepts, np.repeat(coefs[:, None], n_tasks, axis=1)])


def fused_only(data: Data, penalty: Penalty, tasks: TaskGraph | None = None) -> np.ndarray:
    """Coefficients along a chain of tasks with fusion alone; l1 and l2 must be 0.

    ``tasks`` is a chain whose edges may have weights; all 1 where left out.
    """
    _check_rows(data, penalty)
    tasks = TaskGraph.chain(data.n_tasks) if tasks is None else tasks
    if tasks.n_tasks != data.n_tasks:
        raise ValueError(f"tasks is a TaskGraph of {tasks.n_tasks} tasks, but data has {data.n_tasks}")
    if penalty.l1.any() or penalty.l2.any() or not tasks.is_chain:
        raise ValueError("l1 and l2 must be 0 and tasks a chain: only then are differences glmnet's coefficients")
    steps = _steps(data)
    rows = np.hstack([np.ones((data.n_rows, 1)), data.X])
    blocks = [np.tile(rows, (data.n_tasks, 1)) * step[:, None] for step in steps.T]
    penalties = [np.zeros(rows.shape[1]), *(penalty.fusion * weight for weight in tasks.weights)]
    # The first column, all ones, is glmnet's own intercept.
    fit = _glmnet(np.hstack(blocks)[:, 1:], _stacked(data), np.concatenate(penalties)[1:], 1.0)
    return np.cumsum(fit.reshape(data.n_tasks, -1), axis=0).T


def unpenalized(data: Data) -> np.ndarray:
    """Coefficients of each task by R's ``glm``; it warns in R's words where the data are separated."""
    fits = []
    for k in range(data.n_tasks):
        y, weights, offset = _task(data, k)
        seen = weights > 0
        fits.append(session.call(_GLM, x=data.X[seen], y=y[seen], weights=weights[seen], offset=offset[seen]))
    return np.column_stack(fits)


def agreement(data: Data, penalty: Penalty, params: np.ndarray) -> dict[str, float]:
    """How far coefficients without fusion are from R's.

    Parameters
    ----------
    data : objective.Data
    penalty : objective.Penalty
        ``fusion`` must be 0.
    params : ndarray, shape (1 + d, t)
        On the scale of ``data`` and in its order, like ``solution.params`` of a result. A DataFrame is refused:
        ``data`` has no names to find its rows and columns by.

    Returns
    -------
    dict
        "max_coef_difference", the largest absolute difference of a coefficient or
        intercept, and "objective_difference", our objective minus R's: negative where
        ours is the lower.
    """
    _check_params(data, params)
    theirs = elastic_net(data, penalty)
    tasks = TaskGraph.chain(data.n_tasks)
    ours, other = (objective.objective(data, each, penalty, tasks) for each in (params, theirs))
    return {"max_coef_difference": float(np.abs(params - theirs).max()), "objective_difference": ours - other}


def _check_rows(data, penalty):
    if penalty.l1.size != 1 + data.n_features:
        raise ValueError(f"penalty must have {1 + data.n_features} rows, one for the intercept and one for each "
                         f"feature of data, found {penalty.l1.size}")


def _check_params(data, params):
    if hasattr(params, "columns"):
        raise TypeError("params must be an array in the order and on the scale of data, found a DataFrame: give "
                        "result.solution.params with model.data")
    if np.shape(params) != (1 + data.n_features, data.n_tasks):
        raise ValueError(f"params must have shape {(1 + data.n_features, data.n_tasks)}, intercepts first, found "
                         f"{np.shape(params)}")


def _glmnet(X, observed, penalties, alpha):
    y, weights, offset = observed
    seen = weights > 0
    return session.call(_GLMNET, packages=["glmnet"], x=X[seen], y=y[seen], weights=weights[seen], offset=offset[seen],
                        penalties=penalties, alpha=alpha)


def _task(data, k):
    return (data.signs[:, k] > 0).astype(float), data.weights[:, k], data.offset[:, k]


def _stacked(data):
    """Labels, weights and offsets of all tasks, one task below the other."""
    return ((data.signs > 0).astype(float).ravel(order="F"), data.weights.ravel(order="F"),
            data.offset.ravel(order="F"))


def _steps(data):
    """For stacked rows, one column for each task: 1 from that task on."""
    return np.repeat(np.tril(np.ones((data.n_tasks, data.n_tasks))), data.n_rows, axis=0)


def _mixture(penalty):
    """l1 + l2 of every feature, and glmnet's alpha."""
    l1, l2 = penalty.l1[1:], penalty.l2[1:]
    total = l1 + l2
    if not total.any():
        raise ValueError("l1 and l2 must not both be 0")
    alpha = l1.sum() / total.sum()
    if not np.allclose(l1, alpha * total, rtol=1e-12, atol=0):
        raise ValueError("l1 and l2 must be in the same proportion for every feature: glmnet has one alpha")
    return total, float(alpha)
