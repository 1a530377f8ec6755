"""Outcomes that are more than yes or no, laid out as a chain of yes/no tasks: ordered levels, and time to an event.

An outcome says two things: what the labels of its tasks are, and what the predictions of
the tasks mean for the outcome as a whole. Models, solvers and results know no more of it.
"""

from __future__ import annotations

from .effects import effect_table
from .ordered import Ordered, ordered_scores
from .survival import Survival, Times, split_surv
from .survival_scores import curve_scores, out_of_fold_scores, survival_scores

__all__ = ["OUTCOMES", "Ordered", "Survival", "Times", "curve_scores", "effect_table", "from_state", "ordered_scores",
           "out_of_fold_scores", "split_surv", "survival_scores"]

OUTCOMES: dict[str, type[Ordered] | type[Survival]] = {"ordered": Ordered, "survival": Survival}


def from_state(state: dict | None) -> Ordered | Survival | None:
    """An outcome from what its ``state`` gave; None where there was none."""
    if state is None:
        return None
    return OUTCOMES[state["outcome"]].from_state(state)
