"""Times to an event against R's survival: rows that follow each other, several causes, events that come again."""

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit

pytestmark = [pytest.mark.r, pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")]


@pytest.fixture(scope="module")
def r(_missing_part):
    if _missing_part:
        pytest.skip(_missing_part)
    from fusedlr.r.session import has_package
    from rpy2.robjects import r

    if not has_package("survival"):
        pytest.skip("R's package 'survival' is not installed (Debian: r-cran-survival)")
    r("library(survival)")
    return r


def table(name):
    from fusedlr.r import from_r

    return from_r(name)


PIECEWISE = """
rows <- survSplit(Surv(start, stop, event) ~ ., transform(heart, transplant = as.numeric(as.character(transplant))),
                  cut = c(30, 60, 120, 240, 480), episode = "interval")
fit <- glm(event ~ 0 + factor(interval) + age + year + surgery + transplant + offset(log(stop - start)), poisson, rows)
coef(fit)[7:10]
"""


def test_a_transplant_is_that_of_the_piecewise_exponential_fit(r):
    """heart: a patient has a row before the transplant and one after it; all 75 deaths count."""
    heart, features = table("survival::heart"), ["age", "year", "surgery", "transplant"]
    X = heart[features].astype({"transplant": str}).astype(float)
    model = FusedLogit.from_survival(heart["stop"], heart["event"], X, [30, 60, 120, 240, 480, 1800],
                                     entry=heart["start"], groups=heart["id"])
    res = model.fit(0, 0, 1e6)
    assert res.positives.sum() == 75 and res.nobs == 103
    expected = pd.Series(np.array(r(PIECEWISE)), features)
    assert res.coefs.loc["transplant"].iloc[0] == pytest.approx(expected["transplant"], abs=0.1)
    errors = res.refit().bse.iloc[1:, 0]
    assert (abs(res.coefs.iloc[:, 0] - expected) < 0.5 * errors).all()


def test_survival_is_close_to_kaplan_and_meier(r):
    """gbsg: breast cancer, two thirds of the rows censored inside some year."""
    women = table("survival::gbsg")
    model = FusedLogit.from_survival(women["rfstime"] / 365.25, women["status"], women[["age"]], range(1, 7))
    found = model.fit(1e9, 0, 0).predict(which="survival").iloc[0]
    expected = r("summary(survfit(Surv(rfstime / 365.25, status) ~ 1, gbsg), times = 1:6)$surv")
    np.testing.assert_allclose(found, expected, atol=0.006)


MULTI_STATE = """
mgus <- transform(mgus2, time = ifelse(pstat == 0, futime, ptime),
                  event = factor(ifelse(pstat == 0, 2 * death, 1), 0:2, c("censored", "progression", "death")))
curves <- summary(survfit(Surv(time, event) ~ 1, mgus, id = id), times = 24 * 1:10)$pstate
"""


def test_incidences_are_close_to_those_of_a_multi_state_curve(r):
    """mgus2: progression to a malignancy against death without it, in intervals of two years."""
    r(MULTI_STATE)
    rows, expected = table("mgus"), np.array(r("curves"))
    event = rows["event"].astype(str).map({"censored": 0, "progression": 1, "death": 2})
    model = FusedLogit.from_survival(rows["time"], event, rows[["age"]], 24 * np.arange(1, 11),
                                     causes={1: "progression", 2: "death"})
    res = model.fit(1e9, 0, 0)
    for column, cause in enumerate(("progression", "death"), start=1):
        found = res.predict(which="incidence", cause=cause).iloc[0]
        np.testing.assert_allclose(found, expected[:, column], atol=0.002)
    np.testing.assert_allclose(res.predict(which="survival").iloc[0], expected[:, 0], atol=0.002)


def test_incidences_of_whole_intervals_are_those_of_a_multi_state_curve(r):
    """Times rounded up to the ends of intervals, where events come before censoring: nothing is approximated."""
    r(MULTI_STATE)
    r("whole <- transform(mgus, time = 24 * pmax(ceiling(time / 24), 1))")
    r("curves <- summary(survfit(Surv(time, event) ~ 1, whole, id = id), times = 24 * 1:10)$pstate")
    rows, expected = table("whole"), np.array(r("curves"))
    event = rows["event"].astype(str).map({"censored": 0, "progression": 1, "death": 2})
    model = FusedLogit.from_survival(rows["time"], event, rows[["age"]], 24 * np.arange(1, 11), causes=[1, 2])
    res = model.fit(1e9, 0, 0, tol=1e-12)
    for column in (1, 2):
        np.testing.assert_allclose(res.predict(which="incidence", cause=column).iloc[0], expected[:, column], rtol=1e-6)


def test_events_may_come_again(r):
    """cgd: infections of children, each child with a row for each stretch between them; against coxph by child."""
    rows = table("survival::cgd")
    X = pd.DataFrame({"treated": (rows["treat"].astype(str) == "rIFN-g").astype(float), "age": rows["age"]})
    model = FusedLogit.from_survival(rows["tstop"], rows["status"], X.astype(float), 20, entry=rows["tstart"],
                                     groups=rows["id"])
    found = model.fit(0, 0, 1e6).refit()
    assert found.nobs == rows["id"].nunique() == 128
    r("fit <- coxph(Surv(tstart, tstop, status) ~ treat + age + cluster(id), cgd)")
    expected, errors = np.array(r("coef(fit)")), np.array(r("sqrt(diag(vcov(fit)))"))
    np.testing.assert_allclose(found.params.iloc[1:, 0], expected, atol=0.3 * errors.max())
    np.testing.assert_allclose(found.bse.iloc[1:, 0], errors, rtol=0.2)


SANDWICH = """
fit <- glm(status ~ treat + age, binomial, cgd)
X <- model.matrix(fit)
scores <- rowsum((fit$y - fitted(fit)) * X, cgd$id)
sqrt(diag(vcov(fit) %*% crossprod(scores) %*% vcov(fit)))
"""


def test_errors_by_group_are_those_of_a_sandwich_in_r(r):
    rows = table("survival::cgd")
    X = pd.DataFrame({"treated": (rows["treat"].astype(str) == "rIFN-g").astype(float), "age": rows["age"]})
    found = FusedLogit(rows["status"], X.astype(float), groups=rows["id"]).fit(0, 0, 0).refit()
    np.testing.assert_allclose(found.bse["status"], np.array(r(SANDWICH)), rtol=1e-5)
