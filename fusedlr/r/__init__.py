"""R beside the model: ``ada`` and ``glmnet`` with the same numbers as R itself, and R objects both ways.

Only this folder imports rpy2, and only when a function is first called: importing
it starts nothing and needs no R.
"""

from importlib import import_module

_HOMES = {
    "AdaResult": "ada",
    "boost": "ada",
    "from_r": "objects",
    "to_r": "objects",
    "RError": "session",
    "RMissingError": "session",
    "RWarning": "session",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'fusedlr.r' has no attribute {name!r}")
    value = getattr(import_module(f"fusedlr.r.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
