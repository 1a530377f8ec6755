"""Figures are files whose tables hold the numbers that were drawn."""

import matplotlib
import pandas as pd
import pytest

from fusedlr.study import figures
from fusedlr.study.contents import FIGURES

matplotlib.use("Agg")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_pdf_a_png_and_a_table(tmp_path, make_scores, name):
    figures.save(name, make_scores(instances=2), tmp_path / name)
    assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv(tmp_path / f"{name}.csv")) > 0


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("instances", [1, 2])
@pytest.mark.parametrize("case", ["a", "e"])
def test_one_case_with_few_instances_has_every_figure(tmp_path, make_scores, case, instances, name):
    """The independent case a has no distances to show: its figure says so and its table is empty."""
    scores = make_scores(instances)
    figures.save(name, scores[scores["case"] == case], tmp_path / name)
    assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert (len(pd.read_csv(tmp_path / f"{name}.csv")) == 0) == (name == "distances" and case == "a")


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("model", ["fused_l1", "adaboost"])
def test_one_model_alone_has_every_figure(tmp_path, make_scores, model, name):
    scores = make_scores(instances=1)
    figures.save(name, scores[scores["model"] == model], tmp_path / name)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_scores_give_the_same_files(tmp_path, make_scores):
    preview = make_scores(instances=1)
    for folder in ("one", "two"):
        figures.save("penalties", preview, tmp_path / folder)
    for suffix in ("pdf", "png", "csv"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_errors_have_a_panel_for_each_case_and_the_median_bayes_risk(make_scores):
    scores = make_scores(instances=3)
    table = figures.errors_table(scores)
    figure = figures.errors_figure(table)
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title()[0] for ax in panels] == list("abcdefgh")
    for ax, case in zip(panels, "abcdefgh"):
        yellow = [line for line in ax.lines if line.get_color() == figures.YELLOW]
        median = scores[scores["case"] == case].groupby("instance")["bayes_risk"].first().median()
        assert yellow[0].get_ydata()[0] == pytest.approx(median)
    matplotlib.pyplot.close(figure)


def test_a_model_that_was_not_run_is_named_on_the_figure(make_scores):
    scores = make_scores(instances=2)
    figure = figures.errors_figure(figures.errors_table(scores[scores["model"] != "adaboost"]))
    assert "(v) AdaBoost: not run" in [text.get_text() for text in figure.legends[0].get_texts()]
    matplotlib.pyplot.close(figure)


def test_distances_are_those_of_linear_models_in_correlated_cases(scores):
    table = figures.distances_table(scores)
    assert set(table["case"]) == set("efgh")
    assert "adaboost" not in set(table["model"])
    assert len(table) == 4 * 20 * 5 * 4


def test_penalties_count_every_fused_elastic_net_three_times(scores):
    table = figures.penalties_table(scores)
    assert table.groupby("penalty")["fits"].sum().to_dict() == {"l1": 800, "l2": 800, "fusion": 800}
