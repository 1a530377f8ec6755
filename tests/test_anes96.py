"""The walk-through runs as printed. ``python tests/test_anes96.py`` writes its outputs and figures anew."""

import contextlib
import io
import os
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "anes96.md"
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def run(page, folder):
    """What each python block of the page prints; figures go into ``folder``."""
    matplotlib.use("Agg")
    (folder / "figures").mkdir(exist_ok=True)
    names, printed = {}, []
    with contextlib.chdir(folder) if hasattr(contextlib, "chdir") else _inside(folder):
        for kind, body in BLOCK.findall(page):
            if kind == "python":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(body, str(PAGE), "exec"), names)
                printed.append(out.getvalue())
    matplotlib.pyplot.close("all")
    return [text for text in printed if text]


@contextlib.contextmanager
def _inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def words_and_numbers(text):
    """The text without its numbers and rulers, and the numbers; lines that depend on the machine are left out."""
    lines = [line for line in text.splitlines() if "iterations" not in line]
    text = "\n".join(line.rstrip() for line in lines)
    words = re.sub(r"[-=\s]+", " ", NUMBER.sub("#", text))
    return words, np.array([float(number) for number in NUMBER.findall(text)])


def written_anew(page, printed):
    tidy = ("\n".join(line.rstrip() for line in text.rstrip().splitlines()) for text in printed)
    texts = (f"```text\n{text}\n```" for text in tidy)
    return BLOCK.sub(lambda block: block[0] if block[1] == "python" else next(texts), page)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anes96")
    return run(PAGE.read_text(encoding="utf-8"), folder), folder


def test_the_code_prints_what_the_page_shows(walk):
    shown = [body for kind, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if kind == "text"]
    assert len(walk[0]) == len(shown)
    for printed, expected in zip(walk[0], shown):
        (words, numbers), (expected_words, expected_numbers) = words_and_numbers(printed), words_and_numbers(expected)
        assert words == expected_words
        np.testing.assert_allclose(numbers, expected_numbers, rtol=2e-3, atol=2e-3)


def test_every_figure_of_the_page_is_drawn_and_stored(walk):
    figures = re.findall(r"\]\((figures/\w+\.png)\)", PAGE.read_text(encoding="utf-8"))
    assert len(figures) == 5
    for figure in figures:
        assert (walk[1] / figure).stat().st_size > 5_000
        assert (PAGE.parent / figure).stat().st_size < 100_000


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(written_anew(text, run(text, PAGE.parent)), encoding="utf-8")
