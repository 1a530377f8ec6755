"""The evidence on the paper's claims: scores, and statistics that several rules share.

"Single-task" models are the elastic net, the unpenalized fit and AdaBoost. The gain of a fused model is the test error
of a single-task model minus its own, so that a positive gain speaks for fusion. "Over the best single-task model" means
over the one with the least mean test error at that case and size.
"""

from collections.abc import Sequence
from functools import cached_property

import pandas as pd

from study.cases import PAPER
from study.paired import FUSED, SINGLE_TASK, compare, wide

__all__ = ["ALPHA", "SIZES", "Evidence"]

#: Level of every test, after Holm's correction.
ALPHA = 0.05
#: The paper's training sizes.
SIZES = (25, 50, 100, 200, 400)


class Evidence:
    """Tables of the study, and statistics that several rules share, each computed once.

    Of the ``scores`` only the paper's models and cases count. ``timing`` has the seconds of one chi-update by
    ``features`` and ``space`` ("features" or "rows"), ``groups`` the scores of the experiment on larger groups.
    """

    def __init__(self, scores: pd.DataFrame, timing: pd.DataFrame | None = None,
                 groups: pd.DataFrame | None = None) -> None:
        self.scores = scores[scores["model"].isin([*FUSED, *SINGLE_TASK]) & scores["case"].isin(PAPER)]
        self.timing, self.groups = timing, groups

    @property
    def has_both_fused(self) -> bool:
        return set(FUSED) <= set(self.scores["model"])

    @property
    def has_single_task(self) -> bool:
        """Whether there is a fused elastic net, and a single-task model to compare it with."""
        models = set(self.scores["model"])
        return FUSED[0] in models and bool(models & set(SINGLE_TASK))

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Test errors, a column for each model, by case, size and instance."""
        return wide(self.scores, "test_error")

    @cached_property
    def gains(self) -> pd.DataFrame:
        """All paired comparisons of test error."""
        return compare(self.scores)

    @cached_property
    def best(self) -> pd.Series:
        """The single-task model with the least mean test error, by case and size."""
        means = self.errors[[model for model in SINGLE_TASK if model in self.errors]].groupby(["case", "size"]).mean()
        return means.idxmin(axis=1)

    @cached_property
    def over_best(self) -> pd.Series:
        """Gain of the fused elastic net over the best single-task model, by case, size and instance."""
        return pd.concat([(cell[self.best[key]] - cell[FUSED[0]])
                          for key, cell in self.errors.groupby(["case", "size"])])

    @cached_property
    def mean_over_best(self) -> pd.DataFrame:
        """Its means over instances, cases by sizes."""
        return self.over_best.groupby(["case", "size"]).mean().unstack("size")

    @cached_property
    def against_best(self) -> pd.DataFrame:
        """Comparisons of the fused elastic net with the best single-task model, by case and size."""
        best = self.best.rename("other").reset_index()
        rows = self.gains[self.gains["model"] == FUSED[0]].merge(best, on=["case", "size", "other"])
        return rows.set_index(["case", "size"])

    def against_best_in(self, cases: Sequence[str]) -> pd.DataFrame:
        """Those of some cases as rows of a table, none where the models are missing; p-values are the whole study's."""
        if not self.has_single_task:
            return pd.DataFrame(columns=["case", "size", "gain", "p_holm"])
        table = self.against_best.reset_index()
        return table[table["case"].isin(list(cases))]

    @cached_property
    def l2_gain(self) -> pd.Series:
        """Gain of the fused elastic net over the fused L1 model, mean over sizes, by case and instance."""
        return (self.errors[FUSED[1]] - self.errors[FUSED[0]]).groupby(["case", "instance"]).mean()
