"""Rows that belong together: standard errors, resamples, folds and criteria by group; weights in folds."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import norm

from fusedlr import FusedLogit, FusedLogitWarning
from fusedlr.resampling import draw, fold_shares, halves

pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")

LISTS = {"l1": [0.5, 2.0, 8.0], "l2": [0.2], "fusion": [0.5, 2.0]}


def correlated(rng, persons, visits, slopes=(0.5, 0.3), shared=0.6):
    """Labels of each visit that follow a logistic regression exactly, and depend on each other within a person."""
    person = np.repeat(np.arange(persons), visits)
    X = pd.DataFrame({"x": np.repeat(rng.normal(size=persons), visits), "z": rng.normal(size=persons * visits)})
    latent = np.sqrt(shared) * rng.normal(size=persons)[person] + np.sqrt(1 - shared) * rng.normal(size=len(X))
    y = pd.Series((norm.cdf(latent) < 1 / (1 + np.exp(0.3 - X.to_numpy() @ slopes))).astype(int), name="y")
    return y, X, pd.Series(person, name="person"), np.tile(np.arange(visits), persons)


@pytest.fixture(scope="module")
def visits():
    return correlated(np.random.default_rng(8), 60, 4)


@pytest.fixture(scope="module")
def model(visits):
    y, X, person, visit = visits
    return FusedLogit.from_long(y, X, visit, groups=person)


# ---- standard errors ------------------------------------------------------------------------------------------------

def test_the_sandwich_sums_scores_over_the_rows_of_a_group(visits):
    """By hand: inverse information, outer products of the persons' scores, inverse information."""
    y, X, person, _ = visits
    found = FusedLogit(y, X, groups=person).fit(0, 0, 0).refit()
    Z = np.column_stack([np.ones(240), X])
    p = 1 / (1 + np.exp(-Z @ found.params["y"].to_numpy()))
    scores = (y.to_numpy() - p)[:, None] * Z
    by_person = np.array([scores[4 * i:4 * i + 4].sum(axis=0) for i in range(60)])
    bread = np.linalg.inv(Z.T @ ((p * (1 - p))[:, None] * Z))
    expected = np.sqrt(np.diag(bread @ by_person.T @ by_person @ bread))
    np.testing.assert_allclose(found.bse["y"], expected, rtol=1e-7)
    assert found.cov_type == "cluster"


def test_clustered_errors_are_those_of_statsmodels(visits):
    """All visits tied, an intercept for each: one logistic regression of all rows, clustered by person."""
    y, X, person, visit = visits
    found = FusedLogit.from_long(y, X, visit, groups=person).fit(0, 0, 1e6).refit()
    design = np.column_stack([np.eye(4)[visit], X])
    expected = sm.GLM(y, design, family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": person, "use_correction": False})
    np.testing.assert_allclose(found.params.iloc[1:, 0], expected.params.iloc[4:], rtol=1e-7)
    np.testing.assert_allclose(found.bse.iloc[1:, 0], expected.bse.iloc[4:], rtol=1e-6)
    np.testing.assert_allclose(found.bse.iloc[0], expected.bse.iloc[:4], rtol=1e-6)


def test_the_summary_says_by_what_errors_are_clustered(model, visits):
    y, X, person, _ = visits
    refitted = str(model.fit(1, 0.1, 1).refit().summary())
    assert "cluster by person" in refitted and "between the labels of one person" in " ".join(refitted.split())
    assert "Groups (person):" in refitted and "240" in refitted and "60" in refitted
    unnamed = FusedLogit(y, X, groups=person.to_numpy()).fit(1, 0.1, 1)
    assert "Groups (group):" in str(unnamed.summary())
    assert "Groups (" not in str(FusedLogit(y, X).fit(1, 0.1, 1).summary())


@pytest.mark.slow
def test_intervals_by_group_cover_as_often_as_they_say():
    """50 persons with 10 visits each, 500 times: by person 92 to 97 %, by row far less for what is the same in all."""
    rng, by_person, by_row = np.random.default_rng(1), [], []
    for _ in range(500):
        y, X, person, _ = correlated(rng, 50, 10)
        res = FusedLogit(y, X, groups=person).fit(0, 0, 0)
        for found, cov_type in ((by_person, "cluster"), (by_row, "nonrobust")):
            ends = res.refit(cov_type).conf_int().to_numpy()[1:]
            found.append([low < slope < high for (low, high), slope in zip(ends, (0.5, 0.3))])
    assert ((np.mean(by_person, axis=0) > 0.92) & (np.mean(by_person, axis=0) < 0.97)).all()
    assert np.mean(by_row, axis=0)[0] < 0.75


# ---- a group of one row, and groups of some rows --------------------------------------------------------------------

def test_a_group_of_one_row_is_no_group(visits):
    y, X, _, visit = visits
    alone, plain = (FusedLogit.from_long(y, X, visit, groups=groups) for groups in (np.arange(240)[::-1], None))
    one, other = alone.fit(1, 0.1, 1), plain.fit(1, 0.1, 1)
    pd.testing.assert_frame_equal(one.params, other.params, rtol=1e-9)
    assert (one.bic, one.nobs, one.n_groups) == (pytest.approx(other.bic), other.nobs, 240)
    pd.testing.assert_frame_equal(one.refit("cluster").bse, other.refit("cluster").bse, rtol=1e-9)
    np.testing.assert_array_equal(alone.fit_cv(**LISTS).folds, plain.fit_cv(**LISTS).folds)
    np.testing.assert_allclose(*(FusedLogit.from_long(y, X, visit, groups=groups).fit(1, 0.1, 1).bootstrap(
        3, progress=False).samples for groups in (np.arange(240), None)), rtol=1e-6, atol=1e-9)


def test_groups_of_some_rows_are_those_that_have_any(model):
    some = model.with_rows(np.arange(20))  # of the first five persons
    assert some.n_groups == 5 and some.fit(1, 0.1, 1).n_groups == 5
    assert some.problem.groups.size == 5
    drawn = draw(some.problem.groups, np.random.default_rng(1))
    assert drawn.sum() == 4 * 5


def test_bic_counts_groups(model):
    res = model.fit(1, 0.1, 1)
    assert res.bic == pytest.approx(-2 * res.llf + np.log(60) * res.df_effective)


def test_the_scale_counts_every_group_once(visits):
    """A person's visits share the weight of the person."""
    y, X, person, _ = visits
    some = (person % 3 != 0) | (np.arange(240) % 4 == 0)  # every third person has one visit only
    model = FusedLogit(y[some], X[some], groups=person[some])
    weight = 1 / person[some].map(person[some].value_counts())
    mean = np.average(X[some], axis=0, weights=weight)
    expected = np.sqrt(np.average((X[some] - mean) ** 2, axis=0, weights=weight))
    np.testing.assert_allclose(model.scale, expected, rtol=1e-12)


# ---- resamples and folds --------------------------------------------------------------------------------------------

def test_a_group_is_drawn_as_a_whole(model, visits):
    times = draw(model.problem.groups, np.random.default_rng(3)).reshape(60, 4)
    assert (times == times[:, :1]).all() and times[:, 0].sum() == 60 and times.max() > 1


def test_a_group_is_in_one_half(model):
    one, other = (times.reshape(60, 4) for times in halves(model.problem.groups, np.random.default_rng(3)))
    assert (one == one[:, :1]).all() and (one + other == 1).all() and one.sum() == 120


@pytest.mark.parametrize("folds", [2, 5, 7])
def test_folds_never_split_a_group_and_spread_the_labels(model, visits, folds):
    y, _, person, _ = visits
    fold = fold_shares(model.problem.labels, model.problem.groups, folds, 4).argmax(axis=0)
    assert (pd.Series(fold).groupby(person).nunique() == 1).all()
    shares = y.groupby(fold).agg(["mean", "size"])
    assert np.ptp(shares["mean"]) < 0.08 and np.ptp(shares["size"]) <= 8 and len(shares) == folds


def test_default_folds_are_by_group(model, visits):
    cv = model.fit_cv(**LISTS)
    assert (pd.Series(cv.folds).groupby(visits[2]).nunique() == 1).all()
    with pytest.raises(ValueError, match="folds must be from 2 to 60, found 61.*at most one for each person"):
        model.fit_cv(folds=61, **LISTS)


def test_folds_by_row_learn_the_persons():
    """A noise feature that is the same in all rows of a person, who has a level of her own: it predicts her rows only
    where others of her rows are seen, so that folds by row leave out too few penalties."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(40), 8)
    X = rng.normal(size=(40, 25))[person]
    y = (rng.random(320) < 1 / (1 + np.exp(-2.5 * rng.normal(size=40)[person]))).astype(int)
    grid = {"l1": np.geomspace(0.2, 60, 8), "l2": [0.0], "fusion": [0.0]}
    by_row, by_person = (FusedLogit(y, X, groups=groups).fit_cv(**grid) for groups in (None, person))
    assert by_person.penalties["l1"] > 10 * by_row.penalties["l1"]


class ByGroup:
    """A splitter as in scikit-learn: it sees rows, labels and groups."""

    def split(self, X, y=None, groups=None):
        assert len(X) == len(y) == len(groups)
        for part in range(3):
            yield np.flatnonzero(groups % 3 != part), np.flatnonzero(groups % 3 == part)


def test_splitters_and_pairs_are_folds(model, visits):
    fold = visits[2].to_numpy() % 3
    pairs = [(np.flatnonzero(fold != part), np.flatnonzero(fold == part)) for part in range(3)]
    expected = model.fit_cv(folds=fold, **LISTS)
    for folds in (ByGroup(), pairs, iter(pairs), [(fold != part, fold == part) for part in range(3)],
                  [(train.tolist(), test.tolist()) for train, test in pairs]):
        found = model.fit_cv(folds=folds, **LISTS)
        np.testing.assert_array_equal(found.folds, fold)
        pd.testing.assert_frame_equal(found.table, expected.table)


def test_splitters_of_scikit_learn_are_taken(model, visits):
    selection = pytest.importorskip("sklearn.model_selection", reason="scikit-learn is not needed by this package")
    for splitter in (selection.GroupKFold(4), selection.StratifiedGroupKFold(4), selection.LeaveOneGroupOut()):
        folds = model.fit_cv(folds=splitter, **LISTS).folds
        assert (pd.Series(folds).groupby(visits[2]).nunique() == 1).all()


@pytest.mark.parametrize(("folds", "message"), [
    ([([0, 1], [2, 3]), ([2, 3], [0, 1])], "folds must score every row, found 236 rows in no test part"),
    ([(np.arange(120), np.arange(120, 240)), (np.arange(240), np.arange(120))], "folds must score each row once"),
    ([(np.arange(120), np.arange(120, 240)), (np.arange(120), np.arange(120, 240))], "folds must score each row once"),
    ([(np.arange(120), [240]), (np.arange(120), [1])], "folds must be positions of the 240 rows"),
    ([(np.zeros(0, int), np.arange(240))], "folds must put observed labels into at least 2 folds"),
])
def test_pairs_that_are_no_folds_are_refused(model, folds, message):
    with pytest.raises(ValueError, match=message):
        model.fit_cv(folds=folds, **LISTS)


# ---- weights in folds -----------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def cells():
    """Counts of two labels in twelve cells of an age and a band, as tables of counts come."""
    rng = np.random.default_rng(2)
    age = np.repeat(np.arange(6.0), 2)
    yes = np.tile([0, 1], 6)
    return pd.DataFrame({"age": age, "yes": yes, "n": rng.integers(3, 40, 12) + np.where(yes, 6 * age, 0).astype(int)})


def test_whole_weights_are_split_over_folds_as_rows_are(cells):
    """Scores, their standard errors and the choice are those of the rows themselves."""
    rows = cells.loc[cells.index.repeat(cells["n"])].reset_index(drop=True)
    labels = [pd.DataFrame({"a": part["yes"], "b": 1 - part["yes"]}) for part in (cells, rows)]
    weighted = FusedLogit(labels[0], cells[["age"]], weights=cells["n"]).fit_cv(rng=3, tol=1e-12, **LISTS)
    repeated = FusedLogit(labels[1], rows[["age"]]).fit_cv(rng=3, tol=1e-12, **LISTS)
    np.testing.assert_allclose(weighted.table[["mean", "se", "error"]], repeated.table[["mean", "se", "error"]],
                               rtol=1e-6)
    assert weighted.chosen == repeated.chosen
    np.testing.assert_allclose(weighted.parts.sum(axis=0), 1.0)
    counts = weighted.parts * cells["n"].to_numpy()
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert np.ptp(counts[:, cells["yes"] == 1].sum(axis=1)) < 1.5  # labels as evenly as they can be


def test_a_heavy_row_whose_weight_is_not_split_is_said(cells):
    labels, weights = cells["yes"], cells["n"] + 0.5
    heavy = weights.where(cells.index != 5, 400.5)
    with pytest.warns(FusedLogitWarning, match="one row holds .* of the weight of a task, and weights are not split"):
        FusedLogit(labels, cells[["age"]], weights=heavy).fit_cv(folds=3, **LISTS)
    FusedLogit(labels, cells[["age"]], weights=weights / 100).fit_cv(folds=3, **LISTS)  # none holds a third


def test_a_continuous_outcome_is_not_taken_for_levels():
    values = np.random.default_rng(4).normal(size=80)
    values[0] = values[1]
    with pytest.raises(ValueError, match="endog has 79 levels in 80 rows, which is more like a continuous outcome"):
        FusedLogit.from_ordered(values, np.arange(80.0)[:, None])
