"""Rows beyond memory: fits that see their data in chunks, one pass after the other.

A pass asks every chunk for its share of the loss, of its gradient and of one Gram matrix for
each task; their sums are a quadratic model of the loss, which the core minimises together with
the penalty (proximal Newton). A handful of passes is enough. The minimiser is that of
``FusedLogit`` with the same rows in memory, and does not depend on how they are cut. The same
sums prove it: every pass brings a duality gap of its own.

A chunk is a function without arguments that returns labels and features, and weights where
there are any; ``cut`` makes chunks of arrays. Chunks are independent of each other, so that
``map`` may hand them to processes or machines (``executor.map``): each needs memory for its
chunk alone, and sends back 8 t (1 + d)^2 bytes. A worker that is lost costs its chunk only,
where ``map`` does that chunk again: ``resilient`` does, and so do Dask's executors.

>>> import numpy as np
>>> from fusedlr import chunked, datasets
>>> Y, X = datasets.weeks()
>>> fit = chunked.fit(chunked.cut(Y.to_numpy(), X.to_numpy(), rows=50), l1=5, l2=0.1, fusion=10)
>>> fit.converged, fit.passes < 12
(True, True)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from functools import partial, reduce
from itertools import product
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from . import checks
from .exceptions import ConvergenceWarning
from .inputs import INTERCEPT
from .objective import penalty_value, pointwise_curvature, pointwise_loss, sigmoid
from .problem import LARGEST, Penalty
from .results import FusedLogitResults
from .solver import ACCEPTED, block_gauge, block_prox, solve_quadratic
from .tasks import TaskGraph

__all__ = ["ChunkedResults", "cut", "fit", "fit_grid", "resilient"]

Chunk = Callable[[], Any]

_STRIP = 4096  # rows at a time within a chunk: what is computed from them stays in cache
_LAST = 1e-11  # of the objective: an expected fall after which Newton's method has nothing left to do


# ---- chunks ---------------------------------------------------------------------------------------------------------

def cut(endog: Any, exog: Any, weights: Any = None, rows: int = 100_000) -> list[Chunk]:
    """Chunks of arrays that need not fit into memory.

    Parameters
    ----------
    endog, exog : array_like, shape (n, t) and (n, d)
        Arrays, memory maps (``np.memmap``, ``np.load(mmap_mode="r")``), Dask arrays, or whatever else gives some
        of its rows by ``array[first:last]``. Numbers of any type: each chunk is converted strip by strip.
    weights : array_like, shape (n,), optional
    rows : int
        Of a chunk.

    Returns
    -------
    list of functions
        Each reads its own rows when it is called; a memory map is opened again where that is.
    """
    arrays = [array for array in (endog, exog, weights) if array is not None]
    n, rows = len(endog), checks.whole("rows", rows, 1)
    for name, array in zip(("endog", "exog", "weights"), arrays):
        if len(array) != n:
            raise ValueError(f"{name} must have the {n} rows of endog, found {len(array)}")
    return [_Rows(arrays, first, min(first + rows, n)) for first in range(0, n, rows)]


class _Rows:
    """Some rows of arrays, read when called."""

    def __init__(self, arrays: list, first: int, last: int) -> None:
        self.parts = [_mapped(array, first, last) or array[first:last] for array in arrays]

    def __call__(self) -> tuple:
        return tuple(part() if isinstance(part, partial) else
                     np.asarray(part.compute()) if hasattr(part, "compute") else part for part in self.parts)


def _mapped(array: Any, first: int, last: int) -> partial | None:
    """Rows of a memory map as a way to open them again, which is small to send; None where it is not a whole one."""
    if not isinstance(array, np.memmap) or not isinstance(array.base, mmap) or not array.flags.c_contiguous:
        return None
    return partial(np.memmap, array.filename, array.dtype, "r", array.offset + first * array.strides[0],
                   (last - first, *array.shape[1:]))


def resilient(make: Callable[[], Executor], tries: int = 3) -> Callable:
    """A ``map`` by the workers of an executor that does again what a lost worker had, and nothing else.

    Parameters
    ----------
    make : callable
        Makes an executor, and another one where the first is broken: ``lambda: ProcessPoolExecutor(8)``.
    tries : int
        How often a chunk is begun before the error of the executor is raised.
    """
    held, tries = [make()], checks.whole("tries", tries, 1)

    def mapped(function: Callable, items: Iterable) -> list:
        items = list(items)
        found: dict[int, Any] = {}
        for left in reversed(range(tries)):
            broken = _complete(found, held[0], function, items)
            if broken is None:
                break
            if left == 0:
                raise broken
            held[0] = make()
        return [found[i] for i in range(len(items))]

    return mapped


def _complete(found: dict, executor: Executor, function: Callable, items: list) -> BrokenExecutor | None:
    """Add the values of items that have none yet; the error of the executor where it broke on the way."""
    futures, broken = {}, None
    try:
        for i in set(range(len(items))) - set(found):
            futures[i] = executor.submit(function, items[i])
    except BrokenExecutor as error:
        broken = error
    for i, future in futures.items():
        try:
            found[i] = future.result()
        except BrokenExecutor as error:
            broken = error
    return broken


# ---- what a chunk says ----------------------------------------------------------------------------------------------

class _Strip(NamedTuple):
    """Some rows: features (k, d), signs and weights of labels (k, t), 0 where there is none."""

    X: np.ndarray
    sign: np.ndarray
    weight: np.ndarray


def _strips(number: int, chunk: Chunk, names: list | None = None) -> Iterator[_Strip]:
    """The rows of a chunk, checked, a few at a time."""
    endog, exog, *more = chunk()
    endog, exog = np.asarray(endog), np.asarray(exog if names is None else exog[names])
    endog = endog[:, None] if endog.ndim == 1 else endog
    weights = np.ones(len(endog)) if not more or more[0] is None else np.asarray(more[0])
    if exog.ndim != 2 or endog.ndim != 2 or weights.ndim != 1 or not len(exog) == len(endog) == len(weights):
        raise ValueError(f"chunk {number} must have labels (n, t), features (n, d) and weights (n,) of the same rows, "
                         f"found shapes {endog.shape}, {exog.shape} and {weights.shape}")
    for first in range(0, len(exog), _STRIP):
        some = (np.array(array[first:first + _STRIP], dtype=float) for array in (exog, endog, weights))
        yield _strip(number, *some)


def _strip(number: int, X: np.ndarray, Y: np.ndarray, w: np.ndarray) -> _Strip:
    if not (np.isfinite(X).all() and np.abs(X).max(initial=0.0) <= LARGEST):
        raise ValueError(f"chunk {number}: exog must be finite, and not beyond {LARGEST:g}")
    if not (np.isnan(Y) | (Y == 0) | (Y == 1)).all():
        raise ValueError(f"chunk {number}: endog must hold 0, 1, and NaN where no label is observed")
    if not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(f"chunk {number}: weights must be finite and not negative")
    return _Strip(X, np.where(Y == 1, 1.0, -1.0), np.where(np.isnan(Y), 0.0, w[:, None]))


@dataclass
class _Facts:
    """Of the rows seen so far: weight, mean and sum of squares about it, range of every feature; weights of labels."""

    weight: float
    mean: np.ndarray
    squares: np.ndarray
    least: np.ndarray
    most: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    names: list | None

    @classmethod
    def of(cls, strip: _Strip, names: list | None) -> _Facts:
        """Of some rows."""
        X, sign, weight = strip
        row = weight.max(axis=1)
        whole = row.sum()
        mean = row @ X / whole if whole else np.zeros(X.shape[1])
        return cls(whole, mean, row @ (X - mean) ** 2, X.min(axis=0), X.max(axis=0), (weight * (sign > 0)).sum(axis=0),
                   (weight * (sign < 0)).sum(axis=0), names)

    def joined(self, other: _Facts) -> _Facts:
        """Of both (Chan, Golub and LeVeque 1979)."""
        if self.names != other.names or len(self.mean) != len(other.mean) or len(self.yes) != len(other.yes):
            raise ValueError("chunks must have the same features and tasks, in all of them by the same names")
        whole = self.weight + other.weight
        by, share = other.mean - self.mean, other.weight / whole if whole else 0.0
        return _Facts(whole, self.mean + share * by, self.squares + other.squares + self.weight * share * by**2,
                      np.minimum(self.least, other.least), np.maximum(self.most, other.most), self.yes + other.yes,
                      self.no + other.no, self.names)


def _facts(item: tuple[int, Chunk]) -> _Facts:
    number, chunk = item
    read = chunk()
    names = list(read[1].columns) if isinstance(read[1], pd.DataFrame) else None
    found = [_Facts.of(strip, names) for strip in _strips(number, lambda: read)]
    if not found:
        raise ValueError(f"chunk {number} must have rows, found none")
    return reduce(_Facts.joined, found)


class _Units(NamedTuple):
    """Every feature less its centre, over its unit: what the passes and the quadratic model are computed in."""

    centre: np.ndarray
    unit: np.ndarray

    def inwards(self, params: np.ndarray) -> np.ndarray:
        """Coefficients of the user's features as those of these."""
        inside = params * np.append(1.0, self.unit)[:, None]
        inside[0] += self.centre @ params[1:]
        return inside

    def outwards(self, inside: np.ndarray) -> np.ndarray:
        """And back."""
        params = inside / np.append(1.0, self.unit)[:, None]
        params[0] -= self.centre @ params[1:]
        return params


class _Sums(NamedTuple):
    """Of a pass: loss; sums of residuals times features of the labels no and yes, (2, 1 + d, t), and their entropies,
    (2, t); Hessians of the loss, (t, 1 + d, 1 + d), or None."""

    loss: float
    pulls: np.ndarray
    entropy: np.ndarray
    gram: np.ndarray | None

    @property
    def slopes(self) -> np.ndarray:
        return -self.pulls.sum(axis=0)


def _share(item: tuple[int, Chunk], params: np.ndarray, units: _Units, names: list | None, second: bool) -> _Sums:
    """What one chunk adds to a pass."""
    rows, tasks = params.shape
    loss, pulls, entropy = 0.0, np.zeros((2, rows, tasks)), np.zeros((2, tasks))
    gram = np.zeros((tasks if second else 0, rows, rows))
    for X, sign, weight in _strips(*item, names):
        Z = np.ones((len(X), rows))
        Z[:, 1:] = (X - units.centre) / units.unit
        margin = sign * (Z @ params)
        cost, a = pointwise_loss(margin), sigmoid(-margin)
        loss += float((weight * cost).sum())
        for c, mine in enumerate((weight * (sign < 0), weight * (sign > 0))):
            pulls[c] += Z.T @ (mine * a * sign)
            entropy[c] += (mine * (cost + a * margin)).sum(axis=0)
        for k, root in enumerate(np.sqrt(weight * pointwise_curvature(margin)).T if second else ()):
            weighted = Z * root[:, None]
            gram[k] += weighted.T @ weighted
    return _Sums(loss, pulls, entropy, gram if second else None)


def _added(one: _Sums, other: _Sums) -> _Sums:
    gram = None if one.gram is None or other.gram is None else one.gram + other.gram
    return _Sums(one.loss + other.loss, one.pulls + other.pulls, one.entropy + other.entropy, gram)


# ---- the fit --------------------------------------------------------------------------------------------------------

class _Data:
    """Chunks after a first look at all of them, and the passes made so far."""

    def __init__(self, chunks: Any, mapped: Callable, fuse_intercepts: bool, standardize: bool) -> None:
        if not isinstance(chunks, Sequence) or not chunks or not all(map(callable, chunks)):
            raise TypeError("chunks must be a list of functions without arguments, each of which returns labels and "
                            f"features of some rows, found {checks.shown(chunks)}; chunked.cut makes them of arrays")
        self.items, self.map, self.passes = list(enumerate(chunks)), mapped, 1
        facts = reduce(_Facts.joined, self.map(_facts, self.items))
        self.facts, self.null_loss = facts, float(np.log(2.0) * (facts.yes + facts.no).sum())
        self.features = [f"x{j + 1}" for j in range(len(facts.mean))] if facts.names is None else facts.names
        self._refuse()
        spread = np.sqrt(facts.squares / facts.weight)
        self.scale = spread if standardize else np.ones_like(spread)
        self.units = _Units(0 * spread if fuse_intercepts else facts.mean, spread)

    def _refuse(self) -> None:
        constant = np.flatnonzero(self.facts.least == self.facts.most)
        if constant.size:
            raise ValueError(f"exog: {checks.named(self.features, constant)} are constant, collinear with the "
                             "intercept, which the model adds itself; drop them")
        single = np.flatnonzero((self.facts.yes == 0) | (self.facts.no == 0))
        if single.size:
            raise ValueError(f"endog: {checks.named(None, single)} must have both labels, found one or none; drop "
                             "these tasks")

    def sums(self, params: np.ndarray, second: bool) -> _Sums:
        """A pass over all chunks."""
        self.passes += 1
        names = self.facts.names
        return reduce(_added, self.map(partial(_share, params=params, units=self.units, names=names, second=second),
                                       self.items))

    def start(self) -> np.ndarray:
        """Coefficients of the fit without features, in the user's units."""
        params = np.zeros((1 + len(self.features), len(self.facts.yes)))
        params[0] = np.log(self.facts.yes / self.facts.no)
        return params


def _bound(sums: _Sums, params: np.ndarray, penalty: Penalty, tasks: TaskGraph) -> float:
    """A lower bound on the minimum: the dual objective at the residuals, after balancing them in the intercepts.

    The residuals of the label in excess are shrunk by a common factor. Entropies are concave and
    0 at 0, so those of shrunk residuals are at least as much shrunk.
    """
    component = tasks.components() if penalty.fusion[0] > 0 else np.arange(params.shape[1])
    no, yes = (np.bincount(component, sums.pulls[c, 0]) for c in (0, 1))
    least = np.minimum(-no, yes)
    factors = np.stack([least / -no, least / yes])[:, component]
    C, entropy = np.einsum("ck,cak->ak", factors, sums.pulls), float((factors * sums.entropy).sum())
    C[0] -= (np.bincount(component, C[0]) / np.bincount(component))[component]
    gauge, conjugates, ones = 1.0, 0.0, np.ones(params.shape[1])
    for a in np.flatnonzero(penalty.l2 == 0):
        if a > 0 or penalty.fusion[0] > 0:
            gauge = max(gauge, block_gauge(tasks, C[a], penalty.l1[a], penalty.fusion[a], 1.0))
    for a in np.flatnonzero(penalty.l2 > 0):
        shrunk = block_prox(tasks, ones, C[a] / gauge, penalty.l1[a], penalty.fusion[a])
        conjugates += float(shrunk @ shrunk) / (2 * penalty.l2[a])
    return entropy / gauge - conjugates


class _Point(NamedTuple):
    """An iterate in the units of the passes: coefficients, what a pass said there, objective and relative gap."""

    params: np.ndarray
    sums: _Sums
    value: float
    gap: float


def _minimise(data: _Data, penalty: Penalty, tasks: TaskGraph, start: np.ndarray, tol: float | None,
              max_iter: int) -> tuple[_Point, int]:
    """Proximal Newton with a line search; the last pass of a fit brings no Hessians."""
    def at(params: np.ndarray, second: bool) -> _Point:
        sums = data.sums(params, second)
        value = sums.loss + penalty_value(params, penalty, tasks)
        gap = (value - _bound(sums, params, penalty, tasks)) / max(value, 1e-3 * data.null_loss)
        return _Point(params, sums, value, gap)

    here, last = at(start, True), False
    for iteration in range(max_iter):
        if here.gap <= (1e-15 if tol is None else tol) or (tol is None and last and here.gap <= ACCEPTED):
            return here, iteration
        here = here if here.sums.gram is not None else at(here.params, True)
        assert here.sums.gram is not None
        to = solve_quadratic(here.sums.gram, here.sums.slopes, penalty, tasks, here.params)
        move = to - here.params
        fall = float((here.sums.slopes * move).sum()) + penalty_value(to, penalty, tasks) - penalty_value(
            here.params, penalty, tasks)
        last = -fall <= _LAST * here.value
        step, there = 1.0, at(to, not last)
        while not there.value <= here.value + 0.01 * step * min(fall, 0.0) + 1e-14 * here.value and step > 1e-6:
            step /= 2
            there = at(here.params + step * move, not last)
        if there.value > here.value * (1 + 1e-14):
            return here, iteration
        here = there
    return here, max_iter


@dataclass
class ChunkedResults:
    """A fit on rows beyond memory.

    Attributes
    ----------
    params : DataFrame, shape (1 + d, t)
        Coefficients, intercepts first, in the units of the features.
    objective, gap : float
        The gap is relative, and proves the fit.
    status : str
        "optimal" or "not_converged".
    iterations, passes : int
        Newton steps; passes over the data, after a first one that all points of a grid share.
    llf : float
        Log-likelihood.
    penalties : dict
        l1, l2 and fusion.
    """

    params: pd.DataFrame
    objective: float
    gap: float
    status: str
    iterations: int
    passes: int
    llf: float
    penalties: dict

    @property
    def converged(self) -> bool:
        """Whether the gap is small enough."""
        return self.status == "optimal"

    def predict(self, exog: Any) -> pd.DataFrame:
        """Probabilities of yes for rows in memory, DataFrame (n, t); frames by name."""
        names = list(self.params.index[1:])
        index = exog.index if isinstance(exog, pd.DataFrame) else None
        X = np.asarray(exog[names] if isinstance(exog, pd.DataFrame) else exog, dtype=float)
        if X.ndim != 2 or X.shape[1] != len(names):
            raise ValueError(f"exog must have the {len(names)} features of the fit as columns, found shape {X.shape}")
        params = self.params.to_numpy()
        return pd.DataFrame(sigmoid(X @ params[1:] + params[0]), index, self.params.columns)

    def predict_chunks(self, chunks: Iterable[Chunk], map: Callable = map) -> Iterator[pd.DataFrame]:
        """The same chunk by chunk, in their order; a chunk may return features alone."""
        return iter(map(partial(_predicted, self), chunks))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(FusedLogitResults, name):
            raise AttributeError(f"{name} is not offered for rows beyond memory, because it needs them more than once "
                                 "at a time; fit a sample of the rows with FusedLogit for it")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _predicted(fitted: ChunkedResults, chunk: Chunk) -> pd.DataFrame:
    found = chunk()
    return fitted.predict(found[1] if isinstance(found, tuple) else found)


def fit(chunks: Sequence[Chunk], l1: float, l2: float = 0.0, fusion: float = 0.0, *, tasks: Any = "chain",
        standardize: bool = True, fuse_intercepts: bool = False, names: Sequence | None = None,
        tol: float | None = None, max_iter: int = 50, map: Callable = map) -> ChunkedResults:
    """Fit rows beyond memory at given penalties; see the module.

    Parameters
    ----------
    chunks : list of functions
        Each returns labels (k, t) of 0, 1 and NaN, features (k, d), an array or a frame, and weights (k,) where there
        are any; see ``cut``.
    l1, l2, fusion : float
        As for ``FusedLogit.fit``. One of l1 and l2 must be positive.
    tasks, standardize, fuse_intercepts
        As for ``FusedLogit``.
    names : sequence, optional
        Of the tasks.
    tol : float, optional
        Relative duality gap to reach; the level of rounding where left out.
    max_iter : int
        Limit on Newton steps.
    map : callable
        Like the builtin, which it is by default; ``executor.map`` and ``resilient`` work on chunks side by side.
    """
    return fit_grid(chunks, [l1], [l2], [fusion], tasks=tasks, standardize=standardize,
                    fuse_intercepts=fuse_intercepts, names=names, tol=tol, max_iter=max_iter, map=map)[0]


def fit_grid(chunks: Sequence[Chunk], l1: Any, l2: Any, fusion: Any, *, tasks: Any = "chain", standardize: bool = True,
             fuse_intercepts: bool = False, names: Sequence | None = None, tol: float | None = 1e-6,
             max_iter: int = 50, map: Callable = map) -> list[ChunkedResults]:
    """Fits at every combination of three lists of penalties, each from the one before; see ``fit``.

    Returns
    -------
    list of ChunkedResults
        l1 changes slowest, fusion fastest, each in the order given.
    """
    lists = [checks.vector(name, values) for name, values in (("l1", l1), ("l2", l2), ("fusion", fusion))]
    if not (lists[0].min() > 0 or lists[1].min() > 0):
        raise ValueError("l1 or l2 must be positive: without both there may be no minimiser, which chunks cannot tell")
    data = _Data(chunks, map, checks.flag("fuse_intercepts", fuse_intercepts), checks.flag("standardize", standardize))
    graph = TaskGraph.build(tasks, len(data.facts.yes), None if names is None else list(names))
    points = list(product(*lists))
    found: dict[tuple, ChunkedResults] = {}
    start = data.start()
    for point in sorted(points, key=lambda point: -point[0]):
        found[point] = _fitted(data, point, graph, fuse_intercepts, start, names, tol, max_iter)
        start = found[point].params.to_numpy()
    return [found[point] for point in points]


def _fitted(data, point, tasks, fuse_intercepts, start, names, tol, max_iter):
    """The fit at one point, as the user sees it."""
    factors = Penalty.factors(len(data.scale), None, data.scale / data.units.unit, fuse_intercepts)
    before, penalty = data.passes, factors.times(*point)
    here, iterations = _minimise(data, penalty, tasks, data.units.inwards(start), tol, max_iter)
    good = here.gap <= (ACCEPTED if tol is None else tol)
    if not good:
        warnings.warn(f"stopped after {iterations} Newton steps at a relative duality gap of {here.gap:.1e}; raise "
                      "max_iter or tol, or use larger penalties", ConvergenceWarning, stacklevel=4)
    columns = pd.RangeIndex(start.shape[1]) if names is None else list(names)
    params = pd.DataFrame(data.units.outwards(here.params), [INTERCEPT, *data.features], columns)
    return ChunkedResults(params, here.value, here.gap, "optimal" if good else "not_converged", iterations,
                          data.passes - before, -here.sums.loss, dict(zip(("l1", "l2", "fusion"), point)))
