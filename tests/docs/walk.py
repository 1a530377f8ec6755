"""Pages whose code runs as printed: what a page prints, beside what it shows."""

import contextlib
import io
import os
import re

import matplotlib.pyplot
import numpy as np

BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def run(page, folder):
    """What each python block of the page prints; figures go into ``folder``."""
    matplotlib.use("Agg")
    (folder / "figures").mkdir(exist_ok=True)
    names, printed = {}, []
    with _inside(folder):
        for kind, body in BLOCK.findall(page):
            if kind == "python":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(body, "page", "exec"), names)
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


def check_printed(page, printed, atol=2e-3):
    """Every block prints what the page shows, numbers to about the digits that are shown."""
    shown = [body for kind, body in BLOCK.findall(page) if kind == "text"]
    assert len(printed) == len(shown)
    for found, expected in zip(printed, shown):
        (words, numbers), (expected_words, expected_numbers) = words_and_numbers(found), words_and_numbers(expected)
        assert words == expected_words
        np.testing.assert_allclose(numbers, expected_numbers, rtol=2e-3, atol=atol)


def check_figures(path, folder):
    """Every figure of the page is drawn, and stored in a small file."""
    for figure in re.findall(r"\]\((figures/\w+\.png)\)", path.read_text(encoding="utf-8")):
        assert (folder / figure).stat().st_size > 5_000
        assert (path.parent / figure).stat().st_size < 100_000


def write_anew(path):
    """Run the page and put what it prints, and its figures, in the places of the old ones."""
    page = path.read_text(encoding="utf-8")
    tidy = ("\n".join(line.rstrip() for line in text.rstrip().splitlines()) for text in run(page, path.parent))
    texts = (f"```text\n{text}\n```" for text in tidy)
    path.write_text(BLOCK.sub(lambda block: block[0] if block[1] == "python" else next(texts), page), encoding="utf-8")
