"""Counts, time left and the summary are read off the files."""

import os
import time

import pytest

from study.progress import Progress


def made(tmp_path, done, total, part="grid"):
    paths = [tmp_path / part / f"{i}.npz" for i in range(total)]
    paths[0].parent.mkdir(exist_ok=True)
    for path in paths[:done]:
        path.touch()
        path.with_suffix(".seconds.csv").write_text("size,seconds\n25,30\n50,60\n")
    return paths


def test_a_line_counts_each_part(tmp_path):
    progress = Progress({"grid": made(tmp_path, 2, 4), "adaboost": made(tmp_path, 0, 3, "adaboost"), "none": []})
    assert progress.line().startswith("study: grid 2 of 4, adaboost 0 of 3; about ")


def test_a_kind_that_is_done_is_not_told_again(tmp_path):
    progress = Progress({"grid": made(tmp_path, 2, 2), "adaboost": made(tmp_path, 0, 3, "adaboost")})
    assert progress.line().startswith("study: adaboost 0 of 3; about ")


def test_time_left_follows_the_speed_so_far(tmp_path):
    progress = Progress({"grid": made(tmp_path, 1, 4)})
    progress.began -= 100
    assert 299 < progress.seconds_left(progress.done()) < 310
    assert "about 5.0 min left" in progress.line()


def test_the_age_of_running_jobs_counts(tmp_path):
    """Three jobs of 91.5 s are missing; one has run for 50 s since the last one ended."""
    progress = Progress({"grid": made(tmp_path, 1, 4)})
    progress.began -= 91.5
    before = progress.seconds_left(progress.done())
    progress.changed -= 50
    assert 48 < before - progress.seconds_left(progress.done()) < 52


def test_results_that_were_made_anew_count_as_new(tmp_path):
    paths = made(tmp_path, 3, 3)
    for path in paths[:2]:
        os.utime(path, (1e9, 1e9))
    assert Progress({"grid": paths}).new() == {"grid": 1}
    os.utime(paths[0], (time.time(), time.time()))
    assert "3 of 3 done, 2 of them now" in Progress({"grid": paths}).summary()


def test_each_kind_of_job_counts_by_its_own_duration(tmp_path):
    """Two grids of 90 s took 2 x 91.5 s of one core; two AdaBoosts are expected to take 20 s each."""
    parts = {"grid": made(tmp_path, 2, 2), "adaboost": made(tmp_path, 0, 2, "adaboost")}
    progress = Progress(parts)
    progress.began -= 183
    assert 43 <= progress.seconds_left(progress.done()) < 44


def test_before_any_work_the_cores_share_what_is_expected(tmp_path):
    progress = Progress({"grid": made(tmp_path, 0, 8)}, cores=2)
    assert progress.seconds_left(progress.done()) == pytest.approx(8 * (6.0 + 1.5) / 2, abs=0.5)


def test_the_summary_names_what_is_missing_and_adds_the_cpu_time(tmp_path):
    said = []
    progress = Progress({"grid": made(tmp_path, 2, 3)}, say=said.append)
    progress.finish()
    assert said[0].startswith("study: grid: 2 of 3 done, 2 of them now, 1 MISSING, 3.0 min of CPU time\nstudy: took")


def test_the_end_shows_the_first_line_of_a_result_that_was_made(tmp_path):
    said = []
    (tmp_path / "compared.txt").write_text("8 of 8 rows are identical\nmore\n")
    Progress({}, say=said.append).finish(tmp_path / "compared.txt", tmp_path / "absent.txt")
    assert said[1:] == ["study: 8 of 8 rows are identical"]


def test_the_end_names_the_report_if_there_is_one(tmp_path):
    said = []
    Progress({}, say=said.append).finish(report=tmp_path / "report.html")
    (tmp_path / "report.html").touch()
    Progress({}, say=said.append).finish(report=tmp_path / "report.html")
    assert [line for line in said if "report" in line] == [f"study: report: {tmp_path / 'report.html'}"]


def test_why_a_job_failed_is_told_by_the_last_line_of_its_log(tmp_path):
    texts = {"fine": "size 25: 1 s", "bad": "Traceback\n  line\nValueError: results/x is broken", "old": "KeyError: 1"}
    for name, text in texts.items():
        (tmp_path / f"{name}.log").write_text(text)
    os.utime(tmp_path / "old.log", (1e9, 1e9))
    said = []
    Progress({}, say=said.append).failures(tmp_path)
    assert said == [f"study: FAILED {tmp_path / 'bad.log'}: ValueError: results/x is broken"]


def test_it_speaks_in_the_background_until_it_ends(tmp_path):
    said = []
    progress = Progress({"grid": made(tmp_path, 1, 2)}, every=0.01, say=said.append)
    progress.start()
    progress.over.wait(0.2)
    progress.finish()
    assert said[0].startswith("study: grid 1 of 2; about ")
    assert said[-1].startswith("study: grid: 1 of 2 done, 1 of them now")
