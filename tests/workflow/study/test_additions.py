"""A model and a case are one row each, a claim one file and a line: the study computes, judges and shows them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from study.files import write_table

from ..additions import add_to

ROOT = Path(__file__).parents[3]
USE = """
import json, sys
import pandas as pd
from study import cases, claims, contents, fitting, judging, models, plan, settings, simulate
from study.files import read_table

config = json.loads(sys.argv[1])
settings.check_config(config)
fit = fitting.fit_size(simulate.simulate("i", 1, seed=1), 25, tol=1e-6)
ridge = fit.choices.set_index("model").loc["ridge"]
verdict = judging.judge(read_table(sys.argv[2]), resamples=2).iloc[-1]
print(json.dumps({
    "planned": plan.Plan(config).jobs()["grid"], "ridge": [ridge["l1"], ridge["fusion"]], "l2": ridge["l2"],
    "nonzeros": (fit.params[0] != 0).any().item(), "figure": list(contents.FIGURES)[-1],
    "verdict": [int(verdict["claim"]), verdict["verdict"], verdict["stability"]]}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory, scores):
    """What a study with the additions says of itself; the scores are those of the paper's models and cases."""
    folder = tmp_path_factory.mktemp("additions")
    add_to(shutil.copytree(ROOT / "workflow/study", folder / "study"))
    shutil.copytree(ROOT / "workflow/schemas", folder / "schemas")
    write_table(folder / "scores.csv", scores)
    config = {"seed": 1, "cases": ["i"], "instances": 2, "sizes": [25], "models": ["ridge"], "noise": "sd", "tol": 1e-6,
              "sensitivity": 1, "readings": 0, "groups": 0,
              "splits": 1}
    done = subprocess.run([sys.executable, "-c", USE, json.dumps(config), folder / "scores.csv"], text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))},
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_case_is_one_row(told):
    assert told["planned"] == ["results/grid/i/1.npz", "results/grid/i/2.npz"]
    assert told["nonzeros"]


def test_a_model_is_one_row(told):
    assert told["ridge"] == [0, 0]
    assert told["l2"] > 0


def test_a_claim_is_one_file_and_a_line(told):
    """The ninth case, which was not run, and the sixth model have no part in the paper's claims."""
    assert told["verdict"] == [15, "reproduced", 1.0]
    assert told["figure"] == "claim15"
