"""The example in README.md runs as it stands and prints what stands below it."""

import re
import sys
from pathlib import Path

from tests.processes import said

README = Path(__file__).parents[2] / "README.md"


def blocks():
    """Fenced blocks of the README in order, as (language, text)."""
    text = README.read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def example():
    """The first Python block and the text block after it."""
    kinds = [kind for kind, _ in blocks()]
    start = kinds.index("python")
    return blocks()[start][1], blocks()[kinds.index("text", start)][1]


def without_trailing_blanks(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def test_example_prints_what_the_readme_shows(tmp_path):
    code, printed = example()
    shown = said([sys.executable, "-W", "error", "-c", code], cwd=tmp_path)
    assert without_trailing_blanks(shown) == without_trailing_blanks(printed)


def test_links_lead_somewhere():
    text = README.read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (README.parent / target).exists()] == []
