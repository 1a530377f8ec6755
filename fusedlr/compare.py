"""Models side by side on your own data: held-out errors over repeated splits, and paired differences with intervals.

A model is a function ``f(Y, X, X_new)`` from training labels (n, t) of 0, 1 and nan, training features (n, d) and new
rows (m, d) to the probabilities of a yes, (m, t). Those of the paper have names; others are added as functions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from . import checks
from .exceptions import FusedLogitWarning
from .model import FusedLogit
from .objective import sigmoid
from .parallel import checked_jobs, progress_bar
from .resampling import streams

__all__ = ["MODELS", "Comparison", "compare"]

#: Names of the paper's linear models, which need no function; ``"adaboost"`` is one more where R is installed.
MODELS = ("fused_elastic_net", "fused_l1", "elastic_net", "unpenalized")
METRICS = ("error", "logloss")
#: Probabilities are kept this far from 0 and 1 in the log-loss.
CLIP = 1e-12


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    scores : DataFrame
        A row for each split, training size and model: ``error`` (share of wrong labels over all
        tasks), ``logloss`` and ``seconds``.
    test_share : float
        Share of the rows that is held out in each split, mean over the splits.

    Examples
    --------
    >>> import numpy as np
    >>> from fusedlr import compare
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(120, 3))
    >>> Y = X[:, [0]] + rng.normal(size=(120, 2)) > 0
    >>> found = compare(Y, X, models=["fused_l1", "unpenalized"], splits=3, progress=False)
    >>> found.differences()["model"].tolist()
    ['unpenalized']
    """

    scores: pd.DataFrame
    test_share: float

    def differences(self, metric: str = "error", to: str | None = None) -> pd.DataFrame:
        """Score of each model minus that of the one it is compared ``to``, the first where left out, by size.

        ``mean`` over splits with its 95 % interval ``low`` to ``high``. The splits share rows, so that their spread
        understates the error of the mean; the variance has the correction of Nadeau and Bengio (2003): that over splits
        times 1 / splits + test rows / training rows, all of which are counted where a size takes fewer.

        Examples
        --------
        >>> from fusedlr import compare, datasets
        >>> Y, X = datasets.weeks()
        >>> found = compare(Y, X, models=["fused_l1", "unpenalized"], splits=3, progress=False)
        >>> found.differences("logloss").columns.tolist()
        ['size', 'model', 'to', 'splits', 'mean', 'low', 'high']
        """
        metric, models = checks.word("metric", metric, METRICS), list(dict.fromkeys(self.scores["model"]))
        to = models[0] if to is None else checks.text("to", to)
        if to not in models:
            raise ValueError(f"to must be one of the models {models}, found {to!r}")
        wide, rows = self.scores.pivot(index=["size", "split"], columns="model", values=metric), []
        for size, cell in wide.groupby("size"):
            for model in (model for model in models if model != to):
                found = _interval((cell[model] - cell[to]).to_numpy(), self.test_share / (1 - self.test_share))
                rows.append({"size": size, "model": model, "to": to, **found})
        return pd.DataFrame(rows)

    def plot(self, metric: str = "error", ax: Any = None) -> Any:
        """Boxes of a score over the splits, by training size and model; returns the Axes.

        Examples
        --------
        >>> from fusedlr import compare, datasets
        >>> found = compare(*datasets.weeks(), models=["unpenalized"], splits=3, progress=False)
        >>> found.plot().get_ylabel()
        'held-out error'
        """
        from .plots import score_boxes
        return score_boxes(self, metric, ax)

    def __str__(self) -> str:
        means = self.scores.groupby(["size", "model"], sort=False)[[*METRICS, "seconds"]].mean()
        return f"{means.round(4).to_string()}\n\n{self.differences().round(4).to_string(index=False)}"


def _interval(apart, ratio):
    """Mean of paired differences over splits and its interval; ``ratio`` is that of test rows to training rows."""
    n, mean = len(apart), float(apart.mean())
    spread = np.sqrt(apart.var(ddof=1) * (1 / n + ratio)) if n > 1 else np.nan
    half = stats.t.ppf(0.975, n - 1) * spread if n > 1 else np.nan
    return {"splits": n, "mean": mean, "low": mean - half, "high": mean + half}


def compare(Y: Any, X: Any, tasks: Any = "chain", models: Iterable[str] | Mapping[str, Any] = MODELS, splits: int = 20,
            sizes: Sequence[int] | None = None, groups: Any = None, test: float = 0.25, rng: Any = 0,
            n_jobs: int | None = None, progress: bool = True, only: Sequence[int] | None = None) -> Comparison:
    """Fit models on random parts of your data and score them on the rest.

    Parameters
    ----------
    Y, X, tasks, groups : as for ``FusedLogit``
        Groups, such as persons with several rows, are never split between training and test rows.
    models : names, or dict of names to functions
        ``"fused_elastic_net"`` (i), ``"fused_l1"`` (ii) and ``"elastic_net"`` (iii, each task alone)
        choose their penalties by 5-fold cross-validation on the training rows; ``"unpenalized"`` (iv);
        ``"adaboost"`` (v) is R's ``ada``. In a dict, None stands for the model of that name; a function
        ``f(Y, X, X_new)`` returns the probabilities of a yes, shape (m, t).
    splits : int
        Number of random splits.
    sizes : sequence of int, optional
        Training rows, the first ones of each split; as many as all splits have where left out.
    test : float
        Share of the groups (of the rows, without groups) that is held out in each split.
    rng : int, SeedSequence, Generator or None
        Draws the splits, each from a stream of its own.
    n_jobs : as for ``fit_cv``
    progress : bool
    only : sequence of int, optional
        Numbers of the splits to run, from 0 on, so that several processes can share the work.

    Returns
    -------
    Comparison

    Examples
    --------
    A model of one's own beside one of the paper's, on three random splits:

    >>> import numpy as np
    >>> from fusedlr import compare, datasets
    >>> Y, X = datasets.weeks()
    >>> def share_of_yes(Y, X, X_new):
    ...     return np.tile(Y.mean(axis=0), (len(X_new), 1))
    >>> found = compare(Y, X, models={"fused_l1": None, "share": share_of_yes}, splits=3, progress=False)
    >>> bool((found.differences("logloss")["mean"] > 0).all())
    True
    """
    whole, splits = _model(Y, X, tasks, groups), checks.whole("splits", splits, 1, 10**6)
    n_jobs, progress = checked_jobs(n_jobs), checks.flag("progress", progress)
    problem = whole.problem
    labels = problem.labels.table(problem.labels.yes.astype(float), problem.n_rows)
    parts = [_split(problem.groups.by_row, len(labels), test, np.random.default_rng(stream))
             for stream in streams(checks.rng(rng), splits)]
    sizes = _sizes(sizes, min(len(train) for train, _ in parts))
    functions = _functions(models, _Linear("", whole.tasks, whole.endog_names, problem.groups.by_row, n_jobs))
    numbers = range(splits) if only is None else [checks.whole("only", number, 0, splits - 1)
                                                  for number in _some("only", only)]
    rows = []
    with progress_bar(len(numbers) * len(sizes) * len(functions), progress, "compare") as step:
        for number, size, name in ((number, size, name) for number in numbers for size in sizes for name in functions):
            train, held_out = parts[number]
            start = time.perf_counter()
            chances = functions[name](labels, problem.design.X, train[:size], held_out)
            rows.append({"split": number, "size": size, "model": name, **_scores(name, chances, labels[held_out]),
                         "seconds": time.perf_counter() - start})
            if step is not None:
                step()
    return Comparison(pd.DataFrame(rows), float(np.mean([len(held_out) for _, held_out in parts])) / len(labels))


def _model(Y, X, tasks, groups):
    """All rows as a model, which checks them; refused by the names that they have here."""
    try:
        return FusedLogit(Y, X, tasks=tasks, groups=groups)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("endog", "Y").replace("exog", "X")) from None


def _split(code, n, test, rng):
    """Training and test rows in random order; rows of one group stay together."""
    share = checks.number("test", test)
    if not 0 < share < 1:
        raise ValueError(f"test must be a share between 0 and 1, found {share:g}")
    code = np.arange(n) if code is None else code
    order = rng.permutation(code.max() + 1)
    held_out = np.isin(code, order[:max(1, round(share * len(order)))])
    if held_out.all():
        raise ValueError(f"test = {share:g} leaves no training rows of {len(order)} groups")
    place = np.argsort(order)[code]
    rows = np.argsort(place, kind="stable")
    return rows[~held_out[rows]], rows[held_out[rows]]


def _some(name, values):
    """A list that is not empty."""
    found = checks.listed(name, values)
    if not found:
        raise ValueError(f"{name} must list at least one, found none")
    return found


def _sizes(sizes, most):
    asked = [most] if sizes is None else _some("sizes", sizes)
    return [checks.whole("sizes", size, 2, most, f"the smallest split has {most} training rows") for size in asked]


def _functions(models, linear):
    """The models by name, each from all labels and features, training rows and test rows to probabilities."""
    models = models if isinstance(models, Mapping) and models else _some("models", models)
    given = dict(models) if isinstance(models, Mapping) else dict.fromkeys(models)
    return {name: _function(name, function, linear) for name, function in given.items()}


def _function(name, function, linear):
    if function is None:
        known = checks.word("models", name, (*MODELS, "adaboost"))
        return _Adaboost() if known == "adaboost" else replace(linear, name=known)
    if not callable(function):
        raise TypeError(f"models[{name!r}] must be a function f(Y, X, X_new) or None, found {checks.shown(function)}")
    return _Given(function)


@dataclass(frozen=True)
class _Given:
    """A function of the user."""

    function: Callable

    def __call__(self, Y, X, train, held_out):
        return self.function(Y[train], X[train], X[held_out])


@dataclass(frozen=True)
class _Adaboost:
    """R's ``ada``, task by task; a margin F is the probability 1 / (1 + exp(-2 F))."""

    def __call__(self, Y, X, train, held_out):
        from .r.ada import boost
        return sigmoid(2 * boost(X[train], Y[train], X[held_out], seed=int(train[0])).margins)


@dataclass(frozen=True)
class _Linear:
    """One of the paper's linear models."""

    name: str
    tasks: Any
    names: list  # of the tasks
    code: np.ndarray | None  # group of each row
    n_jobs: int | None

    def __call__(self, Y, X, train, held_out):
        if self.name == "elastic_net":
            return np.column_stack([self._fit(y[:, None], X, train, held_out, "chain") for y in Y.T])
        return self._fit(Y, X, train, held_out, self.tasks)

    def _fit(self, Y, X, train, held_out, tasks):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FusedLogitWarning)  # a small part of the data may be separated
            labels = pd.DataFrame(Y[train], columns=self.names if Y.shape[1] == len(self.names) else None)
            groups = None if self.code is None else self.code[train]
            model = FusedLogit(labels, X[train], tasks=tasks, groups=groups)
            if self.name == "unpenalized":
                fit: Any = model.fit(0.0, 0.0, 0.0)
            else:
                grid = {"l2": [0.0]} if self.name == "fused_l1" else {}
                fit = model.fit_cv(n_jobs=self.n_jobs, progress=False, **grid)
            return fit.predict(X[held_out]).to_numpy()


def _scores(name, chances, Y):
    """Error and log-loss over all observed labels of the test rows."""
    chances = checks.array(f"probabilities of {name!r}", chances)
    if chances.shape != Y.shape or (chances < 0).any() or (chances > 1).any():
        raise ValueError(f"models[{name!r}] must return probabilities of shape {Y.shape}, found shape {chances.shape} "
                         f"with values from {chances.min():g} to {chances.max():g}")
    known = ~np.isnan(Y)
    chance, yes = np.clip(chances[known], CLIP, 1 - CLIP), Y[known] == 1
    return {"error": float(np.mean((chance > 0.5) != yes)),
            "logloss": float(-np.mean(np.log(np.where(yes, chance, 1 - chance))))}
