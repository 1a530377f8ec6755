"""What one adds to the study, as the files of a project: a model, a case and a claim."""

RIDGE = '    Model("ridge", "(vi) ridge", "#CC79A7", "P", lambda l1, l2, fusion: (l1 == 0) & (fusion == 0)),\n'
CASE = '    Case("i", 30, 24, copies=2),\n'
CLAIM = '''"""Claim 13: no model is wrong more often than right."""

from study.claims.claim import Claim, Verdict, grade
from study.figures import Figure
from study.figures.style import matrix


def judge(evidence):
    largest = evidence.scores.groupby("model")["test_error"].mean().max()
    return Verdict(grade(largest < 0.5, False), f"largest mean test error {largest:.4f}", "no test")


def tabulate(scores):
    return scores.groupby(["case", "size"])["test_error"].max().reset_index()


def draw(table):
    return matrix(table, "test_error", ".3f", label="largest test error")


CLAIM = Claim(
    number=13,
    paper="All models beat a coin.",
    rule="Reproduced: all mean test errors are below one half.",
    judge=judge,
    added=True,
    figure=Figure(("scores",), "scores", "The largest test error of a cell.", tabulate, draw),
)
'''


def change(path, old, new):
    """Replace a text that must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def add_to(study):
    """Add the model, the case and the claim to a copy of ``workflow/study``: one row each, one file and its line."""
    change(study / "models.py", "_TABLE = (\n", "_TABLE = (\n" + RIDGE)
    change(study / "cases.py", "_TABLE = (\n", "_TABLE = (\n" + CASE)
    (study / "claims/claim_13_coin.py").write_text(CLAIM, encoding="utf-8")
    last = "    claim_12_larger_groups,\n"
    change(study / "claims/__init__.py", last, f"{last}    claim_13_coin,\n")
