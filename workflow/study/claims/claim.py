"""What a claim consists of, and words that several claims share."""

from __future__ import annotations

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
    """One claim.

    Attributes
    ----------
    number : int
    paper : str
        What the paper says.
    rule : str
        The rule in words.
    judge : function
        From the evidence to the verdict of the rule.
    figure : Figure
        The numbers that the rule looks at.
    needs : {"scores", "distances", "timing", "groups"}
        The evidence that it takes.
    single_task : bool
        Whether it says something of all single-task models.
    added : bool
        Whether the rule was added after the study had been run.
    """

    number: int
    paper: str
    rule: str
    judge: Callable[[Evidence], Verdict]
    figure: Figure
    needs: str = "scores"
    single_task: bool = False
    added: bool = False

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
    """Signed-rank test over the instances of each case, corrected by Holm's method over the cases."""
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
