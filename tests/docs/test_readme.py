"""The example in README.md runs as it stands and prints what stands below it, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.docs.walk import check_printed, run

README = Path(__file__).parents[2] / "README.md"


def before_r():
    """The README up to its part on R, whose blocks ``tests/r/test_package.py`` runs."""
    return README.read_text(encoding="utf-8").partition("\n## From R\n")[0]


@pytest.mark.slow
def test_example_prints_what_the_readme_shows_and_draws_its_picture(tmp_path):
    check_printed(before_r(), run(before_r(), tmp_path), atol=0.0011)  # three digits are shown
    assert (tmp_path / "map.png").stat().st_size > 5_000


def test_the_readme_is_an_entry_and_not_a_manual():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 170


def test_links_lead_somewhere():
    text = README.read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (README.parent / target).exists()] == []
