"""The page runs as printed. ``python -m tests.docs.test_scikit_learn`` writes its outputs anew."""

from pathlib import Path

import pytest

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn 1.6 or later is needed, which Debian 12 lacks")

from tests.docs.walk import check_printed, run, write_anew

PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"


def test_the_code_prints_what_the_page_shows(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    check_printed(page, run(page, tmp_path), atol=0.011)  # two digits are shown


if __name__ == "__main__":
    write_anew(PAGE)
