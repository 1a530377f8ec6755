"""Without penalties an ordered outcome is the stopping-ratio model of R's VGAM; no R is needed here.

``make_sratio.R`` made the numbers.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("tied", [False, True])
def test_coefficients_and_likelihood_are_those_of_vgam(direction, tied):
    data = pd.read_csv(FOLDER / "glmnet_data.csv", comment="#")
    table = pd.read_csv(FOLDER / "sratio_coefs.csv", comment="#")
    expected = table[(table["direction"] == direction) & (table["tied"] == tied)]
    model = FusedLogit.from_ordered(data.filter(like="y").sum(axis=1), data.filter(like="x"), direction=direction)
    res = model.fit(0, 0, 1e6 if tied else 0)
    np.testing.assert_allclose(res.params, expected.filter(like="step"), rtol=1e-7, atol=1e-7)
    assert res.llf == pytest.approx(expected["llf"].iloc[0], rel=1e-12)
