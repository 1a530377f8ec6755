"""The zeta-update: the ADMM's second level."""

import numpy as np

from .residuals import Residuals

__all__ = ["SecondLevel", "soft", "sum_at_tasks"]

_SECOND_LEVEL_LIMIT = 40
_SWEEP_LIMIT = 30


class SecondLevel:
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
        """Coordinate descent by soft-thresholding, task by task, all features at once (eq. chicirc-column-update)."""
        denominator = rho + self.degree * self.rho_t
        fixed = (rho * Omega_t + self.rho_t * sum_at_tasks(self.tasks, self.zeta_t - self.xi_t)) / denominator
        kappa, share = self.penalty.l1 / denominator, self.rho_t / denominator
        for _ in range(_SWEEP_LIMIT):
            before = self.chi_t.copy()
            for j, neighbours in enumerate(self.neighbours):
                a = fixed[j] + share[j] * sum(self.chi_t[k] for k in neighbours)
                self.chi_t[j] = soft(a, kappa[j])
            if np.abs(self.chi_t - before).max() <= eps * (1.0 + np.abs(self.chi_t).max()):
                break

    def update_zeta_t(self):
        """Soft-threshold the differences (eq. zetacirc-update), then move their multiplier."""
        aim = self.differences() + self.xi_t
        self.zeta_t = soft(aim, self.threshold / self.rho_t)
        self.xi_t = aim - self.zeta_t

    def differences(self):
        """(I - R)' chi_t: the difference along every edge."""
        return self.chi_t[self.tasks.edges[:, 0]] - self.chi_t[self.tasks.edges[:, 1]]

    def residuals(self, before):
        root = np.sqrt(self.rho_t)
        difference = self.differences()
        scale = max(np.linalg.norm(root * difference), np.linalg.norm(root * self.zeta_t))
        return Residuals(np.linalg.norm(root * (difference - self.zeta_t)),
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


def soft(a, kappa):
    """The soft thresholding operator S_kappa(a)."""
    return np.sign(a) * np.maximum(np.abs(a) - kappa, 0.0)


def sum_at_tasks(tasks, along):
    """Sum over the edges of each task, with sign, of numbers along them: (edges, 1 + d) to (t, 1 + d)."""
    total = np.zeros((tasks.n_tasks, along.shape[1]))
    np.add.at(total, tasks.edges[:, 0], along)
    np.subtract.at(total, tasks.edges[:, 1], along)
    return total
