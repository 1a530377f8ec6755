"""Everything a user can get wrong: the refusal names the argument, the rule, what was found, and a way out."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fusedlr import FusedLogit, TaskGraph, load

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.normal(size=(30, 3)), columns=["age", "dose", "noise"])
Y = pd.DataFrame((X[["age"]].to_numpy() + RNG.logistic(size=(30, 2)) > 0).astype(float), columns=["low", "high"])
WORDS = np.resize(["a", "b", "c"], 30)


def with_value(frame, value):
    changed = frame.astype(object)
    changed.iloc[4, 1] = value
    return changed.infer_objects()


BAD_ENDOG = {
    "three numbers": (with_value(Y, 2.0), ValueError, "endog.*0/1.*'high'.*2.*from_ordered"),
    "numbers 1 and 2": (Y + 1, ValueError, "endog.*0/1 or -1/1.*'low'.*1, 2.*recode"),
    "infinite": (with_value(Y, np.inf), ValueError, "endog.*'high'.*inf"),
    "three words": (WORDS, ValueError, "endog.*two labels.*'a', 'b', 'c'.*from_ordered"),
    "one word": (np.resize(["a"], 30), ValueError, "endog.*two labels.*'a'.*categorical"),
    "three categories": (pd.Categorical(WORDS), ValueError, "endog.*two labels.*'a', 'b', 'c'.*from_ordered"),
    "words and numbers": (with_value(Y, "yes"), TypeError, "endog.*numbers, booleans or words.*'high'.*float and str"),
    "all missing": (Y * np.nan, ValueError, "endog.*no observed label"),
    "a task all missing": (Y.assign(high=np.nan), ValueError, "endog.*observed label in every task.*'high'.*drop"),
    "too few rows": (Y.iloc[:20].to_numpy(), ValueError, "endog.*one row for each of the 30 rows of exog.*20"),
    "empty": ([], ValueError, r"endog.*rows and columns.*\(0, 1\)"),
    "no tasks": (Y[[]], ValueError, r"endog.*rows and columns.*\(30, 0\)"),
    "complex": (Y.to_numpy() + 1j, TypeError, "endog.*complex.*0/1"),
    "dates": (pd.date_range("2020-01-01", periods=30).to_series(), TypeError, "endog.*dates.*compare"),
    "ragged": ([[0, 1], [1]] * 15, ValueError, "endog.*rectangular.*NaN or None"),
    "three dimensions": (np.zeros((30, 2, 2)), ValueError, "endog.*rows by tasks.*3 dimensions"),
    "names twice": (pd.concat([Y, Y], axis=1), ValueError, "endog.*repeat a name.*'high', 'low'"),
    "None": (None, TypeError, "endog.*array or a DataFrame.*None"),
}

BAD_EXOG = {
    "nan": (with_value(X, np.nan), ValueError, "exog.*finite.*1 rows.*'dose'.*drop these rows or impute"),
    "inf": (with_value(X, np.inf), ValueError, "exog.*finite.*'dose'"),
    "text": (X.assign(site=WORDS), TypeError, r"exog.*numbers.*'site'.*get_dummies.*C\(...\)"),
    "text in an array": (WORDS.reshape(-1, 1), TypeError, "exog must hold numbers, found 'a'"),
    "categories": (X.assign(site=pd.Categorical(WORDS)), TypeError, "exog.*numbers.*'site'"),
    "dates": (X.assign(day=pd.Timestamp("2020-01-01")), TypeError, "exog.*numbers.*'day'"),
    "complex": (X.to_numpy() + 1j, TypeError, "exog.*complex"),
    "ragged": ([[1.0, 2.0], [3.0]] * 15, ValueError, "exog.*rectangular.*different lengths"),
    "None": (None, TypeError, "exog.*array or a DataFrame.*None"),
    "one dimension": (X["age"].to_numpy(), ValueError, r"exog.*rows and columns.*reshape\(-1, 1\)"),
    "a Series": (X["age"], ValueError, r"exog.*rows and columns.*to_frame\(\)"),
    "no columns": (X[[]], ValueError, r"exog.*rows and columns.*\(30, 0\)"),
    "no rows": (X.iloc[:0], ValueError, r"exog.*rows and columns.*\(0, 3\)"),
    "names twice": (pd.concat([X, X[["age"]]], axis=1), ValueError, "exog.*repeat a name.*'age'.*rename"),
    "ones twice": (X.assign(one=1, two=1.0), ValueError, "exog.*2 constant columns.*'one', 'two'.*drop"),
    "ones only": (np.ones((30, 1)), ValueError, "exog.*at least one feature besides the constant"),
    "const is no constant": (X.rename(columns={"age": "const"}), ValueError, "exog.*'const'.*rename"),
    "sparse and complex": (scipy.sparse.csr_matrix(1j * X.to_numpy()), TypeError, "exog.*numbers.*complex128"),
    "sparse with nan": (scipy.sparse.csr_matrix(X.assign(age=np.nan).to_numpy(dtype=float)), ValueError,
                        "exog must be finite, found nan or inf in 30 rows, columns 0; drop"),
    "sparse and large": (scipy.sparse.csr_matrix(X.to_numpy(dtype=float) * 1e120), ValueError, "exog.*another unit"),
    "sparse ones twice": (scipy.sparse.csr_matrix(np.ones((30, 2))), ValueError, "exog.*2 constant columns.*drop"),
    "other index": (X.set_axis(range(100, 130), axis=0), ValueError, "exog.*index of endog.*other labels.*align"),
    "other order": (X.iloc[::-1], ValueError, r"exog.*index of endog.*another order.*loc\[endog.index\]"),
}

BAD_OPTIONS = {
    "tasks: unknown word": ({"tasks": "tree"}, ValueError, "tasks.*'chain', 'ring'.*'tree'"),
    "tasks: None": ({"tasks": None}, TypeError, "tasks.*None"),
    "tasks: unknown position": ({"tasks": [(0, 5)]}, ValueError, "tasks.*5.*0 to 1"),
    "tasks: unknown name": ({"tasks": [("low", "top")]}, ValueError, r"tasks.*'top'.*\['low', 'high'\]"),
    "tasks: self-loop": ({"tasks": [("low", "low")]}, ValueError, "tasks.*two different tasks"),
    "tasks: a vanishing edge": ({"tasks": [(0, 1, 1e-170)]}, ValueError, "weights of edges must lie between 1e-100"),
    "tasks: repeated edge": ({"tasks": [(0, 1), (1, 0)]}, ValueError, "tasks.*twice.*add the weights"),
    "tasks: negative weight": ({"tasks": [(0, 1, -1.0)]}, ValueError, "tasks.*positive"),
    "tasks: nan weight": ({"tasks": [(0, 1, np.nan)]}, ValueError, "tasks.*finite"),
    "tasks: graph of another size": ({"tasks": TaskGraph.chain(3)}, ValueError, "tasks.*3 tasks.*2 columns"),
    "tasks: graph of other names": ({"tasks": TaskGraph.chain(2, ["a", "b"])}, ValueError, "tasks.*'a'.*'low'"),
    "tasks: ring of two": ({"tasks": "ring"}, ValueError, "tasks='ring'.*3 tasks.*chain"),
    "weights: negative": ({"weights": np.linspace(-1, 1, 30)}, ValueError, "weights.*not be negative.*-1"),
    "weights: vanishing": ({"weights": np.full(30, 1e-170)}, ValueError, "weights.*between 1e-100 and 1e.100.*1e-170"),
    "weights: one is all": ({"weights": np.append(1e15, np.ones(29))}, ValueError, "weights.*factor of 1e.12.*1e.15"),
    "offset: too far": ({"offset": np.full(30, 1e14)}, ValueError, "offset.*between -1e.08 and 1e.08, found 1e.14"),
    "weights: all zero": ({"weights": np.zeros(30)}, ValueError, "weights.*all zero"),
    "weights: a task all zero": ({"weights": np.tile([0.0, 1.0], (30, 1))}, ValueError, "weights.*'low'.*drop"),
    "weights: text": ({"weights": WORDS}, TypeError, "weights.*numbers"),
    "weights: other index": ({"weights": pd.Series(1.0, range(5, 35))}, ValueError, "weights.*index of endog"),
    "weights: other tasks": ({"weights": Y.add_prefix("x")}, ValueError, "weights.*'low', 'high'.*'xlow'"),
    "offset: wrong shape": ({"offset": np.zeros((30, 3))}, ValueError, r"offset.*\(30,\) or \(30, 2\).*\(30, 3\)"),
    "offset: nan": ({"offset": np.full(30, np.nan)}, ValueError, "offset.*finite"),
    "penalty_factors: negative": ({"penalty_factors": [1, -1, 1]}, ValueError, "penalty_factors.*not negative.*-1"),
    "penalty_factors: wrong length": ({"penalty_factors": [1, 1]}, ValueError, r"penalty_factors.*3 features.*\(2,\)"),
    "penalty_factors: text": ({"penalty_factors": ["a", "b", "c"]}, TypeError, "penalty_factors.*numbers"),
    "penalty_factors: unknown": ({"penalty_factors": {"height": 2}}, ValueError, "penalty_factors.*'height'.*'age'"),
    "standardize: a word": ({"standardize": "yes"}, TypeError, "standardize.*True or False.*'yes'"),
    "fuse_intercepts: a number": ({"fuse_intercepts": 0}, TypeError, "fuse_intercepts.*True or False.*0"),
    "a keyword typed wrong": ({"wieghts": np.ones(30)}, TypeError, "wieghts"),
}

BAD_FIT = {
    "l1: vanishing": ({"l1": 1e-170}, ValueError, "l1 must lie between 1e-100 and 1e.100 where not 0, found 1e-170"),
    "l2: by feature, huge": ({"l2": [0, 1, 1, 1e170]}, ValueError, "l2 must lie between 1e-100 and 1e.100.*1e.170"),
    "l1 negative": ({"l1": -1.0}, ValueError, "l1.*not negative.*-1"),
    "l2 nan": ({"l2": np.nan}, ValueError, "l2.*finite.*nan"),
    "fusion infinite": ({"fusion": np.inf}, ValueError, "fusion.*finite.*inf"),
    "l1 text": ({"l1": "1"}, TypeError, "l1.*number.*'1'"),
    "l2 None": ({"l2": None}, TypeError, "l2.*number.*None.*0 for no penalty"),
    "l1 wrong length": ({"l1": [1.0, 2.0]}, ValueError, r"l1.*4 numbers \(const first\).*\(2,\)"),
    "l1 on the intercept": ({"l1": [1.0, 1.0, 1.0, 1.0]}, ValueError, "l1 of const.*must be 0"),
    "l1 unknown name": ({"l1": pd.Series(1.0, ["age", "dose", "noise", "height"])}, ValueError, "l1.*'height'"),
    "l1 without a feature": ({"l1": pd.Series(1.0, ["age", "dose"])}, ValueError, "l1.*every feature.*'noise'"),
    "l1 text by name": ({"l1": {"age": 1, "dose": "x", "noise": 1}}, TypeError, "l1.*number.*'x'"),
    "fusion without const": ({"fusion": pd.Series(1.0, X.columns)}, ValueError, "fusion.*the intercept.*'const'"),
    "tol zero": ({"tol": 0}, ValueError, "tol.*between 0 and 1.*0"),
    "tol negative": ({"tol": -1e-6}, ValueError, "tol.*between 0 and 1.*-1e-06"),
    "tol text": ({"tol": "small"}, TypeError, "tol.*number.*'small'"),
    "method unknown": ({"method": "lbfgs"}, ValueError, "method.*'newton' or 'admm'.*'lbfgs'"),
    "max_iter zero": ({"max_iter": 0}, ValueError, "max_iter.*from 1 to.*0"),
    "max_iter a fraction": ({"max_iter": 1.5}, TypeError, "max_iter.*whole number.*1.5"),
    "a keyword typed wrong": ({"lambda1": 1.0}, TypeError, "lambda1"),
}

BAD_FORMULA = {
    "unknown variable": ("low ~ age + height", ValueError, "data.*formula.*'height'"),
    "unknown task": ("low + top ~ age", ValueError, "data.*formula.*'top'"),
    "no task": ("~ age", ValueError, "formula.*names no task"),
    "no tilde": ("low + high", ValueError, "formula must be of the form.*~"),
    "interaction of tasks": ("low:high ~ age", ValueError, "left side.*task"),
    "a dot for all": ("low ~ .", ValueError, "formula.*invalid syntax"),
    "broken": ("low ~ (age", ValueError, "formula.*Unmatched"),
    "not text": (3, ValueError, "formula must be of the form.*3"),
}

BAD_PREDICT = {
    "missing columns": ({"exog": X[["age"]]}, ValueError, "exog.*column for each feature.*'dose', 'noise'"),
    "wrong number of columns": ({"exog": X.to_numpy()[:, :2]}, ValueError, "exog.*3 features.*2 columns"),
    "one dimension": ({"exog": np.zeros(3)}, ValueError, "exog.*rows and columns"),
    "nan": ({"exog": with_value(X, np.nan)}, ValueError, "exog.*finite.*'dose'"),
    "which unknown": ({"which": "odds"}, ValueError, "which.*'prob', 'linear' or 'label'.*'odds'"),
    "offset too short": ({"exog": X, "offset": np.zeros(7)}, ValueError, r"offset.*\(30,\) or \(30, 2\).*\(7,\)"),
    "offset without exog": ({"offset": np.zeros(30)}, ValueError, "offset goes with exog"),
}

BAD_ORDERED = {
    "words without order": ((WORDS, None), ValueError, "levels is needed, lowest first.*'a'"),
    "a level left out": ((WORDS, ["a", "b"]), ValueError, "endog.*not in levels.*'c'"),
    "a number left out": ((np.arange(len(WORDS)) % 3, [0, 1]), ValueError, r"endog.*not in levels, found \[2\]"),
    "a level never seen": ((WORDS, ["a", "b", "c", "d"]), ValueError, r"endog never takes the levels \['d'\].*leave"),
    "one level": ((np.ones(30), None), ValueError, "endog.*two ordered levels"),
    "two columns": ((Y, None), ValueError, r"endog.*one column.*\(30, 2\)"),
    "a level twice": ((WORDS, ["a", "a", "b", "c"]), ValueError, "levels.*repeat.*'a'"),
}


def rows(table):
    return pytest.mark.parametrize(("bad", "kind", "message"), table.values(), ids=table.keys())


@rows(BAD_ENDOG)
def test_bad_endog_is_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit(bad, X.to_numpy())


@rows(BAD_EXOG)
def test_bad_exog_is_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit(Y if isinstance(bad, (pd.DataFrame, pd.Series)) and len(bad) else Y.to_numpy(), bad)


@rows(BAD_OPTIONS)
def test_bad_options_are_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit(Y, X, **bad)


@rows(BAD_FIT)
def test_bad_arguments_of_fit_are_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit(Y, X, fuse_intercepts=True).fit(**{"l1": 1.0, "l2": 0.1, "fusion": 1.0, **bad})


@pytest.mark.parametrize("fusion", [np.ones(4), pd.Series(1.0, ["const", *X.columns])], ids=["vector", "Series"])
def test_fusion_of_intercepts_that_are_not_fused_is_refused(fusion):
    with pytest.raises(ValueError, match="fusion of const.*must be 0.*fuse_intercepts=False, found 1;.*True"):
        FusedLogit(Y, X, fuse_intercepts=False).fit(1.0, 0.1, fusion)


@rows(BAD_FORMULA)
def test_bad_formulas_are_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit.from_formula(bad, Y.join(X))


@rows(BAD_PREDICT)
def test_bad_arguments_of_predict_are_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit(Y, X).fit(1.0, 0.1, 1.0).predict(**bad)


@rows(BAD_ORDERED)
def test_bad_ordered_outcomes_are_refused(bad, kind, message):
    with pytest.raises(kind, match=message):
        FusedLogit.from_ordered(bad[0], X.to_numpy(), levels=bad[1])


def test_a_penalty_left_out_is_named():
    with pytest.raises(TypeError, match="fusion"):
        FusedLogit(Y, X).fit(1.0, 0.1)


@pytest.mark.parametrize("name", ["l1", "l2", "fusion"])
def test_an_empty_list_in_a_grid_is_refused(name):
    with pytest.raises(ValueError, match=name):
        FusedLogit(Y, X).fit_grid(**{"l1": [1.0], "l2": [0.1], "fusion": [1.0], name: []})


@pytest.mark.parametrize("damage", [
    lambda whole: b"",
    lambda whole: b"not ours",
    lambda whole: whole[: len(whole) // 2],
    lambda whole: whole[:200] + bytes(100) + whole[300:],
], ids=["empty", "foreign", "cut", "damaged"])
def test_a_file_that_is_not_whole_is_refused(tmp_path, damage):
    path = tmp_path / "fit.npz"
    FusedLogit(Y, X).fit(1.0, 0.1, 1.0).save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="path.*written by the save method.*cut short"):
        load(path)
