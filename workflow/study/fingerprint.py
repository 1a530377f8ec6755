"""A hash of the code that a result depends on, which changes only when that code does.

It covers a script and, transitively, the modules that it imports from this project's packages.
"""

import ast
import hashlib
import io
import tokenize
from functools import cache
from pathlib import Path

__all__ = ["code_of", "digest", "fingerprint", "sources"]

#: A compiled module stands for these files beside it; the C++ that Cython writes is not one of them.
COMPILED = ("*.pyx", "*.hpp", "core*.cpp")


def digest(*paths: Path) -> str:
    """Twelve hexadecimal digits of a hash over the bytes of files."""
    return hashlib.sha256(b"".join(Path(path).read_bytes() for path in paths)).hexdigest()[:12]


def fingerprint(script: Path, *packages: Path) -> str:
    """Twelve hexadecimal digits of a hash over the code of a script and of all that it imports from some packages.

    Packages are given by their folders. Comments, docstrings and blank lines of Python files do not count.
    """
    texts = [(path.suffix, path.read_text(encoding="utf-8")) for path in sources(script, *packages)]
    code = "\0".join(code_of(text) if suffix == ".py" else text for suffix, text in texts)
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def sources(script: Path, *packages: Path) -> list[Path]:
    """Files that a script's result depends on: itself, then those of the packages in order of their names."""
    homes = {Path(package).name: Path(package) for package in packages}
    found, waiting = set(), _imported(Path(script), homes)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting |= _imported(path, homes)
    return [Path(script), *sorted(found)]


@cache
def code_of(text: str) -> str:
    """The lines of a Python file without comments and docstrings; the same whichever Python reads them."""
    lines = text.splitlines()
    for (row, column), (last, end) in sorted([*_comments(text), *_docstrings(text, lines)], reverse=True):
        lines[row - 1:last] = [lines[row - 1][:column] + lines[last - 1][end:]]
    return "\n".join(line.rstrip() for line in lines if line.strip())


@cache
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


def _imported(path, homes):
    """Files of the packages that a file imports, wherever in it the import stands."""
    if path.suffix != ".py":
        return set()
    found = set()
    for node in _nodes(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found.update(*(_files(alias.name.split("."), homes) for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, path, homes)
            found.update(*(_files([*origin, alias.name], homes) for alias in node.names))
    return found - {path}


def _origin(node, path, homes):
    """Full name of what a ``from`` names, in parts."""
    named = node.module.split(".") if node.module else []
    if not node.level:
        return named
    home = next(home for home in homes.values() if home in path.parents)
    above = path.relative_to(home.parent).parent.parts
    return [*above[:len(above) - node.level + 1], *named]


def _files(name, homes):
    """Files behind a full name, which may end in a name inside a module; none outside of the packages."""
    for length in range(len(name), 0, -1) if name[0] in homes else ():
        place = homes[name[0]].joinpath(*name[1:length])
        if length > 1 and place.with_suffix(".py").is_file():
            return {place.with_suffix(".py")}
        if length > 1 and place.with_suffix(".pyx").is_file():
            return {path for pattern in COMPILED for path in place.parent.glob(pattern)}
        if (place / "__init__.py").is_file():
            return _behind(place / "__init__.py", name[:length], name[length:], homes)
    return set()


def _behind(face, package, names, homes):
    """Files behind a name of a package's ``__init__``: the submodule that has it, or else the ``__init__`` itself."""
    for node in _nodes(face.read_text(encoding="utf-8")) if names else ():
        if isinstance(node, ast.ImportFrom) and names[0] in [alias.asname or alias.name for alias in node.names]:
            origin = _origin(node, face, homes)
            if len(origin) > len(package) and origin[:len(package)] == package:
                return _files([*origin, names[0]], homes)
    return {face}
