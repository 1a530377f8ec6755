"""The page for users of R runs as it stands, R chunks and all."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.r

PAGE = Path(__file__).parents[2] / "docs" / "r.md"


def test_the_page_for_users_of_r_runs(in_new_process):
    chunks = re.findall(r"```(r|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert {kind for kind, _ in chunks} == {"r", "python"}
    python = {"r": "import rpy2.robjects\nrpy2.robjects.r({!r})\n".format, "python": str}
    code, out, err = in_new_process("".join(python[kind](code) for kind, code in chunks))
    assert code == 0, err
    assert "$ >low" in out
