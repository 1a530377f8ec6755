"""Counts, time left and the summary are read off the files."""

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
    progress.before = progress.done()
    assert progress.line().startswith("study: grid 2 of 4, adaboost 0 of 3; about ")


def test_time_left_follows_the_speed_so_far(tmp_path):
    progress = Progress({"grid": made(tmp_path, 1, 4)})
    progress.before = {"grid": 0}
    progress.began -= 100
    assert 299 < progress.seconds_left(progress.done()) < 310
    assert "about 5.0 min left" in progress.line()


def test_each_kind_of_job_counts_by_its_own_duration(tmp_path):
    """Two grids of 90 s took 2 x 91.5 s of one core; two AdaBoosts are expected to take 20 s each."""
    parts = {"grid": made(tmp_path, 2, 2), "adaboost": made(tmp_path, 0, 2, "adaboost")}
    progress = Progress(parts)
    progress.before = {"grid": 0, "adaboost": 0}
    progress.began -= 183
    assert 43 <= progress.seconds_left(progress.done()) < 44


def test_before_any_work_the_cores_share_what_is_expected(tmp_path):
    progress = Progress({"grid": made(tmp_path, 0, 8)}, cores=2)
    assert progress.seconds_left(progress.done()) == 8 * (6.0 + 1.5) / 2


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


def test_it_speaks_in_the_background_until_it_ends(tmp_path):
    said = []
    progress = Progress({"grid": made(tmp_path, 1, 2)}, every=0.01, say=said.append)
    progress.start()
    progress.over.wait(0.2)
    progress.finish()
    assert said[0].startswith("study: grid 1 of 2; about ")
    assert said[-1].startswith("study: grid: 1 of 2 done, 0 of them now")
