"""Figures are files whose tables hold the numbers that were drawn."""

import matplotlib
import pandas as pd
import pytest

from study import figures
from study.claims import CLAIMS, claim_01_fused_models_lead, claim_12_larger_groups
from study.contents import FIGURES, TABLES
from study.figures import overview
from study.figures.style import YELLOW

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def save(make_readings, make_groups, timing, admm):
    """Function that draws one figure from scores and what goes with them."""
    def draw(name, scores, stem, instances=2):
        tables = {"scores": scores, "readings": make_readings(scores), "groups": make_groups(instances),
                  "newton_step": timing, "admm": admm}
        figures.save(FIGURES[name], [tables[table] for table in FIGURES[name].tables], stem)
    return draw


def test_every_figure_has_its_tables_and_words():
    for figure in FIGURES.values():
        assert set(figure.tables) <= set(TABLES)
        assert figure.caption.endswith(".")


def test_every_claim_has_a_figure():
    assert [FIGURES[f"claim{claim.number}"] for claim in CLAIMS] == [claim.figure for claim in CLAIMS]
    assert list(FIGURES) == [*overview.FIGURES, *(f"claim{number}" for number in range(1, 15))]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_pdf_a_png_and_a_table(tmp_path, make_scores, save, name):
    save(name, make_scores(instances=2), tmp_path / name)
    assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv(tmp_path / f"{name}.csv")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(("case", "instances"), [("a", 1), ("e", 2)])
def test_one_case_with_few_instances_has_every_figure(tmp_path, make_scores, save, case, instances, name):
    """The independent case a has no distances to show: its figure says so and its table is empty."""
    scores = make_scores(instances)
    save(name, scores[scores["case"] == case], tmp_path / name)
    assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    if name in overview.FIGURES:
        assert _is_empty(tmp_path / f"{name}.csv") == (name == "distances" and case == "a")


def _is_empty(path):
    return len(path.read_text().splitlines()) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("model", ["fused_elastic_net", "fused_l1", "adaboost"])
def test_one_model_alone_has_every_figure(tmp_path, make_scores, save, model, name):
    scores = make_scores(instances=1)
    save(name, scores[scores["model"] == model], tmp_path / name)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_same_scores_give_bitwise_identical_files(tmp_path, make_scores, save):
    preview = make_scores(instances=1)
    for folder in ("one", "two"):
        save("penalties", preview, tmp_path / folder)
    for suffix in ("pdf", "png", "csv"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_errors_have_a_panel_for_each_case_and_the_median_bayes_risk(make_scores):
    scores = make_scores(instances=3)
    table = overview.errors_table(scores)
    figure = overview.errors_figure(table)
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title()[0] for ax in panels] == list("abcdefgh")
    for ax, case in zip(panels, "abcdefgh"):
        yellow = [line for line in ax.lines if line.get_color() == YELLOW]
        median = scores[scores["case"] == case].groupby("instance")["bayes_risk"].first().median()
        assert yellow[0].get_ydata()[0] == pytest.approx(median)
    matplotlib.pyplot.close(figure)


def test_a_model_that_was_not_run_is_named_on_the_figure(make_scores):
    scores = make_scores(instances=2)
    figure = overview.errors_figure(overview.errors_table(scores[scores["model"] != "adaboost"]))
    assert "(v) AdaBoost: not run" in [text.get_text() for text in figure.legends[0].get_texts()]
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize("by", ["ada", "rpart"])
def test_the_figure_says_by_what_trees_were_boosted(make_scores, by):
    scores = make_scores(instances=2)
    scores.loc[scores["model"] == "adaboost", "by"] = by
    figure = overview.errors_figure(overview.errors_table(scores))
    assert f"(v) AdaBoost ({by})" in [text.get_text() for text in figure.legends[0].get_texts()]
    matplotlib.pyplot.close(figure)


def test_distances_are_those_of_linear_models_in_correlated_cases(scores):
    table = overview.distances_table(scores)
    assert set(table["case"]) == set("efgh")
    assert "adaboost" not in set(table["model"])
    assert len(table) == 4 * 20 * 5 * 4


def test_penalties_count_every_fused_elastic_net_three_times(scores):
    table = overview.penalties_table(scores)
    assert table.groupby("penalty")["fits"].sum().to_dict() == {"l1": 800, "l2": 800, "fusion": 800}


def test_the_first_claims_figure_shows_the_least_gain(scores):
    table = claim_01_fused_models_lead.tabulate(scores).set_index(["case", "size"])
    cell = scores[(scores["case"] == "b") & (scores["size"] == 100)].groupby("model")["test_error"].mean()
    least = cell[["elastic_net", "unpenalized", "adaboost"]].min() - cell[["fused_elastic_net", "fused_l1"]].max()
    assert table.loc[("b", 100), "gain"] == pytest.approx(least)


def test_the_groups_figure_has_a_gain_for_each_group_size_and_grid(groups):
    table = claim_12_larger_groups.tabulate(groups)
    assert len(table) == 2 * 2 * 3 * 3
    gains = table[table["grid"] == "whole grid"].groupby("copies")["gain"].mean()
    assert gains.to_numpy() == pytest.approx([0.004, 0.01, 0.02], abs=0.0005)
