"""The paper's two-level ADMM for fused elastic-net logistic regression, in the paper's letters.

Mitov and Claassen (arXiv 1312.7750) split the objective into a smooth part f(chi), the
loss and the ridge, and a part with kinks g(zeta), the lasso and the fusion, joined by
chi = zeta. The zeta-update is itself solved by a second ADMM; its letters carry a tilde
in the paper and ``_t`` here.

=============  =====================  ===========================================================
letter         shape                  meaning
=============  =====================  ===========================================================
X              (n, 1 + d)             design with its column of ones
Y              (n, t)                 labels, -1 or +1
lambda1        (1 + d,)               lasso penalty (``l1``), 0 for the intercept
lambda2        (1 + d,)               ridge penalty (``l2``), 0 for the intercept
nu             (1 + d,)               fusion penalty (``fusion``)
chi            (1 + d, t)             coefficients that the smooth part sees
zeta           (1 + d, t)             coefficients that the kinks see: the fit is read off here
xi             (1 + d, t)             multiplier of chi = zeta, divided by rho
rho            (1 + d,)               augmentation of the first level, one number for each row
Omega          (1 + d, t)             zeta - xi in the chi-update, chi + xi in the zeta-update
gamma          (n,)                   n-space variable of the chi-update: chi = h(gamma)
chi_t          (t, 1 + d)             second level: zeta transposed
zeta_t         (edges, 1 + d)         second level: differences between neighbouring tasks
xi_t           (edges, 1 + d)         second level: multiplier of those differences, over rho_t
rho_t          (1 + d,)               augmentation of the second level
=============  =====================  ===========================================================

Where the paper contradicts itself this module follows the reading that makes the
derivation hold: the ridge is lambda2 / 2 * ||b||^2; a chain has t - 1 differences and a
ring t; a task's coordinate step divides by rho + degree * rho_t; Newton's weights are
p (1 - p); the Hessian of phi ends in X~ X~'. Beyond the paper: observation weights,
offsets, weights of edges; rho follows the scale of each column (the paper's bold rho);
over-relaxation and residual balancing (Boyd et al. 2011, sections 3.4.3 and 3.4.1); the
Hessian is kept as long as steps with it cut the gradient quickly.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .objective import (Solution, gap_scale, gradient, linear_predictor, loss_derivatives, objective,
                        pointwise_curvature, pointwise_loss, sigmoid)

__all__ = ["solve_admm"]

_RELAXATION = 1.6
_SHARE = 0.3  # first rho, as a share of each column's curvature at zero
_BALANCE_EVERY = 20
_BALANCE_UNTIL = 400  # after this many iterations rho is left alone, as the convergence proof wants
_CHECK_EVERY = 100
_SECOND_LEVEL_LIMIT = 40
_SWEEP_LIMIT = 30
_NEWTON_LIMIT = 50


def solve_admm(problem, penalty, tol=1e-6, max_iter=5000, space="auto"):
    """Minimise the objective by the paper's two-level ADMM.

    Slow beside ``newton``, with which it shares nothing but the objective: each is the
    other's referee.

    Parameters
    ----------
    problem : problem.Problem
        Its tasks form a chain or a ring; edges may carry weights.
    penalty : objective.Penalty
    tol : float
        Relative duality gap at which to stop. Boyd's stopping rule decides when the
        gap is worth computing, and is tightened until the gap agrees.
    max_iter : int
        Limit on first-level iterations.
    space : {"auto", "features", "rows"}
        Where Newton's method of the chi-update works: in the 1 + d coefficients of a
        task or in its n rows. "auto" takes the smaller.

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
        If ``tasks`` is neither a chain nor a ring, or ``space`` is unknown.
    """
    _check_graph(problem.tasks)
    if space not in ("auto", "features", "rows"):
        raise ValueError(f"space must be 'auto', 'features' or 'rows', found {space!r}")
    if space == "auto":
        space = "rows" if problem.data.n_rows < 1 + problem.data.n_features else "features"
    return _Admm(problem.data, penalty, problem.tasks, _InRows if space == "rows" else _InFeatures).run(tol, max_iter)


class _Admm:
    """State of both levels; one method for each update."""

    def __init__(self, data, penalty, tasks, smooth):
        self.data, self.penalty, self.tasks = data, penalty, tasks
        self.share = _SHARE
        self.curvature = _column_curvature(data)
        shape = (1 + data.n_features, data.n_tasks)
        self.chi, self.zeta, self.xi = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        design = np.column_stack([np.ones(data.n_rows), data.X])
        self.smooth = [smooth(design, data, j, penalty.l2) for j in range(data.n_tasks)]
        self.second = _SecondLevel(penalty, tasks)
        self.history = _History()

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
                    status = "separated" if _recedes(self.data, self.penalty, certificate.params) else "optimal"
                    return self.solution(certificate, status, k)
                margins = (None if previous is None else previous.margins, certificate.margins)
                eps = max(0.3 * eps, 1e-15) if residuals.small(eps) else eps
            if k % _BALANCE_EVERY == 0 and k <= _BALANCE_UNTIL:
                self.balance(residuals)
        certificate = certificate or self.certificate()
        growing = margins is not None and _margins_grow(self.data, self.penalty, *margins)
        status = "separated" if growing or _recedes(self.data, self.penalty, certificate.params) else "not_converged"
        return self.solution(certificate, status, max_iter)

    def step(self, eps):
        """One iteration of the first level: three updates, two residuals.

        The second level stops at a tenth of ``eps``, by and by the residual of this one.
        """
        before = self.zeta
        self.update_chi()
        relaxed = _RELAXATION * self.chi + (1 - _RELAXATION) * before
        self.update_zeta(relaxed, eps)
        self.xi = self.xi + relaxed - self.zeta
        return self.residuals(before)

    def update_chi(self):
        """Fit the loss, the ridge and the closeness to zeta - xi, task by task (eq. x-update)."""
        Omega = self.zeta - self.xi
        for j, smooth in enumerate(self.smooth):
            self.chi[:, j] = smooth.minimise(self.chi[:, j], Omega[:, j], self.rho)

    def update_zeta(self, relaxed, eps):
        """Shrink towards zero and towards the neighbours (eq. z-update).

        The only step that makes exact zeros and ties: the fit is read off zeta, to
        which chi is merely close.
        """
        Omega_t = (relaxed + self.xi).T
        self.zeta = self.second.minimise(Omega_t, self.rho, eps, self.history).T

    def residuals(self, before):
        """Boyd's residuals, both in the metric of rho so that they compare."""
        root = np.sqrt(self.rho)[:, None]
        primal, dual = root * (self.chi - self.zeta), root * (self.zeta - before)
        scale = max(np.linalg.norm(root * self.chi), np.linalg.norm(root * self.zeta))
        return _Residuals(np.linalg.norm(primal), np.linalg.norm(dual), scale, np.linalg.norm(root * self.xi),
                          np.sqrt(primal.size))

    def balance(self, residuals):
        """Move rho so that neither residual lags behind the other."""
        factor = np.clip(residuals.imbalance(), 0.2, 5.0)
        if 0.5 < factor < 2.0:
            return
        self.share *= factor
        self.xi /= factor
        self.second.xi_t /= factor

    def certificate(self):
        """The fit as it stands, and its duality gap from the multipliers of the second level."""
        params = self.second.pattern()
        return _certificate(self.data, self.penalty, self.tasks, params, self.second.pull(self.rho))

    def solution(self, certificate, status, iterations):
        return Solution(certificate.params, certificate.value, certificate.gap, status, iterations, self.history.arrays())


@dataclass(frozen=True)
class _Residuals:
    """Primal and dual residual of one level and what they are measured against."""

    primal: float
    dual: float
    primal_scale: float
    dual_scale: float
    root_size: float

    def small(self, eps):
        """Boyd's stopping rule, ``eps`` being both the absolute and the relative tolerance."""
        return self.relative() <= eps

    def relative(self):
        """The least ``eps`` for which the residuals are small."""
        return max(self.primal / (self.root_size + self.primal_scale), self.dual / (self.root_size + self.dual_scale))

    def imbalance(self):
        """Factor on rho that would make the two relative residuals equal."""
        tiny = np.finfo(float).tiny
        primal = self.primal / max(self.primal_scale, tiny)
        dual = self.dual / max(self.dual_scale, tiny)
        return np.sqrt(max(primal, tiny) / max(dual, tiny))


class _History:
    """Residuals of both levels by iteration."""

    def __init__(self):
        self.first_level, self.second_level = [], []

    def first(self, residuals, share):
        self.first_level.append((residuals.primal, residuals.dual, share))

    def second(self, residuals):
        self.second_level.append((residuals.primal, residuals.dual, len(self.first_level)))

    def arrays(self):
        first = np.array(self.first_level).reshape(-1, 3)
        second = np.array(self.second_level).reshape(-1, 3)
        return {"primal": first[:, 0], "dual": first[:, 1], "rho": first[:, 2], "second_primal": second[:, 0],
                "second_dual": second[:, 1], "second_of": second[:, 2].astype(int)}


class _Newton:
    """Newton-Raphson with a line search for the chi-update of one task.

    Subclasses say in which variable it works. The Hessian's factor is kept from one
    call to the next and renewed when a step fails to cut the gradient tenfold.
    """

    def __init__(self, design, data, j, lambda2):
        self.X, self.lambda2 = design, lambda2
        self.Y, self.weights, self.offset = data.signs[:, j], data.weights[:, j], data.offset[:, j]
        self.rho = self.factor = None

    def minimise(self, chi, Omega, rho):
        """The minimiser of the loss + lambda2 / 2 ||chi||^2 + rho / 2 ||chi - Omega||^2."""
        self.prepare(Omega, rho)
        point = self.start(chi)
        value, slope, curvature, size, scale = self.expand(point)
        for _ in range(_NEWTON_LIMIT):
            if size <= 1e-13 * scale:
                break
            if self.factor is None:
                self.factorise(curvature)
            point, new = self.line_search(point, value, self.direction(slope), slope)
            if new[3] > 0.1 * size:
                self.factor = None
            stuck = new[3] >= size and new[0] >= value
            value, slope, curvature, size, scale = new
            if stuck:
                break
        return self.finish(point)

    def line_search(self, point, value, direction, slope):
        """Halve the step until the value falls by a small share of what the slope promises."""
        promise, length = self.promise(slope, direction), 1.0
        slack = 1e-14 * (1.0 + abs(value))
        while True:
            new = self.expand(point + length * direction)
            if new[0] <= value + 1e-4 * length * promise + slack or length < 1e-8:
                return point + length * direction, new
            length *= 0.5

    def loss(self, linear):
        """Value, first and second derivative of this task's loss in its linear predictor."""
        margin = self.Y * linear
        return (self.weights @ pointwise_loss(margin), -self.weights * self.Y * sigmoid(-margin),
                self.weights * pointwise_curvature(margin))


class _InFeatures(_Newton):
    """The chi-update in the 1 + d coefficients: the Hessian is X'WX + lambda2 + rho."""

    def prepare(self, Omega, rho):
        if self.rho is None or not np.array_equal(rho, self.rho):
            self.rho, self.factor = rho, None
        self.Omega, self.ridge = Omega, self.lambda2 + rho

    def start(self, chi):
        return chi

    def finish(self, point):
        return point

    def expand(self, chi):
        value, delta, curvature = self.loss(self.offset + self.X @ chi)
        away = chi - self.Omega
        value += 0.5 * self.lambda2 @ chi**2 + 0.5 * self.rho @ away**2
        pull, ridge = self.X.T @ delta, self.lambda2 * chi + self.rho * away
        return value, pull + ridge, curvature, np.linalg.norm(pull + ridge), np.linalg.norm(pull) + 1e-3

    def factorise(self, curvature):
        hessian = (self.X.T * curvature) @ self.X
        hessian[np.diag_indices_from(hessian)] += self.ridge
        self.factor = cho_factor(hessian, overwrite_a=True, check_finite=False)

    def direction(self, slope):
        return -cho_solve(self.factor, slope, check_finite=False)

    def promise(self, slope, direction):
        return slope @ direction


class _InRows(_Newton):
    """The chi-update in n-space: minimise phi(gamma) = f~(h(gamma)) (the paper's theorem, appendix).

    With K = X~ X~', X~ = X / sqrt(lambda2 + rho), the gradient of phi is K (delta + gamma)
    and its Hessian K W K + K. A factor K is common to both, so Newton's step solves
    (W K + I) step = -(delta + gamma), which needs no inverse of K and no full row rank.
    """

    def prepare(self, Omega, rho):
        if self.rho is None or not np.array_equal(rho, self.rho):
            self.rho, self.factor, self.ridge = rho, None, self.lambda2 + rho
            self.K = (self.X / self.ridge) @ self.X.T
        self.centre = rho * Omega / self.ridge
        self.base = self.offset + self.X @ self.centre

    def start(self, chi):
        """-delta at the current chi: the gamma that chi would have if it were the minimiser."""
        return -self.loss(self.offset + self.X @ chi)[1]

    def finish(self, gamma):
        """h(gamma), eq. hOfGamma."""
        return self.centre + (self.X.T @ gamma) / self.ridge

    def expand(self, gamma):
        shift = self.K @ gamma
        value, delta, curvature = self.loss(self.base + shift)
        slope = delta + gamma
        return (value + 0.5 * gamma @ shift, slope, curvature, np.linalg.norm(slope),
                np.linalg.norm(delta) + 1e-3)

    def factorise(self, curvature):
        self.root = np.sqrt(curvature)
        inner = self.root[:, None] * self.K * self.root
        inner[np.diag_indices_from(inner)] += 1.0
        self.factor = cho_factor(inner, overwrite_a=True, check_finite=False)

    def direction(self, slope):
        return -slope + self.root * cho_solve(self.factor, self.root * (self.K @ slope), check_finite=False)

    def promise(self, slope, direction):
        return slope @ (self.K @ direction)


class _SecondLevel:
    """The ADMM inside the zeta-update: all features at once, warm-started from the last call."""

    def __init__(self, penalty, tasks):
        self.penalty, self.tasks = penalty, tasks
        t, m, rows = tasks.n_tasks, len(tasks.edges), len(penalty.l1)
        self.chi_t, self.zeta_t, self.xi_t = np.zeros((t, rows)), np.zeros((m, rows)), np.zeros((m, rows))
        self.threshold = tasks.weights[:, None] * penalty.fusion
        self.neighbours = [[k for edge in tasks.edges.tolist() for k in edge if j in edge and k != j] for j in range(t)]
        self.degree = np.array([len(neighbours) for neighbours in self.neighbours], dtype=float)[:, None]

    def minimise(self, Omega_t, rho, eps, history):
        """The zeta-update's minimiser, transposed back by the caller."""
        self.rho_t = rho
        for _ in range(_SECOND_LEVEL_LIMIT):
            before = self.zeta_t
            self.update_chi_t(Omega_t, rho, 0.01 * eps)
            self.update_zeta_t()
            residuals = self.residuals(before)
            history.second(residuals)
            if residuals.small(0.1 * eps):
                break
        return self.chi_t.copy()

    def update_chi_t(self, Omega_t, rho, eps):
        """Cyclic soft-thresholding over the tasks, all features at once (eq. chicirc-column-update)."""
        denominator = rho + self.degree * self.rho_t
        fixed = (rho * Omega_t + self.rho_t * _spread(self.tasks, self.zeta_t - self.xi_t)) / denominator
        kappa, share = self.penalty.l1 / denominator, self.rho_t / denominator
        for _ in range(_SWEEP_LIMIT):
            before = self.chi_t.copy()
            for j, neighbours in enumerate(self.neighbours):
                a = fixed[j] + share[j] * sum(self.chi_t[k] for k in neighbours)
                self.chi_t[j] = _soft(a, kappa[j])
            if np.abs(self.chi_t - before).max() <= eps * (1.0 + np.abs(self.chi_t).max()):
                break

    def update_zeta_t(self):
        """Soft-threshold the differences (eq. zetacirc-update), then move their multiplier."""
        aim = self.differences() + self.xi_t
        self.zeta_t = _soft(aim, self.threshold / self.rho_t)
        self.xi_t = aim - self.zeta_t

    def differences(self):
        """(I - R)' chi_t: the difference along every edge."""
        return self.chi_t[self.tasks.edges[:, 0]] - self.chi_t[self.tasks.edges[:, 1]]

    def residuals(self, before):
        root = np.sqrt(self.rho_t)
        difference = self.differences()
        scale = max(np.linalg.norm(root * difference), np.linalg.norm(root * self.zeta_t))
        return _Residuals(np.linalg.norm(root * (difference - self.zeta_t)),
                          np.linalg.norm(root * (self.zeta_t - before)), scale, np.linalg.norm(root * self.xi_t),
                          np.sqrt(self.chi_t.size))

    def pull(self, rho):
        """Multiplier of each edge, unscaled and shape (edges, 1 + d): never beyond nu * weight."""
        return np.clip(rho * self.xi_t, -self.threshold, self.threshold)

    def pattern(self):
        """The fit with the exact ties and zeros that soft-thresholding made, shape (1 + d, t).

        Where zeta_t is exactly 0 its two tasks are tied; every tied group takes the mean
        of its chi_t, or 0 where one of them is exactly 0. chi_t agrees with that up to the
        residual of the second level, and the duality gap is taken at what is returned
        here, so the step cannot hide a worse objective.
        """
        group = self.tasks.groups((self.zeta_t.T == 0) & (self.penalty.fusion > 0)[:, None])
        cell = group + np.arange(len(group))[:, None] * group.shape[1]
        values, size = self.chi_t.T, cell.size
        total = np.bincount(cell.ravel(), values.ravel(), size)
        count = np.bincount(cell.ravel(), minlength=size)
        zeros = np.bincount(cell.ravel(), (values == 0).ravel(), size)
        mean = np.where(zeros > 0, 0.0, total / np.maximum(count, 1))
        return mean[cell]


def _soft(a, kappa):
    """The soft thresholding operator S_kappa(a)."""
    return np.sign(a) * np.maximum(np.abs(a) - kappa, 0.0)


def _spread(tasks, along):
    """Sum over the edges of each task, with sign, of numbers along them: (edges, 1 + d) to (t, 1 + d)."""
    total = np.zeros((tasks.n_tasks, along.shape[1]))
    np.add.at(total, tasks.edges[:, 0], along)
    np.subtract.at(total, tasks.edges[:, 1], along)
    return total


@dataclass(frozen=True)
class _Certificate:
    """A fit, its objective, its relative duality gap and its margins."""

    params: np.ndarray
    value: float
    gap: float
    margins: np.ndarray


def _certificate(data, penalty, tasks, params, pull):
    """Judge a fit by the multipliers of the second level, a split of the penalty's slopes.

    With v = ``pull`` on the edges, the slopes C = [1, X]'r of a dual point r are
    bounded row by row: what v and lambda1 cannot carry is paid for by the ridge; a row
    without ridge scales r down; a row without either needs equality, for which r is
    moved within its weights.
    """
    linear = linear_predictor(data, params)
    value = objective(data, params, penalty, tasks)
    carried = _spread(tasks, pull).T
    dual = max(_dual_value(data, penalty, carried, params, linear), 0.0)
    return _Certificate(params, value, (value - dual) / gap_scale(data, value), data.signs * linear)


def _dual_value(data, penalty, carried, params, linear):
    """Lower bound on the minimum, -inf where the rows without penalty cannot be met."""
    a, missed = _meet_free_rows(data, penalty, carried, linear)
    if a.min() < 0 or a.max() > 1:
        return -np.inf
    slopes = gradient(data, data.weights * data.signs * a)
    lasso = (penalty.l2 == 0) & (penalty.l1 > 0)
    excess = np.abs(slopes - carried)[lasso] / penalty.l1[lasso, None]
    a = a / max(1.0, excess.max(initial=0.0))
    entropy = -_xlogx(a) - _xlogx(1.0 - a)
    ridge = penalty.l2 > 0
    rest = _soft(gradient(data, data.weights * data.signs * a)[ridge] - carried[ridge], penalty.l1[ridge, None])
    # Where free rows are met but for ``missed``, weak duality at any B loses at most sum(missed * |B|). The bound below
    # therefore holds against every B with |B| <= 10 (1 + |params|) and is no proof beyond; it decides when to stop, and
    # the referee's gap, which needs no such limit, is what a result reports.
    paid = np.sum(rest**2, axis=1) @ (0.5 / penalty.l2[ridge]) + 10.0 * np.sum(missed * (1.0 + np.abs(params)))
    return float(np.sum(data.weights * (entropy - a * data.signs * data.offset)) - paid)


def _meet_free_rows(data, penalty, carried, linear):
    """Dual point near the fitted one whose slopes equal ``carried`` in rows without penalty.

    Also by how much they still differ, shape (1 + d, t): rounding, but in a task without
    labels, whose slopes are 0, it is the residual of the second level.
    """
    free = np.flatnonzero((penalty.l1 == 0) & (penalty.l2 == 0))
    columns = np.column_stack([np.ones(data.n_rows), data.X[:, free[1:] - 1]])
    residual, curvature = loss_derivatives(data, linear)
    r, missed = -residual, np.zeros_like(carried)
    for j in range(data.n_tasks):
        weighted = columns * curvature[:, [j]]
        normal = columns.T @ weighted
        for _ in range(2):
            miss = columns.T @ r[:, j] - carried[free, j]
            r[:, j] -= weighted @ np.linalg.lstsq(normal, miss, rcond=None)[0]
        missed[free, j] = np.abs(columns.T @ r[:, j] - carried[free, j])
    return np.divide(r, data.weights * data.signs, out=np.zeros_like(r), where=data.weights > 0), missed


def _xlogx(a):
    return a * np.log(np.where(a > 0, a, 1.0))


def _recedes(data, penalty, params):
    """Whether the fit itself proves that there is no minimiser.

    It does where its penalty-free part, rows without lasso and ridge and the same in
    all tasks where fused, misclassifies nothing: moving along it lowers the loss
    for ever and costs no penalty.
    """
    free = ((penalty.l1 == 0) & (penalty.l2 == 0))[:, None]
    fused = (penalty.fusion > 0)[:, None]
    alone = np.where(free & ~fused, params, 0.0)
    common = np.where(free & fused, params.mean(axis=1, keepdims=True), alone)
    one_task, all_tasks = (np.where(data.weights > 0, data.signs * (b[0] + data.X @ b[1:]), 0.0)
                           for b in (alone, common))
    return bool(((one_task >= 0).all(axis=0) & (one_task > 0).any(axis=0)).any()
                or ((all_tasks >= 0).all() and (all_tasks > 0).any()))


def _margins_grow(data, penalty, before, now):
    """Whether nothing is penalised but differences, and some task's margins are positive and still growing."""
    if before is None or penalty.l1.any() or penalty.l2.any():
        return False
    before, now = (np.where(data.weights > 0, m, np.inf).min(axis=0) for m in (before, now))
    return bool(((now > 0) & (now > before) & np.isfinite(now)).any())


def _column_curvature(data):
    """Mean over tasks of each column's largest possible curvature of the loss, shape (1 + d,)."""
    total = 0.25 * data.weights.sum(axis=1)
    columns = np.concatenate([[total.sum()], total @ data.X**2]) / data.n_tasks
    return np.where(columns > 0, columns, columns.max())


def _check_graph(tasks):
    """Refuse a graph that is neither chain nor ring."""
    if not (tasks.is_chain or tasks.is_ring):
        raise ValueError(f"method 'admm' takes a chain or a ring of tasks, found {tasks!r}; use method 'newton'")
