"""The site's reference names everything public; ``make docs`` builds the rest."""

import importlib
import re
from pathlib import Path

import pytest

import fusedlr
from fusedlr import chunked, datasets, plots, r
from tests.test_examples import SCORES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_names_everything_public():
    pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn 1.6 or later is needed")
    estimators = importlib.import_module("fusedlr.sklearn")
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE))
    public = set(fusedlr.__all__) - {"__version__"} | {f"outcomes.{score.__name__}" for score in SCORES}
    public |= {f"{room.__name__.removeprefix('fusedlr.')}.{name}" for room in (chunked, datasets, estimators, plots, r)
               for name in room.__all__}
    assert listed == public
