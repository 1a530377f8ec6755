"""Figures: what is drawn, from what, and what is said."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib import patches

from fusedlr import FusedLogit, FusedLogitResults, plots
from fusedlr.inference import BootstrapResults
from fusedlr.problem import Solution

# Grids of a few points, whose ends are chosen often.
pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def made_up(coefs, tasks="chain", **history):
    """A result with given coefficients (d, t) on random data."""
    coefs = np.array(coefs, dtype=float)
    rng = np.random.default_rng(1)
    d, t = coefs.shape
    X = pd.DataFrame(rng.normal(size=(60, d)), columns=[f"gene{i}" for i in range(d)])
    Y = pd.DataFrame((rng.random((60, t)) < 0.5).astype(float), columns=[f"visit {k}" for k in range(t)])
    params = np.vstack([np.linspace(-0.5, 0.5, t), coefs])
    solution = Solution(params, 1.0, 0.0, "optimal", 5, history)
    return FusedLogitResults(FusedLogit(Y, X, tasks=tasks, standardize=False, fuse_intercepts=True), solution,
                             {"l1": 1.0, "l2": 0.0, "fusion": 1.0}, "admm" if history else "newton")


def outlines(ax):
    return [(box.get_x(), box.get_y(), box.get_width()) for box in ax.patches
            if isinstance(box, patches.Rectangle) and not box.get_fill()]


def drawn(ax):
    """Draw the figure, so that a fault anywhere in it shows."""
    ax.figure.canvas.draw()
    return ax


def test_tied_neighbours_share_one_outlined_cell_and_zeros_stay_blank():
    ax = drawn(plots.coef_map(made_up([[1, 1, 2, 0], [0, 0, 0, 0], [-1, -1, -1, -1]]), per="unit"))
    assert [(round(x), round(y), round(width)) for x, y, width in outlines(ax)] == [(0, 0, 2), (2, 0, 1), (0, 2, 4)]
    assert [text.get_text() for text in ax.texts] == ["1.00", "2.00", "\N{MINUS SIGN}1.00"]


def test_negative_cells_are_hatched_so_that_grey_print_keeps_the_sign():
    ax = plots.coef_map(made_up([[1, -1]]))
    assert [box.get_hatch() for box in ax.patches if box.get_fill()] == [None, "////"]


def test_coefficients_per_standard_deviation_are_comparable():
    results = made_up([[1.0, 2.0]])
    sd = results.model.exog["gene0"].std(ddof=0)
    ax = plots.coef_map(results)
    assert [text.get_text() for text in ax.texts] == [f"{sd:.2f}", f"{2 * sd:.2f}"]


def test_equal_neighbouring_columns_without_an_edge_are_not_merged():
    ax = plots.coef_map(made_up([[1, 1, 1]], tasks=[(0, 2)]))
    assert len(outlines(ax)) == 3


@pytest.mark.parametrize(("d", "t"), [(10, 4), (1000, 30), (10, 30), (1000, 4)])
def test_the_map_shows_the_largest_features_and_says_so(d, t):
    coefs = np.zeros((d, t))
    coefs[::7] = np.arange(len(coefs[::7]))[:, None] + 1.0
    ax = drawn(plots.coef_map(made_up(coefs), per="unit"))
    names = [label.get_text() for label in ax.get_yticklabels()]
    if d == 10:
        assert names == [f"gene{i}" for i in range(10)] and ax.get_title(loc="left") == "Coefficients"
    else:
        assert names[:2] == ["gene994", "gene987"] and len(names) == 30
        assert "the 30 largest of 1,000 features\n(857 are zero in all tasks)" in ax.get_title(loc="left")


def test_dots_and_bars_show_how_often_coefficients_are_kept_and_tied():
    results = made_up([[1, 1, 0], [0, 0, 0]])
    samples = np.repeat(results.solution.params[None], 4, axis=0)
    samples[0, 1] = 0.0
    samples[1, 1] = [1.0, 2.0, 0.0]
    boot = BootstrapResults(results, samples, np.array(["optimal"] * 4), 0)
    ax = drawn(plots.selection_frequencies(boot))
    places = ax.collections[0].get_offsets()
    np.testing.assert_allclose(places, [[0.5, 0.5], [1.5, 0.5]])
    bars = [box.get_height() / 0.6 for box in ax.patches]
    np.testing.assert_allclose(bars, [0.5, 0.0, 0.0, 0.0])
    assert ax.get_title(loc="left") == "Selected in 4 resamples"


def test_calibration_points_are_means_of_equal_groups():
    results = made_up(np.ones((3, 2)))
    ax = drawn(plots.calibration(results, bins=3))
    predicted, labels = results.predict().to_numpy(), results.model.endog.to_numpy()
    order = np.argsort(predicted[:, 0]).reshape(3, 20)
    line = ax.lines[1]
    np.testing.assert_allclose(line.get_xdata(), [predicted[part, 0].mean() for part in order])
    np.testing.assert_allclose(line.get_ydata(), [labels[part, 0].mean() for part in order])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["visit 0", "visit 1"]


def test_calibration_of_small_hazards_zooms_to_the_points():
    """Twelve events of 400 rows in each of two intervals: no point is near 1, and all of them are inside the axes."""
    time, event = np.r_[np.linspace(0.1, 1.9, 24), np.full(376, 2.0)], np.r_[np.ones(24), np.zeros(376)]
    X = pd.DataFrame({"x": np.random.default_rng(2).normal(size=400)})
    ax = drawn(plots.calibration(FusedLogit.from_survival(time, event, X, [1.0, 2.0]).fit(0.1, 0, 0.1), bins=4))
    points = np.concatenate([line.get_xydata() for line in ax.get_lines() if line.get_label().startswith("(")])
    assert points.max() < ax.get_xlim()[1] < 2 * points.max() < 0.3 and ax.get_xlim() == ax.get_ylim()
    wide = drawn(plots.calibration(made_up([[1.0, 2.0]])))
    assert wide.get_xlim() == wide.get_ylim() == (-0.02, 1.02)


def test_calibration_of_held_out_rows_leaves_missing_labels_out():
    results = made_up(np.ones((3, 30)))
    exog, endog = results.model.exog, results.model.endog
    endog.iloc[::2] = np.nan
    ax = drawn(plots.calibration(results, endog=endog, exog=exog, bins=4))
    assert "held-out rows" in ax.get_title(loc="left")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all tasks", "each of 30 tasks"]
    predicted, kept = results.predict().to_numpy()[1::2].ravel(), endog.to_numpy()[1::2].ravel()
    order = np.array_split(np.argsort(predicted, kind="stable"), 4)
    pooled = ax.lines[-1]
    np.testing.assert_allclose(pooled.get_xdata(), [predicted[part].mean() for part in order])
    assert np.mean(pooled.get_ydata()) == pytest.approx(kept.mean())
    with pytest.raises(ValueError, match="endog and exog must be given together"):
        plots.calibration(results, endog=endog)


def test_residuals_of_the_admm_are_drawn_and_others_have_none():
    results = made_up([[1.0]], primal=np.array([1.0, 0.1, 0.0]), dual=np.array([2.0, 0.2, 0.02]))
    ax = drawn(plots.residual_history(results))
    assert [line.get_label() for line in ax.lines] == ["primal residual", "dual residual"]
    with pytest.raises(ValueError, match="results must come from method='admm'"):
        plots.residual_history(made_up([[1.0]]))


@pytest.fixture(scope="module")
def cv():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    Y = (X[["a"]].to_numpy() * [1.0, 0.8, 0.2] + rng.normal(size=(80, 3)) > 0).astype(float)
    return FusedLogit(Y, X).fit_cv(l1=[0.5, 2.0, 8.0], l2=[0.1, 1.0], fusion=[0.0, 0.5, 2.0, 8.0], folds=4, rng=1)


def test_the_surface_marks_the_lowest_and_the_one_standard_error_point(cv):
    ax = drawn(cv.plot())
    marks = {line.get_marker(): tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() in "oD"}
    for marker, row in (("o", cv.best), ("D", cv.one_se)):
        x = np.searchsorted([0.0, 0.5, 2.0, 8.0], cv.table["fusion"][row]) + 0.5
        y = np.searchsorted([0.5, 2.0, 8.0], cv.table["l1"][row]) + 0.5
        assert marks[marker] == (x, y)
    assert len(ax.get_legend().get_texts()) == 2


def test_the_surface_shows_the_best_or_the_given_l2(cv):
    values = plots.cv_surface(cv).collections[0].get_array()
    np.testing.assert_allclose(np.ravel(values), cv.table.groupby(["l1", "fusion"])["mean"].min())
    values = plots.cv_surface(cv, l2=0.9).collections[0].get_array()
    shown = cv.table[cv.table["l2"] == 1.0].groupby(["l1", "fusion"])["mean"].min()
    np.testing.assert_allclose(np.ravel(values), shown)


def test_where_one_penalty_varies_the_scores_are_a_line(cv):
    line = cv.model.fit_cv(l1=[0.5, 2.0, 8.0], l2=0.1, fusion=1.0, folds=3)
    ax = drawn(line.plot())
    assert ax.get_xlabel() == "l1"
    np.testing.assert_allclose(ax.containers[0].lines[0].get_ydata(), line.table.sort_values("l1")["mean"])
    drawn(cv.model.fit_cv(l1=[0.5, 2.0], l2=0.1, fusion=1.0, by="bic").plot())


def test_the_path_of_a_feature_shows_every_task_over_fusion(cv):
    ax = drawn(plots.feature_path(cv, "a"))
    rows = (cv.table["l1"] == cv.penalties["l1"]) & (cv.table["l2"] == cv.penalties["l2"])
    for k in range(3):
        np.testing.assert_allclose(ax.lines[k].get_ydata(), cv.grid.params[rows][:, 1, k])
    assert ax.get_xticklabels()[0].get_text() == "0"
    assert "l1 = 0.5" in plots.feature_path(cv.grid, "const").get_title(loc="left")
    with pytest.raises(ValueError, match="feature must be one of exog_names, found 'z'"):
        plots.feature_path(cv.grid, "z")


def test_figures_are_drawn_into_given_axes(cv):
    figure, axes = plt.subplots(1, 3, figsize=(15, 4))
    assert plots.coef_map(cv, ax=axes[0]) is axes[0]
    assert plots.feature_path(cv, "a", ax=axes[1]) is axes[1]
    assert cv.plot(ax=axes[2]) is axes[2]
    assert len(plt.get_fignums()) == 1
    figure.canvas.draw()


def test_the_path_of_one_task_is_drawn_over_l1(cv):
    model = FusedLogit(cv.model.endog.iloc[:, 0], cv.model.exog)
    grid = model.fit_grid([0.5, 2.0, 8.0], [0.1], [0.0], progress=False)
    ax = drawn(plots.feature_path(grid, "a"))
    assert ax.get_xlabel() == "l1"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), grid.params[:, 1, 0])


def test_paths_of_all_features_over_l1_name_the_largest(cv):
    ax = drawn(plots.coef_paths(cv, features=1, per="unit"))
    rows = (cv.table["l2"] == cv.penalties["l2"]) & (cv.table["fusion"] == cv.penalties["fusion"])
    coefs = cv.grid.coefs[rows]
    largest = np.abs(coefs).max(axis=(0, 2)).argmax()
    assert cv.model.exog_names[1 + largest] in [text.get_text() for text in ax.texts]
    grey = [line for line in ax.lines if line.get_color() == "0.8"]
    assert len(grey) == (coefs.shape[1] - 1) * coefs.shape[2]
    low, high = ax.get_xlim()
    assert low > high and ax.get_xlabel() == "l1"


def test_one_interval_is_drawn_for_every_value_that_was_estimated(cv):
    refit = cv.refit()
    ax = drawn(plots.intervals(refit, alpha=0.1, per="unit"))
    ends = refit.conf_int(0.1).iloc[1:]
    bars = [tuple(line.get_xdata()) for line in ax.lines if np.ptp(line.get_xdata()) > 0]
    kept = {(feature, *ends[task].loc[feature]) for feature in ends.index for task in cv.model.endog_names
            if refit.params.loc[feature, task] != 0}
    assert len(kept) < np.count_nonzero(refit.params.iloc[1:])  # some are tied
    np.testing.assert_allclose(sorted(bars), sorted(interval for _, *interval in kept))
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    assert len(marks) == np.count_nonzero(refit.params.iloc[1:])
    assert "90 % intervals" in ax.get_title(loc="left")


def test_a_surface_of_auc_outlines_and_marks_the_largest(cv):
    found = cv.model.fit_cv(folds=3, metric="auc", l1=[0.5, 2.0, 8.0, 30.0], l2=[0.0, 1.0], fusion=[0.0, 0.5, 2.0],
                            progress=False)
    ax = drawn(plots.cv_surface(found))
    shown = ax.collections[0].get_array().reshape(4, 3)
    best = found.table.groupby(["l1", "fusion"])["auc"].max().unstack().to_numpy()
    np.testing.assert_allclose(shown, best)
    assert "best l2 for each point" in ax.get_title(loc="left")
    assert any(handle.get_label().startswith("best: ") for handle in ax.lines)


def test_every_result_has_a_figure(cv):
    for result in (cv, cv.grid, cv.grid.results(3), cv.refit(), cv.bootstrap(n=3, progress=False),
                   cv.stability(n=4, progress=False)):
        assert drawn(result.plot()).get_title(loc="left")


def test_long_names_leave_room_for_the_figure_and_stay_apart():
    res = made_up(np.eye(3, 4) + 0.5)
    model = res.model
    X = model.exog.set_axis([f"concentration_of_some_protein_in_plasma_{k}_at_baseline" for k in "abc"], axis=1)
    Y = model.endog.set_axis([f"some_outcome_of_interest_in_week_{k}" for k in range(4)], axis=1)
    ax = drawn(FusedLogit(Y, X).fit(0.5, 0.0, 0.5).plot())
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(rows)) == 3 and max(map(len, rows)) <= 30
    columns = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(not left.overlaps(right) for left, right in zip(columns, columns[1:]))
    box = ax.get_window_extent()
    assert box.width > 0.3 * ax.figure.bbox.width and box.height > 0.3 * ax.figure.bbox.height


@pytest.mark.parametrize("per", ["sd", "unit"])
def test_margins_are_drawn_as_their_table_says(per):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.normal(50, 10, 200), "smoker": np.arange(200) % 2.0})
    Y = (X["age"].to_numpy()[:, None] / 10 - 5 + rng.logistic(size=(200, 2)) > 0).astype(float)
    found = FusedLogit(Y, X).fit(0.0, 0.0, 0.0).get_margeff()
    ax = drawn(plots.margins(found, alpha=0.1, per=per))
    step = np.repeat([X["age"].std(ddof=0) if per == "sd" else 1.0, 1.0], 2)
    table = found.summary_frame(0.1)
    bars = {tuple(line.get_xdata()) for line in ax.get_lines() if len(line.get_xdata()) == 2}
    for low, high in zip(table["[0.05"] * step, table["0.95]"] * step):
        assert any(np.allclose(bar, (low, high)) for bar in bars)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["age", "smoker"]
    assert "90 % intervals" in ax.get_title(loc="left") and ax.get_legend().get_title().get_text() == "task"
    levels = FusedLogit.from_ordered(Y.sum(axis=1), X).fit(0.0, 0.0, 0.0).get_margeff("levels").plot()
    assert levels.get_legend().get_title().get_text() == "level" and "of a level" in levels.get_xlabel()
