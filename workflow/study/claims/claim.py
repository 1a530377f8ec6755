"""What a claim consists of, and words that several claims share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from study.evidence import ALPHA, Evidence
from study.figures import Figure
from study.paired import holm, signed_rank

__all__ = ["AFTERWARDS", "BEFORE", "CHANGED", "Claim", "GAIN", "GRADES", "NEEDS_BOTH", "Verdict", "Words",
           "exceptions", "listed", "p_by_case", "significance", "told_by_case"]

#: What a rule may say, from the least on.
GRADES = ("not reproduced", "partly", "reproduced")

#: When a rule was written.
BEFORE, AFTERWARDS = "before the run", "afterwards"
CHANGED = "before the run, changed afterwards"

#: Words of the figures.
NEEDS_BOTH = "the fused elastic net and a single-task model"
GAIN = ("A gain is the test error of the other model minus that of (i) on the same data; bars are 95 % t-intervals "
        "over instances.")


class Words(NamedTuple):
    """What was found: in a few numbers for a table, in full, and by which test."""

    brief: str
    numbers: str
    test: str


class Verdict(NamedTuple):
    """What a rule says of each resample, and in words of the first, which is the study where there is but one."""

    wholly: np.ndarray  # (resamples,): whether the claim is reproduced
    partly: np.ndarray  # (resamples,): whether it is at least partly
    words: Callable[[], Words]

    @property
    def grades(self) -> np.ndarray:
        """Positions in GRADES, (resamples,)."""
        return np.where(self.wholly, 2, np.where(self.partly, 1, 0))


@dataclass(frozen=True)
class Claim:
    """One claim."""

    number: int
    paper: str  # what the paper says
    rule: str  # the rule in words
    judge: Callable[[Evidence], Verdict]
    figure: Figure  # shows the numbers that the rule looks at
    # The evidence that it takes: "scores", "distances" or "pairs" of them, "groups", or of time "timing" or "admm".
    needs: str = "scores"
    single_task: bool = False  # whether it says something of all single-task models
    written: str = BEFORE  # when its rule was written: before the study was first run, or afterwards

    @property
    def of_time(self) -> bool:
        """Whether it is about time, which no resample of instances and no reading of the paper changes."""
        return self.needs in ("timing", "admm")

    @property
    def figure_name(self) -> str:
        return f"claim{self.number}"


def significance(gain: np.ndarray, p: np.ndarray) -> str:
    """How many of the first resample's paired comparisons are significant, in words."""
    clear = p[0] < ALPHA
    return (f"of {clear.size} comparisons {(clear & (gain[0] > 0)).sum()} significantly for fusion, "
            f"{(clear & (gain[0] < 0)).sum()} significantly against (Holm)")


def p_by_case(gain: np.ndarray) -> np.ndarray:
    """Signed-rank test over the instances of each case, adjusted by Holm's method over the cases."""
    return holm(signed_rank(gain))


def told_by_case(cases: Iterable[str], p: np.ndarray) -> str:
    return f"signed-rank by case, Holm over {len(p[0])}: " + ", ".join(f"{case} {value:.2g}"
                                                                       for case, value in zip(cases, p[0]))


def exceptions(cells: Iterable[tuple[str, int]], agrees: np.ndarray) -> str:
    """Cells (case, size) that do not agree, in words."""
    differing = [f"{case}{size}" for (case, size), fine in zip(cells, agrees) if not fine]
    return f"exceptions: {', '.join(differing)}" if differing else "no exceptions"


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
