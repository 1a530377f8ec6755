"""A short name for the code that a result depends on, which changes only when that code does.

What counts is read off the imports: a script, the modules of the package that it imports, what these import, and so on.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["LEFT_OUT", "code_of", "fingerprint", "sources"]

#: Modules that show, draw, store or parse fits, or say how sure they are, and change no number of the study.
LEFT_OUT = ("formula", "inference", "plots", "results", "storage", "summary")
#: A compiled module stands for these files beside it; the C++ that Cython writes is not one of them.
COMPILED = ("*.pyx", "*.hpp", "core*.cpp")


def fingerprint(script: Path, package: Path) -> Any:
    """Twelve hexadecimal digits that stand for the code of a script and of all that it imports from a package.

    Comments, docstrings and blank lines of Python files change no result and do not count.

    Parameters
    ----------
    script : Path
    package : Path
        Folder of the package.
    """
    digest = hashlib.sha256()
    for path in sources(script, package):
        text = path.read_text(encoding="utf-8")
        digest.update((code_of(text) if path.suffix == ".py" else text).encode() + b"\0")
    return digest.hexdigest()[:12]


def sources(script: Path, package: Path) -> list:
    """Files that a script's result depends on: itself, then those of the package in order of their names.

    Parameters
    ----------
    script, package : Path

    Returns
    -------
    list of Path
    """
    script, package = Path(script), Path(package)
    found, waiting = set(), _imported(script, package)
    while waiting:
        path = waiting.pop()
        if path not in found and path.relative_to(package).parts[0].removesuffix(".py") not in LEFT_OUT:
            found.add(path)
            waiting |= _imported(path, package)
    return [script, *sorted(found)]


@lru_cache(maxsize=None)
def code_of(text: str) -> Any:
    """The lines of a Python file without comments and docstrings; the same whichever Python reads them."""
    lines = text.splitlines()
    for (row, column), (last, end) in sorted([*_comments(text), *_docstrings(text, lines)], reverse=True):
        lines[row - 1:last] = [lines[row - 1][:column] + lines[last - 1][end:]]
    return "\n".join(line.rstrip() for line in lines if line.strip())


@lru_cache(maxsize=None)
def _nodes(text):
    """All parts of a Python file that may hold an import or a docstring. Rules share modules, each parsed once."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def _comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start, token.end


def _docstrings(text, lines):
    """Where docstrings begin and end: rows from 1, columns in characters (the parser counts bytes)."""
    for node in _nodes(text):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                said = node.body[0]
                yield tuple((row, len(lines[row - 1].encode()[:column].decode())) for row, column in (
                    (said.lineno, said.col_offset), (said.end_lineno, said.end_col_offset)))


def _imported(path, package):
    """Files of the package that a file imports, wherever in it the import stands."""
    if path.suffix != ".py":
        return set()
    found = set()
    for node in _nodes(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found.update(*(_files(alias.name.split("."), package) for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, path, package)
            found.update(*(_files([*origin, alias.name], package) for alias in node.names))
    return found - {path}


def _origin(node, path, package):
    """Full name of what a ``from`` names, in parts."""
    named = node.module.split(".") if node.module else []
    if not node.level:
        return named
    above = path.relative_to(package.parent).parent.parts
    return [*above[:len(above) - node.level + 1], *named]


def _files(name, package):
    """Files behind a full name, which may end in a name inside a module; none outside of the package."""
    if name[0] != package.name:
        return set()
    for length in range(len(name), 0, -1):
        place = package.parent.joinpath(*name[:length])
        if place.with_suffix(".py").is_file():
            return {place.with_suffix(".py")}
        if place.with_suffix(".pyx").is_file():
            return {path for pattern in COMPILED for path in place.parent.glob(pattern)}
        if (place / "__init__.py").is_file():
            return _behind(place / "__init__.py", name[length:], package)
    return set()


def _behind(face, names, package):
    """Files behind a name of a package's ``__init__``: where that imports it from, or else the ``__init__`` itself."""
    for node in _nodes(face.read_text(encoding="utf-8")):
        if isinstance(node, ast.ImportFrom) and names and names[0] in [alias.asname or alias.name
                                                                       for alias in node.names]:
            origin = _origin(node, face, package)
            if origin[:1] == [package.name] and len(origin) > len(face.relative_to(package.parent).parts) - 1:
                return _files([*origin, names[0]], package)
    return {face}
