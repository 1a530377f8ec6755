"""What saved files hold, kind by kind: the one description that ``save`` follows and ``load`` insists on.

Letters are sizes: n rows, d features, t tasks, e edges of the task graph, p values of a
refit, r resamples or halves, g points of a grid, f folds, c columns of scores.
"""

from __future__ import annotations

from .fields import (FLAG, LABEL, NAME, NONE, NUMBER, SHARE, TEXT, WHOLE, either, finite, listed, named, position,
                     record, row, word)
from .storage import Array, Layout

__all__ = ["LAYOUTS"]

_COLUMN = record({"name": NAME, "values": listed(either(NONE, LABEL), "rows of the formula's sample"),
                  "levels": either(NONE, record({"categories": listed(LABEL), "ordered": FLAG}))})
_FORMULA = record({"text": TEXT, "sample": listed(_COLUMN)})

_ORDERED = record({"outcome": word("ordered"), "levels": listed(LABEL), "kind": word("sequential", "cumulative"),
                   "direction": word("forward", "backward"), "categorical": FLAG})
_SURVIVAL = record({"outcome": word("survival"), "breaks": listed(finite(0), "1+t")})

MODEL = Layout(
    page={
        "endog_names": named("t", least=1),
        "exog_names": named("1+d", least=2),
        "labels": listed(row(LABEL, LABEL), "t"),
        "task_names": either(NONE, named("t", least=1)),
        "constant": either(NONE, position("1+d")),
        "standardize": FLAG,
        "fuse_intercepts": either(NONE, FLAG),  # before there was a choice they were fused
        "has_offset": either(NONE, FLAG),
        "n_dropped": either(NONE, WHOLE),
        "formula": either(NONE, _FORMULA),
        "outcome": either(NONE, _ORDERED, _SURVIVAL),
    },
    arrays={
        "scale": Array(("d",), least=5e-324),
        "penalty_factors": Array(("d",), least=0, group="factors"),
        "edges": Array(("e", "2"), "i", least=0),
        "edge_weights": Array(("e",), least=0),
        "X": Array(("n", "d"), group="data"),
        "signs": Array(("n", "t"), "i", among=(-1, 1), group="data"),
        "weights": Array(("n", "t"), least=0, group="data"),
        "offset": Array(("n", "t"), group="data"),
        "index": Array(("n",), "iufbMU", group="index"),
    })

_PENALTY = either(finite(0), listed(finite(0), "1+d"), record({"by_name": listed(row(NAME, finite(0)))}))
_BY_TASK = listed(NUMBER, "t")
_STATUS = word("optimal", "separated", "not_converged")

RESULTS = Layout(
    page={
        **MODEL.page,
        "solution": record({"objective": finite(), "gap": NUMBER, "status": _STATUS,
                            "iterations": WHOLE}),
        "penalties": record({"l1": _PENALTY, "l2": _PENALTY, "fusion": _PENALTY}),
        "method": word("newton", "admm"),
        "tol": SHARE,
        "kept": record({"gap": NUMBER, "df_effective": finite(0), "nobs": WHOLE, "_row_weight": finite(0),
                        "nobs_per_task": _BY_TASK, "positives": _BY_TASK, "llf_per_task": _BY_TASK,
                        "llnull_per_task": _BY_TASK,
                        "llf": NUMBER, "llnull": NUMBER}),
    },
    arrays={**MODEL.arrays, "params": Array(("1+d", "t"))})

REFIT = Layout(
    page={**RESULTS.page, "refit": record({"cov_type": word("nonrobust", "cluster"), "llf": finite(),
                                           "llf_per_task": _BY_TASK})},
    arrays={
        **RESULTS.arrays,
        "refit_pattern": Array(("1+d", "t"), "i", least=-1),
        "refit_values": Array(("p",)),
        "refit_cov": Array(("p", "p")),
        "refit_unbounded": Array(("p",), "i", among=(0, 1)),
        "refit_collinear": Array(("p",), "i", among=(0, 1)),
    })

_REPEATED = record({"seed": WHOLE, "status": listed(_STATUS, "r", least=2)})
_SAMPLES = {**RESULTS.arrays, "samples": Array(("r", "1+d", "t"))}
BOOTSTRAP = Layout(page={**RESULTS.page, "bootstrap": _REPEATED}, arrays=_SAMPLES)
STABILITY = Layout(page={**RESULTS.page, "stability": _REPEATED}, arrays=_SAMPLES)

_GRID_PAGE = {"grid": record({"tol": SHARE, "status": listed(_STATUS, "g")})}
_GRID_ARRAYS = {
    "grid_params": Array(("g", "1+d", "t")),
    "grid_penalties": Array(("g", "3"), least=0),
    "grid_fits": Array(("g", "2")),
    "grid_counts": Array(("g", "3"), "i", least=0),
}
GRID = Layout(page={**MODEL.page, **_GRID_PAGE}, arrays={**MODEL.arrays, **_GRID_ARRAYS})

CHOICE = Layout(
    page={**RESULTS.page, **_GRID_PAGE,
          "cv": record({"best": position("g"), "one_se": either(NONE, position("g")), "rule": word("min", "1se"),
                        "metric": word("logloss", "error", "auc", "rps"), "by": word("cv", "aic", "bic"),
                        "columns": listed(TEXT)})},
    arrays={
        **RESULTS.arrays, **_GRID_ARRAYS,
        "cv_scores": Array(("g", "c")),
        "folds": Array(("rows of the fit",), "i", least=0, group="folds"),
        "fold_scores": Array(("f", "g"), group="folds"),
    })

LAYOUTS = {"results": RESULTS, "refit": REFIT, "bootstrap": BOOTSTRAP, "stability": STABILITY, "grid": GRID,
           "cv": CHOICE}
