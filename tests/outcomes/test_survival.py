"""Time to event: labels by hand, hazards against pooled and separate fits, Kaplan and Meier, Cox, and brute force."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.duration.survfunc import SurvfuncRight

import fusedlr
from fusedlr import FusedLogit, LeftOutWarning, OneClassWarning
from fusedlr.outcomes import Survival, Times, curve_scores, out_of_fold_scores, survival_scores
from fusedlr.outcomes.survival import median_times
from fusedlr.outcomes.survival_scores import brier_scores, censoring_curve, concordance

# Events after the last break of a few intervals are left out on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.LeftOutWarning")

TIGHT = 1e-14
BREAKS = [0, 1, 2, 3, 4]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"age": rng.normal(0, 10, 400), "dose": rng.exponential(size=400)}, index=range(7, 407))


@pytest.fixture(scope="module")
def watched(X):
    """Times, events and entries; the hazard rises with age and dose."""
    rng = np.random.default_rng(6)
    time = rng.exponential(3 / np.exp(0.04 * X["age"] + 0.5 * X["dose"] - 0.5))
    censored = rng.uniform(0.5, 6, 400)
    return pd.DataFrame({"time": np.minimum(time, censored), "event": (time <= censored).astype(int)}, index=X.index)


@pytest.fixture(scope="module")
def model(X, watched):
    return FusedLogit.from_survival(watched["time"], watched["event"], X, breaks=BREAKS)


def newton_logit(y, X, weights):
    """Weighted logistic regression by statsmodels' GLM."""
    return sm.GLM(y, X, family=sm.families.Binomial(), freq_weights=weights).fit(tol=1e-14, maxiter=100).params


# ---- labels ---------------------------------------------------------------------------------------------------------

nan = np.nan
KINDS = {  # entry, time, event: labels of (0,1], (1,2], (2,4], and the weights of those that are 0
    (0, 1.5, 1): ([0, 1, nan], [1, 1, 0]),
    (0, 1.0, 1): ([1, nan, nan], [1, 0, 0]),
    (0, 1.0, 0): ([0, nan, nan], [1, 0, 0]),
    (0, 1.5, 0): ([0, 0, nan], [1, 0.5, 0]),
    (0, 9.0, 1): ([0, 0, 0], [1, 1, 1]),
    (0, 4.0, 1): ([0, 0, 1], [1, 1, 1]),
    (1, 3.0, 1): ([nan, 0, 1], [0, 1, 1]),
    (0.5, 3.0, 0): ([0, 0, 0], [0.5, 1, 0.5]),
    (1.5, 1.8, 1): ([nan, 1, nan], [0, 1, 0]),
    (1.5, 1.75, 0): ([nan, 0, nan], [0, 0.25, 0]),
    (4.5, 5.0, 1): ([nan, nan, nan], [0, 0, 0]),
}


def test_labels_of_every_kind_of_row():
    entry, time, event = np.array(list(KINDS), dtype=float).T
    with pytest.warns(LeftOutWarning, match="breaks from 0 to 4 leave out 2 of 7 events, 0 before and 2 beyond"):
        model = FusedLogit.from_survival(time, event, np.arange(11.0)[:, None], [1, 2, 4], entry=entry)
    assert model.endog_names == ["(0,1]", "(1,2]", "(2,4]"]
    np.testing.assert_array_equal(model.endog, [labels for labels, _ in KINDS.values()])
    labels = model.problem.labels
    np.testing.assert_allclose(labels.table(labels.weight, 11, empty=0.0), [weights for _, weights in KINDS.values()])
    assert model.nobs == 10


def test_an_event_at_the_very_start_is_not_lost():
    model = FusedLogit.from_survival([0, 0, 1, 2, 2], [1, 0, 1, 0, 1], np.arange(5.0)[:, None], [1, 2])
    np.testing.assert_array_equal(model.endog, [[1, nan], [nan, nan], [1, nan], [0, 0], [0, 1]])
    assert model.outcome.before == model.outcome.beyond == 0


def test_events_before_the_first_break_are_said():
    """Age as time: one row has its event at 40, when the first interval has not begun."""
    with pytest.warns(LeftOutWarning, match="leave out 1 of 3 events, 1 before and 0 beyond"):
        model = FusedLogit.from_survival([40, 45, 55, 60], [1, 1, 1, 0], np.arange(4.0)[:, None], [40, 50, 60],
                                         entry=[39, 39, 40, 41])
    np.testing.assert_array_equal(model.endog, [[nan, nan], [1, nan], [0, 1], [0, 0]])


def test_breaks_by_number_hold_as_many_events(X, watched):
    """All 243 events; the last censored row outlives them, so that no hazard is 1."""
    model = FusedLogit.from_survival(watched["time"], watched["event"], X, breaks=4)
    came = watched["time"][watched["event"] == 1]
    counts = [((came > start) & (came <= end)).sum() for start, end in zip(model.outcome.breaks,
                                                                            model.outcome.breaks[1:])]
    assert sum(counts) == len(came) and max(counts) - min(counts) <= 1 and len(counts) == 4


def test_where_nobody_outlives_the_last_interval_it_is_left_out():
    """All of 12 rows have the event: by four quarters the last would have a hazard of 1, so one fifth stays beyond."""
    with pytest.warns(LeftOutWarning, match="leave out 2 of 12 events, 0 before and 2 beyond"):
        model = FusedLogit.from_survival(np.arange(1.0, 13), np.ones(12), np.arange(12.0)[:, None], breaks=4)
    assert model.outcome.breaks == (0, 3, 5, 8, 10)  # the smallest times that 1/5, 2/5 ... of the events do not exceed


@pytest.mark.filterwarnings("ignore::fusedlr.SeparationWarning")
def test_an_interval_without_an_event_warns_and_goes_on():
    time, event = np.array([1.0, 2, 3, 4, 5, 6, 7, 8]), np.array([1, 1, 0, 0, 1, 1, 0, 1])
    model = FusedLogit.from_survival(time, event, np.arange(8.0)[:, None] % 3, [2, 4, 8])
    with pytest.warns(OneClassWarning, match=r"task '\(2,4\]': every observed label is 0"):
        res = model.fit(1.0, 0.1, 1.0)
    assert res.predict(which="hazard")["(2,4]"].max() < 1e-3


def test_names_of_intervals_are_unique():
    ends = (0.0, 0.12341, 0.12342, 1.0)
    assert Survival(ends).tasks == ("(0,0.12341]", "(0.12341,0.12342]", "(0.12342,1]")
    assert Survival((0.0, 0.12345, 1.0)).tasks == ("(0,0.1235]", "(0.1235,1]")  # four digits where these do


def test_where_all_enter_later_time_begins_at_the_first_break(X, watched):
    """Age as time: the same rows, watched 40 years later, have the same labels, fits, curves and scores."""
    grid = np.ceil(watched["time"])
    plain = FusedLogit.from_survival(grid, watched["event"], X, BREAKS).fit(1.0, 0.1, 2.0)
    entry = np.full(400, 40.0)
    old = FusedLogit.from_survival(40 + grid, watched["event"], X, [40, 41, 42, 43, 44], entry).fit(1.0, 0.1, 2.0)
    assert old.model.endog_names[0] == "(40,41]" and np.array_equal(old.params, plain.params)
    np.testing.assert_array_equal(old.predict(which="survival"), plain.predict(which="survival"))
    rows = (40 + grid, watched["event"])
    expected = survival_scores(plain, grid, watched["event"], X)
    pd.testing.assert_series_equal(survival_scores(old, *rows, X, entry), expected, rtol=1e-12)
    found = curve_scores(old.predict(which="survival"), *rows, entry, start=40)
    pd.testing.assert_series_equal(found, expected, rtol=1e-10)
    by_number = FusedLogit.from_survival(*rows, X, 3, entry)
    assert by_number.outcome.breaks == tuple(40 + np.array(FusedLogit.from_survival(grid, watched["event"], X,
                                                                                    3).outcome.breaks))


def test_formulas_build_the_same_model(X, watched, model):
    data = X.join(watched)
    fits = [FusedLogit.from_formula(left + " ~ age + dose", data, breaks=BREAKS).fit(1.0, 0.1, 2.0)
            for left in ("Surv(time, event)", "time + event", "Surv(time * 1.0, event == 1)",
                         "Surv(np.zeros(len(time)), time, event)")]
    expected = model.fit(1.0, 0.1, 2.0)
    for fit in fits:
        assert np.array_equal(fit.params, expected.params)
    assert fits[0].predict(data.iloc[:3], which="median").equals(expected.predict(X.iloc[:3], which="median"))


def shares(watched):
    """Share of each interval that a row was watched, 1 where its event came in it, by hand."""
    time, event = watched["time"].to_numpy()[:, None], watched["event"].to_numpy()[:, None]
    start = np.arange(4.0)
    here = (time > start) & (time <= start + 1) & (event == 1)
    return np.where(here, 1.0, np.clip(time - start, 0, 1))


# ---- against other fits ---------------------------------------------------------------------------------------------

def test_all_tied_it_is_the_pooled_logit(X, watched, model):
    res = model.fit(0, 0, 1e6, tol=TIGHT)
    rows, steps = np.nonzero(model.endog.notna().to_numpy())
    y, weights = model.endog.to_numpy()[rows, steps], shares(watched)[rows, steps]
    pooled = newton_logit(y, np.column_stack([np.eye(4)[steps], X.to_numpy()[rows]]), weights)
    np.testing.assert_allclose(res.intercepts, pooled[:4], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(res.coefs, np.tile(pooled[4:, None], 4), rtol=1e-7, atol=1e-7)


def test_without_penalties_it_is_separate_logits(X, watched, model):
    params = model.fit(0, 0, 0, tol=TIGHT).params
    for (task, labels), weights in zip(model.endog.items(), shares(watched).T):
        seen = labels.notna().to_numpy()
        expected = newton_logit(labels[seen], sm.add_constant(X.to_numpy())[seen], weights[seen])
        np.testing.assert_allclose(params[task], expected, rtol=1e-7, atol=1e-7)


def test_without_features_it_is_the_life_table(watched):
    """Grid times as data: the Kaplan-Meier curve is then the maximum likelihood estimate of discrete hazards."""
    time, nothing = np.ceil(watched["time"]), np.zeros((400, 1))
    nothing[0] = 1.0
    model = FusedLogit.from_survival(time, watched["event"], nothing, breaks=BREAKS)
    found = model.fit(1e6, 0, 0, tol=TIGHT).predict(which="survival").iloc[0]
    expected = SurvfuncRight(time, watched["event"])
    np.testing.assert_allclose(found, expected.surv_prob[:4], rtol=1e-7)


def test_narrow_intervals_all_tied_agree_with_cox(X, watched):
    """A sanity check: with many intervals the tied discrete hazard comes close to proportional hazards."""
    tied = FusedLogit.from_survival(watched["time"], watched["event"], X, breaks=60).fit(0, 0, 1e6)
    cox = PHReg(watched["time"], X, watched["event"]).fit()
    np.testing.assert_allclose(tied.coefs.iloc[:, 0], cox.params, atol=0.5 * cox.bse.max())


# ---- predictions ----------------------------------------------------------------------------------------------------

def test_predictions_follow_the_hazards(X, model):
    res = model.fit(1.0, 0.1, 2.0)
    hazard = res.predict(which="hazard")
    assert hazard.equals(res.predict())
    alive = [np.prod(1 - hazard.to_numpy()[:, : k + 1], axis=1) for k in range(4)]
    survival = res.predict(which="survival")
    np.testing.assert_allclose(survival, np.column_stack(alive), rtol=1e-12)
    assert list(survival.columns) == [1, 2, 3, 4] and survival.index.equals(X.index)
    np.testing.assert_allclose(res.predict(which="incidence"), 1 - survival, rtol=1e-12)
    medians = res.predict(which="median")
    assert medians.isna().any() and medians.notna().any()
    for found, row in zip(medians, np.column_stack([np.ones(400), survival])):
        if row[-1] > 0.5:
            assert np.isnan(found)
        else:  # the hazard is constant within an interval, so that the logarithm of survival is a straight line
            assert np.interp(found, [0, 1, 2, 3, 4], np.log(row)) == pytest.approx(np.log(0.5), rel=1e-12)


def test_medians_by_hand():
    """From 0.8 at 1 to 0.2 at 3 survival halves each year; from 1 to 0 it falls in a straight line."""
    breaks = np.array([0.0, 1.0, 3.0])
    found = median_times(np.array([[0.8, 0.2], [0.5, 0.1], [1.0, 0.0], [0.9, 0.6]]), breaks)
    np.testing.assert_allclose(found, [1 + np.log2(1.6), 1.0, 2.0, nan], rtol=1e-12)


def test_a_curve_that_stays_at_a_half_has_its_median_where_it_came_there():
    found = median_times(np.array([[0.5, 0.5, 0.2], [0.8, 0.5, 0.5]]), np.array([0.0, 1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, [1.0, 2.0], rtol=1e-12)


def test_breaks_by_number_are_times_of_events_also_where_these_tie():
    """Half of four events came by 1, none between 1 and 2."""
    model = FusedLogit.from_survival([1, 1, 2, 3, 4], [1, 1, 1, 1, 0], np.arange(5.0)[:, None], breaks=2)
    assert model.outcome.breaks == (0.0, 1.0, 3.0)


def test_the_outcome_is_kept_in_files(X, model, tmp_path):
    res = model.fit(1.0, 0.1, 2.0)
    res.save(tmp_path / "fit.npz")
    back = fusedlr.load(tmp_path / "fit.npz")
    assert back.model.outcome == res.model.outcome
    assert back.predict(X, which="survival").equals(res.predict(X, which="survival"))


# ---- scores ---------------------------------------------------------------------------------------------------------

def test_scores_by_hand(X, watched, model):
    res = model.fit(1.0, 0.1, 2.0)
    found = survival_scores(res, watched["time"], watched["event"], X)
    seen = model.endog.notna().any(axis=1).sum()
    assert found["loglike"] == pytest.approx(res.llf / seen, rel=1e-12) and found["nobs"] == 400
    curves, times = res.predict(which="survival").to_numpy(), watched["time"].to_numpy()
    event = watched["event"].to_numpy() == 1
    right = pairs = 0
    for i in range(400):
        k = int(np.ceil(times[i])) - 1
        for j in range(400):
            if event[i] and k < 4 and times[j] > times[i]:
                pairs += 1
                right += (curves[j, k] > curves[i, k]) + 0.5 * (curves[j, k] == curves[i, k])
    assert found["concordance"] == pytest.approx(right / pairs, rel=1e-12) and found["concordance"] > 0.6
    scores = brier_scores(curves, np.array(BREAKS), Times.read(times, event))
    assert found["brier"] == pytest.approx(np.sum((np.append(0, scores[:-1]) + scores) / 2) / 4)


def test_censoring_curve_is_that_of_the_other_event(watched):
    times = Times.read(watched["time"], watched["event"])
    before, at = censoring_curve(times)
    expected = SurvfuncRight(watched["time"], 1 - watched["event"])
    moments = watched["time"][watched["event"] == 0].sort_values()
    np.testing.assert_allclose(at(moments)[:-1], expected.surv_prob[:-1], rtol=1e-12)
    np.testing.assert_allclose(before(moments), np.append(1.0, expected.surv_prob[:-1]), rtol=1e-12)
    assert expected.surv_prob[-1] == 0 and at(99.0) == before(moments.max())  # no one is left to stand for the last


def test_scores_of_tied_times_by_hand():
    """An event and a censoring at 2, an event at 3, a censoring at 4.

    The event at 2 comes before the censoring, for which three rows are at risk: a third of them leaves.
    The last row leaves alone, so that no one could stand for it.
    """
    times = Times.read([2.0, 2.0, 3.0, 4.0], [1, 0, 1, 0])
    before, at = censoring_curve(times)
    np.testing.assert_allclose([before(2.0), at(2.0), before(3.0), at(4.0)], [1.0, 2 / 3, 2 / 3, 2 / 3], rtol=1e-12)
    curves = np.array([[0.6, 0.2]] * 4)
    # At 2 the first row had its event, seen for certain; the last two stand for the second row too.
    first = (0.6**2 + 2 * 0.4**2 * 1.5) / 4
    # At 4 two rows had their event; the second of them was seen with chance 2/3, and nobody is known to be well.
    second = (0.2**2 + 0.2**2 * 1.5) / 4
    np.testing.assert_allclose(brier_scores(curves, np.array([0.0, 2.0, 4.0]), times), [first, second], rtol=1e-12)


def test_tied_curves_count_half_and_tied_times_nothing():
    """Two events at 1; of the four pairs with later rows one is right, one ties, two are wrong."""
    times = Times.read([1.0, 1.0, 2.0, 2.0], [1, 1, 1, 0])
    curves = np.array([[0.5, 0.3], [0.9, 0.3], [0.5, 0.3], [0.7, 0.3]])
    assert concordance(curves, np.array([0.0, 1.0, 2.0]), times) == pytest.approx(1.5 / 4, rel=1e-12)


def test_brier_scores_without_censoring_are_mean_squares():
    times = Times.read([0.5, 1.5, 2.5, 3.0], [1, 1, 1, 1])
    curves = np.array([[0.2, 0.1], [0.7, 0.3], [0.9, 0.8], [0.6, 0.5]])
    expected = [np.mean([0.2**2, 0.3**2, 0.1**2, 0.4**2]), np.mean([0.1**2, 0.3**2, 0.2**2, 0.5**2])]
    np.testing.assert_allclose(brier_scores(curves, np.array([0, 1, 2]), times), expected)
    assert concordance(curves, np.array([0, 1, 2]), times) == 1.0


def test_censored_rows_are_stood_in_for_by_the_others():
    """Two of four are censored at 1.5: those who stay count twice at 2."""
    times = Times.read([0.5, 1.5, 1.5, 3.0, 3.0], [1, 0, 0, 1, 1])
    curves = np.column_stack([[0.5] * 5, [0.25] * 5])
    expected = (0.25**2 + 2 * 2 * 0.75**2) / 5
    np.testing.assert_allclose(brier_scores(curves, np.array([0, 1, 2]), times)[1], expected)


@pytest.fixture(scope="module")
def late(watched):
    """Left truncation: entry times, some at breaks, some inside intervals; the rest at 0."""
    rng = np.random.default_rng(8)
    entry = pd.Series(rng.choice([0.0, 0.0, 0.25, 1.0, 1.5, 2.0], 400), watched.index)
    return entry.where(entry < watched["time"], 0.0)


def test_brier_scores_of_late_entries_follow_from_their_definition(X, watched, late):
    """Row by row, with censoring weights from statsmodels."""
    model = FusedLogit.from_survival(watched["time"], watched["event"], X, BREAKS, entry=late)
    curves = model.fit(0.5, 0.1, 1.0).predict(which="survival")
    time, event, entry = watched["time"].to_numpy(), watched["event"].to_numpy() == 1, late.to_numpy()
    not_censored = SurvfuncRight(time, 1 - event, entry=entry)

    def between(start, end, whole):
        inside = (not_censored.surv_times > start) & (
            not_censored.surv_times <= end if whole else not_censored.surv_times < end)
        return np.prod(1 - not_censored.n_events[inside] / not_censored.n_risk[inside])

    alive = curves.assign(start=1.0).rename(columns={"start": 0}).to_numpy()[:, [4, 0, 1, 2, 3]]
    expected = []
    for end in (1, 2, 3, 4):
        total = rows = 0
        for i in range(400):
            start = int(np.ceil(entry[i]))
            if start >= end or time[i] <= start:
                continue
            rows += 1
            share = alive[i, end] / alive[i, start]
            if event[i] and time[i] <= end:
                total += share**2 / between(start, time[i], False)
            elif time[i] > end:
                total += (1 - share) ** 2 / between(start, end, True)
        expected.append(total / rows)
    found = brier_scores(curves.to_numpy(), np.array(BREAKS), Times.read(time, event, entry))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_truth_has_the_best_brier_score_of_late_entries():
    """Hazards 0.2 or 0.5 a year; half of the rows were only met at year 1 or 2, if they were still well."""
    rng, n = np.random.default_rng(3), 200_000
    hazard = rng.choice([0.2, 0.5], n)
    time, entry, left = rng.geometric(hazard), rng.choice([0, 0, 1, 2], n), rng.geometric(0.15, n) + 0.5
    event, until = time < left, np.minimum(time, left)
    met = entry < until
    times = Times.read(until[met], event[met], entry[met])
    scores = [brier_scores((1 - np.clip(hazard[met, None] + shift, 0, 1)) ** [1, 2, 3, 4], np.arange(5), times)
              for shift in (0.0, -0.05, 0.05)]
    assert (scores[0] < scores[1]).all() and (scores[0] < scores[2]).all()
    # Without censoring and at the end of year 1 the score is the mean of h (1 - h) over those met at 0.
    assert scores[0][0] == pytest.approx((0.2 * 0.8 + 0.5 * 0.5) / 2, abs=0.005)


@pytest.mark.parametrize("truncated", [False, True])
def test_a_weight_is_a_number_of_rows_in_every_score(X, watched, late, truncated):
    weights = pd.Series(np.random.default_rng(2).integers(0, 4, 400), X.index)
    entry = late if truncated else None
    res = FusedLogit.from_survival(watched["time"], watched["event"], X, BREAKS, entry=entry).fit(0.5, 0.1, 1.0)
    found = survival_scores(res, watched["time"], watched["event"], X, entry, weights)
    rows = np.repeat(np.arange(400), weights)
    again = survival_scores(res, *(part.iloc[rows].reset_index(drop=True) for part in
                                   (watched["time"], watched["event"], X)),
                            None if entry is None else entry.iloc[rows].reset_index(drop=True))
    assert found["nobs"] == weights.sum() == again["nobs"]
    pd.testing.assert_series_equal(found, again, rtol=1e-12)
    halves = survival_scores(res, watched["time"], watched["event"], X, entry, weights / 2)
    pd.testing.assert_series_equal(found.drop("nobs"), halves.drop("nobs"), rtol=1e-12)


def test_a_pair_is_compared_from_when_both_were_watched():
    """The second row was met at 1, and is safer from then on, whatever was predicted for the time before."""
    times = Times.read([1.5, 3.0], [1, 0], [0, 1])
    curves = np.array([[0.9, 0.45], [0.5, 0.4]])
    assert concordance(curves, np.array([0, 1, 2]), times) == 1.0
    assert concordance(curves, np.array([0, 1, 2]), Times.read([1.5, 3.0], [1, 0])) == 0.0


def test_rows_that_were_never_watched_count_for_nothing(X, watched, model):
    res = model.fit(1.0, 0.1, 2.0)
    more = pd.DataFrame({"time": [0.0, 0.0], "event": [0, 0]}, index=[900, 901])
    both, features = pd.concat([watched, more]), pd.concat([X, X.iloc[:2].set_axis(more.index)])
    found = survival_scores(res, both["time"], both["event"], features)
    expected = survival_scores(res, watched["time"], watched["event"], X)
    pd.testing.assert_series_equal(found.drop("nobs"), expected.drop("nobs"), rtol=1e-12)


def test_an_event_at_the_very_start_counts_in_every_score():
    """As if it had come a moment later."""
    curves = pd.DataFrame({1.0: [0.5, 0.7, 0.9], 2.0: [0.2, 0.3, 0.6]})
    at_once, later = (curve_scores(curves, [first, 1.5, 3.0], [1, 1, 0]) for first in (0.0, 1e-9))
    pd.testing.assert_series_equal(at_once, later, rtol=1e-12)


def test_offsets_count_in_scores(X, watched):
    offset = np.linspace(-1, 1, 400)
    res = FusedLogit.from_survival(watched["time"], watched["event"], X, BREAKS, offset=offset).fit(1.0, 0.1, 2.0)
    found = survival_scores(res, watched["time"], watched["event"], X, offset=offset)
    assert found["loglike"] == pytest.approx(res.llf / res.model.nobs, rel=1e-12)
    with pytest.raises(ValueError, match="offset must be given"):
        survival_scores(res, watched["time"], watched["event"], X)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_scores_out_of_fold_are_those_of_fits_on_the_other_folds(X, watched, late):
    weights = np.arange(400) % 3
    model = FusedLogit.from_survival(watched["time"], watched["event"], X, BREAKS, entry=late, weights=weights)
    folds = np.arange(400) % 4
    cv = model.fit_cv(folds=folds, l1=[0.5, 2.0, 8.0], l2=[0.1], fusion=[0.5, 2.0, 8.0], progress=False)
    found = out_of_fold_scores(cv, watched["time"], watched["event"], late, weights)
    assert list(found.index) == [0, 1, 2, 3]
    for fold in range(4):
        held = folds == fold
        fit = model.with_rows(~held).fit(**cv.penalties)
        expected = survival_scores(fit, *(part[held] for part in (watched["time"], watched["event"], X, late, weights)))
        pd.testing.assert_series_equal(found.loc[fold], expected, check_names=False, rtol=1e-12)


def test_curves_from_anywhere_are_scored_alike(X, watched, late, model):
    res = model.fit(1.0, 0.1, 2.0)
    rows = (watched["time"], watched["event"])
    found = curve_scores(res.predict(which="survival"), *rows, late, np.ones(400))
    pd.testing.assert_series_equal(found, survival_scores(res, *rows, X, late), rtol=1e-10)


@pytest.mark.parametrize(("change", "message"), [
    (lambda curves: curves.to_numpy(), "curves must be a DataFrame whose columns are times"),
    (lambda curves: curves[[2.0, 1.0]], "curves must fall from 1 to 0 along times that rise"),
    (lambda curves: 1 - curves, "curves must fall"),
    (lambda curves: curves.iloc[:5], "curves must have the index of time"),
    (lambda curves: curves.iloc[:5].reset_index(drop=True), "curves must have"),
    (lambda curves: curves.set_axis(list("abcd"), axis=1), "columns of curves must"),
])
def test_curves_that_are_none_are_refused(watched, model, change, message):
    curves = model.fit(1.0, 0.1, 2.0).predict(which="survival")
    with pytest.raises((TypeError, ValueError), match=message):
        curve_scores(change(curves), watched["time"], watched["event"])


@pytest.mark.parametrize(("weights", "message"), [
    (np.ones(3), "weights must have one value for each of 400 rows, found shape"),
    (np.full(400, -1.0), "weights must be finite and not negative, found -1"),
    (np.full(400, np.nan), "weights must be finite"),
    (pd.Series(np.ones(400)), "weights must have the index of time"),
])
def test_bad_weights_of_scores_are_refused(X, watched, model, weights, message):
    with pytest.raises(ValueError, match=message):
        survival_scores(model.fit(1.0, 0.1, 2.0), watched["time"], watched["event"], X, weights=weights)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_scores_out_of_fold_need_folds_and_the_rows_of_the_model(X, watched, model):
    grid = {"l1": [1.0, 2.0], "l2": [0.1], "fusion": [1.0], "progress": False}
    rows = (watched["time"], watched["event"])
    with pytest.raises(ValueError, match="cv must be what fit_cv chose by folds"):
        out_of_fold_scores(model.fit_cv(by="bic", **grid), *rows)
    cv = model.fit_cv(folds=2, **grid)
    with pytest.raises(ValueError, match="time must have one value for each of the 400 rows of the model, found 9"):
        out_of_fold_scores(cv, *(part.iloc[:9] for part in rows))
    with pytest.raises(ValueError, match="time must have the index of the model"):
        out_of_fold_scores(cv, *(part.iloc[::-1] for part in rows))


# ---- which effects change -------------------------------------------------------------------------------------------

def test_effects_read_off_the_stretches(model):
    res = model.fit(0.5, 0.0, 3.0)
    boot = res.bootstrap(20, rng=1, progress=False)
    table = res.effects(boot)
    for j, feature in enumerate(["age", "dose"]):
        stretches = table.loc[[feature]]
        spread = np.concatenate([[row.coef] * round(row.end - row.start) for row in stretches.itertuples()])
        np.testing.assert_array_equal(spread, res.coefs.loc[feature])
        assert stretches["constant"].all() == (len(stretches) == 1)
        changes = np.diff(boot.samples[:, 1 + j]) != 0
        assert stretches["found"].iloc[0] == pytest.approx((~changes.any(axis=1)).mean())
        for row in stretches.iloc[1:].itertuples():
            assert row.found == pytest.approx(changes[:, round(row.start) - 1].mean())
    assert "found" not in res.effects()


def test_shares_of_another_fit_are_refused(model):
    res = model.fit(0.5, 0.0, 3.0)
    with pytest.raises(ValueError, match="found_in must be of the same fit"):
        res.effects(model.fit(0.5, 0.0, 2.0).bootstrap(2, progress=False))
    with pytest.raises(TypeError, match=r"found_in must be what bootstrap\(\) or stability\(\) gave"):
        res.effects(res)


def test_effects_along_a_ring_are_refused(X):
    Y = np.random.default_rng(1).integers(0, 2, (400, 4))
    with pytest.raises(ValueError, match="effects are stretches of a chain, found another graph of tasks"):
        FusedLogit(Y, X, tasks="ring").fit(1, 0, 1).effects()


# ---- figures --------------------------------------------------------------------------------------------------------

def test_the_map_of_effects_has_a_true_time_axis(X, watched):
    from fusedlr import plots

    model = FusedLogit.from_survival(watched["time"], watched["event"], X, breaks=[0.5, 1, 4])
    ax = plots.coef_map(model.fit(0, 0, 1e6))
    assert ax.get_xlim() == (0, 4) and ax.get_xlabel() == "time"
    spans = [patch.get_width() for patch in ax.patches]
    assert min(spans) > 3.9  # one cell of the whole length for each feature
    drawn = plots.survival_curves(model.fit(1, 0, 1), X.iloc[:3])
    assert [len(line.get_xdata()) for line in drawn.lines] == [4, 4, 4]
    with pytest.raises(ValueError, match="at most 12 rows"):
        plots.survival_curves(model.fit(1, 0, 1), X)


# ---- bad input ------------------------------------------------------------------------------------------------------

GOOD = {"time": np.arange(1.0, 31), "event": np.arange(30) % 2, "breaks": [10, 20, 30]}


@pytest.mark.parametrize(("bad", "message"), [
    ({"time": np.append(-1.0, np.arange(29))}, "time must not be negative, found -1"),
    ({"time": np.append(np.nan, np.arange(29))}, "time must be finite, found 1 missing.*drop these rows"),
    ({"event": np.zeros(30)}, "event must be 1 in some row"),
    ({"event": np.ones(29)}, "event must have one value for each of the 30 times, found 29"),
    ({"event": np.arange(30) % 3}, r"event must be 1 .*found \[2.0\].*several causes, causes=\[1, 2\]"),
    ({"breaks": [10, 20, 40, 50]}, r"breaks leave the intervals \['\(40,50\]'\] without a row that was watched; leave"),
    ({"time": np.zeros(30), "breaks": 2}, "breaks=2 finds no interval: all events come at 0, where time begins"),
    ({"breaks": [20, 10]}, "breaks must be.*rise"),
    ({"breaks": [10, np.nan]}, "breaks must be finite"),
    ({"breaks": 0}, "breaks must be from 1 to 30, found 0"),
    ({"entry": np.full(30, 5.0)}, "entry must come before time, found 5 rows"),
    ({"entry": np.zeros(4)}, "entry must have one value for each of the 30 times, found 4"),
    ({"time": np.ones((30, 2))}, "time must be one column"),
    ({"time": pd.date_range("2020-01-01", periods=30)}, r"time must hold numbers of days.*\(end - start\).dt.days"),
    ({"time": pd.Series(pd.to_timedelta(np.arange(30), "D"))}, "time must hold numbers of days.*found timedelta64"),
    ({"event": ["dead", "alive"] * 15}, "event must hold numbers.*as event == 'dead'"),
    ({"entry": np.r_[30.0, np.zeros(29)]}, "entry must come before time, found 1 rows.*row 0, from 30 to 1"),
    ({"entry": np.arange(30.0), "groups": np.r_[0, np.arange(29)], "time": np.r_[1.5, np.arange(2.0, 31)]},
     "rows 0 and 1 of one group overlap, watched from 0 to 1.5 and from 1 to 2; rows of one group must follow"),
    ({"groups": np.r_[np.nan, np.arange(29)]}, "groups must name a group for every row, found 1 missing values; drop"),
    ({"groups": np.arange(4)}, "groups must have one value for each of 30 rows, found 4"),
    ({"time": pd.Series(GOOD["time"]), "groups": pd.Series(np.arange(30), range(1, 31))},
     "groups must have the index of"),
    ({"entry": np.full(30, 0.5), "breaks": [20]}, "breaks must be.*where all rows enter after 0, with the start"),
    ({"exog": np.arange(4.0)[:, None]}, "time must have one row for each of the 4 rows of exog, found 30"),
    ({"time": pd.Series(GOOD["time"]), "exog": pd.DataFrame({"x": np.arange(30.0)}, range(1, 31))},
     "exog must have the index of time, found other labels"),
])
def test_bad_times_are_refused(bad, message):
    with pytest.raises((TypeError, ValueError), match=message):
        FusedLogit.from_survival(**{"exog": np.arange(30.0)[:, None], **GOOD, **bad})


@pytest.mark.parametrize("left", ["Surv(time)", "Surv(time, event, type='right')", "Surv(time, ", "time"])
def test_bad_left_sides_are_refused(X, watched, left):
    with pytest.raises(ValueError, match="formula must"):
        FusedLogit.from_formula(left + " ~ age", X.join(watched), breaks=BREAKS)


def test_scores_need_a_model_of_times(X, watched):
    with pytest.raises(ValueError, match="results must come from FusedLogit.from_survival"):
        survival_scores(FusedLogit(watched["event"], X).fit(1, 0, 0), watched["time"], watched["event"], X)
