"""Fused elastic-net logistic regression: several yes/no outcomes in a natural order, fitted jointly."""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "FusedLogit": "model",
    "FusedLogitResults": "results",
    "Grid": "grid",
    "TaskGraph": "tasks",
    "FusedLogitWarning": "exceptions",
    "ConvergenceWarning": "exceptions",
    "SeparationWarning": "exceptions",
    "OneClassWarning": "exceptions",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    """Import a public name when it is first used, so that ``import fusedlr`` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'fusedlr' has no attribute {name!r}")
    value = getattr(import_module(f"fusedlr.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
