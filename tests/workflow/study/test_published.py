"""Recomputed scores are compared with the published ones row by row."""

import hashlib
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from study.claims import CLAIMS
from study.contents import FIGURES, TABLES
from study.files import read_table, write_table
from study.judging import judge, judge_readings, side_by_side
from study.published import compare_scores, publish, published_evidence, verdict_lines, write_verdicts
from study.readings import READINGS


PAPER = Path(__file__).parents[3] / "paper"


def test_equal_scores_are_identical_whatever_their_seconds_and_gaps(scores):
    other = scores.assign(seconds=7.0, gap=1e-12)
    assert compare_scores(other, scores).splitlines() == [
        "4000 of 4000 rows are identical to the published ones; largest differences: test_error 0.0e+00, bayes_risk "
        "0.0e+00, distance_zero 0.0e+00, distance_nonzero 0.0e+00"]


def test_rows_that_differ_are_named(scores):
    other = scores.copy()
    other.loc[3, "l1"] = 8.0
    other.loc[7, "test_error"] += 0.25
    first, *lines = compare_scores(other, scores).splitlines()
    assert first.startswith("3998 of 4000 rows are identical")
    assert "test_error 2.5e-01" in first
    assert lines[0].startswith("a 1 25 unpenalized: l1 8.0 (published 0.4)")
    assert len(lines) == 2


def test_a_preview_is_compared_on_its_own_rows(scores):
    preview = scores[scores["instance"] <= 2]
    assert compare_scores(preview, scores).startswith("400 of 400 rows are identical")
    assert compare_scores(scores, preview).startswith("400 of 400 rows are identical to the published ones (3600 more")
    others = scores[scores["instance"] > 2]
    assert compare_scores(preview, others) == "none of the 400 rows is among the published ones\n"


@pytest.fixture(scope="module")
def judged(scores, groups, timing, admm):
    """Verdicts of one reading, said of all."""
    one = judge(scores, timing, groups, admm, resamples=0)
    return pd.concat([one.assign(reading=name) for name in READINGS], ignore_index=True)


@pytest.fixture
def results(tmp_path, scores, groups, judged):
    """A folder that looks like a whole run."""
    folder = tmp_path / "results"
    tables = {**{name: pd.DataFrame({"x": [1]}) for name in TABLES}, "scores": scores, "groups": groups,
              "claims": side_by_side(judged), "verdicts": judged}
    for name, table in tables.items():
        write_table(folder / f"{name}.csv", table)
    for name in FIGURES:
        for suffix in ("pdf", "png", "csv"):
            (folder / "figures").mkdir(exist_ok=True)
            (folder / f"figures/{name}.{suffix}").write_text(name)
    (folder / "report.html").write_text("page")
    (folder / "provenance.json").write_text(json.dumps({"commit": "abc1234", "fusedlr": "1", "config": {"seed": 1}}))
    return folder


@pytest.fixture
def published(tmp_path):
    """A folder that was published before."""
    folder = tmp_path / "published"
    write_table(folder / "scores.csv", pd.DataFrame({"old": [1]}))
    return folder


def test_a_whole_run_takes_the_place_of_the_old_one_with_checksums(results, published):
    publish(results, published)
    assert (published / "scores.csv").read_bytes() == (results / "scores.csv").read_bytes()
    assert sorted(path.name for path in published.parent.iterdir()) == ["published", "results"]
    text = (published / "README.md").read_text()
    assert "commit `abc1234`" in text
    lines = text.split("```\n")[1].splitlines()
    assert len(lines) == len([path for path in published.rglob("*") if path.is_file()]) - 1
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((published / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize(("spoil", "said"), [
    (lambda folder: (folder / "verdicts.csv").unlink(), "verdicts.csv is missing"),
    (lambda folder: (folder / "figures/claim3.png").unlink(), "claim3.png is missing"),
    (lambda folder: cut(folder / "scores.csv", 1), "scores.csv has 3999 rows where"),
    (lambda folder: cut(folder / "scores.csv", 500), "scores.csv has no case h"),
    (lambda folder: cut(folder / "claims.csv", 1), "claims.csv has 13 of 14 claims"),
    (lambda folder: cut(folder / "verdicts.csv", 14), "verdicts.csv has no reading last_column"),
    (lambda folder: (folder / "provenance.json").write_text('{"commit": "abc-dirty"}'), "which no commit holds"),
])
def test_a_run_that_is_not_whole_is_refused_and_nothing_is_touched(results, published, spoil, said):
    spoil(results)
    with pytest.raises(ValueError, match=said):
        publish(results, published)
    assert [path.name for path in published.iterdir()] == ["scores.csv"]


@pytest.mark.slow
def test_the_table_of_verdicts_is_what_the_rules_say_of_the_published_scores():
    """But for the shares of resamples, which take a minute."""
    found = verdict_lines(judge_readings(*published_evidence(PAPER / "published"), resamples=0)).splitlines()
    text = (PAPER / "README.md").read_text(encoding="utf-8").split("<!-- verdicts -->")[1]
    table = [line for line in text.split("<!-- end")[0].splitlines() if line.startswith("|")]
    assert len(table) == len(found) == 2 + len(CLAIMS)
    for line, expected in zip(table, found):
        plain = re.sub(r"\*\*(open|undecided), by its rule (.*?)\*\*", r"**\2**", line)
        assert re.sub(r" \([\d.]+ &plusmn; [\d.]+ %\)", "", plain) == expected


def test_verdicts_are_told_with_their_shares(tmp_path, judged):
    (tmp_path / "README.md").write_text("before\n<!-- verdicts -->old<!-- end of verdicts -->\nafter\n")
    some = judged.copy()
    some.loc[0, ["stability", "standard_error", "verdict"]] = [0.5, 0.007, "open"]
    write_verdicts(tmp_path / "README.md", some, "Judged by me.")
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("before\n<!-- verdicts -->\nJudged by me.\n\n| | The paper says | Penalties shared | Each")
    assert "**open, by its rule reproduced** (50.0 &plusmn; 0.7 %): both fused models lead in" in text
    assert text.endswith("<!-- end of verdicts -->\nafter\n")
    assert "old" not in text


def cut(path, rows):
    """Take the last rows off a table."""
    write_table(path, read_table(path).iloc[:-rows])
