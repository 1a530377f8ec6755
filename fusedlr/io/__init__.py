"""Saved results: what a file holds (``schema``), rules for its fields (``rules``), and the file itself (``npz``).

Nothing here knows a type of the package: classes declare what is saved of them, and results
register the kind of file that they are restored from.
"""

from .npz import load, save
from .rules import (FLAG, LABEL, NAME, NONE, NUMBER, SHARE, TEXT, WHOLE, either, finite, listed, named, names, position,
                    record, refuse, row, size, word)
from .schema import STATUS, Array, Nested, Parts, Plain, registered, saved

__all__ = ["FLAG", "LABEL", "NAME", "NONE", "NUMBER", "SHARE", "STATUS", "TEXT", "WHOLE", "Array", "Nested", "Parts",
           "Plain", "either", "finite", "listed", "load", "named", "names", "position", "record", "refuse",
           "registered", "row", "save", "saved", "size", "word"]
