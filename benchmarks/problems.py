"""Data that the parts are timed on."""

import warnings
from itertools import product

import numpy as np

from fusedlr import FusedLogit, FusedLogitWarning
from study.models import L1, L2
from study.simulate import simulate

__all__ = ["SIZES", "elastic_net_points", "random_model", "shares_of_limit", "study_model", "without_warnings"]

SIZES = (25, 50, 100, 200, 400)

#: First instance of a case whose first 25 rows hold at least 8 labels of each class in every task, which glmnet wants.
INSTANCES = {"b": 1, "c": 1, "d": 1, "h": 1}
SEED = 1


def study_model(size, case="d"):
    """The model of one training size of an instance of the study: 100 features, 4 tasks in a chain."""
    data = simulate(case, INSTANCES[case], SEED)
    return FusedLogit(data["Y_train"][:size], data["X_train"][:size], standardize=False, fuse_intercepts=True)


def elastic_net_points():
    """The study's points without fusion, shape (76, 3); nothing but the unpenalized one is left out.

    It has no finite minimiser where data are separated, so that accuracy is undefined there.
    """
    return np.array([(l1, l2, 0.0) for l1, l2 in product(L1, L2) if l1 + l2 > 0])


def random_model(n_rows, n_features, n_tasks, seed=1):
    """A model with ten features that matter, whose coefficients drift slowly from task to task."""
    rng = np.random.default_rng([seed, n_rows, n_features, n_tasks])
    X = rng.standard_normal((n_rows, n_features))
    relevant = min(10, n_features)
    coefs = rng.choice([-1.0, 1.0], relevant)[:, None] + 0.2 * rng.standard_normal((relevant, n_tasks)).cumsum(axis=1)
    chance = 1 / (1 + np.exp(-X[:, :relevant] @ coefs))
    return FusedLogit((rng.random(chance.shape) < chance).astype(float), X, standardize=False, fuse_intercepts=True)


def shares_of_limit(model, share=0.2):
    """Penalties that scale with the problem: l1 a share of the least one with empty support, fusion half of l1."""
    yes = model.endog.to_numpy()
    limit = np.abs(model.problem.design.X.T @ (yes - yes.mean(axis=0))).max()
    l1 = float(share * limit)
    return {"l1": l1, "l2": 0.1 * l1, "fusion": 0.5 * l1}


def without_warnings(function, *args, **kwargs):
    """Call a fit whose status is looked at here, so that its warnings need not be shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)
        return function(*args, **kwargs)


def penalty_at(model, point):
    """The penalty of one (l1, l2, fusion)."""
    return model.penalty_by_row(*point)
