"""Warnings that a fit can raise. Each says what happened, in which task, and what to do."""


class FusedLogitWarning(UserWarning):
    """Parent of every warning of this package, so that one filter catches all."""


class ConvergenceWarning(FusedLogitWarning):
    """The solver stopped before the duality gap reached the tolerance."""


class SeparationWarning(FusedLogitWarning):
    """The data are separated: without penalty no finite minimiser exists."""


class GridEdgeWarning(FusedLogitWarning):
    """The chosen penalties lie at an end of the grid, beyond which a better fit may be."""


class CollinearWarning(FusedLogitWarning):
    """Features that cannot be told apart, or that do not vary."""


class OneClassWarning(FusedLogitWarning):
    """Every observed label of a task is the same."""


class CrossingWarning(FusedLogitWarning):
    """Fitted probabilities to be above a level rise with the level in some rows, and were put in order."""
