"""The referee: an optimality certificate for any point, whoever computed it.

Weak duality gives a proof that needs no trust in a solver. For every a in [0, 1],
with slopes C = [1, X]'(weights * signs * a) and H the binary entropy,

    D(a) = sum weights * (H(a) - a * signs * offset) - sum_l Omega*_l(C_l)

is at most the minimum of the objective, so objective - D(a) bounds the suboptimality of
any point. Omega*_l, the conjugate of the penalty of row l, depends on what the row
carries. A *split* of c is c = u + D'v + rest with abs(u) <= l1 on the tasks and
abs(v) <= fusion * weight on the edges, D taking differences along the edges.

- l2 > 0: the least ||rest||^2 / (2 l2) over all splits. Any split gives a value that is
  too large, never too small, so an inexact split weakens the proof but cannot break it.
- l2 = 0: 0 if c has a split without rest, else infinite. The least s such that c / s has
  one is the *gauge* (dual norm) of c; dividing a by the largest gauge makes a feasible.
- l1 = l2 = 0 (the intercept, features with penalty factor 0): besides, the slopes of each
  connected group of tasks must sum to 0. a is moved, within its weights, until they do.

a = 0 is always feasible and gives D = 0. Where nothing better is found, typically because
the data are separated and rows are unpenalized, the gap says little and the violation of
the KKT conditions is what certifies: ``Certificate.kind`` tells.

Nothing here imports a solver.
"""

from .certificate import Certificate, certify, kkt_violation

__all__ = ["Certificate", "certify", "kkt_violation"]
