"""A copy of the project with a line changed reruns what depends on it; models, cases and claims can be added to it."""

import re
import shutil

import pandas as pd
import pytest

from .additions import add_to, change


def planned(output):
    """Rules that a dry run would run again, without those that only ask for others."""
    return set(re.findall(r"^(\w+) +\d+", output, re.MULTILINE)) - {"all", "study", "total"}


@pytest.mark.slow
@pytest.mark.parametrize(("module", "old", "new", "rules"), [
    ("workflow/study/scores.py", "margins > 0", "margins >= 0", {"evaluate", "collect"}),
    ("workflow/study/fitting.py", "fuse_intercepts=True", "fuse_intercepts=False", {"grid", "evaluate", "collect"}),
    ("workflow/study/simulate.py", "N_TASKS = 4", "N_TASKS = 5", {"simulate", "grid", "evaluate", "collect"}),
    ("fusedlr/core/solver.hpp", "\n", "\n\n", {"grid", "evaluate", "collect"}),
    ("workflow/study/evidence.py", "ALPHA = 0.05", "ALPHA = 0.01", set()),
    ("fusedlr/summary/fit.py", "TITLE = ", "OTHER = ", {"grid", "evaluate", "collect"}),
    ("fusedlr/r/ada.py", "def boost(X: ", "def boost(x: ", set()),
])
def test_a_changed_line_reruns_just_what_depends_on_it(finished, study, project, tmp_path, module, old, new, rules):
    made = shutil.copytree(finished, tmp_path / "made")
    change(project / module, old, new)
    done = study(made, "results/scores.csv", "--dry-run", project=project)
    assert done.returncode == 0, done.stdout
    assert planned(done.stdout) == rules


@pytest.mark.slow
def test_a_model_a_case_and_a_claim_are_added_and_shown_to_the_report(study, project, tmp_path):
    """In a project whose folder has an odd name."""
    add_to(project / "workflow/study")
    made, settings = tmp_path / "made", {"project": project, "models": "fused_elastic_net,elastic_net,ridge",
                                         "config": ["cases=[d,i]"]}
    done = study(made, cores=2, **settings)
    assert done.returncode == 0, done.stdout
    scores = pd.read_csv(made / "results/scores.csv")
    assert scores["model"].tolist() == ["ridge", "fused_elastic_net", "elastic_net"] * 2
    assert scores["case"].tolist() == ["d"] * 3 + ["i"] * 3
    assert scores["l1"][0] == scores["fusion"][0] == 0
    assert scores["l2"][0] > 0
    assert "ridge" in set(pd.read_csv(made / "results/comparisons.csv")["other"])
    assert pd.read_csv(made / "results/claims.csv")["claim"].tolist() == list(range(1, 16))
    assert set(pd.read_csv(made / "results/figures/differences.csv")["case"]) == {"d", "i"}
    page = (made / "results/report.html").read_text(encoding="utf-8")
    assert "(vi) ridge" in page
    assert "15. All models beat a coin." in page
    assert not list(tmp_path.rglob("hit"))
    (made / "results/verdicts.csv").unlink()
    again = study(made, "--dry-run", **settings)
    assert "claims" in planned(again.stdout), "a deleted table is made again though the report is there"
