"""Rules for the fields of a saved page: functions of the field's path, its value and the sizes known so far.

A rule returns nothing, or raises a ValueError that names the field. Sizes map letters to
numbers; the first list or array that uses a letter sets its number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

__all__ = ["FLAG", "LABEL", "NAME", "NONE", "NUMBER", "SHARE", "TEXT", "WHOLE", "Rule", "Sizes", "bind", "either",
           "finite", "listed", "named", "names", "position", "record", "refuse", "row", "size", "word"]

Sizes = dict[str, int]
Rule = Callable[[str, Any, Sizes], None]


def refuse(where: str, rule: str, found: str) -> NoReturn:
    """Raise the error that says which field breaks which rule."""
    raise ValueError(f"{where} must {rule}, found {found}")


def bind(where: str, letter: str, length: int, sizes: Sizes) -> None:
    """Set a letter, or a sum such as "1+d", to a length; refuse where it has another already."""
    more, _, base = letter.rpartition("+")
    known = int(base) if base.isdigit() else sizes.setdefault(base, length - int(more or 0))
    if known + int(more or 0) != length:
        refuse(where, f"have size {known + int(more or 0)} along {letter}", str(length))


def listed(rule: Rule, letter: str = "", least: int = 0) -> Rule:
    """A list whose length is that of the letter; without a letter, of length at least ``least``."""
    def check(where: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, list) or len(value) < least:
            refuse(where, "be a list" + (f" of {least} or more" if least else ""), _shown(value))
        if letter:
            bind(where, letter, len(value), sizes)
        for k, entry in enumerate(value):
            rule(f"{where}[{k}]", entry, sizes)

    return check


def named(letter: str, least: int) -> Rule:
    """A list of names without duplicates."""
    every_one = listed(NAME, letter)

    def check(where: str, value: Any, sizes: Sizes) -> None:
        every_one(where, value, sizes)
        if len(value) < least or len(set(names(value))) < len(value):
            refuse(where, f"hold {least} names or more, none of them twice", _shown(value))

    return check


def names(listed: list) -> list:
    """Names with their tuples (columns of a MultiIndex), which JSON turns into lists."""
    return [tuple(name) if isinstance(name, list) else name for name in listed]


def row(*rules: Rule) -> Rule:
    """A list with one value for each rule."""
    def check(where: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, list) or len(value) != len(rules):
            refuse(where, f"be a list of {len(rules)}", _shown(value))
        for k, rule in enumerate(rules):
            rule(f"{where}[{k}]", value[k], sizes)

    return check


def size(letter: str) -> Rule:
    """The number that a letter, or a sum such as "1+d", stands for."""
    def check(where: str, value: Any, sizes: Sizes) -> None:
        WHOLE(where, value, sizes)
        bind(where, letter, value, sizes)

    return check


def position(letter: str) -> Rule:
    """A position in a list whose length is that of the letter."""
    def check(where: str, value: Any, sizes: Sizes) -> None:
        WHOLE(where, value, sizes)
        more, _, base = letter.rpartition("+")
        if value >= sizes[base] + int(more or 0):
            refuse(where, f"be less than {sizes[base] + int(more or 0)}", str(value))

    return check


def record(rules: Mapping[str, Rule]) -> Rule:
    """A dict with exactly these fields."""
    def check(where: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict) or set(value) != set(rules):
            refuse(where, f"hold exactly {', '.join(rules)}", _shown(value))
        for field, rule in rules.items():
            rule(f"{where}.{field}", value[field], sizes)

    return check


def either(*rules: Rule) -> Rule:
    """A value that satisfies one of the rules; the message is that of the last."""
    def check(where: str, value: Any, sizes: Sizes) -> None:
        for rule in rules[:-1]:
            try:
                return rule(where, value, sizes)
            except ValueError:
                continue
        rules[-1](where, value, sizes)

    return check


def word(*known: str) -> Rule:
    """One of the known words."""
    return _plain(f"be one of {', '.join(known)}", lambda value: isinstance(value, str) and value in known)


def _plain(rule: str, holds: Callable[[Any], bool]) -> Rule:
    def check(where: str, value: Any, sizes: Sizes) -> None:
        if not holds(value):
            refuse(where, rule, _shown(value))

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite(least: float = -math.inf) -> Rule:
    """A finite number, not below ``least``."""
    rule = "be a finite number" + (f", at least {least:g}" if least > -math.inf else "")
    return _plain(rule, lambda value: _is_number(value) and math.isfinite(value) and value >= least)


NONE = _plain("be null", lambda value: value is None)
FLAG = _plain("be true or false", lambda value: isinstance(value, bool))
TEXT = _plain("be text", lambda value: isinstance(value, str))
WHOLE = _plain("be a whole number, not negative",
               lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0)
NUMBER = _plain("be a number", _is_number)
SHARE = _plain("lie between 0 and 1", lambda value: _is_number(value) and 0 < value < 1)
LABEL = _plain("be text, a number, true or false", lambda value: isinstance(value, (str, int, float)))
NAME = _plain("be text, a number, or a list of these",
              lambda value: isinstance(value, (str, int, float)) or
              isinstance(value, list) and all(isinstance(part, (str, int, float)) or part is None for part in value))
