"""What the tasks model: binary labels, steps of an ordered outcome, intervals of discrete-time survival.

An outcome says two things: what the labels of its tasks are, and what the predictions of
the tasks mean for the outcome as a whole. Models, solvers and results know no more of it.
"""

from __future__ import annotations

from .binary import Binary
from .competing_risks import CompetingRisks, read_causes
from .long import LongLabels, task_positions
from .ordered import Direction, Kind, Ordered, ordered_scores
from .outcome import Axis, LabelledRows, Outcome
from .survival import Survival, Times, split_surv
from .survival_scores import curve_scores, out_of_fold_scores, survival_scores

__all__ = ["OUTCOMES", "Axis", "Binary", "CompetingRisks", "Direction", "Kind", "LabelledRows", "LongLabels", "Ordered",
           "Outcome", "Survival", "Times", "curve_scores", "ordered_scores", "out_of_fold_scores", "read_causes",
           "split_surv", "survival_scores", "task_positions"]

# A new outcome has its line here: files know outcomes by their kind.
OUTCOMES: dict[str, type[Outcome]] = {outcome.kind: outcome for outcome in (Binary, Ordered, Survival, CompetingRisks)}
