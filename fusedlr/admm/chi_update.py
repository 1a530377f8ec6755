"""The chi-update: Newton's method for one task, in its coefficients or in its rows."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..objective import pointwise_curvature, pointwise_loss, sigmoid

__all__ = ["InFeatures", "InRows"]

_NEWTON_LIMIT = 50


class _Newton:
    """Newton-Raphson with a line search for the chi-update of one task.

    Subclasses say in which variable it works. The factor of the Hessian is kept between
    calls and renewed when a step fails to cut the gradient tenfold.
    """

    def __init__(self, design, labels, offset, lambda2):
        self.X, self.lambda2 = design, lambda2
        self.Y, self.weights, self.offset = labels.sign.astype(float), labels.weight, offset
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
        """Backtracking by halves until Armijo's condition holds."""
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


class InFeatures(_Newton):
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


class InRows(_Newton):
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
