"""What saved files hold, kind by kind: the one description that ``save`` follows and ``load`` insists on.

Letters are sizes: n rows, d features, t tasks, e edges of the task graph.
"""

from __future__ import annotations

from .fields import FLAG, LABEL, NAME, NONE, NUMBER, SHARE, TEXT, WHOLE, either, finite, listed, named, position, record, row, word
from .storage import Array, Layout

__all__ = ["LAYOUTS", "MODEL", "RESULTS"]

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

RESULTS = Layout(
    page={
        **MODEL.page,
        "solution": record({"objective": finite(), "gap": NUMBER, "status": word("optimal", "separated", "not_converged"),
                            "iterations": WHOLE}),
        "penalties": record({"l1": _PENALTY, "l2": _PENALTY, "fusion": _PENALTY}),
        "method": word("newton", "admm"),
        "tol": SHARE,
        "kept": record({"gap": NUMBER, "df_effective": finite(0), "nobs": WHOLE, "_row_weight": finite(0),
                        "nobs_per_task": _BY_TASK, "positives": _BY_TASK, "llf_per_task": _BY_TASK, "llnull_per_task": _BY_TASK,
                        "llf": NUMBER, "llnull": NUMBER}),
    },
    arrays={**MODEL.arrays, "params": Array(("1+d", "t"))})

LAYOUTS = {"results": RESULTS}
