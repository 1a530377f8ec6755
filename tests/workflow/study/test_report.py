"""The page carries all it shows, and says what is missing."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.figure
import pandas as pd
import pytest

from study.claims import CLAIMS
from study.cluster import recorded, simulate_cluster
from study.contents import FIGURES
from study.figures import overview
from study.files import write_table
from study.judging import judge_readings, side_by_side
from study.paired import compare
from study.provenance import provenance
from study.report import for_print, render
from study.sensitivity import summarise

matplotlib.use("Agg")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
TEMPLATE = (ROOT / "paper/report.html").read_text(encoding="utf-8")
CONFIG = {"seed": 1, "noise": "sd", "tol": 1e-8}


def filled(folder, scores, timing, admm, readings, groups, config=CONFIG):
    """A folder with all that a report needs, made from scores."""
    others = readings(scores)
    read = judge_readings(scores, others, timing, groups, admm, resamples=0)
    agreement = pd.DataFrame({"case": ["a"], "size": [50], "l1": [1.0], "l2": [0.0], "max_coef_difference": [2e-7],
                              "objective_difference": [-1e-12], "gap": [1e-11]})
    tables = {"scores": scores, "readings": others, "groups": groups, "claims": side_by_side(read),
              "verdicts": read, "admm": admm, "otherwise": scores[:0].assign(reading="", new_data=False),
              "comparisons": compare(scores), "sensitivity": summarise(scores), "agreement": agreement,
              "newton_step": timing,
              "cluster_hours": simulate_cluster(recorded(scores), instances=80)}
    for name, table in tables.items():
        write_table(folder / f"{name}.csv", table)
    (folder / "provenance.json").write_text(json.dumps(provenance(config, scores)))
    (folder / "figures").mkdir()
    for name in FIGURES:
        (folder / f"figures/{name}.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture(scope="module")
def fill(timing, admm, make_readings, make_groups):
    """Function that makes a folder with all that a report needs."""
    def make(folder, scores, config=CONFIG, instances=2):
        return filled(folder, scores, timing, admm, make_readings, make_groups(instances), config)
    return make


@pytest.fixture(scope="module")
def folder(tmp_path_factory, scores, fill):
    return fill(tmp_path_factory.mktemp("results"), scores, instances=20)


@pytest.fixture(scope="module")
def page(folder):
    return render(TEMPLATE, folder)


def test_the_page_carries_its_figures_and_links_to_what_is_beside_it(page, folder):
    assert page.count("data:image/png;base64,") == len(FIGURES)
    assert not re.search(r'src="(?!data:)', page)
    assert "$" not in page
    for target in re.findall(r'href="([^"]*)"', page):
        if target.startswith("#"):
            assert f'id="{target[1:]}"' in page, target
        elif target.startswith("../"):
            assert (ROOT / target[3:]).is_file(), target
        elif target.startswith("figures/"):
            assert Path(target).stem in FIGURES
        else:
            assert (folder / target).is_file(), target


def test_every_claim_has_its_section_with_verdict_and_figure(page):
    assert ("The paper's 14 claims by number. Penalties shared: reproduced (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, "
            "14);") in page
    assert "Each task alone: reproduced (1, 2, 3," in page
    for claim in CLAIMS:
        section = page[page.index(f'<h3 id="claim-{claim.number}">'):].split("<h3", 2)[1]
        assert html.escape(claim.paper) in section
        assert html.escape(claim.rule) in section
        assert ("afterwards.</em>" in section) == (claim.written != "before the run")
        for name in ("Penalties shared", "Each task alone"):
            assert re.search(rf'<dt>{name}</dt><dd><span class="(reproduced|partly|not|open)">', section)
        assert f'<figure id="claim{claim.number}">' in section
        assert ("<dt>Off the corner" in section) == (not claim.of_time)
    assert "8 cases, 20 instances of each, 5 training sizes and 5 models, 4,000 scores in all" in page
    assert 'class="note"' not in page


def test_agreement_time_and_provenance_are_there(page):
    assert "the largest difference of a coefficient is 2.0e-07" in page
    assert "(v) AdaBoost, four tasks" in page
    assert "seed: 1" in page
    assert "PCG64" in page
    assert "grid: 13.3; adaboost: 68.9" in page


def test_a_preview_shows_only_the_figures_that_were_drawn(tmp_path, make_scores, fill):
    folder = fill(tmp_path, make_scores(instances=1))
    for name in FIGURES:
        if name.startswith("claim"):
            (folder / f"figures/{name}.png").unlink()
    page = render(TEMPLATE, folder, drawn=list(overview.FIGURES))
    assert page.count("data:image/png;base64,") == len(overview.FIGURES)


def test_words_follow_from_the_config(tmp_path, make_scores, fill):
    scores = make_scores(instances=1)
    page = render(TEMPLATE, fill(tmp_path, scores[scores["size"].isin([25, 100])]))
    assert "trained on the first 25 or 100 rows" in page
    assert "grid of 11 x 7 x 12 penalties" in page


def test_an_open_verdict_says_what_its_rule_said(page, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "other")
    table = pd.read_csv(folder / "verdicts.csv")
    table.loc[4, ["stability", "standard_error", "verdict"]] = [0.5, 0.007, "open"]
    write_table(tmp_path / "other/verdicts.csv", table)
    page = render(TEMPLATE, tmp_path / "other")
    assert '<span class="open">open</span> (by its rule reproduced), in 50.0 &plusmn; 0.7 % of the resamples' in page


def test_the_hours_on_a_cluster_say_what_they_are_drawn_from(page):
    """Eight Slurm jobs, one after the other: 30 s of queue, then ten times 31 s and three starts on two cores."""
    assert "drawn with replacement from the 160 jobs of grid and 160 jobs of (v) AdaBoost of this run" in page
    nodes, cores, hours, *_ = re.findall(r"<td[^>]*>([^<]*)</td>", page[page.index("Share busy"):])
    assert (nodes, cores) == ("1", "2")
    assert float(hours) == pytest.approx(8 * (30 + 10 * (4.5 + 5 + 775 / 30) / 2) / 3600, rel=0.1)


@pytest.mark.parametrize(("asked", "why"), [
    (["fused_elastic_net"], "left out by the config"), (["adaboost"], "R with rpart, or rpy2, was not installed")])
def test_a_preview_without_adaboost_says_so_and_why(tmp_path, make_scores, fill, asked, why):
    scores = make_scores(instances=2)
    config = {**CONFIG, "noise": "variance", "models": asked}
    page = render(TEMPLATE, fill(tmp_path, scores[scores["model"] != "adaboost"], config))
    assert f"Not run: (v) AdaBoost ({why})." in page
    assert "noise of\nvariance 0.4" in page
    assert "This is a preview" in page
    assert "variance 0.4 in this run" in page
    assert "from the 16 jobs of grid of this run" in page
    assert "This run had none of (v) AdaBoost, so its time is not in the table." in page


@pytest.mark.parametrize(("by", "words"), [
    ("ada", "discrete AdaBoost\nby R's package <code>ada</code>: exponential loss"),
    ("rpart", "discrete AdaBoost\nby a function of this project on R's <code>rpart</code>, as R's package")])
def test_the_page_says_by_what_trees_were_boosted(tmp_path, make_scores, fill, by, words):
    scores = make_scores(instances=2)
    scores.loc[scores["model"] == "adaboost", "by"] = by
    assert words in render(TEMPLATE, fill(tmp_path, scores, CONFIG))


def test_the_printed_page_links_vector_figures(tmp_path, make_scores, fill):
    text = for_print(TEMPLATE, fill(tmp_path, make_scores(instances=2)))
    assert text.count(".pdf\"") == len(FIGURES)
    assert "<h1>" not in text


@pytest.mark.parametrize("case", ["a", "e"])
@pytest.mark.parametrize("instances", [1, 2])
def test_one_case_with_few_instances_has_a_report(tmp_path, make_scores, fill, case, instances):
    scores = make_scores(instances)
    page = render(TEMPLATE, fill(tmp_path, scores[scores["case"] == case]))
    assert f"{25 * instances} scores in all" in page
    assert "This is a preview" in page


@pytest.mark.parametrize("model", ["fused_l1", "adaboost"])
def test_one_model_alone_has_a_report(tmp_path, make_scores, fill, model):
    scores = make_scores(instances=1)
    page = render(TEMPLATE, fill(tmp_path, scores[scores["model"] == model]))
    assert not re.search(r"\bnan\b", page)


@pytest.mark.skipif(not all(map(shutil.which, ("pandoc", "pdflatex", "pdftotext"))),
                    reason="needs pandoc, LaTeX and poppler")
def test_no_printed_page_is_empty(tmp_path, make_scores, fill):
    """A figure as tall as the page would go to the next one and leave its own empty; a page number is one word."""
    folder = fill(tmp_path, make_scores(instances=3))
    for name in FIGURES:
        matplotlib.figure.Figure(figsize=(10.5, 8) if name == "errors"
                                 else (7, 3)).savefig(folder / f"figures/{name}.pdf")
    command = [sys.executable, ROOT / "workflow/scripts/report.py", ROOT / "paper/report.html", folder,
               folder / "report.html"]
    path = os.pathsep.join(map(str, (ROOT, ROOT / "workflow")))
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})
    text = subprocess.run(["pdftotext", folder / "report.pdf", "-"], check=True, capture_output=True, text=True).stdout
    assert min(len(page.split()) for page in text.removesuffix("\f").split("\f")) > 20
