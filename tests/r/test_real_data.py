"""Findings from data of R's packages: counts of events, tables of counts, rows of one person, scores of others."""

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit
from fusedlr.outcomes import Times
from fusedlr.outcomes.survival_scores import brier_scores

pytestmark = pytest.mark.r


@pytest.fixture
def table(_missing_part):
    """A data.frame of a package of R by its full name; the test is skipped where the package is missing."""
    if _missing_part:
        pytest.skip(_missing_part)
    from fusedlr.r import from_r

    def read(name):
        _needs(name.split("::")[0])
        return from_r(name)

    return read


def _needs(package):
    from fusedlr.r.session import has_package

    if not has_package(package):
        pytest.skip(f"R's package {package!r} is not installed (Debian: r-cran-{package.lower()})")


def in_r(code, *frames):
    """The data.frame that a function of R makes of data.frames."""
    from fusedlr.r import from_r, to_r
    from rpy2.robjects import r

    return from_r(r(code)(*map(to_r, frames)))


@pytest.mark.parametrize("intervals", [1, 3, 5])
def test_intervals_by_number_hold_all_events(table, intervals):
    """flchain: 2,169 deaths of 7,874 persons, none beyond the last break."""
    rows = table("survival::flchain")
    model = FusedLogit.from_survival(rows["futime"].clip(lower=0.5), rows["death"], rows[["age", "kappa"]], intervals)
    deaths = model.problem.labels.sums(model.problem.labels.yes)
    assert deaths.sum() == rows["death"].sum() == 2169 and np.ptp(deaths) <= 5


def test_a_table_of_counts_chooses_as_its_rows_do(table):
    """coalminers: breathlessness by wheeze in nine age groups, as 36 cells with counts and as 18,282 miners."""
    counts = table("VGAM::coalminers").melt("age", ["BW", "BnW", "nBW", "nBnW"], "cell", "n")
    cells = counts.assign(breathless=~counts["cell"].str.startswith("n"),
                          wheeze=counts["cell"].isin(["BW", "nBW"]).astype(float))
    rows = cells.loc[cells.index.repeat(cells["n"].astype(int))].reset_index(drop=True)
    assert (len(cells), len(rows)) == (36, 18_282)
    weighted, single = (FusedLogit.from_long(part["breathless"], part[["wheeze"]], part["age"], weights=weights).fit_cv(
        progress=False) for part, weights in ((cells, cells["n"]), (rows, None)))
    assert weighted.penalties == pytest.approx(single.penalties, rel=1e-6)
    np.testing.assert_allclose(weighted.coefs, single.coefs, rtol=1e-4)
    assert (np.diff(single.coefs.iloc[0]) <= 0).all() and single.coefs.iloc[0, 0] - single.coefs.iloc[0, -1] > 0.5


def test_survival_after_five_years_is_that_of_kaplan_and_meier(table):
    """GBSG2: .492; rows that are dropped where they are censored made it .456."""
    women = table("TH.data::GBSG2")
    with pytest.warns(UserWarning, match="leave out"):
        model = FusedLogit.from_survival(women["time"] / 365.25, women["cens"], women[["age", "tsize", "pnodes"]],
                                         range(1, 6))
    expected = in_r("""function(d) data.frame(s = summary(survival::survfit(survival::Surv(time / 365.25, cens) ~ 1, d),
        times = 1:5)$surv)""", women[["time", "cens"]])["s"]
    assert expected.iloc[-1] == pytest.approx(0.492, abs=5e-4)
    found = model.fit(1e9, 0, 0).predict(which="survival").iloc[0]
    np.testing.assert_allclose(found, expected, atol=0.003)
    by_number = FusedLogit.from_survival(women["time"], women["cens"], women[["age"]], 3)
    assert by_number.problem.labels.yes.sum() == women["cens"].sum() == 299


def test_errors_by_patient_are_those_of_estimating_equations(table):
    """toenail: one effect for all visits; .117 by row, .220 by patient."""
    visits = table("HSAUR3::toenail")
    rows = pd.DataFrame({"y": (visits["outcome"] == "moderate or severe").astype(float), "visit": visits["visit"],
                         "x": (visits["treatment"] == "terbinafine").astype(float),
                         "id": visits["patientID"].astype(str).astype(float)})
    by_row, by_patient = (FusedLogit.from_long(rows["y"], rows[["x"]], rows["visit"], groups=groups).fit(
        0, 0, 1e6).refit("cluster").table().loc["x"].iloc[0] for groups in (None, rows["id"]))
    assert by_row["std err"] == pytest.approx(0.117, abs=5e-4)
    _needs("geepack")
    expected = in_r("""function(d) as.data.frame(summary(geepack::geeglm(y ~ factor(visit) + x, binomial, d, id = id,
        corstr = "independence"))$coefficients["x", 1:2])""", rows)
    np.testing.assert_allclose(by_patient[["coef", "std err"]], expected.iloc[0], rtol=1e-5)


def test_brier_scores_of_a_cause_are_those_of_pec(_missing_part):
    if _missing_part:
        pytest.skip(_missing_part)
    _needs("pec")
    rng = np.random.default_rng(2)
    times, left = rng.exponential([8.0, 9.0], size=(200, 2)), rng.uniform(0.5, 6, 200)
    time, event = np.minimum(times.min(axis=1), left), np.where(times.min(axis=1) <= left, times.argmin(axis=1) + 1, 0)
    hazards, breaks = rng.uniform(0, 0.2, size=(2, 200, 3)), np.array([0.0, 1.0, 2.0, 4.0])
    curves = np.cumprod(1 - hazards.sum(axis=0), axis=1)
    incidence = np.cumsum(np.column_stack([np.ones(200), curves[:, :-1]]) * hazards[0], axis=1)
    found = brier_scores(curves, breaks, Times.read(time, event, None, (1, 2)), None, incidence, 1)
    expected = in_r("""function(d, p) {
        Hist <- prodlim::Hist
        data.frame(s = pec::pec(list(m = cbind(0, as.matrix(p))), Hist(time, event) ~ 1, data = d,
            times = c(0, 1, 2, 4), cause = 1, exact = FALSE, cens.model = "marginal", verbose = FALSE,
            reference = FALSE)$AppErr$m) }""", pd.DataFrame({"time": time, "event": event}),
                    pd.DataFrame(incidence, columns=["a", "b", "c"]))["s"]
    np.testing.assert_allclose(found, expected[1:], rtol=1e-9)
