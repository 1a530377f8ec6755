"""Rows that were watched for parts of intervals: what splitting them changes, and how close the approximation is."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

from fusedlr import FusedLogit
from fusedlr.outcomes import Times
from fusedlr.outcomes.survival import person_periods

BREAKS = [1.0, 2.0, 3.0, 4.0]


def entries(labels):
    """Task, row, yes and weight of every label."""
    return [(int(k), int(row), bool(yes), float(weight))
            for k, row, yes, weight in zip(labels.task, labels.row, labels.yes, labels.weight)]


# ---- by hand --------------------------------------------------------------------------------------------------------

def test_person_periods_by_hand():
    """Ties at a break, late entry, an event at 0, an event long after the end, and a row that was never watched."""
    times = Times.read([1.0, 1.0, 2.5, 0.0, 9.0, 0.0], [1, 0, 1, 1, 1, 0])
    assert entries(person_periods(times, (0.0, 1.0, 2.0, 4.0))) == [
        (0, 0, True, 1.0), (0, 1, False, 1.0), (0, 2, False, 1.0), (0, 3, True, 1.0), (0, 4, False, 1.0),
        (1, 2, False, 1.0), (1, 4, False, 1.0),
        (2, 2, True, 1.0), (2, 4, False, 1.0)]
    late = Times.read([2.5, 3.0, 1.75], [1, 0, 1], [0.5, 1.25, 1.5])
    assert entries(person_periods(late, (0.0, 1.0, 2.0, 4.0))) == [
        (0, 0, False, 0.5),
        (1, 0, False, 1.0), (1, 1, False, 0.75), (1, 2, True, 1.0),
        (2, 0, True, 1.0), (2, 1, False, 0.5)]


def test_causes_have_labels_of_their_own():
    """An event of another cause answers the question as no event does: this cause did not come in the interval."""
    times = Times.read([0.5, 1.5, 1.25], [1, 2, 0], causes={1: "a", 2: "b"})
    assert entries(person_periods(times, (0.0, 1.0, 2.0), causes=2)) == [
        (0, 0, True, 1.0), (0, 1, False, 1.0), (0, 2, False, 1.0),
        (1, 1, False, 1.0), (1, 2, False, 0.25),
        (2, 0, False, 1.0), (2, 1, False, 1.0), (2, 2, False, 1.0),
        (3, 1, True, 1.0), (3, 2, False, 0.25)]


# ---- what must not change anything ----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def watched():
    rng = np.random.default_rng(11)
    X = pd.DataFrame({"age": rng.normal(0, 10, 200), "dose": rng.exponential(size=200)})
    time = rng.exponential(4 / np.exp(0.03 * X["age"]))
    censored = rng.uniform(0.5, 6, 200)
    return X.assign(entry=0.0, time=np.minimum(time, censored), event=(time <= censored).astype(int), person=range(200))


def cut(rows, at):
    """The same persons, each row cut in two at a time of its own where that is inside it."""
    inside = (rows["entry"] < at) & (at < rows["time"])
    first = rows.assign(time=rows["time"].where(~inside, at), event=rows["event"].where(~inside, 0))
    second = rows.assign(entry=rows["entry"].where(~inside, at))[inside]
    return pd.concat([first, second], ignore_index=True)


def fitted(rows, breaks=BREAKS):
    model = FusedLogit.from_survival(rows["time"], rows["event"], rows[["age", "dose"]], breaks, entry=rows["entry"],
                                     groups=rows["person"])
    return model.fit(1.0, 0.1, 1.0)


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
@pytest.mark.parametrize("where", ["at a break", "at every break", "inside an interval without the event"])
def test_cutting_a_row_changes_nothing(watched, where):
    if where == "inside an interval without the event":
        ends = np.ceil(watched["time"])
        rows = cut(watched, np.where(watched["event"] == 1, ends - 1.4, ends - 0.6))
    else:
        rows = cut(watched, 2.0)
        rows = rows if where == "at a break" else cut(cut(rows, 1.0), 3.0)
    assert len(rows) > 250
    one, other = fitted(watched), fitted(rows)
    np.testing.assert_allclose(other.model.scale, one.model.scale, rtol=1e-12)
    pd.testing.assert_frame_equal(other.params, one.params, rtol=1e-9, atol=1e-10)
    assert other.nobs == one.nobs == 200 and other.llf == pytest.approx(one.llf, rel=1e-10)
    assert other.bic == pytest.approx(one.bic, rel=1e-10)
    pd.testing.assert_frame_equal(other.refit().bse, one.refit().bse, rtol=1e-7)
    np.testing.assert_allclose(other.bootstrap(3, progress=False).samples, one.bootstrap(3, progress=False).samples,
                               rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_the_summary_counts_rows_persons_and_events(watched):
    rows = cut(watched, 2.0)
    text = " ".join(str(fitted(rows, [1.0, 3.0]).summary()).split())
    beyond = int(((watched["time"] > 3) & (watched["event"] == 1)).sum())
    inside = int(watched["event"].sum()) - beyond
    assert inside > beyond > 0
    assert f"Events: {inside} ({beyond} beyond the breaks)" in text
    assert "Groups (person): 200" in text
    assert f"Rows: {len(rows)}" in text


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_rows_without_a_label_are_counted(watched):
    more = pd.concat([watched, watched.iloc[:3].assign(entry=4.5, time=5.0, person=[300, 301, 302])])
    text = " ".join(str(fitted(more.reset_index(drop=True)).summary()).split())
    assert "Rows: 200 (3 without label)" in text and "Groups (person): 200" in text


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_formulas_know_groups_and_entry(watched):
    rows = cut(watched, 2.5)
    formula = "Surv(entry, time, event) ~ age + dose"
    expected = fitted(rows)
    for groups in ("person", rows["person"]):
        found = FusedLogit.from_formula(formula, rows, breaks=BREAKS, groups=groups).fit(1.0, 0.1, 1.0)
        pd.testing.assert_frame_equal(found.params, expected.params)
        with pytest.raises(ValueError, match="of one person overlap"):
            FusedLogit.from_formula(formula, rows.assign(entry=0.0), breaks=BREAKS, groups=groups)


# ---- how close it is ------------------------------------------------------------------------------------------------

def evenly(n):
    """Quantiles of n places in the middle of n equal shares."""
    return (np.arange(n) + 0.5) / n


def share_of_truth(hazard, censored):
    """Fitted over true hazard of one interval in which this share of rows would be censored, all at constant rates.

    Of the rows that reach the interval, those whose event is seen in it count 1, those who leave it without, the
    part they were watched.
    """
    event, leave = -np.log(1 - hazard), -np.log(1 - censored)
    seen = event / (event + leave) * (1 - np.exp(-event - leave))
    survived = np.exp(-event - leave) + quad(lambda t: t * leave * np.exp(-(event + leave) * t), 0, 1)[0]
    return seen / (seen + survived) / hazard


@pytest.mark.parametrize(("hazard", "censored", "size"), [(0.1, 0.25, 0.998), (0.2, 0.25, 0.995), (0.2, 0.5, 0.989),
                                                          (0.4, 0.5, 0.978)])
def test_the_approximation_is_as_large_as_the_notes_say(hazard, censored, size):
    """On a grid of quantiles of event and censoring."""
    n = 300
    came, left = (np.repeat(-np.log(evenly(n)), n) / -np.log(1 - hazard),
                  np.tile(-np.log(evenly(n)), n) / -np.log(1 - censored))
    time, event = np.minimum(np.minimum(came, left), 1.5), (came <= np.minimum(left, 1.5)).astype(int)
    event[time > 1] = 0
    model = FusedLogit.from_survival(time, event, np.arange(n * n)[:, None] % 2.0, [1.0])
    found = model.fit(1e9, 0, 0).predict(which="hazard").iloc[0, 0] / hazard
    assert found == pytest.approx(share_of_truth(hazard, censored), abs=2e-3)
    assert share_of_truth(hazard, censored) == pytest.approx(size, abs=6e-4)


@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_an_exponential_truth_comes_back():
    """Rate 1/4, censored evenly over five years: survival .779 .607 .472 .368; rows dropped: .731 .528 .388 .288."""
    n = 300
    came, left = np.repeat(-4 * np.log(evenly(n)), n), np.tile(5 * evenly(n), n)
    model = FusedLogit.from_survival(np.minimum(came, left), came <= left, np.arange(n * n)[:, None] % 2.0, BREAKS)
    found = model.fit(1e9, 0, 0).predict(which="survival").iloc[0]
    np.testing.assert_allclose(found, np.exp(-np.arange(1, 5) / 4), atol=0.004)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_earlier_censoring_of_a_group_invents_no_effect():
    """Both groups have the same hazard; one is watched for two years, the other for eight."""
    rng, effects = np.random.default_rng(4), []
    for _ in range(20):
        group = np.arange(2000) % 2
        came, left = rng.exponential(4, 2000), rng.uniform(0, np.where(group, 2.0, 8.0))
        model = FusedLogit.from_survival(np.minimum(came, left), came <= left, group[:, None].astype(float), BREAKS)
        found = model.fit(0, 0, 1e6).refit()
        effects.append((found.params.iloc[1, 0], found.bse.iloc[1, 0]))
    mean, error = np.mean(effects, axis=0)
    assert abs(mean) < 0.05 < error  # .23 where rows censored inside an interval are dropped


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")
def test_a_feature_that_changes_and_does_nothing_is_rejected_at_the_level_of_the_test():
    """200 times 300 persons whose feature turns from 0 to 1 at a time of its own; a 5 % test rejects 10 on average."""
    rng, found = np.random.default_rng(6), []
    for _ in range(200):
        came, turned, left = rng.exponential(3, 300), rng.exponential(2, 300), rng.uniform(1, 6, 300)
        rows = pd.DataFrame({"entry": 0.0, "time": np.minimum(came, left), "event": (came <= left).astype(int),
                             "person": range(300)})
        rows = cut(rows, turned)
        x = (rows["entry"] > 0).astype(float).to_frame("x")
        model = FusedLogit.from_survival(rows["time"], rows["event"], x, np.arange(0.5, 3.6, 0.5), entry=rows["entry"],
                                         groups=rows["person"])
        refitted = model.fit(0, 0, 1e6).refit()
        found.append((refitted.params.iloc[1, 0], refitted.pvalues.iloc[1, 0]))
    effects, pvalues = np.array(found).T
    assert abs(effects.mean()) < 0.05
    assert 2 <= (pvalues < 0.05).sum() <= 20  # a binomial of 200 at 5 % is outside once in 500 times
