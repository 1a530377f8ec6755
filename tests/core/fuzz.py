"""Any number of random whole problems:  python -m tests.core.fuzz 10000 [first seed].

Every fourth one is ill-conditioned, badly placed or large (see ``problems.draw_nasty``), every sixteenth has fused
intercepts and columns far from zero (``problems.draw_far``), every eighth has sparse features, and every sixteenth is
a path of many more features than rows (``problems.draw_path``). The referee, which shares no code with the solver,
judges each answer, and no gap, of a rough solve neither, may be below the distance to the best objective known. Prints
each problem on which a promise is broken, then their number.
"""

import sys
from dataclasses import replace

import numpy as np
from scipy.sparse import csc_array

from fusedlr.optimality import certify
from fusedlr.solver import NewtonSolver, solve_newton
from tests.core.problems import draw_far, draw_nasty, draw_path, draw_problem, draw_sparse
from tests.wide import Problem, gap_unit, objective

TOL = 1e-7


def broken_promises(seed):
    """What the solver promised and did not keep on one random problem; an empty list if all is well."""
    if seed % 16 == 14:
        problem, points = draw_path(seed // 16)
        stored = _sparse(problem) if seed % 48 == 14 else problem
        return [f"path: {promise}" for promise in broken_on_path(stored, points)]
    kind, data, penalty, tasks = _draw(seed)
    rough = (1e-2, 1e-3, 1e-4, 1e-5)[seed // 16 % 4]
    problem = Problem.build(data, tasks)
    if kind == "sparse":
        problem = _sparse(problem)
    promises = [*_broken(problem, data, penalty), *understated(problem, data, penalty, rough)]
    return [f"{kind}: {promise}" for promise in promises]


def _sparse(problem):
    return replace(problem, design=replace(problem.design, X=csc_array(problem.design.X)))


def _draw(seed):
    if seed % 4 == 3:
        return draw_nasty(seed // 4)
    if seed % 8 == 5:
        return "sparse", *draw_sparse(seed)
    return ("far fused intercepts", *draw_far(seed // 16)) if seed % 16 == 6 else ("usual", *draw_problem(seed))


def understated(problem, data, penalty, rough):
    """Gaps below what is known about the distance to the optimum."""
    solutions = [solve_newton(problem, penalty, tol=tol) for tol in (rough, TOL, 1e-11)]
    least = min(solution.objective for solution in solutions)
    for tol, solution in zip((rough, TOL), solutions):
        distance = (solution.objective - least) / gap_unit(data, solution.objective)
        if solution.gap < distance - 1e-13:
            yield f"at tol {tol:g} the gap is said to be {solution.gap:.1e} and is at least {distance:.1e}"


def broken_on_path(problem, points):
    """The same at every point of a path, rough or not: wrong statuses and gaps that are too small or not proved."""
    for tol in (1e-3, TOL):
        params, reports = NewtonSolver(problem).solve_points(points, tol)
        for point, found, (value, gap, status, *_) in zip(points, params, reports):
            penalty = problem.penalty(*point)
            where = f"at {point.tolist()} and tol {tol:g}"
            really = objective(problem.data, found, penalty, problem.tasks)
            exact = solve_newton(problem, penalty, tol=1e-11, start=found)
            unit = gap_unit(problem.data, value)
            if status or gap > tol:
                yield f"{where} status {int(status)} and gap {gap:.1e}"
            if abs(really - value) > 1e-9 * unit:
                yield f"{where} objective {value!r} is really {really!r}"
            if gap < (value - exact.objective) / unit - 1e-13 or gap < -1e-11:
                yield f"{where} the gap is said to be {gap:.1e} and is at least {(value - exact.objective) / unit:.1e}"
            if tol == TOL and (proved := certify(problem, found, penalty).relative_gap) > 30 * TOL:
                yield f"{where} the referee sees a gap of {proved:.1e}"


def _broken(problem, data, penalty):
    solution = solve_newton(problem, penalty, tol=TOL)
    if not np.isfinite(solution.params).all():
        return ["coefficients are not finite"]
    found = []
    value = objective(data, solution.params, penalty, problem.tasks)
    if abs(value - solution.objective) > 1e-9 * (1 + value):
        found.append(f"objective {solution.objective!r} is really {value!r}")
    if solution.gap < -1e-11:
        found.append(f"negative gap {solution.gap:.1e}")
    if solution.status == "not_converged":
        found.append(f"not converged, gap {solution.gap:.1e}")
    if solution.status == "optimal":
        certificate = certify(problem, solution.params, penalty)
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
