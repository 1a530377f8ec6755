"""What must not change an answer, on every path that leads to one.

Each path takes a ``Setting`` and returns numbers under names, labelled by feature and task; each
invariance turns a setting into one that has to give the same. A new path joins by being listed in ``PATHS``.
"""

from dataclasses import dataclass, field, replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, OneClassWarning, TaskGraph, load, plots

pytestmark = pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")

N, FEATURES, TASKS = 72, ["age", "dose", "noise", "site"], ["low", "mid", "high"]


@dataclass(frozen=True)
class Setting:
    """A model, held-out rows and penalties; rows carry their labels in the index."""

    X: pd.DataFrame
    Y: pd.DataFrame
    weights: pd.DataFrame
    offset: pd.DataFrame
    folds: pd.Series
    held: dict
    factors: dict = field(default_factory=dict)
    tasks: object = "chain"
    standardize: bool = True
    l1: object = 1.5
    l2: object = 0.4
    fusion: float = 0.8

    def model(self):
        return FusedLogit(self.Y, self.X, tasks=self.tasks, weights=self.weights, offset=self.offset,
                          penalty_factors=self.factors or None, standardize=self.standardize)

    def fit(self):
        return self.model().fit(self.l1, self.l2, self.fusion)

    @property
    def lists(self):
        return {"l1": [self.l1 * 0.5, self.l1, self.l1 * 3], "l2": [self.l2],
                "fusion": [self.fusion * 0.3, self.fusion * 2],
                "tol": 1e-13}

    def cv(self, **choice):
        return self.model().fit_cv(folds=self.folds.to_numpy(), **self.lists, **choice)


def setting():
    rng = np.random.default_rng(3)

    def rows(n, first):
        index = pd.Index([f"row {first + i}" for i in range(n)])
        X = pd.DataFrame(rng.normal(size=(n, 4)) * [1.0, 3.0, 0.5, 1.0], index, FEATURES)
        signal = X[["age"]].to_numpy() + 0.3 * X[["dose"]].to_numpy() * np.array([0, 1, 1])
        Y = pd.DataFrame(signal + rng.logistic(size=(n, 3)) > 0.2, index, TASKS)
        weights = pd.DataFrame(np.tile(rng.integers(0, 4, size=(n, 1)), 3), index, TASKS)
        offset = pd.DataFrame(0.5 * rng.normal(size=(n, 3)), index, TASKS)
        return X, Y, weights, offset

    X, Y, weights, offset = rows(N, 0)
    held = dict(zip(("exog", "endog", "weights", "offset"), rows(25, 1000)))
    return Setting(X, Y, weights, offset, pd.Series(np.arange(N) % 4, X.index), held)


BASE = setting()


# ---- paths: every one ends in numbers -------------------------------------------------------------------------------

def of_fit(res):
    whole = {name: getattr(res, name)
             for name in ("llf", "llnull", "deviance", "prsquared", "aic", "bic", "df", "df_model",
                                                   "objective", "df_resid")}
    return {"params": res.params, "nobs_per_task": res.nobs_per_task, "positives": res.positives,
            "llf_per_task": res.llf_per_task, "summary_frame": by_place(res.summary_frame()), **whole}


def by_place(frame):
    return frame.pivot(index="feature", columns="task", values="value")


def fit(s):
    return of_fit(s.fit())


def fit_by_admm(s):
    # Its gap says that coefficients are within about 1e-5 of the minimiser's; that many digits are compared.
    return {"params": s.model().fit(s.l1, s.l2, s.fusion, method="admm", tol=1e-11).params.round(4)}


def grid(s):
    found = s.model().fit_grid(**s.lists)
    params = {f"params {i}": pd.DataFrame(found.params[i], found.model.exog_names, found.model.endog_names)
              for i in range(len(found))}
    return {"objective": found.table["objective"], "df": found.table["df"], **params}


def select(metric):
    return lambda s: of_fit(s.model().fit_grid(**s.lists).select(**s.held, metric=metric))


def cv(**choice):
    def path(s):
        found = s.cv(**choice)
        columns = [name for name in ("mean", "se", "logloss", "error", "auc", "df", "aic", "bic")
                   if name in found.table]
        return {"best": found.best, "chosen": found.chosen, "params": found.results.params,
                **{name: found.table[name] for name in columns}}

    return path


def refit(cov_type):
    def path(s):
        found = s.fit().refit(cov_type)
        return {"params": found.params, "bse": found.bse.fillna(0.0), "llf": found.llf, "aic": found.aic,
                "bic": found.bic}

    return path


def bootstrap(s):
    found = s.fit().bootstrap(6, seed=4, progress=False)
    interval = found.conf_int(0.5)
    spread = pd.DataFrame(np.std(found.samples, axis=0, ddof=1), s.model().exog_names, s.model().endog_names)
    pd.testing.assert_frame_equal(found.bse, spread)
    return {"bse": found.bse, "lower": interval.xs("lower", axis=1, level=1),
            "upper": interval.xs("upper", axis=1, level=1),
            "selected": found.selection_frequency}


def predict(s):
    res, new = s.fit(), {"exog": s.held["exog"], "offset": s.held["offset"]}
    return {"prob": res.predict(**new), "linear": res.predict(**new, which="linear"),
            "label": res.predict(**new, which="label").astype(float)}


def saved(s, folder):
    s.fit().save(folder / "fit")
    back = load(folder / "fit")
    again = back.model.fit(s.l1, s.l2, s.fusion)
    return {**of_fit(back), **{f"again {name}": value for name, value in of_fit(again).items()}}


def saved_others(s, folder):
    """Whatever else can be saved, read back and asked again."""
    made = {"refit": s.fit().refit(), "grid": s.model().fit_grid(**s.lists), "cv": s.cv()}
    for name, result in made.items():
        result.save(folder / name)
    refitted, points, choice = (load(folder / name) for name in made)
    return {"bse": refitted.bse.fillna(0.0), "objective": points.table["objective"], "mean": choice.table["mean"],
            "params": choice.results.params, "select": points.select(**s.held).llf}


def refitted_predictions(s):
    found = s.fit().refit().get_prediction(s.held["exog"], s.held["offset"])
    return {"mean": found.predicted_mean, "se": found.se_mean}


def settings_of(s):
    return {"weights": s.weights.iloc[:, 0], "offset": s.offset.mean(axis=1), "standardize": s.standardize,
            "penalty_factors": s.factors or None}


def ordered(s):
    level = s.Y.sum(axis=1)
    res = FusedLogit.from_ordered(level, s.X, **settings_of(s)).fit(s.l1, s.l2, s.fusion)
    levels = res.predict(s.held["exog"], which="levels", offset=s.held["offset"].mean(axis=1))
    return {"params": res.params, "llf": res.llf, "bic": res.bic, "levels": levels.mean(axis=0).rename(str)}


def survival(s):
    model = FusedLogit.from_survival(1.0 + s.Y.sum(axis=1), s.folds > 0, s.X, breaks=[1.5, 2.5, 3.5], **settings_of(s))
    res = model.fit(s.l1, s.l2, s.fusion)
    curves = res.predict(s.held["exog"], which="survival", offset=s.held["offset"].mean(axis=1))
    return {"params": res.params, "llf": res.llf, "curves": curves.mean(axis=0)}


def with_rows(s):
    model = s.model()
    return of_fit(model.with_rows(np.arange(model.problem.data.n_rows)).fit(s.l1, s.l2, s.fusion))


def calibration_plot(s):
    def lines(ax):
        drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines() if line.get_label() in set(s.Y.columns)}
        return pd.DataFrame({name: xy.ravel() for name, xy in drawn.items()})

    own, new = plots.calibration(s.fit(), bins=4), plots.calibration(s.fit(), **s.held, bins=4)
    return {"own": lines(own), "held": lines(new)}


def path_plot(s):
    ax = plots.feature_path(s.model().fit_grid(**s.lists), "age")
    return {"values": pd.Series(sorted(np.concatenate([line.get_ydata() for line in ax.get_lines()[:3]])))}


def coef_plot(s):
    ax = plots.coef_map(s.fit(), per="unit")
    # A group whose tasks are not side by side is drawn in parts, with its number in each.
    return {"numbers": pd.Series(sorted({float(text.get_text().replace("\u2212", "-")) for text in ax.texts}))}


def cv_plot(s):
    ax = plots.cv_surface(s.cv())
    return {"scores": pd.Series(np.asarray(ax.collections[0].get_array()).ravel())}


def selection_plot(s):
    ax = plots.selection_frequencies(s.fit().bootstrap(6, seed=4, progress=False))
    return {"areas": pd.Series(sorted(np.concatenate([dots.get_sizes() for dots in ax.collections])))}


def summary(s):
    cells = [str(cell).strip() for row in s.fit().summary().tables[-1].data[2:] for cell in row[1:]]
    return {"cells": pd.Series(sorted({float(cell) for cell in cells if cell.lstrip("-").replace(".", "").isdigit()}))}


PATHS = {
    "fit": fit, "admm": fit_by_admm, "grid": grid, "select by error": select("error"),
    "select by logloss": select("logloss"),
    "cv by logloss": cv(), "cv by error": cv(metric="error"), "cv by auc": cv(metric="auc"),
    "cv by 1se": cv(rule="1se"),
    "cv by aic": cv(by="aic"), "cv by bic": cv(by="bic"),
    "refit": refit("nonrobust"), "refit by clusters": refit("cluster"), "bootstrap": bootstrap, "predict": predict,
    "save and load": saved, "save and load others": saved_others, "predictions of a refit": refitted_predictions,
    "ordered": ordered, "survival": survival, "with_rows": with_rows, "calibration plot": calibration_plot,
    "feature path plot": path_plot,
    "coefficient map": coef_plot, "cv plot": cv_plot, "selection plot": selection_plot, "summary": summary,
}
DRAWS = {"bootstrap", "selection plot"}


def numbers(path, s, tmp_path):
    found = PATHS[path](s, tmp_path) if path.startswith("save and load") else PATHS[path](s)
    plt.close("all")
    return found


def compare(found, expected, absolute=2e-7):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        other = found[name].reindex_like(value) if isinstance(value, (pd.Series, pd.DataFrame)) else found[name]
        np.testing.assert_allclose(np.asarray(other, dtype=float), np.asarray(value, dtype=float), rtol=2e-6,
                                   atol=absolute,
                                   err_msg=name)


# ---- invariances ----------------------------------------------------------------------------------------------------

def rowwise(s, change):
    """The same change to everything that has rows, held-out rows too."""
    own = {name: change(getattr(s, name), s.weights) for name in ("X", "Y", "weights", "offset", "folds")}
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
NEW_ROWS = {"predict", "predictions of a refit", "ordered", "survival"}
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


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, (_, unless) in SAME.items() for path in PATHS
                                            if path not in unless])
def test_nothing_changes_by(name, path, expected, tmp_path):
    changed = SAME[name][0](BASE)
    if path in NEW_ROWS and name in ROWS:
        changed = replace(changed, held=BASE.held)
    compare(numbers(path, changed, tmp_path), expected(path), 2e-4 if path == "admm" else 2e-7)


def rows_changed(found, change):
    """The same numbers, where a table has features in its rows changed row by row."""
    return {name: change(value) if isinstance(value, pd.DataFrame) and "age" in value.index else value
            for name, value in found.items()}


SHIFT = 0.7
SPREADS = {"bse"}


@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"summary"}))
def test_an_offset_moves_the_intercepts_and_nothing_else(path, expected, tmp_path):
    changed = replace(BASE, offset=BASE.offset + SHIFT, held={**BASE.held, "offset": BASE.held["offset"] + SHIFT})
    shift = pd.Series(0.0, ["const", *FEATURES]).where(lambda row: row.index != "const", SHIFT)
    found = {name: value if name in SPREADS else rows_changed({name: value}, lambda table: table.add(
        shift.reindex(table.index), axis=0))[name] for name, value in numbers(path, changed, tmp_path).items()}
    compare(found, expected(path), 2e-4 if path == "admm" else 2e-7)


def spread(X, weights):
    counts = weights.iloc[:, 0]
    return np.sqrt((X - (X.mul(counts, axis=0)).sum() / counts.sum()).pow(2).mul(counts, axis=0).sum() / counts.sum())


# Rows that were not watched through any interval have no label, and do not count in the scale of survival.
@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"summary", "coefficient map", "feature path plot", "survival"}))
def test_standardizing_is_scaling_by_hand(path, expected, tmp_path):
    unit = spread(BASE.X, BASE.weights)
    changed = replace(BASE, X=BASE.X / unit, standardize=False, held={**BASE.held, "exog": BASE.held["exog"] / unit})
    back = pd.concat([pd.Series({"const": 1.0}), unit])
    found = {name: value if name == "selected" else rows_changed({name: value}, lambda table: table.div(
        back.reindex(table.index), axis=0))[name] for name, value in numbers(path, changed, tmp_path).items()}
    compare(found, expected(path), 2e-4 if path == "admm" else 2e-7)


@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"feature path plot"}))
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
    res.solution.params[1:] = [[3.0, 0.0, 0.0], [1.5, 1.5, 1.5], [0.1, 0.1, 0.1], [0.0, 0.0, 0.0]]
    text = str(res.summary(max_rows=1))
    assert "age" in text and "dose" not in text
