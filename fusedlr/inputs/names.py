"""Names of rows, tasks and features: alike where they must be, and not twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

__all__ = ["by_name", "check_index", "refuse_duplicates"]


def check_index(index: pd.Index | None, other: pd.Index | None, argument: str, reference: str = "endog") -> None:
    """Refuse rows of two pandas objects that do not carry the same labels in the same order."""
    if index is None or other is None or index.equals(other):
        return
    if len(index) == len(other) and index.isin(other).all():
        found = "the same labels in another order"
        way_out = f"use {argument}.loc[{reference}.index]"
    else:
        found = f"{len(other)} and {len(index)} rows" if len(index) != len(other) else "other labels"
        way_out = f"align them, or hand in {argument}.to_numpy() if the order is right"
    raise ValueError(f"{argument} must have the index of {reference}, found {found}; {way_out}")


def refuse_duplicates(argument: str, names: list) -> None:
    """Refuse a name that comes twice."""
    repeated = sorted(str(name) for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise ValueError(f"{argument} must not repeat a name, found {repeated[:4]} more than once; rename or drop")


def by_name(argument: str, values: pd.Series | Mapping, names: list) -> dict:
    """Values by the name of a feature, all of them known."""
    given = dict(values)
    if len(given) != len(values):
        raise ValueError(f"{argument} must not repeat a name")
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"{argument} names features that the model does not have, found {unknown[:4]}; "
                         f"it has {names[:6]}{' ...' * (len(names) > 6)}")
    return given
