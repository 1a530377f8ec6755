"""What a claim consists of, and words that several claims share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from study.evidence import ALPHA, Evidence
from study.figures import Figure
from study.paired import holm, signed_rank

__all__ = ["Claim", "GAIN", "NEEDS_BOTH", "Verdict", "exceptions", "grade", "listed", "p_by_case", "significance",
           "told_by_case"]

REPRODUCED, PARTLY, NOT = "reproduced", "partly", "not reproduced"

#: Words of the figures.
NEEDS_BOTH = "the fused elastic net and a single-task model"
GAIN = ("A gain is the test error of the other model minus that of (i) on the same data; bars are 95 % t-intervals "
        "over instances.")


class Verdict(NamedTuple):
    """What a rule says: "reproduced", "partly" or "not reproduced", the numbers behind it, and the test."""

    by_rule: str
    numbers: str
    test: str


@dataclass(frozen=True)
class Claim:
    """One claim."""

    number: int
    paper: str  # what the paper says
    rule: str  # the rule in words
    judge: Callable[[Evidence], Verdict]
    figure: Figure  # shows the numbers that the rule looks at
    needs: str = "scores"  # the evidence that it takes: "scores", "distances", "timing" or "groups"
    single_task: bool = False  # whether it says something of all single-task models
    added: bool = False  # whether the rule was added after the study had been run

    @property
    def figure_name(self) -> str:
        return f"claim{self.number}"


def grade(wholly: bool, partly: bool) -> str:
    """The verdict of a rule with two conditions, the second of them weaker."""
    return REPRODUCED if wholly else PARTLY if partly else NOT


def significance(table: pd.DataFrame) -> str:
    """How many of some paired comparisons are significant, in words."""
    for_fusion = ((table["gain"] > 0) & (table["p_holm"] < ALPHA)).sum()
    against = ((table["gain"] < 0) & (table["p_holm"] < ALPHA)).sum()
    return (f"of {len(table)} comparisons {for_fusion} significantly for fusion, "
            f"{against} significantly against (Holm)")


def p_by_case(gain: pd.Series) -> pd.Series:
    """Signed-rank test over the instances of each case, adjusted by Holm's method over the cases."""
    cases = gain.index.unique("case")
    return pd.Series(holm([signed_rank(gain.loc[case]) for case in cases]), cases)


def told_by_case(p: pd.Series) -> str:
    return f"signed-rank by case, Holm over {len(p)}: " + ", ".join(f"{case} {value:.2g}" for case, value in p.items())


def exceptions(agrees: pd.Series) -> str:
    """Cells (case, size) that do not agree, in words."""
    cells = [f"{case}{size}" for (case, size), fine in agrees.items() if not fine]
    return f"exceptions: {', '.join(cells)}" if cells else "no exceptions"


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
