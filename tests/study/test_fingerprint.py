"""The name of the code changes with the code and with nothing else."""

import pytest

from fusedlr.study.fingerprint import fingerprint

CODE = '"""About."""\n\ndef f(x):\n    """Doubles."""\n    return 2 * x\n'


def of(tmp_path, text, name="module.py"):
    path = tmp_path / name
    path.write_text(text)
    return fingerprint([path])


@pytest.mark.parametrize("other", [
    CODE.replace("About", "On"), CODE.replace("Doubles", "Twice"), CODE + "# a comment\n", CODE.replace("2 * x", "2*x")])
def test_comments_docstrings_and_layout_do_not_count(tmp_path, other):
    assert of(tmp_path, other) == of(tmp_path, CODE)


@pytest.mark.parametrize("other", [CODE.replace("2 * x", "3 * x"), CODE + "y = 1\n", CODE.replace("f(x)", "g(x)")])
def test_code_counts(tmp_path, other):
    assert of(tmp_path, other) != of(tmp_path, CODE)


def test_other_languages_count_as_they_stand(tmp_path):
    assert of(tmp_path, "int x;", "a.hpp") != of(tmp_path, "int  x;", "a.hpp")
