"""Simulated instances of the cases: true coefficients, features and labels.

An instance of a case is four neighbouring tasks that share one matrix of features. Every draw has a random stream of
its own, seeded by (seed, case, instance, purpose): no added case, instance or training size changes any other draw.
"""

import numpy as np
from scipy.special import expit

from study.cases import CASES, GROUPS, N_FEATURES, Case

__all__ = ["COPYING", "NOISE", "ROWS", "draw_coefs", "draw_rows", "generator", "r_seed", "simulate"]

N_TASKS = 4
ROWS = {"train": 400, "validation": 1400, "test": 1400}

#: Standard deviation of the noise on a copied feature, under both readings of the paper's N(X_j, 0.4 I).
NOISE = {"sd": 0.4, "variance": 0.4**0.5}

#: When coefficients are copied in a correlated case: before all are drawn, so that the counts of the case hold; or
#: after, as the paper says literally, so that the first part of a full draw is repeated and the counts vary.
COPYING = ("before", "after")

#: What a stream is for. Append only: the position is part of the seed.
PURPOSES = ("coefs", "train", "validation", "test", "adaboost")


def simulate(case: str, instance: int, seed: int, noise: str = "sd", copying: str = "before") -> dict[str, np.ndarray]:
    """Training, validation and test rows of one instance, and the true coefficients.

    ``noise`` is how the paper's 0.4 is read (sd or variance), ``copying`` when coefficients are copied.
    Arrays: ``coefs`` (101, 4), intercepts first; ``X_train`` (400, 100), ``Y_train`` (400, 4) of 0 and 1, likewise
    ``_validation`` and ``_test`` (1400 rows).
    """
    settings = {**CASES, **GROUPS}[case]
    coefs = draw_coefs(settings, generator(seed, case, instance, "coefs"), copying)
    arrays = {"coefs": coefs}
    for part, n_rows in ROWS.items():
        rng = generator(seed, case, instance, part)
        arrays[f"X_{part}"], arrays[f"Y_{part}"] = draw_rows(settings, coefs, n_rows, NOISE[noise], rng)
    return arrays


def generator(seed: int, case: str, instance: int, purpose: str) -> np.random.Generator:
    """The random stream of one purpose of one instance."""
    return np.random.default_rng(_stream(seed, case, instance, purpose))


def r_seed(seed: int, case: str, instance: int, size: int) -> int:
    """The seed handed to R for one training size, below 2**31 as R wants it."""
    return int(_stream(seed, case, instance, "adaboost", size).generate_state(1)[0] >> 1)


def draw_coefs(case: Case, rng: np.random.Generator, copying: str = "before") -> np.ndarray:
    """True coefficients of the four tasks, shape (101, 4), intercepts (all 0) first.

    A correlated case draws half of everything over half of the features and repeats it, so that its counts hold over
    all of them; or it draws all and repeats the first half.
    """
    parts = case.copies if copying == "before" else 1
    n_features, nonzeros, matches = (count // parts for count in (N_FEATURES, case.nonzeros, case.matches))
    values = np.array(case.values)
    tasks = [_first_task(n_features, nonzeros, values, rng)]
    while len(tasks) < N_TASKS:
        tasks.append(_next_task(tasks[-1], matches, values, rng))
    first = np.column_stack(tasks)[:N_FEATURES // case.copies]
    return np.vstack([np.zeros(N_TASKS), np.tile(first, (case.copies, 1))])


def draw_rows(case: Case, coefs: np.ndarray, n_rows: int, noise_sd: float, rng: np.random.Generator) -> tuple:
    """Features (n_rows, 100) and labels (n_rows, 4) of fresh rows.

    In a correlated case, a feature of a later part whose coefficient is non-zero in any task is its counterpart in the
    first part plus noise; the others are left alone.
    """
    X = rng.standard_normal((n_rows, N_FEATURES))
    part = N_FEATURES // case.copies
    relevant = np.flatnonzero(coefs[1:1 + part].any(axis=1))
    for copy in range(1, case.copies):
        X[:, copy * part + relevant] = X[:, relevant] + noise_sd * X[:, copy * part + relevant]
    chance = expit(coefs[0] + X @ coefs[1:])
    return X, (rng.random(chance.shape) < chance).astype(np.int8)


def _stream(seed, case, instance, purpose, *rest):
    # The name of a case is read as a number: a letter as its code, longer names as numbers of several bytes.
    return np.random.SeedSequence(seed, spawn_key=(int.from_bytes(case.encode(), "big"), instance,
                                                   PURPOSES.index(purpose), *rest))


def _first_task(n_features, nonzeros, values, rng):
    task = np.zeros(n_features)
    task[rng.choice(n_features, nonzeros, replace=False)] = rng.choice(values, nonzeros)
    return task


def _next_task(previous, matches, values, rng):
    """Keep some non-zero coefficients of the neighbour and redraw the others, all different from it."""
    support = np.flatnonzero(previous)
    kept = rng.choice(support, matches, replace=False)
    elsewhere = np.setdiff1d(np.arange(previous.size), kept)
    task = np.zeros(previous.size)
    task[kept] = previous[kept]
    for feature in rng.choice(elsewhere, support.size - matches, replace=False):
        task[feature] = rng.choice(values[values != previous[feature]])
    return task
