"""Warnings that a fit can raise. Each says what happened, in which task, and what to do."""


class FusedLogitWarning(UserWarning):
    """Parent of every warning of this package, so that one filter catches all."""


class ConvergenceWarning(FusedLogitWarning):
    """The solver stopped before the duality gap reached the tolerance."""


class SeparationWarning(FusedLogitWarning):
    """The data are separated: without penalty no finite minimiser exists."""


class OneClassWarning(FusedLogitWarning):
    """Every observed label of a task is the same."""
