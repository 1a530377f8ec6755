"""The walk-through runs as printed. ``python -m tests.docs.test_anes96`` writes its outputs and figures anew."""

from pathlib import Path

import pytest

from tests.docs.walk import check_figures, check_printed, run, write_anew

PAGE = Path(__file__).parents[2] / "docs" / "anes96.md"


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anes96")
    return run(PAGE.read_text(encoding="utf-8"), folder), folder


@pytest.mark.slow
def test_the_code_prints_what_the_page_shows(walk):
    check_printed(PAGE.read_text(encoding="utf-8"), walk[0])


@pytest.mark.slow
def test_every_figure_of_the_page_is_drawn_and_stored(walk):
    check_figures(PAGE, walk[1], 5)


if __name__ == "__main__":
    write_anew(PAGE)
