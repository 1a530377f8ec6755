"""Steps in building a model: a formula read, labels of an outcome, rows that go together, the task graph, scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import checks
from .formula import Formula, calling_environment
from .inputs import MISSING, Design, Outcomes, check_index, column
from .core import column_scales
from .outcomes import Ordered, Survival, Times
from .tasks import TaskGraph

__all__ = ["kept_rows", "outcome_labels", "read_formula", "refuse_other_rows", "scales", "task_graph"]


def read_formula(formula: str, data: pd.DataFrame, options: dict) -> tuple[Formula, dict]:
    """A formula evaluated on data, with the names that its caller's caller sees, and the other arguments of the model.

    Weights and offset may be names of columns.
    """
    drop = checks.word("missing", options.get("missing", "none"), MISSING) == "drop"
    parsed = Formula(formula, data, calling_environment(depth=3), drop)
    named = {name: column(name, options[name], data, "data") for name in ("weights", "offset")
             if isinstance(options.get(name), str)}
    return parsed, {**options, **named}


def outcome_labels(outcome: Ordered | Survival, endog: Any, exog: Any) -> pd.DataFrame:
    """Labels of the tasks of an outcome; they have the row labels of ``exog`` where ``endog`` has none of its own."""
    labels = outcome.labels(endog)
    table = isinstance(exog, (np.ndarray, pd.DataFrame)) and exog.ndim == 2
    if isinstance(endog, Times) and table and len(exog) != len(labels):
        raise ValueError(f"exog must have one row for each of the {len(labels)} times, found {len(exog)}")
    named = isinstance(endog, pd.Series) or isinstance(endog, Times) and endog.index is not None
    if not named and isinstance(exog, pd.DataFrame) and len(exog) == len(labels):
        labels.index = exog.index
    return labels


def refuse_other_rows(outcomes: Outcomes, design: Design) -> None:
    """Refuse labels and features that are not of the same rows."""
    if outcomes.Y.shape[0] != design.n_rows:
        raise ValueError(f"endog must have one row for each of the {design.n_rows} rows of exog, "
                         f"found {outcomes.Y.shape[0]}")
    check_index(outcomes.index, design.index, "exog")


def kept_rows(kept: np.ndarray | None, *parts: Any) -> list:
    """The rows that are kept of everything that there is."""
    return [part if kept is None or part is None else part[kept] for part in parts]


def task_graph(tasks: Any, names: list) -> TaskGraph:
    """The graph that a user means by ``tasks``, over the columns of endog."""
    # Names that are numbers are left out: in an edge they could not be told from positions.
    graph = TaskGraph.build(tasks, len(names), names if all(isinstance(name, str) for name in names) else None)
    if graph.names is not None and list(graph.names) != list(names):
        raise ValueError(f"tasks is a TaskGraph of {list(graph.names)}, but the columns of endog are {list(names)}; "
                         "names and their order must be the same")
    return graph


def scales(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Standard deviation of each column over the rows that count, shape (d,); 1 where a column does not vary."""
    found = column_scales(X, weights)
    return np.where(found > 0, found, 1.0)
