"""Ordered outcomes: tasks, probabilities of levels and scores against separate fits, pooled fits and brute force."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import fusedlr
from fusedlr import CrossingWarning, FusedLogit
from fusedlr.outcomes import ordered_scores

LEVELS = ["none", "mild", "bad", "worst"]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"age": rng.normal(0, 10, 300), "dose": rng.exponential(size=300)}, index=range(100, 400))


@pytest.fixture(scope="module")
def severity(X):
    noise = np.random.default_rng(4).logistic(size=len(X))
    codes = np.digitize(0.08 * X["age"] + 0.7 * X["dose"] + noise, [-0.5, 0.8, 2.0])
    level = pd.Series(pd.Categorical.from_codes(codes, LEVELS, ordered=True), X.index, name="severity")
    level.iloc[[5, 77]] = None
    return level


@pytest.fixture(scope="module")
def codes(severity):
    return severity.cat.codes.to_numpy()


def newton_logit(y, X):
    """Maximum likelihood by Newton steps until they vanish."""
    return sm.Logit(y, X).fit(method="newton", tol=1e-14, maxiter=100, disp=False).params


# ---- what the tasks are ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("how", "expected"), [
    ({}, {"none": [0, np.nan, np.nan], "mild": [1, 0, np.nan], "bad": [1, 1, 0], "worst": [1, 1, 1]}),
    ({"direction": "backward"},
     {"none": [0, 0, 0], "mild": [1, 0, 0], "bad": [np.nan, 1, 0], "worst": [np.nan, np.nan, 1]}),
    ({"kind": "cumulative"}, {"none": [0, 0, 0], "mild": [1, 0, 0], "bad": [1, 1, 0], "worst": [1, 1, 1]}),
])
def test_labels_of_the_tasks(X, severity, how, expected):
    model = FusedLogit.from_ordered(severity, X, **how)
    for level, labels in expected.items():
        found = model.endog[severity == level].to_numpy()
        np.testing.assert_array_equal(found, np.tile(labels, (len(found), 1)))
    assert model.endog.iloc[5].isna().all() and model.nobs == 298
    names = [">=mild", ">=bad", ">=worst"] if "direction" in how else [">none", ">mild", ">bad"]
    assert model.endog_names == names


def test_a_formula_builds_the_same_model(X, severity):
    plain = FusedLogit.from_ordered(severity, X).fit(1.0, 0.1, 2.0)
    data = X.assign(severity=severity)
    named = FusedLogit.from_formula("severity ~ age + dose", data).fit(1.0, 0.1, 2.0)
    assert named.model.outcome == plain.model.outcome and named.params.equals(plain.params)
    new = X.iloc[:5]
    assert named.predict(new, which="level").equals(plain.predict(new, which="level"))
    with pytest.raises(ValueError, match="one ordered outcome on its left side"):
        FusedLogit.from_formula("severity + age ~ dose", data, levels=LEVELS)
    words = FusedLogit.from_formula("severity ~ age + dose", data.assign(severity=severity.astype(object)),
                                    levels=LEVELS, kind="cumulative")
    assert words.endog.equals(FusedLogit.from_ordered(severity, X, kind="cumulative").endog)


def test_effects_name_the_first_and_the_last_step_of_every_stretch(X, severity):
    res = FusedLogit.from_ordered(severity, X).fit(0.5, 0.0, 3.0)
    names, table = res.model.endog_names, res.effects()
    for feature in X:
        spread = [row.coef for row in table.loc[[feature]].itertuples()
                  for _ in names[names.index(row.first):names.index(row.last) + 1]]
        assert spread == res.coefs.loc[feature].tolist()
    halves = res.stability(4, progress=False)
    changes = (np.diff(halves.samples[:, 1:]) != 0).any(axis=2).mean(axis=0)
    np.testing.assert_allclose(res.effects(halves).groupby(level=0)["found"].first(), 1 - changes)


# ---- against other fits ---------------------------------------------------------------------------------------------

def test_backward_is_forward_with_the_levels_the_other_way_round(X, severity, codes):
    penalties = dict(l1=1.0, l2=0.1, fusion=2.0)
    down = FusedLogit.from_ordered(severity, X, direction="backward").fit(**penalties)
    turned = FusedLogit.from_ordered(severity, X, levels=LEVELS[::-1]).fit(**penalties)
    np.testing.assert_allclose(down.params, -turned.params.iloc[:, ::-1], atol=1e-7)
    assert down.llf == pytest.approx(turned.llf, rel=1e-9)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_without_penalties_it_is_separate_logits_of_those_at_risk(X, severity, codes, direction):
    params = FusedLogit.from_ordered(severity, X, direction=direction).fit(0, 0, 0).params
    design = sm.add_constant(X.to_numpy())
    for k in range(3):
        at_risk = codes >= k if direction == "forward" else (codes <= k + 1) & (codes >= 0)
        expected = newton_logit((codes > k)[at_risk], design[at_risk])
        np.testing.assert_allclose(params.iloc[:, k], expected, rtol=1e-7, atol=1e-7)


def test_all_tied_it_is_the_pooled_logit(X, severity, codes):
    res = FusedLogit.from_ordered(severity, X).fit(0, 0, 1e6)
    rows, steps = np.nonzero(codes[:, None] >= np.arange(3))
    pooled = newton_logit((codes[rows] > steps), np.column_stack([np.eye(3)[steps], X.to_numpy()[rows]]))
    np.testing.assert_allclose(res.intercepts, pooled[:3], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(res.coefs, np.tile(pooled[3:, None], 3), rtol=1e-7, atol=1e-7)


# ---- predictions ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_probabilities_of_levels_follow_the_chain_rule(X, severity, direction):
    res = FusedLogit.from_ordered(severity, X, direction=direction).fit(1.0, 0.1, 2.0)
    yes, levels = res.predict().to_numpy(), res.predict(which="levels")
    if direction == "forward":
        a, b, c = yes.T
        expected = [1 - a, a * (1 - b), a * b * (1 - c), a * b * c]
    else:
        no = 1 - yes
        expected = [no.prod(axis=1), yes[:, 0] * no[:, 1] * no[:, 2], yes[:, 1] * no[:, 2], yes[:, 2]]
    np.testing.assert_allclose(levels, np.column_stack(expected), rtol=1e-12)
    np.testing.assert_allclose(levels.sum(axis=1), 1.0, rtol=1e-14)
    assert list(levels.columns) == LEVELS and (levels >= 0).all(axis=None)


def test_levels_come_back_as_the_user_has_them(X, severity):
    res = FusedLogit.from_ordered(severity, X).fit(1.0, 0.1, 2.0)
    level = res.predict(which="level")
    assert level.dtype == severity.dtype and level.index.equals(X.index)
    assert (level == res.predict(which="levels").idxmax(axis=1)).all()
    np.testing.assert_allclose(res.predict(which="rank"), res.predict(which="levels") @ [1, 2, 3, 4])
    score = severity.cat.codes.map({-1: np.nan, 0: 0, 1: 2, 2: 5, 3: 10})
    numbers = FusedLogit.from_ordered(score, X).fit(1.0, 0.1, 2.0)
    np.testing.assert_allclose(numbers.predict(which="rank"), numbers.predict(which="levels") @ [0, 2, 5, 10])
    assert set(numbers.predict(which="level")) <= {0, 2, 5, 10}


def test_plain_tasks_have_no_levels(X, severity):
    with pytest.raises(ValueError, match="which must be 'prob', 'linear' or 'label', found 'levels'"):
        FusedLogit(severity == "worst", X).fit(1.0, 0.1, 2.0).predict(which="levels")


def test_equal_probabilities_do_not_cross(X, severity):
    """All tied, intercepts too; a warning would be an error here."""
    res = FusedLogit.from_ordered(severity, X, kind="cumulative", fuse_intercepts=True).fit(1.0, 0.1, 1e6)
    linear = res.predict(which="linear").to_numpy()
    assert (linear == linear[:, :1]).all()
    np.testing.assert_allclose(res.predict(which="levels").to_numpy()[:, 1:-1], 0.0, atol=1e-15)


def test_crossing_probabilities_are_put_in_order_and_counted(X, severity):
    res = FusedLogit.from_ordered(severity, X, kind="cumulative").fit(0, 0, 0)
    far = X.assign(dose=np.where(np.arange(300) < 40, 60.0, X["dose"]))
    above, rising = res.predict(far).to_numpy(), (np.diff(res.predict(far, which="linear")) > 0).any(axis=1)
    crossed = int(rising.sum())
    assert 0 < crossed < 300
    with pytest.warns(CrossingWarning, match=f"in {crossed} of 300 rows"):
        levels = res.predict(far, which="levels").to_numpy()
    assert (levels >= 0).all()
    np.testing.assert_allclose(levels.sum(axis=1), 1.0, rtol=1e-14)
    between = -np.diff(np.column_stack([np.ones(300), above, np.zeros(300)]))
    np.testing.assert_allclose(levels[~rising], between[~rising], atol=1e-14)


# ---- how well it fits -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", [{}, {"direction": "backward"}, {"kind": "cumulative"}])
def test_log_likelihood_is_that_of_the_levels(X, severity, codes, how):
    weights = np.random.default_rng(1).integers(1, 4, 300)
    res = FusedLogit.from_ordered(severity, X, weights=weights, **how).fit(1.0, 0.1, 2.0)
    seen = codes >= 0
    chance = res.predict(which="levels").to_numpy()[seen, codes[seen]]
    assert res.llf == pytest.approx(weights[seen] @ np.log(chance), rel=1e-12)
    share = np.bincount(codes[seen], weights[seen]) / weights[seen].sum()
    assert res.llnull == pytest.approx(weights[seen] @ np.log(share[codes[seen]]), rel=1e-12)
    assert res.deviance == -2 * res.llf and res.aic == pytest.approx(-2 * res.llf + 2 * res.df_effective)
    cv = res.model.fit_cv(l1=[1.0], l2=[0.1], fusion=[2.0], by="aic", tol=1e-12)
    assert cv.table["aic"][0] == pytest.approx(res.aic, rel=1e-6)


def squared_steps(shares, rank):
    """The ranked probability score of one row, from its definition."""
    return sum((sum(shares[: k + 1]) - (rank <= k)) ** 2 for k in range(len(shares) - 1))


def test_scores_of_held_out_rows(X, severity, codes):
    train = np.arange(300) < 200
    res = FusedLogit.from_ordered(severity[train], X[train]).fit(1.0, 0.1, 2.0)
    found = ordered_scores(res, severity[~train], X[~train])
    shares, rank = res.predict(X[~train], which="levels").to_numpy(), codes[~train]
    assert found["rps"] == pytest.approx(np.mean([squared_steps(p, r) for p, r in zip(shares, rank)]))
    assert found["logloss"] == pytest.approx(-np.mean([np.log(p[r]) for p, r in zip(shares, rank)]))
    assert found["error"] == pytest.approx(np.mean([p.argmax() != r for p, r in zip(shares, rank)]))
    assert found["nobs"] == 100
    with pytest.raises(ValueError, match="results must come from FusedLogit.from_ordered"):
        ordered_scores(FusedLogit(severity == "bad", X).fit(1, 0, 0), severity, X)


def test_a_weight_is_a_number_of_rows_in_scores(X, severity):
    offset = np.linspace(-1, 1, 300)
    res = FusedLogit.from_ordered(severity, X, offset=offset).fit(1.0, 0.1, 2.0)
    weights = np.arange(300) % 3
    rows = np.repeat(np.arange(300), weights)
    found = ordered_scores(res, severity, X, weights, offset)
    again = ordered_scores(res, *(part.iloc[rows].reset_index(drop=True) for part in (severity, X)),
                           offset=offset[rows])
    pd.testing.assert_series_equal(found, again, rtol=1e-12)
    with pytest.raises(ValueError, match="weights must have the index of endog"):
        ordered_scores(res, severity, X, pd.Series(weights), offset)
    with pytest.raises(ValueError, match="endog must have one level for each of the 2 rows of exog, found 300"):
        ordered_scores(res, severity, X.iloc[:2].to_numpy(), offset=0)
    with pytest.raises(ValueError, match="endog must have the index of exog"):
        ordered_scores(res, severity, X.iloc[::-1], offset=0)
    with pytest.raises(ValueError, match="endog must have a level in some row"):
        ordered_scores(res, severity, X, np.zeros(300), offset)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
@pytest.mark.parametrize("how", [{}, {"direction": "backward"}, {"kind": "cumulative"}])
def test_ranked_probability_score_chooses_penalties(X, severity, codes, how):
    model = FusedLogit.from_ordered(severity, X, **how)
    folds = np.arange(300) % 3
    cv = model.fit_cv(folds=folds, metric="rps", l1=[0.5, 40.0], l2=[0.1], fusion=[1.0, 10.0], tol=1e-13)
    scores, counts = np.zeros((3, 4)), np.zeros(3)
    for fold in range(3):
        grid = model.with_rows(folds != fold).fit_grid([0.5, 40.0], [0.1], [1.0, 10.0], tol=1e-13)
        held = np.flatnonzero((folds == fold) & (codes >= 0))
        counts[fold] = model.endog.iloc[held].notna().to_numpy().sum()
        for i in range(4):
            shares = grid.results(i).predict(X.iloc[held], which="levels").to_numpy()
            scores[fold, i] = np.mean([squared_steps(p, codes[row]) for p, row in zip(shares, held)])
    np.testing.assert_allclose(cv.fold_scores, scores, rtol=1e-6)
    np.testing.assert_allclose(cv.table["rps"], counts @ scores / counts.sum(), rtol=1e-6)
    assert cv.best == np.argmin(cv.table["mean"])
    assert cv.grid.select(severity, X, metric="rps").model is model


def test_the_outcome_is_kept_in_files(X, severity, tmp_path):
    res = FusedLogit.from_ordered(severity, X, kind="cumulative").fit(1.0, 0.1, 50.0)
    for remove in (False, True):
        res.save(tmp_path / "fit.npz", remove_data=remove)
        back = fusedlr.load(tmp_path / "fit.npz")
        assert back.model.outcome == res.model.outcome
        assert (back.llf, back.llnull, back.aic) == (res.llf, res.llnull, res.aic)
        assert back.predict(X, which="level").equals(res.predict(X, which="level"))


def test_calibration_and_selection_take_the_levels_themselves(X, severity):
    model = FusedLogit.from_ordered(severity, X)
    labels = model.held_out(severity, X).labels
    np.testing.assert_array_equal(labels.table(labels.yes, len(X)), model.endog)


@pytest.mark.parametrize(("how", "message"), [
    ({"kind": "adjacent"}, "kind must be 'sequential' or 'cumulative', found 'adjacent'"),
    ({"direction": "up"}, "direction must be 'forward' or 'backward', found 'up'"),
    ({"kind": "cumulative", "direction": "backward"}, "direction='backward' goes with kind='sequential' only"),
])
def test_unknown_kinds_are_refused(X, severity, how, message):
    with pytest.raises(ValueError, match=message):
        FusedLogit.from_ordered(severity, X, **how)


def test_unordered_categories_are_refused(X, severity):
    with pytest.raises(ValueError, match="levels is needed, lowest first, unless endog is numeric or an ordered"):
        FusedLogit.from_ordered(severity.cat.as_unordered(), X)
    with pytest.raises(ValueError, match="at least two ordered levels"):
        FusedLogit.from_ordered(severity[severity == "bad"].cat.remove_unused_categories(), X[severity == "bad"])
