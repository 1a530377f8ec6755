"""Every public path from data to an answer, for ``test_invariance``.

Each path takes a ``Setting`` and returns numbers under names, labelled by feature and task. A new path joins by
being listed in ``PATHS``, or in ``R_PATHS`` where it needs R.
"""

from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from fusedlr import FusedLogit, load, plots

N, FEATURES, TASKS = 72, ["age", "dose", "noise", "site"], ["low", "mid", "high"]


@dataclass(frozen=True)
class Setting:
    """A model, held-out rows and penalties; rows carry their labels in the index."""

    X: pd.DataFrame
    Y: pd.DataFrame
    weights: pd.DataFrame
    offset: pd.DataFrame
    folds: pd.Series
    groups: pd.Series
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
                "fusion": [self.fusion * 0.3, self.fusion * 2], "tol": 1e-13}

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
    folds, groups = pd.Series(np.arange(N) % 4, X.index), pd.Series(np.arange(N) // 5, X.index)
    return Setting(X, Y, weights, offset, folds, groups, held)


BASE = setting()


def of_fit(res):
    whole = {name: getattr(res, name)
             for name in ("llf", "llnull", "deviance", "prsquared", "aic", "bic", "df", "df_model", "objective",
                          "df_resid")}
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
        return {"best": found.best, "chosen": found.chosen, "params": found.params,
                **{name: found.table[name] for name in columns}}

    return path


def refit(cov_type):
    def path(s):
        found = s.fit().refit(cov_type)
        return {"params": found.params, "bse": found.bse.fillna(0.0), "llf": found.llf, "aic": found.aic,
                "bic": found.bic}

    return path


def bootstrap(s):
    found = s.fit().bootstrap(6, rng=4, progress=False)
    interval = found.conf_int(0.5)
    spread = pd.DataFrame(np.std(found.samples, axis=0, ddof=1), s.model().exog_names, s.model().endog_names)
    pd.testing.assert_frame_equal(found.bse, spread)
    return {"bse": found.bse, "lower": interval.xs("lower", axis=1, level=1),
            "upper": interval.xs("upper", axis=1, level=1), "selected": found.selection_frequency}


def stability(s):
    found = s.fit().stability(6, rng=4, errors=None, bound="none", progress=False)
    mean = pd.DataFrame(found.samples.mean(axis=0), s.model().exog_names, s.model().endog_names)
    stable = found.stable("effects", errors=100.0).pivot(index="feature", columns="task", values="frequency")
    return {"mean": mean, "selected": found.selection_frequency, "changed": found.change_frequency.mean(axis=1),
            "stable": stable, "effects": found.threshold("effects"), "changes": found.threshold("changes")}


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
            "params": choice.params, "select": points.select(**s.held).llf}


def saved_draws(s, folder):
    made = {"bootstrap": s.fit().bootstrap(4, rng=4, progress=False),
            "halves": s.fit().stability(4, errors=None, bound="none", progress=False)}
    for name, result in made.items():
        result.save(folder / name)
    resamples, halves = (load(folder / name) for name in made)
    return {"bse": resamples.bse, "selected": halves.selection_frequency, "effects": halves.threshold("effects")}


def refitted_predictions(s):
    found = s.fit().refit().get_prediction(s.held["exog"], s.held["offset"])
    return {"mean": found.predicted_mean, "se": found.se_mean}


def settings_of(s):
    return {"weights": s.weights.iloc[:, 0], "offset": s.offset.mean(axis=1), "standardize": s.standardize,
            "penalty_factors": s.factors or None}


def ordered(s):
    return FusedLogit.from_ordered(s.Y.sum(axis=1), s.X, **settings_of(s))


def survival(s):
    return FusedLogit.from_survival(1.0 + s.Y.sum(axis=1), s.folds > 0, s.X, breaks=[1.5, 2.5, 3.5], **settings_of(s))


def long(s):
    """One of the tasks for each row."""
    task = s.groups.to_numpy() % 3
    names = pd.Series(np.array(sorted(s.Y.columns), dtype=object)[task], s.X.index)
    label = pd.Series(s.Y[sorted(s.Y.columns)].to_numpy()[np.arange(len(s.Y)), task], s.X.index)
    return FusedLogit.from_long(label, s.X, names, order=list(s.Y.columns), tasks=s.tasks, **settings_of(s))


def causes(s):
    return FusedLogit.from_survival(1.0 + s.Y.sum(axis=1), s.groups % 3, s.X, breaks=[1.5, 3.5], causes=[1, 2],
                                    **settings_of(s))


def grouped(s):
    """Rows of one number belong together."""
    return FusedLogit(s.Y, s.X, tasks=s.tasks, weights=s.weights, offset=s.offset, groups=s.groups,
                      standardize=s.standardize, penalty_factors=s.factors or None)


def predicted(res, s, which):
    """Means over new rows of what is predicted for an outcome that is several tasks at once."""
    found = res.predict(s.held["exog"], which=which, offset=s.held["offset"].mean(axis=1))
    return found.mean(axis=0).rename(str)


def outcome_fit(make, which):
    def path(s):
        res = make(s).fit(s.l1, s.l2, s.fusion)
        return {"params": res.params, "llf": res.llf, "bic": res.bic, "predicted": predicted(res, s, which)}

    return path


def outcome_refit(make, which):
    def path(s):
        found = make(s).fit(s.l1, s.l2, s.fusion).refit()
        return {"params": found.params, "bse": found.bse.fillna(0.0), "llf": found.llf, "bic": found.bic,
                "predicted": predicted(found, s, which)}

    return path


def outcome_cv(make, which, metric):
    def path(s):
        found = make(s).fit_cv(folds=s.folds.to_numpy(), metric=metric, **s.lists)
        return {"mean": found.table["mean"], "se": found.table["se"], "chosen": found.chosen, "params": found.params,
                "predicted": predicted(found, s, which)}

    return path


def outcome_bootstrap(make, which):
    def path(s):
        found = make(s).fit(s.l1, s.l2, s.fusion).bootstrap(6, rng=4, progress=False)
        return {"bse": found.bse, "selected": found.selection_frequency, "predicted": predicted(found, s, which)}

    return path


def outcome_saved(make, which):
    def path(s, folder):
        res = make(s).fit(s.l1, s.l2, s.fusion)
        res.save(folder / "fit")
        back = load(folder / "fit")
        pd.testing.assert_series_equal(predicted(back, s, which), predicted(res, s, which))
        again = back.model.fit(s.l1, s.l2, s.fusion)
        return {"params": back.params, "again params": again.params, "llf": again.llf}

    return path


def with_rows(s):
    model = s.model()
    return of_fit(model.with_rows(np.arange(model.problem.n_rows)).fit(s.l1, s.l2, s.fusion))


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
    ax = plots.selection_frequencies(s.fit().bootstrap(6, rng=4, progress=False))
    return {"areas": pd.Series(sorted(np.concatenate([dots.get_sizes() for dots in ax.collections])))}


def summary(s):
    cells = [str(cell).strip() for row in s.fit().summary().tables[-1].data[2:] for cell in row[1:]]
    return {"cells": pd.Series(sorted({float(cell) for cell in cells if cell.lstrip("-").replace(".", "").isdigit()}))}


def paid(fit):
    """What each penalty of a fit that went to R comes to, from what R was told of it."""
    from fusedlr.r import from_r

    coefs, by_row, edges = (from_r(fit.rx2(name)) for name in ("coefficients", "penalties", "edges"))
    steps = coefs[list(edges["from"])].to_numpy() - coefs[list(edges["to"])].to_numpy()
    return pd.Series({"l1": by_row["l1"] @ coefs.abs().sum(axis=1), "l2": by_row["l2"] @ coefs.pow(2).sum(axis=1),
                      "fusion": by_row["fusion"] @ (np.abs(steps) @ edges["weight"].to_numpy())})


def to_r(s):
    """Whatever goes to R, read back from there."""
    from fusedlr.r import from_r, to_r

    fit, points, choice, refitted, resamples = map(to_r, (
        s.fit(), s.model().fit_grid(**s.lists), s.cv(), s.fit().refit(),
        s.fit().bootstrap(6, rng=4, progress=False)))
    terms, tasks = (list(names) for names in points.rx2("coefficients").dimnames[1:])
    facts = {name: fit.rx2("fit").rx2(name)[0] for name in ("llf", "bic", "df", "objective")}
    return {"coefficients": from_r(fit.rx2("coefficients")), "tasks": from_r(fit.rx2("tasks")),
            "penalties": paid(fit), **facts,
            "grid": pd.DataFrame(np.mean(points.rx2("coefficients"), axis=0), terms, tasks),
            "mean": from_r(choice.rx2("table"))["mean"], "chosen": choice.rx2("chosen")[0],
            "refitted": from_r(refitted.rx2("coefficients")), "bse": from_r(resamples.rx2("errors")),
            "selected": from_r(resamples.rx2("selected"))}


PATHS = {
    "fit": fit, "admm": fit_by_admm, "grid": grid, "select by error": select("error"),
    "select by logloss": select("logloss"),
    "cv by logloss": cv(), "cv by error": cv(metric="error"), "cv by auc": cv(metric="auc"),
    "cv by 1se": cv(rule="1se"),
    "cv by aic": cv(by="aic"), "cv by bic": cv(by="bic"),
    "refit": refit("nonrobust"), "refit by clusters": refit("cluster"), "bootstrap": bootstrap, "predict": predict,
    "save and load": saved, "save and load others": saved_others, "save and load draws": saved_draws,
    "predictions of a refit": refitted_predictions,
    "stability": stability, "with_rows": with_rows, "calibration plot": calibration_plot,
    "feature path plot": path_plot,
    "coefficient map": coef_plot, "cv plot": cv_plot, "selection plot": selection_plot, "summary": summary,
}
OUTCOMES = {"ordered": (ordered, "levels", "rps"), "survival": (survival, "survival", "logloss"),
            "long": (long, "prob", "logloss"), "causes": (causes, "incidence", "logloss"),
            "grouped": (grouped, "prob", "logloss")}
for name, (make, which, metric) in OUTCOMES.items():
    PATHS |= {name: outcome_fit(make, which), f"refit of {name}": outcome_refit(make, which),
              f"cv of {name}": outcome_cv(make, which, metric), f"bootstrap of {name}": outcome_bootstrap(make, which),
              f"save and load {name}": outcome_saved(make, which)}
R_PATHS = {"to_r": to_r}
RANDOM = ("bootstrap", "stability", "selection", "save and load draws", "to_r")
DRAWS = {path for path in (*PATHS, *R_PATHS) if path.startswith(RANDOM)}
NEW_ROWS = {"predict", "predictions of a refit", *(path for path in PATHS if path.endswith(tuple(OUTCOMES)))}


def numbers(path, s, tmp_path):
    make = {**PATHS, **R_PATHS}[path]
    found = make(s, tmp_path) if path.startswith("save and load") else make(s)
    plt.close("all")
    return found
