"""The plan of a run, from its config: cases, instances, sizes and models of each part."""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

from study.cases import CASES, GROUPS
from study.contents import FIGURES, TABLES
from study.evidence import FEATURES
from study.figures import overview
from study.judging import MIN_INSTANCES
from study.models import foreign, linear
from study.paired import FUSED
from study.readings import READINGS

__all__ = ["Plan"]

#: Training rows of the experiment on larger groups.
GROUP_SIZES = [50, 100, 200]


class Plan:
    """The parts of a run. Models that cannot be run on this machine are ``absent``."""

    def __init__(self, config: Mapping[str, Any], absent: Collection[str] = ()) -> None:
        self.cases, self.sizes = config["cases"], config["sizes"]
        self.models = [model for model in config["models"] if model not in absent]
        self.absent = [model for model in config["models"] if model in absent]
        self.foreign = [model for model in foreign() if model in self.models]
        # What belongs to a study whose claims are judged, and not to a preview. A preview of as many instances as one
        # of these parts asks for has that part as well.
        self.judged = config["instances"] >= MIN_INSTANCES
        self.instances = range(1, config["instances"] + 1)
        self.few = range(1, min(config["sensitivity"], config["instances"]) + 1 if self.judged else 1)
        self.of_groups = self._part(config, "groups")
        self.of_readings = range(1, min(len(self._part(config, "readings")), config["instances"]) + 1)
        self.timed = list(FEATURES) if self.judged else []
        self.figures = list(FIGURES) if self.judged else list(overview.FIGURES)
        self.group_cases = list(GROUPS) if self.of_groups and self._has(*FUSED) else []
        # Readings that need runs of their own, each with the cases that it changes; cases boosted with small bags.
        self.read_cases = [(name, case) for name, reading in READINGS.items() for case in self.cases
                           if reading.runs and self.of_readings and self._has(*linear())
                           and (CASES[case].correlated or reading.runs == "fits")]
        self.small_bag_cases = [case for case in self.cases if 25 in self.sizes
                                and self._has("adaboost", "fused_elastic_net")]
        self.other_noise = "variance" if config["noise"] == "sd" else "sd"

    @property
    def linear(self) -> list[str]:
        """Models that are slices of the grid."""
        return [model for model in self.models if model not in self.foreign]

    def sizes_of(self, case: str) -> Sequence[int]:
        """Training rows of a case."""
        return GROUP_SIZES if case in GROUPS else self.sizes

    def foreign_of(self, case: str) -> list[str]:
        """Models of a case that are no part of the grid."""
        return [] if case in GROUPS else self.foreign

    def files(self, pattern: str, *cases: str, **values: Sequence[str]) -> list[str]:
        """A file name for every instance of some cases, those of one case and value after each other."""
        numbers = {case: self.of_groups if case in GROUPS else self.instances for case in cases}
        return [name for case in cases for name in _names(pattern, case=[case], **values, instance=numbers[case])]

    def few_files(self, pattern: str, **values: Sequence[str]) -> list[str]:
        """A file name for each instance of the sensitivity runs."""
        return _names(pattern, instance=self.few, **values)

    def jobs(self) -> dict[str, list[str]]:
        """The result file of every job, by kind."""
        cases = [*self.cases, *self.group_cases]

        def otherwise(kind, cases):
            return [f"results/sensitivity/{reading}/{kind}/{case}/{instance}.npz" for reading, case in cases
                    for instance in self.of_readings]

        new_data = [(reading, case) for reading, case in self.read_cases if READINGS[reading].runs == "data"]
        return {
            "simulate": self.files("results/data/{case}/{instance}.npz", *cases) + otherwise("data", new_data),
            "grid": self.files("results/grid/{case}/{instance}.npz", *cases) + otherwise("grid", self.read_cases),
            **{model: self.files(f"results/{model}/{{case}}/{{instance}}.npz", *self.cases) for model in self.foreign},
            "small bags": self.few_files("results/sensitivity/adaboost/{case}/{instance}.npz",
                                         case=self.small_bag_cases),
            "scores": _names("results/scores/{case}.csv", case=cases),
            "tables": _names("results/{table}.csv", table=TABLES),
            "figures": _names("results/figures/{figure}.png", figure=self.figures),
        }

    def _part(self, config, name):
        asked = config[name]
        return range(1, asked + 1 if self.judged or asked <= config["instances"] else 1)

    def _has(self, *models):
        return set(models) <= set(self.models)


def _names(pattern, **values):
    """The pattern for every combination of values, the last moving fastest."""
    return [pattern.format(**dict(zip(values, combination))) for combination in product(*values.values())]
