"""The evidence on the paper's claims: scores as arrays of many resamples, and statistics that several rules share.

"Single-task" models are the elastic net, the unpenalized fit and AdaBoost. The gain of a fused model is the test error
of a single-task model minus its own, so that a positive gain speaks for fusion. "Over the best single-task model" means
over the one with the least mean test error at that case and size.

Every array begins with an axis of resamples, of length 1 for the study itself: a rule is written once and judges the
study and thousands of resamples of it alike. The axes after it are (case, size, model, instance), as far as they go.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from study.cases import GROUPS, PAPER
from study.models import MODELS
from study.paired import FUSED, SINGLE_TASK, compare, holm, signed_rank, wide

__all__ = ["ALPHA", "FEATURES", "SIZES", "Cube", "Evidence", "against_best", "best_single_task"]

#: Level of every test, after Holm's correction.
ALPHA = 0.05
#: The paper's training sizes.
SIZES = (25, 50, 100, 200, 400)
#: Features at which the paper times an inversion.
FEATURES = (500, 1000, 5000)


class Cube:
    """Complete scores as arrays (resamples, cases, sizes, models, instances), by column."""

    def __init__(self, scores: pd.DataFrame, draws: np.ndarray | None = None) -> None:
        self.scores, self.draws = scores, draws
        self.cases, self.sizes, self.models, self.instances = (
            list(dict.fromkeys(scores[name])) for name in ("case", "size", "model", "instance"))
        self.sizes.sort()

    def __getitem__(self, column: str) -> np.ndarray:
        """The values of a column."""
        axes = {"case": self.cases, "size": self.sizes, "model": self.models, "instance": self.instances}
        table = self.scores.set_index(list(axes))[column].reindex(pd.MultiIndex.from_product(axes.values()))
        values = table.to_numpy(dtype=float).reshape(1, *map(len, axes.values()))
        if self.draws is None:
            return values
        return np.take_along_axis(values, self.draws[:, :, None, None, :], axis=-1)

    def of(self, column: str, model: str) -> np.ndarray:
        """The values of a column for one model, (resamples, cases, sizes, instances)."""
        return self[column][:, :, :, self.models.index(model)]

    def places(self, cases: Iterable[str]) -> list[int]:
        """Positions of some cases."""
        return [self.cases.index(case) for case in cases]

    def cells(self, cells: Iterable[tuple[str, int]]) -> tuple:
        """Index of some cells (case, size) of an array: ``values[cells]`` has the axes (resamples, cells...)."""
        pairs = [(self.cases.index(case), self.sizes.index(size)) for case, size in cells]
        cases, sizes = zip(*pairs)
        return slice(None), list(cases), list(sizes)

    def resampled(self, rng: np.random.Generator, count: int) -> "Cube":
        """Bootstrap: the instances of each case drawn with replacement, ``count`` times."""
        n = len(self.instances)
        return Cube(self.scores, rng.integers(0, n, (count, len(self.cases), n)))


class Evidence:
    """Arrays of the study, and statistics that several rules share, each computed once.

    Of the ``scores`` only the paper's models and cases count. ``timing`` has the seconds of one chi-update by
    ``features`` and ``space`` ("features" or "rows"), ``groups`` the scores of the experiment on larger groups, of
    which only the present cases count, ``admm`` seconds of the paper's algorithm and of Newton's method.
    """

    def __init__(self, scores: pd.DataFrame | Cube, timing: pd.DataFrame | None = None,
                 groups: pd.DataFrame | Cube | None = None, admm: pd.DataFrame | None = None) -> None:
        self.scores = scores if isinstance(scores, Cube) else Cube(
            scores[scores["model"].isin([*FUSED, *SINGLE_TASK]) & scores["case"].isin(PAPER)])
        if isinstance(groups, pd.DataFrame):
            found: pd.DataFrame = groups[groups["model"].isin(FUSED) & groups["case"].isin(GROUPS)]
            groups = None if found.empty else Cube(found)
        self.timing, self.groups, self.admm = timing, groups, admm

    def resampled(self, rng: np.random.Generator, count: int) -> "Evidence":
        """The evidence of ``count`` bootstrap resamples of the instances of each case."""
        return Evidence(self.scores.resampled(rng, count), None,
                        self.groups.resampled(rng, count) if self.groups is not None else None)

    @property
    def single(self) -> list[str]:
        """The single-task models that were run."""
        return [model for model in SINGLE_TASK if model in self.scores.models]

    @cached_property
    def errors(self) -> np.ndarray:
        return self.scores["test_error"]

    @cached_property
    def means(self) -> np.ndarray:
        """Mean test errors, (resamples, cases, sizes, models)."""
        return self.errors.mean(axis=-1)

    def error(self, model: str) -> np.ndarray:
        """Test errors of a model, (resamples, cases, sizes, instances)."""
        return self.errors[:, :, :, self.scores.models.index(model)]

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        others = [model for model in MODELS if model in self.scores.models]
        return [(FUSED[0], other) for other in others if other != FUSED[0]] + [(FUSED[1], other)
                                                                              for other in self.single]

    @cached_property
    def _gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean gains and corrected p-values of all paired comparisons, (resamples, cases, sizes, pairs)."""
        apart = np.stack([self.error(other) - self.error(model) for model, other in self._pairs], axis=3)
        p = signed_rank(apart)
        return apart.mean(axis=-1), holm(p.reshape(len(p), -1)).reshape(p.shape)

    def gains(self, *models: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean gains of fused models over each single-task one, and p-values (Holm over all comparisons of errors)."""
        chosen = [i for i, (model, other) in enumerate(self._pairs) if model in models and other in SINGLE_TASK]
        return tuple(values[..., chosen] for values in self._gains)  # type: ignore[return-value]

    @cached_property
    def best(self) -> np.ndarray:
        """Position among the models of the single-task one with the least mean test error, by case and size."""
        single = [self.scores.models.index(model) for model in self.single]
        return np.array(single)[self.means[..., single].argmin(axis=-1)]

    def over_best(self, model: str = FUSED[0]) -> np.ndarray:
        """Gain of a fused model over the best single-task model, (resamples, cases, sizes, instances)."""
        best = np.take_along_axis(self.errors, self.best[..., None, None], axis=3)[:, :, :, 0]
        return best - self.error(model)

    def against_best(self, model: str = FUSED[0]) -> tuple[np.ndarray, np.ndarray]:
        """Mean gain over the best single-task model and its p-value, (resamples, cases, sizes)."""
        gain, p = self.gains(model)
        place = np.array([self.single.index(name) if name in self.single else -1 for name in self.scores.models])
        chosen = place[self.best][..., None]
        return tuple(np.take_along_axis(values, chosen, axis=-1)[..., 0]  # type: ignore[return-value]
                     for values in (gain, p))

    @cached_property
    def l2_gain(self) -> np.ndarray:
        """Gain of the fused elastic net over the fused L1 model, mean over sizes, (resamples, cases, instances)."""
        return (self.error(FUSED[1]) - self.error(FUSED[0])).mean(axis=2)


def best_single_task(scores: pd.DataFrame) -> pd.Series:
    """The single-task model with the least mean test error, by case and size."""
    errors = wide(scores, "test_error")
    present = [model for model in SINGLE_TASK if model in errors]
    return errors[present].groupby(["case", "size"]).mean().idxmin(axis=1)


def against_best(scores: pd.DataFrame, cases: Sequence[str] = PAPER) -> pd.DataFrame:
    """Comparisons of (i) with the best single-task model in some cases, as a table; none where models are missing.

    P-values are corrected over the whole study.
    """
    models = set(scores["model"])
    if FUSED[0] not in models or not models & set(SINGLE_TASK):
        return pd.DataFrame(columns=["case", "size", "gain", "p_holm"])
    scores = scores[scores["case"].isin(PAPER)]
    gains, best = compare(scores), best_single_task(scores).rename("other").reset_index()
    table = gains[gains["model"] == FUSED[0]].merge(best, on=["case", "size", "other"])
    return table[table["case"].isin(list(cases))]
