"""Recomputed scores are held against the published ones row by row."""

from fusedlr.study.published import compare_scores


def test_equal_scores_are_identical_whatever_their_seconds_and_gaps(scores):
    other = scores.assign(seconds=7.0, gap=1e-12)
    assert compare_scores(other, scores).splitlines() == [
        "4000 of 4000 rows are identical to the published ones; largest differences: test_error 0.0e+00, "
        "bayes_risk 0.0e+00, distance_zero 0.0e+00, distance_nonzero 0.0e+00"]


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
    assert compare_scores(preview, scores[scores["instance"] > 2]) == "none of the 400 rows is among the published ones\n"
