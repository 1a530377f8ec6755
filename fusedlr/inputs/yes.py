"""Which of two labels is yes: what the user says, what the words say, or their order."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import checks
from ..exceptions import YesWarning

__all__ = ["Pair", "pair_of_words", "read_yes", "warn_unlike"]

NO = frozenset("""no n false f control controls none never absent alive survived survivor censored negative neg - 0 -1
               off failure fail failed healthy normal low below unexposed""".split())
YES = frozenset("""yes y true t case cases event some ever present dead died deceased death positive pos + 1
                on success pass passed sick ill diseased abnormal high above exposed""".split())
NEGATIONS = ("no ", "not ", "no_", "not_", "no-", "not-", "non-", "non", "un", "without ")


class Pair(NamedTuple):
    """The two labels of a task, and whether it is certain which is yes: the user or the words say so."""

    no: Any
    yes: Any
    certain: bool


def pair_of_words(words: Sequence[str]) -> Pair:
    """Two words as (no, yes): by what they mean, else in the order of the alphabet, upper and lower case alike."""
    first, second = sorted(words, key=lambda word: (word.casefold(), word))
    forth, back = _means(first, second), _means(second, first)
    return Pair(second, first, True) if back and not forth else Pair(first, second, forth)


def read_yes(yes: Any, tasks: list) -> list:
    """The label that is yes in each task, None where the user left it open: one for all, one a task, or by name."""
    if yes is None or isinstance(yes, (str, bool, int, float, np.generic)):
        return [yes] * len(tasks)
    if isinstance(yes, (pd.Series, Mapping)):
        unknown = [name for name in yes.keys() if name not in tasks]
        if unknown:
            raise ValueError(f"yes names tasks that endog does not have, found {unknown[:4]}; it has {tasks[:6]}")
        return [yes.get(name) for name in tasks]
    listed = checks.listed("yes", yes)
    if len(listed) != len(tasks):
        raise ValueError(f"yes must be one label, or one for each of {len(tasks)} tasks, found {len(listed)}")
    return listed


def warn_unlike(pairs: Mapping[Any, Pair], stacklevel: int) -> None:
    """Warn where yes may mean opposite things in two tasks, whose coefficients are pulled together all the same."""
    for name, pair in pairs.items():
        other = next((task for task in pairs if _unlike(pair, pairs[task])), None)
        if other is not None:
            second = pairs[other]
            warnings.warn(f"yes is {pair.yes!r} (not {pair.no!r}) in task {name!r} but {second.yes!r} (not "
                          f"{second.no!r}) in task {other!r}: fusion would pull opposite effects together if these "
                          "mean opposite things; say which label is yes, as in "
                          f"yes={{{name!r}: {pair.yes!r}, {other!r}: {second.yes!r}}}", YesWarning,
                          stacklevel=stacklevel)
            return


def _unlike(one: Pair, two: Pair) -> bool:
    """Whether two pairs may have opposite signs: the same words turned round, or other words put in order by chance."""
    first, second = (_plain(pair.no, pair.yes) for pair in (one, two))
    return first == second[::-1] or (first != second and not (one.certain and two.certain))


def _plain(*labels: Any) -> tuple:
    return tuple(str(label).strip().casefold() for label in labels)


def _means(no: str, yes: str) -> bool:
    """Whether two words can be (no, yes) by their meaning."""
    no, yes = _plain(no, yes)
    return (no in NO and yes in YES) or any(no == negation + yes for negation in NEGATIONS)
