"""Unpenalized fits hardly depend on the constant of the rule for separated data."""

import numpy as np

from study.separable import FLOORS, separable_errors
from study.simulate import simulate


def test_unpenalized_errors_by_constant():
    table = separable_errors(simulate("d", 1, seed=1), [25], tol=1e-6)
    assert table["floor"].tolist() == list(FLOORS)
    assert set(table["status"]) == {"separated"}
    assert table["test_error"].between(0, 0.6).all()
    assert np.ptp(table["test_error"]) < 0.05
