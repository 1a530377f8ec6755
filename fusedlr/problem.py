"""The types that carry the package: what is minimised, and the conventions of all its arrays.

A label belongs to a row and a task. Whatever the data (a column for each task, long format,
ordered levels, survival times), labels are flat and compressed by task, like the columns of a
CSC matrix.

Shapes, everywhere in this package: n rows, d features, t tasks, m labels. X is (n, d) without a
column of ones, as the user gave it; anything per label is (m,); anything per coefficient is
(1 + d, t), intercepts in row 0, in the user's units. A table of rows by tasks is made only
where somebody asks for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from . import matrices
from .io import STATUS, Array, Nested, Plain, finite, saved
from .matrices import Matrix
from .tasks import SAVED_GRAPH, TaskGraph

__all__ = ["LARGEST", "Design", "Groups", "Labels", "Penalty", "Problem", "Solution"]

# Squares of features are summed; those of larger numbers would overflow.
LARGEST = 1e100


@dataclass(frozen=True)
class Labels:
    """Observed labels, task by task.

    Attributes
    ----------
    start : ndarray of int, shape (t + 1,)
        Labels of task k are ``start[k]:start[k + 1]``, sorted by row.
    row : ndarray of int, shape (m,)
    sign : ndarray of int8, shape (m,)
        +1 for yes, -1 for no.
    weight : ndarray, shape (m,)
    """

    start: np.ndarray = saved(Array(("1+t",), "i", least=0))
    row: np.ndarray = saved(Array(("m",), "i", least=0, below="n"))
    sign: np.ndarray = saved(Array(("m",), "i", among=(-1, 1)))
    weight: np.ndarray = saved(Array(("m",), least=0))

    @classmethod
    def wide(cls, Y: Any, weights: Any = None) -> Labels:
        """Labels of a table.

        Parameters
        ----------
        Y : array_like, shape (n, t) or (n,)
            0, 1, or NaN where the label is not observed.
        weights : array_like, shape (n,) or (n, t), optional
            A weight of 0 leaves the label out.
        """
        Y = np.asarray(Y, dtype=float)
        Y = Y[:, None] if Y.ndim == 1 else Y
        weights = np.broadcast_to(_by_row_and_task(1.0 if weights is None else weights), Y.shape)
        seen = ~np.isnan(Y) & (weights > 0)
        task, row = np.nonzero(seen.T)
        start = np.append(0, np.cumsum(np.bincount(task, minlength=Y.shape[1])))
        return cls(start, row, np.where(Y.T[seen.T] == 1, 1, -1).astype(np.int8), weights.T[seen.T])

    @classmethod
    def long(cls, y: np.ndarray, task: np.ndarray, n_tasks: int) -> Labels:
        """Labels of rows that have one each: 0, 1 or NaN where it is not observed, and positions of their tasks."""
        seen = np.flatnonzero(~np.isnan(y))
        row = seen[np.argsort(task[seen], kind="stable")]
        start = np.append(0, np.cumsum(np.bincount(task[seen], minlength=n_tasks)))
        return cls(start, row, np.where(y[row] == 1, 1, -1).astype(np.int8), np.ones(len(row)))

    @property
    def n_tasks(self) -> int:
        return len(self.start) - 1

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.row)

    @cached_property
    def task(self) -> np.ndarray:
        """Task of each label, shape (m,)."""
        return np.repeat(np.arange(self.n_tasks), np.diff(self.start))

    @property
    def parts(self) -> Iterator[slice]:
        """Where the labels of each task are."""
        return (slice(first, last) for first, last in zip(self.start, self.start[1:]))

    @property
    def yes(self) -> np.ndarray:
        """Which labels are yes, shape (m,)."""
        return self.sign > 0

    @property
    def for_core(self) -> tuple[np.ndarray, ...]:
        """Start, row, sign and weight in the types of the C++ core."""
        types = ((self.start, np.int64), (self.row, np.intc), (self.sign, np.int8), (self.weight, float))
        return tuple(np.ascontiguousarray(values, dtype=kind) for values, kind in types)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over the labels of each task, shape (t,), or (t, ...) of values with more axes."""
        return np.array([values[part].sum(axis=0) for part in self.parts])

    def by_row(self, values: np.ndarray, n: int) -> np.ndarray:
        """Sum over the labels of each of n rows, shape (n,)."""
        return np.bincount(self.row, values, n)

    def row_weights(self, n: int) -> np.ndarray:
        """Largest weight of the labels of each of n rows, 0 where it has none, shape (n,)."""
        weights = np.zeros(n)
        np.maximum.at(weights, self.row, self.weight)
        return weights

    def table(self, values: np.ndarray, n: int, empty: float = np.nan) -> np.ndarray:
        """Values in a table of rows by tasks, shape (n, t); ``empty`` where there is no label."""
        if self.size == n * self.n_tasks:
            return np.asarray(values).reshape(self.n_tasks, n).T
        table = np.full((n, self.n_tasks), empty)
        table[self.row, self.task] = values
        return table

    def times(self, by_row: np.ndarray) -> Labels:
        """The same labels with every weight multiplied by a number for its row, shape (n,)."""
        return replace(self, weight=self.weight * by_row[self.row])

    def counted_once(self) -> Labels:
        """The same labels, each with the weight 1."""
        return replace(self, weight=np.ones(self.size))

    def some(self, which: np.ndarray) -> Labels:
        """Some of the labels, ndarray of bool, shape (m,)."""
        start = np.append(0, np.cumsum(which))[self.start]
        return Labels(start, self.row[which], self.sign[which], self.weight[which])

    def take(self, rows: np.ndarray, n: int) -> Labels:
        """Labels of some of n rows, which are counted anew in the order given; a row may come more than once."""
        by_row = np.argsort(self.row, kind="stable")
        first = np.append(0, np.cumsum(np.bincount(self.row, minlength=n)))
        count = (first[1:] - first[:-1])[rows]
        new = np.repeat(np.arange(len(rows)), count)
        within = np.arange(len(new)) - np.repeat(np.cumsum(count) - count, count)
        old = by_row[np.repeat(first[:-1][rows], count) + within]
        order = np.lexsort((new, self.task[old]))
        start = np.append(0, np.cumsum(np.bincount(self.task[old], minlength=self.n_tasks)))
        return Labels(start, new[order], self.sign[old][order], self.weight[old][order])

    def check_loaded(self) -> None:
        """Refuse what only all of it shows, in a file that somebody else may have written."""
        if self.start[0] != 0 or self.start[-1] != self.size or (np.diff(self.start) < 0).any():
            raise ValueError(f"labels.start must rise from 0 to {self.size}")
        if (np.diff(self.row)[np.diff(self.task) == 0] <= 0).any():
            raise ValueError("labels.row must rise within every task")


@dataclass(frozen=True)
class Design:
    """Design matrix, stored once and unscaled, and the offset.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csc_array, shape (n, d)
    offset : ndarray, shape (n, 1) or (n, t), or None
        Here and not with the labels, because predictions need it where no label is observed.
    """

    X: Matrix = saved(matrices.saved_matrix(LARGEST))
    offset: np.ndarray | None = saved(Array(("n", "offsets"), optional=True), default=None)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def linear(self, params: np.ndarray, labels: Labels) -> np.ndarray:
        """Linear predictor of every label, shape (m,)."""
        if _mostly(labels, self.n_rows):
            table = self.table(params)
            return table.T.ravel() if labels.size == table.size else table[labels.row, labels.task]
        by_task = [rows @ params[1:, k] + params[0, k] for k, rows in enumerate(self.by_task(labels))]
        return np.concatenate(by_task) + self.shift(labels)

    def by_task(self, labels: Labels) -> Iterator[Matrix]:
        """The rows with a label in each task, one task after the other."""
        for part in labels.parts:
            everywhere = part.stop - part.start == self.n_rows
            yield self.X if everywhere else matrices.cut(self.X, labels.row[part])

    def table(self, params: np.ndarray) -> np.ndarray:
        """Linear predictor of every row in every task, shape (n, t)."""
        table = self.X @ params[1:]
        table += params[0]
        if self.offset is not None:
            table += self.offset
        return table

    def shift(self, labels: Labels) -> np.ndarray:
        """Offset of every label, shape (m,)."""
        if self.offset is None:
            return np.zeros(labels.size)
        return self.offset[labels.row, labels.task if self.offset.shape[1] > 1 else 0]

    def gradient(self, values: np.ndarray, labels: Labels) -> np.ndarray:
        """[1, X]' times values of the labels, task by task, shape (1 + d, t)."""
        if _mostly(labels, self.n_rows):
            slopes = self.X.T @ labels.table(values, self.n_rows, empty=0.0)
        else:
            slopes = np.column_stack([values[part] @ rows for part, rows in zip(labels.parts, self.by_task(labels))])
        return np.vstack([labels.sums(values), slopes])

    def columns(self, which: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Columns of [1, X] by their row in params, in all rows or in some, dense, shape (n, p)."""
        features, everywhere = which[which > 0] - 1, rows is None or len(rows) == self.n_rows
        chosen = matrices.dense(matrices.part(self.X, None if everywhere else rows, features))
        design = np.ones((len(chosen), len(which)))
        design[:, which > 0] = chosen
        return design

    def take(self, rows: np.ndarray) -> Design:
        """Some of the rows, in the order given; a row may come more than once."""
        return Design(matrices.cut(self.X, rows), None if self.offset is None else self.offset[rows])


@dataclass(frozen=True)
class Groups:
    """The sampling units (clusters): the group of each row, and the frequency weight of each group.

    Attributes
    ----------
    code : ndarray of int, shape (n,)
        Group of each row.
    times : ndarray, shape (number of groups,)
        Frequency weight of each group; a row without a group has its own weight.
    word : str
        What a group is, in words.
    """

    code: np.ndarray = saved(Array(("n",), "i", least=0, below="groups"))
    times: np.ndarray = saved(Array(("groups",), least=0))
    word: str = saved(default="row")

    @classmethod
    def rows(cls, labels: Labels, n: int) -> Groups:
        """Every row its own sampling unit, weighted by the largest weight of its labels."""
        return cls(np.arange(n), labels.row_weights(n))

    @classmethod
    def given(cls, code: np.ndarray, word: str, labels: Labels) -> Groups:
        """Groups of a user, by number from 0 on; those without a label do not count, all others once."""
        counted = np.zeros(code.max(initial=-1) + 1)
        counted[code[labels.row]] = 1.0
        return cls(code, counted, word)

    @property
    def are_whole(self) -> bool:
        """Whether every group counts a whole number of times."""
        return not (self.times % 1).any()

    @property
    def are_rows(self) -> bool:
        """Whether every row is a group of its own."""
        return self.word == "row"

    @property
    def by_row(self) -> np.ndarray | None:
        """Group of each row, shape (n,); None where rows stand for themselves."""
        return None if self.are_rows else self.code

    @property
    def n_rows(self) -> int:
        return len(self.code)

    @property
    def counted(self) -> np.ndarray:
        """Which groups count at all, shape (number of groups,)."""
        return self.times > 0

    @property
    def size(self) -> float:
        """Weighted number of groups; the n of BIC."""
        return float(self.times.sum())

    def sums(self, by_row: np.ndarray) -> np.ndarray:
        """Sum over the rows of each group, shape (number of groups,), or (number of groups, k)."""
        if self.are_rows:
            return by_row
        total = np.zeros((len(self.times), *by_row.shape[1:]))
        np.add.at(total, self.code, by_row)
        return total

    def of(self, labels: Labels) -> np.ndarray:
        """Group of each label, shape (m,)."""
        return self.code[labels.row]

    def shares(self, labels: Labels) -> np.ndarray:
        """How often each row counts, shape (n,): by itself, or its share of the label weights of its group."""
        if self.are_rows:
            return self.times
        by_row = labels.by_row(labels.weight, len(self.code))
        return by_row / np.maximum(self.sums(by_row), 5e-324)[self.code]

    def take(self, rows: np.ndarray, labels: Labels) -> Groups:
        """The groups of some of the rows, with their labels; a row that comes twice is twice in its group, or two."""
        if self.are_rows:
            return Groups(np.arange(len(rows)), self.times[rows])
        return Groups.given(self.code[rows], self.word, labels)

    def standard_error(self, by_row: np.ndarray) -> np.ndarray:
        """Cluster-robust standard error of a sum over rows of influences of mean zero.

        Parameters
        ----------
        by_row : ndarray, shape (n,) or (n, k)
            Weighted influence of each row on an estimate.

        Returns
        -------
        float, or ndarray of shape (k,)
        """
        sums, times = self.sums(by_row)[self.counted], self.times[self.counted]
        squares = np.tensordot(1 / times, sums**2, axes=1)
        return np.sqrt(squares * (self.size / (self.size - 1) if self.size > 1 else 1.0))


@dataclass(frozen=True)
class Penalty:
    """Penalties, or factors of penalties, of every row of the coefficients, intercept row first.

    Attributes
    ----------
    l1, l2, fusion : ndarray, shape (1 + d,)
        ``l1[0]`` and ``l2[0]`` are 0.
    """

    l1: np.ndarray = saved(Array(("1+d",), least=0))
    l2: np.ndarray = saved(Array(("1+d",), least=0))
    fusion: np.ndarray = saved(Array(("1+d",), least=0))

    @classmethod
    def factors(cls, n_features: int, penalty_factors: Any = None, scale: Any = None,
                fuse_intercepts: bool = True, fusion_factors: Any = None) -> Penalty:
        """What multiplies the three penalties in each row.

        Features are standardized through these factors: dividing a feature by s is the same as
        multiplying its l1 and fusion by s and its l2 by s squared.

        Parameters
        ----------
        n_features : int
        penalty_factors, scale, fusion_factors : array_like, shape (d,), optional
            1 for every feature where left out.
        fuse_intercepts : bool
        """
        ones = np.ones(n_features)
        factors = ones if penalty_factors is None else np.asarray(penalty_factors, dtype=float)
        scale = ones if scale is None else np.asarray(scale, dtype=float)
        fusion = ones if fusion_factors is None else np.asarray(fusion_factors, dtype=float)
        return cls(np.append(0.0, factors * scale), np.append(0.0, factors * scale**2),
                   np.append(float(fuse_intercepts), fusion * scale))

    def times(self, l1: Any, l2: Any, fusion: Any) -> Penalty:
        """The penalties that these factors make of numbers, or of vectors of shape (1 + d,)."""
        return Penalty(l1 * self.l1, l2 * self.l2, fusion * self.fusion)


@dataclass(frozen=True)
class Problem:
    """The objective without the values of the three penalties.

    Attributes
    ----------
    design : Design
    labels : Labels
    tasks : TaskGraph
    groups : Groups
    scale : ndarray, shape (d,)
        Scale on which each feature is penalized: its standard deviation, or 1.
    factors : Penalty
        Multiply the penalties of each row of the coefficients. Only these decide whether
        intercepts are fused and which features are unpenalized or standardized.
    base_factors : Penalty or None
        The factors without adaptive ones; None where factors are not adaptive.
    """

    design: Design = saved(Nested(Design))
    labels: Labels = saved(Nested(Labels))
    tasks: TaskGraph = saved(SAVED_GRAPH)
    groups: Groups = saved(Nested(Groups))
    scale: np.ndarray = saved(Array(("d",), least=5e-324))
    factors: Penalty = saved(Nested(Penalty))
    base_factors: Penalty | None = saved(Nested(Penalty, optional=True), default=None)

    @classmethod
    def wide(cls, X: Any, Y: Any, tasks: TaskGraph | None = None, weights: Any = None, offset: Any = None,
             factors: Penalty | None = None) -> Problem:
        """A problem from arrays that were checked before: a table of labels, 0, 1 and NaN, of shape (n, t) or (n,).

        Weights and offset are of shape (n,) or (n, t). Where left out, tasks form a chain and
        every factor is 1, the intercepts' fusion too, as in the paper.
        """
        X, labels = X if matrices.is_sparse(X) else np.ascontiguousarray(X, dtype=float), Labels.wide(Y, weights)
        tasks = TaskGraph.build("chain" if tasks is None else tasks, labels.n_tasks)
        return cls(Design(X, None if offset is None else _by_row_and_task(offset)), labels, tasks,
                   Groups.rows(labels, X.shape[0]), np.ones(X.shape[1]),
                   Penalty.factors(X.shape[1]) if factors is None else factors)

    @property
    def n_rows(self) -> int:
        return self.design.n_rows

    @property
    def n_features(self) -> int:
        return self.design.n_features

    @property
    def n_tasks(self) -> int:
        return self.labels.n_tasks

    @property
    def fuse_intercepts(self) -> bool:
        """Whether fusion acts on the intercepts too."""
        return bool(self.factors.fusion[0] > 0)

    @property
    def is_adaptive(self) -> bool:
        """Whether factors depend on a first fit."""
        return self.base_factors is not None

    def penalty(self, l1: Any, l2: Any, fusion: Any) -> Penalty:
        """Penalties of every row of params from numbers, or from vectors of shape (1 + d,)."""
        return self.factors.times(l1, l2, fusion)

    def linear(self, params: np.ndarray) -> np.ndarray:
        """Linear predictor of every label, shape (m,)."""
        return self.design.linear(params, self.labels)

    def reweighted(self, times: np.ndarray) -> Problem:
        """The same problem with every weight multiplied by a number for its row, shape (n,): folds, draws, halves."""
        return replace(self, labels=self.labels.times(times))

    def take(self, rows: np.ndarray) -> Problem:
        """The same problem on some of the rows, in the order given; a row may come more than once."""
        labels = self.labels.take(rows, self.n_rows)
        return replace(self, design=self.design.take(rows), labels=labels, groups=self.groups.take(rows, labels))

    def check_loaded(self) -> None:
        """Refuse parts of a file that do not belong together."""
        if self.n_rows != self.groups.n_rows:
            raise ValueError(f"problem.design.X must have {self.groups.n_rows} rows, found {self.n_rows}")
        if self.design.offset is not None and self.design.offset.shape[1] not in (1, self.n_tasks):
            raise ValueError(f"problem.design.offset must have 1 column or {self.n_tasks}, found "
                             f"{self.design.offset.shape[1]}")
        for name, factors in product(("l1", "l2"), (self.factors, self.base_factors or self.factors)):
            if getattr(factors, name)[0] != 0:
                raise ValueError(f"problem.factors.{name} must begin with 0, because intercepts are not shrunk")


@dataclass(frozen=True)
class Solution:
    """What a solver hands back.

    Attributes
    ----------
    params : ndarray, shape (1 + d, t)
    objective : float
    gap : float
        Relative duality gap of the solver; ``optimality.certify`` checks it independently.
    status : str
        "optimal", "separated" or "not_converged".
    iterations : int
    history : dict of str to ndarray
        Residuals by iteration, where the solver keeps them.
    """

    params: np.ndarray = saved(Array(("1+d", "t")))
    objective: float = saved(Plain(finite()))
    gap: float = saved()
    status: str = saved(STATUS)
    iterations: int = saved()
    history: dict = field(default_factory=dict)


def _mostly(labels: Labels, n: int) -> bool:
    """Whether at least half of the (n, t) table is observed: one dense matrix product is then faster."""
    return 2 * labels.size >= n * labels.n_tasks


def _by_row_and_task(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    return array[:, None] if array.ndim == 1 else array
