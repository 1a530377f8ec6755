"""A grid of penalties that suits the data, and where it ends.

The ends are the smallest l1 with empty support and the smallest fusion that ties all tasks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..metrics import PENALTIES, labelled_rows
from ..problem import Problem
from ..solver import by_row

__all__ = ["PenaltyLimits", "default_penalties", "fusion_limit", "l1_limit", "penalty_limits"]


class PenaltyLimits(NamedTuple):
    """Ends of a grid of penalties.

    Attributes
    ----------
    l1 : float
        Smallest l1 at which every coefficient is zero.
    fusion : float
        Smallest fusion at which all tasks are equal, up to intercepts that are not fused.
    """

    l1: float
    fusion: float


def default_penalties(problem: Problem) -> dict[str, np.ndarray]:
    """A grid of penalties that suits the data: 10 of l1, 3 of l2, 9 of fusion.

    l1 falls from the smallest with empty support to a thousandth of it (a
    hundredth where there are not more rows than features). l2 is 0, and 3 % and 30 % of
    the mean curvature of the loss in one coefficient, which shrinks a coefficient of a
    lone feature by about as much. fusion is 0, then rises over three powers of ten to the
    smallest that ties all tasks (intercepts too, where these are fused), at three values of l1.

    Returns
    -------
    dict of ndarray
        l1, l2 and fusion.
    """
    return dict(zip(PENALTIES, _rows(problem).default_grid(*_factors(problem))))


def penalty_limits(problem: Problem, l1: Any = 0.0, l2: Any = 0.0, fusion: Any = 0.0) -> PenaltyLimits:
    """Smallest l1 at which every coefficient is zero, and smallest fusion at which all tasks are equal.

    The first is taken at ``fusion``, the second at ``l1`` and ``l2``; see :func:`l1_limit`
    and :func:`fusion_limit`.

    Returns
    -------
    PenaltyLimits
        A named tuple (l1, fusion).
    """
    return PenaltyLimits(l1_limit(problem, fusion), fusion_limit(problem, l1, l2))


def l1_limit(problem: Problem, fusion: Any = 0.0) -> float:
    """Smallest l1 at which every penalized coefficient is zero.

    Intercepts and unpenalized features (penalty factor 0) are fitted first; at the limit the
    gradient of the others meets the KKT conditions at zero. It does not depend on l2. Fusion
    helps to hold coefficients at zero, but it also moves fused intercepts, so the limit can
    fall or rise with fusion.

    Parameters
    ----------
    problem : problem.Problem
    fusion : float or array_like, shape (1 + d,)

    Returns
    -------
    float
        0 if every feature is unpenalized.
    """
    return _rows(problem).l1_limit(*_factors(problem), problem.penalty(0.0, 0.0, fusion).fusion)


def fusion_limit(problem: Problem, l1: Any = 0.0, l2: Any = 0.0) -> float:
    """Smallest fusion at which all tasks have the same coefficients and, where these are fused, the same intercept.

    In a disconnected graph, equal within each connected component; features of fusion factor 0
    are free. The model with these ties is fitted at l1 and l2 first; the limit is the least bound
    on the dual variable (slope) of any edge such that they cancel the gradient of each task. With
    l1 = l2 = 0 and no more rows than values this model has no unique fit; an l2 of a thousandth
    of the mean curvature of the loss is used instead.

    Parameters
    ----------
    problem : problem.Problem
    l1, l2 : float or array_like, shape (1 + d,)

    Returns
    -------
    float
        0 if no two tasks are neighbours, or nothing is fused.
    """
    penalty = problem.penalty(l1, l2, 0.0)
    return _rows(problem).fusion_limit(*_factors(problem), penalty.l1, penalty.l2)


def _rows(problem):
    return labelled_rows(problem.design, problem.labels, problem.tasks)


def _factors(problem):
    return by_row(problem.factors), np.ascontiguousarray(problem.scale, dtype=float)
