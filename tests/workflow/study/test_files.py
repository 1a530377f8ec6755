"""Files are written atomically, and bitwise identical for the same numbers."""

import os
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest

from study.files import read_arrays, read_scores, read_table, replacing, write_arrays, write_table


def test_the_same_arrays_give_bitwise_identical_files_at_another_time(tmp_path, monkeypatch):
    arrays = {"x": np.arange(6.0).reshape(2, 3), "words": np.array("some text")}
    write_arrays(tmp_path / "one.npz", arrays)
    later = time.time() + 1e6
    monkeypatch.setattr(time, "time", lambda: later)
    write_arrays(tmp_path / "two.npz", arrays)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_tables_read_back_to_the_last_bit(tmp_path):
    table = pd.DataFrame({"x": np.random.default_rng(1).standard_normal(100)})
    write_table(tmp_path / "t.csv", table)
    assert (read_table(tmp_path / "t.csv")["x"] == table["x"]).all()


def test_a_failure_while_writing_leaves_the_old_file_and_no_scrap(tmp_path):
    (tmp_path / "t.csv").write_text("old")
    with pytest.raises(RuntimeError, match="disk is full"), replacing(tmp_path / "t.csv") as temporary:
        temporary.write_text("half")
        raise RuntimeError("disk is full")
    assert os.listdir(tmp_path) == ["t.csv"]
    assert (tmp_path / "t.csv").read_text() == "old"


@pytest.mark.parametrize("content", [None, b"", b"PK broken", b"words"])
def test_a_broken_or_missing_file_is_named(tmp_path, content):
    path = tmp_path / "data.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match="data.npz is missing or broken"):
        read_arrays(path)


def test_a_truncated_file_is_named(tmp_path):
    path = tmp_path / "data.npz"
    write_arrays(path, {"x": np.zeros(1000)})
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ValueError, match="data.npz is missing or broken"):
        read_arrays(path)


def test_scores_that_were_cut_short_are_refused(tmp_path, make_scores):
    scores = make_scores(instances=2)
    write_table(tmp_path / "whole.csv", scores)
    assert len(read_scores(tmp_path / "whole.csv")) == len(scores)
    write_table(tmp_path / "short.csv", scores.iloc[:-1])
    with pytest.raises(ValueError, match="short.csv has 399 rows where its cases, instances, sizes and models make "
                       "400"):
        read_scores(tmp_path / "short.csv")


@pytest.mark.parametrize("column, name", [("case", "cases"), ("size", "sizes"), ("model", "models")])
def test_scores_that_lack_what_the_config_names_are_refused(tmp_path, column, name):
    values = {"case": ["a", "b"], "size": [25, 50], "model": ["fused_l1", "elastic_net"]}
    scores = pd.DataFrame(list(product(*values.values(), [1, 2])), columns=[*values, "instance"])
    config = {"cases": values["case"], "sizes": values["size"], "models": values["model"]}
    scores.to_csv(tmp_path / "whole.csv", index=False)
    assert len(read_scores(tmp_path / "whole.csv", config)) == 16
    scores[scores[column] != config[name][1]].to_csv(tmp_path / "short.csv", index=False)
    with pytest.raises(ValueError, match=f"{column} {config[name][1]!r}"):
        read_scores(tmp_path / "short.csv", config)
