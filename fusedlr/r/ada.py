"""Discrete AdaBoost by R's package ``ada``, the study's single-task baseline, or by ``rpart`` alone.

``ada`` is the default and the reference. Where it is not installed the same algorithm runs on
``rpart``, which comes with R (``engines.py``), with margins bitwise identical to those of ``ada``.

The call of ``ada`` is the default of the package (exponential loss, discrete trees, nu = 0.1,
bag.frac = 0.5, ``rpart.control()``) with every argument written out, and the margins are
bitwise identical to those of the plain call ``ada(as.data.frame(X), y, iter = 200)``. It is
several times faster, for three reasons that change no number where no feature is missing:

- the features are passed as one matrix column, which spares R the formula of d terms;
- ``xval = 0``, ``maxcompete = 0`` and ``maxsurrogate = 0`` leave out what is computed for
  printing only (bags are drawn before the first tree, so the random stream is the same);
- new rows are passed as the design matrix that rpart would otherwise rebuild for each tree.

What to expect at the edges:

- One class only in a task: ``ada`` refuses. The margin is then ``ONE_CLASS_MARGIN`` with the
  sign of that class, on every new row.
- Fewer than 39 rows: a bag holds half of them, and ``rpart`` does not split fewer than
  ``minsplit`` = 20. Every tree is then a constant, and so is the margin.
- Fewer than 3 observed labels in a task with two classes: a ValueError, as no bag can be drawn.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fusedlr import checks
from fusedlr.r import engines, session

__all__ = ["AdaResult", "ONE_CLASS_MARGIN", "available", "boost"]

ONE_CLASS_MARGIN = 1.0

_RNG_KIND = ("Mersenne-Twister", "Inversion", "Rejection")

# What ada() itself has as defaults; those without influence on discrete trees are written out too.
_ARGUMENTS = {
    "loss": "exponential",
    "type": "discrete",
    "iter": 200,
    "nu": 0.1,
    "bag.frac": 0.5,
    "model.coef": True,
    "bag.shift": False,
    "max.iter": 20,
    "delta": 1e-10,
    "verbose": False,
}

_CONTROL = {
    "minsplit": 20,
    "minbucket": 7,
    "cp": 0.01,
    "maxcompete": 0,
    "maxsurrogate": 0,
    "usesurrogate": 2,
    "xval": 0,
    "surrogatestyle": 0,
    "maxdepth": 30,
}

# Least and largest value of each argument that is a whole number; others would crash R. cp is any number.
_WHOLE = {
    "minsplit": (0, 10**6),
    "minbucket": (0, 10**6),
    "maxcompete": (0, 1000),
    "maxsurrogate": (0, 1000),
    "usesurrogate": (0, 2),
    "xval": (0, 1000),
    "surrogatestyle": (0, 1),
    "maxdepth": (1, 30),
}


@dataclass(frozen=True)
class AdaResult:
    """Margins of boosted trees on new rows, and all that is needed to repeat them.

    Attributes
    ----------
    margins : ndarray, shape (n_new, t)
        ``predict(type = "F")``: positive predicts yes. The probability of yes by the
        model is 1 / (1 + exp(-2 * margin)).
    settings : dict
        "by" ("ada" or "rpart"), "arguments" and "control" of the call, "versions" (R, rpy2
        and the packages used), "source" (version and sha256 of the file that set-up installed
        ``ada`` from, None where set-up did not), "rng" (R's three kinds), "seeds" (fit and
        predict, one pair for each task) and "one_class" (positions of tasks with one class
        only). Plain values, ready for JSON.

    Examples
    --------
    >>> from fusedlr import datasets
    >>> from fusedlr.r import boost
    >>> Y, X = datasets.weeks()
    >>> found = boost(X[:300], Y[:300], X[300:], seed=1, iterations=20)
    >>> bool(((found.margins > 0) == Y[300:].to_numpy()).mean() > 0.6)
    True
    """

    margins: np.ndarray
    settings: dict


def boost(X: Any, Y: Any, X_new: Any, seed: int | np.random.SeedSequence, iterations: int = 200, nu: float = 0.1,
          bag_frac: float = 0.5, control: Mapping[str, Any] | None = None, by: str | None = None) -> AdaResult:
    """Fit R's ``ada``, or the same on ``rpart``, to each task by itself and give its margins on new rows.

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like, shape (n, t) or (n,)
        0, 1, or NaN where the label is not observed: that row is left out for that task.
    X_new : array_like, shape (n_new, d)
        If both are DataFrames its columns are found by name, in any order.
    seed : int or numpy.random.SeedSequence
        R's seeds, one before each fit and one before each predict, are drawn from it
        and from the position of the task. The same seed gives the same margins
        whatever ran before in R.
    iterations : int
        Number of trees.
    nu, bag_frac : float
        ada's ``nu`` and ``bag.frac``.
    control : dict, optional
        Arguments of ``rpart.control`` that replace the defaults.
    by : {"ada", "rpart"}, optional
        "ada" calls R's package, "rpart" our own function; by default "ada" where it is
        installed, else "rpart".

    Returns
    -------
    AdaResult

    Raises
    ------
    RMissingError
        Where R, rpy2 or the package named by ``by`` is not installed.

    Examples
    --------
    >>> from fusedlr import datasets
    >>> from fusedlr.r import boost
    >>> Y, X = datasets.weeks()
    >>> found = boost(X[:300], Y[:300], X[300:], seed=1, iterations=20)
    >>> found.margins.shape
    (100, 4)
    """
    X, X_new = _matrix("X", X), _matrix("X_new", _columns_of(X, X_new))
    Y = _labels(Y, X.shape[0])
    if X_new.shape[1] != X.shape[1]:
        raise ValueError(f"X_new must have the {X.shape[1]} columns of X, found {X_new.shape[1]}")
    arguments = {**_ARGUMENTS, "iter": checks.whole("iterations", iterations, 1, 10**6), "nu": checks.number("nu", nu),
                 "bag.frac": _fraction(bag_frac)}
    control = _control(control)
    by = checks.word("by", by, engines.PACKAGES) if by is not None else available() or "rpart"
    seeds = [_seeds(seed, task) for task in range(Y.shape[1])]
    margins = [_one_task(X, y, X_new, by, arguments, control, pair) for y, pair in zip(Y.T, seeds)]
    versions = session.versions(*engines.PACKAGES[by])
    settings = {
        "by": by,
        "arguments": arguments,
        "control": control,
        "versions": versions,
        "source": _source(versions["ada"]) if by == "ada" else None,
        "rng": list(_RNG_KIND),
        "seeds": seeds,
        "one_class": [task for task, y in enumerate(Y.T) if _single_class(y[~np.isnan(y)])],
    }
    return AdaResult(np.column_stack(margins), settings)


def available() -> str | None:
    """Which engine ``boost`` takes by default: "ada", "rpart", or None where R, rpy2 or rpart is not installed."""
    for by, packages in engines.PACKAGES.items():
        if all(session.has_package(name) for name in packages):
            return by
    return None


def _source(version):
    """Version and sha256 of the file that set-up installed the loaded ``ada`` from, as it noted beside it; or None."""
    library = session.call("function() dirname(getNamespaceInfo('ada', 'path'))")[0]
    notes = Path(library) / "sources.csv"
    if not notes.is_file():
        return None
    with open(notes, encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if (row["package"], row["version"]) == ("ada", version)]
    return {"version": version, "sha256": found[-1]["sha256"]} if found else None


def _one_task(X, y, X_new, by, arguments, control, seeds):
    observed = ~np.isnan(y)
    X, y = X[observed], y[observed]
    if _single_class(y):
        return np.full(X_new.shape[0], ONE_CLASS_MARGIN if y[0] == 1 else -ONE_CLASS_MARGIN)
    _check_bag(y.size, arguments["bag.frac"])
    return session.call(engines.source(by), packages=engines.PACKAGES[by], x=X, y=y, new=X_new, arguments=arguments,
                        control=control, kind=list(_RNG_KIND), seeds=np.array(seeds, dtype=np.int32))


def _single_class(y):
    return bool((y == y[0]).all())


def _seeds(seed, task):
    """Two numbers below 2**31 for R, from the seed and the position of a task."""
    if isinstance(seed, np.random.SeedSequence):
        entropy, key = seed.entropy, seed.spawn_key
    else:
        entropy, key = checks.whole("seed", seed, 0, way_out="or give a numpy.random.SeedSequence"), ()
    state = np.random.SeedSequence(entropy, spawn_key=(*key, task)).generate_state(2, np.uint32)
    return [int(word >> 1) for word in state]


def _columns_of(X, X_new):
    """New rows with the columns of X in the order of X, where both have names."""
    if not (isinstance(X, pd.DataFrame) and isinstance(X_new, pd.DataFrame)):
        return X_new
    missing = [name for name in X.columns if name not in X_new.columns]
    if missing:
        raise ValueError(f"X_new must have the columns of X, missing are {missing[:4]}")
    return X_new[X.columns]


def _matrix(name, values):
    array = checks.array(name, values)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have rows and columns, found shape {array.shape}")
    return checks.finite(name, array)


def _labels(Y, n_rows):
    Y = checks.array("Y", Y, missing=True)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.ndim != 2 or Y.shape[0] != n_rows or Y.shape[1] == 0:
        raise ValueError(f"Y must have one row for each of the {n_rows} rows of X, found shape {Y.shape}")
    unknown = np.setdiff1d(Y[~np.isnan(Y)], [0.0, 1.0])
    if unknown.size:
        raise ValueError(f"Y must hold 0, 1 or nan (not observed), found {unknown[:3].tolist()}")
    unseen = np.flatnonzero(np.isnan(Y).all(axis=0))
    if unseen.size:
        raise ValueError(f"Y must have an observed label in every task, found none in column {unseen[0]}")
    return Y


def _check_bag(n_rows, bag_frac):
    left_out = int(np.floor(bag_frac * n_rows))
    if left_out < n_rows and n_rows - left_out < 2:
        raise ValueError(f"ada draws bags of at least 2 rows; {n_rows} observed labels and bag_frac = {bag_frac:g} "
                         f"leave {n_rows - left_out}")


def _fraction(bag_frac):
    if checks.number("bag_frac", bag_frac) > 1:
        raise ValueError(f"bag_frac must lie between 0 and 1, found {bag_frac:g}")
    return float(bag_frac)


def _control(changes):
    """Arguments of rpart.control; of minsplit and minbucket, one left out follows the other, as in R."""
    if changes is None:
        return dict(_CONTROL)
    if not isinstance(changes, Mapping):
        raise TypeError(f"control must be a dict of arguments of rpart.control, found {type(changes).__name__}")
    unknown = sorted(str(name) for name in changes if name not in _CONTROL)
    if unknown:
        raise ValueError(f"control must hold arguments of rpart.control, found {unknown}")
    changes = {name: _setting(name, value) for name, value in changes.items()}
    if "minsplit" in changes:
        changes.setdefault("minbucket", round(changes["minsplit"] / 3))
    elif "minbucket" in changes:
        changes["minsplit"] = 3 * changes["minbucket"]
    return {**_CONTROL, **changes}


def _setting(name, value):
    """One argument of rpart.control."""
    if name in _WHOLE:
        return checks.whole(f"control[{name!r}]", value, *_WHOLE[name])
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"control[{name!r}] must be a number, found {value!r}")
    if not np.isfinite(value):
        raise ValueError(f"control[{name!r}] must be finite, found {value}")
    return float(value)
