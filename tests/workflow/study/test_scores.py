"""Scores by hand."""

import numpy as np
import pandas as pd
import pytest

from study.scores import bayes_risk, distances, error_of_margins, score_instance


def test_error_counts_all_rows_and_tasks_and_a_margin_of_zero_means_no():
    margins = np.array([[1.0, -2.0], [0.0, 3.0]])
    assert error_of_margins(margins, np.array([[1, 0], [0, 1]])) == 0
    assert error_of_margins(margins, np.array([[0, 0], [1, 1]])) == 0.5


def test_bayes_risk_is_the_smaller_chance():
    coefs = np.array([[0.0, 0.0], [np.log(3), 0.0]])
    assert bayes_risk(coefs, np.array([[1.0], [-1.0]])) == pytest.approx((0.25 + 0.5) / 2)


def test_distances_are_norms_divided_by_counts_without_intercepts():
    truth = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    fit = np.array([[9.0, 9.0], [5.0, 0.0], [4.0, 3.0]])
    assert distances(fit, truth) == pytest.approx((5 / 3, 3.0))


def test_an_instance_has_one_row_for_each_size_and_model():
    rng = np.random.default_rng(1)
    coefs = np.vstack([np.zeros(2), rng.choice([0.0, 2.0], (3, 2)), [[2.0, 0.0]]])
    data = {"coefs": coefs, "X_test": rng.standard_normal((50, 4)), "Y_train": np.array([[1, 0], [1, 1], [1, 0]])}
    data["Y_test"] = (data["X_test"] @ coefs[1:] > 0).astype(int)
    choices = pd.DataFrame({"size": [2, 2, 3, 3], "model": ["fused_l1", "elastic_net"] * 2, "l1": 0.1})
    params = np.stack([np.stack([coefs, -coefs]), np.stack([coefs, 0 * coefs])])
    boosted = {"margins": np.stack([np.ones((50, 2))] * 2), "sizes": np.array([2, 3]), "seconds": {2: 0.5, 3: 0.7},
               "by": np.array(["ada", "rpart"])}
    rows = score_instance(data, {"choices": choices, "params": params, "seconds": {2: 1.0, 3: 2.0}},
                          {"adaboost": boosted})
    rows = rows.set_index(["size", "model"])
    assert rows.index.tolist() == [(size, model) for size in (2, 3)
                                   for model in ("fused_l1", "elastic_net", "adaboost")]
    assert rows["test_error"].tolist() == [0, 1, 1 - data["Y_test"].mean(), 0, data["Y_test"].mean(),
                                           1 - data["Y_test"].mean()]
    assert rows.loc[(2, "fused_l1"), ["distance_zero", "distance_nonzero"]].tolist() == [0, 0]
    assert rows.loc[(3, "elastic_net"), "distance_nonzero"] == pytest.approx(2 / np.sqrt((coefs != 0).sum()))
    assert rows["seconds"].tolist() == [1.0, 1.0, 0.5, 2.0, 2.0, 0.7]
    assert rows["one_class_tasks"].tolist() == [1] * 6
    assert rows["by"].fillna("").tolist() == ["", "", "ada", "", "", "rpart"]
