"""The four linear models are slices of one grid, chosen on the validation rows by the stated rule."""

import numpy as np
import pandas as pd
import pytest

from fusedlr import metrics
from fusedlr.optimality import certify
from fusedlr.problem import Design, Labels
from study import fitting, models
from study.simulate import simulate


@pytest.fixture(scope="module")
def data():
    return simulate("h", 1, seed=1)


@pytest.fixture(scope="module")
def fit(data):
    return fitting.fit_size(data, 50, tol=1e-8)


def test_the_grid_is_the_papers():
    assert models.points().shape == (924, 3)
    assert {name: len(positions) for name, positions in models.slices().items()} == {
        "fused_elastic_net": 924, "fused_l1": 132, "elastic_net": 77, "unpenalized": 1, "elastic_net_by_task": 77,
        "fused_elastic_net_off_corner": 912, "fused_l1_off_corner": 120, "elastic_net_off_corner": 76}
    assert models.points()[0].tolist() == [0, 0, 0]


def test_each_model_stays_in_its_slice_and_has_its_least_validation_error(fit):
    wrong = np.rint(1400 * fit.validation_error).sum(axis=1)
    for row, chosen in zip(fit.choices.to_dict("records"), fit.chosen):
        allowed = models.slices()[row["model"]]
        assert set(chosen) <= set(allowed)
        if not models.fitted()[row["model"]].by_task:
            assert [row["l1"], row["l2"], row["fusion"]] == models.points()[chosen[0]].tolist()
            assert row["validation_error"] == wrong[allowed].min() / 5600
    assert fit.choices["model"].tolist() == list(models.fitted())


def test_a_model_tuned_by_task_has_the_least_error_of_every_task(data, fit):
    place = list(models.fitted()).index("elastic_net_by_task")
    allowed, chosen = models.slices()["elastic_net"], fit.chosen[place]
    for task, point in enumerate(chosen):
        assert fit.validation_error[point, task] == fit.validation_error[allowed, task].min()
        alone = fitting.build(data["Y_train"][:50, [task]], data["X_train"][:50])
        single = alone.fit(*models.points()[point])
        if single.status == "optimal":
            assert fit.params[place][:, task] == pytest.approx(single.params.to_numpy()[:, 0], abs=1e-3)
    both = fit.choices.set_index("model")["validation_error"]
    assert both["elastic_net_by_task"] <= both["elastic_net"]


def test_off_the_corner_l1_or_l2_is_used(fit):
    rows = fit.choices[fit.choices["model"].str.endswith("_off_corner")]
    assert len(rows) == 3
    assert (rows["l1"] + rows["l2"] > 0).all()


def test_another_reading_takes_the_place_of_its_model():
    scores = pd.DataFrame({"model": ["fused_l1", "elastic_net"], "test_error": [0.1, 0.2]})
    others = pd.DataFrame({"model": ["elastic_net_by_task", "fused_l1_off_corner"], "test_error": [0.3, 0.4]})
    assert models.as_read(scores, others, "by_task").values.tolist() == [["fused_l1", 0.1], ["elastic_net", 0.3]]
    assert models.as_read(scores, others, "off_corner").values.tolist() == [["elastic_net", 0.2], ["fused_l1", 0.4]]


def test_validation_errors_are_those_of_the_kept_coefficients(data, fit):
    again = metrics.error(fit.params, Design(data["X_validation"]), Labels.wide(data["Y_validation"]))
    assert again == pytest.approx(fit.choices["validation_error"].to_numpy(), abs=0)


def test_chosen_fits_are_exact(data, fit):
    model = fitting.build(data["Y_train"][:50], data["X_train"][:50])
    for row, params in zip(fit.choices.to_dict("records"), fit.params):
        if row["status"] == "optimal" and not models.fitted()[row["model"]].by_task:
            penalty = model.penalty_by_row(row["l1"], row["l2"], row["fusion"])
            assert certify(model.problem, params, penalty).relative_gap < 1e-12


def test_labels_that_a_fit_leaves_undecided_are_those_of_the_optimum(data):
    """Rows are laid within 1e-6 of the boundary of some fits, where a gap of 1e-10 does not tell their side."""
    model, places = fitting.build(data["Y_train"][:50], data["X_train"][:50]), np.arange(200, 900, 50)
    exact = np.array([model.fit(*models.points()[i]).params.to_numpy() for i in places])
    normals = exact[:, 1:, 0] / (exact[:, 1:, 0]**2).sum(axis=1)[:, None]
    rows = (1e-6 - exact[:, 0, 0])[:, None] * normals
    near = {**data, "X_validation": rows, "Y_validation": np.ones((len(rows), 4))}
    found = fitting.fit_size(near, 50, tol=1e-10).validation_error[places]
    rough = model.fit_grid(models.L1, models.L2, models.FUSION, tol=1e-10, n_jobs=1).params
    expected, otherwise = (np.array([[np.mean(rows @ fit[1:, k] + fit[0, k] <= 0) for k in range(4)] for fit in fits])
                           for fits in (exact, rough[places]))
    assert (found == expected).all()
    assert (otherwise != expected).any()


def test_fits_are_certified_or_flagged(fit):
    certified = (fit.choices["gap"] <= 1e-8) & (fit.choices["status"] == "optimal")
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
    wrong = np.rint(3 * fit.validation_error).sum(axis=1)
    assert row["ties"] == (wrong == wrong.min()).sum() > 1
    assert row["l2_smallest_tied"] <= row["l2"] <= row["l2_largest_tied"]
    losses = metrics.logloss(fit.params, Design(few["X_validation"]), Labels.wide(few["Y_validation"]))
    tied = (fit.choices["validation_error"] == row["validation_error"]) & fit.choices["model"].isin(models.linear())
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
