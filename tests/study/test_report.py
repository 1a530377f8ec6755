"""The page carries all it shows, and says what is missing."""

import json
import re
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

from fusedlr.study import claims, figures
from fusedlr.study.files import write_table
from fusedlr.study.provenance import provenance
from fusedlr.study.report import for_print, render
from fusedlr.study.sensitivity import summarise

matplotlib.use("Agg")

TEMPLATE = (Path(__file__).parents[2] / "paper/report.html").read_text(encoding="utf-8")
CONFIG = {"seed": 1, "noise": "sd", "tol": 1e-8}


def filled(folder, scores, timing, config=CONFIG):
    """A folder with all that a report needs, made from scores."""
    agreement = pd.DataFrame({"case": ["a"], "size": [50], "l1": [1.0], "l2": [0.0], "max_coef_difference": [2e-7],
                              "objective_difference": [-1e-12], "gap": [1e-11]})
    tables = {"scores": scores, "claims": claims.judge(scores, timing), "comparisons": claims.compare(scores),
              "sensitivity": summarise(scores), "agreement": agreement, "newton_step": timing}
    for name, table in tables.items():
        write_table(folder / f"{name}.csv", table)
    (folder / "provenance.json").write_text(json.dumps(provenance(config, scores)))
    (folder / "figures").mkdir()
    for name in figures.FIGURES:
        (folder / f"figures/{name}.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory, scores, timing):
    return render(TEMPLATE, filled(tmp_path_factory.mktemp("results"), scores, timing))


def test_the_page_needs_no_other_file(page):
    assert page.count("data:image/png;base64,") == len(figures.FIGURES)
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "$" not in page


def test_every_claim_is_there_with_its_verdict(page):
    assert page.count('<span class="reproduced">reproduced</span>') == 8
    assert "Of the paper's eight claims, by number: reproduced (1, 2, 3, 4, 5, 6, 7, 8)." in page
    assert "8 cases, 20 instances of each, 5 training sizes and 5 models, 4,000 scores in all" in page
    assert 'class="note"' not in page


def test_agreement_time_and_provenance_are_there(page):
    assert "the largest difference of a coefficient is 2.0e-07" in page
    assert "AdaBoost, four tasks" in page
    assert "seed: 1" in page
    assert "PCG64" in page
    assert "grid: 13.3; adaboost: 68.9" in page


def test_a_preview_without_adaboost_says_so(tmp_path, make_scores, timing):
    scores = make_scores(instances=2)
    page = render(TEMPLATE, filled(tmp_path, scores[scores["model"] != "adaboost"], timing, {**CONFIG, "noise": "variance"}))
    assert "Not run: (v) AdaBoost." in page
    assert "This is a preview" in page
    assert "variance 0.4 in this run" in page


def test_the_printed_page_links_vector_figures(tmp_path, make_scores, timing):
    text = for_print(TEMPLATE, filled(tmp_path, make_scores(instances=2), timing))
    assert text.count(".pdf\"") == len(figures.FIGURES)
    assert "<h1>" not in text
