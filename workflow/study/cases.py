"""The study's cases: one table, from which the config's names, titles of figures and the simulated data follow."""

from dataclasses import dataclass

__all__ = ["CASES", "GROUPS", "N_FEATURES", "PAPER", "Case"]

N_FEATURES = 100
VALUES = (-4.0, -2.0, 2.0, 4.0)


@dataclass(frozen=True)
class Case:
    """A case: non-zero coefficients of each task, and how many of them its neighbour shares."""

    name: str  # as in the config and in the scores; part of the seed of every draw
    nonzeros: int  # non-zero coefficients in every task
    matches: int  # features at which two neighbouring tasks have the same non-zero value
    copies: int = 1  # size of a group of correlated features; 2: the second half are noisy copies of the first
    values: tuple[float, ...] = VALUES  # what a non-zero coefficient may be

    @property
    def correlated(self) -> bool:
        return self.copies > 1

    @property
    def groups(self) -> int:
        """How many groups of correlated features matter in each task."""
        return self.nonzeros // self.copies

    @property
    def sparse(self) -> bool:
        return self.nonzeros < N_FEATURES / 2

    @property
    def similar(self) -> bool:
        return self.matches > self.nonzeros / 2

    @property
    def title(self) -> str:
        """What kind of case it is, in words."""
        kinds = ((self.correlated, "correlated", "independent"), (self.sparse, "sparse", "dense"),
                 (self.similar, "similar", "dissimilar"))
        return ", ".join(yes if is_so else no for is_so, yes, no in kinds)


_TABLE = (
    Case("a", 60, 12),
    Case("b", 60, 48),
    Case("c", 10, 2),
    Case("d", 10, 8),
    Case("e", 60, 12, copies=2),
    Case("f", 60, 48, copies=2),
    Case("g", 10, 2, copies=2),
    Case("h", 10, 8, copies=2),
)
#: Every case by its name, in the order of tables and figures.
CASES = {case.name: case for case in _TABLE}
#: The cases of the paper's table. Its claims are judged on them alone.
PAPER = tuple("abcdefgh")


def _group_case(groups, copies):
    """Half of the groups match; a group's coefficients have the same sum at any size of the group."""
    return Case(f"groups{groups}x{copies}", groups * copies, groups * copies // 2, copies,
                tuple(value * 2 / copies for value in VALUES))


#: The experiment on larger groups of correlated features, which the paper supposes to favour the elastic net. As many
#: groups matter at any size, so that the number of signals and the Bayes risk stay the same.
GROUPS = {case.name: case for case in (_group_case(groups, copies) for groups in (4, 8) for copies in (2, 5, 10))}
