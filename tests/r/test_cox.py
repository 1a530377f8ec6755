"""Survival models beside R's Cox model."""

import pytest

from fusedlr import FusedLogit
from fusedlr.r import from_r

pytestmark = pytest.mark.r


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_tied_hazards_of_narrow_intervals_are_close_to_cox():
    """A sanity check: many intervals and equal effects are nearly proportional hazards, as R's coxph fits them."""
    from rpy2.robjects import r

    men = from_r("survival::veteran")
    features = men[["karno", "age", "trt"]].astype(float)
    tied = FusedLogit.from_survival(men["time"], men["status"], features, breaks=40).fit(0, 0, 1e6)
    cox = from_r(r("as.data.frame(summary(survival::coxph(survival::Surv(time, status) ~ karno + age + trt, "
                   "survival::veteran))$coefficients)"))
    assert (abs(tied.coefs.iloc[:, 0] - cox["coef"]) < 0.5 * cox["se(coef)"]).all()
