"""The site's reference names everything public; ``make docs`` builds the rest."""

import re
from pathlib import Path

import fusedlr
from fusedlr import plots, r

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_names_everything_public():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE))
    public = set(fusedlr.__all__) - {"__version__"}
    public |= {f"plots.{name}" for name in plots.__all__} | {f"r.{name}" for name in r.__all__}
    assert listed == public
