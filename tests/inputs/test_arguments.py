"""Wrong things for every argument of every public call: refused by name, at once, and never with a message of numpy's.

The calls are found by walking the public names; a new one fails here until it is listed in ``CALLS``.
"""

import importlib.util
import inspect
import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib import cbook
from matplotlib.text import Text
from scipy import sparse

import fusedlr
from fusedlr import FusedLogit, TaskGraph, compare, load, outcomes, plots

RNG = np.random.default_rng(5)
X = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["age", "dose", "noise"])
Y = pd.DataFrame((X[["age"]].to_numpy() + RNG.logistic(size=(40, 3)) > 0).astype(int), columns=["low", "mid", "high"])
LEVELS = pd.Series(np.digitize(X["age"] + RNG.logistic(size=40), [-1, 1]))
VISIT = pd.Series(np.arange(40) % 3, name="visit")
TIMES = {"time": pd.Series(RNG.exponential(size=40)), "event": pd.Series(np.arange(40) % 2), "breaks": [0.5, 2.0]}

CAUSES = {**TIMES, "event": pd.Series(np.arange(40) % 3), "breaks": [0.5, 4.0], "causes": [1, 2]}

WATCHED = {"time": TIMES["time"], "event": TIMES["event"]}

HOLDS_ITSELF: list = [1]
HOLDS_ITSELF.append(HOLDS_ITSELF)

# Nothing here suits any argument, but for those that are named in TAKES.
WRONG = {
    "None": None, "true": True, "minus one": -1, "minus half": -0.5, "nan": np.nan, "inf": np.inf, "huge": 10**400,
    "complex": 1j, "text": "no such thing", "number as text": "1", "bytes": b"1", "object": object(), "function": len,
    "class": dict, "set": {1, 2}, "dict": {"a": 1}, "empty list": [], "empty dict": {}, "list of None": [None, None],
    "list of text": ["1", "2", "3"], "list of lists": [[1], [1, 2]], "list of objects": [object()],
    "scalar array of text": np.array("1"), "three dimensions": np.zeros((2, 2, 2)), "no rows": np.zeros((0, 3)),
    "complex array": np.full((40, 3), 1j), "dates": np.array(["2020-01-01", "NaT"] * 20, dtype="M8[D]"),
    "a date": np.datetime64("NaT", "D"), "pandas' NA": pd.NA, "pandas' NaT": pd.NaT,
    "masked": np.ma.masked_array(np.ones(40), np.arange(40) % 2), "masked constant": np.ma.masked,
    "sparse": sparse.eye(39), "records": np.zeros(40, dtype=[("a", float)]),
    "a frame of words": pd.DataFrame({"a": ["x"] * 40}),
    "a series of other rows": pd.Series(np.ones(40), range(100, 140)), "a short series": pd.Series([1.0, 2.0]),
    "generator": (k for k in ()), "digits": 10**5000, "a duration": np.timedelta64("NaT"),
    "a list that holds itself": HOLDS_ITSELF, "two levels": pd.MultiIndex.from_product([[0, 1], [0, 1]]),
    "nullable words": pd.array(["1", "2", "3"], dtype="string"), "nullable gaps": pd.array([1, None, 3], dtype="Int64"),
    "a nullable flag": pd.array([True, None], dtype="boolean"), "objects": pd.Series([1, "a", None], dtype=object),
}
if importlib.util.find_spec("polars"):
    import polars

    WRONG |= {"polars' words": polars.Series(["1", "2", "3"]), "polars' gaps": polars.Series([1, None, 3]),
              "a lazy frame": polars.LazyFrame({"a": [1.0] * 40}),
              "polars' words by row": polars.DataFrame({"a": ["x"] * 40})}
if importlib.util.find_spec("pyarrow"):
    WRONG |= {"Arrow's words": pd.array(["1", "2", "3"], dtype="string[pyarrow]"),
              "Arrow's gaps": pd.Series([1, None, 3], dtype="int64[pyarrow]")}


def fit():
    return FusedLogit(Y, X).fit(1.0, 0.1, 1.0)


def long():
    return FusedLogit.from_long(Y["low"], X, VISIT).fit(1.0, 0.1, 1.0)


def causes():
    return FusedLogit.from_survival(**CAUSES, exog=X).fit(1.0, 0.1, 1.0)


def survival():
    return FusedLogit.from_survival(**TIMES, exog=X).fit(1.0, 0.1, 1.0)


def survival_cv():
    return FusedLogit.from_survival(**TIMES, exog=X).fit_cv(folds=2, l1=[1.0, 3.0], l2=[0.1], fusion=[1.0])


def grid():
    return FusedLogit(Y, X).fit_grid([1.0, 3.0], [0.1], [0.5, 1.0])


def cv():
    return FusedLogit(Y, X).fit_cv(folds=2, l1=[1.0, 3.0], l2=[0.1], fusion=[1.0])


def comparison():
    return compare(Y, X, models=["unpenalized"], splits=2)


POINT = {"l1": 1.0, "l2": 0.1, "fusion": 1.0}
POINTS = {"l1": [1.0, 3.0], "l2": [0.1], "fusion": [1.0]}
DATA = {"endog": Y, "exog": X}

# The call, and good values of the arguments that have to be there or that would make it slow.
CALLS = {
    "FusedLogit": (lambda: FusedLogit, DATA),
    "FusedLogit.from_formula": (lambda: FusedLogit.from_formula, {"formula": "low + mid ~ age", "data": Y.join(X)}),
    "FusedLogit.from_formula of long data": (lambda: FusedLogit.from_formula,
                                             {"formula": "low ~ age", "data": Y.join(X).join(VISIT), "task": "visit"}),
    "FusedLogit.from_ordered": (lambda: FusedLogit.from_ordered, {"endog": LEVELS, "exog": X}),
    "FusedLogit.from_formula of levels": (lambda: FusedLogit.from_formula,
                                          {"formula": "level ~ age", "data": X.assign(level=LEVELS),
                                           "levels": [0, 1, 2]}),
    "FusedLogit.from_long": (lambda: FusedLogit.from_long, {"endog": Y["low"], "exog": X, "task": np.arange(40) % 2}),
    "FusedLogit.from_survival": (lambda: FusedLogit.from_survival, {**TIMES, "exog": X}),
    "FusedLogit.from_survival of causes": (lambda: FusedLogit.from_survival, {**CAUSES, "exog": X}),
    "FusedLogit.from_formula of times": (lambda: FusedLogit.from_formula,
                                         {"formula": "Surv(time, event) ~ age", "breaks": 2,
                                          "data": X.assign(time=TIMES["time"], event=TIMES["event"])}),
    "FusedLogit.from_outcome": (lambda: FusedLogit.from_outcome, {"outcome": FusedLogit(Y, X).outcome, **DATA}),
    "FusedLogit.with_rows": (lambda: FusedLogit(Y, X).with_rows, {"rows": [0, 1]}),
    "FusedLogit.held_out": (lambda: FusedLogit(Y, X).held_out, DATA),
    "FusedLogit.penalty_by_row": (lambda: FusedLogit(Y, X).penalty_by_row, POINT),
    "FusedLogit.fit": (lambda: FusedLogit(Y, X).fit, POINT),
    "FusedLogit.fit_grid": (lambda: FusedLogit(Y, X).fit_grid, POINTS),
    "FusedLogit.fit_cv": (lambda: FusedLogit(Y, X).fit_cv, {**POINTS, "folds": 2}),
    **{f"FusedLogit.{name}": (lambda name=name: getattr(FusedLogit(Y, X), name), {"params": np.zeros((4, 3))})
       for name in ("loglike", "score", "hessian", "information")},
    "Grid.plot": (lambda: grid().plot, {}),
    "Grid.save": (lambda: grid().save, {"path": "fit"}),
    "Grid.results": (lambda: grid().results, {"i": 0}),
    "Grid.select": (lambda: grid().select, DATA),
    "FusedLogit.held_out of long data": (lambda: long().model.held_out, {"endog": Y["low"], "exog": X, "task": VISIT}),
    "FusedLogitResults.predict": (lambda: fit().predict, {"exog": X}),
    "FusedLogitResults.predict of long data": (lambda: long().predict, {"exog": X, "task": VISIT}),
    "FusedLogitResults.predict of causes": (lambda: causes().predict, {"exog": X, "which": "incidence", "cause": 1}),
    "FusedLogitResults.score": (lambda: fit().score, DATA),
    "RefitResults.score": (lambda: fit().refit().score, DATA),
    "CVResults.score": (lambda: cv().score, DATA),
    "FusedLogitResults.plot": (lambda: fit().plot, {}),
    "FusedLogitResults.summary": (lambda: fit().summary, {}),
    "FusedLogitResults.refit": (lambda: fit().refit, {}),
    **{f"{name}.get_margeff": (lambda made=made: made().get_margeff, {}) for name, made in (
        ("FusedLogitResults", fit), ("CVResults", cv), ("RefitResults", lambda: fit().refit()))},
    "FusedLogitResults.change_test": (lambda: fit().change_test, {}),
    "FusedLogitResults.differences": (lambda: fit().differences, {}),
    "RefitResults.change_test": (lambda: fit().refit().change_test, {}),
    "RefitResults.differences": (lambda: fit().refit().differences, {}),
    "FusedLogitResults.bootstrap": (lambda: fit().bootstrap, {"n": 2}),
    "FusedLogitResults.stability": (lambda: fit().stability, {"n": 2}),
    "StabilityResults.average": (lambda: fit().stability(2).average, {"what": "effects"}),
    "StabilityResults.predict": (lambda: fit().stability(2).predict, {"exog": X}),
    "StabilityResults.summary": (lambda: fit().stability(2).summary, {}),
    "StabilityResults.plot": (lambda: fit().stability(2).plot, {}),
    "StabilityResults.save": (lambda: fit().stability(2).save, {"path": "fit"}),
    "StabilityResults.threshold": (lambda: fit().stability(2).threshold, {"what": "effects"}),
    "StabilityResults.stable": (lambda: fit().stability(2).stable, {}),
    **{f"{name}.multisplit": (lambda made=made: made().multisplit, {"n": 2})
       for name, made in (("FusedLogitResults", fit), ("CVResults", cv))},
    "MultiSplitResults.predict": (lambda: fit().multisplit(2).predict, {"exog": X}),
    "MultiSplitResults.summary": (lambda: fit().multisplit(2).summary, {}),
    "MultiSplitResults.save": (lambda: fit().multisplit(2).save, {"path": "fit"}),
    "FusedLogitResults.save": (lambda: fit().save, {"path": "fit"}),
    "RefitResults.conf_int": (lambda: fit().refit().conf_int, {}),
    "RefitResults.predict": (lambda: fit().refit().predict, {"exog": X}),
    "RefitResults.get_prediction": (lambda: fit().refit().get_prediction, {"exog": X}),
    "RefitResults.t_test": (lambda: fit().refit().t_test, {}),
    "RefitResults.wald_test": (lambda: fit().refit().wald_test, {}),
    "RefitResults.plot": (lambda: fit().refit().plot, {}),
    "RefitResults.save": (lambda: fit().refit().save, {"path": "fit"}),
    "PredictionResults.conf_int": (lambda: fit().refit().get_prediction().conf_int, {}),
    "PredictionResults.summary_frame": (lambda: fit().refit().get_prediction().summary_frame, {}),
    "RefitResults.table": (lambda: fit().refit().table, {}),
    "RefitResults.summary": (lambda: fit().refit().summary, {}),
    "BootstrapResults.conf_int": (lambda: fit().bootstrap(3).conf_int, {}),
    "BootstrapResults.predict": (lambda: fit().bootstrap(3).predict, {"exog": X}),
    "BootstrapResults.summary": (lambda: fit().bootstrap(3).summary, {}),
    "BootstrapResults.plot": (lambda: fit().bootstrap(3).plot, {}),
    "BootstrapResults.save": (lambda: fit().bootstrap(3).save, {"path": "fit"}),
    "CVResults.predict": (lambda: cv().predict, {"exog": X}),
    "CVResults.save": (lambda: cv().save, {"path": "fit"}),
    "CVResults.plot": (lambda: cv().plot, {}),
    "CVResults.summary": (lambda: cv().summary, {}),
    "CVResults.refit": (lambda: cv().refit, {}),
    "CVResults.change_test": (lambda: cv().change_test, {}),
    "CVResults.differences": (lambda: cv().differences, {}),
    "CVResults.bootstrap": (lambda: cv().bootstrap, {"n": 2}),
    "CVResults.stability": (lambda: cv().stability, {"n": 2}),
    "CVResults.effects": (lambda: cv().effects, {}),
    "FusedLogitResults.effects": (lambda: fit().effects, {}),
    "RefitResults.effects": (lambda: fit().refit().effects, {}),
    "TaskGraph": (lambda: TaskGraph, {"edges": [(0, 1)], "n_tasks": 3}),
    "TaskGraph.chain": (lambda: TaskGraph.chain, {"n_tasks": 3}),
    "TaskGraph.ring": (lambda: TaskGraph.ring, {"n_tasks": 3}),
    "TaskGraph.build": (lambda: TaskGraph.build, {"tasks": "chain", "n_tasks": 3}),
    "load": (lambda: load, {"path": "saved"}),
    "compare": (lambda: compare, {"Y": Y, "X": X, "models": ["unpenalized"], "splits": 2}),
    "Comparison.differences": (lambda: comparison().differences, {}),
    "Comparison.plot": (lambda: comparison().plot, {}),
    "plots.score_boxes": (lambda: plots.score_boxes, {"found": comparison}),
    "plots.coef_map": (lambda: plots.coef_map, {"results": fit}),
    "plots.coef_paths": (lambda: plots.coef_paths, {"grid": grid}),
    "plots.intervals": (lambda: plots.intervals, {"result": lambda: fit().refit()}),
    "plots.margins": (lambda: plots.margins, {"found": lambda: fit().get_margeff()}),
    "plots.feature_path": (lambda: plots.feature_path, {"grid": grid, "feature": "age"}),
    "plots.cv_surface": (lambda: plots.cv_surface, {"cv": cv}),
    "plots.calibration": (lambda: plots.calibration, {"results": fit, **DATA}),
    "plots.selection_frequencies": (lambda: plots.selection_frequencies, {"bootstrap": lambda: fit().bootstrap(3)}),
    "plots.survival_curves": (lambda: plots.survival_curves, {"results": survival, "exog": X[:4]}),
    "outcomes.survival_scores": (lambda: outcomes.survival_scores, {"results": survival, "exog": X, **WATCHED}),
    "outcomes.out_of_fold_scores": (lambda: outcomes.out_of_fold_scores, {"cv": survival_cv, **WATCHED}),
    "outcomes.curve_scores": (lambda: outcomes.curve_scores,
                              {"curves": lambda: survival().predict(which="survival"), **WATCHED}),
    "outcomes.ordered_scores": (lambda: outcomes.ordered_scores,
                                {"results": lambda: FusedLogit.from_ordered(LEVELS, X).fit(1.0, 0.1, 1.0),
                                 "endog": LEVELS, "exog": X}),
    "plots.residual_history": (lambda: plots.residual_history,
                               {"results": lambda: FusedLogit(Y, X).fit(1.0, 0.1, 1.0, method="admm", tol=1e-2)}),
}


# What is right for an argument, of all that is wrong elsewhere.
OPTIONAL = {"None"}
TAKES = {
    "endog": {"masked"}, "weights": OPTIONAL, "offset": OPTIONAL, "penalty_factors": {"None", "empty dict"},
    "tasks": {"empty list", "no rows", "generator"}, "edges": {"empty list", "no rows", "generator"},
    "names": {"None", "list of text", "nullable words", "polars' words", "Arrow's words"},
    "standardize": {"true"}, "fuse_intercepts": {"true"}, "adaptive": {"true"}, "progress": {"true"},
    "remove_data": {"true"}, "formula": {"true"}, "rows": {"empty list", "a series of other rows", "a short series"},
    "levels": OPTIONAL, "max_iter": OPTIONAL, "cov_type": OPTIONAL, "ax": OPTIONAL,
    "rng": {"None", "huge", "digits"},
    "breaks": OPTIONAL, "found_in": OPTIONAL, "executor": OPTIONAL,
    "fusion_factors": {"None", "empty dict"}, "groups": OPTIONAL,
    "causes": OPTIONAL, "task": OPTIONAL, "order": OPTIONAL, "cause": OPTIONAL, "yes": {"None", "true", "empty dict"},
    "i": {"minus one"},
    "max_rows": {"None", "huge", "digits"},
    "title": {"None", "text", "number as text"}, "path": {"text", "number as text"},
    "features": {"huge", "digits"}, "n_jobs": {"None", "minus one"},
    "term": OPTIONAL, "errors": OPTIONAL,  "feature": OPTIONAL, "ties": {"true"}, "hypotheses": OPTIONAL,
    "value": {"true", "minus one", "minus half"},
    "Y": {"masked"}, "sizes": OPTIONAL, "only": {"None", "a series of other rows"}, "to": OPTIONAL,
}
PREDICTIONS = [("FusedLogitResults", "predict of long data"), ("FusedLogitResults", "predict of causes"),
               ("FusedLogitResults", "predict"), ("RefitResults", "predict"), ("RefitResults", "get_prediction"),
               ("CVResults", "predict"), ("BootstrapResults", "predict"), ("StabilityResults", "predict"),
               ("MultiSplitResults", "predict")]
TAKES_HERE = {
    ("FusedLogit.fit_grid", "l1"): {"a short series"},
    ("FusedLogit.fit_grid", "l2"): {"a short series"},
    ("FusedLogit.fit_grid", "fusion"): {"a short series"},
    ("FusedLogit.fit_cv", "l1"): {"None", "a short series"},
    ("FusedLogit.fit_cv", "l2"): {"None", "a short series"},
    ("FusedLogit.fit_cv", "fusion"): {"None", "a short series"},
    **{(f"{name}.{method}", "exog"): OPTIONAL for name, method in PREDICTIONS},
    **{(f"{name}.score", "endog"): set() for name in ("FusedLogitResults", "RefitResults", "CVResults")},
    **{(f"{name}.{method}", "offset"): {"None", "minus one", "minus half"} for name, method in
       [*PREDICTIONS, ("FusedLogitResults", "score"), ("RefitResults", "score"), ("CVResults", "score"),
        ("FusedLogit", "held_out"), ("FusedLogit", "held_out of long data"), ("Grid", "select"),
        ("plots", "calibration")]},
    ("FusedLogit.fit", "tol"): OPTIONAL, ("plots.feature_path", "feature"): set(),
    **{(f"{name}.refit", "rows"): {"None", "a series of other rows", "a short series"}
       for name in ("FusedLogitResults", "CVResults")},
    **{(f"StabilityResults.{name}", "what"): OPTIONAL for name in ("average", "threshold", "stable")},
    # Left open in both tasks, or in one.
    ("FusedLogit.from_formula", "yes"): {"None", "true", "empty dict", "list of None", "a nullable flag"},
    **{(f"FusedLogit.from_formula{of}", "formula"): set() for of in ("", " of levels", " of times")},
    **{(f"outcomes.{name}", "entry"): OPTIONAL for name in ("survival_scores", "out_of_fold_scores", "curve_scores")},
    **{(f"outcomes.{name}", "offset"): {"None", "minus one", "minus half"} for name in ("survival_scores",
                                                                                        "ordered_scores")},
    ("outcomes.ordered_scores", "endog"): set(),
    **{(f"FusedLogit.from_survival{of}", "entry"): OPTIONAL for of in ("", " of causes")},
    **{(f"FusedLogit.from_survival{of}", "breaks"): {"a short series"} for of in ("", " of causes")},
    ("FusedLogit.from_survival of causes", "causes"): {"a short series"},
    ("FusedLogit.from_formula of levels", "levels"): set(),
    ("FusedLogit.from_formula of times", "breaks"): {"a short series"},
    ("plots.survival_curves", "labels"): {"None", "two levels"},
    ("FusedLogit.from_ordered", "endog"): set(),
    ("FusedLogit.held_out", "endog"): set(),
    ("Grid.select", "endog"): set(),
    ("plots.calibration", "endog"): set(),
    ("plots.feature_path", "l1"): OPTIONAL,
    ("plots.feature_path", "l2"): OPTIONAL,
    ("plots.cv_surface", "l2"): OPTIONAL,
    ("plots.coef_paths", "l2"): OPTIONAL,
    ("plots.coef_paths", "fusion"): OPTIONAL,
}

# Made by the calls above, never by a user; what their arguments hold was checked before.
MADE = {"BootstrapResults", "CVResults", "Comparison", "FusedLogitResults", "Grid", "MultiSplitResults",
        "PredictionResults", "RefitResults", "StabilityResults"}
INNER = {"state", "from_state", "TaskGraph.differences", "groups", "tied"}


def arguments(call):
    return [name for name, parameter in inspect.signature(call).parameters.items()
            if parameter.kind is not parameter.VAR_KEYWORD and name != "self"]


def public_calls():
    """Names of all that a user can call with an argument."""
    for name in fusedlr.__all__:
        thing = getattr(fusedlr, name)
        if inspect.isclass(thing) and not issubclass(thing, Warning):
            methods = inspect.getmembers(thing, callable)
            yield from (f"{name}.{method}" for method, call in methods
                        if not method.startswith("_") and not INNER & {method, f"{name}.{method}"} and arguments(call))
        if callable(thing) and name not in MADE and not (inspect.isclass(thing) and issubclass(thing, Warning)):
            yield name
    yield from (f"plots.{name}" for name in plots.__all__)
    yield from (f"outcomes.{name}" for name in outcomes.__all__ if name.endswith("_scores"))


def test_every_public_call_is_listed():
    """Some are listed more than once, with the kinds of data that they take."""
    assert set(public_calls()) == {name.partition(" of ")[0] for name in CALLS}


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def cases(name):
    """Every argument of a call with every wrong thing: argument, what is wrong, and good values of the others."""
    make, good = CALLS[name]
    call, good = make(), {key: value() if callable(value) else value for key, value in good.items()}
    for argument in arguments(call):
        takes = TAKES_HERE.get((name, argument), TAKES.get(argument, set()))
        for what in WRONG.keys() - takes:
            yield argument, what, lambda argument=argument, what=what: call(**{**good, argument: WRONG[what]})


def complaint(argument, call):
    """What is wrong with the way a call refuses its argument; empty if nothing is."""
    start = time.perf_counter()
    try:
        call()
    except (TypeError, ValueError) as refusal:
        seconds = time.perf_counter() - start
        if argument not in str(refusal):
            return f"not named in {refusal!r}"
        return f"took {seconds:.1f} seconds" if seconds > 2 else ""
    except Exception as error:
        return repr(error)
    return "taken"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_by_name(name, in_a_folder):
    fit().save("saved")
    found = {(argument, what): complaint(argument, call) for argument, what, call in cases(name)}
    plt.close("all")
    assert {case: words for case, words in found.items() if words} == {}


@pytest.mark.filterwarnings("ignore")
def test_there_are_many_such_calls(in_a_folder):
    fit().save("saved")
    plots_and_all = sum(1 for name in CALLS for _ in cases(name))
    assert plots_and_all > 3_500


# ---- wrong things that need a word of their own ----------------------------------------------------------------------

def test_a_graph_beyond_memory_is_refused_at_once():
    for make in (TaskGraph.chain, TaskGraph.ring, lambda n: TaskGraph([], n)):
        start = time.perf_counter()
        with pytest.raises(ValueError, match="n_tasks must be from 1 to"):
            make(10**9)
        assert time.perf_counter() - start < 2


@pytest.mark.parametrize("argument", ["exog", "weights", "offset"])
@pytest.mark.parametrize("value", [np.ma.masked_array(np.ones((40, 3)), np.eye(40, 3)),
                                   np.full((40, 3), np.datetime64("NaT", "D")),
                                   np.full((40, 3), "1")], ids=["masked", "dates", "text"])
def test_what_is_no_number_is_never_taken_for_one(argument, value):
    with pytest.raises((TypeError, ValueError), match=argument):
        FusedLogit(**{**DATA, argument: value})


def test_rows_are_aligned_by_their_labels_or_refused():
    turned = Y.iloc[::-1]
    numbers = pd.Series(np.arange(40.0), Y.index)[::-1]
    for wrong in ({"exog": X.iloc[::-1]}, {"weights": numbers}, {"offset": numbers},
                  {"offset": turned.astype(float)}, {"weights": turned + 1.0}):
        with pytest.raises(ValueError, match=f"{[*wrong][0]} must have the index of endog.*another order"):
            FusedLogit(**{**DATA, **wrong})
    with pytest.raises(ValueError, match="folds must have the index of endog.*another order"):
        FusedLogit(Y, X).fit_cv(folds=(numbers % 2), **POINTS)
    for wrong in ({"offset": numbers}, {"weights": numbers}, {"endog": turned}):
        with pytest.raises(ValueError, match="must have the index"):
            grid().select(**{**DATA, **wrong})
        with pytest.raises(ValueError, match="must have the index"):
            plots.calibration(fit(), **{**DATA, **wrong})
    with pytest.raises(ValueError, match="offset must have the index"):
        fit().predict(X, offset=numbers)


def test_columns_are_found_by_name():
    frame = pd.DataFrame(RNG.normal(size=(40, 3)), columns=Y.columns)
    there, back = (FusedLogit(Y, X, offset=table).fit(**POINT).params for table in (frame, frame[Y.columns[::-1]]))
    pd.testing.assert_frame_equal(there, back)
    pd.testing.assert_frame_equal(fit().predict(X, offset=frame),
                                  fit().predict(X[X.columns[::-1]], offset=frame[["mid", "low", "high"]]))


def test_a_penalty_array_may_be_changed_afterwards():
    l1 = np.array([0.0, 1.0, 2.0, 3.0])
    res = FusedLogit(Y, X).fit(l1, 0.1, 1.0)
    text, penalty = str(res.summary()), res.penalty_by_row.l1.copy()
    l1 *= 100
    assert str(res.summary()) == text and res.gap < 1e-6
    np.testing.assert_array_equal(res.penalty_by_row.l1, penalty)


def test_data_may_be_changed_afterwards():
    values, labels, weights = X.to_numpy().copy(), Y.to_numpy().copy(), np.ones(40)
    model = FusedLogit(labels, values, weights=weights)
    before = model.fit(**POINT).params
    for array in (values, labels, weights):
        array[:] = 0
    pd.testing.assert_frame_equal(model.fit(**POINT).params, before)


def test_names_with_dollars_are_drawn_as_they_are():
    names = {"age": "$$", "dose": "a$b$c", "noise": "$\\frac$"}
    res = FusedLogit(Y.rename(columns={"low": "$$", "mid": "$x_"}), X.rename(columns=names))
    fitted = res.fit(0.1, 0.1, 0.1)
    both = {*names.values(), "$x_"}
    for ax, expected in ((plots.coef_map(fitted), both), (plots.calibration(fitted), {"$$", "$x_"}),
                         (plots.selection_frequencies(fitted.bootstrap(3)), both),
                         (plots.feature_path(res.fit_grid([1.0], [0.1], [0.5, 1.0]), "$$"), {"$$", "$x_"})):
        ax.figure.canvas.draw()
        texts = [text.get_text() for text in ax.figure.findobj(Text)]
        assert not any(cbook.is_math_text(text) for text in texts if r"\mathdefault" not in text)
        shown = " ".join(text.replace(r"\$", "$") for text in texts)
        assert {name for name in expected if name in shown} == expected
    plt.close("all")
