"""Outcomes that are more than yes or no, laid out as a chain of yes/no tasks: ordered levels, and time to an event.

An outcome says two things: what the labels of its tasks are, and what the predictions of
the tasks mean for the outcome as a whole. Models, solvers and results know no more of it.
"""

from typing import Any

from .ordered import Ordered, ordered_scores

__all__ = ["OUTCOMES", "Ordered", "from_state", "ordered_scores"]

OUTCOMES = {"ordered": Ordered}


def from_state(state: dict | None) -> Any:
    """An outcome from what its ``state`` gave; None where there was none."""
    if state is None:
        return None
    return OUTCOMES[state["outcome"]].from_state(state)
