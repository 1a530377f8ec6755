"""A table of one's own is read as asked, and its report says what was compared."""

import json
import re

import pandas as pd
import pytest

from study.own import options, page, read_own

ASKED = {"data": "my.csv", "outcomes": ["first", "second"], "features": None, "unit": None, "splits": 3, "rows": None,
         "seed": 1}


@pytest.fixture
def path(tmp_path):
    table = pd.DataFrame({"first": ["yes", "no", "no"], "second": [1, 0, 1], "age": [30, 40, None],
                          "site": ["a", "b", "c"], "person": [7, 7, 8]})
    table.to_csv(tmp_path / "my.csv", index=False)
    return tmp_path / "my.csv"


def test_features_are_all_other_columns_and_words_become_indicators(path):
    found = read_own(path, ASKED)
    assert found["Y"].columns.tolist() == ["first", "second"]
    assert found["X"].columns.tolist() == ["age", "person", "site_b"]
    assert len(found["X"]) == len(found["Y"]) == 2, "a row lacks its age"
    assert found["groups"] is None


def test_a_unit_is_no_feature(path):
    found = read_own(path, {**ASKED, "unit": "person", "features": ["site"]})
    assert found["X"].columns.tolist() == ["site_b", "site_c"]
    assert found["groups"].tolist() == [7, 7, 8]


@pytest.mark.parametrize(("change", "said"), [
    ({"outcomes": ["first", "third"]}, "has no column third; its columns are first, second, age, site, person"),
    ({"features": ["weight"]}, "has no column weight"),
    ({"outcomes": ["first", "second", "age", "site"], "unit": "person"}, "has no features")])
def test_a_table_that_lacks_something_is_refused_in_a_sentence(path, change, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        read_own(path, {**ASKED, **change})


def test_options_hold_what_a_job_must_know():
    config = {**ASKED, "tol": 1e-13}
    assert json.loads(options(config, ["fused_l1"])) == {**ASKED, "models": ["fused_l1"]}


def test_the_report_tells_rows_outcomes_and_models(path):
    data = read_own(path, {**ASKED, "features": ["site"]})
    scores = pd.DataFrame({"split": [0, 0], "size": 2, "model": ["fused_l1", "unpenalized"], "error": [0.25, 0.5],
                           "logloss": [0.5, 0.7], "seconds": [0.1, 0.2]})
    differences = pd.DataFrame({"size": [2], "model": ["unpenalized"], "to": ["fused_l1"], "mean": [0.25]})
    text = page(scores, differences, b"png", data, ASKED)
    assert "3 rows, 2 features, outcomes first, second in this order" in text
    assert "a quarter of the rows held out" in text
    assert all(word in text for word in ("unpenalized", "0.25", "data:image/png;base64,cG5n"))
