"""The page carries all it shows, and says what is missing."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.figure
import pandas as pd
import pytest

from fusedlr.study import claims
from fusedlr.study.contents import FIGURES
from fusedlr.study.files import write_table
from fusedlr.study.paired import compare
from fusedlr.study.provenance import provenance
from fusedlr.study.report import for_print, render
from fusedlr.study.scale import recorded, simulate_cluster
from fusedlr.study.sensitivity import summarise

matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / "paper/report.html").read_text(encoding="utf-8")
CONFIG = {"seed": 1, "noise": "sd", "tol": 1e-8}


def filled(folder, scores, timing, config=CONFIG):
    """A folder with all that a report needs, made from scores."""
    agreement = pd.DataFrame({"case": ["a"], "size": [50], "l1": [1.0], "l2": [0.0], "max_coef_difference": [2e-7],
                              "objective_difference": [-1e-12], "gap": [1e-11]})
    tables = {"scores": scores, "claims": claims.judge(scores, timing), "comparisons": compare(scores),
              "sensitivity": summarise(scores), "agreement": agreement, "newton_step": timing,
              "scale": simulate_cluster(recorded(scores), instances=80)}
    for name, table in tables.items():
        write_table(folder / f"{name}.csv", table)
    (folder / "provenance.json").write_text(json.dumps(provenance(config, scores)))
    (folder / "figures").mkdir()
    for name in FIGURES:
        (folder / f"figures/{name}.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory, scores, timing):
    return render(TEMPLATE, filled(tmp_path_factory.mktemp("results"), scores, timing))


def test_the_page_needs_no_other_file(page):
    assert page.count("data:image/png;base64,") == len(FIGURES)
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "$" not in page


def test_every_claim_is_there_with_its_verdict(page):
    assert page.count('<span class="reproduced">reproduced</span>') == 8
    assert "Of the paper's eight claims, by number: reproduced (1, 2, 3, 4, 5, 6, 7, 8)." in page
    assert "8 cases, 20 instances of each, 5 training sizes and 5 models, 4,000 scores in all" in page
    assert 'class="note"' not in page


def test_agreement_time_and_provenance_are_there(page):
    assert "the largest difference of a coefficient is 2.0e-07" in page
    assert "(v) AdaBoost, four tasks" in page
    assert "seed: 1" in page
    assert "PCG64" in page
    assert "grid: 13.3; adaboost: 68.9" in page


def test_the_scale_on_paper_says_what_it_is_drawn_from(page):
    """Eight Slurm jobs, one after the other: 30 s of queue, then ten times 31 s and three starts on two cores."""
    assert "drawn with replacement from the 160 jobs of grid and 160 jobs of (v) AdaBoost of this run" in page
    nodes, cores, hours, *_ = re.findall(r"<td[^>]*>([^<]*)</td>", page[page.index("Share busy"):])
    assert (nodes, cores) == ("1", "2")
    assert float(hours) == pytest.approx(8 * (30 + 10 * (4.5 + 5 + 775 / 30) / 2) / 3600, rel=0.1)


def test_a_preview_without_adaboost_says_so(tmp_path, make_scores, timing):
    scores = make_scores(instances=2)
    page = render(TEMPLATE, filled(tmp_path, scores[scores["model"] != "adaboost"], timing, {**CONFIG, "noise": "variance"}))
    assert "Not run: (v) AdaBoost." in page
    assert "This is a preview" in page
    assert "variance 0.4 in this run" in page
    assert "from the 16 jobs of grid of this run" in page
    assert "This run had none of (v) AdaBoost, so its time is not in the table." in page


def test_the_printed_page_links_vector_figures(tmp_path, make_scores, timing):
    text = for_print(TEMPLATE, filled(tmp_path, make_scores(instances=2), timing))
    assert text.count(".pdf\"") == len(FIGURES)
    assert "<h1>" not in text


@pytest.mark.parametrize("case", ["a", "e"])
@pytest.mark.parametrize("instances", [1, 2])
def test_one_case_with_few_instances_has_a_report(tmp_path, make_scores, timing, case, instances):
    scores = make_scores(instances)
    page = render(TEMPLATE, filled(tmp_path, scores[scores["case"] == case], timing))
    assert f"{25 * instances} scores in all" in page
    assert "This is a preview" in page


@pytest.mark.parametrize("model", ["fused_l1", "adaboost"])
def test_one_model_alone_has_a_report(tmp_path, make_scores, timing, model):
    scores = make_scores(instances=1)
    page = render(TEMPLATE, filled(tmp_path, scores[scores["model"] == model], timing))
    assert not re.search(r"\bnan\b", page)


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, ("pandoc", "pdflatex", "pdftotext"))), reason="needs pandoc, LaTeX and poppler")
def test_no_printed_page_is_empty(tmp_path, make_scores, timing):
    """A figure as tall as the page would go to the next one and leave its own empty; a page number is one word."""
    folder = filled(tmp_path, make_scores(instances=3), timing)
    for name in FIGURES:
        matplotlib.figure.Figure(figsize=(10.5, 8)).savefig(folder / f"figures/{name}.pdf")
    command = [sys.executable, ROOT / "workflow/scripts/report.py", ROOT / "paper/report.html", folder, folder / "report.html"]
    subprocess.run(command, check=True)
    text = subprocess.run(["pdftotext", folder / "report.pdf", "-"], check=True, capture_output=True, text=True).stdout
    assert min(len(page.split()) for page in text.removesuffix("\f").split("\f")) > 20
