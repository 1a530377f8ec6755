"""The site's first page runs as printed and its reference names everything public; ``make docs`` builds the rest.

``python -m tests.docs.test_site`` writes the outputs of the first page anew.
"""

import re
from pathlib import Path

import pytest

import fusedlr
from fusedlr import plots, r
from tests.docs.walk import check_printed, run, write_anew

DOCS = Path(__file__).parents[2] / "docs"
START = DOCS / "start.md"


@pytest.mark.slow
def test_the_first_page_prints_what_it_shows(tmp_path):
    page = START.read_text(encoding="utf-8")
    check_printed(page, run(page, tmp_path), atol=0.011)  # two digits are shown


def test_the_reference_names_everything_public():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE))
    public = set(fusedlr.__all__) - {"__version__"}
    public |= {f"plots.{name}" for name in plots.__all__} | {f"r.{name}" for name in r.__all__}
    assert listed == public


if __name__ == "__main__":
    write_anew(START)
