"""The file format of a saved object, read off the fields of its dataclass.

A field is saved by the rule that it was declared with, ``saved(rule)``, or ``saved()`` if its
annotation is a plain number, text or flag; any other field is left out and has a default.
Arrays go into the file under the path of their field (``problem.labels.row``), plain values onto a page
of JSON, nested as the objects are. Cached properties that are computed from the data and must
outlive them are listed in ``computed`` of their class.

Letters of shapes are sizes: n rows, d features, t tasks, m labels, p values of a refit,
r resamples or halves, g points of a grid, f folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .rules import FLAG, NONE, NUMBER, TEXT, WHOLE, Rule, Sizes, either, record, refuse, word

__all__ = ["STATUS", "Array", "Nested", "Parts", "Plain", "arrays_of", "pack", "registered", "rules_of", "saved",
           "unpack"]

# Classes by the kind of file, or of part of a file, that they are restored from.
KINDS: dict[str, type] = {}


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Array:
    """The rule for an array of a file.

    Attributes
    ----------
    shape : tuple of str
        Sizes by letter, as ``("n", "1+d")``. A letter stands for the same number in all of a file.
    kind : str
        Kinds of types as numpy abbreviates them: "f" for floats, "i" for whole numbers.
    least : float
        Lowest number.
    most : float
        Largest absolute value.
    below : str
        The letter of a size that every number must be less than, where not empty.
    among : tuple of int
        The only numbers there may be, where not empty.
    optional : bool
        Whether None may stand in its place.
    gaps : bool
        Whether NaN may stand among floats; infinity never.
    pack, unpack : function
        From what the object has to an array, and back.
    """

    shape: tuple[str, ...]
    kind: str = "f"
    least: float = -np.inf
    most: float = np.inf
    below: str = ""
    among: tuple[int, ...] = ()
    optional: bool = False
    gaps: bool = False
    pack: Callable[[Any], np.ndarray] = np.asarray
    unpack: Callable[[np.ndarray], Any] = _as_it_is


@dataclass(frozen=True)
class Parts:
    """A value that is kept as one of several sets of arrays.

    Attributes
    ----------
    rules : mapping of str to Array
        Optional arrays by name, which is put behind that of the field; "" is the field's own.
    pack, unpack : function
        From what the object has to arrays by these names, and back from the field's name and those.
    """

    rules: Mapping[str, Array]
    pack: Callable[[Any], dict[str, np.ndarray]]
    unpack: Callable[[str, dict[str, np.ndarray]], Any]

    def named(self, name: str) -> dict[str, str]:
        """Names of the arrays in a file by their names here."""
        return {part: f"{name}.{part}" if part else name for part in self.rules}


@dataclass(frozen=True)
class Plain:
    """A value on the page: its rule, and its conversion to plain values and back."""

    rule: Rule
    pack: Callable[[Any], Any] = _as_it_is
    unpack: Callable[[Any], Any] = _as_it_is


@dataclass(frozen=True)
class Nested:
    """An object with fields of its own: of a class, or of one of several by the name of its kind."""

    of: Any
    optional: bool = False

    def of_kind(self, kind: str | None) -> type:
        """The class that a part of a file belongs to."""
        if isinstance(self.of, str):
            return KINDS[self.of]
        return self.of[kind] if isinstance(self.of, Mapping) else self.of


STATUS = Plain(word("optimal", "separated", "not_converged"))

_BY_ANNOTATION = {"float": Plain(NUMBER), "int": Plain(WHOLE), "str": Plain(TEXT), "bool": Plain(FLAG)}


def saved(rule: Array | Parts | Plain | Nested | None = None, **more: Any) -> Any:
    """A dataclass field that is saved by a rule, or by the one for its annotation."""
    return field(metadata={"saved": rule}, **more)


def registered(kind: str) -> Callable[[type], type]:
    """A class decorator: files of this kind are restored as the class."""
    def register(cls: type) -> type:
        cls.kind = kind  # type: ignore[attr-defined]
        KINDS[kind] = cls
        return cls

    return register


def pack(thing: Any, cls: type) -> tuple[dict, dict[str, np.ndarray]]:
    """An object as plain values and arrays by name, as its class or a parent class declares them."""
    page: dict = {}
    arrays: dict[str, np.ndarray] = {}
    for name, rule in _parts(cls).items():
        value = getattr(thing, name)
        if isinstance(rule, Array):
            arrays.update({} if value is None else {name: rule.pack(value)})
        elif isinstance(rule, Parts):
            arrays.update({rule.named(name)[part]: array for part, array in rule.pack(value).items()})
        elif isinstance(rule, Plain):
            page[name] = rule.pack(value)
        elif value is None:
            page[name] = None
        else:
            several = isinstance(rule.of, Mapping)
            inner, parts = pack(value, type(value) if several else rule.of_kind(None))
            page[name] = {"kind": value.kind, **inner} if several else inner
            arrays.update({f"{name}.{part}": array for part, array in parts.items()})
    return page, arrays


def unpack(cls: type, page: Mapping, arrays: Mapping[str, np.ndarray], prefix: str = "") -> Any:
    """An object of a class from its page and arrays, which have been checked."""
    thing: Any = object.__new__(cls)
    rules = _parts(cls)
    known = {f.name: f.default_factory() if callable(f.default_factory) else f.default for f in fields(cls)
             if f.name not in rules}
    for name, rule in rules.items():
        if isinstance(rule, Array):
            found = arrays.get(prefix + name)
            known[name] = None if found is None else rule.unpack(found)
        elif isinstance(rule, Parts):
            names = rule.named(prefix + name)
            known[name] = rule.unpack(prefix + name, {part: arrays[full] for part, full in names.items()
                                                      if full in arrays})
        elif isinstance(rule, Plain):
            known[name] = rule.unpack(page[name])
        else:
            inner = page[name]
            known[name] = None if inner is None else unpack(
                rule.of_kind(inner.get("kind")), inner, arrays, f"{prefix}{name}.")
    thing.__dict__.update(known)
    if hasattr(thing, "check_loaded"):
        thing.check_loaded()
    return thing


def rules_of(cls: type) -> dict[str, Rule]:
    """A rule for each field of the page of a class."""
    rules = {}
    for name, rule in _parts(cls).items():
        if isinstance(rule, Plain):
            rules[name] = rule.rule
        elif isinstance(rule, Nested):
            rules[name] = _nested(rule)
    return rules


def arrays_of(cls: type, page: Mapping) -> dict[str, Array]:
    """Arrays of a class by name, given a page that has been checked."""
    found = {}
    for name, rule in _parts(cls).items():
        if isinstance(rule, Array):
            found[name] = rule
        elif isinstance(rule, Parts):
            found.update({full: rule.rules[part] for part, full in rule.named(name).items()})
        elif isinstance(rule, Nested) and page[name] is not None:
            inner = arrays_of(rule.of_kind(page[name].get("kind")), page[name])
            found.update({f"{name}.{part}": array for part, array in inner.items()})
    return found


def _parts(cls: type) -> dict[str, Array | Parts | Plain | Nested]:
    """Names and rules of all that is saved of an object."""
    declared = {f.name: f.metadata["saved"] or _BY_ANNOTATION[str(f.type)] for f in fields(cls)
                if "saved" in f.metadata}
    return {**declared, **getattr(cls, "computed", {})}


def _nested(rule: Nested) -> Rule:
    def check(where: str, value: Any, sizes: Sizes) -> None:
        if isinstance(rule.of, Mapping):
            kind = value.get("kind") if isinstance(value, dict) else None
            if not isinstance(kind, str) or kind not in rule.of:
                refuse(f"{where}.kind", f"be one of {', '.join(rule.of)}", repr(kind))
            record({"kind": TEXT, **rules_of(rule.of[kind])})(where, value, sizes)
        else:
            record(rules_of(rule.of_kind(None)))(where, value, sizes)

    return either(NONE, check) if rule.optional else check
