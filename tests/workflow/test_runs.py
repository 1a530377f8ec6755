"""The workflow gives the same numbers however it is run, and says what is wrong when it cannot."""

import os
import re
import shutil
import signal
import time

import numpy as np
import pandas as pd
import pytest

from fusedlr.r.ada import available
from study.scores import COLUMNS


def results(folder):
    """Contents of all result files but logs and measured times."""
    files = [path for path in sorted((folder / "results").rglob("*")) if path.is_file() and "logs" not in path.parts]
    return {str(path.relative_to(folder)): scores_without_times(path)
            if path.parent.name in ("results", "scores", "readings")
            else path.read_bytes() for path in files if not path.name.endswith(".seconds.csv")}


def scores_without_times(path):
    return pd.read_csv(path, dtype=str).drop(columns="seconds").to_csv().encode()


def jobs(output):
    """Jobs that a dry run lists, by rule."""
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)(?: +\d+ +\d+)?$", output, re.MULTILINE)}


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def test_scores_have_a_row_for_each_case_size_and_model(finished):
    scores = pd.read_csv(finished / "results/scores.csv")
    assert scores.columns.tolist() == COLUMNS
    assert scores[["case", "instance", "size"]].drop_duplicates().values.tolist() == [["d", 1, 25], ["h", 1, 25]]
    assert scores["model"].tolist() == ["fused_elastic_net", "fused_l1", "elastic_net", "unpenalized"] * 2
    assert scores["test_error"].between(0, 0.6).all()
    assert (scores["gap"][scores["status"] == "optimal"] <= 1e-8).all()


def test_data_have_the_names_that_others_rely_on(finished):
    with np.load(finished / "results/data/h/1.npz") as data:
        shapes = {name: data[name].shape for name in data.files}
    assert shapes == {"coefs": (101, 4), "X_train": (400, 100), "Y_train": (400, 4), "X_validation": (1400, 100),
                      "Y_validation": (1400, 4), "X_test": (1400, 100), "Y_test": (1400, 4), "about": ()}


def test_two_cores_give_results_bitwise_identical_to_those_of_one(finished, study, tmp_path):
    done = study(tmp_path, "results/scores.csv", cores=2)
    assert done.returncode == 0, done.stdout
    assert results(tmp_path) == results(finished)
    assert "study: grid: 2 of 2 done, 2 of them now" in done.stdout


def test_a_killed_run_goes_on_to_bitwise_identical_results(finished, study, start_study, tmp_path):
    process = start_study(tmp_path, "results/scores.csv")
    while not list(tmp_path.glob("results/data/*/1.npz")) and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = study(tmp_path, "results/scores.csv")
    assert done.returncode == 0, done.stdout
    assert results(tmp_path) == results(finished)


def test_a_second_run_in_the_same_folder_is_refused(study, start_study, tmp_path):
    """Also where the first was killed: its lock ends with it."""
    process = start_study(tmp_path, "results/scores.csv")
    while not list(tmp_path.glob("results/data/*/1.npz")) and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGSTOP)  # so that it is at work however long the second takes to start
    second = study(tmp_path, "results/scores.csv", config=["sizes=[50]"])
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert second.returncode != 0
    assert "another run is at work in" in second.stdout
    assert study(tmp_path, "results/data/d/1.npz", "results/data/h/1.npz").returncode == 0


def test_a_whole_number_may_be_written_with_an_exponent(study, tmp_path):
    planned = jobs(study(tmp_path, "results/scores.csv", "--dry-run", config=["instances=1e1", "groups=0"]).stdout)
    assert planned["simulate"] == 20


def test_nothing_is_left_to_do_after_a_run(finished, study):
    assert "Nothing to be done" in study(finished, "results/scores.csv", "--dry-run").stdout


def test_more_instances_add_only_what_is_missing(finished, study):
    planned = jobs(study(finished, "results/scores.csv", "--dry-run", config=["instances=3"]).stdout)
    assert (planned["simulate"], planned["grid"]) == (4, 4)


def test_another_seed_or_tolerance_reruns_what_depends_on_it(finished, study):
    assert jobs(study(finished, "results/scores.csv", "--dry-run", config=["seed=2"]).stdout)["simulate"] == 2
    planned = jobs(study(finished, "results/scores.csv", "--dry-run", config=["tol=1e-7"]).stdout)
    assert planned["grid"] == 2
    assert "simulate" not in planned


def test_a_broken_input_is_named_and_does_not_stop_the_others(copy, study):
    data = copy / "results/data/d/1.npz"
    data.write_bytes(data.read_bytes()[:100000])
    for other in ("results/grid/h/1.npz", "results/scores/h.csv"):
        (copy / other).unlink()
    done = study(copy, "results/scores.csv")
    assert done.returncode != 0
    assert "results/data/d/1.npz is missing or broken; delete it and run again" in done.stdout
    assert (copy / "results/grid/h/1.npz").exists()
    assert re.search(r"study: grid: 1 of 2 done, .*1 MISSING", done.stdout)


def swapped(first, second):
    """Put two files into each other's place."""
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


@pytest.mark.parametrize(("part", "said"), [
    ("data", "results/data/d/1.npz is of instance 2, not 1; delete it and run again"),
    ("grid", "results/grid/d/1.npz is of instance 2, not 1; delete it and run again")])
def test_a_file_in_the_place_of_another_is_refused(study, tmp_path, part, said):
    settings = {"config": ["cases=[d]", "instances=2"]}
    assert study(tmp_path, "results/grid/d/1.npz", "results/grid/d/2.npz", **settings).returncode == 0
    swapped(*(tmp_path / f"results/{part}/d/{number}.npz" for number in (1, 2)))
    done = study(tmp_path, "results/scores/d.csv", **settings)
    assert done.returncode != 0
    assert said in done.stdout


def test_fits_of_other_data_are_refused(copy, study):
    """Though case, instance, seed and size are the same."""
    with np.load(copy / "results/data/d/1.npz") as data:
        arrays = {name: data[name] for name in data.files}
    arrays["X_train"][0, 0] += 1
    np.savez(copy / "results/data/d/1.npz", **arrays)
    os.utime(copy / "results/data/d/1.npz", (1e9, 1e9))
    (copy / "results/scores/d.csv").unlink()
    done = study(copy, "results/scores/d.csv")
    assert done.returncode != 0
    assert "results/grid/d/1.npz is of other data than those now there; delete it and run again" in done.stdout


def test_an_empty_table_of_scores_is_refused_in_a_sentence(copy, study):
    table = copy / "results/scores.csv"
    table.write_text(table.read_text().splitlines()[0] + "\n")
    done = study(copy, "results/claims.csv")
    assert done.returncode != 0
    assert "results/scores.csv has no rows; delete it and run again" in done.stdout


@pytest.mark.r
def test_an_error_in_r_is_shown_in_its_words(copy, study, monkeypatch):
    with np.load(copy / "results/data/h/1.npz") as data:
        arrays = {name: data[name] for name in data.files}
    arrays["Y_train"][:] = 7
    np.savez(copy / "results/data/h/1.npz", **arrays)
    done = study(copy, "results/adaboost/h/1.npz", models="adaboost")
    assert done.returncode != 0
    assert "Y must hold 0, 1 or nan" in done.stdout


@pytest.mark.r
def test_adaboost_is_one_more_model(copy, study):
    done = study(copy, "results/scores.csv", models="fused_l1,adaboost", config=["cases=[h]"])
    assert done.returncode == 0, done.stdout
    scores = pd.read_csv(copy / "results/scores.csv")
    assert scores["model"].tolist() == ["fused_l1", "adaboost"]
    assert 0.4 < scores["test_error"][1] < 0.6  # with 25 rows no tree is split
    assert scores["by"][1] == available()


def test_the_default_config_is_the_paper(study, tmp_path):
    done = study(tmp_path, "--dry-run", config=["cases=[a,b,c,d,e,f,g,h]", "instances=20", "sizes=[25,50,100,200,400]"])
    planned = jobs(done.stdout)
    # 160 of the paper, and 120 of the experiment on groups; other readings of data in four cases, of fits in all.
    assert (planned["simulate"], planned["grid"], planned["evaluate"]) == (280, 280, 14)
    assert (planned["simulate_otherwise"], planned["grid_otherwise"]) == (160, 640)


@pytest.mark.parametrize(("setting", "sentence"), [
    ("cases=[z]", "config.cases[0]: 'z' is not one of"),
    ("instances=-1", "config.instances: -1 is less than the minimum of 1"),
    ("tol=nan", "config.tol: nan is not a finite number"),
    ("sizes=[two]", "config.sizes"),
    ("sizes=[1]", "config.sizes[0]: 1 is less than the minimum of 10"),
    ("data=my.csv", "config: data=my.csv and outcomes=[first,second] go together"),
    ("colour=red", "config: Additional properties are not allowed ('colour' was unexpected)"),
])
def test_bad_config_is_refused_in_a_sentence_before_any_job(study, tmp_path, setting, sentence):
    done = study(tmp_path, "results/scores.csv", config=[setting])
    assert done.returncode != 0
    assert sentence in done.stdout
    assert not (tmp_path / "results").exists()


def test_a_table_of_ones_own_is_compared_split_by_split(study, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    labels = X[:, [0]] + rng.normal(size=(80, 2)) > 0
    pd.DataFrame(np.column_stack([X, labels]), columns=["x", "z", "first", "second"]).to_csv(tmp_path / "my.csv",
                                                                                            index=False)
    own = ["data=my.csv", "outcomes=[first,second]", "splits=2"]
    done = study(tmp_path, models="fused_l1,unpenalized", config=own)
    assert done.returncode == 0, done.stdout
    scores = pd.read_csv(tmp_path / "results/own/scores.csv")
    assert scores[["split", "size", "model"]].values.tolist() == [
        [0, 60, "fused_l1"], [0, 60, "unpenalized"], [1, 60, "fused_l1"], [1, 60, "unpenalized"]]
    assert "study: report: results/own/report.html" in done.stdout
    assert not (tmp_path / "results/data").exists()


def test_lint_asks_for_nothing_but_environments(study, tmp_path):
    """Software comes from make setup; conda environments would not hold this package."""
    asked = set(re.findall(r"^    \* (.*):$", study(tmp_path, "--lint").stdout, re.MULTILINE))
    assert asked <= {"Specify a conda environment or container for each rule."}
