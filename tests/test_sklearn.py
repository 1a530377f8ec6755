"""The estimators for scikit-learn: its own checks, its tools around them, and the model's numbers behind them."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn 1.6 or later is needed, which Debian 12 lacks")

from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from fusedlr import FusedLogit, FusedLogitWarning
from fusedlr.sklearn import FusedLogitClassifier, FusedLogitClassifierCV, FusedOrderedClassifier

# What scikit-learn's checks ask for and these estimators do not do, and why.
TABLE_OF_LABELS = {"check_classifier_multioutput": "indexes classes_ as one array for all tasks; ours is a list, as "
                                                   "that of ClassifierChain, by which scorers know several tasks"}
WORDS = {"check_classifiers_classes": "fits words without an order; ours are refused unless levels says it"}


@pytest.mark.parametrize(("estimator", "expected"), [
    (FusedLogitClassifier(), TABLE_OF_LABELS),
    (FusedLogitClassifierCV(l1=[0.1, 1.0], l2=[0.1], fusion=[0.1, 1.0]), TABLE_OF_LABELS),
    (FusedOrderedClassifier(), WORDS),
], ids=lambda value: type(value).__name__)
def test_scikit_learns_own_checks_pass(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)  # tiny data: separated, collinear, at the edge of a grid
        found = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert [check["check_name"] for check in found if check["status"] == "failed"] == []
    assert {check["check_name"] for check in found if check["status"] == "xfail"} == set(expected)
    assert sum(check["status"] == "passed" for check in found) > 50


def table(seed=0, n=90, t=3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["age", "dose", "sex", "bmi"])
    Y = pd.DataFrame((X[["age"]].to_numpy() + rng.logistic(size=(n, t)) > 0).astype(float), columns=["a", "b", "c"][:t])
    Y.iloc[::7, 1] = np.nan
    return X, Y


def long(seed=1, n=120):
    X, _ = table(seed, n)
    rng = np.random.default_rng(seed)
    task, groups = np.arange(n) % 3, np.arange(n) // 3
    return X, np.where(X["age"] + rng.logistic(size=n) > 0, "ill", "healthy"), task, groups


# ---- the numbers are the model's ------------------------------------------------------------------------------------

def test_a_table_of_labels_is_fitted_as_by_the_model():
    X, Y = table()
    found = FusedLogitClassifier(1.0, 0.1, 2.0).fit(X, Y)
    res = FusedLogit(Y, X).fit(1.0, 0.1, 2.0)
    np.testing.assert_array_equal(found.coef_, res.coefs.T)
    np.testing.assert_array_equal(found.intercept_, res.intercepts)
    np.testing.assert_array_equal(found.predict_proba(X), res.predict(X))
    np.testing.assert_array_equal(found.decision_function(X), res.predict(X, "linear"))
    np.testing.assert_array_equal(found.predict(X), res.predict(X, "label"))
    assert found.results_.certify().relative_gap < 1e-10
    assert (found.tasks_, found.feature_names_in_.tolist()) == (list(Y), list(X))
    assert [classes.tolist() for classes in found.classes_] == [[0.0, 1.0]] * 3


def test_the_score_is_the_accuracy_of_the_observed_labels():
    X, Y = table()
    found = FusedLogitClassifier().fit(X, Y)
    right = (found.predict(X) == Y).to_numpy()[Y.notna()]
    assert found.score(X, Y) == pytest.approx(right.mean(), abs=1e-15)
    weights = np.arange(len(X)) % 3
    repeated = np.repeat(np.arange(len(X)), weights)
    assert found.score(X, Y, weights) == pytest.approx(found.score(X.iloc[repeated], Y.iloc[repeated]), abs=1e-15)


def test_weights_are_numbers_of_rows():
    X, Y = table()
    weights = np.arange(len(X)) % 3
    repeated = np.repeat(np.arange(len(X)), weights)
    one = FusedLogitClassifier().fit(X, Y, sample_weight=weights)
    other = FusedLogitClassifier().fit(X.iloc[repeated], Y.iloc[repeated])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)


def test_words_of_each_task_come_back():
    X, Y = table()
    words = pd.DataFrame({"a": Y["a"].map({0: "no", 1: "yes"}), "b": Y["b"].map({0: 5.0, 1: 7.0}),
                          "c": Y["c"].map({0: "case", 1: "control"})})
    found, plain = FusedLogitClassifier().fit(X, words), FusedLogitClassifier().fit(X, Y)
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    assert [classes.tolist() for classes in found.classes_] == [["no", "yes"], [5.0, 7.0], ["case", "control"]]
    expected = [[classes[int(yes)] for classes, yes in zip(found.classes_, row)] for row in plain.predict(X)]
    assert found.predict(X).tolist() == expected
    assert found.score(X, words) == plain.score(X, Y)


def test_one_column_of_labels_is_one_task():
    X, Y = table()
    found = FusedLogitClassifier(0.5).fit(X, Y["a"])
    res = FusedLogit(Y["a"], X).fit(0.5)
    np.testing.assert_array_equal(found.coef_, res.coefs.T)
    np.testing.assert_array_equal(found.predict_proba(X)[:, 1], res.predict(X).iloc[:, 0])
    assert found.decision_function(X).shape == (len(X),) and found.classes_.tolist() == [0.0, 1.0]


def test_rows_go_by_position_as_everywhere_in_scikit_learn():
    X, Y = table()
    found = FusedLogitClassifier().fit(X, Y.set_index(np.arange(len(Y))[::-1]))
    np.testing.assert_array_equal(found.coef_, FusedLogitClassifier().fit(X, Y).coef_)


@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
def test_a_task_may_lose_a_label_in_a_fold():
    X, Y = table()
    found = FusedLogitClassifier(l2=0.1).fit(X, Y.assign(c=0.0))
    assert found.classes_[2].tolist() == [0.0, 1.0] and (found.predict(X)[:, 2] == 0).all()


@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_column_of_ones_has_the_coefficient_zero_wherever_it_stands(place):
    X, Y = table()
    found, plain = FusedLogitClassifier().fit(np.insert(X.to_numpy(), place, 1.0, axis=1), Y), FusedLogitClassifier()
    np.testing.assert_array_equal(found.coef_, np.insert(plain.fit(X.to_numpy(), Y).coef_, place, 0.0, axis=1))


def test_a_column_of_ones_in_some_rows_only_has_no_effect():
    """As of a level that all rows of a fold have."""
    X, Y = table()
    with_ones = X.assign(here=1.0, there=1.0)
    found = FusedLogitClassifier().fit(with_ones, Y)
    np.testing.assert_array_equal(found.coef_[:, 4:], 0.0)
    np.testing.assert_array_equal(found.predict_proba(with_ones.assign(there=0.0)),
                                  FusedLogitClassifier().fit(X, Y).predict_proba(X))


def test_long_data_take_the_task_of_each_row():
    X, y, task, groups = long()
    found = FusedLogitClassifier(1.0, 0.1, 2.0).fit(X, y, task=task, groups=groups)
    res = FusedLogit.from_long(y, X, task, groups=groups, yes="ill").fit(1.0, 0.1, 2.0)
    np.testing.assert_array_equal(found.coef_, res.coefs.T)
    np.testing.assert_array_equal(found.predict_proba(X, task=task)[:, 1], res.predict(X, task=task))
    assert found.predict(X, task=task).tolist() == res.predict(X, "label", task=task).tolist()
    assert found.score(X, y, task=task) == (found.predict(X, task=task) == y).mean()
    assert found.tasks_ == [0, 1, 2] and found.classes_.tolist() == ["healthy", "ill"]


def test_words_of_tasks_need_an_order():
    X, y, task, _ = long()
    words = np.array(["early", "mid", "late"])[task]
    found = FusedLogitClassifier(order=["early", "mid", "late"]).fit(X, y, task=words)
    np.testing.assert_array_equal(found.coef_, FusedLogitClassifier().fit(X, y, task=task).coef_)
    with pytest.raises(ValueError, match="order is needed"):
        FusedLogitClassifier().fit(X, y, task=words)


@pytest.mark.parametrize("state", [3, np.random.RandomState(4)], ids=["number", "RandomState"])
def test_penalties_are_chosen_as_by_the_model(state):
    X, Y = table()
    grid = {"l1": [0.5, 2.0, 8.0], "l2": [0.1], "fusion": [0.5, 2.0, 8.0]}
    found = FusedLogitClassifierCV(**grid, cv=4, rule="1se", random_state=state).fit(X, Y)
    rng = 3 if state == 3 else np.random.RandomState(4).randint(2**31 - 1)
    res = FusedLogit(Y, X).fit_cv(4, "1se", rng=rng, **grid)
    assert found.penalties_ == res.penalties
    pd.testing.assert_frame_equal(found.results_.table, res.table, check_exact=True)
    np.testing.assert_array_equal(found.coef_, res.coefs.T)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_folds_keep_groups_together():
    X, y, task, groups = long()
    found = FusedLogitClassifierCV([1.0, 2.0, 4.0], [0.1], [1.0, 2.0, 4.0]).fit(X, y, task=task, groups=groups)
    assert (pd.Series(found.results_.folds).groupby(groups).nunique() == 1).all()


# ---- ordered outcomes -----------------------------------------------------------------------------------------------

LEVELS = ["none", "mild", "severe"]


def ordered(seed=2, n=150):
    X, _ = table(seed, n)
    return X, np.array(LEVELS)[np.digitize(X["age"] + np.random.default_rng(seed).logistic(size=n), [-0.5, 1.0])]


@pytest.mark.parametrize("kind", ["sequential", "cumulative"])
def test_levels_come_in_their_order(kind):
    X, y = ordered()
    found = FusedOrderedClassifier(1.0, 0.1, 2.0, levels=LEVELS, kind=kind).fit(X, y)
    res = FusedLogit.from_ordered(y, X, LEVELS, kind).fit(1.0, 0.1, 2.0)
    assert found.classes_.tolist() == LEVELS
    np.testing.assert_array_equal(found.coef_, res.coefs.T)
    np.testing.assert_array_equal(found.predict_proba(X), res.predict(X, "levels"))
    assert found.predict(X).tolist() == res.predict(X, "level").tolist()
    np.testing.assert_allclose(np.exp(found.decision_function(X)).sum(axis=1), 1.0, atol=1e-12)
    assert found.score(X, y) == (found.predict(X) == y).mean()


def test_an_ordered_categorical_brings_its_order():
    X, y = ordered()
    categories = pd.Series(pd.Categorical(y, LEVELS, ordered=True))
    found = FusedOrderedClassifier().fit(X, categories)
    np.testing.assert_array_equal(found.coef_, FusedOrderedClassifier(levels=LEVELS).fit(X, y).coef_)
    assert found.classes_.tolist() == LEVELS


def test_a_level_that_a_fold_lacks_is_no_class_of_it():
    X, y = ordered()
    found = FusedOrderedClassifier(levels=["never", *LEVELS]).fit(X, y)
    assert found.classes_.tolist() == LEVELS


def test_two_levels_are_one_yes_or_no():
    X, y = ordered()
    two = np.where(y == "none", 0, 1)
    found, plain = FusedOrderedClassifier(fusion=0.0).fit(X, two), FusedLogitClassifier(fusion=0.0).fit(X, two)
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-12)


# ---- scikit-learn's tools -------------------------------------------------------------------------------------------

def test_pipelines_column_transformers_and_searches():
    X, Y = table()
    X = X.assign(site=np.array(["north", "south", "east"])[np.arange(len(X)) % 3])
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["site"]), remainder=StandardScaler())
    pipe = make_pipeline(columns, FusedLogitClassifier(l2=0.1)).set_output(transform="pandas")
    search = GridSearchCV(pipe, {"fusedlogitclassifier__l1": [0.5, 50.0]}, cv=KFold(3)).fit(X, Y)
    best = search.best_estimator_[-1]
    assert search.best_params_ == {"fusedlogitclassifier__l1": 0.5}
    assert best.feature_names_in_.tolist()[:2] == ["onehotencoder__site_east", "onehotencoder__site_north"]
    assert best.results_.params.index[1] == "onehotencoder__site_east"


def test_scorers_see_all_tasks():
    X, Y = table()
    Y = Y.fillna(0.0).astype(int)
    found = FusedLogitClassifier().fit(X, Y)
    expected = np.mean([roc_auc_score(Y.iloc[:, k], found.decision_function(X)[:, k]) for k in range(3)])
    for scorer in (get_scorer("roc_auc"), make_scorer(roc_auc_score, response_method="predict_proba")):
        assert scorer(found, X, Y) == pytest.approx(expected, abs=1e-15)


def test_cross_validation_by_groups():
    X, y, _, groups = long()
    scores = cross_validate(FusedLogitClassifier(), X, y, groups=groups, cv=GroupKFold(4))["test_score"]
    expected = [FusedLogitClassifier().fit(X.iloc[train], y[train]).score(X.iloc[test], y[test])
                for train, test in GroupKFold(4).split(X, y, groups)]
    np.testing.assert_array_equal(scores, expected)


def test_task_and_groups_are_routed():
    X, y, task, groups = long()
    with config_context(enable_metadata_routing=True):
        estimator = FusedLogitClassifier().set_fit_request(task=True, groups=True).set_score_request(task=True)
        scores = cross_validate(make_pipeline(StandardScaler(), estimator), X, y, cv=GroupKFold(4),
                                params={"task": task, "groups": groups})["test_score"]
    expected = []
    for train, test in GroupKFold(4).split(X, y, groups):
        scale = StandardScaler().fit(X.iloc[train])
        found = FusedLogitClassifier().fit(scale.transform(X.iloc[train]), y[train], task=task[train],
                                           groups=groups[train])
        expected.append(found.score(scale.transform(X.iloc[test]), y[test], task=task[test]))
    np.testing.assert_array_equal(scores, expected)


def test_clones_and_pickles():
    X, Y = table()
    given = FusedLogitClassifierCV([1.0, 2.0], [0.1], [1.0, 2.0], tasks=[("a", "c")], cv=3)
    assert clone(given).get_params() == given.get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FusedLogitWarning)
        found = given.fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict_proba(X), found.predict_proba(X))
    assert not hasattr(clone(found), "results_")


# ---- what is refused ------------------------------------------------------------------------------------------------

def test_a_task_where_there_is_none_and_none_where_there_is_one():
    X, y, task, _ = long()
    found = FusedLogitClassifier().fit(X, y, task=task)
    with pytest.raises(ValueError, match="task must be given, one for each row"):
        found.predict(X)
    with pytest.raises(ValueError, match="task must be left out"):
        FusedLogitClassifier().fit(X, y).predict(X, task=task)
    with pytest.raises(ValueError, match="task goes with one column of labels"):
        FusedLogitClassifier().fit(*table(n=120), task=task)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        FusedLogitClassifier().fit(X, y, task=task[1:])


def test_labels_that_are_not_two():
    X, Y = table()
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        FusedLogitClassifier().fit(X, Y.assign(c=np.arange(len(X)) % 3))
    with pytest.raises(ValueError, match="two classes in every task, found one class, .'only'"):
        FusedLogitClassifier().fit(X, Y.astype(object).assign(c="only"))


def test_attributes_of_an_estimator_that_was_not_fitted():
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        FusedLogitClassifier().predict([[1.0]])
    assert not hasattr(FusedLogitClassifier(), "classes_")


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_features_are_fitted_as_dense_ones(kind):
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(90), rng.normal(size=(90, 5)) * (rng.random((90, 5)) < 0.2)])
    Y = X[:, [1]] + rng.logistic(size=(90, 3)) > 0
    level = np.digitize(X[:, 1] + rng.logistic(size=90), [-1, 1])
    for estimator, y in ((FusedLogitClassifier(1.0, 0.1, 1.0), Y), (FusedOrderedClassifier(1.0, 0.1, 1.0), level)):
        dense, found = clone(estimator).fit(X, y), clone(estimator).fit(kind(X), y)
        assert found.results_.model.exog.dtypes.map(lambda dtype: isinstance(dtype, pd.SparseDtype)).all()
        np.testing.assert_allclose(found.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.predict_proba(kind(X)), dense.predict_proba(X), rtol=1e-9)


def test_adaptive_factors_are_those_of_the_model():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    found = FusedLogitClassifier(2.0, adaptive=True).fit(X, y)
    np.testing.assert_allclose(found.coef_[0], FusedLogit(y, X, adaptive=True).fit(2.0).coefs.iloc[:, 0], atol=1e-8)
