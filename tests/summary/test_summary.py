"""The printed summary: what it shows, how wide it is, and that it is the same each time in every format."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from statsmodels.iolib.summary import Summary

from fusedlr import FusedLogit, FusedLogitResults
from fusedlr.problem import Solution
from fusedlr.spec import short_names
from fusedlr.summary.refit import SELECTION
from fusedlr.summary.tables import fixed, number
from tests.inference.test_coverage import told

RNG = np.random.default_rng(7)


def data(tasks, features, rows=60):
    X = pd.DataFrame(RNG.normal(size=(rows, features))).add_prefix("feature")
    return pd.DataFrame(RNG.integers(0, 2, size=(rows, tasks))).add_prefix("task"), X


def handmade(params, tasks="chain", names=None, status="optimal", **options):
    """A result with coefficients of our choice."""
    params = np.array(params, dtype=float)
    Y, X = data(params.shape[1], params.shape[0] - 1)
    Y, X = (Y, X) if names is None else (Y.set_axis(names[1], axis=1), X.set_axis(names[0], axis=1))
    model = FusedLogit(Y, X, tasks=tasks, **{"standardize": False, "fuse_intercepts": True, **options})
    return FusedLogitResults(model, Solution(params, 12.5, 1e-9, status, 7, {}), {"l1": 1.5, "l2": 0.25, "fusion": 2.0})


def row(text, name, which=0):
    return [line for line in text.split("\n") if line.startswith(name + " ")][which].split()[1:]


PARAMS = [[-0.5, -0.5, 0.25, 0.25], [1.5, 1.5, 1.5, 0.75], [0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]]


def test_ties_and_zeros_are_visible():
    text = str(handmade(PARAMS).summary())
    assert row(text, "const") == ["-0.5000", "=", "-0.5000", "0.2500", "=", "0.2500"]
    assert row(text, "feature0") == ["1.5000", "=", "1.5000", "=", "1.5000", "0.7500"]
    assert row(text, "feature1") == [".", ".", "2.0000", "=", "2.0000"]
    assert "feature2" not in text and "1 feature is zero in every task" in text


def test_zeros_at_both_ends_of_a_ring_are_no_tie():
    text = str(handmade([[1, 2, 3, 1], [0, 4, 5, 0], [6, 4, 5, 6]], "ring").summary())
    assert row(text, "feature0", -1) == [".", "4.0000", "5.0000", "."]
    assert row(text, "feature1", -1) == ["=", "6.0000", "4.0000", "5.0000", "6.0000", "="]


def test_a_ring_closes_at_both_ends():
    text = str(handmade([[1, 2, 3, 1], [4, 4, 5, 6]], "ring").summary())
    assert row(text, "const") == ["=", "1.0000", "2.0000", "3.0000", "1.0000", "="]
    assert row(text, "feature0") == ["4.0000", "=", "4.0000", "5.0000", "6.0000"]


def test_ties_of_any_other_graph_are_letters():
    text = str(handmade([[1, 2, 1, 2], [4, 4, 5, 6]], [(0, 2), (1, 3)]).summary())
    assert row(text, "const") == ["1.0000", "a", "2.0000", "b", "1.0000", "a", "2.0000", "b"]
    assert row(text, "feature0") == ["4.0000", "4.0000", "5.0000", "6.0000"]
    assert "same letter" in text


def test_everything_in_effect_is_shown():
    res = handmade(PARAMS)
    text = str(res.summary())
    shown = dict(re.findall(r"(\w[^:\n]*?): +(.+?)(?=  |\n)", text))
    assert shown["Tasks"] == "4 (chain)" and shown["Rows"] == "60" and shown["Labels observed"] == "240"
    assert shown["Non-zero coefs"] == "6 of 12" and shown["Distinct values (df)"] == "5"
    assert shown["Groups of 2+ tasks"] == "4"
    assert (shown["Penalty l1"], shown["Penalty l2"], shown["Penalty fusion"]) == ("1.5", "0.25", "2")
    assert shown["AIC"] == f"{res.aic:.3f}" and shown["BIC"] == f"{res.bic:.3f}"
    assert shown["Log-likelihood"] == f"{res.llf:.3f}" and shown["Deviance explained"] == f"{res.prsquared:.3f}"
    assert float(shown["Duality gap"]) == pytest.approx(res.gap, rel=0.05)
    assert shown["Solver"] == "newton (7 iterations)" and shown["Status"] == "optimal"
    assert row(text, "task1")[:2] == ["60", f"{res.positives['task1']:g}"]


def test_penalties_by_feature_are_shown_in_the_units_that_they_were_given_in():
    Y, X = data(2, 3)
    res = FusedLogit(Y, X * [1.0, 100.0, 0.01]).fit([0, 1, 2, 3], [0, 0.5, 0.25, 0.5], [0, 4, 4, 5])
    text = str(res.summary())
    for name, words in {"l1": "1 to 3", "l2": "0.25 to 0.5", "fusion": "4 to 5"}.items():
        assert re.search(f"Penalty {name}: +{words} by feature", text)


@pytest.mark.filterwarnings("ignore::fusedlr.GridEdgeWarning")
def test_a_choice_of_penalties_shows_its_fit_and_then_the_choice():
    Y, X = data(3, 4)
    cv = FusedLogit(Y, X).fit_cv(folds=3, l1=[1.0, 4.0], l2=[0.5], fusion=[0.0, 2.0], rng=1, progress=False)
    text, alone = str(cv.summary()), str(cv.grid.results(cv.chosen).summary())
    assert text.index("Penalty fusion:") < text.index("const") < text.index("Compared by:")
    fit = [line for line in alone.split("\n") if line.startswith(("task", "const", "feature"))]
    assert fit and [line.split() for line in fit] == [
        line.split() for line in text.split("\n") if line.startswith(("task", "const", "feature"))]
    assert len({len(line) for line in text.split("\n") if line and set(line) <= {"="}}) == 1
    assert "Choice of penalties" in str(cv) and "Penalty fusion:" not in str(cv)


@pytest.mark.parametrize(("kind", "line"), [("levels", "Levels: +3 (sequential)"), ("times", "Events: +30")])
def test_one_outcome_says_what_it_is(kind, line):
    _, X = data(1, 2)
    turn = np.arange(60)
    model = (FusedLogit.from_ordered(turn % 3, X) if kind == "levels" else
             FusedLogit.from_survival(1.0 + turn % 7, turn % 2, X, breaks=[2, 4, 7]))
    assert re.search(line.replace("(", r"\(").replace(")", r"\)"), str(model.fit(1, 0, 1).summary()))


def test_nothing_looks_like_inference():
    text = str(handmade(PARAMS).summary())
    assert "P>|" not in text and "std err" not in text and "[0.025" not in text
    assert "no p-values" in text


@pytest.mark.parametrize("length", [5, 60])
def test_four_tasks_fit_a_hundred_columns(length):
    names = [f"feature {i} ".ljust(length, "x") for i in range(3)], [f"task {k} ".ljust(length, "y") for k in range(4)]
    text = str(handmade(PARAMS, names=names).summary())
    assert max(map(len, text.split("\n"))) <= 100
    headers = [line for line in text.split("\n") if line.strip().startswith("task 0")]
    assert len(headers) == 2 and headers[1].count("task ") == 4


def test_at_most_five_tasks_stand_abreast():
    text = str(handmade([np.repeat([1.0, 2.0], 4), np.ones(8)]).summary())
    headers = [line.split() for line in text.split("\n") if line.strip().startswith("task") and "Labels" not in line]
    assert [line for line in headers if line[-1].startswith("task")] == [
        [f"task{k}" for k in part] for part in (range(4), range(4, 8))]
    assert row(text, "const", 0) == ["1.0000", "=", "1.0000", "=", "1.0000", "=", "1.0000"]


def test_beyond_eight_tasks_each_distinct_value_has_one_line():
    stretches = [np.repeat([1.0, 0.0, 2.0], [3, 3, 6]), np.zeros(12), np.full(12, -0.5)]
    text = str(handmade([np.arange(12.0), *stretches]).summary())
    notes = " ".join(text.split())
    lines = [line.split() for line in text.split("\n") if line.startswith("feature")]
    assert lines == [["feature0", "task0", "...", "task2", "3", "1.0000"],
                     ["feature0", "task6", "...", "task11", "6", "2.0000"],
                     ["feature2", "all", "tasks", "12", "-0.5000"]]
    assert [line.split()[-1] for line in text.split("\n") if re.match(r"task\d", line)] == [
        f"{k:.4f}" for k in range(12)]  # the intercepts
    assert "in tasks not listed it is zero" in notes and "1 feature is zero" in notes


def test_many_tasks_and_features_fit_a_few_screens():
    text = str(handmade(np.random.default_rng(1).normal(size=(26, 12))).summary())
    assert text.count("\n") < 80
    assert "Shown are the 3 largest" in text and "of 25 features" in text


def test_names_that_differ_at_their_ends_are_told_apart():
    names = [f"a_prefix_that_all_features_have_in_common_{i}" for i in range(3)], [f"task{k}" for k in range(4)]
    text = str(handmade(PARAMS, names=names).summary(max_rows=None))
    found = re.findall(r"^a_prefix\S+", text, re.M)
    assert len(set(found)) == 3 and all(len(name) == 28 for name in found)
    assert [name[-1] for name in found] == ["0", "1", "2"]


@pytest.mark.parametrize(("penalties", "words"), [
    ((0.0, 0.0, 0.0), "No penalty is in effect"), ((0.0, 0.0, 1.0), "pulled towards those of neighbouring tasks"),
    ((0.1, 0.0, 0.0), "Coefficients are shrunken"), ((0.0, 0.1, 0.0), "Coefficients are shrunken")])
def test_what_the_penalties_did_is_said(penalties, words):
    Y, X = data(3, 2)
    text = " ".join(str(FusedLogit(Y, X).fit(*penalties).summary()).split())
    assert words in text
    assert ("shrunken" in text) == ("shrunken" in words)


def test_points_with_one_and_the_same_fit_are_shown_once():
    Y, X = data(3, 4)
    model = FusedLogit(Y, X)
    limit = 2 * model.penalty_limits().l1
    cv = model.fit_cv(folds=3, l1=[limit, 2 * limit, 3 * limit], l2=[0.5, 1.0], fusion=[0.0, 2.0], progress=False)
    assert (cv.table["nonzeros"] == 0).all()
    assert [line.split()[0] for line in str(cv).split("\n") if line.endswith("chosen") or "optimal" in line] == [
        str(cv.chosen)]


def test_a_refit_and_a_bootstrap_show_as_many_lines_as_asked_for():
    Y, X = data(12, 6)
    res = FusedLogit(Y, X).fit(0.1, 0.1, 0.0)
    refitted = res.refit()
    assert len(re.findall(r"^x\d|^feature\d", str(refitted.summary(max_rows=20)), re.M)) == 8  # beside 12 intercepts
    assert f"Not shown: {refitted.df - 20} more values; max_rows=None shows all." in str(refitted.summary(max_rows=20))
    assert "Not shown" not in str(refitted.summary(max_rows=None))
    text = str(res.bootstrap(4, progress=False).summary(max_rows=12))
    assert len(re.findall(r"^(?:x|feature)\d", text, re.M)) == 24 and "2 features that are selected most often" in text


def test_the_largest_are_those_of_standardized_features():
    """In grams a coefficient is a thousandth of what it is in kilograms, and no less important."""
    X = pd.DataFrame(np.random.default_rng(3).normal(size=(80, 2)), columns=["grams", "metres"])
    Y = (X @ [[1.5, 1.5], [0.5, 0.5]] + np.random.default_rng(4).normal(size=(80, 2)) > 0).astype(int)
    result = FusedLogit(Y, X.assign(grams=1000 * X["grams"])).fit(l1=1.0, fusion=1.0)
    assert abs(result.coefs.loc["grams"]).max() < abs(result.coefs.loc["metres"]).max()
    text = str(result.summary(max_rows=1))
    assert row(text, "grams") and "metres" not in text


def test_long_lists_show_the_largest_and_say_so():
    params = np.zeros((101, 2))
    params[1:61] = np.linspace(-6, 6, 60)[:, None]
    text = str(handmade(params).summary(max_rows=4))
    assert sorted(re.findall(r"^feature\d+", text, re.M)) == ["feature0", "feature1", "feature58", "feature59"]
    assert "4 largest of 60 features" in text and "40 features are zero in every task" in text
    assert len(re.findall(r"^feature", str(handmade(params).summary(max_rows=None)), re.M)) == 100


def test_small_values_are_not_shown_as_zero():
    text = str(handmade([[0.0, 1e6], [1e-7, -2e-4]], status="separated").summary())
    assert row(text, "const") == ["0.0000", "1.00e+06"]
    assert row(text, "feature0") == ["1.00e-07", "-2.00e-04"]


def test_trouble_is_said_at_the_end():
    assert "NOT CONVERGED" in str(handmade(PARAMS, status="not_converged").summary())
    assert "SEPARATED" in str(handmade(PARAMS, status="separated").summary())


def test_the_same_fit_prints_the_same():
    Y, X = data(3, 4)
    one, two = (FusedLogit(Y, X).fit(1, 0.1, 1).summary() for _ in range(2))
    assert isinstance(one, Summary)
    for form in ("as_text", "as_html", "as_latex", "as_csv"):
        assert getattr(one, form)() == getattr(two, form)() == getattr(one, form)()


class Cells(HTMLParser):
    """Text of every cell of a page."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data.strip()


def test_awkward_names_survive_every_format():
    names = ["a<b", "x & y", "C(site, Sum)[S.u_1]"], [">low", "<b>mid", "50%", "top"]
    summary = handmade([[1, 1, 2, 2], *np.eye(4)[:3]], names=names).summary()
    cells = Cells(summary.as_html()).cells
    assert set(names[0] + names[1]) <= set(cells)
    assert '"C(site, Sum)[S.u_1]"' in summary.as_csv()
    latex = summary.as_latex()
    assert r"x \& y" in latex and r"u\_1" in latex and r"50\%" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3


def test_a_table_has_one_width():
    text = str(handmade(PARAMS).summary())
    rules = {len(line) for line in text.split("\n") if line and set(line) <= {"="}}
    assert len(rules) == 1


def test_zeros_have_no_sign_and_small_numbers_an_exponent():
    assert [fixed(value) for value in (-0.0, -0.0004, 0.0004, -0.0006)] == ["0.000", "0.000", "0.000", "-0.001"]
    assert [number(value) for value in (-0.0, 0.0, -0.25, -2e-5, np.nan)] == ["0.0000", "0.0000", "-0.2500",
                                                                              "-2.00e-05", "-"]


@pytest.mark.parametrize("names, expected", [
    (["low", "the_outcome_in_week_01", "the_outcome_in_week_12"], ["low", "the_o..k_01", "the_o..k_12"]),
    (["const", "protein_concentration_01_at_baseline", "protein_concentration_02_at_baseline"],
     ["const", "..01_..line", "..02_..line"]),
    (["level of one very long name", "level of one very long name"], ["leve..name"] * 2),
])
def test_long_names_are_cut_in_the_middle_or_lose_their_common_prefix(names, expected):
    length = 11 if len(expected) == 3 else 10
    assert short_names(names, length) == expected


def test_a_refit_names_features_and_runs_of_tasks_that_differ_in_the_middle():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=[f"concentration_in_plasma_{k}_at_baseline" for k in "abc"])
    Y = pd.DataFrame(X.to_numpy()[:, :1] + X.to_numpy()[:, 1:2] + rng.logistic(size=(200, 4)) > 0,
                     columns=[f"outcome_of_interest_in_week_{k}" for k in range(4)])
    text = str(FusedLogit(Y, X).fit(1.0, 0.0, 4.0).refit().summary())
    for name in "ab":
        assert f"..{name}_at_baseline" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_note_of_a_refit_tells_the_coverage_of_the_docs():
    """Of changing effects, over both rules and both settings; ``tests/inference/test_coverage.py`` measures it."""
    covered = {way: [round(100 * share) for (name, _), kind in told() if (name, kind) == (way, "changing")
                     for share in told()[(name, _), kind]] for way in ("tied", "untied")}
    found = re.findall(r"(\d+) to (\d+) %", SELECTION["tied"])
    assert [tuple(map(int, pair)) for pair in found] == [(min(shares), max(shares)) for shares in covered.values()]
