"""Several causes of an event: hazards of each, and incidence by the product of Aalen and Johansen."""

import numpy as np
import pandas as pd
import pytest

from fusedlr import CrossingWarning, FusedLogit, LeftOutWarning, load
from fusedlr.outcomes import CompetingRisks, out_of_fold_scores, survival_scores

CAUSES = {1: "progression", 2: "death"}
BREAKS = [1.0, 2.0, 4.0]


@pytest.fixture(scope="module")
def watched():
    """Whole times, so that all rows are watched from break to break."""
    rng = np.random.default_rng(9)
    X = pd.DataFrame({"age": rng.normal(0, 10, 300), "dose": rng.exponential(size=300)})
    times = rng.exponential(np.column_stack([9 / np.exp(0.05 * X["age"]), 12 / np.exp(0.3 * X["dose"])]))
    left = rng.uniform(1, 8, 300)
    first = np.minimum(times.min(axis=1), left)
    event = np.where(times.min(axis=1) <= left, times.argmin(axis=1) + 1, 0)
    return X.assign(time=np.select([first <= 1, first <= 2, first <= 4], [1.0, 2.0, 4.0], 5.0),
                    event=np.where(first > 4, 0, event))


@pytest.fixture(scope="module")
def model(watched):
    return FusedLogit.from_survival(watched["time"], watched["event"], watched[["age", "dose"]], BREAKS, causes=CAUSES)


def test_tasks_are_intervals_of_each_cause_in_chains_of_their_own(model):
    names = ["(0,1]", "(1,2]", "(2,4]"]
    assert model.endog_names == [f"{cause} {name}" for cause in CAUSES.values() for name in names]
    assert model.tasks.edges.tolist() == [[0, 1], [1, 2], [3, 4], [4, 5]]
    assert model.nobs == 300


def test_causes_may_be_tied_where_asked_for(watched):
    edges = [("1 (0,4]", "2 (0,4]")]
    model = FusedLogit.from_survival(watched["time"], watched["event"], watched[["age"]], [4.0], causes=[1, 2],
                                     tasks=edges)
    coefs = model.fit(0, 0, 1e6).coefs
    assert coefs.iloc[0, 0] == coefs.iloc[0, 1] != 0


def test_a_cause_is_the_model_of_its_event_with_others_censored_at_the_end_of_the_interval(watched, model):
    res = model.fit(1.0, 0.1, 1.0)
    for number, cause in CAUSES.items():
        alone = FusedLogit.from_survival(watched["time"], watched["event"] == number, watched[["age", "dose"]],
                                         BREAKS).fit(1.0, 0.1, 1.0)
        found = res.params[[f"{cause} {name}" for name in alone.params]]
        np.testing.assert_allclose(found, alone.params, rtol=1e-7, atol=1e-8)


def test_incidence_is_the_product_of_aalen_and_johansen(watched):
    """Without features, by hand: of those at risk in an interval, the shares of each cause and of none."""
    nothing = np.arange(300)[:, None] % 2.0
    model = FusedLogit.from_survival(watched["time"], watched["event"], nothing, BREAKS, causes=CAUSES)
    res = model.fit(1e9, 0, 0)
    reached, total = 1.0, np.zeros(2)
    for end in (1.0, 2.0, 4.0):
        at_risk, now = (watched["time"] >= end).sum(), watched["time"] == end
        came = np.array([(now & (watched["event"] == number)).sum() for number in CAUSES])
        total = total + reached * came / at_risk
        reached *= 1 - came.sum() / at_risk
        for cause, expected in zip(CAUSES.values(), total):
            found = res.predict(which="incidence", cause=cause)
            assert found.loc[0, end] == pytest.approx(expected, rel=1e-7)
        assert res.predict(which="survival").loc[0, end] == pytest.approx(reached, rel=1e-7)


def test_without_censoring_incidence_is_the_share_of_rows():
    """Events of either cause anywhere inside the intervals, all rows watched to the end: nothing is approximated."""
    rng = np.random.default_rng(3)
    time, event = np.r_[rng.uniform(0, 4, 150), np.full(50, 5.0)], np.r_[rng.integers(1, 3, 150), np.zeros(50, int)]
    res = FusedLogit.from_survival(time, event, np.arange(200)[:, None] % 2.0, BREAKS, causes=[1, 2]).fit(1e9, 0, 0)
    for cause in (1, 2):
        expected = [np.mean((time <= end) & (event == cause)) for end in BREAKS]
        np.testing.assert_allclose(res.predict(which="incidence", cause=cause).iloc[0], expected, rtol=1e-7)


def test_incidences_and_survival_add_up_to_one(model):
    res = model.fit(1.0, 0.1, 1.0)
    incidence, survival = res.predict(which="incidence"), res.predict(which="survival")
    total = incidence["progression"] + incidence["death"] + survival
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    hazard = res.predict(which="hazard", cause="death")
    np.testing.assert_allclose(hazard, res.predict().iloc[:, 3:], rtol=1e-12)
    # Never one less the product of this cause's hazards alone, which counts on those who had the other event.
    assert (incidence["death"].to_numpy()[:, 1:] < 1 - np.cumprod(1 - hazard.to_numpy(), axis=1)[:, 1:]).all()
    medians = res.predict(which="median")
    assert (medians.notna() == (survival.iloc[:, -1] <= 0.5)).all()


def test_hazards_that_add_up_to_more_than_one_are_divided_by_their_sum():
    outcome = CompetingRisks((0.0, 1.0, 2.0), ("a", "b"))
    linear = pd.DataFrame(np.log([[3.0, 1.0, 3.0, 1.0], [0.25, 0.25, 0.25, 0.25]]), columns=outcome.tasks)
    with pytest.warns(CrossingWarning, match="add up to more than 1 in 1 of 2 rows, which no outcome can do"):
        found = outcome.predict(linear, "incidence")
    # Hazards of 3/4 each become 1/2 each, so that nobody reaches the second interval; 1/5 each stay as they are.
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.5, 0.5], [0.2, 0.2 + 0.6 * 0.2, 0.2, 0.2 + 0.6 * 0.2]])


def test_the_summary_counts_the_events_of_each_cause(watched):
    with pytest.warns(LeftOutWarning, match="leave out .* events, 0 before and .* beyond"):
        model = FusedLogit.from_survival(watched["time"], watched["event"], watched[["age"]], [1.0, 2.0], causes=CAUSES)
    text = " ".join(str(model.fit(1.0, 0.1, 1.0).summary()).split())
    early = watched["time"] <= 2
    for number, cause in CAUSES.items():
        assert f"Events, {cause}: {(early & (watched['event'] == number)).sum()}" in text
    inside, beyond = (early & (watched["event"] > 0)).sum(), (~early & (watched["event"] > 0)).sum()
    assert f"Events, all: {inside} ({beyond} beyond the breaks)" in text


def test_it_comes_back_from_a_file_and_is_refitted_and_drawn(model, watched, tmp_path):
    res = model.fit(1.0, 0.1, 1.0)
    res.save(tmp_path / "fit", remove_data=True)
    back, new = load(tmp_path / "fit"), watched[["age", "dose"]].iloc[:5]
    pd.testing.assert_frame_equal(back.predict(new, "incidence"), res.predict(new, "incidence"))
    assert back.model.outcome == model.outcome
    assert res.refit().predict(new, "incidence", cause="death").shape == (5, 3)
    effects = res.effects()
    assert effects.groupby(level=0).size().min() >= 2  # a stretch of each cause at least


def test_effects_of_causes_are_stretches_of_their_own(model):
    """All tied within a cause: each feature has one stretch for each cause, constant throughout it."""
    effects = model.fit(0, 0, 1e6).effects()
    assert effects["constant"].all() and len(effects) == 4


def test_a_formula_knows_causes(model, watched):
    res = FusedLogit.from_formula("Surv(time, event) ~ age + dose", watched, breaks=BREAKS, causes=CAUSES)
    pd.testing.assert_frame_equal(res.fit(1.0, 0.1, 1.0).params, model.fit(1.0, 0.1, 1.0).params)


def test_words_are_codes_too(model, watched):
    words = watched["event"].map({0: 0, 1: "relapse", 2: "death"})
    found = FusedLogit.from_survival(watched["time"], words, watched[["age", "dose"]], BREAKS,
                                     causes=["relapse", "death"])
    np.testing.assert_array_equal(found.fit(1, 0, 1).params, model.fit(1, 0, 1).params)
    assert found.endog_names[0] == "relapse (0,1]"


@pytest.mark.parametrize(("bad", "message"), [
    ({"causes": [1]}, "causes must list two codes of event or more"),
    ({"causes": [0, 1, 2]}, "causes must list two codes of event or more, none of them 0"),
    ({"causes": {1: "a", 2: "a"}}, "causes must list two codes.*no name twice"),
    ({"causes": [1, 2, 3]}, "event never is 3; leave this cause out of causes"),
    ({"causes": [1, 3]}, r"event must be 0 where the row was censored or one of the causes \[1, 3\], found \[2\]"),
    ({"causes": None}, r"event must be 1 .*found \[2.0\].*say that there are several causes, causes=\[1, 2\]"),
])
def test_bad_causes_are_refused(watched, bad, message):
    with pytest.raises(ValueError, match=message):
        FusedLogit.from_survival(**{"time": watched["time"], "event": watched["event"], "exog": watched[["age"]],
                                    "breaks": BREAKS, **bad})


@pytest.mark.parametrize(("arguments", "message"), [
    ({"which": "incidence", "cause": "relapse"}, r"cause must be one of \['progression', 'death'\], found 'relapse'"),
    ({"which": "incidence", "cause": 1}, "cause must be one of"),
    ({"which": "survival", "cause": "death"}, "cause goes with which='hazard' and 'incidence', found 'survival'"),
    ({"which": "prob", "cause": "death"}, "cause goes with which='hazard' and 'incidence', found which='prob'"),
    ({"which": "incidence", "task": "death (0,1]"}, "task goes with which='prob', 'linear' and 'label'"),
])
def test_bad_causes_of_predictions_are_refused(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        model.fit(1.0, 0.1, 1.0).predict(**arguments)


# ---- scores ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def within():
    """Times inside intervals, censored ones among them."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"age": rng.normal(size=200), "dose": rng.normal(size=200)})
    times = rng.exponential(np.column_stack([8 / np.exp(0.8 * X["age"]), 9 / np.exp(-0.5 * X["dose"])]))
    left = rng.uniform(0.5, 6, 200)
    event = np.where(times.min(axis=1) <= left, times.argmin(axis=1) + 1, 0)
    return X.assign(time=np.minimum(times.min(axis=1), left), event=event)


@pytest.fixture(scope="module")
def inside(within):
    with pytest.warns(LeftOutWarning):
        model = FusedLogit.from_survival(within["time"], within["event"], within[["age", "dose"]], BREAKS,
                                         causes=CAUSES)
    return model.fit(0.5, 0.0, 2.0)


def test_scores_follow_from_their_definition(within, inside):
    """By loops over rows and pairs: weighted squares of incidence, and pairs with those that lived on or died else."""
    X, time, event = within[["age", "dose"]], within["time"].to_numpy(), within["event"].to_numpy()
    found = survival_scores(inside, within["time"], within["event"], X)
    staying = [1.0]
    moments = np.unique(time[event == 0])
    for moment in moments:
        at_risk = np.sum(time > moment) + np.sum((time == moment) & (event == 0))
        staying.append(staying[-1] * (1 - 1 / at_risk))

    def stays(moment, before=False):
        return staying[np.searchsorted(moments, moment, side="left" if before else "right")]

    for number, cause in CAUSES.items():
        incidence = inside.predict(X, which="incidence", cause=cause).to_numpy()
        briers = [0.0]
        for k, end in enumerate(BREAKS):
            gone, well = (event > 0) & (time <= end), time > end
            weight = [1 / stays(time[i], True) if gone[i] else 1 / stays(end) if well[i] else 0.0 for i in range(200)]
            briers.append(np.mean(weight * (incidence[:, k] - (gone & (event == number))) ** 2))
        heights = (np.array(briers[1:]) + briers[:-1]) / 2
        assert found.loc[cause, "brier"] == pytest.approx(heights @ np.diff([0, *BREAKS]) / 4)
        right = pairs = 0.0
        for i in np.flatnonzero((event == number) & (time <= 4)):
            k = np.searchsorted(BREAKS, time[i])
            others = (time > time[i]) | ((event > 0) & (event != number) & (time <= time[i]))
            mine, theirs = incidence[i, k], incidence[others, k]
            right += np.sum(mine > theirs) + 0.5 * np.sum(mine == theirs)
            pairs += others.sum()
        assert found.loc[cause, "concordance"] == pytest.approx(right / pairs)
        assert 0.6 < found.loc[cause, "concordance"] < 0.9


@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
def test_scores_of_one_cause_are_those_of_its_own_model(within):
    """Where the other cause never occurs among the held-out rows, and its hazard is next to nothing."""
    rows = within[within["event"] != 2]
    both = rows.assign(event=np.where(np.arange(len(rows)) == 0, 2, rows["event"]))
    two = FusedLogit.from_survival(both["time"], both["event"], both[["age"]], BREAKS, causes=CAUSES,
                                   weights=np.where(both["event"] == 2, 1e-9, 1.0))
    one = FusedLogit.from_survival(rows["time"].iloc[1:], rows["event"].iloc[1:] == 1, rows[["age"]].iloc[1:], BREAKS)
    held = rows.iloc[1:]
    found = survival_scores(two.fit(0.1, 0.0, 1e4), held["time"], held["event"], held[["age"]]).loc["progression"]
    expected = survival_scores(one.fit(0.1, 0.0, 1e4), held["time"], held["event"], held[["age"]])
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_out_of_fold_scores_have_a_row_for_each_fold_and_cause(within, inside):
    cv = inside.model.fit_cv(folds=3, l1=[0.5, 1.0], l2=[0.0], fusion=[1.0, 4.0], progress=False)
    found = out_of_fold_scores(cv, within["time"], within["event"])
    assert found.index.names == ["fold", "cause"] and len(found) == 6
    held = cv.folds == 1
    fit = inside.model.with_rows(~held).fit(**cv.penalties)
    expected = survival_scores(fit, *(within[name][held] for name in ("time", "event")), within[["age", "dose"]][held])
    pd.testing.assert_frame_equal(found.loc[1], expected, rtol=1e-6)


def test_codes_of_causes_come_back_from_a_file(inside, within, tmp_path):
    inside.save(tmp_path / "fit")
    back = load(tmp_path / "fit")
    pd.testing.assert_frame_equal(survival_scores(back, within["time"], within["event"], within[["age", "dose"]]),
                                  survival_scores(inside, within["time"], within["event"], within[["age", "dose"]]))
    with pytest.raises(ValueError, match=r"event must be 0 .* or one of the causes \[1, 2\], found \['0', 'death'\]"):
        survival_scores(back, within["time"], np.where(within["event"] == 2, "death", "0"), within[["age", "dose"]])
