"""Dependent tasks of known effects, drawn again and again, to see what intervals and bounds hold."""

import numpy as np
from scipy.stats import norm

FEATURES = 12


def effects(t):
    """Three constant, three changing and six zero features, shape (12, t)."""
    half, true = t // 2, np.zeros((FEATURES, t))
    true[0], true[1], true[2] = 1.0, -0.5, 0.25
    true[3, half:] = 0.8
    true[4], true[4, half:] = 0.6, -0.2
    true[5], true[5, half:] = 0.3, 0.7
    return true


def drawn(seed, n, t, dependence=0.5, X=None):
    """Labels (n, t), and features (n, 12), of correlation 0.5 between neighbours in a fixed mixed order or as given."""
    rng = np.random.default_rng(seed)
    mixed = np.random.default_rng(5).permutation(FEATURES)
    cov = 0.5 ** np.abs(np.subtract.outer(range(FEATURES), range(FEATURES)))
    X = rng.multivariate_normal(np.zeros(FEATURES), cov, size=n)[:, mixed] if X is None else X
    linear = np.linspace(-0.5, 0.5, t) + X @ effects(t)
    shared = np.sqrt(dependence) * rng.normal(size=(n, 1)) + np.sqrt(1 - dependence) * rng.normal(size=(n, t))
    return (norm.cdf(shared) < 1 / (1 + np.exp(-linear))).astype(float), X
