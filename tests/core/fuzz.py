"""Any number of random whole problems:  python -m tests.core.fuzz 10000 [first seed].

Every fourth one is ill-conditioned, badly placed or large (see ``problems.draw_nasty``). The referee, which shares
no code with the solver, judges each answer. Prints each problem on which a promise is broken, then their number.
"""

import sys

import numpy as np

from fusedlr.solver import solve_newton
from tests.wide import Problem
from tests.wide import objective
from fusedlr.optimality import certify
from tests.core.problems import draw_nasty, draw_problem

TOL = 1e-7


def broken_promises(seed):
    """What the solver promised and did not keep on one random problem; an empty list if all is well."""
    kind, data, penalty, tasks = draw_nasty(seed // 4) if seed % 4 == 3 else ("usual", *draw_problem(seed))
    return [f"{kind}: {promise}" for promise in _broken(data, penalty, tasks)]


def _broken(data, penalty, tasks):
    solution = solve_newton(Problem.build(data, tasks), penalty, tol=TOL)
    if not np.isfinite(solution.params).all():
        return ["coefficients are not finite"]
    found = []
    value = objective(data, solution.params, penalty, tasks)
    if abs(value - solution.objective) > 1e-9 * (1 + value):
        found.append(f"objective {solution.objective!r} is really {value!r}")
    if solution.gap < -1e-11:
        found.append(f"negative gap {solution.gap:.1e}")
    if solution.status == "not_converged":
        found.append(f"not converged, gap {solution.gap:.1e}")
    if solution.status == "optimal":
        certificate = certify(Problem.build(data, tasks), solution.params, penalty)
        proved = certificate.relative_gap <= 10 * TOL if certificate.kind == "gap" else certificate.kkt <= 1e-5
        if certificate.relative_gap < -1e-11 or not proved:
            found.append(f"the referee sees a gap of {certificate.relative_gap:.1e} ({certificate.kind})")
    return found


def main(count, first=0):
    """Number of problems on which a promise was broken."""
    bad = 0
    for seed in range(first, first + count):
        for promise in broken_promises(seed):
            bad += 1
            sys.stdout.write(f"seed {seed}: {promise}\n")
    sys.stdout.write(f"{count - bad} passed, {bad} failed\n")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(*(int(word) for word in sys.argv[1:3]))))
