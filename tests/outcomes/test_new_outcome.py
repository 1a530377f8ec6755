"""An outcome of somebody else's, in a few lines: fitted, predicted, summarised, drawn and saved like the others.

It is the state of a machine before and after a visit, "on" or "off", in one column such as "off-on".
"""

import inspect
from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, load, plots
from fusedlr.io import TEXT, Plain, row, saved
from fusedlr.objective import sigmoid
from fusedlr.outcomes import OUTCOMES, LabelledRows, Outcome
from fusedlr.problem import Labels


@dataclass(frozen=True)
class BeforeAfter(Outcome):
    kind: ClassVar[str] = "before_after"
    predictions: ClassVar[tuple[str, ...]] = ("switched",)
    states: tuple = saved(Plain(row(TEXT, TEXT), list, tuple))

    @property
    def tasks(self):
        return "before", "after"

    @property
    def words(self):
        return (self.states,) * 2

    def labels(self, endog):
        pairs = pd.Series(endog).str.split("-", expand=True)
        return LabelledRows(Labels.wide((pairs == self.states[1]).astype(float).where(pairs.notna())), len(pairs), None)

    def predict(self, linear, which):
        before, after = sigmoid(linear.to_numpy()).T
        return pd.Series(before * (1 - after) + after * (1 - before), linear.index, name=which)

    def facts(self, labels, n):
        return [("States:", " and ".join(self.states))]


RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=["age", "load", "noise"])
ON = X[["age"]].to_numpy() + [[0.0, 1.0]] * X[["load"]].to_numpy() + RNG.logistic(size=(120, 2)) > 0
VISITS = pd.Series([f"{'on' if before else 'off'}-{'on' if after else 'off'}" for before, after in ON])


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """One line: files know the outcome by its kind."""
    monkeypatch.setitem(OUTCOMES, BeforeAfter.kind, BeforeAfter)


@pytest.fixture
def model():
    return FusedLogit.from_outcome(BeforeAfter(("off", "on")), VISITS, X)


@pytest.fixture
def res(model):
    return model.fit(l1=1.0, l2=0.1, fusion=1.0)


def test_a_new_outcome_takes_few_lines():
    assert len([line for line in inspect.getsource(BeforeAfter).splitlines() if line.strip()]) <= 25


def test_it_is_fitted_as_its_tasks_are(res):
    plain = FusedLogit(pd.DataFrame(ON, columns=["before", "after"]), X).fit(l1=1.0, l2=0.1, fusion=1.0)
    pd.testing.assert_frame_equal(res.params, plain.params)
    assert (res.llf, res.llnull, res.bic) == (plain.llf, plain.llnull, plain.bic)
    assert res.model.labels == [("off", "on")] * 2


def test_a_row_without_a_visit_has_no_label():
    model = FusedLogit.from_outcome(BeforeAfter(("off", "on")), VISITS.where(X["age"] > -1), X)
    assert model.nobs == (X["age"] > -1).sum() < 120


def test_it_predicts_in_its_own_words(res):
    prob = res.predict(X.iloc[:9])
    switched = prob["before"] * (1 - prob["after"]) + prob["after"] * (1 - prob["before"])
    pd.testing.assert_series_equal(res.predict(X.iloc[:9], "switched"), switched.rename("switched"))
    assert set(res.predict(X, "label").stack()) == {"off", "on"}
    with pytest.raises(ValueError, match="which must be 'prob', 'linear', 'label' or 'switched', found 'levels'"):
        res.predict(X, "levels")


def test_its_facts_stand_in_the_summary(res):
    assert "States:" in str(res.summary()) and "off and on" in str(res)
    assert "off and on" in str(res.model.fit_cv(folds=3, l1=[0.1, 1.0, 4.0], l2=0.1, fusion=1.0).summary())


def test_it_is_chosen_refitted_and_resampled(model, res):
    cv = model.fit_cv(folds=3, l1=[0.1, 1.0, 4.0], l2=0.1, fusion=1.0)
    assert cv.predict(X, "switched").between(0, 1).all()
    assert list(res.refit().params.columns) == ["before", "after"]
    assert res.bootstrap(4, progress=False).predict(X, "switched").equals(res.predict(X, "switched"))
    grid = model.fit_grid([0.0, 1.0, 4.0], [0.1], [1.0])
    assert grid.select(VISITS, X).model.outcome == BeforeAfter(("off", "on"))


def test_it_is_drawn(res):
    ax = plots.coef_map(res)
    ax.figure.canvas.draw()
    assert {"before", "after"} <= {label.get_text() for label in ax.get_xticklabels()}
    plt.close("all")


@pytest.mark.parametrize("remove_data", [False, True], ids=["with data", "without data"])
def test_it_comes_back_from_a_file(res, tmp_path, remove_data):
    res.save(tmp_path / "fit", remove_data=remove_data)
    back = load(tmp_path / "fit")
    assert back.model.outcome == res.model.outcome == BeforeAfter(("off", "on"))
    pd.testing.assert_series_equal(back.predict(X, "switched"), res.predict(X, "switched"))
    assert str(back.summary()) == str(res.summary())
    if not remove_data:
        pd.testing.assert_frame_equal(back.model.fit(l1=1.0, l2=0.1, fusion=1.0).params, res.params)


def test_a_file_of_an_outcome_that_nobody_registered_is_refused(res, tmp_path, monkeypatch):
    res.save(tmp_path / "fit")
    monkeypatch.delitem(OUTCOMES, BeforeAfter.kind)
    known = "binary, ordered, survival, competing risks"
    with pytest.raises(ValueError, match=f"outcome.kind must be one of {known}, found 'before_after'"):
        load(tmp_path / "fit")
