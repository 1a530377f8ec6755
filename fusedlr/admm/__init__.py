"""The paper's two-level ADMM for fused elastic-net logistic regression, in the paper's letters.

Mitov and Claassen (arXiv 1312.7750) split the objective into a smooth part f(chi), the
loss and the ridge, and a non-smooth part g(zeta), the lasso and the fusion, joined by
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
chi            (1 + d, t)             coefficients in the smooth part
zeta           (1 + d, t)             coefficients in the non-smooth part: the fit is read off here
xi             (1 + d, t)             scaled dual variable: multiplier of chi = zeta over rho
rho            (1 + d,)               augmented Lagrangian's parameter, first level, by row
Omega          (1 + d, t)             zeta - xi in the chi-update, chi + xi in the zeta-update
gamma          (n,)                   n-space variable of the chi-update: chi = h(gamma)
chi_t          (t, 1 + d)             second level: zeta transposed
zeta_t         (edges, 1 + d)         second level: differences between neighbouring tasks
xi_t           (edges, 1 + d)         second level: multiplier of those differences, over rho_t
rho_t          (1 + d,)               augmented Lagrangian's parameter, second level
=============  =====================  ===========================================================

Where the paper contradicts itself this package follows the reading that makes the
derivation hold: the ridge is lambda2 / 2 * ||b||^2; a chain has t - 1 differences and a
ring t; a task's coordinate step divides by rho + degree * rho_t; Newton's weights are
p (1 - p); the Hessian of phi ends in X~ X~'. Beyond the paper: observation weights,
offsets, weights of edges; rho follows the scale of each column (the paper's bold rho);
over-relaxation and residual balancing (Boyd et al. 2011, sections 3.4.3 and 3.4.1); the
Hessian is kept as long as steps with it cut the gradient quickly.
"""

from .levels import solve_admm

__all__ = ["solve_admm"]
