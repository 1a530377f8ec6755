"""The readings of the paper: what it leaves open, how it may be read, and under which names verdicts are told.

Two of them are equals, and every claim is told under both: the paper calls the elastic net a single-task procedure, but
tunes one triple of penalties for all models alike.
"""

from dataclasses import dataclass

import pandas as pd

__all__ = ["EQUALS", "READINGS", "SHARED", "Reading", "by_reading"]


@dataclass(frozen=True)
class Reading:
    """One way to read the paper."""

    name: str  # in a few words, as in tables
    label: str  # in full
    runs: str = ""  # what it takes beyond the grid of the main run: "data", or "fits" of the same data; else nothing


SHARED, BY_TASK = "shared", "by_task"
#: The two readings that every claim is told under.
EQUALS = (SHARED, BY_TASK)
#: Every reading by its name in the tables.
READINGS = {
    SHARED: Reading("penalties shared", "the four tasks of every tuned model share their penalties"),
    BY_TASK: Reading("each task alone", "each task of the elastic net has penalties of its own"),
    "off_corner": Reading("off the corner", "no tuned model may do without both l1 and l2"),
    "distances_by_task": Reading("distances by task", "distances of each task, then averaged over the tasks"),
    "noise": Reading("noise as variance", "0.4 is the variance of the noise on copied features", "data"),
    "copying": Reading("literal order", "correlated cases draw [k, m] and then copy the first half", "data"),
    "ring": Reading("ring", "the last task is the neighbour of the first, as in the footnote", "fits"),
    "squared_l2": Reading("lambda2 squared", "the ridge multiplies coefficients by lambda2 before squaring", "fits"),
    "last_column": Reading("last column", "nu shrinks the last task towards zero as well: all columns of B(I - R)",
                           "fits"),
}


def by_reading(otherwise: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Scores under readings with runs of their own, each by itself."""
    return {str(name): rows.drop(columns="reading") for name, rows in otherwise.groupby("reading", sort=False)}
