"""What one adds to the study, as the files of a project: a model, a case and a claim."""

RIDGE = '    Model("ridge", "(vi) ridge", "#CC79A7", "P", lambda l1, l2, fusion: (l1 == 0) & (fusion == 0)),\n'
CASE = '    Case("i", 30, 24, copies=2),\n'
CLAIM = '''"""Claim 15: no model is wrong more often than right."""

from study.claims.claim import AFTERWARDS, Claim, Verdict, Words
from study.figures import Figure
from study.figures.style import matrix


def judge(evidence):
    largest = evidence.means.max(axis=(1, 2, 3))
    words = f"largest mean test error {largest[0]:.4f}"
    return Verdict(largest < 0.5, largest < 0.5, lambda: Words(words, words, "no test"))


def tabulate(scores):
    return scores.groupby(["case", "size"])["test_error"].max().reset_index()


def draw(table):
    return matrix(table, "test_error", ".3f", label="largest test error")


CLAIM = Claim(
    number=15,
    paper="All models beat a coin.",
    rule="Reproduced: all mean test errors are below one half.",
    judge=judge,
    written=AFTERWARDS,
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
    (study / "claims/claim_15_coin.py").write_text(CLAIM, encoding="utf-8")
    last = "    claim_14_efficient_admm,\n"
    change(study / "claims/__init__.py", last, f"{last}    claim_15_coin,\n")
