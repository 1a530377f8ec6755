"""The four linear models are slices of one grid, chosen on the validation rows by the stated rule."""

import numpy as np
import pytest

from fusedlr.study import fitting, models
from fusedlr.study.simulate import simulate
from fusedlr.scoring import validation_error, validation_logloss


@pytest.fixture(scope="module")
def data():
    return simulate("h", 1, seed=1)


@pytest.fixture(scope="module")
def fit(data):
    return fitting.fit_size(data, 50, tol=1e-8)


def test_the_grid_is_the_papers():
    assert models.points().shape == (924, 3)
    assert [len(positions) for positions in models.slices().values()] == [924, 132, 77, 1]
    assert models.points()[0].tolist() == [0, 0, 0]


def test_each_model_stays_in_its_slice_and_has_its_least_validation_error(fit):
    for row in fit.choices.to_dict("records"):
        allowed = models.slices()[row["model"]]
        assert [row["l1"], row["l2"], row["fusion"]] in models.points()[allowed].tolist()
        assert row["validation_error"] == fit.validation_error[allowed].min()
    assert fit.choices["model"].tolist() == models.linear()


def test_validation_errors_are_those_of_the_kept_coefficients(data, fit):
    again = validation_error(fit.params, data["Y_validation"], data["X_validation"])
    assert again == pytest.approx(fit.choices["validation_error"].to_numpy(), abs=0)


def test_fits_are_certified_or_flagged(fit):
    certified = fit.choices["gap"] <= 1e-8
    assert (certified | (fit.choices["status"] == "separated")).all()
    assert np.isfinite(fit.params).all()


def test_fewer_penalties_never_mean_a_smaller_validation_error(fit):
    error = fit.choices.set_index("model")["validation_error"]
    assert error["fused_elastic_net"] <= min(error["fused_l1"], error["elastic_net"])
    assert max(error["fused_l1"], error["elastic_net"]) <= error["unpenalized"]


def test_ties_go_to_the_log_loss(data):
    """With 3 validation rows errors tie massively; the winner has the least log-loss among them."""
    few = {**data, "Y_validation": data["Y_validation"][:3], "X_validation": data["X_validation"][:3]}
    fit = fitting.fit_size(few, 25, tol=1e-6)
    row = fit.choices.iloc[0]
    assert row["ties"] == (fit.validation_error == row["validation_error"]).sum() > 1
    assert row["l2_smallest_tied"] <= row["l2"] <= row["l2_largest_tied"]
    losses = validation_logloss(fit.params, few["Y_validation"], few["X_validation"])
    tied = fit.choices["validation_error"] == row["validation_error"]
    assert losses[0] <= losses[tied].min()


@pytest.mark.parametrize("label", [0, 1])
def test_a_task_with_one_class_is_fitted_and_flagged(data, label):
    one_class = {**data, "Y_train": data["Y_train"].copy()}
    one_class["Y_train"][:25, 2] = label
    fit = fitting.fit_size(one_class, 25, tol=1e-6)
    choices = fit.choices.set_index("model")
    assert np.isfinite(fit.params).all()
    assert choices.loc["unpenalized", "status"] == "separated"
    sign = 1 if label else -1
    margins = data["X_test"] @ fit.params[2, 1:, 2] + fit.params[2, 0, 2]
    assert np.mean(np.sign(margins) == sign) > 0.95
