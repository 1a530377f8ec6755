"""Ctrl-C reaches a running solve."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from fusedlr.solver import NewtonSolver
from tests.wide import Data, Penalty
from tests.wide import Problem
from fusedlr.tasks import TaskGraph


@pytest.mark.parametrize("penalties", [(1e-4, 1e-4, 1e-4), (0.0, 0.0, 1e-4)], ids=["penalised", "separated"])
def test_ctrl_c_ends_a_long_solve_and_the_solver_lives_on(penalties):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3000))
    Y = rng.integers(0, 2, size=(400, 4)).astype(float)
    solver = NewtonSolver(Problem.build(Data.from_arrays(X, Y), TaskGraph.chain(4)))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt, match="^$"):
        for _ in range(1000):  # each solve is far from its start, and none is finished in 0.3 s
            solver.solve(Penalty.from_values(*penalties, 3000), tol=1e-14, start=np.zeros((3001, 4)))
    timer.join()
    before = time.monotonic()
    assert solver.solve(Penalty.from_values(50.0, 1.0, 1.0, 3000), start=np.zeros((3001, 4))).status == "optimal"
    assert time.monotonic() - before < 60
