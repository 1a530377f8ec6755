"""Pages whose code runs as printed.

``python -m tests.docs.test_pages NAME`` writes outputs and figures of one anew.
"""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.walk import check_figures, check_printed, run, write_anew

DOCS = Path(__file__).parents[2] / "docs"
GALLERY = sorted(path for path in (DOCS / "gallery").glob("*.md") if path.stem != "index")
PAGES = {path.stem: path for path in (DOCS / "start.md", DOCS / "guide.md", DOCS / "scikit-learn.md", *GALLERY)}


def needs_r(text):
    """R's packages whose data a page reads."""
    return set(re.findall(r'from_r\("(\w+)::', text))


def skip_without_its_packages(text):
    """scikit-learn and R are optional, and R's packages with data more so: set-up installs none of them."""
    if "sklearn" in text:
        pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn 1.6 or later is needed")
    if needs_r(text):
        if find_spec("rpy2") is None:
            pytest.skip("rpy2 is not installed: run make setup")
        session = pytest.importorskip("fusedlr.r.session")
        missing = sorted(name for name in needs_r(text) if not session.has_package(name))
        if missing:
            pytest.skip(f"R's packages {missing} are not installed (Debian: r-cran-...)")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_prints_and_draws_what_it_shows(name, tmp_path):
    text = PAGES[name].read_text(encoding="utf-8")
    skip_without_its_packages(text)
    check_printed(text, run(text, tmp_path), atol=0.011)  # two digits are shown
    check_figures(PAGES[name], tmp_path)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_page_of_the_gallery_has_its_form(path):
    """A question, code, a map, what the literature knows, what is sure of it, and a place in the list of pages."""
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[0].startswith("# ") and "?" in text.splitlines()[0]
    assert "## What is known" in text and "## How sure is it?" in text
    assert f"(figures/{path.stem}_map.png)" in text and "change_test" in text
    assert len(text.splitlines()) <= 130
    listed = (DOCS / "gallery/index.md").read_text(encoding="utf-8")
    assert f"({path.name})" in listed and f"\n{path.stem}\n" in listed


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for page in sys.argv[1:]:
        write_anew(PAGES[page])
