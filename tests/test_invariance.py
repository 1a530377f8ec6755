"""What must not change an answer, on every path that leads to one.

Each invariance turns a setting of ``paths`` into one that has to give the same.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, OneClassWarning, TaskGraph
from tests.paths import BASE, DRAWS, FEATURES, NEW_ROWS, PATHS, R_PATHS, TASKS, numbers, of_fit

pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")


def compare(found, expected, absolute=2e-7):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        other = found[name].reindex_like(value) if isinstance(value, (pd.Series, pd.DataFrame)) else found[name]
        np.testing.assert_allclose(np.asarray(other, dtype=float), np.asarray(value, dtype=float), rtol=2e-6,
                                   atol=absolute, err_msg=name)


def rowwise(s, change):
    """The same change to everything that has rows, held-out rows too."""
    own = {name: change(getattr(s, name), s.weights) for name in ("X", "Y", "weights", "offset", "folds", "groups")}
    held = {name: change(table, s.held["weights"]) for name, table in s.held.items()}
    return replace(s, **own, held=held)


def repeated(s):
    """Every row as often as its weight says, side by side, with weight 1."""
    def change(table, weights):
        copies = table.loc[table.index.repeat(weights.iloc[:, 0])]
        return copies.set_axis(range(len(copies)), axis=0)

    twice = rowwise(s, change)
    return replace(twice, weights=twice.weights * 0 + 1, held={**twice.held, "weights": twice.held["weights"] * 0 + 1})


def without_weightless(s):
    return rowwise(s, lambda table, weights: table[weights.iloc[:, 0] > 0])


def shuffled(s):
    return rowwise(s, lambda table, weights: table.sample(frac=1.0, random_state=7))


def columns(s, features=None, tasks=None):
    def change(table, weights):
        if isinstance(table, pd.Series):
            return table
        return table[features if "age" in table else tasks] if (features if "age" in table else tasks) else table

    return rowwise(s, change)


SAME = {
    "a weight is a number of rows": (repeated, ()),
    "weight 0 is no row": (without_weightless, ()),
    "rows in another order": (shuffled, DRAWS),
    "features in another order": (lambda s: columns(s, features=FEATURES[::-1]), ()),
    "the chain reversed": (lambda s: columns(s, tasks=TASKS[::-1]), ()),
    "tasks in another order on the same graph": (
        lambda s: replace(columns(s, tasks=["mid", "low", "high"]), tasks=[("low", "mid"), ("mid", "high")]), {"admm"}),
    "the chain by its edges": (lambda s: replace(s, tasks=TaskGraph.chain(3, TASKS)), ()),
    "a factor is a scaled penalty": (
        lambda s: replace(s, factors=dict.fromkeys(FEATURES, 4.0), l1=s.l1 / 4, l2=s.l2 / 4), ()),
}
ROWS = ("a weight is a number of rows", "weight 0 is no row", "rows in another order")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Numbers of a path in the setting that nothing was done to, made once."""
    kept = {}

    def make(path):
        if path not in kept:
            kept[path] = numbers(path, BASE, tmp_path_factory.mktemp("base"))
        return kept[path]

    return make


def paths(unless=()):
    """Paths for a test, those to R marked as such."""
    found = [path for path in (*PATHS, *R_PATHS) if path not in unless]
    return [pytest.param(path, marks=pytest.mark.r) if path in R_PATHS else pytest.param(path) for path in found]


@pytest.mark.parametrize(("name", "path"), [
    pytest.param(name, *path.values, marks=path.marks)
    for name, (_, unless) in SAME.items() for path in paths(unless)])
def test_nothing_changes_by(name, path, expected, tmp_path):
    changed = SAME[name][0](BASE)
    if path in NEW_ROWS and name in ROWS:
        changed = replace(changed, held=BASE.held)
    compare(numbers(path, changed, tmp_path), expected(path), 2e-4 if path == "admm" else 2e-7)


def thinned(s):
    """Features of which two are mostly zero, as a dense frame."""
    def change(table, weights):
        return table * np.where(np.arange(len(table))[:, None] % 7 == 0, 1.0, [1, 1, 0, 0]) if "age" in table else table

    return rowwise(s, change)


def sparse(s):
    """The same features as a frame of sparse type."""
    held = {**s.held, "exog": s.held["exog"].astype(pd.SparseDtype(float, 0.0))}
    return replace(s, X=s.X.astype(pd.SparseDtype(float, 0.0)), held=held)


@pytest.mark.parametrize("path", [path for path in PATHS if path != "admm"])
def test_sparse_features_are_those_that_dense_ones_are(path, tmp_path):
    found = [numbers(path, setting, tmp_path / name) for name, setting in
             (("dense", thinned(BASE)), ("sparse", sparse(thinned(BASE)))) if (tmp_path / name).mkdir() is None]
    compare(*found)


def rows_changed(found, change):
    """The same numbers, where a table has features in its rows changed row by row."""
    return {name: change(value) if isinstance(value, pd.DataFrame) and "age" in value.index else value
            for name, value in found.items()}


SHIFT = 0.7
SPREADS = {"bse"}
SHARES = {"selected", "stable"}


@pytest.mark.parametrize("path", paths({"summary"}))
def test_an_offset_moves_the_intercepts_and_nothing_else(path, expected, tmp_path):
    changed = replace(BASE, offset=BASE.offset + SHIFT, held={**BASE.held, "offset": BASE.held["offset"] + SHIFT})
    shift = pd.Series(0.0, ["const", *FEATURES]).where(lambda row: row.index != "const", SHIFT)
    found = {name: value if name in SPREADS else rows_changed({name: value}, lambda table: table.add(
        shift.reindex(table.index), axis=0))[name] for name, value in numbers(path, changed, tmp_path).items()}
    compare(found, expected(path), 2e-4 if path == "admm" else 2e-7)


def spread(X, weights):
    counts = weights.iloc[:, 0]
    return np.sqrt((X - (X.mul(counts, axis=0)).sum() / counts.sum()).pow(2).mul(counts, axis=0).sum() / counts.sum())


# Rows of a group share its weight in the scale.
GROUPED = {path for path in PATHS if path.endswith("grouped")}


@pytest.mark.parametrize("path", paths({"summary", "coefficient map", "feature path plot"} | GROUPED))
def test_standardizing_is_scaling_by_hand(path, expected, tmp_path):
    unit = spread(BASE.X, BASE.weights)
    changed = replace(BASE, X=BASE.X / unit, standardize=False, held={**BASE.held, "exog": BASE.held["exog"] / unit})
    back = pd.concat([pd.Series({"const": 1.0}), unit])
    found = {name: value if name in SHARES else rows_changed({name: value}, lambda table: table.div(
        back.reindex(table.index), axis=0))[name] for name, value in numbers(path, changed, tmp_path).items()}
    compare(found, expected(path), 2e-4 if path == "admm" else 2e-7)


@pytest.mark.parametrize("path", paths({"feature path plot"}))
def test_other_names_change_names_only(path, expected, tmp_path):
    other = {name: f"{name} $1" for name in (*FEATURES, *TASKS)}
    changed = rowwise(BASE, lambda table, weights:
                      table if isinstance(table, pd.Series) else table.rename(columns=other))
    found = {name: value.rename(index={new: old for old, new in other.items()})
             if isinstance(value, (pd.Series, pd.DataFrame))
             else value for name, value in numbers(path, changed, tmp_path).items()}
    found = {name: value.rename(columns={new: old for old, new in other.items()}) if isinstance(value, pd.DataFrame)
             else value for name, value in found.items()}
    compare(found, expected(path))


def test_a_factor_of_one_feature_scales_its_penalties():
    by_factor = replace(BASE, factors={"dose": 3.0}).fit()
    l1, l2 = ({name: penalty * (3.0 if name == "dose" else 1.0) for name in FEATURES} for penalty in (BASE.l1, BASE.l2))
    compare({"params": by_factor.params}, {"params": replace(BASE, l1=l1, l2=l2).fit().params})


def test_factors_hold_in_every_fold():
    """An unpenalized feature stays in every fit of every fold: only then are scores those of fits made by hand."""
    s = replace(BASE, factors={"noise": 0.0}, l1=30.0)
    scores = []
    for fold in range(4):
        inside, outside = ({name: getattr(s, name)[rows] for name in ("X", "Y", "weights", "offset")}
                           for rows in (s.folds != fold, s.folds == fold))
        res = FusedLogit(inside["Y"], inside["X"] / s.model().scale, weights=inside["weights"], offset=inside["offset"],
                         penalty_factors=s.factors, standardize=False).fit(s.l1, s.l2, s.fusion)
        linear = res.predict(outside["X"] / s.model().scale, which="linear", offset=outside["offset"])
        loss = np.logaddexp(0.0, -np.where(outside["Y"], 1, -1) * linear) * outside["weights"].to_numpy()
        scores.append((loss.to_numpy().sum(), outside["weights"].to_numpy().sum()))
    by_hand = np.sum(scores, axis=0)
    found = s.model().fit_cv(folds=s.folds.to_numpy(), l1=[s.l1], l2=[s.l2], fusion=[s.fusion], tol=1e-12)
    np.testing.assert_allclose(found.table["mean"], by_hand[0] / by_hand[1], rtol=1e-6)


def test_labels_of_weight_0_are_not_seen():
    only_yes = BASE.Y.copy()
    only_yes["mid"] = ~(BASE.weights["mid"] == 0)  # every no has weight 0
    for s in (replace(BASE, Y=only_yes), without_weightless(replace(BASE, Y=only_yes))):
        with pytest.warns(OneClassWarning, match="'mid': every observed label is True"):
            s.fit()


def test_a_weight_is_a_number_of_rows_without_an_offset_too():
    twice = repeated(BASE)
    weighted, repeats = FusedLogit(BASE.Y, BASE.X, weights=BASE.weights), FusedLogit(twice.Y, twice.X)
    compare(of_fit(weighted.fit(1.0, 0.1, 1.0)), of_fit(repeats.fit(1.0, 0.1, 1.0)))


def test_the_largest_of_a_summary_are_those_of_the_largest_coefficient():
    res = BASE.fit()
    wanted = np.array([[3.0, 0.0, 0.0], [1.5, 1.5, 1.5], [0.1, 0.1, 0.1], [0.0, 0.0, 0.0]])
    res.solution.params[1:] = wanted / res.model.scale[:, None]
    text = str(res.summary(max_rows=1))
    assert "age" in text and "dose" not in text


# ---- the doors for other data ---------------------------------------------------------------------------------------

def answers(model, folds, new=None):
    """What a model says on every path that knows groups."""
    res = model.fit(1.0, 0.1, 1.0)
    cv = model.fit_cv(folds=folds, l1=[1.0, 4.0], l2=[0.1], fusion=[1.0], tol=1e-10)
    found = {"params": res.params, "bse": res.refit(cov_type="cluster").bse, "llf": res.llf, "bic": res.bic,
             "change_test": res.change_test()["pvalue"], "bootstrap": res.bootstrap(5, rng=1).bse,
             "stability": res.model.spec.frame(res.stability(4, rng=1).samples.mean(axis=0)),
             "multisplit": res.multisplit(4, rng=1).pvalues, "cv": cv.table["mean"].to_numpy(),
             "se_difference": cv.table["se_difference"].to_numpy()}
    return found if new is None else {**found, "predict": res.predict(new)}


def wide_and_long():
    """A table of rows by tasks, and one row for each of its labels, in another order."""
    rows, tasks = np.arange(len(BASE.X)), np.arange(3)
    one = FusedLogit(BASE.Y.to_numpy(), BASE.X, groups=rows)
    row, task = (axis.ravel() for axis in np.meshgrid(rows, tasks, indexing="ij"))
    order = np.random.default_rng(3).permutation(len(row))
    row, task = row[order], task[order]
    row, task = (keys[np.argsort(row, kind="stable")] for keys in (row, task))  # groups are counted as they come
    other = FusedLogit.from_long(BASE.Y.to_numpy()[row, task], BASE.X.iloc[row].reset_index(drop=True),
                                 np.array(["y1", "y2", "y3"])[task], order=["y1", "y2", "y3"], groups=row)
    return answers(one, rows % 4), answers(other, row % 4)


def rows_and_groups_of_one():
    rows = np.arange(len(BASE.X))
    return answers(FusedLogit(BASE.Y, BASE.X), rows % 4), answers(FusedLogit(BASE.Y, BASE.X, groups=rows), rows % 4)


def whole_and_cut():
    """Persons watched for up to four years, and the same cut at every break."""
    rng, n, breaks = np.random.default_rng(8), 120, [1.0, 2.0, 4.0]
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "dose"])
    entry = np.where(np.arange(n) % 3, 0.0, 0.4)
    time, event = entry + rng.exponential(2.0 * np.exp(-0.5 * X["age"].to_numpy())), np.arange(n) % 4 > 0
    starts, person, ends, came = [], [], [], []
    for i in range(n):
        cuts = [entry[i], *(cut for cut in breaks if entry[i] < cut < time[i]), time[i]]
        starts, ends = starts + cuts[:-1], ends + cuts[1:]
        came, person = came + [False] * (len(cuts) - 2) + [event[i]], person + [i] * (len(cuts) - 1)
    one = FusedLogit.from_survival(time, event, X, breaks, entry=entry, groups=np.arange(n))
    other = FusedLogit.from_survival(ends, came, X.iloc[person].reset_index(drop=True), breaks, entry=starts,
                                     groups=person)
    assert len(person) > 1.5 * n
    return answers(one, np.arange(n) % 4), answers(other, np.array(person) % 4)


def pandas_and_polars():
    polars = pytest.importorskip("polars")
    Y, X = (table.reset_index(drop=True) for table in (BASE.Y, BASE.X))
    other = polars.DataFrame({name: X[name].to_numpy() for name in FEATURES[::-1]})
    labels = polars.DataFrame({name: Y[name].to_numpy() for name in TASKS})
    folds = np.arange(len(X)) % 4
    return answers(FusedLogit(Y, X), folds, X), answers(FusedLogit(labels, other), folds, other[:, ::-1])


@pytest.mark.parametrize("doors", [wide_and_long, rows_and_groups_of_one, whole_and_cut, pandas_and_polars],
                         ids=lambda doors: doors.__name__)
def test_the_same_data_through_another_door_say_the_same(doors):
    one, other = doors()
    compare(other, one)
