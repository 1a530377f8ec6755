"""The study's models: one table, from which the grid's slices, labels, colours and the config's names follow.

One grid over (l1, l2, fusion) serves all linear models, each of which may use some of its points. A foreign model is
fitted by rules of its own (``workflow/rules/NAME.smk``), which write its margins on the test rows to
``results/NAME/CASE/INSTANCE.npz``.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["FUSION", "L1", "L2", "MODELS", "STAND_INS", "Model", "as_read", "fitted", "foreign", "linear", "points",
           "slices"]

L1 = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0)
L2 = (0.0, 0.05, 0.1, 0.2, 0.4, 1.0, 2.0)
FUSION = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0)


@dataclass(frozen=True)
class Model:
    """A model of the study."""

    name: str  # as in the config and in the scores
    label: str  # as in figures and tables
    color: str
    marker: str
    # From l1, l2 and fusion of the grid's points, shape (g,) each, to whether the model may use them; None for a model
    # that is no part of the grid, called foreign.
    allowed: Any = None
    role: str = ""  # "fused" or "single-task" in the paper's comparison; "" for a model that the paper does not have
    status: str = ""  # what stands under status in the scores of a foreign model
    by_task: bool = False  # whether each task chooses a point of its own


# Okabe and Ito's colour-blind safe palette; yellow is left to the Bayes risk.
_TABLE = (
    Model("fused_elastic_net", "(i) fused elastic net", "#0072B2", "o", lambda l1, l2, fusion: l1 >= 0, "fused"),
    Model("fused_l1", "(ii) fused L1", "#56B4E9", "s", lambda l1, l2, fusion: l2 == 0, "fused"),
    Model("elastic_net", "(iii) elastic net", "#D55E00", "^", lambda l1, l2, fusion: fusion == 0, "single-task"),
    Model("unpenalized", "(iv) unpenalized", "#999999", "D", lambda l1, l2, fusion: l1 + l2 + fusion == 0,
          "single-task"),
    Model("adaboost", "(v) AdaBoost", "#009E73", "v", None, "single-task", "boosted"),
)
#: Every model by its name, in the order of tables and legends.
MODELS = {model.name: model for model in _TABLE}


def _off_corner(name):
    """A model of the table that may not use the points without l1 and l2."""
    model = MODELS[name]
    return replace(model, name=f"{name}_off_corner",
                   allowed=lambda l1, l2, fusion: model.allowed(l1, l2, fusion) & (l1 + l2 > 0))


#: Models that take the place of some of the table's under other readings of the same grid: by reading, then by place.
STAND_INS = {
    "by_task": {"elastic_net": replace(MODELS["elastic_net"], name="elastic_net_by_task", by_task=True)},
    "off_corner": {name: _off_corner(name) for name in ("fused_elastic_net", "fused_l1", "elastic_net")},
}


def linear() -> list[str]:
    """Names of the models that are slices of the grid."""
    return [model.name for model in MODELS.values() if model.allowed]


def fitted() -> dict[str, Model]:
    """All models that choose among the grid's points, those of the readings included, by name."""
    others = [model for places in STAND_INS.values() for model in places.values()]
    return {model.name: model for model in [*MODELS.values(), *others] if model.allowed}


def as_read(scores: pd.DataFrame, others: pd.DataFrame, reading: str) -> pd.DataFrame:
    """The scores under another reading: rows of its models, if it has any, in the place of those they stand for."""
    place_of = {model.name: place for place, model in STAND_INS.get(reading, {}).items()}
    others = others[others["model"].isin(place_of)]
    others = others.assign(model=others["model"].map(place_of))
    return pd.concat([scores[~scores["model"].isin(set(others["model"]))], others], ignore_index=True)


def foreign() -> list[str]:
    """Names of the models that are fitted by rules of their own."""
    return [model.name for model in MODELS.values() if not model.allowed]


def points() -> np.ndarray:
    """The 924 penalties of the grid, shape (924, 3): l1, l2, fusion, the last moving fastest."""
    return np.array(list(product(L1, L2, FUSION)))


def slices() -> dict[str, np.ndarray]:
    """Positions of the grid that each model may use, by model."""
    return {model.name: np.flatnonzero(model.allowed(*points().T)) for model in fitted().values()}
