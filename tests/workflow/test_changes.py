"""A copy of the project with a line changed: it reruns what depends on it, and a sixth model is one line."""

import re
import shutil

import pandas as pd
import pytest

RIDGE = '    Model("ridge", "(vi) ridge", "#CC79A7", "P", lambda l1, l2, fusion: (l1 == 0) & (fusion == 0)),\n'


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def planned(output):
    """Rules that a dry run would run again, without ``all``."""
    return set(re.findall(r"^(\w+) +\d+", output, re.MULTILINE)) - {"all", "total"}


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
def test_a_sixth_model_is_one_line_of_the_table(study, project, tmp_path):
    """To the report, in a project whose folder has an odd name."""
    change(project / "workflow/study/models.py", "_TABLE = (\n", "_TABLE = (\n" + RIDGE)
    made = tmp_path / "made"
    done = study(made, project=project, models="fused_elastic_net,elastic_net,ridge",
                 config=["cases=[d]"], cores=2)
    assert done.returncode == 0, done.stdout
    scores = pd.read_csv(made / "results/scores.csv")
    assert scores["model"].tolist() == ["ridge", "fused_elastic_net", "elastic_net"]
    assert scores["l1"][0] == scores["fusion"][0] == 0
    assert scores["l2"][0] > 0
    assert "ridge" in set(pd.read_csv(made / "results/comparisons.csv")["other"])
    assert "(vi) ridge" in (made / "results/report.html").read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("hit"))
    (made / "results/verdicts.csv").unlink()
    again = study(made, "--dry-run", project=project, models="fused_elastic_net,elastic_net,ridge",
                  config=["cases=[d]"])
    assert "claims" in planned(again.stdout), "a deleted table is made again though the report is there"
