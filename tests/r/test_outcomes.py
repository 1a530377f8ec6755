"""Ordered outcomes and times to event beside R's own packages for them."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fusedlr import FusedLogit
from fusedlr.outcomes import survival_scores
from fusedlr.r import from_r, to_r

pytestmark = pytest.mark.r


def in_r(code, *frames):
    """The data.frame that a function of R makes of data.frames."""
    from rpy2.robjects import r

    return from_r(r(code)(*map(to_r, frames)))


@pytest.fixture(scope="module")
def survey():
    table = sm.datasets.anes96.load_pandas().data
    return table[["PID", "selfLR", "ClinLR", "age", "income"]].astype(float)


def test_without_penalties_an_ordered_outcome_is_a_glm_of_r_for_each_step(survey):
    expected = in_r("""function(d) as.data.frame(sapply(0:5, function(k) coef(glm(PID > k ~ selfLR + ClinLR + age +
        income, binomial, d[d$PID >= k, ], control = glm.control(1e-15, 100)))))""", survey)
    res = FusedLogit.from_ordered(survey["PID"], survey.drop(columns="PID")).fit(0, 0, 0)
    np.testing.assert_allclose(res.params, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_concordance_is_that_of_r_with_late_entries_and_weights():
    """With effects that are the same in all intervals, rows are in the order of their linear predictors."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    time, entry = 0.01 + rng.exponential(2 / np.exp(X @ [0.5, -0.3])), rng.integers(0, 3, 300).astype(float)
    left = rng.uniform(0.5, 6, 300)
    rows = pd.DataFrame({"entry": entry, "time": np.minimum(time, left), "event": (time <= left).astype(float),
                         "weight": rng.integers(0, 3, 300).astype(float), "x": X[:, 0], "z": X[:, 1]})
    rows = rows[rows["entry"] < rows["time"]].reset_index(drop=True)
    model = FusedLogit.from_survival(rows["time"], rows["event"], rows[["x", "z"]], [1, 2, 3, 4], rows["entry"])
    res = model.fit(0, 0, 1e6)
    found = survival_scores(res, rows["time"], rows["event"], rows[["x", "z"]], rows["entry"], rows["weight"])
    rows["risk"] = rows[["x", "z"]].to_numpy() @ res.coefs.iloc[:, 0]
    expected = in_r("""function(d) data.frame(c = survival::concordance(survival::Surv(entry, time, event) ~ risk, d,
        weights = weight, ymax = 4, reverse = TRUE)$concordance)""", rows)
    assert found["concordance"] == pytest.approx(expected["c"][0], rel=1e-10)
