"""The whole study on a machine without R: four models, and every page says so."""

import json

import pandas as pd
import pytest

from .conftest import LINEAR

pytestmark = pytest.mark.slow


@pytest.fixture
def no_rpy2(tmp_path):
    """A folder that hides rpy2."""
    folder = tmp_path / "hidden"
    (folder / "rpy2").mkdir(parents=True)
    (folder / "rpy2/__init__.py").write_text("raise ImportError('hidden')\n")
    return folder


def test_the_study_runs_to_its_end_and_says_what_is_left_out(study, project, no_rpy2, tmp_path):
    made = tmp_path / "made"
    done = study(made, project=project, path=[no_rpy2], models=f"{LINEAR},adaboost", cores=2)
    assert done.returncode == 0, done.stdout
    assert "study: AdaBoost is left out, because R with rpart, or rpy2, is not installed" in done.stdout
    scores = pd.read_csv(made / "results/scores.csv")
    assert scores["model"].tolist() == LINEAR.split(",") * 2
    page = (made / "results/report.html").read_text(encoding="utf-8")
    assert "Not run: (v) AdaBoost (R with rpart, or rpy2, was not installed)." in page
    provenance = json.loads((made / "results/provenance.json").read_text())
    assert "adaboost" in provenance["config"]["models"] and "adaboost" not in provenance
    assert (made / "results/compared_with_published.txt").read_text().startswith("8 of 8 rows are identical")
    again = study(made, "--dry-run", project=project, path=[no_rpy2], models=f"{LINEAR},adaboost")
    assert "Nothing to be done" in again.stdout
