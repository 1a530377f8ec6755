"""Made-up scores in which every claim of the paper is true, for tests to bend."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from study.cases import CASES, GROUPS
from study.claims.claim_03_little_help import LITTLE_HELP
from study.evidence import SIZES
from study.models import MODELS, STAND_INS
from study.scores import COLUMNS

SINGLE_TASK_EXTRA = {"elastic_net": 0.0, "adaboost": 0.01, "unpenalized": 0.05}


def scores_of_a_true_paper(instances=20, seed=1):
    """Scores of all cases and sizes, the paper's claims built in."""
    rng = np.random.default_rng(seed)
    rows = []
    for case, instance, size in product(CASES, range(1, instances + 1), SIZES):
        luck = rng.normal(0, 0.002)
        for model in MODELS:
            rows.append({"case": case, "instance": instance, "size": size, "model": model, "bayes_risk": 0.05 + luck,
                         "test_error": 0.05 + luck + _excess(case, size, model) + rng.normal(0, 0.0005),
                         **_fit(case, size, model, rng)})
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def _excess(case, size, model):
    gain = 0.002 if (case, size) in LITTLE_HELP else {100: 0.04, 200: 0.04, 400: 0.015}.get(size, 0.02)
    gain = 0.001 if case in "gh" and size == 400 else gain
    fused = 0.5 / np.sqrt(size) - 0.02
    if case in "gh" and size == 400:
        fused = 0.01
    if model == "fused_elastic_net":
        return fused
    if model == "fused_l1":
        return fused + (0.001 if case in "bf" else 0.0)
    return fused + gain + SINGLE_TASK_EXTRA[model]


def _fit(case, size, model, rng):
    if model == "adaboost":
        return {"status": "boosted", "seconds": size / 30, "one_class_tasks": 0, "by": "ada"}
    little = (case, size) in LITTLE_HELP or case in "gh" and size == 400
    far = 0.02 if model == "elastic_net" else 0.01 if model != "unpenalized" else 0.05
    return {"l1": 0.4, "l2": float(rng.choice([0, 0, 0.05, 0.4])) if model == "fused_elastic_net" else 0.0,
            "fusion": float(rng.choice([0.2, 0.4, 1.0])) if model.startswith("fused") and not little else 0.0,
            "validation_error": 0.1,
            "gap": 1e-9, "status": "optimal", "seconds": 1.0, "ties": 3, "l2_smallest_tied": 0.0,
            "l2_largest_tied": 0.05,
            **_distances(far, size, rng), "one_class_tasks": 0,
            "pairs_whole": (0.8 if model == "fused_elastic_net" else 0.5) + rng.normal(0, 0.01)}


def _distances(far, size, rng):
    zero, nonzero = far + rng.normal(0, 0.001), 3 / size + rng.normal(0, 0.001)
    return {"distance_zero": zero, "distance_nonzero": nonzero, "distance_zero_by_task": zero,
            "distance_nonzero_by_task": nonzero}


def readings_of(scores):
    """The same scores for the models of other readings."""
    pairs = [(place, model.name) for places in STAND_INS.values() for place, model in places.items()]
    return pd.concat([scores[scores["model"] == place].assign(model=name) for place, name in pairs], ignore_index=True)


def groups_of_a_true_paper(instances=20, seed=2):
    """Scores of the experiment on groups, in which the gain of l2 grows with the group."""
    rng, rows = np.random.default_rng(seed), []
    for case, instance, size in product(GROUPS, range(1, instances + 1), (50, 100, 200)):
        error = 0.2 + rng.normal(0, 0.01)
        for model, extra in (("fused_elastic_net", 0.0), ("fused_l1", 0.002 * GROUPS[case].copies),
                             ("elastic_net", 0.05)):
            rows.append({"case": case, "instance": instance, "size": size, "model": model, "l2": 0.1,
                         "bayes_risk": 0.1, "test_error": error + extra + rng.normal(0, 0.001)})
    scores = pd.DataFrame(rows).reindex(columns=COLUMNS)
    return pd.concat([scores, readings_of(scores)], ignore_index=True)


@pytest.fixture(scope="session")
def make_groups():
    """Function that makes up scores of the experiment on groups."""
    return groups_of_a_true_paper


@pytest.fixture(scope="session")
def groups():
    return groups_of_a_true_paper()


@pytest.fixture(scope="session")
def make_readings():
    """Function that gives the models of other readings the scores of those whose place they take."""
    return readings_of


@pytest.fixture(scope="session")
def make_scores():
    """Function that makes up scores for a number of instances."""
    return scores_of_a_true_paper


@pytest.fixture(scope="session")
def scores():
    return scores_of_a_true_paper()


@pytest.fixture(scope="session")
def admm():
    """Seconds of ADMM and of Newton's method."""
    return pd.DataFrame({"case": list(CASES), "l1": 0.4, "l2": 0.1, "fusion": 0.2, "admm": 0.2, "newton": 0.001,
                         "iterations": 50, "status": "optimal"})


@pytest.fixture(scope="session")
def timing():
    """Seconds of a chi-update that grows with the cube of the features in d-space only."""
    rows = [{"features": d, "space": space, "seconds": (d / 500) ** power / 10}
            for d in (500, 1000, 5000) for space, power in (("features", 3), ("rows", 1)) for _ in range(3)]
    return pd.DataFrame(rows)
