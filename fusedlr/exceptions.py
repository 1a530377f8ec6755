"""Warnings that a fit can raise. Each says what happened, in which task, and what to do."""


class FusedLogitWarning(UserWarning):
    """Parent of every warning of this package, so that one filter catches all."""


class ConvergenceWarning(FusedLogitWarning):
    """The solver stopped before the duality gap reached the tolerance."""


class SeparationWarning(FusedLogitWarning):
    """Complete or quasi-complete separation (Albert, Anderson 1984): no finite minimiser exists without penalty."""


class GridEdgeWarning(FusedLogitWarning):
    """The chosen penalties lie at an end of the grid, beyond which a better fit may be."""


class CollinearWarning(FusedLogitWarning):
    """Features that are constant, or affine copies of each other."""


class OneClassWarning(FusedLogitWarning):
    """All observed labels of a task are the same."""


class CrossingWarning(FusedLogitWarning):
    """Fitted P(> level) rises with the level in some rows, and was put in order."""


class LeftOutWarning(FusedLogitWarning):
    """Events or labels of the data that the model does not use."""


class YesWarning(FusedLogitWarning):
    """The words of two tasks differ, and which of them is yes may mean opposite things."""
