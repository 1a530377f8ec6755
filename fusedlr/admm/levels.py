"""The first level of the ADMM: three updates, two residuals, and when to stop."""

from __future__ import annotations

import numpy as np

from ..matrices import is_sparse
from ..problem import Labels, Penalty, Problem, Solution
from .certificate import certificate, margins_grow, recedes
from .chi_update import InFeatures, InRows
from .residuals import History, Residuals
from .zeta_update import SecondLevel

__all__ = ["Admm", "solve_admm"]

_RELAXATION = 1.6
_SHARE = 0.3  # first rho, as a share of each column's curvature at zero
_BALANCE_EVERY = 20
_BALANCE_UNTIL = 400  # after this many iterations rho is left alone, as the convergence proof wants
_CHECK_EVERY = 100


def solve_admm(problem: Problem, penalty: Penalty, tol: float = 1e-6, max_iter: int = 5000,
               space: str = "auto") -> Solution:
    """Minimise the objective by the paper's two-level ADMM.

    Much slower than ``newton``, with which it shares nothing but the objective: each is
    the other's referee.

    Parameters
    ----------
    problem : problem.Problem
        Its tasks form a chain or a ring; edges may carry weights.
    penalty : problem.Penalty
    tol : float
        Relative duality gap at which to stop. The gap is computed when the residuals
        pass the stopping rule of Boyd et al., which is tightened until the gap agrees.
    max_iter : int
        Limit on first-level iterations.
    space : {"auto", "features", "rows"}
        Variables of Newton's method in the chi-update: the 1 + d coefficients of a task
        or its n rows. "auto" takes the smaller.

    Returns
    -------
    Solution
        ``status`` is "separated" where the fit proves that no minimiser exists, or
        where nothing but differences is penalised, ``max_iter`` was hit and some task's
        margins were all positive and still growing; "optimal" where the gap
        reached ``tol``; else "not_converged". ``history`` holds the residuals of both levels
        (``primal``, ``dual``, ``rho``, ``second_primal``, ``second_dual`` and
        ``second_of``, the first-level iteration that a second-level one belongs to).

    Raises
    ------
    ValueError
        If ``tasks`` is neither a chain nor a ring, features are sparse, or ``space`` is unknown.
    """
    _check_graph(problem.tasks)
    if is_sparse(problem.design.X):
        raise ValueError("method 'admm' takes a dense exog, found a sparse one; use method 'newton', or exog.toarray()")
    if space not in ("auto", "features", "rows"):
        raise ValueError(f"space must be 'auto', 'features' or 'rows', found {space!r}")
    if space == "auto":
        space = "rows" if problem.n_rows < 1 + problem.n_features else "features"
    return Admm(problem, penalty, InRows if space == "rows" else InFeatures).run(tol, max_iter)


class Admm:
    """State of both levels; one method for each update."""

    def __init__(self, problem, penalty, smooth):
        self.problem, self.penalty = problem, penalty
        self.share = _SHARE
        self.curvature = _column_curvature(problem)
        shape = (1 + problem.n_features, problem.n_tasks)
        self.chi, self.zeta, self.xi = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        design, labels, offset = problem.design.columns(np.arange(shape[0])), problem.labels, _offsets(problem)
        self.smooth = [smooth(_rows(design, task.row), task, shift, penalty.l2)
                       for task, shift in zip(_by_task(labels), offset)]
        self.second = SecondLevel(penalty, problem.tasks)
        self.history = History()

    @property
    def rho(self):
        return self.share * self.curvature

    def run(self, tol, max_iter):
        """Iterate until the duality gap is at most ``tol``."""
        eps = np.sqrt(tol) * 0.1
        certificate, margins, accuracy = None, None, eps
        for k in range(1, max_iter + 1):
            residuals = self.step(accuracy)
            accuracy = max(eps, residuals.relative())
            self.history.first(residuals, self.share)
            if residuals.small(eps) or k % _CHECK_EVERY == 0 or k == max_iter:
                previous, certificate = certificate, self.certificate()
                if certificate.gap <= tol:
                    status = "separated" if recedes(self.problem, self.penalty, certificate.params) else "optimal"
                    return self.solution(certificate, status, k)
                margins = (None if previous is None else previous.margins, certificate.margins)
                eps = max(0.3 * eps, 1e-15) if residuals.small(eps) else eps
            if k % _BALANCE_EVERY == 0 and k <= _BALANCE_UNTIL:
                self.balance(residuals)
        certificate = certificate or self.certificate()
        growing = margins is not None and margins_grow(self.problem, self.penalty, *margins)
        status = "separated" if growing or recedes(self.problem, self.penalty, certificate.params) else "not_converged"
        return self.solution(certificate, status, max_iter)

    def step(self, eps):
        """One iteration of the first level: three updates, two residuals.

        The second level stops at a tenth of ``eps``, which shrinks with the residual of this one.
        """
        before = self.zeta
        self.update_chi()
        relaxed = _RELAXATION * self.chi + (1 - _RELAXATION) * before
        self.update_zeta(relaxed, eps)
        self.xi = self.xi + relaxed - self.zeta
        return self.residuals(before)

    def update_chi(self):
        """Minimise loss, ridge and augmented term around zeta - xi, task by task (eq. x-update)."""
        Omega = self.zeta - self.xi
        for j, smooth in enumerate(self.smooth):
            self.chi[:, j] = smooth.minimise(self.chi[:, j], Omega[:, j], self.rho)

    def update_zeta(self, relaxed, eps):
        """Proximal operator of lasso and fusion: shrink towards zero and towards the neighbours (eq. z-update).

        The only step that makes exact zeros and ties: the fit is read off zeta, to
        which chi is merely close.
        """
        Omega_t = (relaxed + self.xi).T
        self.zeta = self.second.minimise(Omega_t, self.rho, eps, self.history).T

    def residuals(self, before):
        """Primal and dual residual, both in the metric of rho so that they compare."""
        root = np.sqrt(self.rho)[:, None]
        primal, dual = root * (self.chi - self.zeta), root * (self.zeta - before)
        scale = max(np.linalg.norm(root * self.chi), np.linalg.norm(root * self.zeta))
        return Residuals(np.linalg.norm(primal), np.linalg.norm(dual), scale, np.linalg.norm(root * self.xi),
                          np.sqrt(primal.size))

    def balance(self, residuals):
        """Residual balancing: move rho so that neither residual lags behind the other."""
        factor = np.clip(residuals.imbalance(), 0.2, 5.0)
        if 0.5 < factor < 2.0:
            return
        self.share *= factor
        self.xi /= factor
        self.second.xi_t /= factor

    def certificate(self):
        """The fit as it stands, and its duality gap from the multipliers of the second level."""
        params = self.second.pattern()
        return certificate(self.problem, self.penalty, params, self.second.pull(self.rho))

    def solution(self, certificate, status, iterations):
        return Solution(certificate.params, certificate.value, certificate.gap, status, iterations,
                        self.history.arrays())


def _by_task(labels):
    """The labels of each task, as labels of one task."""
    return [Labels(np.array([0, part.stop - part.start]), labels.row[part], labels.sign[part], labels.weight[part])
            for part in labels.parts]


def _offsets(problem):
    """Offsets of the labels of each task."""
    shift = problem.design.shift(problem.labels)
    return [shift[part] for part in problem.labels.parts]


def _rows(design, rows):
    """Some rows of the design; the design itself where they are all of them."""
    return design if len(rows) == len(design) else design[rows]


def _column_curvature(problem):
    """Mean over tasks of each column's largest possible curvature of the loss, shape (1 + d,)."""
    total = 0.25 * problem.labels.by_row(problem.labels.weight, problem.n_rows)
    columns = np.concatenate([[total.sum()], total @ problem.design.X**2]) / problem.n_tasks
    return np.where(columns > 0, columns, columns.max())


def _check_graph(tasks):
    """Refuse a graph that is neither chain nor ring."""
    if not (tasks.is_chain or tasks.is_ring):
        raise ValueError(f"method 'admm' takes a chain or a ring of tasks, found {tasks!r}; use method 'newton'")
